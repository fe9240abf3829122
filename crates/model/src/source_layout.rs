//! Source layout: how the markdown that a block was read from differs from the canonical form.

/// How a block was written in the markdown it was read from, where that differs from the
/// rendering of its content writes: markers, numbers, fences, blank lines, wraps, trailing spaces,
/// links as written. Only [`Self::verbatim`] and [`Self::links`] repeat text of the block.
///
/// Replies, requests and the JSON of changes omit it. A rendering uses each part that still fits;
/// a block without layout is rendered in canonical form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceLayout {
    /// The text between the end of the previous block and the block's first line: line breaks, and
    /// prefixes of blank lines.
    pub before: Option<Box<str>>,
    /// The text before the content on its first line: indentation, list marker, task mark, heading
    /// marks.
    pub first_lead: Option<Box<str>>,
    /// The text before the content on its other lines.
    pub other_lead: Option<Box<str>>,
    /// The line that opens it, such as the fence of code. Empty for indented code.
    pub opening: Option<Box<str>>,
    /// The lines after its content: a closing fence, the underline of a heading.
    pub closing: Option<Box<str>>,
    /// Lines that start or end differently.
    pub lines: Vec<LineLayout>,
    /// Its lines as they were, if no other part describes them.
    pub verbatim: Option<Box<VerbatimLines>>,
    /// Its links as they were written, in their order.
    pub links: Vec<LinkLayout>,
    /// The file that a document was read from. Only roots of documents have one.
    pub file: Option<Box<FileLayout>>,
}

/// The layout of one line of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineLayout {
    /// The number of the line, from 0.
    pub line: u32,
    /// The text before its content, if it differs from the lines around it.
    pub lead: Option<Box<str>>,
    /// The text after its content: trailing spaces, the closing marks of a heading.
    pub trail: Box<str>,
}

/// The lines of a block as they were written. They are used as long as the content is the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerbatimLines {
    /// Hash of the content.
    pub digest: u64,
    /// The lines, without the last line break.
    pub text: Box<str>,
}

/// A link as it was written in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkLayout {
    /// The destination; of a wiki link, and of a picture or a link that became a file block, all of
    /// it, with its brackets.
    pub text: Box<str>,
    /// Whether the text is the whole link.
    pub is_wiki: bool,
    /// The path of the attachment that it led to, relative to the folder that was imported.
    pub attachment: Option<Box<str>>,
}

/// The file that a document was read from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileLayout {
    /// Its path, relative to the folder that was imported, with `/` between names.
    pub path: Box<str>,
    /// Hash of the document in canonical form, without front matter, when it was read.
    pub digest: u64,
    /// The text after the last block, if it is not one line break.
    pub end: Option<Box<str>>,
    /// The lines before and after front matter, if they are not canonical.
    pub front_matter: Option<Box<[Box<str>; 2]>>,
    /// Whether it begins with a byte order mark.
    pub has_mark: bool,
    /// Whether its lines end with a carriage return and a line feed.
    pub has_carriage_returns: bool,
}

impl SourceLayout {
    /// The layout, or `None` if it is empty.
    pub fn into_option(self) -> Option<Box<Self>> {
        (self != Self::default()).then(|| Box::new(self))
    }
}
