//! Purges erase what was shipped, too.

use std::time::Duration;

use leafbase::{CompactOptions, DeleteDocuments, ErrorKind, PurgeDocuments, Space, UploadFile};
use leafbase_replica::{Follower, Leader, LeaderOptions, RestorePoint, restore};

use crate::dump::{assert_same, dump};
use crate::stores::MemoryObjects;

const SECRET: &str = "the key is under the blue stone";

#[test]
fn nothing_that_was_shipped_has_what_a_purge_erased() {
    let directory = tempfile::tempdir().unwrap();
    let store = MemoryObjects::new();
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let options = LeaderOptions::new("leader", directory.path().join("scratch"));
    let mut leader = Leader::acquire(&space, store.clone(), options).unwrap();
    let live = Follower::open(directory.path().join("live"), store.clone()).unwrap();
    let late = Follower::open(directory.path().join("late"), store.clone()).unwrap();

    let kept = notes.create_document("Kept").unwrap();
    let diary = notes.create_document("Diary").unwrap();
    notes.insert_markdown(SECRET, diary.id()).unwrap();
    notes.upload_file(UploadFile::new(diary.id()).named("map.txt"), SECRET.as_bytes()).unwrap();
    leader.ship().unwrap();
    leader.snapshot().unwrap();
    live.catch_up().unwrap();
    assert!(store.contains(SECRET.as_bytes()), "the secret is shipped");

    notes.delete_documents(DeleteDocuments::new([diary.id()])).unwrap();
    leader.ship().unwrap();
    live.catch_up().unwrap();
    notes.purge_documents(PurgeDocuments::Documents(vec![diary.id()])).unwrap();
    notes.insert_markdown("more", kept.id()).unwrap();
    leader.ship().unwrap();
    assert!(!store.contains(SECRET.as_bytes()), "nothing shipped has the secret");

    // A follower that has all rows before goes on; one that lacks some starts over.
    live.catch_up().unwrap();
    assert_same(&dump(&live.connect()), &dump(&notes), "the follower that was up to date");
    assert!(live.space().check().unwrap().is_clean());
    let refused = late.catch_up().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::HistoryGone, "{refused}");
    let late = late.start_over().unwrap();
    late.catch_up().unwrap();
    assert_same(&dump(&late.connect()), &dump(&notes), "the follower that started over");
    let early = restore(&*store, directory.path().join("early"), RestorePoint::Sequence(3));
    assert_eq!(early.unwrap_err().kind(), ErrorKind::HistoryGone);
}

/// A leader that was away while a document was written and purged ships no redacted row.
#[test]
fn rows_that_were_redacted_before_they_were_shipped_are_in_a_snapshot_alone() {
    let directory = tempfile::tempdir().unwrap();
    let store = MemoryObjects::new();
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let options = LeaderOptions::new("leader", directory.path().join("scratch"));
    let mut leader = Leader::acquire(&space, store.clone(), options).unwrap();
    leader.ship().unwrap();
    let follower = Follower::open(directory.path().join("copy"), store.clone()).unwrap();
    let diary = notes.create_document("Diary").unwrap();
    notes.insert_markdown(SECRET, diary.id()).unwrap();
    notes.delete_documents(DeleteDocuments::new([diary.id()])).unwrap();
    notes.purge_documents(PurgeDocuments::Documents(vec![diary.id()])).unwrap();
    let rows = notes.change_rows(0, usize::MAX).unwrap();
    let direct = Space::builder().follower(true).in_memory().unwrap();
    assert_eq!(direct.follow(&rows).unwrap_err().kind(), ErrorKind::HistoryGone);
    assert_eq!(leader.ship().unwrap().snapshots, 1);
    assert!(!store.contains(SECRET.as_bytes()));
    assert_eq!(follower.catch_up().unwrap_err().kind(), ErrorKind::HistoryGone);
    let follower = follower.start_over().unwrap();
    assert_same(&dump(&follower.connect()), &dump(&notes), "after it started over");
}

/// Compaction merged or dropped changes that were not shipped, and one of those after them purges.
#[test]
fn a_purge_after_changes_that_were_compacted_erases_what_was_shipped() {
    let merged = CompactOptions::new().merge_edits_within(Duration::from_secs(60));
    let dropped = CompactOptions::new().keep_changes(0);
    for (compaction, leads_again) in [(merged, false), (merged, true), (dropped, false)] {
        let directory = tempfile::tempdir().unwrap();
        let store = MemoryObjects::new();
        let space = Space::in_memory().unwrap();
        let notes = space.connect();
        let options = LeaderOptions::new("leader", directory.path().join("scratch"));
        let mut leader = Leader::acquire(&space, store.clone(), options.clone()).unwrap();
        let diary = notes.create_document("Diary").unwrap();
        notes.insert_markdown(SECRET, diary.id()).unwrap();
        let kept = notes.create_document("Kept").unwrap();
        let text = notes.insert_markdown("m", kept.id()).unwrap()[0].id;
        notes.update_markdown(text, "mo").unwrap();
        leader.snapshot().unwrap();
        notes.update_markdown(text, "mor").unwrap();
        leader.ship().unwrap();
        assert!(store.contains(SECRET.as_bytes()), "the secret is shipped");
        notes.update_markdown(text, "more").unwrap();
        notes.delete_documents(DeleteDocuments::new([diary.id()])).unwrap();
        notes.purge_documents(PurgeDocuments::Documents(vec![diary.id()])).unwrap();
        space.compact_with(compaction).unwrap();
        notes.create_document("Later").unwrap();
        if leads_again {
            leader = Leader::acquire(&space, store.clone(), options).unwrap();
        }
        leader.ship().unwrap();
        assert!(!store.contains(SECRET.as_bytes()), "nothing shipped has the secret");
        let path = directory.path().join("copy");
        restore(&*store, &path, RestorePoint::Newest).unwrap();
        let copy = Space::open(&path).unwrap();
        assert_same(&dump(&copy.connect()), &dump(&notes), "restored");
    }
}

/// A file that is gone by the time it would be shipped: its rows are followed without it.
#[test]
fn a_file_that_was_erased_before_it_was_shipped_is_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let store = MemoryObjects::new();
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let trip = notes.create_document("Trip").unwrap();
    let options = LeaderOptions::new("leader", directory.path().join("scratch"));
    let mut leader = Leader::acquire(&space, store.clone(), options).unwrap();
    let follower = Follower::open(directory.path().join("copy"), store.clone()).unwrap();
    let request = UploadFile::new(trip.id()).named("seat.txt");
    let first = notes.upload_file(request.clone(), &b"12A"[..]).unwrap();
    let second = notes.upload_file(request, &b"14C"[..]).unwrap();
    notes.delete_blocks(leafbase::DeleteBlocks::new([first.block_id])).unwrap();
    leader.ship().unwrap();
    follower.catch_up().unwrap();
    assert_same(&dump(&follower.connect()), &dump(&notes), "without the file");
    assert!(follower.connect().open_file(second.asset_url.id()).is_ok());
    assert!(follower.space().check().unwrap().is_clean());
}
