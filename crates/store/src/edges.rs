//! Edges: the targets that a block refers to by links, relations and embeds.

use std::collections::BTreeMap;

use leafbase_model::{AssetId, BlockData, BlockId, Day, PropertyKind, PropertyValue};

use crate::tags::is_key;

/// A target of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeEnd {
    /// A block; the root block stands for its document.
    Block(BlockId),
    /// A day, and so its daily note, which need not exist.
    Day(Day),
    /// An uploaded file.
    Asset(AssetId),
    /// A name, hashed: a document may have it, now or later.
    Name([u8; 16]),
}

impl EdgeEnd {
    /// A name, in any case.
    pub fn name(name: &str) -> Self {
        Self::Name(xxhash_rust::xxh3::xxh3_128(name.to_lowercase().as_bytes()).to_be_bytes())
    }

    /// The block, if it is one.
    pub const fn block(self) -> Option<BlockId> {
        match self {
            Self::Block(block) => Some(block),
            Self::Day(_) | Self::Asset(_) | Self::Name(_) => None,
        }
    }
}

/// How a block refers to a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeKind {
    /// A link in the text.
    Link,
    /// A value of a relation property.
    Relation,
    /// The target is displayed in place; a file exists as long as a block embeds it.
    Embed,
    /// The document of the block has the name.
    Alias,
}

/// A target with the kind of reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeTarget {
    /// The target.
    pub to: EdgeEnd,
    /// The kind.
    pub kind: EdgeKind,
}

/// Calls back with every target of a block, derived from its data alone; duplicates are allowed.
/// The store keeps edge rows by it, so a space must always use the same function.
pub type EdgeExtractor = fn(&BlockData, &mut dyn FnMut(EdgeTarget));

/// The index keys of a property value; empty if the value is not indexed. They depend on property
/// type and value alone, so that other changes of a property, such as its options, index no item
/// again. The title of an item is a text. Keys sort as values do, no key is a prefix of another,
/// and none is longer than 257 bytes.
pub type KeyExtractor = fn(&PropertyKind, &PropertyValue) -> Vec<Vec<u8>>;

/// Calls back with every tag of a block as written, derived from its data alone. Of tags that are
/// the same in lowercase the first is kept; one that is empty, has a zero byte, or has more than
/// [`leafbase_model::Limits::TAG_BYTES`] in lowercase is none.
pub type TagExtractor = fn(&BlockData, &mut dyn FnMut(&str));

/// The host's functions that derive index rows from blocks. A space must always use the same ones.
#[derive(Clone, Copy, Debug)]
pub struct Extractor {
    /// Targets of a block.
    pub edges: EdgeExtractor,
    /// Index keys of item values.
    pub keys: KeyExtractor,
    /// Tags of a block.
    pub tags: TagExtractor,
}

impl Extractor {
    /// The targets that `data` refers to, sorted, each once.
    pub(crate) fn targets(&self, data: &BlockData) -> Vec<EdgeTarget> {
        let mut targets = Vec::new();
        (self.edges)(data, &mut |target| targets.push(target));
        targets.sort_unstable();
        targets.dedup();
        targets
    }

    /// The tags of `data` in lowercase, with the form of each.
    pub(crate) fn tags(&self, data: &BlockData) -> BTreeMap<String, String> {
        let mut tags = BTreeMap::new();
        (self.tags)(data, &mut |form| {
            let tag = form.to_lowercase();
            if is_key(&tag) {
                tags.entry(tag).or_insert_with(|| form.to_owned());
            }
        });
        tags
    }

    /// For a space without item indexes and tags.
    pub const fn of_edges(edges: EdgeExtractor) -> Self {
        Self { edges, keys: |_, _| Vec::new(), tags: |_, _| () }
    }
}

/// An edge, read from its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BackLink {
    /// The kind of reference.
    pub kind: EdgeKind,
    /// The block that refers to the target.
    pub source: BlockId,
}
