//! A space becomes a folder of markdown files.

use std::ops::ControlFlow;
use std::path::Path;

use leafbase_markdown as markdown;
use leafbase_model::{Block, BlockKind, Forest, Result};
use leafbase_tree_ops::{self as ops, ReadTree};

use crate::connection::Connection;
use crate::sight::Full;
use crate::space::Progress;
use crate::transfer::folder_writer::FolderWriter;
use crate::transfer::front_matter;
use crate::transfer::layout::{LaidOut, Layout};
use crate::transfer::outgoing::Outgoing;
use crate::transfer::readback;
use crate::transfer::report::{Adaptation, AdaptationKind, ExportOptions, ExportReport};

impl Connection<Full> {
    /// Writes the space as markdown files below the directory `path`, which is new or empty: folders become directories,
    /// documents become files named after their titles.
    ///
    /// Links to blocks become relative links, with `#heading` or `#^number` for a block within a document. A first block of code
    /// with the tag `yaml frontmatter` becomes front matter. Uploaded files that a document shows are written to a directory
    /// `attachments`, and the document links to them there. What is in the trash is not exported. The report tells what was left
    /// out, and which documents markdown cannot hold as they are.
    ///
    /// All files are of one state of the space, which others may write meanwhile: the export holds one snapshot until it returns, and
    /// the space grows by what they replace, until then.
    ///
    /// Each file is whole or not there at all, whenever the process ends. When the power is lost, a file that replaces one is the old
    /// or the new one; a file that was not there before may be lost, or be empty, as long as the operating system has not written it.
    ///
    /// An import of the folder and another export give the same bytes again.
    ///
    /// `progress` is told the number of documents and uploaded files done, and may break off: the report says so.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] if the directory holds something, unless the options allow it; what the operating system or
    /// the store reports. Files that were written before stay.
    pub fn export_folder(
        &self,
        path: impl AsRef<Path>,
        options: &ExportOptions,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<ExportReport> {
        self.read(|tree, snapshot| {
            let layout = Layout::of(snapshot.reader())?;
            let mut writer = FolderWriter::new(path.as_ref(), options.into_existing)?;
            let outgoing = Outgoing::of(tree, snapshot.reader(), &layout)?;
            let attachments = &outgoing.attachments.files;
            let mut report = ExportReport::default();
            for directory in &layout.directories {
                writer.directory(directory)?;
                report.folders += 1;
            }
            let total = u64::try_from(layout.documents.len() + attachments.len()).ok();
            for (number, document) in layout.documents.iter().enumerate() {
                let forest = tree.subtree(document.id.root(), None)?;
                report.blocks += u64::try_from(forest.0.len().saturating_sub(1)).unwrap_or(0);
                let text = text(number, document, forest, &outgoing, &mut report.adaptations);
                writer.file(&document.path, |out| out.write_all(text.as_bytes()))?;
                report.documents += 1;
                report.bytes += u64::try_from(text.len()).unwrap_or(0);
                if progress(Progress::new(report.documents, total)).is_break() {
                    report.canceled = report.documents < total.unwrap_or(0);
                    break;
                }
            }
            for attachment in attachments {
                if report.canceled {
                    break;
                }
                if report.attachments == 0 {
                    writer.directory(&layout.attachments)?;
                }
                writer.file(&attachment.path, |out| attachment.write(snapshot.reader(), out))?;
                report.attachments += 1;
                report.bytes += attachment.size();
                let done = report.documents + report.attachments;
                report.canceled = progress(Progress::new(done, total)).is_break() && done < total.unwrap_or(0);
            }
            report.adaptations.splice(0..0, layout.adaptations);
            report.skipped = layout.skipped;
            Ok(report)
        })
    }
}

/// The file of a document.
fn text(
    number: usize,
    document: &LaidOut,
    mut forest: Forest,
    outgoing: &Outgoing<'_>,
    adaptations: &mut Vec<Adaptation>,
) -> String {
    for node in &mut forest.0 {
        outgoing.rewrite(number, &mut node.block.data);
    }
    let roots = ops::assemble(&forest);
    let blocks = roots.first().map_or(&[][..], Block::children);
    let front = blocks.first().and_then(front_matter_of);
    let body = if front.is_some() { blocks.get(1..).unwrap_or_default() } else { blocks };
    let rendered = markdown::render(body);
    let becomes_front = front.is_none() && front_matter::split(&rendered).front.is_some();
    let difference = readback::difference(&rendered, body);
    if let Some(message) = difference.or(becomes_front.then(|| "it begins as front matter does".to_owned())) {
        let (path, kind) = (document.path.clone(), AdaptationKind::ReadsBackDifferently);
        adaptations.push(Adaptation { path, line: None, kind, message });
    }
    let end = if rendered.is_empty() { "" } else { "\n" };
    let between = if front.is_some() { end } else { "" };
    format!("{}{between}{rendered}{end}", front.unwrap_or_default())
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
