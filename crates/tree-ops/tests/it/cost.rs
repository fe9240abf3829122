//! What the operations read: it must not grow with what they leave alone, nor with the square of
//! what they change.

use leafbase_model::{BlockData, BlockDraft, BlockId, Edge, Result, Side};
use leafbase_test_outline::{NaiveSpace, SequentialIds, stamp};
use leafbase_tree_ops::{Context, ResolvedPosition, delete, fetch, insert, move_blocks};

use crate::tree::Tree;

/// A page with so many texts, and beside it another page: the texts, the two pages.
fn rows(count: usize) -> (NaiveSpace, Vec<BlockId>, BlockId, BlockId) {
    let lines: String = (0..count).map(|_| "    text \"x\"\n").collect();
    let (space, labels) =
        NaiveSpace::from_outline(&format!("\npage\n  page #p\n{lines}  page #q\n    line"))
            .unwrap();
    let texts =
        space.first_children(labels.id("p"), usize::MAX).iter().map(|block| block.id).collect();
    (space, texts, labels.id("p"), labels.id("q"))
}

/// The calls that an operation makes, and the blocks that it is handed.
fn reads<T>(
    space: &NaiveSpace,
    operation: impl FnOnce(&Tree<'_>, &Context<'_>) -> Result<T>,
) -> (usize, usize) {
    let (stamp, ids) = (stamp(1), SequentialIds::new(1));
    let tree = Tree::new(space, None);
    let done = operation(&tree, &Context { limits: &space.limits, stamp: &stamp, ids: &ids });
    assert!(done.is_ok());
    (tree.calls.get(), tree.blocks.get())
}

#[test]
fn an_insertion_reads_the_same_however_many_siblings_there_are() {
    for which in 0..3 {
        let put = |count| {
            let (space, texts, page, _) = rows(count);
            let place = match which {
                0 => ResolvedPosition::Within(Edge::End, page),
                1 => ResolvedPosition::Within(Edge::Start, page),
                _ => ResolvedPosition::Beside(Side::Before, texts[count / 2]),
            };
            let drafts = vec![BlockDraft::new(BlockData::text("new"))];
            reads(&space, |tree, context| insert(tree, context, drafts, place))
        };
        let few = put(4);
        assert_eq!(few, put(400));
        assert!(few.0 <= 8, "{few:?}");
    }
}

#[test]
fn moving_siblings_costs_as_many_reads_as_there_are() {
    for backwards in [false, true] {
        let moved = |count: usize| {
            let (space, mut texts, _, to) = rows(400);
            texts.truncate(count);
            if backwards {
                texts.reverse();
            }
            reads(&space, |tree, context| {
                move_blocks(tree, context, texts, ResolvedPosition::Within(Edge::End, to))
            })
        };
        let (fifty, hundred) = (moved(50), moved(100));
        assert_eq!((hundred.0 - fifty.0, hundred.1 - fifty.1), (3 * 50, 50));
        assert!(fifty.0 < 160, "{fifty:?}");
    }
}

#[test]
fn deleting_siblings_costs_as_many_reads_as_there_are() {
    let deleted = |count: usize| {
        let (space, mut texts, ..) = rows(400);
        texts.truncate(count);
        reads(&space, |tree, context| delete(tree, context, texts))
    };
    let (fifty, hundred) = (deleted(50), deleted(100));
    assert_eq!((hundred.0 - fifty.0, hundred.1 - fifty.1), (3 * 50, 50));
    assert!(fifty.0 < 160, "{fifty:?}");
}

#[test]
fn a_page_that_goes_no_deeper_is_moved_without_reading_what_is_below() {
    let (space, _, page, beside) = rows(400);
    let (calls, blocks) = reads(&space, |tree, context| {
        move_blocks(tree, context, vec![page], ResolvedPosition::Beside(Side::After, beside))
    });
    assert!(calls < 12 && blocks < 4, "{calls} {blocks}");
}

#[test]
fn a_fetch_reads_no_items() {
    let fetched = |count: usize| {
        let items = "    collectionItem \"x\"\n      line\n".repeat(count);
        let (space, labels) =
            NaiveSpace::from_outline(&format!("\npage #t\n  collection \"c\"\n{items}")).unwrap();
        reads(&space, |tree, _| {
            fetch(tree, labels.id("t"), None, false, &|data| data.inline.clone(), &|_| Ok(()))
        })
    };
    assert_eq!(fetched(3), fetched(300));
    assert_eq!(fetched(3).1, 2);
}
