//! What an import or an export is asked to do, and what it tells afterwards.

use serde::Serialize;

use leafbase_model::FolderId;

/// How a folder of markdown files is imported.
///
/// ```
/// use leafbase::ImportOptions;
/// let options = ImportOptions::new().daily_notes(false).attachments(false); // documents alone
/// # let _ = options;
/// ```
#[derive(Clone, Debug)]
pub struct ImportOptions {
    pub(super) folder: Option<FolderId>,
    pub(super) daily_notes: bool,
    pub(super) attachments: bool,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self { folder: None, daily_notes: true, attachments: true }
    }
}

impl ImportOptions {
    /// Every option at its default.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether a file whose name is a day, such as `2026-03-01.md` or `2026_03_01.md`, becomes the
    /// daily note of that day, wherever it lies; of several, the one in the directory `daily notes`
    /// at the top, else the first by path. If the day has a note already it is a document like any
    /// other. Default: yes.
    pub fn daily_notes(mut self, daily_notes: bool) -> Self {
        self.daily_notes = daily_notes;
        self
    }

    /// Whether the files that documents show from a relative path are taken in, as uploads are.
    /// Default: yes.
    pub fn attachments(mut self, attachments: bool) -> Self {
        self.attachments = attachments;
        self
    }

    /// The folder of the space that everything but daily notes goes into. Default: none, so that
    /// files at the top are unsorted, and directories at the top are folders at the top.
    pub fn into_folder(mut self, folder: FolderId) -> Self {
        self.folder = Some(folder);
        self
    }
}

/// How a space is exported.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    pub(super) into_existing: bool,
}

impl ExportOptions {
    /// Every option at its default.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the directory may hold something already: files of the same names are replaced,
    /// others stay, also those of an earlier export whose documents were deleted, moved or renamed
    /// since. Default: no.
    pub fn into_existing(mut self, into_existing: bool) -> Self {
        self.into_existing = into_existing;
        self
    }
}

/// What sort of adaptation was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum AdaptationKind {
    /// An empty first item of a list was left out.
    EmptyFirstItem,
    /// A heading of level 5 or 6 became one of level 4.
    HeadingLevel,
    /// A list nested deeper than blocks can be stays at the deepest level.
    Indentation,
    /// A mark in brackets that is no state of a task stayed text.
    TaskMark,
    /// A tag of the dialect was not closed, or had an unknown attribute.
    Tag,
    /// Other markdown that blocks do not keep as it was.
    Markdown,
    /// A file, or a document, that could not be read as markdown and is kept as code, word for
    /// word.
    KeptAsCode,
    /// A byte order mark was left off.
    ByteOrderMark,
    /// Line ends other than `\n` became `\n`.
    LineEnds,
    /// Front matter that says nothing lost an empty line.
    FrontMatter,
    /// A wiki link that leads to no file stays text.
    UnresolvedLink,
    /// A wiki link whose name several files have; one was taken.
    AmbiguousLink,
    /// A link to a heading or a block that does not exist, or was not looked for, leads to the
    /// document.
    MissingAnchor,
    /// `![[..]]` stays text.
    Embed,
    /// A relative link to something that is no markdown file here, with a query, or of an HTML tag
    /// stays as it is.
    UnresolvedPath,
    /// A picture or another file that a document shows from a relative path is not there, or cannot
    /// be taken in; the path stays. Or an uploaded markdown file, which is written with another
    /// extension, so that it is not read back as a document.
    Attachment,
    /// A title that a file's name can only hold in part, or plain; or a file's name that a title
    /// can only hold in part.
    Title,
    /// Documents of a built-in location are written as those of a folder; or a folder was deleted
    /// during the import, and what was for it goes into the one above.
    Location,
    /// A file named by a day stays an ordinary document, because the day has a note already.
    DailyNote,
    /// A document that is read back with a difference.
    ReadsBackDifferently,
    /// Comments of a document, which markdown has no place for, are left out.
    Comments,
    /// A collection is written as a table of its items, and their pages as pages behind it.
    Collection,
}

impl AdaptationKind {
    /// The kind in a few words, for a summary.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::EmptyFirstItem => "empty first item of a list, left out",
            Self::HeadingLevel => "heading of level 5 or 6, now of level 4",
            Self::Indentation => "list nested deeper than five levels, kept at the fifth",
            Self::TaskMark => "mark that is no task state, kept as text",
            Self::Tag => "tag not closed, or with an unknown attribute",
            Self::Markdown => "markdown written another way",
            Self::KeptAsCode => "kept as code, word for word",
            Self::ByteOrderMark => "byte order mark left off",
            Self::LineEnds => "line ends made \\n",
            Self::FrontMatter => "empty front matter",
            Self::UnresolvedLink => "wiki link to no file, kept as text",
            Self::AmbiguousLink => "wiki link to one of several files",
            Self::MissingAnchor => "link to a missing heading leads to its document",
            Self::Embed => "embed, kept as text",
            Self::UnresolvedPath => "relative link to no markdown file, kept",
            Self::Attachment => "attachment not taken in, or under another name",
            Self::Title => "title and name of the file differ",
            Self::Location => "kept in another place",
            Self::DailyNote => "day that has a note already, kept as a document",
            Self::ReadsBackDifferently => "reads back with a difference",
            Self::Comments => "comments, left out",
            Self::Collection => "collection, written as a table",
        }
    }
}

/// Something that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Adaptation {
    /// The file, from the top of the folder.
    pub path: String,
    /// The line, from 1, where one can be named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// What sort of adaptation.
    pub kind: AdaptationKind,
    /// What was done, in a sentence.
    pub message: String,
}

/// Something that was left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The file or directory from the top of the folder, or the document's title.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ImportReport {
    /// Documents made, one for each file.
    pub documents: u64,
    /// Blocks made, the documents' roots not counted.
    pub blocks: u64,
    /// Folders made: one for each directory, but for those that hold nothing but daily notes.
    pub folders: u64,
    /// Wiki links and relative links that became links to blocks.
    pub links: u64,
    /// Files taken in that documents show.
    pub attachments: u64,
    /// What is not as it was, file by file in the order of paths.
    pub adaptations: Vec<Adaptation>,
    /// What was not imported.
    pub skipped: Vec<Skipped>,
    /// Whether the callback broke the import off, so that not all was done. What the counts say was
    /// imported stays.
    pub canceled: bool,
}

/// What an export did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ExportReport {
    /// Files written, one for each document.
    pub documents: u64,
    /// Blocks written, the documents' roots not counted.
    pub blocks: u64,
    /// Directories made, that of the uploaded files not counted.
    pub folders: u64,
    /// Uploaded files written.
    pub attachments: u64,
    /// Bytes written.
    pub bytes: u64,
    /// What is not as it was, by document.
    pub adaptations: Vec<Adaptation>,
    /// What was not exported.
    pub skipped: Vec<Skipped>,
    /// Whether the callback broke the export off. The files that were written stay, each of them
    /// whole.
    pub canceled: bool,
}
