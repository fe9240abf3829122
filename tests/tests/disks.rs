//! Whole spaces on simulated disks that are full or fail.

use std::io;
use std::sync::Arc;

use leafbase::{
    Connection, DeleteDocuments, Durability, ErrorKind, Fetch, Position, PurgeDocuments,
    SearchIndexing, Space,
};
use leafbase_store::kv::{OpenOptions, RedbStore};
use leafbase_store::testkit::{Disk, DiskFiles, Fault, Loss, open_backend};

/// So little memory makes reads go to the disk.
const CACHE: usize = 16 << 10;

fn space(disk: &Disk, durability: Durability) -> Space {
    let options = OpenOptions::new().cache_bytes(CACHE);
    over(RedbStore::with_files(DiskFiles::new(disk), &options).unwrap(), durability)
}

fn over(store: RedbStore, durability: Durability) -> Space {
    let builder = Space::builder().durability(durability).search_indexing(SearchIndexing::OnDemand);
    builder.over(Arc::new(store), true).unwrap()
}

/// A relaxed write that finds no room is refused before it is visible; those before it stay, and
/// are found.
#[test]
fn a_search_on_a_full_disk_finds_what_is_written() {
    let disk = Disk::new();
    let space = space(&disk, Durability::Relaxed);
    let notes = space.connect();
    let document = notes.create_document("Trip").unwrap();
    let write =
        || notes.insert_markdown(&"passport ".repeat(10_000), Position::end_of(document.id()));
    let shown = || notes.content_markdown(document.id()).unwrap();
    for _ in 0..20 {
        write().unwrap();
    }
    let before = shown();
    disk.fail(Fault::Full, io::ErrorKind::StorageFull);
    let refused = (0..20).find_map(|_| write().err());
    assert_eq!(refused.unwrap().kind(), ErrorKind::NoSpace);
    assert!(shown().starts_with(&before));
    assert_eq!(space.flush().unwrap_err().kind(), ErrorKind::NoSpace);
    assert_eq!(notes.search("passport").unwrap().len(), 1);
    disk.heal();
    space.flush().unwrap();
    space.flush_search().unwrap();
    assert_eq!(notes.search("passport").unwrap().len(), 1);
}

/// What compaction writes to take less room later is left out where there is none now.
#[test]
fn a_space_on_a_full_disk_is_compacted() {
    for durability in [Durability::Relaxed, Durability::Durable] {
        let disk = Disk::new();
        // Without a log, so that the main file has all the room.
        let below = disk.clone();
        let options = OpenOptions::new().cache_bytes(CACHE);
        let space = over(open_backend(move || below.clone(), &options).unwrap(), durability);
        let notes = space.connect();
        let write = |title: &str| {
            let document = notes.create_document(title).unwrap();
            let texts = (0..600)
                .map(|number| format!("passport {number}, a ticket and a map"))
                .collect::<Vec<_>>();
            notes.insert_markdown(&texts.join("\n\n"), Position::end_of(document.id())).unwrap();
            document.id()
        };
        let kept: Vec<_> = ["Trip", "Way"].map(write).to_vec();
        let gone: Vec<_> = ["One", "Two", "Three", "Four"].map(write).to_vec();
        notes.delete_documents(DeleteDocuments::new(gone.iter().copied())).unwrap();
        notes.purge_documents(PurgeDocuments::Documents(gone)).unwrap();
        space.flush().unwrap();
        let shown = |notes: &Connection| {
            kept.iter().map(|id| notes.fetch_markdown(Fetch::new(*id)).unwrap()).collect::<Vec<_>>()
        };
        let (before, used) = (shown(&notes), disk.used());
        disk.limit(Some(used));
        space.compact().unwrap();
        assert!(disk.used() < used, "{durability:?}: {} of {used} bytes", disk.used());
        disk.limit(None);
        space.compact().unwrap();
        assert_eq!(shown(&notes), before);
        let report = space.check().unwrap();
        assert!(report.is_clean(), "{report:?}");
    }
}

/// What cannot be read is not damaged for that.
#[test]
fn a_check_that_cannot_read_is_an_error_and_no_report() {
    let disk = Disk::new();
    let space = space(&disk, Durability::Durable);
    let document = space.connect().create_document("Trip").unwrap();
    space
        .connect()
        .insert_markdown(&"passport\n\n".repeat(400), Position::end_of(document.id()))
        .unwrap();
    let (mut failed, mut number) = (0, 0);
    loop {
        number += 1;
        let (before, failures) = (disk.operations(), disk.failures());
        disk.fail(Fault::Once(before + number), io::ErrorKind::Other);
        let checked = space.check();
        disk.heal();
        if disk.failures() == failures {
            break;
        }
        match checked {
            Ok(report) => assert!(report.is_clean(), "operation {number}: {report:?}"),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Storage, "operation {number}: {error:?}");
                failed += 1;
            }
        }
        assert!(space.check().unwrap().is_clean(), "after operation {number}");
    }
    assert!(failed > 5, "{failed} of {number}");
}

/// Each connection promises its own, on one space.
#[test]
fn a_connection_chooses_what_its_writes_promise() {
    let disk = Disk::new();
    let space = space(&disk, Durability::Durable);
    let (sure, typing) = (space.connect(), space.connect().with_durability(Durability::Relaxed));
    let document = sure.create_document("Trip").unwrap().id();
    sure.insert_markdown("hotel", Position::end_of(document)).unwrap();
    let texts_after = |loss| {
        let disk = disk.moment().after(loss, 1);
        let store = RedbStore::with_files(DiskFiles::new(&disk), &OpenOptions::new()).unwrap();
        let space = Space::builder().over(Arc::new(store), false).unwrap();
        space.connect().content_markdown(document).unwrap()
    };
    let before = disk.image();
    typing.insert_markdown("passport", Position::end_of(document)).unwrap();
    assert!(disk.image() == before, "only the log is written");
    assert!(sure.content_markdown(document).unwrap().contains("passport"), "everybody sees it");
    assert!(!texts_after(Loss::Unsynced).contains("passport"), "power is lost");
    assert!(texts_after(Loss::Nothing).contains("passport"), "the process ends");
    sure.insert_markdown("tickets", Position::end_of(document)).unwrap();
    let texts = texts_after(Loss::Unsynced);
    assert!(texts.contains("passport") && texts.contains("tickets"), "{texts}");
}

/// An index must not know of what may be lost. That takes a sync of the journal, and no commit of
/// the store's file.
#[test]
fn an_index_that_catches_up_makes_durable_what_was_not() {
    let directory = tempfile::tempdir().unwrap();
    let builder = || Space::builder().search_indexing(SearchIndexing::OnDemand);
    let space = builder().create(directory.path().join("space")).unwrap();
    let (sure, typing) = (space.connect(), space.connect().with_durability(Durability::Relaxed));
    let document =
        ["Trip", "Packing", "Tickets"].map(|title| sure.create_document(title).unwrap().id())[0];
    space.flush_search().unwrap();
    let files = || {
        ["space.redb", "space.journal"]
            .map(|name| std::fs::read(directory.path().join("space").join(name)).unwrap())
    };
    let mut before = files();
    for (word, notes) in [("passport", &typing), ("visa", &sure)] {
        notes.insert_markdown(word, Position::end_of(document)).unwrap();
        let written = files();
        assert!(written[0] == before[0] && written[1] != before[1], "the journal has it: {word}");
        space.flush_search().unwrap();
        let indexed = files();
        assert!(indexed == written, "neither file is written: {word}");
        assert_eq!(sure.search(word).unwrap().len(), 1);
        before = indexed;
    }
}
