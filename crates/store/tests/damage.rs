//! Each invariant, broken by raw rows: the check reports it. And damage of any kind is an error,
//! never a panic, and does not spread.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test"
)]

use std::ops::ControlFlow;
use std::sync::Arc;

use leafbase_model::{
    BlockData, DocumentId, Edit, ErrorKind, InsertTarget, Location, Result, SubtreeNode, Subtrees,
};
use leafbase_store::kv::{Snapshot, Store, Transaction, WriteOptions};
use leafbase_store::{
    DocumentQuery, Extractor, IndexOrder, IndexedColumn, Invariant, QuantizedVector, SpaceStore,
    Span, StoredEmbedding, Within, rows,
};
use proptest::prelude::*;

mod broken;
mod naive;

use broken::*;
use naive::{extract, relaxed, stamp};

/// Breaks an invariant, and verifies that the check reports it.
fn breaks(invariant: Invariant, damage: impl Fn(&dyn Store)) {
    let (store, space) = full();
    assert!(check(&space).is_clean());
    damage(&*store);
    let report = check(&space);
    assert!(
        report.problems.iter().any(|problem| problem.invariant == invariant),
        "{invariant:?} is not among {report:#?}"
    );
}

#[test]
fn broken_records_are_named() {
    breaks(Invariant::Record, |store| put(store, &[0x90, 1], b"?"));
    breaks(Invariant::Record, |store| put(store, &[0xff; 30], b"?"));
    breaks(Invariant::Record, |store| put(store, &key(0x50, &[1], &[]), b"?"));
    breaks(Invariant::Record, |store| put(store, &key(PLACES, &[1], &[0]), b"?"));
    breaks(Invariant::Record, |store| delete(store, b"\x01space"));
    breaks(Invariant::Record, |store| delete(store, b"\x01totals"));
    breaks(Invariant::Record, |store| {
        let [first, second] =
            [2, 3].map(|number| find(store, &key(PLACES, &[number], &[])).remove(0));
        put(store, &first.0, &second.1);
        put(store, &second.0, &first.1);
    });
    let (store, _) = full();
    for (key, value) in dump(&*store) {
        let (store, space) = full();
        let mut flipped = value.clone();
        flipped[value.len() / 2] ^= 4;
        put(&*store, &key, &flipped);
        let report = check(&space);
        assert!(
            report.problems.iter().any(|problem| problem.invariant == Invariant::Record),
            "{key:02x?} {report:#?}"
        );
    }
}

#[test]
fn broken_runs_are_named() {
    breaks(Invariant::Record, |store| {
        let run = key(BLOCKS, &[1, 9], &FIRST);
        put(store, &run, &rows::seal(&run, &[0, 0]));
    });
    breaks(Invariant::Run, |store| {
        let run = key(BLOCKS, &[7, 7], &FIRST);
        let text = "x".repeat(5_000);
        // Two texts with a type, a revision, a time, an author and a text of 5,000 bytes.
        let mut block = vec![0x95, 0, 1, 1, 0xc0, 0xda, 0x13, 0x88];
        block.extend_from_slice(text.as_bytes());
        let end = u16::try_from(block.len()).unwrap().to_be_bytes();
        let ids = [[8; 16], [9; 16]].concat();
        let body = [&[0, 2], &*ids, &end, &block, &block].concat();
        put(store, &run, &rows::seal(&run, &body));
    });
}

#[test]
fn broken_trees_are_named() {
    breaks(Invariant::SingleLocation, |store| {
        copy(store, &key(BLOCKS, &[1, 4], &FIRST), &key(BLOCKS, &[1, 4], &[0x90, 0, 0, 0]));
    });
    breaks(Invariant::Root, |store| delete(store, &key(BLOCKS, &[1, 0], &FIRST)));
    breaks(Invariant::Root, |store| {
        copy(store, &key(BLOCKS, &[1, 4], &FIRST), &key(BLOCKS, &[1, 0], &[0x90, 0, 0, 0]));
    });
    breaks(Invariant::Parent, |store| {
        rekey(store, &key(BLOCKS, &[1, 4], &FIRST), &key(BLOCKS, &[1, 9], &FIRST));
    });
    breaks(Invariant::Parent, |store| {
        rekey(store, &key(BLOCKS, &[1, 4], &FIRST), &key(BLOCKS, &[7, 4], &FIRST));
    });
    breaks(Invariant::ParentType, |store| {
        rekey(store, &key(BLOCKS, &[1, 4], &FIRST), &key(BLOCKS, &[1, 6], &FIRST));
    });
    breaks(Invariant::Reach, |store| {
        rekey(store, &key(BLOCKS, &[1, 3], &FIRST), &key(BLOCKS, &[1, 4], &FIRST));
    });
}

#[test]
fn broken_locations_are_reported() {
    breaks(Invariant::BlockLocation, |store| delete(store, &key(PLACES, &[5], &[])));
    breaks(Invariant::BlockLocation, |store| {
        copy(store, &key(PLACES, &[5], &[]), &key(PLACES, &[9], &[]));
    });
    breaks(Invariant::BlockLocation, |store| {
        copy(store, &key(PLACES, &[5], &[]), &key(PLACES, &[2], &[]));
    });
    breaks(Invariant::BlockLocation, |store| {
        rekey(store, &key(BLOCKS, &[1, 4], &FIRST), &key(BLOCKS, &[1, 4], &[0x70, 0, 0, 0]));
    });
}

#[test]
fn broken_documents_are_named() {
    breaks(Invariant::Document, |store| delete(store, &key(DOCUMENTS, &[7], &[])));
    breaks(Invariant::Document, |store| {
        copy(store, &key(DOCUMENTS, &[7], &[]), &key(DOCUMENTS, &[9], &[]));
    });
    for tag in [0x21, 0x22, 0x23, 0x24, BY_LOCATION_MODIFIED, BY_LOCATION_CREATED, 0x28] {
        breaks(Invariant::DocumentIndex, |store| {
            let row = find(store, &[tag]).remove(0);
            delete(store, &row.0);
        });
    }
    breaks(Invariant::DocumentIndex, |store| {
        let mut row = find(store, &[BY_MODIFIED]).remove(0);
        row.0[8] ^= 1;
        put(store, &row.0, &rows::seal(&row.0, &[]));
    });
    // No document, and another one, under a key that is as it should be.
    for tag in [BY_MODIFIED, BY_LOCATION_MODIFIED] {
        breaks(Invariant::DocumentIndex, |store| {
            let row = find(store, &[tag]).remove(0).0;
            put(store, &row, &rows::seal(&row, &[]));
        });
        breaks(Invariant::DocumentIndex, |store| {
            let mut found = find(store, &[tag]);
            let ((row, _), (other, value)) = (found.remove(0), found.remove(0));
            put(store, &row, &rows::seal(&row, &rows::body(&other, &value).unwrap()));
        });
    }
    for tag in [BY_LOCATION_MODIFIED, BY_LOCATION_CREATED] {
        // At another time, and in another place.
        for (at, flipped) in [(25, 1), (1, 1)] {
            breaks(Invariant::DocumentIndex, |store| {
                let mut row = find(store, &[tag]).remove(0).0;
                row[at] ^= flipped;
                put(store, &row, &rows::seal(&row, &[]));
            });
        }
        breaks(Invariant::DocumentIndex, |store| {
            let (row, _) = find(store, &[tag]).remove(0);
            let of_inbox = [&[tag, 5][..], &[0; 16], &row[18..26], &[16; 16]].concat();
            put(store, &of_inbox, &rows::seal(&of_inbox, &[]));
        });
        breaks(Invariant::Record, |store| {
            put(store, &key(tag, &[1], &[]), &rows::seal(&key(tag, &[1], &[]), &[]));
        });
    }
    // The title and the last change, at the end of the row.
    for (invariant, wrong) in
        [(Invariant::Title, [0xa1, b'?', 1]), (Invariant::LastChange, [0xa1, b'?', 9])]
    {
        breaks(invariant, |store| {
            let document = key(DOCUMENTS, &[7], &[]);
            let mut body = rows::body(&document, &find(store, &document).remove(0).1).unwrap();
            let end = body.iter().rposition(|byte| *byte & 0xe0 == 0xa0).unwrap();
            body.truncate(end);
            body.extend_from_slice(&wrong);
            put(store, &document, &rows::seal(&document, &body));
        });
    }
    breaks(Invariant::BlockCount, |store| delete(store, &key(BLOCKS, &[1, 4], &FIRST)));
    breaks(Invariant::DailyNote, |store| {
        // Another document with the record of the note.
        let (row, _) = find(store, &[BY_DAY]).into_iter().find(|(row, _)| row[5] == 0).unwrap();
        copy(store, &[&[DOCUMENTS], &row[6..]].concat(), &key(DOCUMENTS, &[9], &[]));
    });
    breaks(Invariant::DocumentFolder, |store| {
        delete(store, &key(FOLDERS, &[1], &[]));
        delete(store, &key(FOLDER_CHILDREN, &[0, 1], &[]));
    });
}

#[test]
fn broken_folders_are_named() {
    breaks(Invariant::Folder, |store| delete(store, &key(FOLDERS, &[1], &[])));
    breaks(Invariant::Folder, |store| {
        delete(store, &key(FOLDERS, &[2], &[]));
        delete(store, &key(FOLDER_CHILDREN, &[1, 2], &[]));
    });
    breaks(Invariant::Folder, |store| {
        copy(store, &key(FOLDERS, &[2], &[]), &key(FOLDERS, &[1], &[]));
    });
    breaks(Invariant::FolderIndex, |store| delete(store, &key(FOLDER_CHILDREN, &[1, 2], &[])));
    breaks(Invariant::FolderIndex, |store| {
        copy(store, &key(FOLDER_CHILDREN, &[1, 2], &[]), &key(FOLDER_CHILDREN, &[2, 1], &[]));
    });
}

#[test]
fn broken_edges_are_named() {
    breaks(Invariant::Edge, |store| delete(store, &find(store, &[EDGES]).remove(0).0));
    breaks(Invariant::Edge, |store| {
        copy(store, &[EDGES], &key(EDGES, &[], &[&[0][..], &[3; 16], &[0], &[2; 16]].concat()));
    });
}

#[test]
fn broken_counts_and_inboxes_are_named() {
    breaks(Invariant::LocationCount, |store| {
        delete(store, &find(store, &[LOCATION_COUNTS]).remove(0).0);
    });
    breaks(Invariant::LocationCount, |store| {
        let (row, _) = find(store, &[LOCATION_COUNTS]).remove(0);
        put(store, &row, &rows::seal(&row, &[0x91, 9]));
    });
    breaks(Invariant::LocationCount, |store| {
        copy(store, &[LOCATION_COUNTS], &key(LOCATION_COUNTS, &[], &[1; 17]));
    });
    breaks(Invariant::Record, |store| {
        let (row, _) = find(store, &[LOCATION_COUNTS]).remove(0);
        put(store, &row, &rows::seal(&row, &[0x90]));
    });
    breaks(Invariant::Inbox, |store| {
        copy(store, &key(DOCUMENTS, &[16], &[]), &key(DOCUMENTS, &[7], &[]));
    });
}

#[test]
fn broken_tasks_are_named() {
    for tag in [TASKS, TASKS_BY_DAY, LOGBOOK] {
        breaks(Invariant::Task, |store| delete(store, &find(store, &[tag]).remove(0).0));
        // The same for a block that is not a task.
        breaks(Invariant::Task, |store| {
            let (row, _) = find(store, &[tag]).remove(0);
            let other = [&row[..row.len() - 16], &[5; 16]].concat();
            copy(store, &row, &other);
        });
    }
    let by_document = |document: u8, class: u8, block: u8| {
        key(TASKS, &[document], &[&[class][..], &[block; 16]].concat())
    };
    breaks(Invariant::Task, |store| rekey(store, &by_document(10, 0, 11), &by_document(7, 0, 11)));
    breaks(Invariant::Task, |store| {
        let row = by_document(10, 0, 11);
        put(store, &row, &rows::seal(&row, &[]));
    });
    for tag in [TASKS_BY_DAY, LOGBOOK] {
        // Of another document and block, and of none.
        for (invariant, body) in [(Invariant::Task, 0x90), (Invariant::Record, 0xff)] {
            breaks(invariant, |store| {
                let (row, _) = find(store, &[tag]).remove(0);
                put(store, &row, &rows::seal(&row, &[body]));
            });
        }
    }
    // Of a document in the trash.
    breaks(Invariant::Task, |store| {
        let (row, _) = find(store, &[TASKS_BY_DAY]).remove(0);
        copy(store, &row, &[&row[..5], &[15; 16]].concat());
    });
    for (class, body) in [(0, &[1, 2, 3][..]), (1, &[]), (1, &[1, 2, 3, 4]), (2, &[])] {
        breaks(Invariant::Record, |store| {
            let row = by_document(10, class, 11);
            put(store, &row, &rows::seal(&row, body));
        });
    }
}

#[test]
fn broken_tags_are_named() {
    let tagged = |document: u8, block: u8| {
        key(TAGGED_BLOCKS, &[document], &[&b"tag\0"[..], &[block; 16]].concat())
    };
    let document =
        |number: u8| key(DOCUMENTS_BY_TAG, &[], &[&b"tag\0"[..], &[number; 16]].concat());
    let count = key(TAG_COUNTS, &[], b"tag");
    for row in [tagged(10, 13), tagged(14, 18), document(10), document(14), count.clone()] {
        breaks(Invariant::Tag, |store| delete(store, &row));
    }
    breaks(Invariant::Tag, |store| rekey(store, &tagged(10, 13), &tagged(10, 12)));
    breaks(Invariant::Tag, |store| {
        put(store, &tagged(10, 13), &rows::seal(&tagged(10, 13), b"TAG"));
    });
    breaks(Invariant::Tag, |store| copy(store, &document(10), &document(7)));
    breaks(Invariant::Tag, |store| copy(store, &count, &key(TAG_COUNTS, &[], b"ta")));
    // The trashed document is not counted.
    breaks(Invariant::Tag, |store| put(store, &count, &rows::seal(&count, &[0x91, 2])));
    breaks(Invariant::Record, |store| {
        put(store, &tagged(10, 13), &rows::seal(&tagged(10, 13), &[0xff]));
    });
    breaks(Invariant::Record, |store| copy(store, &count, &key(TAG_COUNTS, &[], &[0xff])));
    breaks(Invariant::Record, |store| {
        copy(store, &document(10), &key(DOCUMENTS_BY_TAG, &[10], &[]));
    });
}

#[test]
fn broken_comments_and_files_are_named() {
    let comment = |document: u8, block: u8| key(COMMENTS, &[document, block, 1], &[]);
    breaks(Invariant::Comment, |store| rekey(store, &comment(10, 13), &comment(10, 9)));
    breaks(Invariant::Comment, |store| rekey(store, &comment(10, 13), &comment(7, 13)));
    // By its ID a comment is found on its block.
    let block_of = |comment: u8| key(COMMENT_BLOCKS, &[comment], &[]);
    breaks(Invariant::Comment, |store| delete(store, &block_of(1)));
    breaks(Invariant::Comment, |store| copy(store, &block_of(1), &block_of(3)));
    breaks(Invariant::Comment, |store| {
        let (key, value) = find(store, &block_of(1)).remove(0);
        let mut body = rows::body(&key, &value).unwrap();
        body[2..].fill(9);
        put(store, &key, &rows::seal(&key, &body));
    });
    let twice = key(COMMENTS, &[10, 9, 1], &[]);
    breaks(Invariant::Comment, |store| copy(store, &comment(10, 13), &twice));
    let chunk = |file: u8, number: u8| key(CHUNKS, &[file], &[0, 0, 0, number]);
    for number in 0..2 {
        breaks(Invariant::Asset, |store| delete(store, &chunk(1, number)));
    }
    breaks(Invariant::Asset, |store| copy(store, &chunk(1, 1), &chunk(1, 2)));
    breaks(Invariant::Asset, |store| copy(store, &chunk(1, 1), &chunk(1, 0)));
    breaks(Invariant::Asset, |store| put(store, &chunk(1, 1), &rows::seal(&chunk(1, 1), &[])));
    breaks(Invariant::Asset, |store| {
        // The record without its last field, the hash.
        let (key, value) = find(store, &key(ASSETS, &[1], &[])).remove(0);
        let mut body = rows::body(&key, &value).unwrap();
        body[0] -= 1;
        body.truncate(body.len() - 34);
        put(store, &key, &rows::seal(&key, &body));
    });
    let other_bytes = || rows::seal(&chunk(1, 1), &[9; 5]);
    breaks(Invariant::Asset, |store| put(store, &chunk(1, 1), &other_bytes()));
    breaks(Invariant::Asset, |store| delete(store, &key(UPLOADS, &[2], &[])));
    breaks(Invariant::Asset, |store| {
        copy(store, &key(UPLOADS, &[2], &[]), &key(UPLOADS, &[1], &[]));
    });
    breaks(Invariant::Asset, |store| copy(store, &key(ASSETS, &[1], &[]), &key(ASSETS, &[3], &[])));
}

#[test]
fn gaps_of_the_log_are_named() {
    let change =
        |sequence: u8, part: u8| key(CHANGES, &[], &[0, 0, 0, 0, 0, 0, 0, sequence, 0, 0, 0, part]);
    breaks(Invariant::ChangeLog, |store| delete(store, &change(1, 0)));
    breaks(Invariant::ChangeLog, |store| delete(store, &change(2, 0)));
    breaks(Invariant::ChangeLog, |store| delete(store, &change(4, 0)));
    breaks(Invariant::ChangeLog, |store| {
        // The first of two parts.
        let (key, value) = find(store, &change(4, 0)).remove(0);
        let mut body = rows::body(&key, &value).unwrap();
        body[3] = 2;
        put(store, &key, &rows::seal(&key, &body));
    });
}

#[test]
fn kept_replies_agree_with_their_index() {
    let (reply, by_time) = (key(0x90, &[1, 2], &[]), key(0x91, &[1, 2], &[0; 8]));
    let body = [&[0x92, 0, 0xc4, 0x20][..], &[7; 32]].concat();
    breaks(Invariant::Reply, |store| put(store, &reply, &rows::seal(&reply, &body)));
    breaks(Invariant::Reply, |store| put(store, &by_time, &rows::seal(&by_time, &[])));
}

#[test]
fn records_of_hosts_are_beside_documents() {
    let record = key(0xa0, &[99], b"name");
    breaks(Invariant::HostRecord, |store| put(store, &record, &rows::seal(&record, b"value")));
}

/// A vector of 2, and the key of its bundle.
fn embed(store: &dyn Store, space: &SpaceStore) -> Vec<u8> {
    let embedding = StoredEmbedding {
        document: DocumentId::of_root(id(1)),
        block: id(2),
        rev: 1,
        vector: QuantizedVector::nearest_to(&[1.0, -1.0]),
    };
    space.write(relaxed(), &stamp(9), |open| open.put_embedding("m", embedding.clone())).unwrap();
    find(store, &[0xa2]).remove(0).0
}

/// As [`breaks`], in a space with a vector.
fn breaks_vectors(damage: impl Fn(&dyn Store, &[u8])) {
    let (store, space) = full();
    let bundle = embed(&*store, &space);
    let report = check(&space);
    assert!(report.is_clean() && report.embeddings == 1, "{report:#?}");
    damage(&*store, &bundle);
    let report = check(&space);
    let mut problems = report.problems.iter();
    assert!(problems.any(|problem| problem.invariant == Invariant::Embedding), "{report:#?}");
}

#[test]
fn vectors_are_of_blocks_and_agree_with_their_models() {
    let at = |tag: u8, key: &[u8]| [&[tag], &key[1..]].concat();
    breaks_vectors(delete);
    breaks_vectors(|store, bundle| delete(store, &at(0xa3, bundle)));
    breaks_vectors(|store, _| delete(store, b"\xa1m"));
    breaks_vectors(|store, bundle| {
        let digest = at(0xa3, bundle);
        put(store, &digest, &rows::seal(&digest, &[7; 8]));
    });
    breaks_vectors(|store, _| copy(store, b"\xa1m", b"\xa1n"));
    // A vector of a block that does not exist, or is in another document.
    for (document, block) in [(1, 99), (7, 2)] {
        breaks_vectors(|store, bundle| {
            let (_, value) = find(store, bundle).remove(0);
            let mut body = rows::body(bundle, &value).unwrap();
            let target = [[document; 16], [block; 16]].concat();
            body[4..36].copy_from_slice(&target);
            let key = [&bundle[..3], &target[..]].concat();
            delete(store, bundle);
            put(store, &key, &rows::seal(&key, &body));
        });
    }
    let (store, space) = full();
    let bundle = embed(&*store, &space);
    for tag in [0xa1, 0xa2, 0xa3] {
        for (key, value) in find(&*store, &[tag]) {
            assert!(rows::read(&key, &value).is_ok());
            assert!(rows::read(&key, &rows::seal(&key, b"?")).is_err());
            assert!(rows::read(&key[..1], &value).is_err());
        }
    }
    // It goes with its block.
    space
        .write(relaxed(), &stamp(9), |open| {
            let (document, text) = (DocumentId::of_root(id(1)), open.reader()?.block(id(2))?);
            let target = InsertTarget { document, parent: id(1), after: None };
            let subtrees = Subtrees(vec![SubtreeNode { depth: 0, block: text.unwrap() }]);
            open.apply(vec![Edit::Remove { target, subtrees }])
        })
        .unwrap();
    assert!(find(&*store, &bundle).is_empty() && find(&*store, &[0xa1]).is_empty());
    assert!(check(&space).is_clean());
}

#[derive(Debug)]
struct Unsound(Arc<dyn Store>);

impl Store for Unsound {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        self.0.snapshot()
    }
    fn write(
        &self,
        options: WriteOptions,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        self.0.write(options, f)
    }
    fn flush(&self) -> Result<()> {
        self.0.flush()
    }
    fn compact(&self) -> Result<()> {
        self.0.compact()
    }
    fn verify(&self) -> Result<bool> {
        Ok(false)
    }
    fn bytes(&self) -> Result<u64> {
        self.0.bytes()
    }
}

#[test]
fn an_engine_that_is_not_whole_is_named() {
    let (store, _) = space();
    let space =
        SpaceStore::open(Arc::new(Unsound(store)), Extractor::of_edges(extract), naive::ids())
            .unwrap();
    assert_eq!(check(&space).problems[0].invariant, Invariant::Engine);
}

#[test]
fn damage_stays_where_it_is() {
    let (store, space) = space();
    let (run, mut value) = find(&*store, &key(BLOCKS, &[1, 4], &FIRST)).remove(0);
    value[30] ^= 1;
    put(&*store, &run, &value);
    let snapshot = space.snapshot().unwrap();
    let reader = snapshot.reader();
    let error = reader.subtree(id(1), None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupted);
    assert!(error.message().contains("blocks 0101"), "{error}");
    assert_eq!(reader.block(id(5)).unwrap_err().kind(), ErrorKind::Corrupted);
    assert_eq!(reader.subtree(id(7), None).unwrap().0.len(), 2);
    assert_eq!(reader.subtree(id(1), Some(1)).unwrap().0.len(), 4);
    assert_eq!(
        reader.find_documents(&DocumentQuery::default(), None, 9).unwrap().documents.len(),
        2
    );
    // A write that needs it fails and changes nothing; other writes succeed.
    let erase = space.write(relaxed(), &stamp(9), |open| {
        let subtrees = Subtrees(vec![node(0, 1, BlockData::page("One"))]);
        let record = open.reader()?.document(DocumentId::of_root(id(1)))?.unwrap();
        open.apply(vec![Edit::EraseDocument { record, subtrees }])
    });
    assert!(erase.is_err());
    assert_eq!(
        check(&space)
            .problems
            .iter()
            .filter(|problem| problem.invariant == Invariant::Record)
            .count(),
        1
    );
}

#[test]
fn other_stores_and_later_versions_are_refused_and_left_alone() {
    let open = |store: &Arc<dyn Store>| {
        SpaceStore::open(Arc::clone(store), Extractor::of_edges(extract), naive::ids())
            .unwrap_err()
            .kind()
    };
    let empty: Arc<dyn Store> = Arc::new(leafbase_store::kv::MemoryStore::new());
    assert_eq!(open(&empty), ErrorKind::NotASpace);
    let (store, _) = space();
    let format = b"\x01format";
    put(&*store, format, &rows::seal(format, &[0x93, 9, 2, 7]));
    let before = dump(&*store);
    assert_eq!(open(&store), ErrorKind::NewerFormat);
    assert!(
        SpaceStore::create(
            Arc::clone(&store),
            Extractor::of_edges(extract),
            naive::ids(),
            &naive::meta()
        )
        .is_err()
    );
    assert_eq!(dump(&*store), before);
    // A later version that this one may still read.
    put(&*store, format, &rows::seal(format, &[0x93, 9, 1, 7]));
    assert!(SpaceStore::open(store, Extractor::of_edges(extract), naive::ids()).is_ok());
}

#[test]
fn a_later_version_is_distinguished_from_corruption() {
    let (store, space) = space();
    let document = key(DOCUMENTS, &[7], &[]);
    let (_, value) = find(&*store, &document).remove(0);
    let mut body = rows::body(&document, &value).unwrap();
    assert_eq!(body[0], 0x99, "nine fields");
    body[0] = 0x9a;
    body.push(7);
    put(&*store, &document, &rows::seal(&document, &body));
    let error =
        space.snapshot().unwrap().reader().document(DocumentId::of_root(id(7))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NewerFormat);
    assert!(check(&space).problems.iter().any(|problem| problem.invariant == Invariant::Record));
}

/// Of all keyspaces.
const TAGS: [u8; 30] = [
    1, 0x10, 0x11, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0x30, 0x31, 0x40, 0x41,
    0x42, 0x43, 0x50, 0x51, 0x52, 0x60, 0x61, 0x62, 0x63, 0x64, 0x70, 0x71, 0x72, 0x80,
];

#[test]
fn rows_of_every_keyspace_are_tried() {
    let mut tags: Vec<u8> = all_rows().iter().map(|(key, _)| key[0]).collect();
    tags.dedup();
    assert_eq!(tags, TAGS);
}

fn all_rows() -> Vec<Row> {
    let (store, _) = full();
    dump(&*store)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Whatever the bytes are: a record, or an error of two kinds.
    #[test]
    fn no_bytes_make_reading_panic(
        tag in prop::sample::select(TAGS.to_vec()),
        rest in prop::collection::vec(any::<u8>(), 0..40),
        body in prop::collection::vec(any::<u8>(), 0..200),
        sealed in any::<bool>(),
    ) {
        let key: Vec<u8> = std::iter::once(tag).chain(rest).collect();
        let value = if sealed { rows::seal(&key, &body) } else { body };
        if let Err(error) = rows::read(&key, &value) {
            prop_assert!(matches!(error.kind(), ErrorKind::Corrupted | ErrorKind::NewerFormat));
        }
    }

    /// Real records with changed bytes and a valid checksum.
    #[test]
    fn no_changed_bytes_make_reading_panic(
        row in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
        in_a_space in prop::bool::weighted(0.2),
    ) {
        let all = all_rows();
        let (key, value) = row.get(&all);
        let mut body = rows::body(key, value).unwrap();
        prop_assert!(rows::read(key, value).is_ok());
        for (at, byte) in changes {
            if !body.is_empty() {
                let at = at.index(body.len());
                body[at] = byte;
            }
        }
        if is_cut {
            body.truncate(cut.index(body.len() + 1));
        }
        let value = rows::seal(key, &body);
        if let Err(error) = rows::read(key, &value) {
            prop_assert!(matches!(error.kind(), ErrorKind::Corrupted | ErrorKind::NewerFormat));
        }
        if in_a_space {
            let (store, space) = full();
            put(&*store, key, &value);
            let _ = check(&space);
            let snapshot = space.snapshot().unwrap();
            for number in 0..28 {
                let _ = snapshot.reader().tasks_of(DocumentId::of_root(id(number)), false);
                let _ = snapshot.reader().comments_in(DocumentId::of_root(id(number)));
                let _ = snapshot.reader().subtree(id(number), None);
                let _ = snapshot.reader().subtree(id(number), Some(9));
                let _ = snapshot.reader().previous_sibling(id(number));
                let _ = snapshot.reader().subtree_without_items(id(number), None);
                let _ = snapshot.reader().items(id(number), None, &mut |_| Ok(ControlFlow::Continue(())));
                let _ = snapshot.reader().items(id(number), Some(id(23)), &mut |_| Ok(ControlFlow::Continue(())));
                let _ = snapshot.reader().item_rows(id(number), None, &mut |row| {
                    row.values().try_for_each(|held| held?.1.read().map(drop)).map(ControlFlow::Continue)
                });
                if let Ok(Some(index)) = snapshot.reader().item_index(id(number)) {
                    let _ = index.count(IndexedColumn::Title, &[], None, 9);
                }
            }
            let _ = snapshot.reader().changes_after(0, 9);
            for order in [IndexOrder::Id, IndexOrder::Created, IndexOrder::Modified, IndexOrder::Day] {
                for within in [Within::All, Within::Location(Location::Trash)] {
                    let query = DocumentQuery { within, order, ..DocumentQuery::default() };
                    let _ = snapshot.reader().find_documents(&query, None, 3);
                }
            }
            let _ = snapshot.reader().collections();
            let _ = snapshot.reader().inbox();
            let _ = snapshot.reader().note_of(day());
            let _ = snapshot.reader().location_count(Location::Trash);
            let _ = snapshot.reader().open_tasks(Span::default(), None, 3);
            let _ = snapshot.reader().logbook(None, 3);
        }
    }

    /// Without a new checksum every changed byte is detected.
    #[test]
    fn every_flipped_bit_is_noticed(row in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), bit in 0..8_u32) {
        let all = all_rows();
        let (key, value) = row.get(&all);
        let mut flipped = value.clone();
        flipped[at.index(value.len())] ^= 1_u8 << bit;
        prop_assert_eq!(rows::read(key, &flipped).unwrap_err().kind(), ErrorKind::Corrupted);
        let other = row.index(all.len() - 1);
        let (elsewhere, _) = &all[(other + 1) % all.len()];
        if elsewhere != key {
            prop_assert!(rows::read(elsewhere, value).is_err());
        }
    }
}
