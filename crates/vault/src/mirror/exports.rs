//! Documents into files: edited ones are written, renamed ones get another path, and the files of
//! removed ones are removed.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use leafbase::bulk::{self, SpaceView, StoredDocument, invariant};
use leafbase::{AssetId, BlockId, DocumentId, ErrorKind, Result};

use super::document_edits::{has_links_by_path, linking_documents, past_anchors};
use super::file_base::{AttachmentBase, FileBase, FileVersion, hash};
use super::plan::MirrorPlan;
use super::renames::{FileRename, ordered};
use super::run::MirrorRun;
use super::space_side::{Directories, FilePaths, SpaceSide};
use crate::export::{
    ATTACHMENTS, AttachmentPaths, ExportLayout, ExportedDocument, FileRenderer, RelativeLinks,
    RenderedLinks, directory_warning, file_warnings,
};
use crate::file_names::fold;
use crate::link_paths::{Anchors, directory};
use crate::report::{MirrorChangeKind, VaultWarning};

impl MirrorRun<'_, '_, '_> {
    /// Writes documents to their files, in one snapshot.
    pub(super) fn write_files(
        &mut self,
        plan: &MirrorPlan,
        bases: &BTreeMap<DocumentId, FileBase>,
    ) -> Result<()> {
        let notes = self.notes;
        if self.options.import_only {
            self.unnamed.clear();
            return bulk::read(notes, |view| self.settle(view));
        }
        bulk::read(notes, |view| {
            let side = SpaceSide::read(view, self.options)?;
            let unnamed = self.name_files(view, plan, bases, &side)?;
            let layout = self.layout(&side);
            let written: Vec<ExportedDocument> = layout
                .documents
                .iter()
                .filter(|document| self.written.contains(&document.id))
                .map(|document| ExportedDocument { id: document.id, path: document.path.clone() })
                .collect();
            let taken = self.files.paths().map(ToOwned::to_owned).collect();
            let paths = AttachmentPaths { known: self.uploads.clone(), taken };
            let links = RelativeLinks::of(view, &layout, &written, &paths)?;
            self.write_attachments(view, &links)?;
            let style = RenderedLinks::new(self.options.links, &links);
            let limits = notes.space().limits();
            let renderer = FileRenderer { links: &links, style: &style, limits };
            self.progress.add(written.len());
            for document in &written {
                if self.is_stopped() {
                    break;
                }
                self.progress.count();
                self.write_file(view, &layout, &renderer, document)?;
            }
            if !self.report.canceled {
                self.unnamed = unnamed;
            }
            self.settle(view)
        })
    }

    /// Gives files to documents without one, and renames the files of renamed documents. Returns
    /// the documents whose files could not be renamed.
    fn name_files(
        &mut self,
        view: &SpaceView<'_>,
        plan: &MirrorPlan,
        bases: &BTreeMap<DocumentId, FileBase>,
        side: &SpaceSide,
    ) -> Result<BTreeSet<DocumentId>> {
        let directories = Directories::new(side, bases, &self.files);
        let moved = plan.moved.iter().filter_map(|id| Some((*id, self.paths.get(id)?.clone())));
        let moved: BTreeMap<DocumentId, String> = moved.collect();
        // Files that are renamed give up their paths.
        let released: BTreeSet<&str> = moved.values().map(String::as_str).collect();
        let kept = self.files.all_paths().filter(|path| !released.contains(path));
        let mut names = FilePaths::new(kept.chain(directories.paths()));
        let (mut renames, mut new) = (Vec::new(), Vec::new());
        for (id, document) in &side.documents {
            let is_left = plan.trashed.contains_key(id) || plan.removed.contains_key(id);
            let from = moved.get(id).cloned();
            if is_left || (from.is_none() && self.paths.contains_key(id)) {
                continue;
            }
            let Some(to) = names.claim(document, &directories) else { continue };
            match from {
                Some(from) => {
                    renames.push(FileRename { document: *id, from, to, is_detour: false });
                }
                None => new.push((*id, to)),
            }
        }
        let taken = renames.iter().map(|rename| &rename.to);
        let taken = taken.chain(new.iter().map(|(_, to)| to)).map(|to| fold(to)).collect();
        let mut named = self.rename_files(&ordered(&renames, &mut names), &taken, bases)?;
        let mut warned = Vec::new();
        for (id, from) in moved.iter().filter(|(id, _)| named.contains(id)) {
            if let Some(to) = self.paths.get(id).filter(|to| *to != from) {
                self.report.add(MirrorChangeKind::FileRenamed, to, Some(from));
                warned.push(*id);
            }
            if !plan.is_pending(*id) {
                self.settled.insert(*id);
            }
        }
        let unnamed = moved.into_keys().filter(|id| !named.contains(id)).collect();
        for (id, to) in new {
            if self.is_stopped() {
                break;
            }
            // The file that had the path could not be renamed.
            if self.files.stat(&to).is_some() {
                self.skip_changed(&to);
                continue;
            }
            self.written.insert(id);
            self.paths.insert(id, to);
            named.insert(id);
            warned.push(id);
        }
        self.warn_of_names(side, &directories, &warned);
        self.relink(view, plan, bases, named)?;
        self.relink_anchors(view, plan)?;
        Ok(unnamed)
    }

    /// Warns of new names that differ from the names of documents and folders, as an export does.
    fn warn_of_names(&mut self, side: &SpaceSide, directories: &Directories, named: &[DocumentId]) {
        let mut seen = BTreeSet::new();
        for (document, path) in
            named.iter().filter_map(|id| Some((side.documents.get(id)?, self.paths.get(id)?)))
        {
            let StoredDocument { record, title, .. } = &document.row;
            self.report.warnings.extend(file_warnings(title, record.day, path));
            let mut at = directory(path);
            while !(at.is_empty() || self.files.all_directories.contains(at)) && seen.insert(at) {
                let name = directories.folder(at).and_then(|folder| side.folder_name(folder));
                let warning = name.and_then(|name| directory_warning(name, at));
                self.report.warnings.extend(warning);
                at = directory(at);
            }
        }
    }

    /// Renames files in this order; `taken` are the paths that files get, folded. Returns the
    /// documents whose files have their new paths.
    fn rename_files(
        &mut self,
        renames: &[FileRename],
        taken: &HashSet<String>,
        bases: &BTreeMap<DocumentId, FileBase>,
    ) -> Result<BTreeSet<DocumentId>> {
        self.note_renames(renames, bases)?;
        let (mut named, mut kept) = (BTreeSet::new(), BTreeSet::new());
        for FileRename { document, from, to, is_detour } in renames {
            if self.is_stopped() {
                break;
            }
            if kept.contains(document) {
                continue;
            }
            // A file system that ignores case finds the file itself.
            let is_free = fold(from) == fold(to) || self.is_free(to)?;
            if !is_free {
                self.skip_changed(to);
                kept.insert(*document);
                continue;
            }
            if from != to {
                self.files.rename(from, to)?;
                self.paths.insert(*document, to.clone());
            }
            if taken.contains(&fold(from))
                && let Some(base) = bases.get(document)
            {
                // Before another file has the path: after a crash that would be taken for this one.
                let file = FileVersion { path: to.clone(), ..base.file.clone() };
                let last = renames.iter().rfind(|rename| rename.document == *document);
                let next_path = last.map_or_else(String::new, |last| last.to.clone());
                let base = FileBase { file, next_path, ..base.clone() };
                self.records.put(self.notes, &[(*document, Some(base))])?;
            }
            if !is_detour {
                named.insert(*document);
            }
        }
        Ok(named)
    }

    /// Keeps the next path of each file in its base: after a crash, the next mirror would take it
    /// for a rename outside, and for the new title of the document.
    fn note_renames(
        &self,
        renames: &[FileRename],
        bases: &BTreeMap<DocumentId, FileBase>,
    ) -> Result<()> {
        let mut noted = BTreeMap::new();
        for FileRename { document, from, to, .. } in renames {
            if let Some(base) = bases.get(document).filter(|_| from != to) {
                let next_path = to.clone();
                noted.entry(*document).or_insert_with(|| FileBase { next_path, ..base.clone() });
            }
        }
        let noted: Vec<_> = noted.into_iter().map(|(id, base)| (id, Some(base))).collect();
        if noted.is_empty() { Ok(()) } else { self.records.put(self.notes, &noted) }
    }

    /// Links are written again that lead to documents whose files have other paths, and those of
    /// these files that their paths decide.
    fn relink(
        &mut self,
        view: &SpaceView<'_>,
        plan: &MirrorPlan,
        bases: &BTreeMap<DocumentId, FileBase>,
        mut named: BTreeSet<DocumentId>,
    ) -> Result<()> {
        named.extend(plan.renamed.keys());
        for id in named {
            // A file that was edited has the links that its author gave it.
            let is_edited = |linking: &DocumentId| {
                plan.applied.contains(linking) && plan.renamed.contains_key(&id)
            };
            for (linking, _) in linking_documents(self.notes, id.root())? {
                if self.paths.contains_key(&linking) && !is_edited(&linking) {
                    self.written.insert(linking);
                }
            }
            let paths = bases.get(&id).zip(self.paths.get(&id));
            let is_moved = self.resumed.contains(&id)
                || paths.is_some_and(|(base, to)| directory(&base.file.path) != directory(to));
            if paths.is_some() && !is_edited(&id) && has_links_by_path(view, id, is_moved)? {
                self.written.insert(id);
            }
        }
        Ok(())
    }

    /// Links are written again that lead to blocks whose anchors are others by now.
    fn relink_anchors(&mut self, view: &SpaceView<'_>, plan: &MirrorPlan) -> Result<()> {
        let edited = plan.applied.iter().chain(plan.compared.keys()).chain(&plan.written);
        let is_known = |id: &DocumentId| self.base_changes.contains_key(id);
        let edited: BTreeSet<DocumentId> = edited.copied().filter(is_known).collect();
        for id in edited {
            let links = linking_documents(self.notes, id.root())?.into_iter();
            let links = links.filter_map(|(linking, block)| Some((linking, block?)));
            let links: Vec<(DocumentId, BlockId)> =
                links.filter(|(_, block)| *block != id.root()).collect();
            let before = if links.is_empty() { None } else { self.past_anchors(id)? };
            if let Some(before) = before {
                let anchors = Anchors::of_document(&view.subtree(id.root())?);
                let is_other = |block: &BlockId| anchors.name(*block) != before.name(*block);
                let linking = links.iter().filter(|(_, block)| is_other(block));
                let linking = linking.map(|(linking, _)| *linking);
                let linking: Vec<DocumentId> =
                    linking.filter(|linking| self.paths.contains_key(linking)).collect();
                // If the mirror ends before, the next one finds the anchors changed.
                self.unnamed.extend((!linking.is_empty()).then_some(id));
                self.written.extend(linking);
            }
        }
        Ok(())
    }

    /// The anchors that the blocks of a document had when it was last equal to its file, if that is
    /// known.
    pub(super) fn past_anchors(&self, document: DocumentId) -> Result<Option<Anchors>> {
        match self.base_changes.get(&document) {
            Some(change) => past_anchors(self.notes, document, *change),
            None => Ok(None),
        }
    }

    /// Whether no file, directory or other entry has a path.
    fn is_free(&mut self, path: &str) -> Result<bool> {
        match self.files.files.stat(path) {
            Ok(found) => Ok(found.is_none()),
            Err(error) if error.kind() == ErrorKind::Validation => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The documents that have a file, as an export would lay them out.
    fn layout(&self, side: &SpaceSide) -> ExportLayout {
        let mut layout = ExportLayout::default();
        let mut names = FilePaths::new(self.files.taken_paths());
        layout.attachments = names.claim_directory(ATTACHMENTS);
        for (id, path) in self.paths.iter().filter(|(id, _)| side.documents.contains_key(id)) {
            layout.numbers.insert(*id, layout.documents.len());
            layout.documents.push(ExportedDocument { id: *id, path: path.clone() });
        }
        layout
    }

    fn write_attachments(&mut self, view: &SpaceView<'_>, links: &RelativeLinks<'_>) -> Result<()> {
        for attachment in links.attachments() {
            if self.uploads.contains_key(&attachment.record.id) || self.is_stopped() {
                continue;
            }
            let path = &attachment.path;
            self.files.files.write(path, &mut |out| view.write_file(&attachment.record, out))?;
            self.files.relist(path)?;
            self.uploads.insert(attachment.record.id, path.clone());
        }
        Ok(())
    }

    fn write_file(
        &mut self,
        view: &SpaceView<'_>,
        layout: &ExportLayout,
        renderer: &FileRenderer<'_>,
        ExportedDocument { id, path }: &ExportedDocument,
    ) -> Result<()> {
        let Some(number) = layout.numbers.get(id) else {
            // It would keep an old file, and be listed as equal to it.
            invariant!("document {id} is written, so it is in the layout")
        };
        let subtrees = view.flattened(view.subtree(id.root())?, &mut |_, _| ())?;
        let warnings = &mut self.report.warnings;
        let text = renderer.render(*number, subtrees, &mut |kind, message| {
            warnings.push(VaultWarning::of_file(path.as_str(), kind, message));
        })?;
        let is_there = self.files.stat(path).is_some();
        if !(is_there && self.files.hash(path)? == hash(text.as_bytes())) {
            match self.files.is_unchanged(path) {
                Ok(true) => {}
                Ok(false) => {
                    self.settled.remove(id);
                    self.skip_changed(path);
                    return Ok(());
                }
                // The next mirror may find room.
                Err(error) if error.kind() == ErrorKind::Validation => {
                    self.settled.remove(id);
                    self.is_incomplete = true;
                    self.report.skip(path, error.to_string());
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
            self.files.files.write(path, &mut |out| out.write_all(text.as_bytes()))?;
            self.files.relist(path)?;
            self.report.add(MirrorChangeKind::FileWritten, path, None);
        }
        // The document as this snapshot has it.
        let row = view.document(*id)?;
        self.changes.extend(row.map(|row| (*id, row.last_change)));
        self.settled.insert(*id);
        Ok(())
    }

    /// Keeps the base of the documents that are equal to their files.
    pub(super) fn settle(&mut self, view: &SpaceView<'_>) -> Result<()> {
        if self.settled.is_empty() {
            return Ok(());
        }
        let side = SpaceSide::without_documents(view, self.options)?;
        let mut bases = Vec::new();
        for id in std::mem::take(&mut self.settled) {
            if self.unnamed.contains(&id) {
                continue;
            }
            let (Some(path), Some(row)) = (self.paths.get(&id).cloned(), view.document(id)?) else {
                continue;
            };
            let Some(place) = side.place(row.record.location) else { continue };
            let Some(stat) = self.files.stat(&path).cloned() else { continue };
            let file = FileVersion::new(&stat, self.files.hash(&path)?);
            let change = self.changes.get(&id).copied().unwrap_or(row.last_change);
            let attachments = self.attachments_of(view, id)?;
            let (title, folder, next_path) = (row.title, String::new(), String::new());
            let is_gone = false;
            let base =
                FileBase { file, next_path, change, title, place, attachments, is_gone, folder };
            bases.push((id, Some(base)));
        }
        self.records.put(self.notes, &bases)
    }

    fn attachments_of(
        &mut self,
        view: &SpaceView<'_>,
        document: DocumentId,
    ) -> Result<Vec<AttachmentBase>> {
        let mut shown: BTreeSet<AssetId> = BTreeSet::new();
        if self.uploads.is_empty() || self.without_files.remove(&document) {
            return Ok(Vec::new());
        }
        for node in view.subtree(document.root())?.0 {
            bulk::shown_files(&node.block.data, &mut |file| {
                shown.insert(file);
            });
        }
        let mut attachments = Vec::new();
        for upload in shown {
            // Without a file in the folder there is no version to compare with the next time.
            let Some(path) = self.uploads.get(&upload).cloned() else { continue };
            let Some(stat) = self.files.stat(&path).cloned() else { continue };
            let file = FileVersion::new(&stat, self.files.hash(&path)?);
            attachments.push(AttachmentBase { file, upload });
        }
        Ok(attachments)
    }

    /// Removes the files of documents that were removed.
    pub(super) fn remove_files(
        &mut self,
        plan: &MirrorPlan,
        bases: &BTreeMap<DocumentId, FileBase>,
    ) -> Result<()> {
        let mut gone = Vec::new();
        for (document, path) in &plan.removed {
            if self.is_stopped() {
                break;
            }
            self.progress.count();
            if self.files.is_unchanged(path)? {
                self.files.files.remove(path)?;
                self.files.relist(path)?;
                self.report.add(MirrorChangeKind::FileRemoved, path, None);
                gone.push((*document, bases.get(document).map(FileBase::gone)));
            } else {
                self.skip_changed(path);
            }
        }
        self.records.put(self.notes, &gone)
    }

    pub(super) fn forget_bases(&mut self, forgotten: Vec<DocumentId>) -> Result<()> {
        let forgotten: Vec<_> = forgotten.into_iter().map(|id| (id, None)).collect();
        self.records.put(self.notes, &forgotten)
    }
}
