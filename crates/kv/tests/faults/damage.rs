//! Damaged pages: what is read of them is an error, and hides nothing.

use std::ops::ControlFlow;

use leafbase_kv::testkit::Disk;
use leafbase_kv::{KeyRange, Store, Transaction, WriteOptions};
use leafbase_model::ErrorKind;

use super::{STEPS, content, open, write_step};

#[test]
fn damaged_pages_are_an_error_and_not_a_panic() {
    // redb's panics are caught, and not printed.
    std::panic::set_hook(Box::new(|_| {}));
    let disk = Disk::new();
    let store = open(&disk).unwrap();
    for number in 0..STEPS {
        write_step(&store, number).unwrap();
    }
    drop(store);
    let image = disk.image();
    let mut found_by_verify = 0;
    let mut errors = 0;
    let places: Vec<_> = (4_096..image.len()).step_by(97).filter(|at| image[*at] != 0).collect();
    for at in places.iter().copied().step_by(places.len() / 400 + 1) {
        let damaged = Disk::new();
        damaged.corrupt(|bytes| {
            bytes.clone_from(&image);
            bytes[at] ^= 0x55;
        });
        let Ok(store) = open(&damaged) else {
            errors += 1;
            continue;
        };
        errors +=
            usize::from(content(&store).is_err_and(|error| error.kind() == ErrorKind::Corrupted));
        found_by_verify += usize::from(!store.verify().unwrap_or(false));
        let _ = write_step(&store, STEPS);
        let _ = content(&store);
    }
    let _ = std::panic::take_hook();
    assert!(found_by_verify > 10, "verify found {found_by_verify}");
    println!("{errors} errors on reading, {found_by_verify} found by verifying");
}

/// A leaf in the place of another one holds keys that a scan did not ask for. They are not the end
/// of what it asked for.
#[test]
fn a_leaf_in_the_place_of_another_hides_nothing() {
    const PAGE: usize = 4_096;
    const LEAF: u8 = 1;
    let key = |number: u16| number.to_be_bytes();
    let disk = Disk::new();
    let store = open(&disk).unwrap();
    let put = |transaction: &mut dyn Transaction| {
        (0..300).try_for_each(|number| transaction.put(&key(number), &[7; 100]))
    };
    store.write(WriteOptions::default(), &mut |transaction| put(transaction)).unwrap();
    store.flush().unwrap();
    drop(store);
    let image = disk.image();
    let has_entries = |page: &usize| {
        let page = &image[page * PAGE..][..PAGE];
        page[0] == LEAF && page.windows(100).any(|bytes| bytes == [7; 100])
    };
    let leaves: Vec<usize> = (1..image.len() / PAGE).filter(has_entries).collect();
    let (mut errors, mut found) = (0, 0);
    for (from, to) in leaves.iter().flat_map(|from| leaves.iter().map(move |to| (*from, *to))) {
        let damaged = Disk::new();
        damaged.corrupt(|bytes| {
            bytes.clone_from(&image);
            bytes.copy_within(from * PAGE..(from + 1) * PAGE, to * PAGE);
        });
        let Ok(store) = open(&damaged) else { continue };
        let snapshot = store.snapshot().unwrap();
        let starts = (0..270).step_by(3).flat_map(|number| [(number, false), (number, true)]);
        for (number, reverse) in starts {
            // Ends at the last key that it wants, and at a key that it does not expect.
            let mut wanted: Vec<_> = (number..number + 30).map(key).collect();
            let (lower, upper) = (key(number), key(number + 30));
            let range = if reverse {
                KeyRange { reverse, ..KeyRange::half_open(&[0], &upper) }
            } else {
                wanted.reverse();
                KeyRange::half_open(&lower, &[0xff])
            };
            let scanned = snapshot.scan(range, &mut |found, _| {
                let is_wanted = wanted.pop_if(|next| *next == found).is_some();
                let goes_on = is_wanted && !wanted.is_empty();
                Ok(if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
            });
            match scanned {
                Ok(()) => assert!(wanted.is_empty(), "page {from} at {to}: {wanted:?} are hidden"),
                Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupted),
            }
            *if wanted.is_empty() { &mut found } else { &mut errors } += 1;
        }
    }
    assert!(leaves.len() > 5 && errors > 100 && found > 100, "{leaves:?} {errors} {found}");
}

/// An interrupted compaction may leave its table of zeros in the file. The pages of the entries are
/// verified nevertheless.
#[test]
fn pages_next_to_the_table_of_zeros_are_verified() {
    const PAGE: usize = 4_096;
    const ZEROS: redb::TableDefinition<'_, &[u8], &[u8]> =
        redb::TableDefinition::new("leafbase.zeros");
    let disk = Disk::new();
    let store = open(&disk).unwrap();
    let put = |transaction: &mut dyn Transaction| {
        (0..300_u16).try_for_each(|number| transaction.put(&number.to_be_bytes(), &[7; 100]))
    };
    store.write(WriteOptions::default(), &mut |transaction| put(transaction)).unwrap();
    drop(store);
    let database = redb::Builder::new().create_with_backend(disk.clone()).unwrap();
    let mut transaction = database.begin_write().unwrap();
    transaction.set_quick_repair(true);
    transaction.open_table(ZEROS).unwrap().insert(&[0_u8][..], &[0_u8; 3_000][..]).unwrap();
    transaction.commit().unwrap();
    drop(database);
    let image = disk.image();
    let value_at = |page: &[u8]| page.windows(100).position(|bytes| bytes == [7; 100]);
    let pages = image.chunks(PAGE).enumerate().skip(1);
    let places = pages.filter_map(|(page, bytes)| Some(page * PAGE + value_at(bytes)?));
    let mut errors = 0;
    for at in places {
        let damaged = Disk::new();
        damaged.corrupt(|bytes| {
            bytes.clone_from(&image);
            bytes[at] = 8;
        });
        match open(&damaged).and_then(|store| content(&store)) {
            Ok(content) => assert!(content.values().all(|value| value == &[7; 100]), "at {at}"),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corrupted);
                errors += 1;
            }
        }
    }
    assert!(errors > 5, "{errors} damaged pages were noticed");
}
