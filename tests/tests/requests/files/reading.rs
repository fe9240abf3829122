//! Files read back: any part of them, and errors that say what is wrong.

use std::io::{self, Cursor, Read, Seek, SeekFrom};

use leafbase::{DeleteBlocks, Error, ErrorKind, FileReader, UploadFile};
use leafbase_store::kv::{KeyRange, Store, WriteOptions};
use leafbase_store::rows;
use proptest::prelude::*;

use super::{CHUNK, PART, Scene, noise, scene};

/// Sizes at and around the borders of chunks, and any between.
fn size() -> impl Strategy<Value = usize> {
    let borders =
        prop::sample::select(vec![0, CHUNK, 2 * CHUNK, 15 * CHUNK, PART, PART + CHUNK, 2 * PART]);
    prop_oneof![
        (borders, -2_isize..=2).prop_map(|(at, by)| at.saturating_add_signed(by)),
        0..3 * CHUNK
    ]
}

fn step(size: usize) -> impl Strategy<Value = (SeekFrom, usize)> {
    let end = i64::try_from(size).unwrap();
    let sought = prop_oneof![
        (0..=size as u64 + 10).prop_map(SeekFrom::Start),
        (-end - 10..=10).prop_map(SeekFrom::End),
        (-end..=end).prop_map(SeekFrom::Current),
        (0..=size / CHUNK).prop_map(|number| SeekFrom::Start((number * CHUNK) as u64)),
        Just(SeekFrom::Current(i64::MIN)),
        Just(SeekFrom::End(i64::MAX)),
    ];
    (sought, prop_oneof![0..10_usize, 0..2 * CHUNK])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_file_reads_as_its_bytes(
        (size, steps) in size().prop_flat_map(|size| (Just(size), prop::collection::vec(step(size), 20))),
    ) {
        let scene = scene();
        let bytes = noise(size, size as u64 + 1);
        let uploaded = scene.upload(&bytes);
        let mut file = scene.notes.open_file(uploaded.asset_url.id()).unwrap();
        prop_assert_eq!((file.len(), file.is_empty(), file.record().size), (size as u64, size == 0, size as u64));
        let mut expected = Cursor::new(&bytes);
        for (to, length) in steps {
            let (found, wanted) = (file.seek(to), expected.seek(to));
            prop_assert_eq!(found.as_ref().ok(), wanted.as_ref().ok(), "{:?}", to);
            prop_assert_eq!(found.map_err(|error| error.kind()).err(), wanted.map_err(|error| error.kind()).err());
            let (mut found, mut wanted) = (Vec::new(), Vec::new());
            file.by_ref().take(length as u64).read_to_end(&mut found).unwrap();
            expected.by_ref().take(length as u64).read_to_end(&mut wanted).unwrap();
            prop_assert!(found == wanted, "{} bytes from {:?}", length, to);
            prop_assert_eq!(file.stream_position().unwrap(), expected.stream_position().unwrap());
        }
    }
}

/// A file of four chunks, open, of which one byte was read.
fn opened() -> (Scene, DeleteBlocks, FileReader) {
    let scene = scene();
    let uploaded = scene.upload(&noise(3 * CHUNK + 10, 1));
    let mut file = scene.notes.open_file(uploaded.asset_url.id()).unwrap();
    file.read_exact(&mut [0]).unwrap();
    (scene, DeleteBlocks::new([uploaded.block_id]), file)
}

/// The kind of the error that reading on comes to, after how many bytes, and the error of the space
/// in it.
fn read_on(file: &mut FileReader) -> (io::ErrorKind, usize, Option<ErrorKind>) {
    let mut read = Vec::new();
    let error = file.read_to_end(&mut read).unwrap_err();
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    (error.kind(), read.len(), inner.map(Error::kind))
}

#[test]
fn a_file_that_goes_while_it_is_read() {
    let (scene, delete, mut file) = opened();
    scene.notes.delete_blocks(delete).unwrap();
    assert_eq!(read_on(&mut file), (io::ErrorKind::NotFound, CHUNK - 1, Some(ErrorKind::NotFound)));
    assert_eq!(read_on(&mut file), (io::ErrorKind::NotFound, 0, Some(ErrorKind::NotFound)));
    file.seek(SeekFrom::Start(1)).unwrap();
    file.read_exact(&mut [0]).unwrap();
}

#[test]
fn a_space_that_is_closed_while_a_file_is_read() {
    let (scene, _, mut file) = opened();
    scene.notes.space().clone().close().unwrap();
    assert_eq!(read_on(&mut file), (io::ErrorKind::Other, CHUNK - 1, Some(ErrorKind::Closed)));
}

/// The key of the third chunk.
fn third_chunk(scene: &Scene) -> Vec<u8> {
    let mut keys = Vec::new();
    let mut keep = |key: &[u8], _: &[u8]| {
        keys.push(key.to_vec());
        Ok(std::ops::ControlFlow::Continue(()))
    };
    scene.store.snapshot().unwrap().scan(KeyRange::half_open(&[0x62], &[0x63]), &mut keep).unwrap();
    keys.swap_remove(2)
}

#[test]
fn damage_is_named() {
    type Damage = fn(&[u8]) -> Option<Vec<u8>>;
    let cases: [(&str, Damage); 4] = [
        ("missing", |_| None),
        ("flipped", |key| {
            let mut sealed = rows::seal(key, &[7; CHUNK]);
            sealed[500] ^= 1;
            Some(sealed)
        }),
        ("short", |key| Some(rows::seal(key, &[7; CHUNK - 1]))),
        ("another's", |_| Some(rows::seal(b"\x62other", &[7; CHUNK]))),
    ];
    for (name, damage) in cases {
        let (scene, delete, mut file) = opened();
        let key = third_chunk(&scene);
        let change = |rows: &mut dyn leafbase_store::kv::Transaction| match damage(&key) {
            Some(value) => rows.put(&key, &value),
            None => rows.delete(&key),
        };
        scene.store.write(WriteOptions::default(), &mut |rows| change(rows)).unwrap();
        let expected = (io::ErrorKind::InvalidData, 2 * CHUNK - 1, Some(ErrorKind::Corrupted));
        assert_eq!(read_on(&mut file), expected, "{name}");
        // What is undamaged stays readable, and the file can go.
        file.seek(SeekFrom::End(-10)).unwrap();
        let mut end = Vec::new();
        assert_eq!(file.read_to_end(&mut end).unwrap(), 10, "{name}");
        assert!(!scene.notes.space().check().unwrap().is_clean(), "{name}");
        scene.notes.delete_blocks(delete).unwrap();
        scene.assert_clean();
    }
}

#[test]
fn a_reader_can_be_sent_and_holds_nothing_back() {
    let (scene, _, mut file) = opened();
    for _ in 0..3 {
        scene.notes.upload_file(UploadFile::new(scene.page), &b"other"[..]).unwrap();
    }
    let read = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut bytes).map(|_| bytes)
    });
    assert!(read.join().unwrap().unwrap() == noise(3 * CHUNK + 10, 1));
}
