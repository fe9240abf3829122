//! Texts are searched as they are shown, with placeholders for what is not seen; where a link leads
//! is not a word.

use leafbase::{
    AddComments, BlockData, BlockDraft, BlockKind, BlockLayout, CommentDraft, Connection,
    DocumentId, InsertBlocks, Position, Scoped, SearchBlocks, SearchDocuments,
};

use crate::Shelf;

struct Scene {
    shelf: Shelf,
    guest: Connection<Scoped>,
    document: DocumentId,
    seen: DocumentId,
    hidden: DocumentId,
}

/// A document that names one that is seen and one that is not, in many forms.
fn scene() -> Scene {
    let shelf = Shelf::of(&[("seen", "plain"), ("hidden", "secret"), ("without", "no link")]);
    let [seen, hidden, without] = ["seen", "hidden", "without"].map(|title| shelf.id(title));
    let markdown = format!(
        "to [one](block://{seen}) here\n\nto [two](block://{hidden}) and <block://{hidden}>\n\n\
         | a | b |\n|---|---|\n| [three](BLOCK://{hidden}) | x |\n\nin words block://{hidden} too\n\nlast"
    );
    let document = shelf.put("document", &markdown);
    shelf
        .notes
        .update_markdown(document.root(), &format!("Title [four](block://{hidden})"))
        .unwrap();
    let url = BlockKind::RichUrl {
        url: format!("block://{hidden}"),
        title: "five".into(),
        description: String::new(),
        layout: BlockLayout::default(),
    };
    let draft = BlockDraft::new(BlockData::new(url));
    let end = Position::end_of(document);
    let block = shelf.notes.insert_blocks(InsertBlocks::blocks(vec![draft], end)).unwrap()[0].id;
    let comment = CommentDraft::new(block, format!("comment on [six](block://{hidden})"));
    shelf.notes.add_comments(AddComments::new([comment])).unwrap();
    let guest = shelf.notes.space().scoped([document, seen, without]);
    Scene { shelf, guest, document, seen, hidden }
}

#[test]
fn patterns_match_what_is_shown() {
    let Scene { shelf, guest, document, seen, hidden } = scene();
    let rows = [
        (hidden.to_string(), 0, 5),
        (seen.to_string(), 1, 1),
        ("out_of_scope".to_owned(), 5, 0),
        (r"\(invalid:out_of_scope#1\)".to_owned(), 4, 0),
        ("out_of_scope#2".to_owned(), 1, 0),
        ("last".to_owned(), 1, 1),
        ("two.*out_of_scope".to_owned(), 1, 0),
    ];
    for when in ["changed", "indexed"] {
        for (pattern, shown, stored) in &rows {
            let found = guest.search(SearchDocuments::pattern(pattern)).unwrap();
            let blocks: usize = found.iter().map(|found| found.block_ids.len()).sum();
            assert_eq!(blocks, *shown, "{when}: {pattern}");
            let all = shelf.search(SearchDocuments::pattern(pattern));
            assert_eq!(
                all.iter().map(|found| found.block_ids.len()).sum::<usize>(),
                *stored,
                "{when}: {pattern}"
            );
            let within = guest.search_blocks(SearchBlocks::new(document, pattern)).unwrap();
            assert_eq!(within.items.len(), *shown, "{when}: {pattern}");
        }
        shelf.notes.space().flush_search().unwrap();
    }
}

#[test]
fn nothing_that_is_shown_names_what_is_hidden() {
    let Scene { shelf, guest, document, hidden, .. } = scene();
    for _ in 0..2 {
        let mut replies = Vec::new();
        for pattern in [".", "two", "three", "five", "Title", "last"] {
            replies.push(
                serde_json::to_string(&guest.search(SearchDocuments::pattern(pattern)).unwrap())
                    .unwrap(),
            );
            let request = SearchBlocks::new(document, pattern).context(9, 9);
            replies.push(serde_json::to_string(&guest.search_blocks(request).unwrap()).unwrap());
        }
        for words in ["one", "two", "three", "four", "five", "six", "title", "words"] {
            let found = guest.search(words).unwrap();
            assert_eq!(found.len(), 1, "{words}");
            replies.push(serde_json::to_string(&found).unwrap());
        }
        let names = |reply: &String| reply.contains(&hidden.to_string());
        assert!(!replies.iter().any(names), "{replies:#?}");
        shelf.notes.space().flush_search().unwrap();
    }
}

#[test]
fn where_a_link_leads_is_no_word() {
    let Scene { shelf, guest, seen, hidden, .. } = scene();
    for _ in 0..2 {
        for words in [
            hidden.to_string(),
            seen.to_string(),
            "block".into(),
            "invalid".into(),
            "out_of_scope".into(),
        ] {
            assert_eq!(shelf.found(words.as_str()), "", "{words}");
            assert_eq!(guest.search(words.as_str()).unwrap().len(), 0, "{words}");
        }
        shelf.notes.space().flush_search().unwrap();
    }
}

/// Links to what is seen are hidden as soon as it is not, and the other way round, whatever the
/// index has.
#[test]
fn a_scope_that_changes_shows_other_links() {
    let Scene { shelf, document, hidden, .. } = scene();
    let scope = shelf.notes.space().scope([document]);
    let guest = scope.connect();
    let found = |pattern: &str| guest.search(SearchDocuments::pattern(pattern)).unwrap().len();
    for _ in 0..2 {
        assert_eq!((found(&hidden.to_string()), found("out_of_scope")), (0, 1));
        scope.add([hidden, shelf.id("seen")]);
        assert_eq!((found(&hidden.to_string()), found("out_of_scope")), (1, 0));
        scope.remove([hidden]);
        shelf.notes.space().flush_search().unwrap();
    }
}
