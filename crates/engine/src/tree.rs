//! The block trees as the decisions read them: through the scope guard, so that what is hidden is not found.

use leafbase_model::{BlockId, BlockRecord, DocumentId, DocumentRecord, Forest, Result};
use leafbase_store::{Reader, Standing};
use leafbase_tree_ops::{Located, ReadTree};

use crate::sight::Sight;

/// Reads of one state, as a connection of this sight sees it. Every block that a request names is looked up here.
#[derive(Debug)]
pub(crate) struct Tree<'a, S> {
    reader: Reader<'a>,
    sight: &'a S,
}

impl<'a, S: Sight> Tree<'a, S> {
    pub(crate) fn new(reader: Reader<'a>, sight: &'a S) -> Self {
        Self { reader, sight }
    }

    /// Reads without the guard: of what follows from something that was admitted.
    pub(crate) fn reader(&self) -> Reader<'a> {
        self.reader
    }

    /// Where `block` stands, if the connection may know of it.
    fn standing(&self, block: BlockId) -> Result<Option<Standing>> {
        let Some(standing) = self.reader.locate(block)? else { return Ok(None) };
        Ok(self.admits(standing.document)?.then_some(standing))
    }

    fn admits(&self, document: DocumentId) -> Result<bool> {
        if self.sight.admits_all() {
            return Ok(true);
        }
        Ok(self.reader.document(document)?.is_some_and(|record| self.sight.admits(&record)))
    }
}

impl<S: Sight> ReadTree for Tree<'_, S> {
    fn locate(&self, block: BlockId) -> Result<Option<Located>> {
        let standing = self.standing(block)?;
        Ok(standing.map(|Standing { document, parent }| Located { document, parent }))
    }

    fn block(&self, block: BlockId) -> Result<Option<BlockRecord>> {
        if !self.sight.admits_all() && self.standing(block)?.is_none() {
            return Ok(None);
        }
        self.reader.block(block)
    }

    fn document(&self, document: DocumentId) -> Result<Option<DocumentRecord>> {
        Ok(self.reader.document(document)?.filter(|record| self.sight.admits(record)))
    }

    fn last_child(&self, document: DocumentId, parent: BlockId) -> Result<Option<BlockId>> {
        if self.admits(document)? { self.reader.last_child(document, parent) } else { Ok(None) }
    }

    fn previous_sibling(&self, block: BlockId) -> Result<Option<BlockId>> {
        if !self.sight.admits_all() && self.standing(block)?.is_none() {
            return Ok(None);
        }
        self.reader.previous_sibling(block)
    }

    fn first_children(&self, document: DocumentId, parent: BlockId, limit: usize) -> Result<Vec<BlockRecord>> {
        if self.admits(document)? { self.reader.first_children(document, parent, limit) } else { Ok(Vec::new()) }
    }

    fn subtree(&self, block: BlockId, max_depth: Option<usize>) -> Result<Forest> {
        if !self.sight.admits_all() && self.standing(block)?.is_none() {
            return Ok(Forest::default());
        }
        self.reader.subtree(block, max_depth)
    }

    fn subtree_without_items(&self, block: BlockId, max_depth: Option<usize>) -> Result<Forest> {
        if !self.sight.admits_all() && self.standing(block)?.is_none() {
            return Ok(Forest::default());
        }
        self.reader.subtree_without_items(block, max_depth)
    }
}
