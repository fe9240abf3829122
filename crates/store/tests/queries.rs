//! Queries for documents and tasks return what a scan of all records does, and read no more rows
//! than they must.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test"
)]

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use leafbase_model::{
    BlockData, BlockId, BlockRecord, Day, DocumentId, DocumentRecord, Edit, Error, ErrorKind,
    FolderId, FolderRecord, InsertTarget, ListStyle, Location, Result, SubtreeNode, Subtrees,
    TaskInfo, TaskState, Timestamp,
};
use leafbase_store::kv::{
    KeyRange, MemoryStore, Read, Snapshot, Store, Transaction, Visit, WriteOptions,
};
use leafbase_store::{
    DocumentQuery, Extractor, IndexOrder, PageCursor, SpaceReader, SpaceStore, Span, TaskRow,
    Within, task_location,
};
use proptest::prelude::*;

mod naive;

use naive::agrees::{answer, pages};
use naive::{extract, extract_tags, relaxed, stamp};

thread_local! {
    /// Number of rows that this thread has read.
    static ROWS: Cell<usize> = const { Cell::new(0) };
}

fn count_row() {
    ROWS.set(ROWS.get() + 1);
}

/// A store in memory that counts the rows that its snapshots read.
#[derive(Debug, Default)]
struct Counted {
    store: MemoryStore,
}

struct Counting(Box<dyn Snapshot>);

impl Snapshot for Counting {
    fn version(&self) -> Option<u64> {
        self.0.version()
    }
}

impl Read for Counting {
    fn get(&self, key: &[u8], visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        count_row();
        self.0.get(key, visit)
    }
    fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()> {
        self.0.scan(range, &mut |key, value| {
            count_row();
            visit(key, value)
        })
    }
}

impl Store for Counted {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        Ok(Box::new(Counting(self.store.snapshot()?)))
    }
    fn write(
        &self,
        options: WriteOptions,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        self.store.write(options, f)
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

/// A space of generated documents, and their records.
struct Shelf {
    space: SpaceStore,
    records: Vec<DocumentRecord>,
}

fn id(number: u32) -> BlockId {
    // Scattered, so that IDs do not sort as the numbers do.
    let mixed = u128::from(number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    BlockId::from_bytes(mixed.to_be_bytes())
}

fn folder(number: u32) -> FolderId {
    FolderId::from_bytes([u8::try_from(number).unwrap() + 1; 16])
}

fn time(number: u32) -> Timestamp {
    Timestamp::from_millis(i64::from(number) - 30)
}

fn day(number: u32) -> Day {
    Day::from_epoch_days(i64::from(number) - 30)
}

/// The root of a document and its blocks.
fn document(
    record: &DocumentRecord,
    children: impl IntoIterator<Item = (u16, BlockId, BlockData)>,
) -> Edit {
    let block = |id, data| BlockRecord { id, rev: 1, created: stamp(1), modified: stamp(1), data };
    let mut nodes =
        vec![SubtreeNode { depth: 0, block: block(record.id.root(), BlockData::page("Page")) }];
    nodes.extend(
        children.into_iter().map(|(depth, id, data)| SubtreeNode { depth, block: block(id, data) }),
    );
    Edit::CreateDocument { record: record.clone(), subtrees: Subtrees(nodes) }
}

/// The tags that a document may have, and every how many have one.
const TAGS: [(&str, u8); 3] = [("many", 3), ("some", 16), ("few", 100)];

/// Whether a document has a tag.
fn is_tagged(record: &DocumentRecord, tag: &str) -> bool {
    let number = record.id.to_bytes()[7];
    TAGS.iter().any(|(name, every)| *name == tag && number.is_multiple_of(*every))
}

/// A text with the tags of a document.
fn tags(record: &DocumentRecord) -> (u16, BlockId, BlockData) {
    let names = TAGS.iter().map(|(name, _)| *name).filter(|name| is_tagged(record, name));
    let words: Vec<_> = names.map(|name| format!("t:{name}")).collect();
    let [first, rest @ ..] = record.id.to_bytes();
    let mut id = [0; 16];
    (id[0], id[15]) = (!first, 1);
    id[1..15].copy_from_slice(&rest[..14]);
    (1, BlockId::from_bytes(id), BlockData::text(words.join(" ")))
}

/// The matches of `query`, by brute force.
fn matches(records: &[DocumentRecord], query: &DocumentQuery) -> Vec<DocumentRecord> {
    let mut found = answer(records, query);
    found.retain(|record| query.tags.iter().all(|tag| is_tagged(record, tag)));
    found
}

const FOLDERS: u32 = 6;
/// Number of documents of the space of random queries, and maximum number of days.
const MIXED: u32 = 3_000;

impl Shelf {
    fn of(records: Vec<DocumentRecord>) -> Self {
        let space = SpaceStore::create(
            Arc::new(Counted::default()),
            Extractor { tags: extract_tags, ..Extractor::of_edges(extract) },
            naive::ids(),
            &naive::meta(),
        )
        .unwrap();
        let folders = (0..FOLDERS).map(|number| {
            Edit::CreateFolder(FolderRecord {
                id: folder(number),
                name: number.to_string(),
                parent: None,
                rev: 1,
            })
        });
        let edits: Vec<Edit> =
            folders.chain(records.iter().map(|record| document(record, [tags(record)]))).collect();
        space.write(relaxed(), &stamp(-1_000_000), |open| open.apply(edits.clone())).unwrap();
        Self { space, records }
    }

    /// Documents in all locations, with repeated times, and in the trash with repeated days.
    fn mixed(count: u32) -> Self {
        let records = (0..count).map(|number| {
            let mixed = number.wrapping_mul(2_654_435_761) >> 8;
            let is_of_day = mixed % 5 == 0;
            let location = match mixed % 64 {
                _ if number == 77 => Location::Inbox,
                0..6 => Location::Folder(folder(mixed % 64)),
                6..20 => Location::Folder(folder(0)),
                20 => Location::Templates,
                21..30 => Location::Trash,
                _ if is_of_day => Location::DailyNotes,
                _ => Location::Unsorted,
            };
            // A day has one note outside of the trash.
            let other = if location == Location::Trash { mixed / 5 % count } else { number };
            let day = is_of_day.then(|| day(other));
            let (created_at, modified_at) = (time(mixed / 64 % 60), time(mixed / 640 % 60));
            DocumentRecord {
                id: DocumentId::of_root(id(number)),
                location,
                day,
                created_at,
                modified_at,
                rev: 1,
            }
        });
        Self::of(records.collect())
    }

    /// The result of `read`, and the number of rows that it read.
    fn counted<T>(&self, read: impl FnOnce(SpaceReader<'_>) -> T) -> (T, usize) {
        let snapshot = self.space.snapshot().unwrap();
        ROWS.set(0);
        let given = read(snapshot.reader());
        (given, ROWS.get())
    }

    /// The size of the smallest index range that contains all matches of `query`.
    fn smallest(&self, query: &DocumentQuery) -> usize {
        let DocumentQuery { within, created, modified, day, order, .. } = query.clone();
        let places = DocumentQuery { within, ..DocumentQuery::default() };
        let day_order = if order == IndexOrder::Day { order } else { IndexOrder::Id };
        let ranges = [
            DocumentQuery { created, ..places.clone() },
            DocumentQuery { modified, ..places.clone() },
            places,
            DocumentQuery { day, order: day_order, ..DocumentQuery::default() },
        ];
        let tags = query
            .tags
            .iter()
            .map(|tag| DocumentQuery { tags: vec![tag.clone()], ..DocumentQuery::default() });
        let ranges = ranges.into_iter().chain(tags);
        ranges.map(|range| matches(&self.records, &range).len()).min().unwrap()
    }
}

fn span<T>(strategy: impl Strategy<Value = T> + Clone) -> impl Strategy<Value = Span<T>>
where
    T: std::fmt::Debug,
{
    let bound = || prop::option::weighted(0.3, strategy.clone());
    (bound(), bound()).prop_map(|(from, to)| Span { from, to })
}

fn query() -> impl Strategy<Value = DocumentQuery> {
    let times = || span((0..62_u32).prop_map(time));
    let built_in = [
        Location::Unsorted,
        Location::Templates,
        Location::DailyNotes,
        Location::Trash,
        Location::Inbox,
    ];
    let within = prop_oneof![
        2 => Just(Within::All),
        2 => prop::sample::select(built_in.to_vec()).prop_map(Within::Location),
        1 => (0..FOLDERS).prop_map(|number| Within::Location(Location::Folder(folder(number)))),
        2 => prop::collection::vec((0..FOLDERS + 2).prop_map(folder), 0..8).prop_map(Within::Folders),
    ];
    let order = prop::sample::select(vec![
        IndexOrder::Id,
        IndexOrder::Created,
        IndexOrder::Modified,
        IndexOrder::Day,
    ]);
    let names = ["many", "some", "few", "none"];
    let tags = prop_oneof![
        2 => Just(vec![]),
        1 => prop::sample::subsequence(names.to_vec(), 1..3),
    ];
    let days = span((0..MIXED + 60).prop_map(day));
    (within, times(), times(), days, tags, order, any::<bool>()).prop_map(
        |(within, created, modified, day, tags, order, descending)| DocumentQuery {
            within,
            created,
            modified,
            day,
            tags: tags.into_iter().map(str::to_owned).collect(),
            order,
            descending,
        },
    )
}

fn mixed() -> &'static Shelf {
    static SHELF: OnceLock<Shelf> = OnceLock::new();
    SHELF.get_or_init(|| Shelf::mixed(MIXED))
}

/// Maximum number of rows that a page reads before any range is known to be small.
const TRIED: usize = 128;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_query_equals_brute_force(query in query(), limit in 1..80_usize) {
        let shelf = mixed();
        let expected = matches(&shelf.records, &query);
        let snapshot = shelf.space.snapshot().unwrap();
        prop_assert_eq!(pages(snapshot.reader(), &query, limit), &expected[..]);
        prop_assert_eq!(pages(snapshot.reader(), &query, usize::MAX), expected);
    }

    #[test]
    fn a_page_reads_a_small_multiple_of_the_smallest_range(query in query(), limit in 1..80_usize) {
        let shelf = mixed();
        // A record that is read is looked up under each tag.
        let factor = 12 + 4 * query.tags.len();
        let bound = factor * shelf.smallest(&query).max(TRIED) + 2 * (limit + 1);
        let (page, rows) = shelf.counted(|reader| reader.find_documents(&query, None, limit).unwrap());
        prop_assert!(rows <= bound, "{} rows of {} documents for {:?}", rows, bound, query);
        if let Some(next) = page.next {
            let (_, rows) = shelf.counted(|reader| reader.find_documents(&query, Some(&next), limit).unwrap());
            prop_assert!(rows <= bound, "{} rows of {} documents for the next of {:?}", rows, bound, query);
        }
    }
}

#[test]
fn a_page_of_an_order_alone_reads_the_page() {
    let shelf = mixed();
    let of = |order| DocumentQuery { order, ..DocumentQuery::default() };
    let at =
        |location| DocumentQuery { within: Within::Location(location), ..DocumentQuery::default() };
    let of_folders = DocumentQuery {
        within: Within::Folders((0..FOLDERS).map(folder).collect()),
        ..of(IndexOrder::Id)
    };
    let spanned = DocumentQuery {
        created: Span { from: Some(time(20)), to: Some(time(50)) },
        ..of(IndexOrder::Created)
    };
    let queries = [
        of(IndexOrder::Id),
        of(IndexOrder::Created),
        of(IndexOrder::Modified),
        of(IndexOrder::Day),
        at(Location::Unsorted),
        at(Location::Folder(folder(0))),
        DocumentQuery { order: IndexOrder::Modified, ..at(Location::Unsorted) },
        DocumentQuery { order: IndexOrder::Created, ..at(Location::Trash) },
        DocumentQuery { within: Within::Location(Location::Unsorted), ..spanned.clone() },
        DocumentQuery { order: IndexOrder::Created, ..of_folders.clone() },
        DocumentQuery { order: IndexOrder::Modified, ..of_folders },
        spanned,
        DocumentQuery { tags: vec!["many".to_owned()], ..of(IndexOrder::Id) },
    ];
    for query in queries.iter().flat_map(|query| {
        [false, true].map(|descending| DocumentQuery { descending, ..query.clone() })
    }) {
        let mut cursor: Option<PageCursor> = None;
        for _ in 0..4 {
            let (page, rows) =
                shelf.counted(|reader| reader.find_documents(&query, cursor.as_ref(), 40).unwrap());
            // A key and a record for each, and for the one that tells that it goes on. All by ID
            // are one scan, which passes the inbox by; of several folders, some keys of each are
            // read. Records that are close together are scanned, with as many of others between.
            let most = match (&query.within, query.order) {
                // And whether each has the tag.
                (Within::All, IndexOrder::Id) if !query.tags.is_empty() => 5 * 41,
                (Within::All, IndexOrder::Id) => 41 + 1,
                (Within::Folders(folders), _) => {
                    4 * 41 + folders.len() * 41_usize.div_ceil(folders.len())
                }
                _ => 4 * 41,
            };
            assert!(page.documents.len() == 40 && rows <= most, "{rows} rows for {query:?}");
            cursor = page.next;
        }
    }
}

/// By ID the matches are at the end, so the range of their times is found first.
#[test]
fn a_range_is_sorted_by_its_ids_before_records_are_read() {
    let mut records = Shelf::mixed(2_000).records;
    records.sort_unstable_by_key(|record| record.id);
    for (number, record) in records.iter_mut().enumerate() {
        record.created_at =
            time(if number < 1_500 { 1 } else { 2_000 - u32::try_from(number / 2).unwrap() });
    }
    let shelf = Shelf::of(records);
    let late = DocumentQuery {
        created: Span { from: Some(time(2)), to: None },
        ..DocumentQuery::default()
    };
    let before_the_last =
        DocumentQuery { modified: Span { from: None, to: Some(time(50)) }, ..late.clone() };
    // The keys of another range that was tried meanwhile, and records that it leaves out.
    for (query, beside) in [(late, 0), (before_the_last, 4 * TRIED + 32)] {
        let expected = matches(&shelf.records, &query);
        assert_eq!(pages(shelf.space.snapshot().unwrap().reader(), &query, 20), expected);
        let (page, rows) = shelf.counted(|reader| reader.find_documents(&query, None, 20).unwrap());
        assert!(page.documents.iter().map(|row| &row.record).eq(&expected[..20]));
        // Those tried by ID with their records, the keys of all late ones, and the records of the
        // page.
        assert!(rows <= 2 * 4 * TRIED + 500 + 21 + beside, "{rows} rows for {query:?}");
    }
}

#[test]
fn the_cost_of_a_query_does_not_grow_with_the_space() {
    let [small, large] = [1_000, 8_000].map(|count| {
        let mut records = Shelf::mixed(count).records;
        // Ten documents of a place, of a span of times, and of days that no other has.
        for (number, record) in records.iter_mut().step_by(97).take(10).enumerate() {
            let number = u32::try_from(number).unwrap();
            record.location = Location::Folder(folder(FOLDERS - 1));
            record.created_at = time(1_000 + number);
            record.day = Some(day(10_000 + number));
        }
        for record in records
            .iter_mut()
            .filter(|record| record.location == Location::Folder(folder(FOLDERS - 1)))
        {
            if record.day < Some(day(10_000)) {
                record.location = Location::Trash;
            }
        }
        Shelf::of(records)
    });
    let rare = DocumentQuery {
        created: Span { from: Some(time(1_000)), to: None },
        ..DocumentQuery::default()
    };
    let place = Within::Folders((2..FOLDERS).map(folder).collect());
    let queries = [
        rare.clone(),
        DocumentQuery { order: IndexOrder::Modified, descending: true, ..rare.clone() },
        DocumentQuery {
            within: Within::Location(Location::Folder(folder(FOLDERS - 1))),
            order: IndexOrder::Modified,
            ..DocumentQuery::default()
        },
        DocumentQuery { within: place, ..rare },
        DocumentQuery {
            day: Span { from: Some(day(10_000)), to: None },
            order: IndexOrder::Created,
            ..DocumentQuery::default()
        },
    ];
    for query in queries {
        let [(few, before), (same, after)] = [&small, &large]
            .map(|shelf| shelf.counted(|reader| reader.find_documents(&query, None, 50).unwrap()));
        assert_eq!((few.documents.len(), same.documents.len()), (10, 10), "{query:?}");
        assert!(before.max(after) <= 8 * TRIED, "{before} and {after} rows for {query:?}");
    }
    // Control: the scanned range does grow.
    let [few, many] = [&small, &large].map(|shelf| {
        let query = DocumentQuery {
            within: Within::Location(Location::Unsorted),
            ..DocumentQuery::default()
        };
        shelf.counted(|reader| reader.find_documents(&query, None, usize::MAX).unwrap()).1
    });
    assert!(many > 7 * few, "{few} {many}");
}

#[test]
fn cursors_stay_valid_while_documents_are_added_and_removed() {
    for (order, descending) in
        [IndexOrder::Id, IndexOrder::Created, IndexOrder::Modified, IndexOrder::Day]
            .into_iter()
            .flat_map(|order| [(order, false), (order, true)])
    {
        let shelf = Shelf::mixed(600);
        let within = Within::Folders(vec![folder(0), folder(3), folder(4)]);
        let query = DocumentQuery { within, order, descending, ..DocumentQuery::default() };
        let before = matches(&shelf.records, &query);
        let (mut found, mut cursor, mut gone) = (vec![], None, vec![]);
        loop {
            let page = shelf
                .space
                .snapshot()
                .unwrap()
                .reader()
                .find_documents(&query, cursor.as_ref(), 3)
                .unwrap();
            // The document of the cursor is removed, and another one is added to a folder of the
            // query.
            let last = page.documents.last().unwrap().record.clone();
            let number = 1_000 + u32::try_from(found.len()).unwrap();
            let new = DocumentRecord {
                id: DocumentId::of_root(id(number)),
                location: Location::Folder(folder(3)),
                ..last.clone()
            };
            shelf
                .space
                .write(relaxed(), &stamp(-1_000_000), |open| {
                    let subtrees = open.reader()?.subtree(last.id.root(), None)?;
                    open.apply(vec![
                        Edit::EraseDocument { record: last.clone(), subtrees },
                        document(&new, []),
                    ])
                })
                .unwrap();
            gone.push(last.id);
            found.extend(page.documents.into_iter().map(|row| row.record));
            let Some(next) = page.next else { break };
            cursor = Some(next);
        }
        let known: Vec<_> =
            found.iter().filter(|record| before.contains(record)).cloned().collect();
        assert_eq!(known, before, "{query:?}");
        assert!(gone.len() >= before.len() / 3 && before.len() > 20);
    }
}

fn task(state: TaskState, schedule: Option<Day>) -> BlockData {
    let task = TaskInfo { schedule_date: schedule, ..TaskInfo::of_state(state).stamped(time(5)) };
    BlockData { list_style: ListStyle::Task, task: Some(task), ..BlockData::text("to do") }
}

/// A document of many texts, deep pages and few tasks, and one with tasks only.
fn with_tasks(texts: u32) -> (Shelf, DocumentId, Vec<BlockId>) {
    let shelf = Shelf::of(vec![]);
    let record = |number| DocumentRecord {
        id: DocumentId::of_root(id(number)),
        location: Location::Unsorted,
        day: None,
        created_at: time(1),
        modified_at: time(1),
        rev: 1,
    };
    let (mut children, mut tasks) = (vec![], vec![]);
    for number in 1..=texts {
        let (depth, data) = match number % (texts / 5) {
            1 => (1, BlockData::page("Page")),
            2 => (2, BlockData::page("Inner")),
            3 => (3, task(TaskState::Todo, None)),
            4 => (3, task(TaskState::Done, None)),
            _ => (3, BlockData::text("the quick brown fox jumps over the lazy dog")),
        };
        tasks.extend(data.task.map(|_| id(number)));
        children.push((depth, id(number), data));
    }
    let many = (texts + 1..2 * texts)
        .map(|number| (1, id(number), task(TaskState::Todo, Some(day(number % 50)))));
    let edits = vec![document(&record(0), children), document(&record(9_999_999), many)];
    shelf.space.write(relaxed(), &stamp(2), |open| open.apply(edits.clone())).unwrap();
    (shelf, DocumentId::of_root(id(0)), tasks)
}

#[test]
fn reading_tasks_reads_no_other_blocks() {
    for texts in [1_000, 6_000] {
        let (shelf, document, tasks) = with_tasks(texts);
        assert_eq!(tasks.len(), 10);
        let (found, rows) = shelf.counted(|reader| reader.tasks_of(document, false).unwrap());
        assert_eq!(found, tasks);
        // For each a row, a place and a run; and for each of the ten pages above, and the root.
        assert!(rows <= 10 * 3 + 11 * 2, "{rows}");
        let (open, _) = shelf.counted(|reader| reader.tasks_of(document, true).unwrap());
        assert_eq!(open, tasks.iter().copied().step_by(2).collect::<Vec<_>>());
        let (page, rows) = shelf.counted(|reader| {
            reader.open_tasks(Span { from: None, to: Some(day(20)) }, None, 15).unwrap()
        });
        assert_eq!((page.tasks.len(), rows), (15, 16));
        let (page, rows) = shelf.counted(|reader| reader.logbook(None, 3).unwrap());
        assert_eq!((page.tasks.len(), rows), (3, 4));
        let nothing = shelf.counted(|reader| {
            reader.open_tasks(Span { from: Some(day(500)), to: None }, None, 15).unwrap()
        });
        assert_eq!((nothing.0.tasks.len(), nothing.1), (0, 0));
    }
}

/// Staged rows move along: tasks deep in a page, between documents, and into the trash or a
/// template and out.
#[test]
fn tasks_follow_their_page_and_their_document_within_one_write() {
    let shelf = Shelf::of(vec![]);
    let record = |number, location| DocumentRecord {
        id: DocumentId::of_root(id(number)),
        location,
        day: None,
        created_at: time(1),
        modified_at: time(1),
        rev: 1,
    };
    let (first, second) = (record(1, Location::Unsorted), record(2, Location::Trash));
    // The rows of lists have no block as long as this.
    let long = BlockData { inline: "done ".repeat(300), ..task(TaskState::Done, None) };
    let tasks = [
        (1, id(10), BlockData::page("Page")),
        (2, id(11), BlockData::page("Inner")),
        (3, id(12), task(TaskState::Todo, Some(day(5)))),
        (3, id(13), long),
    ];
    let target = |number| InsertTarget {
        document: DocumentId::of_root(id(number)),
        parent: id(number),
        after: None,
    };
    let to = |before: &DocumentRecord, location| Edit::UpdateDocument {
        before: before.clone(),
        after: DocumentRecord { location, ..before.clone() },
    };
    let moved = |from, to| Edit::Move { block: id(10), from: target(from), to: target(to) };
    let steps = [
        (vec![document(&first, tasks), document(&second, [])], 1, true),
        (vec![moved(1, 2)], 2, false),
        (vec![to(&second, Location::Templates)], 2, false),
        (vec![to(&record(2, Location::Templates), Location::DailyNotes)], 2, true),
        (vec![to(&first, Location::Templates), moved(2, 1)], 1, false),
        (vec![moved(1, 2)], 2, true),
        (vec![moved(2, 1), to(&record(1, Location::Templates), Location::Trash)], 1, false),
        (vec![to(&record(1, Location::Trash), Location::Inbox)], 1, true),
        (vec![to(&record(1, Location::Inbox), Location::Unsorted)], 1, true),
    ];
    let holds = |reader: SpaceReader<'_>, home: u32, is_listed: bool| {
        for number in [1, 2] {
            let expected = if number == home { vec![id(12), id(13)] } else { vec![] };
            assert_eq!(reader.tasks_of(DocumentId::of_root(id(number)), false).unwrap(), expected);
        }
        let record = reader.document(DocumentId::of_root(id(home))).unwrap().unwrap();
        let row = |block| {
            let block = reader.block(block).unwrap().unwrap();
            TaskRow { block, location: task_location(&record) }
        };
        let listed = |block| if is_listed { vec![row(block)] } else { vec![] };
        assert_eq!(reader.open_tasks(Span::default(), None, 9).unwrap().tasks, listed(id(12)));
        assert_eq!(reader.logbook(None, 9).unwrap().tasks, listed(id(13)));
    };
    // All in one transaction, up to each step; and each step in its own.
    for count in 1..=steps.len() {
        let (edits, (_, home, is_listed)) =
            (steps[..count].iter().flat_map(|step| step.0.clone()), &steps[count - 1]);
        let edits: Vec<Edit> = edits.collect();
        let written = shelf.space.write(relaxed(), &stamp(2), |open| {
            open.apply(edits.clone())?;
            holds(open.reader()?, *home, *is_listed);
            Err::<(), _>(Error::rule("a test ends here"))
        });
        assert_eq!(written.unwrap_err().kind(), ErrorKind::RuleViolation);
    }
    for (edits, home, is_listed) in steps {
        shelf.space.write(relaxed(), &stamp(2), |open| open.apply(edits.clone())).unwrap();
        holds(shelf.space.snapshot().unwrap().reader(), home, is_listed);
        let report = shelf.space.check(&mut |_| ControlFlow::Continue(())).unwrap();
        assert!(report.is_clean() && report.tasks == 2, "{report:#?}");
    }
}

#[test]
fn a_cursor_of_other_tasks_is_refused() {
    let (shelf, ..) = with_tasks(1_000);
    let snapshot = shelf.space.snapshot().unwrap();
    let reader = snapshot.reader();
    let early = Span { from: None, to: Some(day(10)) };
    let late = Span { from: Some(day(11)), to: None };
    let cursor = reader.open_tasks(early, None, 3).unwrap().next.unwrap();
    let logged = reader.logbook(None, 1).unwrap().next.unwrap();
    let listed = reader.find_documents(&DocumentQuery::default(), None, 1).unwrap().next.unwrap();
    assert!(
        reader.open_tasks(early, Some(&cursor), 3).is_ok()
            && reader.logbook(Some(&logged), 3).is_ok()
    );
    let refused = [
        reader.open_tasks(late, Some(&cursor), 3),
        reader.open_tasks(early, Some(&logged), 3),
        reader.open_tasks(early, Some(&listed), 3),
        reader.logbook(Some(&cursor), 3),
        reader.logbook(Some(&PageCursor::from_bytes(b"\x52")), 3),
    ];
    for refused in refused {
        let error = refused.unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::Validation, "cursor"));
    }
    assert!(reader.find_documents(&DocumentQuery::default(), Some(&cursor), 1).is_err());
}

#[test]
fn counts_the_inbox_and_the_note_of_a_day_are_looked_up() {
    let mut records = Shelf::mixed(1_000).records;
    for record in records.iter_mut().take(400).filter(|record| record.location != Location::Inbox) {
        (record.location, record.day) = (Location::Trash, Some(day(7)));
    }
    records[500].location = Location::DailyNotes;
    records[500].day = Some(day(7));
    records.retain(|record| {
        record.day != Some(day(7))
            || record.location == Location::Trash
            || record.id == DocumentId::of_root(id(500))
    });
    let shelf = Shelf::of(records);
    let (note, rows) = shelf.counted(|reader| reader.note_of(day(7)).unwrap().unwrap());
    assert_eq!((note.id, rows), (DocumentId::of_root(id(500)), 2));
    let (inbox, rows) = shelf.counted(|reader| reader.inbox().unwrap().unwrap());
    assert_eq!((inbox.id, rows), (DocumentId::of_root(id(77)), 2));
    let (count, rows) = shelf.counted(|reader| reader.location_count(Location::Trash).unwrap());
    let trashed = shelf.records.iter().filter(|record| record.location == Location::Trash).count();
    assert_eq!((count, rows), (trashed as u64, 1));
    let stats = shelf.space.stats().unwrap();
    let report = shelf.space.check(&mut |_| ControlFlow::Continue(())).unwrap();
    assert!(report.is_clean(), "{report:#?}");
    let without_inbox = shelf.records.len() as u64 - 1;
    assert_eq!((stats.documents, report.documents), (without_inbox, without_inbox));
}

#[test]
fn a_space_has_one_inbox() {
    let mut records = Shelf::mixed(100).records;
    records.retain(|record| record.location != Location::Inbox);
    records.truncate(3);
    let shelf = Shelf::of(records.clone());
    let new = |number, location| DocumentRecord {
        id: DocumentId::of_root(id(number)),
        location,
        day: None,
        ..records[0].clone()
    };
    let write = |edits: Vec<Edit>| {
        shelf.space.write(relaxed(), &stamp(1), |open| open.apply(edits.clone())).map(drop)
    };
    let to = |before: &DocumentRecord, location| Edit::UpdateDocument {
        before: before.clone(),
        after: DocumentRecord { location, ..before.clone() },
    };
    let (first, second) = (new(500, Location::Inbox), new(501, Location::Inbox));
    write(vec![document(&first, [])]).unwrap();
    // Stored, and staged by the same transaction.
    for edits in [
        vec![document(&second, [])],
        vec![to(&records[0], Location::Inbox)],
        vec![
            to(&first, Location::Unsorted),
            document(&second, []),
            to(&records[0], Location::Inbox),
        ],
    ] {
        assert_eq!(write(edits).unwrap_err().kind(), ErrorKind::Conflict);
    }
    write(vec![to(&first, Location::Unsorted), to(&records[0], Location::Inbox)]).unwrap();
    let inbox = shelf.space.snapshot().unwrap().reader().inbox().unwrap();
    assert_eq!(inbox.map(|record| record.id), Some(records[0].id));
}
