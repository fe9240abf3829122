//! The block trees as the decisions read them: through the scope guard, so that what is hidden is
//! not found.

use std::cell::Cell;

use leafbase_model::{
    BlockId, BlockLocation, BlockRecord, DocumentId, DocumentRecord, Error, ErrorKind, Result,
    Subtrees,
};
use leafbase_store::Reader;
use leafbase_tree_ops::ReadTree;

use crate::core::scope::Leak;
use crate::core::sight::Seen;

/// Reads of one state, as a call sees it. Every block that a request names is looked up here.
pub(crate) struct Tree<'a> {
    reader: Reader<'a>,
    seen: Seen,
    /// What was found to be seen last: the parts of one operation ask for the same few things
    /// again.
    block: Cell<Option<(BlockId, BlockLocation)>>,
    document: Cell<Option<DocumentId>>,
}

impl<'a> Tree<'a> {
    pub(crate) const fn new(reader: Reader<'a>, seen: Seen) -> Self {
        Self { reader, seen, block: Cell::new(None), document: Cell::new(None) }
    }

    /// The same without the guard.
    pub(crate) const fn full(reader: Reader<'a>) -> Self {
        Self::new(reader, Seen::All)
    }

    /// Reads without the guard: of what follows from something that was admitted.
    pub(crate) const fn reader(&self) -> Reader<'a> {
        self.reader
    }

    /// What the call sees.
    pub(crate) const fn seen(&self) -> &Seen {
        &self.seen
    }

    /// Whether everything is seen, so that nothing need be looked up to find out.
    pub(crate) const fn sees_all(&self) -> bool {
        self.seen.is_all()
    }

    /// Whether `block` exists and is seen.
    pub(crate) fn sees(&self, block: BlockId) -> Result<bool> {
        Ok(self.standing(block)?.is_some())
    }

    /// Where `block` stands, if the call may know of it. What is not there takes the same look-ups
    /// as what is hidden.
    fn standing(&self, block: BlockId) -> Result<Option<BlockLocation>> {
        if self.sees_all() {
            return self.reader.locate(block);
        }
        if let Some((_, standing)) = self.block.get().filter(|(known, _)| *known == block) {
            return Ok(Some(standing));
        }
        let standing = self.reader.look_up(block)?;
        let document =
            standing.map_or(DocumentId::of_root(BlockId::NIL), |standing| standing.document);
        let is_seen = self.sees_document(document)?;
        if !is_seen && standing.is_some() && self.seen.leaks(Leak::Errors) {
            return Err(Error::new(ErrorKind::NotFound, "hidden"));
        }
        let standing = standing.filter(|_| is_seen);
        self.block.set(standing.map(|standing| (block, standing)).or(self.block.get()));
        Ok(standing)
    }

    /// Whether `document` exists and is seen.
    pub(crate) fn sees_document(&self, document: DocumentId) -> Result<bool> {
        if self.sees_all() || self.document.get() == Some(document) {
            return Ok(true);
        }
        let is_seen =
            self.reader.look_up_document(document)?.is_some_and(|record| self.seen.admits(&record));
        if is_seen {
            self.document.set(Some(document));
        }
        Ok(is_seen)
    }

    fn hides(&self, block: BlockId) -> Result<bool> {
        Ok(!self.sees_all() && self.standing(block)?.is_none())
    }
}

impl ReadTree for Tree<'_> {
    fn expect(&self, blocks: &[BlockId]) {
        // Where not all is seen, each block takes the same look-ups, whatever stands beside it.
        if self.sees_all() {
            self.reader.expect(blocks);
        }
    }

    fn locate(&self, block: BlockId) -> Result<Option<BlockLocation>> {
        self.standing(block)
    }

    fn block(&self, block: BlockId) -> Result<Option<BlockRecord>> {
        if self.hides(block)? { Ok(None) } else { self.reader.block(block) }
    }

    fn document(&self, document: DocumentId) -> Result<Option<DocumentRecord>> {
        Ok(self.reader.document(document)?.filter(|record| self.seen.admits(record)))
    }

    fn last_child(&self, document: DocumentId, parent: BlockId) -> Result<Option<BlockId>> {
        if self.sees_document(document)? {
            self.reader.last_child(document, parent)
        } else {
            Ok(None)
        }
    }

    fn previous_sibling(&self, block: BlockId) -> Result<Option<BlockId>> {
        if self.hides(block)? { Ok(None) } else { self.reader.previous_sibling(block) }
    }

    fn first_children(
        &self,
        document: DocumentId,
        parent: BlockId,
        limit: usize,
    ) -> Result<Vec<BlockRecord>> {
        if self.sees_document(document)? {
            self.reader.first_children(document, parent, limit)
        } else {
            Ok(Vec::new())
        }
    }

    fn subtree(&self, block: BlockId, max_depth: Option<usize>) -> Result<Subtrees> {
        if self.hides(block)? {
            Ok(Subtrees::default())
        } else {
            self.reader.subtree(block, max_depth)
        }
    }

    fn subtrees(&self, blocks: &[BlockId]) -> Result<Subtrees> {
        if self.sees_all() {
            return self.reader.subtrees(blocks);
        }
        let mut subtrees = Subtrees::default();
        for block in blocks {
            subtrees.0.append(&mut self.subtree(*block, None)?.0);
        }
        Ok(subtrees)
    }

    fn subtree_without_items(&self, block: BlockId, max_depth: Option<usize>) -> Result<Subtrees> {
        if self.hides(block)? {
            Ok(Subtrees::default())
        } else {
            self.reader.subtree_without_items(block, max_depth)
        }
    }
}
