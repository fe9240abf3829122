//! Requests that change a page by its markdown, and what they reply.

use crate::json::{is_default, wire_enum};
use crate::{BlockId, Edit, Subtrees};

/// Reads the content of a page as markdown. As JSON: `{"pageId": ".."}`.
///
/// ```
/// use leafbase_model::{BlockId, GetMarkdown};
/// let json = r#"{"pageId": "00000000000000000000000000"}"#;
/// assert_eq!(GetMarkdown::of(BlockId::NIL), serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct GetMarkdown {
    /// The page, a collection, or a document by its root.
    pub page_id: BlockId,
}

impl GetMarkdown {
    /// Reads the content of this page or document.
    pub fn of(page: impl Into<BlockId>) -> Self {
        Self { page_id: page.into() }
    }
}

impl From<GetMarkdown> for BlockId {
    fn from(request: GetMarkdown) -> Self {
        request.page_id
    }
}

/// Makes the content of a page what a markdown text says. As JSON: `{"pageId": "..", "markdown":
/// "..", "expected": "..", "dryRun": true}`.
///
/// ```
/// use leafbase_model::{ApplyMarkdown, BlockId};
/// let json = r#"{"pageId": "00000000000000000000000000", "markdown": "- [ ] pack"}"#;
/// assert_eq!(ApplyMarkdown::new(BlockId::NIL, "- [ ] pack"), serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct ApplyMarkdown {
    /// The page, or a document by its root.
    pub page_id: BlockId,
    /// What its content becomes, without the title of the page.
    pub markdown: String,
    /// The markdown that was edited, as `content_markdown` returned it: if the page has other
    /// content by now, nothing is changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// Whether nothing is written: the reply is the one that there would be.
    #[serde(
        default,
        deserialize_with = "crate::json::or_default",
        skip_serializing_if = "is_default"
    )]
    pub dry_run: bool,
}

impl ApplyMarkdown {
    /// Makes the content of a page, or of a document, what the text says.
    pub fn new(page: impl Into<BlockId>, markdown: impl Into<String>) -> Self {
        Self { page_id: page.into(), markdown: markdown.into(), expected: None, dry_run: false }
    }

    /// Refuses it if the content of the page is not this text by now.
    pub fn if_markdown(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    /// Writes nothing.
    pub fn dry(mut self) -> Self {
        self.dry_run = true;
        self
    }
}

wire_enum! {
    /// What a [`MarkdownEdit`] does.
    MarkdownEditKind {
        /// Puts markdown in the place of a text, which may be a part of a line or many lines.
        #[default]
        Replace = "replace",
        /// Inserts blocks before the block that has the text.
        InsertBefore = "insertBefore",
        /// Inserts blocks after the block that has the text.
        InsertAfter = "insertAfter",
        /// Inserts blocks at the end of the section of the heading that says the text: before the
        /// next heading of its level, or of a higher one.
        InsertUnder = "insertUnder",
    }
}

/// One edit of the markdown of a page, at the one place where it has a text. As JSON: `{"edit":
/// "insertUnder", "text": "Packing", "markdown": "- [ ] passport"}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct MarkdownEdit {
    /// What it does.
    pub edit: MarkdownEditKind,
    /// The text: as `content_markdown` returns it, there once.
    pub text: String,
    /// The markdown that it puts there.
    pub markdown: String,
}

/// Edits the markdown of a page at exact texts. As JSON: `{"pageId": "..", "edits": [..],
/// "dryRun": true}`.
///
/// ```
/// use leafbase_model::{BlockId, EditMarkdown};
/// let json = r#"{"pageId": "00000000000000000000000000", "edits": [
///     {"edit": "replace", "text": "one passport", "markdown": "two passports"},
///     {"edit": "insertUnder", "text": "Packing", "markdown": "- [ ] towel"}
/// ]}"#;
/// let edits = EditMarkdown::of(BlockId::NIL)
///     .replace("one passport", "two passports")
///     .insert_under("Packing", "- [ ] towel");
/// assert_eq!(edits, serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct EditMarkdown {
    /// The page, or a document by its root.
    pub page_id: BlockId,
    /// The edits: each finds the page as those before it left it.
    pub edits: Vec<MarkdownEdit>,
    /// Whether nothing is written: the reply is the one that there would be.
    #[serde(
        default,
        deserialize_with = "crate::json::or_default",
        skip_serializing_if = "is_default"
    )]
    pub dry_run: bool,
}

impl EditMarkdown {
    /// Edits a page, or a document: nothing yet.
    pub fn of(page: impl Into<BlockId>) -> Self {
        Self { page_id: page.into(), edits: Vec::new(), dry_run: false }
    }

    /// Puts `markdown` in the place of `text`.
    pub fn replace(self, text: impl Into<String>, markdown: impl Into<String>) -> Self {
        self.with(MarkdownEditKind::Replace, text.into(), markdown.into())
    }

    /// Inserts blocks before the block that has `text`.
    pub fn insert_before(self, text: impl Into<String>, markdown: impl Into<String>) -> Self {
        self.with(MarkdownEditKind::InsertBefore, text.into(), markdown.into())
    }

    /// Inserts blocks after the block that has `text`.
    pub fn insert_after(self, text: impl Into<String>, markdown: impl Into<String>) -> Self {
        self.with(MarkdownEditKind::InsertAfter, text.into(), markdown.into())
    }

    /// Inserts blocks at the end of the section of the heading that says `text`.
    pub fn insert_under(self, text: impl Into<String>, markdown: impl Into<String>) -> Self {
        self.with(MarkdownEditKind::InsertUnder, text.into(), markdown.into())
    }

    fn with(mut self, edit: MarkdownEditKind, text: String, markdown: String) -> Self {
        self.edits.push(MarkdownEdit { edit, text, markdown });
        self
    }

    /// Writes nothing.
    pub fn dry(mut self) -> Self {
        self.dry_run = true;
        self
    }
}

/// The reply to an [`ApplyMarkdown`] or [`EditMarkdown`]. As JSON: `{"inserted": [..], "updated":
/// [..], "moved": [..], "removed": [..], "dryRun": true}`, the last one only of a dry run. All
/// other blocks of the page are as they were, with their revisions.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AppliedMarkdown {
    /// The new blocks, in reading order. Those of a dry run do not exist.
    pub inserted: Vec<BlockId>,
    /// The blocks whose data changed.
    pub updated: Vec<BlockId>,
    /// The blocks that were moved, with those below them.
    pub moved: Vec<BlockId>,
    /// The blocks that were removed.
    pub removed: Vec<BlockId>,
    /// Whether nothing was written.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schemars", schemars(default))]
    pub dry_run: bool,
}

impl AppliedMarkdown {
    /// The reply for these edits.
    pub fn new(edits: &[Edit], dry_run: bool) -> Self {
        let mut reply = Self { dry_run, ..Self::default() };
        let ids = |subtrees: &Subtrees| -> Vec<_> {
            subtrees.0.iter().map(|node| node.block.id).collect()
        };
        for edit in edits {
            match edit {
                Edit::Insert { subtrees, .. } => reply.inserted.extend(ids(subtrees)),
                Edit::Remove { subtrees, .. } => reply.removed.extend(ids(subtrees)),
                // What changes in layout alone says the same.
                Edit::Update { before, after, .. } if before.rev == after.rev => {}
                Edit::Update { after, .. } => reply.updated.push(after.id),
                Edit::Move { block, .. } => reply.moved.push(*block),
                _ => {}
            }
        }
        reply
    }
}
