//! Staged purges: which blocks and files the change log loses, and their redaction in a row.

use std::collections::{BTreeSet, HashSet};

use leafbase_model::{
    AssetId, AssetRecord, BlockId, BlockRecord, Change, Comment, DocumentId, Edit, Result, Schema,
    Subtrees,
};

use crate::edges::{EdgeEnd, Extractor};
use crate::keyspaces;
use crate::kv::Read;
use crate::lookup::{contains, stored_location};

/// The documents that a transaction purges, and the blocks and files whose content goes.
#[derive(Debug, Default)]
pub(crate) struct StagedPurges {
    pub(crate) documents: BTreeSet<DocumentId>,
    pub(crate) blocks: HashSet<BlockId>,
    /// Blocks of the rows read so far that live on, or were last in another document.
    kept: HashSet<BlockId>,
    pub(crate) files: BTreeSet<AssetId>,
}

impl StagedPurges {
    /// Finds the blocks of a row that were last in a purged document, and the files that they
    /// embedded. Rows are passed from the newest on.
    pub(crate) fn trace(
        &mut self,
        source: &dyn Read,
        extractor: Extractor,
        change: &Change,
    ) -> Result<()> {
        for edit in change.edits.iter().rev() {
            let (document, subtrees, is_removal) = match edit {
                Edit::Remove { target, subtrees } => (target.document, subtrees, true),
                Edit::EraseDocument { record, subtrees } => (record.id, subtrees, true),
                Edit::Insert { target, subtrees } => (target.document, subtrees, false),
                Edit::CreateDocument { record, subtrees } => (record.id, subtrees, false),
                _ => continue,
            };
            for node in &subtrees.0 {
                let id = node.block.id;
                if self.blocks.contains(&id) || self.kept.contains(&id) {
                    continue;
                }
                // A block that exists was inserted again by a row that touches other documents.
                let is_purged = is_removal
                    && self.documents.contains(&document)
                    && stored_location(source, id)?.is_none();
                if is_purged { &mut self.blocks } else { &mut self.kept }.insert(id);
            }
        }
        // Moves name no descendants, so files are looked up when all blocks of the row are known.
        let mut files = BTreeSet::new();
        for edit in &change.edits {
            for block in blocks(edit).filter(|block| self.blocks.contains(&block.id)) {
                (extractor.edges)(&block.data, &mut |target| {
                    if let EdgeEnd::Asset(file) = target.to {
                        files.insert(file);
                    }
                });
            }
        }
        for file in files {
            if !self.files.contains(&file) && !contains(source, &keyspaces::asset(file))? {
                self.files.insert(file);
            }
        }
        Ok(())
    }

    /// Redacts purged blocks and files in `change`. Returns whether it had any.
    pub(crate) fn redact(&self, change: &mut Change) -> bool {
        let mut is_changed = false;
        change.edits.retain_mut(|edit| {
            // Updates that keep the revision come from the other end of a relation. Redacted they
            // would look like others.
            if let Edit::Update { before, after, .. } = edit
                && before.rev == after.rev
                && !before.is_redacted()
                && self.blocks.contains(&before.id)
            {
                is_changed = true;
                return false;
            }
            is_changed |= self.redact_edit(edit);
            true
        });
        is_changed
    }

    /// Whether an edit creates or erases a purged file, and says something of it.
    pub(crate) fn has_file_of(&self, edit: &Edit) -> bool {
        match edit {
            Edit::CreateAsset(asset) | Edit::EraseAsset(asset) => {
                self.files.contains(&asset.id) && !asset.is_redacted()
            }
            _ => false,
        }
    }

    fn redact_edit(&self, edit: &mut Edit) -> bool {
        match edit {
            Edit::Insert { subtrees, .. }
            | Edit::Remove { subtrees, .. }
            | Edit::CreateDocument { subtrees, .. }
            | Edit::EraseDocument { subtrees, .. } => self.redact_subtrees(subtrees),
            Edit::Update { before, after, .. } => {
                self.redact_block(before) | self.redact_block(after)
            }
            Edit::AddComment { block, comment, .. }
            | Edit::RemoveComment { block, comment, .. }
                if self.blocks.contains(block) =>
            {
                redact_comment(comment);
                true
            }
            Edit::UpdateComment { block, before, after, .. } if self.blocks.contains(block) => {
                redact_comment(before);
                redact_comment(after);
                true
            }
            Edit::CreateAsset(asset) | Edit::EraseAsset(asset)
                if self.files.contains(&asset.id) =>
            {
                *asset = AssetRecord::redacted(asset.id);
                true
            }
            Edit::SetSchema { collection, before, after, .. }
                if self.blocks.contains(collection) =>
            {
                for schema in [before, after].into_iter().flatten() {
                    **schema = Schema::redacted();
                }
                true
            }
            _ => false,
        }
    }

    fn redact_subtrees(&self, subtrees: &mut Subtrees) -> bool {
        let nodes = subtrees.0.iter_mut();
        nodes.fold(false, |is_changed, node| self.redact_block(&mut node.block) | is_changed)
    }

    fn redact_block(&self, block: &mut BlockRecord) -> bool {
        let is_purged = self.blocks.contains(&block.id) && !block.is_redacted();
        if is_purged {
            *block = BlockRecord::redacted(block.id);
        }
        is_purged
    }
}

fn redact_comment(comment: &mut Comment) {
    *comment = Comment::redacted(comment.id, comment.created_at);
}

/// The blocks whose records are in an edit.
pub(crate) fn blocks(edit: &Edit) -> impl Iterator<Item = &BlockRecord> + Clone {
    let (subtrees, updated) = match edit {
        Edit::Insert { subtrees, .. }
        | Edit::Remove { subtrees, .. }
        | Edit::CreateDocument { subtrees, .. }
        | Edit::EraseDocument { subtrees, .. } => (Some(subtrees), None),
        Edit::Update { before, after, .. } => (None, Some([&**before, &**after])),
        _ => (None, None),
    };
    let nodes = subtrees.into_iter().flat_map(|subtrees| &subtrees.0).map(|node| &node.block);
    nodes.chain(updated.into_iter().flatten())
}
