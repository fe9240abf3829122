//! Files into documents: new ones are imported, edited ones applied, and files edited on both
//! sides is merged.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use leafbase::bulk::{self, DocumentFactory, FileLayout};
use leafbase::markdown::render_as_written;
use leafbase::{BlockDraft, DocumentId, Location, Result};

use super::document_edits::{self, AppliedFile, ShownMarkdown};
use super::file_base::hash;
use super::plan::{MirrorPlan, PairComparison};
use super::run::MirrorRun;
use super::space_side::{Directories, FilePaths};
use super::text_merge::{MergeTexts, have_same_content};
use crate::import::{FileIndex, ImportPlan, Importer, KnownFiles, PlanContext, with_ancestors};
use crate::report::{MirrorChangeKind, VaultWarning, VaultWarningKind};
use crate::task_dates::TaskDates;

/// A file that is read into its document.
#[derive(Clone, Copy)]
struct ReadTask {
    document: DocumentId,
    index: FileIndex,
    /// How both are compared. `None` if the document did not change.
    comparison: Option<PairComparison>,
}

/// The content that a document gets.
enum ReadContent {
    OfFile,
    OfDocument,
    /// That of both, with the layout of the file if that changed.
    Merged(Vec<BlockDraft>, Option<FileLayout>),
    /// None that has all edits of both.
    Conflict,
}

impl MirrorRun<'_, '_, '_> {
    /// Reads files into documents. The second files of conflicts become documents, too.
    pub(super) fn read_files(
        &mut self,
        plan: &MirrorPlan,
        directories: &Directories,
    ) -> Result<()> {
        let applied = plan.applied.iter().map(|id| (*id, None));
        let compared = plan.compared.iter().map(|(id, how)| (*id, Some(*how)));
        let read: BTreeMap<DocumentId, Option<PairComparison>> = applied.chain(compared).collect();
        let before = self.settled.clone();
        // An import leaves its files as they are, with links that lead nowhere.
        let none = BTreeMap::new();
        let former_paths = if self.options.import_only { &none } else { &plan.renamed };
        let conflicts = self.import(&plan.imported, &read, directories, former_paths)?;
        let created = self.settled.difference(&before).filter_map(|id| self.paths.get(id));
        for path in created.filter(|path| plan.imported.contains(*path)) {
            self.report.add(MirrorChangeKind::DocumentCreated, path, None);
        }
        if !conflicts.is_empty() {
            self.progress.add(conflicts.len());
            self.import(&conflicts, &BTreeMap::new(), directories, former_paths)?;
        }
        Ok(())
    }

    /// Imports new files, and reads others into their documents. Returns the second files of
    /// conflicts.
    fn import(
        &mut self,
        new: &BTreeSet<String>,
        read: &BTreeMap<DocumentId, Option<PairComparison>>,
        directories: &Directories,
        former_paths: &BTreeMap<DocumentId, String>,
    ) -> Result<BTreeSet<String>> {
        let mut empty = self.files.directories.iter();
        let has_folders = empty.any(|path| directories.folder(path).is_none());
        if (new.is_empty() && read.is_empty() && !has_folders) || self.is_stopped() {
            return Ok(BTreeSet::new());
        }
        let notes = self.notes;
        let factory = DocumentFactory::new(notes);
        let known = KnownFiles {
            documents: self.paths.iter().map(|(id, path)| (path.clone(), *id)).collect(),
            folders: directories.folders().clone(),
            former_paths: former_paths.clone(),
        };
        let is_left = |path: &&String| !known.documents.contains_key(*path) && !new.contains(*path);
        self.files.omitted = self.files.notes.keys().filter(is_left).cloned().collect();
        let into = bulk::read(notes, |view| with_ancestors(view, self.options.folder))?;
        let takes_note = |day| bulk::read(notes, |view| Ok(view.daily_note(day)?.is_none()));
        let of_import = self.options.import.as_ref();
        let has_notes =
            of_import.map_or_else(|| self.options.folder.is_none(), |import| import.daily_notes);
        let context = PlanContext {
            into: &into,
            max_folders: factory.limits().deepest_folder(),
            takes_note: if has_notes { Some(&takes_note) } else { None },
            new_id: &mut || factory.new_id(),
            known: &known,
        };
        let plan = ImportPlan::new(&mut self.files, context)?;
        let with_attachments = of_import.is_none_or(|import| import.attachments);
        let mut import = Importer::new(notes, &factory, &plan, with_attachments);
        import.task_dates = of_import.map_or(TaskDates::None, |import| import.task_dates);
        for (upload, path) in &self.uploads {
            if let Some(record) = bulk::read(notes, |view| view.file(*upload))? {
                import.attachments.assume(path, record);
            }
        }
        if self.options.dry_run {
            import.assume_written();
        }
        while !self.options.dry_run
            && let Some(created) = import.write_next(&mut self.files, &mut self.progress)?
        {
            if of_import.is_some() {
                // After each transaction, so that no file is imported twice after a crash.
                self.uploads.extend(import.attachments.paths());
                self.without_files.extend(import.without_files.drain());
                self.keep_created(&plan, &created)?;
            }
        }
        let mut conflicts = BTreeSet::new();
        let indexes: HashMap<DocumentId, FileIndex> =
            plan.files.iter().enumerate().map(|(index, file)| (file.id, index)).collect();
        let tasks: Vec<ReadTask> = read
            .iter()
            .filter_map(|(document, comparison)| {
                let index = *indexes.get(document)?;
                Some(ReadTask { document: *document, index, comparison: *comparison })
            })
            .collect();
        let changing: BTreeSet<FileIndex> = tasks.iter().map(|task| task.index).collect();
        let mut again = Vec::new();
        for task in tasks {
            if self.is_stopped() {
                break;
            }
            self.progress.count();
            let uncertain = self.read(&factory, &plan, &mut import, task, &mut conflicts)?;
            if !uncertain.is_disjoint(&changing) && self.settled.contains(&task.document) {
                again.push(ReadTask { comparison: None, ..task });
            }
        }
        // Once more for links to headings and blocks that other files have got.
        for task in again {
            import.forget_warnings(task.index);
            let path = plan.path(task.index);
            self.report.warnings.retain(|warning| {
                warning.kind != VaultWarningKind::MissingAnchor || warning.path != path
            });
            self.read(&factory, &plan, &mut import, task, &mut conflicts)?;
        }
        if self.options.dry_run {
            return Ok(conflicts);
        }
        let relinked: BTreeSet<DocumentId> = import.relinked().collect();
        for (index, file) in plan.files.iter().enumerate() {
            if new.contains(&file.path) && import.is_imported(index) {
                self.paths.insert(file.id, file.path.clone());
                // An import kept the bases of the rest when it wrote them.
                if of_import.is_none() || relinked.contains(&file.id) {
                    self.settled.insert(file.id);
                }
            }
        }
        // The links of these are written by the present names.
        let linking = import.former_links.iter().filter_map(|index| plan.files.get(*index));
        let linking = linking.map(|file| file.id).filter(|id| self.settled.contains(id));
        self.written.extend(linking);
        self.uploads.extend(import.attachments.paths());
        let mut report = import.finish(&mut self.progress)?;
        self.report.warnings.append(&mut report.warnings);
        self.report.canceled |= report.canceled;
        report.skipped.retain(|skipped| of_import.is_some() || new.contains(&skipped.path));
        self.report.skipped.append(&mut report.skipped);
        self.created = report;
        Ok(conflicts)
    }

    /// Keeps the bases of documents that files became.
    fn keep_created(&mut self, plan: &ImportPlan, created: &[DocumentId]) -> Result<()> {
        for id in created {
            self.paths.insert(*id, plan.path_of(*id).to_owned());
            self.settled.insert(*id);
        }
        bulk::read(self.notes, |view| self.settle(view))
    }

    /// Reads one file into its document. Returns the files in which the target of a link was not
    /// found, or may have been another block before they were read.
    fn read(
        &mut self,
        factory: &DocumentFactory,
        plan: &ImportPlan,
        import: &mut Importer<'_>,
        ReadTask { document, index, comparison }: ReadTask,
        conflicts: &mut BTreeSet<String>,
    ) -> Result<BTreeSet<FileIndex>> {
        let path = plan.path(index).to_owned();
        let mut file = match import.read_file(&mut self.files, index) {
            Ok(file) => file,
            Err(error) => {
                self.report.skip(&path, error.to_string());
                return Ok(BTreeSet::new());
            }
        };
        let named = import.link_references(index, &mut file)?;
        let mut drafts = std::mem::take(&mut file.drafts);
        let (mut uncertain, missing, present) = bulk::read(self.notes, |view| {
            let past = |document| self.past_anchors(document);
            let (uncertain, missing) =
                document_edits::resolve_anchors(view, plan, &file.pending, &mut drafts, &past)?;
            Ok((uncertain, missing, ShownMarkdown::present(view, factory, document)?))
        })?;
        let content = match comparison {
            None => ReadContent::OfFile,
            Some(comparison) => {
                let file = (drafts.as_slice(), &file.layout);
                self.compare(factory, document, comparison, &present, file)?
            }
        };
        let is_read = !matches!(content, ReadContent::OfDocument);
        if !is_read {
            // Of a version that the document has no more.
            import.forget_warnings(index);
        }
        for link in missing.into_iter().filter(|_| is_read && !self.options.dry_run) {
            let (target, anchor) = (plan.path(link.target), link.anchor.as_deref().unwrap_or(""));
            let message = format!(
                "{target} has no heading or block #{anchor}; the link leads to the document"
            );
            let warning = VaultWarning::of_file(&path, VaultWarningKind::MissingAnchor, message);
            self.report.warnings.push(VaultWarning { line: link.line, ..warning });
        }
        uncertain.extend(named);
        if self.options.dry_run {
            self.preview(factory, (document, &path), (&present, drafts), &content)?;
            return Ok(BTreeSet::new());
        }
        let (content, layout, kind) = match content {
            ReadContent::OfFile => (None, Some(file.layout.clone()), None),
            ReadContent::Merged(blocks, layout) => {
                (Some(blocks), layout, Some(MirrorChangeKind::Merged))
            }
            ReadContent::OfDocument => {
                self.written.insert(document);
                return Ok(BTreeSet::new());
            }
            ReadContent::Conflict if self.options.import_only => {
                let kind = VaultWarningKind::EditedTwice;
                let message = "it was edited in the space as well: the file's version wins";
                self.report.warnings.push(VaultWarning::of_file(&path, kind, message));
                (None, Some(file.layout.clone()), None)
            }
            ReadContent::Conflict => {
                self.keep_both(document, &path, conflicts)?;
                return Ok(BTreeSet::new());
            }
        };
        let keeps_file = kind.is_some() && self.options.import_only;
        if keeps_file {
            // The file is not written: its version becomes one of the document, which the next
            // edits of the file are merged by.
            let expected = self.changes.get(&document).copied().unwrap_or(0);
            let layout = Some(&file.layout);
            let notes = self.notes;
            if let AppliedFile::Done(change, _) =
                document_edits::apply(notes, factory, import, document, expected, &drafts, layout)?
            {
                self.changes.extend(change.map(|change| (document, change)));
            }
        }
        let drafts = content.unwrap_or(drafts);
        let layout = layout.as_ref();
        let base = self.changes.get(&document).copied();
        self.apply(factory, import, (document, &path), (&drafts, layout, kind), conflicts)?;
        if keeps_file {
            self.changes.extend(base.map(|base| (document, base)));
            self.settled.insert(document);
        }
        Ok(uncertain)
    }

    /// Reports what a mirror would do with a file that was read as `drafts`, and writes nothing.
    fn preview(
        &mut self,
        factory: &DocumentFactory,
        (document, path): (DocumentId, &str),
        (present, drafts): (&ShownMarkdown, Vec<BlockDraft>),
        content: &ReadContent,
    ) -> Result<()> {
        let import_only = self.options.import_only;
        let kind = match content {
            ReadContent::OfDocument => None,
            ReadContent::Merged(..) => Some(MirrorChangeKind::Merged),
            ReadContent::Conflict if !import_only => Some(MirrorChangeKind::Conflict),
            ReadContent::OfFile | ReadContent::Conflict => {
                let root = document.root();
                let edited = bulk::read(self.notes, |view| {
                    let row = view.document(document)?;
                    if row.is_some_and(|row| row.record.location == Location::Trash) {
                        // It is restored before: the trash refuses edits.
                        return Ok(!have_same_content(&present.blocks, &drafts));
                    }
                    Ok(!view.page_edits(factory, root, drafts)?.is_empty())
                });
                match edited {
                    Ok(false) => return Ok(()),
                    Ok(true) => Some(MirrorChangeKind::DocumentUpdated),
                    Err(error) if document_edits::is_refusal(&error) && import_only => {
                        return Ok(());
                    }
                    Err(error) if document_edits::is_refusal(&error) => {
                        Some(MirrorChangeKind::Conflict)
                    }
                    Err(error) => return Err(error),
                }
            }
        };
        let other = match kind {
            Some(MirrorChangeKind::Conflict) => {
                let bytes = self.files.files.read(path, usize::MAX)?;
                Some(self.second_file(path, &bytes)?.0)
            }
            _ => None,
        };
        if let Some(kind) = kind {
            self.report.add(kind, path, other.as_deref());
        }
        if kind != Some(MirrorChangeKind::DocumentUpdated) && !import_only {
            self.report.add(MirrorChangeKind::FileWritten, path, None);
        }
        Ok(())
    }

    /// The path of the second file of a conflict, and whether a mirror that ended before wrote it.
    fn second_file(&mut self, path: &str, bytes: &[u8]) -> Result<(String, bool)> {
        let first = FilePaths::default().claim_conflict(path);
        if self.files.stat(&first).is_some() && self.files.hash(&first)? == hash(bytes) {
            return Ok((first, true));
        }
        Ok((FilePaths::new(self.files.all_paths()).claim_conflict(path), false))
    }

    /// Compares a document with its file, which was read as `drafts`.
    fn compare(
        &self,
        factory: &DocumentFactory,
        document: DocumentId,
        comparison: PairComparison,
        present: &ShownMarkdown,
        (drafts, layout): (&[BlockDraft], &FileLayout),
    ) -> Result<ReadContent> {
        let shown = ShownMarkdown::of_file(drafts, layout, factory)?;
        if present.is_written_as(&shown) {
            return Ok(ReadContent::OfFile);
        }
        let past = match comparison.base {
            Some(_) if !comparison.is_file_edited => return Ok(ReadContent::OfDocument),
            Some(base) => ShownMarkdown::past(self.notes, factory, document, base)?,
            None => None,
        };
        let Some(past) = past else {
            // Which of both forms is newer is unknown: a file keeps its bytes.
            let is_same = have_same_content(&present.blocks, drafts);
            return Ok(match (is_same, comparison.is_file_edited) {
                (true, _) => ReadContent::OfFile,
                (false, true) => ReadContent::Conflict,
                (false, false) => ReadContent::OfDocument,
            });
        };
        let (base, ours) = (past.blocks.as_slice(), present.blocks.as_slice());
        let texts = MergeTexts { base, ours, theirs: drafts, shown: &shown.blocks };
        let Some(merged) = texts.merged() else { return Ok(ReadContent::Conflict) };
        if render_as_written(&merged, Some(layout)) == shown.text {
            return Ok(ReadContent::OfFile);
        }
        Ok(ReadContent::Merged(merged, shown.file_layout(&past).cloned()))
    }

    fn apply(
        &mut self,
        factory: &DocumentFactory,
        import: &mut Importer<'_>,
        (document, path): (DocumentId, &str),
        (drafts, layout, kind): (&[BlockDraft], Option<&FileLayout>, Option<MirrorChangeKind>),
        conflicts: &mut BTreeSet<String>,
    ) -> Result<()> {
        // No change is number 0: a document that appeared in the meantime counts as changed by
        // others.
        let expected = self.changes.get(&document).copied().unwrap_or(0);
        match document_edits::apply(
            self.notes, factory, import, document, expected, drafts, layout,
        )? {
            AppliedFile::Done(change, is_edited) => {
                self.changes.extend(change.map(|change| (document, change)));
                if let Some(kind) = kind {
                    // Both are equal once its file is written, too.
                    self.report.add(kind, path, None);
                    self.written.insert(document);
                } else {
                    self.settled.insert(document);
                    if is_edited {
                        self.report.add(MirrorChangeKind::DocumentUpdated, path, None);
                    }
                }
            }
            AppliedFile::ChangedMeanwhile => {
                self.written.remove(&document);
                self.skip_changed(path);
            }
            AppliedFile::Refused(error) => {
                let message = format!("its document cannot have its content: {error}");
                let kind = VaultWarningKind::Markdown;
                self.report.warnings.push(VaultWarning::of_file(path, kind, message));
                self.keep_both(document, path, conflicts)?;
            }
        }
        Ok(())
    }

    /// Keeps the version of a file as a second file; the document is written to its own.
    fn keep_both(
        &mut self,
        document: DocumentId,
        path: &str,
        conflicts: &mut BTreeSet<String>,
    ) -> Result<()> {
        if self.options.import_only {
            self.report.skip(path, "its document cannot have its content");
            return Ok(());
        }
        let bytes = self.files.files.read(path, usize::MAX)?;
        let (other, is_there) = self.second_file(path, &bytes)?;
        if !is_there {
            self.files.files.write(&other, &mut |out| out.write_all(&bytes))?;
            self.files.relist(&other)?;
            conflicts.insert(other.clone());
        }
        self.report.add(MirrorChangeKind::Conflict, path, Some(&other));
        self.written.insert(document);
        Ok(())
    }
}
