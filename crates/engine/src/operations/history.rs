//! The history of a document: its versions, and what it was at each.

#[cfg(doc)]
use leafbase_model::ErrorKind;
use leafbase_model::{
    Block, BlockId, Change, DocumentId, DocumentVersion, Edit, Error, ErrorKind as Kind, Result,
};
use leafbase_tree_ops as ops;

use crate::core::access::{Full, FullAccess};
use crate::core::batch::BatchAccess;
use crate::core::connection::Connection;
use crate::core::redaction::LinkRedactor;
use crate::operations::block_markdown::render_tree;
use crate::operations::rewrite::plan::rewritten;
use crate::operations::undo::conflict;
use crate::operations::undo::obstacles::trashed;

use past::{PastDocument, present};

pub(crate) mod block_versions;
pub(crate) mod differences;
mod past;

impl<A: FullAccess> Connection<A> {
    /// The last versions of a document, newest first: the changes that touched it, with their
    /// authors and times and how many blocks of it they wrote. At most `limit`, and those before
    /// the version `before`, if it is given. The first version that is missing was dropped by
    /// compaction.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect().acting_as("Ada");
    /// let trip = notes.create_document("Trip")?.id();
    /// notes.insert_markdown("passport\n\ntowel", trip)?;
    /// let versions = notes.history(trip, None, 10)?;
    /// assert_eq!((versions[0].inserted, versions[0].by.as_str()), (2, "Ada"));
    /// assert_eq!(notes.history(trip, Some(versions[0].sequence), 10)?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cost
    /// That of the changes of the document, however many others there are; with `before`, also of
    /// those after it.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the document does not exist.
    pub fn history(
        &self,
        document: DocumentId,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<DocumentVersion>> {
        self.operation("history").read_all(|reader| {
            reader.document(document)?.ok_or_else(Error::no_document)?;
            let is_before = |change: &Result<Change>| match change {
                Ok(change) => before.is_none_or(|before| change.sequence < before),
                Err(_) => true,
            };
            let changes = reader.history(document).filter(is_before).take(limit);
            changes.map(|change| Ok(version(document, &change?))).collect()
        })
    }

    /// The document with all below it, as the change `sequence` left it: what a fetch showed then,
    /// without comments, and without the items of collections. Links lead where they led, to what
    /// is there now.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?.id();
    /// let line = notes.insert_markdown("passport", trip)?[0].id;
    /// let then = notes.last_sequence()?;
    /// notes.update_markdown(line, "passports")?;
    /// let shown = notes.document_at(trip, then)?;
    /// assert_eq!(shown.children()[0].data.inline, "passport");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cost
    /// That of the document and of its changes since, which are read into memory; if blocks moved
    /// from it to others, also of the others and of their changes since then. Each change is undone
    /// once, however often blocks moved.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for a change that does not exist, and for a document that does not
    /// exist or did not then; [`ErrorKind::HistoryGone`] if compaction dropped changes after
    /// it or merged the change with a later one, if a purge redacted one, or if a document is gone
    /// to which blocks moved; [`ErrorKind::LimitExceeded`] for more than
    /// [`crate::Limits::blocks_per_fetch`] blocks.
    pub fn document_at(&self, document: DocumentId, sequence: u64) -> Result<Block> {
        let most = self.limits().blocks_per_fetch;
        let operation = self.operation("document_at");
        let planned = operation.planned_edits()?;
        operation.read(|tree| {
            let reader = tree.full_reader()?;
            if sequence > reader.last_sequence()? {
                return Err(Error::no_change());
            }
            let past = PastDocument::at(reader, &planned, document, sequence)?;
            let links = LinkRedactor::new(tree);
            let plain = |data: &_| links.plain(data);
            let check_count = |blocks: usize| {
                if blocks > most {
                    return Err(Error::limit("blocks in one fetch", most, blocks));
                }
                Ok(())
            };
            let (tree, root) = (past.tree(), document.root());
            let mut block = ops::fetch(tree, root, None, false, &plain, &check_count)?;
            links.finish()?;
            render_tree(&mut block);
            Ok(block)
        })
    }
}

impl Connection<Full> {
    /// Makes a document what it was after the change `sequence`, as a new change, which is
    /// returned: its title, and its blocks with their IDs and places. Blocks that came later are
    /// deleted with their comments, those that were deleted return, with higher revisions than they
    /// had. What is in collections stays as it is, and so do comments, the folder, and other
    /// documents.
    ///
    /// ```
    /// use leafbase::DeleteBlocks;
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?.id();
    /// let line = notes.insert_markdown("passport", trip)?[0].id;
    /// let then = notes.last_sequence()?;
    /// notes.delete_blocks(DeleteBlocks::from(line))?;
    /// notes.insert_markdown("towel", trip)?;
    /// notes.restore(trip, then)?;
    /// assert_eq!(notes.content_markdown(trip)?, "passport");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Self::document_at`]; [`ErrorKind::Conflict`] with a detail for each thing in the way,
    /// as of [`Self::undo`]: a block that is in another document now (`blocks.ID`), a collection
    /// that was deleted or renamed (`collections.ID`), a file that was erased (`files.ID`), and for
    /// a document that is what it was then; [`ErrorKind::RuleViolation`] for one in the trash.
    pub fn restore(&self, document: DocumentId, sequence: u64) -> Result<Change> {
        let change = self.write_restore(document, sequence)?;
        change.ok_or_else(|| Error::new(Kind::Conflict, "the document is what it was then"))
    }
}

impl Connection<BatchAccess<'_, Full>> {
    /// Makes a document what it was after the change `sequence`, within the batch: as
    /// [`Connection::restore`].
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?.id();
    /// notes.insert_markdown("passport", trip)?;
    /// let then = notes.last_sequence()?;
    /// notes.batch(|batch| {
    ///     batch.insert_markdown("towel", trip)?;
    ///     batch.restore(trip, then)
    /// })?;
    /// assert_eq!(notes.content_markdown(trip)?, "passport");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Connection::restore`]; a document that has not changed is not an error.
    pub fn restore(&self, document: DocumentId, sequence: u64) -> Result<()> {
        self.write_restore(document, sequence).map(drop)
    }
}

impl<A: FullAccess> Connection<A> {
    fn write_restore(&self, document: DocumentId, sequence: u64) -> Result<Option<Change>> {
        let ((), change) = self.operation("restore").write(|transaction| {
            let planned = transaction.applied().to_vec();
            let edits = transaction.plan(|tree, context| {
                let reader = tree.full_reader()?;
                if sequence > reader.last_sequence()? {
                    return Err(Error::no_change());
                }
                let past = PastDocument::at(reader, &planned, document, sequence)?;
                let (mut past, removed_revs) = past.into_parts();
                if trashed(tree, document)?.is_some() {
                    let message = "the document is in the trash; restore it to change its blocks";
                    return Err(Error::rule(message));
                }
                let present = present(reader, document)?.ok_or_else(Error::no_document)?;
                // Blocks that return have higher revisions than they had when they were removed.
                for record in past.records_mut().filter(|it| present.get(it.id).is_none()) {
                    let removed = removed_revs.get(&record.id).copied();
                    let rev = removed.map_or(record.rev, |removed| removed.max(record.rev));
                    record.rev = rev.saturating_add(1);
                    record.modified = context.stamp.clone();
                }
                rewritten(tree, context, present, &past)?.map_err(conflict)
            })?;
            transaction.apply(edits)
        })?;
        Ok(change)
    }
}

/// A change as a version of a document.
fn version(document: DocumentId, change: &Change) -> DocumentVersion {
    let mut version = DocumentVersion {
        sequence: change.sequence,
        at: change.stamp.at,
        by: change.stamp.by.clone(),
        ..DocumentVersion::default()
    };
    let mut blocks: Vec<BlockId> = Vec::new();
    for edit in &change.edits {
        match edit {
            Edit::Insert { target, subtrees } if target.document == document => {
                version.inserted += subtrees.0.len();
                blocks.extend(subtrees.0.iter().map(|node| node.block.id));
            }
            Edit::CreateDocument { record, subtrees } if record.id == document => {
                version.inserted += subtrees.0.len();
                blocks.extend(subtrees.0.iter().map(|node| node.block.id));
            }
            Edit::Remove { target, subtrees } if target.document == document => {
                version.removed += subtrees.0.len();
                blocks.extend(subtrees.0.iter().map(|node| node.block.id));
            }
            Edit::Update { document: within, after, .. } if *within == document => {
                version.updated += 1;
                blocks.push(after.id);
            }
            Edit::Move { block, from, to } if [from.document, to.document].contains(&document) => {
                version.moved += 1;
                blocks.push(*block);
            }
            Edit::AddComment { document: within, block, .. }
            | Edit::RemoveComment { document: within, block, .. }
            | Edit::UpdateComment { document: within, block, .. }
                if *within == document =>
            {
                version.commented += 1;
                blocks.push(*block);
            }
            _ => {}
        }
    }
    blocks.sort_unstable();
    blocks.dedup();
    version.blocks = blocks;
    version
}
