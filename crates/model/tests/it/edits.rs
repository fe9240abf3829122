//! Elementary writes: their inverses, and forests.

use std::collections::BTreeSet;

use leafbase_model::{
    AssetId, AssetRecord, Author, BlockData, BlockRecord, Change, ChangeToken, Comment, CommentId,
    ContentProperty, DocumentId, DocumentRecord, Edit, ErrorKind, FileHash, FolderId, FolderRecord,
    InsertTarget, KeptScope, Location, Property, Relation, Result, Schema, SpaceSettings, Stamp,
    SubtreeNode, Subtrees, Timestamp,
};

use crate::support::{anna, day, id, instant};

fn record(number: u8) -> BlockRecord {
    let (created, modified) = (Stamp::default(), Stamp::default());
    BlockRecord {
        id: id(number),
        rev: 1,
        created,
        modified,
        data: BlockData::text(number.to_string()),
    }
}

fn subtrees(depths: &[u16]) -> Subtrees {
    let nodes = depths
        .iter()
        .zip(1_u8..)
        .map(|(depth, number)| SubtreeNode { depth: *depth, block: record(number) });
    Subtrees(nodes.collect())
}

fn every_edit() -> Vec<Edit> {
    let document = DocumentId::of_root(id(9));
    let target = |after| InsertTarget { document, parent: id(9), after };
    let kept = |location| DocumentRecord {
        id: document,
        location,
        day: (location == Location::DailyNotes).then(|| day("2026-03-01")),
        created_at: Timestamp::default(),
        modified_at: Timestamp::default(),
        rev: 1,
    };
    let folder =
        |name: &str| FolderRecord { id: FolderId::NIL, name: name.into(), parent: None, rev: 1 };
    let by_anna = || Stamp { at: instant("2026-03-01T09:30:00.000Z"), by: anna() };
    let comment = |number| Comment::new(CommentId::from_bytes([number; 16]), by_anna(), "Why?");
    let asset = |number| AssetRecord {
        id: AssetId::from_bytes([number; 16]),
        media_type: "image/png".into(),
        file_name: "map.png".into(),
        size: 1_234,
        sha256: Some(FileHash::from_bytes([number; 32])),
        created: Stamp { at: instant("2026-03-01T09:30:00.000Z"), by: anna() },
    };
    vec![
        Edit::Insert { target: target(None), subtrees: subtrees(&[0, 1]) },
        Edit::Remove { target: target(Some(id(1))), subtrees: subtrees(&[0]) },
        Edit::Update { document, before: Box::new(record(1)), after: Box::new(record(2)) },
        Edit::Move { block: id(1), from: target(None), to: target(Some(id(2))) },
        Edit::CreateDocument { record: kept(Location::Unsorted), subtrees: subtrees(&[0]) },
        Edit::EraseDocument { record: kept(Location::Trash), subtrees: subtrees(&[0]) },
        Edit::UpdateDocument { before: kept(Location::Unsorted), after: kept(Location::Trash) },
        Edit::CreateFolder(folder("a")),
        Edit::RemoveFolder(folder("b")),
        Edit::UpdateFolder { before: folder("a"), after: folder("b") },
        Edit::AddComment { document, block: id(1), comment: comment(1) },
        Edit::RemoveComment { document, block: id(1), comment: comment(2) },
        Edit::UpdateComment {
            document,
            block: id(1),
            before: comment(1),
            after: Comment {
                content: "When?".into(),
                edited: Some(by_anna()),
                resolved: Some(Stamp { at: by_anna().at, by: Author::ANONYMOUS }),
                ..comment(1)
            },
        },
        Edit::CreateAsset(asset(1)),
        Edit::EraseAsset(asset(2)),
        Edit::SetSchema {
            document,
            collection: id(3),
            before: None,
            after: Some(Box::new(schema())),
            quiet: false,
        },
        Edit::SetSchema {
            document,
            collection: id(3),
            before: Some(Box::new(schema())),
            after: None,
            quiet: true,
        },
        Edit::UpdateSpace { before: settings("Notes"), after: settings("Journal") },
        Edit::SetScope {
            before: None,
            after: Some(Box::new(KeptScope { name: "for Ben".into(), ..KeptScope::default() })),
        },
    ]
}

fn settings(name: &str) -> SpaceSettings {
    SpaceSettings { name: name.into(), zone: "Europe/Lisbon".into() }
}

fn schema() -> Schema {
    let books = Relation { owner: true, ..Relation::to(id(4)).with_inverse("authors").single() };
    Schema {
        key: "authors".into(),
        name: "Authors".into(),
        content: ContentProperty { key: "name".into(), name: "Name".into() },
        properties: vec![Property {
            key: "books".into(),
            name: "Books".into(),
            kind: books.into(),
        }],
    }
}

#[test]
fn every_type_of_edit_with_an_inverse_is_made() {
    let made: BTreeSet<&str> = every_edit().iter().map(Edit::type_name).collect();
    let expected = Edit::TYPE_NAMES.iter().filter(|name| **name != "purgeDocument");
    assert_eq!(made, expected.copied().collect());
}

#[test]
fn the_inverse_of_an_inverse_is_the_edit() {
    for edit in every_edit() {
        assert_ne!(edit.inverse().unwrap(), edit);
        assert_eq!(edit.inverse().unwrap().inverse().unwrap(), edit);
    }
}

#[test]
fn a_purge_and_what_it_redacts_have_no_inverse() {
    let document = DocumentId::of_root(id(9));
    let target = InsertTarget { document, parent: id(9), after: None };
    let block = || BlockRecord::redacted(id(1));
    let schema = || Some(Box::new(Schema::redacted()));
    let redacted = [
        Edit::Insert { target, subtrees: Subtrees::one(block()) },
        Edit::Remove { target, subtrees: Subtrees::one(block()) },
        Edit::Update { document, before: Box::new(block()), after: Box::new(block()) },
        Edit::AddComment {
            document,
            block: id(1),
            comment: Comment::redacted(CommentId::from_bytes([1; 16]), Timestamp::default()),
        },
        Edit::UpdateComment {
            document,
            block: id(1),
            before: Comment::redacted(CommentId::from_bytes([1; 16]), Timestamp::default()),
            after: Comment::redacted(CommentId::from_bytes([1; 16]), Timestamp::default()),
        },
        Edit::CreateAsset(AssetRecord::redacted(AssetId::from_bytes([1; 16]))),
        Edit::SetSchema {
            document,
            collection: id(1),
            before: None,
            after: schema(),
            quiet: false,
        },
    ];
    let purge = Edit::PurgeDocument { document, files: vec![AssetId::from_bytes([2; 16])] };
    assert!(redacted.iter().all(Edit::is_redacted) && !purge.is_redacted());
    assert!(!every_edit().iter().any(Edit::is_redacted));
    for edit in redacted.into_iter().chain([purge]) {
        assert_eq!(edit.inverse().unwrap_err().kind(), ErrorKind::HistoryGone);
        let json = serde_json::to_value(&edit).unwrap();
        assert_eq!(json.get("redacted").is_some(), edit.is_redacted(), "{json}");
        let change = Change {
            sequence: 17,
            first_sequence: 17,
            token: ChangeToken::from_u64(1),
            stamp: Stamp::default(),
            documents: vec![document],
            edits: vec![every_edit().remove(0), edit],
        };
        let error = change.inverse().unwrap_err();
        assert_eq!(error.code(), "HISTORY_GONE");
        assert!(error.message().starts_with("change 17: "), "{error}");
    }
}

#[test]
fn a_change_is_json() {
    let stamp = Stamp { at: instant("2026-03-02T00:00:00.000Z"), by: anna() };
    insta::assert_json_snapshot!(Change {
        sequence: 7,
        first_sequence: 5,
        token: ChangeToken::from_u64(0x9f86_d081_884c_7d65),
        stamp,
        documents: vec![DocumentId::of_root(id(9))],
        edits: every_edit()
    });
}

#[test]
fn every_kind_of_edit_is_in_these_tests() {
    let mut names: Vec<_> = every_edit().iter().map(Edit::type_name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!((names.len(), every_edit().len()), (18, 19));
    for edit in every_edit() {
        assert!(names.contains(&edit.inverse().unwrap().type_name()), "{}", edit.type_name());
    }
}

#[test]
fn a_change_is_undone_from_its_end() {
    let change = Change {
        sequence: 1,
        first_sequence: 1,
        token: ChangeToken::from_u64(1),
        stamp: Stamp::default(),
        documents: Vec::new(),
        edits: every_edit(),
    };
    let expected: Result<Vec<_>> = every_edit().iter().rev().map(Edit::inverse).collect();
    assert_eq!(change.inverse(), expected);
}

#[test]
fn a_forest_knows_parents_and_height() {
    let subtrees = subtrees(&[0, 1, 2, 1, 0, 1]);
    let parents: Vec<_> =
        subtrees.with_parents().map(|(parent, block)| (parent, block.id)).collect();
    let [one, two, three, four, five, six] = [1, 2, 3, 4, 5, 6].map(id);
    assert_eq!(
        parents,
        [
            (None, one),
            (Some(one), two),
            (Some(two), three),
            (Some(one), four),
            (None, five),
            (Some(five), six),
        ]
    );
    assert_eq!(
        (subtrees.height(), Subtrees::default().height(), Subtrees::one(record(1)).height()),
        (2, 0, 0)
    );
}
