//! The change log undoes what random requests did, back to the empty space.

use leafbase::{
    BlockData, BlockDraft, Change, Connection, CreateFolders, DayRef, DeleteBlocks,
    DeleteDocuments, DeleteFolders, Destination, ErrorKind, Fetch, FolderDestination, FolderDraft,
    InsertBlocks, MoveBlocks, MoveFolders, Position, Space, UpdateBlocks, UploadFile,
};
use leafbase_test_outline::{
    BlockRequest, NaiveSpace, Numbers, SequentialIds, Setting, small_limits,
};
use proptest::prelude::*;

fn send(notes: &Connection, request: BlockRequest) {
    // What is refused is not a row of the log.
    let _ = match request {
        BlockRequest::CreateDocument { root, destination } => {
            notes.create_document_of(root, destination).map(drop)
        }
        BlockRequest::Insert { drafts, position } => {
            notes.insert_blocks(InsertBlocks::blocks(drafts, position)).map(drop)
        }
        BlockRequest::Update(blocks) => notes.update_blocks(UpdateBlocks::new(blocks)).map(drop),
        BlockRequest::Delete(block_ids) => {
            notes.delete_blocks(DeleteBlocks::new(block_ids)).map(drop)
        }
        BlockRequest::Move { ids, position } => {
            notes.move_blocks(MoveBlocks::new(ids, position)).map(drop)
        }
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
    let fetch = |document: leafbase::Document| {
        notes.fetch(Fetch::new(document.id()).with_metadata()).unwrap()
    };
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
            space.apply(notes.author(), &change.inverse().unwrap()).unwrap();
            prop_assert_eq!(&dump(&notes), state, "after {:?} is undone", change.sequence);
        }
        prop_assert!(notes.documents().unwrap().0.is_empty());
        prop_assert!(space.check().unwrap().is_clean());
    }
}

/// The change that the last write was.
fn last(notes: &Connection) -> Change {
    notes.changes_since(notes.last_sequence().unwrap() - 1).next().unwrap().unwrap()
}

/// A space, and a change of it whose undoing is refused by now.
type Stale = fn(&Connection) -> (Change, ErrorKind);

fn a_folder_came_into_the_one_that_left_it(notes: &Connection) -> (Change, ErrorKind) {
    let draft = FolderDraft::new("b").with_folders([FolderDraft::new("a")]);
    let made = notes.create_folders(CreateFolders::new([draft])).unwrap();
    let (b, a) = (made[0].id, made[1].id);
    notes.move_folders(MoveFolders::new([a], FolderDestination::Root)).unwrap();
    let change = last(notes);
    notes.move_folders(MoveFolders::new([b], a)).unwrap();
    (change, ErrorKind::Conflict)
}

fn the_day_got_another_note(notes: &Connection) -> (Change, ErrorKind) {
    let block = notes.insert_markdown("one", Position::end_of_day(DayRef::Today)).unwrap()[0].id;
    notes.delete_documents(DeleteDocuments::new([notes.document_of(block).unwrap()])).unwrap();
    let change = last(notes);
    notes.insert_markdown("two", Position::end_of_day(DayRef::Today)).unwrap();
    (change, ErrorKind::Conflict)
}

fn the_folder_went(notes: &Connection) -> (Change, ErrorKind) {
    let folder = notes.create_folder("f", None).unwrap().id;
    let document =
        notes.create_document_of(BlockDraft::new(BlockData::page("d")), folder).unwrap().id();
    notes.delete_documents(document).unwrap();
    let change = last(notes);
    notes.delete_folders(DeleteFolders::new([folder])).unwrap();
    (change, ErrorKind::NotFound)
}

fn another_block_shows_the_file(notes: &Connection) -> (Change, ErrorKind) {
    let document = notes.create_document("d").unwrap().id();
    let file = notes.upload_file(UploadFile::new(document), &b"bytes"[..]).unwrap();
    let change = last(notes);
    notes.insert_markdown(&format!("see [it]({})", file.asset_url), document).unwrap();
    (change, ErrorKind::Conflict)
}

fn the_space_got_another_name(notes: &Connection) -> (Change, ErrorKind) {
    notes.space().rename("one").unwrap();
    let change = last(notes);
    notes.space().rename("two").unwrap();
    (change, ErrorKind::Conflict)
}

#[test]
fn what_can_no_longer_be_undone_is_refused() {
    let stale: [Stale; 5] = [
        a_folder_came_into_the_one_that_left_it,
        the_day_got_another_note,
        the_folder_went,
        another_block_shows_the_file,
        the_space_got_another_name,
    ];
    for stale in stale {
        let space = Space::in_memory().unwrap();
        let notes = space.connect();
        let (change, expected) = stale(&notes);
        let sequence = notes.last_sequence().unwrap();
        let error = space.apply(notes.author(), &change.inverse().unwrap()).unwrap_err();
        assert_eq!(error.kind(), expected, "{error}");
        assert_eq!(notes.last_sequence().unwrap(), sequence);
        let report = space.check().unwrap();
        assert!(report.is_clean(), "{report:?}");
    }
}

#[test]
fn a_link_that_hides_its_scheme_keeps_its_file_no_longer_than_others() {
    for escaped in ["asset&#58;//", "asset:\\/\\/"] {
        let notes = Space::in_memory().unwrap().connect();
        let document = notes.create_document("d").unwrap().id();
        let file = notes.upload_file(UploadFile::new(document), &b"bytes"[..]).unwrap();
        let url = file.asset_url.to_string().replace("asset://", escaped);
        let link = notes.insert_markdown(&format!("see [it]({url})"), document).unwrap()[0].id;
        notes.delete_blocks(DeleteBlocks::from(file.block_id)).unwrap();
        let is_kept = notes.file(file.asset_url.id()).is_ok();
        notes.delete_blocks(DeleteBlocks::from(link)).unwrap();
        let report = notes.space().check().unwrap();
        assert!(report.is_clean(), "{escaped}: {report:?}");
        assert!(notes.file(file.asset_url.id()).is_err(), "{escaped}: it was kept: {is_kept}");
    }
}
