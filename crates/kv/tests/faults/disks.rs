//! Disks that fail, are full, or lose power at any operation of a workload.

use std::io;

use leafbase_kv::testkit::{Disk, Fault, Loss};
use leafbase_kv::{Durability, Store, WriteOptions};
use leafbase_model::ErrorKind;

use super::{Content, STEPS, changed, content, is_durable, is_indeterminate, open, write_step};

/// The possible contents after the workload: one, or several after indeterminate writes.
struct Expected(Vec<Content>);

impl Expected {
    fn only(content: Content) -> Self {
        Self(vec![content])
    }

    fn settle(&mut self, found: Content, when: &str) {
        assert!(self.0.contains(&found), "{when}: {:?}", found.keys());
        self.0 = vec![found];
    }

    fn write(&mut self, store: &dyn Store, number: u8, when: &str) -> bool {
        let result = write_step(store, number);
        let succeeded = result.is_ok();
        match result {
            Ok(()) => {
                // The store has resolved earlier indeterminate commits by now.
                self.0.iter_mut().for_each(|content| *content = changed(content, number));
            }
            Err(error) if is_indeterminate(&error) => {
                let applied: Vec<_> =
                    self.0.iter().map(|content| changed(content, number)).collect();
                self.0.extend(applied);
            }
            Err(error) => {
                assert!(
                    matches!(error.kind(), ErrorKind::Storage | ErrorKind::NoSpace),
                    "{when}: {error:?}"
                );
            }
        }
        succeeded
    }
}

/// Runs the workload with `fault`, counted from its start, and returns the disk and its possible
/// contents, or `None` if the fault did not occur.
fn run(fault: Fault, kind: io::ErrorKind) -> Option<(Disk, Expected)> {
    let disk = Disk::new();
    let store = open(&disk).unwrap();
    let start = disk.operations();
    let fault = match fault {
        Fault::Once(at) => Fault::Once(start + at),
        Fault::From(at) => Fault::From(start + at),
        other => other,
    };
    disk.fail(fault, kind);
    let mut expected = Expected::only(Content::new());
    for number in 0..STEPS {
        let when = format!("{fault:?}, step {number}");
        expected.write(&store, number, &when);
        // Reads may fail with the disk, but never return wrong data.
        if let Ok(found) = content(&store) {
            expected.settle(found, &when);
        }
    }
    let flushed = store.flush().is_ok();
    if disk.failures() == 0 {
        return None;
    }
    let powerless = disk.after_power_loss(0);
    if flushed && expected.0.len() == 1 {
        let found = content(&open(&powerless).unwrap()).unwrap();
        assert!(
            expected.0.contains(&found),
            "{fault:?}: what was flushed survives the loss of power"
        );
    }
    disk.heal();
    let when = format!("{fault:?}, after healing");
    expected.settle(content(&store).unwrap(), &when);
    assert!(expected.write(&store, STEPS, &when), "{when}: writes work again");
    store.flush().unwrap();
    expected.settle(content(&store).unwrap(), &when);
    assert!(store.verify().unwrap(), "{when}: whole");
    let powerless = open(&disk.after_power_loss(0)).unwrap();
    expected.settle(content(&powerless).unwrap(), "after healing, a flush and a loss of power");
    drop(store);
    Some((disk, expected))
}

fn at_every_operation(fault: fn(u64) -> Fault, kind: io::ErrorKind) {
    let mut failed = 0;
    for at in 1.. {
        let Some((disk, mut expected)) = run(fault(at), kind) else { break };
        failed += 1;
        expected.settle(content(&open(&disk).unwrap()).unwrap(), "opened again");
    }
    assert!(failed > 50, "the workload has more than {failed} operations");
}

#[test]
fn a_disk_that_fails_once_at_any_operation() {
    at_every_operation(Fault::Once, io::ErrorKind::Other);
}

#[test]
fn a_disk_that_fails_for_good_from_any_operation_on() {
    at_every_operation(Fault::From, io::ErrorKind::Other);
}

#[test]
fn a_disk_that_fails_again_and_again() {
    for every in 3..60 {
        let (disk, mut expected) = run(Fault::OneIn(every), io::ErrorKind::StorageFull).unwrap();
        expected.settle(content(&open(&disk).unwrap()).unwrap(), "opened again");
    }
}

/// Disks that allocate space when a file is extended, and on the first write to a block.
fn disks() -> [(&'static str, Disk); 2] {
    [("at once", Disk::new().takes_room_at_once()), ("when it is written", Disk::new())]
}

#[test]
fn a_disk_that_is_full() {
    for (when, disk) in disks() {
        let store = open(&disk).unwrap();
        for number in 0..3 {
            write_step(&store, number).unwrap();
        }
        disk.fail(Fault::Full, io::ErrorKind::StorageFull);
        let mut before = content(&store).unwrap();
        for length in [4 << 20, 200_000, 3_000, 4 << 20] {
            let value = vec![1; length];
            let written = store.write(WriteOptions::default(), &mut |transaction| {
                transaction.put(b"value", &value)
            });
            match written {
                // The free pages of the file may suffice.
                Ok(()) if length < 1 << 20 => drop(before.insert(b"value".to_vec(), value)),
                written => {
                    assert_eq!(
                        written.unwrap_err().kind(),
                        ErrorKind::NoSpace,
                        "{length} bytes, room taken {when}"
                    );
                }
            }
            assert_eq!(content(&store).unwrap(), before, "{length} bytes, room taken {when}");
            let reopened = open(&disk.after_power_loss(0)).unwrap();
            assert_eq!(
                content(&reopened).unwrap(),
                before,
                "{length} bytes, room taken {when}: after a loss of power"
            );
        }
        drop(store);
        assert_eq!(
            content(&open(&disk).unwrap()).unwrap(),
            before,
            "opened while it is full, room taken {when}"
        );
    }
}

#[test]
fn a_disk_that_was_full() {
    let disk = Disk::new().takes_room_at_once();
    let store = open(&disk).unwrap();
    for number in 0..3 {
        write_step(&store, number).unwrap();
    }
    disk.fail(Fault::Full, io::ErrorKind::StorageFull);
    let before = content(&store).unwrap();
    let big = vec![1; 4 << 20];
    let refused = store
        .write(WriteOptions::default(), &mut |transaction| transaction.put(b"big", &big))
        .unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NoSpace, "{refused:?}");
    assert_eq!(content(&store).unwrap(), before, "it did not happen");
    store
        .write(WriteOptions::default(), &mut |transaction| transaction.put(b"small", b"fits"))
        .unwrap();
    disk.heal();
    store.write(WriteOptions::default(), &mut |transaction| transaction.put(b"big", &big)).unwrap();
    drop(store);
    assert_eq!(content(&open(&disk).unwrap()).unwrap().len(), before.len() + 2);
}

#[test]
fn a_disk_that_is_full_is_verified_with_writes_in_the_log() {
    let disk = Disk::new();
    let store = open(&disk).unwrap();
    write_step(&store, 0).unwrap();
    write_step(&store, 1).unwrap();
    let (relaxed, big) = (WriteOptions::durability(Durability::Relaxed), vec![1; 1 << 20]);
    store.write(relaxed, &mut |transaction| transaction.put(b"big", &big)).unwrap();
    disk.fail(Fault::Full, io::ErrorKind::StorageFull);
    let written = content(&store).unwrap();
    // Another one finds no room in the log, and is refused before it is visible.
    let refused = store.write(relaxed, &mut |transaction| transaction.put(b"more", &big));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::NoSpace);
    assert_eq!(store.flush().unwrap_err().kind(), ErrorKind::NoSpace);
    assert!(store.verify().unwrap(), "the file as it is");
    assert_eq!(content(&store).unwrap(), written);
    assert_eq!(content(&open(&disk.copy()).unwrap()).unwrap(), written, "after a kill");
    disk.heal();
    assert!(store.verify().unwrap());
    drop(store);
    assert_eq!(content(&open(&disk).unwrap()).unwrap(), written);
}

#[test]
fn power_lost_at_any_moment() {
    for seed in 0..4 {
        let disk = Disk::new();
        let store = open(&disk).unwrap();
        let mut states = vec![Content::new()];
        // The last durable state.
        let mut durable = 0;
        for number in 0..STEPS {
            write_step(&store, number).unwrap();
            states.push(changed(states.last().unwrap(), number));
            if is_durable(number) {
                durable = states.len() - 1;
            }
            let found = content(&open(&disk.after_power_loss(seed)).unwrap()).unwrap();
            assert!(
                states[durable..].contains(&found),
                "seed {seed}, step {number}: no mixture, nothing lost"
            );
        }
    }
}

/// How often a durable write is lost, over power losses at any operation of the workload and all
/// models of loss. The one that loses nothing is the end of the process, which no write may be lost
/// by.
fn lost(ignore_one_sync_in: Option<u64>) -> usize {
    let disk = Disk::new();
    let store = open(&disk).unwrap();
    if let Some(every) = ignore_one_sync_in {
        disk.ignore_one_sync_in(every);
    }
    (1..2_000).for_each(|ahead| disk.await_operation(disk.operations() + ahead));
    let (mut states, mut durable) = (vec![(disk.operations(), Content::new())], Vec::new());
    for number in 0..2 * STEPS {
        write_step(&store, number).unwrap();
        states.push((disk.operations(), changed(&states.last().unwrap().1, number)));
        if is_durable(number) {
            durable.push((disk.operations(), states.len() - 1));
        }
    }
    let moments = disk.moments();
    assert!(moments.len() > 50, "the workload has more than {} operations", moments.len());
    let mut lost = 0;
    for (moment, loss) in moments.iter().flat_map(|moment| Loss::ALL.map(|loss| (moment, loss))) {
        let has_returned = |operations: u64| operations < moment.operations();
        let first = if loss == Loss::Nothing {
            states.iter().rposition(|(operations, _)| has_returned(*operations))
        } else {
            let last = durable.iter().rev().find(|(operations, _)| has_returned(*operations));
            last.map(|(_, state)| *state)
        };
        let kept = states.get(first.unwrap_or_default()..).unwrap();
        let found =
            open(&moment.after(loss, moment.operations())).and_then(|store| content(&store));
        lost +=
            usize::from(!found.is_ok_and(|found| kept.iter().any(|(_, state)| *state == found)));
    }
    lost
}

#[test]
fn power_lost_at_any_operation_in_each_way() {
    assert_eq!(lost(None), 0);
}

/// The control: a disk that reports fsyncs which it did not perform.
#[test]
fn a_disk_that_ignores_fsyncs_is_detected() {
    assert!(lost(Some(7)) > 0);
}
