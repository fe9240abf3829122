//! Reads of block trees: by ranges of runs, and without recursion.

use std::collections::HashSet;
use std::ops::{ControlFlow, Range};

use leafbase_model::{
    BlockId, BlockRecord, BlockType, DocumentId, Error, Result, SubtreeNode, Subtrees,
};

use super::SpaceReader;
use crate::keyspaces;
use crate::kv::{KeyRange, Read};
use crate::lookup::stored_document;
use crate::msgpack::Decoded;
use crate::records::block::{self, AuthorCache};
use crate::records::{self, location::LocationRecord};
use crate::run::RunView;

/// Rows of other blocks that a scan passes before it seeks the next wanted block.
const PASSED_BY: usize = 8;
/// Maximum number of blocks that memory is reserved for in advance.
const MOST_RESERVED: usize = 1 << 16;

/// Receives a block with the key and the value of one of its rows.
type VisitBlockRow<'f> = &'f mut dyn FnMut(BlockId, &[u8], &[u8]) -> Result<()>;

/// Passes each run of `parents`, which are sorted, to `visit`, by parent and order. The scan skips
/// runs of other parents.
pub(crate) fn runs_of(
    source: &dyn Read,
    document: DocumentId,
    parents: &[BlockId],
    visit: VisitBlockRow<'_>,
) -> Result<()> {
    rows_of(source, &keyspaces::document_runs(document), parents, visit)
}

/// Passes the rows of `blocks`, which are sorted, to `visit`, in order: rows whose keys continue
/// with the block after `prefix`. The number of steps is proportional to the blocks and their rows.
pub(crate) fn rows_of(
    source: &dyn Read,
    prefix: &[u8],
    blocks: &[BlockId],
    visit: VisitBlockRow<'_>,
) -> Result<()> {
    let Some(last) = blocks.last() else { return Ok(()) };
    let end = keyspaces::prefix_end_of(&[prefix, last.as_bytes()].concat());
    let mut wanted = blocks.iter().copied().peekable();
    while let Some(first) = wanted.peek() {
        let start = [prefix, first.as_bytes()].concat();
        let (mut passed_by, mut leaps) = (0, false);
        source.scan(KeyRange::half_open(&start, &end), &mut |key, value| {
            let block = key.get(prefix.len()..).and_then(|rest| rest.first_chunk::<16>());
            let block = BlockId::from_bytes(*block.ok_or_else(|| records::corrupt(key))?);
            while wanted.next_if(|wanted| *wanted < block).is_some() {}
            match wanted.peek() {
                None => return Ok(ControlFlow::Break(())),
                Some(next) if *next == block => visit(block, key, value)?,
                Some(_) => passed_by += 1,
            }
            leaps = passed_by == PASSED_BY;
            Ok(if leaps { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        if !leaps {
            break;
        }
    }
    Ok(())
}

/// The part of a tree that is read.
#[derive(Clone, Copy)]
pub(super) struct TreeExtent {
    levels: usize,
    with_items: bool,
}

impl TreeExtent {
    pub(super) const ALL: Self = Self { levels: usize::MAX, with_items: true };

    /// Whether the children of a block of this type are read.
    pub(super) fn is_below(self, block: BlockType) -> bool {
        if self.with_items { block.holds_blocks() } else { block.may_be_parent() }
    }
}

/// Receives the runs of a tree in the order of a scan.
pub(super) trait RunCollector {
    /// Announces the number of blocks.
    fn expect(&mut self, blocks: usize);

    /// Adds a run of children of `parent`.
    fn add(&mut self, parent: BlockId, key: &[u8], value: &[u8]) -> Result<()>;

    /// Returns the possible parents among the blocks added since the last call.
    fn parents(&mut self, extent: TreeExtent) -> Result<Vec<BlockId>>;
}

/// Builds nodes from the records of blocks.
pub(super) trait NodeBuilder {
    /// A node.
    type Block: TreeNode;

    /// Announces the number of blocks.
    fn expect(&mut self, _blocks: usize) {}

    /// The next nodes are built from these concatenated records.
    fn begin(&mut self, _records: &[u8]) {}

    /// Builds a node from the next record of `records`.
    fn make(&mut self, id: BlockId, record: &[u8], records: &[u8]) -> Decoded<Self::Block>;
}

/// What the traversal needs of a node.
pub(super) trait TreeNode {
    fn id(&self) -> BlockId;
    fn block_type(&self) -> BlockType;
}

impl NodeBuilder for AuthorCache {
    type Block = BlockRecord;

    fn make(&mut self, id: BlockId, record: &[u8], _: &[u8]) -> Decoded<BlockRecord> {
        block::decode(id, record, self)
    }
}

impl TreeNode for BlockRecord {
    fn id(&self) -> BlockId {
        self.id
    }

    fn block_type(&self) -> BlockType {
        self.data.block_type()
    }
}

/// Nodes with their depths, in reading order.
type OrderedNodes<B> = Vec<(u16, B)>;

/// Nodes in the order of a scan: by parent, and in order within one parent.
struct NodeCollector<'m, M: NodeBuilder> {
    making: &'m mut M,
    blocks: Vec<Option<M::Block>>,
    children: Vec<(BlockId, Range<usize>)>,
    /// The start of the blocks that `parents` has not returned yet.
    asked: usize,
}

impl<M: NodeBuilder> RunCollector for NodeCollector<'_, M> {
    fn expect(&mut self, blocks: usize) {
        self.making.expect(blocks);
        self.blocks.reserve(blocks);
    }

    fn add(&mut self, parent: BlockId, key: &[u8], value: &[u8]) -> Result<()> {
        let (start, run) = (self.blocks.len(), RunView::read(key, value)?);
        self.making.begin(run.records());
        for (id, record) in run.entries() {
            let block = self
                .making
                .make(id, record, run.records())
                .map_err(|fault| records::decode_error(key, fault))?;
            self.blocks.push(Some(block));
        }
        let end = self.blocks.len();
        match self.children.last_mut() {
            Some((last, range)) if *last == parent => range.end = end,
            _ => self.children.push((parent, start..end)),
        }
        Ok(())
    }

    fn parents(&mut self, extent: TreeExtent) -> Result<Vec<BlockId>> {
        let level = std::mem::replace(&mut self.asked, self.blocks.len());
        let found = self.blocks.iter().skip(level).flatten();
        Ok(found.filter(|block| extent.is_below(block.block_type())).map(TreeNode::id).collect())
    }
}

impl<'m, M: NodeBuilder> NodeCollector<'m, M> {
    fn new(making: &'m mut M) -> Self {
        Self { making, blocks: Vec::new(), children: Vec::new(), asked: 0 }
    }

    fn children_of(&self, parent: BlockId) -> Range<usize> {
        let found = self.children.binary_search_by(|(id, _)| id.cmp(&parent)).ok();
        found.and_then(|index| self.children.get(index)).map_or(0..0, |(_, range)| range.clone())
    }

    /// Orders the nodes below `top` for reading.
    fn in_order(mut self, top: M::Block, extent: TreeExtent) -> Result<OrderedNodes<M::Block>> {
        self.children.sort_unstable_by_key(|(parent, _)| *parent);
        let mut ordered = Vec::with_capacity(self.blocks.len() + 1);
        let mut path = vec![self.children_of(top.id())];
        ordered.push((0, top));
        while let Some(children) = path.last_mut() {
            let Some(index) = children.next() else {
                path.pop();
                continue;
            };
            // Taken already: a block that is its own ancestor is visited once.
            let Some(block) = self.blocks.get_mut(index).and_then(Option::take) else { continue };
            let depth = u16::try_from(path.len())
                .map_err(|_| records::corrupt(&keyspaces::block_location(block.id())))?;
            if extent.is_below(block.block_type()) {
                let below = self.children_of(block.id());
                // Fast path: most blocks have no children.
                if !below.is_empty() {
                    path.push(below);
                }
            }
            ordered.push((depth, block));
        }
        Ok(ordered)
    }
}

fn subtrees(ordered: OrderedNodes<BlockRecord>) -> Subtrees {
    Subtrees(ordered.into_iter().map(|(depth, block)| SubtreeNode { depth, block }).collect())
}

impl SpaceReader<'_> {
    /// `block` and its descendants down to `max_depth` levels (`None`: all), in reading order;
    /// empty if it does not exist. Items of collections are included, with their pages.
    ///
    /// A whole document is read as one range, other trees level by level.
    ///
    /// # Errors
    /// As [`Self::locate`]; [`leafbase_model::ErrorKind::Corrupted`] also if a whole document lacks
    /// blocks.
    pub fn subtree(&self, block: BlockId, max_depth: Option<usize>) -> Result<Subtrees> {
        self.tree(block, TreeExtent { levels: max_depth.unwrap_or(usize::MAX), with_items: true })
    }

    /// [`Self::subtree`] without the items of collections, which are not read.
    ///
    /// # Errors
    /// As [`Self::subtree`].
    pub fn subtree_without_items(
        &self,
        block: BlockId,
        max_depth: Option<usize>,
    ) -> Result<Subtrees> {
        self.tree(block, TreeExtent { levels: max_depth.unwrap_or(usize::MAX), with_items: false })
    }

    /// The subtrees of `blocks`, concatenated.
    ///
    /// # Errors
    /// As [`Self::subtree`].
    pub fn subtrees(&self, blocks: &[BlockId]) -> Result<Subtrees> {
        let (mut nodes, mut authors) = (Vec::with_capacity(blocks.len()), AuthorCache::default());
        for block in blocks {
            let Some(location) = self.location(*block)? else { continue };
            if location.parent.is_nil() {
                nodes.append(&mut self.subtree(*block, None)?.0);
                continue;
            }
            let top = self.top(&location, *block, &mut authors)?;
            if self.is_bottom(location.document, &top, TreeExtent::ALL)? {
                nodes.push(SubtreeNode { depth: 0, block: top });
            } else {
                nodes.append(
                    &mut subtrees(self.below(&location, top, TreeExtent::ALL, &mut authors)?).0,
                );
            }
        }
        Ok(Subtrees(nodes))
    }

    fn tree(&self, block: BlockId, extent: TreeExtent) -> Result<Subtrees> {
        let Some(location) = self.location(block)? else { return Ok(Subtrees::default()) };
        let mut authors = AuthorCache::default();
        let is_whole = location.parent.is_nil() && extent.levels == usize::MAX;
        if is_whole && (extent.with_items || !self.has_collections(location.document)?) {
            let whole = self.whole(&location, block, &mut authors)?;
            // A transaction may have inserted a collection that has no schema yet.
            if extent.with_items
                || !whole.iter().any(|(_, block)| block.block_type() == BlockType::Collection)
            {
                return Ok(subtrees(whole));
            }
        }
        self.part(&location, block, extent, &mut authors).map(subtrees)
    }

    /// The nodes of `block` and its descendants in reading order; empty if it does not exist.
    pub(super) fn made_of<M: NodeBuilder>(
        &self,
        block: BlockId,
        making: &mut M,
    ) -> Result<OrderedNodes<M::Block>> {
        match self.location(block)? {
            None => Ok(Vec::new()),
            Some(location) if location.parent.is_nil() => self.whole(&location, block, making),
            Some(location) => self.part(&location, block, TreeExtent::ALL, making),
        }
    }

    fn whole<M: NodeBuilder>(
        &self,
        location: &LocationRecord,
        root: BlockId,
        making: &mut M,
    ) -> Result<OrderedNodes<M::Block>> {
        let mut gathered = NodeCollector::new(making);
        let expected = self.gather_all(location.document, &mut gathered)?;
        // The first run is that of the root, the only child of the lowest ID.
        let top = gathered.blocks.first_mut().and_then(Option::take).filter(|top| top.id() == root);
        let top = top.ok_or_else(|| records::corrupt(&keyspaces::block_location(root)))?;
        let ordered = gathered.in_order(top, TreeExtent::ALL)?;
        check_reached(location.document, ordered.len(), expected)?;
        Ok(ordered)
    }

    fn part<M: NodeBuilder>(
        &self,
        location: &LocationRecord,
        block: BlockId,
        extent: TreeExtent,
        making: &mut M,
    ) -> Result<OrderedNodes<M::Block>> {
        let top = self.top(location, block, making)?;
        if self.is_bottom(location.document, &top, extent)? {
            return Ok(vec![(0, top)]);
        }
        self.below(location, top, extent, making)
    }

    /// The node of `block` alone.
    fn top<M: NodeBuilder>(
        &self,
        location: &LocationRecord,
        block: BlockId,
        making: &mut M,
    ) -> Result<M::Block> {
        let mut top = None;
        self.find_in_runs(location, block, &mut |key, run, index| {
            let record = run.block(index);
            making.begin(record);
            let made = making.make(block, record, record);
            top = Some(made.map_err(|fault| records::decode_error(key, fault))?);
            Ok(())
        })?;
        top.ok_or_else(|| records::corrupt(&keyspaces::block_location(block)))
    }

    /// `top` with its descendants.
    fn below<M: NodeBuilder>(
        &self,
        location: &LocationRecord,
        top: M::Block,
        extent: TreeExtent,
        making: &mut M,
    ) -> Result<OrderedNodes<M::Block>> {
        let mut gathered = NodeCollector::new(making);
        self.gather_below(location.document, vec![top.id()], extent, &mut gathered)?;
        gathered.in_order(top, extent)
    }

    /// Whether `top` is known to have no children: by its type, or from the transaction's cache.
    fn is_bottom<B: TreeNode>(
        &self,
        document: DocumentId,
        top: &B,
        extent: TreeExtent,
    ) -> Result<bool> {
        if extent.levels == 0 || !extent.is_below(top.block_type()) {
            return Ok(true);
        }
        match self.transaction_cache() {
            Some(cache) => cache.is_childless(self.read, document, top.id()),
            None => Ok(false),
        }
    }

    /// Passes all runs of a document to `gathering`, the root first. Returns the expected number of
    /// blocks.
    pub(super) fn gather_all(
        &self,
        document: DocumentId,
        gathering: &mut impl RunCollector,
    ) -> Result<u64> {
        let stored = stored_document(self.read, document)?;
        let expected =
            stored.ok_or_else(|| records::corrupt(&keyspaces::document(document)))?.blocks;
        let start = keyspaces::document_runs(document);
        gathering.expect(
            usize::try_from(expected).map_or(MOST_RESERVED, |count| count.min(MOST_RESERVED)),
        );
        self.read.scan(
            KeyRange::half_open(&start, &keyspaces::prefix_end(start)),
            &mut |key, value| {
                let (_, parent, _) =
                    keyspaces::parse_run(key).ok_or_else(|| records::corrupt(key))?;
                gathering.add(parent, key, value)?;
                Ok(ControlFlow::Continue(()))
            },
        )?;
        Ok(expected)
    }

    /// Passes the runs below `parents` to `gathering`, level by level.
    pub(super) fn gather_below(
        &self,
        document: DocumentId,
        mut parents: Vec<BlockId>,
        extent: TreeExtent,
        gathering: &mut impl RunCollector,
    ) -> Result<()> {
        let mut visited = HashSet::new();
        for _ in 0..extent.levels {
            if parents.is_empty() {
                break;
            }
            let mut current = None;
            runs_of(self.read, document, &parents, &mut |parent, key, value| {
                if current.replace(parent) != Some(parent) && !visited.insert(parent) {
                    // The block is its own ancestor.
                    return Err(records::corrupt(key));
                }
                gathering.add(parent, key, value)
            })?;
            parents = gathering.parents(extent)?;
            parents.sort_unstable();
        }
        Ok(())
    }
}

/// All blocks of a document must be reachable from its root.
pub(super) fn check_reached(document: DocumentId, found: usize, expected: u64) -> Result<()> {
    if found as u64 == expected {
        return Ok(());
    }
    Err(Error::corrupted(format_args!(
        "document {document}: {found} of its {expected} blocks can be reached"
    )))
}
