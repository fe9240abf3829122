//! How documents are made, and where each may go.

use std::collections::BTreeMap;

use leafbase_model::ErrorKind::{Conflict, LimitExceeded, NotFound, RuleViolation, Validation};
use leafbase_model::{
    BlockData, BlockId, BlockLocation, BlockRecord, Day, Destination, DocumentId, DocumentRecord,
    Edit, ErrorKind, FolderId, Limits, Location, Result, SubtreeNode, Subtrees, Timestamp,
};
use leafbase_test_outline::{SequentialIds, stamp};
use leafbase_tree_ops::{
    Context, MovedDocuments, ReadTree, check_purge, check_root, copy_document, delete_documents,
    move_documents, restore_daily_notes,
};

use crate::space::{Space, check, refuse};

#[test]
fn a_document_is_made_with_its_content() {
    check(
        "page \"Old\"",
        |s| s.create("page \"Trip\" font=mono\n  text \"a\"\n    line", Destination::Templates),
        "page \"Old\"\npage \"Trip\" font=mono in=templates\n  page \"a\"\n    line",
    );
}

#[test]
fn its_root_is_a_page() {
    check("", |s| s.create("text \"Trip\"", Destination::Unsorted), "page \"Trip\"");
    refuse("", |s| s.create("line", Destination::Unsorted), RuleViolation, "type");
    refuse(
        "",
        |s| s.create("collectionItem \"x\"\n  line", Destination::Unsorted),
        RuleViolation,
        "type",
    );
}

#[test]
fn it_is_not_made_in_the_trash() {
    let error = check_root(&BlockData::page("Trip"), Location::Trash).unwrap_err();
    assert_eq!((error.kind(), error.path()), (RuleViolation, "destination"));
}

#[test]
fn paths_begin_below_the_root() {
    refuse(
        "",
        |s| s.create("page\n  line\n  text card=small", Destination::Unsorted),
        RuleViolation,
        "content[1].cardLayout",
    );
    let titled = |s: &mut Space| {
        s.naive.limits.title = 3;
        s.create("page \"Trip\"", Destination::Unsorted)
    };
    refuse("", titled, LimitExceeded, "markdown");
    let deep = |s: &mut Space| {
        s.naive.limits.page_nesting = 1;
        s.create("page\n  page\n    line", Destination::Unsorted)
    };
    refuse("", deep, LimitExceeded, "content[0].content[0]");
}

const FOLDER: FolderId = FolderId::from_bytes([7; 16]);
const NAMES: [&str; 9] = [
    "unsorted",
    "templates",
    "folder",
    "note",
    "trash",
    "old note",
    "older note",
    "other note",
    "inbox",
];

/// A document in each place there is, without blocks. Two of the notes in the trash are of one day,
/// one is of a day that has a note.
struct Places {
    documents: BTreeMap<DocumentId, DocumentRecord>,
    limits: Limits,
}

fn document(name: &str) -> DocumentId {
    let number = NAMES.iter().position(|known| *known == name).map_or(99, |number| number + 1);
    DocumentId::from_bytes([u8::try_from(number).unwrap(); 16])
}

impl Places {
    fn new() -> Self {
        let (taken, free) = ("2026-03-01".parse().unwrap(), "2026-03-02".parse().unwrap());
        let kept: [(Location, Option<Day>); 9] = [
            (Location::Unsorted, None),
            (Location::Templates, None),
            (Location::Folder(FOLDER), None),
            (Location::DailyNotes, Some(taken)),
            (Location::Trash, None),
            (Location::Trash, Some(free)),
            (Location::Trash, Some(free)),
            (Location::Trash, Some(taken)),
            (Location::Inbox, None),
        ];
        let at = Timestamp::from_millis(0);
        let record = |(name, (location, day)): (&&str, _)| {
            let id = document(name);
            (id, DocumentRecord { id, location, day, created_at: at, modified_at: at, rev: 1 })
        };
        let mut limits = Limits::default();
        limits.blocks_per_request = 4;
        Self { documents: NAMES.iter().zip(kept).map(record).collect(), limits }
    }

    fn note_of(&self, day: Day) -> Option<DocumentRecord> {
        let is_note = |record: &&DocumentRecord| {
            record.location == Location::DailyNotes && record.day == Some(day)
        };
        self.documents.values().find(is_note).cloned()
    }

    /// What an operation does with the documents named: for each edit where its document was and is
    /// then, or the error.
    fn outcome(&self, operation: &str, names: &[&str]) -> Result<Vec<(Location, Location)>> {
        let ids: Vec<_> = names.iter().map(|name| document(name)).collect();
        let (stamp, source) = (stamp(1), SequentialIds::new(1));
        let context = Context { limits: &self.limits, stamp: &stamp, ids: &source };
        let MovedDocuments { edits, records } = match operation {
            "delete" => delete_documents(self, &context, &ids)?,
            "to unsorted" => move_documents(self, &context, &ids, Destination::Unsorted)?,
            "to templates" => move_documents(self, &context, &ids, Destination::Templates)?,
            "to folder" => move_documents(self, &context, &ids, Destination::Folder(FOLDER))?,
            "restore" => restore_daily_notes(self, &context, &ids, |day| Ok(self.note_of(day)))?,
            "purge" => return check_purge(self, &context, &ids).map(|()| Vec::new()),
            other => panic!("{other}"),
        };
        assert_eq!(records.iter().map(|record| record.id).collect::<Vec<_>>(), ids);
        let places = edits.iter().map(|edit| match edit {
            Edit::UpdateDocument { before, after } => {
                assert_eq!(self.documents.get(&before.id), Some(before));
                let is_change = [before, after].map(|record| record.location == Location::Trash);
                let (modified_at, rev) = if is_change[0] == is_change[1] {
                    (before.modified_at, before.rev)
                } else {
                    (stamp.at, before.rev + 1)
                };
                let location = after.location;
                let moved = DocumentRecord { location, modified_at, rev, ..before.clone() };
                assert_eq!(*after, moved);
                assert!(records.contains(after));
                (before.location, after.location)
            }
            other => panic!("{other:?}"),
        });
        Ok(places.collect())
    }
}

impl ReadTree for Places {
    fn locate(&self, _: BlockId) -> Result<Option<BlockLocation>> {
        Ok(None)
    }

    fn block(&self, _: BlockId) -> Result<Option<BlockRecord>> {
        Ok(None)
    }

    fn document(&self, document: DocumentId) -> Result<Option<DocumentRecord>> {
        Ok(self.documents.get(&document).cloned())
    }

    fn last_child(&self, _: DocumentId, _: BlockId) -> Result<Option<BlockId>> {
        Ok(None)
    }

    fn previous_sibling(&self, _: BlockId) -> Result<Option<BlockId>> {
        Ok(None)
    }

    fn first_children(&self, _: DocumentId, _: BlockId, _: usize) -> Result<Vec<BlockRecord>> {
        Ok(Vec::new())
    }

    fn subtree(&self, _: BlockId, _: Option<usize>) -> Result<Subtrees> {
        Ok(Subtrees::default())
    }

    fn subtree_without_items(&self, _: BlockId, _: Option<usize>) -> Result<Subtrees> {
        Ok(Subtrees::default())
    }
}

/// What becomes of a document.
enum To {
    Goes(Location),
    Stays,
    No(ErrorKind),
}

/// Every operation on a document of every place.
#[test]
fn every_state_has_its_transitions() {
    use To::{Goes, No, Stays};
    let operations = ["delete", "to unsorted", "to templates", "to folder", "restore", "purge"];
    let (trash, unsorted, templates) =
        (Goes(Location::Trash), Goes(Location::Unsorted), Goes(Location::Templates));
    let (folder, note) = (Goes(Location::Folder(FOLDER)), Goes(Location::DailyNotes));
    let (broken, conflict, missing) = (No(RuleViolation), No(Conflict), No(NotFound));
    let table = [
        ("unsorted", [&trash, &Stays, &templates, &folder, &broken, &broken]),
        ("templates", [&trash, &unsorted, &Stays, &folder, &broken, &broken]),
        ("folder", [&trash, &unsorted, &templates, &Stays, &broken, &broken]),
        ("note", [&trash, &broken, &broken, &broken, &broken, &broken]),
        ("trash", [&broken, &unsorted, &templates, &folder, &broken, &Stays]),
        ("old note", [&broken, &broken, &broken, &broken, &note, &Stays]),
        ("other note", [&broken, &broken, &broken, &broken, &conflict, &Stays]),
        ("inbox", [&broken, &broken, &broken, &broken, &broken, &broken]),
        ("?", [&missing, &missing, &missing, &missing, &missing, &missing]),
    ];
    let places = Places::new();
    for (name, row) in table {
        for (operation, expected) in operations.iter().zip(row) {
            let before = places.documents.get(&document(name)).map(|record| record.location);
            let found = places
                .outcome(operation, &[name])
                .map_err(|error| (error.kind(), error.path().to_owned()));
            let expected = match expected {
                Goes(to) => Ok(vec![(before.unwrap(), *to)]),
                Stays => Ok(Vec::new()),
                No(kind) => Err((*kind, "documentIds[0]".to_owned())),
            };
            assert_eq!(found, expected, "{operation} {name}");
        }
    }
}

#[test]
fn the_first_one_at_fault_is_named() {
    let places = Places::new();
    let refused = |operation: &str, names: &[&str], kind: ErrorKind, path: &str| {
        let error = places.outcome(operation, names).unwrap_err();
        assert_eq!((error.kind(), error.path()), (kind, path), "{operation} {names:?}");
    };
    for operation in ["delete", "to unsorted", "restore", "purge"] {
        refused(operation, &["?", "?"], NotFound, "documentIds[0]");
        refused(operation, &["unsorted"; 5], LimitExceeded, "documentIds");
        assert_eq!(places.outcome(operation, &[]).unwrap(), []);
    }
    for (operation, names, kind) in [
        ("delete", ["unsorted", "unsorted"], Validation),
        ("delete", ["unsorted", "trash"], RuleViolation),
        ("to folder", ["trash", "trash"], Validation),
        ("to folder", ["trash", "note"], RuleViolation),
        ("purge", ["trash", "trash"], Validation),
        ("purge", ["trash", "unsorted"], RuleViolation),
        ("restore", ["old note", "old note"], Validation),
        ("restore", ["old note", "older note"], Conflict),
    ] {
        refused(operation, &names, kind, "documentIds[1]");
    }
    let error = places.outcome("to unsorted", &["old note"]).unwrap_err();
    assert!(error.message().contains("restore_daily_notes"), "{error}");
}

#[test]
fn a_copy_has_new_blocks_that_know_of_each_other() {
    let limits = Limits::default();
    let (old, now) = (stamp(1), stamp(2));
    let block = |number: u8, text: &str| {
        let id = BlockId::from_bytes([number; 16]);
        BlockRecord {
            id,
            rev: 7,
            created: old.clone(),
            modified: old.clone(),
            data: BlockData::text(text),
        }
    };
    let nodes = [(0, block(1, "root")), (1, block(2, "child")), (2, block(3, "its child"))];
    let subtrees =
        Subtrees(nodes.into_iter().map(|(depth, block)| SubtreeNode { depth, block }).collect());
    let ids = SequentialIds::new(1);
    let context = Context { limits: &limits, stamp: &now, ids: &ids };
    let mut told = Vec::new();
    let (mut copy, _) =
        copy_document(&context, subtrees.clone(), Location::Unsorted, |data, copies| {
            data.inline.push('!');
            told = subtrees.0.iter().map(|node| copies[&node.block.id]).collect();
        })
        .unwrap();
    copy.retitle("new");
    let [Edit::CreateDocument { record, subtrees: made }] = &copy.edits[..] else {
        panic!("{:?}", copy.edits)
    };
    assert_eq!((&copy.record, &copy.root), (record, &made.0[0].block.data));
    assert_eq!(
        (record.id.root(), record.created_at, record.modified_at, record.day),
        (told[0], now.at, now.at, None)
    );
    let texts = ["new", "child!", "its child!"];
    for (((node, before), id), text) in made.0.iter().zip(&subtrees.0).zip(told).zip(texts) {
        assert_ne!(id, before.block.id);
        assert_eq!((node.depth, node.block.id, node.block.rev), (before.depth, id, 1));
        assert_eq!((&node.block.created, &node.block.modified), (&now, &now));
        assert_eq!(node.block.data.inline, text);
    }
    let nothing = copy_document(&context, Subtrees::default(), Location::Unsorted, |_, _| {});
    assert_eq!(nothing.unwrap_err().kind(), Validation);
}
