//! Options and report of a mirror.

use leafbase::FolderId;
use serde::Serialize;

use crate::report::{LinkStyle, Skipped, VaultWarning};

/// Options of a mirror.
///
/// ```
/// use leafbase_vault::MirrorOptions;
/// let options = MirrorOptions::new().dry_run(true); // reports what would change
/// # let _ = options;
/// ```
#[derive(Clone, Debug, Default)]
pub struct MirrorOptions {
    pub(super) folder: Option<FolderId>,
    pub(super) links: LinkStyle,
    pub(super) name: Option<String>,
    pub(super) dry_run: bool,
    pub(super) allow_empty: bool,
    pub(super) import_only: bool,
}

impl MirrorOptions {
    /// All options at their defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// The folder of the space that is mirrored. Default: the whole space, except the trash, the
    /// templates and the inbox.
    pub fn of_folder(mut self, folder: FolderId) -> Self {
        self.folder = Some(folder);
        self
    }

    /// How links to documents are written. Default: [`LinkStyle::AsWritten`].
    pub fn links(mut self, style: LinkStyle) -> Self {
        self.links = style;
        self
    }

    /// The name under which the space keeps what both sides had in common. Default: one that
    /// follows from the path of the folder. A folder that moves keeps its mirror by a name.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Whether nothing is written, and the report says what would be. Default: `false`.
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Whether files change documents and nothing changes files: a folder that was imported before
    /// is imported again, and its documents are updated. Where both were edited the file wins;
    /// documents stay if their files are removed. Default: `false`.
    pub fn import_only(mut self, import_only: bool) -> Self {
        self.import_only = import_only;
        self
    }

    /// Whether all documents go to the trash if all files are gone. Default: `false`, which is an
    /// error: the folder may be on a disk that is not mounted.
    pub fn allow_empty(mut self, allow_empty: bool) -> Self {
        self.allow_empty = allow_empty;
        self
    }
}

/// Kinds of changes of a mirror to a document or a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum MirrorChangeKind {
    /// A file became a document.
    DocumentCreated,
    /// A file was edited: its document is updated.
    DocumentUpdated,
    /// A file was renamed or moved: so is its document.
    DocumentRenamed,
    /// A file was removed: its document goes to the trash.
    DocumentTrashed,
    /// A document was edited or created: its file is written.
    FileWritten,
    /// A document was renamed or moved: so is its file.
    FileRenamed,
    /// A document was removed: so is its file.
    FileRemoved,
    /// Both sides edited different blocks: both edits are kept.
    Merged,
    /// One side removed a document that the other edited: it is kept.
    Restored,
    /// Both sides edited the same blocks: both versions are kept, the file's as a second file
    /// and document.
    Conflict,
}

impl MirrorChangeKind {
    /// A summary in a few words.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::DocumentCreated => "document created",
            Self::DocumentUpdated => "document updated",
            Self::DocumentRenamed => "document renamed",
            Self::DocumentTrashed => "document moved to the trash",
            Self::FileWritten => "file written",
            Self::FileRenamed => "file renamed",
            Self::FileRemoved => "file removed",
            Self::Merged => "edits of both sides merged",
            Self::Restored => "removed on one side and edited on the other, kept",
            Self::Conflict => "conflict, both versions kept",
        }
    }
}

/// A change that a mirror carried over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MirrorChange {
    /// The change.
    pub kind: MirrorChangeKind,
    /// The path of the file, relative to the folder.
    pub path: String,
    /// The path before a rename, or the path of the second file of a conflict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
}

/// The result of a mirror.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MirrorReport {
    /// Changes carried over; with [`MirrorOptions::dry_run`] those planned.
    pub changes: Vec<MirrorChange>,
    /// Files and documents that are equal.
    pub unchanged: u64,
    /// Differences from the source, sorted by path.
    pub warnings: Vec<VaultWarning>,
    /// Files that have no document, and why; documents that changed while the mirror ran, which the
    /// next one carries over.
    pub skipped: Vec<Skipped>,
    /// Whether the progress callback cancelled the mirror. Changes carried over stay.
    pub canceled: bool,
}

impl MirrorReport {
    /// Whether both sides were equal.
    pub fn is_unchanged(&self) -> bool {
        self.changes.is_empty()
    }

    pub(super) fn add(&mut self, kind: MirrorChangeKind, path: &str, other: Option<&str>) {
        let other = other.map(ToOwned::to_owned);
        self.changes.push(MirrorChange { kind, path: path.to_owned(), other });
    }

    pub(super) fn skip(&mut self, path: &str, reason: impl Into<String>) {
        self.skipped.push(Skipped { path: path.to_owned(), reason: reason.into() });
    }
}
