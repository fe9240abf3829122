//! Options and report of a mirror.

use leafbase::FolderId;
use serde::Serialize;

use crate::report::{
    ImportOptions, LinkStyle, MirrorChange, MirrorChangeKind, Skipped, VaultWarning,
};

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
    /// The options of an import, which is a mirror of files alone.
    pub(super) import: Option<ImportOptions>,
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

    /// Whether files change documents and nothing changes files. Edits of different blocks on both
    /// sides are merged, otherwise the file wins, with a warning; documents stay if their files are
    /// removed. Default: `false`.
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

/// The result of a mirror.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MirrorReport {
    /// Changes carried over, sorted by path; with [`MirrorOptions::dry_run`] those planned.
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

    /// Sorts the changes by path. Those of one file stay in their order.
    pub(super) fn sort_changes(&mut self) {
        self.changes.sort_by(|one, other| one.path.cmp(&other.path));
    }

    pub(super) fn skip(&mut self, path: &str, reason: impl Into<String>) {
        self.skipped.push(Skipped { path: path.to_owned(), reason: reason.into() });
    }
}
