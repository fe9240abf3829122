//! How long a file lives: as long as a block anywhere shows it.

use leafbase::{
    AssetId, BlockData, BlockDraft, BlockFields, BlockId, BlockKind, BlockPatch, DeleteBlocks,
    DeleteDocuments, Destination, DocumentId, ErrorKind, InsertBlocks, MoveBlocks, MoveDocuments,
    Position, PurgeDocuments, UpdateBlocks, UploadFile,
};

use super::{Scene, scene};

/// A file of one chunk in a document of its own, and another document.
struct Shown {
    scene: Scene,
    document: DocumentId,
    block: BlockId,
    file: AssetId,
    url: String,
}

fn shown() -> Shown {
    let scene = scene();
    let document = scene.notes.create_document("with a file").unwrap().id();
    let uploaded =
        scene.notes.upload_file(UploadFile::new(document).named("a.txt"), &b"bytes"[..]).unwrap();
    let (file, url) = (uploaded.asset_url.id(), uploaded.asset_url.to_string());
    Shown { scene, document, block: uploaded.block_id, file, url }
}

impl Shown {
    fn delete(&self, block: BlockId) {
        self.scene.notes.delete_blocks(DeleteBlocks::new([block])).unwrap();
    }

    fn insert(&self, data: BlockData) -> BlockId {
        let drafts = vec![BlockDraft::new(data)];
        self.scene.notes.insert_blocks(InsertBlocks::blocks(drafts, self.scene.page)).unwrap()[0].id
    }

    fn update(&self, block: BlockId, fields: BlockFields) {
        self.scene
            .notes
            .update_blocks(UpdateBlocks::new(vec![BlockPatch::new(block, fields)]))
            .unwrap();
    }

    /// Asserts that the file is there with its bytes, or that nothing of it is.
    fn assert_lives(&self, lives: bool, when: &str) {
        let rows = if lives { [1, 1, 0] } else { [0; 3] };
        assert_eq!(self.scene.rows(), rows, "{when}");
        match self.scene.notes.file(self.file) {
            Ok(record) => assert_eq!((lives, record.size), (true, 5), "{when}"),
            Err(error) => assert_eq!((lives, error.kind()), (false, ErrorKind::NotFound), "{when}"),
        }
        assert_eq!(self.scene.notes.open_file(self.file).is_ok(), lives, "{when}");
        self.scene.assert_clean();
    }
}

#[test]
fn the_last_block_that_shows_a_file_takes_it_along() {
    type Look = fn(String) -> BlockData;
    let looks: [(&str, Look); 6] = [
        ("a copy", |url| {
            BlockData::new(BlockKind::File {
                url,
                file_name: "b".into(),
                layout: Default::default(),
            })
        }),
        ("an image", |url| {
            let (size, width) = Default::default();
            BlockData::new(BlockKind::Image { url, alt_text: String::new(), size, width })
        }),
        ("a drawing", |url| BlockData::new(BlockKind::Drawing { url })),
        ("a link in a text", |url| BlockData::text(format!("see [it]({url}) and more"))),
        ("an image in a text", |url| BlockData::text(format!("![]({url})"))),
        ("the title of a page", |url| BlockData::page(format!("[it]({url})"))),
    ];
    for (name, look) in looks {
        for first_goes_first in [true, false] {
            let shown = shown();
            let second = shown.insert(look(shown.url.clone()));
            let (first, last) =
                if first_goes_first { (shown.block, second) } else { (second, shown.block) };
            shown.delete(first);
            shown.assert_lives(true, name);
            shown.delete(last);
            shown.assert_lives(false, name);
        }
    }
}

#[test]
fn a_block_that_shows_another_file_lets_the_first_go() {
    let url = |url: &str| BlockFields { url: Some(url.into()), ..BlockFields::default() };
    let shown = shown();
    shown.update(
        shown.block,
        BlockFields { file_name: Some("renamed".into()), ..BlockFields::default() },
    );
    shown.assert_lives(true, "another name");
    shown.update(shown.block, url(&shown.url.replace("a.txt", "z?version=2")));
    shown.assert_lives(true, "the same file by another spelling");
    shown.update(shown.block, url("https://example.org/a.txt"));
    shown.assert_lives(false, "another URL");
    // A URL of a file that is gone is a URL like any other.
    shown.update(shown.block, url(&shown.url));
    shown.assert_lives(false, "the URL again");
}

#[test]
fn moves_and_the_trash_keep_a_file() {
    let shown = shown();
    let notes = &shown.scene.notes;
    notes
        .move_blocks(MoveBlocks::new(vec![shown.block], Position::end_of(shown.scene.page)))
        .unwrap();
    shown.assert_lives(true, "moved away");
    notes
        .move_blocks(MoveBlocks::new(vec![shown.block], Position::end_of(shown.document)))
        .unwrap();
    notes.delete_documents(DeleteDocuments::from(shown.document)).unwrap();
    shown.assert_lives(true, "in the trash");
    notes.move_documents(MoveDocuments::new([shown.document], Destination::Unsorted)).unwrap();
    shown.assert_lives(true, "restored");
    notes.delete_documents(DeleteDocuments::from(shown.document)).unwrap();
    notes.purge_documents(PurgeDocuments::new([shown.document])).unwrap();
    shown.assert_lives(false, "purged");
}

#[test]
fn a_file_that_a_kept_document_shows_outlives_the_purge_of_another() {
    let shown = shown();
    let kept = shown.insert(BlockData::text(format!("[it]({})", shown.url)));
    let notes = &shown.scene.notes;
    notes.delete_documents(DeleteDocuments::from(shown.document)).unwrap();
    notes.purge_documents(PurgeDocuments::new([shown.document])).unwrap();
    shown.assert_lives(true, "shown elsewhere");
    shown.delete(kept);
    shown.assert_lives(false, "shown nowhere");
}

#[test]
fn a_file_goes_with_the_page_it_is_in() {
    let shown = shown();
    let page = shown.insert(BlockData::page("page"));
    shown
        .scene
        .notes
        .move_blocks(MoveBlocks::new(vec![shown.block], Position::end_of(page)))
        .unwrap();
    shown.delete(page);
    shown.assert_lives(false, "with its page");
}

#[test]
fn an_upload_is_undone() {
    let shown = shown();
    let change = shown.scene.notes.changes_since(0).last().unwrap().unwrap();
    shown
        .scene
        .notes
        .space()
        .apply(shown.scene.notes.author(), &change.inverse().unwrap())
        .unwrap();
    shown.assert_lives(false, "undone");
}

#[test]
fn a_deletion_cannot_be_undone_for_the_bytes_are_gone() {
    let shown = shown();
    shown.delete(shown.block);
    let change = shown.scene.notes.changes_since(0).last().unwrap().unwrap();
    let error = shown
        .scene
        .notes
        .space()
        .apply(shown.scene.notes.author(), &change.inverse().unwrap())
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(
        error.message().contains("bytes") && error.message().contains(&shown.file.to_string()),
        "{error}"
    );
    shown.assert_lives(false, "after the undo that failed");
}

#[test]
fn a_url_of_no_file_is_just_a_url() {
    let shown = shown();
    let never = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let block = shown.insert(BlockData::text(format!("[gone](asset://{never}/x.png)")));
    assert_eq!(
        shown.scene.notes.file(never.parse().unwrap()).unwrap_err().kind(),
        ErrorKind::NotFound
    );
    assert_eq!(
        shown.scene.notes.open_file(never.parse().unwrap()).unwrap_err().message(),
        "no file has this ID"
    );
    shown.delete(block);
    shown.assert_lives(true, "the one that exists");
}
