//! Several spaces over one store: each request to one of them is answered as one space would
//! answer, which has been asked for all of them in this order.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;
use std::{io, thread};

use leafbase::{
    Clock, ErrorKind, Fetch, ListDocuments, MoveBlocks, MoveDocuments, Position, Result,
    SearchIndexing, Space, Timestamp, UploadFile,
};
use leafbase_store::kv::{
    KeyRange, MemoryStore, Read as ReadRows, Snapshot, Store, Transaction, Visit, WriteOptions,
};
use tests::model::pair::Pair;
use tests::model::sequences::{run, sequences};

/// Longer than any test waits.
const LONG: Duration = Duration::from_secs(600);
const HOUR_MILLIS: i64 = 3_600_000;

fn shared(count: usize) -> Vec<Arc<dyn Store>> {
    let store = Arc::new(MemoryStore::new());
    (0..count).map(|_| Arc::clone(&store) as Arc<dyn Store>).collect()
}

/// A handle whose states have the numbers that `number` gives them.
#[derive(Debug)]
struct Handle {
    store: Arc<MemoryStore>,
    numbers: Numbers,
    own_writes: AtomicU64,
}

#[derive(Clone, Copy, Debug)]
enum Numbers {
    /// None: the sequence of the last change is read.
    None,
    /// The writes of this handle, as if there were no others.
    OwnWrites,
}

struct NumberedSnapshot(Box<dyn Snapshot>, Option<u64>);

impl ReadRows for NumberedSnapshot {
    fn get(&self, key: &[u8], visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        self.0.get(key, visit)
    }

    fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()> {
        self.0.scan(range, visit)
    }
}

impl Snapshot for NumberedSnapshot {
    fn version(&self) -> Option<u64> {
        self.1
    }
}

impl Store for Handle {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        let number = match self.numbers {
            Numbers::None => None,
            Numbers::OwnWrites => Some(self.own_writes.load(Ordering::SeqCst)),
        };
        Ok(Box::new(NumberedSnapshot(self.store.snapshot()?, number)))
    }

    fn write(
        &self,
        options: WriteOptions,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        self.store.write(options, f)?;
        self.own_writes.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn flush(&self) -> Result<()> {
        self.store.flush()
    }

    fn compact(&self) -> Result<()> {
        self.store.compact()
    }

    fn verify(&self) -> Result<bool> {
        self.store.verify()
    }

    fn bytes(&self) -> Result<u64> {
        self.store.bytes()
    }
}

fn numbered(numbers: Numbers, count: usize) -> Vec<Arc<dyn Store>> {
    let store = Arc::new(MemoryStore::new());
    let handle = |_| {
        let (store, own_writes) = (Arc::clone(&store), AtomicU64::default());
        Arc::new(Handle { store, numbers, own_writes }) as Arc<dyn Store>
    };
    (0..count).map(handle).collect()
}

/// What each space finds, which a new one over the store finds, too.
fn compare_searches(pair: &Pair) {
    let ask = |space: &Space| {
        let notes = space.connect();
        let words = ["a", "b", "é", "ab", "trip", "home"];
        words.map(|word| serde_json::to_string(&notes.search(word).unwrap()).unwrap())
    };
    let mut spaces = pair.spaces();
    let expected = ask(spaces.next().unwrap());
    for space in spaces {
        assert_eq!(ask(space), expected, "the searches");
    }
}

fn run_on(numbers: &[u32], stores: Vec<Arc<dyn Store>>, with_collections: bool) {
    let mut pair = Pair::on_handles(stores);
    pair.with_collections = with_collections;
    run(numbers, pair, |_, _| ());
}

fn programs(cases: u32, stores: impl Fn() -> Vec<Arc<dyn Store>> + Sync) {
    for with_collections in [false, true] {
        let kept = sequences(cases, 500, |numbers| run_on(numbers, stores(), with_collections));
        kept.unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn spaces_over_one_store_answer_as_one_space() {
    programs(40, || shared(2));
    programs(20, || shared(3));
}

/// As on a store of other processes, which cannot number its states.
#[test]
fn spaces_over_a_store_that_numbers_nothing_answer_as_one_space() {
    programs(20, || numbered(Numbers::None, 2));
}

/// The control: caches that only the writes of their own handle end. About one sequence in a
/// hundred moves what another space has read and not read since.
#[test]
fn caches_that_outlive_the_writes_of_others_are_found_out() {
    let kept = sequences(5_000, 0, |numbers| {
        run_on(numbers, numbered(Numbers::OwnWrites, 2), false);
    });
    assert!(kept.is_err(), "nothing shows that a cache is stale");
}

#[test]
fn all_spaces_find_what_any_has_written() {
    for stores in [|| shared(3), || numbered(Numbers::None, 3)] {
        let kept = sequences(20, 0, |numbers| {
            let (mut pair, mut numbers) =
                (Pair::on_handles(stores()), leafbase_test_outline::Numbers::new(numbers));
            for _ in 0..30 {
                let request = pair.next(&mut numbers);
                pair.step(request);
                compare_searches(&pair);
            }
        });
        kept.unwrap_or_else(|error| panic!("{error}"));
    }
}

fn two_spaces() -> (Space, Space) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let first = Space::builder().over(Arc::clone(&store), true).unwrap();
    (first, Space::builder().over(store, false).unwrap())
}

/// What was wrong before caches were keyed: a moved block was damaged, a comment was not there.
#[test]
fn a_block_that_another_space_moved_is_read_where_it_is() {
    let (first, second) = two_spaces();
    let (ours, theirs) = (first.connect(), second.connect());
    let (trip, diary) =
        (ours.create_document("Trip").unwrap(), ours.create_document("Diary").unwrap());
    let block = ours.insert_markdown("passport", trip.id()).unwrap()[0].id;
    assert_eq!(theirs.fetch(Fetch::new(block)).unwrap().data.inline, "passport");
    ours.move_blocks(MoveBlocks::new([block], Position::end_of(diary.id()))).unwrap();
    assert_eq!(theirs.fetch(Fetch::new(block)).unwrap().data.inline, "passport");
    let moved = theirs.fetch(Fetch::new(diary.id())).unwrap();
    assert_eq!(moved.children().len(), 1);
}

/// Writers of all spaces at the same time: each write is there once, whole, and all agree.
#[test]
fn writers_of_several_spaces_lose_nothing() {
    const WRITES: usize = 60;
    let stores = shared(3);
    let spaces: Vec<Space> = (0..)
        .zip(stores)
        .map(|(number, store)| Space::builder().over(store, number == 0).unwrap())
        .collect();
    let list = spaces[0].connect().create_document("List").unwrap().id();
    thread::scope(|scope| {
        for (number, space) in spaces.iter().enumerate() {
            scope.spawn(move || {
                let notes = space.connect();
                let mut last = 0;
                for write in 0..WRITES {
                    let text = format!("{number} {write}");
                    let added = notes.insert_markdown(&text, Position::end_of(list)).unwrap();
                    assert_eq!(notes.fetch(Fetch::new(added[0].id)).unwrap().data.inline, text);
                    let shown = notes.fetch(Fetch::new(list)).unwrap().children().len();
                    assert!(shown > last, "no space goes back");
                    last = shown;
                }
            });
        }
    });
    for space in &spaces {
        let notes = space.connect();
        let shown = notes.fetch(Fetch::new(list)).unwrap();
        let mut texts: Vec<&str> =
            shown.children().iter().map(|block| block.data.inline.as_str()).collect();
        assert_eq!(texts.len(), spaces.len() * WRITES);
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), spaces.len() * WRITES);
        assert_eq!(notes.last_sequence().unwrap(), 1 + texts.len() as u64);
        assert!(space.check().unwrap().is_clean());
    }
}

/// A space is woken by the writes of another one, at once if the store has a signal, and after a
/// poll if it has none.
#[test]
fn waits_end_with_the_writes_of_other_spaces() {
    for stores in [shared(2), numbered(Numbers::None, 2)] {
        let [first, second] = &stores[..] else { panic!("two handles") };
        let first = Space::builder().over(Arc::clone(first), true).unwrap();
        let second = Space::builder().over(Arc::clone(second), false).unwrap();
        let (ours, theirs) = (first.connect(), second.connect());
        for _ in 0..3 {
            let seen = theirs.last_position().unwrap();
            let mut watcher = theirs.watch(ListDocuments::new()).unwrap();
            thread::scope(|scope| {
                let waiting = scope.spawn(|| theirs.wait_for(seen, LONG).unwrap());
                let watching = scope.spawn(|| watcher.next_within(LONG).unwrap().unwrap());
                ours.create_document("Trip").unwrap();
                assert_eq!(waiting.join().unwrap().sequence(), seen.sequence() + 1);
                assert_eq!(watching.join().unwrap().steps.len(), 1);
            });
            assert_eq!(watcher.entries().len() as u64, seen.sequence() + 1);
        }
    }
}

/// A scope of one space follows what another one does.
#[test]
fn scopes_follow_the_writes_of_other_spaces() {
    let (first, second) = two_spaces();
    let notes = first.connect();
    let travel = notes.create_folder("Travel", None).unwrap().id;
    let guest = second.folder_scope([travel]).connect();
    let trip = notes.create_document("Trip").unwrap().id();
    assert_eq!(guest.documents().unwrap().len(), 0);
    notes.move_documents(MoveDocuments::new([trip], travel)).unwrap();
    assert_eq!(guest.documents().unwrap().len(), 1);
    notes.insert_markdown("passport", trip).unwrap();
    assert_eq!(guest.search("passport").unwrap().len(), 1);
    let changes: Vec<_> = guest.changes_since(0).collect::<Result<_>>().unwrap();
    assert_eq!(changes.len(), 2, "it entered, and was written to");
}

/// The time of several hosts, which a test sets.
#[derive(Clone, Debug, Default)]
struct HostClock(Arc<AtomicI64>);

impl Clock for HostClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_772_323_200_000 + self.0.load(Ordering::SeqCst))
    }
}

/// So many bytes, before each read of which something happens.
struct Slow<F>(F, usize);

impl<F: FnMut()> Read for Slow<F> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        (self.0)();
        let bytes = out.len().min(self.1);
        out[..bytes].fill(7);
        self.1 -= bytes;
        Ok(bytes)
    }
}

/// Uploads a file on one space and opens others on the way, each after `pause`.
fn upload_beside_openings(pause: i64) -> Result<()> {
    let clock = HostClock::default();
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let open = |create| {
        let builder = Space::builder().clock(clock.clone());
        builder.over(Arc::clone(&store), create).unwrap()
    };
    let space = open(true);
    let notes = space.connect();
    let trip = notes.create_document("Trip").unwrap().id();
    let mut reads = 0;
    let bytes = Slow(
        || {
            reads += 1;
            if reads % 16 == 0 {
                clock.0.fetch_add(pause, Ordering::SeqCst);
                assert_eq!(open(false).connect().documents().unwrap().len(), 1);
            }
        },
        6 << 20,
    );
    let uploaded = notes.upload_file(UploadFile::new(trip).named("a.bin"), bytes);
    let is_clean = space.check().unwrap().is_clean();
    assert!(is_clean, "whatever became of the upload");
    uploaded.map(drop)
}

#[test]
fn an_opening_deletes_the_uploads_of_others_only_once_they_are_silent() {
    upload_beside_openings(0).unwrap();
    upload_beside_openings(HOUR_MILLIS / 2).unwrap();
    // The control: an hour between two writes of the upload.
    let refused = upload_beside_openings(2 * HOUR_MILLIS).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotFound);
}

/// Several handles share a directory, as several processes do: all agree, find what any has
/// written, and leave one index, which the next handle opens.
#[test]
fn spaces_that_share_a_directory_agree_and_search_one_index() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("notes.leafbase");
    let open = |indexing| Space::builder().shared(true).search_indexing(indexing);
    let indexings = [SearchIndexing::OnDemand, SearchIndexing::Background];
    let first = open(indexings[0]).create(&path).unwrap();
    let second = open(indexings[1]).open(&path).unwrap();
    let reader = open(indexings[0]).read_only(true).open(&path).unwrap();
    let spaces = [&first, &second, &reader];
    let list = first.connect().create_document("List").unwrap().id();
    for round in 0..40 {
        let notes = spaces[round % 2].connect();
        let word = format!("word{round}");
        notes.insert_markdown(&word, Position::end_of(list)).unwrap();
        notes.create_document(format!("Page of {word}").as_str()).unwrap();
        for space in spaces {
            let notes = space.connect();
            assert_eq!(notes.fetch(Fetch::new(list)).unwrap().children().len(), round + 1);
            assert_eq!(notes.search(format!("\"{word}\"").as_str()).unwrap().len(), 2, "{round}");
        }
        if round % 7 == 3 {
            spaces[(round + 1) % 2].flush_search().unwrap();
        }
        if round == 25 {
            spaces[0].rebuild_search().unwrap();
        }
    }
    let refused = reader.connect().create_document("Refused").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ReadOnly);
    assert_eq!(Space::open(&path).unwrap_err().kind(), ErrorKind::AlreadyOpen);
    // Each may catch up; together they do.
    first.flush_search().unwrap();
    second.flush_search().unwrap();
    for space in spaces {
        assert!(space.check().unwrap().is_clean());
    }
    assert_eq!(second.stats().unwrap().unindexed, Some(0));
    for space in [first, second, reader] {
        space.close().unwrap();
    }
    let alone = Space::open(&path).unwrap();
    assert_eq!(alone.stats().unwrap().unindexed, Some(0), "the index is that of the space");
    assert_eq!(alone.connect().search("word39").unwrap().len(), 2);
    assert!(alone.check().unwrap().is_clean());
}

/// While another handle writes the index, a handle searches with what is there, and writes it
/// itself once the other one has gone.
#[test]
fn an_index_that_another_handle_writes_is_read_and_taken_over() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("notes.leafbase");
    let builder = || Space::builder().shared(true).search_indexing(SearchIndexing::OnDemand);
    let space = builder().create(&path).unwrap();
    let notes = space.connect();
    notes.create_document("First page").unwrap();
    space.flush_search().unwrap();
    // The lock of another process, which does not end its update.
    let lock = std::fs::File::open(path.join("index").join("lock")).unwrap();
    lock.lock().unwrap();
    notes.create_document("Second page").unwrap();
    space.flush_search().unwrap();
    assert_eq!(space.stats().unwrap().unindexed, Some(1), "the index is left alone");
    assert_eq!(notes.search("page").unwrap().len(), 2);
    let other = builder().open(&path).unwrap();
    assert_eq!(other.connect().search("page").unwrap().len(), 2);
    drop(lock);
    other.flush_search().unwrap();
    assert_eq!(other.stats().unwrap().unindexed, Some(0), "it is taken over");
    // The first one follows.
    space.flush_search().unwrap();
    assert_eq!(space.stats().unwrap().unindexed, Some(0));
    assert_eq!(notes.search("page").unwrap().len(), 2);
}
