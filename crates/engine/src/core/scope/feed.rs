//! The changes of a scope: numbered by themselves, so that what is written to the rest of the space
//! leaves no gap.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, PoisonError};

use leafbase_model::{
    BlockId, Change, DocumentId, DocumentRecord, Edit, Location, Result, Schema, ScopedChange,
    Subtrees,
};

use crate::core::connection::Connection;
use crate::core::sight::Scoped;
use crate::core::tree::Tree;
use crate::operations::collections::hidden;

/// How many rows of the change log one look-up reads.
const PAGE: usize = 64;

/// Which rows of the change log are a scope's, from when it was made on.
#[derive(Debug, Default)]
pub(super) struct Feed(Mutex<Read>);

#[derive(Debug, Default)]
struct Read {
    /// Up to which row the log was read; none before it was looked at.
    to: Option<u64>,
    /// The rows that are the scope's.
    rows: Vec<u64>,
}

impl Feed {
    /// The scope's rows are those after `sequence`.
    pub(super) fn after(sequence: Option<u64>) -> Self {
        Self(Mutex::new(Read { to: sequence, rows: Vec::new() }))
    }

    /// Reads on in the log, and gives the rows after the one numbered `after` in the scope.
    fn rows_after(&self, tree: &Tree<'_>, after: u64) -> Result<Vec<u64>> {
        let mut read = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        read.read_on(tree)?;
        let rows =
            read.rows.get(usize::try_from(after).unwrap_or(usize::MAX)..).unwrap_or_default();
        Ok(rows.iter().take(PAGE).copied().collect())
    }

    /// How many rows the scope has.
    fn last(&self, tree: &Tree<'_>) -> Result<u64> {
        let mut read = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        read.read_on(tree)?;
        Ok(read.rows.len() as u64)
    }
}

impl Read {
    fn read_on(&mut self, tree: &Tree<'_>) -> Result<()> {
        let reader = tree.reader();
        let mut to = self.to.map_or_else(|| reader.last_sequence(), Ok)?;
        self.to = Some(to);
        loop {
            let changes = reader.changes_after(to, PAGE)?;
            if changes.is_empty() {
                return Ok(());
            }
            for change in changes {
                if !Shown::of(tree, &change)?.is_empty() {
                    self.rows.push(change.sequence);
                }
                // With each row: where a later one cannot be read now, those before it are not read
                // again.
                to = change.sequence;
                self.to = Some(to);
            }
        }
    }
}

/// The writes to the documents of a scope after one of them, oldest first. Each look-up reads the
/// log as it is then, so that no state is held back while the caller works: writes made meanwhile
/// are found, too.
#[derive(Debug)]
pub struct ScopedChanges {
    connection: Connection<Scoped>,
    after: u64,
    read: VecDeque<ScopedChange>,
    has_ended: bool,
}

impl Connection<Scoped> {
    /// The writes to documents of the scope after the one numbered `sequence`, oldest first; 0 for
    /// all since the scope was made. They are numbered from 1 within the scope, without gaps, for
    /// as long as it lives.
    ///
    /// A row tells which documents to read anew, and which blocks of them were written. It is of
    /// the documents that are in the scope when it is first asked for; those that were taken out
    /// since are left out of it. Where documents are kept is no change, and neither is what happens
    /// to relations and links from outside. Putting a document into the trash is: it is not found
    /// then.
    ///
    /// ```
    /// use leafbase::Space;
    /// # fn main() -> leafbase::Result<()> {
    /// let space = Space::in_memory()?;
    /// let notes = space.connect();
    /// let (trip, diary) = (notes.create_document("Trip")?, notes.create_document("Diary")?);
    /// let guest = space.scoped([trip.id()]);
    /// notes.insert_markdown("rain", diary.id())?;
    /// let added = notes.insert_markdown("passport", trip.id())?;
    ///
    /// let changes: Vec<_> = guest.changes_since(0).collect::<Result<_, _>>()?;
    /// assert_eq!((changes.len(), changes[0].sequence), (1, 1));
    /// assert_eq!((&changes[0].documents[..], &changes[0].blocks[..]), (&[trip.id()][..], &[added[0].id][..]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// It costs the rows that the space's log got since it was last asked, and 8 bytes of memory
    /// for each row of the scope.
    pub fn changes_since(&self, sequence: u64) -> ScopedChanges {
        ScopedChanges {
            connection: self.clone(),
            after: sequence,
            read: VecDeque::new(),
            has_ended: false,
        }
    }

    /// The number of the last write to documents of the scope since it was made; 0 if there was
    /// none.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let trip = space.connect().create_document("Trip")?;
    /// let guest = space.scoped([trip.id()]);
    /// space.connect().create_document("Diary")?; // not seen, not counted
    /// guest.insert_markdown("passport", trip.id())?;
    /// assert_eq!(guest.last_sequence()?, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What the store reports.
    pub fn last_sequence(&self) -> Result<u64> {
        self.read(|tree, _| self.sight().0.feed.last(tree))
    }

    fn page(&self, after: u64) -> Result<Vec<ScopedChange>> {
        self.read(|tree, _| {
            let rows = self.sight().0.feed.rows_after(tree, after)?;
            let change = |(own, row): (u64, u64)| {
                let change = tree.reader().changes_after(row - 1, 1)?.pop();
                change
                    .map(|change| Ok(Shown::of(tree, &change)?.numbered(own, &change)))
                    .transpose()
            };
            (after + 1..).zip(rows).map(change).filter_map(Result::transpose).collect()
        })
    }
}

impl Iterator for ScopedChanges {
    type Item = Result<ScopedChange>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.read.is_empty() && !self.has_ended {
            match self.connection.page(self.after) {
                Ok(rows) => self.read = rows.into(),
                Err(error) => {
                    self.has_ended = true;
                    return Some(Err(error));
                }
            }
        }
        let change = self.read.pop_front();
        match &change {
            Some(change) => self.after = change.sequence,
            None => self.has_ended = true,
        }
        change.map(Ok)
    }
}

/// What of a write a scope shows.
#[derive(Default)]
struct Shown {
    documents: BTreeSet<DocumentId>,
    blocks: BTreeSet<BlockId>,
}

impl Shown {
    fn of(tree: &Tree<'_>, change: &Change) -> Result<Self> {
        let mut shown = Self::default();
        for edit in &change.edits {
            shown.add(tree, edit)?;
        }
        Ok(shown)
    }

    fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    fn numbered(self, sequence: u64, change: &Change) -> ScopedChange {
        let (documents, blocks) =
            (self.documents.into_iter().collect(), self.blocks.into_iter().collect());
        ScopedChange {
            sequence,
            at: change.stamp.at,
            by: change.stamp.by.clone(),
            documents,
            blocks,
        }
    }

    fn add(&mut self, tree: &Tree<'_>, edit: &Edit) -> Result<()> {
        match edit {
            Edit::Insert { target, subtrees } | Edit::Remove { target, subtrees } => {
                self.subtrees(tree, target.document, subtrees);
            }
            // One that is erased is in the trash, and has left before.
            Edit::CreateDocument { record, subtrees }
            | Edit::EraseDocument { record, subtrees }
                if !is_trashed(record) =>
            {
                self.subtrees(tree, record.id, subtrees);
            }
            // A relation whose other end was changed leaves the revision as it was.
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
                if is_in(tree, *document)
                    && seen_part(tree, before.as_deref())? != seen_part(tree, after.as_deref())?
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
        if is_in(tree, document) {
            self.documents.insert(document);
            self.blocks.insert(block);
        }
    }

    fn subtrees(&mut self, tree: &Tree<'_>, document: DocumentId, subtrees: &Subtrees) {
        if is_in(tree, document) {
            self.documents.insert(document);
            self.blocks.extend(subtrees.0.iter().map(|node| node.block.id));
        }
    }
}

/// Whether a document is in the scope, in the trash or not.
fn is_in(tree: &Tree<'_>, document: DocumentId) -> bool {
    tree.seen().names(document)
}

fn is_trashed(document: &DocumentRecord) -> bool {
    document.location == Location::Trash
}

/// What of a schema is seen: not the relations to collections that aren't.
fn seen_part(tree: &Tree<'_>, schema: Option<&Schema>) -> Result<Option<Schema>> {
    schema.map(|schema| hidden::seen(tree, schema.clone())).transpose()
}
