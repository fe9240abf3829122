//! What is written as JSON: requests read back the same, and the feed shows each edit.

use leafbase::json::FromJson;
use leafbase::{
    AddComments, AddTasks, BlockData, BlockDraft, BlockPatch, BuiltInLocation, CommentDraft,
    CreateDocuments, CreateFolders, CreateFromTemplate, DayRange, DayRef, DeleteBlocks,
    DeleteDocuments, DeleteFolders, DeleteTasks, Destination, DocumentOrder, Fetch,
    FolderDestination, FolderDraft, InsertBlocks, ListDocuments, ListStyle, ListTasks, MoveBlocks,
    MoveDocuments, MoveFolders, Position, PurgeDocuments, RestoreDailyNotes, Space,
    TaskDestination, TaskDraft, TaskScope, TaskState, TaskUpdate, UpdateBlocks, UpdateTasks,
    UploadFile,
};
use serde_json::{Value, json};

use crate::host::Host;

/// A request, and what it is written as: reading that gives it back.
fn round<T: FromJson + PartialEq + std::fmt::Debug>((request, text): (T, String), written: Value) {
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), written);
    assert_eq!(Space::in_memory().unwrap().read_json::<T>(&text).unwrap(), request, "{text}");
}

macro_rules! round {
    ($request:expr, $written:expr $(,)?) => {{
        let request = $request;
        let text = serde_json::to_string(&request).unwrap();
        round((request, text), $written);
    }};
}

#[test]
fn requests_read_back_what_they_write() {
    let id = Host::new().id("text");
    round!(Fetch::new(id), json!({"id": id}));
    round!(
        Fetch::new(id).depth(0).with_metadata(),
        json!({"id": id, "maxDepth": 0, "fetchMetadata": true})
    );
    round!(Fetch::today().depth(2), json!({"date": "today", "maxDepth": 2}));
    round!(Fetch::day("2026-03-01".parse::<DayRef>().unwrap()), json!({"date": "2026-03-01"}));
    round!(ListDocuments::new(), json!({}));
    round!(ListDocuments::new().with_metadata(), json!({"fetchMetadata": true}));
    let today = serde_json::from_str::<Position>("{}").unwrap();
    round!(InsertBlocks::markdown("x", today), json!({"markdown": "x"}));
    let day = Position::start_of_day(DayRef::Tomorrow);
    round!(
        InsertBlocks::blocks(
            vec![
                BlockDraft::new(BlockData::page("p"))
                    .with_content(vec![BlockData::text("t").into()])
            ],
            day
        ),
        json!({"blocks": [{"type": "page", "markdown": "p", "content": [{"type": "text", "inlineMarkdown": "t"}]}],
            "position": {"position": "start", "date": "tomorrow"}}),
    );
    round!(DeleteBlocks::from(id), json!({"blockIds": [id]}));
    round!(
        MoveBlocks::new([id], Position::before(id)),
        json!({"blockIds": [id], "position": {"position": "before", "siblingId": id}}),
    );
    let patch = BlockPatch::of(id)
        .if_rev(3)
        .with_markdown("x")
        .with_color(None)
        .with_list_style(ListStyle::Task)
        .with_task_state(TaskState::Done)
        .with_schedule_date(DayRef::Tomorrow)
        .with_deadline_date(None);
    let task = json!({"state": "done", "scheduleDate": "tomorrow", "deadlineDate": null});
    round!(
        UpdateBlocks::from(patch),
        json!({"blocks": [{"id": id, "rev": 3, "markdown": "x", "color": null, "listStyle": "task", "taskInfo": task}]}),
    );
}

#[test]
fn requests_on_documents_and_folders_read_back_what_they_write() {
    let host = Host::new();
    let (id, folder) = (host.document(), host.notes.create_folder("Travel", None).unwrap().id);
    round!(
        ListDocuments::new()
            .within(folder)
            .created(DayRange::since(DayRef::Yesterday))
            .limit(5)
            .after("c"),
        json!({"folderId": folder, "createdDateGte": "yesterday", "limit": 5, "cursor": "c"}),
    );
    round!(
        ListDocuments::new()
            .at(BuiltInLocation::DailyNotes)
            .order_by(DocumentOrder::DailyNote)
            .descending(),
        json!({"location": "daily_notes", "orderBy": "dailyNoteDate", "descending": true}),
    );
    round!(
        CreateDocuments::titled(["Trip"]).at(folder),
        json!({"documents": [{"type": "page", "markdown": "Trip"}], "destination": {"folderId": folder}}),
    );
    round!(
        CreateFromTemplate::new(id).titled("Trip").at(Destination::Templates),
        json!({"templateId": id, "title": "Trip", "destination": {"destination": "templates"}}),
    );
    round!(DeleteDocuments::from(id), json!({"documentIds": [id]}));
    round!(
        MoveDocuments::new([id], folder),
        json!({"documentIds": [id], "destination": {"folderId": folder}})
    );
    round!(RestoreDailyNotes::new([id]), json!({"documentIds": [id]}));
    round!(PurgeDocuments::new([id]), json!({"documentIds": [id]}));
    round!(PurgeDocuments::OlderThanDays(30), json!({"olderThanDays": 30}));
    round!(
        CreateFolders::new([FolderDraft::new("a")
            .within(folder)
            .with_folders([FolderDraft::new("b")])]),
        json!({"folders": [{"name": "a", "parentFolderId": folder, "folders": [{"name": "b"}]}]}),
    );
    round!(
        MoveFolders::new([folder], FolderDestination::Root),
        json!({"folderIds": [folder], "destination": {"destination": "root"}}),
    );
    round!(
        DeleteFolders::new([folder]).if_empty(),
        json!({"folderIds": [folder], "mustBeEmpty": true})
    );
}

#[test]
fn requests_on_tasks_comments_and_files_read_back_what_they_write() {
    let host = Host::new();
    let (id, block) = (host.document(), host.id("text"));
    round!(
        ListTasks::new(TaskScope::Document(id)).limit(5),
        json!({"scope": "document", "documentId": id, "limit": 5})
    );
    round!(
        AddTasks::new([TaskDraft::new("socks").scheduled(DayRef::Tomorrow).at(id)]),
        json!({"tasks": [{"markdown": "socks", "taskInfo": {"scheduleDate": "tomorrow"},
            "location": {"type": "document", "documentId": id}}]}),
    );
    round!(
        UpdateTasks::from(
            TaskUpdate::of(block).with_state(TaskState::Done).moved_to(TaskDestination::Inbox)
        ),
        json!({"tasksToUpdate": [{"id": block, "taskInfo": {"state": "done"}, "location": {"type": "inbox"}}]}),
    );
    round!(DeleteTasks::from(block), json!({"idsToDelete": [block]}));
    round!(
        AddComments::new([CommentDraft::new(block, "Why?")]),
        json!({"comments": [{"blockId": block, "content": "Why?"}]}),
    );
    round!(
        UploadFile::new(Position::before(block)).of_type("image/png").named("map.png"),
        json!({"position": "before", "siblingId": block, "contentType": "image/png", "fileName": "map.png"}),
    );
}

#[test]
fn every_field_of_a_patch_is_written() {
    let id = Host::new().id("text");
    let all = json!({"id": id, "type": "page", "markdown": "m", "indentationLevel": 1, "listStyle": "bullet",
        "color": "#004080", "taskInfo": {"state": "done", "completedAt": "2026-03-01T00:00:00.000Z", "canceledAt": null},
        "decorations": ["quote"], "textStyle": "h1", "textAlignment": "center", "font": "serif", "cardLayout": "small",
        "title": "t", "url": "u", "altText": "a", "size": "fill", "width": "fullWidth", "fileName": "f",
        "blockLayout": "card", "rawCode": "r", "language": "rust", "languageTag": "rs", "description": "d",
        "layout": "small", "lineStyle": "light"});
    let read: BlockPatch = serde_json::from_value(all.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), all);
}

#[test]
fn the_feed_is_json() {
    let host = Host::new();
    let from = host.notes.last_sequence().unwrap();
    let ada = host.notes.acting_as("Ada");
    let (root, text, line) = (host.document(), host.id("text"), host.id("line"));
    let added = ada.insert_markdown("child", Position::end_of(text)).unwrap();
    ada.move_blocks(MoveBlocks::new([line], Position::start_of(text))).unwrap();
    ada.delete_blocks(DeleteBlocks::from(added[0].id)).unwrap();
    let changes: Vec<_> = host
        .notes
        .changes_since(from)
        .map(|change| serde_json::to_value(change.unwrap()).unwrap())
        .collect();
    let at = "1970-01-01T00:00:00.000Z";
    let stamp =
        json!({"createdAt": at, "createdBy": "Ada", "lastModifiedAt": at, "lastModifiedBy": "Ada"});
    let mut child = json!({"id": added[0].id, "type": "text", "inlineMarkdown": "child", "rev": 1});
    child.as_object_mut().unwrap().extend(stamp.as_object().unwrap().clone());
    let first = &changes[0];
    assert_eq!(
        (&first["sequence"], &first["at"], &first["by"], &first["documents"]),
        (&json!(from + 1), &json!(at), &json!("Ada"), &json!([root]))
    );
    assert_eq!(first["edits"][0]["type"], "update");
    assert_eq!(
        (&first["edits"][0]["before"]["type"], &first["edits"][0]["after"]["type"]),
        (&json!("text"), &json!("page"))
    );
    let slot = json!({"documentId": root, "parentId": text});
    assert_eq!(
        first["edits"][1],
        json!({"type": "insert", "slot": slot, "blocks": [child.clone()]})
    );
    let moved = &changes[1]["edits"][0];
    assert_eq!(
        (&moved["type"], &moved["blockId"], &moved["to"]),
        (&json!("move"), &json!(line), &slot)
    );
    let removed = &changes[2]["edits"][0];
    assert_eq!(
        (&removed["type"], &removed["blocks"], &removed["slot"]["afterId"]),
        (&json!("remove"), &json!([child]), &json!(line))
    );
}

#[test]
fn the_feed_tells_of_comments_files_folders_and_settings() {
    let host = Host::new();
    let from = host.notes.last_sequence().unwrap();
    let ada = host.notes.acting_as("Ada");
    let comment = ada
        .add_comments(AddComments::new([CommentDraft::new(host.id("text"), "Why?")]))
        .unwrap()[0]
        .comment_id;
    let file =
        ada.upload_file(UploadFile::new(host.document()).named("a.txt"), &b"words"[..]).unwrap();
    let folder = ada.create_folder("Travel", None).unwrap().id;
    host.notes.space().rename("Notes").unwrap();
    let edits: Vec<Value> = host
        .notes
        .changes_since(from)
        .flat_map(|change| change.unwrap().edits)
        .map(|edit| serde_json::to_value(edit).unwrap())
        .collect();
    let at = "1970-01-01T00:00:00.000Z";
    assert_eq!(
        edits[0],
        json!({"type": "addComment", "documentId": host.document(), "blockId": host.id("text"),
            "comment": {"id": comment, "author": "Ada", "content": "Why?", "createdAt": at}})
    );
    assert_eq!(
        edits[1],
        json!({"type": "createAsset", "asset": {"id": file.asset_url.id(), "mediaType": "text/plain", "fileName": "a.txt",
            "size": 5, "sha256": "dba36bffa5cab0f922d087a3aeb179f9d4e745df40b323e1b1471402848c8a3e",
            "createdAt": at, "createdBy": "Ada"}})
    );
    assert_eq!(
        (&edits[2]["type"], &edits[2]["blocks"][0]["id"]),
        (&json!("insert"), &json!(file.block_id))
    );
    assert_eq!(
        edits[3],
        json!({"type": "createFolder", "folder": {"id": folder, "name": "Travel", "rev": 1}})
    );
    assert_eq!(
        edits[4],
        json!({"type": "updateSpace", "before": {"name": "", "timezone": "UTC"},
            "after": {"name": "Notes", "timezone": "UTC"}})
    );
    assert_eq!(edits.len(), 5);
}

#[test]
fn listings_say_times_only_if_asked() {
    let host = Host::new();
    let shown = |reply: serde_json::Result<serde_json::Value>| reply.unwrap()["items"][0].clone();
    let plain = shown(serde_json::to_value(host.notes.documents().unwrap()));
    assert_eq!(
        plain,
        json!({"id": host.document(), "title": "root", "isDeleted": false, "location": {"destination": "unsorted"}, "rev": 16})
    );
    let timed = host.notes.list_documents(ListDocuments::new().with_metadata()).unwrap();
    let timed = shown(serde_json::to_value(timed));
    assert_eq!(
        (&timed["createdAt"], &timed["lastModifiedAt"]),
        (&json!("1970-01-01T00:00:00.000Z"), &json!("1970-01-01T00:00:00.000Z"))
    );
}

#[test]
fn a_host_replaces_clock_and_ids_and_keeps_them() {
    let clock = std::sync::Arc::new(leafbase_test_outline::FixedClock::default());
    let space = Space::builder().clock(clock.clone()).in_memory().unwrap();
    clock.advance(5_000);
    let made = space.connect().create_document("x").unwrap();
    assert_eq!((made.created_at().as_millis(), made.modified_at().as_millis()), (5_000, 5_000));
}

#[test]
fn what_a_space_says_of_itself_is_json() {
    let host = Host::new();
    let space = host.notes.space();
    let written = |value: Result<Value, serde_json::Error>| value.unwrap();
    let meta = written(serde_json::to_value(space.meta().unwrap()));
    assert_eq!((&meta["name"], &meta["timezone"]), (&json!(""), &json!("UTC")));
    let stats = written(serde_json::to_value(space.stats().unwrap()));
    assert_eq!(
        (&stats["documents"], &stats["blocks"], &stats["folders"]),
        (&json!(2), &json!(16), &json!(0))
    );
    let report = written(serde_json::to_value(space.check().unwrap()));
    assert_eq!((&report["problems"], &report["blocks"]), (&json!([]), &json!(16)));
}
