//! Two hosts with one space: each reads what the other wrote, and finds it by its own index.

use std::sync::Arc;

use leafbase::{
    AddComments, CommentDraft, Connection, ErrorKind, Fetch, MoveBlocks, Position, Space,
};

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
fn an_index_outlives_its_process_and_has_one_owner() {
    let Some(server) = server() else { return };
    let (name, database, index) = (unused_name(), server.database(), tempfile::tempdir().unwrap());
    let open = |create: bool| {
        let store = if create { database.create_store(&name) } else { database.open_store(&name) };
        Space::builder().over_in(Arc::new(store.unwrap()), index.path(), create)
    };
    let space = open(true).unwrap();
    let trip = space.connect().create_document("Trip to Lisbon").unwrap();
    space.rebuild_search().unwrap();
    assert_eq!(open(false).unwrap_err().kind(), ErrorKind::AlreadyOpen);
    space.close().unwrap();
    let space = open(false).unwrap();
    assert_eq!(space.stats().unwrap().unindexed, Some(0), "the index on disk is that of the space");
    assert_eq!(space.connect().search("lisbon").unwrap()[0].document_id, trip.id());
}
