//! Restores to any moment since the oldest snapshot.

use std::collections::BTreeMap;

use leafbase::{CompactOptions, ErrorKind, Space, Timestamp};
use leafbase_replica::{DirectoryStore, Leader, LeaderOptions, RestorePoint, restore};

use crate::dump::{assert_same, dump};
use crate::programs::Program;

/// Restores of all programs.
const RESTORES: usize = 200;
const PROGRAMS: u64 = 4;

#[test]
fn restores_to_random_sequences_are_what_the_space_was() {
    for seed in 20..20 + PROGRAMS {
        let directory = tempfile::tempdir().unwrap();
        let store = std::sync::Arc::new(DirectoryStore::new(directory.path().join("replica")));
        let mut program = Program::new(seed, false);
        // Snapshots now and then, and segments that are joined.
        let options = LeaderOptions::new("leader", directory.path().join("scratch"))
            .snapshot_after(20_000)
            .keep_snapshots(100);
        let mut leader = Leader::acquire(program.space(), store.clone(), options).unwrap();
        let mut dumps = BTreeMap::new();
        for _ in 0..70 {
            let sequence = program.notes().last_sequence().unwrap();
            dumps.insert(sequence, dump(&program.notes()));
            program.step();
            leader.ship().unwrap();
        }
        let sequences: Vec<u64> = dumps.keys().copied().collect();
        for round in 0..RESTORES / usize::try_from(PROGRAMS).unwrap() {
            let sequence = sequences[program.random().below(sequences.len())];
            let path = directory.path().join(format!("copy-{round}"));
            let restored = restore(&*store, &path, RestorePoint::Sequence(sequence)).unwrap();
            assert_eq!(restored.sequence(), sequence);
            let space = Space::open(&path).unwrap();
            let what = format!("program {seed} at {sequence}");
            assert_same(&dump(&space.connect()), &dumps[&sequence], &what);
            // It goes its own way.
            space.connect().create_document("after").unwrap();
            space.close().unwrap();
            std::fs::remove_dir_all(&path).unwrap();
        }
    }
}

#[test]
fn a_time_is_the_moment_before_the_first_later_change() {
    let directory = tempfile::tempdir().unwrap();
    let store = std::sync::Arc::new(DirectoryStore::new(directory.path().join("replica")));
    let mut program = Program::new(30, false);
    let options = LeaderOptions::new("leader", directory.path().join("scratch"));
    let mut leader = Leader::acquire(program.space(), store.clone(), options).unwrap();
    let begins = leader.position().sequence();
    for _ in 0..30 {
        program.step();
    }
    leader.ship().unwrap();
    let changes: Vec<_> =
        program.notes().changes_since(begins).collect::<leafbase::Result<_>>().unwrap();
    for (round, pair) in changes.windows(2).enumerate().step_by(5) {
        let (at, later) = (pair[0].stamp.at.as_millis(), pair[1].stamp.at.as_millis());
        if at == later {
            continue;
        }
        let path = directory.path().join(format!("copy-{round}"));
        let time = Timestamp::from_millis(later - 1);
        assert_eq!(restore(&*store, path, RestorePoint::Time(time)).unwrap(), pair[0].position());
    }
    let path = directory.path().join("early");
    let refused =
        restore(&*store, &path, RestorePoint::Time(Timestamp::from_millis(0))).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::HistoryGone);
    assert!(!path.exists());
}

/// Retention drops snapshots and what was before them; the rest is as it was.
#[test]
fn only_moments_since_the_oldest_snapshot_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    let store = std::sync::Arc::new(DirectoryStore::new(directory.path().join("replica")));
    let space = Space::in_memory().unwrap();
    let options = LeaderOptions::new("leader", directory.path().join("scratch")).keep_snapshots(2);
    let mut leader = Leader::acquire(&space, store.clone(), options).unwrap();
    let mut snapshots = Vec::new();
    for round in 0..5 {
        space.connect().create_document(&format!("document {round}")).unwrap();
        leader.ship().unwrap();
        snapshots.push(leader.snapshot().unwrap().sequence());
        space.connect().create_document(&format!("other {round}")).unwrap();
        leader.ship().unwrap();
    }
    let path = |sequence: u64| directory.path().join(format!("copy-{sequence}"));
    let refused = restore(&*store, path(1), RestorePoint::Sequence(snapshots[3] - 1)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::HistoryGone, "{refused}");
    for sequence in snapshots[3]..=10 {
        restore(&*store, path(sequence), RestorePoint::Sequence(sequence)).unwrap();
        let restored = Space::open(path(sequence)).unwrap();
        assert_eq!(restored.connect().documents().unwrap().len() as u64, sequence);
    }
}

/// What compaction merges before it is shipped counts as all the changes that it was.
#[test]
fn merged_rows_are_followed_as_the_changes_that_they_were() {
    let directory = tempfile::tempdir().unwrap();
    let store = std::sync::Arc::new(DirectoryStore::new(directory.path().join("replica")));
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let trip = notes.create_document("Trip").unwrap();
    let text = notes.insert_markdown("p", trip.id()).unwrap()[0].id;
    let options = LeaderOptions::new("leader", directory.path().join("scratch"));
    let mut leader = Leader::acquire(&space, store.clone(), options).unwrap();
    for length in 1..8 {
        notes.update_markdown(text, &"passport"[..length]).unwrap();
    }
    space
        .compact_with(CompactOptions::new().merge_edits_within(std::time::Duration::from_secs(60)))
        .unwrap();
    notes.create_document("Diary").unwrap();
    leader.ship().unwrap();
    let path = directory.path().join("copy");
    restore(&*store, &path, RestorePoint::Newest).unwrap();
    let copy = Space::open(&path).unwrap();
    assert_same(&dump(&copy.connect()), &dump(&notes), "merged");
    assert!(copy.check().unwrap().is_clean());
    let inside = restore(&*store, directory.path().join("inside"), RestorePoint::Sequence(5));
    assert_eq!(inside.unwrap_err().kind(), ErrorKind::HistoryGone);
}
