//! What documents were: at every change of random programs, and what the versions say.

use std::collections::BTreeMap;
use std::sync::Mutex;

use leafbase::{
    BlockId, BlockPatch, CompactOptions, Connection, DeleteBlocks, DocumentId, Edit, ErrorKind,
    Fetch, FlatBlock, ListDocuments, ListPatch, MoveBlocks, PlainText, Position, PurgeDocuments,
    Space, TextPart,
};
use leafbase_test_outline::Numbers;
use serde_json::Value;
use tests::model::pair::Pair;
use tests::model::sequences::sequences;

/// Requests of a program.
const STEPS: usize = 30;

fn programs() -> u32 {
    tests::cases(120, 3_000)
}

/// Every document as a fetch shows it, by ID.
fn shown(notes: &Connection) -> BTreeMap<DocumentId, String> {
    let documents = notes.list_documents(ListDocuments::new()).unwrap().items;
    let fetch = |id| serde_json::to_string(&notes.fetch(Fetch::new(id)).unwrap()).unwrap();
    documents.iter().map(|document| (document.id(), fetch(document.id()))).collect()
}

/// The difference of two versions, applied to the first one, is the second one.
fn compare_versions(notes: &Connection, id: DocumentId, from: u64, to: u64) {
    let [Ok(before), Ok(after)] = [from, to].map(|sequence| notes.document_at(id, sequence)) else {
        assert!(notes.diff_document(id, from, to).is_err());
        return;
    };
    let diff = notes.diff_document(id, from, to).unwrap();
    let [mut list, expected] = [before, after].map(FlatBlock::list);
    // A block without markdown of its own is told by what it renders as.
    let plain = |list: &[FlatBlock], id| {
        let found = list.iter().find(|entry| entry.block.id == id).unwrap();
        let data = &found.block.data;
        data.block_type().has_own_markdown().then(|| PlainText::of(&data.inline).into_string())
    };
    for text in &diff.texts {
        let [old, new] = [&list, &expected].map(|list| plain(list, text.block_id));
        let [mut removed, mut inserted] = [String::new(), String::new()];
        for part in &text.parts {
            let (TextPart::Kept(words) | TextPart::Removed(words) | TextPart::Inserted(words)) =
                part;
            if !matches!(part, TextPart::Inserted(_)) {
                removed.push_str(words);
            }
            if !matches!(part, TextPart::Removed(_)) {
                inserted.push_str(words);
            }
        }
        for (told, text) in [(&removed, old), (&inserted, new)] {
            if let Some(text) = text {
                assert_eq!(told, &text, "{id} from {from} to {to}");
            }
        }
        assert_ne!(removed, inserted);
    }
    ListPatch { sequence: to, steps: diff.steps }.apply(&mut list).unwrap();
    assert_eq!(list, expected, "{id} from {from} to {to}");
}

/// The versions of the blocks of a document are the changes that name them, and their markdown is
/// what was shown then.
fn compare_blocks(
    notes: &Connection,
    id: DocumentId,
    kept: &[(u64, BTreeMap<DocumentId, String>)],
) {
    let changes: Vec<_> = notes.changes_since(0).map(Result::unwrap).collect();
    let is_purge = |edit: &Edit| matches!(edit, Edit::PurgeDocument { .. });
    let has_all = !changes.iter().any(|change| change.edits.iter().any(is_purge));
    for entry in FlatBlock::list(notes.fetch(Fetch::new(id)).unwrap()) {
        let block = entry.block.id;
        let Ok(versions) = notes.block_history(block, None, usize::MAX) else {
            assert!(!has_all);
            continue;
        };
        let named = changes.iter().filter(|change| change.edits.iter().any(|it| names(it, block)));
        let named: Vec<u64> = named.map(|change| change.sequence).collect();
        let listed: Vec<u64> = versions.iter().rev().map(|version| version.sequence).collect();
        if has_all {
            assert_eq!(listed, named, "{block}");
        }
        assert!(listed.iter().all(|sequence| named.contains(sequence)), "{block}");
        for version in &versions {
            let Some((_, then)) = kept.iter().find(|(sequence, _)| *sequence == version.sequence)
            else {
                continue;
            };
            let shown = then.values().find_map(|text| markdown_of(text, block));
            // What is in the trash is not fetched.
            if shown.is_some() {
                assert_eq!(version.markdown, shown, "{block} at {}", version.sequence);
            }
        }
    }
}

/// Whether an edit names the block itself.
fn names(edit: &Edit, id: BlockId) -> bool {
    match edit {
        Edit::Insert { subtrees, .. }
        | Edit::Remove { subtrees, .. }
        | Edit::CreateDocument { subtrees, .. }
        | Edit::EraseDocument { subtrees, .. } => subtrees.0.iter().any(|node| node.block.id == id),
        Edit::Update { after, .. } => after.id == id,
        Edit::Move { block, .. }
        | Edit::AddComment { block, .. }
        | Edit::RemoveComment { block, .. }
        | Edit::UpdateComment { block, .. } => *block == id,
        _ => false,
    }
}

/// The markdown of a block in the JSON of a document.
fn markdown_of(json: &str, block: BlockId) -> Option<String> {
    let mut waiting = vec![serde_json::from_str::<Value>(json).unwrap()];
    while let Some(mut value) = waiting.pop() {
        if value["id"] == block.to_string() {
            return value["markdown"].as_str().map(str::to_owned);
        }
        if let Some(children) = value["content"].as_array_mut() {
            waiting.append(children);
        }
    }
    None
}

/// Compares what documents were with what was kept then. How many are the same, and how many are
/// gone. `off` is added to the sequences that are asked for: 0, or else the control.
fn compare(numbers: &[u32], off: u64) -> [usize; 2] {
    let (mut numbers, mut pair) = (Numbers::new(numbers), Pair::new(None));
    pair.with_collections = numbers.once_in(2);
    let mut kept = vec![(pair.notes().last_sequence().unwrap(), shown(&pair.notes()))];
    for _ in 0..STEPS {
        let request = pair.next(&mut numbers);
        pair.step(request);
        kept.push((pair.notes().last_sequence().unwrap(), shown(&pair.notes())));
    }
    let (notes, mut counts) = (pair.notes(), [0, 0]);
    let last = notes.last_sequence().unwrap();
    for id in shown(&notes).into_keys() {
        for (sequence, then) in &kept {
            let found = notes.document_at(id, (sequence + off).min(last));
            match (found, then.get(&id)) {
                (Ok(block), Some(then)) => {
                    assert_eq!(&serde_json::to_string(&block).unwrap(), then, "{id} at {sequence}");
                    counts[0] += 1;
                }
                // Whether it was there is not known beyond what is gone.
                (Err(error), None) => {
                    let kinds = [ErrorKind::NotFound, ErrorKind::HistoryGone];
                    assert!(kinds.contains(&error.kind()), "{error:?}");
                }
                (Err(error), Some(_)) => {
                    assert_eq!(error.kind(), ErrorKind::HistoryGone, "{id} at {sequence}");
                    counts[1] += 1;
                }
                (Ok(block), None) => panic!("{id} was not there at {sequence}: {block:?}"),
            }
        }
        compare_blocks(&notes, id, &kept);
        for _ in 0..3 {
            let [from, to] = [0, 0].map(|_| kept[numbers.below(kept.len())].0);
            compare_versions(&notes, id, from, to);
        }
        let versions = notes.history(id, None, usize::MAX).unwrap();
        assert!(versions.is_sorted_by(|one, other| one.sequence > other.sequence));
        let touched = notes.changes_since(0).map(Result::unwrap);
        let touched = touched.filter(|change| change.documents.contains(&id));
        let touched: Vec<u64> = touched.map(|change| change.sequence).collect();
        let listed: Vec<u64> = versions.iter().rev().map(|version| version.sequence).collect();
        assert!(touched.ends_with(&listed) && !listed.is_empty(), "{touched:?} {listed:?}");
    }
    counts
}

#[test]
fn a_document_is_what_it_was_at_every_change() {
    let counts = Mutex::new([0, 0]);
    let kept = sequences(programs(), 1_000, |numbers| {
        let [same, gone] = compare(numbers, 0);
        let mut counts = counts.lock().unwrap();
        *counts = [counts[0] + same, counts[1] + gone];
    });
    kept.unwrap_or_else(|error| panic!("{error}"));
    let [same, gone] = counts.into_inner().unwrap();
    println!("{same} are as they were, {gone} are gone");
    assert!(gone * 20 < same, "{same} {gone}");
}

/// Restores documents to what they were, compares, and undoes that.
fn restore(numbers: &[u32]) -> [usize; 2] {
    let (mut numbers, mut pair) = (Numbers::new(numbers), Pair::new(None));
    pair.with_collections = numbers.once_in(3);
    let mut kept = Vec::new();
    for _ in 0..STEPS {
        let request = pair.next(&mut numbers);
        pair.step(request);
        kept.push((pair.notes().last_sequence().unwrap(), shown(&pair.notes())));
    }
    let (notes, mut counts) = (pair.notes(), [0, 0]);
    for _ in 0..8 {
        let (sequence, then) = &kept[numbers.below(kept.len())];
        let before = shown(&notes);
        // Those that have changed since.
        let changed = then.keys().filter(|id| before.get(id).is_some_and(|now| *now != then[id]));
        let changed: Vec<DocumentId> = changed.copied().collect();
        if changed.is_empty() {
            continue;
        }
        let id = changed[numbers.below(changed.len())];
        match notes.restore(id, *sequence) {
            Ok(change) => {
                counts[0] += 1;
                let after = shown(&notes);
                assert_eq!(without_rev(&after[&id]), without_rev(&then[&id]));
                let others = |all: &BTreeMap<DocumentId, String>| {
                    let others = all.iter().filter(|(other, _)| **other != id);
                    others.map(|(id, text)| (*id, without_rev(text))).collect::<Vec<_>>()
                };
                assert_eq!(others(&after), others(&before), "other documents stay");
                assert!(pair.space().check().unwrap().is_clean());
                // A file that went with its block keeps it from being undone.
                if notes.undo(change.sequence).is_ok() {
                    assert_eq!(without_rev(&shown(&notes)[&id]), without_rev(&before[&id]));
                }
            }
            Err(error) => {
                counts[1] += 1;
                assert_eq!(shown(&notes), before, "{error:?}");
            }
        }
    }
    counts
}

fn without_rev(json: &str) -> String {
    let mut parts = json.split("\"rev\":");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text += part.trim_start_matches(|letter: char| letter.is_ascii_digit());
    }
    text
}

#[test]
fn what_is_restored_is_what_it_was() {
    let counts = Mutex::new([0, 0]);
    let kept = sequences(programs(), 1_000, |numbers| {
        let [done, refused] = restore(numbers);
        let mut counts = counts.lock().unwrap();
        *counts = [counts[0] + done, counts[1] + refused];
    });
    kept.unwrap_or_else(|error| panic!("{error}"));
    let [done, refused] = counts.into_inner().unwrap();
    println!("{done} restored, {refused} refused");
    assert!(done * 4 > refused, "{done} {refused}");
}

/// The control: a document one change later is another one.
#[test]
fn another_change_is_noticed() {
    assert!(
        sequences(20, 0, |numbers| {
            let _ = compare(numbers, 1);
        })
        .is_err()
    );
}

#[test]
fn versions_tell_what_was_written_and_are_paged() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect().acting_as("Ada");
    let document = notes.create_document("Trip").unwrap().id();
    let lines = notes.insert_markdown("a\n\nb\n\nc", document).unwrap();
    notes.update_markdown(lines[0].id, "A").unwrap();
    let moved = MoveBlocks::new([lines[2].id], Position::start_of(document));
    notes.acting_as("Ben").move_blocks(moved).unwrap();
    notes.create_document("Other").unwrap();
    notes.delete_blocks(lines[1].id.into()).unwrap();
    let versions = notes.history(document, None, 9).unwrap();
    let told: Vec<_> = versions
        .iter()
        .map(|it| (it.by.as_str(), [it.inserted, it.updated, it.moved, it.removed]))
        .collect();
    let expected = [
        ("Ada", [0, 0, 0, 1]),
        ("Ben", [0, 0, 1, 0]),
        ("Ada", [0, 1, 0, 0]),
        ("Ada", [3, 0, 0, 0]),
        ("Ada", [1, 0, 0, 0]),
    ];
    assert_eq!(told, expected);
    let page = notes.history(document, Some(versions[1].sequence), 2).unwrap();
    assert_eq!(page, versions[2..4]);
    assert!(notes.history(DocumentId::NIL, None, 1).is_err());
}

#[test]
fn what_a_block_was_outlives_a_document_it_has_left() {
    let notes = Space::in_memory().unwrap().connect();
    let [trip, other] = ["Trip", "Other"].map(|title| notes.create_document(title).unwrap().id());
    let line = notes.insert_markdown("first", trip).unwrap()[0].id;
    notes.move_blocks(MoveBlocks::new([line], Position::end_of(other))).unwrap();
    notes.update_markdown(line, "second").unwrap();
    notes.move_blocks(MoveBlocks::new([line], Position::end_of(trip))).unwrap();
    let told = || {
        let versions = notes.block_history(line, None, 9).unwrap();
        versions.into_iter().map(|version| version.markdown.unwrap()).collect::<Vec<_>>()
    };
    let expected = ["second", "second", "first", "first"];
    assert_eq!(told(), expected);
    notes.delete_documents(other).unwrap();
    notes.purge_documents(PurgeDocuments::new([other])).unwrap();
    assert_eq!(told(), expected);
}

#[test]
fn what_is_gone_is_told() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let [trip, other] = ["Trip", "Other"].map(|title| notes.create_document(title).unwrap().id());
    let before = notes.last_sequence().unwrap();
    let line = notes.insert_markdown("a", trip).unwrap()[0].id;
    notes.move_blocks(MoveBlocks::new([line], Position::end_of(other))).unwrap();
    let moved = notes.last_sequence().unwrap();
    assert_eq!(notes.document_at(trip, moved - 1).unwrap().children().len(), 1);
    assert_eq!(notes.document_at(trip, before).unwrap().children().len(), 0);
    assert_eq!(notes.document_at(trip, moved + 1).unwrap_err().kind(), ErrorKind::NotFound);
    // With the document that the line went to, the line is gone.
    notes.delete_documents(other).unwrap();
    notes.purge_documents(PurgeDocuments::new([other])).unwrap();
    let gone = notes.document_at(trip, moved - 1).unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::HistoryGone);
    assert!(gone.message().contains("; the change log begins at "), "{gone}");
    space.compact_with(CompactOptions::new().keep_changes(0)).unwrap();
    assert_eq!(notes.document_at(trip, before).unwrap_err().kind(), ErrorKind::HistoryGone);
    assert!(notes.document_at(trip, notes.last_sequence().unwrap()).is_ok());
    assert!(notes.history(trip, None, 9).unwrap().is_empty());
}

/// Sixty-four moves between documents, and what each document was after every one of them. A pass
/// that reads the past of the others once for each move would not end.
#[test]
fn what_moved_between_documents_many_times_is_undone_once() {
    // The documents that a page and a line below it move to, in turn.
    let rows: [(&[usize], &[usize]); 4] =
        [(&[1, 0], &[]), (&[1, 2, 0], &[2, 1]), (&[], &[1, 0]), (&[1, 0, 2], &[0, 2, 2, 1])];
    for (pages, lines) in rows {
        let notes = Space::in_memory().unwrap().connect();
        let documents =
            ["Trip", "Diary", "List"].map(|title| notes.create_document(title).unwrap().id());
        let page = notes.insert_markdown("Packing", documents[0]).unwrap()[0].id;
        let line = notes.insert_markdown("0", Position::end_of(page)).unwrap()[0].id;
        let mut kept = vec![(notes.last_sequence().unwrap(), shown(&notes))];
        for step in 0..64 {
            for (block, to) in [(page, pages), (line, lines)] {
                if let Some(to) = to.get(step % to.len().max(1)) {
                    let moved = MoveBlocks::new([block], Position::start_of(documents[*to]));
                    notes.move_blocks(moved).unwrap();
                    kept.push((notes.last_sequence().unwrap(), shown(&notes)));
                }
            }
            notes.update_markdown(line, &step.to_string()).unwrap();
            notes.insert_markdown(&step.to_string(), Position::end_of(page)).unwrap();
            kept.push((notes.last_sequence().unwrap(), shown(&notes)));
        }
        for (sequence, then) in kept {
            for id in documents {
                let found = notes.document_at(id, sequence).unwrap();
                assert_eq!(serde_json::to_string(&found).unwrap(), then[&id], "at {sequence}");
            }
        }
    }
}

/// Where blocks came from is not read: it may be gone.
#[test]
fn tasks_that_came_one_by_one_leave_again() {
    let notes = Space::in_memory().unwrap().connect();
    let trip = notes.create_document("Trip").unwrap().id();
    let list = (0..64).map(|index| format!("- [ ] {index}")).collect::<Vec<_>>().join("\n");
    let from = notes.create_document("Ideas").unwrap().id();
    let tasks = notes.insert_markdown(&list, from).unwrap();
    let before = notes.last_sequence().unwrap();
    for task in tasks.iter() {
        notes.move_blocks(MoveBlocks::new([task.id], Position::end_of(trip))).unwrap();
    }
    assert_eq!(notes.document_at(trip, before + 3).unwrap().children().len(), 3);
    assert_eq!(notes.document_at(from, before + 3).unwrap().children().len(), 61);
    notes.delete_documents(from).unwrap();
    notes.purge_documents(PurgeDocuments::new([from])).unwrap();
    assert_eq!(notes.document_at(trip, before + 3).unwrap().children().len(), 3);
    notes.restore(trip, before + 1).unwrap();
    assert_eq!(notes.content_markdown(trip).unwrap(), "- [ ] 0");
}

#[test]
fn what_returns_has_a_revision_that_it_never_had() {
    let notes = Space::in_memory().unwrap().connect();
    let trip = notes.create_document("Trip").unwrap().id();
    let page = notes.insert_markdown("Packing", trip).unwrap()[0].id;
    let line = notes.insert_markdown("passport", Position::end_of(page)).unwrap()[0].id;
    let then = notes.last_sequence().unwrap();
    let rev = || notes.fetch(Fetch::new(line)).unwrap().rev;
    let mut last = rev();
    for deleted in [line, page, page] {
        for text in ["1", "2", "3", "4"] {
            notes.update_markdown(line, text).unwrap();
        }
        assert_eq!(rev(), last + 4);
        notes.delete_blocks(DeleteBlocks::from(deleted)).unwrap();
        notes.restore(trip, then).unwrap();
        assert_eq!(rev(), last + 5);
        last = rev();
        let stale = BlockPatch::markdown(line, "stale").if_rev(2);
        let refused = notes.update_blocks(stale.into()).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict);
    }
}

#[test]
fn the_past_is_read_within_a_batch() {
    let notes = Space::in_memory().unwrap().connect();
    let [trip, diary] = ["Trip", "Diary"].map(|title| notes.create_document(title).unwrap().id());
    let line = notes.insert_markdown("passport", trip).unwrap()[0].id;
    let then = notes.last_sequence().unwrap();
    let read = notes.batch(|batch| {
        batch.update_markdown(line, "towel")?;
        batch.insert_markdown("more", trip)?;
        batch.move_blocks(MoveBlocks::new([line], Position::end_of(diary)))?;
        let shown = batch.document_at(trip, then)?;
        assert_eq!((shown.children().len(), &*shown.children()[0].data.inline), (1, "passport"));
        assert!(batch.document_at(diary, then)?.children().is_empty());
        let versions = batch.block_history(line, None, 9)?;
        assert_eq!(versions.len(), 1);
        assert_eq!(versions[0].markdown.as_deref(), Some("passport"));
        assert_eq!(batch.history(trip, None, 9)?.len(), 2);
        // In another document now, which the restoration does not touch.
        let refused = batch.restore(trip, then).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict);
        Ok(())
    });
    assert_eq!(read.unwrap_err().kind(), ErrorKind::Conflict, "the batch failed with it");
    notes
        .batch(|batch| {
            batch.update_markdown(line, "towel")?;
            batch.insert_markdown("more", trip)?;
            batch.restore(trip, then)
        })
        .unwrap();
    assert_eq!(notes.content_markdown(trip).unwrap(), "passport");
    assert_eq!(notes.last_sequence().unwrap(), then + 1);
    let versions = notes.block_history(line, None, 9).unwrap();
    let told: Vec<_> = versions.iter().map(|it| (it.sequence, it.markdown.as_deref())).collect();
    assert_eq!(told, [(then + 1, Some("passport")), (then, Some("passport"))]);
    assert_eq!(notes.block_history(line, Some(then + 1), 9).unwrap().len(), 1);
    assert_eq!(notes.block_history(line, None, 0).unwrap(), []);
}

#[test]
fn the_history_of_a_block_goes_through_documents() {
    let notes = Space::in_memory().unwrap().connect();
    let [trip, diary] = ["Trip", "Diary"].map(|title| notes.create_document(title).unwrap().id());
    let page = notes.insert_markdown("Packing", trip).unwrap()[0].id;
    let line = notes.insert_markdown("a", Position::end_of(page)).unwrap()[0].id;
    notes.update_markdown(line, "b").unwrap();
    // With the page around it, and then alone.
    notes.move_blocks(MoveBlocks::new([page], Position::end_of(diary))).unwrap();
    notes.update_markdown(line, "- [x] c").unwrap();
    notes.move_blocks(MoveBlocks::new([line], Position::end_of(trip))).unwrap();
    notes.delete_blocks(DeleteBlocks::from(line)).unwrap();
    assert_eq!(notes.block_history(line, None, 9).unwrap_err().kind(), ErrorKind::NotFound);
    notes.undo(notes.last_sequence().unwrap()).unwrap();
    let versions = notes.block_history(line, None, 9).unwrap();
    let told: Vec<_> =
        versions.iter().map(|it| (it.events.as_slice(), it.markdown.as_deref())).collect();
    use leafbase::BlockEvent::{Inserted, Moved, Removed, Updated};
    let expected: [(&[_], _); 6] = [
        (&[Inserted], Some("- [x] c")),
        (&[Removed], None),
        (&[Moved], Some("- [x] c")),
        (&[Updated], Some("- [x] c")),
        (&[Updated], Some("b")),
        (&[Inserted], Some("a")),
    ];
    assert_eq!(told, expected);
}
