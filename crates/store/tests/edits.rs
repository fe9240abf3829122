//! Random edits against a naive model, on every store: reads agree, invariants hold, and inverse
//! edits restore the state.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test"
)]

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use leafbase_model::{
    BlockData, BlockId, BlockRecord, Change, Day, DocumentId, DocumentRecord, Edit, ErrorKind,
    FolderId, FolderRecord, Location, SpaceSettings, Subtrees, Timestamp,
};
use leafbase_store::kv::{KeyRange, MemoryStore, OpenOptions, Store};
use leafbase_store::{DocumentQuery, LogRetention, SpaceReader, SpaceStore, directory};
use proptest::prelude::*;

mod naive;

use naive::{EXTRACTOR, Maker, Naive, Rule, memory_space, meta, play, relaxed, stamp, upload};

fn agrees(space: &SpaceStore, naive: &Naive) {
    let snapshot = space.snapshot().unwrap();
    naive.agrees_with(snapshot.reader());
    histories_agree(snapshot.reader(), naive);
    let changes = snapshot.reader().changes_after(0, usize::MAX).unwrap().into_iter();
    let documents: Vec<_> = changes.map(|change| (change.position(), change.documents)).collect();
    assert_eq!(snapshot.reader().changed_after(0, usize::MAX).unwrap(), documents);
    drop(snapshot);
    let report = space.check(&mut |_| ControlFlow::Continue(())).unwrap();
    assert!(report.problems.is_empty(), "{report:#?}");
}

/// The history of each document has the changes of the log that touched it, from the last one that
/// created it on.
fn histories_agree(reader: SpaceReader<'_>, naive: &Naive) {
    let log = reader.changes_after(0, usize::MAX).unwrap();
    for id in naive.documents.keys() {
        let creates =
            |edit: &Edit| matches!(edit, Edit::CreateDocument { record, .. } if record.id == *id);
        let touched = log.iter().rev().filter(|change| change.documents.contains(id));
        let mut expected = Vec::new();
        for change in touched {
            expected.push(change.clone());
            if change.edits.iter().any(creates) {
                break;
            }
        }
        let history: Vec<_> = reader.history(*id).map(Result::unwrap).collect();
        assert_eq!(history, expected, "{id}");
        let stored = reader.stored_document(*id).unwrap().unwrap();
        assert_eq!(stored.last_change, expected[0].sequence);
        let root = reader.block(id.root()).unwrap().unwrap();
        assert_eq!(stored.title, root.data.inline);
    }
}

/// Undoes all changes after `sequence`, last one first.
fn undo(space: &SpaceStore, sequence: u64, now: &mut i64) -> Result<(), leafbase_model::Error> {
    let changes = space.snapshot()?.reader().changes_after(sequence, usize::MAX)?;
    for change in changes.iter().rev() {
        *now += 1;
        let inverse = change.inverse().unwrap();
        // The bytes of erased files are not part of the edits.
        upload(space, &inverse);
        space.write(relaxed(), &stamp(*now), |transaction| transaction.apply(inverse.clone()))?;
    }
    Ok(())
}

/// Replaying the change log reproduces the space, with its modification times. Tokens are those of
/// each space.
fn replayed(space: &SpaceStore) {
    let (_, copy) = memory_space();
    let (ours, theirs) = (space.snapshot().unwrap(), || copy.snapshot().unwrap());
    let log = ours.reader().changes_after(0, usize::MAX).unwrap();
    for change in log.clone() {
        upload(&copy, &change.edits);
        let written =
            copy.write(relaxed(), &change.stamp, |open| open.apply(change.edits.clone())).unwrap();
        assert_eq!(Change { token: change.token, ..written.change.unwrap() }, change);
    }
    // A compressed log does, too.
    let changes = || theirs().reader().changes_after(0, usize::MAX).unwrap();
    let before = changes();
    copy.compact(&LogRetention::default()).unwrap();
    assert_eq!(changes(), before);
    let all = |reader: SpaceReader<'_>| {
        reader.find_documents(&DocumentQuery::default(), None, usize::MAX).unwrap()
    };
    let documents = all(ours.reader());
    assert_eq!(documents, all(theirs().reader()));
    for document in documents.documents {
        let tree =
            |reader: SpaceReader<'_>| reader.subtree(document.record.id.root(), None).unwrap();
        assert_eq!(tree(ours.reader()), tree(theirs().reader()));
    }
}

fn numbers(count: usize) -> impl Strategy<Value = Vec<[u32; 4]>> {
    prop::collection::vec(prop::array::uniform4(any::<u32>()), 1..count)
}

fn with_document(space: &SpaceStore) -> (Naive, Maker, i64) {
    let (mut naive, mut maker, mut now) = (Naive::default(), Maker::new(), 1_000);
    play(space, &mut naive, &mut maker, &[[0, 1, 1, 38]], &mut now);
    (naive, maker, now)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn a_space_in_memory_agrees_with_the_model(first in numbers(30), second in numbers(60)) {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let space = SpaceStore::create(Arc::clone(&store), EXTRACTOR, naive::ids(), &meta()).unwrap();
        let (mut naive, mut maker, mut now) = with_document(&space);
        play(&space, &mut naive, &mut maker, &first, &mut now);
        agrees(&space, &naive);
        let (middle, sequence) = (naive.clone(), space.snapshot().unwrap().reader().last_sequence().unwrap());
        play(&space, &mut naive, &mut maker, &second, &mut now);
        let space = SpaceStore::open(store, EXTRACTOR, naive::ids()).unwrap();
        agrees(&space, &naive);
        undo(&space, sequence, &mut now).unwrap();
        agrees(&space, &middle);
        replayed(&space);
    }

    #[test]
    fn a_space_in_a_file_agrees_with_the_model(first in numbers(20), second in numbers(40)) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("space");
        let store = Arc::new(directory::create(&path, &OpenOptions::default()).unwrap());
        let space = SpaceStore::create(store, EXTRACTOR, naive::ids(), &meta()).unwrap();
        let (mut naive, mut maker, mut now) = with_document(&space);
        play(&space, &mut naive, &mut maker, &first, &mut now);
        let (middle, sequence) = (naive.clone(), space.snapshot().unwrap().reader().last_sequence().unwrap());
        space.compact(&LogRetention::default()).unwrap();
        agrees(&space, &naive);
        play(&space, &mut naive, &mut maker, &second, &mut now);
        agrees(&space, &naive);
        space.compact(&LogRetention::default()).unwrap();
        drop(space);
        let store = Arc::new(directory::open(&path, &OpenOptions::default()).unwrap());
        let space = SpaceStore::open(store, EXTRACTOR, naive::ids()).unwrap();
        agrees(&space, &naive);
        undo(&space, sequence, &mut now).unwrap();
        agrees(&space, &middle);
    }
}

/// With `LEAFBASE_CASES=full` 240 cases, with a number that many.
fn cases() -> u32 {
    match std::env::var("LEAFBASE_CASES").as_deref() {
        Ok("full") => 240,
        Ok(cases) => cases.parse().unwrap(),
        Err(_) => 24,
    }
}

#[test]
fn every_type_of_edit_with_an_inverse_is_made() {
    let (mut naive, mut maker) = (Naive::default(), Maker::new());
    let mut made = BTreeSet::new();
    for number in 0..4_000_u32 {
        let spread = |by: u32| number.wrapping_mul(by) >> 7;
        let numbers = [number, spread(2_654_435_769), spread(2_246_822_519), spread(3_266_489_917)];
        made.extend(maker.edits(&mut naive, numbers).iter().map(Edit::type_name));
        if made.len() + 1 == Edit::TYPE_NAMES.len() {
            break;
        }
    }
    let expected = Edit::TYPE_NAMES.iter().filter(|name| **name != "purgeDocument");
    assert_eq!(made, expected.copied().collect());
}

/// Control: a wrong inverse is refused, or leads to another state.
#[test]
fn a_broken_inverse_is_noticed() {
    let (_, space) = memory_space();
    let (mut naive, mut maker, mut now) = with_document(&space);
    play(&space, &mut naive, &mut maker, &[[1, 5, 1, 22], [8, 3, 3, 9]], &mut now);
    let sequence = space.snapshot().unwrap().reader().last_sequence().unwrap();
    let change =
        space.snapshot().unwrap().reader().changes_after(sequence - 1, 1).unwrap().remove(0);
    let mut inverse = change.inverse().unwrap();
    for edit in &mut inverse {
        match edit {
            Edit::Update { before, .. } => before.rev += 1,
            Edit::Remove { subtrees, .. } => subtrees.0.last_mut().unwrap().block.rev += 1,
            _ => {}
        }
        let refused = space
            .write(relaxed(), &stamp(now), |transaction| transaction.apply(vec![edit.clone()]));
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::Conflict);
    }
    agrees(&space, &naive);
    // Without it, the state differs: the comparison detects it.
    let before = Naive::default();
    let snapshot = space.snapshot().unwrap();
    assert!(
        std::panic::catch_unwind(AssertUnwindSafe(|| before.agrees_with(snapshot.reader())))
            .is_err()
    );
}

/// Control: random sequences break each rule, and often enough.
#[test]
fn random_sequences_break_every_rule() {
    let (_, space) = memory_space();
    let (mut naive, mut maker, mut now) = with_document(&space);
    let mut state = 1_u64;
    let mut number = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(state >> 32).unwrap()
    };
    let numbers: Vec<[u32; 4]> = (0..300).map(|_| std::array::from_fn(|_| number())).collect();
    play(&space, &mut naive, &mut maker, &numbers, &mut now);
    agrees(&space, &naive);
    for rule in Rule::ALL {
        let tried = maker.tried.iter().filter(|tried| **tried == rule).count();
        assert!(tried >= 5, "{rule:?} was broken {tried} times");
    }
}

fn kept(number: u8, location: Location, day: Option<i64>) -> DocumentRecord {
    let (id, at) =
        (DocumentId::of_root(BlockId::from_bytes([number; 16])), Timestamp::from_millis(1));
    DocumentRecord {
        id,
        location,
        day: day.map(Day::from_epoch_days),
        created_at: at,
        modified_at: at,
        rev: 1,
    }
}

fn create(record: &DocumentRecord) -> Edit {
    let (created, modified) = (stamp(1), stamp(1));
    let root = BlockRecord {
        id: record.id.root(),
        rev: 1,
        created,
        modified,
        data: BlockData::page("Page"),
    };
    Edit::CreateDocument { record: record.clone(), subtrees: Subtrees::one(root) }
}

fn change(before: &DocumentRecord, location: Location, day: Option<i64>) -> Edit {
    let day = day.map(Day::from_epoch_days);
    Edit::UpdateDocument {
        after: DocumentRecord { location, day, ..before.clone() },
        before: before.clone(),
    }
}

/// A document's revision is incremented once by a change, however many edits of it there are, and
/// by an undo, too.
#[test]
fn revisions_only_grow() {
    let (_, space) = memory_space();
    let record = kept(1, Location::Unsorted, None);
    let (id, root) = (record.id, record.id.root());
    let stored = || space.snapshot().unwrap().reader().stored_document(id).unwrap();
    let write = |edits: Vec<Edit>| {
        let written = space.write(relaxed(), &stamp(2), |open| open.apply(edits.clone())).unwrap();
        written.change.unwrap()
    };
    let created = write(vec![create(&record)]);
    assert_eq!(stored().unwrap().record.rev, 1);
    let rename = |from: &str, to: &str, rev| {
        let block = |title: &str, rev| BlockRecord {
            id: root,
            rev,
            created: stamp(1),
            modified: stamp(1),
            data: BlockData::page(title),
        };
        let (before, after) = (Box::new(block(from, rev)), Box::new(block(to, rev + 1)));
        Edit::Update { document: id, before, after }
    };
    let renamed = write(vec![rename("Page", "One", 1), rename("One", "Two", 2)]);
    let title_and_rev = || stored().map(|stored| (stored.title, stored.record.rev));
    assert_eq!(title_and_rev(), Some(("Two".to_owned(), 2)));
    write(renamed.inverse().unwrap());
    assert_eq!(title_and_rev(), Some(("Page".to_owned(), 3)));
    // Relocated, and changed by the trash.
    write(vec![change(&record, Location::Templates, None)]);
    assert_eq!(title_and_rev().unwrap().1, 3);
    write(vec![change(&kept(1, Location::Templates, None), Location::Trash, None)]);
    assert_eq!(title_and_rev().unwrap().1, 4);
    write(vec![change(&kept(1, Location::Trash, None), Location::Unsorted, None)]);
    let erased = write(created.inverse().unwrap());
    assert_eq!(stored(), None);
    write(erased.inverse().unwrap());
    assert_eq!(title_and_rev(), Some(("Page".to_owned(), 6)));
    assert_eq!(space.snapshot().unwrap().reader().history(id).count(), 1);

    let folder = FolderRecord {
        id: FolderId::from_bytes([7; 16]),
        name: "Folder".to_owned(),
        parent: None,
        rev: 1,
    };
    let rev = || space.snapshot().unwrap().reader().folder(folder.id).unwrap().map(|it| it.rev);
    let made = write(vec![Edit::CreateFolder(folder.clone())]);
    let after = FolderRecord { name: "Named".to_owned(), ..folder.clone() };
    let named = write(vec![Edit::UpdateFolder { before: folder.clone(), after }]);
    write(named.inverse().unwrap());
    assert_eq!(rev(), Some(3));
    let removed = write(made.inverse().unwrap());
    assert_eq!(rev(), None);
    write(removed.inverse().unwrap());
    assert_eq!(rev(), Some(4));
}

/// A change without a stamp is in the log, and leaves the document's time; so does its inverse.
#[test]
fn quiet_edits_move_no_time() {
    let (_, space) = memory_space();
    let record = kept(1, Location::Unsorted, None);
    let (document, root) = (record.id, record.id.root());
    space.write(relaxed(), &stamp(1_000), |open| open.apply(vec![create(&record)])).unwrap();
    let block = || space.snapshot().unwrap().reader().block(root).unwrap().unwrap();
    for (now, rev, moved_to) in [(2_000, 1, None), (3_000, 2, Some(3_000)), (4_000, 2, Some(3_000))]
    {
        let before = block();
        let data = BlockData { inline: format!("at {now}"), ..before.data.clone() };
        let after = BlockRecord { rev, data, ..before.clone() };
        let edit = Edit::Update { document, before: Box::new(before), after: Box::new(after) };
        let written =
            space.write(relaxed(), &stamp(now), |open| open.apply(vec![edit.clone()])).unwrap();
        assert_eq!(written.change.unwrap().documents, [document]);
        let modified =
            || space.snapshot().unwrap().reader().document(document).unwrap().unwrap().modified_at;
        let expected = moved_to.map_or(record.modified_at, |at| stamp(at).at);
        assert_eq!(modified(), expected, "at {now}");
        if moved_to != Some(now) {
            for edit in [edit.inverse().unwrap(), edit] {
                space.write(relaxed(), &stamp(now), |open| open.apply(vec![edit.clone()])).unwrap();
            }
            assert_eq!(modified(), expected, "undone and redone at {now}");
        }
    }
}

fn folder(number: u8, parent: Option<u8>) -> FolderRecord {
    let id = |number| FolderId::from_bytes([number; 16]);
    FolderRecord { id: id(number), name: "Folder".to_owned(), parent: parent.map(id), rev: 1 }
}

fn relocate(number: u8, from: Option<u8>, to: Option<u8>) -> Edit {
    Edit::UpdateFolder { before: folder(number, from), after: folder(number, to) }
}

fn rows(store: &dyn Store) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut rows = vec![];
    let visit = &mut |key: &[u8], value: &[u8]| {
        rows.push((key.to_vec(), value.to_vec()));
        Ok(ControlFlow::Continue(()))
    };
    store.snapshot().unwrap().scan(KeyRange::half_open(&[], &[0xFF; 40]), visit).unwrap();
    rows
}

#[test]
fn settings_are_updated_from_those_that_are_stored() {
    let (store, space) = memory_space();
    let settings = |name: &str, zone: &str| SpaceSettings { name: name.into(), zone: zone.into() };
    let [first, second] = [settings("Space", "Europe/Berlin"), settings("Notes", "Asia/Tokyo")];
    let update = |before: &SpaceSettings, after: &SpaceSettings| Edit::UpdateSpace {
        before: before.clone(),
        after: after.clone(),
    };
    let conflict = Some(ErrorKind::Conflict);
    let cases = [
        (settings("Other", "Europe/Berlin"), second.clone(), conflict),
        (settings("Space", "UTC"), second.clone(), conflict),
        (second.clone(), first.clone(), conflict),
        (first.clone(), second.clone(), None),
        (first.clone(), second.clone(), conflict),
        (second.clone(), settings("", ""), None),
        (settings("", ""), first.clone(), None),
    ];
    for (number, (before, after, expected)) in cases.iter().enumerate() {
        let rows_before = rows(&*store);
        let edit = update(before, after);
        let written = space.write(relaxed(), &stamp(9), |open| open.apply(vec![edit.clone()]));
        let refused = written.as_ref().err().map(leafbase_model::Error::kind);
        assert_eq!(refused, *expected, "{number}");
        match written {
            Ok(written) => {
                let change = written.change.unwrap();
                assert_eq!((change.documents.len(), &change.edits[..]), (0, &[edit][..]));
                let reader = space.snapshot().unwrap();
                let logged = reader.reader().changes_after(change.sequence - 1, 9).unwrap();
                assert_eq!(logged, [change], "{number}");
                assert_eq!(reader.reader().meta().unwrap().settings(), *after);
            }
            Err(_) => assert!(rows(&*store) == rows_before, "{number}: nothing is written"),
        }
    }
    assert_eq!(space.snapshot().unwrap().reader().meta().unwrap(), meta(), "ID included");
}

/// A space with a daily note, one in the trash, a plain document, an inbox, and three nested
/// folders. Each edit follows others of the same transaction, or is alone; `true` means refused.
#[test]
fn edits_that_break_a_rule_are_refused() {
    use Location::{DailyNotes, Folder, Inbox, Templates, Trash, Unsorted};
    let (conflict, missing) = (Some(ErrorKind::Conflict), Some(ErrorKind::NotFound));
    let note = kept(1, DailyNotes, Some(1));
    let (trashed, plain, inbox) =
        (kept(2, Trash, Some(1)), kept(3, Unsorted, None), kept(4, Inbox, Some(1)));
    let [first, third, unknown] = [1, 3, 9].map(|number| Folder(folder(number, None).id));
    let freed = change(&note, Trash, Some(1));
    let cases = [
        // A day has one note outside of the trash, wherever it is.
        (vec![], create(&kept(5, DailyNotes, Some(1))), conflict),
        (vec![], create(&kept(5, first, Some(1))), conflict),
        (vec![], create(&kept(5, Trash, Some(1))), None),
        (vec![], create(&kept(5, DailyNotes, Some(2))), None),
        (
            vec![create(&kept(5, DailyNotes, Some(2)))],
            create(&kept(6, Templates, Some(2))),
            conflict,
        ),
        (vec![], change(&trashed, DailyNotes, Some(1)), conflict),
        (vec![], change(&trashed, Unsorted, None), None),
        (vec![], change(&plain, Unsorted, Some(1)), conflict),
        (vec![], change(&plain, Trash, Some(1)), None),
        (vec![], change(&note, third, Some(1)), None),
        (vec![freed.clone()], change(&trashed, DailyNotes, Some(1)), None),
        (
            vec![freed, change(&trashed, DailyNotes, Some(1))],
            create(&kept(5, first, Some(1))),
            conflict,
        ),
        (vec![change(&note, DailyNotes, Some(2))], create(&kept(5, DailyNotes, Some(1))), None),
        (
            vec![create(&kept(1, DailyNotes, Some(1))).inverse().unwrap()],
            change(&trashed, Unsorted, Some(1)),
            None,
        ),
        // The inbox is not a daily note.
        (vec![], change(&inbox, Unsorted, Some(1)), conflict),
        (vec![], change(&inbox, Inbox, Some(2)), None),
        // The folder of a document exists.
        (vec![], create(&kept(5, unknown, None)), missing),
        (vec![], change(&plain, unknown, None), missing),
        (vec![], change(&plain, third, None), None),
        (vec![Edit::CreateFolder(folder(9, None))], change(&plain, unknown, None), None),
        (vec![Edit::RemoveFolder(folder(3, Some(2)))], change(&plain, third, None), missing),
        (vec![change(&plain, third, None)], Edit::RemoveFolder(folder(3, Some(2))), conflict),
        // No folder is inside itself.
        (vec![], relocate(1, None, Some(1)), conflict),
        (vec![], relocate(1, None, Some(2)), conflict),
        (vec![], relocate(1, None, Some(3)), conflict),
        (vec![], relocate(2, Some(1), Some(3)), conflict),
        (vec![], relocate(2, Some(1), None), None),
        (vec![], relocate(3, Some(2), Some(1)), None),
        (vec![relocate(2, Some(1), None)], relocate(1, None, Some(3)), None),
        (
            vec![relocate(2, Some(1), None), relocate(1, None, Some(3))],
            relocate(2, None, Some(1)),
            conflict,
        ),
        (vec![], relocate(1, None, Some(9)), missing),
        (vec![], Edit::CreateFolder(folder(8, Some(8))), missing),
    ];
    for (before, edit, expected) in cases {
        let (store, space) = memory_space();
        let write = |edits: &[Edit]| {
            space.write(relaxed(), &stamp(1), |open| open.apply(edits.to_vec())).map(drop)
        };
        let folders =
            [folder(1, None), folder(2, Some(1)), folder(3, Some(2))].map(Edit::CreateFolder);
        let documents = [&note, &trashed, &plain, &inbox].map(create);
        write(&[&folders[..], &documents].concat()).unwrap();
        let stored = rows(&*store);
        let together = [&before[..], std::slice::from_ref(&edit)].concat();
        assert_eq!(write(&together).err().map(|error| error.kind()), expected, "{together:?}");
        if expected.is_some() {
            assert_eq!(rows(&*store), stored);
            write(&before).unwrap();
            let error = write(std::slice::from_ref(&edit)).unwrap_err();
            assert_eq!(Some(error.kind()), expected, "{before:?}, then {edit:?}");
        }
        let report = space.check(&mut |_| ControlFlow::Continue(())).unwrap();
        assert!(report.is_clean(), "{together:?} {report:?}");
    }
}
