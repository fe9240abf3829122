//! Documents into files: edited ones are written, renamed ones get another path, removed ones
//! removed goes.

use std::collections::{BTreeMap, BTreeSet};

use leafbase::bulk::{self, SpaceView, invariant};
use leafbase::{AssetId, DocumentId, Result};

use super::document_edits::linking_documents;
use super::file_base::{AttachmentBase, FileBase, FileVersion, hash};
use super::plan::MirrorPlan;
use super::run::MirrorRun;
use super::space_side::{Directories, FilePaths, SpaceSide};
use crate::export::{
    ATTACHMENTS, AttachmentPaths, ExportLayout, ExportedDocument, FileRenderer, RelativeLinks,
    RenderedLinks,
};
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
            self.name_files(plan, bases, &side)?;
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
                self.unnamed.clear();
            }
            self.settle(view)
        })
    }

    /// Gives files to documents without one, and renames the files of renamed documents.
    fn name_files(
        &mut self,
        plan: &MirrorPlan,
        bases: &BTreeMap<DocumentId, FileBase>,
        side: &SpaceSide,
    ) -> Result<()> {
        let directories = Directories::new(side, bases, self.files.paths());
        let mut names = FilePaths::new(self.files.paths());
        let mut named = BTreeSet::new();
        for (id, document) in &side.documents {
            let from = self.paths.get(id).cloned();
            let is_left = plan.trashed.contains_key(id) || plan.removed.contains_key(id);
            if is_left || (from.is_some() && !plan.moved.contains(id)) {
                continue;
            }
            if self.is_stopped() {
                break;
            }
            let Some(to) = names.claim(document, &directories) else { continue };
            named.insert(*id);
            if let Some(from) = from {
                self.rename_file(&from, &to)?;
                if !plan.is_pending(*id) {
                    self.settled.insert(*id);
                }
            } else {
                self.written.insert(*id);
            }
            self.paths.insert(*id, to);
        }
        // Links to what has another path now are written again.
        let renamed = plan.renamed.keys().chain(&named);
        let renamed: BTreeSet<DocumentId> = renamed.copied().collect();
        for id in renamed {
            for linking in linking_documents(self.notes, id.root())? {
                // A file that was edited has the links that its author gave it.
                let is_edited = plan.applied.contains(&linking) && plan.renamed.contains_key(&id);
                if self.paths.contains_key(&linking) && !is_edited {
                    self.written.insert(linking);
                }
            }
        }
        Ok(())
    }

    fn rename_file(&mut self, from: &str, to: &str) -> Result<()> {
        self.files.files.rename(from, to)?;
        self.files.relist(from)?;
        self.files.relist(to)?;
        self.report.add(MirrorChangeKind::FileRenamed, to, Some(from));
        Ok(())
    }

    /// The documents that have a file, as an export would lay them out.
    fn layout(&self, side: &SpaceSide) -> ExportLayout {
        let mut layout = ExportLayout::default();
        ATTACHMENTS.clone_into(&mut layout.attachments);
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
            if !self.files.is_unchanged(path)? {
                self.settled.remove(id);
                self.skip_changed(path);
                return Ok(());
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
            let (title, folder) = (row.title, String::new());
            bases.push((id, Some(FileBase { file, change, title, place, attachments, folder })));
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
    pub(super) fn remove_files(&mut self, plan: &MirrorPlan) -> Result<()> {
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
                gone.push((*document, None));
            } else {
                self.skip_changed(path);
            }
        }
        self.records.put(self.notes, &gone)
    }

    pub(super) fn put_bases(&mut self, forgotten: Vec<DocumentId>) -> Result<()> {
        let forgotten: Vec<_> = forgotten.into_iter().map(|id| (id, None)).collect();
        self.records.put(self.notes, &forgotten)
    }
}
