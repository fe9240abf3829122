//! Schemas and items of collections: refused edits, dependent rows, and the cost of both.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test"
)]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use leafbase_model::{
    BlockData, BlockId, BlockKind, BlockRecord, DocumentId, Edit, ErrorKind, InsertTarget,
    PropertyKind, PropertyValue, Result, Schema, SelectOption, SubtreeNode, Subtrees,
};
use leafbase_store::kv::{
    KeyRange, MemoryStore, Read, Snapshot, Store, Transaction, Visit, WriteOptions,
};
use leafbase_store::{IndexBitmap, IndexedColumn, SpaceReader, SpaceStore};

mod broken;
mod naive;

use broken::collections::{
    ITEM_KEYS, SCHEMAS, authors, books, document, item, make, property, schema, set,
};
use broken::{check, find, full, id, key, node};
use naive::{EXTRACTOR, Maker, Naive, memory_space, meta, play, relaxed, stamp};

fn write(space: &SpaceStore, edits: &[Edit]) -> Result<()> {
    space.write(relaxed(), &stamp(9), |open| open.apply(edits.to_vec())).map(drop)
}

fn read<T>(space: &SpaceStore, read: impl FnOnce(SpaceReader<'_>) -> Result<T>) -> T {
    read(space.snapshot().unwrap().reader()).unwrap()
}

fn target(parent: u8, after: Option<u8>) -> InsertTarget {
    InsertTarget { document: document(), parent: id(parent), after: after.map(id) }
}

fn subtree(space: &SpaceStore, top: u8) -> Subtrees {
    read(space, |reader| reader.subtree(id(top), None))
}

fn collection(name: &str) -> BlockData {
    BlockData { inline: name.to_owned(), ..BlockData::new(BlockKind::Collection) }
}

#[test]
fn schemas_that_do_not_fit_are_refused() {
    let (conflict, missing) = (Err(ErrorKind::Conflict), Err(ErrorKind::NotFound));
    let other = || Some(schema("Other", []));
    let elsewhere = |edit: Edit| match edit {
        Edit::SetSchema { collection, before, after, quiet, .. } => Edit::SetSchema {
            document: DocumentId::of_root(id(7)),
            collection,
            before,
            after,
            quiet,
        },
        edit => edit,
    };
    let (_, space) = full();
    let trees = [21, 20].map(|top| subtree(&space, top));
    let record = read(&space, |reader| reader.document(document())).unwrap();
    let [_, Edit::Update { before, .. }] = [set(24, None, None), renamed("Others")] else {
        unreachable!()
    };
    let text = BlockRecord { data: BlockData::text("text"), rev: 2, ..(*before).clone() };
    let cases = [
        (vec![set(24, None, other())], conflict),
        (vec![set(24, other(), Some(authors()))], conflict),
        (vec![set(24, other(), None)], conflict),
        (vec![set(24, Some(authors()), None), set(24, Some(authors()), None)], conflict),
        (vec![set(24, Some(authors()), None), set(24, None, other())], Ok(())),
        // Only a collection of that document has one.
        (vec![set(22, None, other())], conflict),
        (vec![set(27, None, other())], conflict),
        (vec![set(9, None, other())], missing),
        (vec![elsewhere(set(24, Some(authors()), other()))], conflict),
        // No row is orphaned.
        (vec![Edit::Remove { target: target(20, None), subtrees: trees[0].clone() }], conflict),
        (
            vec![
                set(21, Some(books()), None),
                Edit::Remove { target: target(20, None), subtrees: trees[0].clone() },
            ],
            Ok(()),
        ),
        (
            vec![Edit::EraseDocument { record: record.clone(), subtrees: trees[1].clone() }],
            conflict,
        ),
        (
            vec![
                set(21, Some(books()), None),
                set(24, Some(authors()), None),
                Edit::EraseDocument { record, subtrees: trees[1].clone() },
            ],
            Ok(()),
        ),
        (vec![Edit::Update { document: document(), before, after: Box::new(text) }], conflict),
    ];
    for (edits, expected) in cases {
        let (store, space) = full();
        let rows = broken::dump(&*store);
        assert_eq!(write(&space, &edits).map_err(|error| error.kind()), expected, "{edits:?}");
        if expected.is_err() {
            assert_eq!(broken::dump(&*store), rows);
        }
    }
}

/// The authors' block with another name.
fn renamed(name: &str) -> Edit {
    let before = node(0, 24, collection("Authors")).block;
    let after = BlockRecord { rev: 2, data: collection(name), ..before.clone() };
    Edit::Update { document: document(), before: Box::new(before), after: Box::new(after) }
}

#[test]
fn a_collection_without_a_schema_yet_hides_its_items_too() {
    let (_, space) = memory_space();
    let edits = broken::collections::edits();
    let written = space.write(relaxed(), &stamp(3), |open| {
        open.apply(edits[..1].to_vec())?;
        let reader = open.reader()?;
        assert_eq!(reader.subtree(id(20), None)?.0.len(), 8);
        assert_eq!(reader.subtree_without_items(id(20), None)?.0.len(), 3);
        assert!(reader.schema(id(21))?.is_none() && reader.collections()?.is_empty());
        // Items exist before and after the schema.
        let more = Edit::Insert {
            target: target(21, None),
            subtrees: Subtrees(vec![node(0, 30, item("New", []))]),
        };
        let less = Edit::Insert {
            target: target(24, None),
            subtrees: Subtrees(vec![node(0, 25, item("Herman", []))]),
        };
        open.apply(vec![more, less.inverse().unwrap(), less])?;
        open.apply(edits[1..].to_vec())
    });
    written.unwrap();
    assert_eq!(
        (titles(&space, 21), titles(&space, 24)),
        ([23, 22, 30].map(id).to_vec(), [25, 26].map(id).to_vec())
    );
    assert!(check(&space).is_clean());
}

/// Edits of items alone: the store keeps the dependent rows up to date.
#[test]
fn an_item_moved_to_another_collection_is_indexed_there() {
    let (_, space) = full();
    let there = Edit::Move { block: id(23), from: target(21, Some(22)), to: target(24, None) };
    for (edit, expected) in [(there.clone(), [1, 3]), (there.inverse().unwrap(), [2, 2])] {
        write(&space, &[edit]).unwrap();
        assert_eq!([titles(&space, 21).len(), titles(&space, 24).len()], expected);
        assert!(check(&space).is_clean());
    }
}

/// Staged collections move with their blocks.
#[test]
fn a_collection_changes_before_and_after_a_move_to_another_document() {
    let (_, space) = full();
    let add = |number, document| {
        let subtrees = Subtrees(vec![node(0, number, item("New", []))]);
        Edit::Insert { target: InsertTarget { document, ..target(24, None) }, subtrees }
    };
    let other = DocumentId::of_root(id(7));
    let to = InsertTarget { document: other, ..target(7, None) };
    let there = Edit::Move { block: id(24), from: target(20, Some(21)), to };
    write(&space, &[add(30, document()), there, add(31, other)]).unwrap();
    let entry = |entry: leafbase_store::CollectionEntry| (entry.collection, entry.items);
    let of = |document| {
        read(&space, |reader| reader.collections_of(document))
            .into_iter()
            .map(entry)
            .collect::<Vec<_>>()
    };
    assert_eq!((of(document()), of(other)), (vec![(id(21), 2)], vec![(id(24), 4)]));
    assert!(check(&space).is_clean());
}

#[test]
fn nothing_is_left_of_a_collection() {
    let (store, space) = full();
    let edits = vec![set(21, Some(books()), None), set(24, Some(authors()), None)];
    write(&space, &edits).unwrap();
    assert!([SCHEMAS, 0x71, ITEM_KEYS].iter().all(|tag| find(&*store, &[*tag]).is_empty()));
    assert!(read(&space, |reader| reader.collections()).is_empty());
    assert!(space.snapshot().unwrap().reader().item_index(id(21)).unwrap().is_none());
    // Rows are rebuilt from the items at that time.
    write(
        &space,
        &[Edit::Insert {
            target: target(21, None),
            subtrees: Subtrees(vec![node(0, 30, item("New", []))]),
        }],
    )
    .unwrap();
    let back: Result<Vec<Edit>, _> = edits.iter().rev().map(Edit::inverse).collect();
    let back = back.unwrap();
    write(&space, &back).unwrap();
    assert_eq!(titles(&space, 21), [23, 22, 30].map(id), "Emma, Moby, New");
    assert!(check(&space).is_clean());
}

/// The items by title.
fn titles(space: &SpaceStore, collection: u8) -> Vec<BlockId> {
    column(space, collection, IndexedColumn::Title)
}

fn column(space: &SpaceStore, collection: u8, column: IndexedColumn<'_>) -> Vec<BlockId> {
    let snapshot = space.snapshot().unwrap();
    let reader = snapshot.reader();
    let mut found = vec![];
    let visit = &mut |item, _| {
        found.push(item);
        Ok(ControlFlow::Continue(()))
    };
    reader
        .item_index(id(collection))
        .unwrap()
        .unwrap()
        .scan(column, &[], None, false, visit)
        .unwrap();
    found
}

#[test]
fn a_number_of_a_column_is_never_used_again() {
    let (store, space) = full();
    let numbers = || {
        let (row, value) = find(&*store, &key(SCHEMAS, &[24], &[])).remove(0);
        let body = leafbase_store::rows::body(&row, &value).unwrap();
        body[body.len() - 3..].to_vec()
    };
    let of = |kinds: &[(&str, PropertyKind)]| {
        schema("Authors", kinds.iter().map(|(key, kind)| property(key, kind.clone())))
    };
    let (text, number) = (PropertyKind::Text, PropertyKind::Number);
    let mut before = of(&[]);
    write(&space, &[set(24, Some(authors()), Some(before.clone()))]).unwrap();
    // The last number, and the next one.
    for (after, expected) in [
        (of(&[("a", text.clone()), ("b", text.clone())]), [1, 2, 3]),
        (of(&[("b", text.clone()), ("a", text.clone())]), [2, 1, 3]),
        (of(&[("b", text.clone())]), [0x91, 2, 3]),
        (of(&[("b", text.clone()), ("a", text.clone())]), [2, 3, 4]),
        (of(&[("b", number.clone()), ("a", text.clone())]), [4, 3, 5]),
        (of(&[("b", text), ("a", number)]), [5, 6, 7]),
    ] {
        write(&space, &[set(24, Some(before), Some(after.clone()))]).unwrap();
        assert_eq!(numbers(), expected);
        before = after;
    }
}

/// Counts the rows read and written, in snapshots and transactions.
#[derive(Debug, Default)]
struct Counted {
    store: MemoryStore,
    reads: Arc<AtomicUsize>,
    writes: Arc<AtomicUsize>,
}

struct Counting<R> {
    rows: R,
    reads: Arc<AtomicUsize>,
    writes: Arc<AtomicUsize>,
}

macro_rules! counted_reads {
    () => {
        fn get(&self, key: &[u8], visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
            self.reads.fetch_add(1, Ordering::Relaxed);
            self.rows.get(key, visit)
        }
        fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()> {
            self.rows.scan(range, &mut |key, value| {
                self.reads.fetch_add(1, Ordering::Relaxed);
                visit(key, value)
            })
        }
    };
}

impl Read for Counting<Box<dyn Snapshot>> {
    counted_reads!();
}

impl Snapshot for Counting<Box<dyn Snapshot>> {
    fn version(&self) -> Option<u64> {
        self.rows.version()
    }
}

impl Read for Counting<&mut dyn Transaction> {
    counted_reads!();
}

impl Transaction for Counting<&mut dyn Transaction> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.writes.fetch_add(1, Ordering::Relaxed);
        self.rows.put(key, value)
    }
    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.writes.fetch_add(1, Ordering::Relaxed);
        self.rows.delete(key)
    }
    fn delete_range(&mut self, lower: &[u8], upper: &[u8]) -> Result<()> {
        self.writes.fetch_add(1, Ordering::Relaxed);
        self.rows.delete_range(lower, upper)
    }
}

impl Store for Counted {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        let (reads, writes) = (Arc::clone(&self.reads), Arc::clone(&self.writes));
        Ok(Box::new(Counting { rows: self.store.snapshot()?, reads, writes }))
    }
    fn write(
        &self,
        options: WriteOptions,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        self.store.write(options, &mut |rows| {
            let (reads, writes) = (Arc::clone(&self.reads), Arc::clone(&self.writes));
            f(&mut Counting { rows, reads, writes })
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

const MANY: u32 = 10_000;

fn number_id(number: u32) -> BlockId {
    BlockId::from_bytes((u128::from(number) + (1 << 120)).to_be_bytes())
}

fn record(number: u32, pages: f64) -> BlockRecord {
    let data = item(&format!("Book {number}"), [("pages", PropertyValue::Number(pages))]);
    BlockRecord { id: number_id(number), ..node(0, 0, data).block }
}

/// The small collections, with 10,000 more books in the first one.
fn large() -> (SpaceStore, impl Fn() -> (usize, usize)) {
    let store = Counted::default();
    let (reads, writes) = (Arc::clone(&store.reads), Arc::clone(&store.writes));
    let space = SpaceStore::create(Arc::new(store), EXTRACTOR, naive::ids(), &meta()).unwrap();
    make(&space);
    let nodes =
        (0..MANY).map(|number| SubtreeNode { depth: 0, block: record(number, f64::from(number)) });
    write(
        &space,
        &[Edit::Insert { target: target(21, Some(23)), subtrees: Subtrees(nodes.collect()) }],
    )
    .unwrap();
    let taken = move || (reads.swap(0, Ordering::Relaxed), writes.swap(0, Ordering::Relaxed));
    taken();
    (space, taken)
}

#[test]
fn a_page_of_an_index_reads_its_rows_and_no_more() {
    let (space, taken) = large();
    let snapshot = space.snapshot().unwrap();
    let index = snapshot.reader().item_index(id(21)).unwrap().unwrap();
    assert_eq!(index.items(), u64::from(MANY) + 2);
    let stats = space.stats().unwrap();
    assert_eq!((stats.collections, stats.items), (2, u64::from(MANY) + 4));
    taken();
    drop(index);
    let index = snapshot.reader().item_index(id(21)).unwrap().unwrap();
    assert!(taken().0 <= 3, "schema, place, count");
    for backwards in [false, true] {
        let mut found = 0;
        let visit = &mut |_, _| {
            found += 1;
            Ok(if found < 20 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        };
        index.scan(IndexedColumn::Property("pages"), &[], None, backwards, visit).unwrap();
        assert_eq!(taken().0, 20);
    }
    assert_eq!(index.count(IndexedColumn::Property("pages"), &[], None, 50).unwrap(), 50);
    assert_eq!(taken().0, 50);
}

#[test]
fn items_are_read_from_one_on() {
    let (space, taken) = large();
    let snapshot = space.snapshot().unwrap();
    let after = number_id(MANY - 21);
    let mut found = vec![];
    let visit = &mut |item: BlockRecord| {
        found.push(item.id);
        Ok(ControlFlow::Continue(()))
    };
    snapshot.reader().items(id(21), Some(after), visit).unwrap();
    assert_eq!(found, (MANY - 20..MANY).map(number_id).collect::<Vec<_>>());
    assert!(taken().0 <= 6, "two places and a run or two");
    let stray =
        snapshot.reader().items(id(21), Some(id(25)), &mut |_| Ok(ControlFlow::Continue(())));
    assert_eq!(stray.unwrap_err().kind(), ErrorKind::NotFound);
    // Without items, a document reads none.
    taken();
    assert_eq!(snapshot.reader().subtree_without_items(id(20), None).unwrap().0.len(), 3);
    assert!(taken().0 <= 12);
}

#[test]
fn writes_of_a_large_collection_touch_few_rows() {
    let (space, taken) = large();
    let now = Cell::new(10);
    let done = |edits: Vec<Edit>| {
        now.set(now.get() + 1);
        space.write(relaxed(), &stamp(now.get()), |open| open.apply(edits.clone())).unwrap();
        taken()
    };
    let more = |properties: &[_]| Schema {
        properties: [&books().properties, properties].concat(),
        ..books()
    };
    // Insert, rename, move, remove.
    let wide = more(&[property("more", PropertyKind::Date)]);
    let mut named = wide.clone();
    named.properties[0].name = "Length".to_owned();
    named.properties.reverse();
    for (before, after) in [(books(), wide.clone()), (wide, named.clone()), (named, books())] {
        let (reads, writes) = done(vec![set(21, Some(before), Some(after))]);
        assert!(reads <= 6 && writes <= 9, "{reads} reads, {writes} writes");
    }
    // One value of one item: its run, document with two rows, the log, the totals; and the rows of
    // the value.
    let update = |before: BlockRecord, after: BlockRecord| Edit::Update {
        document: document(),
        before: Box::new(before),
        after: Box::new(BlockRecord { rev: 2, ..after }),
    };
    let (reads, writes) = done(vec![update(record(5_000, 5_000.0), record(5_000, 1.0))]);
    assert_eq!((reads, writes), (6, 10));
    let mut after = record(6_000, 6_000.0);
    after.data.color = "#0060c0".parse().ok();
    assert_eq!(done(vec![update(record(6_000, 6_000.0), after)]), (6, 8), "no row of an index");
    // The schema is read once.
    let many = (0..50)
        .map(|number| update(record(number, f64::from(number)), record(number, 0.5)))
        .collect();
    let (_, writes) = done(many);
    assert!(writes <= 50 * 2 + 20, "{writes}");
    // A property with a new type reads the items, and writes the rows of its column alone.
    let mut retyped = books();
    retyped.properties[0].kind = PropertyKind::Text;
    let (_, writes) = done(vec![set(21, Some(books()), Some(retyped))]);
    assert!(writes <= MANY as usize + 12, "{writes}");
    assert_eq!(
        read(&space, |reader| reader.collections_of(document()))[0].items,
        u64::from(MANY) + 2
    );
}

/// If a select or the type of a property in the bitmap changes, all rows of the items are
/// rewritten.
#[test]
fn signatures_follow_values_and_types() {
    let (_, space) = full();
    let shelf = IndexedColumn::Property("shelf");
    let seen = |key: &[u8]| {
        let snapshot = space.snapshot().unwrap();
        let index = snapshot.reader().item_index(id(21)).unwrap().unwrap();
        let mut found = vec![];
        let wanted = index.bitmap(shelf, key);
        let visit = &mut |item, bitmap: IndexBitmap| {
            found.push((item, wanted.is_some_and(|wanted| bitmap.may_have(wanted)), bitmap));
            Ok(ControlFlow::Continue(()))
        };
        index.scan(IndexedColumn::Title, &[], None, false, visit).unwrap();
        assert!(check(&space).is_clean());
        found
    };
    let tells = |key: &[u8]| {
        seen(key).into_iter().map(|(item, tells, _)| (item, tells)).collect::<Vec<_>>()
    };
    let update = |rev, values: [Option<&str>; 2]| {
        let of = |value: Option<&str>| {
            item("Emma", value.map(|value| ("shelf", PropertyValue::Text(value.to_owned()))))
        };
        let [before, after] = values.map(|value| node(0, 23, of(value)).block);
        let (before, after) =
            (BlockRecord { rev, ..before }, BlockRecord { rev: rev + 1, ..after });
        Edit::Update { document: document(), before: Box::new(before), after: Box::new(after) }
    };
    let (key, other) = (b"oa\0", b"ob\0");
    assert_eq!(tells(key), [(id(23), false), (id(22), false)]);
    write(&space, &[update(1, [None, Some("A")])]).unwrap();
    assert_eq!(tells(key), [(id(23), true), (id(22), false)]);
    assert_eq!(tells(other), [(id(23), false), (id(22), false)]);
    write(&space, &[update(2, [Some("A"), Some("B")])]).unwrap();
    assert_eq!((tells(key)[0].1, tells(other)[0].1), (false, true));
    // A text is not in the bitmap; a select with another column sets other bits.
    let signed = seen(other)[0].2;
    let mut text = books();
    text.properties[2].kind = PropertyKind::Text;
    write(&space, &[set(21, Some(books()), Some(text.clone()))]).unwrap();
    assert_eq!(seen(other)[0].2, IndexBitmap::default());
    write(&space, &[set(21, Some(text), Some(books()))]).unwrap();
    assert_eq!(tells(other), [(id(23), true), (id(22), false)]);
    assert_ne!(seen(other)[0].2, signed);
    // Other options change no row.
    let mut more = books();
    more.properties[2].kind =
        PropertyKind::SingleSelect(vec![SelectOption::new("C"), SelectOption::new("B")]);
    write(&space, &[set(21, Some(books()), Some(more.clone()))]).unwrap();
    assert_eq!(tells(other), [(id(23), true), (id(22), false)]);
    write(&space, &[update(3, [Some("B"), None])]).unwrap();
    assert_eq!(seen(other)[0].2, IndexBitmap::default());
}

/// Control: the check detects rows of another key extractor.
#[test]
fn other_keys_are_noticed() {
    let (store, space) = memory_space();
    make(&space);
    assert!(check(&space).is_clean());
    let space = SpaceStore::open(
        store,
        leafbase_store::Extractor { keys: |_, _| vec![vec![7]], ..EXTRACTOR },
        naive::ids(),
    )
    .unwrap();
    let problems = check(&space).problems;
    assert!(
        !problems.is_empty()
            && problems
                .iter()
                .all(|problem| problem.invariant == leafbase_store::Invariant::ItemIndex)
    );
}

/// Effects on collections that the random edits must cover.
fn kinds(naive: &Naive, edit: &Edit) -> Vec<&'static str> {
    let has_items = |collection: &BlockId| !naive.children(*collection).is_empty();
    let kind_of = |schema: &Schema, key: &str| {
        schema.property(key).map(|property| property.kind.property_type())
    };
    match edit {
        Edit::Move { block, from, to } if from.document != to.document => {
            let subtrees = naive.subtree(*block, usize::MAX);
            subtrees
                .0
                .iter()
                .filter(|node| naive.schemas.contains_key(&node.block.id))
                .map(|_| "taken along")
                .collect()
        }
        Edit::Move { from, .. } if naive.schemas.contains_key(&from.parent) => {
            vec!["another place"]
        }
        Edit::Insert { target, .. } if naive.schemas.contains_key(&target.parent) => vec!["added"],
        Edit::Remove { target, .. } if naive.schemas.contains_key(&target.parent) => {
            vec!["removed"]
        }
        Edit::Update { before, .. }
            if matches!(before.data.kind, BlockKind::CollectionItem { .. }) =>
        {
            vec!["changed"]
        }
        Edit::SetSchema { collection, before: None, .. } if has_items(collection) => {
            vec!["made with items"]
        }
        Edit::SetSchema { collection, after: None, .. } if has_items(collection) => {
            vec!["gone with items"]
        }
        Edit::SetSchema { collection, before: Some(before), after: Some(after), .. }
            if has_items(collection) =>
        {
            let gone =
                before.properties.iter().map(|property| (property, kind_of(after, &property.key)));
            let kinds = gone.filter_map(|(property, after)| match after {
                None => Some("column gone"),
                Some(after) => {
                    (after != property.kind.property_type()).then_some("column of another type")
                }
            });
            let come =
                after.properties.iter().filter(|property| before.property(&property.key).is_none());
            kinds.chain(come.map(|_| "column come")).collect()
        }
        _ => vec![],
    }
}

#[test]
fn the_random_edits_cover_all_effects() {
    let (_, space) = memory_space();
    let (mut naive, mut maker, mut now) = (Naive::default(), Maker::new(), 1_000);
    let mut state = 7_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(state >> 33).unwrap()
    };
    play(&space, &mut naive, &mut maker, &[[0, 1, 1, 38]], &mut now);
    let numbers: Vec<[u32; 4]> = (0..700).map(|_| [next(), next(), next(), next()]).collect();
    play(&space, &mut naive, &mut maker, &numbers, &mut now);
    let (mut replayed, mut met) = (Naive::default(), BTreeMap::<_, u32>::new());
    for change in read(&space, |reader| reader.changes_after(0, usize::MAX)) {
        for edit in &change.edits {
            for kind in kinds(&replayed, edit) {
                *met.entry(kind).or_default() += 1;
            }
            replayed.apply(edit);
        }
    }
    assert_eq!(replayed.schemas, naive.schemas);
    assert!(met.len() == 10 && met.values().all(|times| *times > 1), "{met:?}");
}
