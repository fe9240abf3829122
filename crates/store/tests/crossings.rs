//! Moves of many blocks to another document in one transaction: dependent rows move along, and
//! back.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test"
)]

use std::ops::ControlFlow;

use leafbase_model::{
    BlockData, BlockId, BlockRecord, BlockType, Comment, CommentId, DocumentId, DocumentRecord,
    Edit, ErrorKind, InsertTarget, ListStyle, Location, SubtreeNode, Subtrees, TaskInfo,
};
use leafbase_store::SpaceStore;
use proptest::prelude::*;

mod naive;

use naive::{Naive, memory_space, relaxed, stamp};

const HOMES: [u16; 2] = [1, 2];
/// Blocks in each document below its root. Every seventh is a page, whose children follow it.
const EACH: u16 = 120;

fn id(number: u16) -> BlockId {
    // Scattered, so that siblings are not adjacent in the store.
    BlockId::from_bytes(
        u128::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835).to_be_bytes(),
    )
}

fn data(number: u16) -> BlockData {
    let words = "words ".repeat(usize::from(number % 30));
    match number % 7 {
        0 => BlockData::page(words),
        3 => BlockData {
            list_style: ListStyle::Task,
            task: Some(TaskInfo::default()),
            ..BlockData::text(words)
        },
        _ => BlockData::text(words),
    }
}

fn is_page(block: &BlockRecord) -> bool {
    block.data.block_type() == BlockType::Page
}

fn document(number: u16) -> Edit {
    let record = DocumentRecord {
        id: DocumentId::of_root(id(number)),
        location: Location::Unsorted,
        day: None,
        created_at: stamp(1).at,
        modified_at: stamp(1).at,
        rev: 1,
    };
    let node = |depth, number| {
        let data = if depth == 0 { BlockData::page("Root") } else { data(number) };
        SubtreeNode {
            depth,
            block: BlockRecord {
                id: id(number),
                rev: 1,
                created: stamp(1),
                modified: stamp(1),
                data,
            },
        }
    };
    let below = number * 1_000..number * 1_000 + EACH;
    let mut nodes = vec![node(0, number)];
    for number in below {
        // Every other page contains the blocks up to the next one.
        let depth = if number % 7 > 0 && number % 14 < 7 { 2 } else { 1 };
        let has_page = nodes.iter().any(|node| is_page(&node.block) && node.depth == 1);
        nodes.push(node(if has_page { depth } else { 1 }, number));
    }
    Edit::CreateDocument { record, subtrees: Subtrees(nodes) }
}

/// Both documents, with a comment on every fifth block.
fn made() -> (SpaceStore, Naive) {
    let (_, space) = memory_space();
    let mut naive = Naive::default();
    let mut edits: Vec<Edit> = HOMES.map(document).into();
    for home in HOMES {
        for number in (home * 1_000..home * 1_000 + EACH).step_by(5) {
            let comment_id = CommentId::from_bytes(id(number).to_bytes());
            let comment = Comment::new(comment_id, stamp(1), "a comment");
            edits.push(Edit::AddComment {
                document: DocumentId::of_root(id(home)),
                block: id(number),
                comment,
            });
        }
    }
    for edit in &edits {
        naive.apply(edit);
    }
    space.write(relaxed(), &stamp(1), |open| open.apply(edits.clone())).unwrap();
    (space, naive)
}

/// Moves siblings, `count` of them from the one that `first` picks, one after the other to behind
/// what `target` picks. Some are put in backwards.
fn moves(naive: &mut Naive, [first, count, target, shape]: [u16; 4]) -> Vec<Edit> {
    let inner: Vec<BlockId> =
        naive.blocks.keys().copied().filter(|block| naive.standing[block].1.is_some()).collect();
    let first = inner[usize::from(first) % inner.len()];
    let (_, parent) = naive.standing[&first];
    let siblings = naive.children(parent.unwrap());
    let at = siblings.iter().position(|sibling| *sibling == first).unwrap();
    let going: Vec<BlockId> =
        siblings[at..].iter().copied().take(usize::from(count % 60) + 1).collect();
    let below: Vec<BlockId> = going
        .iter()
        .flat_map(|block| naive.subtree(*block, usize::MAX).0)
        .map(|node| node.block.id)
        .collect();
    let pages = naive.blocks.values().filter(|block| is_page(block)).map(|block| block.id);
    let targets: Vec<BlockId> = pages.filter(|block| !below.contains(block)).collect();
    let parent = targets[usize::from(target) % targets.len()];
    let last = naive.children(parent).iter().copied().rfind(|child| !going.contains(child));
    let start = last.filter(|_| !shape.is_multiple_of(3));
    let (mut after, mut edits) = (start, Vec::new());
    for block in going {
        let from = naive.slot_of(block);
        let to = InsertTarget { document: naive.standing[&parent].0, parent, after };
        if from != to {
            edits.push(Edit::Move { block, from, to });
            naive.apply(edits.last().unwrap());
        }
        if !shape.is_multiple_of(5) {
            after = Some(block);
        }
    }
    edits
}

fn agrees(space: &SpaceStore, naive: &Naive) {
    naive.agrees_with(space.snapshot().unwrap().reader());
    let report = space.check(&mut |_| ControlFlow::Continue(())).unwrap();
    assert!(report.is_clean(), "{report:#?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_cross_document_move_equals_single_moves(
        picks in prop::collection::vec(any::<[u16; 4]>(), 1..6),
    ) {
        let (space, before) = made();
        let mut naive = before.clone();
        let edits: Vec<Edit> = picks.into_iter().flat_map(|pick| moves(&mut naive, pick)).collect();
        let written = space.write(relaxed(), &stamp(2), |open| open.apply(edits.clone())).unwrap();
        agrees(&space, &naive);
        if let Some(change) = written.change {
            prop_assert_eq!(&change.edits, &edits);
            let undone = change.inverse().unwrap();
            space.write(relaxed(), &stamp(3), |open| open.apply(undone.clone())).unwrap();
            agrees(&space, &before);
        }
    }
}

#[test]
fn later_edits_see_a_pending_cross_document_move() {
    let (space, naive) = made();
    let [from, to] = HOMES.map(|home| DocumentId::of_root(id(home)));
    let tops: Vec<BlockId> = naive.children(from.root()).to_vec();
    let target = |document: DocumentId, after: Option<BlockId>| InsertTarget {
        document,
        parent: document.root(),
        after,
    };
    let go = |at: usize, after: Option<BlockId>| Edit::Move {
        block: tops[at],
        from: target(from, None),
        to: target(to, after),
    };
    let back = |at: usize, after| Edit::Move {
        block: tops[at],
        from: target(to, after),
        to: target(from, None),
    };
    let tried = |edits: Vec<Edit>| {
        let written = space.write(relaxed(), &stamp(2), |open| open.apply(edits.clone()));
        written.map(drop).map_err(|error| error.kind())
    };
    let chain = || vec![go(0, None), go(1, Some(tops[0]))];
    assert_eq!(
        tried([chain(), vec![go(0, Some(tops[1]))]].concat()),
        Err(ErrorKind::Conflict),
        "it went already"
    );
    assert_eq!(
        tried([chain(), vec![go(2, Some(tops[3]))]].concat()),
        Err(ErrorKind::Conflict),
        "that is not a block there"
    );
    assert_eq!(
        tried([chain(), vec![go(3, Some(tops[1]))]].concat()),
        Err(ErrorKind::Conflict),
        "it stands behind another"
    );
    assert_eq!(tried([chain(), vec![go(2, Some(tops[2]))]].concat()), Err(ErrorKind::Validation));
    agrees(&space, &naive);
    assert_eq!(tried([chain(), vec![back(1, Some(tops[0])), back(0, None)]].concat()), Ok(()));
    agrees(&space, &naive);
}
