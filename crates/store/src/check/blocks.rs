//! Checks of runs, blocks and their trees.

use std::collections::{BTreeMap, HashMap, HashSet};

use leafbase_model::{
    BlockId, BlockRecord, BlockType, DocumentId, Result, TaskLocation, invariant,
};

use super::{Invariant, SpaceCheck};
use crate::keyspaces::{self, BLOCKS};
use crate::order_key;
use crate::records;
use crate::records::block::{self, AuthorCache};
use crate::records::listed_task::ListedTask;
use crate::run::{MAX_BYTES, RunView};
use crate::tasks::TaskEntry;

/// What later checks need of a block: 24 bytes, as a space may have many millions.
#[derive(Clone, Copy, Debug)]
pub(super) struct CheckedBlock {
    pub(super) id: BlockId,
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
    /// Sorted by ID: a hash table takes twice the memory, and three times while it grows.
    known: Vec<CheckedBlock>,
    /// Number of blocks of each document.
    pub(super) of_documents: HashMap<DocumentId, u64>,
    runs: Vec<CheckedRun>,
    /// A hash of the key of each edge that follows from the blocks.
    pub(super) edges: HashSet<u128>,
    /// The tasks among the blocks, with the hash of the record in lists.
    pub(super) tasks: Vec<(BlockId, TaskEntry, u64)>,
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
    pub(super) fn get(&self, block: BlockId) -> Option<&CheckedBlock> {
        self.known.get(self.known.binary_search_by_key(&block, |known| known.id).ok()?)
    }

    /// All blocks, by ID.
    pub(super) fn known(&self) -> &[CheckedBlock] {
        &self.known
    }

    /// Document, parent and order key of the run of `block`.
    pub(super) fn run_of(&self, block: BlockId) -> Option<(DocumentId, BlockId, &[u8])> {
        self.run(self.get(block)?)
    }

    /// [`Self::run_of`] a block that was looked up.
    pub(super) fn run(&self, block: &CheckedBlock) -> Option<(DocumentId, BlockId, &[u8])> {
        keyspaces::parse_run(&self.runs.get(usize::try_from(block.run).ok()?)?.key)
    }

    /// The blocks at the top, whose parent is the nil ID.
    pub(super) fn tops(&self) -> impl Iterator<Item = (DocumentId, BlockId)> {
        let tops = self.known.iter().filter_map(|block| Some((self.run(block)?, block.id)));
        tops.filter(|((_, parent, _), _)| parent.is_nil())
            .map(|((document, ..), block)| (document, block))
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
        blocks.known.sort_unstable_by_key(|block| (block.id, block.run));
        self.single_locations(&mut blocks.known);
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
        blocks.known.push(CheckedBlock { id: *id, run, block_type: data.block_type() });
        if data.block_type() == BlockType::Collection {
            blocks.collections.insert(*id, data.inline.clone());
        }
        if let Some(task) = &data.task {
            let listed = ListedTask::new(TaskLocation::Inbox, &block::encoded(block));
            blocks.tasks.push((*id, TaskEntry::of(task), listed.block_hash()));
        }
        let tags = self.extractor.tags(data);
        blocks.tags.extend(tags.into_iter().map(|(tag, form)| (*id, tag, form)));
        for target in self.extractor.targets(data) {
            let edge = keyspaces::edge(target.to, target.kind, *id);
            self.expect_index_row(Invariant::Edge, &edge);
            blocks.edges.insert(edge_hash(&edge));
        }
    }

    /// Of a block that is in several places, the last one remains in `known`, which is sorted.
    fn single_locations(&mut self, known: &mut Vec<CheckedBlock>) {
        known.dedup_by(|later, before| {
            let is_same = later.id == before.id;
            if is_same {
                *before = *later;
                self.found(
                    Invariant::SingleLocation,
                    format_args!("block {}", later.id),
                    "it has two locations",
                );
            }
            is_same
        });
    }

    /// The parent of each run exists in its document and may have such children; the root is the
    /// only top block.
    fn parents(&mut self, blocks: &CheckedBlocks) {
        let mut tops: HashMap<DocumentId, usize> = HashMap::new();
        for seen in &blocks.runs {
            let Some((document, parent, _)) = keyspaces::parse_run(&seen.key) else { continue };
            let row = keyspaces::RowName(&seen.key);
            let known = blocks.get(parent);
            let parent_type = known.map(|known| known.block_type);
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
            match known.and_then(|known| blocks.run(known)) {
                None => self.found(Invariant::Parent, row, "the parent does not exist"),
                Some((elsewhere, ..)) if elsewhere != document => {
                    self.found(Invariant::Parent, row, "the parent is in another document");
                }
                Some(_) => {}
            }
        }
        let mut rooted = HashSet::new();
        for (document, block) in blocks.tops() {
            if document.root() == block {
                rooted.insert(document);
            } else {
                self.found(
                    Invariant::Root,
                    format_args!("block {block}"),
                    "it is at the top, but is not the root",
                );
            }
        }
        for (document, tops) in tops {
            if tops != 1 || !rooted.contains(&document) {
                self.found(
                    Invariant::Root,
                    format_args!("document {document}"),
                    "it has no root, or more than one run of roots",
                );
            }
        }
    }

    /// Ancestors end at the top. Siblings have the same ones, so each run is visited once.
    fn reach(&mut self, blocks: &CheckedBlocks) {
        let mut reached: HashSet<u32> = HashSet::with_capacity(blocks.runs.len());
        for start in blocks.known.chunk_by(|one, next| one.run == next.run) {
            let (mut at, mut path) = (start.first().copied(), Vec::new());
            // Stops at runs that an earlier start reached: their ancestors are checked.
            while let Some(block) = at
                && reached.insert(block.run)
            {
                path.push(block.run);
                // A missing parent is reported already.
                let parent = blocks.run(&block).map(|(_, parent, _)| parent);
                at = parent.and_then(|parent| blocks.get(parent).copied());
            }
            if let Some(block) = at.filter(|block| path.contains(&block.run)) {
                let id = block.id;
                self.found(Invariant::Reach, format_args!("block {id}"), "it is its own ancestor");
            }
        }
    }
}
