//! Elementary writes: their inverses, and forests.

use leafbase_model::{
    BlockData, BlockRecord, Change, DocumentId, DocumentRecord, Edit, FolderId, FolderRecord, Forest, Location, Node,
    Slot, Stamp, Timestamp,
};

use crate::support::id;

fn record(number: u8) -> BlockRecord {
    let (created, modified) = (Stamp::default(), Stamp::default());
    BlockRecord { id: id(number), rev: 1, created, modified, data: BlockData::text(number.to_string()) }
}

fn forest(depths: &[u16]) -> Forest {
    let nodes = depths.iter().zip(1_u8..).map(|(depth, number)| Node { depth: *depth, block: record(number) });
    Forest(nodes.collect())
}

fn every_edit() -> Vec<Edit> {
    let document = DocumentId::of_root(id(9));
    let slot = |after| Slot { document, parent: id(9), after };
    let kept = |location| DocumentRecord {
        id: document,
        location,
        day: None,
        created_at: Timestamp::default(),
        modified_at: Timestamp::default(),
    };
    let folder = |name: &str| FolderRecord { id: FolderId::NIL, name: name.into(), parent: None };
    vec![
        Edit::Insert { slot: slot(None), forest: forest(&[0, 1]) },
        Edit::Remove { slot: slot(Some(id(1))), forest: forest(&[0]) },
        Edit::Update { document, before: Box::new(record(1)), after: Box::new(record(2)) },
        Edit::Move { block: id(1), from: slot(None), to: slot(Some(id(2))) },
        Edit::CreateDocument { record: kept(Location::Unsorted), forest: forest(&[0]) },
        Edit::EraseDocument { record: kept(Location::Trash), forest: forest(&[0]) },
        Edit::UpdateDocument { before: kept(Location::Unsorted), after: kept(Location::Trash) },
        Edit::CreateFolder(folder("a")),
        Edit::RemoveFolder(folder("b")),
        Edit::UpdateFolder { before: folder("a"), after: folder("b") },
    ]
}

#[test]
fn the_inverse_of_an_inverse_is_the_edit() {
    for edit in every_edit() {
        assert_ne!(edit.inverse(), edit);
        assert_eq!(edit.inverse().inverse(), edit);
    }
}

#[test]
fn a_change_is_undone_from_its_end() {
    let change = Change { sequence: 1, stamp: Stamp::default(), documents: Vec::new(), edits: every_edit() };
    let expected: Vec<_> = every_edit().iter().rev().map(Edit::inverse).collect();
    assert_eq!(change.inverse(), expected);
}

#[test]
fn a_forest_knows_parents_and_height() {
    let forest = forest(&[0, 1, 2, 1, 0, 1]);
    let parents: Vec<_> = forest.with_parents().map(|(parent, block)| (parent, block.id)).collect();
    let [one, two, three, four, five, six] = [1, 2, 3, 4, 5, 6].map(id);
    assert_eq!(
        parents,
        [(None, one), (Some(one), two), (Some(two), three), (Some(one), four), (None, five), (Some(five), six),]
    );
    assert_eq!((forest.height(), Forest::default().height(), Forest::one(record(1)).height()), (2, 0, 0));
}
