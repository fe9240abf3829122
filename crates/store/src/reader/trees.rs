//! Reads of block trees, by ranges of runs and without recursion.

use std::collections::HashSet;
use std::ops::{ControlFlow, Range};

use leafbase_model::{
    BlockId, BlockRecord, BlockType, DocumentId, Error, Result, SubtreeNode, Subtrees,
};

use super::{SpaceReader, counted_document};
use crate::keyspaces;
use crate::kv::{KeyRange, Read};
use crate::msgpack::Decoded;
use crate::records::block::{self, AuthorCache};
use crate::records::{self, location::LocationRecord};
use crate::run::RunView;

/// So many rows of other blocks are passed by before the next block is sought anew.
const PASSED_BY: usize = 8;
/// Room for so many blocks is made before they are read.
const MOST_RESERVED: usize = 1 << 16;

/// Gets a block, and key and value of a row of it.
type VisitBlockRow<'f> = &'f mut dyn FnMut(BlockId, &[u8], &[u8]) -> Result<()>;

/// Hands each run of each of `parents`, which are sorted, to `visit`, by parent and order. Parents
/// without children cost nothing where their IDs lie between those of others: the scan leaps over
/// them.
pub(crate) fn runs_of(
    source: &dyn Read,
    document: DocumentId,
    parents: &[BlockId],
    visit: VisitBlockRow<'_>,
) -> Result<()> {
    rows_of(source, &keyspaces::document_runs(document), parents, visit)
}

/// Hands the rows of each of `blocks`, which are sorted, to `visit`, in order: those whose keys go
/// on with the block behind `prefix`. It takes no more steps than there are blocks and rows of
/// them, but for a factor.
pub(crate) fn rows_of(
    source: &dyn Read,
    prefix: &[u8],
    blocks: &[BlockId],
    visit: VisitBlockRow<'_>,
) -> Result<()> {
    let Some(last) = blocks.last() else { return Ok(()) };
    let end = keyspaces::end_of_slice(&[prefix, last.as_bytes()].concat());
    let mut wanted = blocks.iter().copied().peekable();
    while let Some(first) = wanted.peek() {
        let start = [prefix, first.as_bytes()].concat();
        let (mut passed_by, mut leaps) = (0, false);
        source.scan(KeyRange::half_open(&start, &end), &mut |key, value| {
            let block = key.get(prefix.len()..).and_then(|rest| rest.first_chunk::<16>());
            let block = BlockId::from_bytes(*block.ok_or_else(|| records::damaged(key))?);
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

/// How far down a tree is read.
#[derive(Clone, Copy)]
struct TreeExtent {
    levels: usize,
    with_items: bool,
}

impl TreeExtent {
    const ALL: Self = Self { levels: usize::MAX, with_items: true };

    /// Whether what stands below a block of this type is read.
    fn is_below(self, block: BlockType) -> bool {
        if self.with_items { block.holds_blocks() } else { block.may_be_parent() }
    }
}

/// What is made of the blocks of a tree as they are read.
pub(super) trait NodeBuilder {
    /// What a block becomes.
    type Block: TreeNode;

    /// There will be so many.
    fn expect(&mut self, _blocks: usize) {}

    /// Makes it of a record.
    fn make(&mut self, id: BlockId, record: &[u8]) -> Decoded<Self::Block>;
}

/// What is known of whatever a block became.
pub(super) trait TreeNode {
    fn id(&self) -> BlockId;
    fn block_type(&self) -> BlockType;
}

impl NodeBuilder for AuthorCache {
    type Block = BlockRecord;

    fn make(&mut self, id: BlockId, record: &[u8]) -> Decoded<BlockRecord> {
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

/// Each block with its depth, in reading order.
type OrderedNodes<B> = Vec<(u16, B)>;

/// Blocks as they lie in the store: by parent, each parent's in order.
struct NodeCollector<'m, M: NodeBuilder> {
    making: &'m mut M,
    blocks: Vec<Option<M::Block>>,
    children: Vec<(BlockId, Range<usize>)>,
    /// Where those blocks begin that were not asked about yet.
    asked: usize,
}

impl<'m, M: NodeBuilder> NodeCollector<'m, M> {
    fn new(making: &'m mut M) -> Self {
        Self { making, blocks: Vec::new(), children: Vec::new(), asked: 0 }
    }

    fn expect(&mut self, blocks: usize) {
        self.making.expect(blocks);
        self.blocks.reserve(blocks);
    }

    fn add(&mut self, parent: BlockId, key: &[u8], value: &[u8]) -> Result<()> {
        let (start, run) = (self.blocks.len(), RunView::read(key, value)?);
        for (id, record) in run.entries() {
            let block = self.making.make(id, record).map_err(|fault| records::fault(key, fault))?;
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

    fn children_of(&self, parent: BlockId) -> Range<usize> {
        let found = self.children.binary_search_by(|(id, _)| id.cmp(&parent)).ok();
        found.and_then(|index| self.children.get(index)).map_or(0..0, |(_, range)| range.clone())
    }

    /// Takes the blocks below `top` in reading order.
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
            // A block that was taken already would be a parent of its own.
            let Some(block) = self.blocks.get_mut(index).and_then(Option::take) else { continue };
            let depth = u16::try_from(path.len())
                .map_err(|_| records::damaged(&keyspaces::block_location(block.id())))?;
            if extent.is_below(block.block_type()) {
                let below = self.children_of(block.id());
                // Most have none.
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
    /// `block` and all below it down to `max_depth` levels (none: all), in reading order; empty if
    /// it does not exist. The items of collections are among them, with what is on their pages.
    ///
    /// A whole document is one range; otherwise each level is, as far as IDs made together lie
    /// together.
    ///
    /// # Errors
    /// As [`Self::locate`]; [`leafbase_model::ErrorKind::Corrupted`] also if a whole document lacks
    /// blocks.
    pub fn subtree(&self, block: BlockId, max_depth: Option<usize>) -> Result<Subtrees> {
        self.tree(block, TreeExtent { levels: max_depth.unwrap_or(usize::MAX), with_items: true })
    }

    /// The same, but collections stand in it without their items, which are not read either.
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

    /// Each of `blocks` with all below it: what [`Self::subtree`] gives of them, one behind the
    /// other.
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
            // A write may have put in a collection that it has not given a schema yet.
            if extent.with_items
                || !whole.iter().any(|(_, block)| block.block_type() == BlockType::Collection)
            {
                return Ok(subtrees(whole));
            }
        }
        self.part(&location, block, extent, &mut authors).map(subtrees)
    }

    /// `block` and all below it in reading order, as `making` makes them; empty if it does not
    /// exist.
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
        // The root is the only child of the lowest ID there is.
        let top = gathered.blocks.first_mut().and_then(Option::take).filter(|top| top.id() == root);
        let top = top.ok_or_else(|| records::damaged(&keyspaces::block_location(root)))?;
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

    /// `block` alone.
    fn top<M: NodeBuilder>(
        &self,
        location: &LocationRecord,
        block: BlockId,
        making: &mut M,
    ) -> Result<M::Block> {
        let mut top = None;
        self.find_in_runs(location, block, &mut |key, run, index| {
            let made = making.make(block, run.block(index));
            top = Some(made.map_err(|fault| records::fault(key, fault))?);
            Ok(())
        })?;
        top.ok_or_else(|| records::damaged(&keyspaces::block_location(block)))
    }

    /// `top`, which stands at `place`, with what is below it.
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

    /// Whether it is known without a scan, or by a look at what a write has met, that nothing
    /// stands below `top`.
    fn is_bottom<B: TreeNode>(
        &self,
        document: DocumentId,
        top: &B,
        extent: TreeExtent,
    ) -> Result<bool> {
        if extent.levels == 0 || !extent.is_below(top.block_type()) {
            return Ok(true);
        }
        match self.cache() {
            Some(cache) => cache.is_childless(self.read, document, top.id()),
            None => Ok(false),
        }
    }

    /// Hands all runs of a document to `gathering`, the root's first, and says how many blocks have
    /// to be reached.
    fn gather_all<M: NodeBuilder>(
        &self,
        document: DocumentId,
        gathering: &mut NodeCollector<'_, M>,
    ) -> Result<u64> {
        let counted = counted_document(self.read, document)?;
        let expected =
            counted.ok_or_else(|| records::damaged(&keyspaces::document(document)))?.blocks;
        let start = keyspaces::document_runs(document);
        gathering.expect(
            usize::try_from(expected).map_or(MOST_RESERVED, |count| count.min(MOST_RESERVED)),
        );
        self.read.scan(
            KeyRange::half_open(&start, &keyspaces::end_of(start)),
            &mut |key, value| {
                let (_, parent, _) =
                    keyspaces::read_run(key).ok_or_else(|| records::damaged(key))?;
                gathering.add(parent, key, value)?;
                Ok(ControlFlow::Continue(()))
            },
        )?;
        Ok(expected)
    }

    /// Hands the runs below `parents`, level after level, to `gathering`.
    fn gather_below<M: NodeBuilder>(
        &self,
        document: DocumentId,
        mut parents: Vec<BlockId>,
        extent: TreeExtent,
        gathering: &mut NodeCollector<'_, M>,
    ) -> Result<()> {
        let mut visited = HashSet::new();
        for _ in 0..extent.levels {
            if parents.is_empty() {
                break;
            }
            let mut current = None;
            runs_of(self.read, document, &parents, &mut |parent, key, value| {
                if current.replace(parent) != Some(parent) && !visited.insert(parent) {
                    // It stands below itself.
                    return Err(records::damaged(key));
                }
                gathering.add(parent, key, value)
            })?;
            parents = gathering.parents(extent)?;
            parents.sort_unstable();
        }
        Ok(())
    }
}

/// All blocks of a document have to be reached from its root.
fn check_reached(document: DocumentId, found: usize, expected: u64) -> Result<()> {
    if found as u64 == expected {
        return Ok(());
    }
    Err(Error::corrupted(format_args!(
        "document {document}: {found} of its {expected} blocks can be reached"
    )))
}
