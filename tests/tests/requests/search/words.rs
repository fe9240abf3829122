//! Words: which documents have them, in whatever language, and in which order they come.

use leafbase::{
    AddComments, AddItems, CommentDraft, CreateCollection, ItemDraft, Position, PropertyDraft,
    PropertyKind, SchemaDraft, SearchDocuments, UploadFile,
};

use super::Shelf;

#[test]
fn words_are_found_in_any_form_and_language() {
    let shelf = Shelf::of(&[
        ("Lisbon", "The night train leaves at ten.\n\nBring the passport"),
        ("Porto", "No trains at night. Running shoes"),
        ("Élan", "naïve café, STRASSE\n\nsnake_case_name in version v1.2"),
        ("東京の旅", "東京都へ行く。新しいカメラ"),
        ("กรุงเทพ", "กรุงเทพมหานคร เป็นเมืองหลวง"),
        ("مدينة", "السلام عليكم"),
        ("한국", "한국어를 배우다"),
        ("Party", "cake 🎂 and fun 🎉"),
    ]);
    shelf.table(&[
        ("train", "Lisbon, Porto"),
        ("night train", "Lisbon, Porto"),
        ("\"night train\"", "Lisbon"),
        ("“night train”", "Lisbon"),
        ("\"train night\"", ""),
        ("night lisbon", "Lisbon"),
        ("night passport", "Lisbon"),
        ("night shoes passport", ""),
        ("run", "Porto"),
        ("shoe", "Porto"),
        ("pass", "Lisbon"),
        ("pass train", ""),
        ("port", "Porto"),
        ("PASSPORT", "Lisbon"),
        ("p", "Lisbon, Party, Porto"),
        ("elan", "Élan"),
        ("NAIVE cafe", "Élan"),
        ("straße", "Élan"),
        ("snake_case_name", "Élan"),
        ("snake_case", "Élan"),
        ("case_snake", ""),
        ("case", "Élan"),
        ("v1.2", "Élan"),
        ("東京", "東京の旅"),
        ("京都", "東京の旅"),
        ("東都", ""),
        ("カメラ", "東京の旅"),
        ("新", "東京の旅"),
        ("เมือง", "กรุงเทพ"),
        ("กรุงเทพ", "กรุงเทพ"),
        ("السلام", "مدينة"),
        ("مدينة", "مدينة"),
        ("한국어", "한국"),
        ("배우다", "한국"),
        ("🎂", "Party"),
        ("🎉 cake", "Party"),
        ("!?", ""),
        ("", ""),
        ("\"\"", ""),
        ("?! train", "Lisbon, Porto"),
    ]);
}

#[test]
fn all_texts_have_to_occur_or_any() {
    let shelf = Shelf::of(&[("a", "red green"), ("b", "green blue"), ("c", "blue red green")]);
    assert_eq!(shelf.sorted(SearchDocuments::words("red").and("blue")), "c");
    assert_eq!(shelf.found(SearchDocuments::words("red blue").any_word()).len(), 7);
    assert!(shelf.found(SearchDocuments::words("red blue").any_word()).starts_with('c'));
    assert_eq!(shelf.sorted(SearchDocuments::words("red").and("?")), "a, c");
    assert_eq!(shelf.json(r#"{"include": ["red", "green"]}"#), "a, c");
    assert_eq!(shelf.json(r#"{"include": "red yellow", "termMode": "any"}"#), "a, c");
}

#[test]
fn what_says_more_of_it_comes_first() {
    let shelf = Shelf::of(&[
        ("far", &format!("lisbon {}", "other words ".repeat(50))),
        ("Lisbon", "a trip"),
        ("twice", "lisbon, lisbon"),
        ("form", "lisbons of the world"),
        ("none", "porto"),
    ]);
    let found = shelf.found("lisbon");
    assert!(found.starts_with("twice, ") && found.ends_with(", far"), "{found}");
    assert_eq!(shelf.search("lisbon").len(), 4);
    let scores: Vec<f64> = shelf.search("lisbon").iter().map(|found| found.score).collect();
    assert!(
        scores.is_sorted_by(|a, b| a >= b) && scores.iter().all(|score| *score > 0.0),
        "{scores:?}"
    );
    shelf.notes.space().flush_search().unwrap();
    assert_eq!(shelf.found("lisbon"), found);
}

#[test]
fn twenty_are_found_at_most_and_equal_ones_by_id() {
    let shelf = Shelf::new();
    let mut made: Vec<_> = (0..30).map(|_| shelf.put("same", "word")).collect();
    made.sort_unstable();
    for _ in 0..2 {
        let found: Vec<_> = shelf.search("word").iter().map(|found| found.document_id).collect();
        assert_eq!(found, made[..20]);
        shelf.notes.space().flush_search().unwrap();
    }
}

#[test]
fn all_that_is_written_is_found_and_bytes_of_files_are_not() {
    let shelf = Shelf::new();
    let (notes, document) =
        (&shelf.notes, shelf.put("Title of *it*", "a [linked](https://example.org/hidden) word"));
    notes
        .insert_markdown(
            "```rust\nlet mut coded = 1;\n```\n\n| head | b |\n| --- | --- |\n| cell | d |",
            document,
        )
        .unwrap();
    notes
        .insert_markdown(
            "<page><pageTitle>nested</pageTitle><content>\n\ninner\n\n</content></page>",
            document,
        )
        .unwrap();
    let text = notes.insert_markdown("commented", document).unwrap()[0].id;
    notes
        .add_comments(AddComments::new([CommentDraft::new(text, "a remark of **somebody**")]))
        .unwrap();
    let upload =
        UploadFile::new(Position::end_of(document)).of_type("text/plain").named("budget_2026.txt");
    notes.upload_file(upload, &b"secretbytes"[..]).unwrap();
    let schema = SchemaDraft::new("Inventory", [PropertyDraft::new("Maker", PropertyKind::Text)]);
    let collection = notes
        .create_collection(CreateCollection::new(schema, Position::end_of(document)))
        .unwrap()
        .id;
    let item = ItemDraft::new("lamp").with("maker", "Ikeda");
    notes.add_items(AddItems::new(collection, [item])).unwrap();
    let words = [
        "title",
        "it",
        "linked",
        "coded",
        "head",
        "cell",
        "nested",
        "inner",
        "remark",
        "somebody",
        "budget",
        "inventory",
        "lamp",
        "ikeda",
        "commented",
    ];
    for _ in 0..2 {
        for word in words {
            assert_eq!(shelf.search(word).len(), 1, "{word}");
        }
        assert_eq!(shelf.found("secretbytes"), "");
        assert_eq!(shelf.found("passport"), "");
        notes.space().flush_search().unwrap();
    }
}

#[test]
fn what_is_too_much_is_refused() {
    let shelf = Shelf::of(&[("a", "word")]);
    let many =
        |count| (1..count).fold(SearchDocuments::words("word"), |request, _| request.and("word"));
    assert_eq!(shelf.found(many(32)), "a");
    assert_eq!(shelf.found(many(33)), "LIMIT_EXCEEDED include");
    assert_eq!(shelf.found("w".repeat(256).as_str()), "");
    assert_eq!(
        shelf.found(SearchDocuments::words("word").and("w".repeat(257))),
        "LIMIT_EXCEEDED include[1]"
    );
    assert_eq!(shelf.json("{}"), "VALIDATION include");
    assert_eq!(shelf.found(SearchDocuments::default()), "VALIDATION include");
}
