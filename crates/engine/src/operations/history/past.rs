//! Documents as they were: from the present backwards, one change after the other.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::iter::Peekable;

use leafbase_model::{BlockId, BlockRecord, Change, DocumentId, Edit, Error, Result};
use leafbase_store::{DocumentHistory, SpaceReader};

use crate::operations::rewrite::tree_copy::TreeCopy;

/// A document at an earlier time.
pub(super) struct PastDocument {
    /// While changes are undone, with the blocks of the other documents that are needed.
    tree: TreeCopy,
    /// The revisions at which blocks were removed since, the highest of each.
    removed_revs: HashMap<BlockId, u64>,
}

impl PastDocument {
    /// The document as the change `sequence` left it. Undoes the changes of all documents that are
    /// needed in one pass, newest first.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::NotFound`] if it does not exist, or did not then;
    /// [`leafbase_model::ErrorKind::HistoryGone`] if changes after it are dropped or redacted, or a
    /// document is gone to which blocks moved.
    ///
    /// `planned` are the edits of an open batch, which came after all changes.
    pub(super) fn at(
        reader: SpaceReader<'_>,
        planned: &[Edit],
        document: DocumentId,
        sequence: u64,
    ) -> Result<Self> {
        let Some(tree) = present(reader, document)? else { return Err(Error::no_document()) };
        let mut past = Self { tree, removed_revs: HashMap::new() };
        let later = LaterChanges::read(reader, planned, document, sequence)?;
        for other in later.needed.keys().filter(|other| **other != document) {
            let gone = || reader.history_gone(&format!("document {other} is gone"));
            past.tree.extend(present(reader, *other)?.ok_or_else(gone)?);
        }
        for (sequence, edits) in later.changes.iter().rev() {
            // Newest first, as the changes: an edit is undone on the state that it left.
            for edit in edits.iter().rev() {
                past.undo_edit(reader, &|it| later.has(it, *sequence), edit)?;
            }
            for edit in edits {
                if let Edit::Move { to, .. } = edit
                    && later.needed.get(&to.document) == Some(sequence)
                {
                    past.tree.remove(to.document.root());
                }
            }
        }
        debug_assert!(past.tree.get(document.root()).is_some(), "a document has its root");
        Ok(past)
    }

    pub(super) const fn tree(&self) -> &TreeCopy {
        &self.tree
    }

    /// The blocks, and the revisions at which those that were removed since were removed.
    pub(super) fn into_parts(self) -> (TreeCopy, HashMap<BlockId, u64>) {
        (self.tree, self.removed_revs)
    }

    fn undo_edit(
        &mut self,
        reader: SpaceReader<'_>,
        has: &dyn Fn(DocumentId) -> bool,
        edit: &Edit,
    ) -> Result<()> {
        match edit {
            Edit::Insert { target, subtrees } if has(target.document) => {
                for top in subtrees.0.iter().filter(|node| node.depth == 0) {
                    self.tree.remove(top.block.id);
                }
            }
            Edit::Remove { target, subtrees } if has(target.document) => {
                check_kept(reader, target.document, edit)?;
                for BlockRecord { id, rev, .. } in subtrees.0.iter().map(|node| &node.block) {
                    let highest = self.removed_revs.entry(*id).or_insert(*rev);
                    *highest = (*highest).max(*rev);
                }
                self.tree.insert(Some(target), subtrees.clone());
            }
            Edit::Update { document, before, .. } if has(*document) => {
                check_kept(reader, *document, edit)?;
                self.tree.set(BlockRecord::clone(before));
            }
            Edit::Move { block, from, .. } if has(from.document) => {
                self.tree.detach(*block);
                self.tree.attach(*block, from);
            }
            Edit::Move { block, to, .. } if has(to.document) => self.tree.remove(*block),
            _ => {}
        }
        Ok(())
    }
}

/// A document as it is.
pub(super) fn present(reader: SpaceReader<'_>, document: DocumentId) -> Result<Option<TreeCopy>> {
    if reader.document(document)?.is_none() {
        return Ok(None);
    }
    let subtrees = reader.subtree(document.root(), None)?;
    Ok(Some(TreeCopy::new(document, document.root(), subtrees)))
}

/// Stands for the sequence that an open batch does not have yet: its edits came after all changes.
const PLANNED: u64 = u64::MAX;

/// The changes to undo until a document is what it was.
struct LaterChanges {
    /// The documents whose blocks are needed, each with the change back to whose result. For a
    /// document other than the requested one, this is the oldest change that moved blocks into it
    /// from a needed one: a move does not record the blocks below the moved one.
    needed: BTreeMap<DocumentId, u64>,
    /// The edits of each change, by its sequence.
    changes: BTreeMap<u64, Vec<Edit>>,
}

impl LaterChanges {
    fn read(
        reader: SpaceReader<'_>,
        planned: &[Edit],
        document: DocumentId,
        sequence: u64,
    ) -> Result<Self> {
        let mut histories: BTreeMap<DocumentId, PartialHistory<'_>> = BTreeMap::new();
        let mut changes = BTreeMap::from([(PLANNED, planned.to_vec())]);
        let mut waiting = vec![(document, sequence)];
        while let Some((needed, back_to)) = waiting.pop() {
            let history = histories.entry(needed).or_insert_with(|| {
                let others = receivers(needed, planned);
                waiting.extend(others.into_iter().map(|other| (other, PLANNED)));
                PartialHistory::new(reader.history(needed), is_created(needed, planned))
            });
            if history.back_to <= back_to {
                continue;
            }
            history.back_to = back_to;
            while let Some(change) = history.next()? {
                if is_created(needed, &change.edits) {
                    history.created = change.sequence;
                }
                let others = receivers(needed, &change.edits);
                waiting.extend(others.into_iter().map(|other| (other, change.sequence)));
                // A change of several documents is in the history of each.
                changes.entry(change.sequence).or_insert(change.edits);
            }
            if history.first_read <= back_to {
                return Err(gone(reader, needed));
            }
            if history.created > back_to {
                let unborn = || Error::not_found("the document did not exist yet");
                return Err(if needed == document { unborn() } else { gone(reader, needed) });
            }
            if history.unread.peek().is_none() && back_to < reader.log_begins_at()?.sequence() {
                return Err(gone(reader, needed));
            }
        }
        let needed = histories.into_iter().map(|(id, history)| (id, history.back_to)).collect();
        Ok(Self { needed, changes })
    }

    /// Whether the blocks of a document are needed as they were before the change `sequence`, or
    /// right after it.
    fn has(&self, document: DocumentId, sequence: u64) -> bool {
        self.needed.get(&document).is_some_and(|back_to| *back_to <= sequence)
    }
}

/// The history of a document, read newest first as far as it is needed.
struct PartialHistory<'a> {
    unread: Peekable<DocumentHistory<'a>>,
    /// Later changes are read.
    back_to: u64,
    /// The first sequence that the oldest change read covers.
    first_read: u64,
    /// The change that created the document; 0 if none that is read.
    created: u64,
}

impl<'a> PartialHistory<'a> {
    fn new(history: DocumentHistory<'a>, is_planned: bool) -> Self {
        let created = if is_planned { PLANNED } else { 0 };
        Self { unread: history.peekable(), back_to: PLANNED, first_read: PLANNED, created }
    }

    /// The next change, if it is later than `back_to`.
    fn next(&mut self) -> Result<Option<Change>> {
        let back_to = self.back_to;
        let is_later = |change: &Result<Change>| match change {
            Ok(change) => change.sequence > back_to,
            Err(_) => true,
        };
        let change = self.unread.next_if(is_later).transpose()?;
        if let Some(change) = &change {
            self.first_read = change.first_sequence;
        }
        Ok(change)
    }
}

fn is_created(document: DocumentId, edits: &[Edit]) -> bool {
    let creates =
        |edit: &Edit| matches!(edit, Edit::CreateDocument { record, .. } if record.id == document);
    edits.iter().any(creates)
}

/// The documents to which the change moved blocks from `document`, directly or through others.
fn receivers(document: DocumentId, edits: &[Edit]) -> BTreeSet<DocumentId> {
    let mut senders = BTreeSet::from([document]);
    loop {
        let known = senders.len();
        for edit in edits {
            if let Edit::Move { from, to, .. } = edit
                && senders.contains(&from.document)
            {
                senders.insert(to.document);
            }
        }
        // Repeated until nothing is added: a block may pass through several documents in one
        // change.
        if senders.len() == known {
            senders.remove(&document);
            return senders;
        }
    }
}

/// Checks that a purge has not redacted what the edit replaced.
fn check_kept(reader: SpaceReader<'_>, document: DocumentId, edit: &Edit) -> Result<()> {
    if edit.is_redacted() { Err(gone(reader, document)) } else { Ok(()) }
}

fn gone(reader: SpaceReader<'_>, document: DocumentId) -> Error {
    reader.history_gone(&format!("what document {document} was then is no longer in the log"))
}
