//! Requests of the block operations: fetch, insert, update, delete, move.

use crate::json::{Refused, is_default, one_or_many, or_default, refused};
#[cfg(feature = "schemars")]
use crate::json_schemas::OneOrMany;
use crate::{BlockDraft, BlockId, BlockPatch, DayRef, Error, Position, Result};

/// The root of a fetched subtree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchFrom {
    /// A block; a document ID is the ID of its root block.
    Block(BlockId),
    /// The root of the daily note of a day.
    Day(DayRef),
}

/// Fetches a block with its descendants. As JSON: `{"id": "..", "maxDepth": 1, "fetchMetadata":
/// true}`, or `date` in place of `id`.
///
/// ```
/// use leafbase_model::{BlockId, Fetch};
/// # let page = BlockId::NIL;
/// let json = r#"{"id": "00000000000000000000000000", "maxDepth": 1, "fetchMetadata": true}"#;
/// let request: Fetch = serde_json::from_str(json)?;
/// assert_eq!(request, Fetch::new(page).depth(1).with_metadata());
/// assert_eq!(serde_json::from_str::<Fetch>(r#"{"date": "today"}"#)?, Fetch::today());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "FetchJson", into = "FetchJson")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Fetch {
    /// The root of the subtree.
    pub from: FetchFrom,
    /// The number of levels below the root: 0 for the root alone; unlimited if absent.
    pub max_depth: Option<usize>,
    /// Whether the reply includes metadata.
    pub metadata: bool,
    /// Whether the reply includes the plain text of texts and titles.
    pub text: bool,
}

impl Fetch {
    /// Fetches the whole subtree of `block`, without metadata.
    pub fn new(block: impl Into<BlockId>) -> Self {
        Self { from: FetchFrom::Block(block.into()), max_depth: None, metadata: false, text: false }
    }

    /// Fetches the whole daily note of `day`, without metadata.
    pub fn day(day: impl Into<DayRef>) -> Self {
        Self { from: FetchFrom::Day(day.into()), max_depth: None, metadata: false, text: false }
    }

    /// Fetches today's whole daily note, without metadata.
    pub fn today() -> Self {
        Self::day(DayRef::Today)
    }

    /// Limits the number of levels below the root.
    pub fn depth(mut self, levels: usize) -> Self {
        self.max_depth = Some(levels);
        self
    }

    /// Includes metadata.
    pub fn with_metadata(mut self) -> Self {
        self.metadata = true;
        self
    }

    /// Includes the plain text of texts and titles.
    pub fn with_text(mut self) -> Self {
        self.text = true;
        self
    }
}

/// `maxDepth` of a request: -1 or absent for unlimited depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(crate) struct MaxDepth(pub(crate) Option<usize>);

impl<'de> serde::Deserialize<'de> for MaxDepth {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let depth: Option<i64> = serde::Deserialize::deserialize(deserializer)?;
        // Signed, because -1 stands for all levels on the wire; other negative numbers are refused.
        match depth.unwrap_or(-1) {
            -1 => Ok(Self(None)),
            depth => usize::try_from(depth).map(|depth| Self(Some(depth))).map_err(|_| {
                refused(Error::validation(format!(
                    "expected -1 for all, or the number of levels, got {depth}"
                )))
            }),
        }
    }
}

#[cfg(feature = "schemars")]
impl schemars::JsonSchema for MaxDepth {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "MaxDepth".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "integer", "minimum": -1 })
    }
}

/// The JSON of a [`Fetch`]: exactly one of `id` and `date`.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[cfg_attr(feature = "schemars", schemars(rename = "Fetch"))]
struct FetchJson {
    /// The block; a document's ID is that of its root. Either this or `date`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<BlockId>,
    /// The day whose daily note is fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    date: Option<DayRef>,
    /// Levels below the block: -1 for all, 0 for the block alone.
    #[serde(default, skip_serializing_if = "is_default")]
    max_depth: MaxDepth,
    /// Whether the reply has metadata; defaults to false.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    fetch_metadata: bool,
    /// Whether the reply has the plain text of texts and titles; defaults to false.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    fetch_text: bool,
}

impl From<Fetch> for FetchJson {
    fn from(Fetch { from, max_depth, metadata, text }: Fetch) -> Self {
        let (id, date) = match from {
            FetchFrom::Block(id) => (Some(id), None),
            FetchFrom::Day(day) => (None, Some(day)),
        };
        let max_depth = MaxDepth(max_depth);
        Self { id, date, max_depth, fetch_metadata: metadata, fetch_text: text }
    }
}

impl TryFrom<FetchJson> for Fetch {
    type Error = Refused;

    fn try_from(json: FetchJson) -> Result<Self, Refused> {
        let from = match (json.id, json.date) {
            (Some(id), None) => FetchFrom::Block(id),
            (None, Some(day)) => FetchFrom::Day(day),
            _ => return Err(Error::validation("name exactly one of id and date").into()),
        };
        let (max_depth, metadata, text) = (json.max_depth.0, json.fetch_metadata, json.fetch_text);
        Ok(Self { from, max_depth, metadata, text })
    }
}

/// The content of an insertion.
#[derive(Clone, Debug, PartialEq)]
pub enum InsertSource {
    /// Blocks.
    Blocks(Vec<BlockDraft>),
    /// Markdown, parsed into blocks.
    Markdown(String),
}

/// Inserts blocks at a position. As JSON: `blocks` or `markdown`, and `position`.
///
/// ```
/// use leafbase_model::{DayRef, InsertBlocks, Position};
/// let body = r#"{"markdown": "- [ ] passport", "position": {"date": "tomorrow"}}"#;
/// let request: InsertBlocks = serde_json::from_str(body)?;
/// let position = Position::end_of_day(DayRef::Tomorrow);
/// assert_eq!(request, InsertBlocks::markdown("- [ ] passport", position));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "InsertBlocksJson", into = "InsertBlocksJson")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct InsertBlocks {
    /// The content to insert.
    pub source: InsertSource,
    /// The position.
    pub position: Position,
    /// Whether blocks get the IDs that their drafts have; the others get new ones. An ID has to be
    /// new: a block with that of a deleted one begins at revision 1 again, so that an expected
    /// revision from before the deletion may fit it.
    pub keep_ids: bool,
}

impl InsertBlocks {
    /// Inserts these blocks.
    pub fn blocks(blocks: Vec<BlockDraft>, position: impl Into<Position>) -> Self {
        let (source, position) = (InsertSource::Blocks(blocks), position.into());
        Self { source, position, keep_ids: false }
    }

    /// Inserts the blocks parsed from this markdown.
    pub fn markdown(markdown: impl Into<String>, position: impl Into<Position>) -> Self {
        let (source, position) = (InsertSource::Markdown(markdown.into()), position.into());
        Self { source, position, keep_ids: false }
    }

    /// Gives blocks the IDs of their drafts.
    pub fn keeping_ids(mut self) -> Self {
        self.keep_ids = true;
        self
    }
}

/// The JSON of an [`InsertBlocks`]: exactly one of `blocks` and `markdown`.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[cfg_attr(feature = "schemars", schemars(rename = "InsertBlocks"))]
struct InsertBlocksJson {
    /// The blocks to insert. Either this or `markdown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    blocks: Option<Vec<BlockDraft>>,
    /// The blocks to insert, as markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    markdown: Option<String>,
    /// Where to insert them; defaults to the end of today's daily note.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    position: Position,
    /// Whether blocks get the IDs that they have here, new ones that the client made; defaults to
    /// false.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    keep_ids: bool,
}

impl From<InsertBlocks> for InsertBlocksJson {
    fn from(InsertBlocks { source, position, keep_ids }: InsertBlocks) -> Self {
        let (blocks, markdown) = match source {
            InsertSource::Blocks(blocks) => (Some(blocks), None),
            InsertSource::Markdown(markdown) => (None, Some(markdown)),
        };
        Self { blocks, markdown, position, keep_ids }
    }
}

impl TryFrom<InsertBlocksJson> for InsertBlocks {
    type Error = Refused;

    fn try_from(json: InsertBlocksJson) -> Result<Self, Refused> {
        let source = match (json.blocks, json.markdown) {
            // Both or neither would be ambiguous: an empty list of blocks is a valid request.
            (Some(blocks), None) => InsertSource::Blocks(blocks),
            (None, Some(markdown)) => InsertSource::Markdown(markdown),
            _ => return Err(Error::validation("name exactly one of blocks and markdown").into()),
        };
        Ok(Self { source, position: json.position, keep_ids: json.keep_ids })
    }
}

/// Updates the given fields of blocks. As JSON: `{"blocks": [{"id": "..", ..}]}`.
///
/// ```
/// use leafbase_model::{BlockId, BlockPatch, UpdateBlocks};
/// # let (first, second) = (BlockId::from_bytes([1; 16]), BlockId::from_bytes([2; 16]));
/// let shirts = BlockPatch::markdown(first, "shirts");
/// let request = UpdateBlocks::new([shirts.clone(), BlockPatch::of(second).with_indentation(1)]);
/// assert_eq!(request.blocks.len(), 2);
/// assert_eq!(UpdateBlocks::from(shirts).blocks, request.blocks[..1]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct UpdateBlocks {
    /// The patches, at most one per block.
    pub blocks: Vec<BlockPatch>,
}

impl UpdateBlocks {
    /// Applies these patches.
    pub fn new(blocks: impl IntoIterator<Item = BlockPatch>) -> Self {
        Self { blocks: blocks.into_iter().collect() }
    }
}

impl From<BlockPatch> for UpdateBlocks {
    fn from(patch: BlockPatch) -> Self {
        Self::new([patch])
    }
}

/// Deletes blocks with their descendants. As JSON: `{"blockIds": [".."]}`.
///
/// ```
/// use leafbase_model::{BlockId, DeleteBlocks};
/// # let block = BlockId::NIL;
/// let json = r#"{"blockIds": "00000000000000000000000000"}"#; // or an array
/// let request: DeleteBlocks = serde_json::from_str(json)?;
/// assert_eq!(request, DeleteBlocks::from(block));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct DeleteBlocks {
    /// The blocks to delete.
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "schemars", schemars(with = "OneOrMany<BlockId>"))]
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

/// Moves blocks with their descendants, in the order of the request. As JSON: `{"blockIds": [".."],
/// "position": {..}}`.
///
/// ```
/// use leafbase_model::{BlockId, MoveBlocks, Position};
/// # let (passport, charger) = (BlockId::NIL, BlockId::from_bytes([1; 16]));
/// let request: MoveBlocks = serde_json::from_str(
///     r#"{"blockIds": ["00000000000000000000000000"],
///         "position": {"position": "after", "siblingId": "01040G2081040G2081040G2081"}}"#,
/// )?;
/// assert_eq!(request, MoveBlocks::new([passport], Position::after(charger)));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct MoveBlocks {
    /// The blocks to move.
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "schemars", schemars(with = "OneOrMany<BlockId>"))]
    pub block_ids: Vec<BlockId>,
    /// The position; defaults to the end of today's daily note.
    #[serde(default, deserialize_with = "or_default")]
    #[serde(skip_serializing_if = "is_default")]
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
