//! The part of the change log that belongs to a scope, and the documents that were added to it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use leafbase_model::{
    Author, BlockId, Change, DocumentId, DocumentRecord, Edit, Error, Location, Result,
    ScopedChange, Subtrees, Timestamp, invariant,
};

use crate::core::redaction::hidden_relations;
use crate::core::scope_folders::{FolderEntry, ScopeFolders};
use crate::core::scope_pages::{PageWrites, check_is_of_space, page_writes};
use crate::core::tree::Tree;

/// How many rows of the change log are read at a time.
const ROWS_PER_READ: usize = 64;

/// The rows of a scope, from its creation on: writes to its documents, and additions of documents.
#[derive(Debug, Default)]
pub(crate) struct ScopeChanges {
    /// The sequence up to which the log was read; none before the first read.
    read_to: Option<u64>,
    /// In the order of the log; an addition comes after the writes that preceded it.
    rows: Vec<ScopeRow>,
    added_after: Arc<AdditionSequences>,
    /// The sequence up to which documents that entered folders were added.
    entered_to: Option<u64>,
    /// Additions that come after `read_to`, in order.
    additions: VecDeque<PendingAddition>,
}

/// A row of a scope's feed.
#[derive(Clone, Debug)]
pub(crate) enum ScopeRow {
    /// The write with this sequence, and its writes by page.
    Write(u64, Option<Arc<PageWrites>>),
    /// Writes that compaction dropped from the log before they were read.
    Dropped,
    Addition(Arc<AddedDocuments>),
}

/// Documents that the host added to the scope in one call.
#[derive(Debug)]
pub(crate) struct AddedDocuments {
    at: Timestamp,
    documents: Vec<DocumentId>,
}

/// An addition that has no row yet.
#[derive(Debug)]
struct PendingAddition {
    /// The last write before it; `None` if the log could not be read at that time.
    after: Option<u64>,
    added: Arc<AddedDocuments>,
}

/// The last write before each document was added, for those added since the scope was created.
#[derive(Clone, Debug, Default)]
pub(crate) struct AdditionSequences(BTreeMap<DocumentId, u64>);

impl AdditionSequences {
    /// Whether the write `sequence` came before the document was added, and so was hidden.
    fn precedes_addition(&self, document: DocumentId, sequence: u64) -> bool {
        self.0.get(&document).is_some_and(|after| sequence <= *after)
    }
}

impl ScopeChanges {
    /// Changes that begin after the sequence `last`; with none, where the log ends when they are
    /// first read.
    pub(crate) fn after(last: Option<u64>) -> Self {
        Self { read_to: last, ..Self::default() }
    }

    /// Records that `documents` were added after the write `last`; with none, where the log ends
    /// when it is read next.
    pub(crate) fn add(&mut self, documents: Vec<DocumentId>, last: Option<u64>, at: Timestamp) {
        let added_after = Arc::make_mut(&mut self.added_after);
        // Until the log can be read, every write counts as one made before the addition.
        let hidden_to = last.unwrap_or(u64::MAX);
        added_after.0.extend(documents.iter().map(|document| (*document, hidden_to)));
        let added = Arc::new(AddedDocuments { at, documents });
        self.additions.push_back(PendingAddition { after: last, added });
    }

    /// How many rows the scope has: the number of its last one.
    pub(crate) fn len(&self) -> u64 {
        self.rows.len() as u64
    }

    /// The next rows after the one that has the number `after` in the scope.
    pub(crate) fn rows_after(&self, after: u64) -> Vec<ScopeRow> {
        let skipped = usize::try_from(after).unwrap_or(usize::MAX);
        self.rows.iter().skip(skipped).take(ROWS_PER_READ).cloned().collect()
    }

    /// The row with this number.
    pub(crate) fn row(&self, number: u64) -> Option<ScopeRow> {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        self.rows.get(index).cloned()
    }

    /// The row of the write `sequence`, with its number; `None` if it wrote nothing in the scope.
    pub(crate) fn row_of_write(&self, sequence: u64) -> Option<(u64, ScopeRow)> {
        let is_of = |row: &ScopeRow| matches!(row, ScopeRow::Write(at, _) if *at == sequence);
        // Asked for right after the write, mostly.
        let index = self.rows.iter().rposition(is_of)?;
        Some((index as u64 + 1, self.rows.get(index)?.clone()))
    }

    /// As [`Self::row_of_write`], also of a write that compaction merged into a later one before
    /// the feed was read.
    pub(crate) fn row_of_merged(
        &self,
        tree: &Tree<'_>,
        sequence: u64,
    ) -> Result<Option<(u64, ScopeRow)>> {
        if let Some(row) = self.row_of_write(sequence) {
            return Ok(Some(row));
        }
        let merged = tree.unguarded().change_over(sequence)?;
        Ok(merged.and_then(|change| self.row_of_write(change.sequence)))
    }

    /// When documents were added.
    pub(crate) fn added_after(&self) -> Arc<AdditionSequences> {
        Arc::clone(&self.added_after)
    }

    /// Reads the change log to its end and records the rows that belong to the scope. Documents
    /// that entered `folders` count as added with the change by which they did.
    pub(crate) fn read_on(&mut self, tree: &Tree<'_>, folders: &ScopeFolders) -> Result<()> {
        let reader = tree.unguarded();
        self.date_additions(tree)?;
        let last = reader.last_sequence()?;
        let begun_at = self.read_to.unwrap_or(last);
        // Another call, with a newer snapshot than this one's, has read on already.
        if begun_at > last {
            return Ok(());
        }
        let mut read_to = reader.resume_after(begun_at)?;
        if read_to > begun_at {
            self.rows.push(ScopeRow::Dropped);
        }
        self.read_to = Some(read_to);
        if !folders.is_empty() {
            self.add_entries(tree, folders, read_to)?;
        }
        let mut page_writes = if tree.visibility().has_pages() {
            page_writes(tree, read_to)?
        } else {
            BTreeMap::new()
        };
        loop {
            let changes = reader.changes_after(read_to, ROWS_PER_READ)?;
            if changes.is_empty() {
                self.record_additions(read_to);
                return Ok(());
            }
            for change in changes {
                invariant!(change.sequence > read_to, "the change log is read in ascending order");
                self.record_additions(change.first_sequence - 1);
                let pages = page_writes.remove(&change.sequence).map(Arc::new);
                let visible =
                    VisibleChange::of(tree, &change, pages.as_deref(), &self.added_after)?;
                if !visible.is_empty() {
                    self.rows.push(ScopeRow::Write(change.sequence, pages));
                }
                // Progress is saved row by row: if a later row is unreadable, the next call resumes
                // there and does not record these rows twice.
                read_to = change.sequence;
                self.read_to = Some(read_to);
            }
        }
    }

    /// Adds the documents that entered `folders` after the write `read_to`.
    fn add_entries(&mut self, tree: &Tree<'_>, folders: &ScopeFolders, read_to: u64) -> Result<()> {
        let (reader, last) = (tree.unguarded(), tree.unguarded().last_sequence()?);
        // A reading that failed on the way has added its entries already.
        let from = self.entered_to.map_or(read_to, |entered_to| entered_to.max(read_to));
        if from >= last {
            return Ok(());
        }
        let entries = folders.expand(reader)?.entries_after(from)?;
        let added_after = Arc::make_mut(&mut self.added_after);
        for FolderEntry { sequence, at, documents } in entries {
            for document in &documents {
                let added = added_after.0.entry(*document).or_insert(sequence);
                *added = (*added).max(sequence);
            }
            let added = Arc::new(AddedDocuments { at, documents });
            let after = Some(sequence);
            // Precedes additions of the host after that write, and the next write.
            let place = self.additions.partition_point(|addition| addition.after < after);
            self.additions.insert(place, PendingAddition { after, added });
        }
        self.entered_to = Some(last);
        Ok(())
    }

    /// Places the additions whose sequence could not be read when they were made.
    fn date_additions(&mut self, tree: &Tree<'_>) -> Result<()> {
        for addition in self.additions.iter_mut().filter(|addition| addition.after.is_none()) {
            let last = tree.unguarded().last_sequence()?;
            addition.after = Some(last);
            let added = addition.added.documents.iter().map(|document| (*document, last));
            Arc::make_mut(&mut self.added_after).0.extend(added);
        }
        Ok(())
    }

    /// Records the additions made up to the write `sequence`. Later ones wait: the snapshot of a
    /// call may be older than an addition.
    fn record_additions(&mut self, sequence: u64) {
        let is_due =
            |addition: &PendingAddition| addition.after.is_some_and(|after| after <= sequence);
        while self.additions.front().is_some_and(is_due) {
            let added = self.additions.pop_front().map(|addition| addition.added);
            self.rows.extend(added.map(ScopeRow::Addition));
        }
    }
}

/// A row as the scope shows it, with its `number` in the scope.
pub(crate) fn visible_change(
    tree: &Tree<'_>,
    number: u64,
    row: &ScopeRow,
    added_after: &AdditionSequences,
) -> Result<Option<ScopedChange>> {
    invariant!(number > 0, "rows are numbered from 1");
    let (sequence, pages) = match row {
        ScopeRow::Addition(added) => return added.as_change(tree, number).map(Some),
        ScopeRow::Write(sequence, pages) => (Some(*sequence), pages.as_deref()),
        ScopeRow::Dropped => (None, None),
    };
    let reader = tree.unguarded();
    let change = match sequence {
        // The snapshot of this call may be older than the row.
        Some(sequence) if sequence > reader.last_sequence()? => return Ok(None),
        Some(sequence) => reader.change_over(sequence)?,
        None => None,
    };
    // The error has the scope's number: sequences of the space are hidden from it.
    let gone = || Error::history_gone(format!("change {number} is no longer in the change log"));
    let change = change.ok_or_else(gone)?;
    Ok(Some(VisibleChange::of(tree, &change, pages, added_after)?.numbered(number, &change)))
}

impl AddedDocuments {
    /// The addition as a change: the visible documents without blocks, since a client that has
    /// never seen a document reads all of it.
    fn as_change(&self, tree: &Tree<'_>, sequence: u64) -> Result<ScopedChange> {
        let mut documents = Vec::with_capacity(self.documents.len());
        for document in &self.documents {
            if tree.can_see_document(*document)? {
                documents.push(*document);
            }
        }
        let blocks = Vec::new();
        Ok(ScopedChange { sequence, at: self.at, by: Author::default(), documents, blocks })
    }
}

/// The documents and blocks of a change that are in the scope.
#[derive(Default)]
struct VisibleChange {
    documents: BTreeSet<DocumentId>,
    blocks: BTreeSet<BlockId>,
}

/// The state of the scope at the time of a write.
pub(in crate::core) struct ScopeAtWrite<'a> {
    pub(in crate::core) tree: &'a Tree<'a>,
    pub(in crate::core) added_after: &'a AdditionSequences,
    pub(in crate::core) sequence: u64,
}

impl ScopeAtWrite<'_> {
    /// Whether a document, or a page that is shown as one, was in the scope, in the trash or not.
    pub(in crate::core) fn contains(&self, document: DocumentId) -> bool {
        self.tree.visibility().contains(document)
            && !self.added_after.precedes_addition(document, self.sequence)
    }

    /// As [`Self::contains`] for a document that edits name, which may be the inbox: that one is
    /// hidden.
    pub(in crate::core) fn contains_document(&self, document: DocumentId) -> Result<bool> {
        if !self.contains(document) {
            return Ok(false);
        }
        let record = self.tree.unguarded().document(document)?;
        Ok(record.is_none_or(|record| record.location != Location::Inbox))
    }
}

impl VisibleChange {
    fn of(
        tree: &Tree<'_>,
        change: &Change,
        pages: Option<&PageWrites>,
        added_after: &AdditionSequences,
    ) -> Result<Self> {
        let scope = ScopeAtWrite { tree, added_after, sequence: change.sequence };
        let mut visible = Self::default();
        for edit in &change.edits {
            visible.add(&scope, edit)?;
        }
        for (page, blocks) in pages.into_iter().flat_map(|pages| &pages.reported) {
            if scope.contains(*page) {
                visible.documents.insert(*page);
                visible.blocks.extend(blocks);
            }
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

    fn add(&mut self, scope: &ScopeAtWrite<'_>, edit: &Edit) -> Result<()> {
        match edit {
            Edit::Insert { target, subtrees } | Edit::Remove { target, subtrees } => {
                self.subtrees(scope, target.document, subtrees)?;
            }
            // An erased document was in the trash: it left the scope with an earlier change.
            Edit::CreateDocument { record, subtrees }
            | Edit::EraseDocument { record, subtrees }
                if !is_trashed(record) =>
            {
                self.subtrees(scope, record.id, subtrees)?;
            }
            // An update that keeps the revision is the other end of a relation.
            Edit::Update { document, before, after }
                if before.rev != after.rev || after.is_redacted() =>
            {
                self.block(scope, *document, after.id)?;
            }
            Edit::Move { block, from, to } => {
                self.block(scope, from.document, *block)?;
                self.block(scope, to.document, *block)?;
            }
            Edit::UpdateDocument { before, after } if is_trashed(before) != is_trashed(after) => {
                self.subtrees(scope, after.id, &Subtrees::default())?;
            }
            Edit::AddComment { document, block, .. }
            | Edit::RemoveComment { document, block, .. }
            | Edit::UpdateComment { document, block, .. } => {
                self.block(scope, *document, *block)?;
            }
            Edit::SetSchema { document, collection, before, after, .. } => {
                if scope.contains_document(*document)?
                    && hidden_relations::visible_part(scope.tree, before.as_deref())?
                        != hidden_relations::visible_part(scope.tree, after.as_deref())?
                {
                    self.block(scope, *document, *collection)?;
                }
            }
            Edit::CreateDocument { .. }
            | Edit::EraseDocument { .. }
            | Edit::PurgeDocument { .. }
            | Edit::Update { .. }
            | Edit::UpdateDocument { .. } => {}
            edit => check_is_of_space(edit)?,
        }
        Ok(())
    }

    fn block(
        &mut self,
        scope: &ScopeAtWrite<'_>,
        document: DocumentId,
        block: BlockId,
    ) -> Result<()> {
        if scope.contains_document(document)? {
            self.documents.insert(document);
            self.blocks.insert(block);
        }
        Ok(())
    }

    fn subtrees(
        &mut self,
        scope: &ScopeAtWrite<'_>,
        document: DocumentId,
        subtrees: &Subtrees,
    ) -> Result<()> {
        if scope.contains_document(document)? {
            self.documents.insert(document);
            self.blocks.extend(subtrees.0.iter().map(|node| node.block.id));
        }
        Ok(())
    }
}

fn is_trashed(document: &DocumentRecord) -> bool {
    document.location == Location::Trash
}
