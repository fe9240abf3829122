//! A search sees every write that returned before it began, whether the index does or not.

use leafbase::{
    AddComments, BlockPatch, CommentDraft, DeleteBlocks, DeleteDocuments, DocumentId, MoveBlocks,
    MoveDocuments, Position, PurgeDocuments, SearchDocuments, SearchIndexing, Space, UpdateBlocks,
};

use super::Shelf;

/// What is done to `a document`, whose first block says `word`; what `word` and `other` find then.
type Step = (&'static str, fn(&Shelf, DocumentId), &'static str, &'static str);

const STEPS: &[Step] = &[
    ("as it was made", |_, _| {}, "target", ""),
    (
        "a block more",
        |shelf, id| drop(shelf.notes.insert_markdown("other", id).unwrap()),
        "target",
        "target",
    ),
    (
        "another text",
        |shelf, id| {
            let block = first(shelf, id);
            shelf
                .notes
                .update_blocks(UpdateBlocks::new([BlockPatch::markdown(block, "other")]))
                .unwrap();
        },
        "",
        "target",
    ),
    (
        "no block",
        |shelf, id| drop(shelf.notes.delete_blocks(DeleteBlocks::from(first(shelf, id))).unwrap()),
        "",
        "",
    ),
    (
        "another title",
        |shelf, id| drop(shelf.notes.update_markdown(id.root(), "other title").unwrap()),
        "other title",
        "other title",
    ),
    (
        "a comment",
        |shelf, id| {
            let comment = CommentDraft::new(first(shelf, id), "other");
            shelf.notes.add_comments(AddComments::new([comment])).unwrap();
        },
        "target",
        "target",
    ),
    (
        "a block that goes elsewhere",
        |shelf, id| {
            let second = shelf.put("second", "other");
            let go = MoveBlocks::new([first(shelf, id)], Position::end_of(second));
            shelf.notes.move_blocks(go).unwrap();
        },
        "second",
        "second",
    ),
    ("in the trash", |shelf, id| trash(shelf, id), "", ""),
    (
        "purged",
        |shelf, id| {
            trash(shelf, id);
            shelf.notes.purge_documents(PurgeDocuments::Documents(vec![id])).unwrap();
        },
        "",
        "",
    ),
    (
        "out of the trash",
        |shelf, id| {
            trash(shelf, id);
            assert_eq!(shelf.found("word"), "");
            shelf
                .notes
                .move_documents(MoveDocuments::new([id], leafbase::Destination::Unsorted))
                .unwrap();
        },
        "target",
        "",
    ),
];

fn first(shelf: &Shelf, document: DocumentId) -> leafbase::BlockId {
    shelf.notes.fetch(leafbase::Fetch::new(document)).unwrap().children()[0].id
}

fn trash(shelf: &Shelf, document: DocumentId) {
    shelf.notes.delete_documents(DeleteDocuments::new([document])).unwrap();
}

#[test]
fn what_is_written_is_found_at_once_and_just_so_later() {
    // Before the write: nothing was searched, there is an index, or something is changed already.
    for before in ["nothing", "indexed", "changed"] {
        for (what, change, word, other) in STEPS {
            let shelf = Shelf::new();
            let document = shelf.put("target", "word");
            shelf.put("control", "else");
            match before {
                "indexed" => shelf.notes.space().flush_search().unwrap(),
                "changed" => {
                    assert_eq!(shelf.found("else"), "control");
                    shelf.notes.space().flush_search().unwrap();
                    shelf.put("more", "more");
                    assert_eq!(shelf.found("word"), "target");
                }
                _ => {}
            }
            change(&shelf, document);
            for when in ["at once", "later"] {
                let found = [shelf.found("word"), shelf.found("other")];
                assert_eq!(found, [*word, *other], "{before}, {what}, {when}");
                assert_eq!(
                    shelf.sorted(SearchDocuments::pattern("^word$")),
                    *word,
                    "{before}, {what}, {when}"
                );
                shelf.notes.space().flush_search().unwrap();
            }
        }
    }
}

#[test]
fn relaxed_writes_are_found_too() {
    let directory = tempfile::tempdir().unwrap();
    let builder = || Space::builder().durability(leafbase::Durability::Relaxed);
    let shelf =
        Shelf { notes: builder().create(directory.path().join("space")).unwrap().connect() };
    for number in 0..5 {
        shelf.put(&format!("title{number}"), "word");
        assert_eq!(shelf.search("word").len(), number + 1);
        shelf.notes.space().flush_search().unwrap();
    }
    drop(shelf);
    let shelf = Shelf { notes: builder().open(directory.path().join("space")).unwrap().connect() };
    assert_eq!(shelf.search("word").len(), 5);
}

#[test]
fn more_is_changed_than_is_kept_ready() {
    let space = Space::builder().search_indexing(SearchIndexing::OnDemand).in_memory().unwrap();
    let shelf = Shelf { notes: space.connect() };
    shelf.put("first", "word");
    assert_eq!(shelf.found("word"), "first");
    let titles = (0..2_500).map(|number| format!("title{number}"));
    shelf.notes.create_documents(leafbase::CreateDocuments::titled(titles)).unwrap();
    assert_eq!(shelf.found("title2499"), "title2499");
    assert_eq!(shelf.found("word"), "first");
}

#[test]
fn many_threads_search_while_others_write() {
    let shelf = Shelf::of(&[("base", "word")]);
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let notes = shelf.notes.clone();
            scope.spawn(move || {
                for number in 0..40 {
                    let title = format!("t{thread}n{number}");
                    notes.create_document(&title).unwrap();
                    assert_eq!(notes.search(title.as_str()).unwrap().len(), 1, "{title}");
                    if number % 10 == thread {
                        notes.space().flush_search().unwrap();
                    }
                    if number == 20 {
                        notes.space().rebuild_search().unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(shelf.found("word"), "base");
}
