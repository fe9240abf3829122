//! Reads for one request: blocks that must exist and be writable, what was read before remembered.

use std::cell::{Cell, RefCell};
use std::hash::BuildHasherDefault;

use leafbase_model::{
    BlockId, BlockLocation, BlockRecord, DocumentId, Error, IdMap, IdSet, Location, Result,
};

use crate::{ReadTree, Takes};

/// A walk up that takes more steps than any tree may have levels has met a ring.
const MOST_LEVELS: usize = u16::MAX as usize;

/// Reads for one request.
pub(crate) struct Batch<'a, T: ?Sized> {
    pub(crate) tree: &'a T,
    /// Where the documents are kept that may be written.
    writable: RefCell<IdMap<DocumentId, Location>>,
    /// The one of them that was asked for last.
    last: Cell<Option<(DocumentId, Location)>>,
    parents: RefCell<IdMap<BlockId, Option<BlockId>>>,
}

impl<'a, T: ReadTree + ?Sized> Batch<'a, T> {
    pub(crate) fn new(tree: &'a T) -> Self {
        Self {
            tree,
            writable: RefCell::default(),
            last: Cell::new(None),
            parents: RefCell::default(),
        }
    }

    /// Each of `blocks` will be asked about.
    pub(crate) fn expect(&self, blocks: &[BlockId]) {
        self.parents.borrow_mut().reserve(blocks.len());
        self.tree.expect(blocks);
    }

    /// Where a block named by the request stands; its document may be written.
    pub(crate) fn locate(&self, block: BlockId) -> Result<BlockLocation> {
        let located = self.tree.locate(block)?.ok_or_else(Error::not_found)?;
        self.parents.borrow_mut().insert(block, located.parent);
        self.location(located.document)?;
        Ok(located)
    }

    /// What may stand among the children of `parent`.
    pub(crate) fn takes(&self, document: DocumentId, parent: BlockId) -> Result<Takes> {
        Ok(Takes::below(parent, document, self.location(document)?))
    }

    /// A block that is known to stand somewhere.
    pub(crate) fn block(&self, block: BlockId) -> Result<BlockRecord> {
        self.tree
            .block(block)?
            .ok_or_else(|| Error::corrupted(format_args!("block {block} has a place but no data")))
    }

    /// Where a document is kept that may be written.
    pub(crate) fn location(&self, document: DocumentId) -> Result<Location> {
        if let Some((_, known)) = self.last.get().filter(|(last, _)| *last == document) {
            return Ok(known);
        }
        let location = self.location_met(document)?;
        self.last.set(Some((document, location)));
        Ok(location)
    }

    fn location_met(&self, document: DocumentId) -> Result<Location> {
        if let Some(known) = self.writable.borrow().get(&document) {
            return Ok(*known);
        }
        let missing =
            || Error::corrupted(format_args!("document {document} has blocks but no record"));
        let location = self.tree.document(document)?.ok_or_else(missing)?.location;
        if location == Location::Trash {
            return Err(Error::rule(
                "the document is in the trash: restore it to change its blocks",
            ));
        }
        self.writable.borrow_mut().insert(document, location);
        // A document that exists has a root, which need not be looked up to be known for one.
        self.parents.borrow_mut().insert(document.root(), None);
        Ok(location)
    }

    fn parent(&self, block: BlockId) -> Result<Option<BlockId>> {
        if let Some(known) = self.parents.borrow().get(&block) {
            return Ok(*known);
        }
        let located = self.tree.locate(block)?;
        let parent = located
            .ok_or_else(|| Error::corrupted(format_args!("the parent {block} has no place")))?
            .parent;
        self.parents.borrow_mut().insert(block, parent);
        Ok(parent)
    }

    /// `block`, its parent, and so on up to the root.
    pub(crate) fn lineage(&self, block: BlockId) -> Result<Vec<BlockId>> {
        let mut lineage = vec![block];
        let mut next = self.parent(block)?;
        while let Some(parent) = next {
            if lineage.len() > MOST_LEVELS {
                return Err(Error::corrupted(format_args!(
                    "the parents of block {block} go round"
                )));
            }
            lineage.push(parent);
            next = self.parent(parent)?;
        }
        Ok(lineage)
    }
}

/// Refuses more than `maximum` entries of the request's list `path`.
pub(crate) fn check_count(what: &str, maximum: usize, found: usize, path: &str) -> Result<()> {
    if found > maximum { Err(Error::limit(what, maximum, found).at(path)) } else { Ok(()) }
}

/// The IDs of one request, each of which may be named once. Who adds one finds it next, or refuses
/// the request: those of blocks that do not exist could be chosen to collide.
#[derive(Default)]
pub(crate) struct Named(IdSet<BlockId>);

impl Named {
    /// There will be so many.
    pub(crate) fn of(count: usize) -> Self {
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
