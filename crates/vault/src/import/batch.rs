//! The write transactions of an import: batches of documents, and the second pass over their links.
//!
//! Others may write to the space between two transactions. Each one therefore resolves conflicts
//! against the state in which it runs: deleted folders, days that have a note by now, deleted
//! attachments, deleted blocks.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use leafbase::bulk::{self, DocumentFactory, SpaceView, StagedFile, Subtrees, invariant};
use leafbase::{
    AssetId, AssetUrl, BlockId, Connection, DocumentId, DocumentRecord, Edit, FolderId, Location,
    Result,
};

use super::held_documents::{NewFile, NewUrls, redirect_links};
use super::link_resolver::PendingLink;
use super::link_targets::FileIndex;
use super::plan::ImportPlan;
use crate::link_paths::{
    Anchors, block_url, encode, fragment, linked_block, relative_path, rewrite_urls, to_fragment,
};
use crate::markdown_file;
use crate::report::{ProgressCounter, VaultWarning, VaultWarningKind};

/// Blocks whose links are rewritten in one transaction of the second pass.
const MAX_RELINKED_BLOCKS: usize = 1_000;

/// Documents and folders that are written in one transaction.
#[derive(Default)]
pub(super) struct ImportBatch {
    pub(super) edits: Vec<Edit>,
    /// The uploads that become files.
    pub(super) uploads: Vec<StagedFile>,
    pub(super) blocks: usize,
    pub(super) folders: u64,
}

/// The result of writing a batch.
pub(super) enum BatchResult {
    /// Everything was written, with these warnings.
    Written(Vec<VaultWarning>),
    /// Nothing was written: these required attachments have been deleted.
    Deleted(Vec<AssetId>),
}

impl ImportBatch {
    /// Writes the batch unless one of the `required` attachments has been deleted.
    pub(super) fn write(
        &self,
        connection: &Connection,
        plan: &ImportPlan,
        required: &BTreeSet<AssetId>,
    ) -> Result<BatchResult> {
        // Runs as one transaction: either all documents of the batch become visible, or none.
        let (result, _) = bulk::write(connection, |view| {
            let deleted = missing_files(view, required)?;
            if !deleted.is_empty() {
                return Ok((Vec::new(), BatchResult::Deleted(deleted)));
            }
            // The closure may run several times, so the edits of the batch stay untouched.
            let mut edits = self.edits.clone();
            let warnings = ConflictResolution::apply(view, plan, &mut edits)?;
            Ok((edits, BatchResult::Written(warnings)))
        })?;
        Ok(result)
    }
}

/// Redirects links from `file`, in new documents, to the URL for their document. Returns the
/// documents changed.
pub(super) fn redirect_file<'e>(
    edits: impl IntoIterator<Item = &'e mut Edit>,
    file: AssetId,
    url: &dyn Fn(DocumentId) -> String,
) -> Vec<DocumentId> {
    let mut changed = Vec::new();
    for edit in edits {
        if let Edit::CreateDocument { record, subtrees } = edit {
            let mut is_changed = false;
            for node in &mut subtrees.0 {
                is_changed |= rewrite_urls(&mut node.block.data, &mut |link| {
                    (AssetUrl::asset_of(link.url) == Some(file))
                        .then(|| url(record.id) + fragment(link.url))
                });
            }
            changed.extend(is_changed.then_some(record.id));
        }
    }
    changed
}

fn missing_files(view: &SpaceView<'_>, files: &BTreeSet<AssetId>) -> Result<Vec<AssetId>> {
    let mut missing = Vec::new();
    for file in files {
        if view.file(*file)?.is_none() {
            missing.push(*file);
        }
    }
    Ok(missing)
}

/// Resolves conflicts between a batch and the present state of the space.
struct ConflictResolution<'a> {
    view: &'a SpaceView<'a>,
    plan: &'a ImportPlan,
    /// Folders that earlier edits of the batch create.
    created: HashSet<FolderId>,
    warnings: Vec<VaultWarning>,
}

impl<'a> ConflictResolution<'a> {
    /// Moves the folders and documents of `edits` to locations that exist, with a warning for each.
    fn apply(
        view: &'a SpaceView<'a>,
        plan: &'a ImportPlan,
        edits: &mut [Edit],
    ) -> Result<Vec<VaultWarning>> {
        let mut resolution = Self { view, plan, created: HashSet::new(), warnings: Vec::new() };
        for edit in edits {
            match edit {
                Edit::CreateFolder(folder) => {
                    let parent = resolution.existing_folder(folder.parent)?;
                    if parent != folder.parent {
                        let path = plan.directory(folder.id);
                        resolution.warn(path, VaultWarningKind::Location, &moved(parent));
                        folder.parent = parent;
                    }
                    resolution.created.insert(folder.id);
                }
                Edit::CreateDocument { record, subtrees } => {
                    resolution.document(record, subtrees)?;
                }
                _ => {}
            }
        }
        Ok(resolution.warnings)
    }

    fn document(&mut self, record: &mut DocumentRecord, subtrees: &mut Subtrees) -> Result<()> {
        let Some(file) = self.plan.file(record.id) else {
            invariant!("document {} of the batch was planned", record.id)
        };
        if let Some(day) = record.day
            && self.view.daily_note(day)?.is_some()
        {
            record.day = None;
            record.location = file.folder.map_or(Location::Unsorted, Location::Folder);
            if let Some(root) = subtrees.0.first_mut() {
                root.block.data.inline = markdown_file::title(&file.path);
            }
            let message = markdown_file::day_has_note(day);
            self.warn(&file.path, VaultWarningKind::DailyNote, &message);
        }
        if let Location::Folder(folder) = record.location {
            let existing = self.existing_folder(Some(folder))?;
            if existing != Some(folder) {
                record.location = existing.map_or(Location::Unsorted, Location::Folder);
                self.warn(&file.path, VaultWarningKind::Location, &moved(existing));
            }
        }
        Ok(())
    }

    /// `folder`, or its nearest ancestor that still exists.
    fn existing_folder(&self, mut folder: Option<FolderId>) -> Result<Option<FolderId>> {
        while let Some(id) = folder {
            if self.created.contains(&id) || self.view.folder(id)?.is_some() {
                break;
            }
            folder = self.plan.parent(id);
        }
        Ok(folder)
    }

    fn warn(&mut self, path: &str, kind: VaultWarningKind, message: &str) {
        self.warnings.push(VaultWarning::of_file(path, kind, message));
    }
}

fn moved(to: Option<FolderId>) -> String {
    let target = if to.is_some() { "its parent" } else { "no folder" };
    format!("its folder was deleted during the import: it is now in {target}")
}

/// A pending link with its block and file.
pub(super) type PendingBlockLink = (BlockId, FileIndex, PendingLink);

/// The second pass of an import, after all files have been read: links to anchors get the IDs of
/// their blocks, and links to files that were skipped become relative again. Documents with links
/// to anchors are held back for it, as far as memory allows.
pub(super) struct SecondPass<'a> {
    pub(super) connection: &'a Connection,
    pub(super) plan: &'a ImportPlan,
    /// Whether each file was imported.
    pub(super) imported: &'a [bool],
}

/// The result of the second pass.
#[derive(Debug)]
pub(super) struct SecondPassResult {
    pub(super) warnings: Vec<VaultWarning>,
    /// Whether the host cancelled before all anchors were looked up.
    pub(super) canceled: bool,
}

/// The blocks that anchors name.
#[derive(Debug, Default)]
struct ResolvedAnchors {
    /// By placeholder.
    blocks: HashMap<BlockId, BlockId>,
    /// Files whose anchors were not looked up.
    unresolved: HashSet<FileIndex>,
}

impl SecondPass<'_> {
    /// Resolves the pending links of stored documents and rewrites their blocks.
    pub(super) fn run(
        &self,
        pending: &[PendingBlockLink],
        progress: &mut ProgressCounter<'_>,
    ) -> Result<SecondPassResult> {
        let links = pending.iter().map(|(_, _, link)| link);
        let anchors = self.resolve_anchors(links, &HashMap::new(), progress)?;
        let mut warnings = Vec::new();
        let mut changes: Vec<(BlockId, HashMap<BlockId, String>)> = Vec::new();
        for (block, from, link) in pending.iter().filter(|(_, from, _)| self.is_imported(*from)) {
            if let Some(url) = self.new_url(*from, link, &anchors, &mut warnings) {
                // The links of one block are consecutive.
                // Grouped by block, so that each block is decoded and written once.
                match changes.last_mut().filter(|(last, _)| last == block) {
                    Some((_, urls)) => drop(urls.insert(link.id, url)),
                    None => changes.push((*block, HashMap::from([(link.id, url)]))),
                }
            }
        }
        let batches = changes.chunks(MAX_RELINKED_BLOCKS);
        progress.add(batches.len());
        // Not cancellable: without these writes, links would lead to placeholders.
        for changes in batches {
            relink(self.connection, changes)?;
            progress.count();
            progress.report();
        }
        Ok(SecondPassResult { warnings, canceled: !anchors.unresolved.is_empty() })
    }

    /// Resolves the pending links of documents that were held back. All others have been written.
    pub(super) fn link_held(
        &self,
        held: &mut VecDeque<NewFile>,
        progress: &mut ProgressCounter<'_>,
    ) -> Result<SecondPassResult> {
        let contents = held.iter().filter_map(|new| Some((new.file, new.content()?))).collect();
        let links = held.iter().flat_map(|new| &new.pending);
        let anchors = self.resolve_anchors(links, &contents, progress)?;
        let mut warnings = Vec::new();
        for NewFile { file, edits, pending, .. } in held {
            let mut urls = NewUrls::new();
            for link in pending.drain(..) {
                if let Some(url) = self.new_url(*file, &link, &anchors, &mut warnings) {
                    urls.entry(link.block).or_default().insert(link.id, url);
                }
            }
            redirect_links(edits, &urls);
        }
        Ok(SecondPassResult { warnings, canceled: !anchors.unresolved.is_empty() })
    }

    /// The URL that a pending link gets. `None` if it keeps its own.
    fn new_url(
        &self,
        from: FileIndex,
        link: &PendingLink,
        anchors: &ResolvedAnchors,
        warnings: &mut Vec<VaultWarning>,
    ) -> Option<String> {
        if link.anchor.is_none() && self.is_imported(link.target) {
            return None;
        }
        let (url, warning) = self.resolve(from, link, anchors);
        warnings.extend(warning.map(|(kind, message)| {
            let warning = VaultWarning::of_file(self.plan.path(from), kind, message);
            VaultWarning { line: link.line, ..warning }
        }));
        Some(url)
    }

    fn is_imported(&self, file: FileIndex) -> bool {
        let imported = self.imported.get(file).copied();
        debug_assert!(imported.is_some(), "file indices come from the plan");
        imported.unwrap_or(false)
    }

    /// Looks up the anchors, file by file, in the space and in the `held` documents. An import that
    /// was cancelled before still looks them up: few files were read.
    fn resolve_anchors<'l>(
        &self,
        links: impl Iterator<Item = &'l PendingLink>,
        held: &HashMap<FileIndex, &Subtrees>,
        progress: &mut ProgressCounter<'_>,
    ) -> Result<ResolvedAnchors> {
        let mut files: BTreeMap<FileIndex, BTreeMap<BlockId, &str>> = BTreeMap::new();
        for link in links.filter(|link| self.is_imported(link.target)) {
            if let Some(anchor) = &link.anchor {
                files.entry(link.target).or_default().insert(link.id, anchor);
            }
        }
        let was_canceled = progress.is_canceled();
        progress.add(files.len());
        let mut resolved = ResolvedAnchors::default();
        bulk::read(self.connection, |view| {
            for (file, anchors) in files {
                if progress.is_canceled() && !was_canceled {
                    resolved.unresolved.insert(file);
                    continue;
                }
                let known = match (held.get(&file), self.plan.files.get(file)) {
                    (Some(content), _) => Anchors::of_document(content),
                    (None, Some(file)) => Anchors::of_document(&view.subtree(file.id.root())?),
                    (None, None) => invariant!("file {file} is in the plan"),
                };
                let found = anchors.iter();
                resolved
                    .blocks
                    .extend(found.filter_map(|(id, anchor)| Some((*id, known.find(anchor)?))));
                progress.count();
                progress.report();
            }
            Ok(())
        })?;
        Ok(resolved)
    }

    /// The final URL of a link, and a warning if it differs from the file's.
    fn resolve(
        &self,
        from: FileIndex,
        link: &PendingLink,
        anchors: &ResolvedAnchors,
    ) -> (String, Option<(VaultWarningKind, String)>) {
        let target = self.plan.path(link.target);
        if !self.is_imported(link.target) {
            let path = relative_path(self.plan.path(from), target);
            let url = encode(&path) + &to_fragment(link.anchor.as_deref());
            let message = format!("{target} was not imported; the link to it is kept as {url}");
            return (url, Some((VaultWarningKind::UnresolvedPath, message)));
        }
        if let Some(block) = anchors.blocks.get(&link.id) {
            return (block_url(*block), None);
        }
        let anchor = link.anchor.as_deref().unwrap_or("");
        let reason = if anchors.unresolved.contains(&link.target) {
            format!("#{anchor} was not looked up in {target}: the import was cancelled")
        } else {
            format!("{target} has no heading or block #{anchor}")
        };
        let root = self.plan.files.get(link.target).map_or(BlockId::NIL, |file| file.id.root());
        let message = format!("{reason}; the link leads to the document");
        (block_url(root), Some((VaultWarningKind::MissingAnchor, message)))
    }
}

/// Rewrites the URLs of blocks, by the ID that they contain.
fn relink(connection: &Connection, changes: &[(BlockId, HashMap<BlockId, String>)]) -> Result<()> {
    let factory = DocumentFactory::new(connection);
    let ((), _) = bulk::write(connection, |view| {
        let mut edits = Vec::with_capacity(changes.len());
        for (block, urls) in changes {
            // A block may have been deleted or edited concurrently.
            if let (Some(before), Some(document)) = (view.block(*block)?, view.document_of(*block)?)
            {
                let mut after = before.clone();
                if rewrite_urls(&mut after.data, &mut |link| {
                    urls.get(&linked_block(link.url)?).cloned()
                }) {
                    after.rev += 1;
                    after.modified = factory.stamp().clone();
                    edits.push(Edit::Update {
                        document,
                        before: before.into(),
                        after: after.into(),
                    });
                }
            }
        }
        Ok((edits, ()))
    })?;
    Ok(())
}
