//! Runs that shrink and move within one write.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a failed expectation is a failed test")]

mod naive;

use std::ops::ControlFlow;

use leafbase_model::{
    BlockData, BlockId, BlockRecord, DocumentId, DocumentRecord, Edit, Forest, Location, Node, Slot, Timestamp,
};
use leafbase_store::SpaceStore;
use naive::{memory_space, relaxed, stamp};

/// The roots of two documents, and a page in the first of them.
const FIRST: u16 = 1;
const SECOND: u16 = 2;
const PAGE: u16 = 3;

fn id(number: u16) -> BlockId {
    let mut bytes = [7; 16];
    bytes[..2].copy_from_slice(&number.to_be_bytes());
    BlockId::from_bytes(bytes)
}

fn node(depth: u16, number: u16, data: BlockData) -> Node {
    Node { depth, block: BlockRecord { id: id(number), rev: 1, created: stamp(1), modified: stamp(1), data } }
}

fn child(depth: u16, number: u16) -> Node {
    node(depth, 100 + number, BlockData::text("a text of forty bytes, or something like that"))
}

fn document(root: u16, below: Vec<Node>) -> Edit {
    let (at, location) = (Timestamp::from_millis(1), Location::Unsorted);
    let id = DocumentId::of_root(id(root));
    let record = DocumentRecord { id, location, day: None, created_at: at, modified_at: at };
    let root = node(0, root, BlockData::page("a document"));
    Edit::CreateDocument { record, forest: Forest([vec![root], below].concat()) }
}

fn first_in(root: u16, parent: u16) -> Slot {
    Slot { document: DocumentId::of_root(id(root)), parent: id(parent), after: None }
}

fn travel(from: u16, to: u16) -> Edit {
    Edit::Move { block: id(PAGE), from: first_in(from, from), to: first_in(to, to) }
}

fn assert_clean(space: &SpaceStore) {
    let report = space.check(&mut |_| ControlFlow::Continue(())).unwrap();
    assert!(report.is_clean(), "{report:#?}");
}

#[test]
fn a_page_that_shrinks_leaves_and_comes_back_in_one_write() {
    for children in [20, 30, 40, 60, 200] {
        let (_, space) = memory_space();
        let page = node(1, PAGE, BlockData::page("a page"));
        let below = std::iter::once(page).chain((0..children).map(|number| child(2, number))).collect();
        let made = vec![document(FIRST, below), document(SECOND, Vec::new())];
        space.write(relaxed(), &stamp(1), |transaction| transaction.apply(made.clone())).unwrap();
        let going = Forest((0..children - 2).map(|number| child(0, number)).collect());
        let edits = vec![
            Edit::Remove { slot: first_in(FIRST, PAGE), forest: going },
            travel(FIRST, SECOND),
            travel(SECOND, FIRST),
        ];
        let written = space.write(relaxed(), &stamp(2), |transaction| transaction.apply(edits.clone())).unwrap();
        assert_clean(&space);
        let left = space.snapshot().unwrap().reader().subtree(id(PAGE), None).unwrap();
        assert_eq!(left.0.len(), 3, "of {children} children two stay");
        let undone = written.change.unwrap().inverse();
        space.write(relaxed(), &stamp(3), |transaction| transaction.apply(undone.clone())).unwrap();
        assert_clean(&space);
        let back = space.snapshot().unwrap().reader().subtree(id(PAGE), None).unwrap();
        assert_eq!(back.0.len(), usize::from(children) + 1);
    }
}
