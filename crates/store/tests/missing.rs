//! Missing rows, as after damage of the engine's pages: no read returns an incomplete result.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test"
)]

use std::ops::ControlFlow;

use leafbase_model::{
    BlockData, DocumentId, Edit, Error, ErrorKind, InsertTarget, Location, Result, Subtrees,
};
use leafbase_store::kv::Store;
use leafbase_store::{
    DocumentQuery, Extractor, IndexOrder, LogRetention, SpaceReader, SpaceStore, Within, rows,
};

mod broken;
mod naive;

use broken::*;
use naive::{extract, relaxed, stamp};

/// The small space, whose first document got 200 more blocks in a separate transaction.
fn large() -> (std::sync::Arc<dyn Store>, SpaceStore) {
    let (store, space) = space();
    let target =
        InsertTarget { document: DocumentId::of_root(id(1)), parent: id(1), after: Some(id(6)) };
    let text = BlockData::text("the quick brown fox jumps over the lazy dog and runs far away");
    let subtrees = Subtrees((20..220).map(|number| node(0, number, text.clone())).collect());
    space
        .write(relaxed(), &stamp(3), |open| {
            open.apply(vec![Edit::Insert { target, subtrees: subtrees.clone() }])
        })
        .unwrap();
    (store, space)
}

fn read<T>(space: &SpaceStore, read: impl FnOnce(SpaceReader<'_>) -> Result<T>) -> Result<T> {
    read(space.snapshot().unwrap().reader())
}

fn corrupted<T: std::fmt::Debug>(result: Result<T>) -> Error {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupted, "{error}");
    error
}

#[test]
fn a_document_without_some_of_its_blocks_is_damaged() {
    let (store, _) = large();
    let runs = find(&*store, &key(BLOCKS, &[1], &[]));
    assert!(runs.len() > 5);
    for (run, _) in &runs {
        let (store, space) = large();
        assert_eq!(read(&space, |reader| reader.subtree(id(1), None)).unwrap().0.len(), 206);
        delete(&*store, run);
        let error = corrupted(read(&space, |reader| reader.subtree(id(1), None)));
        if run[17..33] != [0; 16] {
            assert!(error.message().contains(&DocumentId::of_root(id(1)).to_string()), "{error}");
        }
        assert_eq!(read(&space, |reader| reader.subtree(id(7), None)).unwrap().0.len(), 2);
    }
    let (store, space) = large();
    delete(&*store, &key(DOCUMENTS, &[1], &[]));
    corrupted(read(&space, |reader| reader.subtree(id(1), None)));
}

#[test]
fn a_document_without_some_of_its_blocks_is_not_erased() {
    let (store, space) = large();
    let mut subtrees = read(&space, |reader| reader.subtree(id(1), None)).unwrap();
    delete(&*store, &key(BLOCKS, &[1, 4], &FIRST));
    subtrees.0.retain(|node| node.block.id != id(5));
    let erased = space.write(relaxed(), &stamp(9), |open| {
        let record = open.reader()?.document(DocumentId::of_root(id(1)))?.unwrap();
        open.apply(vec![Edit::EraseDocument { record, subtrees: subtrees.clone() }])
    });
    corrupted(erased);
}

#[test]
fn a_log_without_some_of_its_changes_is_damaged() {
    let (store, _) = large();
    let rows = find(&*store, &[CHANGES]);
    let numbers: Vec<u64> =
        rows.iter().map(|(row, _)| u64::from_be_bytes(row[1..9].try_into().unwrap())).collect();
    assert!(
        numbers.len() > 5 && (1..=5).all(|number| numbers.contains(&number)),
        "some have several parts: {numbers:?}"
    );
    for ((row, _), number) in rows.iter().zip(numbers) {
        let (store, space) = large();
        assert_eq!(read(&space, |reader| reader.changes_after(0, 9)).unwrap().len(), 5);
        delete(&*store, row);
        corrupted(read(&space, |reader| reader.changes_after(0, 9)));
        assert_eq!(read(&space, |reader| reader.last_sequence()).unwrap(), 5);
        assert_eq!(
            read(&space, |reader| reader.changes_after(number, 9)).unwrap().len() as u64,
            5 - number
        );
        assert_eq!(read(&space, |reader| reader.changes_after(5, 9)).unwrap(), []);
    }
    let (store, space) = large();
    for (row, _) in &rows {
        delete(&*store, row);
    }
    corrupted(read(&space, |reader| reader.changes_after(0, 9)));
    // The sequence of the next change continues.
    let target = InsertTarget { document: DocumentId::of_root(id(7)), parent: id(7), after: None };
    let subtrees = Subtrees(vec![node(0, 9, BlockData::text("nine"))]);
    let edit = Edit::Insert { target, subtrees };
    let written = space.write(relaxed(), &stamp(9), |open| open.apply(vec![edit.clone()])).unwrap();
    assert_eq!(written.change.unwrap().sequence, 6);
    delete(&*store, b"\x01totals");
    corrupted(read(&space, |reader| reader.last_sequence()));
}

/// Each change decodes as written, and damage is detected.
#[test]
fn a_compressed_log_decodes_to_the_same_changes() {
    let all = |space: &SpaceStore| read(space, |reader| reader.changes_after(0, 9));
    let (store, space) = large();
    let (before, plain) = (all(&space).unwrap(), find(&*store, &[CHANGES]));
    space.compact(&LogRetention::default()).unwrap();
    let packed = find(&*store, &[CHANGES]);
    let bytes = |rows: &[Row]| rows.iter().map(|(_, value)| value.len()).sum::<usize>();
    assert!(bytes(&packed) < bytes(&plain) / 2, "{} of {}", bytes(&packed), bytes(&plain));
    assert!(packed.len() < plain.len());
    assert_eq!(all(&space).unwrap(), before);
    let documents = before
        .iter()
        .map(|change| (change.position(), change.documents.clone()))
        .collect::<Vec<_>>();
    assert_eq!(read(&space, |reader| reader.changed_after(0, 9)).unwrap(), documents);
    assert!(space.check(&mut |_| ControlFlow::Continue(())).unwrap().is_clean());
    space.compact(&LogRetention::default()).unwrap();
    assert_eq!(find(&*store, &[CHANGES]), packed, "once is enough");

    let body = |value: &[u8]| value[1..value.len() - 8].to_vec();
    for (key, value) in packed.iter().filter(|(_, value)| value[1] & 0x80 != 0) {
        for at in 0..40 {
            let mut body = body(value);
            let at = at * 7 % body.len();
            body[at] ^= 0x5A;
            put(&*store, key, &rows::seal(key, &body));
            // What it says then may be read, too.
            if let Err(error) = all(&space) {
                assert!(
                    matches!(error.kind(), ErrorKind::Corrupted | ErrorKind::NewerFormat),
                    "{error}"
                );
            }
        }
        let mut longer = body(value);
        // After the number of parts and the token: the length before compression.
        longer[12..16].copy_from_slice(&u32::MAX.to_be_bytes());
        put(&*store, key, &rows::seal(key, &longer));
        corrupted(all(&space));
        put(&*store, key, value);
    }
    assert_eq!(all(&space).unwrap(), before);
}

#[test]
fn folders_without_some_of_them_are_damaged() {
    let (store, space) = large();
    assert_eq!(read(&space, |reader| reader.folders()).unwrap().len(), 2);
    delete(&*store, &key(FOLDERS, &[2], &[]));
    corrupted(read(&space, |reader| reader.folders()));
    delete(&*store, &key(FOLDERS, &[1], &[]));
    corrupted(read(&space, |reader| reader.folders()));
}

#[test]
fn documents_that_an_index_names_are_not_left_out() {
    let all = DocumentQuery::default();
    let ordered = |order| DocumentQuery { order, ..all.clone() };
    let daily = DocumentQuery { within: Within::Location(Location::DailyNotes), ..all.clone() };
    let named = [ordered(IndexOrder::Created), ordered(IndexOrder::Day), daily];
    let (store, space) = full();
    let listed = |query: &DocumentQuery| {
        read(&space, |reader| reader.find_documents(query, None, 9)).map(|page| page.documents)
    };
    assert!(named.iter().all(|query| !listed(query).unwrap().is_empty()));
    let latest = ordered(IndexOrder::Modified);
    let before = listed(&latest).unwrap();
    delete(&*store, &key(DOCUMENTS, &[10], &[]));
    for query in &named {
        corrupted(listed(query));
    }
    // The rows of this index hold the documents.
    assert_eq!(listed(&latest).unwrap(), before);
    corrupted(read(&space, |reader| reader.note_of(day())));
    delete(&*store, &key(DOCUMENTS, &[16], &[]));
    corrupted(read(&space, |reader| reader.inbox()));
    let (store, space) = full();
    let (row, _) = find(&*store, &[LOCATION_COUNTS]).remove(0);
    put(&*store, &row, b"?");
    corrupted(read(&space, |reader| reader.location_count(Location::Unsorted)));
}

#[test]
fn tasks_that_an_index_names_are_not_left_out() {
    let document = DocumentId::of_root(id(10));
    for damaged in
        [key(PLACES, &[11], &[]), key(PLACES, &[10], &[]), key(BLOCKS, &[10, 10], &FIRST)]
    {
        let (store, space) = full();
        assert_eq!(
            read(&space, |reader| reader.tasks_of(document, false)).unwrap(),
            [id(11), id(12)]
        );
        delete(&*store, &damaged);
        // Reopened, so that locations are not cached.
        let space = SpaceStore::open(store, Extractor::of_edges(extract), naive::ids()).unwrap();
        corrupted(read(&space, |reader| reader.tasks_of(document, false)));
    }
    // A block that is its own ancestor is unreachable.
    let (store, space) = full();
    let place = key(PLACES, &[11], &[]);
    let (_, value) = find(&*store, &place).remove(0);
    let body: Vec<u8> = rows::body(&place, &value).unwrap();
    let parent = body.windows(16).rposition(|part| part == [10; 16]).unwrap();
    let body = [&body[..parent], &[11; 16], &body[parent + 16..]].concat();
    put(&*store, &place, &rows::seal(&place, &body));
    copy(&*store, &key(BLOCKS, &[10, 10], &FIRST), &key(BLOCKS, &[10, 11], &FIRST));
    corrupted(read(&space, |reader| reader.tasks_of(document, false)));
}
