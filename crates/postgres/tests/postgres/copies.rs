//! Copies of a space between a directory and a database, in both directions.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use leafbase::{ErrorKind, Position, Space, UploadFile};
use leafbase_kv::{KeyRange, OpenOptions, Store, directory};

use crate::server::{server, unused_name};

fn entries(store: &dyn Store) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut entries = Vec::new();
    let snapshot = store.snapshot().unwrap();
    let visit = &mut |key: &[u8], value: &[u8]| {
        entries.push((key.to_vec(), value.to_vec()));
        Ok(ControlFlow::Continue(()))
    };
    snapshot.scan(KeyRange::half_open(b"", &[0xFF; 8]), visit).unwrap();
    entries
}

fn entries_of(path: &Path) -> Vec<(Vec<u8>, Vec<u8>)> {
    entries(&directory::open(path, &OpenOptions::new().read_only(true)).unwrap())
}

#[test]
fn a_space_goes_to_the_database_and_back() {
    let Some(server) = server() else { return };
    let place = tempfile::tempdir().unwrap();
    let (path, copy) = (place.path().join("notes.leafbase"), place.path().join("copy.leafbase"));
    let space = Space::create(&path).unwrap();
    let notes = space.connect();
    for number in 0..40 {
        let document = notes.create_document(&format!("Document {number}")).unwrap();
        let text = "a line with several words in it\n\n".repeat(30);
        notes.insert_markdown(&text, Position::end_of(document.id())).unwrap();
        if number == 7 {
            // More than a transaction keeps in memory before it sends it.
            let bytes: Vec<u8> = (0..12_000_000_u32).map(|at| (at % 251) as u8).collect();
            notes.upload_file(UploadFile::new(document.id()), &*bytes).unwrap();
        }
    }
    space.flush().unwrap();

    let database = server.database();
    let name = unused_name();
    let store = Arc::new(database.create_store(&name).unwrap());
    let mut seen = 0;
    let canceled = space.copy_into_with(&*store, &mut |progress| {
        seen = progress.done;
        if seen > 100 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(canceled.unwrap_err().kind(), ErrorKind::Canceled);
    assert!(seen > 100 && entries(&*store).is_empty(), "all or nothing is copied");

    space.copy_into(&*store).unwrap();
    space.close().unwrap();
    let expected = entries_of(&path);
    assert!(expected.len() > 500);
    assert!(entries(&*store) == expected, "the database has the entries of the directory");

    let space = Space::builder().over(store.clone(), false).unwrap();
    assert!(space.check().unwrap().is_clean());
    assert_eq!(space.copy_into(&*store).unwrap_err().kind(), ErrorKind::Validation);
    space.backup_to(&copy).unwrap();
    space.close().unwrap();
    assert!(entries_of(&copy) == expected, "the backup has the entries of the database");
    assert!(Space::open(&copy).unwrap().check().unwrap().is_clean());
}
