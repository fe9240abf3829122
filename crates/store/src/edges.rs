//! Edges: what a block points to, by links, relations and embeds.

use leafbase_model::{AssetId, BlockData, BlockId, Day, PropertyKind, PropertyValue};

/// What can be pointed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeEnd {
    /// A block; a document is pointed to by its root block.
    Block(BlockId),
    /// A day, and so its daily note, whether or not there is one yet.
    Day(Day),
    /// An uploaded file.
    Asset(AssetId),
}

/// How something is pointed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeKind {
    /// A link in the text.
    Link,
    /// A value of a relation property.
    Relation,
    /// The thing is shown in place: a file stays as long as a block embeds it.
    Embed,
}

/// One thing that a block points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeTarget {
    /// What is pointed to.
    pub to: EdgeEnd,
    /// How.
    pub kind: EdgeKind,
}

/// Tells everything that a block points to, by its data alone; the same target may be told twice.
/// The store keeps the edges by it and knows no markdown itself, so it must always be the same one
/// for a space.
pub type EdgeExtractor = fn(&BlockData, &mut dyn FnMut(EdgeTarget));

/// The keys under which an item stands in the index of a column of this type that has this value;
/// none if it stands nowhere. They follow from the type of the property and the value alone: what
/// else changes of a property, such as options, indexes no item anew. The title of an item is a
/// text. Keys sort as values do, and none is the beginning of another; none is longer than 257
/// bytes.
pub type KeyExtractor = fn(&PropertyKind, &PropertyValue) -> Vec<Vec<u8>>;

/// What follows from a block by what it says, as the host knows it. It must always be the same one
/// for a space.
#[derive(Clone, Copy, Debug)]
pub struct Extractor {
    /// What a block points to.
    pub edges: EdgeExtractor,
    /// How the values of items are indexed.
    pub keys: KeyExtractor,
}

impl Extractor {
    /// For a space whose items are in no index.
    pub const fn of_edges(edges: EdgeExtractor) -> Self {
        Self { edges, keys: |_, _| Vec::new() }
    }
}

/// An edge as a back link is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BackLink {
    /// How it points.
    pub kind: EdgeKind,
    /// The block that points.
    pub source: BlockId,
}
