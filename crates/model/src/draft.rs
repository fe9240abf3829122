//! Blocks that are to be made.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use crate::json::{FromJson, Object, deserialize_through_json};
use crate::{BlockData, BlockKind, BlockType, Error, Fields, Result};

/// A block to be made, with its children. It has no ID: the engine mints one.
///
/// As JSON it is a block without `id`:
///
/// ```
/// use leafbase_model::{BlockData, BlockDraft};
/// let json = r#"{"type": "page", "title": "Packing", "content": [{"type": "text", "markdown": "socks"}]}"#;
/// let draft: BlockDraft = serde_json::from_str(json)?;
/// let socks = BlockDraft::new(BlockData::text("socks"));
/// assert_eq!(draft, BlockDraft::new(BlockData::page("Packing")).with_content(vec![socks]));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// Drafts read by [`crate::json::from_str`] nest no deeper than the page limit. Those built by hand may, but beware: cloning,
/// comparing, printing and dropping one recurse through it, so that one of many thousand levels overflows the stack. Given to an
/// operation of the engine it is refused, and taken apart without recursion.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockDraft {
    /// What it says.
    pub data: BlockData,
    /// Its children, in order; a text block that has some is made as a page.
    pub content: Vec<BlockDraft>,
}

impl BlockDraft {
    /// A draft without children.
    pub fn new(data: BlockData) -> Self {
        Self { data, content: Vec::new() }
    }

    /// The same draft with these children.
    pub fn with_content(mut self, content: Vec<BlockDraft>) -> Self {
        self.content = content;
        self
    }

    /// This draft and all below it in reading order, each with its depth from 0.
    pub fn walk(&self) -> impl Iterator<Item = (usize, &BlockDraft)> {
        let mut waiting = vec![(0, self)];
        std::iter::from_fn(move || {
            let (depth, draft) = waiting.pop()?;
            waiting.extend(draft.content.iter().rev().map(|child| (depth + 1, child)));
            Some((depth, draft))
        })
    }
}

impl From<BlockData> for BlockDraft {
    fn from(data: BlockData) -> Self {
        Self::new(data)
    }
}

impl FromJson for BlockDraft {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let mut fields = Fields::take(&mut object)?;
        let content: Vec<Self> = object.optional("content")?.unwrap_or_default();
        object.finish()?;
        let block_type = fields.block_type.take().ok_or_else(|| Error::validation("is missing").at("type"))?;
        let mut data = BlockData::new(BlockKind::empty(block_type));
        fields.apply(&mut data)?;
        if !content.is_empty() && !block_type.may_be_parent() {
            return Err(Error::rule(format!("a block of type {block_type} cannot have children")).at("content"));
        }
        Ok(Self { data, content })
    }
}

deserialize_through_json!(BlockDraft);

impl Serialize for BlockDraft {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.data.write_given(&mut map)?;
        if !self.content.is_empty() {
            map.serialize_entry("content", &self.content)?;
        }
        map.end()
    }
}

impl From<BlockType> for BlockDraft {
    /// An empty block of this type.
    fn from(block_type: BlockType) -> Self {
        Self::new(BlockData::new(BlockKind::empty(block_type)))
    }
}
