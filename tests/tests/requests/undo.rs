//! The change log undoes what random requests did, back to the empty space.

use leafbase::{
    BlockData, BlockDraft, Connection, DeleteBlocks, Destination, Fetch, InsertBlocks, MoveBlocks, Space, UpdateBlocks,
};
use leafbase_test_outline::{BlockRequest, NaiveSpace, Numbers, SequentialIds, Setting, small_limits};
use proptest::prelude::*;

fn send(notes: &Connection, request: BlockRequest) {
    // What is refused is no row of the log.
    let _ = match request {
        BlockRequest::CreateDocument { root, destination } => notes.create_document_of(root, destination).map(drop),
        BlockRequest::Insert { drafts, position } => {
            notes.insert_blocks(InsertBlocks::blocks(drafts, position)).map(drop)
        }
        BlockRequest::Update(blocks) => notes.update_blocks(UpdateBlocks { blocks }).map(drop),
        BlockRequest::Delete(block_ids) => notes.delete_blocks(DeleteBlocks { block_ids }).map(drop),
        BlockRequest::Move { ids, position } => notes.move_blocks(MoveBlocks { block_ids: ids, position }).map(drop),
        BlockRequest::Fetch(_) | BlockRequest::Relocate { .. } => Ok(()),
    };
}

/// The blocks of `notes` as the generator of requests sees them.
fn mirror(notes: &Connection) -> NaiveSpace {
    let mut naive = NaiveSpace::new(small_limits());
    for change in notes.changes_since(0) {
        naive.apply_all(&change.unwrap().edits).unwrap();
    }
    naive
}

fn dump(notes: &Connection) -> Vec<String> {
    let documents = notes.documents().unwrap();
    let fetch = |document: leafbase::Document| notes.fetch(Fetch::new(document.id()).with_metadata()).unwrap();
    documents.into_iter().map(|document| serde_json::to_string(&fetch(document)).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_done_is_undone(numbers in prop::collection::vec(any::<u32>(), 1_000)) {
        let space = Space::builder().limits(small_limits()).ids(SequentialIds::new(1)).in_memory().unwrap();
        let notes = space.connect();
        let mut numbers = Numbers::new(&numbers);
        let mut states = vec![dump(&notes)];
        notes.create_document_of(BlockDraft::new(BlockData::page("home")), Destination::Unsorted).unwrap();
        states.push(dump(&notes));
        for _ in 0..40 {
            let before = notes.last_sequence().unwrap();
            let space = mirror(&notes);
            send(&notes, BlockRequest::new(&mut numbers, Setting { space: &space, today: None }));
            if notes.last_sequence().unwrap() > before {
                states.push(dump(&notes));
            }
        }
        let changes: Vec<_> = notes.changes_since(0).collect::<Result<_, _>>().unwrap();
        prop_assert_eq!(changes.len() + 1, states.len());
        for (change, state) in changes.iter().zip(&states).rev() {
            space.apply(notes.author(), &change.inverse()).unwrap();
            prop_assert_eq!(&dump(&notes), state, "after {:?} is undone", change.sequence);
        }
        prop_assert!(notes.documents().unwrap().0.is_empty());
        prop_assert!(space.check().unwrap().is_clean());
    }
}
