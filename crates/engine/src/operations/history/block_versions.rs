//! The history of a block: the changes that named it, wherever it was.

#[cfg(doc)]
use leafbase_model::ErrorKind;
use leafbase_model::{
    BlockData, BlockEvent, BlockId, BlockVersion, Change, DocumentId, Edit, Error, Result,
    Subtrees, invariant,
};
use leafbase_store::DocumentHistory;

use crate::core::access::FullAccess;
use crate::core::connection::Connection;
use crate::core::redaction::shown_markdown;

impl<A: FullAccess> Connection<A> {
    /// The last versions of a block, newest first: the changes that inserted, updated, moved,
    /// removed or commented it, with their authors and times and its markdown after each. At most
    /// `limit`, and those before the version `before`, if it is given. What happened to blocks
    /// around it or below it is not listed.
    ///
    /// ```
    /// use leafbase::BlockEvent;
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect().acting_as("Ada");
    /// let trip = notes.create_document("Trip")?.id();
    /// let line = notes.insert_markdown("passport", trip)?[0].id;
    /// notes.update_markdown(line, "passports")?;
    /// let versions = notes.block_history(line, None, 10)?;
    /// assert_eq!((versions.len(), versions[0].by.as_str()), (2, "Ada"));
    /// assert_eq!(versions[1].events, [BlockEvent::Inserted]);
    /// assert_eq!(versions[1].markdown.as_deref(), Some("passport"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cost
    /// That of the changes of its document, however many others there are, and of each document
    /// from which blocks moved there.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the block does not exist; [`ErrorKind::HistoryGone`] if a purge
    /// redacted what it was.
    pub fn block_history(
        &self,
        block: BlockId,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<BlockVersion>> {
        let operation = self.operation("block_history");
        let planned = operation.planned_edits()?;
        operation.read_all(|reader| {
            let location = reader.locate(block)?.ok_or_else(Error::no_block)?;
            let data = reader.block(block)?.map(|record| record.data);
            let mut past = PastBlock { block, data };
            let mut documents = vec![location.document];
            past.undo(&planned, &mut documents)?;
            let mut changes = ChangesOfDocuments::default();
            for document in documents {
                changes.add(document, reader.history(document))?;
            }
            let mut versions = Vec::new();
            while let Some(change) = changes.next()? {
                if versions.len() == limit {
                    break;
                }
                let markdown = past.data.as_ref().map(|data| shown_markdown(data).into_owned());
                let mut others = Vec::new();
                let events = past.undo(&change.edits, &mut others);
                let events = events.map_err(|gone| reader.history_gone(gone.message()))?;
                for document in others {
                    if changes.known.contains(&document) {
                        continue;
                    }
                    // Not by its record: a purge may have removed the document since, but not what
                    // a block was that had left it.
                    let earlier = reader.history_before(document, change.sequence)?;
                    changes.add(document, earlier)?;
                }
                if !events.is_empty() && before.is_none_or(|before| change.sequence < before) {
                    let (sequence, stamp) = (change.sequence, change.stamp);
                    let (at, by) = (stamp.at, stamp.by);
                    versions.push(BlockVersion { sequence, at, by, events, markdown });
                }
            }
            Ok(versions)
        })
    }
}

/// A block as it was, from the present backwards.
struct PastBlock {
    block: BlockId,
    /// None while it does not exist.
    data: Option<BlockData>,
}

impl PastBlock {
    /// Undoes edits, and returns what they did to the block. Adds the documents from which blocks
    /// were moved: it may have been among them.
    fn undo(&mut self, edits: &[Edit], others: &mut Vec<DocumentId>) -> Result<Vec<BlockEvent>> {
        let mut events = Vec::new();
        for edit in edits.iter().rev() {
            if let Edit::Move { from, to, .. } = edit
                && from.document != to.document
            {
                others.push(from.document);
            }
            events.extend(self.undo_edit(edit)?);
        }
        events.sort_unstable();
        events.dedup();
        Ok(events)
    }

    fn undo_edit(&mut self, edit: &Edit) -> Result<Option<BlockEvent>> {
        let event = match edit {
            Edit::Insert { subtrees, .. } | Edit::CreateDocument { subtrees, .. }
                if self.find(subtrees).is_some() =>
            {
                self.data = None;
                BlockEvent::Inserted
            }
            Edit::Remove { subtrees, .. } | Edit::EraseDocument { subtrees, .. }
                if self.find(subtrees).is_some() =>
            {
                self.data = self.find(subtrees).cloned();
                BlockEvent::Removed
            }
            Edit::Update { before, .. } if before.id == self.block => {
                self.data = Some(before.data.clone());
                BlockEvent::Updated
            }
            Edit::Move { block, .. } if *block == self.block => BlockEvent::Moved,
            Edit::AddComment { block, .. }
            | Edit::RemoveComment { block, .. }
            | Edit::UpdateComment { block, .. }
                if *block == self.block =>
            {
                BlockEvent::Commented
            }
            _ => return Ok(None),
        };
        if edit.is_redacted() && matches!(event, BlockEvent::Updated | BlockEvent::Removed) {
            let message = format!("what block {} was then is no longer in the log", self.block);
            return Err(Error::history_gone(message));
        }
        Ok(Some(event))
    }

    fn find<'s>(&self, subtrees: &'s Subtrees) -> Option<&'s BlockData> {
        let mut blocks = subtrees.0.iter().map(|node| &node.block);
        blocks.find(|block| block.id == self.block).map(|block| &block.data)
    }
}

/// The changes of several documents, newest first.
#[derive(Default)]
struct ChangesOfDocuments<'a> {
    known: Vec<DocumentId>,
    /// The next change of each document that has one, with those after it.
    next: Vec<(Change, DocumentHistory<'a>)>,
}

impl<'a> ChangesOfDocuments<'a> {
    /// Adds the changes of a document, unless they were added before.
    fn add(&mut self, document: DocumentId, mut changes: DocumentHistory<'a>) -> Result<()> {
        if self.known.contains(&document) {
            return Ok(());
        }
        self.known.push(document);
        // An error counts as found: it is returned, where it would end the history in silence.
        if let Some(change) = changes.next() {
            self.next.push((change?, changes));
        }
        Ok(())
    }

    fn next(&mut self) -> Result<Option<Change>> {
        let newest = self.next.iter().map(|(change, _)| change.sequence).max();
        let mut found = None;
        for (change, mut changes) in std::mem::take(&mut self.next) {
            if Some(change.sequence) != newest {
                self.next.push((change, changes));
                continue;
            }
            // A change of several documents is in the history of each.
            let following = changes.next().transpose()?;
            invariant!(
                following.as_ref().is_none_or(|following| following.sequence < change.sequence),
                "the history of a document is read backwards"
            );
            found = Some(change);
            self.next.extend(following.map(|following| (following, changes)));
        }
        Ok(found)
    }
}
