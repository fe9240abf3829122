//! A space becomes a folder of markdown files.

use std::ops::ControlFlow;
use std::path::Path;

use leafbase_markdown as markdown;
use leafbase_model::{Block, BlockKind, Limits, Result, Subtrees};
use leafbase_store::SpaceReader;
use leafbase_tree_ops::{self as ops, ReadTree};

use crate::core::access::Full;
use crate::core::connection::Connection;
use crate::core::progress::Progress;
use crate::core::tree::Tree;
use crate::operations::collections::tables;
use crate::operations::transfer::folder_writer::FolderWriter;
use crate::operations::transfer::front_matter;
use crate::operations::transfer::layout::{LaidOut, Layout};
use crate::operations::transfer::outgoing::Outgoing;
use crate::operations::transfer::readback;
use crate::operations::transfer::report::{
    Adaptation, AdaptationKind, ExportOptions, ExportReport,
};
use crate::operations::transfer::steps::Steps;

impl Connection<Full> {
    /// Writes the space as markdown files below the directory `path`, which is new or empty:
    /// folders become directories, documents become files named after their titles.
    ///
    /// Links to blocks become relative links, with `#heading` or `#^number` for a block within a
    /// document. A first block of code with the tag `yaml frontmatter` becomes front matter.
    /// Uploaded files that a document shows are written to a directory `attachments`, and the
    /// document links to them there. What is in the trash, the inbox of tasks and comments are not
    /// exported. The report tells what was left out, and which documents markdown cannot hold as
    /// they are.
    ///
    /// A collection becomes its name and a table of its items, and each item that has something on
    /// its page a page behind the table. The report tells of each, for they are read back as what
    /// they look like.
    ///
    /// Names say what they stand for: characters that some system refuses are escaped as `%XX`, and
    /// so is the first of a title that is a day, because files named by a day are daily notes. An
    /// uploaded markdown file such as `notes.md` is written as `notes%2Emd.txt`, because the others
    /// are documents. An import gives all of them their names back.
    ///
    /// All files are of one state of the space, which others may write meanwhile: the export holds
    /// one snapshot until it returns, and the space grows by what they replace, until then.
    ///
    /// Each file is whole or not there at all, whenever the process ends. When the power is lost, a
    /// file that replaces one is the old or the new one; a file that was not there before may be
    /// lost, or be empty, as long as the operating system has not written it.
    ///
    /// An import of the folder and another export give the same bytes again.
    ///
    /// `progress` is told the number of documents and uploaded files done, and may break off: the
    /// report says so.
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
    /// let report = notes.export_folder(&path, &ExportOptions::new(), &mut |_| ControlFlow::Continue(()))?;
    /// assert_eq!(report.documents, 1);
    /// assert_eq!(std::fs::read_to_string(path.join("Trip.md")).unwrap(), "- [ ] passport\n");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] if the directory holds something, unless the options allow
    /// it; what the operating system or the store reports. Files that were written before stay.
    pub fn export_folder(
        &self,
        path: impl AsRef<Path>,
        options: &ExportOptions,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<ExportReport> {
        self.operation("export_folder").read(|tree| {
            let reader = tree.full_reader()?;
            let layout = Layout::of(reader)?;
            let writer = FolderWriter::new(path.as_ref(), options.into_existing)?;
            let outgoing = Outgoing::of(tree, &layout)?;
            let total = layout.documents.len() + outgoing.attachments.files.len();
            let (steps, report) = (Steps::new(progress, total), ExportReport::default());
            let mut export = Export {
                reader,
                layout: &layout,
                outgoing,
                limits: self.limits(),
                writer,
                steps,
                report,
            };
            export.directories()?;
            export.documents(tree)?;
            export.attachments()?;
            let mut report = export.report;
            report.adaptations.splice(0..0, layout.adaptations);
            report.skipped = layout.skipped;
            Ok(report)
        })
    }
}

/// An export under way.
struct Export<'a, 'p> {
    reader: SpaceReader<'a>,
    layout: &'a Layout,
    outgoing: Outgoing<'a>,
    limits: &'a Limits,
    writer: FolderWriter,
    steps: Steps<'p>,
    report: ExportReport,
}

impl Export<'_, '_> {
    fn directories(&mut self) -> Result<()> {
        for directory in &self.layout.directories {
            self.writer.directory(directory)?;
            self.report.folders += 1;
        }
        Ok(())
    }

    fn documents(&mut self, tree: &Tree<'_>) -> Result<()> {
        for (number, document) in self.layout.documents.iter().enumerate() {
            if self.report.canceled {
                break;
            }
            let subtrees = tree.subtree(document.id.root(), None)?;
            self.report.blocks += u64::try_from(subtrees.0.len().saturating_sub(1)).unwrap_or(0);
            self.tell_comments(document)?;
            let subtrees = tables::flattened(tree, subtrees, &mut |name, items| {
                self.tell_collection(document, name, items)
            })?;
            let text = self.text(number, document, subtrees)?;
            self.writer.file(&document.path, |out| out.write_all(text.as_bytes()))?;
            self.report.documents += 1;
            self.report.bytes += u64::try_from(text.len()).unwrap_or(0);
            self.step();
        }
        Ok(())
    }

    fn attachments(&mut self) -> Result<()> {
        let files = &self.outgoing.attachments.files;
        if !(self.report.canceled || files.is_empty()) {
            self.writer.directory(&self.layout.attachments)?;
        }
        for number in 0..files.len() {
            let Some(attachment) =
                self.outgoing.attachments.files.get(number).filter(|_| !self.report.canceled)
            else {
                break;
            };
            self.writer.file(&attachment.path, |out| attachment.write(self.reader, out))?;
            self.report.attachments += 1;
            self.report.bytes += attachment.size();
            self.step();
        }
        let told = std::mem::take(&mut self.outgoing.attachments.adaptations);
        self.report.adaptations.extend(told);
        Ok(())
    }

    /// Tells the host that one more is written.
    fn step(&mut self) {
        self.steps.count();
        self.steps.tell();
        self.report.canceled = self.steps.is_broken_off() && self.steps.is_left();
    }

    fn tell_comments(&mut self, document: &LaidOut) -> Result<()> {
        let comments = match self.reader.comments_in(document.id)?.len() {
            0 => return Ok(()),
            1 => "1 comment is".to_owned(),
            comments => format!("{comments} comments are"),
        };
        self.tell(document, AdaptationKind::Comments, format!("{comments} left out"));
        Ok(())
    }

    fn tell_collection(&mut self, document: &LaidOut, name: &str, items: usize) {
        let name = markdown::plain_text(name);
        let items = if items == 1 { "1 item".to_owned() } else { format!("{items} items") };
        self.tell(
            document,
            AdaptationKind::Collection,
            format!("{name:?} is written as a table of {items}"),
        );
    }

    fn tell(&mut self, document: &LaidOut, kind: AdaptationKind, message: String) {
        self.report.adaptations.push(Adaptation {
            path: document.path.clone(),
            line: None,
            kind,
            message,
        });
    }

    /// The file of a document.
    fn text(
        &mut self,
        number: usize,
        document: &LaidOut,
        mut subtrees: Subtrees,
    ) -> Result<String> {
        for (place, node) in subtrees.0.iter_mut().enumerate() {
            if self.outgoing.attachments.show(&mut node.block.data, self.limits) {
                let shown = node.block.data.block_type();
                let message =
                    format!("block {place} is written as a {shown}, for that is what its file is");
                self.tell(document, AdaptationKind::ReadsBackDifferently, message);
            }
            self.outgoing.rewrite(number, &mut node.block.data);
        }
        let roots = ops::assemble(&subtrees)?;
        let blocks = roots.first().map_or(&[][..], Block::children);
        let front = blocks.first().and_then(front_matter_of);
        let body = if front.is_some() { blocks.get(1..).unwrap_or_default() } else { blocks };
        let rendered = markdown::render(body);
        let becomes_front = front.is_none() && front_matter::split(&rendered).front.is_some();
        let difference = readback::difference(&rendered, body);
        if let Some(message) =
            difference.or(becomes_front.then(|| "it begins as front matter does".to_owned()))
        {
            self.tell(document, AdaptationKind::ReadsBackDifferently, message);
        }
        let end = if rendered.is_empty() { "" } else { "\n" };
        let between = if front.is_some() { end } else { "" };
        Ok(format!("{}{between}{rendered}{end}", front.unwrap_or_default()))
    }
}

/// The block as front matter, if it is that and can be written so.
fn front_matter_of(block: &Block) -> Option<String> {
    match &block.data.kind {
        BlockKind::Code { raw_code, language_tag, .. } if language_tag == front_matter::TAG => {
            front_matter::join(raw_code)
        }
        _ => None,
    }
}
