//! Documents as they were: from the present backwards, one change after the other.

use std::collections::{BTreeSet, HashMap};

use leafbase_model::{
    BlockId, BlockLocation, BlockRecord, DocumentId, DocumentRecord, Edit, Error, InsertTarget,
    Result, SubtreeNode, Subtrees, invariant,
};
use leafbase_store::SpaceReader;
use leafbase_tree_ops::ReadTree;

/// A document at an earlier time, in memory.
pub(super) struct PastDocument {
    record: DocumentRecord,
    blocks: HashMap<BlockId, BlockRecord>,
    parents: HashMap<BlockId, BlockId>,
    children: HashMap<BlockId, Vec<BlockId>>,
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
            past.undo(reader, &change.edits, &at)?;
        }
        if sequence < reader.log_begins_at()?.sequence() {
            return Err(gone(reader, document));
        }
        Ok(past)
    }

    /// The document as it is.
    pub(super) fn present(reader: SpaceReader<'_>, document: DocumentId) -> Result<Self> {
        let record = reader.document(document)?.ok_or_else(Error::not_found)?;
        let (blocks, parents, children) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut present = Self { record, blocks, parents, children };
        present.insert(None, &reader.subtree(document.root(), None)?);
        Ok(present)
    }

    pub(super) fn id(&self) -> DocumentId {
        self.record.id
    }

    /// The children of a block, in order.
    pub(super) fn children_of(&self, parent: BlockId) -> &[BlockId] {
        self.children.get(&parent).map_or(&[], Vec::as_slice)
    }

    /// Undoes edits; `at` reads another document as they left it.
    fn undo(
        &mut self,
        reader: SpaceReader<'_>,
        edits: &[Edit],
        at: &dyn Fn(DocumentId) -> Result<Self>,
    ) -> Result<()> {
        let documents = exchanging(self.record.id, edits);
        // What a block had below it is not in the edit of its move: it is in the other document.
        for other in documents.iter().filter(|other| **other != self.record.id) {
            let gone = || reader.history_gone(&format!("document {other} is gone"));
            reader.document(*other)?.ok_or_else(gone)?;
            let Self { blocks, parents, children, .. } = at(*other)?;
            self.blocks.extend(blocks);
            self.parents.extend(parents);
            self.children.extend(children);
        }
        let is_alone = documents.len() == 1;
        for edit in edits.iter().rev() {
            self.undo_edit(reader, &documents, edit)?;
        }
        debug_assert!(self.blocks.contains_key(&self.record.id.root()), "a document has its root");
        if !is_alone {
            self.drop_unreachable();
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
                    self.remove(top.block.id);
                }
            }
            Edit::Remove { target, subtrees } if documents.contains(&target.document) => {
                self.check_kept(reader, edit)?;
                self.insert(Some(target), subtrees);
            }
            Edit::Update { document, before, .. } if documents.contains(document) => {
                self.check_kept(reader, edit)?;
                self.blocks.insert(before.id, BlockRecord::clone(before));
            }
            Edit::Move { block, from, .. } if documents.contains(&from.document) => {
                self.detach(*block);
                self.attach(*block, from);
            }
            Edit::Move { block, to, .. } if documents.contains(&to.document) => self.remove(*block),
            Edit::UpdateDocument { before, .. } if before.id == self.record.id => {
                self.record = before.clone();
            }
            Edit::CreateDocument { record, .. } if record.id == self.record.id => {
                return Err(Error::not_found());
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks that a purge has not redacted what the edit replaced.
    fn check_kept(&self, reader: SpaceReader<'_>, edit: &Edit) -> Result<()> {
        if edit.is_redacted() { Err(gone(reader, self.record.id)) } else { Ok(()) }
    }

    /// Inserts subtrees at a target, or those of a whole document.
    pub(super) fn insert(&mut self, target: Option<&InsertTarget>, subtrees: &Subtrees) {
        let (mut lineage, mut after): (Vec<BlockId>, _) =
            (Vec::new(), target.and_then(|target| target.after));
        for SubtreeNode { depth, block } in &subtrees.0 {
            lineage.truncate(usize::from(*depth));
            self.blocks.insert(block.id, block.clone());
            match (lineage.last(), target) {
                (Some(parent), _) => {
                    self.parents.insert(block.id, *parent);
                    self.children.entry(*parent).or_default().push(block.id);
                }
                (None, Some(target)) => {
                    self.attach(block.id, &InsertTarget { after, ..*target });
                    after = Some(block.id);
                }
                (None, None) => {}
            }
            lineage.push(block.id);
        }
    }

    pub(super) fn attach(&mut self, block: BlockId, target: &InsertTarget) {
        self.parents.insert(block, target.parent);
        let siblings = self.children.entry(target.parent).or_default();
        let after = target.after.and_then(|after| siblings.iter().position(|it| *it == after));
        siblings.insert(after.map_or(0, |after| after + 1), block);
    }

    pub(super) fn detach(&mut self, block: BlockId) {
        if let Some(siblings) =
            self.parents.remove(&block).and_then(|parent| self.children.get_mut(&parent))
        {
            siblings.retain(|sibling| *sibling != block);
        }
    }

    pub(super) fn remove(&mut self, block: BlockId) {
        self.detach(block);
        let mut waiting = vec![block];
        while let Some(block) = waiting.pop() {
            self.blocks.remove(&block);
            self.parents.remove(&block);
            waiting.extend(self.children.remove(&block).into_iter().flatten());
        }
    }

    /// Drops the blocks of other documents.
    fn drop_unreachable(&mut self) {
        let mut reached: BTreeSet<BlockId> = BTreeSet::new();
        let mut waiting = vec![self.record.id.root()];
        while let Some(block) = waiting.pop() {
            if reached.insert(block) {
                waiting.extend(self.children.get(&block).into_iter().flatten().copied());
            }
        }
        self.blocks.retain(|block, _| reached.contains(block));
        self.parents.retain(|block, _| reached.contains(block));
        self.children.retain(|block, _| reached.contains(block));
    }

    fn collect(
        &self,
        block: BlockId,
        depth: u16,
        is_within: &dyn Fn(&BlockRecord, u16) -> bool,
        nodes: &mut Vec<SubtreeNode>,
    ) -> Result<()> {
        let Some(record) = self.blocks.get(&block) else {
            invariant!("what is a child is a block of the document")
        };
        nodes.push(SubtreeNode { depth, block: record.clone() });
        if is_within(record, depth) {
            for child in self.children.get(&block).into_iter().flatten() {
                self.collect(*child, depth + 1, is_within, nodes)?;
            }
        }
        Ok(())
    }

    fn subtree_within(
        &self,
        block: BlockId,
        is_within: &dyn Fn(&BlockRecord, u16) -> bool,
    ) -> Result<Subtrees> {
        let mut nodes = Vec::new();
        if self.blocks.contains_key(&block) {
            self.collect(block, 0, is_within, &mut nodes)?;
        }
        Ok(Subtrees(nodes))
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
        if documents.len() == known {
            return documents;
        }
    }
}

fn gone(reader: SpaceReader<'_>, document: DocumentId) -> Error {
    reader.history_gone(&format!("what document {document} was then is no longer in the log"))
}

fn is_above(max_depth: Option<usize>, depth: u16) -> bool {
    max_depth.is_none_or(|most| usize::from(depth) < most)
}

impl ReadTree for PastDocument {
    fn locate(&self, block: BlockId) -> Result<Option<BlockLocation>> {
        let parent = self.parents.get(&block).copied();
        let is_there = self.blocks.contains_key(&block);
        Ok(is_there.then_some(BlockLocation { document: self.record.id, parent }))
    }

    fn block(&self, block: BlockId) -> Result<Option<BlockRecord>> {
        Ok(self.blocks.get(&block).cloned())
    }

    fn document(&self, document: DocumentId) -> Result<Option<DocumentRecord>> {
        Ok(Some(self.record.clone()).filter(|record| record.id == document))
    }

    fn last_child(&self, _: DocumentId, parent: BlockId) -> Result<Option<BlockId>> {
        Ok(self.children.get(&parent).and_then(|children| children.last()).copied())
    }

    fn previous_sibling(&self, block: BlockId) -> Result<Option<BlockId>> {
        let siblings = self.parents.get(&block).and_then(|parent| self.children.get(parent));
        let before = siblings.into_iter().flatten().take_while(|sibling| **sibling != block);
        Ok(before.last().copied())
    }

    fn first_children(
        &self,
        _: DocumentId,
        parent: BlockId,
        limit: usize,
    ) -> Result<Vec<BlockRecord>> {
        let children = self.children.get(&parent).into_iter().flatten().take(limit);
        Ok(children.filter_map(|child| self.blocks.get(child)).cloned().collect())
    }

    fn subtree(&self, block: BlockId, max_depth: Option<usize>) -> Result<Subtrees> {
        self.subtree_within(block, &|_, depth| is_above(max_depth, depth))
    }

    fn subtree_without_items(&self, block: BlockId, max_depth: Option<usize>) -> Result<Subtrees> {
        self.subtree_within(block, &|record, depth| {
            is_above(max_depth, depth)
                && record.data.block_type() != leafbase_model::BlockType::Collection
        })
    }
}
