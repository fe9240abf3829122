//! Options, warnings, reports and progress of an import or export.

use std::ops::ControlFlow;

use serde::Serialize;

use leafbase::{FolderId, Progress};

use crate::task_dates::TaskDates;

/// Options of an import of markdown files.
///
/// ```
/// use leafbase_vault::ImportOptions;
/// let options = ImportOptions::new().daily_notes(false).attachments(false); // documents alone
/// # let _ = options;
/// ```
#[derive(Clone, Debug)]
pub struct ImportOptions {
    pub(crate) folder: Option<FolderId>,
    pub(crate) daily_notes: bool,
    pub(crate) attachments: bool,
    pub(crate) task_dates: TaskDates,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            folder: None,
            daily_notes: true,
            attachments: true,
            task_dates: TaskDates::default(),
        }
    }
}

impl ImportOptions {
    /// All options at their defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether a file named by a day, such as `2026-03-01.md` or `2026_03_01.md`, becomes the daily
    /// note of that day, in whichever directory. If several are named by one day, the one in the
    /// top-level directory `daily notes` is chosen, otherwise the first sorted by path. If the day
    /// already has a note, the file becomes an ordinary document. Default: `true`.
    pub fn daily_notes(mut self, daily_notes: bool) -> Self {
        self.daily_notes = daily_notes;
        self
    }

    /// Whether files that documents embed or link to by a relative path are imported as uploads.
    /// Default: `true`.
    pub fn attachments(mut self, attachments: bool) -> Self {
        self.attachments = attachments;
        self
    }

    /// How files have the dates of tasks. Default: [`TaskDates::None`].
    pub fn task_dates(mut self, dates: TaskDates) -> Self {
        self.task_dates = dates;
        self
    }

    /// The folder of the space that receives everything except daily notes. Default: none, so that
    /// top-level files are unsorted documents and top-level directories are top-level folders.
    pub fn into_folder(mut self, folder: FolderId) -> Self {
        self.folder = Some(folder);
        self
    }
}

/// Options of an export.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    pub(super) into_existing: bool,
    pub(super) link_style: LinkStyle,
    pub(crate) task_dates: TaskDates,
}

/// How an export writes links to documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LinkStyle {
    /// As the files of an import had them, where they still lead to the same target. Others are
    /// written in the form that they had, and new links as [`Self::Relative`].
    #[default]
    AsWritten,
    /// `[words](../Folder/Note.md)`: links between files, which every renderer follows.
    Relative,
    /// `[[Note]]`, `[[Note|words]]` and `[[Note#^name|words]]`, as Obsidian writes them; of several
    /// files of a name by the path, `[[Folder/Note]]` or `[[../Note]]`.
    /// A link whose words have markup, or that leads to a heading or to a block without a name,
    /// is a relative one. The property `id::` of a linked block becomes its name.
    Wiki,
    /// A graph of Logseq: `journals/2026_02_10.md`, `pages/`, `assets/`; links to blocks as
    /// `((id))` and `[words](((id)))`, for which the target gets the property `id::`, those to
    /// documents as [`Self::AsWritten`] if Logseq reads that, others as `[[Page]]` and
    /// `[words]([[Page]])`. A link to a heading without an ID leads by a relative path. A mirror
    /// writes the links alone.
    Logseq,
}

impl ExportOptions {
    /// All options at their defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how links to documents are written. Default: [`LinkStyle::AsWritten`].
    pub fn links(mut self, style: LinkStyle) -> Self {
        self.link_style = style;
        self
    }

    /// Sets how the dates of tasks are written. Default: [`TaskDates::None`].
    pub fn task_dates(mut self, dates: TaskDates) -> Self {
        self.task_dates = dates;
        self
    }

    /// Whether the directory may contain files. Files of the same names are replaced. All others
    /// stay, including those of an earlier export whose documents were since deleted, moved or
    /// renamed. Default: `false`.
    pub fn into_existing(mut self, into_existing: bool) -> Self {
        self.into_existing = into_existing;
        self
    }
}

/// The kinds of warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum VaultWarningKind {
    /// An empty first item of a list was dropped.
    EmptyFirstItem,
    /// A heading of level 5 or 6 became level 4.
    HeadingLevel,
    /// A list nested deeper than blocks can be was kept at the deepest level.
    Indentation,
    /// A mark in brackets that is not a task state was kept as text.
    TaskMark,
    /// A tag of the dialect was not closed, or had an unknown attribute or color.
    Tag,
    /// Other markdown that blocks normalize.
    Markdown,
    /// A file or document that could not be parsed was kept as a code block, verbatim.
    KeptAsCode,
    /// A byte order mark was removed.
    ByteOrderMark,
    /// Line ends other than `\n` were normalized.
    LineEnds,
    /// Empty front matter lost its empty line.
    FrontMatter,
    /// A wiki link without a matching file, or a reference to no block, was kept as text.
    UnresolvedLink,
    /// A wiki link matched several files, and one was chosen.
    AmbiguousLink,
    /// A link to a missing heading or block, or to one that was not looked up, now leads to the
    /// document.
    MissingAnchor,
    /// `![[..]]` was kept as text.
    Embed,
    /// A relative link was kept: it has a query, or leads to no markdown file of the import.
    UnresolvedPath,
    /// An embedded file is missing or could not be imported, so its path was kept. Or an uploaded
    /// markdown file was exported with another extension, because it is not a document.
    Attachment,
    /// The title of a document and the name of its file differ, or the names of a folder and its
    /// directory: one cannot express the other, or another one has it.
    Title,
    /// Documents of a built-in location are exported to an ordinary directory. Or a folder was
    /// deleted during the import, and its parent received the documents.
    Location,
    /// A file named by a day became an ordinary document: the day already has a note.
    DailyNote,
    /// A document fails the round-trip check.
    ReadsBackDifferently,
    /// Comments were dropped: markdown cannot express them.
    Comments,
    /// A collection was written as a table of its items, with their pages as pages after it.
    Collection,
    /// A date of a task was not written: [`TaskDates::Emoji`] writes them.
    TaskDate,
    /// A color, alignment or font was not written: markdown has no syntax for them.
    Appearance,
    /// A file is written in another form than it was read: its source layout is not kept.
    Layout,
    /// A name that some systems refuse: it is written as it was, or with escaped characters.
    FileName,
    /// A file and its document were edited in the same blocks: the file's version was taken.
    EditedTwice,
}

impl VaultWarningKind {
    /// A summary in a few words.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::EmptyFirstItem => "empty first item of a list, dropped",
            Self::HeadingLevel => "heading of level 5 or 6, now of level 4",
            Self::Indentation => "list nested deeper than five levels, kept at the fifth",
            Self::TaskMark => "mark that is not a task state, kept as text",
            Self::Tag => "tag not closed, or with an unknown attribute",
            Self::Markdown => "markdown normalized",
            Self::KeptAsCode => "kept as code, verbatim",
            Self::ByteOrderMark => "byte order mark removed",
            Self::LineEnds => "line ends normalized to \\n",
            Self::FrontMatter => "empty front matter",
            Self::UnresolvedLink => "link to no file or block, kept as text",
            Self::AmbiguousLink => "wiki link to one of several files",
            Self::MissingAnchor => "link to a missing heading, now to its document",
            Self::Embed => "embed, kept as text",
            Self::UnresolvedPath => "relative link to no markdown file, kept",
            Self::Attachment => "attachment not imported, or renamed",
            Self::Title => "title and file name differ",
            Self::Location => "kept in another location",
            Self::DailyNote => "day that already has a note, kept as a document",
            Self::ReadsBackDifferently => "reads back with a difference",
            Self::Comments => "comments, dropped",
            Self::Collection => "collection, written as a table",
            Self::TaskDate => "date of a task, not written",
            Self::Appearance => "color, alignment or font, not written",
            Self::Layout => "source layout not kept",
            Self::FileName => "name that some systems refuse",
            Self::EditedTwice => "edited in the space as well, now as the file",
        }
    }
}

/// A difference between the source and the result of an import or export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct VaultWarning {
    /// The file, relative to the root of the folder.
    pub path: String,
    /// The line, counted from 1, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The kind of difference.
    pub kind: VaultWarningKind,
    /// The difference in a sentence.
    pub message: String,
}

impl VaultWarning {
    /// A warning about a file as a whole.
    pub(super) fn of_file(
        path: impl Into<String>,
        kind: VaultWarningKind,
        message: impl Into<String>,
    ) -> Self {
        Self { path: path.into(), line: None, kind, message: message.into() }
    }
}

/// Kinds of changes of a mirror or an import to a document or a file.
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

/// A change that a mirror or an import carried over.
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

/// A file, directory or document that was skipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Skipped {
    /// The path relative to the root of the folder, or the document's title.
    pub path: String,
    /// The reason in a few words.
    pub reason: String,
}

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ImportReport {
    /// Documents created, one per new file.
    pub documents: u64,
    /// Updates of documents that an earlier import of the folder created.
    pub changes: Vec<MirrorChange>,
    /// Files that are as they were when the folder was imported before.
    pub unchanged: u64,
    /// Blocks created, without the documents' roots.
    pub blocks: u64,
    /// Folders created, one per directory, except directories that contain daily notes alone.
    pub folders: u64,
    /// Wiki links and relative links that became links to blocks.
    pub links: u64,
    /// Attachments imported.
    pub attachments: u64,
    /// Differences from the source, sorted by path.
    pub warnings: Vec<VaultWarning>,
    /// Files that were not imported.
    pub skipped: Vec<Skipped>,
    /// Whether the progress callback cancelled the import. Everything that is counted stays.
    pub canceled: bool,
}

/// The result of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ExportReport {
    /// Files written, one per document.
    pub documents: u64,
    /// Blocks written, without the documents' roots.
    pub blocks: u64,
    /// Directories created, without the one for attachments.
    pub folders: u64,
    /// Attachments written.
    pub attachments: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Differences from the space, by document.
    pub warnings: Vec<VaultWarning>,
    /// Documents that were not exported.
    pub skipped: Vec<Skipped>,
    /// Whether the progress callback cancelled the export. The files written so far stay, each of
    /// them complete.
    pub canceled: bool,
}

/// Counts steps and reports them to the host.
pub(super) struct ProgressCounter<'p> {
    callback: &'p mut dyn FnMut(Progress) -> ControlFlow<()>,
    done: u64,
    total: u64,
    is_canceled: bool,
}

impl<'p> ProgressCounter<'p> {
    pub(super) fn new(
        callback: &'p mut dyn FnMut(Progress) -> ControlFlow<()>,
        total: usize,
    ) -> Self {
        Self { callback, done: 0, total: total as u64, is_canceled: false }
    }

    /// Adds steps to the total.
    pub(super) fn add(&mut self, steps: usize) {
        self.total += steps as u64;
    }

    /// Counts a step without reporting it.
    pub(super) fn count(&mut self) {
        self.done += 1;
        debug_assert!(self.done <= self.total, "steps are announced before they are done");
    }

    /// Reports the progress. Once cancelled, the host is not called again.
    pub(super) fn report(&mut self) {
        if !self.is_canceled {
            self.is_canceled =
                (self.callback)(Progress::new(self.done, Some(self.total))).is_break();
        }
    }

    /// Whether steps remain.
    pub(super) fn is_unfinished(&self) -> bool {
        self.done < self.total
    }

    /// Whether the host has cancelled.
    pub(super) fn is_canceled(&self) -> bool {
        self.is_canceled
    }
}
