//! Bounds on growth: keys, runs, and the rows that one edit touches.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test"
)]

use std::cell::Cell;
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use leafbase_model::{
    BlockData, BlockId, BlockRecord, DocumentId, DocumentRecord, Edit, ErrorKind, InsertTarget,
    Location, Result, SubtreeNode, Subtrees, Timestamp,
};
use leafbase_store::kv::{
    KeyRange, MemoryStore, Read, Snapshot, Store, Transaction, Visit, WriteOptions,
};
use leafbase_store::{Extractor, SpaceStore, SpaceTransaction};

mod naive;

use naive::{extract, memory_space, relaxed, stamp};

const BLOCKS: u8 = 0x10;

fn id(number: u32) -> BlockId {
    // Scattered, so that IDs do not sort as the children do.
    let mixed = u128::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    BlockId::from_bytes(mixed.to_be_bytes())
}

fn block(number: u32, size: usize) -> BlockRecord {
    let data = BlockData::text("x".repeat(size));
    BlockRecord { id: id(number), rev: 1, created: stamp(1), modified: stamp(1), data }
}

const ROOT: u32 = 1;

fn document() -> DocumentId {
    DocumentId::of_root(id(ROOT))
}

fn make_document(space: &SpaceStore, children: impl IntoIterator<Item = BlockRecord>) {
    let time = Timestamp::from_millis(1);
    let record = DocumentRecord {
        id: document(),
        location: Location::Unsorted,
        day: None,
        created_at: time,
        modified_at: time,
        rev: 1,
    };
    let mut nodes = vec![SubtreeNode {
        depth: 0,
        block: BlockRecord { data: BlockData::page("Root"), ..block(ROOT, 0) },
    }];
    nodes.extend(children.into_iter().map(|block| SubtreeNode { depth: 1, block }));
    let edit = Edit::CreateDocument { record, subtrees: Subtrees(nodes) };
    space.write(relaxed(), &stamp(2), |open| open.apply(vec![edit.clone()])).unwrap();
}

fn insert(
    open: &mut SpaceTransaction<'_>,
    after: Option<BlockId>,
    block: BlockRecord,
) -> Result<()> {
    let target = InsertTarget { document: document(), parent: id(ROOT), after };
    open.apply(vec![Edit::Insert { target, subtrees: Subtrees::one(block) }])
}

/// The keys of all runs, and the sizes of their values.
fn runs(store: &dyn Store) -> Vec<(Vec<u8>, usize)> {
    let mut runs = vec![];
    let visit = &mut |key: &[u8], value: &[u8]| {
        runs.push((key.to_vec(), value.len()));
        Ok(ControlFlow::Continue(()))
    };
    store.snapshot().unwrap().scan(KeyRange::half_open(&[BLOCKS], &[BLOCKS + 1]), visit).unwrap();
    runs
}

/// The children of the root are `expected`, each is found by its ID, and all invariants hold.
fn holds(space: &SpaceStore, expected: &[BlockId]) {
    let snapshot = space.snapshot().unwrap();
    let reader = snapshot.reader();
    assert_eq!(reader.children(document(), id(ROOT)).unwrap(), expected);
    for (index, block) in expected.iter().enumerate() {
        assert_eq!(reader.block(*block).unwrap().unwrap().id, *block);
        let before = index.checked_sub(1).map(|before| expected[before]);
        assert_eq!(reader.previous_sibling(*block).unwrap(), before);
    }
    let report = space.check(&mut |_| ControlFlow::Continue(())).unwrap();
    assert!(report.is_clean(), "{report:#?}");
}

/// Inserts `count` blocks of `size` bytes; `place` tells the index of each among the siblings so
/// far.
fn grow(size: usize, count: u32, place: impl Fn(u32, usize) -> usize) -> (usize, usize) {
    let (store, space) = memory_space();
    make_document(&space, [block(2, size), block(3, size)]);
    let mut children = vec![id(2), id(3)];
    for number in 0..count {
        let at = place(number, children.len());
        let block = block(number + 10, size);
        let (new, after) = (block.id, at.checked_sub(1).map(|before| children[before]));
        space.write(relaxed(), &stamp(3), |open| insert(open, after, block.clone())).unwrap();
        children.insert(at, new);
    }
    holds(&space, &children);
    let runs = runs(&*store);
    (runs.len(), runs.iter().map(|(key, _)| key.len() - 33).max().unwrap())
}

/// Blocks of 100 bytes of text that fit into a run.
const IN_A_RUN: usize = 30;

#[test]
fn ten_thousand_inserts_at_one_spot_keep_keys_short_and_runs_filled() {
    let full = 10_000 / IN_A_RUN;
    let (append, longest) = grow(100, 10_000, |_, count| count);
    assert!(append <= full * 11 / 10 && longest == 4, "{append} {longest}");
    let (prepend, longest) = grow(100, 10_000, |_, _| 0);
    assert!(prepend <= full * 11 / 10 && longest == 4, "{prepend} {longest}");
    let (after_one, longest) = grow(100, 10_000, |_, _| 1);
    assert!(after_one <= full * 22 / 10 && longest <= 16, "{after_one} {longest}");
    let (in_a_row, longest) = grow(100, 10_000, |number, _| usize::try_from(number).unwrap() + 1);
    assert!(in_a_row <= full * 22 / 10 && longest <= 16, "{in_a_row} {longest}");
    let (anywhere, longest) = grow(100, 10_000, |number, count| {
        usize::try_from(u64::from(number) * 2_654_435_761 % (u64::try_from(count).unwrap() + 1))
            .unwrap()
    });
    assert!(anywhere <= full * 2 && longest <= 16, "{anywhere} {longest}");
}

#[test]
fn long_order_keys_are_rebalanced() {
    // Each block has its own run, and each is inserted in the middle, on alternating sides.
    let (runs, longest) = grow(4_100, 1_500, |number, _| usize::try_from(number / 2).unwrap() + 1);
    assert_eq!(runs, 1_503);
    assert!(longest <= 66, "{longest}");
}

#[test]
fn runs_that_shrink_are_joined() {
    let (store, space) = memory_space();
    make_document(&space, (10..5_010).map(|number| block(number, 100)));
    let before = runs(&*store).len();
    assert!(before <= 5_000 / IN_A_RUN * 11 / 10, "{before}");
    let (kept, gone): (Vec<u32>, Vec<u32>) = (10..5_010).partition(|number| number % 50 == 0);
    for number in gone {
        space
            .write(relaxed(), &stamp(4), |open| {
                let after = open.reader()?.previous_sibling(id(number))?;
                let target = InsertTarget { document: document(), parent: id(ROOT), after };
                open.apply(vec![Edit::Remove {
                    target,
                    subtrees: Subtrees::one(block(number, 100)),
                }])
            })
            .unwrap();
    }
    holds(&space, &kept.iter().copied().map(id).collect::<Vec<_>>());
    // 100 blocks would fit into 4 runs.
    assert!(runs(&*store).len() <= 20, "{}", runs(&*store).len());
}

#[test]
fn a_block_larger_than_a_run_grows_and_shrinks_in_place() {
    let (_, space) = memory_space();
    make_document(&space, (10..60).map(|number| block(number, 100)));
    for size in [5_000, 200_000, 1_000_000, 10, 4_000, 0] {
        space
            .write(relaxed(), &stamp(4), |open| {
                let before = open.reader()?.block(id(30))?.unwrap();
                let mut after = before.clone();
                after.data.inline = "y".repeat(size);
                after.rev += 1;
                let (before, after) = (Box::new(before), Box::new(after));
                open.apply(vec![Edit::Update { document: document(), before, after }])
            })
            .unwrap();
        assert_eq!(
            space.snapshot().unwrap().reader().block(id(30)).unwrap().unwrap().data.inline.len(),
            size
        );
    }
    holds(&space, &(10..60).map(id).collect::<Vec<_>>());
}

/// Counts the operations of a transaction.
#[derive(Debug)]
struct Counted {
    store: MemoryStore,
    reads: Arc<AtomicUsize>,
    writes: Arc<AtomicUsize>,
}

struct Counting<'a> {
    rows: &'a mut dyn Transaction,
    reads: Cell<usize>,
    writes: usize,
}

impl Read for Counting<'_> {
    fn get(&self, key: &[u8], visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        self.reads.set(self.reads.get() + 1);
        self.rows.get(key, visit)
    }
    fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()> {
        self.rows.scan(range, &mut |key, value| {
            self.reads.set(self.reads.get() + 1);
            visit(key, value)
        })
    }
}

impl Transaction for Counting<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.writes += 1;
        self.rows.put(key, value)
    }
    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.writes += 1;
        self.rows.delete(key)
    }
    fn delete_range(&mut self, _: &[u8], _: &[u8]) -> Result<()> {
        unreachable!("it is not used: its cost isn't bounded")
    }
}

impl Store for Counted {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        self.store.snapshot()
    }
    fn write(
        &self,
        options: WriteOptions,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        self.store.write(options, &mut |rows| {
            let mut counting = Counting { rows, reads: Cell::new(0), writes: 0 };
            f(&mut counting)?;
            self.reads.store(counting.reads.get(), Ordering::Relaxed);
            self.writes.store(counting.writes, Ordering::Relaxed);
            Ok(())
        })
    }
    fn flush(&self) -> Result<()> {
        Ok(())
    }
    fn compact(&self) -> Result<()> {
        Ok(())
    }
    fn verify(&self) -> Result<bool> {
        Ok(true)
    }
    fn bytes(&self) -> Result<u64> {
        self.store.bytes()
    }
}

#[test]
fn an_edit_of_one_block_touches_few_rows_of_a_large_document() {
    let (reads, writes) = <(Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
    let store = Counted {
        store: MemoryStore::new(),
        reads: Arc::clone(&reads),
        writes: Arc::clone(&writes),
    };
    let space = SpaceStore::create(
        Arc::new(store),
        Extractor::of_edges(extract),
        naive::ids(),
        &naive::meta(),
    )
    .unwrap();
    make_document(&space, (10..10_010).map(|number| block(number, 100)));
    let now = Cell::new(5);
    let done = |edit: Edit| {
        now.set(now.get() + 1);
        space.write(relaxed(), &stamp(now.get()), |open| open.apply(vec![edit.clone()])).unwrap();
        (reads.load(Ordering::Relaxed), writes.load(Ordering::Relaxed))
    };
    let (before, mut after) = (block(5_000, 100), block(5_000, 100));
    after.rev = 2;
    after.data.inline.push('y');
    let update =
        Edit::Update { document: document(), before: Box::new(before), after: Box::new(after) };
    // Run, document, by modified twice among all and twice in its location, log, totals; its place,
    // run and document are read, and the totals.
    assert_eq!(done(update), (4, 8));
    let target = InsertTarget { document: document(), parent: id(ROOT), after: Some(id(7_000)) };
    let insert = Edit::Insert { target, subtrees: Subtrees::one(block(20_000, 100)) };
    // The run was full and is split. Of the next run only the key is read, and nothing of the root.
    assert_eq!(done(insert.clone()), (6, 10));
    assert_eq!(
        done(insert.inverse().unwrap()).1,
        9,
        "run, place, document, by modified four times, log, totals"
    );
    let to = InsertTarget { after: Some(id(2_000)), ..target };
    let from = InsertTarget { after: Some(id(7_999)), ..target };
    assert!(done(Edit::Move { block: id(8_000), from, to }).1 <= 11);
}

#[test]
fn a_backup_is_the_space_as_it_was() {
    let (store, space) = memory_space();
    make_document(&space, (10..3_010).map(|number| block(number, 100)));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("copy");
    let stopped = space.backup_to(&path, &mut |_| ControlFlow::Break(())).unwrap_err();
    assert_eq!((stopped.kind(), path.exists()), (ErrorKind::Canceled, false));
    space.backup_to(&path, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(
        space.backup_to(&path, &mut |_| ControlFlow::Continue(())).is_err(),
        "something is there"
    );
    let copy = leafbase_store::directory::open(&path, &leafbase_store::kv::OpenOptions::default())
        .unwrap();
    let all = |store: &dyn Store| {
        let mut rows = vec![];
        let range = KeyRange { lower: Bound::Unbounded, upper: Bound::Unbounded, reverse: false };
        let visit = &mut |key: &[u8], value: &[u8]| {
            rows.push((key.to_vec(), value.to_vec()));
            Ok(ControlFlow::Continue(()))
        };
        store.snapshot().unwrap().scan(range, visit).unwrap();
        rows
    };
    assert_eq!(all(&copy), all(&*store));
    let copy =
        SpaceStore::open(Arc::new(copy), Extractor::of_edges(extract), naive::ids()).unwrap();
    let (ours, theirs) = (space.stats().unwrap(), copy.stats().unwrap());
    assert_eq!((ours.documents, ours.blocks, ours.folders, ours.sequence), (1, 3_001, 0, 1));
    assert_eq!((theirs.documents, theirs.blocks, theirs.sequence), (1, 3_001, 1));
    // Damage is not copied.
    store.write(relaxed(), &mut |rows| rows.put(&[BLOCKS, 0], b"damage, not a run")).unwrap();
    let path = directory.path().join("another");
    assert!(space.backup_to(&path, &mut |_| ControlFlow::Continue(())).is_err());
    assert!(!path.exists());
}
