//! Several threads on one space: nobody waits for a writer, and nobody who reads slowly makes the
//! file grow.

use std::io::{self, Read as _};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use leafbase::{
    Connection, DocumentId, Fetch, ListDocuments, ListTasks, Position, Result, SearchIndexing,
    Space, TaskScope, UploadFile,
};
use leafbase_store::directory;
use leafbase_store::kv::{MemoryStore, OpenOptions, Snapshot, Store, Transaction, WriteOptions};

/// Long after anything that does not wait has ended: a test that fails ends, too.
const PATIENCE: Duration = Duration::from_secs(60);

type Waiting = (mpsc::Sender<()>, mpsc::Receiver<()>);

/// A store whose next write says when all of it is made, and is not committed before it may.
#[derive(Debug)]
struct Held<S> {
    store: S,
    next: Mutex<Option<Waiting>>,
}

impl<S: Store> Store for Held<S> {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        self.store.snapshot()
    }

    fn write(
        &self,
        options: WriteOptions,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        self.store.write(options, &mut |transaction| {
            f(transaction)?;
            if let Some((is_made, may_go)) = self.next.lock().unwrap().take() {
                is_made.send(()).unwrap();
                may_go.recv_timeout(PATIENCE).expect("the write may go on");
            }
            Ok(())
        })
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

/// Everything that a reader may ask. A check of the space waits: it verifies what is in the file.
fn read_all(notes: &Connection, document: DocumentId) -> Vec<String> {
    let told = |answer: &dyn std::fmt::Debug| format!("{answer:?}");
    vec![
        told(&notes.documents().unwrap()),
        told(&notes.fetch(Fetch::new(document)).unwrap()),
        notes.content_markdown(document).unwrap(),
        told(&notes.tasks(ListTasks::new(TaskScope::Logbook)).unwrap()),
        told(&notes.search("lamp").unwrap()),
        told(&notes.folders().unwrap()),
        told(&notes.last_sequence().unwrap()),
        told(&notes.space().scope([document]).connect().fetch(Fetch::new(document)).unwrap()),
        told(&notes.space().stats().unwrap()),
    ]
}

fn readers_go_on(store: impl Store) {
    let held = Arc::new(Held { store, next: Mutex::default() });
    let space = Space::builder()
        .search_indexing(SearchIndexing::OnDemand)
        .over(held.clone(), true)
        .unwrap();
    let notes = space.connect();
    let document = notes.create_document("Lamp").unwrap().id();
    notes.insert_markdown("- [x] done", document).unwrap();
    let before = read_all(&notes, document);
    let ((is_made, made), (may_go, going)) = (mpsc::channel(), mpsc::channel());
    *held.next.lock().unwrap() = Some((is_made, going));
    thread::scope(|scope| {
        let writer = scope.spawn(|| notes.insert_markdown("- [x] more of the lamp", document));
        made.recv_timeout(PATIENCE).expect("the write is made");
        let (has_read, read) = mpsc::channel();
        let reader = notes.clone();
        thread::spawn(move || has_read.send(read_all(&reader, document)));
        let found = read.recv_timeout(PATIENCE).expect("a reader waits for the writer");
        assert_eq!(found, before, "what is not committed is not seen");
        may_go.send(()).unwrap();
        writer.join().unwrap().unwrap();
    });
    assert_ne!(read_all(&notes, document), before, "what is committed is");
}

#[test]
fn readers_go_on_while_a_write_is_held_open() {
    let place = tempfile::tempdir().unwrap();
    readers_go_on(directory::create(place.path().join("space"), &OpenOptions::new()).unwrap());
    readers_go_on(MemoryStore::new());
}

/// How many documents a check finds that begins while the second one is made and not yet committed;
/// `go` is called once it has begun, and lets the write end.
fn checked_during_a_write(store: impl Store, check: impl FnOnce(&Space, &dyn Fn()) -> u64) -> u64 {
    let held = Arc::new(Held { store, next: Mutex::default() });
    let space = Space::builder()
        .search_indexing(SearchIndexing::OnDemand)
        .over(held.clone(), true)
        .unwrap();
    let notes = space.connect();
    notes.create_document("Lamp").unwrap();
    let ((is_made, made), (may_go, going)) = (mpsc::channel(), mpsc::channel());
    *held.next.lock().unwrap() = Some((is_made, going));
    thread::scope(|scope| {
        let writer = scope.spawn(|| notes.create_document("Tram").map(drop));
        made.recv_timeout(PATIENCE).expect("the write is made");
        let found = check(&space, &|| may_go.send(()).unwrap());
        writer.join().unwrap().unwrap();
        found
    })
}

/// The write ends only after the check has begun, and is in what the check finds. A space in memory
/// has no file to be verified, so that the check of one does not wait: what it finds is told apart.
#[test]
fn a_check_waits_for_the_write_that_runs() {
    let place = tempfile::tempdir().unwrap();
    let file = directory::create(place.path().join("space"), &OpenOptions::new()).unwrap();
    let waited = checked_during_a_write(file, |space, go| {
        thread::scope(|scope| {
            let (begins, begun) = mpsc::channel();
            let checker = scope.spawn(move || {
                begins.send(()).unwrap();
                space.check().unwrap()
            });
            begun.recv_timeout(PATIENCE).expect("the check begins");
            go();
            let report = checker.join().unwrap();
            assert!(report.is_clean(), "{:?}", report.problems);
            report.documents
        })
    });
    let unwaited = checked_during_a_write(MemoryStore::new(), |space, go| {
        let found = space.check().unwrap().documents;
        go();
        found
    });
    assert_eq!((waited, unwaited), (2, 1));
}

/// The bytes of a file, during which something else is done.
struct Slow<F>(F, usize);

impl<F: FnMut()> io::Read for Slow<F> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        (self.0)();
        let count = bytes.len().min(self.1);
        self.1 -= count;
        bytes[..count].fill(7);
        Ok(count)
    }
}

/// Whoever sends a file slowly is waited for by nobody, writers included.
#[test]
fn others_read_and_write_while_a_file_comes_in() {
    let place = tempfile::tempdir().unwrap();
    let space = Space::create(place.path().join("space")).unwrap();
    let notes = space.connect();
    let document = notes.create_document("Lamp").unwrap().id();
    let mut others = 0;
    let beside = || {
        let other = notes.clone();
        let (done, is_done) = mpsc::channel();
        thread::spawn(move || {
            read_all(&other, document);
            done.send(other.insert_markdown("a line", document).map(drop)).unwrap();
        });
        is_done.recv_timeout(PATIENCE).expect("others wait for the file").unwrap();
        others += 1;
    };
    let request = UploadFile::new(Position::end_of(document)).named("map.bin");
    notes.upload_file(request, Slow(beside, 100_000)).unwrap();
    assert!(others > 1, "the file came in parts");
    let lines =
        notes.content_markdown(document).unwrap().lines().filter(|line| *line == "a line").count();
    assert_eq!(lines, others);
    assert!(space.check().unwrap().is_clean());
}

/// How slow readers read.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Slowly {
    Nothing,
    Pages,
    Changes,
    ScopedChanges,
    File,
    /// The control: a snapshot of the store that is kept.
    Snapshot,
}

/// Bytes of the store's file after many writes, with a reader that reads a little between them.
fn grown(slowly: Slowly) -> u64 {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("space");
    let store = Arc::new(directory::create(&path, &OpenOptions::new()).unwrap());
    let space = Space::builder()
        .search_indexing(SearchIndexing::OnDemand)
        .over(store.clone(), true)
        .unwrap();
    let notes = space.connect();
    let titles = (0..60).map(|number| format!("Lamp {number}"));
    let documents: Vec<_> =
        titles.map(|title| notes.create_document(&title).unwrap().id()).collect();
    let block = notes.insert_markdown("words", documents[0]).unwrap()[0].id;
    let file = notes
        .upload_file(UploadFile::new(documents[0]).named("map.bin"), Slow(|| {}, 400_000))
        .unwrap();
    let scoped = space.scope(documents).connect();
    let (mut changes, mut told) = (notes.changes_since(0), scoped.changes_since(0));
    let mut bytes = notes.open_file(file.asset_url.id()).unwrap();
    let mut list = ListDocuments::new();
    list.paging.limit = Some(1);
    let kept = (slowly == Slowly::Snapshot).then(|| store.snapshot().unwrap());
    for turn in 0..300 {
        match slowly {
            Slowly::Pages => {
                list.paging.cursor = notes.list_documents(list.clone()).unwrap().next_cursor
            }
            Slowly::Changes => assert!(changes.next().is_some_and(|change| change.is_ok())),
            Slowly::ScopedChanges => assert!(told.next().is_none_or(|change| change.is_ok())),
            Slowly::File => bytes.read_exact(&mut [0; 1_000]).unwrap(),
            Slowly::Nothing | Slowly::Snapshot => {}
        }
        // What was there before is overwritten.
        notes.update_markdown(block, &format!("{turn} words of a lamp")).unwrap();
        // Out of the journal, into the file.
        space.flush().unwrap();
    }
    drop(kept);
    std::fs::metadata(path.join(directory::STORE_FILE)).unwrap().len()
}

#[test]
fn slow_readers_keep_nothing_between_their_calls() {
    let expected = grown(Slowly::Nothing);
    for slowly in [Slowly::Pages, Slowly::Changes, Slowly::ScopedChanges, Slowly::File] {
        // redb makes a file longer in steps, which IDs at random may shift by one.
        assert!(grown(slowly) < 2 * expected, "{slowly:?}");
    }
    assert!(grown(Slowly::Snapshot) > 8 * expected, "a state that is kept is seen in the file");
}
