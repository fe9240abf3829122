//! Runs that shrink and move within one write, and compaction of a space with underfull runs.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test"
)]

mod naive;

use std::ops::ControlFlow;
use std::sync::Arc;

use leafbase_model::{
    BlockData, BlockId, BlockRecord, DocumentId, DocumentRecord, Edit, InsertTarget, Location,
    SubtreeNode, Subtrees, Timestamp,
};
use leafbase_store::LogRetention;
use leafbase_store::SpaceStore;
use leafbase_store::kv::{KeyRange, Store};
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

fn node(depth: u16, number: u16, data: BlockData) -> SubtreeNode {
    SubtreeNode {
        depth,
        block: BlockRecord { id: id(number), rev: 1, created: stamp(1), modified: stamp(1), data },
    }
}

fn child(depth: u16, number: u16) -> SubtreeNode {
    node(depth, 100 + number, BlockData::text("a text of forty bytes, or something like that"))
}

fn document(root: u16, below: Vec<SubtreeNode>) -> Edit {
    let (at, location) = (Timestamp::from_millis(1), Location::Unsorted);
    let id = DocumentId::of_root(id(root));
    let record =
        DocumentRecord { id, location, day: None, created_at: at, modified_at: at, rev: 1 };
    let root = node(0, root, BlockData::page("a document"));
    Edit::CreateDocument { record, subtrees: Subtrees([vec![root], below].concat()) }
}

fn first_in(root: u16, parent: u16) -> InsertTarget {
    InsertTarget { document: DocumentId::of_root(id(root)), parent: id(parent), after: None }
}

fn travel(from: u16, to: u16) -> Edit {
    Edit::Move { block: id(PAGE), from: first_in(from, from), to: first_in(to, to) }
}

fn assert_clean(space: &SpaceStore) {
    let report = space.check(&mut |_| ControlFlow::Continue(())).unwrap();
    assert!(report.is_clean(), "{report:#?}");
}

#[test]
fn a_page_shrinks_leaves_and_returns_in_one_transaction() {
    for children in [20, 30, 40, 60, 200] {
        let (_, space) = memory_space();
        let page = node(1, PAGE, BlockData::page("a page"));
        let below =
            std::iter::once(page).chain((0..children).map(|number| child(2, number))).collect();
        let made = vec![document(FIRST, below), document(SECOND, Vec::new())];
        space.write(relaxed(), &stamp(1), |transaction| transaction.apply(made.clone())).unwrap();
        let going = Subtrees((0..children - 2).map(|number| child(0, number)).collect());
        let edits = vec![
            Edit::Remove { target: first_in(FIRST, PAGE), subtrees: going },
            travel(FIRST, SECOND),
            travel(SECOND, FIRST),
        ];
        let written = space
            .write(relaxed(), &stamp(2), |transaction| transaction.apply(edits.clone()))
            .unwrap();
        assert_clean(&space);
        let left = space.snapshot().unwrap().reader().subtree(id(PAGE), None).unwrap();
        assert_eq!(left.0.len(), 3, "of {children} children two stay");
        let undone = written.change.unwrap().inverse().unwrap();
        space.write(relaxed(), &stamp(3), |transaction| transaction.apply(undone.clone())).unwrap();
        assert_clean(&space);
        let back = space.snapshot().unwrap().reader().subtree(id(PAGE), None).unwrap();
        assert_eq!(back.0.len(), usize::from(children) + 1);
    }
}

type Row = (Vec<u8>, Vec<u8>);

fn rows_of(store: &dyn Store, tag: u8) -> Vec<Row> {
    let mut rows = Vec::new();
    let take = &mut |key: &[u8], value: &[u8]| {
        rows.push((key.to_vec(), value.to_vec()));
        Ok(ControlFlow::Continue(()))
    };
    store.snapshot().unwrap().scan(KeyRange::half_open(&[tag], &[tag + 1]), take).unwrap();
    rows
}

fn rows_of_runs(store: &dyn Store) -> Vec<Row> {
    rows_of(store, 0x10)
}

/// Pages of 4 KiB that rows take if each page is filled as far as whole rows go.
fn pages(rows: &[Row]) -> usize {
    let (mut pages, mut used) = (0, usize::MAX);
    for (key, value) in rows {
        let bytes = key.len() + value.len() + 8;
        if used.saturating_add(bytes) > 4_096 {
            (pages, used) = (pages + 1, 4);
        }
        used += bytes;
    }
    pages
}

/// Bytes of all change records.
fn change_bytes(store: &dyn Store) -> usize {
    rows_of(store, 0x80).iter().map(|(_, value)| value.len()).sum()
}

/// Documents with runs of every size that leaves room in a page, one block that takes more than
/// one, and one document with so many runs that they are cut in several turns.
fn roomy() -> (Arc<dyn Store>, SpaceStore, Vec<BlockId>) {
    let (store, space) = memory_space();
    let mut next = 1_000_u16;
    let mut roots = Vec::new();
    for (number, children) in
        [28, 29, 30, 80, 7, 28, 33, 1, 12_000, 28, 0, 29].into_iter().enumerate()
    {
        let root = u16::try_from(number).unwrap() + 10;
        let below = (0..children).map(|child| {
            next += 1;
            let length = if child == 5 { 9_000 } else { 60 + usize::from(next % 90) };
            node(1, next, BlockData::text("x".repeat(length)))
        });
        let made = vec![document(root, below.collect())];
        space.write(relaxed(), &stamp(1), |transaction| transaction.apply(made.clone())).unwrap();
        roots.push(id(root));
    }
    // Of every run of the large one about half is left.
    let subtrees = space.snapshot().unwrap().reader().subtree(roots[8], None).unwrap();
    let children: Vec<SubtreeNode> = subtrees.0.into_iter().skip(1).collect();
    for pair in children.chunks(8).filter(|chunk| chunk.len() == 8) {
        let going = Subtrees(
            pair[1..5].iter().map(|node| SubtreeNode { depth: 0, ..node.clone() }).collect(),
        );
        let target = InsertTarget {
            document: DocumentId::of_root(roots[8]),
            parent: roots[8],
            after: Some(pair[0].block.id),
        };
        let edits = vec![Edit::Remove { target, subtrees: going }];
        space.write(relaxed(), &stamp(2), |transaction| transaction.apply(edits.clone())).unwrap();
    }
    (store, space, roots)
}

#[test]
fn compaction_compresses_changes_and_keeps_all_blocks() {
    let (store, space, roots) = roomy();
    let trees = || -> Vec<Subtrees> {
        let snapshot = space.snapshot().unwrap();
        roots.iter().map(|root| snapshot.reader().subtree(*root, None).unwrap()).collect()
    };
    // Each by its ID, so that its place is known before and after.
    let blocks = |trees: &[Subtrees]| {
        let snapshot = space.snapshot().unwrap();
        for node in trees.iter().flat_map(|subtrees| &subtrees.0) {
            assert_eq!(snapshot.reader().block(node.block.id).unwrap().as_ref(), Some(&node.block));
        }
    };
    let (before, rows) = (trees(), rows_of_runs(&*store));
    blocks(&before);
    assert!(rows.len() > 300, "{} runs", rows.len());
    let bytes: usize = rows.iter().map(|(key, value)| key.len() + value.len() + 8).sum();
    // Runs are cut by their bytes, not to pages: of these, whole rows leave a fifth of the pages
    // empty.
    assert!(pages(&rows) < bytes / 4_096 * 13 / 10, "{} pages for {bytes} bytes", pages(&rows));
    let changes = change_bytes(&*store);
    space.compact(&LogRetention::default()).unwrap();
    assert_eq!(rows_of_runs(&*store), rows, "compaction rewrites no run");
    let compressed = change_bytes(&*store);
    assert!(compressed < changes / 2, "{compressed} bytes of changes, {changes} before");
    assert_eq!(trees(), before);
    blocks(&before);
    assert_clean(&space);
    space.compact(&LogRetention::default()).unwrap();
    assert_eq!(change_bytes(&*store), compressed, "changes are compressed once");

    // Blocks inserted between runs after compaction, and removed again.
    for (root, subtrees) in roots.iter().zip(&before) {
        let after = subtrees
            .0
            .get(subtrees.0.len() / 2)
            .map(|node| node.block.id)
            .filter(|block| block != root);
        let target = InsertTarget { document: DocumentId::of_root(*root), parent: *root, after };
        let coming = Subtrees((0..40).map(|number| child(0, number)).collect());
        let put = vec![Edit::Insert { target, subtrees: coming.clone() }];
        space.write(relaxed(), &stamp(3), |transaction| transaction.apply(put.clone())).unwrap();
        assert_clean(&space);
        let take = vec![Edit::Remove { target, subtrees: coming }];
        space.write(relaxed(), &stamp(4), |transaction| transaction.apply(take.clone())).unwrap();
    }
    assert_eq!(trees(), before);
    space.compact(&LogRetention::default()).unwrap();
    assert_eq!(trees(), before);
    blocks(&before);
    assert_clean(&space);
}
