//! What operations of the engine cost over a network: how often they wait for an answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use leafbase::{
    AddComments, AddItems, BackLinks, BlockPatch, CommentDraft, Connection, CreateCollection,
    DeleteBlocks, DeleteDocuments, DeleteItems, Destination, DocumentOrder, Fetch, IdSource,
    ItemDraft, ItemUpdate, ListComments, ListDocuments, ListTags, ListTasks, MoveBlocks,
    MoveDocuments, Position, PropertyDraft, PropertyKind, PurgeDocuments, QueryItems,
    ResolveBlocks, SchemaDraft, SearchIndexing, Space, TaskScope, TaskState, TaskUpdate, Timestamp,
    UpdateBlocks, UpdateItems, UpdateTasks,
};
use leafbase_postgres::PostgresDatabase;

use crate::server::{server, unused_name};

struct Scene {
    database: PostgresDatabase,
    notes: Connection,
}

/// IDs that ascend. Those of one millisecond are otherwise in no order, and one below the newest of
/// the space has to be looked for.
#[derive(Default)]
struct AscendingIds(AtomicU64);

impl IdSource for AscendingIds {
    fn new_id(&self, _: Timestamp) -> [u8; 16] {
        (1 + u128::from(self.0.fetch_add(1, Ordering::Relaxed))).to_be_bytes()
    }
}

fn scene() -> Option<Scene> {
    let database = server()?.database();
    let store = database.create_store(&unused_name()).unwrap();
    // An index in the background would make trips of its own while calls are counted.
    let builder = Space::builder().name("Notes").search_indexing(SearchIndexing::OnDemand);
    let builder = builder.ids(AscendingIds::default());
    let space = builder.over(Arc::new(store), true).unwrap();
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
    let alone = Fetch::new(block).depth(0).with_metadata();
    let (of_block_alone, _) = scene.trips(|notes| notes.fetch(alone));
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
    let [last, other] = [98, 97].map(|n| tree.children()[n].id);
    let (move_one, _) = scene.trips(|notes| {
        notes.move_blocks(MoveBlocks::new([last], Position::end_of(listed[2].id())))
    });
    let (delete_one, _) = scene.trips(|notes| notes.delete_blocks(DeleteBlocks::new([other])));
    let (trash_one, _) = scene.trips(|notes| notes.delete_documents(listed[3].id()));
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
        ("fetch of a block", of_block, 1),
        ("fetch of a block without its children", of_block_alone, 1),
        ("insert at the end", insert, 2),
        ("insert after a block", insert_after, 2),
        ("update", update, 2),
        ("move of a block", move_one, 5),
        ("deletion of a block", delete_one, 3),
        ("deletion of a document", trash_one, 5),
        ("links of a document", links, 9),
        ("update of 99", update_all, 3),
        ("update of 50 tasks", update_tasks, 6),
        ("delete of 50", delete, 5),
        ("search", search, 6),
        ("listing", listing, 1),
        ("listing by time", by_time, 1),
    ];
    assert_eq!(hits.len(), 20);
    let over: Vec<_> = found.iter().filter(|(_, trips, most)| trips > most).collect();
    assert!(over.is_empty(), "round trips, and the most there should be: {over:?}");
}

/// A handle asks for the run of a block where it saw the block last: another one may have moved it.
#[test]
fn a_block_that_was_moved_elsewhere_is_found() {
    let Some(server) = server() else { return };
    let (database, name) = (server.database(), unused_name());
    let store = database.create_store(&name).unwrap();
    let builder = || Space::builder().name("Notes").search_indexing(SearchIndexing::OnDemand);
    let space = builder().over(Arc::new(store), true).unwrap();
    let scene = Scene { database, notes: space.connect() };
    let [here, there] = ["Here", "There"].map(|title| scene.notes.create_document(title).unwrap());
    let written = scene.notes.insert_markdown("one\n\ntwo\n\nthree", Position::end_of(here.id()));
    let block = written.unwrap()[1].id;
    let update = |text: &str| scene.trips(|notes| notes.update_markdown(block, text)).0;
    // Its location is learned by the first one.
    assert_eq!([update("2"), update("2!")], [3, 2]);
    assert_eq!(scene.trips(|notes| notes.fetch(Fetch::new(block))).0, 1);

    let other = builder().over(Arc::new(scene.database.open_store(&name).unwrap()), false);
    let other = other.unwrap().connect();
    other.move_blocks(MoveBlocks::new([block], Position::end_of(there.id()))).unwrap();
    let (trips, fetched) = scene.trips(|notes| notes.fetch(Fetch::new(block)));
    assert_eq!((trips, fetched.data.inline.as_str()), (2, "2!"));
    assert_eq!(update("moved"), 2);
    other.delete_blocks(DeleteBlocks::new([block])).unwrap();
    let error = scene.notes.update_markdown(block, "gone").unwrap_err();
    assert_eq!(error.kind(), leafbase::ErrorKind::NotFound);
}

/// Fifty of each kind of thing, each in a document of its own.
#[test]
fn what_lies_apart_is_read_together() {
    let Some(scene) = scene() else { return };
    let hub = scene.notes.create_document("Hub").unwrap().id();
    let mut blocks = Vec::new();
    for n in 0..50 {
        let document = scene.notes.create_document(&format!("Document {n}")).unwrap().id();
        let text = format!("- [ ] pack {n} #tag{n}\n\nto [Hub](block://{hub})");
        let inserted = scene.notes.insert_markdown(&text, Position::end_of(document)).unwrap();
        blocks.push(inserted[0].id);
    }
    let schema = SchemaDraft::new("Chores", [PropertyDraft::new("Due", PropertyKind::Date)]);
    let chores = scene.notes.create_collection(CreateCollection::new(schema, hub)).unwrap().id;
    let drafts = (0..50).map(|n| ItemDraft::new(format!("Chore {n}")).with("due", "2026-03-01"));
    let (add_items, items) = scene.trips(|notes| notes.add_items(AddItems::new(chores, drafts)));
    let items = items.iter().map(|item| ItemUpdate::of(item.id).with("due", "2026-03-02"));
    let items = UpdateItems::new(chores, items);
    let comments = blocks.iter().map(|block| CommentDraft::new(*block, "why?"));
    let comments = AddComments::new(comments);
    let texts = blocks.iter().map(|block| BlockPatch::markdown(*block, "unpack"));
    let texts = UpdateBlocks::new(texts);
    let (blocks_of, on) = (ResolveBlocks::new(blocks.clone()), ListComments::on(blocks));
    let (open, tags) = (ListTasks::new(TaskScope::Open), ListTags::new());
    let found = [
        ("add 50 items", add_items, 6),
        ("items", scene.trips(|notes| notes.items(chores)).0, 6),
        ("update 50 items", scene.trips(|notes| notes.update_items(items)).0, 6),
        ("tasks", scene.trips(|notes| notes.tasks(open)).0, 1),
        ("tags", scene.trips(|notes| notes.list_tags(tags)).0, 3),
        ("resolve", scene.trips(|notes| notes.resolve(blocks_of)).0, 4),
        ("back links", scene.trips(|notes| notes.back_links(BackLinks::to(hub))).0, 10),
        ("links of a document", scene.trips(|notes| notes.document_links(hub)).0, 7),
        ("add comments", scene.trips(|notes| notes.add_comments(comments)).0, 3),
        ("list comments", scene.trips(|notes| notes.list_comments(on)).0, 2),
        ("update blocks", scene.trips(|notes| notes.update_blocks(texts)).0, 4),
        ("folders", scene.trips(Connection::folders).0, 3),
    ];
    let over: Vec<_> = found.iter().filter(|(_, trips, most)| trips > most).collect();
    assert!(over.is_empty(), "round trips, and the most there should be: {over:?}");
}

/// Each in a run of its own, far from the others.
#[test]
fn tasks_of_a_large_document_are_read_together() {
    let Some(scene) = scene() else { return };
    let document = scene.notes.create_document("Plan").unwrap().id();
    let line = |n: usize| {
        let task = if n.is_multiple_of(100) { "- [ ] pack" } else { "on the way" };
        format!("{task} {n}: {}\n\n", "by train and by boat ".repeat(4))
    };
    let text: String = (0..2_000).map(line).collect();
    scene.notes.insert_markdown(&text, Position::end_of(document)).unwrap();
    for limit in [5, 20] {
        let request = ListTasks::new(TaskScope::Document(document)).limit(limit);
        let (trips, page) = scene.trips(|notes| notes.tasks(request));
        assert_eq!(page.items.len(), limit);
        // The document, its tasks, where they are, where their parents are, and the runs; those of
        // a page again where the tasks are too many to decode all.
        assert!(trips <= 8, "{trips} round trips for {limit} of 20 tasks");
    }
}

/// Fifty documents, or blocks of them, changed by one call.
#[test]
fn what_lies_apart_is_changed_together() {
    let Some(scene) = scene() else { return };
    let hub = scene.notes.create_document("Hub").unwrap().id();
    let folder = scene.notes.create_folder("Old", None).unwrap().id;
    let (mut documents, mut moved, mut deleted, mut kept) = (vec![], vec![], vec![], vec![]);
    for n in 0..50 {
        let document = scene.notes.create_document(&format!("Document {n}")).unwrap().id();
        let text = format!("one #tag{n}\n\n- [ ] two\n\nthree [Hub](block://{hub})\n\nfour");
        let inserted = scene.notes.insert_markdown(&text, Position::end_of(document)).unwrap();
        documents.push(document);
        moved.push(inserted[0].id);
        deleted.push(inserted[1].id);
        kept.push(inserted[2].id);
    }
    let schema = SchemaDraft::new("Chores", [PropertyDraft::new("Due", PropertyKind::Date)]);
    let chores = scene.notes.create_collection(CreateCollection::new(schema, hub)).unwrap().id;
    let drafts = (0..50).map(|n| ItemDraft::new(format!("Chore {n}")).with("due", "2026-03-01"));
    let items = scene.notes.add_items(AddItems::new(chores, drafts)).unwrap();
    let items: Vec<_> = items.iter().map(|item| item.id).take(30).collect();
    let moves = MoveBlocks::new(moved, Position::end_of(hub));
    let old = MoveDocuments::new(documents.clone(), Destination::Folder(folder));
    let texts = kept.iter().map(|block| BlockPatch::markdown(*block, "another #new"));
    let texts = UpdateBlocks::new(texts);
    let trash = DeleteDocuments::new(documents.clone());
    let back = MoveDocuments::new(documents.clone(), Destination::Unsorted);
    let gone = DeleteItems::new(chores, items);
    let trash_again = DeleteDocuments::new(documents.clone());
    let purge = PurgeDocuments::new(documents);
    let found = [
        ("query items", scene.trips(|notes| notes.query_items(QueryItems::of(chores))).0, 7),
        ("delete items", scene.trips(|notes| notes.delete_items(gone)).0, 7),
        ("move blocks", scene.trips(|notes| notes.move_blocks(moves)).0, 10),
        ("delete blocks", scene.trips(|n| n.delete_blocks(DeleteBlocks::new(deleted))).0, 6),
        ("update blocks", scene.trips(|notes| notes.update_blocks(texts)).0, 5),
        ("move documents", scene.trips(|notes| notes.move_documents(old)).0, 10),
        ("delete documents", scene.trips(|notes| notes.delete_documents(trash)).0, 10),
        ("restore documents", scene.trips(|notes| notes.move_documents(back)).0, 10),
        ("trash again", scene.trips(|notes| notes.delete_documents(trash_again)).0, 10),
        // Each document has rows of the change log of its own.
        ("purge", scene.trips(|notes| notes.purge_documents(purge)).0, 130),
    ];
    let over: Vec<_> = found.iter().filter(|(_, trips, most)| trips > most).collect();
    assert!(over.is_empty(), "round trips, and the most there should be: {over:?}");
}
