//! What a search shows of a document.

use leafbase::{AddComments, CommentDraft, SearchDocuments, SearchMatch};

use super::Shelf;

/// The hits that are marked. Each stands between asterisks.
fn marked(found: &SearchMatch) -> Vec<&str> {
    let text = &found.markdown;
    for hit in &found.highlights {
        assert!(text[..hit.start].ends_with("**") && text[hit.end..].starts_with("**"), "{text}");
    }
    found.highlights.iter().map(|hit| &text[hit.clone()]).collect()
}

#[test]
fn the_block_that_says_most_is_shown_with_its_hits() {
    let shelf = Shelf::of(&[
        (
            "Trip",
            "A train.\n\nThe *night* train to [Lisbon](https://example.org), trains at night\n\nnight",
        ),
        ("Lighthouse", "nothing of it"),
        ("stars", "2 * 3 * 4 = `24`"),
    ]);
    let rows = [
        (
            "night train",
            "The **night** **train** to Lisbon, **trains** at **night**",
            vec!["night", "train", "trains", "night"],
        ),
        ("\"night train\"", "The **night train** to Lisbon, trains at night", vec!["night train"]),
        ("LISB", "The night train to **Lisbon**, trains at night", vec!["Lisbon"]),
        ("lighthouse", "**Lighthouse**", vec!["Lighthouse"]),
        ("24", "2 * 3 * 4 = **24**", vec!["24"]),
    ];
    for _ in 0..2 {
        for (query, markdown, hits) in &rows {
            let found = &shelf.search(*query)[0];
            assert_eq!(
                (found.markdown.as_str(), marked(found)),
                (*markdown, hits.clone()),
                "{query}"
            );
        }
        shelf.notes.space().flush_search().unwrap();
    }
}

#[test]
fn patterns_are_shown_in_markdown() {
    let shelf = Shelf::of(&[("Trip", "plain\n\nsome **bold** word, bold")]);
    let shown = |request: SearchDocuments| {
        let found = shelf.search(request).remove(0);
        (found.markdown.clone(), marked(&found).join("|"))
    };
    let both = ("some ****bold**** word, **bold**".to_owned(), "bold|bold".to_owned());
    assert_eq!(shown(SearchDocuments::pattern("bold")), both);
    let word = ("**some** bold word, bold".to_owned(), "some".to_owned());
    assert_eq!(shown(SearchDocuments::words("some").matching("^$|nothing|trip")), word);
    // What matches nothing at some place is found, and there is nothing to mark.
    assert_eq!(shown(SearchDocuments::pattern("q*")), ("Trip".to_owned(), String::new()));
}

#[test]
fn a_comment_is_not_shown_for_a_pattern() {
    let shelf = Shelf::of(&[("Trip", "")]);
    let block = shelf.notes.insert_markdown("see **foo** bar", shelf.id("Trip")).unwrap()[0].id;
    shelf.notes.add_comments(AddComments::new([CommentDraft::new(block, "bar")])).unwrap();
    let found = &shelf.search(SearchDocuments::pattern("bar$"))[0];
    assert_eq!(found.markdown, "see **foo** **bar**");
}

#[test]
fn blocks_with_hits_are_named_in_reading_order() {
    let shelf = Shelf::new();
    let document = shelf.put("hit in the title", "no\n\nhit one\n\nno");
    let added = shelf.notes.insert_markdown("remarked\n\nhit two", document).unwrap();
    shelf.notes.add_comments(AddComments::new([CommentDraft::new(added[0].id, "a hit")])).unwrap();
    let blocks = shelf.notes.fetch(leafbase::Fetch::new(document)).unwrap();
    let one = blocks.children()[1].id;
    let expected = vec![document.root(), one, added[0].id, added[1].id];
    for _ in 0..2 {
        assert_eq!(shelf.search("hit")[0].block_ids, expected);
        shelf.notes.space().flush_search().unwrap();
    }
    let by_pattern = [document.root(), one, added[1].id];
    assert_eq!(shelf.search(SearchDocuments::pattern("hit"))[0].block_ids, by_pattern);
    let long = shelf.put("long", &"word\n\n".repeat(150));
    let found = shelf.search("word");
    assert_eq!((found[0].document_id, found[0].block_ids.len()), (long, 100));
}

#[test]
fn a_long_text_is_cut_around_the_hits() {
    let text = format!("{}the needle in the hay {}", "before ".repeat(200), "behind ".repeat(200));
    let shelf = Shelf::of(&[
        ("long", &text),
        ("unspaced", &format!("{}針{}", "草".repeat(500), "木".repeat(500))),
    ]);
    for query in ["needle", "針"] {
        let found = &shelf.search(query)[0];
        assert!(marked(found)[0].starts_with(query));
        let length = found.markdown.chars().count();
        assert!((180..=246).contains(&length), "{length}: {}", found.markdown);
        assert!(found.markdown.starts_with('…') && found.markdown.ends_with('…'));
    }
    let found = &shelf.search("needle")[0];
    assert!(
        found.markdown.starts_with("…before ") && found.markdown.ends_with(" behind…"),
        "{}",
        found.markdown
    );
    let whole = &shelf.search(SearchDocuments::pattern("(?s).*needle.*"))[0];
    assert_eq!(whole.highlights.len(), 1);
}

/// The window has as many characters of any script, however many bytes they have.
#[test]
fn the_part_with_most_hits_is_shown() {
    for (needle, letter) in [("needle", "x"), ("東京", "木")] {
        let many = format!("{needle} {} ", letter.repeat(32)).repeat(6);
        let text = format!("{needle} {needle} {} {many}", letter.repeat(300));
        let shelf = Shelf::of(&[("long", &text)]);
        let found = &shelf.search(SearchDocuments::pattern(needle))[0];
        assert!(found.highlights.len() > 2, "{}", found.markdown);
        assert!(found.markdown.starts_with('…'), "{}", found.markdown);
    }
}

#[test]
fn a_match_is_json_as_documented() {
    let shelf = Shelf::of(&[("a", "one word")]);
    let found = shelf.search(SearchDocuments::words("word").with_metadata());
    let value = serde_json::to_value(&found[0]).unwrap();
    let keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    let mut expected = [
        "exposedDocumentId",
        "markdown",
        "documentId",
        "highlights",
        "blockIds",
        "score",
        "createdAt",
        "lastModifiedAt",
    ];
    expected.sort_unstable();
    let mut keys = keys;
    keys.sort_unstable();
    assert_eq!(keys, expected);
    assert_eq!(value["highlights"], serde_json::json!([{"start": 6, "end": 10}]));
}
