//! Documents as they were: from the present backwards, one change after the other.

use std::collections::BTreeSet;

use leafbase_model::{BlockRecord, DocumentId, Edit, Error, Result};
use leafbase_store::SpaceReader;

use crate::operations::rewrite::tree_copy::TreeCopy;

/// A document at an earlier time.
pub(super) struct PastDocument {
    tree: TreeCopy,
}

impl PastDocument {
    /// The document as the change `sequence` left it.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::NotFound`] if it does not exist, or did not then;
    /// [`leafbase_model::ErrorKind::HistoryGone`] if changes after it are dropped or redacted, or a
    /// document is gone to or from which blocks moved.
    ///
    /// `planned` are the edits of an open batch, which came after all changes.
    pub(super) fn at(
        reader: SpaceReader<'_>,
        planned: &[Edit],
        document: DocumentId,
        sequence: u64,
    ) -> Result<Self> {
        let mut past = Self::present(reader, document)?;
        past.undo(reader, planned, &|other| Self::present(reader, other))?;
        for change in reader.history(document) {
            let change = change?;
            if change.sequence <= sequence {
                return Ok(past);
            }
            if change.first_sequence <= sequence {
                return Err(gone(reader, document));
            }
            let at = |other| Self::at(reader, planned, other, change.sequence);
            // Newest first: the edits of a change are undone on the state that it left.
            past.undo(reader, &change.edits, &at)?;
        }
        if sequence < reader.log_begins_at()?.sequence() {
            return Err(gone(reader, document));
        }
        Ok(past)
    }

    /// The document as it is.
    pub(super) fn present(reader: SpaceReader<'_>, document: DocumentId) -> Result<Self> {
        reader.document(document)?.ok_or_else(Error::no_document)?;
        let subtrees = reader.subtree(document.root(), None)?;
        Ok(Self { tree: TreeCopy::new(document, document.root(), subtrees) })
    }

    pub(super) const fn tree(&self) -> &TreeCopy {
        &self.tree
    }

    pub(super) fn into_tree(self) -> TreeCopy {
        self.tree
    }

    /// Undoes edits; `at` reads another document as they left it.
    fn undo(
        &mut self,
        reader: SpaceReader<'_>,
        edits: &[Edit],
        at: &dyn Fn(DocumentId) -> Result<Self>,
    ) -> Result<()> {
        let document = self.tree.document();
        let documents = exchanging(document, edits);
        // What a block had below it is not in the edit of its move: it is in the other document.
        for other in documents.iter().filter(|other| **other != document) {
            let gone = || reader.history_gone(&format!("document {other} is gone"));
            reader.document(*other)?.ok_or_else(gone)?;
            self.tree.extend(at(*other)?.tree);
        }
        let is_alone = documents.len() == 1;
        for edit in edits.iter().rev() {
            self.undo_edit(reader, &documents, edit)?;
        }
        debug_assert!(self.tree.get(self.tree.top()).is_some(), "a document has its root");
        if !is_alone {
            self.tree.drop_unreachable();
        }
        Ok(())
    }

    fn undo_edit(
        &mut self,
        reader: SpaceReader<'_>,
        documents: &BTreeSet<DocumentId>,
        edit: &Edit,
    ) -> Result<()> {
        match edit {
            Edit::Insert { target, subtrees } if documents.contains(&target.document) => {
                for top in subtrees.0.iter().filter(|node| node.depth == 0) {
                    self.tree.remove(top.block.id);
                }
            }
            Edit::Remove { target, subtrees } if documents.contains(&target.document) => {
                self.check_kept(reader, edit)?;
                self.tree.insert(Some(target), subtrees.clone());
            }
            Edit::Update { document, before, .. } if documents.contains(document) => {
                self.check_kept(reader, edit)?;
                self.tree.set(BlockRecord::clone(before));
            }
            Edit::Move { block, from, .. } if documents.contains(&from.document) => {
                self.tree.detach(*block);
                self.tree.attach(*block, from);
            }
            Edit::Move { block, to, .. } if documents.contains(&to.document) => {
                self.tree.remove(*block);
            }
            Edit::CreateDocument { record, .. } if record.id == self.tree.document() => {
                return Err(Error::not_found("the document did not exist yet"));
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks that a purge has not redacted what the edit replaced.
    fn check_kept(&self, reader: SpaceReader<'_>, edit: &Edit) -> Result<()> {
        if edit.is_redacted() { Err(gone(reader, self.tree.document())) } else { Ok(()) }
    }
}

/// The documents that the change moved blocks between, `document` among them.
fn exchanging(document: DocumentId, edits: &[Edit]) -> BTreeSet<DocumentId> {
    let mut documents = BTreeSet::from([document]);
    loop {
        let known = documents.len();
        for edit in edits {
            if let Edit::Move { from, to, .. } = edit
                && (documents.contains(&from.document) || documents.contains(&to.document))
            {
                documents.extend([from.document, to.document]);
            }
        }
        // Repeated until nothing is added: a block may pass through several documents in one
        // change.
        if documents.len() == known {
            return documents;
        }
    }
}

fn gone(reader: SpaceReader<'_>, document: DocumentId) -> Error {
    reader.history_gone(&format!("what document {document} was then is no longer in the log"))
}
