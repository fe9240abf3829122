//! The block operations: fetch, insert, update, delete, move.

use serde_json::Value;

use crate::json::{FromJson, Object, deserialize_through_json, one_or_many};
use crate::{BlockDraft, BlockId, BlockPatch, DayRef, Error, Position, Result};

/// What a fetch begins at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchFrom {
    /// This block; a document's ID is its root's.
    Block(BlockId),
    /// The root of the daily note of this day.
    Day(DayRef),
}

/// Reads a block with what is below it. As JSON: `{"id": "..", "maxDepth": 1, "fetchMetadata":
/// true}`, or `date` for `id`.
///
/// ```
/// use leafbase_model::{BlockId, Fetch};
/// # let page = BlockId::NIL;
/// let request: Fetch = serde_json::from_str(r#"{"id": "00000000000000000000000000", "maxDepth": 1, "fetchMetadata": true}"#)?;
/// assert_eq!(request, Fetch::new(page).depth(1).with_metadata());
/// assert_eq!(serde_json::from_str::<Fetch>(r#"{"date": "today"}"#)?, Fetch::today());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// Where it begins.
    pub from: FetchFrom,
    /// How many levels below: none for all, 0 for the block alone.
    pub max_depth: Option<usize>,
    /// Whether to say who and when.
    pub metadata: bool,
}

impl Fetch {
    /// All of `block`, without metadata.
    pub fn new(block: impl Into<BlockId>) -> Self {
        Self { from: FetchFrom::Block(block.into()), max_depth: None, metadata: false }
    }

    /// All of the daily note of `day`, without metadata.
    pub fn day(day: impl Into<DayRef>) -> Self {
        Self { from: FetchFrom::Day(day.into()), max_depth: None, metadata: false }
    }

    /// All of today's daily note, without metadata.
    pub fn today() -> Self {
        Self::day(DayRef::Today)
    }

    /// At most so many levels below.
    pub fn depth(mut self, levels: usize) -> Self {
        self.max_depth = Some(levels);
        self
    }

    /// With metadata.
    pub fn with_metadata(mut self) -> Self {
        self.metadata = true;
        self
    }
}

/// A depth as requests give it: -1 for all.
pub(crate) fn max_depth(object: &mut Object) -> Result<Option<usize>> {
    match object.optional::<i64>("maxDepth")?.unwrap_or(-1) {
        -1 => Ok(None),
        depth => usize::try_from(depth).map(Some).map_err(|_| {
            Error::validation(format!("expected -1 for all, or the number of levels, got {depth}"))
                .at("maxDepth")
        }),
    }
}

impl FromJson for Fetch {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let id: Option<BlockId> = object.optional("id")?;
        let day: Option<DayRef> = object.optional("date")?;
        let from = match (id, day) {
            (Some(id), None) => FetchFrom::Block(id),
            (None, Some(day)) => FetchFrom::Day(day),
            _ => return Err(Error::validation("name exactly one of id and date")),
        };
        let max_depth = max_depth(&mut object)?;
        let metadata = object.optional("fetchMetadata")?.unwrap_or_default();
        object.finish()?;
        Ok(Self { from, max_depth, metadata })
    }
}

/// What an insertion inserts.
#[derive(Clone, Debug, PartialEq)]
pub enum InsertSource {
    /// These blocks.
    Blocks(Vec<BlockDraft>),
    /// The blocks that this markdown gives.
    Markdown(String),
}

/// Puts new blocks at a position. As JSON: `blocks` or `markdown`, and `position`.
///
/// ```
/// use leafbase_model::{DayRef, InsertBlocks, Position};
/// let body = r#"{"markdown": "- [ ] passport", "position": {"position": "end", "date": "tomorrow"}}"#;
/// let request: InsertBlocks = serde_json::from_str(body)?;
/// assert_eq!(request, InsertBlocks::markdown("- [ ] passport", Position::end_of_day(DayRef::Tomorrow)));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct InsertBlocks {
    /// What.
    pub source: InsertSource,
    /// Where.
    pub position: Position,
}

impl InsertBlocks {
    /// Inserts these blocks.
    pub fn blocks(blocks: Vec<BlockDraft>, position: impl Into<Position>) -> Self {
        Self { source: InsertSource::Blocks(blocks), position: position.into() }
    }

    /// Inserts the blocks of this markdown.
    pub fn markdown(markdown: impl Into<String>, position: impl Into<Position>) -> Self {
        Self { source: InsertSource::Markdown(markdown.into()), position: position.into() }
    }
}

/// A missing position is one without a target.
fn position(object: &mut Object) -> Result<Position> {
    let unnamed = || Position::from_json(Value::Object(serde_json::Map::new()));
    object.optional("position")?.map_or_else(unnamed, Ok)
}

impl FromJson for InsertBlocks {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let blocks = object.optional("blocks")?;
        let markdown = object.optional("markdown")?;
        let source = match (blocks, markdown) {
            (Some(blocks), None) => InsertSource::Blocks(blocks),
            (None, Some(markdown)) => InsertSource::Markdown(markdown),
            _ => return Err(Error::validation("name exactly one of blocks and markdown")),
        };
        let position = position(&mut object)?;
        object.finish()?;
        Ok(Self { source, position })
    }
}

/// Changes blocks; only the fields given change. As JSON: `{"blocks": [{"id": "..", ..}]}`.
///
/// ```
/// use leafbase_model::{BlockId, BlockPatch, UpdateBlocks};
/// # let (first, second) = (BlockId::from_bytes([1; 16]), BlockId::from_bytes([2; 16]));
/// let request = UpdateBlocks::new([BlockPatch::markdown(first, "shirts"), BlockPatch::of(second).with_indentation(1)]);
/// assert_eq!(request.blocks.len(), 2);
/// assert_eq!(UpdateBlocks::from(BlockPatch::markdown(first, "shirts")).blocks, request.blocks[..1]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpdateBlocks {
    /// The changes; a block may be named once.
    pub blocks: Vec<BlockPatch>,
}

impl UpdateBlocks {
    /// These changes.
    pub fn new(blocks: impl IntoIterator<Item = BlockPatch>) -> Self {
        Self { blocks: blocks.into_iter().collect() }
    }
}

impl From<BlockPatch> for UpdateBlocks {
    fn from(patch: BlockPatch) -> Self {
        Self::new([patch])
    }
}

impl FromJson for UpdateBlocks {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let blocks = object.required("blocks")?;
        object.finish()?;
        Ok(Self { blocks })
    }
}

/// Deletes blocks with all below them. As JSON: `{"blockIds": [".."]}`.
///
/// ```
/// use leafbase_model::{BlockId, DeleteBlocks};
/// # let block = BlockId::NIL;
/// let request: DeleteBlocks = serde_json::from_str(r#"{"blockIds": "00000000000000000000000000"}"#)?; // or a list of them
/// assert_eq!(request, DeleteBlocks::from(block));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteBlocks {
    /// The blocks.
    pub block_ids: Vec<BlockId>,
}

impl DeleteBlocks {
    /// Deletes these blocks.
    pub fn new(block_ids: impl IntoIterator<Item = BlockId>) -> Self {
        Self { block_ids: block_ids.into_iter().collect() }
    }
}

impl From<BlockId> for DeleteBlocks {
    fn from(block: BlockId) -> Self {
        Self::new([block])
    }
}

fn block_ids(object: &mut Object) -> Result<Vec<BlockId>> {
    let value =
        object.take("blockIds").ok_or_else(|| Error::validation("is missing").at("blockIds"))?;
    one_or_many(value).map_err(|error| error.at("blockIds"))
}

impl FromJson for DeleteBlocks {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let block_ids = block_ids(&mut object)?;
        object.finish()?;
        Ok(Self { block_ids })
    }
}

/// Moves blocks with all below them; they keep the order of the request. As JSON: `{"blockIds":
/// [".."], "position": {..}}`.
///
/// ```
/// use leafbase_model::{BlockId, MoveBlocks, Position};
/// # let (passport, charger) = (BlockId::NIL, BlockId::from_bytes([1; 16]));
/// let request: MoveBlocks = serde_json::from_str(
///     r#"{"blockIds": ["00000000000000000000000000"], "position": {"position": "after", "siblingId": "01040G2081040G2081040G2081"}}"#,
/// )?;
/// assert_eq!(request, MoveBlocks::new([passport], Position::after(charger)));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveBlocks {
    /// The blocks.
    pub block_ids: Vec<BlockId>,
    /// Where to.
    pub position: Position,
}

impl MoveBlocks {
    /// Moves these blocks to `position`.
    pub fn new(
        block_ids: impl IntoIterator<Item = BlockId>,
        position: impl Into<Position>,
    ) -> Self {
        Self { block_ids: block_ids.into_iter().collect(), position: position.into() }
    }
}

impl FromJson for MoveBlocks {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let block_ids = block_ids(&mut object)?;
        let position = position(&mut object)?;
        object.finish()?;
        Ok(Self { block_ids, position })
    }
}

deserialize_through_json!(Fetch, InsertBlocks, UpdateBlocks, DeleteBlocks, MoveBlocks);
