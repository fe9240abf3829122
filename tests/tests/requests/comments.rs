//! Comments: put on blocks in one batch, shown with metadata, kept and deleted with their block.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use leafbase::{
    AddComments, AddTasks, BlockId, CommentDraft, Connection, CreateFromTemplate, DeleteBlocks,
    Destination, Edit, Error, ErrorKind, Fetch, Limits, MoveBlocks, MoveDocuments, Position,
    PurgeDocuments, Space, TaskDestination, TaskDraft, TaskUpdate,
};
use leafbase_test_outline::{FixedClock, SequentialIds};
use serde_json::{Value, json};

use crate::host::{Host, wrong};
use crate::stores::Wrapped;

fn add(
    notes: &Connection,
    comments: &[(BlockId, &str)],
) -> Result<Vec<leafbase::CommentId>, Error> {
    let drafts = comments.iter().map(|(block, content)| CommentDraft::new(*block, *content));
    Ok(notes.add_comments(AddComments::new(drafts))?.iter().map(|added| added.comment_id).collect())
}

/// Author and content of the comments on `block`, as a fetch of it shows them.
fn on(notes: &Connection, block: BlockId) -> Vec<(String, String)> {
    let metadata =
        notes.fetch(Fetch::new(block).depth(0).with_metadata()).unwrap().metadata.unwrap();
    metadata
        .comments
        .into_iter()
        .map(|comment| (comment.author.as_str().to_owned(), comment.content))
        .collect()
}

fn contents(notes: &Connection, block: BlockId) -> Vec<String> {
    on(notes, block).into_iter().map(|(_, content)| content).collect()
}

#[test]
fn comments_are_shown_with_author_and_time_where_metadata_is_asked_for() {
    let clock = Arc::new(FixedClock::at(1_000));
    let space =
        Space::builder().clock(clock.clone()).ids(SequentialIds::new(1)).in_memory().unwrap();
    let (ada, nobody) = (space.connect().acting_as("Ada"), space.connect());
    let document = ada.create_document("Trip").unwrap().id();
    let text = ada.insert_markdown("socks", document).unwrap()[0].id;
    clock.advance(1_000);
    let [first] = add(&ada, &[(text, "*Wool*?")]).unwrap()[..] else { panic!() };
    clock.advance(1_000);
    let [second] = add(&nobody, &[(text, " Yes.\n")]).unwrap()[..] else { panic!() };

    let fetched =
        serde_json::to_value(ada.fetch(Fetch::new(document).with_metadata()).unwrap()).unwrap();
    assert_eq!(
        fetched["content"][0]["metadata"],
        json!({
            "createdAt": "1970-01-01T00:00:01.000Z", "lastModifiedAt": "1970-01-01T00:00:01.000Z",
            "createdBy": "Ada", "lastModifiedBy": "Ada",
            "comments": [
                {"id": first, "author": "Ada", "content": "*Wool*?", "createdAt": "1970-01-01T00:00:02.000Z"},
                {"id": second, "content": " Yes.\n", "createdAt": "1970-01-01T00:00:03.000Z"},
            ],
        })
    );
    assert_eq!(
        (&fetched["content"][0]["rev"], &fetched["metadata"]["comments"]),
        (&json!(1), &Value::Null)
    );
    assert_eq!(
        ada.document(document).unwrap().modified_at().as_millis(),
        3_000,
        "the document has changed"
    );
    let plain = serde_json::to_value(ada.fetch(Fetch::new(document)).unwrap()).unwrap();
    assert_eq!(plain["content"][0].get("metadata"), None);
}

#[test]
fn outcomes() {
    let mut limits = Limits::default();
    (limits.comment, limits.blocks_per_request) = (8, 3);
    let host = Host::with_limits(limits);
    let long = json!({"comments": [{"blockId": "@text", "content": "€€€"}]}).to_string();
    let four = json!({"comments": vec![json!({"blockId": "?", "content": ""}); 4]}).to_string();
    for (body, outcome) in [
        (r#"{"comments":[]}"#, "0 added"),
        (
            r#"{"comments":[{"blockId":"@text","content":"x"},{"blockId":"@root","content":"y"}]}"#,
            "2 added",
        ),
        (r#"{"comments":[{"blockId":"@text","content":"12345678"}]}"#, "1 added"),
        (
            r#"{"comments":[{"blockId":"@text","content":"x"},{"blockId":"?","content":"x"}]}"#,
            "NOT_FOUND comments[1].blockId",
        ),
        (r#"{"comments":[{"blockId":"?","content":" "}]}"#, "NOT_FOUND comments[0].blockId"),
        (r#"{"comments":[{"blockId":"@text","content":""}]}"#, "VALIDATION comments[0].content"),
        (
            r#"{"comments":[{"blockId":"@text","content":" \n\t"}]}"#,
            "VALIDATION comments[0].content",
        ),
        (&long, "LIMIT_EXCEEDED comments[0].content"),
        (&four, "LIMIT_EXCEEDED comments"),
        (r#"{"comments":[{"blockId":"@text"}]}"#, "VALIDATION comments[0].content"),
        (
            r#"{"comments":[{"blockId":"@text","content":"x","author":"Ben"}]}"#,
            "VALIDATION comments[0].author",
        ),
        (r#"{"comments":{"blockId":"@text","content":"x"}}"#, "VALIDATION comments"),
        ("{}", "VALIDATION comments"),
    ] {
        let before = host.dump();
        let found = host.request(body).and_then(|request| host.notes.add_comments(request));
        let found =
            found.map_or_else(|error| wrong(&error), |added| format!("{} added", added.len()));
        assert_eq!(found, outcome, "{body}");
        assert_eq!(
            host.dump() == before,
            !outcome.ends_with(" added") || outcome == "0 added",
            "{body}"
        );
    }
}

#[test]
fn every_type_of_block_takes_comments() {
    let host = Host::new();
    for block_type in leafbase::BlockType::ALL {
        let block = host.id(block_type.as_str());
        add(&host.notes, &[(block, block_type.as_str())]).unwrap();
        assert_eq!(contents(&host.notes, block), [block_type.as_str()]);
    }
    let tree = host.notes.fetch(Fetch::new(host.document()).with_metadata()).unwrap();
    let shown = tree
        .walk()
        .filter(|(_, block)| !block.metadata.as_ref().unwrap().comments.is_empty())
        .count();
    // A collection shows none of its items; every other block is in the tree.
    assert_eq!(shown, leafbase::BlockType::ALL.len() - 1);
    assert!(host.notes.space().check().unwrap().is_clean());
}

/// IDs that count down, as random ones may.
#[derive(Default)]
struct CountingDown(AtomicU64);

impl leafbase::IdSource for CountingDown {
    fn new_id(&self, _: leafbase::Timestamp) -> [u8; 16] {
        let given = self.0.fetch_add(1, Ordering::Relaxed);
        u128::from(u64::MAX - given).to_be_bytes()
    }
}

#[test]
fn comments_of_one_batch_keep_its_order() {
    let space = Space::builder().ids(CountingDown::default()).in_memory().unwrap();
    let notes = space.connect();
    let document = notes.create_document("d").unwrap().id();
    let blocks = notes.insert_markdown("a\n\nb", document).unwrap();
    let [a, b] = [blocks[0].id, blocks[1].id];
    let given = add(&notes, &[(a, "1"), (b, "2"), (a, "3"), (b, "4"), (a, "5")]).unwrap();
    assert_eq!(
        (contents(&notes, a), contents(&notes, b)),
        (vec!["1".into(), "3".into(), "5".into()], vec!["2".into(), "4".into()])
    );
    let tree = notes.fetch(Fetch::new(a).with_metadata()).unwrap();
    let shown: Vec<_> = tree.metadata.unwrap().comments.iter().map(|comment| comment.id).collect();
    assert_eq!(
        shown,
        [given[0], given[2], given[4]],
        "the IDs are given in the order of the request"
    );
}

#[test]
fn a_block_alone_and_its_tree_show_the_same() {
    let host = Host::new();
    let lines: Vec<_> = (0..40).map(|number| format!("line {number}")).collect();
    let blocks =
        host.notes.insert_markdown(&lines.join("\n\n"), Position::end_of(host.id("page"))).unwrap();
    for (number, block) in blocks.iter().enumerate().step_by(3) {
        add(&host.notes, &[(block.id, &format!("on {number}"))]).unwrap();
    }
    for start in ["root", "page"] {
        let tree = host.notes.fetch(Fetch::new(host.id(start)).with_metadata()).unwrap();
        for (_, block) in tree.walk() {
            let alone = host.notes.fetch(Fetch::new(block.id).depth(0).with_metadata()).unwrap();
            assert_eq!(block.metadata, alone.metadata, "{start}");
        }
    }
}

/// The keyspace of comments.
const COMMENTS: u8 = 0x60;

#[test]
fn a_fetch_reads_the_comments_that_it_shows() {
    let store = Wrapped::new();
    let builder = Space::builder().ids(SequentialIds::new(1));
    let notes = builder.over(Arc::new(store.clone()), true).unwrap().connect();
    let document = notes.create_document("d").unwrap().id();
    let pages = notes.insert_markdown("few\n\nmany", document).unwrap();
    let [few, many] = [pages[0].id, pages[1].id];
    let lines = |count: usize| vec!["x"; count].join("\n\n");
    let insert = |page: BlockId, count: usize| {
        notes.insert_markdown(&lines(count), Position::end_of(page)).unwrap()
    };
    // By their IDs, the many lie between the few.
    let before = insert(few, 10);
    let between = insert(many, 1_000);
    let after = insert(few, 10);
    let shown = [before[3].id, before[9].id, after[0].id, few];
    let all: Vec<_> = between
        .iter()
        .map(|block| (block.id, "x"))
        .chain(shown.map(|block| (block, "y")))
        .collect();
    add(&notes, &all).unwrap();
    for (request, expected, at_most) in [
        // The first one also looks whether the document has any.
        (Fetch::new(few).with_metadata(), 4, 4 + 8 + 1),
        (Fetch::new(few).depth(0).with_metadata(), 1, 1),
        (Fetch::new(few), 0, 0),
        // The control: all of them are counted where all are shown.
        (Fetch::new(document).with_metadata(), 1_004, 1_004),
    ] {
        let (tree, rows) = store.counting(COMMENTS, || notes.fetch(request).unwrap());
        let comments = tree
            .walk()
            .filter_map(|(_, block)| block.metadata.as_ref())
            .map(|metadata| metadata.comments.len());
        let comments = comments.sum::<usize>();
        assert_eq!(comments, expected, "{request:?}");
        assert!((expected..=at_most).contains(&rows), "{request:?}: {rows} rows");
    }
}

#[test]
fn comments_stay_with_their_block() {
    let host = Host::new();
    let (notes, text, child) = (&host.notes, host.id("text"), host.id("child"));
    add(notes, &[(text, "on the text"), (child, "on the child")]).unwrap();
    // Changed, and turned into a page.
    notes.update_markdown(text, "other words").unwrap();
    notes.insert_markdown("x", Position::end_of(text)).unwrap();
    assert_eq!(contents(notes, text), ["on the text"]);
    // Moved to another document with the page that it stands in.
    notes
        .move_blocks(MoveBlocks::new([host.id("page"), text], Position::end_of(host.id("other"))))
        .unwrap();
    assert_eq!(
        (contents(notes, text), contents(notes, child)),
        (vec!["on the text".into()], vec!["on the child".into()])
    );
    let tree = notes.fetch(Fetch::new(host.id("other")).with_metadata()).unwrap();
    assert_eq!(
        tree.walk()
            .map(|(_, block)| block.metadata.as_ref().unwrap().comments.len())
            .sum::<usize>(),
        2
    );
    assert!(notes.space().check().unwrap().is_clean());
}

#[test]
fn a_document_in_the_trash_takes_none_and_keeps_those_it_has() {
    let host = Host::new();
    add(&host.notes, &[(host.id("text"), "before")]).unwrap();
    host.notes.delete_documents(host.document()).unwrap();
    assert_eq!(contents(&host.notes, host.id("text")), ["before"]);
    let error = add(&host.notes, &[(host.id("other"), "x"), (host.id("child"), " ")]).unwrap_err();
    assert_eq!(wrong(&error), "RULE_VIOLATION comments[1].blockId");
    host.notes
        .move_documents(MoveDocuments::new([host.document()], Destination::Unsorted))
        .unwrap();
    add(&host.notes, &[(host.id("text"), "after")]).unwrap();
    assert_eq!(contents(&host.notes, host.id("text")), ["before", "after"]);
}

#[test]
fn comments_go_with_their_block_and_come_back_with_it() {
    let host = Host::new();
    let (notes, page, child) = (&host.notes, host.id("page"), host.id("child"));
    let ada = notes.acting_as("Ada");
    add(&ada, &[(child, "1"), (page, "2"), (child, "3"), (host.id("text"), "stays")]).unwrap();
    let before = host.dump();
    let from = notes.last_sequence().unwrap();
    ada.delete_blocks(DeleteBlocks::from(page)).unwrap();
    assert_eq!(contents(notes, host.id("text")), ["stays"]);
    assert!(notes.space().check().unwrap().is_clean());

    let change = notes.changes_since(from).next().unwrap().unwrap();
    let taken =
        change.edits.iter().filter(|edit| matches!(edit, Edit::RemoveComment { .. })).count();
    assert_eq!((taken, change.documents.as_slice()), (3, &[host.document()][..]));
    notes.space().apply(notes.author(), &change.inverse().unwrap()).unwrap();
    assert_eq!(host.dump(), before, "what was deleted is back");
    assert_eq!(on(notes, child), [("Ada".into(), "1".into()), ("Ada".into(), "3".into())]);

    let added = notes.changes_since(0).nth(usize::try_from(from).unwrap() - 1).unwrap().unwrap();
    notes.space().apply(notes.author(), &added.inverse().unwrap()).unwrap();
    assert_eq!(
        (contents(notes, child), contents(notes, host.id("text"))),
        (vec![], vec![]),
        "a batch is undone as a whole"
    );
    assert!(notes.space().check().unwrap().is_clean());
}

#[test]
fn a_purge_takes_the_comments_from_the_history_too() {
    let host = Host::new();
    let (notes, document) = (&host.notes, host.document());
    add(notes, &[(host.id("child"), "1"), (host.id("root"), "2"), (host.id("other"), "stays")])
        .unwrap();
    notes.delete_documents(document).unwrap();
    let commented = || {
        let changes = notes.changes_since(0).map(Result::unwrap);
        let edits: Vec<_> = changes.flat_map(|change| change.edits).collect();
        let comments = edits.iter().filter_map(|edit| match edit {
            Edit::AddComment { comment, .. } => Some(comment.content.to_string()),
            _ => None,
        });
        comments.collect::<Vec<_>>()
    };
    assert_eq!(commented(), ["1", "2", "stays"]);
    notes.purge_documents(PurgeDocuments::new([document])).unwrap();
    assert_eq!(contents(notes, host.id("other")), ["stays"]);
    assert_eq!(commented(), ["", "", "stays"]);
    assert!(notes.space().check().unwrap().is_clean(), "no comment is left without its block");
    let change = notes.changes_since(0).last().unwrap().unwrap();
    assert_eq!(change.inverse().unwrap_err().kind(), ErrorKind::HistoryGone);
}

#[test]
fn a_task_takes_its_comments_from_place_to_place() {
    let host = Host::new();
    let notes = &host.notes;
    let task = notes.add_tasks(AddTasks::new([TaskDraft::new("socks")])).unwrap()[0].id;
    add(notes, &[(task, "wool")]).unwrap();
    let places = [
        TaskDestination::DailyNote(leafbase::DayRef::Today),
        TaskDestination::Document(host.document()),
        TaskDestination::Inbox,
    ];
    for place in places {
        notes.update_tasks(TaskUpdate::of(task).moved_to(place)).unwrap();
        assert_eq!(contents(notes, task), ["wool"], "{place:?}");
    }
    notes.delete_tasks(task).unwrap();
    assert!(notes.space().check().unwrap().is_clean());
}

#[test]
fn a_copy_of_a_template_has_no_comments() {
    let host = Host::new();
    let (notes, document) = (&host.notes, host.document());
    notes
        .delete_blocks(DeleteBlocks::new([host.id("collection"), host.id("collectionItem")]))
        .unwrap();
    notes.move_documents(MoveDocuments::new([document], Destination::Templates)).unwrap();
    add(notes, &[(host.id("text"), "about the template")]).unwrap();
    let copy = notes.create_from_template(CreateFromTemplate::new(document)).unwrap().id();
    let tree = notes.fetch(Fetch::new(copy).with_metadata()).unwrap();
    assert!(tree.walk().all(|(_, block)| block.metadata.as_ref().unwrap().comments.is_empty()));
    assert_eq!(contents(notes, host.id("text")), ["about the template"]);
}
