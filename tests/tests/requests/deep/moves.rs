//! Moves that add up depth: chains of pages below chains, many pages at once; folders likewise.

use std::collections::BTreeMap;

use leafbase::{
    BlockData, BlockDraft, BlockId, CreateFolders, Fetch, FolderDraft, FolderId, InsertBlocks,
    MoveBlocks, MoveFolders, Position,
};
use leafbase_test_outline::SequentialIds;

use super::{Limits, insert, on_a_small_stack};
use crate::host::{Host, wrong};

/// How deep the deepest block of a document stands: 1 below the root.
fn depth(host: &Host, page: BlockId) -> usize {
    host.notes.fetch(Fetch::new(page)).unwrap().walk().map(|(depth, _)| depth).max().unwrap()
}

/// The page at the end of a chain.
fn bottom(host: &Host, top: BlockId) -> BlockId {
    let tree = host.notes.fetch(Fetch::new(top)).unwrap();
    tree.walk().max_by_key(|(depth, _)| *depth).unwrap().1.id
}

fn go(host: &Host, pages: &[BlockId], to: BlockId) -> Result<(), String> {
    let before = host.notes.space().stats().unwrap();
    let moved = host.notes.move_blocks(MoveBlocks::new(pages.to_vec(), Position::end_of(to)));
    moved.map(drop).map_err(|error| {
        assert_eq!(host.notes.space().stats().unwrap(), before, "a refused move leaves no trace");
        wrong(&error)
    })
}

#[test]
fn chains_below_chains() {
    on_a_small_stack(|| {
        let host = Host::new();
        let other = host.id("other");
        // Eight pages at a time, each time below the end of the first of eight others: 1, 2, 4, ..
        // 64 levels.
        let mut tops: Vec<Vec<BlockId>> =
            (0..8).map(|_| (0..8).map(|_| insert(&host, 1, other).unwrap()).collect()).collect();
        for levels in [2, 4, 8] {
            let lower = tops.split_off(tops.len() / 2);
            for (upper, lower) in tops.iter().zip(lower) {
                go(&host, &lower, bottom(&host, upper[0])).unwrap();
            }
            assert_eq!(depth(&host, other), levels);
        }
        let first = tops[0][0];
        let chain = |levels: usize| insert(&host, levels, other).unwrap();
        for levels in [8, 16, 32] {
            go(&host, &[chain(1), chain(levels), chain(2)], bottom(&host, first)).unwrap();
        }
        assert_eq!(depth(&host, other), 64);
        assert_eq!(
            go(&host, &[chain(1)], bottom(&host, first)),
            Err("LIMIT_EXCEEDED blockIds[0]".to_owned())
        );
        // The whole chain one level down, and what goes up while others go down.
        let page = chain(1);
        assert_eq!(go(&host, &[first], page), Err("LIMIT_EXCEEDED blockIds[0]".to_owned()));
        assert_eq!(
            go(&host, &[chain(1), chain(3), first], page),
            Err("LIMIT_EXCEEDED blockIds[2]".to_owned())
        );
        let text = host.notes.insert_markdown("x", Position::end_of(bottom(&host, first)));
        assert_eq!(wrong(&text.unwrap_err()), "LIMIT_EXCEEDED markdown");
        assert_eq!(depth(&host, other), 64);
        assert!(host.notes.space().check().unwrap().is_clean());
    });
}

/// Which page stands in which, as far as depth goes.
struct Pages(BTreeMap<BlockId, Option<BlockId>>);

impl Pages {
    fn lineage(&self, page: BlockId) -> Vec<BlockId> {
        std::iter::successors(Some(page), |page| self.0.get(page).copied().flatten()).collect()
    }

    fn depth(&self, page: BlockId) -> usize {
        self.lineage(page).len()
    }

    /// How far below it the deepest page stands.
    fn height(&self, page: BlockId) -> usize {
        let below = self
            .0
            .keys()
            .filter_map(|other| self.lineage(*other).iter().position(|above| *above == page));
        below.max().unwrap_or_default()
    }
}

#[test]
fn random_moves_never_pass_the_limit() {
    const MOST: usize = 6;
    let mut limits = Limits::default();
    limits.page_nesting = MOST;
    let host = Host::with_limits(limits);
    let other = host.id("other");
    let draft = vec![BlockDraft::new(BlockData::page("p")); 24];
    let made =
        host.notes.insert_blocks(InsertBlocks::blocks(draft, Position::end_of(other))).unwrap();
    let ids: Vec<BlockId> = made.iter().map(|page| page.id).collect();
    let mut pages = Pages(ids.iter().map(|id| (*id, None)).collect());
    let mut state = 7_u64;
    let mut next = |most: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % most
    };
    let (mut done, mut refused) = (0, 0);
    for _ in 0..1_500 {
        let mut moved: Vec<BlockId> = (0..=next(3)).map(|_| ids[next(ids.len())]).collect();
        moved.sort_unstable();
        moved.dedup();
        let to = ids[next(ids.len())];
        if moved.iter().any(|page| pages.lineage(to).contains(page)) {
            continue;
        }
        let stays = |page: &BlockId| pages.0[page] == Some(to);
        let too_deep =
            |page: &BlockId| !stays(page) && pages.depth(to) + 1 + pages.height(*page) > MOST;
        let expected =
            moved.iter().position(too_deep).map(|at| format!("LIMIT_EXCEEDED blockIds[{at}]"));
        assert_eq!(go(&host, &moved, to).err(), expected);
        if expected.is_some() {
            refused += 1;
            continue;
        }
        done += 1;
        pages.0.extend(moved.iter().map(|page| (*page, Some(to))));
    }
    assert!(done > 50 && refused > 200, "{done} {refused}");
    let deepest = ids.iter().map(|page| pages.depth(*page)).max();
    assert_eq!((deepest, depth(&host, other)), (Some(MOST), MOST));
}

#[test]
fn folders_below_folders() {
    on_a_small_stack(|| {
        let notes =
            leafbase::Space::builder().ids(SequentialIds::new(1)).in_memory().unwrap().connect();
        let chain = |levels: usize| {
            let draft = (1..levels).fold(FolderDraft::new("f"), |inner, _| {
                FolderDraft::new("f").with_folders([inner])
            });
            let made = notes.create_folders(CreateFolders::new([draft])).unwrap();
            (made[0].id, made[levels - 1].id)
        };
        let go = |folders: &[FolderId], to: FolderId| {
            let before = notes.space().stats().unwrap();
            let moved = notes.move_folders(MoveFolders::new(folders.iter().copied(), to));
            moved.map(drop).map_err(|error| {
                assert_eq!(
                    notes.space().stats().unwrap(),
                    before,
                    "a refused move leaves no trace"
                );
                wrong(&error)
            })
        };
        let (top, mut deepest) = chain(1);
        for levels in [1, 2, 4, 8, 16, 32] {
            let (lower, end) = chain(levels);
            go(&[chain(1).0, lower], deepest).unwrap();
            deepest = end;
        }
        let levels = || {
            notes
                .folders()
                .unwrap()
                .iter()
                .flat_map(leafbase::Folder::walk)
                .map(|(depth, _)| depth)
                .max()
        };
        assert_eq!(levels(), Some(63));
        go(&[chain(1).0], deepest).unwrap();
        assert_eq!(
            go(&[chain(1).0, chain(2).0], deepest),
            Err("LIMIT_EXCEEDED folderIds[1]".to_owned())
        );
        let over = chain(1).0;
        assert_eq!(go(&[chain(3).0, top], over), Err("LIMIT_EXCEEDED folderIds[1]".to_owned()));
        assert_eq!(levels(), Some(64));
        assert!(notes.space().check().unwrap().is_clean());
    });
}
