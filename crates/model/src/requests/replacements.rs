//! Requests that replace text, and what they reply.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::collections::DocumentFilterMode;
use super::documents::DocumentFilter;
use super::given;
use crate::json::{Object, deserialize_by, is_default};
use crate::{BlockId, DocumentId, Error, FolderId, Result};

/// What a replacement looks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Needle {
    /// This text.
    Text(String),
    /// What matches this pattern.
    Pattern(String),
}

/// Replaces text: what blocks say, without their markup. As JSON: `find` (a text) or `pattern`,
/// `replacement`, `blockIds` (one or several) or `documentIds` with `documentFilterMode` or the
/// fields of a [`DocumentFilter`] with `folderIds`; `caseSensitive`, `keepCase` and `dryRun`.
///
/// In the replacement of a pattern `$0` is the match, `$1` the text of the first group, `${name}`
/// that of a named one, and `$$` a dollar sign.
///
/// ```
/// use leafbase_model::ReplaceText;
/// let json = r#"{"pattern": "(\\d+)\\.(\\d+)", "replacement": "$2/$1", "dryRun": true}"#;
/// let request: ReplaceText = serde_json::from_str(json)?;
/// assert_eq!(request, ReplaceText::pattern(r"(\d+)\.(\d+)", "$2/$1").dry());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplaceText {
    /// What is replaced.
    pub find: Needle,
    /// What stands in its place.
    pub replacement: String,
    /// Blocks in which text is replaced, with all blocks below them; a document by its root.
    /// Exclusive with the other restrictions.
    pub block_ids: Vec<BlockId>,
    /// The documents named by the request; all if absent.
    pub document_ids: Option<Vec<DocumentId>>,
    /// The meaning of `document_ids`; without them it has no effect.
    pub mode: Option<DocumentFilterMode>,
    /// Filters, exclusive with `document_ids`.
    pub filter: DocumentFilter,
    /// Whether case matters.
    pub case_sensitive: bool,
    /// Whether a replacement is in capitals, or begins with one, where what it replaces is.
    pub keep_case: bool,
    /// Whether nothing is written: the reply is the one that there would be.
    pub dry_run: bool,
}

impl ReplaceText {
    /// Replaces a text, whatever its case.
    pub fn text(find: impl Into<String>, replacement: impl Into<String>) -> Self {
        Self::new(Needle::Text(find.into()), replacement.into())
    }

    /// Replaces what matches a pattern, whatever its case. The replacement may have groups.
    pub fn pattern(pattern: impl Into<String>, replacement: impl Into<String>) -> Self {
        Self::new(Needle::Pattern(pattern.into()), replacement.into())
    }

    fn new(find: Needle, replacement: String) -> Self {
        Self {
            find,
            replacement,
            block_ids: Vec::new(),
            document_ids: None,
            mode: None,
            filter: DocumentFilter::default(),
            case_sensitive: false,
            keep_case: false,
            dry_run: false,
        }
    }

    /// Restricts it to a block, with all blocks below it; a document by its ID.
    pub fn within(mut self, block: impl Into<BlockId>) -> Self {
        self.block_ids.push(block.into());
        self
    }

    /// Restricts it to these documents.
    pub fn within_documents(mut self, documents: impl IntoIterator<Item = DocumentId>) -> Self {
        self.document_ids = Some(documents.into_iter().collect());
        self
    }

    /// Restricts it to a folder and its subfolders.
    pub fn within_folder(mut self, folder: FolderId) -> Self {
        self.filter.folders.get_or_insert_default().push(folder.into());
        self
    }

    /// Makes it case-sensitive.
    pub fn case_sensitive(mut self) -> Self {
        self.case_sensitive = true;
        self
    }

    /// Keeps capitals: `Colour` becomes `Color`, and `COLOUR` `COLOR`.
    pub fn keep_case(mut self) -> Self {
        self.keep_case = true;
        self
    }

    /// Writes nothing.
    pub fn dry(mut self) -> Self {
        self.dry_run = true;
        self
    }

    /// Validates a request that was built in code.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] for nothing to find, and for exclusive restrictions.
    pub fn check(&self) -> Result<()> {
        let (field, text) = match &self.find {
            Needle::Text(text) => ("find", text),
            Needle::Pattern(pattern) => ("pattern", pattern),
        };
        if text.is_empty() {
            return Err(Error::validation("expected a text that is not empty").at(field));
        }
        let is_filtered = !is_default(&self.filter);
        if !self.block_ids.is_empty() && (self.document_ids.is_some() || is_filtered) {
            let message = "blockIds cannot be combined with other restrictions";
            return Err(Error::validation(message).at("blockIds"));
        }
        if self.document_ids.is_some() && is_filtered {
            let message = "documentIds cannot be combined with other filters";
            return Err(Error::validation(message).at("documentIds"));
        }
        Ok(())
    }

    fn read(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let find = match (object.optional("find")?, object.optional("pattern")?) {
            (Some(text), None) => Needle::Text(text),
            (None, Some(pattern)) => Needle::Pattern(pattern),
            _ => {
                let message = "name exactly one of find and pattern";
                return Err(Error::validation(message).at("find"));
            }
        };
        let read = Self {
            replacement: object.required("replacement")?,
            block_ids: object.any_number("blockIds")?,
            document_ids: object.one_or_many("documentIds")?,
            mode: object.optional("documentFilterMode")?,
            filter: DocumentFilter::take(&mut object, "folderIds")?,
            case_sensitive: object.or_default("caseSensitive")?,
            keep_case: object.or_default("keepCase")?,
            dry_run: object.or_default("dryRun")?,
            ..Self::new(find, String::new())
        };
        object.finish()?;
        read.check()?;
        Ok(read)
    }
}

deserialize_by!(ReplaceText: Self::read);

impl Serialize for ReplaceText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match &self.find {
            Needle::Text(text) => map.serialize_entry("find", text)?,
            Needle::Pattern(pattern) => map.serialize_entry("pattern", pattern)?,
        }
        map.serialize_entry("replacement", &self.replacement)?;
        given(&mut map, "blockIds", Some(&self.block_ids).filter(|ids| !ids.is_empty()))?;
        given(&mut map, "documentIds", self.document_ids.as_ref())?;
        given(&mut map, "documentFilterMode", self.mode.as_ref())?;
        self.filter.write(&mut map, "folderIds", false)?;
        for (name, is_so) in [
            ("caseSensitive", self.case_sensitive),
            ("keepCase", self.keep_case),
            ("dryRun", self.dry_run),
        ] {
            given(&mut map, name, is_so.then_some(&true))?;
        }
        map.end()
    }
}

/// The reply to a [`ReplaceText`]. As JSON: `{"replaced": 3, "kept": 1, "blocks": [..], "dryRun":
/// true}`, the last one only of a dry run.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ReplacedText {
    /// Replacements that were made.
    pub replaced: usize,
    /// Matches that stay, because a link or a picture would have gone with them.
    pub kept: usize,
    /// The blocks with matches: document by document, in reading order.
    pub blocks: Vec<ReplacedBlock>,
    /// Whether nothing was written.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schemars", schemars(default))]
    pub dry_run: bool,
}

impl ReplacedText {
    /// The reply for these blocks.
    pub fn new(blocks: Vec<ReplacedBlock>, dry_run: bool) -> Self {
        Self {
            replaced: blocks.iter().map(|block| block.replaced).sum(),
            kept: blocks.iter().map(|block| block.kept).sum(),
            blocks,
            dry_run,
        }
    }
}

/// A block in which text was found. As JSON: `{"blockId", "documentId", "replaced", "kept",
/// "markdown"}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ReplacedBlock {
    /// The block.
    pub block_id: BlockId,
    /// Its document.
    pub document_id: DocumentId,
    /// Replacements that were made in it.
    pub replaced: usize,
    /// Matches that stay.
    pub kept: usize,
    /// Its markdown with the replacements.
    pub markdown: String,
}
