//! Import: a folder of markdown files becomes folders and documents.

mod attachments;
mod batch;
mod block_references;
mod file_warnings;
mod held_documents;
pub(crate) mod inline_links;
pub(crate) mod inline_rewrites;
pub(crate) mod link_resolver;
pub(crate) mod link_targets;
mod own_anchors;
mod plan;

pub(crate) use self::block_references::BlockReference;
pub(crate) use self::link_resolver::PendingLink;
pub(crate) use self::link_targets::FileIndex;
pub(crate) use self::plan::{ImportPlan, KnownFiles, PlanContext};

use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;

use leafbase::bulk::{
    self, DocumentFactory, FileLayout, NewDocument, SourceLayout, SpaceView, StagedFile,
    daily_note_title, invariant,
};
use leafbase::{
    AssetId, BlockData, BlockDraft, BlockId, Connection, DocumentId, Durability, Edit, Error,
    FolderId, Progress, Result,
};

use self::attachments::{AttachmentImport, CandidateState};
use self::batch::{BatchResult, ImportBatch, PendingBlockLink, SecondPass, redirect_file};
use self::block_references::BlockReferences;
use self::file_warnings::FileWarnings;
use self::held_documents::{HeldDocuments, NewFile};
use self::link_resolver::{AnchorPlaceholders, LinkResolver};
use self::plan::{PlanStep, PlannedFile};
use crate::folder::ImportSource;
use crate::link_paths::{encode, relative_path};
use crate::logseq_ids;
use crate::markdown_file::{self, FileText};
use crate::report::{
    ImportOptions, ImportReport, ProgressCounter, Skipped, VaultWarning, VaultWarningKind,
};
use crate::task_dates::{self, TaskDates};

/// Blocks per transaction, exceeded by at most one document. Bounds memory and amortizes commits.
const MIN_BATCH_BLOCKS: usize = 2_000;

/// Imported documents from which the search index catches up within the import. A search analyzes
/// fewer ones in milliseconds.
const INDEXED_DOCUMENTS: u64 = 100;

/// Imports markdown files from another source: [`crate::MemorySource`], or one of the host. As
/// [`import_folder`](crate::import_folder), but every file becomes a new document.
///
/// ```
/// use std::ops::ControlFlow;
/// use leafbase::Space;
/// use leafbase_vault::{ImportOptions, MemorySource, import_from};
/// # fn main() -> leafbase::Result<()> {
/// let notes = Space::in_memory()?.connect();
/// let mut source =
///     MemorySource::from_iter([("Lisbon/Trip.md", "# Packing"), ("2026-03-01.md", "rain")]);
/// let go_on = &mut |_| ControlFlow::Continue(());
/// let report = import_from(&notes, &mut source, &ImportOptions::new(), go_on)?;
/// assert_eq!((report.documents, report.folders), (2, 1));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As [`import_folder`](crate::import_folder); errors of the source.
pub fn import_from(
    notes: &Connection,
    source: &mut dyn ImportSource,
    options: &ImportOptions,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<ImportReport> {
    flushed_at_end(notes, |relaxed| import_relaxed(relaxed, source, options, progress))
}

/// Runs an import whose transactions do not wait for the disk one by one: a power loss takes the
/// last of them, with the bases of their files, so that the next import goes on there. At its end,
/// and after an error, they are flushed together.
pub(crate) fn flushed_at_end<T>(
    notes: &Connection,
    import: impl FnOnce(&Connection) -> Result<T>,
) -> Result<T> {
    let imported = import(&notes.with_durability(Durability::Relaxed));
    if notes.durability() == Durability::Durable {
        let flushed = notes.space().flush();
        // The error of the import says more than that of the disk after it.
        return imported.and_then(|value| flushed.map(|()| value));
    }
    imported
}

fn import_relaxed(
    notes: &Connection,
    source: &mut dyn ImportSource,
    options: &ImportOptions,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<ImportReport> {
    let into = bulk::read(notes, |view| with_ancestors(view, options.folder))?;
    if into.is_empty() && options.folder.is_some() {
        return Err(Error::no_folder().at("folder"));
    }
    let factory = DocumentFactory::new(notes);
    let takes_note = |day| bulk::read(notes, |view| Ok(view.daily_note(day)?.is_none()));
    let context = PlanContext {
        into: &into,
        max_folders: factory.limits().deepest_folder(),
        takes_note: if options.daily_notes { Some(&takes_note) } else { None },
        new_id: &mut || factory.new_id(),
        known: &KnownFiles::default(),
    };
    let plan = ImportPlan::new(source, context)?;
    let mut progress = ProgressCounter::new(progress, plan.files.len());
    let mut import = Importer::new(notes, &factory, &plan, options.attachments);
    import.task_dates = options.task_dates;
    while import.write_next(source, &mut progress)?.is_some() {}
    import.finish(&mut progress)
}

/// An import in progress.
pub(crate) struct Importer<'a> {
    connection: &'a Connection,
    plan: &'a ImportPlan,
    factory: &'a DocumentFactory,
    placeholders: AnchorPlaceholders,
    /// Documents that are written once all files have been read.
    held: HeldDocuments,
    /// Links of documents that were not held back, for the second pass.
    pending: Vec<PendingBlockLink>,
    references: BlockReferences,
    /// Whether each file of the plan was imported.
    imported: Vec<bool>,
    with_attachments: bool,
    pub(crate) task_dates: TaskDates,
    /// Whether any file was kept as code.
    has_code_files: bool,
    pub(crate) attachments: AttachmentImport,
    /// Files with links that lead somewhere by the former path of a file alone.
    pub(crate) former_links: BTreeSet<FileIndex>,
    /// Documents that show no attachment.
    pub(crate) without_files: HashSet<DocumentId>,
    batch: ImportBatch,
    /// The first step of the plan that is not done.
    next_step: usize,
    report: ImportReport,
}

/// A document that is ready to be written.
struct ReadDocument {
    edits: Vec<Edit>,
    /// IDs of its blocks in pre-order: the root, then its descendants.
    blocks: Vec<BlockId>,
    pending: Vec<PendingLink>,
    references: Vec<BlockReference>,
    /// The IDs for Logseq that its blocks have, with the index of each block.
    named: Vec<(String, usize)>,
    resolved_links: u64,
}

/// The blocks of a file, with its links resolved.
pub(crate) struct ReadFile {
    pub(crate) drafts: Vec<BlockDraft>,
    pub(crate) layout: FileLayout,
    /// Links to headings and blocks, which lead to placeholders.
    pub(crate) pending: Vec<PendingLink>,
    pub(crate) references: Vec<BlockReference>,
    resolved_links: u64,
}

impl<'a> Importer<'a> {
    pub(crate) fn new(
        connection: &'a Connection,
        factory: &'a DocumentFactory,
        plan: &'a ImportPlan,
        with_attachments: bool,
    ) -> Self {
        Self {
            connection,
            factory,
            plan,
            attachments: AttachmentImport::default(),
            placeholders: AnchorPlaceholders::default(),
            held: HeldDocuments::new(plan.has_known_files()),
            pending: Vec::new(),
            references: BlockReferences::default(),
            imported: plan.files.iter().map(|file| file.is_known).collect(),
            with_attachments,
            task_dates: TaskDates::None,
            has_code_files: false,
            former_links: BTreeSet::new(),
            without_files: HashSet::new(),
            batch: ImportBatch::default(),
            next_step: 0,
            report: ImportReport { skipped: plan.skipped.clone(), ..ImportReport::default() },
        }
    }

    /// Takes all files as imported, and writes nothing: for a dry run, which reads them.
    pub(crate) fn assume_written(&mut self) {
        self.imported.fill(true);
        self.attachments.close();
    }

    /// Imports files up to the end of a transaction. Returns the documents that it created; `None`
    /// after the last one.
    pub(crate) fn write_next(
        &mut self,
        source: &mut dyn ImportSource,
        progress: &mut ProgressCounter<'_>,
    ) -> Result<Option<Vec<DocumentId>>> {
        let mut is_full = false;
        // Flushed at file boundaries only: a document is never split over two transactions.
        while !(is_full || self.report.canceled) {
            let Some(step) = self.plan.steps.get(self.next_step) else { break };
            self.next_step += 1;
            match step {
                PlanStep::Folder(folder) => {
                    self.batch.edits.push(Edit::CreateFolder(folder.clone()));
                    self.batch.folders += 1;
                }
                PlanStep::File(index) => {
                    if let Err(reason) = self.import_file(source, *index) {
                        let path = self.plan.path(*index).to_owned();
                        self.report.skipped.push(Skipped { path, reason: reason.to_string() });
                    }
                    progress.count();
                }
            }
            is_full = self.batch.blocks >= MIN_BATCH_BLOCKS;
            if !is_full {
                self.report_progress(progress);
            }
        }
        if self.batch.edits.is_empty() {
            self.release_held(progress)?;
        }
        if self.batch.edits.is_empty() {
            return Ok(None);
        }
        let created = self.write_batch(source)?;
        if is_full {
            self.report_progress(progress);
        }
        Ok(Some(created))
    }

    /// Adds documents that were held back to the batch, until it is full.
    fn release_held(&mut self, progress: &mut ProgressCounter<'_>) -> Result<()> {
        if self.held.has_unlinked() {
            let second_pass = SecondPass {
                connection: self.connection,
                plan: self.plan,
                imported: &self.imported,
            };
            let mut result = second_pass.link_held(&mut self.held.documents, progress)?;
            self.report.canceled |= result.canceled;
            self.report.warnings.append(&mut result.warnings);
            let mut linked =
                self.held.link_references(&self.references, self.connection, self.plan)?;
            self.report.links += linked.links;
            self.report.warnings.append(&mut linked.warnings);
        }
        while self.batch.blocks < MIN_BATCH_BLOCKS
            && let Some(new) = self.held.documents.pop_front()
        {
            self.add_to_batch(new);
        }
        Ok(())
    }

    fn report_progress(&mut self, progress: &mut ProgressCounter<'_>) {
        progress.report();
        self.report.canceled = progress.is_canceled() && progress.is_unfinished();
    }

    /// Whether the file of this index became a document.
    pub(crate) fn is_imported(&self, index: FileIndex) -> bool {
        debug_assert!(index < self.imported.len(), "file {index} is in the plan");
        self.imported.get(index).copied().unwrap_or(false)
    }

    /// The stored documents with links that are directed elsewhere at the end.
    pub(crate) fn relinked(&self) -> impl Iterator<Item = DocumentId> {
        let pending = self.pending.iter();
        let pending = pending
            .filter(|(.., link)| link.anchor.is_some() || !self.is_imported(link.target))
            .map(|(_, file, _)| *file);
        let files = pending.chain(self.references.files());
        files.filter_map(|file| Some(self.plan.files.get(file)?.id))
    }

    /// Reads a file whose document exists: its blocks, with links resolved. The warnings go to the
    /// report of the import.
    pub(crate) fn read_file(
        &mut self,
        source: &mut dyn ImportSource,
        index: FileIndex,
    ) -> Result<ReadFile> {
        let (path, text) = self.file_text(source, index)?;
        let mut warnings = FileWarnings::new(&path, &text.text);
        for (kind, line, message) in text.warnings.clone() {
            warnings.warn_at(kind, line, message);
        }
        let mut read = self.read_drafts(source, index, &text.text, &mut warnings);
        read.layout = text.layout(&path, read.layout);
        self.report.warnings.append(&mut warnings.warnings);
        self.report.links += read.resolved_links;
        Ok(read)
    }

    /// The path and the text of a file.
    fn file_text(
        &self,
        source: &mut dyn ImportSource,
        index: FileIndex,
    ) -> Result<(String, FileText)> {
        let Some(file) = self.plan.files.get(index) else {
            invariant!("file {index} is in the plan")
        };
        let max_bytes = self.factory.limits().markdown;
        let bytes = source.read(&file.path, max_bytes)?;
        if bytes.len() > max_bytes {
            return Err(Error::limit("bytes of a file", max_bytes, "more"));
        }
        Ok((file.path.clone(), FileText::decode(bytes)?))
    }

    /// Reads a file and adds its document to the batch. An error is the reason to skip the file.
    fn import_file(&mut self, source: &mut dyn ImportSource, index: FileIndex) -> Result<()> {
        let Some(file) = self.plan.files.get(index) else {
            invariant!("file {index} is in the plan")
        };
        let (_, text) = self.file_text(source, index)?;
        let mut warnings = FileWarnings::new(&file.path, &text.text);
        for (kind, line, message) in text.warnings.clone() {
            warnings.warn_at(kind, line, message);
        }
        let document = self.read_document(source, index, file, &text, &mut warnings)?;
        let ReadDocument { mut edits, blocks, mut pending, references, named, resolved_links } =
            document;
        own_anchors::link(&mut edits, index, &mut pending);
        if let Some(day) = file.taken_day {
            let message = markdown_file::day_has_note(day);
            warnings.warn_at(VaultWarningKind::DailyNote, None, message);
        }
        let title = if file.day.is_none() { root_title(&edits) } else { None };
        if let Some(message) =
            title.and_then(|title| markdown_file::title_warning(&file.path, title))
        {
            warnings.warn_at(VaultWarningKind::Title, None, message);
        }
        let mut warnings = warnings.warnings;
        self.has_code_files |=
            warnings.iter().any(|warning| warning.kind == VaultWarningKind::KeptAsCode);
        self.report.warnings.append(&mut warnings);
        self.report.links += resolved_links;
        self.report.blocks += blocks.len().saturating_sub(1) as u64;
        self.references.add_named(&blocks, named)?;
        debug_assert!(self.imported.get(index) == Some(&false), "{} is imported once", file.path);
        if let Some(imported) = self.imported.get_mut(index) {
            *imported = true;
        }
        let new = NewFile { file: index, edits, blocks: blocks.len(), pending, references };
        if let Some(mut new) = self.held.hold(new) {
            for link in new.pending.drain(..) {
                let Some(block) = blocks.get(link.block) else {
                    invariant!("a pending link is in block {} of its document", link.block)
                };
                self.pending.push((*block, index, link));
            }
            self.references.add(index, &blocks, std::mem::take(&mut new.references))?;
            self.add_to_batch(new);
        }
        Ok(())
    }

    fn add_to_batch(&mut self, new: NewFile) {
        self.batch.blocks += new.blocks;
        // Attachments are created by the first batch whose documents show them.
        let shown = self.attachments.shown(&new.edits);
        if shown.is_empty() {
            self.without_files.extend(self.plan.files.get(new.file).map(|file| file.id));
        }
        let (files, uploads) = self.attachments.create(shown);
        // The files come first: documents can only show files that exist.
        self.batch.edits.extend(files.into_iter().chain(new.edits));
        self.batch.uploads.extend(uploads);
    }

    /// Parses a file. If no document can be made of its blocks, it becomes one code block.
    fn read_document(
        &mut self,
        source: &mut dyn ImportSource,
        index: FileIndex,
        file: &PlannedFile,
        text: &FileText,
        warnings: &mut FileWarnings<'_>,
    ) -> Result<ReadDocument> {
        let ReadFile { drafts, layout, pending, references, resolved_links } =
            self.read_drafts(source, index, &text.text, warnings);
        let layout = text.layout(&file.path, layout);
        let named = named_drafts(&drafts);
        match self.create_document(file, drafts, layout) {
            Ok(NewDocument { edits, blocks, .. }) => {
                Ok(ReadDocument { edits, blocks, pending, references, named, resolved_links })
            }
            Err(error) => {
                let (kind, line, message) = markdown_file::kept_as_code(&error);
                warnings.warn_at(kind, line, message);
                let drafts = markdown_file::as_code(&text.text);
                let layout =
                    FileLayout { path: file.path.as_str().into(), ..FileLayout::default() };
                let NewDocument { edits, blocks, .. } =
                    self.create_document(file, drafts, layout)?;
                let (pending, references, named) = (Vec::new(), Vec::new(), Vec::new());
                Ok(ReadDocument { edits, blocks, pending, references, named, resolved_links: 0 })
            }
        }
    }

    /// Parses a file and resolves its links.
    fn read_drafts(
        &mut self,
        source: &mut dyn ImportSource,
        index: FileIndex,
        text: &str,
        warnings: &mut FileWarnings<'_>,
    ) -> ReadFile {
        let (mut drafts, layout, parse_warnings) =
            markdown_file::blocks(text, self.factory.limits());
        if self.task_dates == TaskDates::Emoji {
            task_dates::read(&mut drafts);
        }
        markdown_file::unfold_long_links(
            &mut drafts,
            self.factory.limits(),
            &mut |url, message| {
                warnings.warn(VaultWarningKind::Markdown, url, message);
            },
        );
        for (kind, line, message) in parse_warnings {
            warnings.warn_at(kind, line, message);
        }
        let (pending, references, resolved_links) =
            self.resolve_links(source, index, &mut drafts, warnings);
        ReadFile { drafts, layout, pending, references, resolved_links }
    }

    /// Turns the references of a file whose document exists into links. Returns the files whose
    /// blocks they name; its own index for one that names none.
    pub(crate) fn link_references(
        &mut self,
        index: FileIndex,
        file: &mut ReadFile,
    ) -> Result<BTreeSet<FileIndex>> {
        let mut targets = BTreeSet::new();
        if file.references.is_empty() {
            return Ok(targets);
        }
        let ids = file.references.iter().map(|reference| reference.id.as_str());
        let found = self.references.find(self.connection, self.plan, ids)?;
        for reference in &file.references {
            if !found.contains_key(&reference.id) {
                let warning = block_references::unresolved(self.plan.path(index), reference);
                self.report.warnings.push(warning);
                targets.insert(index);
            }
        }
        bulk::read(self.connection, |view| {
            for block in found.values() {
                let document = view.document_of(*block)?;
                targets.extend(document.and_then(|document| self.plan.index_of(document)));
            }
            Ok(())
        })?;
        self.report.links += block_references::link_drafts(&mut file.drafts, &found);
        Ok(targets)
    }

    /// Drops the warnings about a file that is read again.
    pub(crate) fn forget_warnings(&mut self, index: FileIndex) {
        let path = self.plan.path(index);
        self.report.warnings.retain(|warning| warning.path != path);
    }

    fn resolve_links(
        &mut self,
        source: &mut dyn ImportSource,
        from: FileIndex,
        drafts: &mut [BlockDraft],
        warnings: &mut FileWarnings<'_>,
    ) -> (Vec<PendingLink>, Vec<BlockReference>, u64) {
        let Self { attachments, imported, with_attachments, factory, .. } = self;
        let mut resolver = LinkResolver {
            plan: self.plan,
            from,
            // Files are read in their order: one before this that was not imported was skipped.
            is_skipped: &|file| file < from && imported.get(file) == Some(&false),
            placeholders: &mut self.placeholders,
            import_attachment: &mut |path| {
                if *with_attachments {
                    attachments.import(factory, source, path)
                } else {
                    Err("attachments are not imported".to_owned())
                }
            },
            new_id: &mut || factory.new_id(),
            warnings,
            pending: Vec::new(),
            references: Vec::new(),
            written: Vec::new(),
            attachment_path: None,
            resolved: 0,
            has_former_links: false,
        };
        // Block 0 is the root of the document.
        resolver.rewrite(drafts, 1);
        self.former_links.extend(resolver.has_former_links.then_some(from));
        let links = (resolver.pending, resolver.references, resolver.resolved);
        self.attachments.fit_block_types(drafts, self.factory.limits());
        links
    }

    fn create_document(
        &self,
        file: &PlannedFile,
        drafts: Vec<BlockDraft>,
        layout: FileLayout,
    ) -> Result<NewDocument> {
        let title = file.day.map_or_else(|| markdown_file::title(&file.path), daily_note_title);
        let layout = SourceLayout { file: Some(Box::new(layout)), ..SourceLayout::default() };
        let page = BlockData { layout: layout.into_option(), ..BlockData::page(title) };
        let page = BlockDraft::new(page).with_content(drafts);
        self.factory.document(file.id, page, file.location, file.day)
    }

    /// Writes the batch. Attachments that were deleted concurrently are imported again.
    fn write_batch(&mut self, source: &mut dyn ImportSource) -> Result<Vec<DocumentId>> {
        let mut batch = std::mem::take(&mut self.batch);
        while !batch.edits.is_empty() {
            let required = self.attachments.required(&batch.edits);
            match batch.write(self.connection, self.plan, &required)? {
                BatchResult::Written(mut warnings) => {
                    self.report.warnings.append(&mut warnings);
                    break;
                }
                // Terminates: an attachment that is imported again is created by this batch, and
                // not required any more.
                BatchResult::Deleted(files) => {
                    for file in files {
                        self.import_again(source, file, &mut batch);
                    }
                }
            }
        }
        let created = batch.edits.iter().filter_map(|edit| match edit {
            Edit::CreateDocument { record, .. } => Some(record.id),
            _ => None,
        });
        let created: Vec<DocumentId> = created.collect();
        self.report.documents += created.len() as u64;
        self.report.folders += batch.folders;
        self.report.attachments += batch.uploads.len() as u64;
        batch.uploads.into_iter().for_each(StagedFile::keep);
        Ok(created)
    }

    fn import_again(
        &mut self,
        source: &mut dyn ImportSource,
        file: AssetId,
        batch: &mut ImportBatch,
    ) {
        if let Some(path) = self.attachments.forget(file) {
            match self.attachments.import(self.factory, source, &path) {
                Ok(url) => drop(self.redirect(batch, file, &|_| url.clone())),
                Err(reason) => self.keep_path(batch, file, &path, &reason),
            }
            let (files, uploads) = self.attachments.create(self.attachments.shown(&batch.edits));
            // In front: a document can show a file only once it exists.
            batch.edits.splice(0..0, files);
            batch.uploads.extend(uploads);
        }
    }

    /// Redirects links from `file` in the documents that are not written yet.
    fn redirect(
        &mut self,
        batch: &mut ImportBatch,
        file: AssetId,
        url: &dyn Fn(DocumentId) -> String,
    ) -> Vec<DocumentId> {
        let held = self.held.documents.iter_mut().flat_map(|new| &mut new.edits);
        redirect_file(batch.edits.iter_mut().chain(held), file, url)
    }

    /// Turns the links to a deleted attachment back into relative paths.
    fn keep_path(&mut self, batch: &mut ImportBatch, file: AssetId, path: &str, reason: &str) {
        let plan = self.plan;
        let relative = |document| encode(&relative_path(plan.path_of(document), path));
        for document in self.redirect(batch, file, &relative) {
            let message = format!("{path} was not imported: {reason}; the path is kept");
            let kind = VaultWarningKind::Attachment;
            let warning = VaultWarning::of_file(plan.path_of(document), kind, message);
            self.report.warnings.push(warning);
        }
    }

    /// The attachment candidates that were not imported and that no warning mentions.
    fn skipped_candidates(&self) -> Vec<Skipped> {
        let mut skipped = Vec::new();
        for path in self.plan.attachments.paths() {
            let reason = match self.attachments.state(path) {
                CandidateState::Done => continue,
                _ if !self.with_attachments => "not markdown, and attachments are not imported",
                CandidateState::Orphaned => {
                    "not markdown, and the document that shows it is kept as code"
                }
                CandidateState::Unused if self.report.canceled => {
                    "not markdown, and no document shows it that was created before the import was cancelled"
                }
                CandidateState::Unused if self.has_code_files => {
                    "not markdown, and no document shows it, except perhaps one that is kept as code"
                }
                CandidateState::Unused => "not markdown, and no document shows it",
            };
            skipped.push(Skipped { path: path.to_owned(), reason: reason.to_owned() });
        }
        skipped
    }

    pub(crate) fn finish(mut self, progress: &mut ProgressCounter<'_>) -> Result<ImportReport> {
        let mut skipped = self.skipped_candidates();
        let second_pass =
            SecondPass { connection: self.connection, plan: self.plan, imported: &self.imported };
        let mut result = second_pass.run(&self.pending, progress)?;
        self.report.canceled |= result.canceled;
        self.report.warnings.append(&mut result.warnings);
        let mut linked = self.references.link(self.connection, self.plan)?;
        self.report.links += linked.links;
        self.report.warnings.append(&mut linked.warnings);
        self.report.skipped.append(&mut skipped);
        // A stable sort: warnings about one line keep their order.
        self.report
            .warnings
            .sort_by(|one, other| (&one.path, one.line).cmp(&(&other.path, other.line)));
        self.report.skipped.sort_by(|one, other| one.path.cmp(&other.path));
        if self.report.documents >= INDEXED_DOCUMENTS && !self.report.canceled {
            self.index(progress);
        }
        Ok(self.report)
    }

    /// Lets the search index catch up, so that the first search does not have to. It is one more
    /// step. If it fails, for lack of disk space, searches read what the index lacks.
    fn index(&self, progress: &mut ProgressCounter<'_>) {
        progress.add(1);
        if let Err(error) = bulk::index(self.connection) {
            tracing::warn!(%error, "the search index could not catch up with an import");
        }
        progress.count();
        progress.report();
    }
}

/// The IDs for Logseq that the blocks of a file have, with the index of each block. Block 0 is the
/// root of the document.
fn named_drafts(drafts: &[BlockDraft]) -> Vec<(String, usize)> {
    let drafts = drafts.iter().flat_map(BlockDraft::walk).map(|(_, draft)| &draft.data);
    let named = logseq_ids::named_blocks((1..).zip(drafts)).into_iter();
    named.map(|(id, block)| (id.to_owned(), block)).collect()
}

/// The title of the document that `edits` create.
fn root_title(edits: &[Edit]) -> Option<&str> {
    edits.iter().find_map(|edit| match edit {
        Edit::CreateDocument { subtrees, .. } => {
            subtrees.0.first().map(|root| root.block.data.inline.as_str())
        }
        _ => None,
    })
}

/// `folder` and its ancestors, the nearest first. Empty if it does not exist.
pub(crate) fn with_ancestors(
    view: &SpaceView<'_>,
    mut folder: Option<FolderId>,
) -> Result<Vec<FolderId>> {
    let mut path = Vec::new();
    while let Some(record) = folder.map(|id| view.folder(id)).transpose()?.flatten() {
        path.push(record.id);
        // Damage could have made the parents a cycle.
        folder = record.parent.filter(|parent| !path.contains(parent));
    }
    Ok(path)
}
