//! Random edits against a naive model, on every store: reads agree, laws hold, and inverse edits bring back what was.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a failed expectation is a failed test")]

use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use leafbase_model::{Edit, ErrorKind};
use leafbase_store::kv::{MemoryStore, OpenOptions, Store};
use leafbase_store::{DocumentQuery, Reader, SpaceStore, directory};
use proptest::prelude::*;

mod naive;

use naive::{Maker, Naive, extract, memory_space, meta, play, relaxed, stamp, upload};

fn agrees(space: &SpaceStore, naive: &Naive) {
    naive.agrees_with(space.snapshot().unwrap().reader());
    let report = space.check(&mut |_| ControlFlow::Continue(())).unwrap();
    assert!(report.problems.is_empty(), "{report:#?}");
}

/// Undoes all changes after `sequence`, the last one first.
fn undo(space: &SpaceStore, sequence: u64, now: &mut i64) -> Result<(), leafbase_model::Error> {
    let changes = space.snapshot()?.reader().changes_after(sequence, usize::MAX)?;
    for change in changes.iter().rev() {
        *now += 1;
        let inverse = change.inverse();
        // The bytes of files that were erased are no part of the edits.
        upload(space, &inverse);
        space.write(relaxed(), &stamp(*now), |transaction| transaction.apply(inverse.clone()))?;
    }
    Ok(())
}

/// The change log alone makes the same space again, the times of the last changes included.
fn replayed(space: &SpaceStore) {
    let (_, copy) = memory_space();
    let (ours, theirs) = (space.snapshot().unwrap(), || copy.snapshot().unwrap());
    for change in ours.reader().changes_after(0, usize::MAX).unwrap() {
        upload(&copy, &change.edits);
        let written = copy.write(relaxed(), &change.stamp, |open| open.apply(change.edits.clone())).unwrap();
        assert_eq!(written.change.unwrap(), change);
    }
    let all = |reader: Reader<'_>| reader.find_documents(&DocumentQuery::default(), None, usize::MAX).unwrap();
    let documents = all(ours.reader());
    assert_eq!(documents, all(theirs().reader()));
    for document in documents.documents {
        let tree = |reader: Reader<'_>| reader.subtree(document.id.root(), None).unwrap();
        assert_eq!(tree(ours.reader()), tree(theirs().reader()));
    }
}

fn numbers(count: usize) -> impl Strategy<Value = Vec<[u32; 4]>> {
    prop::collection::vec(prop::array::uniform4(any::<u32>()), 1..count)
}

fn with_document(space: &SpaceStore) -> (Naive, Maker, i64) {
    let (mut naive, mut maker, mut now) = (Naive::default(), Maker::new(), 1_000);
    play(space, &mut naive, &mut maker, &[[0, 1, 1, 38]], &mut now);
    (naive, maker, now)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn a_space_in_memory_agrees_with_the_model(first in numbers(30), second in numbers(60)) {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let space = SpaceStore::create(Arc::clone(&store), extract, &meta()).unwrap();
        let (mut naive, mut maker, mut now) = with_document(&space);
        play(&space, &mut naive, &mut maker, &first, &mut now);
        agrees(&space, &naive);
        let (middle, sequence) = (naive.clone(), space.snapshot().unwrap().reader().last_sequence().unwrap());
        play(&space, &mut naive, &mut maker, &second, &mut now);
        let space = SpaceStore::open(store, extract).unwrap();
        agrees(&space, &naive);
        undo(&space, sequence, &mut now).unwrap();
        agrees(&space, &middle);
        replayed(&space);
    }

    #[test]
    fn a_space_in_a_file_agrees_with_the_model(first in numbers(20), second in numbers(40)) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("space");
        let store = Arc::new(directory::create(&path, &OpenOptions::default()).unwrap());
        let space = SpaceStore::create(store, extract, &meta()).unwrap();
        let (mut naive, mut maker, mut now) = with_document(&space);
        play(&space, &mut naive, &mut maker, &first, &mut now);
        let (middle, sequence) = (naive.clone(), space.snapshot().unwrap().reader().last_sequence().unwrap());
        play(&space, &mut naive, &mut maker, &second, &mut now);
        agrees(&space, &naive);
        drop(space);
        let store = Arc::new(directory::open(&path, &OpenOptions::default()).unwrap());
        let space = SpaceStore::open(store, extract).unwrap();
        agrees(&space, &naive);
        undo(&space, sequence, &mut now).unwrap();
        agrees(&space, &middle);
    }
}

/// More with `LEAFBASE_CASES`.
fn cases() -> u32 {
    std::env::var("LEAFBASE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(24)
}

/// The control: an inverse that is not the right one is refused, or leaves another state.
#[test]
fn a_broken_inverse_is_noticed() {
    let (_, space) = memory_space();
    let (mut naive, mut maker, mut now) = with_document(&space);
    play(&space, &mut naive, &mut maker, &[[1, 5, 1, 22], [8, 3, 3, 9]], &mut now);
    let sequence = space.snapshot().unwrap().reader().last_sequence().unwrap();
    let change = space.snapshot().unwrap().reader().changes_after(sequence - 1, 1).unwrap().remove(0);
    let mut inverse = change.inverse();
    for edit in &mut inverse {
        match edit {
            Edit::Update { before, .. } => before.rev += 1,
            Edit::Remove { forest, .. } => forest.0.last_mut().unwrap().block.rev += 1,
            _ => {}
        }
        let refused = space.write(relaxed(), &stamp(now), |transaction| transaction.apply(vec![edit.clone()]));
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::Conflict);
    }
    agrees(&space, &naive);
    // Left out altogether, it leaves another state: the comparison sees it.
    let before = Naive::default();
    let snapshot = space.snapshot().unwrap();
    assert!(std::panic::catch_unwind(AssertUnwindSafe(|| before.agrees_with(snapshot.reader()))).is_err());
}
