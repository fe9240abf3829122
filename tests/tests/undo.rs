//! Undo and redo: what is left of a program when one of its changes is undone, and that redoing
//! gives it back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use leafbase::{
    AddComments, AddTasks, Author, BlockId, Change, Clock, CommentDraft, CompactOptions,
    Connection, DayRef, DeleteBlocks, DeleteDocuments, DocumentId, DocumentPatch, Edit, Error,
    ErrorKind, Fetch, MoveDocuments, Position, PurgeDocuments, Result, Space, TaskDraft, Timestamp,
    UndoChanges, UpdateDocuments,
};
use leafbase_model::SubtreeNode;
use leafbase_test_outline::Numbers;
use serde_json::{Value, json};
use tests::model::pair::{Pair, Step};
use tests::model::sequences::sequences;
use tests::scope::projection;

/// Changes of a program.
const STEPS: usize = 24;

fn programs() -> u32 {
    tests::cases(150, 5_000)
}

/// All that there is, but for stamps and revisions.
fn dump(notes: &Connection) -> Value {
    let mut all = json!(projection::of_the_rest(notes, &[]));
    without_stamps(&mut all);
    let documents = all["documents"].as_array_mut().unwrap();
    documents.sort_by_key(|document| document["document"]["id"].to_string());
    all
}

fn without_stamps(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for name in ["rev", "lastModifiedAt", "lastModifiedBy"] {
                fields.remove(name);
            }
            fields.values_mut().for_each(without_stamps);
        }
        Value::Array(values) => values.iter_mut().for_each(without_stamps),
        _ => {}
    }
}

/// The same with siblings in the order of their IDs: where a block returns among blocks that came
/// later is not determined.
fn without_order(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            let sorted = std::mem::take(fields).into_iter();
            *fields = sorted.map(|(name, value)| (name, without_order(value))).collect();
        }
        Value::Array(values) => {
            let mut sorted: Vec<_> =
                std::mem::take(values).into_iter().map(without_order).collect();
            sorted.sort_by_key(Value::to_string);
            *values = sorted;
        }
        _ => {}
    }
    value
}

fn check_same(notes: &Connection, expected: &Value, what: &str) {
    check_equal(&dump(notes), expected, what);
}

fn check_equal(found: &Value, expected: &Value, what: &str) {
    let (found, expected) = (found.to_string(), expected.to_string());
    let same = found.bytes().zip(expected.bytes()).take_while(|(a, b)| a == b).count();
    let part = |text: &str| {
        let text = &text.as_bytes()[same.saturating_sub(300).min(text.len())..];
        String::from_utf8_lossy(&text[..text.len().min(600)]).into_owned()
    };
    assert!(found == expected, "{what}:\n{}\n{}", part(&found), part(&expected));
}

/// The revision of everything that has one.
fn revisions(notes: &Connection) -> BTreeMap<String, u64> {
    fn collect(value: &Value, found: &mut BTreeMap<String, u64>) {
        if let (Some(id), Some(rev)) = (value["id"].as_str(), value["rev"].as_u64()) {
            let known = found.entry(id.to_owned()).or_default();
            *known = rev.max(*known);
        }
        match value {
            Value::Object(fields) => fields.values().for_each(|value| collect(value, found)),
            Value::Array(values) => values.iter().for_each(|value| collect(value, found)),
            _ => {}
        }
    }
    let mut found = BTreeMap::new();
    collect(&json!(projection::of_the_rest(notes, &[])), &mut found);
    found
}

/// The edits of changes, without stamps and neighbors.
fn kinds(notes: &Connection, changes: &[u64]) -> Vec<String> {
    let ids = |nodes: &[SubtreeNode]| {
        let blocks = nodes.iter().map(|node| (node.depth, node.block.id, node.block.data.clone()));
        blocks.collect::<Vec<_>>()
    };
    let kind = |edit: &Edit| match edit {
        Edit::Move { block, to, .. } => format!("move {block} to {}", to.parent),
        Edit::Insert { target, subtrees } => {
            format!("insert into {} {:?}", target.parent, ids(&subtrees.0))
        }
        Edit::Remove { target, subtrees } => {
            format!("remove from {} {:?}", target.parent, ids(&subtrees.0))
        }
        Edit::CreateDocument { subtrees, .. } => format!("create {:?}", ids(&subtrees.0)),
        Edit::Update { after, .. } => format!("update {} {:?}", after.id, after.data),
        Edit::UpdateDocument { after, .. } => format!("put {} in {:?}", after.id, after.location),
        Edit::SetSchema { collection, after, .. } => format!("schema of {collection}: {after:?}"),
        _ => edit.type_name().to_owned(),
    };
    let of_change = |sequence: &u64| {
        let change = notes.changes_since(sequence - 1).next().unwrap().unwrap();
        change.edits.iter().map(kind).collect::<Vec<_>>()
    };
    changes.iter().flat_map(of_change).collect()
}

/// What an edit changes that was there before.
fn written(edit: &Edit) -> Option<String> {
    match edit {
        Edit::Update { after, .. } => Some(format!("data of {}", after.id)),
        Edit::Move { block, .. } => Some(format!("place of {block}")),
        Edit::UpdateDocument { after, .. } => Some(format!("document {}", after.id)),
        Edit::UpdateFolder { after, .. } => Some(format!("folder {}", after.id)),
        Edit::UpdateComment { after, .. } => Some(format!("comment {}", after.id)),
        Edit::SetSchema { collection, .. } => Some(format!("schema of {collection}")),
        Edit::UpdateSpace { .. } => Some("space".to_owned()),
        Edit::SetScope { before, after } => {
            before.as_ref().or(after.as_ref()).map(|scope| format!("scope {}", scope.name))
        }
        _ => None,
    }
}

/// What was counted over all programs.
#[derive(Default)]
struct Counts {
    undone: usize,
    refused: usize,
    like_never_done: usize,
}

/// A program that was run.
struct Past {
    pair: Pair,
    steps: Vec<Step>,
    /// The last sequence after each step, and before the first.
    sequences: Vec<u64>,
    dumps: Vec<Value>,
    /// Whether inverses are applied as they are: what an undo must never do.
    is_verbatim: bool,
}

impl Past {
    fn new(numbers: &mut Numbers<'_>, is_verbatim: bool) -> Self {
        let mut pair = Pair::new(None);
        pair.with_collections = numbers.once_in(2);
        let mut steps = Vec::new();
        let (mut sequences, mut dumps) =
            (vec![pair.notes().last_sequence().unwrap()], vec![dump(&pair.notes())]);
        for _ in 0..STEPS {
            let request = pair.next(numbers);
            steps.push(pair.as_step(&request));
            pair.step(request);
            sequences.push(pair.notes().last_sequence().unwrap());
            dumps.push(dump(&pair.notes()));
        }
        Self { pair, steps, sequences, dumps, is_verbatim }
    }

    /// The changes that a step made.
    fn changes(&self, step: usize) -> Vec<u64> {
        (self.sequences[step] + 1..=self.sequences[step + 1]).collect()
    }

    /// Whether later steps wrote what this one did: a thing that came to be again as the step left
    /// it is undone, and would be something else if the step had never been.
    fn is_written_again(&self, step: usize) -> bool {
        let notes = self.pair.notes();
        let mut own = BTreeSet::new();
        for (number, sequence) in
            self.changes(step).into_iter().map(|it| (true, it)).chain(
                (step + 1..STEPS).flat_map(|later| self.changes(later)).map(|it| (false, it)),
            )
        {
            let change = notes.changes_since(sequence - 1).next().unwrap().unwrap();
            for written in change.edits.iter().filter_map(written) {
                if number {
                    own.insert(written);
                } else if own.contains(&written) {
                    return true;
                }
            }
        }
        false
    }

    fn undo(&self, changes: Vec<u64>) -> Result<Change> {
        let notes = self.pair.notes();
        let (before, revisions_before) = (dump(&notes), revisions(&notes));
        let last = notes.last_sequence().unwrap();
        let undone = if self.is_verbatim {
            self.apply_verbatim(&changes)
        } else {
            notes.undo(UndoChanges::new(changes))
        };
        match &undone {
            Ok(change) => assert_eq!(change.sequence, last + 1, "one change"),
            Err(error) => {
                assert_eq!(notes.last_sequence().unwrap(), last);
                assert_eq!(dump(&notes), before, "refused, and something was written");
                let kinds = [ErrorKind::Conflict, ErrorKind::HistoryGone];
                assert!(kinds.contains(&error.kind()), "{error:?}");
            }
        }
        for (id, rev) in revisions(&notes) {
            assert!(revisions_before.get(&id).is_none_or(|before| *before <= rev), "{id}");
        }
        let report = self.pair.space().check().unwrap();
        assert!(report.is_clean(), "{report:?}");
        undone
    }

    /// Applies the inverses of changes as the log has them.
    fn apply_verbatim(&self, changes: &[u64]) -> Result<Change> {
        let notes = self.pair.notes();
        let mut edits = Vec::new();
        for sequence in changes.iter().rev() {
            let change = notes.changes_since(sequence - 1).next().unwrap()?;
            edits.append(&mut change.inverse()?);
        }
        let applied = self.pair.space().apply(&Author::ANONYMOUS, &edits)?;
        applied.ok_or_else(|| Error::new(ErrorKind::Conflict, "nothing is left of it"))
    }

    /// Undoes one step in the midst of others, compares with what there is if it was never done,
    /// and redoes it.
    fn undo_one(&self, step: usize, counts: &mut Counts) -> bool {
        let notes = self.pair.notes();
        let present = dump(&notes);
        let change = match self.undo(self.changes(step)) {
            Ok(change) => change,
            Err(_) => {
                counts.refused += 1;
                return true;
            }
        };
        counts.undone += 1;
        let others = || (0..STEPS).filter(|other| *other != step);
        let (replayed, sequences) = Pair::replay(others().map(|other| &self.steps[other]));
        // A step may write something else without the one that is undone, or nothing.
        let first = self.sequences[0];
        let ours = others().map(|other| self.changes(other));
        let ours: Vec<_> = ours.map(|changes| kinds(&notes, &changes)).collect();
        let starts = [first].into_iter().chain(sequences.iter().copied());
        let theirs: Vec<_> = starts
            .zip(&sequences)
            .map(|(start, end)| (start + 1..=*end).collect::<Vec<_>>())
            .map(|changes| kinds(&replayed.notes(), &changes))
            .collect();
        if ours == theirs && !self.is_written_again(step) {
            let without = without_order(dump(&replayed.notes()));
            let undone = without_order(dump(&notes));
            check_equal(&undone, &without, &format!("{:?} as if never done", self.steps[step]));
            counts.like_never_done += 1;
        }
        match self.undo(vec![change.sequence]) {
            Ok(_) => {
                check_same(&notes, &present, &format!("redo of {:?}", self.steps[step]));
                true
            }
            Err(error) => {
                assert!(is_lost(&error), "what was undone can be redone: {error:?}");
                false
            }
        }
    }
}

impl Past {
    /// Undoes the last steps as a group, and redoes them.
    fn undo_group(&self, last: &[usize]) {
        let (notes, present) = (self.pair.notes(), self.dumps.last().unwrap());
        let group: Vec<u64> = last.iter().flat_map(|step| self.changes(*step)).collect();
        match self.undo(group) {
            Ok(change) => {
                check_same(&notes, &self.dumps[last[0]], &format!("undo of the steps {last:?}"));
                match self.undo(vec![change.sequence]) {
                    Ok(_) => check_same(&notes, present, "redo of the group"),
                    Err(error) => assert!(is_lost(&error), "{error:?}"),
                }
            }
            Err(error) => assert!(is_lost(&error), "the last changes can be undone: {error:?}"),
        }
    }

    /// Undoes one step after the other, as far as it goes, and redoes them.
    fn undo_all(&self, changed: &[usize]) {
        let (notes, mut redo) = (self.pair.notes(), Vec::new());
        for step in changed.iter().rev().copied() {
            match self.undo(self.changes(step)) {
                Ok(change) => {
                    let what = format!("undo of {:?}", self.steps[step]);
                    check_same(&notes, &self.dumps[step], &what);
                    redo.push((step, change.sequence));
                }
                Err(error) => {
                    assert!(is_lost(&error), "{:?}: {error:?}", self.steps[step]);
                    break;
                }
            }
        }
        for (step, sequence) in redo.into_iter().rev() {
            match self.undo(vec![sequence]) {
                Ok(_) => {
                    let what = format!("redo of {:?}", self.steps[step]);
                    check_same(&notes, &self.dumps[step + 1], &what);
                }
                Err(error) => return assert!(is_lost(&error), "step {step}: {error:?}"),
            }
        }
    }
}

/// Whether something is gone for good: the bytes of a file, or what a purge redacted.
fn is_lost(error: &Error) -> bool {
    error.kind() == ErrorKind::HistoryGone
        || error.details().iter().any(|detail| detail.path.starts_with("files."))
}

fn run(numbers: &[u32], counts: &mut Counts, is_verbatim: bool) {
    let mut numbers = Numbers::new(numbers);
    let way = numbers.below(3);
    let past = Past::new(&mut numbers, is_verbatim);
    let changed: Vec<usize> = (0..STEPS).filter(|step| !past.changes(*step).is_empty()).collect();
    if changed.is_empty() {
        return;
    }
    match way {
        0 => past.undo_group(&changed[changed.len().saturating_sub(1 + numbers.below(6))..]),
        1 => past.undo_all(&changed),
        _ => {
            for _ in 0..4 {
                let step = changed[numbers.below(changed.len())];
                if !past.undo_one(step, counts) {
                    return;
                }
            }
        }
    }
}

#[test]
fn what_is_undone_is_as_if_it_was_never_done_and_comes_back() {
    let counts = Mutex::new(Counts::default());
    let kept = sequences(programs(), 1_000, |numbers| {
        let mut own = Counts::default();
        run(numbers, &mut own, false);
        let mut counts = counts.lock().unwrap();
        counts.undone += own.undone;
        counts.refused += own.refused;
        counts.like_never_done += own.like_never_done;
    });
    kept.unwrap_or_else(|error| panic!("{error}"));
    let Counts { undone, refused, like_never_done } = counts.into_inner().unwrap();
    println!("{undone} undone, {like_never_done} as if never done, {refused} refused");
    assert!(undone > refused / 4 && like_never_done * 2 > undone, "{undone} {refused}");
}

/// The control: inverses that are applied as they are set revisions back, and fit nothing that was
/// written since.
#[test]
fn inverses_applied_as_they_are_are_noticed() {
    let noticed = sequences(20, 0, |numbers| run(numbers, &mut Counts::default(), true));
    assert!(noticed.is_err());
}

/// A space with a document, and the parts that a case names.
struct Desk {
    space: Space,
    notes: Connection,
    document: DocumentId,
}

impl Desk {
    fn new() -> Self {
        let space = Space::in_memory().unwrap();
        let notes = space.connect().acting_as("Ada");
        let document = notes.create_document("Trip").unwrap().id();
        Self { space, notes, document }
    }

    fn insert(&self, markdown: &str) -> Vec<BlockId> {
        let made = self.notes.insert_markdown(markdown, self.document).unwrap();
        made.iter().map(|block| block.id).collect()
    }

    fn last(&self) -> u64 {
        self.notes.last_sequence().unwrap()
    }

    fn shown(&self) -> String {
        self.notes.content_markdown(self.document).unwrap()
    }

    /// The paths of what is in the way of an undo.
    fn in_the_way(&self, sequence: u64) -> Vec<String> {
        let refused = self.notes.undo(sequence).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused:?}");
        refused.details().iter().map(|detail| detail.path.clone()).collect()
    }
}

#[test]
fn later_writes_stay() {
    let desk = Desk::new();
    let [a, b, c] = desk.insert("a\n\nb\n\nc")[..] else { panic!("three blocks") };
    let notes = &desk.notes;
    notes.delete_blocks(DeleteBlocks::from(b)).unwrap();
    let deleted = desk.last();
    notes.delete_blocks(DeleteBlocks::from(a)).unwrap();
    notes.update_markdown(c, "changed").unwrap();
    notes.insert_markdown("first", Position::start_of(desk.document)).unwrap();
    notes.undo(deleted).unwrap();
    // The block that it followed is gone; it stands where that stood.
    assert_eq!(desk.shown(), "b\n\nfirst\n\nchanged");
    let b = notes.fetch(Fetch::new(b).with_metadata()).unwrap();
    assert_eq!(b.rev, 2);
    assert!(desk.space.check().unwrap().is_clean());
}

#[test]
fn what_is_in_the_way_is_named_and_nothing_is_done() {
    let desk = Desk::new();
    let [a, b] = desk.insert("a\n\nb")[..] else { panic!("two blocks") };
    let (notes, inserted) = (&desk.notes, desk.last());
    notes.update_markdown(a, "changed").unwrap();
    let child = notes.insert_markdown("child", Position::end_of(b)).unwrap()[0].id;
    let blocks = [format!("blocks.{a}"), format!("blocks.{b}"), format!("blocks.{child}")];
    assert_eq!(desk.in_the_way(inserted), blocks);
    notes.add_comments(AddComments::new([CommentDraft::new(a, "why?")])).unwrap();
    let last = desk.last();
    assert_eq!(desk.in_the_way(inserted).len(), 3);
    assert_eq!(desk.last(), last);

    // A document that another undo took away was not purged.
    notes.create_document("Plan").unwrap();
    let created = desk.last();
    notes.undo(created).unwrap();
    let gone = notes.undo(created).unwrap_err();
    assert_eq!(gone.details()[0].message, "does not exist any more");

    let folder = notes.create_folder("Travel", None).unwrap().id;
    let made = desk.last();
    notes.move_documents(MoveDocuments::new([desk.document], folder)).unwrap();
    assert_eq!(desk.in_the_way(made), [format!("folders.{folder}")]);
    notes.delete_documents(DeleteDocuments::from(desk.document)).unwrap();
    assert_eq!(desk.in_the_way(inserted)[0], format!("documents.{}", desk.document));
}

#[test]
fn a_text_that_became_a_page_stays_one_for_what_came_later() {
    let desk = Desk::new();
    let page = desk.insert("page")[0];
    let first = desk.notes.insert_markdown("first", Position::end_of(page)).unwrap()[0].id;
    let became = desk.last();
    desk.notes.insert_markdown("second", Position::end_of(page)).unwrap();
    desk.notes.undo(became).unwrap();
    assert!(desk.notes.fetch(Fetch::new(first)).is_err());
    assert_eq!(desk.notes.content_markdown(page).unwrap(), "second");
    assert!(desk.space.check().unwrap().is_clean());
}

#[test]
fn a_daily_note_and_the_inbox_stay_for_what_came_later() {
    for insert in [insert_into_note, insert_into_inbox] {
        let space = Space::in_memory().unwrap();
        let notes = space.connect();
        let first = insert(&notes, "first");
        let created = notes.last_sequence().unwrap();
        let second = insert(&notes, "second");
        let document = notes.document_of(second).unwrap();
        let shown = || notes.content_markdown(document).unwrap();
        let both = shown();

        let undone = notes.undo(created).unwrap().sequence;
        assert!(!shown().contains("first") && shown().contains("second"), "{}", shown());
        let redone = notes.undo(undone).unwrap().sequence;
        assert_eq!(shown(), both);

        notes.update_markdown(first, "changed").unwrap();
        let refused = notes.undo(redone).unwrap_err();
        assert_eq!(refused.details()[0].path, format!("blocks.{first}"));
        assert!(space.check().unwrap().is_clean());
    }
}

fn insert_into_note(notes: &Connection, text: &str) -> BlockId {
    notes.insert_markdown(text, Position::end_of_day(DayRef::Today)).unwrap()[0].id
}

fn insert_into_inbox(notes: &Connection, text: &str) -> BlockId {
    notes.add_tasks(AddTasks::new([TaskDraft::new(text)])).unwrap()[0].id
}

/// Redo of the first write to a note or an inbox whose place another one has taken.
#[test]
fn a_note_or_inbox_does_not_return_next_to_another() {
    for insert in [insert_into_note, insert_into_inbox] {
        let notes = Space::in_memory().unwrap().connect();
        insert(&notes, "first");
        let undone = notes.undo(notes.last_sequence().unwrap()).unwrap().sequence;
        let second = insert(&notes, "second");
        let document = notes.document_of(second).unwrap();
        let refused = notes.undo(undone).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict);
        assert_eq!(refused.details()[0].path, format!("documents.{document}"), "{refused}");
    }
}

#[test]
fn changes_that_are_gone_are_told_from_those_that_never_were() {
    let desk = Desk::new();
    desk.insert("a");
    let inserted = desk.last();
    for (sequence, kind) in [(0, ErrorKind::NotFound), (inserted + 1, ErrorKind::NotFound)] {
        let refused = desk.notes.undo(UndoChanges::new([inserted, sequence])).unwrap_err();
        assert_eq!((refused.kind(), refused.path()), (kind, "sequences[1]"));
    }
    let none = desk.notes.undo(UndoChanges::new([])).unwrap_err();
    assert_eq!((none.kind(), none.path()), (ErrorKind::Validation, "sequences"));
    desk.notes.delete_documents(DeleteDocuments::from(desk.document)).unwrap();
    desk.notes.purge_documents(PurgeDocuments::new([desk.document])).unwrap();
    let gone = desk.notes.undo(inserted).unwrap_err();
    assert_eq!((gone.kind(), gone.path()), (ErrorKind::HistoryGone, "sequences[0]"));
    assert!(gone.message().contains("; the change log begins at "), "{gone}");
    desk.space.compact_with(CompactOptions::new().keep_changes(0)).unwrap();
    assert_eq!(desk.notes.undo(1).unwrap_err().kind(), ErrorKind::HistoryGone);
}

/// A clock that a test sets.
#[derive(Clone, Default)]
struct Hand(Arc<AtomicI64>);

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_700_000_000_000 + self.0.load(Ordering::Relaxed))
    }
}

/// What an editor does, step by step, and what is shown then.
#[test]
fn an_undo_manager_groups_own_changes() {
    let clock = Hand::default();
    let space = Space::builder().clock(clock.clone()).in_memory().unwrap();
    let others = space.connect().acting_as("Ben");
    let document = others.create_document("Trip").unwrap().id();
    let line = others.insert_markdown("start", document).unwrap()[0].id;
    let mut undo = space.connect().acting_as("Ada").undo_manager();
    let notes = undo.notes().clone();
    let shown = || others.content_markdown(document).unwrap();
    assert!(!undo.can_undo() && !undo.can_redo());
    assert!(undo.undo().unwrap().is_none());

    let typed = |texts: &[&str], pause: i64| {
        for text in texts {
            clock.0.fetch_add(pause, Ordering::Relaxed);
            notes.update_markdown(line, text).unwrap();
        }
    };
    typed(&["p", "pa", "pas"], 300);
    typed(&["pass", "passport"], 2_000);
    others.insert_markdown("of Ben", document).unwrap();
    notes
        .batch(|batch| {
            batch.insert_markdown("a", document)?;
            batch.insert_markdown("b", document)
        })
        .unwrap();
    assert_eq!(shown(), "passport\n\nof Ben\n\na\n\nb");
    let mut steps = Vec::new();
    while undo.undo().unwrap().is_some() {
        steps.push(shown());
    }
    let expected = ["passport\n\nof Ben", "pass\n\nof Ben", "pas\n\nof Ben", "start\n\nof Ben"];
    assert_eq!(steps, expected);
    while undo.redo().unwrap().is_some() {}
    assert_eq!(shown(), "passport\n\nof Ben\n\na\n\nb");

    // A new edit clears what can be redone; another's edit is in the way, until it is undone.
    undo.undo().unwrap();
    assert!(undo.can_redo());
    notes.update_markdown(line, "passports").unwrap();
    assert!(!undo.can_redo());
    others.update_markdown(line, "Pass").unwrap();
    let refused = undo.undo().unwrap_err();
    assert_eq!(refused.details()[0].path, format!("blocks.{line}"));
    assert!(undo.can_undo());
    others.update_markdown(line, "passports").unwrap();
    undo.undo().unwrap();
    assert_eq!(shown(), "passport\n\nof Ben");
    assert!(undo.drop_step());
    // The step that is left does not fit what the dropped one wrote.
    assert!(undo.undo().is_err());
}

/// Only edits of one text alone, without another step between them, are typing.
#[test]
fn an_undo_manager_joins_consecutive_edits_of_one_text_alone() {
    let clock = Hand::default();
    let space = Space::builder().clock(clock).in_memory().unwrap();
    let mut undo = space.connect().undo_manager();
    let notes = undo.notes().clone();
    let document = notes.create_document("Trip").unwrap().id();
    let made = notes.insert_markdown("- [ ] a\n- [ ] b", document).unwrap();
    let shown = || notes.content_markdown(document).unwrap();

    notes.update_markdown(made[0].id, "- [ ] a1").unwrap();
    notes.update_markdown(made[0].id, "- [x] a2").unwrap();
    undo.undo().unwrap();
    assert_eq!(shown(), "- [ ] a1\n- [ ] b", "the task was closed as well");

    notes.update_markdown(made[1].id, "b1").unwrap();
    undo.undo().unwrap();
    notes.update_markdown(made[0].id, "a3").unwrap();
    undo.undo().unwrap();
    assert_eq!(shown(), "- [ ] a1\n- [ ] b", "another step was undone in between");
}

/// A block and a document that return a second time have higher revisions than ever before, so that
/// one that a client read in between is refused.
#[test]
fn revisions_of_what_returns_only_grow() {
    let notes = Space::in_memory().unwrap().connect();
    let done = |sequence: u64| notes.undo(sequence).map(|_| notes.last_sequence().unwrap());
    let page = notes.create_document("Page").unwrap().id();
    let block = notes.insert_markdown("x", page).unwrap()[0].id;
    let delete = || {
        notes.delete_blocks(DeleteBlocks::new([block])).unwrap();
        notes.last_sequence().unwrap()
    };
    let rev = || notes.fetch(Fetch::new(block)).unwrap().rev;
    let first = delete();
    done(first).unwrap();
    notes.update_markdown(block, "y").unwrap();
    let read = rev();
    delete();
    done(first).unwrap();
    assert!(rev() > read, "{} after {read}", rev());

    let document = notes.create_document("One").unwrap().id();
    let erased = done(notes.last_sequence().unwrap()).unwrap();
    let returned = done(erased).unwrap();
    for title in ["Two", "One", "Two", "One"] {
        let patch = DocumentPatch::of(document).titled(title);
        notes.update_documents(UpdateDocuments::new([patch])).unwrap();
    }
    let revs = || {
        let record = notes.document(document).unwrap().record;
        (record.rev, notes.fetch(Fetch::new(document)).unwrap().rev)
    };
    let read = revs();
    done(returned).unwrap();
    done(erased).unwrap();
    assert!(revs().0 > read.0 && revs().1 > read.1, "{:?} after {read:?}", revs());
}
