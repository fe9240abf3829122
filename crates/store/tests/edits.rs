//! Random edits against a naive model, on every store: reads agree, laws hold, and inverse edits bring back what was.

use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use leafbase_model::{Edit, ErrorKind, SpaceId};
use leafbase_store::kv::{Durability, MemoryStore, OpenOptions, Store, WriteOptions};
use leafbase_store::{SpaceMeta, SpaceStore, directory};
use proptest::prelude::*;

mod naive;

use naive::{Maker, Naive, extract, stamp};

fn relaxed() -> WriteOptions {
    WriteOptions::durability(Durability::Relaxed)
}

fn meta() -> SpaceMeta {
    SpaceMeta { id: SpaceId::from_bytes([5; 16]), name: "Space".to_owned(), zone: "Europe/Berlin".to_owned() }
}

/// Applies edits made of `numbers`, in writes of some, to the model and the space.
fn play(space: &SpaceStore, naive: &mut Naive, maker: &mut Maker, numbers: &[[u32; 4]], now: &mut i64) {
    for group in numbers.chunks(3) {
        *now += 1;
        let before = naive.clone();
        let mut edits = vec![];
        for numbers in group {
            if let Some(edit) = maker.edit(naive, *numbers) {
                naive.apply(&edit);
                edits.push(edit);
            }
        }
        let in_two_turns = group[0][3].is_multiple_of(2);
        let written = space.write(relaxed(), &stamp(*now), |transaction| {
            let mut edits = edits.clone();
            if in_two_turns {
                let rest = edits.split_off(edits.len() / 2);
                transaction.apply(edits)?;
                transaction.reader()?.last_sequence()?;
                edits = rest;
            }
            transaction.apply(edits)
        });
        let change = written.unwrap_or_else(|error| panic!("{error} {edits:?} {before:?}")).change;
        assert_eq!(change.map(|change| change.edits).unwrap_or_default(), edits);
    }
}

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
        space.write(relaxed(), &stamp(*now), |transaction| transaction.apply(change.inverse()))?;
    }
    Ok(())
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
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let space = SpaceStore::create(store, extract, &meta()).unwrap();
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
