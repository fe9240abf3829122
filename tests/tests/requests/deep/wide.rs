//! As many blocks as one request may have, all side by side: below one page, and on the move.

use leafbase::{
    BlockData, BlockDraft, BlockId, DeleteBlocks, Fetch, InsertBlocks, MoveBlocks, Position,
};

use super::on_a_small_stack;
use crate::host::{Host, wrong};

const MANY: usize = 20_000;

#[test]
fn siblings_by_the_thousand() {
    on_a_small_stack(|| {
        let host = Host::new();
        let page = host.id("page");
        let lines = |count: usize| vec![BlockDraft::new(BlockData::text("x")); count];
        let insert = |count| {
            host.notes.insert_blocks(InsertBlocks::blocks(lines(count), Position::end_of(page)))
        };
        let before = host.notes.space().stats().unwrap();
        assert_eq!(wrong(&insert(MANY + 1).unwrap_err()), "LIMIT_EXCEEDED blocks");
        let made: Vec<BlockId> = insert(MANY).unwrap().iter().map(|block| block.id).collect();
        let children = |page: BlockId| host.notes.fetch(Fetch::new(page)).unwrap().children().len();
        assert_eq!(children(page), MANY + 1);

        let other = host.id("other");
        let go = |ids: &[BlockId], position: Position| {
            let ids = ids.to_vec();
            host.notes
                .move_blocks(MoveBlocks::new(ids, position))
                .map(drop)
                .map_err(|error| wrong(&error))
        };
        let one_more: Vec<BlockId> = made.iter().copied().chain([host.id("child")]).collect();
        let full = host.notes.space().stats().unwrap();
        assert_eq!(
            go(&one_more, Position::end_of(other)),
            Err("LIMIT_EXCEEDED blockIds".to_owned())
        );
        let twice: Vec<BlockId> = made[1..].iter().copied().chain([made[MANY - 1]]).collect();
        assert_eq!(
            go(&twice, Position::end_of(other)),
            Err(format!("VALIDATION blockIds[{}]", MANY - 1))
        );
        assert_eq!(host.notes.space().stats().unwrap(), full);
        go(&made, Position::end_of(other)).unwrap();
        let backwards: Vec<BlockId> = made.iter().rev().copied().collect();
        go(&backwards, Position::start_of(other)).unwrap();
        assert_eq!((children(page), children(other)), (1, MANY));
        let tree = host.notes.fetch(Fetch::new(other)).unwrap();
        assert!(tree.children().iter().map(|block| block.id).eq(backwards));

        let delete = |ids: Vec<BlockId>| host.notes.delete_blocks(DeleteBlocks::new(ids));
        assert_eq!(wrong(&delete(one_more).unwrap_err()), "LIMIT_EXCEEDED blockIds");
        delete(made).unwrap();
        let after = host.notes.space().stats().unwrap();
        assert_eq!((after.blocks, children(other)), (before.blocks, 0));
    });
}
