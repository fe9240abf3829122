//! What operations of the engine cost over a network: how often they wait for an answer.

use std::sync::Arc;

use leafbase::{
    BlockPatch, Connection, DeleteBlocks, DocumentOrder, Fetch, ListDocuments, Position, Space,
    TaskState, TaskUpdate, UpdateBlocks, UpdateTasks,
};
use leafbase_postgres::PostgresDatabase;

use crate::server::{server, unused_name};

struct Scene {
    database: PostgresDatabase,
    notes: Connection,
}

fn scene() -> Option<Scene> {
    let database = server()?.database();
    let store = database.create_store(&unused_name()).unwrap();
    let space = Space::builder().name("Notes").over(Arc::new(store), true).unwrap();
    Some(Scene { database, notes: space.connect() })
}

impl Scene {
    fn trips<T>(&self, call: impl FnOnce(&Connection) -> leafbase::Result<T>) -> (u64, T) {
        let before = self.database.round_trips();
        let value = call(&self.notes).unwrap();
        (self.database.round_trips() - before, value)
    }
}

#[test]
fn operations_take_few_round_trips() {
    let Some(scene) = scene() else { return };
    let words = ["river", "harbour", "train", "museum", "bridge"];
    let text = |count: usize| {
        let line = |n: usize| format!("{} {n}, seen from the {}\n\n", words[n % 5], words[n % 3]);
        (0..count).map(line).collect::<String>()
    };
    let trip = scene.notes.create_document("Trip").unwrap();
    scene.notes.insert_markdown(&text(99), Position::end_of(trip.id())).unwrap();
    for n in 0..200 {
        let document = scene.notes.create_document(&format!("Document {n}")).unwrap();
        scene.notes.insert_markdown(&text(3), Position::end_of(document.id())).unwrap();
    }
    scene.notes.search("bridge").unwrap();
    let (fetch, tree) = scene.trips(|notes| notes.fetch(Fetch::new(trip.id())));
    assert_eq!(tree.children().len(), 99);
    let (with_metadata, _) =
        scene.trips(|notes| notes.fetch(Fetch::new(trip.id()).with_metadata()));
    let block = tree.children()[50].id;
    let (of_block, _) = scene.trips(|notes| notes.fetch(Fetch::new(block)));
    let (insert, _) =
        scene.trips(|notes| notes.insert_markdown("a station", Position::end_of(trip.id())));
    let (insert_after, _) =
        scene.trips(|notes| notes.insert_markdown("a platform", Position::after(block)));
    let (update, _) = scene.trips(|notes| notes.update_markdown(block, "the castle"));
    let link = format!("by [train](block://{block}), see [Trip](block://{})\n\n", trip.id());
    let listed = scene.notes.list_documents(ListDocuments::new()).unwrap();
    for document in listed.iter().filter(|listed| listed.id() != trip.id()).take(20) {
        scene.notes.insert_markdown(&link, Position::end_of(document.id())).unwrap();
    }
    let (links, found) = scene.trips(|notes| notes.document_links(trip.id()));
    assert_eq!(found.back_links.len(), 40);
    let texts = tree.children().iter().map(|block| BlockPatch::markdown(block.id, "a path"));
    let request = UpdateBlocks::new(texts);
    let (update_all, _) = scene.trips(|notes| notes.update_blocks(request));
    let children: Vec<_> = tree.children().iter().map(|block| block.id).take(50).collect();
    let (delete, _) = scene.trips(|notes| notes.delete_blocks(DeleteBlocks::new(children)));
    let list = "- [ ] pack\n".repeat(50);
    let tasks = scene.notes.insert_markdown(&list, Position::end_of(listed[0].id())).unwrap();
    let done = tasks.iter().map(|task| TaskUpdate::of(task.id).with_state(TaskState::Done));
    let request = UpdateTasks::new(done);

    let (update_tasks, _) = scene.trips(|notes| notes.update_tasks(request));
    let (search, hits) = scene.trips(|notes| notes.search("harbour"));
    let (listing, listed) = scene.trips(|notes| notes.list_documents(ListDocuments::new()));
    assert_eq!(listed.len(), 201);
    let mut latest = ListDocuments::new().descending().limit(200);
    latest.order = Some(DocumentOrder::Modified);
    let (by_time, listed) = scene.trips(|notes| notes.list_documents(latest));
    assert_eq!(listed.len(), 200);
    let found = [
        ("fetch", fetch, 1),
        ("fetch with metadata", with_metadata, 1),
        ("fetch of a block", of_block, 2),
        ("insert at the end", insert, 2),
        ("insert after a block", insert_after, 3),
        ("update", update, 3),
        ("links of a document", links, 9),
        ("update of 99", update_all, 4),
        ("update of 50 tasks", update_tasks, 8),
        ("delete of 50", delete, 13),
        ("search", search, 6),
        ("listing", listing, 1),
        ("listing by time", by_time, 1),
    ];
    assert_eq!(hits.len(), 20);
    let over: Vec<_> = found.iter().filter(|(_, trips, most)| trips > most).collect();
    assert!(over.is_empty(), "round trips, and the most there should be: {over:?}");
}
