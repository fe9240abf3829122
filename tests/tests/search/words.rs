//! Words: which documents have them, in whatever language, and in which order they come.

use std::collections::BTreeSet;

use leafbase::{
    AddComments, AddItems, CommentDraft, CreateCollection, ItemDraft, Language, Position,
    PropertyDraft, PropertyKind, PurgeDocuments, SchemaDraft, SearchDocuments, SearchIndexing,
    Space, UploadFile,
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
    assert_eq!(shelf.sorted(SearchDocuments::words("red").and("blue").all_words()), "c");
    assert_eq!(shelf.found(SearchDocuments::words("red").and("blue")).len(), 7);
    assert!(shelf.found(SearchDocuments::words("red").and("blue")).starts_with('c'));
    assert_eq!(shelf.found(SearchDocuments::words("red blue").any_word()).len(), 7);
    assert!(shelf.found(SearchDocuments::words("red blue").any_word()).starts_with('c'));
    assert_eq!(shelf.sorted(SearchDocuments::words("red").and("?")), "a, c");
    assert_eq!(shelf.json(r#"{"include": ["red", "green"], "termMode": "all"}"#), "a, c");
    assert_eq!(shelf.json(r#"{"include": ["red", "green"]}"#), "a, b, c");
    assert_eq!(shelf.json(r#"{"include": "red yellow", "termMode": "any"}"#), "a, c");
}

/// The documents of a search in order, each with the terms that it lacks.
fn lacking(shelf: &Shelf, query: &str) -> String {
    let found = shelf.search(query);
    let shown = found.iter().map(|found| {
        let title = shelf.notes.document(found.document_id).unwrap().title;
        let missing = &found.missing_terms;
        if missing.is_empty() { title } else { format!("{title} -{}", missing.join(" -")) }
    });
    shown.collect::<Vec<_>>().join(", ")
}

#[test]
fn a_question_finds_what_answers_most_of_it() {
    let shelf = Shelf::of(&[
        ("weather", "In 東京 the weather of 2026 is warm"),
        ("tokyo", "東京は広い"),
        ("train", "The night train to Lisbon leaves at ten"),
        ("ferry", "A ferry to Lisbon"),
    ]);
    for number in 0..30 {
        shelf.put(&format!("note {number}"), "what is in the notes and when");
    }
    for _ in 0..2 {
        for (query, expected) in [
            ("When is the night train in Lisbon?", "train, ferry -night -train"),
            ("東京 weather 2026", "weather, tokyo -weather -2026"),
            ("大阪東京", "tokyo -大阪東京, weather -大阪東京"),
            ("is the ferry", "ferry"),
            ("\"to Lisbon\" ferry", "ferry, train -ferry"),
        ] {
            assert_eq!(lacking(&shelf, query), expected, "{query}");
        }
        // Words that weigh nothing are not marked in a snippet.
        assert_eq!(shelf.search("is the ferry")[0].markdown, "A **ferry** to Lisbon");
        shelf.notes.space().flush_search().unwrap();
    }
}

/// The first document, with the words that it has in place of misspelt ones and its snippet.
fn first_read(shelf: &Shelf, request: impl Into<SearchDocuments>) -> String {
    let found = shelf.search(request);
    let Some(first) = found.first() else { return String::new() };
    let read = first.corrected.iter().map(|read| format!("{}={} ", read.term, read.read_as));
    format!("{}{}", read.collect::<String>(), first.markdown)
}

#[test]
fn misspelt_words_are_read_as_those_of_documents() {
    let shelf = Shelf::of(&[
        ("Lisbon", "The night train leaves at ten"),
        ("Weather", "東京 weather report, Москва"),
    ]);
    for _ in 0..2 {
        for (query, expected) in [
            ("nihgt tain", "nihgt=night tain=train The **night** **train** leaves at ten"),
            ("wether", "wether=weather 東京 **weather** report, Москва"),
            ("東京 waether 2026", "waether=weather **東京** **weather** report, Москва"),
            ("масква", "масква=москва 東京 weather report, **Москва**"),
            ("repport", "repport=report 東京 weather **report**, Москва"),
            ("leavves", "leavves=leaves The night train **leaves** at ten"),
            ("\"nihgt train\"", ""),
            ("tne", ""),
        ] {
            assert_eq!(first_read(&shelf, query), expected, "{query}");
        }
        let all = |query: &str| SearchDocuments::words(query).all_words();
        assert_eq!(
            first_read(&shelf, all("nigth lisbon")),
            "nigth=night The **night** train leaves at ten"
        );
        assert_eq!(first_read(&shelf, all("nigth tokio")), "");
        shelf.notes.space().flush_search().unwrap();
    }
}

/// Words with the first letter of a misspelt one come before those with another, which are read
/// only where the documents have none with the same.
#[test]
fn misspelt_words_keep_their_first_letter_if_they_can() {
    let shelf = Shelf::of(&[
        ("mail", "mailing mailinx"),
        ("sail", "sailing today, sailing tomorrow"),
        ("sails", "sailing"),
        ("Санкт-Петербург", "Мосты"),
    ]);
    for _ in 0..2 {
        let found = |query: &str| {
            let found = shelf.search(query);
            let read = found.iter().flat_map(|found| found.corrected.iter().cloned());
            let read: BTreeSet<_> = read.map(|read| read.read_as).collect();
            read.into_iter().collect::<Vec<_>>().join(" ")
        };
        for (query, expected) in [
            ("mxiling", "mailing"),
            ("xailing", "mailing sailing"),
            ("ailing", "mailing sailing"),
            ("amiling", "mailing"),
            ("петерыург", "петербург"),
            ("нетербург", "петербург"),
        ] {
            assert_eq!(found(query), expected, "{query}");
        }
        shelf.notes.space().flush_search().unwrap();
    }
    // What a purged document had hides nothing.
    let mail = shelf.id("mail");
    shelf.notes.delete_documents(mail).unwrap();
    shelf.notes.purge_documents(PurgeDocuments::new([mail])).unwrap();
    assert_eq!(first_read(&shelf, "mxiling"), "");
    assert_eq!(first_read(&shelf, "mailing"), "mailing=sailing **sailing**");
}

#[test]
fn a_scope_reads_misspelt_words_as_its_own() {
    let shelf = Shelf::of(&[("home", "night train"), ("hidden", "nigth nights nighty")]);
    for _ in 0..2 {
        let (home, hidden) = (shelf.id("home"), shelf.id("hidden"));
        let space = shelf.notes.space();
        let read = |guest: &leafbase::Connection<leafbase::Scoped>| {
            let found = guest.search("nigth").unwrap();
            let words = found.iter().flat_map(|found| &found.corrected);
            (found.len(), words.map(|word| word.read_as.clone()).collect::<Vec<_>>())
        };
        assert_eq!(read(&space.scoped([home])), (1, vec!["night".to_owned()]));
        assert_eq!(read(&space.scoped([home, hidden])), (1, Vec::new()));
        space.flush_search().unwrap();
    }
}

#[test]
fn inflections_of_each_script() {
    let shelf = Shelf::of(&[
        ("ru", "Последние новости о поездах"),
        ("el", "Οι μαθητές στους δρόμους"),
        ("hy", "Նոր քաղաքներում"),
        ("ar", "المكتبات الجديدة"),
        ("hi", "लड़कियाँ और किताबें"),
        ("ta", "புத்தகங்கள்"),
        ("en", "Trains to Москва and 東京"),
    ]);
    shelf.table(&[
        ("новостей", "ru"),
        ("поездов", "ru"),
        ("НОВОСТЬ", "ru"),
        ("δρόμος", "el"),
        ("μαθητής", "el"),
        ("քաղաք", "hy"),
        ("مكتبة", "ar"),
        ("लड़की", "hi"),
        ("किताबों", "hi"),
        ("புத்தகம்", "ta"),
        ("train Москвы", "en"),
        ("東京 trains в Москве", ""),
        ("\"новостей\"", ""),
    ]);
    for query in ["новостей", "δρόμος", "مكتبة", "किताबों"] {
        assert!(shelf.search(query)[0].corrected.is_empty(), "{query}");
    }
    assert_eq!(shelf.search("поезд")[0].markdown, "Последние новости о **поездах**");
}

#[test]
fn diacritics_raise_documents_that_have_them() {
    let shelf = Shelf::of(&[
        ("ghost", "ma"),
        ("cheek", "má"),
        ("mother", "mẹ"),
        ("rice", "mạ"),
        ("plain", "a resume"),
        ("cv", "a résumé"),
    ]);
    for _ in 0..2 {
        assert_eq!(shelf.sorted("\"má\""), "cheek, ghost, rice");
        assert!(shelf.found("má").starts_with("cheek, "));
        assert!(shelf.found("mạ").starts_with("rice, "));
        assert_eq!(shelf.found("résumé"), "cv, plain");
        assert_eq!(shelf.sorted("resume"), "cv, plain");
        shelf.notes.space().flush_search().unwrap();
    }
}

#[test]
fn inflections_of_the_languages_of_a_space() {
    let documents = [
        ("de", "Die Häuser der Stadt sind alt, und das ist schön"),
        ("en", "The houses of the town are old"),
        ("fr", "Les nationalités de la ville ne sont pas les mêmes"),
        ("mixed", "Der Zug nach Москва und die Bücher"),
    ];
    let german = [Language::German, Language::English];
    let space = Space::builder().languages(german).in_memory().unwrap();
    let shelf = Shelf { notes: space.connect() };
    for (title, text) in &documents {
        shelf.put(title, text);
    }
    shelf.table(&[("Hauses", "de"), ("housing", "en"), ("Buches Москвы", "mixed")]);
    assert!(shelf.search("Hauses")[0].corrected.is_empty());
    assert_eq!(
        shelf.search("Hauses")[0].markdown,
        "Die **Häuser** der Stadt sind alt, und das ist schön"
    );
}

#[test]
fn an_index_of_other_languages_is_rebuilt() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("space");
    let builder = || Space::builder().search_indexing(SearchIndexing::OnDemand);
    let space = builder().create(&path).unwrap();
    space.connect().create_document("Die Freundlichkeiten").unwrap();
    space.flush_search().unwrap();
    space.close().unwrap();
    for (languages, found) in
        [(vec![], 0), (vec![Language::German], 1), (vec![Language::German], 1), (vec![], 0)]
    {
        let space = builder().languages(languages).open(&path).unwrap();
        for _ in 0..2 {
            let hits = space.connect().search("freundliche die").unwrap();
            let complete = hits.iter().filter(|hit| hit.missing_terms.is_empty());
            assert_eq!(complete.count(), found);
            space.flush_search().unwrap();
        }
        space.close().unwrap();
    }
}

#[test]
fn snippets_mark_the_pairs_that_match() {
    let shelf = Shelf::of(&[("a", "东京的天气很好"), ("b", "今日、東京は天気がよい。")]);
    for (query, expected) in
        [("东京天气", "**东京**的**天气**很好"), ("東京の天気", "今日、**東京**は**天気**がよい。")]
    {
        assert_eq!(shelf.search(query)[0].markdown, expected);
    }
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
