//! Queries: which documents match, and in which order.

use std::collections::HashSet;

use leafbase_model::{ErrorKind, Location, Result, TermMode};
use leafbase_pattern::Pattern;
use leafbase_search::{
    Analyzer, DocumentSubset, Index, MAX_QUERY_TERM_BYTES, MAX_QUERY_TERMS, ParsedQuery,
    SearchDocument, SearchOverlay,
};

use crate::fixture::{
    All, Any, Most, OWNER, at, attributes, document, id, numbers, search, search_with, update,
};

/// Checks a query on documents 1, 2, 3 .. of one text each. The hits have the same order in the
/// index and in the overlay.
#[track_caller]
fn check(texts: &[&str], terms: &[&str], mode: TermMode, expected: &[u8]) {
    let documents: Vec<_> = (1..)
        .zip(texts)
        .map(|(number, text)| document(number, "", &text.split('|').collect::<Vec<_>>()))
        .collect();
    check_documents(&documents, terms, mode, expected);
}

#[track_caller]
fn check_documents(documents: &[SearchDocument], terms: &[&str], mode: TermMode, expected: &[u8]) {
    let (full, empty) = (Index::in_memory(OWNER).unwrap(), Index::in_memory(OWNER).unwrap());
    update(&full, documents.to_vec(), &[], 1).unwrap();
    let in_index = search(&full, terms, mode).unwrap();
    assert_eq!(numbers(&in_index), expected, "{terms:?}");
    let dirty: Vec<_> = documents.iter().collect();
    assert_eq!(
        search_with(&empty, &dirty, &[], terms, mode).unwrap(),
        in_index,
        "{terms:?}, dirty"
    );
}

#[test]
fn all_terms_or_any_of_them() {
    let texts = ["red apple", "red pear", "green apple|in a red bowl", "plum"];
    for (terms, all, any) in [
        (&["red apple"][..], &[1, 3][..], &[1, 3, 2][..]),
        (&["red", "apple"], &[1, 3], &[1, 3, 2]),
        (&["apple red"], &[1, 3], &[1, 3, 2]),
        (&["red", "red", "RED red"], &[1, 2, 3], &[1, 2, 3]),
        (&["red quince"], &[], &[1, 2, 3]),
        (&["quince"], &[], &[]),
        // A query without words matches nothing.
        (&[], &[], &[]),
        (&["", " - ", "\"\""], &[], &[]),
        (&["plum", ""], &[4], &[4]),
    ] {
        check(&texts, terms, All, all);
        check(&texts, terms, Any, any);
    }
}

/// The hits of texts, each with the words that it lacks.
fn lacking(texts: &[&str], terms: &[&str]) -> Vec<(u8, Vec<String>)> {
    let documents = (1..).zip(texts).map(|(number, text)| document(number, "", &[text]));
    let index = Index::in_memory(OWNER).unwrap();
    update(&index, documents.collect(), &[], 1).unwrap();
    let query = ParsedQuery::new(terms, Most).unwrap();
    let source = |clause: &usize| query.source(*clause).to_owned();
    let hits = search(&index, terms, Most).unwrap();
    let hits = hits.iter().map(|hit| hit.missing.iter().map(source).collect());
    numbers(&search(&index, terms, Most).unwrap()).into_iter().zip(hits).collect()
}

#[test]
fn all_terms_come_first_then_most_by_weight() {
    let texts = ["red apple", "red pear pear pear", "red Quince", "plum", "red quince pie"];
    for (terms, expected) in [
        (&["red"][..], &[(1, &[][..]), (3, &[]), (5, &[]), (2, &[])][..]),
        (
            &["apple Red pie"],
            &[(5, &["apple"]), (1, &["pie"]), (3, &["apple", "pie"]), (2, &["apple", "pie"])],
        ),
        (&["red quince"], &[(3, &[]), (5, &[]), (1, &["quince"]), (2, &["quince"])]),
        (&["Lisbon plum"], &[(4, &["Lisbon"])]),
        (&["\"red pear\"", "apple"], &[(1, &["red pear"]), (2, &["apple"])]),
        (&["Lisbon"], &[]),
    ] {
        let expected: Vec<_> = expected
            .iter()
            .map(|(number, terms)| (*number, terms.iter().map(|term| (*term).to_owned()).collect()))
            .collect();
        assert_eq!(lacking(&texts, terms), expected, "{terms:?}");
    }
}

#[test]
fn what_most_documents_have_weighs_nothing_beside_other_words() {
    let mut texts = vec!["how is the weather in the north"; 20];
    texts.extend(["is the train late", "trains", "the sun of Lisbon", "snow"]);
    let none = Vec::<String>::new();
    for (query, expected) in [
        ("is the train late", vec![(21, none.clone()), (22, vec!["late".to_owned()])]),
        ("the Lisbon", vec![(23, none.clone())]),
        ("in Lisbon is snow", vec![(24, vec!["Lisbon".to_owned()]), (23, vec!["snow".to_owned()])]),
    ] {
        let mut found = lacking(&texts, &[query, "x \"x\""]);
        for (_, missing) in &mut found {
            missing.retain(|term| term != "x");
        }
        assert_eq!(found, expected, "{query}");
    }
    // By themselves they are searched.
    assert_eq!(lacking(&texts, &["the", "is"]).len(), 22);
    assert_eq!(lacking(&texts, &["the"])[0], (1, none));
}

#[test]
fn scripts_without_spaces() {
    for (query, text, is_all, is_most) in [
        ("东京天气", "东京的天气很好", true, true),
        ("東京の天気", "東京では天気がよい", true, true),
        ("한국어검색", "한국어로 검색하기", true, true),
        ("อากาศกรุงเทพ", "กรุงเทพมีอากาศดี", true, true),
        ("东京天气", "东京很好", false, true),
        ("東京都", "東京へ", false, true),
        ("東京都", "都の東京", false, true),
        ("東京都", "京都と東京", true, true),
        ("\"東京都\"", "京都と東京", false, false),
        ("「東京都」", "京都と東京", true, true),
        ("『東京都』", "東京へ", false, true),
        ("東京 weather 2026", "Weather of 東京, 2026", true, true),
        ("東京weather2026", "weather 2026 in 東京", true, true),
        ("東京 weather 2026", "東京 2025", false, true),
        ("大阪", "東京", false, false),
    ] {
        let expected: [&[u8]; 2] =
            [is_all, is_most].map(|found| if found { &[1][..] } else { &[] });
        check(&[text], &[query], All, expected[0]);
        check(&[text], &[query], Any, expected[1]);
        check(&[text], &[query], Most, expected[1]);
    }
    // Pairs in a row count more.
    check(&["京都と東京と東京", "東京都と東京と京", "大阪"], &["東京都"], All, &[2, 1]);
    check(&["天気、東京の", "東京の天気", "大阪"], &["東京の天気"], Most, &[2, 1]);
    // Half of the pairs are of an ending that most have: by number alone they would have it all.
    let most = ["海がありますか", "雨がありますか", "富士", "風がありますか", "北がありますか"];
    check(&most, &["富士がありますか"], All, &[]);
}

#[test]
fn phrases_are_found_within_one_text() {
    let texts = [
        "the night train leaves",
        "train at night",
        "by night|train now",
        "last night trains left",
    ];
    for (terms, expected) in [
        ("\"night train\"", &[1][..]),
        ("\"train night\"", &[]),
        ("night train", &[1, 4, 2, 3]),
        ("\"night trains\"", &[4]),
        // Only prefix terms match prefixes.
        ("\"night trai\"", &[]),
        ("\"the night train leaves\"", &[1]),
        ("\"by\" now", &[3]),
        ("le \"night train\"", &[]),
        ("\"night train\" le", &[1]),
        ("\"night\" \"train\"", &[1, 2, 3]),
    ] {
        let documents: Vec<_> = (1..)
            .zip(texts)
            .map(|(number, text)| document(number, "", &text.split('|').collect::<Vec<_>>()))
            .collect();
        let index = Index::in_memory(OWNER).unwrap();
        update(&index, documents, &[], 1).unwrap();
        let mut found = numbers(&search(&index, &[terms], All).unwrap());
        let mut expected = expected.to_vec();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{terms}");
    }
}

#[test]
fn a_phrase_never_spans_two_texts() {
    check(&["one|two", "one two", "one||two"], &["\"one two\""], All, &[2]);
    // Positions without a token do not match.
    let many = format!("\"one {} two\"", "\u{640} ".repeat(15));
    check(&["one|two"], &[&many], All, &[]);
    // Nor across title and body.
    check_documents(
        &[document(1, "one", &["two"]), document(2, "one two", &[])],
        &["\"one two\""],
        All,
        &[2],
    );
}

#[test]
fn quotation_marks() {
    let texts = ["night train", "train night"];
    for phrase in [
        "\"night train\"",
        "“night train”",
        "„night train“",
        "«night train»",
        "»night train«",
        "”night train”",
        "＂night train＂",
        "「night train」",
        "『night train』",
        "〝night train〟",
        "‟night train”",
        "“night train\"",
    ] {
        check(&texts, &[phrase], All, &[1]);
    }
    // Words in a row count more.
    for (no_phrase, expected) in [
        ("\"train night", &[2, 1][..]),
        ("train night\"", &[2, 1]),
        ("train \"night", &[2, 1]),
        ("‘night train’", &[1, 2]),
        ("'night train'", &[1, 2]),
        ("\"\" night train", &[1, 2]),
        ("“", &[]),
    ] {
        check(&texts, &[no_phrase], All, expected);
    }
    // The mark of Hebrew abbreviations is not a quotation mark.
    check(&["צה\"ל של ארה\"ב", "ארה\"ב וצה\"ל", "של"], &["ארה\"ב צה\"ל"], All, &[1]);
    check(&["他说你好吗", "你不好"], &["他说\"你好\"吗"], All, &[1]);
}

#[test]
fn the_last_word_of_each_term_is_a_prefix() {
    let texts = ["lisbon tram", "tramway of lisbon", "lis", "trams"];
    for (terms, expected) in [
        (&["lis"][..], &[3, 1, 2][..]),
        (&["tram lis"], &[1]),
        (&["lis tram"], &[]),
        (&["lis", "tram"], &[1, 2]),
        (&["l t"], &[]),
        (&["l"], &[3, 1, 2]),
        (&["lisbons"], &[1, 2]),
    ] {
        check(&texts, terms, All, expected);
    }
}

#[test]
fn compounds_whole_and_in_parts() {
    let texts =
        ["snake_case", "snake and case", "case snake", "v1.2", "v1.25", "1.2", "snake case"];
    for (terms, expected) in [
        // The compound as written ranks first.
        ("snake_case", &[1, 7][..]),
        ("snake", &[1, 7, 2, 3]),
        // Without the whole compound, the shorter document ranks first.
        ("Snake_C", &[7, 1]),
        ("snake_case x", &[]),
        ("v1.2", &[4, 5]),
        ("v1.2 v", &[4]),
        ("v1", &[4, 5]),
        ("v", &[4, 5]),
        ("1.2", &[6, 4, 5]),
        ("\"snake case\"", &[7, 1]),
        ("\"case snake\"", &[3]),
    ] {
        let documents: Vec<_> =
            (1..).zip(texts).map(|(number, text)| document(number, "", &[text])).collect();
        let index = Index::in_memory(OWNER).unwrap();
        update(&index, documents, &[], 1).unwrap();
        let found = numbers(&search(&index, &[terms], All).unwrap());
        assert_eq!(found.first(), expected.first(), "{terms}");
        assert_eq!(found.iter().collect::<HashSet<_>>(), expected.iter().collect(), "{terms}");
    }
    // In `any` mode a part of a compound is enough.
    check(&["case", "snake_case", "other"], &["snake_case"], Any, &[2, 1]);
}

#[test]
fn stems_score_below_exact_words() {
    let texts = ["she connects them", "they are connected", "connection", "a connect", "con"];
    for (terms, first, others) in [
        ("connected x", None, &[][..]),
        ("connects", Some(1), &[2, 3, 4]),
        ("connection", Some(3), &[1, 2, 4]),
        ("\"connect\"", Some(4), &[]),
    ] {
        let documents: Vec<_> =
            (1..).zip(texts).map(|(number, text)| document(number, "", &[text])).collect();
        let index = Index::in_memory(OWNER).unwrap();
        update(&index, documents, &[], 1).unwrap();
        let found = numbers(&search(&index, &[terms], All).unwrap());
        assert_eq!(found.first().copied(), first, "{terms}");
        assert_eq!(
            found.iter().skip(1).collect::<HashSet<_>>(),
            others.iter().collect(),
            "{terms}"
        );
    }
}

#[test]
fn every_script() {
    for (texts, found_by, not_by) in [
        (
            "Élan vital, STRASSE",
            &["elan", "ÉLAN", "élan", "straße", "Straß"][..],
            &["\"elam\"", "\"strase\""][..],
        ),
        ("Łódź, ﬁnance, ＡＢＣ", &["lodz", "finance", "abc"], &["lod z"]),
        (
            "東京都に住む",
            &["東", "東京", "東京都", "京都に住", "住む", "む", "\"東京都\""],
            &["東都", "都東", "西"],
        ),
        ("我 爱 北京", &["我", "北京", "京", "爱 北"], &["我爱", "北 我爱"]),
        ("한국어는 재미있다", &["한", "한국", "국어", "재미"], &["한어", "국한"]),
        ("カタカナ ﾊﾟｿｺﾝ", &["タカ", "ｶﾀ", "パソコン", "パソ"], &["かた", "ハソ"]),
        ("ภาษาไทยง่าย", &["ไทย", "ภาษา", "ง่าย", "ษาไท"], &["ไทา"]),
        ("مَرْحَبًا بالعالم", &["مرحبا", "مرح", "بالعالم"], &["\"رحبا\""]),
        ("שָׁלוֹם עולם צה\"ל", &["שלום", "עולם", "צה\"ל", "\"שלום עולם\""], &["לום"]),
        ("Ёлка и йод", &["елка", "ёлка", "йод", "Ё"], &["лка"]),
        ("नमस्ते दुनिया", &["नमस्ते", "दुनिया", "नम"], &["\"मस्ते\""]),
        (
            "party 🎉 ❤️ 👍🏽 👨‍👩‍👧 🇫🇷",
            &["🎉", "party 🎉", "❤", "❤️", "👍🏽", "👍", "👨‍👩‍👧", "🇫🇷", "\"party 🎉\""],
            &["🎈", "🇩🇪", "\"🎉 party\""],
        ),
        ("covid19 m² Ⅷ", &["covid", "covid19", "COVID 19", "m2", "viii"], &["\"ovid\""]),
    ] {
        for terms in found_by {
            check(&[texts, "nothing of it"], &[terms], All, &[1]);
        }
        for terms in not_by {
            check(&[texts, "nothing of it"], &[terms], All, &[]);
        }
    }
}

#[test]
fn titles_and_frequencies_raise_scores() {
    let documents = [
        document(1, "Other", &["trip and much more that is said in so many words"]),
        document(2, "Trip", &["and much more that is said in so many words"]),
        document(3, "Other", &["trip trip trip and much more that is said in so many words"]),
        document(4, "Other", &["trip"]),
    ];
    let index = Index::in_memory(OWNER).unwrap();
    update(&index, documents.to_vec(), &[], 1).unwrap();
    let found = numbers(&search(&index, &["trip"], All).unwrap());
    let rank = |number| found.iter().position(|other| *other == number).unwrap();
    assert!(rank(3) < rank(1), "{found:?}");
    assert!(rank(4) < rank(1), "{found:?}");
    assert_eq!(found.len(), 4);
    // Ties are ordered by ID.
    check(&["same", "same", "other", "same"], &["same"], All, &[1, 2, 4]);
}

#[test]
fn hits_are_limited_and_filtered() {
    let index = Index::in_memory(OWNER).unwrap();
    let place =
        |number: u8| if number.is_multiple_of(2) { Location::Unsorted } else { Location::Trash };
    let documents = (0..50).map(|number| at(number, place(number), "", &["word"], 0));
    update(&index, documents.collect(), &[], 1).unwrap();
    let accepts = |one: &leafbase_search::Attributes| one.location == Location::Trash;
    let scope =
        SearchOverlay { dirty: &[], dirty_ids: &HashSet::new(), filter: &accepts, subset: None };
    let terms = ParsedQuery::new(&["word"], TermMode::All).unwrap();
    for (most, expected) in [(0, 0), (1, 1), (20, 20), (24, 24), (25, 25), (26, 25), (1000, 25)] {
        let found = numbers(&index.snapshot().unwrap().search(&terms, &scope, most).unwrap().hits);
        assert_eq!(
            found,
            (0..expected).map(|number| number * 2 + 1).collect::<Vec<u8>>(),
            "{most}"
        );
    }
}

#[test]
fn attributes_round_trip() {
    let index = Index::in_memory(OWNER).unwrap();
    let folder = leafbase_model::FolderId::from_bytes([250; 16]);
    let places = [
        Location::Unsorted,
        Location::Templates,
        Location::DailyNotes,
        Location::Folder(folder),
        Location::Trash,
        Location::Inbox,
    ];
    let days = [None, Some(-1), Some(0), Some(20_000), None, None];
    let made: Vec<_> = (0..)
        .zip(places)
        .zip(days)
        .map(|((number, place), day)| {
            let day = day.map(leafbase_model::Day::from_epoch_days);
            let made = Analyzer::default().begin(attributes(number * 51, place), "x").finish();
            let all = leafbase_search::Attributes { day, ..*made.attributes() };
            made.with_attributes(all)
        })
        .collect();
    update(&index, made.clone(), &[], 1).unwrap();
    let seen = std::cell::RefCell::new(Vec::new());
    let accepts = |one: &leafbase_search::Attributes| {
        seen.borrow_mut().push(*one);
        true
    };
    let scope =
        SearchOverlay { dirty: &[], dirty_ids: &HashSet::new(), filter: &accepts, subset: None };
    index
        .snapshot()
        .unwrap()
        .search(&ParsedQuery::new(&["x"], TermMode::All).unwrap(), &scope, 9)
        .unwrap();
    let expected: Vec<_> = made.iter().map(|made| *made.attributes()).collect();
    assert_eq!(*seen.borrow(), expected);
}

#[test]
fn limits() {
    let at_most: Vec<_> = (0..MAX_QUERY_TERMS).map(|number| number.to_string()).collect();
    assert!(ParsedQuery::new(&at_most, TermMode::All).is_ok());
    assert!(ParsedQuery::new(&["a".repeat(MAX_QUERY_TERM_BYTES)], TermMode::All).is_ok());
    let mut too_many = at_most;
    too_many.push("x".to_owned());
    for (terms, path) in [
        (too_many, "include"),
        (vec!["a".to_owned(), "é".repeat(MAX_QUERY_TERM_BYTES / 2) + "x"], "include[1]"),
    ] {
        let error = ParsedQuery::new(&terms, TermMode::All).unwrap_err();
        let paths: Vec<_> = error.details().iter().map(|detail| detail.path.clone()).collect();
        assert_eq!(
            (error.kind(), paths),
            (ErrorKind::LimitExceeded, vec![path.to_owned()]),
            "{error}"
        );
    }
    // Long words are truncated in texts and in queries.
    let long = "x".repeat(300);
    check(&[&long, "x"], &[&long[..MAX_QUERY_TERM_BYTES]], All, &[1]);
}

#[test]
fn repetitive_queries_are_fast() {
    let same = "a ".repeat(100_000);
    check(&[&same, "a"], &["\"a a a\" a_a"], All, &[1]);
}

#[test]
fn candidates_have_the_required_trigrams() {
    let index = Index::in_memory(OWNER).unwrap();
    let texts = ["color of night", "Colour", "col", "dolour", ""];
    update(
        &index,
        (1..).zip(texts).map(|(number, text)| document(number, "", &[text])).collect(),
        &[],
        1,
    )
    .unwrap();
    let found = |patterns: &[&str], dirty_ids: &[u8]| -> Result<Vec<u8>> {
        let patterns: Vec<_> =
            patterns.iter().map(|pattern| Pattern::new(pattern, true)).collect::<Result<_>>()?;
        let required: Vec<_> = patterns.iter().map(Pattern::trigram_query).collect();
        let dirty_ids = dirty_ids.iter().map(|number| id(*number)).collect();
        let candidates = index.snapshot()?.candidates(
            &required,
            &SearchOverlay { dirty: &[], dirty_ids: &dirty_ids, filter: &|_| true, subset: None },
        )?;
        Ok(candidates.iter().map(|document| document.as_bytes()[0]).collect())
    };
    for (patterns, dirty_ids, expected) in [
        (&["colou?r"][..], &[][..], &[1, 2][..]),
        (&["colou?r"], &[2, 9], &[1]),
        (&["olour"], &[], &[2, 4]),
        (&["night", "dolour"], &[], &[1, 4]),
        (&["night", "."], &[], &[1, 2, 3, 4, 5]),
        (&["."], &[1], &[2, 3, 4, 5]),
        (&["nowhere"], &[], &[]),
        (&[], &[], &[]),
    ] {
        assert_eq!(found(patterns, dirty_ids).unwrap(), expected, "{patterns:?} {dirty_ids:?}");
    }
}

#[test]
fn dirty_documents_replace_their_indexed_versions() {
    let index = Index::in_memory(OWNER).unwrap();
    assert_eq!((index.sequence().unwrap(), index.snapshot().unwrap().documents()), (None, 0));
    update(
        &index,
        vec![document(1, "", &["old"]), document(2, "", &["old"]), document(3, "", &["old"])],
        &[],
        7,
    )
    .unwrap();
    assert_eq!((index.sequence().unwrap(), index.snapshot().unwrap().documents()), (Some(7), 3));
    let before = index.snapshot().unwrap();
    let new = document(2, "", &["new"]);
    for (dirty, dirty_ids, terms, expected) in [
        (&[][..], &[][..], "old", &[1, 2, 3][..]),
        (&[&new], &[2], "old", &[1, 3]),
        (&[&new], &[2], "new", &[2]),
        (&[], &[1, 3, 9], "old", &[2]),
    ] {
        let found = search_with(&index, dirty, dirty_ids, &[terms], All).unwrap();
        assert_eq!(numbers(&found), expected, "{terms} {dirty_ids:?}");
    }
    update(&index, vec![new], &[3], 8).unwrap();
    index.merge().unwrap();
    assert_eq!(index.sequence().unwrap(), Some(8));
    for (terms, expected) in [("old", &[1][..]), ("new", &[2])] {
        assert_eq!(numbers(&search(&index, &[terms], All).unwrap()), expected, "{terms}");
    }
    // A snapshot does not change.
    let scope =
        SearchOverlay { dirty: &[], dirty_ids: &HashSet::new(), filter: &|_| true, subset: None };
    let old =
        before.search(&ParsedQuery::new(&["old"], TermMode::All).unwrap(), &scope, 9).unwrap();
    assert_eq!(numbers(&old.hits), [1, 2, 3]);
}

#[test]
fn varying_documents_of_a_subset_are_always_candidates() -> Result<()> {
    let index = Index::in_memory(OWNER)?;
    let mut maker = Analyzer::default();
    let mut varying = |number: u8, text: &str| {
        let mut filling = maker.begin(attributes(number, Location::Unsorted), "");
        filling.add_pattern_text(text);
        filling.vary();
        filling.finish()
    };
    let documents = vec![
        varying(1, "tree"),
        varying(2, "lamp"),
        document(3, "", &["tree"]),
        document(4, "", &["lamp"]),
    ];
    assert_eq!(
        documents.iter().map(SearchDocument::varies).collect::<Vec<_>>(),
        [true, true, false, false]
    );
    update(&index, documents, &[], 1)?;
    let (view, pattern) = (index.snapshot()?, Pattern::new("tree", true)?);
    let all = view.subset((1..5).map(id), |_| true).unwrap();
    let some = view.subset([id(2), id(4)], |_| true).unwrap();
    for (subset, expected) in
        [(None, vec![1, 3]), (Some(&all), vec![1, 2, 3]), (Some(&some), vec![2])]
    {
        let scope =
            SearchOverlay { dirty: &[], dirty_ids: &HashSet::new(), filter: &|_| true, subset };
        let found = view.candidates(&[pattern.trigram_query()], &scope)?;
        assert_eq!(found, expected.into_iter().map(id).collect::<Vec<_>>());
    }
    Ok(())
}

/// The documents of a query, with the words that it was read as.
fn corrected(index: &Index, query: &str, mode: TermMode) -> String {
    let hits = search(index, &[query], mode).unwrap();
    let shown = hits.iter().map(|hit| {
        let read = hit.corrected.iter().map(|read| format!(" {}={}", read.term, read.read_as));
        format!("{}{}", hit.rank.document.as_bytes()[0], read.collect::<String>())
    });
    shown.collect::<Vec<_>>().join(", ")
}

#[test]
fn misspelt_words_are_read_as_like_ones() -> Result<()> {
    let index = Index::in_memory(OWNER)?;
    let documents = vec![
        document(1, "Lisbon", &["The night train leaves at ten."]),
        document(2, "Porto", &["No trains, but a passport and well-being"]),
        document(3, "Поезд", &["Ночной поезд уходит в 2025, v1x2"]),
        document(4, "Straße", &["accommodation in trail towns, tan"]),
    ];
    update(&index, documents, &[], 1)?;
    for (query, expected) in [
        // An insertion, a deletion, a replacement and a transposition.
        ("trainn", "1 trainn=train, 2 trainn=train"),
        ("nght", "1 nght=night"),
        ("nigtt", "1 nigtt=night"),
        ("lisobn", "1 lisobn=lisbon"),
        ("isbon", "1 isbon=lisbon"),
        ("поедз", "3 поедз=поезд"),
        ("STRASE", "4 STRASE=strasse"),
        // Two edits from eight letters on, and the least number of edits.
        ("acomodation", "4 acomodation=accommodation"),
        ("lizbom", ""),
        // Among words as like as each other those of more documents come first.
        ("traim", "1 traim=train, 4 traim=trail, 2 traim=train"),
        // Short words, numbers, phrases and words that are found are left as they are.
        ("tam", ""),
        ("2026", ""),
        ("\"lisobn\"", ""),
        ("\"nigth train\"", ""),
        ("trails", "4"),
        // A beginning of five letters; the end of a query only.
        ("pasap", "2 pasap=passp"),
        ("pasap train", "1, 2"),
        ("train pasap", "2 pasap=passp, 1"),
        // A part of a compound.
        ("ten wel-bieng", "1, 2 bieng=being"),
    ] {
        assert_eq!(corrected(&index, query, Most), expected, "{query}");
    }
    assert_eq!(corrected(&index, "nigth train", All), "1 nigth=night");
    assert_eq!(corrected(&index, "nigth porto", All), "");
    assert_eq!(corrected(&index, "nigth porto", Any), "2, 1 nigth=night");
    Ok(())
}

#[test]
fn a_word_is_misspelt_if_no_document_of_the_subset_has_it() -> Result<()> {
    let index = Index::in_memory(OWNER)?;
    let documents = vec![
        document(1, "", &["night"]),
        document(2, "", &["nights nigth"]),
        document(3, "", &["light"]),
    ];
    update(&index, documents, &[], 1)?;
    let query = ParsedQuery::new(&["nigth"], Most)?;
    let view = index.snapshot()?;
    let dirty = document(4, "", &["nighth"]);
    let found = |subset: Option<&DocumentSubset>, dirty: &[&SearchDocument], ids: &[u8]| {
        let dirty_ids = ids.iter().map(|number| id(*number)).collect();
        let scope = SearchOverlay { dirty, dirty_ids: &dirty_ids, filter: &|_| true, subset };
        let hits = view.search(&query, &scope, 9).unwrap().hits;
        let shown = hits.iter().map(|hit| {
            let read = hit.corrected.iter().map(|read| format!("={}", read.read_as));
            format!("{}{}", hit.rank.document.as_bytes()[0], read.collect::<String>())
        });
        shown.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(found(None, &[], &[]), "2");
    let without = view.subset([id(1), id(3)], |_| true)?;
    assert_eq!(found(Some(&without), &[], &[]), "1=night");
    let with = view.subset([id(1), id(2)], |_| true)?;
    assert_eq!(found(Some(&with), &[], &[]), "2");
    // Its document was deleted, or has changed.
    assert_eq!(found(None, &[], &[2]), "1=night");
    assert_eq!(found(Some(&with), &[&dirty], &[2]), "1=night, 4=nighth");
    assert_eq!(found(Some(&DocumentSubset::default()), &[&dirty], &[4]), "4=nighth");
    Ok(())
}
