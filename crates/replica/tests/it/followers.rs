//! Followers: equal to the leader at every sequence, cut off anywhere.

use std::path::Path;
use std::sync::Arc;

use leafbase::{ErrorKind, Space};
use leafbase_replica::{DirectoryStore, Follower, Leader, LeaderOptions, ReplicaStore};

use crate::dump::{assert_same, dump};
use crate::programs::Program;
use crate::stores::MemoryObjects;

fn options(directory: &Path) -> LeaderOptions {
    LeaderOptions::new("leader", directory.join("scratch"))
}

/// Applies what was shipped, as the program `leafbase follow` does: from a snapshot again where it
/// must.
fn catch_up(follower: Follower) -> Follower {
    match follower.catch_up() {
        Ok(_) => follower,
        Err(error) if error.kind() == ErrorKind::HistoryGone => {
            let follower = follower.start_over().unwrap();
            follower.catch_up().unwrap();
            follower
        }
        Err(error) => panic!("{error:?}"),
    }
}

#[test]
fn a_follower_is_equal_to_its_leader_after_every_write() {
    for seed in 0..6 {
        let directory = tempfile::tempdir().unwrap();
        let store: Arc<dyn ReplicaStore> =
            Arc::new(DirectoryStore::new(directory.path().join("replica")));
        let mut program = Program::new(seed, true);
        let mut leader =
            Leader::acquire(program.space(), Arc::clone(&store), options(directory.path()))
                .unwrap();
        let mut follower =
            Follower::open(directory.path().join("copy"), Arc::clone(&store)).unwrap();
        for step in 0..40 {
            program.step();
            leader.ship().unwrap();
            follower = catch_up(follower);
            let what = format!("program {seed} after step {step}");
            assert_same(&dump(&follower.connect()), &dump(&program.notes()), &what);
        }
        let report = follower.space().check().unwrap();
        assert!(report.is_clean(), "{report:?}");
    }
}

/// Leader and follower are cut off from the store after any number of calls, and go on later.
#[test]
fn leaders_and_followers_that_were_cut_off_go_on() {
    for seed in 10..14 {
        let directory = tempfile::tempdir().unwrap();
        let store = MemoryObjects::new();
        let mut program = Program::new(seed, true);
        let first = options(directory.path());
        let mut leader = Leader::acquire(program.space(), store.clone(), first.clone()).unwrap();
        let path = directory.path().join("copy");
        let mut follower = Some(Follower::open(&path, store.clone()).unwrap());
        let mut cuts = 0;
        for step in 0..40 {
            program.step();
            let calls = program.random().below(12) as u64;
            store.fail_after(calls);
            cuts += usize::from(leader.ship().is_err());
            store.heal();
            if step % 8 == 7 {
                // The process ended: another run of it leads.
                leader = Leader::acquire(program.space(), store.clone(), first.clone()).unwrap();
            }
            leader.ship().unwrap();
            store.fail_after(program.random().below(5) as u64);
            let copy = follower.take().unwrap();
            cuts += usize::from(copy.catch_up().is_err());
            store.heal();
            let reopened = if step % 5 == 4 {
                drop(copy);
                Follower::open(&path, store.clone()).unwrap()
            } else {
                copy
            };
            let caught_up = catch_up(reopened);
            let what = format!("program {seed} after step {step}");
            assert_same(&dump(&caught_up.connect()), &dump(&program.notes()), &what);
            follower = Some(caught_up);
        }
        assert!(cuts > 20, "{cuts} calls were cut off");
    }
}

/// A segment that ends at any byte is an error with its name; what is whole is applied, and the
/// rest once it is there.
#[test]
fn a_segment_cut_at_any_byte_is_applied_as_far_as_it_goes() {
    let directory = tempfile::tempdir().unwrap();
    let store = MemoryObjects::new();
    let mut program = Program::new(2, false);
    let mut leader =
        Leader::acquire(program.space(), store.clone(), options(directory.path())).unwrap();
    let before = leader.position();
    for _ in 0..6 {
        program.step();
    }
    let seeds = [directory.path().join("copy"), directory.path().join("other")];
    let follower = Follower::open(&seeds[0], store.clone()).unwrap();
    leader.ship().unwrap();
    let name = store.names().into_iter().find(|name| name.starts_with("segments/")).unwrap();
    let whole = store.bytes(&name);
    let mut reached = before.sequence();
    // Each byte of the header and of the first frames, and then every seventh.
    for cut in (0..whole.len()).filter(|cut| *cut < 64 || cut % 7 == 0) {
        store.alter(&name, |bytes| {
            whole[..cut].clone_into(bytes);
        });
        let error = follower.catch_up().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupted, "cut at {cut}: {error}");
        assert!(error.message().contains(&name), "{error}");
        let now = follower.connect().last_sequence().unwrap();
        assert!(now >= reached, "a follower goes forward");
        reached = now;
    }
    assert!(reached > before.sequence(), "frames before the cut are applied");
    store.alter(&name, |bytes| whole.clone_into(bytes));
    follower.catch_up().unwrap();
    assert_same(&dump(&follower.connect()), &dump(&program.notes()), "the whole segment");
    assert!(follower.space().check().unwrap().is_clean());
    // A new copy of the same objects is the same.
    let other = Follower::open(&seeds[1], store.clone()).unwrap();
    assert_same(&dump(&other.connect()), &dump(&program.notes()), "a new copy");
}

#[test]
fn a_follower_serves_searches_and_wakes_those_who_wait() {
    let directory = tempfile::tempdir().unwrap();
    let store = MemoryObjects::new();
    let space = Space::in_memory().unwrap();
    let mut leader = Leader::acquire(&space, store.clone(), options(directory.path())).unwrap();
    let follower = Follower::open(directory.path().join("copy"), store.clone()).unwrap();
    assert!(follower.connect().search("lisbon").unwrap().is_empty());
    let seen = follower.connect().last_position().unwrap();
    let reader = follower.connect();
    let waiting = std::thread::spawn(move || {
        reader.wait_for(seen, std::time::Duration::from_secs(60)).unwrap()
    });
    let trip = space.connect().create_document("Trip to Lisbon").unwrap();
    leader.ship().unwrap();
    let last = follower.catch_up().unwrap();
    assert_eq!(waiting.join().unwrap(), last);
    assert_eq!(follower.connect().search("lisbon").unwrap()[0].document_id, trip.id());
    for refused in [
        follower.connect().create_document("Diary").map(drop),
        follower.space().rename("Other"),
        follower
            .space()
            .connect()
            .upload_file(leafbase::UploadFile::new(trip.id()), &b"bytes"[..])
            .map(drop),
    ] {
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::ReadOnly);
    }
}

/// The moments at which `start_over` can be stopped: before the old copy is renamed, between the
/// renames, and while the old copy is removed.
#[test]
fn a_follower_that_was_stopped_while_it_started_over_begins_again() {
    let directory = tempfile::tempdir().unwrap();
    let store = MemoryObjects::new();
    let space = Space::in_memory().unwrap();
    let mut leader = Leader::acquire(&space, store.clone(), options(directory.path())).unwrap();
    space.connect().create_document("Trip").unwrap();
    leader.ship().unwrap();
    let path = directory.path().join("copy");
    let hidden = |extension: &str| directory.path().join(format!(".copy.{extension}"));
    for has_copy in [true, false] {
        for leftovers in [&["fresh"][..], &["replaced"], &["fresh", "replaced"]] {
            let follower = Follower::open(&path, store.clone()).unwrap();
            follower.catch_up().unwrap();
            follower.close().unwrap();
            if !has_copy {
                std::fs::remove_dir_all(&path).unwrap();
            }
            for extension in leftovers {
                std::fs::create_dir(hidden(extension)).unwrap();
                std::fs::write(hidden(extension).join("file"), b"a part of a copy").unwrap();
            }
            let mut follower = Follower::open(&path, store.clone()).unwrap();
            for starts_over in [false, true] {
                if starts_over {
                    follower = follower.start_over().unwrap();
                }
                follower.catch_up().unwrap();
                assert_same(&dump(&follower.connect()), &dump(&space.connect()), "the copy");
                let left = std::fs::read_dir(directory.path()).unwrap();
                let left = left.map(|entry| entry.unwrap().file_name());
                let left: Vec<_> = left.filter(|name| name != "scratch").collect();
                assert_eq!(left, ["copy"], "{leftovers:?}");
            }
        }
    }
}

/// The control: a follower that misses a row, or was written otherwise, is told so.
#[test]
fn a_lost_row_and_another_history_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let leader = Space::in_memory().unwrap();
    for title in ["Trip", "Diary", "Packing"] {
        leader.connect().create_document(title).unwrap();
    }
    let rows = leader.connect().change_rows(0, usize::MAX).unwrap();
    let follower = Space::builder().follower(true).in_memory().unwrap();
    follower.follow(&rows[..1]).unwrap();
    let refused = follower.follow(&rows[2..]).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "a gap");
    let refused = follower.follow(&rows[..1]).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "again");
    let path = directory.path().join("fork");
    follower.backup_to(&path).unwrap();
    let fork = Space::open(&path).unwrap();
    fork.connect().create_document("Elsewhere").unwrap();
    fork.demote();
    let refused = fork.follow(&rows[2..]).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::HistoryGone, "another history: {refused}");
    follower.follow(&rows[1..]).unwrap();
    assert_eq!(follower.connect().documents().unwrap().len(), 3);
    follower.promote();
    assert_eq!(follower.follow(&[]).unwrap_err().kind(), ErrorKind::RuleViolation);
}
