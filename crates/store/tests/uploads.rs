//! Uploads: an upload becomes a file once it is complete, or leaves nothing.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test"
)]

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use leafbase_model::{
    AssetId, AssetRecord, BlockData, BlockId, BlockRecord, DocumentId, DocumentRecord, Edit,
    ErrorKind, Location, Result, Subtrees, Timestamp,
};
use leafbase_store::kv::{KeyRange, OpenOptions, Store};
use leafbase_store::{CHUNK_BYTES, Extractor, SpaceStore, directory};

mod naive;

use naive::{bytes_of, extract, hash_of, hashed, memory_space, meta, relaxed, stamp, upload};

/// The tags of files, of their chunks and of uploads.
const FILES: [u8; 3] = [0x61, 0x62, 0x63];

fn asset(number: u8) -> AssetId {
    AssetId::from_bytes([number; 16])
}

fn record(number: u8, size: usize) -> AssetRecord {
    hashed(AssetRecord {
        id: asset(number),
        media_type: "image/png".to_owned(),
        file_name: "a.png".to_owned(),
        size: size as u64,
        sha256: None,
        created: stamp(1),
    })
}

/// A document that embeds the file.
fn showing(number: u8) -> Edit {
    let id = BlockId::from_bytes([number; 16]);
    let time = Timestamp::from_millis(1);
    let data = BlockData::page(format!("f:{}", asset(number)));
    let root = BlockRecord { id, rev: 1, created: stamp(1), modified: stamp(1), data };
    let record = DocumentRecord {
        id: DocumentId::of_root(id),
        location: Location::Unsorted,
        day: None,
        created_at: time,
        modified_at: time,
        rev: 1,
    };
    Edit::CreateDocument { record, subtrees: Subtrees::one(root) }
}

fn apply(space: &SpaceStore, edits: &[Edit]) -> Result<()> {
    space.write(relaxed(), &stamp(2), |open| open.apply(edits.to_vec())).map(drop)
}

fn rows_of_files(store: &dyn Store) -> usize {
    let mut rows = 0;
    let visit = &mut |_: &[u8], _: &[u8]| {
        rows += 1;
        Ok(ControlFlow::Continue(()))
    };
    store
        .snapshot()
        .unwrap()
        .scan(KeyRange::half_open(&FILES[..1], &[FILES[2] + 1]), visit)
        .unwrap();
    rows
}

fn is_clean(space: &SpaceStore) -> bool {
    space.check(&mut |_| ControlFlow::Continue(())).unwrap().is_clean()
}

fn open(path: &Path) -> (Arc<dyn Store>, SpaceStore) {
    let store: Arc<dyn Store> = Arc::new(directory::open(path, &OpenOptions::default()).unwrap());
    (
        Arc::clone(&store),
        SpaceStore::open(store, Extractor::of_edges(extract), naive::ids()).unwrap(),
    )
}

#[test]
fn abandoned_uploads_are_swept() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("space");
    let chunk = vec![7; CHUNK_BYTES];
    {
        let store = Arc::new(directory::create(&path, &OpenOptions::default()).unwrap());
        let space =
            SpaceStore::create(store, Extractor::of_edges(extract), naive::ids(), &meta()).unwrap();
        upload(&space, &[Edit::CreateAsset(record(1, 3 * CHUNK_BYTES + 1))]);
        apply(&space, &[Edit::CreateAsset(record(1, 3 * CHUNK_BYTES + 1)), showing(1)]).unwrap();
        space.begin_upload(relaxed(), asset(2)).unwrap();
        space.begin_upload(relaxed(), asset(3)).unwrap();
        for number in 0..20 {
            space.put_chunks(relaxed(), asset(3), 2 * number, &[&chunk, &chunk]).unwrap();
        }
    }
    let (store, space) = open(&path);
    assert_eq!(rows_of_files(&*store), 1 + 4 + 2 + 40);
    assert!(is_clean(&space), "uploads under way break no law");
    assert_eq!(space.snapshot().unwrap().reader().uploads().unwrap(), [asset(2), asset(3)]);
    let sequence = space.stats().unwrap().sequence;
    assert_eq!(space.sweep_uploads(relaxed()).unwrap(), 2);
    assert_eq!(space.sweep_uploads(relaxed()).unwrap(), 0);
    assert_eq!(space.stats().unwrap().sequence, sequence, "no change of the space");
    drop((store, space));
    let (store, space) = open(&path);
    assert_eq!(rows_of_files(&*store), 1 + 4);
    assert!(is_clean(&space));
    let snapshot = space.snapshot().unwrap();
    assert_eq!(snapshot.reader().chunk(asset(1), 3).unwrap().unwrap(), bytes_of(&record(1, 1)));
}

#[test]
fn a_file_has_all_its_bytes_or_is_none() {
    let full = CHUNK_BYTES;
    // The sizes of the chunks stored, the size told, and whether they agree.
    let cases: [(&[usize], usize, bool); 11] = [
        (&[], 0, true),
        (&[5], 5, true),
        (&[full], full, true),
        (&[full, 1], full + 1, true),
        (&[full, full], 2 * full, true),
        (&[], 1, false),
        (&[5], 0, false),
        (&[full], full + 1, false),
        (&[full, 1], full, false),
        (&[full, 1], full + 2, false),
        (&[full], full - 1, false),
    ];
    for (chunks, size, is_whole) in cases {
        let (store, space) = memory_space();
        space.begin_upload(relaxed(), asset(1)).unwrap();
        for (number, size) in (0..).zip(chunks) {
            space.put_chunks(relaxed(), asset(1), number, &[&vec![1; *size]]).unwrap();
        }
        let created = apply(&space, &[Edit::CreateAsset(record(1, size)), showing(1)]);
        let expected = if is_whole { Ok(()) } else { Err(ErrorKind::Conflict) };
        assert_eq!(created.map_err(|error| error.kind()), expected, "{chunks:?} {size}");
        let uploads = space.snapshot().unwrap().reader().uploads().unwrap();
        assert_eq!(uploads.is_empty(), is_whole, "an upload goes on until it is dropped");
        assert!(is_clean(&space), "{chunks:?} {size}");
        space.drop_upload(relaxed(), asset(1)).unwrap();
        assert_eq!(rows_of_files(&*store), if is_whole { 1 + chunks.len() } else { 0 });
    }
}

#[test]
fn a_file_has_the_hash_of_its_bytes() {
    let (right, wrong) = (hash_of(&vec![1; 70_000]), hash_of(&vec![1; 69_999]));
    // The hash told, whether the file is created, and whether a check finds nothing.
    for (sha256, is_created, is_clean) in
        [(None, false, true), (Some(wrong), true, false), (Some(right), true, true)]
    {
        let (_, space) = memory_space();
        let created = AssetRecord { sha256, ..record(1, 70_000) };
        upload(&space, &[Edit::CreateAsset(created.clone())]);
        let outcome = apply(&space, &[Edit::CreateAsset(created.clone()), showing(1)]);
        let expected = if is_created { Ok(()) } else { Err(ErrorKind::Validation) };
        assert_eq!(outcome.map_err(|error| error.kind()), expected, "{sha256:?}");
        assert_eq!(self::is_clean(&space), is_clean, "{sha256:?}");
        let stored = space.snapshot().unwrap().reader().asset(asset(1)).unwrap();
        assert_eq!(stored, is_created.then_some(created));
    }
    // SHA-256 of "abc", as FIPS 180-2 has it.
    let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(hash_of(b"abc").to_string(), known);
}

#[test]
fn stored_chunks_are_a_prefix_of_the_file() {
    let (full, short, long) = (vec![1; CHUNK_BYTES], vec![1; 9], vec![1; CHUNK_BYTES + 1]);
    // The first chunk's number, the chunks, and whether they are taken: each after those before it.
    let cases: [(u32, &[&[u8]], bool); 13] = [
        (1, &[&full], false),
        (0, &[], true),
        (0, &[b""], false),
        (0, &[&long], false),
        (0, &[&short, &short], false),
        (0, &[&full, &full], true),
        (3, &[&full], false),
        (0, &[&short], false),
        (1, &[&full], true),
        (2, &[&full, &short], true),
        (4, &[&full], false),
        (3, &[&full, &short], true),
        (u32::MAX, &[&short], false),
    ];
    let (_, space) = memory_space();
    space.begin_upload(relaxed(), asset(1)).unwrap();
    for (first, chunks, is_taken) in cases {
        let lengths: Vec<usize> = chunks.iter().map(|chunk| chunk.len()).collect();
        let stored =
            space.put_chunks(relaxed(), asset(1), first, chunks).map_err(|error| error.kind());
        assert_eq!(stored.is_ok(), is_taken, "{first} {lengths:?} {stored:?}");
    }
    apply(&space, &[Edit::CreateAsset(record(1, 4 * CHUNK_BYTES + 9)), showing(1)]).unwrap();
    assert!(is_clean(&space));
}

#[test]
fn only_uploads_accept_chunks() {
    let (store, space) = memory_space();
    let kind = |result: Result<()>| result.unwrap_err().kind();
    assert_eq!(kind(space.put_chunks(relaxed(), asset(1), 0, &[b"a"])), ErrorKind::NotFound);
    assert_eq!(kind(apply(&space, &[Edit::CreateAsset(record(1, 0))])), ErrorKind::NotFound);
    space.drop_upload(relaxed(), asset(1)).unwrap();
    space.begin_upload(relaxed(), asset(1)).unwrap();
    assert_eq!(kind(space.begin_upload(relaxed(), asset(1))), ErrorKind::Conflict);
    space.put_chunks(relaxed(), asset(1), 0, &[&[1; 3]]).unwrap();
    apply(&space, &[Edit::CreateAsset(record(1, 3)), showing(1)]).unwrap();
    // A file is not an upload any more: its ID and its bytes stay.
    assert_eq!(kind(space.begin_upload(relaxed(), asset(1))), ErrorKind::Conflict);
    assert_eq!(kind(space.put_chunks(relaxed(), asset(1), 1, &[b"d"])), ErrorKind::NotFound);
    assert_eq!(kind(apply(&space, &[Edit::CreateAsset(record(1, 3))])), ErrorKind::NotFound);
    space.drop_upload(relaxed(), asset(1)).unwrap();
    assert_eq!(space.sweep_uploads(relaxed()).unwrap(), 0);
    assert_eq!(rows_of_files(&*store), 2);
    assert_eq!(kind(apply(&space, &[Edit::EraseAsset(record(1, 4))])), ErrorKind::Conflict);
    apply(&space, &[showing(1).inverse().unwrap(), Edit::EraseAsset(record(1, 3))]).unwrap();
    assert_eq!(kind(apply(&space, &[Edit::EraseAsset(record(1, 3))])), ErrorKind::NotFound);
    assert_eq!(rows_of_files(&*store), 0);
    // Control: nothing prevents creating it again.
    upload(&space, &[Edit::CreateAsset(record(1, 3))]);
    apply(&space, &[Edit::CreateAsset(record(1, 3)), showing(1)]).unwrap();
    assert!(is_clean(&space));
    apply(&space, &[showing(2)]).unwrap();
    upload(&space, &[Edit::CreateAsset(record(3, 3))]);
    apply(&space, &[Edit::CreateAsset(record(3, 3))]).unwrap();
    assert!(!is_clean(&space), "a file that no block shows");
}

#[test]
fn a_file_that_a_block_shows_stays() {
    let (store, space) = memory_space();
    upload(&space, &[Edit::CreateAsset(record(1, 3))]);
    apply(&space, &[Edit::CreateAsset(record(1, 3)), showing(1)]).unwrap();
    let (erase, hide) = (Edit::EraseAsset(record(1, 3)), showing(1).inverse().unwrap());
    // Stored, staged by the same write, and too early in it.
    for edits in [
        vec![erase.clone()],
        vec![hide.clone(), showing(1), erase.clone()],
        vec![showing(2), hide.clone(), showing(1), erase.clone()],
        vec![erase.clone(), hide.clone()],
    ] {
        assert_eq!(apply(&space, &edits).unwrap_err().kind(), ErrorKind::Conflict, "{edits:?}");
        assert_eq!((rows_of_files(&*store), space.stats().unwrap().sequence), (2, 1));
        assert!(is_clean(&space));
    }
    apply(&space, &[hide, erase]).unwrap();
    assert_eq!(rows_of_files(&*store), 0);
    assert!(is_clean(&space));
}

#[test]
fn the_bytes_of_an_upload_do_not_gather_in_memory() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("space");
    let store: Arc<dyn Store> =
        Arc::new(directory::create(&path, &OpenOptions::default()).unwrap());
    let space =
        SpaceStore::create(Arc::clone(&store), Extractor::of_edges(extract), naive::ids(), &meta())
            .unwrap();
    let chunk = vec![7; CHUNK_BYTES];
    space.begin_upload(relaxed(), asset(1)).unwrap();
    // The write-ahead log has them besides, until a checkpoint.
    let bytes = || fs::metadata(path.join(directory::STORE_FILE)).unwrap().len();
    let (empty, most) = (bytes(), 9 << 20);
    for number in 0..480 {
        space.put_chunks(relaxed(), asset(1), number, &[&chunk]).unwrap();
        let put = (u64::from(number) + 1) * CHUNK_BYTES as u64;
        let written = bytes() - empty;
        assert!(written + most >= put, "{written} of {put} bytes are in the file");
        if number == 60 {
            // Control: writes are relaxed, so chunks do accumulate.
            assert!(written < put / 2, "{written} of {put} bytes are in the file");
        }
    }
    space.drop_upload(relaxed(), asset(1)).unwrap();
    assert_eq!(rows_of_files(&*store), 0);
    assert!(is_clean(&space));
}
