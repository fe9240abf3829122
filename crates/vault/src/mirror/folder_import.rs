//! Import of a directory: a mirror of files alone, with the options and the report of an import.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use leafbase::bulk::{self, DocumentFactory};
use leafbase::{BlockDraft, BlockKind, Connection, DocumentId, DocumentVersion, Progress, Result};

use super::document_edits::ShownMarkdown;
use super::file_base::FileBase;
use super::files::MirrorDirectory;
use super::options::MirrorOptions;
use super::pairs::NamedDocuments;
use super::plan::{MirrorPlan, PairComparison};
use super::run::MirrorRun;
use super::space_side::SpaceSide;
use crate::import::flushed_at_end;
use crate::markdown_file::{self, FRONT_MATTER_TAG, FileText};
use crate::report::{ImportOptions, ImportReport, MirrorChangeKind};

/// Imports the markdown files below the directory `path`: directories become folders, files
/// become documents in them, and files named by a day become daily notes (see
/// [`ImportOptions::daily_notes`]).
///
/// Front matter becomes a document's first block, code with the tag `yaml frontmatter`. Wiki
/// links and relative links to files of the folder become links to blocks. Other files that a
/// document embeds or links to are imported as uploads. One that is embedded alone in a
/// paragraph gets the block that an upload of it would get. Names that an export escaped are
/// decoded. The report lists what changed and what was skipped: hidden files, symbolic links
/// and files that no document shows, among others. Memory is bounded by the largest file.
///
/// A folder that was imported before is imported again: files that changed since update their
/// documents as [`mirror`](crate::mirror()) does, so that blocks keep their IDs, comments and
/// links. Edits of different blocks in the space are merged, and otherwise replaced, with a
/// warning. Renamed files rename their documents; documents without a file stay, and those that
/// were deleted in the space stay deleted unless their file is edited. After an undo of the import
/// its files are new, unless another undo brought their documents back. A folder that was moved or
/// copied is recognised if at least half of its files are as they were.
///
/// Others may write to the space concurrently. Documents for a folder that they delete go to
/// its nearest existing ancestor, a day that gets a note keeps it, and an attachment that they
/// delete is imported again for the next document that shows it.
///
/// `progress` receives the number of steps done: one per file, and after the last file further
/// ones, added to the total, that resolve links to headings. It may cancel the import. Then the
/// report says so, documents imported so far stay, and links to headings that were not looked
/// up lead to their document.
///
/// The transactions of an import survive the end of the process one by one, and a power loss
/// together when it returns, unless the connection's durability is relaxed.
///
/// An import of 100 documents or more ends with the search index caught up, whatever
/// [`SearchIndexing`](leafbase::SearchIndexing) says, as one more step: the first search after it
/// is as fast as later ones. A canceled import leaves that to the next search.
///
/// ```
/// use std::ops::ControlFlow;
/// use leafbase::Space;
/// use leafbase_vault::{ImportOptions, import_folder};
/// # fn main() -> leafbase::Result<()> {
/// # let directory = tempfile::tempdir().unwrap();
/// # let vault = directory.path();
/// # std::fs::write(vault.join("Trip.md"), "See [[Packing]].").unwrap();
/// # std::fs::write(vault.join("Packing.md"), "##### Clothes").unwrap();
/// let notes = Space::in_memory()?.connect();
/// let go_on = &mut |_| ControlFlow::Continue(());
/// let report = import_folder(&notes, vault, &ImportOptions::new(), go_on)?;
/// assert_eq!((report.documents, report.links), (2, 1));
/// for warning in &report.warnings {
///     // a heading of level 5 became one of level 4
///     println!("{}: {}", warning.path, warning.message);
/// }
/// std::fs::write(vault.join("Trip.md"), "See [[Packing]] first.").unwrap();
/// let report = import_folder(&notes, vault, &ImportOptions::new(), go_on)?;
/// assert_eq!((report.documents, report.changes.len(), report.unchanged), (0, 1, 1));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`leafbase::ErrorKind::NotFound`] if there is no such directory, or no such folder in the
/// space; errors of the operating system and the store. Documents imported before an error
/// stay.
pub fn import_folder(
    notes: &Connection,
    path: impl AsRef<Path>,
    options: &ImportOptions,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<ImportReport> {
    let mut files = MirrorDirectory::existing(path.as_ref())?;
    let options = MirrorOptions {
        folder: options.folder,
        import_only: true,
        import: Some(options.clone()),
        ..MirrorOptions::new()
    };
    let (mirrored, created) = flushed_at_end(notes, |relaxed| {
        MirrorRun::new(relaxed, &mut files, &options, progress)?.run()
    })?;
    let mut report = ImportReport {
        changes: mirrored.changes,
        unchanged: mirrored.unchanged,
        warnings: mirrored.warnings,
        skipped: mirrored.skipped,
        canceled: mirrored.canceled,
        ..created
    };
    report.changes.retain(|change| change.kind != MirrorChangeKind::DocumentCreated);
    report.skipped.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(report)
}

impl MirrorRun<'_, '_, '_> {
    /// Finds the documents of new files that an undo removed with their bases, and another undo
    /// brought back: they were read from this version of the file, and nothing has a base of them.
    pub(super) fn find_returned(
        &mut self,
        side: &SpaceSide,
        bases: &BTreeMap<DocumentId, FileBase>,
        plan: &mut MirrorPlan,
    ) -> Result<()> {
        let is_free = |id| !(bases.contains_key(&id) || plan.paths.contains_key(&id));
        let mut named = NamedDocuments::new(side, is_free);
        for path in std::mem::take(&mut plan.imported) {
            let found = named.take(&path);
            match found.map(|id| self.version_read(id, &path)).transpose()?.flatten().zip(found) {
                Some((change, id)) => {
                    let comparison = PairComparison { base: Some(change), is_file_edited: false };
                    plan.left.insert(id, comparison);
                    plan.refreshed.insert(id);
                    plan.paths.insert(id, path);
                    plan.unchanged += 1;
                }
                None => drop(plan.imported.insert(path)),
            }
        }
        Ok(())
    }

    /// The change that made a document of the present version of a file, if no base says more.
    fn version_read(&mut self, id: DocumentId, path: &str) -> Result<Option<u64>> {
        let layout = bulk::read(self.notes, |view| {
            let has_base = view.has_host_records(id)?;
            let root = view.block(id.root())?.filter(|_| !has_base);
            Ok(root.and_then(|root| root.data.layout?.file))
        })?;
        let Some(layout) = layout.filter(|layout| *layout.path == *path) else { return Ok(None) };
        let factory = DocumentFactory::new(self.notes);
        let bytes = self.files.files.read(path, factory.limits().markdown)?;
        let Ok(text) = FileText::decode(bytes) else { return Ok(None) };
        let (drafts, parsed, _) = markdown_file::blocks(&text.text, factory.limits());
        // A file that was kept as code has no digest.
        if text.layout(path, parsed) != *layout || layout.digest == 0 {
            return Ok(None);
        }
        // With the first version gone from the history, nothing says what the file became.
        let first = self.notes.history(id, None, usize::MAX)?.pop();
        let first = first.filter(|first| first.blocks.contains(&id.root()) && first.inserted > 0);
        let Some(DocumentVersion { sequence, .. }) = first else { return Ok(None) };
        // The digest is that of the text after front matter.
        let past = ShownMarkdown::past(self.notes, &factory, id, sequence)?;
        let is_read = past.is_some_and(|past| front_matter(&past.blocks) == front_matter(&drafts));
        Ok(is_read.then_some(sequence))
    }
}

fn front_matter(blocks: &[BlockDraft]) -> Option<&str> {
    match &blocks.first()?.data.kind {
        BlockKind::Code { raw_code, language_tag, .. } if language_tag == FRONT_MATTER_TAG => {
            Some(raw_code)
        }
        _ => None,
    }
}
