//! The write transaction of an operation or of a batch of them.

use leafbase_model::{BlockId, DocumentId, Edit, Limits, Result, Timestamp};
use leafbase_store::{
    EmbeddingModelRecord, KeptReply, SpaceReader, SpaceTransaction, StoredEmbedding,
};
use leafbase_tree_ops::Context;

use crate::core::cascades;
use crate::core::tree::Tree;
use crate::core::visibility::Visibility;

/// The write transaction of an operation: plans read through it and apply their edits to it.
pub struct OperationTransaction<'w, 't> {
    transaction: &'w mut SpaceTransaction<'t>,
    visibility: Visibility,
    pub(crate) context: Context<'w>,
    /// Whether several operations take part in it.
    is_batch: bool,
}

impl std::fmt::Debug for OperationTransaction<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OperationTransaction").finish_non_exhaustive()
    }
}

impl<'w, 't> OperationTransaction<'w, 't> {
    pub(in crate::core) const fn new(
        transaction: &'w mut SpaceTransaction<'t>,
        visibility: Visibility,
        context: Context<'w>,
    ) -> Self {
        Self { transaction, visibility, context, is_batch: false }
    }

    /// Runs `plan` on the state as this transaction has left it so far.
    pub(crate) fn plan<T>(
        &mut self,
        plan: impl FnOnce(&Tree<'_>, &Context<'_>) -> Result<T>,
    ) -> Result<T> {
        let reader = self.transaction.reader()?;
        plan(&Tree::new(reader, self.visibility.clone()), &self.context)
    }

    /// Runs `plan` on the store's reader; for operations that a scoped connection does not have.
    pub(crate) fn plan_with_reader<T>(
        &mut self,
        plan: impl FnOnce(SpaceReader<'_>, &Context<'_>) -> Result<T>,
    ) -> Result<T> {
        self.plan(|tree, context| plan(tree.full_reader()?, context))
    }

    /// Applies `edits` and what follows from them: see [`cascades`].
    pub(crate) fn apply(&mut self, mut edits: Vec<Edit>) -> Result<()> {
        if self.visibility.has_pages() {
            // Planned as in documents of their own; kept where they are.
            self.plan(|tree, _| edits.iter_mut().try_for_each(|edit| tree.store_edit(edit)))?;
        }
        cascades::apply(self.transaction, self.context.limits, edits)
    }

    /// Purges documents, with what follows from that: see [`cascades`].
    pub(crate) fn purge(&mut self, documents: &[DocumentId]) -> Result<()> {
        cascades::purge(self.transaction, self.context.limits, documents)
    }

    /// Applies `edits` alone: they come from the change log and contain what followed from them.
    pub(crate) fn apply_without_cascades(&mut self, edits: Vec<Edit>) -> Result<()> {
        self.transaction.apply(edits)
    }

    /// Applies edits that undo the visible part of a change; the visible cascades are among them.
    /// Hidden relations to removed blocks end here.
    pub(crate) fn apply_undo(&mut self, edits: Vec<Edit>) -> Result<()> {
        if self.visibility.is_unrestricted() {
            return self.transaction.apply(edits);
        }
        for mut edit in edits {
            let edits = self.plan(|tree, context| {
                tree.store_edit(&mut edit)?;
                cascades::with_hidden_relations(tree, context.limits, edit)
            })?;
            self.transaction.apply(edits)?;
        }
        Ok(())
    }

    /// Runs `check` on the state as this transaction has left it so far, hidden parts included.
    pub(crate) fn check_all(&mut self, check: impl FnOnce(&Tree<'_>) -> Result<()>) -> Result<()> {
        let reader = self.transaction.reader()?;
        check(&Tree::new(reader, Visibility::All))
    }

    /// The edits that this transaction has applied so far.
    pub(crate) fn applied(&self) -> &[Edit] {
        self.transaction.applied()
    }

    /// Bytes of these edits in the change log.
    pub(crate) fn applied_bytes(&self) -> usize {
        self.transaction.applied_bytes()
    }

    /// Erases the files that blocks showed before `applied` edits and none shows now.
    pub(crate) fn erase_unshown_files(&mut self, applied: &[Edit]) -> Result<()> {
        cascades::erase_unshown(self.transaction, applied)
    }

    /// The edits of an earlier run of the same closure, which may be applied again instead of being
    /// planned again.
    /// None in a batch: its operations are planned again.
    pub(crate) fn take_earlier(&mut self) -> Vec<Edit> {
        if self.is_batch { Vec::new() } else { self.transaction.take_earlier() }
    }

    /// What is kept of a request that was done under its key within the last
    /// [`Limits::REQUEST_KEY_HOURS`] hours.
    pub(crate) fn kept_reply(&self, request: &[u8; 32]) -> Result<Option<KeptReply>> {
        self.transaction.kept_reply(request, self.replies_expired())
    }

    /// Keeps the reply to a request with a key, whose hash is `body`, and which shows `documents`.
    pub(crate) fn keep_reply(
        &mut self,
        request: &[u8; 32],
        body: [u8; 32],
        reply: String,
        documents: Vec<DocumentId>,
    ) -> Result<()> {
        let (at, expired) = (self.context.stamp.at, self.replies_expired());
        let kept = KeptReply { at, body, reply: Some(reply), documents };
        self.transaction.keep_reply(request, &kept, expired)
    }

    /// Sets a record that the host attaches to a document.
    pub(crate) fn put_host_record(
        &mut self,
        document: DocumentId,
        name: &str,
        value: Option<&[u8]>,
    ) -> Result<()> {
        self.transaction.put_host_record(document, name, value)
    }

    /// Sets the vector of a model for a block.
    pub(crate) fn put_embedding(&mut self, model: &str, embedding: StoredEmbedding) -> Result<()> {
        self.transaction.put_embedding(model, embedding)
    }

    /// Removes the vector of a model for a block.
    pub(crate) fn remove_embedding(
        &mut self,
        model: &str,
        document: DocumentId,
        block: BlockId,
    ) -> Result<bool> {
        self.transaction.remove_embedding(model, document, block)
    }

    /// Removes all vectors of a model.
    pub(crate) fn remove_embedding_model(&mut self, model: &str) -> Result<()> {
        self.transaction.remove_embedding_model(model)
    }

    /// A model as this transaction has left it so far.
    pub(crate) fn embedding_model(&mut self, model: &str) -> Result<Option<EmbeddingModelRecord>> {
        self.transaction.embedding_model(model)
    }

    /// Replies that were kept at this time, or before, are not kept any more.
    fn replies_expired(&self) -> Timestamp {
        let hours = Limits::REQUEST_KEY_HOURS * 3_600_000;
        Timestamp::from_millis(self.context.stamp.at.as_millis().saturating_sub(hours))
    }

    /// Lets several operations take part.
    pub(in crate::core) fn begin_batch(&mut self) {
        self.is_batch = true;
    }
}
