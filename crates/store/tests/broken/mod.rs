//! A small space, and access to its raw rows.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]

use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use leafbase_model::{
    AssetId, AssetRecord, Author, BlockData, BlockId, BlockKind, BlockRecord, Comment, CommentId,
    Day, DocumentId, DocumentRecord, Edit, FolderId, FolderRecord, LineStyle, ListStyle, Location,
    Stamp, SubtreeNode, Subtrees, TaskInfo, TaskState, Timestamp,
};
use leafbase_store::kv::{KeyRange, Store, WriteOptions};
use leafbase_store::{CHUNK_BYTES, CheckReport, SpaceStore, rows};

use crate::naive::{hashed, memory_space, relaxed, stamp, upload};

pub mod collections;

pub type Row = (Vec<u8>, Vec<u8>);

pub const BLOCKS: u8 = 0x10;
pub const PLACES: u8 = 0x11;
pub const DOCUMENTS: u8 = 0x20;
pub const BY_MODIFIED: u8 = 0x22;
pub const BY_DAY: u8 = 0x24;
pub const LOCATION_COUNTS: u8 = 0x25;
pub const BY_LOCATION_MODIFIED: u8 = 0x26;
pub const BY_LOCATION_CREATED: u8 = 0x27;
pub const FOLDERS: u8 = 0x30;
pub const FOLDER_CHILDREN: u8 = 0x31;
pub const EDGES: u8 = 0x40;
pub const TAGGED_BLOCKS: u8 = 0x41;
pub const DOCUMENTS_BY_TAG: u8 = 0x42;
pub const TAG_COUNTS: u8 = 0x43;
pub const TASKS: u8 = 0x50;
pub const TASKS_BY_DAY: u8 = 0x51;
pub const LOGBOOK: u8 = 0x52;
pub const COMMENTS: u8 = 0x60;
pub const COMMENT_BLOCKS: u8 = 0x64;
pub const ASSETS: u8 = 0x61;
pub const CHUNKS: u8 = 0x62;
pub const UPLOADS: u8 = 0x63;
pub const CHANGES: u8 = 0x80;

pub fn id(number: u8) -> BlockId {
    BlockId::from_bytes([number; 16])
}

pub fn node(depth: u16, number: u8, data: BlockData) -> SubtreeNode {
    SubtreeNode {
        depth,
        block: BlockRecord { id: id(number), rev: 1, created: stamp(1), modified: stamp(1), data },
    }
}

/// A document of root 1, text 2, page 3 with page 4 in it, which holds text 5, and line 6; another
/// one of root 7 with text 8; folder 2 in folder 1, which holds the first document.
pub fn space() -> (Arc<dyn Store>, SpaceStore) {
    let (store, space) = memory_space();
    let folder = |number| FolderId::from_bytes([number; 16]);
    let record = |number, location| DocumentRecord {
        id: DocumentId::of_root(id(number)),
        location,
        day: None,
        created_at: Timestamp::from_millis(1),
        modified_at: Timestamp::from_millis(1),
        rev: 1,
    };
    let line = BlockData::new(BlockKind::Line { style: LineStyle::Light });
    let first = Subtrees(vec![
        node(0, 1, BlockData::page("One")),
        node(1, 2, BlockData::text(format!("see b:{}", id(7)))),
        node(1, 3, BlockData::page("Three")),
        node(2, 4, BlockData::page("Four")),
        node(3, 5, BlockData::text("five")),
        node(1, 6, line),
    ]);
    let second =
        Subtrees(vec![node(0, 7, BlockData::page("Seven")), node(1, 8, BlockData::text("eight"))]);
    let writes = [
        vec![Edit::CreateFolder(FolderRecord {
            id: folder(1),
            name: "A".to_owned(),
            parent: None,
            rev: 1,
        })],
        vec![Edit::CreateFolder(FolderRecord {
            id: folder(2),
            name: "B".to_owned(),
            parent: Some(folder(1)),
            rev: 1,
        })],
        vec![Edit::CreateDocument {
            record: record(1, Location::Folder(folder(1))),
            subtrees: first,
        }],
        vec![Edit::CreateDocument { record: record(7, Location::Unsorted), subtrees: second }],
    ];
    for edits in writes {
        space.write(relaxed(), &stamp(2), |open| open.apply(edits.clone())).unwrap();
    }
    (store, space)
}

pub fn file(number: u8) -> AssetId {
    AssetId::from_bytes([number; 16])
}

pub fn task(state: TaskState, schedule: Option<Day>) -> BlockData {
    let task = TaskInfo {
        schedule_date: schedule,
        ..TaskInfo::of_state(state).stamped(Timestamp::from_millis(5))
    };
    BlockData { list_style: ListStyle::Task, task: Some(task), ..BlockData::text("to do") }
}

/// The day whose notes are in [`full`].
pub fn day() -> Day {
    Day::from_epoch_days(3)
}

/// The small space, with more in it: a daily note of root 10 with an open task 11, a task 12 that
/// was done, and text 13 with two comments, which shows file 1 and has a
/// tag; a trashed note of the same day of
/// root 14 with an open task 15; the inbox of root 16 with task 17; the upload of file 2 under way;
/// and the collections of [`collections::edits`].
pub fn full() -> (Arc<dyn Store>, SpaceStore) {
    let (store, space) = space();
    let record = |number, location, day| DocumentRecord {
        id: DocumentId::of_root(id(number)),
        location,
        day,
        created_at: Timestamp::from_millis(1),
        modified_at: Timestamp::from_millis(1),
        rev: 1,
    };
    let asset = hashed(AssetRecord {
        id: file(1),
        media_type: "image/png".to_owned(),
        file_name: "a.png".to_owned(),
        size: CHUNK_BYTES as u64 + 5,
        sha256: None,
        created: stamp(1),
    });
    let note = Subtrees(vec![
        node(0, 10, BlockData::page("Note")),
        node(1, 11, task(TaskState::Todo, Some(day()))),
        node(1, 12, task(TaskState::Done, None)),
        node(1, 13, BlockData::text(format!("f:{} t:Tag", file(1)))),
    ]);
    let trashed = Subtrees(vec![
        node(0, 14, BlockData::page("Note")),
        node(1, 15, task(TaskState::Todo, Some(day()))),
        node(1, 18, BlockData::text("t:tag")),
    ]);
    let inbox = Subtrees(vec![
        node(0, 16, BlockData::page("Inbox")),
        node(1, 17, task(TaskState::Todo, None)),
    ]);
    let mut edits = vec![
        Edit::CreateAsset(asset),
        Edit::CreateDocument {
            record: record(10, Location::DailyNotes, Some(day())),
            subtrees: note,
        },
        Edit::CreateDocument {
            record: record(14, Location::Trash, Some(day())),
            subtrees: trashed,
        },
        Edit::CreateDocument { record: record(16, Location::Inbox, None), subtrees: inbox },
    ];
    edits.extend([1, 2].map(|number| {
        let stamp = Stamp { at: Timestamp::from_millis(1), by: Author::new("Bob") };
        let comment = Comment::new(CommentId::from_bytes([number; 16]), stamp, "so");
        Edit::AddComment { document: DocumentId::of_root(id(10)), block: id(13), comment }
    }));
    upload(&space, &edits);
    space.begin_upload(relaxed(), file(2)).unwrap();
    space.put_chunks(relaxed(), file(2), 0, &[&*vec![7; CHUNK_BYTES]]).unwrap();
    space.write(relaxed(), &stamp(3), |open| open.apply(edits.clone())).unwrap();
    collections::make(&space);
    (store, space)
}

pub fn dump(store: &dyn Store) -> Vec<Row> {
    let mut all = vec![];
    let range = KeyRange { lower: Bound::Unbounded, upper: Bound::Unbounded, reverse: false };
    let visit = &mut |key: &[u8], value: &[u8]| {
        all.push((key.to_vec(), value.to_vec()));
        Ok(ControlFlow::Continue(()))
    };
    store.snapshot().unwrap().scan(range, visit).unwrap();
    all
}

pub fn key(tag: u8, ids: &[u8], rest: &[u8]) -> Vec<u8> {
    let ids = ids.iter().flat_map(|number| [*number; 16]);
    std::iter::once(tag).chain(ids).chain(rest.iter().copied()).collect()
}

pub const FIRST: [u8; 4] = [0x80, 0, 0, 0];

/// The rows of `store` with this key prefix.
pub fn find(store: &dyn Store, prefix: &[u8]) -> Vec<Row> {
    dump(store).into_iter().filter(|(key, _)| key.starts_with(prefix)).collect()
}

pub fn put(store: &dyn Store, key: &[u8], value: &[u8]) {
    store.write(WriteOptions::default(), &mut |rows| rows.put(key, value)).unwrap();
}

pub fn delete(store: &dyn Store, key: &[u8]) {
    store.write(WriteOptions::default(), &mut |rows| rows.delete(key)).unwrap();
}

/// Copies the body of the row under `from` to `to`, sealed for `to`.
pub fn copy(store: &dyn Store, from: &[u8], to: &[u8]) {
    let (key, value) = find(store, from).remove(0);
    put(store, to, &rows::seal(to, &rows::body(&key, &value).unwrap()));
}

pub fn rekey(store: &dyn Store, from: &[u8], to: &[u8]) {
    copy(store, from, to);
    delete(store, from);
}

pub fn check(space: &SpaceStore) -> CheckReport {
    space.check(&mut |_| ControlFlow::Continue(())).unwrap()
}
