//! Batches: the same as their operations one by one, or nothing at all.

use std::sync::Arc;

use leafbase::kv::{KeyRange, MemoryStore, Store};
use leafbase::{
    AddComments, AddItems, AddTasks, Batch, BatchAccess, BlockId, CommentDraft, CommentId,
    CommentPatch, Connection, CreateCollection, CreateDocuments, CreateFolders, DeleteBlocks,
    DeleteComments, DeleteDocuments, DeleteTasks, Destination, DocumentId, DocumentPatch,
    EditMarkdown, Error, ErrorKind, Expectations, Fetch, FolderDraft, FolderId, FolderPatch,
    InsertBlocks, ItemDraft, Limits, Location, MoveBlocks, MoveDocuments, Position, PurgeDocuments,
    ReplaceText, SchemaDraft, Scope, Space, TaskDraft, TaskUpdate, UndoChanges, UpdateComments,
    UpdateDocuments, UpdateFolders, UpdateTasks,
};
use leafbase_test_outline::{FixedClock, Numbers, SequentialIds};
use serde_json::{Value, json};
use std::ops::{Bound, ControlFlow};
use tests::model::pair::{BatchForm, Pair};
use tests::model::sequences::sequences;

/// Each program has twelve batches.
fn programs() -> u32 {
    tests::cases(120, 5_000)
}

fn run(numbers: &[u32], mut pair: Pair, is_halved: bool) -> [usize; 2] {
    let (mut numbers, mut counts) = (Numbers::new(numbers), [0, 0]);
    pair.with_collections = numbers.once_in(2);
    for _ in 0..6 {
        let request = pair.next(&mut numbers);
        pair.step(request);
    }
    for _ in 0..12 {
        let request = pair.next(&mut numbers);
        pair.step(request);
        let form = match numbers.below(5) {
            _ if is_halved => BatchForm::Halved,
            0 => BatchForm::Dry,
            1 | 2 => BatchForm::Values,
            _ => BatchForm::Calls,
        };
        let count = numbers.below(6);
        counts[usize::from(pair.step_batch(&mut numbers, count, form))] += 1;
        pair.compare_dumps();
    }
    pair.reopen();
    pair.compare_dumps();
    pair.check();
    counts
}

#[test]
fn a_batch_is_its_operations_or_nothing() {
    let counts = std::sync::Mutex::new([0, 0]);
    let kept = sequences(programs(), 1_000, |numbers| {
        let directory = tempfile::tempdir().unwrap();
        let [refused, done] = run(numbers, Pair::new(Some(directory.path().join("space"))), false);
        let mut counts = counts.lock().unwrap();
        *counts = [counts[0] + refused, counts[1] + done];
    });
    kept.unwrap_or_else(|error| panic!("{error}"));
    let [refused, done] = counts.into_inner().unwrap();
    println!("{done} done, {refused} refused");
    assert!(refused * 5 > done && done * 5 > refused, "{done} done, {refused} refused");
}

/// Where several writers meet, a batch may have to be decided again.
#[test]
fn batches_that_are_decided_twice_are_what_they_were() {
    let kept = sequences(programs() / 4, 1_000, |numbers| {
        run(numbers, Pair::twice(), false);
    });
    kept.unwrap_or_else(|error| panic!("{error}"));
}

/// The control: operations that are kept although a later one was refused are noticed.
#[test]
fn a_batch_that_commits_half_is_noticed() {
    let kept = sequences(200, 0, |numbers| {
        run(numbers, Pair::new(None), true);
    });
    assert!(kept.is_err(), "half of a batch stays, and nothing shows it");
}

fn rows(store: &MemoryStore) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut rows = Vec::new();
    let all = KeyRange { lower: Bound::Unbounded, upper: Bound::Unbounded, reverse: false };
    let mut visit = |key: &[u8], value: &[u8]| {
        rows.push((key.to_vec(), value.to_vec()));
        Ok(ControlFlow::Continue(()))
    };
    store.snapshot().unwrap().scan(all, &mut visit).unwrap();
    rows
}

fn told(error: &Error) -> (&'static str, &str) {
    (error.code(), error.path())
}

/// Small requests about a large block, or a large schema: each writes and shows all of it.
#[test]
fn a_batch_is_bounded_by_what_it_writes_and_replies() {
    let refused_at = |limit: usize, count: usize, with_options: bool| {
        let mut limits = Limits::default();
        limits.batch = limit;
        let space = Space::builder().limits(limits).in_memory().unwrap();
        let notes = space.connect();
        let trip = notes.create_document("Trip").unwrap().id();
        let operations: Vec<Value> = if with_options {
            let options: Vec<String> = (0..100).map(|number| format!("option {number}")).collect();
            let schema = json!({"name": "Days", "properties":
                [{"name": "Place", "type": "singleSelect", "options": options}]});
            let request = json!({"schema": schema, "position": {"pageId": trip}});
            let request: CreateCollection = space.read_json(&request.to_string()).unwrap();
            let days = notes.create_collection(request).unwrap().id;
            let item = |number: usize| {
                let place = json!({"place": format!("new {number}")});
                json!({"operation": "add_items", "collectionId": days,
                    "items": [{"title": "a", "properties": place}],
                    "allowNewSelectOptions": true})
            };
            (0..count).map(item).collect()
        } else {
            let block = notes.insert_markdown(&"x".repeat(2_000), trip).unwrap()[0].id;
            let color = |number: usize| {
                let block = json!({"id": block, "color": format!("#0000{number:02x}")});
                json!({"operation": "update_blocks", "blocks": [block]})
            };
            (0..count).map(color).collect()
        };
        let last = notes.last_sequence().unwrap();
        let batch: Batch = space.read_json(&json!({"operations": operations}).to_string()).unwrap();
        let [dry, error] =
            [batch.clone().dry(), batch].map(|batch| notes.run_batch(batch).unwrap_err());
        assert_eq!((error.kind(), dry.path()), (ErrorKind::LimitExceeded, error.path()));
        assert_eq!(notes.last_sequence().unwrap(), last, "nothing is written");
        let number = error.path().trim_start_matches("operations[").trim_end_matches(']');
        number.parse::<usize>().unwrap()
    };
    for with_options in [false, true] {
        let first = refused_at(50_000, 30, with_options);
        assert!((4..25).contains(&first), "{first}");
        assert_eq!(refused_at(50_000, 60, with_options), first);
        let second = refused_at(100_000, 60, with_options);
        assert!(second.abs_diff(2 * first) <= 1, "{second} of {first}");
    }
}

#[test]
fn a_dry_run_and_a_refused_batch_leave_every_byte() {
    let store = Arc::new(MemoryStore::new());
    let space = Space::builder().over(Arc::<MemoryStore>::clone(&store), true).unwrap();
    let notes = space.connect();
    let trip = notes.create_document("Trip").unwrap().id();
    let before = rows(&store);
    let insertion = json!({"markdown": "- [ ] passport\n\ntickets", "position": {"pageId": trip}});
    let batch = |more: Value| -> Batch {
        let operations = json!([
            with(&insertion, "insert_blocks"),
            with(&json!({"folders": [{"name": "Travel"}]}), "create_folders"),
            with(
                &json!({"documentIds": [trip], "destination": {"folderId": "$1.id"}}),
                "move_documents"
            ),
            with(
                &json!({"comments": [{"blockId": "$0[1].id", "content": "when?"}]}),
                "add_comments"
            ),
            more,
        ]);
        space.read_json(&json!({"operations": operations}).to_string()).unwrap()
    };
    let last = with(&json!({"blockIds": ["$0.items[0].id"]}), "delete_blocks");
    let dry = notes.run_batch(batch(last.clone()).dry()).unwrap();
    assert!(rows(&store) == before, "a dry run writes");
    let wrong = with(&json!({"blockIds": ["$0.items[2].id"]}), "delete_blocks");
    let refused = notes.run_batch(batch(wrong)).unwrap_err();
    assert_eq!(told(&refused), ("VALIDATION", "operations[4].blockIds[0]"));
    assert!(rows(&store) == before, "a refused batch writes");
    let given_up = notes.batch(|batch| -> leafbase::Result<()> {
        batch.insert_markdown("lost", trip)?;
        Err(Error::new(ErrorKind::Canceled, "for reasons of the host"))
    });
    assert!(given_up.is_err());
    assert!(rows(&store) == before, "a batch whose closure fails writes");

    let done = notes.run_batch(batch(last)).unwrap();
    assert_eq!(dry.replies.len(), done.replies.len());
    assert_eq!(
        done.replies[2]["items"][0]["location"]["folderId"],
        done.replies[1]["items"][0]["id"]
    );
    assert_eq!(notes.last_sequence().unwrap(), 2, "one change");
    assert_eq!(notes.content_markdown(trip).unwrap(), "tickets");
}

fn with(request: &Value, operation: &str) -> Value {
    let mut request = request.clone();
    request["operation"] = json!(operation);
    request
}

#[test]
fn a_write_that_failed_fails_the_batch_whatever_the_closure_says() {
    let notes = Space::in_memory().unwrap().connect();
    let trip = notes.create_document("Trip").unwrap().id();
    let refused = notes.batch(|batch| {
        batch.insert_markdown("kept?", trip)?;
        let missing = batch.delete_blocks(DeleteBlocks::from(leafbase::BlockId::NIL));
        assert_eq!(told(&missing.unwrap_err()), ("NOT_FOUND", "blockIds[0]"));
        let after = batch.insert_markdown("after", trip).unwrap_err();
        assert_eq!(told(&after), ("NOT_FOUND", "blockIds[0]"));
        Ok(())
    });
    assert_eq!(told(&refused.unwrap_err()), ("NOT_FOUND", "blockIds[0]"));
    // A read that fails is not a write.
    notes
        .batch(|batch| {
            assert!(batch.fetch(Fetch::new(leafbase::BlockId::NIL)).is_err());
            batch.insert_markdown("kept", trip)
        })
        .unwrap();
    assert_eq!(notes.content_markdown(trip).unwrap(), "kept");
}

/// Writes that are refused before their transaction begins.
#[test]
fn a_write_that_is_refused_early_fails_the_batch_as_well() {
    type Write = fn(&Connection<BatchAccess<'_>>, DocumentId, BlockId) -> Result<(), Error>;
    const NIL: [BlockId; 3] = [BlockId::NIL; 3];
    const LONG: &str = "a title of thirty characters..";
    let writes: [(&str, Write); 20] = [
        ("markdown", |batch, trip, _| batch.insert_markdown("a\n\nb\n\nc", trip).map(drop)),
        ("blocks", |batch, trip, _| {
            let insertion = InsertBlocks::markdown("a\n\nb\n\nc", trip);
            batch.insert_blocks(insertion).map(drop)
        }),
        ("pattern", |batch, _, _| batch.replace_text(ReplaceText::pattern("(", "")).map(drop)),
        ("empty text", |batch, _, _| batch.replace_text(ReplaceText::text("", "")).map(drop)),
        ("no target", |batch, _, _| batch.replace_text(ReplaceText::text("a", "")).map(drop)),
        ("blocks to replace in", |batch, _, _| {
            let all = NIL.into_iter().fold(ReplaceText::text("a", ""), ReplaceText::within);
            batch.replace_text(all).map(drop)
        }),
        ("edits", |batch, trip, _| {
            let edits = EditMarkdown::of(trip).replace("a", "b").replace("b", "c");
            batch.edit_markdown(edits.replace("c", "d")).map(drop)
        }),
        ("document", |batch, _, _| batch.create_document(LONG).map(drop)),
        ("documents", |batch, _, _| {
            batch.create_documents(CreateDocuments::titled([LONG])).map(drop)
        }),
        ("titles", |batch, trip, _| {
            let patches = [(); 3].map(|()| DocumentPatch::of(trip));
            batch.update_documents(UpdateDocuments::new(patches)).map(drop)
        }),
        ("folders", |batch, _, _| {
            let folders = [(); 3].map(|()| FolderDraft::new("a"));
            batch.create_folders(CreateFolders::new(folders)).map(drop)
        }),
        ("folder patches", |batch, _, _| {
            let patches = [(); 3].map(|()| FolderPatch::of(FolderId::NIL));
            batch.update_folders(UpdateFolders::new(patches)).map(drop)
        }),
        ("comments", |batch, trip, _| {
            let drafts = [(); 3].map(|()| CommentDraft::new(trip, "a"));
            batch.add_comments(AddComments::new(drafts)).map(drop)
        }),
        ("comment patches", |batch, _, _| {
            let patches = [(); 3].map(|()| CommentPatch::of(CommentId::NIL));
            batch.update_comments(UpdateComments::new(patches)).map(drop)
        }),
        ("comments to delete", |batch, _, _| {
            batch.delete_comments(DeleteComments::new([CommentId::NIL; 3])).map(drop)
        }),
        ("tasks", |batch, _, _| {
            batch.add_tasks(AddTasks::new([(); 3].map(|()| TaskDraft::new("a")))).map(drop)
        }),
        ("task updates", |batch, _, _| {
            batch.update_tasks(UpdateTasks::new(NIL.map(TaskUpdate::of))).map(drop)
        }),
        ("tasks to delete", |batch, _, _| batch.delete_tasks(DeleteTasks::new(NIL)).map(drop)),
        ("items", |batch, _, things| {
            let items = [(); 3].map(|()| ItemDraft::new("a"));
            batch.add_items(AddItems::new(things, items)).map(drop)
        }),
        ("changes", |batch, _, _| batch.undo(UndoChanges::new([])).map(drop)),
    ];
    let mut limits = Limits::default();
    (limits.blocks_per_request, limits.title) = (2, 20);
    let notes = Space::builder().limits(limits).in_memory().unwrap().connect();
    let trip = notes.create_document("Trip").unwrap().id();
    let schema = SchemaDraft::new("Things", []);
    let things = notes.create_collection(CreateCollection::new(schema, trip)).unwrap().id;
    let before = notes.last_sequence().unwrap();
    for (name, write) in writes {
        let mut first = None;
        let refused = notes.batch(|batch| {
            batch.insert_markdown("kept?", trip)?;
            first = write(batch, trip, things).err();
            Ok(())
        });
        let first = first.unwrap_or_else(|| panic!("{name} is refused"));
        assert_eq!(refused.as_ref().map_err(told), Err(told(&first)), "{name}");
        assert_eq!(notes.last_sequence().unwrap(), before, "{name}");
    }
}

#[test]
fn conflicts_are_all_named() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let trip = notes.create_document("Trip").unwrap().id();
    let block = notes.insert_markdown("a", trip).unwrap()[0].id;
    let revs =
        (notes.fetch(Fetch::new(block)).unwrap().rev, notes.document(trip).unwrap().record.rev);
    let fine = Expectations::default().of_block(block, revs.0).of_document(trip, revs.1);
    let insertion = InsertBlocks::markdown("b", trip);
    let batch = Batch::default().then("insert_blocks", &insertion).unwrap();
    let fine = fine.at_sequence(notes.last_sequence().unwrap());
    notes.run_batch(batch.clone().expecting(fine.clone())).unwrap();
    let stale = fine.of_block(leafbase::BlockId::NIL, 1).of_block(block, 9);
    let refused = notes.run_batch(batch.clone().expecting(stale)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    let paths: Vec<String> = refused.details().into_iter().map(|detail| detail.path).collect();
    let nil = leafbase::BlockId::NIL;
    let expected = [
        format!("expect.blocks.{nil}"),
        format!("expect.blocks.{block}"),
        format!("expect.documents.{trip}"),
        "expect.sequence".to_owned(),
    ];
    assert_eq!(paths, expected);
    assert_eq!(notes.content_markdown(trip).unwrap(), "a\n\nb", "one batch was written");

    let guest = space.scoped([trip]);
    let hidden = notes.create_document("hidden").unwrap().id();
    for (expect, path) in [
        (Expectations::default().of_document(trip, 1), "expect.documents"),
        (Expectations::default().at_sequence(1), "expect.sequence"),
    ] {
        let refused = guest.run_batch(batch.clone().expecting(expect)).unwrap_err();
        assert_eq!(told(&refused), ("VALIDATION", path));
    }
    let told_of = |block| {
        let expect = Expectations::default().of_block(block, 1);
        let refused = guest.run_batch(batch.clone().expecting(expect)).unwrap_err();
        refused.message().to_owned()
    };
    assert_eq!(
        told_of(hidden.root()),
        told_of(nil),
        "a hidden block looks like one that is missing"
    );
}

#[test]
fn references_stand_for_parts_of_earlier_replies() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let home = notes.create_document("Home").unwrap().id();
    let body = json!({"operations": [
        {"operation": "create_collection", "position": {"pageId": home},
            "schema": {"name": "People", "properties": [{"name": "Note", "type": "text"}]}},
        {"operation": "create_collection", "position": {"pageId": home}, "schema": {"name": "Books", "properties": [
            {"name": "By", "type": "relation", "targetCollectionId": "$0.id"}]}},
        {"operation": "add_items", "collectionId": "$0.collectionBlockId",
            "items": [{"title": "$0.id", "properties": {"note": "$5.00"}}]},
        {"operation": "add_items", "collectionId": "$1.id",
            "items": [{"title": "Dune", "properties": {"by": ["$2.items[0].id"]}}]},
        {"operation": "insert_blocks", "position": {"siblingId": "$1.id", "position": "after"},
            "blocks": [{"type": "text", "markdown": "$0.id"}]},
        {"operation": "add_items", "collectionId": "$0.id", "items": [
            {"title": "Ben", "properties": {"note": "$20.USD"}},
            {"title": "Cy", "properties": {"note": "$5.id"}}]},
    ]});
    let replies = notes.run_batch(space.read_json(&body.to_string()).unwrap()).unwrap().replies;
    let person = &replies[2]["items"][0];
    assert_eq!(person["properties"]["note"], "$5.00");
    assert_eq!(person["title"], "$0.id", "a title is a text");
    assert_eq!(replies[3]["items"][0]["properties"]["by"]["relations"][0]["blockId"], person["id"]);
    assert_eq!(replies[4]["items"][0]["markdown"], "$0.id");
    let notes_of = [0, 1].map(|item| replies[5]["items"][item]["properties"]["note"].clone());
    assert_eq!(notes_of, ["$20.USD", "$5.id"], "no operation before has the number");
    for (property, value, why) in [
        ("note", "$0.USD", "$0.USD leads to nothing in the reply"),
        ("by", "$9.id", "no item has this ID"),
    ] {
        let mut operations = body["operations"].as_array().unwrap()[..2].to_vec();
        operations.push(json!({"operation": "add_items",
            "collectionId": if property == "by" { "$1.id" } else { "$0.id" },
            "items": [{"title": "x", "properties": {property: value}}]}));
        let body = json!({"operations": operations}).to_string();
        let refused = notes.run_batch(space.read_json(&body).unwrap()).unwrap_err();
        assert!(refused.message().contains(why), "{refused}");
        let path = format!("operations[2].items[0].properties.{property}");
        assert!(refused.path().starts_with(&path), "{refused}");
    }
    for (reference, why) in [
        ("$1.id", "$1.id refers to an operation that is not before this one"),
        ("$0.name", "$0.name leads to nothing in the reply"),
        ("$0[1].id", "$0[1].id leads to nothing in the reply"),
        ("$0..id", r#"expected an ID, or a reference like "$0.id", got "$0..id""#),
        ("$0", r#"expected an ID, or a reference like "$0.id", got "$0""#),
        ("$0.items.0.id", r#"expected an ID, or a reference like "$0.id", got "$0.items.0.id""#),
        ("${0.id}", r#"expected an ID, or a reference like "$0.id", got "${0.id}""#),
    ] {
        let body = json!({"operations": [
            {"operation": "create_documents", "documents": [{"title": "x"}]},
            {"operation": "insert_blocks", "markdown": "x", "position": {"pageId": reference}},
        ]});
        let refused = notes.run_batch(space.read_json(&body.to_string()).unwrap()).unwrap_err();
        assert_eq!(told(&refused), ("VALIDATION", "operations[1].position.pageId"), "{reference}");
        assert_eq!(refused.message(), why);
    }
    let unknown = r#"{"operations": [{"operation": "purge_documents"}]}"#;
    let refused = notes.run_batch(space.read_json(unknown).unwrap()).unwrap_err();
    assert_eq!(told(&refused), ("VALIDATION", "operations[0].operation"));
}

fn insertion(markdown: &str, document: DocumentId) -> Batch {
    let request = InsertBlocks::markdown(markdown, document);
    Batch::default().then("insert_blocks", &request).unwrap()
}

#[test]
fn a_batch_with_a_key_is_done_once() {
    let clock = Arc::new(FixedClock::at(1_767_225_600_000));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("space");
    let space = Space::builder().clock(Arc::<FixedClock>::clone(&clock)).create(&path).unwrap();
    let notes = space.connect();
    let trip = notes.create_document("Trip").unwrap().id();
    let batch = insertion("passport", trip).keyed("k");
    // A dry run, and a batch that is refused, were not done.
    notes.run_batch(batch.clone().dry()).unwrap();
    let stale = Expectations::default().at_sequence(9);
    assert!(notes.run_batch(batch.clone().expecting(stale)).is_err());
    let first = notes.run_batch(batch.clone()).unwrap();
    let sequence = notes.last_sequence().unwrap();
    assert_eq!(notes.run_batch(batch.clone()).unwrap(), first);
    // What it expects need not be so any more.
    let since = Expectations::default().at_sequence(sequence);
    let conditional = insertion("tickets", trip).expecting(since).keyed("l");
    let second = notes.run_batch(conditional.clone()).unwrap();
    assert_eq!(notes.run_batch(conditional).unwrap(), second);
    let empty = Batch::default().keyed("e");
    assert_eq!(notes.run_batch(empty.clone()).unwrap(), notes.run_batch(empty).unwrap());
    assert_eq!(notes.last_sequence().unwrap(), sequence + 1);

    let other = notes.run_batch(insertion("shoes", trip).keyed("k")).unwrap_err();
    assert_eq!(told(&other), ("CONFLICT", "requestKey"));
    assert_eq!(other.message(), "another batch was done under this key");
    // The space kept it.
    drop((notes, space));
    let space = Space::builder().clock(Arc::<FixedClock>::clone(&clock)).open(&path).unwrap();
    let notes = space.connect();
    clock.advance(24 * 3_600_000 - 1);
    assert_eq!(notes.run_batch(batch.clone()).unwrap(), first);
    clock.advance(1);
    assert_ne!(notes.run_batch(batch.clone()).unwrap(), first, "kept for 24 hours");
    let kept = notes.run_batch(batch.clone()).unwrap();

    // Others have keys of their own: authors, and connections of each scope.
    let ada = notes.clone().acting_as("Ada");
    let guest = space.scoped([trip]);
    let hidden = notes.create_document("hidden").unwrap().id();
    let wider = space.scoped([trip, hidden]);
    let mut replies = vec![kept.clone(), ada.run_batch(batch.clone()).unwrap()];
    replies.extend([&guest, &wider].map(|guest| guest.run_batch(batch.clone()).unwrap()));
    assert!((1..4).all(|at| !replies[..at].contains(&replies[at])));
    assert_eq!(guest.run_batch(batch.clone()).unwrap(), replies[2]);
    assert_eq!(space.scoped([trip]).run_batch(batch.clone()).unwrap(), replies[2]);

    // A purge erases replies, but what was done stays done.
    notes.delete_documents(DeleteDocuments::from(hidden)).unwrap();
    notes.purge_documents(PurgeDocuments::new([hidden])).unwrap();
    let sequence = notes.last_sequence().unwrap();
    let erased = notes.run_batch(batch.clone()).unwrap_err();
    assert_eq!(told(&erased), ("HISTORY_GONE", "requestKey"));
    assert_eq!(notes.last_sequence().unwrap(), sequence);
    clock.advance(24 * 3_600_000);
    assert_ne!(notes.run_batch(batch).unwrap(), kept);
    assert!(space.check().unwrap().is_clean());

    notes.run_batch(insertion("x", trip).keyed("k".repeat(256))).unwrap();
    for (key, kind) in [(String::new(), "VALIDATION"), ("k".repeat(257), "LIMIT_EXCEEDED")] {
        let refused = notes.run_batch(insertion("x", trip).keyed(key)).unwrap_err();
        assert_eq!(told(&refused), (kind, "requestKey"));
    }
}

/// A batch of a scope that is sent again, after its document left the scope and when it is back.
#[test]
fn a_kept_reply_shows_nothing_that_left_the_scope() {
    type Scoping = fn(&Space, DocumentId, BlockId) -> Scope;
    let scopes: [(&str, Scoping); 3] = [
        ("a document", |space, document, _| space.scope([document])),
        ("a page", |space, _, page| space.page_scope([page])),
        ("a folder", |space, document, _| {
            let folder = space.connect().create_folder("Shared", None).unwrap().id;
            let moving = MoveDocuments::new([document], folder);
            space.connect().move_documents(moving).unwrap();
            space.folder_scope([folder])
        }),
    ];
    for (name, scope) in scopes {
        let space = Space::in_memory().unwrap();
        let notes = space.connect();
        let trip = notes.create_document("Trip").unwrap().id();
        let page = notes.insert_markdown("Packing", trip).unwrap()[0].id;
        let secret = notes.insert_markdown("the owner's secret", Position::end_of(page)).unwrap();
        let secret = secret[0].id;
        let guest = scope(&space, trip, page).connect();
        let copied = json!({"operation": "duplicate_blocks", "firstId": secret});
        let deleted = json!({"operation": "delete_blocks", "blockIds": ["$0.id"]});
        let inserted =
            json!({"operation": "insert_blocks", "markdown": "mine", "position": {"pageId": page}});
        let batches = [json!([copied]), json!([copied, deleted]), json!([inserted]), json!([])];
        let batches = [0, 1, 2, 3].map(|number| -> Batch {
            let body = json!({"operations": batches[number], "requestKey": number.to_string()});
            space.read_json(&body.to_string()).unwrap()
        });
        let first = batches.clone().map(|batch| guest.run_batch(batch).unwrap());
        let location = notes.document(trip).unwrap().record.location;
        notes.delete_documents(DeleteDocuments::from(trip)).unwrap();
        let sequence = notes.last_sequence().unwrap();
        for batch in &batches[..3] {
            let refused = guest.run_batch(batch.clone()).unwrap_err();
            assert_eq!(told(&refused), ("HISTORY_GONE", "requestKey"), "{name}");
        }
        assert_eq!(guest.run_batch(batches[3].clone()).unwrap(), first[3], "it shows nothing");
        assert_eq!(notes.last_sequence().unwrap(), sequence, "{name}");
        let destination = match location {
            Location::Folder(folder) => Destination::Folder(folder),
            _ => Destination::Unsorted,
        };
        notes.move_documents(MoveDocuments::new([trip], destination)).unwrap();
        // A block of a reply may be gone, and moved to where it is hidden.
        let diary = notes.create_document("Diary").unwrap().id();
        let copy = first[0].replies[0]["items"][0]["id"].as_str().unwrap().parse::<BlockId>();
        notes.move_blocks(MoveBlocks::new([copy.unwrap()], Position::end_of(diary))).unwrap();
        assert_eq!(batches.map(|batch| guest.run_batch(batch).unwrap()), first, "{name}");
        assert!(space.check().unwrap().is_clean());
    }
}

#[test]
fn expired_replies_leave_the_store() {
    let clock = Arc::new(FixedClock::at(1_767_225_600_000));
    let store = Arc::new(MemoryStore::new());
    let space = Space::builder()
        .clock(Arc::<FixedClock>::clone(&clock))
        .over(Arc::<MemoryStore>::clone(&store), true)
        .unwrap();
    let notes = space.connect();
    let kept = || rows(&store).iter().filter(|(key, _)| key.first() >= Some(&0x90)).count();
    for round in 0..3 {
        for number in 0..20 {
            let batch = Batch::default().keyed(format!("{round} {number}"));
            notes.run_batch(batch).unwrap();
        }
        assert_eq!(kept(), 40, "two rows for each of this day");
        clock.advance(25 * 3_600_000);
    }
    assert!(space.check().unwrap().is_clean());
}

/// What a batch read it keeps: that blocks have no children, that a document has no comments.
#[test]
fn a_batch_sees_what_it_wrote_of_what_it_had_read() {
    // What is made later has a greater ID, and so is in the range without children.
    let space = Space::builder().ids(SequentialIds::new(1)).in_memory().unwrap();
    let notes = space.connect();
    let [diary, trip] = ["Diary", "Trip"].map(|title| notes.create_document(title).unwrap().id());
    let lines = notes.insert_markdown("one\n\ntwo\n\nthree\n\nfour", diary).unwrap();
    let planned = "<page>\n<pageTitle>plan</pageTitle>\n<content>\n\nfar\n\n</content>\n</page>";
    let page = notes.insert_markdown(planned, trip).unwrap()[0].id;
    let [first, second, third, last] = [0, 1, 2, 3].map(|at| lines[at].id);
    notes
        .batch(|batch| {
            batch.delete_blocks(DeleteBlocks::from(first))?;
            batch.insert_markdown("below", Position::end_of(second))?;
            batch.delete_blocks(DeleteBlocks::from(second))?;
            batch.delete_blocks(DeleteBlocks::from(last))?;
            batch.move_blocks(MoveBlocks::new([page], Position::end_of(diary)))?;
            batch.delete_blocks(DeleteBlocks::from(page))?;
            batch.add_comments(AddComments::new([CommentDraft::new(third, "gone soon")]))?;
            batch.delete_blocks(DeleteBlocks::from(third))
        })
        .unwrap();
    assert_eq!(notes.content_markdown(diary).unwrap(), "");
    assert_eq!(notes.content_markdown(trip).unwrap(), "");
    assert!(space.check().unwrap().is_clean(), "{:?}", space.check());
    notes.undo(notes.last_sequence().unwrap()).unwrap();
    assert_eq!(notes.content_markdown(trip).unwrap(), planned);
    assert!(space.check().unwrap().is_clean());
}
