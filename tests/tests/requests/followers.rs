//! Followers: the change log leads another space to the same name, time zone and files. The log has
//! no bytes of files, which a follower gets by their hash.

use std::collections::BTreeMap;
use std::sync::Arc;

use leafbase::{
    Change, Connection, DeleteBlocks, Edit, Error, ErrorKind, FileHash, Position, Space,
    SpaceSettings, UploadFile,
};
use leafbase_store::kv::{MemoryStore, Store, WriteOptions};
use leafbase_store::{CHUNK_BYTES, Extractor, FileHasher, SpaceStore};
use leafbase_test_outline::SequentialIds;

/// A write to the space that is followed.
#[derive(Clone, Copy, Debug)]
enum Write {
    Rename(&'static str),
    Zone(&'static str),
    /// A file of this many bytes, all of which are this one.
    Upload(usize, u8),
    /// Deletes the block of the last file, and so the file.
    Delete,
}

use Write::{Delete, Rename, Upload, Zone};

/// Histories, and how many changes of the settings each logs.
const HISTORIES: &[(&[Write], usize)] = &[
    (&[], 0),
    (&[Rename("Notes"), Zone("Europe/Lisbon")], 0),
    (&[Rename("Journal")], 1),
    (&[Zone("asia/tokyo"), Rename("Journal"), Rename("Journal"), Zone("Asia/Tokyo")], 2),
    (&[Rename("Journal"), Rename("Notes")], 2),
    (&[Rename(""), Zone("UTC"), Upload(3, b'a')], 2),
    (&[Upload(0, 0), Upload(3, b'b'), Upload(3, b'b'), Rename("Files")], 1),
    (&[Upload(CHUNK_BYTES, 7), Upload(2 * CHUNK_BYTES + 1, 8), Delete, Upload(9, 9)], 0),
];

/// The bytes of files by their hash.
type Bytes = BTreeMap<FileHash, Vec<u8>>;

fn hash_of(bytes: &[u8]) -> FileHash {
    let mut hasher = FileHasher::default();
    hasher.update(bytes);
    hasher.finish()
}

/// A space with this history, and the bytes that were uploaded.
fn followed(history: &[Write]) -> (Space, Bytes) {
    let space = Space::builder().name("Notes").zone("Europe/Lisbon").in_memory().unwrap();
    let notes = space.connect().acting_as("Ada");
    let document = notes.create_document("d").unwrap().id();
    let (mut bytes, mut last) = (Bytes::new(), None);
    for write in history {
        match *write {
            Rename(name) => space.rename(name).unwrap(),
            Zone(zone) => space.set_zone(zone).unwrap(),
            Upload(size, byte) => {
                let file = vec![byte; size];
                let request = UploadFile::new(Position::end_of(document)).named("a.bin");
                last = Some(notes.upload_file(request, &*file).unwrap().block_id);
                bytes.insert(hash_of(&file), file);
            }
            Delete => drop(notes.delete_blocks(DeleteBlocks::from(last.unwrap())).unwrap()),
        }
    }
    (space, bytes)
}

fn log(notes: &Connection) -> Vec<Change> {
    notes.changes_since(0).collect::<Result<_, _>>().unwrap()
}

/// The settings at the beginning of the log.
fn first_settings(space: &Space, log: &[Change]) -> SpaceSettings {
    let mut edits = log.iter().flat_map(|change| &change.edits);
    let first = edits.find_map(|edit| match edit {
        Edit::UpdateSpace { before, .. } => Some(before.clone()),
        _ => None,
    });
    first.unwrap_or_else(|| space.meta().unwrap().settings())
}

/// A space with these settings, to which the log was applied.
fn follow(settings: SpaceSettings, log: &[Change], bytes: &Bytes) -> Result<Space, Error> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let builder = Space::builder().name(settings.name).zone(&settings.zone);
    let space = builder.over(Arc::clone(&store), true)?;
    let ids = Arc::new(SequentialIds::new(9));
    let uploads = SpaceStore::open(store, Extractor::of_edges(|_, _| {}), ids)?;
    for change in log {
        for edit in &change.edits {
            let Edit::CreateAsset(file) = edit else { continue };
            let options = WriteOptions::default();
            uploads.begin_upload(options, file.id)?;
            let chunks = bytes[&file.sha256.unwrap()].chunks(CHUNK_BYTES).collect::<Vec<_>>();
            uploads.put_chunks(options, file.id, 0, &chunks)?;
        }
        space.apply(&change.stamp.by, &change.edits)?;
    }
    Ok(space)
}

#[test]
fn a_follower_has_the_same_name_zone_and_files() {
    for (history, settings) in HISTORIES {
        let (space, bytes) = followed(history);
        let (notes, written) = (space.connect(), log(&space.connect()));
        let is_of_settings = |edit: &&Edit| matches!(edit, Edit::UpdateSpace { .. });
        let edits = || written.iter().flat_map(|change| &change.edits);
        assert_eq!(edits().filter(is_of_settings).count(), *settings, "{history:?}");

        let copy = follow(first_settings(&space, &written), &written, &bytes).unwrap();
        assert_eq!(
            copy.meta().unwrap().settings(),
            space.meta().unwrap().settings(),
            "{history:?}"
        );
        let applied: Vec<_> = log(&copy.connect()).into_iter().map(|change| change.edits).collect();
        assert!(applied.iter().flatten().eq(edits()), "{history:?}");
        for edit in edits() {
            let Edit::CreateAsset(created) = edit else { continue };
            let files = [&notes, &copy.connect()].map(|notes| notes.file(created.id).ok());
            assert_eq!(files[0], files[1], "{history:?}");
            assert!(files.iter().flatten().all(|file| file == created), "{history:?}");
        }
        for space in [&space, &copy] {
            let report = space.check().unwrap();
            assert!(report.is_clean(), "{history:?}: {report:?}");
        }
    }
}

/// Control: a follower that begins with other settings, or has other bytes, is found out.
#[test]
fn a_follower_that_differs_is_noticed() {
    let (space, mut bytes) = followed(&[Upload(70_000, 1), Rename("Journal"), Upload(3, 2)]);
    let written = log(&space.connect());
    let first = first_settings(&space, &written);
    let now = space.meta().unwrap().settings();
    assert_ne!(first, now);
    assert_eq!(follow(now, &written, &bytes).unwrap_err().kind(), ErrorKind::Conflict);
    for file in bytes.values_mut() {
        *file.last_mut().unwrap() ^= 1;
    }
    let copy = follow(first, &written, &bytes).unwrap();
    assert_eq!(copy.check().unwrap().problems.len(), 2);
}
