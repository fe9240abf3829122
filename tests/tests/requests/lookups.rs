//! Where blocks are, documents by name, all open tasks, and patterns that mean a text.

use leafbase::{
    AddTasks, BlockData, BlockDraft, CreateDocuments, DayRef, Destination, Error, Fetch,
    FindDocuments, ListTasks, MoveDocuments, Position, PurgeDocuments, ResolveBlocks, SearchBlocks,
    Space, TaskDestination, TaskDraft, TaskScope, TaskState, TaskUpdate, escape_pattern,
};
use serde_json::{Value, json};

fn shown(reply: impl serde::Serialize) -> Value {
    serde_json::to_value(reply).unwrap()
}

fn told(error: &Error) -> (&'static str, &str) {
    (error.code(), error.path())
}

#[test]
fn a_block_is_in_a_document_under_pages_and_on_a_day() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let trip = notes.create_document("Trip").unwrap().id();
    let page = notes.insert_markdown("Day 1", trip).unwrap()[0].id;
    let line = notes.insert_markdown("passport", Position::end_of(page)).unwrap()[0].id;
    let today = notes.insert_markdown("rain", Position::end_of_day(DayRef::Today)).unwrap()[0].id;
    let found = notes.resolve(ResolveBlocks::new([line, today, trip.root()])).unwrap();
    let path = json!([{"id": trip, "content": "Trip"}, {"id": page, "content": "Day 1"}]);
    assert_eq!(
        shown(&found[0]),
        json!({"blockId": line, "documentId": trip, "pageBlockPath": path})
    );
    let note = notes.document_of(today).unwrap();
    let day = notes.document(note).unwrap().record.day.unwrap();
    assert_eq!(shown(&found[1])["dailyNoteDate"], json!(day));
    assert_eq!(shown(&found[2])["pageBlockPath"], json!([]));
    let fetched = notes.fetch(Fetch::new(line).with_metadata()).unwrap();
    assert_eq!(shown(&fetched)["metadata"]["documentId"], json!(trip));

    let guest = space.scoped([trip]);
    assert_eq!(shown(guest.resolve(line).unwrap())["items"], json!([shown(&found[0])]));
    let hidden = guest.resolve(ResolveBlocks::new([line, today])).unwrap_err();
    let never = guest.resolve(ResolveBlocks::new([line, leafbase::BlockId::NIL])).unwrap_err();
    assert_eq!((told(&hidden), hidden.to_string()), (told(&never), never.to_string()));
    assert_eq!(told(&hidden), ("NOT_FOUND", "blockIds[1]"));
}

#[test]
fn documents_are_found_by_title_and_path() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let travel = notes.create_folder("Travel", None).unwrap().id;
    let plans = notes.create_folder("Plans/2026", Some(travel)).unwrap().id;
    let page = |title: &str| BlockDraft::new(BlockData::page(title));
    let top = notes.create_document("Lisbon").unwrap().id();
    let within = notes.create_document_of(page("lisbon"), travel).unwrap().id();
    let deep = notes.create_document_of(page("a/b"), plans).unwrap().id();
    let find = |name: &str| -> Vec<_> {
        let found = notes.find_documents(FindDocuments::named(name)).unwrap();
        found.iter().map(|document| document.id()).collect()
    };
    for (name, expected) in [
        ("LISBON", vec![top, within]),
        ("Travel/Lisbon", vec![within]),
        ("travel/plans/2026/A/b", vec![deep]),
        ("a/b", vec![deep]),
        ("b", vec![]),
        ("2026/a/b", vec![]),
        ("/Lisbon", vec![]),
        ("Plans/2026/a/b", vec![]),
        ("", vec![]),
    ] {
        let mut expected = expected;
        expected.sort_unstable();
        assert_eq!(find(name), expected, "{name}");
    }
    // What is renamed, moved, trashed or purged is found as it is then.
    notes.update_markdown(within.root(), "Lisboa").unwrap();
    assert_eq!((find("Travel/Lisbon"), find("travel/lisboa")), (vec![], vec![within]));
    notes.move_documents(MoveDocuments::new([within], Destination::Unsorted)).unwrap();
    assert_eq!((find("Travel/Lisboa"), find("lisboa")), (vec![], vec![within]));
    let second = notes.create_document("lisboa").unwrap().id();
    notes.delete_documents(within).unwrap();
    assert_eq!(find("Lisboa"), [second, within], "what is in the trash comes last");
    notes.purge_documents(PurgeDocuments::new([within])).unwrap();
    assert_eq!(find("Lisboa"), [second]);
    assert!(find("Inbox").is_empty());
    assert!(space.check().unwrap().is_clean());
    let guest = space.scoped([top, deep]);
    let guests = |name: &str| guest.find_documents(FindDocuments::named(name)).unwrap().len();
    assert_eq!(["lisbon", "a/b", "lisboa", "Travel/Plans/2026/a/b"].map(guests), [1, 1, 0, 0]);
}

#[test]
fn a_scope_tells_that_a_document_is_deleted_and_no_more() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let made = notes.create_documents(CreateDocuments::titled(["Trip", "Diary"])).unwrap();
    let (trip, diary) = (made[0].id(), made[1].id());
    let guest = space.scoped([trip, diary]);
    notes.delete_documents(diary).unwrap();
    let listed = shown(guest.documents().unwrap());
    // By ID, and both may have been made in the same millisecond.
    let mut expected = [
        (trip, json!({"id": trip, "title": "Trip", "isDeleted": false})),
        (diary, json!({"id": diary, "title": "", "isDeleted": true})),
    ];
    expected.sort_by_key(|(id, _)| *id);
    assert_eq!(listed["items"], json!(expected.map(|(_, shown)| shown)));
    assert_eq!(told(&guest.document(diary).unwrap_err()), ("NOT_FOUND", ""));
    notes.purge_documents(PurgeDocuments::new([diary])).unwrap();
    assert_eq!(shown(guest.documents().unwrap()), listed, "a purged one looks like a deleted one");
}

#[test]
fn tasks_without_a_scope_are_all_open_ones() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let trip = notes.create_document("Trip").unwrap().id();
    let task = |text: &str| TaskDraft::new(text).at(trip);
    let added = notes
        .add_tasks(AddTasks::new([
            task("no day"),
            TaskDraft::new("in the inbox"),
            task("later").due(DayRef::Tomorrow),
            task("now").scheduled(DayRef::Today),
            task("done"),
            TaskDraft::new("today's").at(TaskDestination::DailyNote(DayRef::Today)),
        ]))
        .unwrap();
    notes.update_tasks(TaskUpdate::of(added[4].id).with_state(TaskState::Done)).unwrap();
    let request: ListTasks = space.read_json("{}").unwrap();
    assert_eq!(request, ListTasks::new(TaskScope::Open));
    let texts = |request: ListTasks| -> Vec<String> {
        notes.tasks(request).unwrap().iter().map(|task| task.inline.clone()).collect()
    };
    let all = texts(request);
    assert_eq!(all[..2], ["now", "later"]);
    let mut rest = all[2..].to_vec();
    rest.sort_unstable();
    assert_eq!(rest, ["in the inbox", "no day", "today's"]);
    let (mut paged, mut next) = (Vec::new(), ListTasks::default().limit(2));
    loop {
        let page = notes.tasks(next).unwrap();
        paged.extend(page.iter().map(|task| task.inline.clone()));
        let Some(cursor) = page.next_cursor else { break };
        next = ListTasks::default().limit(2).after(cursor);
    }
    assert_eq!(paged, all);
    notes.delete_documents(trip).unwrap();
    assert_eq!(texts(ListTasks::default()).len(), 2, "those in the trash are not listed");
    assert!(space.check().unwrap().is_clean());
}

#[test]
fn a_pattern_may_be_a_text() {
    let notes = Space::in_memory().unwrap().connect();
    let trip = notes.create_document("Trip").unwrap().id();
    let texts = ["1+1 (= 2)", "a.b", "aab", "[x] $5^2 {3} \\ |", "é?", "a-b&c~d e"];
    let drafts = texts.map(BlockDraft::plain);
    let request = leafbase::InsertBlocks::blocks(drafts.to_vec(), Position::end_of(trip));
    let blocks = notes.insert_blocks(request).unwrap();
    for block in &blocks {
        let pattern = escape_pattern(block.markdown());
        let found = notes.search_blocks(SearchBlocks::new(trip, pattern)).unwrap();
        assert_eq!(found.len(), 1, "{}", block.markdown());
        assert_eq!((found[0].block_id, found[0].rev), (block.id, 1));
        let quoted = format!(r"\Q{}\E", block.markdown());
        let found = notes.search_blocks(SearchBlocks::new(trip, quoted)).unwrap();
        assert_eq!(found.len(), 1);
    }
    notes.update_markdown(blocks[2].id, "aabb").unwrap();
    let found = notes.search_blocks(SearchBlocks::new(trip, "aab+")).unwrap();
    assert_eq!(shown(&found[0])["rev"], json!(2));
}
