//! Reads of block trees: by ranges of runs, and without recursion.

use std::collections::HashSet;
use std::convert::identity;
use std::ops::{ControlFlow, Range};

use leafbase_model::{
    BlockId, BlockRecord, BlockType, DocumentId, Error, Result, SubtreeNode, Subtrees,
};

use super::SpaceReader;
use super::read_ahead::WantedContent;
use crate::keyspaces;
use crate::kv::{KeyRange, Read};
use crate::lookup::stored_document;
use crate::msgpack::Decoded;
use crate::records::block::{self, AuthorCache};
use crate::records::{self, location::LocationRecord};
use crate::run::RunView;

/// Rows of other blocks that a scan passes before it seeks the next wanted block.
const MAX_PASSED: usize = 8;
/// Blocks of a document up to which it is remembered where they are.
const MAX_REMEMBERED_BLOCKS: u64 = 16_384;
/// Maximum number of blocks that memory is reserved for in advance.
const MAX_RESERVED_BLOCKS: usize = 1 << 16;

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
    debug_assert!(blocks.is_sorted(), "blocks are read in the order of their keys");
    let Some(last) = blocks.last() else { return Ok(()) };
    let end = keyspaces::prefix_end_of(&[prefix, last.as_bytes()].concat());
    let mut wanted = blocks.iter().copied().peekable();
    while let Some(first) = wanted.peek() {
        let start = [prefix, first.as_bytes()].concat();
        let (mut passed, mut leaps) = (0, false);
        source.scan(KeyRange::half_open(&start, &end), &mut |key, value| {
            let block = key.get(prefix.len()..).and_then(|rest| rest.first_chunk::<16>());
            let block = BlockId::from_bytes(*block.ok_or_else(|| records::corrupt(key))?);
            while wanted.next_if(|wanted| *wanted < block).is_some() {}
            match wanted.peek() {
                None => return Ok(ControlFlow::Break(())),
                Some(next) if *next == block => visit(block, key, value)?,
                Some(_) => passed += 1,
            }
            // Many rows in between: a new seek is cheaper than stepping over all of them.
            leaps = passed == MAX_PASSED;
            Ok(if leaps { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        if !leaps {
            return Ok(());
        }
    }
    Ok(())
}

/// The part of a tree that is read.
#[derive(Clone, Copy)]
struct TreeExtent {
    levels: usize,
    with_items: bool,
}

impl TreeExtent {
    const ALL: Self = Self { levels: usize::MAX, with_items: true };

    /// Whether the children of a block of this type are read.
    fn includes_children_of(self, block: BlockType) -> bool {
        if self.with_items { block.holds_blocks() } else { block.may_be_parent() }
    }
}

/// Builds nodes from the records of blocks.
pub(super) trait NodeBuilder {
    /// A node.
    type Node: TreeNode;

    /// Announces the number of blocks. Returns for how many nodes memory is reserved.
    fn expect(&mut self, blocks: usize) -> usize {
        blocks
    }

    /// Builds a node from a record.
    fn build(&mut self, id: BlockId, record: &[u8]) -> Decoded<Self::Node>;

    /// Builds the nodes of a run, in order. Returns how many blocks have none: they are not wanted,
    /// and have no children.
    fn build_run(
        &mut self,
        run: RunView<'_>,
        nodes: &mut Vec<CollectedNode<Self::Node>>,
    ) -> Decoded<usize> {
        for (id, record) in run.entries() {
            nodes.push(Some((CHILD_OF_TOP, self.build(id, record)?)));
        }
        Ok(0)
    }

    /// Discards what was built, if some blocks could not be reached: they may be below omitted
    /// ones. Returns whether another build omits fewer.
    fn restart(&mut self) -> bool {
        false
    }
}

/// What the traversal needs of a node.
pub(super) trait TreeNode {
    fn id(&self) -> BlockId;
    fn block_type(&self) -> BlockType;
}

impl NodeBuilder for AuthorCache {
    type Node = BlockRecord;

    fn build(&mut self, id: BlockId, record: &[u8]) -> Decoded<BlockRecord> {
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

/// A node until it is reached. Its depth is [`CHILD_OF_TOP`]: most documents are flat, and are
/// ordered where their nodes lie.
pub(super) type CollectedNode<B> = Option<(u16, B)>;

/// The depth of the children of the top.
pub(super) const CHILD_OF_TOP: u16 = 1;

/// Nodes in reading order.
struct ReachedNodes<B> {
    nodes: OrderedNodes<B>,
    /// Blocks that were reached from the top, those without a node included.
    blocks: usize,
}

/// The children of a block.
struct ChildNodes {
    parent: BlockId,
    /// Their nodes, by index.
    nodes: Range<usize>,
    /// How many others have none.
    omitted: usize,
}

/// Nodes in the order of a scan: by parent, and in order within one parent.
struct NodeCollector<'m, M: NodeBuilder> {
    builder: &'m mut M,
    blocks: Vec<CollectedNode<M::Node>>,
    children: Vec<ChildNodes>,
    /// The start of the blocks that `parents` has not returned yet.
    expanded: usize,
}

impl<'m, M: NodeBuilder> NodeCollector<'m, M> {
    fn new(builder: &'m mut M) -> Self {
        Self { builder, blocks: Vec::new(), children: Vec::new(), expanded: 0 }
    }

    fn expect(&mut self, blocks: usize) {
        self.blocks.reserve(self.builder.expect(blocks));
    }

    fn add(&mut self, parent: BlockId, key: &[u8], value: &[u8]) -> Result<()> {
        let (start, run) = (self.blocks.len(), RunView::read(key, value)?);
        let built = self.builder.build_run(run, &mut self.blocks);
        let omitted = built.map_err(|error| records::decode_error(key, error))?;
        let end = self.blocks.len();
        match self.children.last_mut() {
            Some(last) if last.parent == parent => {
                last.nodes.end = end;
                last.omitted += omitted;
            }
            _ => self.children.push(ChildNodes { parent, nodes: start..end, omitted }),
        }
        Ok(())
    }

    fn parents(&mut self, extent: TreeExtent) -> Vec<BlockId> {
        let level = std::mem::replace(&mut self.expanded, self.blocks.len());
        let found = self.blocks.iter().skip(level).flatten();
        found
            .filter(|(_, block)| extent.includes_children_of(block.block_type()))
            .map(|(_, block)| block.id())
            .collect()
    }

    /// The nodes of a block's children, and how many others it has.
    fn children_of(&self, parent: BlockId) -> (Range<usize>, usize) {
        let found = self.children.binary_search_by(|children| children.parent.cmp(&parent)).ok();
        let found = found.and_then(|index| self.children.get(index));
        found.map_or((0..0, 0), |children| (children.nodes.clone(), children.omitted))
    }

    /// Orders the nodes below `top` for reading.
    fn in_order(mut self, top: M::Node, extent: TreeExtent) -> Result<ReachedNodes<M::Node>> {
        // Levels are sorted one by one: sorted together, parents are found by binary search.
        self.children.sort_unstable_by_key(|children| children.parent);
        let top_id = top.id();
        let (below_top, mut omitted) = self.children_of(top_id);
        let top_index = self.put_top(top);
        // Fast path: most documents have no other parent than their root, which is the first block.
        let is_flat = |children: &ChildNodes| [BlockId::NIL, top_id].contains(&children.parent);
        if top_index == 0 && below_top.start == 1 && self.children.iter().all(is_flat) {
            self.blocks.truncate(below_top.end);
        } else {
            let mut ranks = vec![UNRANKED; self.blocks.len()];
            if let Some(rank) = ranks.get_mut(top_index) {
                *rank = 0;
            }
            let (mut reached, mut path) = (1, vec![below_top]);
            while let Some(children) = path.last_mut() {
                let Some(index) = children.next() else {
                    path.pop();
                    continue;
                };
                // Reached already: a block that is its own ancestor is visited once.
                let rank = ranks.get_mut(index).filter(|rank| **rank == UNRANKED);
                let (Some(rank), Some(Some((depth, block)))) = (rank, self.blocks.get_mut(index))
                else {
                    continue;
                };
                *rank = reached;
                reached += 1;
                *depth = u16::try_from(path.len())
                    .map_err(|_| records::corrupt(&keyspaces::block_location(block.id())))?;
                if extent.includes_children_of(block.block_type()) {
                    let id = block.id();
                    let (below, omitted_below) = self.children_of(id);
                    omitted += omitted_below;
                    // Fast path: most blocks have no children.
                    if !below.is_empty() {
                        path.push(below);
                    }
                }
            }
            reorder(&mut self.blocks, ranks, reached);
        }
        // In place, which `flatten` is not: with a second list a fetch of 10,000 blocks took three
        // times as long.
        let nodes: OrderedNodes<_> = self.blocks.into_iter().map_while(identity).collect();
        let blocks = nodes.len() + omitted;
        Ok(ReachedNodes { nodes, blocks })
    }

    /// Stores the top in the place that it was taken from, or at the end. Returns its index.
    fn put_top(&mut self, top: M::Node) -> usize {
        if let Some(first @ None) = self.blocks.first_mut() {
            *first = Some((0, top));
            return 0;
        }
        self.blocks.push(Some((0, top)));
        self.blocks.len() - 1
    }
}

/// The rank of what has no place among the others.
pub(super) const UNRANKED: usize = usize::MAX;

/// Moves each of the `items` to its rank, and drops those without one, which come after the
/// `ranked` ones.
pub(super) fn reorder<T>(items: &mut Vec<T>, mut ranks: Vec<usize>, ranked: usize) {
    let unranked = ranks.iter_mut().filter(|rank| **rank == UNRANKED);
    unranked.zip(ranked..).for_each(|(rank, behind)| *rank = behind);
    for index in 0..ranks.len() {
        // Each exchange moves one item to its rank, where it stays.
        while let Some(rank) = ranks.get(index).copied().filter(|rank| *rank != index) {
            items.swap(index, rank);
            ranks.swap(index, rank);
        }
    }
    items.truncate(ranked);
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
            if self.is_known_childless(location.document, &top, TreeExtent::ALL)? {
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
        let is_deep = extent.levels == usize::MAX;
        self.load_tree(
            block,
            if is_deep { WantedContent::Whole } else { WantedContent::FewBlocks },
        )?;
        let Some(location) = self.location(block)? else { return Ok(Subtrees::default()) };
        let mut authors = AuthorCache::default();
        let is_whole = location.parent.is_nil() && extent.levels == usize::MAX;
        if is_whole && (extent.with_items || !self.has_collections(location.document)?) {
            let whole = self.whole(location.document, block, &mut authors)?;
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
    pub(super) fn nodes_of<M: NodeBuilder>(
        &self,
        block: BlockId,
        builder: &mut M,
    ) -> Result<OrderedNodes<M::Node>> {
        self.load_tree(block, WantedContent::Whole)?;
        match self.location(block)? {
            None => Ok(Vec::new()),
            Some(location) if location.parent.is_nil() => {
                self.whole(location.document, block, builder)
            }
            Some(location) => self.part(&location, block, TreeExtent::ALL, builder),
        }
    }

    /// The nodes of an existing document in reading order, without a lookup of its root.
    pub(super) fn document_nodes<M: NodeBuilder>(
        &self,
        document: DocumentId,
        builder: &mut M,
    ) -> Result<OrderedNodes<M::Node>> {
        self.load_tree(document.root(), WantedContent::Whole)?;
        self.whole(document, document.root(), builder)
    }

    /// The nodes of a document, all of whose blocks must be reachable from its root.
    fn whole<M: NodeBuilder>(
        &self,
        document: DocumentId,
        root: BlockId,
        builder: &mut M,
    ) -> Result<OrderedNodes<M::Node>> {
        loop {
            let mut collector = NodeCollector::new(&mut *builder);
            let expected = self.collect_document(document, &mut collector)?;
            // The first run is that of the root, the only child of the lowest ID.
            let top = collector.blocks.first_mut().and_then(Option::take).map(|(_, top)| top);
            let top = top
                .filter(|top| top.id() == root)
                .ok_or_else(|| records::corrupt(&keyspaces::block_location(root)))?;
            let ReachedNodes { nodes, blocks } = collector.in_order(top, TreeExtent::ALL)?;
            if blocks as u64 == expected {
                return Ok(nodes);
            }
            if !builder.restart() {
                return Err(Error::corrupted(format_args!(
                    "document {document}: {blocks} of its {expected} blocks can be reached"
                )));
            }
        }
    }

    fn part<M: NodeBuilder>(
        &self,
        location: &LocationRecord,
        block: BlockId,
        extent: TreeExtent,
        builder: &mut M,
    ) -> Result<OrderedNodes<M::Node>> {
        let top = self.top(location, block, builder)?;
        if self.is_known_childless(location.document, &top, extent)? {
            return Ok(vec![(0, top)]);
        }
        self.below(location, top, extent, builder)
    }

    /// The node of `block` alone.
    fn top<M: NodeBuilder>(
        &self,
        location: &LocationRecord,
        block: BlockId,
        builder: &mut M,
    ) -> Result<M::Node> {
        let mut top = None;
        self.find_in_runs(location, block, &mut |key, run, index| {
            let made = builder.build(block, run.block(index));
            top = Some(made.map_err(|error| records::decode_error(key, error))?);
            Ok(())
        })?;
        top.ok_or_else(|| records::corrupt(&keyspaces::block_location(block)))
    }

    /// `top` with its descendants.
    fn below<M: NodeBuilder>(
        &self,
        location: &LocationRecord,
        top: M::Node,
        extent: TreeExtent,
        builder: &mut M,
    ) -> Result<OrderedNodes<M::Node>> {
        let mut collector = NodeCollector::new(builder);
        self.collect_descendants(location.document, vec![top.id()], extent, &mut collector)?;
        Ok(collector.in_order(top, extent)?.nodes)
    }

    /// Whether `top` is known to have no children: by its type, or from the transaction's cache.
    fn is_known_childless<B: TreeNode>(
        &self,
        document: DocumentId,
        top: &B,
        extent: TreeExtent,
    ) -> Result<bool> {
        if extent.levels == 0 || !extent.includes_children_of(top.block_type()) {
            return Ok(true);
        }
        match self.transaction_cache() {
            Some(cache) => cache.is_childless(self.read, document, top.id()),
            None => Ok(false),
        }
    }

    /// Passes all runs of a document to `collector`, the root first. Returns the expected number of
    /// blocks.
    fn collect_document<M: NodeBuilder>(
        &self,
        document: DocumentId,
        collector: &mut NodeCollector<'_, M>,
    ) -> Result<u64> {
        let stored = stored_document(self.read, document)?;
        let expected =
            stored.ok_or_else(|| records::corrupt(&keyspaces::document(document)))?.blocks;
        let start = keyspaces::document_runs(document);
        collector.expect(
            usize::try_from(expected)
                .map_or(MAX_RESERVED_BLOCKS, |count| count.min(MAX_RESERVED_BLOCKS)),
        );
        self.read.scan(
            KeyRange::half_open(&start, &keyspaces::prefix_end(start)),
            &mut |key, value| {
                let (_, parent, _) =
                    keyspaces::parse_run(key).ok_or_else(|| records::corrupt(key))?;
                collector.add(parent, key, value)?;
                if self.hints.is_some() && expected <= MAX_REMEMBERED_BLOCKS {
                    self.remember_run(key, RunView::verified(value)?);
                }
                Ok(ControlFlow::Continue(()))
            },
        )?;
        Ok(expected)
    }

    /// Passes the runs below `parents` to `collector`, level by level.
    fn collect_descendants<M: NodeBuilder>(
        &self,
        document: DocumentId,
        mut parents: Vec<BlockId>,
        extent: TreeExtent,
        collector: &mut NodeCollector<'_, M>,
    ) -> Result<()> {
        let mut visited = HashSet::new();
        for _ in 0..extent.levels {
            if parents.is_empty() {
                return Ok(());
            }
            let mut current = None;
            runs_of(self.read, document, &parents, &mut |parent, key, value| {
                // Several runs of one parent are one visit.
                if current.replace(parent) != Some(parent) && !visited.insert(parent) {
                    // The block is its own ancestor.
                    return Err(records::corrupt(key));
                }
                collector.add(parent, key, value)
            })?;
            parents = collector.parents(extent);
            // Sorted as their keys are, so that one scan serves the level.
            parents.sort_unstable();
        }
        Ok(())
    }
}
