//! Checks of runs, blocks and their trees.

use std::collections::{BTreeMap, HashMap, HashSet};

use leafbase_model::{BlockId, BlockRecord, BlockType, DocumentId, Result, invariant};

use super::{Invariant, SpaceCheck};
use crate::keyspaces::{self, BLOCKS};
use crate::order_key;
use crate::records;
use crate::records::block::{self, AuthorCache};
use crate::run::{MAX_BYTES, RunView};
use crate::tasks::TaskEntry;

/// What later checks need of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct CheckedBlock {
    /// The index of its run.
    run: u32,
    pub(super) block_type: BlockType,
}

/// A run with its number of items, and whether it has other blocks.
struct CheckedRun {
    key: Vec<u8>,
    items: u64,
    others: bool,
}

impl CheckedRun {
    /// Why these blocks may not be below a block of type `parent`; `None` is the top.
    fn misplaced(&self, parent: Option<BlockType>) -> Option<&'static str> {
        let is_collection = parent == Some(BlockType::Collection);
        if parent.is_some_and(|parent| !parent.holds_blocks()) {
            Some("the type of the parent has no children")
        } else if is_collection && self.others {
            Some("a collection contains other blocks than items")
        } else if !is_collection && self.items > 0 {
            Some("an item is outside of a collection")
        } else {
            None
        }
    }
}

/// The result of checking all runs.
#[derive(Default)]
pub(super) struct CheckedBlocks {
    pub(super) known: HashMap<BlockId, CheckedBlock>,
    /// Number of blocks of each document.
    pub(super) of_documents: HashMap<DocumentId, u64>,
    runs: Vec<CheckedRun>,
    /// A hash of the key of each edge that follows from the blocks.
    pub(super) edges: HashSet<u128>,
    /// The tasks among the blocks.
    pub(super) tasks: Vec<(BlockId, TaskEntry)>,
    /// The tags of the blocks, in lowercase and as written.
    pub(super) tags: Vec<(BlockId, String, String)>,
    /// A hash of the text of each root.
    pub(super) titles: HashMap<DocumentId, u128>,
    /// The collections among the blocks, with their names.
    pub(super) collections: BTreeMap<BlockId, String>,
    /// Number of items below each block that has some.
    pub(super) items: HashMap<BlockId, u64>,
}

impl CheckedBlocks {
    /// Document, parent and order key of the run of `block`.
    pub(super) fn run_of(&self, block: BlockId) -> Option<(DocumentId, BlockId, &[u8])> {
        let known = self.known.get(&block)?;
        keyspaces::parse_run(&self.runs.get(usize::try_from(known.run).ok()?)?.key)
    }
}

/// A hash of 128 bits: collisions are negligible.
pub(super) fn edge_hash(key: &[u8]) -> u128 {
    xxhash_rust::xxh3::xxh3_128(key)
}

/// A hash of a title, which is equal for equal ones alone as far as [`edge_hash`] is.
pub(super) fn title_hash(title: &str) -> u128 {
    xxhash_rust::xxh3::xxh3_128(title.as_bytes())
}

impl SpaceCheck<'_> {
    pub(super) fn blocks(&mut self) -> CheckedBlocks {
        let mut blocks = CheckedBlocks::default();
        self.rows(BLOCKS, &mut |check, key, value| check.run(&mut blocks, key, value));
        self.report.blocks = blocks.known.len() as u64;
        self.parents(&blocks);
        self.reach(&blocks);
        blocks
    }

    fn run(&mut self, blocks: &mut CheckedBlocks, key: &[u8], value: &[u8]) -> Result<()> {
        let (document, parent, order) =
            keyspaces::parse_run(key).ok_or_else(|| records::corrupt(key))?;
        if !order_key::is_valid(order) {
            return Err(records::corrupt(key));
        }
        let run = RunView::read(key, value)?;
        if run.ids().len() > 1 && value.len() > MAX_BYTES {
            self.found(Invariant::Run, keyspaces::RowName(key), "the run is too large");
        }
        *blocks.of_documents.entry(document).or_default() += run.ids().len() as u64;
        let Ok(number) = u32::try_from(blocks.runs.len()) else {
            invariant!("the check holds fewer than 2^32 runs in memory")
        };
        let mut seen = CheckedRun { key: key.to_owned(), items: 0, others: false };
        let mut authors = AuthorCache::default();
        for (id, record) in run.entries() {
            let block = match block::decode(id, record, &mut authors) {
                Ok(block) => block,
                Err(error) => {
                    self.unreadable(key, &records::decode_error(key, error));
                    continue;
                }
            };
            match block.data.block_type() {
                BlockType::CollectionItem => seen.items += 1,
                _ => seen.others = true,
            }
            if id == document.root() {
                blocks.titles.insert(document, title_hash(&block.data.inline));
            }
            self.block(blocks, number, &block);
        }
        if seen.items > 0 {
            *blocks.items.entry(parent).or_default() += seen.items;
        }
        blocks.runs.push(seen);
        Ok(())
    }

    fn block(&mut self, blocks: &mut CheckedBlocks, run: u32, block: &BlockRecord) {
        let BlockRecord { id, data, .. } = block;
        if blocks.known.insert(*id, CheckedBlock { run, block_type: data.block_type() }).is_some() {
            self.found(
                Invariant::SingleLocation,
                format_args!("block {id}"),
                "it has two locations",
            );
        }
        if data.block_type() == BlockType::Collection {
            blocks.collections.insert(*id, data.inline.clone());
        }
        blocks.tasks.extend(data.task.as_ref().map(|task| (*id, TaskEntry::of(task))));
        let tags = self.extractor.tags(data);
        blocks.tags.extend(tags.into_iter().map(|(tag, form)| (*id, tag, form)));
        for target in self.extractor.targets(data) {
            let edge = keyspaces::edge(target.to, target.kind, *id);
            self.expect_index_row(Invariant::Edge, &edge);
            blocks.edges.insert(edge_hash(&edge));
        }
    }

    /// The parent of each run exists in its document and may have such children; the root is the
    /// only top block.
    fn parents(&mut self, blocks: &CheckedBlocks) {
        let mut tops: HashMap<DocumentId, usize> = HashMap::new();
        for seen in &blocks.runs {
            let Some((document, parent, _)) = keyspaces::parse_run(&seen.key) else { continue };
            let row = keyspaces::RowName(&seen.key);
            let parent_type = blocks.known.get(&parent).map(|known| known.block_type);
            if parent.is_nil() || parent_type.is_some() {
                seen.misplaced(parent_type)
                    .into_iter()
                    .for_each(|message| self.found(Invariant::ParentType, &row, message));
            }
            if parent.is_nil() {
                *tops.entry(document).or_default() += 1;
                continue;
            }
            tops.entry(document).or_default();
            match blocks.run_of(parent) {
                None => self.found(Invariant::Parent, row, "the parent does not exist"),
                Some((elsewhere, ..)) if elsewhere != document => {
                    self.found(Invariant::Parent, row, "the parent is in another document");
                }
                Some(_) => {}
            }
        }
        // A block at the top has the nil ID for its parent.
        let is_top =
            |block: &BlockId| blocks.run_of(*block).is_some_and(|(_, parent, _)| parent.is_nil());
        for block in blocks.known.keys().copied().filter(is_top) {
            if blocks.run_of(block).is_some_and(|(document, ..)| document.root() != block) {
                self.found(
                    Invariant::Root,
                    format_args!("block {block}"),
                    "it is at the top, but is not the root",
                );
            }
        }
        for (document, tops) in tops {
            let has_root =
                blocks.known.get(&document.root()).is_some_and(|_| is_top(&document.root()));
            if tops != 1 || !has_root {
                self.found(
                    Invariant::Root,
                    format_args!("document {document}"),
                    "it has no root, or more than one run of roots",
                );
            }
        }
    }

    /// Ancestors end at the top. Each block is visited once.
    fn reach(&mut self, blocks: &CheckedBlocks) {
        let mut reached: HashSet<BlockId> = HashSet::with_capacity(blocks.known.len());
        for start in blocks.known.keys() {
            let (mut at, mut path) = (*start, Vec::new());
            // Stops at blocks that an earlier start reached: their ancestors are checked.
            while !at.is_nil() && reached.insert(at) {
                path.push(at);
                // A missing parent is reported already.
                at = blocks.run_of(at).map_or(BlockId::NIL, |(_, parent, _)| parent);
            }
            if path.contains(&at) {
                self.found(Invariant::Reach, format_args!("block {at}"), "it is its own ancestor");
            }
        }
    }
}
