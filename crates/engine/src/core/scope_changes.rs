//! The part of the change log that belongs to a scope.

use std::collections::BTreeSet;

use leafbase_model::{
    BlockId, Change, DocumentId, DocumentRecord, Edit, Location, Result, Schema, ScopedChange,
    Subtrees, invariant,
};

use crate::core::redaction::hidden_relations;
use crate::core::tree::Tree;

/// How many rows of the change log are read at a time.
const ROWS_PER_READ: usize = 64;

/// Which rows of the change log belong to a scope, from its creation on.
#[derive(Debug, Default)]
pub(crate) struct ScopeChanges {
    /// The sequence up to which the log was read; none before the first read.
    read_to: Option<u64>,
    /// The sequences of the rows that belong to the scope, ascending.
    rows: Vec<u64>,
}

impl ScopeChanges {
    /// Changes that begin after the sequence `last`; with none, where the log ends when they are
    /// first read.
    pub(crate) const fn after(last: Option<u64>) -> Self {
        Self { read_to: last, rows: Vec::new() }
    }

    /// How many rows the scope has: the number of its last one.
    pub(crate) fn len(&self) -> u64 {
        self.rows.len() as u64
    }

    /// The sequences of the next rows after the one that has the number `after` in the scope.
    pub(crate) fn rows_after(&self, after: u64) -> Vec<u64> {
        let skipped = usize::try_from(after).unwrap_or(usize::MAX);
        self.rows.iter().skip(skipped).take(ROWS_PER_READ).copied().collect()
    }

    /// Reads the change log to its end and records the rows that belong to the scope.
    pub(crate) fn read_on(&mut self, tree: &Tree<'_>) -> Result<()> {
        let reader = tree.unguarded();
        let mut read_to = self.read_to.map_or_else(|| reader.last_sequence(), Ok)?;
        self.read_to = Some(read_to);
        loop {
            let changes = reader.changes_after(read_to, ROWS_PER_READ)?;
            if changes.is_empty() {
                return Ok(());
            }
            for change in changes {
                invariant!(change.sequence > read_to, "the change log is read in ascending order");
                if !VisibleChange::of(tree, &change)?.is_empty() {
                    self.rows.push(change.sequence);
                }
                // Progress is saved row by row: if a later row is unreadable, the next call resumes
                // there and does not record these rows twice.
                read_to = change.sequence;
                self.read_to = Some(read_to);
            }
        }
    }
}

/// The row `sequence` of the change log as the scope shows it, with its `number` in the scope.
pub(crate) fn visible_change(
    tree: &Tree<'_>,
    number: u64,
    sequence: u64,
) -> Result<Option<ScopedChange>> {
    invariant!(sequence > 0 && number > 0, "rows are numbered from 1");
    let Some(change) = tree.unguarded().changes_after(sequence - 1, 1)?.pop() else {
        return Ok(None);
    };
    Ok(Some(VisibleChange::of(tree, &change)?.numbered(number, &change)))
}

/// The documents and blocks of a change that are in the scope.
#[derive(Default)]
struct VisibleChange {
    documents: BTreeSet<DocumentId>,
    blocks: BTreeSet<BlockId>,
}

impl VisibleChange {
    fn of(tree: &Tree<'_>, change: &Change) -> Result<Self> {
        let mut visible = Self::default();
        for edit in &change.edits {
            visible.add(tree, edit)?;
        }
        Ok(visible)
    }

    fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    fn numbered(self, sequence: u64, change: &Change) -> ScopedChange {
        ScopedChange {
            sequence,
            at: change.stamp.at,
            by: change.stamp.by.clone(),
            documents: self.documents.into_iter().collect(),
            blocks: self.blocks.into_iter().collect(),
        }
    }

    fn add(&mut self, tree: &Tree<'_>, edit: &Edit) -> Result<()> {
        match edit {
            Edit::Insert { target, subtrees } | Edit::Remove { target, subtrees } => {
                self.subtrees(tree, target.document, subtrees);
            }
            // An erased document was in the trash: it left the scope with an earlier change.
            Edit::CreateDocument { record, subtrees }
            | Edit::EraseDocument { record, subtrees }
                if !is_trashed(record) =>
            {
                self.subtrees(tree, record.id, subtrees);
            }
            // An update that keeps the revision is the other end of a relation.
            Edit::Update { document, before, after } if before.rev != after.rev => {
                self.block(tree, *document, after.id);
            }
            Edit::Move { block, from, to } => {
                self.block(tree, from.document, *block);
                self.block(tree, to.document, *block);
            }
            Edit::UpdateDocument { before, after } if is_trashed(before) != is_trashed(after) => {
                self.subtrees(tree, after.id, &Subtrees::default());
            }
            Edit::AddComment { document, block, .. }
            | Edit::RemoveComment { document, block, .. } => {
                self.block(tree, *document, *block);
            }
            Edit::SetSchema { document, collection, before, after, .. } => {
                if is_in_scope(tree, *document)
                    && visible_part(tree, before.as_deref())?
                        != visible_part(tree, after.as_deref())?
                {
                    self.block(tree, *document, *collection);
                }
            }
            Edit::CreateDocument { .. }
            | Edit::EraseDocument { .. }
            | Edit::Update { .. }
            | Edit::UpdateDocument { .. }
            | Edit::CreateFolder(_)
            | Edit::RemoveFolder(_)
            | Edit::UpdateFolder { .. }
            | Edit::CreateAsset(_)
            | Edit::EraseAsset(_) => {}
        }
        Ok(())
    }

    fn block(&mut self, tree: &Tree<'_>, document: DocumentId, block: BlockId) {
        if is_in_scope(tree, document) {
            self.documents.insert(document);
            self.blocks.insert(block);
        }
    }

    fn subtrees(&mut self, tree: &Tree<'_>, document: DocumentId, subtrees: &Subtrees) {
        if is_in_scope(tree, document) {
            self.documents.insert(document);
            self.blocks.extend(subtrees.0.iter().map(|node| node.block.id));
        }
    }
}

/// Whether a document is in the scope, in the trash or not.
fn is_in_scope(tree: &Tree<'_>, document: DocumentId) -> bool {
    tree.visibility().contains(document)
}

fn is_trashed(document: &DocumentRecord) -> bool {
    document.location == Location::Trash
}

/// A schema without relations to hidden collections.
fn visible_part(tree: &Tree<'_>, schema: Option<&Schema>) -> Result<Option<Schema>> {
    schema.map(|schema| hidden_relations::visible(tree, schema.clone())).transpose()
}
