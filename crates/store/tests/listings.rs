//! Listings return what their index contains, in order, in pages of any size and in both
//! directions.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test"
)]

use std::ops::ControlFlow;

use leafbase_model::{
    BlockData, BlockId, BlockRecord, Day, DocumentId, DocumentRecord, Edit, ErrorKind, FolderId,
    FolderRecord, InsertTarget, Location, SubtreeNode, Subtrees, Timestamp,
};
use leafbase_store::{
    BackLink, DocumentQuery, EdgeEnd, EdgeKind, IndexOrder, PageCursor, SpaceStore, Span, Within,
};

mod naive;

use naive::{memory_space, relaxed, stamp};

fn time(number: u8) -> Timestamp {
    Timestamp::from_millis(i64::from(number) * 1_000 - 20_000)
}

/// Documents 1 to 40: every fourth a daily note, the others in folder 1, in the trash, or unsorted.
fn space() -> SpaceStore {
    let (_, space) = memory_space();
    let folder = FolderId::from_bytes([1; 16]);
    let mut edits = vec![Edit::CreateFolder(FolderRecord {
        id: folder,
        name: "A".to_owned(),
        parent: None,
        rev: 1,
    })];
    for number in 1..=40_u8 {
        let (location, day) = match number % 4 {
            0 => (Location::DailyNotes, Some(Day::from_epoch_days(i64::from(number) - 20))),
            1 => (Location::Folder(folder), None),
            2 => (Location::Trash, None),
            _ => (Location::Unsorted, None),
        };
        let id = BlockId::from_bytes([number; 16]);
        let record = DocumentRecord {
            id: DocumentId::of_root(id),
            location,
            day,
            created_at: time(number),
            // The order of the modifications is reversed.
            modified_at: time(41 - number),
            rev: 1,
        };
        let root = BlockRecord {
            id,
            rev: 1,
            created: stamp(1),
            modified: stamp(1),
            data: BlockData::page(if number % 3 == 0 { "d:2026-03-01" } else { "Title" }),
        };
        edits.push(Edit::CreateDocument { record, subtrees: Subtrees::one(root) });
    }
    space.write(relaxed(), &stamp(1), |open| open.apply(edits.clone())).unwrap();
    space
}

fn ids(space: &SpaceStore, query: &DocumentQuery, page: usize) -> Vec<u8> {
    let (mut found, mut cursor): (Vec<u8>, Option<PageCursor>) = (vec![], None);
    loop {
        let snapshot = space.snapshot().unwrap();
        let part = snapshot.reader().find_documents(query, cursor.as_ref(), page).unwrap();
        assert!(part.documents.len() <= page);
        found.extend(part.documents.iter().map(|row| row.record.id.to_bytes()[0]));
        let Some(next) = part.next else { return found };
        assert_eq!(part.documents.len(), page);
        cursor = Some(PageCursor::from_bytes(next.as_bytes()));
    }
}

fn span<T>(from: Option<T>, to: Option<T>) -> Span<T> {
    Span { from, to }
}

fn at(location: Location) -> DocumentQuery {
    DocumentQuery { within: Within::Location(location), ..DocumentQuery::default() }
}

fn created(from: Option<Timestamp>, to: Option<Timestamp>) -> DocumentQuery {
    DocumentQuery {
        created: span(from, to),
        order: IndexOrder::Created,
        ..DocumentQuery::default()
    }
}

fn modified(from: Option<Timestamp>, to: Option<Timestamp>) -> DocumentQuery {
    DocumentQuery {
        modified: span(from, to),
        order: IndexOrder::Modified,
        ..DocumentQuery::default()
    }
}

fn days(from: Option<Day>, to: Option<Day>) -> DocumentQuery {
    DocumentQuery { day: span(from, to), order: IndexOrder::Day, ..DocumentQuery::default() }
}

#[test]
fn listings_are_ranges_in_both_directions_and_any_pages() {
    let space = space();
    let all: Vec<u8> = (1..=40).collect();
    let some = |keep: fn(u8) -> bool| {
        all.iter().copied().filter(|number| keep(*number)).collect::<Vec<_>>()
    };
    let day = |number: i64| Some(Day::from_epoch_days(number - 20));
    let folder = |number| FolderId::from_bytes([number; 16]);
    let folders = |folders: &[u8]| DocumentQuery {
        within: Within::Folders(folders.iter().copied().map(folder).collect()),
        ..DocumentQuery::default()
    };
    let cases: Vec<(DocumentQuery, Vec<u8>)> = vec![
        (DocumentQuery::default(), all.clone()),
        (at(Location::Unsorted), some(|number| number % 4 == 3)),
        (at(Location::DailyNotes), some(|number| number % 4 == 0)),
        (at(Location::Folder(folder(1))), some(|number| number % 4 == 1)),
        (at(Location::Trash), some(|number| number % 4 == 2)),
        (at(Location::Templates), vec![]),
        (at(Location::Folder(folder(2))), vec![]),
        (folders(&[]), vec![]),
        (folders(&[1]), some(|number| number % 4 == 1)),
        (folders(&[2, 1, 3, 1]), some(|number| number % 4 == 1)),
        (created(None, None), all.clone()),
        (created(Some(time(5)), Some(time(25))), (5..=25).collect()),
        (created(Some(time(39)), None), vec![39, 40]),
        (created(Some(time(9)), Some(time(8))), vec![]),
        (modified(None, Some(time(3))), vec![40, 39, 38]),
        (days(None, None), some(|number| number % 4 == 0)),
        (days(day(9), day(20)), vec![12, 16, 20]),
        (
            DocumentQuery { created: span(Some(time(30)), None), ..at(Location::Trash) },
            vec![30, 34, 38],
        ),
        (
            DocumentQuery { order: IndexOrder::Modified, ..folders(&[1]) },
            (1..=37).rev().step_by(4).collect(),
        ),
        (
            DocumentQuery { order: IndexOrder::Modified, ..at(Location::Trash) },
            (2..=38).rev().step_by(4).collect(),
        ),
        (
            DocumentQuery { order: IndexOrder::Created, ..folders(&[3, 1]) },
            (1..=37).step_by(4).collect(),
        ),
        (
            DocumentQuery {
                within: Within::Location(Location::Trash),
                ..created(Some(time(30)), None)
            },
            vec![30, 34, 38],
        ),
        (
            DocumentQuery {
                within: folders(&[1]).within,
                ..modified(Some(time(8)), Some(time(16)))
            },
            vec![33, 29, 25],
        ),
        (DocumentQuery { order: IndexOrder::Modified, ..at(Location::Inbox) }, vec![]),
        (DocumentQuery { day: span(day(30), None), ..DocumentQuery::default() }, vec![32, 36, 40]),
    ];
    for (query, expected) in cases {
        for page in [1, 2, 3, 7, 100] {
            assert_eq!(ids(&space, &query, page), expected, "{query:?} {page}");
            let query = DocumentQuery { descending: true, ..query.clone() };
            let backwards: Vec<u8> = expected.iter().rev().copied().collect();
            assert_eq!(ids(&space, &query, page), backwards, "{query:?} {page}");
        }
    }
}

#[test]
fn a_cursor_of_another_query_is_refused() {
    let space = space();
    let snapshot = space.snapshot().unwrap();
    let queries = [
        DocumentQuery::default(),
        DocumentQuery { descending: true, ..DocumentQuery::default() },
        at(Location::Unsorted),
        at(Location::Trash),
        DocumentQuery {
            within: Within::Folders(vec![FolderId::from_bytes([1; 16])]),
            ..DocumentQuery::default()
        },
        at(Location::Folder(FolderId::from_bytes([1; 16]))),
        created(None, None),
        created(Some(time(1)), None),
        created(None, Some(time(40))),
        modified(None, None),
        DocumentQuery { order: IndexOrder::Modified, ..at(Location::Trash) },
        DocumentQuery { order: IndexOrder::Created, ..at(Location::Trash) },
        days(None, None),
    ];
    let cursors = queries
        .clone()
        .map(|query| snapshot.reader().find_documents(&query, None, 1).unwrap().next.unwrap());
    for (asked, query) in queries.iter().enumerate() {
        for (given, cursor) in cursors.iter().enumerate() {
            let found = snapshot.reader().find_documents(query, Some(cursor), 1);
            assert_eq!(
                found.is_ok(),
                asked == given,
                "{query:?} with the cursor of {:?}",
                queries[given]
            );
            if let Err(error) = found {
                assert_eq!((error.kind(), error.path()), (ErrorKind::Validation, "cursor"));
            }
        }
        for bytes in [&b""[..], b"123456789", &cursors[asked].as_bytes()[..20], &[0x20; 26]] {
            let found =
                snapshot.reader().find_documents(query, Some(&PageCursor::from_bytes(bytes)), 1);
            assert_eq!(found.unwrap_err().kind(), ErrorKind::Validation);
        }
    }
}

#[test]
fn a_write_moves_its_documents_in_the_index() {
    let space = space();
    let id = DocumentId::of_root(BlockId::from_bytes([30; 16]));
    let written = space.write(relaxed(), &stamp(90_000), |open| {
        let before = open.reader()?.document(id)?.unwrap();
        let after = DocumentRecord { location: Location::Unsorted, ..before.clone() };
        open.apply(vec![Edit::UpdateDocument { before, after }])
    });
    let change = written.unwrap().change.unwrap();
    assert_eq!((change.sequence, change.documents), (2, vec![id]));
    assert_eq!(ids(&space, &DocumentQuery { descending: true, ..modified(None, None) }, 1)[0], 30);
    assert!(!ids(&space, &at(Location::Trash), 9).contains(&30));
    for order in [IndexOrder::Created, IndexOrder::Modified] {
        assert!(!ids(&space, &DocumentQuery { order, ..at(Location::Trash) }, 9).contains(&30));
        assert!(ids(&space, &DocumentQuery { order, ..at(Location::Unsorted) }, 9).contains(&30));
    }
    let read = space.snapshot().unwrap().reader().document(id).unwrap().unwrap();
    assert_eq!(read.modified_at, Timestamp::from_millis(90_000));
    // A clock that goes back does not take the modification time back.
    space
        .write(relaxed(), &stamp(80_000), |open| {
            open.apply(vec![Edit::UpdateDocument { before: read.clone(), after: read.clone() }])
        })
        .unwrap();
    let read = space.snapshot().unwrap().reader().document(id).unwrap().unwrap();
    assert_eq!(read.modified_at, Timestamp::from_millis(90_000));
}

#[test]
fn back_links_are_paginated() {
    let space = space();
    let snapshot = space.snapshot().unwrap();
    let day = EdgeEnd::Day("2026-03-01".parse().unwrap());
    let all = snapshot.reader().edges_to(day, None, 100).unwrap();
    assert_eq!(all.len(), 13);
    let (mut paged, mut after): (Vec<BackLink>, _) = (vec![], None);
    while let [.., last] = *snapshot.reader().edges_to(day, after, 4).unwrap() {
        paged.extend(snapshot.reader().edges_to(day, after, 4).unwrap());
        after = Some(last);
    }
    assert_eq!(paged, all);
    assert!(all.iter().all(|link| link.kind == EdgeKind::Embed));
}

#[test]
fn a_write_that_fails_or_does_nothing_leaves_no_trace() {
    let space = space();
    let nothing = space.write(relaxed(), &stamp(5), |_| Ok(7)).unwrap();
    assert_eq!((nothing.value, nothing.change), (7, None));
    let id = DocumentId::of_root(BlockId::from_bytes([30; 16]));
    let missing = Edit::Update {
        document: id,
        before: Box::new(BlockRecord {
            id: BlockId::from_bytes([99; 16]),
            rev: 1,
            created: stamp(1),
            modified: stamp(1),
            data: BlockData::text("a"),
        }),
        after: Box::new(BlockRecord {
            id: BlockId::from_bytes([99; 16]),
            rev: 2,
            created: stamp(1),
            modified: stamp(1),
            data: BlockData::text("b"),
        }),
    };
    // A caller that ignores the error of an edit cannot commit.
    let swallowed = space.write(relaxed(), &stamp(5), |open| {
        let before = open.reader()?.document(id)?.unwrap();
        let after = DocumentRecord { location: Location::Templates, ..before.clone() };
        open.apply(vec![Edit::UpdateDocument { before, after }])?;
        assert_eq!(open.apply(vec![missing.clone()]).unwrap_err().kind(), ErrorKind::NotFound);
        Ok(())
    });
    assert_eq!(swallowed.unwrap_err().kind(), ErrorKind::Conflict);
    let snapshot = space.snapshot().unwrap();
    assert_eq!(snapshot.reader().last_sequence().unwrap(), 1);
    assert_eq!(snapshot.reader().document(id).unwrap().unwrap().location, Location::Trash);
    assert_eq!(snapshot.reader().changes_after(1, 9).unwrap(), []);
    for beyond in [2, u64::MAX] {
        let error = snapshot.reader().changes_after(beyond, 9).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::HistoryGone);
    }
}

#[test]
fn moves_that_make_no_tree_are_refused() {
    let (_, space) = memory_space();
    let id = |number: u8| BlockId::from_bytes([number; 16]);
    let node = |depth, number: u8| SubtreeNode {
        depth,
        block: BlockRecord {
            id: id(number),
            rev: 1,
            created: stamp(1),
            modified: stamp(1),
            data: BlockData::page("Page"),
        },
    };
    let document = DocumentId::of_root(id(1));
    let record = DocumentRecord {
        id: document,
        location: Location::Unsorted,
        day: None,
        created_at: time(1),
        modified_at: time(1),
        rev: 1,
    };
    let subtrees = Subtrees(vec![node(0, 1), node(1, 2), node(2, 3), node(1, 4)]);
    let twice = Subtrees(vec![node(0, 9), node(1, 8), node(1, 8)]);
    let apply = |edit: Edit| {
        space.write(relaxed(), &stamp(2), |open| open.apply(vec![edit.clone()])).map(drop)
    };
    apply(Edit::CreateDocument { record: record.clone(), subtrees: subtrees.clone() }).unwrap();
    let target = |parent: u8, after: Option<u8>| InsertTarget {
        document,
        parent: id(parent),
        after: after.map(id),
    };
    let refused = |kind: ErrorKind, edit: Edit| {
        assert_eq!(apply(edit.clone()).unwrap_err().kind(), kind, "{edit:?}");
    };
    let moved = |block: u8, from, to| Edit::Move { block: id(block), from, to };
    refused(ErrorKind::RuleViolation, moved(2, target(1, None), target(3, None)));
    refused(ErrorKind::RuleViolation, moved(2, target(1, None), target(2, Some(3))));
    refused(ErrorKind::Validation, moved(2, target(1, None), target(1, Some(2))));
    refused(ErrorKind::Validation, moved(1, target(0, None), target(2, None)));
    refused(ErrorKind::Conflict, moved(4, target(1, None), target(2, None)));
    refused(ErrorKind::Conflict, moved(4, target(1, Some(2)), target(2, Some(2))));
    refused(ErrorKind::NotFound, moved(4, target(1, Some(2)), target(7, None)));
    refused(ErrorKind::NotFound, moved(7, target(1, Some(2)), target(2, None)));
    refused(ErrorKind::Conflict, Edit::CreateDocument { record, subtrees });
    refused(
        ErrorKind::Conflict,
        Edit::Insert { target: target(4, None), subtrees: Subtrees(vec![node(0, 3)]) },
    );
    refused(ErrorKind::Conflict, Edit::Insert { target: target(4, None), subtrees: twice });
    refused(
        ErrorKind::Validation,
        Edit::Insert { target: target(4, None), subtrees: Subtrees(vec![node(1, 7)]) },
    );
    // A page without what is in it.
    refused(
        ErrorKind::Conflict,
        Edit::Remove { target: target(1, None), subtrees: Subtrees(vec![node(0, 2)]) },
    );
    // And with one that is not in it.
    let extra = Subtrees(vec![node(0, 2), node(1, 3), node(1, 7)]);
    refused(ErrorKind::Conflict, Edit::Remove { target: target(1, None), subtrees: extra });
    let report = space.check(&mut |_| ControlFlow::Continue(())).unwrap();
    assert!(report.is_clean() && report.changes == 1, "{report:?}");
}

#[test]
fn ids_are_found_between_two() {
    let space = space();
    let snapshot = space.snapshot().unwrap();
    let reader = snapshot.reader();
    for (first, last, limit) in
        [(0, 50, 99), (7, 12, 99), (7, 12, 3), (12, 7, 99), (41, 50, 9), (3, 3, 0)]
    {
        let expected: Vec<u8> =
            (1..=40).filter(|id| (first..=last).contains(id)).take(limit).collect();
        let [from, to] = [first, last].map(|byte| BlockId::from_bytes([byte; 16]));
        let blocks = reader.blocks_between(from, to, limit).unwrap();
        let blocks: Vec<u8> = blocks.iter().map(|id| id.to_bytes()[0]).collect();
        assert_eq!(blocks, expected, "{first} to {last}");
        let [from, to] = [from, to].map(DocumentId::of_root);
        let documents = reader.documents_between(from, to, limit).unwrap();
        let documents: Vec<u8> = documents.iter().map(|id| id.to_bytes()[0]).collect();
        assert_eq!(documents, expected, "{first} to {last}");
    }
}
