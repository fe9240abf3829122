//! Export: a space becomes a folder of markdown files.

mod layout;
mod logseq_links;
mod relative_links;
mod unwritten_fields;
mod wiki_links;
mod written_links;

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;

use leafbase::bulk::{self, FileLayout, SpaceView, Subtrees};
use leafbase::markdown;
use leafbase::{Block, BlockData, BlockKind, Connection, Limits, Progress, Result, TaskInfo};

pub(crate) use self::layout::{
    ATTACHMENTS, ExportLayout, ExportedDocument, directory_warning, file_warnings,
};
use self::logseq_links::LogseqLinks;
pub(crate) use self::relative_links::{AttachmentPaths, RelativeLinks};
use self::wiki_links::WikiNames;
use self::written_links::WrittenLinks;

use self::unwritten_fields::UnwrittenFields;
use crate::folder::FolderWriter;
use crate::link_paths::directory;
use crate::markdown_file::{self, FRONT_MATTER_TAG, split_front_matter, write_front_matter};
use crate::report::{
    ExportOptions, ExportReport, LinkStyle, ProgressCounter, VaultWarning, VaultWarningKind,
};
use crate::task_dates::{self, TaskDates};

/// Exports the space as markdown files below the directory `path`, which is created or empty:
/// folders become directories, documents become files named by their titles.
///
/// Documents that were imported and not edited are written as their files: bytes, links, name,
/// directory of a daily note, place of an attachment. Edited blocks keep of that what fits.
///
/// Other links to blocks become relative links, with the fragment `#heading`, `#^name` of a block
/// whose text ends with `^name`, or else `#^number` for a block inside a document; or wiki
/// links ([`LinkStyle`]). A first block of code with the tag `yaml frontmatter` becomes front
/// matter. Other uploads that documents show are written to a directory `attachments`. The trash,
/// the inbox of tasks and comments are not exported. The report lists what was skipped, and the
/// documents that markdown cannot express exactly.
///
/// A collection becomes its name and a table of its items, and each item with content a page
/// after the table. The report lists them: an import reads tables and pages.
///
/// Names of other documents are reversible: characters that some system refuses are escaped as
/// `%XX`, and so is the first character of a title that is a day, because files named by a day are
/// daily notes. An uploaded markdown file such as `notes.md` is written as `notes%2Emd.txt`,
/// because it is not a document. An import decodes all of these.
///
/// All files are of one snapshot, which the export holds until it returns; others may write
/// concurrently. Meanwhile the space's file grows by the data that they replace.
///
/// Each file is written atomically. After a power loss, a file that replaces another one is
/// either version. A new file may be missing or empty if the operating system has not written
/// it.
///
/// Importing the folder and exporting it again gives the same bytes.
///
/// `progress` receives the number of documents and attachments done and may cancel; the report
/// says so.
///
/// ```
/// use std::ops::ControlFlow;
/// use leafbase::Space;
/// use leafbase_vault::{ExportOptions, export_folder};
/// # fn main() -> leafbase::Result<()> {
/// # let directory = tempfile::tempdir().unwrap();
/// # let path = directory.path().join("out");
/// let notes = Space::in_memory()?.connect();
/// let trip = notes.create_document("Trip")?;
/// notes.insert_markdown("- [ ] passport", trip.id())?;
/// let go_on = &mut |_| ControlFlow::Continue(());
/// let report = export_folder(&notes, &path, &ExportOptions::new(), go_on)?;
/// assert_eq!(report.documents, 1);
/// assert_eq!(std::fs::read_to_string(path.join("Trip.md")).unwrap(), "- [ ] passport\n");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`leafbase::ErrorKind::Validation`] if the directory is not empty, unless the options allow it;
/// errors of the operating system and the store. Files written before an error stay.
pub fn export_folder(
    notes: &Connection,
    path: impl AsRef<Path>,
    options: &ExportOptions,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<ExportReport> {
    let limits = notes.space().limits();
    bulk::read(notes, |view| {
        // The layout precedes all writes: links need the final path of every file.
        let layout = ExportLayout::new(view)?;
        let layout = match options.link_style {
            LinkStyle::Logseq => layout.for_logseq(),
            _ => layout,
        };
        let writer = FolderWriter::new(path.as_ref(), options.into_existing)?;
        let links = RelativeLinks::new(view, &layout)?;
        let style = RenderedLinks::new(options.link_style, &links);
        let steps = layout.documents.len() + links.attachments().len();
        let mut export = Exporter {
            view,
            layout: &layout,
            links: &links,
            renderer: FileRenderer { links: &links, style: &style, limits },
            writer,
            task_dates: options.task_dates,
            progress: ProgressCounter::new(progress, steps),
            report: ExportReport {
                warnings: layout.warnings.clone(),
                skipped: layout.skipped.clone(),
                ..ExportReport::default()
            },
        };
        export.write_directories()?;
        export.write_documents()?;
        export.write_attachments()?;
        Ok(export.report)
    })
}

/// An export in progress.
struct Exporter<'a, 'p> {
    view: &'a SpaceView<'a>,
    layout: &'a ExportLayout,
    links: &'a RelativeLinks<'a>,
    renderer: FileRenderer<'a>,
    writer: FolderWriter,
    task_dates: TaskDates,
    progress: ProgressCounter<'p>,
    report: ExportReport,
}

impl Exporter<'_, '_> {
    fn write_directories(&mut self) -> Result<()> {
        for directory in &self.layout.directories {
            self.writer.directory(directory)?;
            self.report.folders += 1;
        }
        Ok(())
    }

    fn write_documents(&mut self) -> Result<()> {
        for (number, document) in self.layout.documents.iter().enumerate() {
            if self.report.canceled {
                break;
            }
            let subtrees = self.view.subtree(document.id.root())?;
            self.report.blocks += subtrees.0.len().saturating_sub(1) as u64;
            self.warn_of_comments(document)?;
            let mut subtrees = self.view.flattened(subtrees, &mut |name, items| {
                self.warn_of_collection(document, name, items);
            })?;
            if self.task_dates == TaskDates::Emoji {
                subtrees.0.iter_mut().for_each(|node| task_dates::write(&mut node.block.data));
            }
            let text = self.renderer.render(number, subtrees, &mut |kind, message| {
                self.report.warnings.push(VaultWarning::of_file(&*document.path, kind, message));
            })?;
            self.writer.file(&document.path, |out| out.write_all(text.as_bytes()))?;
            self.report.documents += 1;
            self.report.bytes += text.len() as u64;
            self.finish_step();
        }
        Ok(())
    }

    fn write_attachments(&mut self) -> Result<()> {
        let attachments = self.links.attachments();
        let mut directories: HashSet<&str> =
            self.layout.directories.iter().map(String::as_str).collect();
        for attachment in attachments {
            if self.report.canceled {
                break;
            }
            let mut missing = Vec::new();
            let mut at = directory(&attachment.path);
            while !at.is_empty() && directories.insert(at) {
                missing.push(at);
                at = directory(at);
            }
            // From the outermost on: a directory is created within one that exists.
            missing.iter().rev().try_for_each(|path| self.writer.directory(path))?;
            self.writer
                .file(&attachment.path, |out| self.view.write_file(&attachment.record, out))?;
            self.report.attachments += 1;
            self.report.bytes += attachment.size();
            self.finish_step();
        }
        self.report.warnings.extend_from_slice(self.links.warnings());
        Ok(())
    }

    fn finish_step(&mut self) {
        self.progress.count();
        self.progress.report();
        self.report.canceled = self.progress.is_canceled() && self.progress.is_unfinished();
    }

    fn warn_of_comments(&mut self, document: &ExportedDocument) -> Result<()> {
        let comments = match self.view.comment_count(document.id)? {
            0 => return Ok(()),
            1 => "1 comment is".to_owned(),
            comments => format!("{comments} comments are"),
        };
        self.warn(document, VaultWarningKind::Comments, format!("{comments} not exported"));
        Ok(())
    }

    fn warn_of_collection(&mut self, document: &ExportedDocument, name: &str, items: usize) {
        let name = markdown::plain_text(name);
        let items = if items == 1 { "1 item".to_owned() } else { format!("{items} items") };
        let message = format!("{name:?} is written as a table of {items}");
        self.warn(document, VaultWarningKind::Collection, message);
    }

    fn warn(&mut self, document: &ExportedDocument, kind: VaultWarningKind, message: String) {
        self.report.warnings.push(VaultWarning::of_file(document.path.as_str(), kind, message));
    }
}

/// Renders documents as the texts of their files.
pub(crate) struct FileRenderer<'a> {
    pub(crate) links: &'a RelativeLinks<'a>,
    pub(crate) style: &'a RenderedLinks<'a>,
    pub(crate) limits: &'a Limits,
}

/// How links are written, with what that needs.
#[derive(Debug)]
pub(crate) enum RenderedLinks<'a> {
    AsWritten(WrittenLinks<'a>),
    Relative,
    Wiki(WikiNames),
    Logseq(WrittenLinks<'a>, LogseqLinks),
}

impl<'a> RenderedLinks<'a> {
    pub(crate) fn new(style: LinkStyle, links: &'a RelativeLinks<'a>) -> Self {
        match style {
            LinkStyle::AsWritten => Self::AsWritten(WrittenLinks::new(links)),
            LinkStyle::Relative => Self::Relative,
            LinkStyle::Wiki => Self::Wiki(WikiNames::new(links.layout())),
            LinkStyle::Logseq => {
                let written = WrittenLinks::new(links).for_logseq();
                Self::Logseq(written, LogseqLinks::new(links.layout()))
            }
        }
    }
}

impl FileRenderer<'_> {
    /// The content of a document's file.
    pub(crate) fn render(
        &self,
        number: usize,
        mut subtrees: Subtrees,
        warn: &mut dyn FnMut(VaultWarningKind, String),
    ) -> Result<String> {
        let mut unwritten = UnwrittenFields::default();
        for (index, node) in subtrees.0.iter_mut().enumerate() {
            if self.links.fit_block_type(&mut node.block.data, self.limits) {
                let block_type = node.block.data.block_type();
                let message =
                    format!("block {index} is written as a {block_type}, the type of its file");
                warn(VaultWarningKind::ReadsBackDifferently, message);
            }
            unwritten.add(&node.block.data);
            let is_lone_link = markdown::is_lone_link(&node.block.data);
            match self.style {
                RenderedLinks::AsWritten(written) => written.rewrite(number, &mut node.block.data),
                RenderedLinks::Wiki(names) => {
                    names.rewrite(number, self.links, &mut node.block.data);
                }
                RenderedLinks::Logseq(written, logseq) => {
                    written.rewrite(number, &mut node.block.data);
                    logseq.rewrite(self.links, node.block.id, &mut node.block.data);
                }
                RenderedLinks::Relative => {}
            }
            self.links.rewrite(number, &mut node.block.data);
            if is_lone_link && !markdown::is_lone_link(&node.block.data) {
                markdown::guard_lone_link(&mut node.block.data);
            }
        }
        unwritten.warnings().for_each(|(kind, message)| warn(kind, message));
        let roots = bulk::assemble(&subtrees)?;
        debug_assert_eq!(roots.len(), 1, "a document has one root");
        let layout = roots.first().and_then(|root| root.data.layout.as_deref());
        let file = layout.and_then(|layout| layout.file.as_deref());
        let blocks = roots.first().map_or(&[][..], Block::children);
        let (front, body) = match blocks.split_first() {
            Some((first, rest)) => match front_matter(first) {
                Some(front) => (Some(front), rest),
                None => (None, blocks),
            },
            None => (None, blocks),
        };
        let code = file.and_then(|file| self.kept_as_code(file, blocks));
        let rendered = match code {
            Some(code) => code.to_owned(),
            None => markdown::render_as_written(body, file),
        };
        let difference = if code.is_some() { None } else { round_trip_difference(&rendered, body) };
        let difference = difference.or_else(|| {
            let becomes_front =
                front.is_none() && code.is_none() && split_front_matter(&rendered).front.is_some();
            becomes_front.then(|| "it begins as front matter does".to_owned())
        });
        if let Some(message) = &difference {
            warn(VaultWarningKind::ReadsBackDifferently, message.clone());
        }
        let line_end = if rendered.is_empty() { "" } else { "\n" };
        let end = file.map_or(line_end, |file| file.end.as_deref().unwrap_or("\n"));
        // An import drops what is there, an empty item for example. After other blocks than those
        // it followed, it may become a part of them.
        let joins =
            |end: &str| round_trip_difference(&format!("{rendered}{end}"), body) != difference;
        let end = if !end.trim().is_empty() && joins(end) { line_end } else { end };
        // The blank line after front matter.
        let line_end = if rendered.is_empty() && end.is_empty() { "" } else { "\n" };
        let text = match (front, file.and_then(|file| file.front_matter.as_deref())) {
            (Some(front), Some([before, after])) => {
                let matter = front.strip_prefix("---\n").and_then(|it| it.strip_suffix("\n---\n"));
                let matter = matter.unwrap_or_default();
                // A file may end with the fence, until its document gets blocks.
                let is_joined = !(rendered.is_empty() || after.ends_with('\n'));
                let line_end = if is_joined { "\n" } else { "" };
                format!("{before}{matter}{after}{line_end}{rendered}{end}")
            }
            (Some(front), None) => format!("{front}{line_end}{rendered}{end}"),
            (None, _) => format!("{rendered}{end}"),
        };
        Ok(match file {
            Some(file) => with_marks(text, file),
            None => text,
        })
    }

    /// The text of a document that is a file which an import keeps as code: it is written as it is.
    fn kept_as_code<'b>(&self, file: &FileLayout, blocks: &'b [Block]) -> Option<&'b str> {
        let [block] = blocks else { return None };
        let BlockKind::Code { raw_code, .. } = &block.data.kind else { return None };
        // Such a file has no digest.
        let is_code = file.digest == 0 && markdown_file::is_kept_as_code(raw_code, self.limits);
        is_code.then_some(raw_code.as_str())
    }
}

/// A text with the byte order mark and the line ends of its file.
fn with_marks(text: String, file: &FileLayout) -> String {
    let text = if file.has_carriage_returns { text.replace('\n', "\r\n") } else { text };
    if file.has_mark { format!("\u{feff}{text}") } else { text }
}

/// A block as front matter, if it is that and reads back unchanged.
fn front_matter(block: &Block) -> Option<String> {
    match &block.data.kind {
        BlockKind::Code { raw_code, language_tag, .. } if language_tag == FRONT_MATTER_TAG => {
            write_front_matter(raw_code)
        }
        _ => None,
    }
}

/// The round-trip check: parses `rendered` and compares the result with `blocks`. Returns the first
/// difference in a sentence.
fn round_trip_difference(rendered: &str, blocks: &[Block]) -> Option<String> {
    // As an import reads it.
    let options = markdown_file::file_options();
    let parsed = match markdown::parse(rendered, &options) {
        Ok(parsed) => parsed.blocks,
        Err(error) => return Some(format!("it cannot be read back: {error}")),
    };
    let mut read =
        parsed.iter().flat_map(|draft| draft.walk().map(|(depth, draft)| (depth, &draft.data)));
    let written =
        blocks.iter().flat_map(|block| block.walk().map(|(depth, block)| (depth, &block.data)));
    for (number, (depth, data)) in (1..).zip(written) {
        match read.next() {
            None => {
                return Some(format!("it reads back without block {number} and those after it"));
            }
            Some((found, _)) if found != depth => {
                return Some(format!("block {number} reads back on another level"));
            }
            Some((_, found)) => {
                let (expected, found) = (expressible(data), expressible(found));
                if expected != found {
                    let field = differing_field(&expected, &found);
                    let block_type = data.block_type();
                    return Some(format!(
                        "block {number} ({block_type}) reads back with another {field}"
                    ));
                }
            }
        }
    }
    read.next().map(|_| "it reads back with more blocks".to_owned())
}

/// The part of a block that markdown can express: without the dates of a task, color, alignment and
/// font, and without text that is derived from other fields.
fn expressible(data: &BlockData) -> BlockData {
    let mut data = BlockData { layout: None, ..data.clone() };
    if !data.block_type().has_own_markdown() {
        data.inline.clear();
    }
    // Warnings of their own name what is not written of these.
    data.task = data.task.map(|task| TaskInfo::of_state(task.state));
    data.color = None;
    if let BlockKind::Text(look) | BlockKind::Page(look) = &mut data.kind {
        (look.alignment, look.font) = Default::default();
    }
    data
}

fn differing_field(one: &BlockData, other: &BlockData) -> &'static str {
    let fields = [
        ("type", one.block_type() == other.block_type()),
        ("text", one.inline == other.inline),
        ("indentation", one.indentation == other.indentation),
        ("list style", one.list_style == other.list_style),
        ("task", one.task == other.task),
        ("decoration", one.decorations == other.decorations),
    ];
    fields.iter().find(|(_, is_same)| !is_same).map_or("look", |(name, _)| name)
}
