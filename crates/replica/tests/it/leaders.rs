//! Leaders: one at a time writes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use leafbase::kv::{self, MemoryStore};
use leafbase::{
    Clock, CompactOptions, Durability, ErrorKind, ListDocuments, Space, Timestamp, bulk,
};
use leafbase_replica::{
    DirectoryStore, Follower, Leader, LeaderOptions, ReplicaStore, RestorePoint, restore,
};

use crate::dump::{assert_same, dump};
use crate::programs::Program;
use crate::stores::MemoryObjects;

/// A clock that a test sets.
#[derive(Clone, Default)]
struct SetClock(Arc<AtomicI64>);

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

fn options(name: &str, directory: &Path, clock: &SetClock) -> LeaderOptions {
    LeaderOptions::new(name, directory.join("scratch")).clock(clock.clone())
}

#[test]
fn a_fenced_leader_writes_nothing_more() {
    for seed in 40..44 {
        let directory = tempfile::tempdir().unwrap();
        let (directory, clock) = (directory.path(), SetClock::default());
        let store = MemoryObjects::new();
        let mut program = Program::new(seed, true);
        let mut old =
            Leader::acquire(program.space(), store.clone(), options("old", directory, &clock))
                .unwrap();
        for _ in 0..5 {
            program.step();
        }
        old.ship().unwrap();
        let follower = Follower::open(directory.join("copy"), store.clone()).unwrap();
        let refused =
            Leader::acquire(program.space(), store.clone(), options("other", directory, &clock));
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::AlreadyOpen, "the term has not ended");
        let (copy, mut new) =
            follower.promote(options("new", directory, &clock).take_over(true)).unwrap();
        assert!(new.fence() > old.fence());

        // The old one still has writes that it did not ship.
        program.step();
        let writes = store.writes();
        for call in 0..4 {
            let refused = match call {
                0 | 1 => old.ship().map(drop),
                _ => old.snapshot().map(drop),
            };
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::Conflict);
        }
        assert_eq!(store.writes(), writes, "a fenced leader writes nothing");
        let refused = program.notes().create_document("lost").unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ReadOnly);
        assert_eq!(old.release().unwrap_err().kind(), ErrorKind::Conflict);
        assert_eq!(store.writes(), writes);

        copy.connect().create_document("new").unwrap();
        new.ship().unwrap();
        let path = directory.join("restored");
        restore(&*store, &path, RestorePoint::Newest).unwrap();
        let restored = Space::open(&path).unwrap();
        assert_same(&dump(&restored.connect()), &dump(&copy.connect()), "what the new one shipped");
    }
}

/// A leader is fenced between any two of its calls of the store: what counts there is the new one's
/// alone.
#[test]
fn a_leader_that_is_fenced_in_the_middle_of_a_call_changes_nothing_that_counts() {
    for calls in 0..6 {
        let directory = tempfile::tempdir().unwrap();
        let (directory, clock) = (directory.path(), SetClock::default());
        let store = Arc::new(Interrupted::new());
        let space = Space::in_memory().unwrap();
        let mut old =
            Leader::acquire(&space, store.clone(), options("old", directory, &clock)).unwrap();
        let follower = Follower::open(directory.join("copy"), store.clone()).unwrap();
        space.connect().create_document("old").unwrap();
        let new = options("new", directory, &clock).take_over(true);
        store.interrupt_after(calls, move || {
            let (copy, mut leader) = follower.promote(new).unwrap();
            copy.connect().create_document("new").unwrap();
            leader.ship().unwrap();
        });
        let shipped = old.ship();
        let was_interrupted = store.was_interrupted();
        if was_interrupted && shipped.is_ok() {
            // It had shipped before the other one began.
            assert_eq!(old.ship().unwrap_err().kind(), ErrorKind::Conflict);
        }
        let path = directory.join("restored");
        restore(&*store, &path, RestorePoint::Newest).unwrap();
        let titles: Vec<_> = Space::open(&path)
            .unwrap()
            .connect()
            .documents()
            .unwrap()
            .iter()
            .map(|document| document.title.clone())
            .collect();
        let expected: &[&str] = match (was_interrupted, shipped.is_ok()) {
            (true, true) => &["old", "new"],
            (true, false) => &["new"],
            (false, _) => &["old"],
        };
        let mut titles: Vec<&str> = titles.iter().map(String::as_str).collect();
        titles.sort_unstable();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(titles, expected, "fenced after {calls} calls");
    }
}

/// A store that runs something after some calls.
#[derive(Debug)]
struct Interrupted {
    objects: Arc<MemoryObjects>,
    pending: Mutex<Option<(usize, Interruption)>>,
}

struct Interruption(Box<dyn FnOnce() + Send>);

impl std::fmt::Debug for Interruption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Interruption")
    }
}

impl Interrupted {
    fn new() -> Self {
        Self { objects: MemoryObjects::new(), pending: Mutex::default() }
    }

    fn interrupt_after(&self, calls: usize, run: impl FnOnce() + Send + 'static) {
        *self.pending.lock().unwrap() = Some((calls, Interruption(Box::new(run))));
    }

    /// Whether it was, which from now on it is not.
    fn was_interrupted(&self) -> bool {
        self.pending.lock().unwrap().take().is_none()
    }

    fn call(&self) {
        let mut pending = self.pending.lock().unwrap();
        match pending.take() {
            Some((0, Interruption(run))) => {
                drop(pending);
                run();
            }
            Some((calls, run)) => *pending = Some((calls - 1, run)),
            None => {}
        }
    }
}

impl ReplicaStore for Interrupted {
    fn get(&self, name: &str) -> leafbase::Result<Option<leafbase_replica::StoredObject>> {
        self.call();
        self.objects.get(name)
    }

    fn put(&self, name: &str, bytes: &[u8]) -> leafbase::Result<()> {
        self.call();
        self.objects.put(name, bytes)
    }

    fn put_if(
        &self,
        name: &str,
        bytes: &[u8],
        expected: Option<&leafbase_replica::ObjectVersion>,
    ) -> leafbase::Result<Option<leafbase_replica::ObjectVersion>> {
        self.call();
        self.objects.put_if(name, bytes, expected)
    }

    fn list(&self, prefix: &str) -> leafbase::Result<Vec<String>> {
        self.objects.list(prefix)
    }

    fn delete(&self, name: &str) -> leafbase::Result<()> {
        self.objects.delete(name)
    }
}

/// A leader that keeps one snapshot deletes the objects that a restore is about to read: it reads
/// those that took their place.
#[test]
fn a_restore_next_to_a_leader_reads_a_later_manifest() {
    for calls in 0..3 {
        let directory = tempfile::tempdir().unwrap();
        let (directory, clock) = (directory.path(), SetClock::default());
        let store = Arc::new(Interrupted::new());
        let space = Space::in_memory().unwrap();
        let options = options("one", directory, &clock).keep_snapshots(1);
        let mut leader = Leader::acquire(&space, store.clone(), options).unwrap();
        space.connect().create_document("Trip").unwrap();
        leader.ship().unwrap();
        let notes = space.connect();
        store.interrupt_after(calls, move || {
            notes.create_document("Diary").unwrap();
            leader.snapshot().unwrap();
        });
        let path = directory.join("restored");
        restore(&*store, &path, RestorePoint::Newest).unwrap();
        assert!(store.was_interrupted());
        let restored = Space::open(&path).unwrap();
        let documents = restored.connect().documents().unwrap().len();
        assert!(documents == 2 || calls == 2, "{documents} after {calls} calls");
    }
}

/// The control: over a store that ignores the condition of a put, a fenced leader goes on.
#[test]
fn a_store_that_ignores_fences_is_found_out() {
    let directory = tempfile::tempdir().unwrap();
    let (directory, clock) = (directory.path(), SetClock::default());
    let store = Arc::new(Interrupted::new());
    let space = Space::in_memory().unwrap();
    let mut old =
        Leader::acquire(&space, store.clone(), options("old", directory, &clock)).unwrap();
    let follower = Follower::open(directory.join("copy"), store.clone()).unwrap();
    space.connect().create_document("old").unwrap();
    *store.objects.ignores_conditions.lock().unwrap() = true;
    let new = options("new", directory, &clock).take_over(true);
    // Between the segment and the manifest.
    store.interrupt_after(2, move || {
        let (copy, mut leader) = follower.promote(new).unwrap();
        copy.connect().create_document("new").unwrap();
        leader.ship().unwrap();
    });
    assert!(old.ship().is_ok(), "the fence is ignored");
    let path = directory.join("restored");
    let lost = restore(&*store, &path, RestorePoint::Newest).unwrap_err();
    assert_eq!(lost.kind(), ErrorKind::Corrupted, "it names what the new leader deleted");
}

#[test]
fn a_term_ends_by_the_clock_or_by_release() {
    let directory = tempfile::tempdir().unwrap();
    let (directory, clock) = (directory.path(), SetClock::default());
    let store = Arc::new(DirectoryStore::new(directory.join("replica")));
    let space = Space::in_memory().unwrap();
    let one = options("one", directory, &clock).term(Duration::from_secs(10));
    let mut first = Leader::acquire(&space, store.clone(), one.clone()).unwrap();
    let other = || Leader::acquire(&space, store.clone(), options("two", directory, &clock));
    assert_eq!(other().unwrap_err().kind(), ErrorKind::AlreadyOpen);
    // Shipping nothing extends the term as well.
    clock.0.store(9_000, Ordering::SeqCst);
    first.ship().unwrap();
    clock.0.store(18_000, Ordering::SeqCst);
    assert_eq!(other().unwrap_err().kind(), ErrorKind::AlreadyOpen);
    clock.0.store(19_000, Ordering::SeqCst);
    let second = other().unwrap();
    assert_eq!(first.ship().unwrap_err().kind(), ErrorKind::Conflict);
    space.promote();
    second.release().unwrap();
    let third = Leader::acquire(&space, store.clone(), one.clone()).unwrap();
    assert_eq!(third.fence(), 3);
    // The same process, after it ended without releasing.
    let fourth = Leader::acquire(&space, store.clone(), one).unwrap();
    assert_eq!(fourth.fence(), 4);
}

#[test]
fn another_past_is_not_shipped_over_unless_asked() {
    let directory = tempfile::tempdir().unwrap();
    let (directory, clock) = (directory.path(), SetClock::default());
    let store = MemoryObjects::new();
    let space = Space::in_memory().unwrap();
    let backup = directory.join("backup");
    space.connect().create_document("Trip").unwrap();
    space.backup_to(&backup).unwrap();
    space.connect().create_document("Diary").unwrap();
    drop(Leader::acquire(&space, store.clone(), options("one", directory, &clock)).unwrap());
    let restored = Space::open(&backup).unwrap();
    restored.connect().create_document("Other").unwrap();
    let writes = store.writes();
    let again = options("one", directory, &clock);
    let refused = Leader::acquire(&restored, store.clone(), again.clone()).unwrap_err();
    assert_eq!((refused.kind(), store.writes()), (ErrorKind::HistoryGone, writes));
    let foreign = Space::in_memory().unwrap();
    let refused = Leader::acquire(&foreign, store.clone(), again.clone()).unwrap_err();
    assert_eq!((refused.kind(), store.writes()), (ErrorKind::Validation, writes));
    Leader::acquire(&restored, store.clone(), again.start_over(true)).unwrap();
    let path = directory.join("copy");
    restore(&*store, &path, RestorePoint::Newest).unwrap();
    let copy = Space::open(&path).unwrap();
    assert_same(&dump(&copy.connect()), &dump(&restored.connect()), "the restored one");
}

/// Rows that compaction dropped before they were shipped: a snapshot has what they did.
#[test]
fn a_leader_goes_on_from_a_snapshot_after_compaction() {
    let directory = tempfile::tempdir().unwrap();
    let (directory, clock) = (directory.path(), SetClock::default());
    let store = MemoryObjects::new();
    let space = Space::in_memory().unwrap();
    let mut leader =
        Leader::acquire(&space, store.clone(), options("one", directory, &clock)).unwrap();
    leader.ship().unwrap();
    space.connect().create_document("Trip").unwrap();
    space.compact_with(CompactOptions::new().keep_changes(0)).unwrap();
    space.connect().create_document("Diary").unwrap();
    assert_eq!(leader.ship().unwrap().snapshots, 1);
    let path = directory.join("copy");
    restore(&*store, &path, RestorePoint::Newest).unwrap();
    let copy = Space::open(&path).unwrap();
    assert_same(&dump(&copy.connect()), &dump(&space.connect()), "after compaction");
    drop(copy);
}

/// A directory or a bucket may have other things: only what a leader can have put is deleted.
#[test]
fn objects_that_are_not_of_the_replica_stay() {
    let directory = tempfile::tempdir().unwrap();
    let (directory, clock) = (directory.path(), SetClock::default());
    let store = MemoryObjects::new();
    let space = Space::in_memory().unwrap();
    let sequence = "00000000000000000009";
    let others = [
        "photos/2026-02",
        "photos/lisbon-1/cat.jpg",
        "notes-1/snapshots/00000000000000000001-0000000001-000000/000000",
        "segments/chapter-1",
        &format!("segments/{sequence}-0000000001"),
        &format!("segments/{sequence}-{sequence}-1"),
        &format!("segments/{sequence}-{sequence}-0000000001/000000"),
        "files/letter-0000000001/000000",
        &format!("files/{}-0000000001/000000", "G".repeat(64)),
        &format!("files/{}-0000000001", "a".repeat(64)),
        &format!("snapshots/{sequence}-0000000001-000000/0"),
        &format!("snapshots/{sequence}-0000000001/000000"),
    ];
    let unused = [
        &format!("segments/{sequence}-{sequence}-0000000001"),
        &format!("files/{}-0000000001/000000", "a".repeat(64)),
        &format!("snapshots/{sequence}-0000000001-000000/000000"),
    ];
    for name in others.into_iter().chain(unused.map(String::as_str)) {
        store.put(name, b"bytes").unwrap();
    }
    let mut leader =
        Leader::acquire(&space, store.clone(), options("one", directory, &clock)).unwrap();
    space.connect().create_document("Trip").unwrap();
    leader.snapshot().unwrap();
    let names = store.names();
    for other in others {
        assert!(names.iter().any(|name| name == other), "{other} stays");
    }
    for name in unused {
        assert!(!names.contains(name), "{name} is what a leader left");
    }
}

/// Edits that compaction merged with shipped ones: what was shipped before stays, and ends before a
/// gap.
#[test]
fn edits_that_are_merged_before_they_are_shipped_leave_a_gap() {
    for leads_again in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let (directory, clock) = (directory.path(), SetClock::default());
        let store = MemoryObjects::new();
        let space = Space::in_memory().unwrap();
        let notes = space.connect();
        let options = options("one", directory, &clock);
        let mut leader = Leader::acquire(&space, store.clone(), options.clone()).unwrap();
        let mut dumps = BTreeMap::new();
        let mut ship = |leader: &mut Leader| {
            let shipment = leader.ship().unwrap();
            dumps.insert(shipment.position.sequence(), dump(&notes));
            shipment
        };
        let trip = notes.create_document("Trip").unwrap();
        ship(&mut leader);
        let text = notes.insert_markdown("p", trip.id()).unwrap()[0].id;
        for length in 2..5 {
            ship(&mut leader);
            notes.update_markdown(text, &"passport"[..length]).unwrap();
        }
        ship(&mut leader);
        let follower = Follower::open(directory.join("copy"), store.clone()).unwrap();
        follower.catch_up().unwrap();
        let first_lost = notes.last_sequence().unwrap() + 1;
        for length in 5..8 {
            notes.update_markdown(text, &"passport"[..length]).unwrap();
        }
        let compaction = CompactOptions::new().merge_edits_within(Duration::from_secs(60));
        space.compact_with(compaction).unwrap();
        if leads_again {
            leader = Leader::acquire(&space, store.clone(), options).unwrap();
        }
        let after_gap = notes.last_sequence().unwrap();
        assert_eq!(ship(&mut leader).snapshots, 1);
        assert_eq!(follower.catch_up().unwrap_err().kind(), ErrorKind::HistoryGone);
        let follower = follower.start_over().unwrap();
        // Enough of them to be joined.
        for day in 1..40 {
            notes.create_document(&format!("Day {day}")).unwrap();
            ship(&mut leader);
        }
        let segments = store.names().into_iter().filter(|name| name.starts_with("segments/"));
        assert!(segments.count() < 20);
        follower.catch_up().unwrap();
        assert_same(&dump(&follower.connect()), &dump(&notes), "the follower");

        for sequence in 1..=notes.last_sequence().unwrap() {
            let path = directory.join(format!("copy-{sequence}"));
            let restored = restore(&*store, &path, RestorePoint::Sequence(sequence));
            if (first_lost..after_gap).contains(&sequence) {
                assert_eq!(restored.unwrap_err().kind(), ErrorKind::HistoryGone, "{sequence}");
                continue;
            }
            restored.unwrap();
            let copy = Space::open(&path).unwrap();
            assert_same(&dump(&copy.connect()), &dumps[&sequence], &format!("at {sequence}"));
        }
    }
}

/// A store whose last commits are lost under a running space, as after a database failed over.
#[derive(Debug)]
struct FailedOver(Mutex<Arc<MemoryStore>>);

impl FailedOver {
    fn current(&self) -> Arc<MemoryStore> {
        Arc::clone(&self.0.lock().unwrap())
    }
}

impl kv::Store for FailedOver {
    fn snapshot(&self) -> leafbase::Result<Box<dyn kv::Snapshot>> {
        self.current().snapshot()
    }

    fn write(
        &self,
        options: kv::WriteOptions,
        f: &mut dyn FnMut(&mut dyn kv::Transaction) -> leafbase::Result<()>,
    ) -> leafbase::Result<()> {
        self.current().write(options, f)
    }

    fn flush(&self) -> leafbase::Result<()> {
        Ok(())
    }

    fn compact(&self) -> leafbase::Result<()> {
        Ok(())
    }

    fn verify(&self) -> leafbase::Result<bool> {
        Ok(true)
    }

    fn bytes(&self) -> leafbase::Result<u64> {
        Ok(0)
    }
}

#[test]
fn a_store_that_went_back_is_not_shipped_over() {
    let directory = tempfile::tempdir().unwrap();
    let (directory, clock) = (directory.path(), SetClock::default());
    let replica = MemoryObjects::new();
    let primary = Arc::new(MemoryStore::new());
    let store = Arc::new(FailedOver(Mutex::new(Arc::clone(&primary))));
    let space = Space::builder().over(store.clone(), true).unwrap();
    let notes = space.connect();
    notes.create_document("Trip").unwrap();
    let standby = Arc::new(primary.copy());
    let mut leader =
        Leader::acquire(&space, replica.clone(), options("one", directory, &clock)).unwrap();
    notes.create_document("Diary").unwrap();
    leader.ship().unwrap();
    *store.0.lock().unwrap() = standby;
    let writes = replica.writes();
    for titles in [&[][..], &["Packing", "Seats"]] {
        for title in titles {
            notes.create_document(title).unwrap();
        }
        assert_eq!(leader.ship().unwrap_err().kind(), ErrorKind::HistoryGone);
        assert_eq!(leader.snapshot().unwrap_err().kind(), ErrorKind::HistoryGone);
        assert_eq!(replica.writes(), writes, "nothing is written");
    }
    restore(&*replica, directory.join("copy"), RestorePoint::Newest).unwrap();
    let copy = Space::open(directory.join("copy")).unwrap();
    assert_eq!(copy.connect().documents().unwrap().len(), 2, "Trip and Diary");
}

/// A second snapshot without a change in between has other bytes, as host records are not changes:
/// cut off anywhere, it leaves the one before whole.
#[test]
fn a_snapshot_that_is_cut_off_replaces_no_part_of_another() {
    let directory = tempfile::tempdir().unwrap();
    let (directory, clock) = (directory.path(), SetClock::default());
    let store = MemoryObjects::new();
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let trip = notes.create_document("Trip").unwrap().id();
    let mut leader =
        Leader::acquire(&space, store.clone(), options("one", directory, &clock)).unwrap();
    let restored = |name: String| {
        let path = directory.join(name);
        restore(&*store, &path, RestorePoint::Newest).unwrap();
        let copy = Space::open(&path).unwrap();
        bulk::read(&copy.connect(), |view| view.host_record(trip, "app")).unwrap()
    };
    let mut shipped = None;
    let mut cuts = 0;
    for calls in 0..12 {
        let record = format!("page {calls}").into_bytes();
        bulk::put_host_records(&notes, "app", &[(trip, Some(record.clone()))]).unwrap();
        store.fail_after(calls);
        let snapshot = leader.snapshot();
        store.heal();
        let found = restored(format!("copy-{calls}"));
        if snapshot.is_err() {
            cuts += 1;
            // Cut off after its manifest, it counts.
            assert!(found == shipped || found.as_ref() == Some(&record), "after {calls} calls");
        } else {
            assert_eq!(found.as_ref(), Some(&record));
        }
        shipped = found;
    }
    assert!((3..12).contains(&cuts), "{cuts} snapshots were cut off");
    leader = Leader::acquire(&space, store.clone(), options("one", directory, &clock)).unwrap();
    notes.create_document("Diary").unwrap();
    leader.ship().unwrap();
    assert_eq!(restored("copy".into()), shipped);
    let copies = store.names().into_iter().filter(|name| name.starts_with("snapshots/"));
    assert_eq!(copies.count(), 1, "nothing of the others is left");
}

/// Two spaces of one process with one directory for their copies: each ships its own.
#[test]
fn leaders_share_a_scratch_directory() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let barrier = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        for who in ["alpha", "beta"] {
            let barrier = &barrier;
            scope.spawn(move || {
                let space = Space::builder().name(who).in_memory().unwrap();
                space.connect().create_document(who).unwrap();
                for round in 0..20 {
                    let store = MemoryObjects::new();
                    barrier.wait();
                    let options = LeaderOptions::new(who, directory.join("scratch"));
                    Leader::acquire(&space, store.clone(), options).unwrap();
                    let path = directory.join(format!("{who}-{round}"));
                    restore(&*store, &path, RestorePoint::Newest).unwrap();
                    let copy = Space::open(&path).unwrap();
                    assert_eq!(copy.connect().documents().unwrap()[0].title, who);
                }
            });
        }
    });
    assert_eq!(std::fs::read_dir(directory.join("scratch")).unwrap().count(), 0);
}

/// A snapshot that is newer than what was shipped would be of another history than that of a
/// follower that is promoted.
#[test]
fn a_snapshot_ships_the_changes_in_it() {
    for ships_again in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let (directory, clock) = (directory.path(), SetClock::default());
        let store = MemoryObjects::new();
        let space = Space::in_memory().unwrap();
        let mut old =
            Leader::acquire(&space, store.clone(), options("old", directory, &clock)).unwrap();
        space.connect().create_document("shipped").unwrap();
        old.ship().unwrap();
        let follower = Follower::open(directory.join("copy"), store.clone()).unwrap();
        space.connect().create_document("in the snapshot").unwrap();
        assert_eq!(old.snapshot().unwrap(), old.position());
        if ships_again {
            let shipped = old.ship().unwrap();
            assert_eq!((shipped.changes, shipped.snapshots), (1, 1), "both are counted once");
        }

        let (copy, mut new) =
            follower.promote(options("new", directory, &clock).take_over(true)).unwrap();
        copy.connect().create_document("new").unwrap();
        new.ship().unwrap();
        let restored = directory.join("restored");
        restore(&*store, &restored, RestorePoint::Newest).unwrap();
        let restored = Space::open(&restored).unwrap();
        let documents = restored.connect().list_documents(ListDocuments::default()).unwrap();
        let mut titles: Vec<_> = documents.iter().map(|found| found.title.as_str()).collect();
        titles.sort_unstable();
        assert_eq!(titles, ["in the snapshot", "new", "shipped"]);
        assert_same(&dump(&restored.connect()), &dump(&copy.connect()), "what the new one shipped");
    }
}

/// A store whose relaxed writes a power loss takes.
#[derive(Debug, Default)]
struct VolatileStore {
    inner: MemoryStore,
    has_relaxed: AtomicBool,
}

impl kv::Store for VolatileStore {
    fn snapshot(&self) -> leafbase::Result<Box<dyn kv::Snapshot>> {
        self.inner.snapshot()
    }

    fn write(
        &self,
        options: kv::WriteOptions,
        f: &mut dyn FnMut(&mut dyn kv::Transaction) -> leafbase::Result<()>,
    ) -> leafbase::Result<()> {
        self.inner.write(options, f)?;
        let is_relaxed = options.durability == Durability::Relaxed;
        self.has_relaxed.store(is_relaxed, Ordering::SeqCst);
        Ok(())
    }

    fn flush(&self) -> leafbase::Result<()> {
        self.has_relaxed.store(false, Ordering::SeqCst);
        Ok(())
    }

    fn compact(&self) -> leafbase::Result<()> {
        Ok(())
    }

    fn verify(&self) -> leafbase::Result<bool> {
        Ok(true)
    }

    fn bytes(&self) -> leafbase::Result<u64> {
        Ok(0)
    }
}

/// Otherwise the space would have another history than its replica after a power loss.
#[test]
fn relaxed_writes_are_durable_before_they_are_shipped() {
    let directory = tempfile::tempdir().unwrap();
    let (directory, clock) = (directory.path(), SetClock::default());
    let disk = Arc::new(VolatileStore::default());
    let builder = Space::builder().durability(Durability::Relaxed);
    let space = builder.over(disk.clone(), true).unwrap();
    let notes = space.connect();
    let store = Arc::new(Interrupted::new());
    let mut leader = None;
    for (round, title) in ["Trip", "Diary", "Packing"].into_iter().enumerate() {
        notes.create_document(title).unwrap();
        assert!(disk.has_relaxed.load(Ordering::SeqCst), "the control");
        let seen = Arc::clone(&disk);
        // After the manifest is read (and, at first, replaced): the next object is put.
        store.interrupt_after([3, 1, 1][round], move || {
            assert!(!seen.has_relaxed.load(Ordering::SeqCst), "{title} is shipped");
        });
        match (&mut leader, round) {
            (Some(leader), 1) => drop(Leader::ship(leader).unwrap()),
            (Some(leader), _) => drop(leader.snapshot().unwrap()),
            (None, _) => {
                let options = options("one", directory, &clock);
                leader = Some(Leader::acquire(&space, store.clone(), options).unwrap());
            }
        }
        assert!(store.was_interrupted());
    }
}

/// A clock may be set back: a snapshot has changes that are later than its last one.
#[test]
fn a_time_is_that_of_the_latest_change_before() {
    let directory = tempfile::tempdir().unwrap();
    let (directory, clock) = (directory.path(), SetClock::default());
    let store = MemoryObjects::new();
    let space = Space::builder().clock(clock.clone()).in_memory().unwrap();
    let mut leader =
        Leader::acquire(&space, store.clone(), options("one", directory, &clock)).unwrap();
    for (at, title) in [(100, "Trip"), (200, "Diary"), (150, "Packing")] {
        clock.0.store(at, Ordering::SeqCst);
        space.connect().create_document(title).unwrap();
        leader.snapshot().unwrap();
    }
    clock.0.store(1_000, Ordering::SeqCst);
    for (at, expected) in [(0, 0), (100, 1), (160, 1), (200, 3), (1_000, 3)] {
        let path = directory.join(format!("copy-{at}"));
        let time = RestorePoint::Time(Timestamp::from_millis(at));
        assert_eq!(restore(&*store, path, time).unwrap().sequence(), expected, "at {at}");
    }
    // The last change is a merged one: its time counts, too, and not that of the snapshot.
    let text = space.connect().documents().unwrap()[0].id();
    let text = space.connect().insert_markdown("p", text).unwrap()[0].id;
    for length in 2..5 {
        space.connect().update_markdown(text, &"passport"[..length]).unwrap();
    }
    let compaction = CompactOptions::new().merge_edits_within(Duration::from_secs(60));
    space.compact_with(compaction).unwrap();
    clock.0.store(5_000, Ordering::SeqCst);
    let store = MemoryObjects::new();
    Leader::acquire(&space, store.clone(), options("two", directory, &clock)).unwrap();
    let time = RestorePoint::Time(Timestamp::from_millis(2_000));
    restore(&*store, directory.join("merged"), time).unwrap();
}
