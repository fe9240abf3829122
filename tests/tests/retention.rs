//! Compaction that drops and merges changes: documents stay as they are, what is left of the log
//! goes on without a gap, and a position that it no longer has is refused.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use leafbase::{
    Author, BlockId, Change, ChangePosition, CompactOptions, Connection, DocumentId, Edit,
    ErrorKind, SearchDocuments, Space,
};
use leafbase_test_outline::FixedClock;
use proptest::prelude::*;

const START: u64 = 1_767_225_600_000;
const MINUTE: u64 = 60_000;

/// Documents by ID, as markdown.
type Documents = BTreeMap<DocumentId, String>;

fn documents(notes: &Connection) -> Documents {
    let documents = notes.documents().unwrap();
    let ids = documents.iter().map(leafbase::Document::id);
    ids.map(|id| (id, notes.content_markdown(id).unwrap())).collect()
}

fn changes(notes: &Connection, after: impl Into<ChangePosition>) -> Vec<Change> {
    notes.changes_since(after).map(Result::unwrap).collect()
}

/// A space, and what it was after each change.
struct Scene {
    place: tempfile::TempDir,
    space: Space,
    clock: Arc<FixedClock>,
    lines: Vec<BlockId>,
    positions: Vec<ChangePosition>,
    states: Vec<Documents>,
}

impl Scene {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let clock = Arc::new(FixedClock::at(START));
        let space = Space::builder()
            .clock(Arc::<FixedClock>::clone(&clock))
            .create(place.path().join("notes"))
            .unwrap();
        let (lines, positions, states) =
            (Vec::new(), vec![ChangePosition::BEGINNING], vec![Documents::new()]);
        let mut scene = Self { place, space, clock, lines, positions, states };
        for title in ["trip", "diary"] {
            let notes = scene.notes();
            let document = notes.create_document(title).unwrap().id();
            scene.told();
            for line in ["one", "two"] {
                let made = notes.insert_markdown(line, document).unwrap();
                scene.lines.push(made[0].id);
                scene.told();
            }
        }
        scene
    }

    fn notes(&self) -> Connection {
        self.space.connect()
    }

    /// Records what a write left.
    fn told(&mut self) {
        let notes = self.notes();
        self.positions.push(notes.last_position().unwrap());
        self.states.push(documents(&notes));
    }

    /// The author `by` types the text of a line, some time after the write before.
    fn types(&mut self, line: usize, by: &str, text: &str, minutes: u64) {
        self.clock.advance(minutes * MINUTE);
        let line = self.lines[line % self.lines.len()];
        self.notes().acting_as(by).update_markdown(line, text).unwrap();
        self.told();
    }

    fn compact(&self, options: CompactOptions) {
        self.space.compact_with(options).unwrap();
    }

    /// The log from its beginning on, which has no gap and leads from the state there to the
    /// present one and back.
    fn check(&self) -> Vec<Change> {
        let notes = self.notes();
        let report = self.space.check().unwrap();
        assert!(report.is_clean(), "{report:?}");
        assert_eq!(Some(&documents(&notes)), self.states.last());
        let beginning = notes.log_begins_at().unwrap();
        assert_eq!(self.space.stats().unwrap().log_begins_at, beginning.sequence());
        let log = changes(&notes, beginning);
        let mut before = beginning.sequence();
        for change in &log {
            assert_eq!(change.first_sequence, before + 1);
            let at = usize::try_from(change.sequence).unwrap();
            assert_eq!(change.position(), self.positions[at], "the token stays");
            before = change.sequence;
        }
        assert_eq!(before, notes.last_sequence().unwrap());
        self.check_positions(&notes, &log);
        self.check_copy(beginning, &log);
        log
    }

    /// Positions at the end of a change go on there, and others are refused.
    fn check_positions(&self, notes: &Connection, log: &[Change]) {
        let beginning = notes.log_begins_at().unwrap();
        for position in &self.positions {
            let rest = log.iter().position(|change| change.first_sequence > position.sequence());
            let goes_on = position.sequence() == beginning.sequence()
                || log.iter().any(|change| change.sequence == position.sequence());
            for position in [*position, position.sequence().into()] {
                let found = notes.changes_since(position).collect::<Result<Vec<_>, _>>();
                match found {
                    Ok(found) => {
                        assert!(goes_on, "{position}");
                        assert_eq!(found, rest.map_or(&[][..], |rest| &log[rest..]), "{position}");
                    }
                    Err(error) => {
                        assert!(!goes_on, "{position}: {error}");
                        assert_eq!(error.kind(), ErrorKind::HistoryGone);
                        let says = format!("the change log begins at {beginning}");
                        assert!(error.message().contains(&says), "{error}");
                    }
                }
            }
        }
    }

    /// A backup whose changes are undone has the state at the beginning of the log; done again, the
    /// present one.
    fn check_copy(&self, beginning: ChangePosition, log: &[Change]) {
        let path = self.place.path().join("copy");
        self.space.backup_to(&path).unwrap();
        let copy = Space::open(&path).unwrap();
        let notes = copy.connect();
        assert_eq!(changes(&notes, beginning), log);
        for change in log.iter().rev() {
            copy.apply(&Author::ANONYMOUS, &change.inverse().unwrap()).unwrap();
        }
        let at = usize::try_from(beginning.sequence()).unwrap();
        assert_eq!(documents(&notes), self.states[at]);
        for change in log {
            copy.apply(&change.stamp.by, &change.edits).unwrap();
        }
        assert_eq!(Some(&documents(&notes)), self.states.last());
        assert!(copy.check().unwrap().is_clean());
        copy.close().unwrap();
        std::fs::remove_dir_all(path).unwrap();
    }
}

/// The sequences that each change covers.
fn covered(log: &[Change]) -> Vec<(u64, u64)> {
    log.iter().map(|change| (change.first_sequence, change.sequence)).collect()
}

#[test]
fn changes_before_a_bound_are_dropped() {
    let minutes = |minutes: u64| Duration::from_millis(minutes * MINUTE);
    let all = CompactOptions::new();
    for (options, begins_at) in [
        (all, 0),
        (all.keep_changes(100), 0),
        (all.keep_changes(10), 0),
        (all.keep_changes(4), 6),
        (all.keep_changes(0), 10),
        // The first six are 30 minutes old, the others 15, 10, 5 and 0.
        (all.keep_for(minutes(30)), 0),
        (all.keep_for(minutes(29)), 6),
        (all.keep_for(minutes(10)), 7),
        (all.keep_for(minutes(0)), 9),
        (all.keep_bytes(0), 10),
        (all.keep_bytes(1 << 20), 0),
        // The bound that keeps least counts.
        (all.keep_changes(9).keep_for(minutes(10)).keep_bytes(1 << 20), 7),
    ] {
        let mut scene = Scene::new();
        for (line, later) in [(0, 15), (1, 5), (2, 5), (3, 5)] {
            scene.types(line, "Ada", "typed", later);
        }
        scene.compact(options);
        let log = scene.check();
        assert_eq!(scene.notes().log_begins_at().unwrap().sequence(), begins_at, "{options:?}");
        assert_eq!(log.len() as u64, 10 - begins_at, "{options:?}");
        scene.types(0, "Ada", "later", 1);
        assert_eq!(scene.check().len() as u64, 11 - begins_at);
    }
}

#[test]
fn bytes_that_are_kept_are_the_last() {
    let mut scene = Scene::new();
    for number in 0..60 {
        scene.types(number % 4, "Ada", &format!("{number} ").repeat(200), 1);
    }
    scene.compact(CompactOptions::new().keep_bytes(20_000));
    let kept = scene.check().len();
    assert!((5..40).contains(&kept), "{kept} changes");
}

#[test]
fn edits_of_one_text_are_merged() {
    let within = |minutes: u64| {
        CompactOptions::new().merge_edits_within(Duration::from_millis(minutes * MINUTE))
    };
    let mut scene = Scene::new();
    for (line, by, text, later) in [
        (0, "Ada", "p", 1),
        (0, "Ada", "pa", 1),
        (0, "Ada", "pas", 1),
        // Another author, another line, a longer pause.
        (0, "Bob", "pass", 1),
        (1, "Bob", "x", 1),
        (1, "Bob", "xy", 1),
        (1, "Bob", "xyz", 3),
        (1, "Bob", "xyz!", 1),
    ] {
        scene.types(line, by, text, later);
    }
    let one = |sequences: std::ops::RangeInclusive<u64>| sequences.map(|at| (at, at));
    scene.compact(within(0));
    assert_eq!(covered(&scene.check()), one(1..=14).collect::<Vec<_>>());
    scene.compact(within(2));
    let merged = [(7, 9), (10, 10), (11, 12), (13, 14)];
    let log = scene.check();
    assert_eq!(covered(&log), one(1..=6).chain(merged).collect::<Vec<_>>());
    let [Edit::Update { before, after, .. }] = log[6].edits.as_slice() else { panic!() };
    assert_eq!((&*before.data.inline, &*after.data.inline), ("one", "pas"));
    // What was merged is merged further. Its time is that of its last edit.
    scene.types(1, "Bob", "xyz!?", 1);
    scene.compact(within(4).keep_changes(9));
    assert_eq!(covered(&scene.check()), [(7, 9), (10, 10), (11, 15)]);
    scene.compact(within(4).keep_changes(4));
    assert_eq!(covered(&scene.check()), [(11, 15)]);
}

/// A log of keys does not grow without bound.
#[test]
fn the_log_of_many_keys_is_a_few_times_the_text() {
    let scene = Scene::new();
    let (notes, line) = (scene.notes(), scene.lines[0]);
    let mut text = String::new();
    for key in 0..1_500 {
        text.push(if key % 6 == 5 { ' ' } else { 'k' });
        notes.update_markdown(line, format!("{text}.").as_str()).unwrap();
        scene.clock.advance(200);
    }
    let bytes = |notes: &Connection| -> usize {
        let log = changes(notes, notes.log_begins_at().unwrap());
        log.iter().map(|change| serde_json::to_string(change).unwrap().len()).sum()
    };
    assert!(bytes(&notes) > 500 * text.len());
    scene.compact(CompactOptions::new().merge_edits_within(Duration::from_secs(60)));
    assert!(bytes(&notes) < 10 * text.len(), "{} of {}", bytes(&notes), text.len());
    assert!(scene.space.check().unwrap().is_clean());
}

/// A scope's feed tells that changes are gone, in its own numbers, and goes on after them.
#[test]
fn a_scope_misses_what_was_dropped() {
    let mut scene = Scene::new();
    let trip = scene.notes().document_of(scene.lines[0]).unwrap();
    let guest = scene.space.scoped([trip]);
    let numbers = |after: u64| -> Result<Vec<u64>, leafbase::Error> {
        guest.changes_since(after).map(|change| Ok(change?.sequence)).collect()
    };
    scene.types(0, "Ada", "a", 1);
    scene.types(2, "Ada", "hidden", 1);
    scene.types(0, "Ada", "ab", 1);
    assert_eq!(numbers(0).unwrap(), [1, 2]);
    // Merged or not: what a scope has read stays readable.
    scene.types(0, "Ada", "abc", 1);
    scene.compact(CompactOptions::new().merge_edits_within(Duration::from_secs(600)));
    assert_eq!(numbers(0).unwrap(), [1, 2, 3]);
    scene.types(0, "Ada", "abcd", 1);
    scene.compact(CompactOptions::new().keep_changes(0));
    let error = numbers(0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::HistoryGone);
    // Nothing of the space's own sequences or tokens.
    assert_eq!(error.message(), "change 1 is no longer in the change log");
    let last = guest.last_sequence().unwrap();
    scene.types(0, "Ada", "abcde", 1);
    assert_eq!(numbers(last).unwrap(), [last + 1]);
}

#[test]
fn the_index_goes_on_after_a_compaction() {
    let mut scene = Scene::new();
    scene.types(0, "Ada", "amber", 1);
    let found = |scene: &Scene, word: &str| {
        scene.notes().search(SearchDocuments::words(word)).unwrap().len()
    };
    assert_eq!(found(&scene, "amber"), 1);
    for text in ["amber b", "amber be", "amber bee"] {
        scene.types(0, "Ada", text, 1);
    }
    let options = CompactOptions::new().merge_edits_within(Duration::from_secs(600));
    scene.compact(options.keep_changes(2));
    assert_eq!((found(&scene, "bee"), found(&scene, "two")), (1, 2));
    scene.types(1, "Ada", "birch", 1);
    assert_eq!((found(&scene, "birch"), found(&scene, "two")), (1, 1));
    scene.check();
}

#[test]
fn a_shortened_log_is_salvaged_whole() {
    let mut scene = Scene::new();
    for (line, text) in [(0, "a"), (0, "ab"), (1, "x"), (0, "abc"), (0, "abcd")] {
        scene.types(line, "Ada", text, 1);
    }
    let within = Duration::from_millis(2 * MINUTE);
    scene.compact(CompactOptions::new().keep_changes(7).merge_edits_within(within));
    let log = scene.check();
    assert_eq!(covered(&log), [(5, 5), (6, 6), (7, 8), (9, 9), (10, 11)]);
    let (path, saved) = (scene.place.path().join("notes"), scene.place.path().join("saved"));
    let Scene { space, states, place, .. } = scene;
    space.close().unwrap();
    let report = Space::salvage(path, &saved).unwrap();
    assert!(report.losses.is_empty(), "{report:?}");
    let saved = Space::open(saved).unwrap();
    let notes = saved.connect();
    assert_eq!(notes.log_begins_at().unwrap().sequence(), 4);
    assert_eq!(changes(&notes, 4), log);
    assert_eq!(Some(&documents(&notes)), states.last());
    assert!(saved.check().unwrap().is_clean());
    drop(place);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is written, dropped and merged, in whatever order.
    #[test]
    fn logs_at_random(steps in prop::collection::vec((0..6_usize, 0..4_usize, 0..3_u64, 0..12_u64), 1..40)) {
        let mut scene = Scene::new();
        for (number, (kind, line, minutes, bound)) in steps.into_iter().enumerate() {
            let options = CompactOptions::new();
            let within = Duration::from_millis(minutes * MINUTE);
            match kind {
                0 => scene.compact(options.merge_edits_within(within)),
                1 if bound > 6 => {
                    scene.compact(options.merge_edits_within(within).keep_changes(bound));
                }
                _ => {
                    let by = if bound == 0 { "Bob" } else { "Ada" };
                    scene.types(line / 2, by, &format!("text {number}"), minutes);
                    continue;
                }
            }
            scene.check();
        }
        scene.check();
    }
}
