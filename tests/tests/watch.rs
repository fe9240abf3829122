//! Live views: the patches of a watcher, one after the other, are the same as asking again.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use futures_core::Stream;
use leafbase::kv::{MemoryStore, Snapshot, Store, Transaction, WriteOptions};
use leafbase::{
    BlockId, BuiltInLocation, Connection, Day, DayRange, DayRef, DeleteBlocks, DocumentOrder,
    Error, ErrorKind, Fetch, FlatBlock, Folder, FolderRef, FollowedAccess, Full, ItemFilter,
    ListCollections, ListDocuments, ListScopedDocuments, ListTasks, Operator, PatchStep,
    QueryItems, Scoped, SearchDocuments, Sort, Space, TaskScope, WatchQuery, WatchedList, Watcher,
};
use leafbase_test_outline::Numbers;
use tests::model::pair::Pair;
use tests::model::sequences::sequences;

/// Longer than any test waits.
const LONG: Duration = Duration::from_secs(600);

/// A watcher, and a list that its patches keep.
struct View<A: FollowedAccess, Q: WatchQuery<A>> {
    notes: Connection<A>,
    watcher: Watcher<A, Q>,
    shown: Vec<Q::Entry>,
    /// For the control: the first step of each patch is left out.
    is_lossy: bool,
}

trait LiveView {
    /// Takes the next patch, and compares. Returns how many steps it had; none without a patch.
    fn look(&mut self) -> Option<usize>;
}

impl<A: FollowedAccess, Q: WatchQuery<A> + Debug> LiveView for View<A, Q>
where
    Q::Entry: Debug,
{
    fn look(&mut self) -> Option<usize> {
        let before = self.watcher.sequence();
        let next = self.watcher.try_next();
        let is_later = self.watcher.sequence() > before;
        let asked = self.watcher.query().ask(&self.notes);
        let query = self.watcher.query();
        let steps = match next {
            Ok(Some(mut patch)) => {
                assert!(!patch.steps.is_empty(), "{query:?}: a patch of nothing");
                let steps = patch.steps.len();
                if self.is_lossy {
                    patch.steps.remove(0);
                }
                patch.apply(&mut self.shown).unwrap();
                assert_eq!(patch.sequence, self.watcher.sequence());
                Some(steps)
            }
            Ok(None) => None,
            Err(error) => {
                let asked = asked.expect_err("what a watcher cannot ask nobody can");
                assert_eq!((error.kind(), error.path()), (asked.kind(), asked.path()));
                return None;
            }
        };
        assert_eq!(self.shown, self.watcher.entries(), "{query:?}");
        // What depends on the day changes without a write; and an error is told once.
        if let (true, Ok(asked)) = (is_later, asked) {
            assert_eq!(self.shown, asked.entries, "{query:?}");
        }
        steps
    }
}

/// The watchers of one run.
#[derive(Default)]
struct Views {
    views: Vec<Box<dyn LiveView>>,
    is_lossy: bool,
}

impl Views {
    fn add<A: FollowedAccess, Q>(&mut self, notes: &Connection<A>, query: Q)
    where
        Q: WatchQuery<A> + Debug + 'static,
        Q::Entry: Debug,
    {
        if let Ok(watcher) = notes.watch(query) {
            let shown = watcher.entries().to_vec();
            let (notes, is_lossy) = (notes.clone(), self.is_lossy);
            self.views.push(Box::new(View { notes, watcher, shown, is_lossy }));
        }
    }

    fn add_full(&mut self, pair: &Pair, numbers: &mut Numbers<'_>) {
        let notes = pair.notes();
        let documents: Vec<_> =
            notes.documents().unwrap().iter().map(leafbase::Document::id).collect();
        if let Some(document) = pick(numbers, &documents) {
            let page = notes.fetch(Fetch::new(document)).unwrap();
            let within: Vec<_> = page.children().iter().map(|block| block.id).collect();
            let fetch = match pick(numbers, &within).filter(|_| numbers.once_in(2)) {
                Some(block) => Fetch::new(block),
                None => Fetch::new(document),
            };
            let fetch = if numbers.once_in(3) { fetch.with_metadata() } else { fetch };
            self.add(&notes, if numbers.once_in(3) { fetch.depth(1) } else { fetch });
            self.add(&notes, ListTasks::new(TaskScope::Document(document)));
        }
        let order =
            [DocumentOrder::Id, DocumentOrder::Created, DocumentOrder::Modified][numbers.below(3)];
        let listing = ListDocuments::new().order_by(order);
        let listing = if numbers.once_in(2) { listing.descending() } else { listing };
        self.add(&notes, if numbers.once_in(3) { listing.limit(2) } else { listing });
        let location = [BuiltInLocation::Unsorted, BuiltInLocation::Trash][numbers.below(2)];
        let listing = ListDocuments::new().at(location);
        self.add(&notes, if numbers.once_in(2) { listing.with_metadata() } else { listing });
        let folder = |folder: &Folder| match folder.id {
            FolderRef::Folder(id) => Some(id),
            FolderRef::BuiltIn(_) => None,
        };
        let folders: Vec<_> = notes.folders().unwrap().iter().filter_map(folder).collect();
        if let Some(folder) = pick(numbers, &folders) {
            // The days of programs.
            let day: Day = "2026-01-01".parse().unwrap();
            let days = [DayRange::since(day), DayRange::since(DayRef::Yesterday)];
            let listing = ListDocuments::new().within(folder);
            let modified = listing.clone().modified(days[numbers.below(2)]);
            self.add(&notes, if numbers.once_in(2) { modified } else { listing });
        }
        let scopes = [
            TaskScope::Open,
            TaskScope::Active,
            TaskScope::Upcoming,
            TaskScope::Inbox,
            TaskScope::Logbook,
        ];
        self.add(&notes, ListTasks::new(scopes[numbers.below(5)]));
        self.add_shared(&notes, numbers);
    }

    fn add_scoped(&mut self, pair: &Pair, numbers: &mut Numbers<'_>) {
        let notes = pair.notes();
        let documents: Vec<_> =
            notes.documents().unwrap().iter().map(leafbase::Document::id).collect();
        let seen: BTreeSet<_> = (0..2).filter_map(|_| pick(numbers, &documents)).collect();
        let guest = pair.space().scoped(seen.iter().copied());
        for document in seen {
            self.add(&guest, Fetch::new(document));
        }
        self.add(&guest, ListScopedDocuments::new());
        self.add_shared(&guest, numbers);
    }

    fn add_shared<A: FollowedAccess>(&mut self, notes: &Connection<A>, numbers: &mut Numbers<'_>) {
        let collections = notes.list_collections(ListCollections::default()).unwrap();
        let collections: Vec<_> = collections.iter().map(|collection| collection.id).collect();
        if let Some(collection) = pick(numbers, &collections) {
            let query = QueryItems::of(collection);
            let query =
                if numbers.once_in(2) { query.sorted(Sort::ascending("title")) } else { query };
            let title = notes.schema(collection).unwrap().content.key;
            let words = ItemFilter::on(title, Operator::Contains, ["a", "e"][numbers.below(2)]);
            let query = if numbers.once_in(3) { query.filtered(words) } else { query };
            self.add(notes, if numbers.once_in(2) { query.depth(0) } else { query });
        }
        self.add(notes, SearchDocuments::words(["a", "home", "b"][numbers.below(3)]));
    }
}

fn pick<T: Copy>(numbers: &mut Numbers<'_>, of: &[T]) -> Option<T> {
    (!of.is_empty()).then(|| of[numbers.below(of.len())])
}

/// Random writes beside watchers, of which some are slow. Returns the patches.
fn run(numbers: &[u32], is_lossy: bool) -> usize {
    let mut numbers = Numbers::new(numbers);
    let mut pair = Pair::new(None);
    let mut views = Views { views: Vec::new(), is_lossy };
    pair.with_collections = numbers.once_in(2);
    let mut patches = 0;
    for round in 0..24 {
        let request = pair.next(&mut numbers);
        pair.step(request);
        match round {
            4 | 12 => views.add_full(&pair, &mut numbers),
            8 | 16 => views.add_scoped(&pair, &mut numbers),
            _ => {}
        }
        for view in &mut views.views {
            if numbers.once_in(2) {
                patches += usize::from(view.look().is_some());
            }
        }
    }
    patches + views.views.iter_mut().filter_map(|view| view.look()).count()
}

fn programs() -> u32 {
    tests::cases(100, 3_000)
}

#[test]
fn patches_are_the_same_as_asking_again() {
    let patches = AtomicUsize::new(0);
    let kept = sequences(programs(), 1_000, |numbers| {
        patches.fetch_add(run(numbers, false), Ordering::Relaxed);
    });
    kept.unwrap_or_else(|error| panic!("{error}"));
    println!("{patches:?} patches");
    assert!(patches.into_inner() > programs() as usize * 10);
}

/// The control: a patch that lacks a step is noticed.
#[test]
fn a_patch_that_lacks_a_step_is_noticed() {
    let kept = sequences(100, 0, |numbers| {
        run(numbers, true);
    });
    assert!(kept.is_err(), "a step is left out, and nothing shows it");
}

/// The kinds of steps of the next patch.
fn steps<A: FollowedAccess, Q: WatchQuery<A>>(watcher: &mut Watcher<A, Q>) -> Vec<String> {
    let patch = watcher.try_next().unwrap();
    let shown = |step: &PatchStep<Q::Entry>| match step {
        PatchStep::Insert { at, .. } => format!("insert {at}"),
        PatchStep::Remove { at } => format!("remove {at}"),
        PatchStep::Move { from, to } => format!("move {from} {to}"),
        PatchStep::Update { at, .. } => format!("update {at}"),
    };
    patch.map_or_else(Vec::new, |patch| patch.steps.iter().map(shown).collect())
}

#[test]
fn each_write_is_as_few_steps_as_there_can_be() {
    let notes = Space::in_memory().unwrap().connect();
    let trip = notes.create_document("Trip").unwrap();
    let lines = notes.insert_markdown("a\n\nb\n\nc\n\nd", trip.id()).unwrap();
    let other = notes.create_document("Other").unwrap();
    let mut page = notes.watch(Fetch::new(trip.id())).unwrap();
    assert_eq!(page.entries().len(), 5);
    notes.insert_markdown("- [ ] e", other.id()).unwrap();
    assert_eq!(steps(&mut page), [""; 0], "a write elsewhere");
    notes.update_markdown(lines[1].id, "B").unwrap();
    assert_eq!(steps(&mut page), ["update 2"]);
    let start = leafbase::Position::start_of(trip.id());
    notes.move_blocks(leafbase::MoveBlocks::new([lines[3].id], start)).unwrap();
    assert_eq!(steps(&mut page), ["move 4 1"]);
    notes.insert_markdown("x\n\ny", start).unwrap();
    notes.delete_blocks(DeleteBlocks::new([lines[0].id, lines[2].id])).unwrap();
    assert_eq!(steps(&mut page), ["remove 4", "remove 2", "insert 1", "insert 2"]);
    // Back where it was: there is nothing to say.
    notes.update_markdown(lines[1].id, "b").unwrap();
    let mut listing = notes.watch(ListDocuments::new()).unwrap();
    notes.insert_markdown("z", other.id()).unwrap();
    assert_eq!(steps(&mut listing).len(), 1, "the revision of the document");
    assert_eq!(steps(&mut page), ["update 4"]);
}

#[test]
fn an_error_is_told_once_and_the_watcher_goes_on() {
    let notes = Space::in_memory().unwrap().connect();
    let mut watcher = notes.watch(ListDocuments::new()).unwrap();
    let page = notes.create_document("Trip").unwrap();
    let line = notes.insert_markdown("a", page.id()).unwrap()[0].id;
    let mut block = notes.watch(Fetch::new(line)).unwrap();
    let sequence = notes.last_sequence().unwrap() + 1;
    notes.delete_blocks(DeleteBlocks::new([line])).unwrap();
    assert_eq!(block.try_next().unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(block.try_next().unwrap(), None);
    notes.create_document("Other").unwrap();
    assert_eq!(block.try_next().unwrap_err().kind(), ErrorKind::NotFound);
    notes.undo(leafbase::UndoChanges::from(sequence)).unwrap();
    let back = block.try_next().unwrap();
    assert!(back.is_some_and(|patch| patch.steps.len() == 1), "its revision differs");
    assert_eq!(watcher.try_next().unwrap().unwrap().steps.len(), 2);
}

/// A store in memory that cannot be read at times.
#[derive(Debug, Default)]
struct UnreliableStore {
    store: MemoryStore,
    fails: Arc<AtomicBool>,
}

impl Store for UnreliableStore {
    fn snapshot(&self) -> leafbase::Result<Box<dyn Snapshot>> {
        if self.fails.load(Ordering::SeqCst) {
            return Err(Error::new(ErrorKind::Storage, "the server cannot be reached"));
        }
        self.store.snapshot()
    }

    fn write(
        &self,
        options: WriteOptions,
        f: &mut dyn FnMut(&mut dyn Transaction) -> leafbase::Result<()>,
    ) -> leafbase::Result<()> {
        self.store.write(options, f)
    }

    fn flush(&self) -> leafbase::Result<()> {
        self.store.flush()
    }

    fn compact(&self) -> leafbase::Result<()> {
        self.store.compact()
    }

    fn verify(&self) -> leafbase::Result<bool> {
        self.store.verify()
    }

    fn bytes(&self) -> leafbase::Result<u64> {
        self.store.bytes()
    }
}

#[test]
fn a_store_that_cannot_be_read_is_reported_once() {
    let store = UnreliableStore::default();
    let fails = Arc::clone(&store.fails);
    let notes = Space::builder().over(Arc::new(store), true).unwrap().connect();
    let (sender, received) = channel();
    let mut watcher = notes.watch(ListDocuments::new()).unwrap();
    let watching = notes.watch(ListDocuments::new()).unwrap().on_change(move |changed| {
        let count = changed.map(|(_, documents)| documents.len());
        sender.send(count.map_err(|error| error.kind())).unwrap();
    });
    let watching = watching.unwrap();
    for count in 1..=2 {
        fails.store(true, Ordering::SeqCst);
        assert_eq!(received.recv_timeout(LONG).unwrap(), Err(ErrorKind::Storage));
        assert_eq!(watcher.try_next().unwrap_err().kind(), ErrorKind::Storage);
        assert_eq!(watcher.try_next().unwrap(), None);
        assert_eq!(watcher.next_within(Duration::from_millis(600)).unwrap(), None);
        assert!(received.try_recv().is_err(), "it waits until the store can be read");
        fails.store(false, Ordering::SeqCst);
        notes.create_document("Trip").unwrap();
        assert_eq!(received.recv_timeout(LONG).unwrap(), Ok(count));
        assert_eq!(steps(&mut watcher).len(), 1);
    }
    drop(watching);
}

/// A fetch that fails while the flag is set, for a reason that has nothing to do with the space.
#[derive(Debug)]
struct Unreliable(Fetch, Arc<AtomicBool>);

impl WatchQuery<Full> for Unreliable {
    type Entry = FlatBlock;
    type Key = BlockId;

    fn key(entry: &FlatBlock) -> BlockId {
        entry.block.id
    }

    fn ask(&self, notes: &Connection<Full>) -> Result<WatchedList<FlatBlock>, Error> {
        if self.1.load(Ordering::SeqCst) {
            return Err(Error::new(ErrorKind::Storage, "not now"));
        }
        self.0.ask(notes)
    }
}

#[test]
fn a_query_that_failed_for_a_passing_reason_is_asked_again() {
    let notes = Space::in_memory().unwrap().connect();
    let trip = notes.create_document("Trip").unwrap().id();
    let is_failing = Arc::new(AtomicBool::new(false));
    let watch = || notes.watch(Unreliable(Fetch::new(trip), Arc::clone(&is_failing))).unwrap();
    let (mut page, mut waiting) = (watch(), watch());
    is_failing.store(true, Ordering::SeqCst);
    notes.insert_markdown("passport", trip).unwrap();
    for watcher in [&mut page, &mut waiting] {
        assert_eq!(watcher.try_next().unwrap_err().kind(), ErrorKind::Storage);
        assert_eq!(watcher.try_next().unwrap(), None);
    }
    let waiting = thread::spawn(move || waiting.next_within(LONG).map(|_| waiting.entries().len()));
    thread::sleep(Duration::from_millis(20));
    is_failing.store(false, Ordering::SeqCst);
    assert_eq!(steps(&mut page), ["insert 1"]);
    assert_eq!(steps(&mut page), [""; 0]);
    assert_eq!(waiting.join().unwrap().unwrap(), 2);
}

#[test]
fn watchers_that_wait_are_woken_and_end_with_the_space() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let trip = notes.create_document("Trip").unwrap().id();
    let (sender, received) = channel();
    let counted = Arc::new(AtomicUsize::new(0));
    let watching = notes.watch(Fetch::new(trip)).unwrap().on_change({
        let counted = Arc::clone(&counted);
        move |changed| {
            counted.fetch_add(1, Ordering::Relaxed);
            if let Ok((_, blocks)) = changed {
                sender.send(blocks.len()).unwrap();
            }
        }
    });
    let watching = watching.unwrap();
    let mut tasks = notes.watch(ListTasks::new(TaskScope::Open)).unwrap();
    let waiting = thread::spawn(move || {
        let mut shown = tasks.entries().to_vec();
        let mut patches = 0;
        loop {
            match tasks.next() {
                Some(Ok(patch)) => {
                    patch.apply(&mut shown).unwrap();
                    assert_eq!(shown, tasks.entries());
                    patches += 1;
                }
                Some(Err(error)) => {
                    assert_eq!(error.kind(), ErrorKind::Closed);
                    assert!(tasks.next().is_none());
                    return (shown.len(), patches);
                }
                None => panic!("it ends without saying why"),
            }
        }
    });
    let writers: Vec<_> = (0..3)
        .map(|_| {
            let notes = notes.clone();
            thread::spawn(move || {
                for _ in 0..40 {
                    notes.insert_markdown("- [ ] task", trip).unwrap();
                }
            })
        })
        .collect();
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    while received.recv_timeout(LONG).unwrap() < 121 {}
    drop(watching);
    let told = counted.load(Ordering::Relaxed);
    notes.insert_markdown("- [ ] last", trip).unwrap();
    let all = notes.tasks(TaskScope::Open).unwrap().len();
    let mut seen = notes.watch(ListTasks::new(TaskScope::Open)).unwrap();
    assert_eq!(seen.next_within(Duration::from_millis(20)).unwrap(), None);
    assert_eq!(counted.load(Ordering::Relaxed), told, "it was dropped");
    // The last write is seen before the space closes, or never: the watcher is not behind it.
    space.close().unwrap();
    let (shown, patches) = waiting.join().unwrap();
    assert!(shown <= all && patches <= 121 && patches > 0, "{shown} of {all} in {patches}");
    assert_eq!(seen.try_next().unwrap_err().kind(), ErrorKind::Closed);
}

/// Writes to the rest of the space wake no watcher of a scope; a scope that becomes another one
/// does.
#[test]
fn a_scope_is_told_of_itself_alone() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let [seen, hidden] = ["seen", "hidden"].map(|title| notes.create_document(title).unwrap().id());
    let scope = space.scope([seen]);
    let guest: Connection<Scoped> = scope.connect();
    let mut listing = guest.watch(ListScopedDocuments::new()).unwrap();
    let mut found = guest.watch(SearchDocuments::words("word")).unwrap();
    for _ in 0..5 {
        notes.insert_markdown("a word", hidden).unwrap();
        assert_eq!(listing.try_next().unwrap(), None);
        assert_eq!(found.try_next().unwrap(), None);
        assert_eq!((listing.sequence(), found.sequence()), (0, 0));
    }
    let waiting = thread::spawn(move || listing.next_within(LONG).unwrap().unwrap().steps.len());
    scope.add([hidden]);
    assert_eq!(waiting.join().unwrap(), 1);
    assert_eq!(steps(&mut found), ["insert 0"]);
    scope.remove([hidden]);
    assert_eq!(steps(&mut found), ["remove 0"]);
}

/// Counts how often it is woken.
#[derive(Default)]
struct CountedWaker(AtomicUsize, Mutex<Option<thread::Thread>>);

impl Wake for CountedWaker {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
        if let Some(thread) = &*self.1.lock().unwrap() {
            thread.unpark();
        }
    }
}

#[test]
fn a_watcher_is_a_stream() {
    let space = Space::in_memory().unwrap();
    let notes: Connection<Full> = space.connect();
    let mut watcher = notes.watch(ListDocuments::new()).unwrap();
    let woken = Arc::new(CountedWaker::default());
    *woken.1.lock().unwrap() = Some(thread::current());
    let waker = Waker::from(Arc::clone(&woken));
    let mut poll = || Pin::new(&mut watcher).poll_next(&mut Context::from_waker(&waker));
    assert!(poll().is_pending());
    assert!(poll().is_pending());
    let writer = thread::spawn({
        let notes = notes.clone();
        move || notes.create_document("Trip").map(drop)
    });
    while woken.0.load(Ordering::SeqCst) == 0 {
        thread::park_timeout(LONG);
    }
    writer.join().unwrap().unwrap();
    assert_eq!(woken.0.load(Ordering::SeqCst), 1, "woken once for both polls");
    let Poll::Ready(Some(Ok(patch))) = poll() else { panic!("it was woken for nothing") };
    assert_eq!(patch.steps.len(), 1);
    assert!(poll().is_pending());
    space.close().unwrap();
    assert_eq!(woken.0.load(Ordering::SeqCst), 2);
    let Poll::Ready(Some(Err(closed))) = poll() else { panic!("the space is closed") };
    assert_eq!(closed.kind(), ErrorKind::Closed);
    assert!(matches!(poll(), Poll::Ready(None)));
}

/// A task that is polled where it is woken, on the thread that writes.
struct PolledTask {
    watcher: Mutex<Watcher<Full, ListDocuments>>,
    patches: AtomicUsize,
}

impl Wake for PolledTask {
    fn wake(self: Arc<Self>) {
        let waker = Waker::from(Arc::clone(&self));
        let (mut watcher, mut context) =
            (self.watcher.lock().unwrap(), Context::from_waker(&waker));
        while let Poll::Ready(Some(Ok(_))) = Pin::new(&mut *watcher).poll_next(&mut context) {
            self.patches.fetch_add(1, Ordering::SeqCst);
        }
    }
}

#[test]
fn a_task_may_be_polled_by_its_waker() {
    let notes: Connection<Full> = Space::in_memory().unwrap().connect();
    let watcher = Mutex::new(notes.watch(ListDocuments::new()).unwrap());
    let task = Arc::new(PolledTask { watcher, patches: AtomicUsize::default() });
    Waker::from(Arc::clone(&task)).wake();
    let (sender, written) = channel();
    thread::spawn(move || {
        notes.create_document("Trip").unwrap();
        notes.create_document("Diary").unwrap();
        sender.send(()).unwrap();
    });
    written.recv_timeout(Duration::from_secs(60)).expect("a writer waits for no lock of its own");
    assert_eq!(task.patches.load(Ordering::SeqCst), 2);
}
