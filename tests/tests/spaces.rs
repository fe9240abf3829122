//! Spaces: making, opening, every reason why one does not open, closing, copying, verifying; and
//! the feed of changes.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use leafbase::kv::{MemoryStore, Store};
use leafbase::{
    BlockData, BlockDraft, Clock, Destination, Durability, ErrorKind, Fetch, MoveBlocks, Position,
    Progress, PurgeDocuments, Space, Timestamp, UpdateBlocks, UploadFile,
};

fn notes_in(path: &Path) -> Space {
    let space = Space::create(path).unwrap();
    let notes = space.connect();
    let trip = notes.create_document("Trip").unwrap();
    notes.insert_markdown("## Packing\n\n- [ ] passport", trip.id()).unwrap();
    space
}

/// Every file of a directory with its bytes.
fn bytes_of(path: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|file| (file.display().to_string(), fs::read(file).unwrap()))
        .collect();
    files.sort();
    files
}

fn dump(space: &Space) -> String {
    let notes = space.connect();
    let fetch = |document: leafbase::Document| {
        notes.fetch(Fetch::new(document.id()).with_metadata()).unwrap()
    };
    let documents: Vec<_> = notes.documents().unwrap().into_iter().map(fetch).collect();
    serde_json::to_string_pretty(&documents).unwrap()
}

#[test]
fn a_space_is_there_again_after_it_was_closed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes");
    let space = notes_in(&path);
    let before = dump(&space);
    let other = space.clone();
    space.close().unwrap();
    let error = other.connect().documents().unwrap_err();
    assert_eq!(
        (error.kind(), error.code(), error.is_retryable()),
        (ErrorKind::Closed, "STORAGE", false)
    );
    let space = Space::open(&path).unwrap();
    assert_eq!(dump(&space), before);
    assert_eq!(space.meta().unwrap().name, "notes");
}

#[test]
fn each_reason_not_to_open_is_a_kind_of_its_own_and_leaves_the_files_alone() {
    type Spoil = fn(&Path);
    let cases: [(&str, Spoil, ErrorKind); 7] = [
        ("nothing there", |path| fs::remove_dir_all(path).unwrap(), ErrorKind::NotFound),
        (
            "a file",
            |path| {
                fs::remove_dir_all(path).unwrap();
                fs::write(path, "text").unwrap()
            },
            ErrorKind::NotASpace,
        ),
        (
            "another directory",
            |path| fs::remove_file(path.join("space.redb")).unwrap(),
            ErrorKind::NotASpace,
        ),
        (
            "another file",
            |path| fs::write(path.join("space.redb"), "# not a store").unwrap(),
            ErrorKind::NotASpace,
        ),
        (
            "an empty file",
            |path| fs::write(path.join("space.redb"), "").unwrap(),
            ErrorKind::NotASpace,
        ),
        ("cut short", |path| truncate(path, 70_000), ErrorKind::Corrupted),
        ("a later engine", |path| patch(path, &[64, 192], 200), ErrorKind::NewerFormat),
    ];
    for (name, spoil, expected) in cases {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("notes");
        notes_in(&path).close().unwrap();
        spoil(&path);
        let before = path.is_dir().then(|| bytes_of(&path));
        let error = Space::open(&path).unwrap_err();
        assert_eq!(error.kind(), expected, "{name}: {error}");
        assert!(
            before.is_none_or(|before| before == bytes_of(&path)),
            "{name}: the files have changed"
        );
    }
}

fn truncate(path: &Path, length: u64) {
    fs::OpenOptions::new()
        .write(true)
        .open(path.join("space.redb"))
        .unwrap()
        .set_len(length)
        .unwrap();
}

fn patch(path: &Path, places: &[usize], value: u8) {
    let file = path.join("space.redb");
    let mut bytes = fs::read(&file).unwrap();
    for place in places {
        bytes[*place] = value;
    }
    fs::write(&file, bytes).unwrap();
}

#[test]
fn a_space_is_open_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes");
    let space = notes_in(&path);
    let error = Space::open(&path).unwrap_err();
    assert_eq!(
        (error.kind(), error.code(), error.is_retryable()),
        (ErrorKind::AlreadyOpen, "STORAGE", true)
    );
    space.close().unwrap();
    Space::open(&path).unwrap();
}

#[test]
fn a_space_is_not_made_where_something_is() {
    let directory = tempfile::tempdir().unwrap();
    let error = Space::create(directory.path()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Validation);
    let error =
        Space::builder().zone("Middle/Earth").create(directory.path().join("new")).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Validation, "zone"));
    let error =
        Space::builder().name("n".repeat(1_001)).create(directory.path().join("new")).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::LimitExceeded, "name"));
    assert!(!directory.path().join("new").exists());
    let error = Space::create(directory.path().join("no/such/parent")).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Storage, ""));
}

#[test]
fn a_space_opened_for_reading_is_not_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes");
    notes_in(&path).close().unwrap();
    let before = bytes_of(&path);
    let space = Space::builder().read_only(true).open(&path).unwrap();
    assert_eq!(space.connect().documents().unwrap().0.len(), 1);
    assert_eq!(space.connect().create_document("more").unwrap_err().kind(), ErrorKind::ReadOnly);
    assert_eq!(space.compact().unwrap_err().kind(), ErrorKind::ReadOnly);
    space.close().unwrap();
    assert_eq!(bytes_of(&path), before);
}

/// A store of the host does not know that its space was opened so.
#[test]
fn a_space_opened_for_reading_over_a_store_of_the_host_is_not_written() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let refused = |result: leafbase::Result<()>, name: &str| {
        assert_eq!(result.unwrap_err().kind(), ErrorKind::ReadOnly, "{name}");
    };
    let reading = || Space::builder().read_only(true);
    refused(reading().over(Arc::clone(&store), true).map(drop), "a new space");
    refused(reading().in_memory().map(drop), "a new space in memory");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes");
    refused(reading().create(&path).map(drop), "a new space in a directory");
    assert!(!path.exists());

    let writer = Space::builder().over(Arc::clone(&store), true).unwrap();
    let document = writer.connect().create_document("d").unwrap().id();
    let space = reading().over(Arc::clone(&store), false).unwrap();
    let follower = reading().follower(true).over(Arc::clone(&store), false).unwrap();
    let (notes, bytes) = (space.connect(), store.bytes().unwrap());
    refused(notes.create_document("more").map(drop), "a document");
    refused(notes.insert_markdown("text", document).map(drop), "blocks");
    refused(notes.batch(|batch| batch.create_document("more").map(drop)), "a batch");
    let file = UploadFile::new(Position::end_of(document)).named("a.txt");
    refused(notes.upload_file(file, &b"bytes"[..]).map(drop), "an upload");
    refused(notes.purge_documents(PurgeDocuments::OlderThanDays(0)).map(drop), "a purge");
    refused(space.rename("Renamed"), "the name");
    refused(space.compact(), "compaction");
    refused(follower.follow(&[]).map(drop), "rows of another space");
    assert_eq!(store.bytes().unwrap(), bytes);
    writer.connect().create_document("more").unwrap();
    assert_eq!(notes.documents().unwrap().len(), 2);
    space.close().unwrap();
}

#[test]
fn a_copy_made_while_others_write_is_one_state() {
    let directory = tempfile::tempdir().unwrap();
    let space = notes_in(&directory.path().join("notes"));
    let document = space.connect().documents().unwrap().0[0].id();
    let copy = directory.path().join("copy");
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for number in 0..200 {
                space.connect().insert_markdown(&format!("line {number}"), document).unwrap();
            }
        });
        space.backup_to(&copy).unwrap();
        writer.join().unwrap();
    });
    let copy = Space::open(&copy).unwrap();
    assert!(copy.check().unwrap().is_clean());
    let lines = |space: &Space| space.connect().content_markdown(document).unwrap();
    assert!(
        lines(&space).starts_with(lines(&copy).trim_end()),
        "the copy is a beginning of what was written"
    );
    assert_eq!(copy.meta().unwrap(), space.meta().unwrap());
}

#[test]
fn a_copy_and_a_check_can_be_broken_off() {
    let directory = tempfile::tempdir().unwrap();
    let space = notes_in(&directory.path().join("notes"));
    let copy = directory.path().join("copy");
    let error = space.backup_with(&copy, &mut |_| ControlFlow::Break(())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Canceled);
    assert!(!copy.exists());
    assert_eq!(
        space.check_with(&mut |_| ControlFlow::Break(())).unwrap_err().kind(),
        ErrorKind::Canceled
    );
}

type Tell<'t> = &'t mut dyn FnMut(Progress) -> ControlFlow<()>;

#[test]
fn a_copy_and_a_check_tell_how_far_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let space = notes_in(&directory.path().join("notes"));
    space.flush().unwrap();
    let rows = space.check().unwrap().rows;
    let last_told = |work: &dyn Fn(Tell<'_>)| {
        let mut last = None;
        work(&mut |progress| {
            assert!(progress.total.is_some_and(|total| progress.done <= total), "{progress:?}");
            last = Some(progress.done);
            ControlFlow::Continue(())
        });
        last
    };
    assert_eq!(
        last_told(&|tell| space.backup_with(directory.path().join("copy"), tell).unwrap()),
        Some(rows)
    );
    assert_eq!(last_told(&|tell| assert!(space.check_with(tell).unwrap().is_clean())), Some(rows));
}

#[test]
fn stats_count_and_compaction_keeps_everything() {
    let directory = tempfile::tempdir().unwrap();
    let space = notes_in(&directory.path().join("notes"));
    let stats = space.stats().unwrap();
    assert_eq!((stats.documents, stats.blocks, stats.sequence), (1, 3, 2));
    let before = dump(&space);
    space.compact().unwrap();
    assert!(space.stats().unwrap().bytes <= stats.bytes);
    assert_eq!(dump(&space), before);
}

#[test]
fn relaxed_writes_are_seen_at_once_and_kept_by_a_flush() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes");
    let space = Space::builder().durability(Durability::Relaxed).create(&path).unwrap();
    space.connect().create_document("first").unwrap();
    assert_eq!(space.connect().documents().unwrap().0.len(), 1);
    space.flush().unwrap();
    let before = dump(&space);
    drop(space);
    assert_eq!(dump(&Space::open(&path).unwrap()), before);
}

/// A clock that goes on by a second with each look.
struct Ticking(AtomicI64);

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.fetch_add(1_000, Ordering::Relaxed))
    }
}

#[test]
fn blocks_say_who_and_when() {
    let space = Space::builder().clock(Ticking(AtomicI64::new(0))).in_memory().unwrap();
    let (ada, ben) = (space.connect().acting_as("Ada"), space.connect().acting_as("Ben"));
    let document = ada.create_document("Trip").unwrap().id();
    let socks = ada.insert_markdown("socks", document).unwrap().0[0].id;
    ben.update_markdown(socks, "wool socks").unwrap();
    let fetched =
        serde_json::to_value(ada.fetch(Fetch::new(socks).with_metadata()).unwrap()).unwrap();
    let metadata = &fetched["metadata"];
    assert_eq!(
        (&metadata["createdBy"], &metadata["lastModifiedBy"]),
        (&"Ada".into(), &"Ben".into())
    );
    assert!(metadata["createdAt"].as_str() < metadata["lastModifiedAt"].as_str());
    assert_eq!(fetched["rev"], 2);
    let listed = ada.document(document).unwrap().record;
    assert_eq!(serde_json::to_value(listed.modified_at).unwrap(), metadata["lastModifiedAt"]);
    assert!(ada.fetch(Fetch::new(socks)).unwrap().metadata.is_none(), "only where it is asked for");
}

#[test]
fn the_feed_tells_every_write_and_what_undoes_it() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let empty = dump(&space);
    let trip = notes
        .create_document_of(BlockDraft::new(BlockData::page("Trip")), Destination::Unsorted)
        .unwrap()
        .id();
    let added = notes.insert_markdown("a\n\nb\n\nc", trip).unwrap().0;
    let position = Position::end_of(added[0].id);
    notes.move_blocks(MoveBlocks::new(vec![added[2].id, added[1].id], position)).unwrap();
    notes.update_markdown(added[1].id, "one\n\ntwo").unwrap();
    notes.delete_blocks(leafbase::DeleteBlocks::new(vec![added[2].id])).unwrap();
    assert!(notes.update_blocks(UpdateBlocks::new(Vec::new())).unwrap().0.is_empty());

    let changes: Vec<_> = notes.changes_since(0).collect::<Result<_, _>>().unwrap();
    let sequences: Vec<_> = changes.iter().map(|change| change.sequence).collect();
    assert_eq!(sequences, [1, 2, 3, 4, 5], "a write that changes nothing is not a row");
    assert!(changes.iter().all(|change| change.documents == [trip]));
    assert_eq!(notes.changes_since(3).count(), 2);
    assert_eq!(notes.last_sequence().unwrap(), 5);

    for change in changes.iter().rev() {
        space.apply(notes.author(), &change.inverse().unwrap()).unwrap();
    }
    assert_eq!(dump(&space), empty);
    assert!(space.check().unwrap().is_clean());
}

#[test]
fn a_space_goes_between_threads() {
    fn shared<T: Clone + Send + Sync + 'static>() {}
    shared::<Space>();
    shared::<leafbase::Connection>();
}
