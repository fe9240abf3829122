//! Cached reads of one request, and checks that concern a request as a whole.

use std::cell::{Cell, RefCell};
use std::hash::BuildHasherDefault;

use leafbase_model::{
    BlockId, BlockLocation, BlockRecord, DocumentId, Error, IdMap, IdSet, Location, Result,
};

use crate::inbox::AllowedChildren;
use crate::read::ReadTree;

/// Upper bound of the depth of a tree. A longer chain of parents has a cycle.
const MAX_DEPTH: usize = u16::MAX as usize;

/// Reads of one request; locations of documents and parents of blocks are cached.
pub(crate) struct RequestReader<'a, T: ?Sized> {
    pub(crate) tree: &'a T,
    /// Locations of documents that may be written.
    writable: RefCell<IdMap<DocumentId, Location>>,
    /// The last entry read of `writable`: most requests concern one document.
    last: Cell<Option<(DocumentId, Location)>>,
    parents: RefCell<IdMap<BlockId, Option<BlockId>>>,
}

impl<'a, T: ReadTree + ?Sized> RequestReader<'a, T> {
    pub(crate) fn new(tree: &'a T) -> Self {
        Self {
            tree,
            writable: RefCell::default(),
            last: Cell::new(None),
            parents: RefCell::default(),
        }
    }

    /// Announces that each of `blocks` will be located.
    pub(crate) fn prefetch(&self, blocks: &[BlockId]) {
        self.parents.borrow_mut().reserve(blocks.len());
        self.tree.prefetch(blocks);
    }

    /// Announces that each of `blocks` will be moved or deleted with its descendants.
    pub(crate) fn prefetch_subtrees(&self, blocks: &[BlockId]) {
        self.parents.borrow_mut().reserve(blocks.len());
        self.tree.prefetch_subtrees(blocks);
    }

    /// The location of a block named by the request. Its document must be writable.
    pub(crate) fn locate(&self, block: BlockId) -> Result<BlockLocation> {
        let location = self.tree.locate(block)?.ok_or_else(Error::no_block)?;
        // The walk to the root starts here in most operations: the first step is free.
        self.parents.borrow_mut().insert(block, location.parent);
        self.document_location(location.document)?;
        Ok(location)
    }

    pub(crate) fn allowed_children(
        &self,
        document: DocumentId,
        parent: BlockId,
    ) -> Result<AllowedChildren> {
        Ok(AllowedChildren::of(parent, document, self.document_location(document)?))
    }

    /// The record of a block that has a location.
    pub(crate) fn block(&self, block: BlockId) -> Result<BlockRecord> {
        self.tree.block(block)?.ok_or_else(|| {
            Error::corrupted(format_args!("block {block} has a location but no record"))
        })
    }

    /// The location of a document that may be written.
    pub(crate) fn document_location(&self, document: DocumentId) -> Result<Location> {
        if let Some((_, location)) = self.last.get().filter(|(last, _)| *last == document) {
            return Ok(location);
        }
        let location = self.read_document_location(document)?;
        self.last.set(Some((document, location)));
        Ok(location)
    }

    fn read_document_location(&self, document: DocumentId) -> Result<Location> {
        if let Some(location) = self.writable.borrow().get(&document) {
            return Ok(*location);
        }
        let missing =
            || Error::corrupted(format_args!("document {document} has blocks but no record"));
        let location = self.tree.document(document)?.ok_or_else(missing)?.location;
        if location == Location::Trash {
            return Err(Error::rule(
                "the document is in the trash; restore it to change its blocks",
            ));
        }
        self.writable.borrow_mut().insert(document, location);
        // The root needs no lookup: its ID follows from the document's, and it has no parent.
        self.parents.borrow_mut().insert(document.root(), None);
        Ok(location)
    }

    fn parent(&self, block: BlockId) -> Result<Option<BlockId>> {
        if let Some(parent) = self.parents.borrow().get(&block) {
            return Ok(*parent);
        }
        let missing =
            || Error::corrupted(format_args!("block {block} is a parent but has no location"));
        let parent = self.tree.locate(block)?.ok_or_else(missing)?.parent;
        self.parents.borrow_mut().insert(block, parent);
        Ok(parent)
    }

    /// The depth of the children of `parent`, a block of `document`: 1 below a root.
    pub(crate) fn depth_below(&self, document: DocumentId, parent: BlockId) -> Result<usize> {
        Ok(self.tree.levels_above(document)? + self.lineage(parent)?.len())
    }

    /// `block` and its ancestors, up to the root.
    pub(crate) fn lineage(&self, block: BlockId) -> Result<Vec<BlockId>> {
        let mut lineage = vec![block];
        let mut next = self.parent(block)?;
        while let Some(parent) = next {
            if lineage.len() > MAX_DEPTH {
                return Err(Error::corrupted(format_args!(
                    "the ancestors of block {block} form a cycle"
                )));
            }
            lineage.push(parent);
            next = self.parent(parent)?;
        }
        Ok(lineage)
    }
}

/// Limits the number of entries in the request's list `path`.
pub(crate) fn check_count(what: &str, maximum: usize, found: usize, path: &str) -> Result<()> {
    if found > maximum { Err(Error::limit(what, maximum, found).at(path)) } else { Ok(()) }
}

/// The block IDs of one request; a duplicate is an error.
///
/// The hasher is not keyed, so a caller could choose colliding IDs. Each ID is therefore looked up
/// right after it is added: an unknown one ends the request.
#[derive(Default)]
pub(crate) struct UniqueIds(IdSet<BlockId>);

impl UniqueIds {
    pub(crate) fn with_capacity(count: usize) -> Self {
        Self(IdSet::with_capacity_and_hasher(count, BuildHasherDefault::default()))
    }

    pub(crate) fn add(&mut self, id: BlockId) -> Result<()> {
        if self.0.insert(id) {
            Ok(())
        } else {
            Err(Error::validation(format!("block {id} is named twice")))
        }
    }

    pub(crate) fn contains(&self, id: BlockId) -> bool {
        self.0.contains(&id)
    }
}
