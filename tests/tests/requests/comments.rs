//! Comments: put on blocks in one batch, shown with metadata, kept and deleted with their block.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use leafbase::{
    AddComments, AddTasks, BlockId, CommentDraft, CommentId, CommentPatch, Connection,
    CreateFromTemplate, DeleteBlocks, DeleteComments, Destination, Edit, Error, ErrorKind, Fetch,
    Limits, ListComments, ListedComment, Metadata, MoveBlocks, MoveDocuments, Position,
    PurgeDocuments, Space, TaskDestination, TaskDraft, TaskUpdate, UpdateComments,
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

fn update(
    notes: &Connection,
    patches: impl IntoIterator<Item = CommentPatch>,
) -> Result<Vec<ListedComment>, Error> {
    notes.update_comments(UpdateComments::new(patches)).map(|updated| updated.0)
}

fn list(notes: &Connection, request: ListComments) -> Vec<String> {
    let found = notes.list_comments(request).unwrap();
    found.into_iter().map(|listed| listed.comment.content).collect()
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
            r#"{"comments":[{"blockId":"@text","content":"x","text":"y"}]}"#,
            "VALIDATION comments[0].text",
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
            let [below, alone] = [&block.metadata, &alone.metadata]
                .map(|metadata| Metadata { document: None, ..metadata.clone().unwrap() });
            assert_eq!(below, alone, "{start}");
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
    let all = [(host.id("child"), "1"), (host.id("root"), "2"), (host.id("other"), "stays")];
    let ids = add(notes, &all).unwrap();
    let [one, other] = [(ids[0], "one"), (ids[2], "stays, too")]
        .map(|(id, content)| CommentPatch::of(id).with_content(content));
    update(notes, [one]).unwrap();
    update(notes, [other]).unwrap();
    notes.delete_documents(document).unwrap();
    let commented = || {
        let changes = notes.changes_since(0).map(Result::unwrap);
        let edits: Vec<_> = changes.flat_map(|change| change.edits).collect();
        let comments = edits.iter().filter_map(|edit| match edit {
            Edit::AddComment { comment, .. } => Some(comment.content.to_string()),
            Edit::UpdateComment { before, after, .. } => {
                Some(format!("{} -> {}", before.content, after.content))
            }
            _ => None,
        });
        comments.collect::<Vec<_>>()
    };
    let before = ["1", "2", "stays", "1 -> one", "stays -> stays, too"];
    assert_eq!(commented(), before);
    notes.purge_documents(PurgeDocuments::new([document])).unwrap();
    assert_eq!(contents(notes, host.id("other")), ["stays, too"]);
    assert_eq!(commented(), ["", "", "stays", " -> ", "stays -> stays, too"]);
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

#[test]
fn comments_are_listed_oldest_first_by_document_and_by_block() {
    let host = Host::new();
    let (notes, text, child) = (&host.notes, host.id("text"), host.id("child"));
    let ids = add(notes, &[(child, "1"), (text, "2"), (host.id("other"), "3"), (child, "4")]);
    let resolved = CommentPatch::of(ids.unwrap()[0]).with_resolved(true);
    update(notes, [resolved]).unwrap();
    let document = ListComments::of(host.document());
    assert_eq!(list(notes, document.clone()), ["1", "2", "4"]);
    assert_eq!(list(notes, document.clone().open()), ["2", "4"]);
    assert_eq!(list(notes, document.resolved()), ["1"]);
    let blocks = ListComments::on([host.id("other"), child, child]);
    assert_eq!(list(notes, blocks.clone()), ["1", "3", "4"]);
    assert_eq!(list(notes, blocks.open()), ["3", "4"]);
    assert_eq!(list(notes, ListComments::on([])), [""; 0]);
    // Those of a document in the trash can be read.
    notes.delete_documents(host.document()).unwrap();
    assert_eq!(list(notes, ListComments::of(child)), ["1", "4"]);
}

#[test]
fn an_edit_and_a_resolution_tell_who_and_when_and_keep_the_author() {
    let clock = Arc::new(FixedClock::at(1_000));
    let space =
        Space::builder().clock(clock.clone()).ids(SequentialIds::new(1)).in_memory().unwrap();
    let (ada, ben) = (space.connect().acting_as("Ada"), space.connect().acting_as("Ben"));
    let document = ada.create_document("Trip").unwrap().id();
    let [comment] = add(&ada, &[(document.root(), "socks?")]).unwrap()[..] else { panic!() };
    let json = |listed: &ListedComment| serde_json::to_value(listed).unwrap();
    let rev = ada.document(document).unwrap().rev();

    clock.advance(1_000);
    let patch = CommentPatch::of(comment).with_content("wool?").with_resolved(true);
    let updated = json(&update(&ben, [patch.clone()]).unwrap()[0]);
    let expected = json!({
        "blockId": document.root(), "id": comment, "author": "Ada", "content": "wool?",
        "createdAt": "1970-01-01T00:00:01.000Z", "lastModifiedAt": "1970-01-01T00:00:02.000Z",
        "lastModifiedBy": "Ben", "resolvedAt": "1970-01-01T00:00:02.000Z", "resolvedBy": "Ben",
    });
    assert_eq!(updated, expected);
    let root = ada.fetch(Fetch::new(document).depth(0).with_metadata()).unwrap();
    assert_eq!(root.rev, 1, "the block has not changed");
    assert_eq!(ada.document(document).unwrap().rev(), rev + 1, "the document has");

    // What it says already, and a reply that comes back, change nothing.
    clock.advance(1_000);
    let last = ada.last_sequence().unwrap();
    assert_eq!(json(&update(&ada, [patch]).unwrap()[0]), expected);
    let back: UpdateComments = serde_json::from_value(json!({"comments": [expected]})).unwrap();
    assert_eq!(json(&ada.update_comments(back).unwrap()[0]), expected);
    assert_eq!(ada.last_sequence().unwrap(), last);

    let reopened = CommentPatch::of(comment).with_resolved(false);
    assert_eq!(update(&ada, [reopened]).unwrap()[0].comment.resolved, None);
    let change = ada.changes_since(last).next().unwrap().unwrap();
    ada.space().apply(ada.author(), &change.inverse().unwrap()).unwrap();
    let found = ada.list_comments(ListComments::of(document)).unwrap();
    assert_eq!(json(&found[0]), expected, "undone");
    assert!(space.check().unwrap().is_clean());
}

#[test]
fn a_change_of_comments_is_all_or_nothing() {
    let mut limits = Limits::default();
    (limits.comment, limits.blocks_per_request) = (8, 3);
    let host = Host::with_limits(limits);
    let notes = &host.notes;
    let ids = add(notes, &[(host.id("text"), "1"), (host.id("other"), "2")]).unwrap();
    let [one, two] = [ids[0], ids[1]];
    let none = CommentId::from_bytes([0xAB; 16]);
    let patch = |id: CommentId, content: &str| CommentPatch::of(id).with_content(content);
    let before = host.dump();
    for (patches, outcome) in [
        (vec![patch(one, "x"), patch(none, "")], "NOT_FOUND comments[1].id"),
        (vec![patch(none, "x"), patch(none, "x")], "NOT_FOUND comments[0].id"),
        (vec![patch(one, "x"), patch(one, "y")], "VALIDATION comments[1].id"),
        (vec![patch(one, "x"), patch(two, " \n")], "VALIDATION comments[1].content"),
        (vec![patch(two, "€€€")], "LIMIT_EXCEEDED comments[0].content"),
        (vec![patch(none, ""); 4], "LIMIT_EXCEEDED comments"),
    ] {
        assert_eq!(wrong(&update(notes, patches).unwrap_err()), outcome);
        assert_eq!(host.dump(), before, "{outcome}");
    }
    for (ids, outcome) in [
        (vec![one, none], "NOT_FOUND commentIds[1]"),
        (vec![one, one], "VALIDATION commentIds[1]"),
        (vec![none; 4], "LIMIT_EXCEEDED commentIds"),
    ] {
        let error = notes.delete_comments(DeleteComments::new(ids)).unwrap_err();
        assert_eq!(wrong(&error), outcome);
        assert_eq!(host.dump(), before, "{outcome}");
    }
    for (request, outcome) in [
        (ListComments::on([host.id("text"), BlockId::NIL]), "NOT_FOUND blockIds[1]"),
        (ListComments::of(leafbase::DocumentId::NIL), "NOT_FOUND documentId"),
        (ListComments::on([BlockId::NIL; 4]), "LIMIT_EXCEEDED blockIds"),
    ] {
        assert_eq!(wrong(&notes.list_comments(request).unwrap_err()), outcome);
    }
    notes.delete_documents(host.document()).unwrap();
    let trashed = update(notes, [patch(two, "x"), patch(one, "x")]).unwrap_err();
    assert_eq!(wrong(&trashed), "RULE_VIOLATION comments[1].id");
    let trashed = notes.delete_comments(DeleteComments::from(one)).unwrap_err();
    assert_eq!(wrong(&trashed), "RULE_VIOLATION commentIds[0]");
}

#[test]
fn a_deleted_comment_comes_back_with_an_undo() {
    let host = Host::new();
    let (notes, text) = (&host.notes, host.id("text"));
    let ids = add(notes, &[(text, "1"), (text, "2")]).unwrap();
    let from = notes.last_sequence().unwrap();
    assert_eq!(*notes.delete_comments(DeleteComments::from(ids[0])).unwrap(), [ids[0]]);
    assert_eq!(contents(notes, text), ["2"]);
    assert_eq!(
        wrong(&notes.delete_comments(DeleteComments::from(ids[0])).unwrap_err()),
        "NOT_FOUND commentIds[0]"
    );
    let change = notes.changes_since(from).next().unwrap().unwrap();
    notes.space().apply(notes.author(), &change.inverse().unwrap()).unwrap();
    assert_eq!(contents(notes, text), ["1", "2"]);
    assert!(notes.space().check().unwrap().is_clean());
}

/// A comment is found by its ID wherever its block goes.
#[test]
fn a_comment_is_changed_after_its_block_has_moved() {
    let host = Host::new();
    let (notes, text) = (&host.notes, host.id("text"));
    let comment = add(notes, &[(text, "1")]).unwrap()[0];
    let away = MoveBlocks::new([text], Position::end_of(host.id("other")));
    notes.move_blocks(away).unwrap();
    update(notes, [CommentPatch::of(comment).with_content("one")]).unwrap();
    assert_eq!(contents(notes, text), ["one"]);
    assert!(notes.space().check().unwrap().is_clean());
}

/// A guest changes comments of the host, and what is hidden in them stays as it is.
#[test]
fn a_scoped_connection_changes_the_comments_that_it_sees() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect().acting_as("Ada");
    let [seen, hidden] = ["seen", "hidden"].map(|title| notes.create_document(title).unwrap().id());
    let text = format!("see [x](block://{hidden})");
    let ids = add(&notes, &[(seen.root(), &text), (hidden.root(), "secret")]).unwrap();
    let guest = space.scoped([seen]).acting_as("Ben");
    let listed = guest.list_comments(ListComments::of(seen)).unwrap();
    assert_eq!(listed[0].comment.content, "see [x](invalid:out_of_scope#1)");

    // Sent back as it came, it is as it was; and the link stays when the text around it changes.
    let json = serde_json::to_value(&listed[0]).unwrap();
    let back: UpdateComments = serde_json::from_value(json!({"comments": [json]})).unwrap();
    let last = notes.last_sequence().unwrap();
    guest.update_comments(back).unwrap();
    assert_eq!(notes.last_sequence().unwrap(), last);
    let content = format!("do {}", listed[0].comment.content);
    let updated = guest
        .update_comments(UpdateComments::new([CommentPatch::of(ids[0])
            .with_content(content.clone())
            .with_resolved(true)]))
        .unwrap();
    assert_eq!(updated[0].comment.content, content);
    assert_eq!(list(&notes, ListComments::of(seen).resolved()), [format!("do {text}")]);

    let unseen = CommentPatch::of(ids[1]).with_content("");
    let error = guest.update_comments(UpdateComments::new([unseen])).unwrap_err();
    assert_eq!(wrong(&error), "NOT_FOUND comments[0].id");
    let error = guest.delete_comments(DeleteComments::from(ids[1])).unwrap_err();
    assert_eq!(wrong(&error), "NOT_FOUND commentIds[0]");
    let error = guest.list_comments(ListComments::of(hidden)).unwrap_err();
    assert_eq!(wrong(&error), "NOT_FOUND documentId");
    guest.delete_comments(DeleteComments::from(ids[0])).unwrap();
    assert_eq!(list(&notes, ListComments::of(seen)), [""; 0]);
    let feed: Vec<_> = guest.changes_since(0).map(|change| change.unwrap().blocks).collect();
    assert_eq!(feed, [[seen.root()], [seen.root()]]);
}
