//! The plan of a mirror: the change of each pair of document and file.

use std::collections::{BTreeMap, BTreeSet};

use leafbase::{DocumentId, ErrorKind, Result};

use super::file_base::FileBase;
use super::listed_files::ListedFiles;
use super::options::MirrorReport;
use super::pairs::Pair;
use super::space_side::SpaceSide;
use crate::report::MirrorChangeKind;

/// Changes that a mirror makes.
#[derive(Debug, Default)]
pub(super) struct MirrorPlan {
    /// The file of each document that has one.
    pub(super) paths: BTreeMap<DocumentId, String>,
    /// The documents that took the name of their file, with its path before.
    pub(super) renamed: BTreeMap<DocumentId, String>,
    /// Documents in the trash whose file was edited or renamed, with its path before.
    pub(super) restored: BTreeMap<DocumentId, String>,
    /// Documents whose file was edited.
    pub(super) applied: BTreeSet<DocumentId>,
    /// Documents that were changed, and may differ from their file.
    pub(super) compared: BTreeMap<DocumentId, PairComparison>,
    /// Documents that were edited while their files were not, if files are read alone.
    pub(super) left: BTreeMap<DocumentId, PairComparison>,
    /// Documents that have no file.
    pub(super) written: BTreeSet<DocumentId>,
    /// Documents that were renamed in the space.
    pub(super) moved: BTreeSet<DocumentId>,
    /// Files without a document.
    pub(super) imported: BTreeSet<String>,
    /// Documents whose file was removed.
    pub(super) trashed: BTreeMap<DocumentId, String>,
    /// Files whose document was removed.
    pub(super) removed: BTreeMap<DocumentId, String>,
    /// Documents whose base is out of date, though nothing differs.
    pub(super) refreshed: BTreeSet<DocumentId>,
    /// Bases of which neither document nor file is left.
    pub(super) forgotten: Vec<DocumentId>,
    pub(super) unchanged: u64,
}

/// How a document that was changed is compared with its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PairComparison {
    /// The change at which both were equal, if it is known.
    pub(super) base: Option<u64>,
    pub(super) is_file_edited: bool,
}

/// Inputs of a plan.
pub(super) struct PlanInput<'a, 'f> {
    pub(super) side: &'a SpaceSide,
    pub(super) files: &'a mut ListedFiles<'f>,
    /// Whether the sequences of the base belong to this history of the space.
    pub(super) is_same_history: bool,
    /// The documents in the trash.
    pub(super) trash: &'a BTreeSet<DocumentId>,
    /// The bases of files that were removed with their documents.
    pub(super) gone: &'a BTreeMap<DocumentId, FileBase>,
}

impl PlanInput<'_, '_> {
    /// Plans the changes of the pairs. Files that cannot be read go to `report`.
    pub(super) fn plan(&mut self, pairs: &[Pair], report: &mut MirrorReport) -> Result<MirrorPlan> {
        let mut plan = MirrorPlan::default();
        for pair in pairs {
            if let Some(path) = pair.file.as_ref().map(|file| file.path.clone()) {
                match self.add(&mut plan, pair) {
                    // Removed or made unreadable since it was listed: the next mirror sees it.
                    Err(error) if matches!(error.kind(), ErrorKind::NotFound) => {
                        report.skip(&path, error.to_string());
                    }
                    added => added?,
                }
            } else {
                self.add(&mut plan, pair)?;
            }
        }
        Ok(plan)
    }

    fn add(&mut self, plan: &mut MirrorPlan, pair: &Pair) -> Result<()> {
        match (pair.document, &pair.file) {
            (Some(document), Some(file)) => {
                plan.paths.insert(document, file.path.clone());
                self.add_both(plan, pair, document)
            }
            (Some(document), None) => {
                self.add_document(plan, pair, document);
                Ok(())
            }
            (None, Some(file)) => self.add_file(plan, pair, &file.path),
            (None, None) => {
                plan.forgotten.extend(pair.base.as_ref().map(|(id, _)| *id));
                Ok(())
            }
        }
    }

    fn add_both(&mut self, plan: &mut MirrorPlan, pair: &Pair, document: DocumentId) -> Result<()> {
        let Some((_, base)) = &pair.base else {
            plan.compared.insert(document, PairComparison { base: None, is_file_edited: true });
            return Ok(());
        };
        let is_edited = self.is_file_edited(pair)?;
        let renamed = pair.file_rename().map(|(from, _)| from.to_owned());
        let is_moved = pair.is_document_renamed(self.side);
        let document_edited = self.is_document_edited(pair);
        match (is_edited, document_edited) {
            (_, None | Some(true)) => {
                let base = document_edited.map(|_| base.change);
                plan.compared.insert(document, PairComparison { base, is_file_edited: is_edited });
            }
            (true, Some(false)) => {
                plan.applied.insert(document);
            }
            (false, Some(false)) if renamed.is_none() => {
                let stat = pair.file.as_ref();
                if stat.is_some_and(|stat| !base.file.is_current(stat)) {
                    plan.refreshed.insert(document);
                }
                plan.unchanged += 1;
            }
            (false, Some(false)) => {}
        }
        if let Some(from) = renamed {
            plan.renamed.insert(document, from);
            plan.refreshed.insert(document);
        }
        if is_moved {
            plan.moved.insert(document);
            plan.refreshed.insert(document);
        }
        Ok(())
    }

    fn add_document(&self, plan: &mut MirrorPlan, pair: &Pair, document: DocumentId) {
        match &pair.base {
            // The file was removed, and the document is as it was.
            Some((_, base)) if self.is_document_edited(pair) == Some(false) => {
                plan.trashed.insert(document, base.file.path.clone());
            }
            _ => drop(plan.written.insert(document)),
        }
    }

    fn add_file(&mut self, plan: &mut MirrorPlan, pair: &Pair, path: &str) -> Result<()> {
        let Some((document, base)) = &pair.base else {
            match self.returned(path)? {
                Some(document) => {
                    plan.paths.insert(document, path.to_owned());
                    plan.restored.insert(document, path.to_owned());
                    plan.applied.insert(document);
                }
                None => drop(plan.imported.insert(path.to_owned())),
            }
            return Ok(());
        };
        let is_kept = self.is_file_edited(pair)? || pair.file_rename().is_some();
        // In another history, such as a restored backup, the document was not deleted: the file is
        // all that is left of it.
        if !is_kept && self.is_same_history {
            plan.removed.insert(*document, path.to_owned());
        } else if self.trash.contains(document) {
            plan.paths.insert(*document, path.to_owned());
            plan.restored.insert(*document, base.file.path.clone());
            plan.applied.insert(*document);
            plan.renamed.extend(pair.file_rename().map(|(from, _)| (*document, from.to_owned())));
        } else {
            plan.imported.insert(path.to_owned());
            plan.forgotten.push(*document);
        }
        Ok(())
    }

    /// The document in the trash whose file was at a path: of several the one that had the content
    /// of the file, or else the last one.
    fn returned(&mut self, path: &str) -> Result<Option<DocumentId>> {
        let of_path = |(id, base): &(&DocumentId, &FileBase)| {
            base.file.path == path && self.trash.contains(id)
        };
        let known: Vec<_> = self.gone.iter().filter(of_path).collect();
        if known.is_empty() {
            return Ok(None);
        }
        let hash = self.files.hash(path)?;
        let last = known.into_iter().max_by_key(|(_, base)| (base.file.hash == hash, base.change));
        Ok(last.map(|(id, _)| *id))
    }

    /// Whether a file or one of its attachments has another content than its base.
    fn is_file_edited(&mut self, pair: &Pair) -> Result<bool> {
        let (Some((_, base)), Some(file)) = (&pair.base, &pair.file) else { return Ok(true) };
        if !base.file.is_current(file) && self.files.hash(&file.path)? != base.file.hash {
            return Ok(true);
        }
        for attachment in &base.attachments {
            let known = &attachment.file;
            // One that is gone leaves the document as it is.
            if let Some(stat) = self.files.others.get(&known.path).cloned()
                && !known.is_current(&stat)
                && self.files.hash(&known.path)? != known.hash
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a document changed since its base. `None` if that is unknown.
    fn is_document_edited(&self, pair: &Pair) -> Option<bool> {
        let (Some((_, base)), Some(id)) = (&pair.base, pair.document) else { return None };
        let document = self.side.documents.get(&id)?;
        self.is_same_history.then_some(document.row.last_change != base.change)
    }
}

impl MirrorPlan {
    /// Whether the content of a document or file is carried over.
    pub(super) fn is_pending(&self, document: DocumentId) -> bool {
        self.applied.contains(&document)
            || self.compared.contains_key(&document)
            || self.written.contains(&document)
    }

    /// Leaves out what does not go from files to documents.
    pub(super) fn keep_imports(&mut self, report: &mut MirrorReport) {
        self.written.clear();
        self.moved.clear();
        self.trashed.clear();
        for path in std::mem::take(&mut self.removed).values() {
            report.skip(path, "its document was deleted, and the file is as it was");
        }
        let compared = std::mem::take(&mut self.compared).into_iter();
        let (edited, left) = compared.partition(|(_, comparison)| comparison.is_file_edited);
        (self.compared, self.left) = (edited, left);
        self.unchanged += self.left.len() as u64;
    }

    /// The number of steps.
    pub(super) fn steps(&self) -> usize {
        self.applied.len()
            + self.compared.len()
            + self.imported.len()
            + self.trashed.len()
            + self.removed.len()
    }

    /// Reports what the plan would do, but for the files that are read: their content decides.
    pub(super) fn report(&self, report: &mut MirrorReport) {
        use MirrorChangeKind as Kind;
        let path = |id: &DocumentId| self.paths.get(id).map_or("", String::as_str);
        for (id, from) in &self.renamed {
            report.add(Kind::DocumentRenamed, path(id), Some(from));
        }
        self.restored.keys().for_each(|id| report.add(Kind::Restored, path(id), None));
        self.imported.iter().for_each(|path| report.add(Kind::DocumentCreated, path, None));
        self.trashed.values().for_each(|path| report.add(Kind::DocumentTrashed, path, None));
        self.removed.values().for_each(|path| report.add(Kind::FileRemoved, path, None));
        self.written.iter().for_each(|id| report.add(Kind::FileWritten, path(id), None));
    }
}
