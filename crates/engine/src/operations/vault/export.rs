//! Export: a space becomes a folder of markdown files.

mod layout;
mod relative_links;

use std::ops::ControlFlow;
use std::path::Path;

use leafbase_markdown as markdown;
use leafbase_model::{Block, BlockData, BlockKind, Limits, Result, Subtrees, TaskInfo};
use leafbase_store::SpaceReader;
use leafbase_tree_ops::{self as ops, ReadTree};

use self::layout::{ExportLayout, ExportedDocument};
use self::relative_links::RelativeLinks;
use crate::core::access::Full;
use crate::core::connection::Connection;
use crate::core::progress::Progress;
use crate::core::tree::Tree;
use crate::operations::collections::tables;
use crate::operations::vault::folder::FolderWriter;
use crate::operations::vault::markdown_file::{
    FRONT_MATTER_TAG, split_front_matter, write_front_matter,
};
use crate::operations::vault::report::{
    ExportOptions, ExportReport, ProgressCounter, VaultWarning, VaultWarningKind,
};

impl Connection<Full> {
    /// Exports the space as markdown files below the directory `path`, which is created or empty:
    /// folders become directories, documents become files named by their titles.
    ///
    /// Links to blocks become relative links, with the fragment `#heading` or `#^number` for a
    /// block inside a document. A first block of code with the tag `yaml frontmatter` becomes front
    /// matter. Uploads that documents show are written to a directory `attachments`, and the
    /// documents link to them there. The trash, the inbox of tasks and comments are not exported.
    /// The report lists what was skipped, and the documents that markdown cannot express exactly.
    ///
    /// A collection becomes its name and a table of its items, and each item with content a page
    /// after the table. The report lists them: an import reads tables and pages.
    ///
    /// Names are reversible: characters that some system refuses are escaped as `%XX`, and so is
    /// the first character of a title that is a day, because files named by a day are daily notes.
    /// An uploaded markdown file such as `notes.md` is written as `notes%2Emd.txt`, because it is
    /// not a document. An import decodes all of these.
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
    /// use leafbase::{ExportOptions, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let path = directory.path().join("out");
    /// let notes = Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// notes.insert_markdown("- [ ] passport", trip.id())?;
    /// let report = notes
    ///     .export_folder(&path, &ExportOptions::new(), &mut |_| ControlFlow::Continue(()))?;
    /// assert_eq!(report.documents, 1);
    /// assert_eq!(std::fs::read_to_string(path.join("Trip.md")).unwrap(), "- [ ] passport\n");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] if the directory is not empty, unless the options allow it;
    /// errors of the operating system and the store. Files written before an error stay.
    pub fn export_folder(
        &self,
        path: impl AsRef<Path>,
        options: &ExportOptions,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<ExportReport> {
        self.operation("export_folder").read(|tree| {
            let reader = tree.full_reader()?;
            // The layout precedes all writes: links need the final path of every file.
            let layout = ExportLayout::new(reader)?;
            let writer = FolderWriter::new(path.as_ref(), options.into_existing)?;
            let links = RelativeLinks::new(tree, reader, &layout)?;
            let steps = layout.documents.len() + links.attachments().len();
            let mut export = Exporter {
                reader,
                layout: &layout,
                links: &links,
                limits: self.limits(),
                writer,
                progress: ProgressCounter::new(progress, steps),
                report: ExportReport {
                    warnings: layout.warnings.clone(),
                    skipped: layout.skipped.clone(),
                    ..ExportReport::default()
                },
            };
            export.write_directories()?;
            export.write_documents(tree)?;
            export.write_attachments()?;
            Ok(export.report)
        })
    }
}

/// An export in progress.
struct Exporter<'a, 'p> {
    reader: SpaceReader<'a>,
    layout: &'a ExportLayout,
    links: &'a RelativeLinks<'a>,
    limits: &'a Limits,
    writer: FolderWriter,
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

    fn write_documents(&mut self, tree: &Tree<'_>) -> Result<()> {
        for (number, document) in self.layout.documents.iter().enumerate() {
            if self.report.canceled {
                break;
            }
            let subtrees = tree.subtree(document.id.root(), None)?;
            self.report.blocks += subtrees.0.len().saturating_sub(1) as u64;
            self.warn_of_comments(document)?;
            let subtrees = tables::flattened(tree, subtrees, &mut |name, items| {
                self.warn_of_collection(document, name, items);
            })?;
            let text = self.render(number, document, subtrees)?;
            self.writer.file(&document.path, |out| out.write_all(text.as_bytes()))?;
            self.report.documents += 1;
            self.report.bytes += text.len() as u64;
            self.finish_step();
        }
        Ok(())
    }

    fn write_attachments(&mut self) -> Result<()> {
        let attachments = self.links.attachments();
        if !(self.report.canceled || attachments.is_empty()) {
            self.writer.directory(&self.layout.attachments)?;
        }
        for attachment in attachments {
            if self.report.canceled {
                break;
            }
            self.writer.file(&attachment.path, |out| attachment.write(self.reader, out))?;
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
        let comments = match self.reader.comments_in(document.id)?.len() {
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

    /// The content of a document's file.
    fn render(
        &mut self,
        number: usize,
        document: &ExportedDocument,
        mut subtrees: Subtrees,
    ) -> Result<String> {
        for (index, node) in subtrees.0.iter_mut().enumerate() {
            if self.links.fit_block_type(&mut node.block.data, self.limits) {
                let block_type = node.block.data.block_type();
                let message =
                    format!("block {index} is written as a {block_type}, the type of its file");
                self.warn(document, VaultWarningKind::ReadsBackDifferently, message);
            }
            let is_lone_link = markdown::is_lone_link(&node.block.data);
            self.links.rewrite(number, &mut node.block.data);
            if is_lone_link {
                markdown::guard_lone_link(&mut node.block.data);
            }
        }
        let roots = ops::assemble(&subtrees)?;
        debug_assert_eq!(roots.len(), 1, "a document has one root");
        let blocks = roots.first().map_or(&[][..], Block::children);
        let (front, body) = match blocks.split_first() {
            Some((first, rest)) => match front_matter(first) {
                Some(front) => (Some(front), rest),
                None => (None, blocks),
            },
            None => (None, blocks),
        };
        let rendered = markdown::render(body);
        let difference = round_trip_difference(&rendered, body).or_else(|| {
            let becomes_front = front.is_none() && split_front_matter(&rendered).front.is_some();
            becomes_front.then(|| "it begins as front matter does".to_owned())
        });
        if let Some(message) = difference {
            self.warn(document, VaultWarningKind::ReadsBackDifferently, message);
        }
        let end = if rendered.is_empty() { "" } else { "\n" };
        Ok(match front {
            Some(front) => format!("{front}{end}{rendered}{end}"),
            None => format!("{rendered}{end}"),
        })
    }
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
    let parsed = match markdown::parse(rendered, &markdown::ParseOptions::default()) {
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

/// The part of a block that markdown can express: without the time a task was completed, and
/// without text that is derived from other fields.
fn expressible(data: &BlockData) -> BlockData {
    let mut data = data.clone();
    if !data.block_type().has_own_markdown() {
        data.inline.clear();
    }
    data.task = data.task.map(|task| TaskInfo { completed_at: None, canceled_at: None, ..task });
    data
}

fn differing_field(one: &BlockData, other: &BlockData) -> &'static str {
    let fields = [
        ("type", one.block_type() == other.block_type()),
        ("text", one.inline == other.inline),
        ("indentation", one.indentation == other.indentation),
        ("list style", one.list_style == other.list_style),
        ("task", one.task == other.task),
        ("color", one.color == other.color),
        ("decoration", one.decorations == other.decorations),
    ];
    fields.iter().find(|(_, is_same)| !is_same).map_or("look", |(name, _)| name)
}
