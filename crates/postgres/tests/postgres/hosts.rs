//! Two hosts with one space: each reads what the other wrote, and finds it by its own index.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};
use std::time::Duration;

use leafbase::{AddComments, CommentDraft, Connection, Fetch, MoveBlocks, Position, Space};
use leafbase_kv::{CommitSignal, Store, WriteOptions};
use leafbase_postgres::{PostgresDatabase, PostgresOptions};

use crate::server::{Server, server, unused_name};

struct Host {
    _index: tempfile::TempDir,
    space: Space,
}

impl Host {
    fn new(server: &Server, name: &str, create: bool) -> Self {
        let database = server.database();
        let store = if create { database.create_store(name) } else { database.open_store(name) };
        let index = tempfile::tempdir().unwrap();
        let builder = Space::builder().name("Notes");
        let space = builder.over_in(Arc::new(store.unwrap()), index.path(), create).unwrap();
        Self { _index: index, space }
    }

    fn notes(&self, name: &str) -> Connection {
        self.space.connect().acting_as(name)
    }
}

#[test]
fn each_host_reads_what_the_other_wrote() {
    let Some(server) = server() else { return };
    let name = unused_name();
    let (first, second) = (Host::new(server, &name, true), Host::new(server, &name, false));
    let (ada, ben) = (first.notes("Ada"), second.notes("Ben"));
    let trip = ada.create_document("Trip").unwrap();
    let packing = ada.create_document("Packing").unwrap();
    let added = ada.insert_markdown("passport\n\ncharger", Position::end_of(trip.id())).unwrap();
    assert_eq!(ben.content_markdown(trip.id()).unwrap(), "passport\n\ncharger");
    assert_eq!(ben.search("charger").unwrap()[0].document_id, trip.id());

    // A block that both have read moves to another document.
    ada.move_blocks(MoveBlocks::new(vec![added[1].id], Position::end_of(packing.id()))).unwrap();
    assert_eq!(ben.fetch(Fetch::new(added[1].id)).unwrap().data.inline, "charger");
    assert_eq!(ben.content_markdown(trip.id()).unwrap(), "passport");
    assert_eq!(ben.search("charger").unwrap()[0].document_id, packing.id());

    ben.add_comments(AddComments::new([CommentDraft::new(added[0].id, "where is it?")])).unwrap();
    let shown = ada.fetch(Fetch::new(added[0].id).with_metadata()).unwrap();
    assert_eq!(shown.metadata.unwrap().comments.len(), 1);
    ben.update_markdown(added[0].id, "the red passport").unwrap();
    assert_eq!(ada.search("red").unwrap()[0].document_id, trip.id());
    assert!(first.space.check().unwrap().is_clean() && second.space.check().unwrap().is_clean());
}

#[test]
fn hosts_that_write_at_the_same_time_lose_nothing() {
    const WRITES: usize = 15;
    let Some(server) = server() else { return };
    let name = unused_name();
    let hosts = [Host::new(server, &name, true), Host::new(server, &name, false)];
    let trip = hosts[0].notes("Ada").create_document("Trip").unwrap().id();
    std::thread::scope(|scope| {
        for host in hosts.iter().flat_map(|host| [host, host]) {
            scope.spawn(move || {
                let notes = host.notes("somebody");
                for number in 0..WRITES {
                    let text = format!("line {number}");
                    notes.insert_markdown(&text, Position::end_of(trip)).unwrap();
                    notes.fetch(Fetch::new(trip)).unwrap();
                }
            });
        }
    });
    for host in &hosts {
        let tree = host.notes("Ada").fetch(Fetch::new(trip)).unwrap();
        assert_eq!(tree.children().len(), 4 * WRITES);
        assert!(host.space.check().unwrap().is_clean());
    }
}

#[test]
fn an_index_outlives_its_process_and_is_shared_on_a_host() {
    let Some(server) = server() else { return };
    let (name, database, index) = (unused_name(), server.database(), tempfile::tempdir().unwrap());
    let open = |create: bool| {
        let store = if create { database.create_store(&name) } else { database.open_store(&name) };
        Space::builder().over_in(Arc::new(store.unwrap()), index.path(), create)
    };
    let space = open(true).unwrap();
    let trip = space.connect().create_document("Trip to Lisbon").unwrap();
    space.rebuild_search().unwrap();
    let other = open(false).unwrap();
    assert_eq!(other.connect().search("lisbon").unwrap()[0].document_id, trip.id());
    other.close().unwrap();
    space.close().unwrap();
    let space = open(false).unwrap();
    assert_eq!(space.stats().unwrap().unindexed, Some(0), "the index on disk is that of the space");
    assert_eq!(space.connect().search("lisbon").unwrap()[0].document_id, trip.id());
}

/// Is set when it is woken.
#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Whether the signal is given within a second or so, which `write` is to cause.
fn is_given(signal: &CommitSignal, mut write: impl FnMut()) -> bool {
    let flag = Arc::new(Flag::default());
    // Tasks are woken by the signal alone, and not at an interval.
    signal.wake(&Waker::from(Arc::clone(&flag)));
    for _ in 0..20 {
        write();
        std::thread::sleep(Duration::from_millis(50));
        if flag.0.load(Ordering::SeqCst) {
            return true;
        }
    }
    false
}

#[test]
fn a_host_hears_of_the_writes_of_others() {
    let Some(server) = server() else { return };
    for notify in [true, false] {
        let options = PostgresOptions::new().notify(notify);
        let database = PostgresDatabase::connect(&server.parameters(), options).unwrap();
        let name = unused_name();
        let (ours, theirs) =
            (database.create_store(&name).unwrap(), database.open_store(&name).unwrap());
        let signal = ours.commit_signal().unwrap();
        // The thread gives it once when it begins to listen.
        let _ = is_given(&signal, || ());
        let write = || {
            theirs.write(WriteOptions::default(), &mut |rows| rows.put(b"key", b"value")).unwrap();
        };
        assert_eq!(is_given(&signal, write), notify);
        if notify {
            assert!(!is_given(&signal, || ()), "it is given by writes alone");
            let killed = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                          WHERE query LIKE 'LISTEN leafbase%'";
            server.psql("postgres", killed);
            let _ = is_given(&signal, || ());
            assert!(is_given(&signal, write), "it listens again");
        }
    }
}
