//! Pages that do not match their parents' checksums: no row on them is reported as missing, and
//! none is stale.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a failed expectation is a failed test")]

use std::collections::BTreeMap;
use std::fs;
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use leafbase_model::ErrorKind;
use leafbase_store::directory::{self, STORE_FILE};
use leafbase_store::kv::{KeyRange, OpenOptions, RedbStore, Snapshot, Store, WriteOptions};
use leafbase_store::testkit::{Disk, open_backend, open_image};
use leafbase_store::{SpaceMeta, SpaceStore, rows};

const PAGE: usize = 4_096;
const ROWS: u32 = 900;

/// redb panics on damaged pages; the panics are caught and not printed.
fn keep_quiet() {
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if panic.location().is_some_and(|place| place.file().ends_with("guard.rs")) {
            told(panic);
        }
    }));
}

fn key(number: u32) -> Vec<u8> {
    [&[0x62][..], &number.to_be_bytes()].concat()
}

/// The bytes of a store after its first commit, with other bodies in its rows; after its last, as a
/// crash leaves it; and closed.
fn images() -> [Vec<u8>; 3] {
    let disk = Disk::new();
    let handle = disk.clone();
    let store = Arc::new(open_backend(move || handle.clone(), &OpenOptions::new()).unwrap());
    let meta = SpaceMeta {
        id: leafbase_model::SpaceId::from_bytes([1; 16]),
        name: "n".into(),
        zone: "UTC".into(),
    };
    SpaceStore::initialize(&*store, &meta).unwrap();
    let write = |body: &[u8]| {
        let put = |rows: &mut dyn leafbase_store::kv::Transaction| {
            (0..ROWS).try_for_each(|number| rows.put(&key(number), &rows::seal(&key(number), body)))
        };
        store.write(WriteOptions::default(), &mut { put }).unwrap();
    };
    write(&[7; 40]);
    store.flush().unwrap();
    let before = disk.image();
    write(&[8; 40]);
    store.flush().unwrap();
    let left = disk.image();
    drop(store);
    [before, left, disk.image()]
}

fn get(snapshot: &dyn Snapshot, number: u32) -> Result<Option<Vec<u8>>, ErrorKind> {
    let mut found = None;
    let got = snapshot.get(&key(number), &mut |value| {
        found = Some(rows::body(&key(number), value)?);
        Ok(())
    });
    got.map(|_| found).map_err(|error| error.kind())
}

/// All rows by one scan.
fn scan(snapshot: &dyn Snapshot) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, ErrorKind> {
    let (from, mut found) = (key(0), BTreeMap::new());
    let range = KeyRange { lower: Bound::Included(&from), upper: Bound::Unbounded, reverse: false };
    let scanned = snapshot.scan(range, &mut |key, value| {
        found.insert(key.to_vec(), rows::body(key, value)?);
        Ok(ControlFlow::Continue(()))
    });
    scanned.map(|()| found).map_err(|error| error.kind())
}

/// Reads everything of an image: each answer is right, or reports damage. Returns the number of
/// both.
fn read(image: Vec<u8>, what: &str) -> (usize, usize) {
    open_image(&Arc::from(image), &OpenOptions::new())
        .map_or((0, 0), |store| read_all(&store, what))
}

fn read_all(store: &RedbStore, what: &str) -> (usize, usize) {
    let (mut right, mut damaged) = (0, 0);
    for number in 0..ROWS {
        match store
            .snapshot()
            .map_err(|error| error.kind())
            .and_then(|snapshot| get(&*snapshot, number))
        {
            Ok(Some(body)) if body == [8; 40] => right += 1,
            Err(ErrorKind::Corrupted) => damaged += 1,
            other => panic!("{what}: row {number} gives {other:?}"),
        }
    }
    match store.snapshot().map_err(|error| error.kind()).and_then(|snapshot| scan(&*snapshot)) {
        Ok(found) => assert_eq!(found.len(), ROWS as usize, "{what}: a scan"),
        Err(kind) => assert_eq!(kind, ErrorKind::Corrupted, "{what}: a scan"),
    }
    (right, damaged)
}

#[test]
fn no_flipped_bit_hides_a_row() {
    keep_quiet();
    let [.., image] = images();
    assert_eq!(read(image.clone(), "whole"), (ROWS as usize, 0));
    let (mut right, mut damaged) = (0, 0);
    for page in 1..image.len() / PAGE {
        for at in [0, 1, 2, 3, 4, 9, 30, 80, 200, 700, 1_500] {
            let mut harmed = image.clone();
            harmed[page * PAGE + at] ^= 4;
            let told = read(harmed, &format!("byte {at} of page {page}"));
            (right, damaged) = (right + told.0, damaged + told.1);
        }
    }
    assert!(right > 0 && damaged > 0, "{right} right, {damaged} damaged");
}

/// The branches of an image, each with its page and where it says how often the length of its last
/// child is doubled.
fn branches(image: &[u8]) -> Vec<(usize, usize)> {
    let length_of_last_child = |page: &[u8]| match page {
        [2, _, low, high, ..] => {
            Some(8 + 24 * (usize::from(u16::from_le_bytes([*low, *high])) + 1) - 1)
        }
        _ => None,
    };
    let found = |(number, page)| Some((number, number * PAGE + length_of_last_child(page)?));
    image.chunks(PAGE).enumerate().skip(1).filter_map(found).collect()
}

#[test]
fn a_child_of_any_length_is_damage() {
    keep_quiet();
    let [_, left, closed] = images();
    // Recovery after a crash happens in memory, and again on the next open.
    for (name, image) in [("left", left), ("closed", closed)] {
        let (mut right, mut damaged) = (0, 0);
        for (page, at) in branches(&image) {
            for length in [1, 5, 19, 20, 21, 31] {
                let mut harmed = image.clone();
                harmed[at] = length << 3;
                let told = read(
                    harmed,
                    &format!("{name}: a child of page {page} is doubled {length} times"),
                );
                (right, damaged) = (right + told.0, damaged + told.1);
            }
        }
        assert!(right > 0 && damaged > 0, "{name}: {right} right, {damaged} damaged");
    }
}

#[test]
fn a_child_that_is_any_other_page_is_damage() {
    keep_quiet();
    let [_, left, closed] = images();
    for (name, image) in [("left", left), ("closed", closed)] {
        let (mut right, mut damaged) = (0, 0);
        for (page, at) in branches(&image) {
            // Itself, and its ancestors. Page numbers begin after the header.
            for other in 0..image.len() / PAGE - 1 {
                let mut harmed = image.clone();
                harmed[at - 7..=at].copy_from_slice(&(other as u64).to_le_bytes());
                let told =
                    read(harmed, &format!("{name}: a child of page {page} is page {}", other + 1));
                (right, damaged) = (right + told.0, damaged + told.1);
            }
        }
        assert!(right > 0 && damaged > 0, "{name}: {right} right, {damaged} damaged");
    }
}

#[test]
fn read_only_handles_detect_damage() {
    keep_quiet();
    let [.., image] = images();
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join(STORE_FILE);
    let read_file = |image: &[u8], what: &str| {
        fs::write(&file, image).unwrap();
        let told = directory::open_space(place.path(), &OpenOptions::new().read_only(true))
            .map_or((0, 0), |store| read_all(&store, what));
        assert!(fs::read(&file).unwrap() == image, "{what}: the file stays as it is");
        told
    };
    assert_eq!(read_file(&image, "whole"), (ROWS as usize, 0));
    let (mut right, mut damaged) = (0, 0);
    for page in 1..image.len() / PAGE {
        for at in [2, 30, 700] {
            let mut harmed = image.clone();
            harmed[page * PAGE + at] ^= 4;
            let told = read_file(&harmed, &format!("byte {at} of page {page}"));
            (right, damaged) = (right + told.0, damaged + told.1);
        }
    }
    assert!(right > 0 && damaged > 0, "{right} right, {damaged} damaged");
}

#[test]
fn an_older_page_is_not_believed() {
    keep_quiet();
    let [before, _, image] = images();
    let pages = |image: &[u8]| image.chunks(PAGE).map(<[u8]>::to_vec).collect::<Vec<_>>();
    let old: Vec<Vec<u8>> = pages(&before)
        .into_iter()
        .filter(|page| page[0] == 1 && page.windows(8).any(|part| part == [7; 8]))
        .collect();
    let new: Vec<usize> = pages(&image)
        .iter()
        .enumerate()
        .filter(|(_, page)| page[0] == 1 && page.windows(8).any(|part| part == [8; 8]))
        .map(|(at, _)| at)
        .collect();
    assert!(old.len() > 3 && new.len() > 3);
    for (page, at) in old.iter().zip(new) {
        let mut harmed = image.clone();
        harmed[at * PAGE..(at + 1) * PAGE].copy_from_slice(page);
        read(harmed, &format!("page {at} is an older one"));
    }
}

/// A store with branches below its root: closed.
fn tall() -> Disk {
    let disk = Disk::new();
    let store = on(&disk, &OpenOptions::new()).unwrap();
    store
        .write(WriteOptions::default(), &mut |rows| {
            (0..ROWS).try_for_each(|number| rows.put(&key(number), &tall_row(number)))
        })
        .unwrap();
    drop(store);
    disk
}

fn tall_row(number: u32) -> Vec<u8> {
    rows::seal(&key(number), &[8; 1_500])
}

fn on(disk: &Disk, options: &OpenOptions) -> leafbase_model::Result<RedbStore> {
    let disk = disk.clone();
    let options = options.clone().entries(directory::RECORD_FORMAT);
    open_backend(move || disk.clone(), &options)
}

/// Where the checksum and the number of each child stand that is a branch, of a branch.
fn branches_below(image: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (page, bytes) in image.chunks(PAGE).enumerate().skip(1) {
        let [2, _, low, high, ..] = bytes else { continue };
        let children = usize::from(u16::from_le_bytes([*low, *high])) + 1;
        for child in 0..children {
            let (checksum, number) = (8 + 16 * child, 8 + 16 * children + 8 * child);
            let below =
                u64::from_le_bytes(bytes.get(number..number + 8).unwrap().try_into().unwrap());
            // Page numbers begin after the header; a freed page may refer to any page.
            let below =
                usize::try_from(below).unwrap_or(usize::MAX).saturating_add(1).saturating_mul(PAGE);
            if image.get(below) == Some(&2) {
                found.push((page * PAGE + checksum, page * PAGE + number));
            }
        }
    }
    assert!(found.len() > 2, "{found:?}");
    found
}

/// How many rows are found, and how many are reported as damaged.
fn count(store: &RedbStore) -> (u32, u32) {
    let (mut there, mut damaged) = (0, 0);
    for number in 0..ROWS {
        match store.snapshot().and_then(|snapshot| {
            snapshot.get(&key(number), &mut |value| {
                assert!(value == tall_row(number), "row {number}");
                Ok(())
            })
        }) {
            Ok(true) => there += 1,
            Err(error) if error.kind() == ErrorKind::Corrupted => damaged += 1,
            other => panic!("row {number}: {other:?}"),
        }
    }
    (there, damaged)
}

/// Rows below a damaged branch stay in the file for salvage: writes do not free them.
#[test]
fn entries_below_a_damaged_branch_are_not_overwritten() {
    keep_quiet();
    let whole = tall();
    let mut hidden = 0;
    for (checksum, _) in branches_below(&whole.image()) {
        let harm = |bytes: &mut Vec<u8>| bytes[checksum] ^= 4;
        let disk = whole.copy();
        disk.corrupt(harm);
        let Ok(store) = on(&disk, &OpenOptions::new()) else { continue };
        let put = |number: u32| {
            store.write(WriteOptions::default(), &mut |rows| {
                rows.put(&key(number), &tall_row(number))
            })
        };
        let mut refused = 0;
        for number in (0..ROWS).step_by(100).chain([ROWS]) {
            if let Err(error) = put(number) {
                assert!(
                    matches!(error.kind(), ErrorKind::Corrupted | ErrorKind::Storage),
                    "{error:?}"
                );
                refused += 1;
            }
        }
        let (there, damaged) = count(&store);
        assert_eq!(there + damaged, ROWS);
        if damaged > 0 {
            hidden += 1;
            assert!(refused > 0, "checksum at {checksum}");
            assert_eq!(store.compact().unwrap_err().kind(), ErrorKind::Corrupted);
        }
        drop(store);
        // With the right checksum everything is found: only the root was rewritten.
        if damaged > 0 {
            disk.corrupt(harm);
            assert_eq!(
                count(&on(&disk, &OpenOptions::new()).unwrap()),
                (ROWS, 0),
                "checksum at {checksum}"
            );
        }
    }
    assert!(hidden > 1, "{hidden}");
}

/// A branch that is its own descendant is damage on every read and write.
#[test]
fn a_cycle_of_pages_is_damage_on_every_access() {
    keep_quiet();
    let whole = tall();
    let image = whole.image();
    let mut damaged = 0;
    for (_, number) in branches_below(&image) {
        // The branch itself.
        let page = (number / PAGE - 1) as u64;
        let disk = whole.copy();
        disk.corrupt(|bytes| bytes[number..number + 8].copy_from_slice(&page.to_le_bytes()));
        // Nothing is cached: every read goes to the file.
        let Ok(store) = on(&disk, &OpenOptions::new().cache_bytes(0)) else { continue };
        damaged += count(&store).1;
        for row in (0..ROWS).step_by(60) {
            let written = store
                .write(WriteOptions::default(), &mut |rows| rows.put(&key(row), &tall_row(row)));
            if let Err(error) = written {
                assert!(
                    matches!(error.kind(), ErrorKind::Corrupted | ErrorKind::Storage),
                    "{error:?}"
                );
            }
        }
        damaged += count(&store).1;
    }
    assert!(damaged > 0);
}
