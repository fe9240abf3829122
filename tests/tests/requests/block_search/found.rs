//! What is found, and what is shown with it.

use leafbase::{DeleteDocuments, SearchBlocks};
use serde_json::json;

use super::shelf::{Shelf, TRIP, shown};

#[test]
fn patterns_are_matched_on_each_block_as_replies_show_it() {
    let mut shelf = Shelf::of(TRIP);
    shelf.add_collection("Books", &[("Dune", "sand *and* spice"), ("Emma", "tea\n\n- [ ] a saw")]);
    let rows: &[(&str, &[&str])] = &[
        (r#""Trip""#, &[": <Trip>"]),
        (
            r#""train""#,
            &[
                "Trip: Night <train> at 22:15",
                "Trip: [Rail](https://rail.example \"All <train>s\")",
            ],
        ),
        (r#""\\d\\d:\\d\\d""#, &["Trip: Night train at <22:15>"]),
        (r#""\\*\\*.*""#, &["Trip/Packing: socks, <**wool**>", "Trip: <*****>"]),
        (r##""^## ""##, &["Trip: <## >Trains"]),
        (r#""^Trains$""#, &[]),
        (r##""^## Trains$""##, &["Trip: <## Trains>"]),
        (
            r#""saw""#,
            &[
                "Trip/Packing/Tools: ```rust\nlet <saw> = 1;\n<saw> + 1\n```",
                "Trip: | Tool | Price |\n| --- | --- |\n| <saw> | € 12 |",
                "Trip: ![A <saw>](https://x.example/<saw>.png)",
                "Trip/Emma: - [ ] a <saw>",
            ],
        ),
        (r#""(?<=€ )\\d+""#, &["Trip: | Tool | Price |\n| --- | --- |\n| saw | € <12> |"]),
        (r#""(?m)^\\| saw""#, &["Trip: | Tool | Price |\n| --- | --- |\n<| saw> | € 12 |"]),
        (r#""plan\\.pdf""#, &["Trip: [<plan.pdf>](asset://7/f.pdf)"]),
        (r#""Books""#, &["Trip: <Books>"]),
        (r#""Dune|Emma""#, &["Trip: <Dune>", "Trip: <Emma>"]),
        (r#""sand \\*(?=and)""#, &["Trip/Dune: <sand *>and* spice"]),
        ("\"\u{20ac}\"", &["Trip: | Tool | Price |\n| --- | --- |\n| saw | <€> 12 |"]),
        (r#""\u0000""#, &[]),
    ];
    for (patterns, expected) in rows {
        assert_eq!(shelf.matches(patterns), *expected, "{patterns}");
    }
}

#[test]
fn several_patterns_find_what_any_of_them_matches() {
    let shelf = Shelf::of(
        r#"
        text "abcdef"
        text "xyz"
        text "abab cd"
    "#,
    );
    let rows: &[(&str, &[&str])] = &[
        (r#"["abc","cde"]"#, &["Trip: <abcde>f"]),
        (r#"["cde","abc"]"#, &["Trip: <abcde>f"]),
        (r#"["abc","def"]"#, &["Trip: <abc><def>"]),
        (r#"["bcde","c"]"#, &["Trip: a<bcde>f", "Trip: abab <c>d"]),
        (r#"["y","(?:ab)+","nothing"]"#, &["Trip: <ab>cdef", "Trip: x<y>z", "Trip: <abab> cd"]),
        (r#"["[ab]","[ab]"]"#, &["Trip: <a><b>cdef", "Trip: <a><b><a><b> cd"]),
        (r#"["nothing","at all"]"#, &[]),
    ];
    for (patterns, expected) in rows {
        assert_eq!(shelf.matches(patterns), *expected, "{patterns}");
    }
}

/// What matches without taking a letter finds the block, but is nowhere in it.
#[test]
fn empty_matches() {
    let shelf = Shelf::of(
        r#"
        text "done, a"
        text ""
        text "b"
    "#,
    );
    let rows: &[(&str, &[&str])] = &[
        (r#""^$""#, &["Trip: "]),
        (r#""^""#, &[": Trip", "Trip: done, a", "Trip: ", "Trip: b"]),
        (r#""b*""#, &[": Trip", "Trip: done, a", "Trip: ", "Trip: <b>"]),
        (r#""^(?!.*done)""#, &[": Trip", "Trip: ", "Trip: b"]),
        (r#""\\b(?=a)""#, &["Trip: done, a"]),
        (r#"["^(?=d)","a"]"#, &["Trip: done, <a>"]),
    ];
    for (patterns, expected) in rows {
        assert_eq!(shelf.matches(patterns), *expected, "{patterns}");
    }
}

#[test]
fn capitals_and_small_letters() {
    let shelf = Shelf::of(
        r#"
        text "Straße, ÉTÉ"
        text "k \u{212a} ſ"
    "#
        .replace(r"\u{212a}", "\u{212a}")
        .as_str(),
    );
    for (pattern, any, same) in [
        ("été", vec!["Trip: Straße, <ÉTÉ>"], vec![]),
        ("STRASSE", vec![], vec![]),
        ("STRAßE", vec!["Trip: <Straße>, ÉTÉ"], vec![]),
        ("k", vec!["Trip: <k> <\u{212a}> ſ"], vec!["Trip: <k> \u{212a} ſ"]),
        ("(?-i)k", vec!["Trip: <k> \u{212a} ſ"], vec!["Trip: <k> \u{212a} ſ"]),
        (
            "(?i)S",
            vec!["Trip: <S>traße, ÉTÉ", "Trip: k \u{212a} <ſ>"],
            vec!["Trip: <S>traße, ÉTÉ", "Trip: k \u{212a} <ſ>"],
        ),
    ] {
        let found = |case: &str| {
            shelf.found(&format!(r#"{{"blockId":"@trip","pattern":"{pattern}"{case}}}"#))
        };
        assert_eq!(found(""), any, "{pattern}");
        assert_eq!(found(r#","caseSensitive":false"#), any, "{pattern}");
        assert_eq!(found(r#","caseSensitive":true"#), same, "{pattern}");
    }
}

#[test]
fn a_page_is_searched_with_all_below_it() {
    let mut shelf = Shelf::of(TRIP);
    shelf.add_collection("Books", &[("Dune", "sand"), ("Emma", "sand, too")]);
    for (within, expected) in [
        ("@packing", vec!["Trip: Packing", "Trip/Packing: socks, **wool**", "Trip/Packing: Tools"]),
        ("@tools", vec!["Trip/Packing: Tools"]),
        ("@socks", vec!["Trip/Packing: socks, **wool**"]),
        (
            "@Books",
            vec![
                "Trip: Books",
                "Trip: Dune",
                "Trip/Dune: sand",
                "Trip: Emma",
                "Trip/Emma: sand, too",
            ],
        ),
        ("@Emma", vec!["Trip: Emma", "Trip/Emma: sand, too"]),
        ("@end", vec!["Trip: The end"]),
    ] {
        let mut found = shelf.found(&format!(r#"{{"blockId":"{within}","pattern":"^"}}"#));
        found.truncate(expected.len());
        assert_eq!(found, expected, "{within}");
    }
    assert_eq!(shelf.found(r#"{"blockId":"@tools","pattern":"^"}"#).len(), 3);
}

/// Whatever is searched, what stands around a match is as in the whole document.
#[test]
fn around_a_match() {
    let mut shelf = Shelf::of(
        r#"
        text "1"
        page "2" #two
          text "3"
          page "4" #four
            text "5"
          text "6"
        text "7" #seven
    "#,
    );
    shelf.add_collection("8", &[("9", "10"), ("11", "12")]);
    let around = |within: &str, text: &str, before: usize, after: usize| {
        let request =
            SearchBlocks::new(shelf.id(within), format!("^{text}$")).context(before, after);
        let hits = shelf.notes.search_blocks(request).unwrap();
        let [hit] = &hits.items[..] else { panic!("{hits:?}") };
        let texts = |blocks: &[leafbase::ContextBlock]| {
            blocks.iter().map(|block| block.markdown.clone()).collect::<Vec<_>>().join(" ")
        };
        format!("{} < {} > {}", texts(&hit.before), hit.markdown, texts(&hit.after))
    };
    for (text, before, after, expected) in [
        ("5", 0, 0, " < 5 > "),
        ("5", 1, 2, "4 < 5 > 6 7"),
        ("5", 5, 5, "Trip 1 2 3 4 < 5 > 6 7 8 9 10"),
        ("5", 100, 100, "Trip 1 2 3 4 < 5 > 6 7 8 9 10 11 12"),
        ("4", 3, 1, "1 2 3 < 4 > 5"),
    ] {
        for within in ["trip", "two", "four"] {
            assert_eq!(around(within, text, before, after), expected, "{within}");
        }
    }
    for (within, text, before, after, expected) in [
        ("trip", "Trip", 5, 2, " < Trip > 1 2"),
        ("two", "2", 3, 0, "Trip 1 < 2 > "),
        ("two", "6", 1, 3, "5 < 6 > 7 8 9"),
        ("seven", "7", 4, 3, "3 4 5 6 < 7 > 8 9 10"),
        ("9", "10", 4, 4, "6 7 8 9 < 10 > 11 12"),
        ("8", "12", 3, 9, "9 10 11 < 12 > "),
        ("11", "12", 3, 9, "9 10 11 < 12 > "),
    ] {
        assert_eq!(around(within, text, before, after), expected, "{within} {text}");
        assert_eq!(around("trip", text, before, after), expected, "{text}");
    }
}

#[test]
fn a_match_as_json() {
    let shelf = Shelf::of(
        r#"
        page "Packing" #packing
          text "socks, socks" #socks
          line
    "#,
    );
    let body = r#"{"blockId":"@packing","pattern":"OC","beforeBlockCount":1,"afterBlockCount":1}"#;
    let found = serde_json::to_value(shelf.search(body).unwrap()).unwrap();
    let line = &found["items"][0]["afterBlocks"][0]["blockId"];
    let (trip, packing) = (shelf.id("trip"), shelf.id("packing"));
    let expected = json!({"items": [{
        "documentId": trip, "blockId": shelf.id("socks"), "rev": 1, "markdown": "socks, socks", "ranges": [{"start": 1, "end": 3}, {"start": 8, "end": 10}],
        "pageBlockPath": [{"id": trip, "content": "Trip"}, {"id": packing, "content": "Packing"}],
        "beforeBlocks": [{"blockId": packing, "markdown": "Packing"}],
        "afterBlocks": [{"blockId": line, "markdown": "*****"}],
    }]});
    assert_eq!(found, expected);
}

#[test]
fn unless_the_request_says_otherwise_there_are_five_blocks_on_each_side() {
    let lines: String = (0..20).map(|number| format!("text \"{number}\"\n")).collect();
    let shelf = Shelf::of(&lines);
    let hits = shelf.search(r#"{"blockId":"@trip","pattern":"^10$"}"#).unwrap();
    assert_eq!((hits[0].before.len(), hits[0].after.len()), (5, 5));
    assert_eq!(
        (hits[0].before[4].markdown.as_str(), hits[0].after[0].markdown.as_str()),
        ("9", "11")
    );
}

#[test]
fn a_document_in_the_trash_is_searched_by_its_id() {
    let shelf = Shelf::of("text \"here\"");
    let trip = leafbase::DocumentId::of_root(shelf.id("trip"));
    shelf.notes.delete_documents(DeleteDocuments::new([trip])).unwrap();
    assert_eq!(shelf.matches(r#""here""#), ["Trip: <here>"]);
}

#[test]
fn what_was_written_a_moment_ago_is_found() {
    let shelf = Shelf::of("text \"one\" #one");
    shelf.notes.update_markdown(shelf.id("one"), "two").unwrap();
    let hits = shelf.notes.search_blocks(SearchBlocks::new(shelf.id("trip"), "one|two")).unwrap();
    assert_eq!(hits.iter().map(shown).collect::<Vec<_>>(), ["Trip: <two>"]);
}

/// At most so many places of one block are told of.
#[test]
fn ranges_of_one_block_are_bounded() {
    let shelf = Shelf::of(&format!("text \"{}\"", "ab".repeat(300)));
    let ranges = |patterns: &str| {
        let hits = shelf.search(&format!(r#"{{"blockId":"@trip","pattern":{patterns}}}"#)).unwrap();
        hits.last().unwrap().ranges.clone()
    };
    for (patterns, last) in [
        (r#""a""#, 198..199),
        (r#"["a","b"]"#, 99..100),
        (r#"["b","x*"]"#, 199..200),
        (r#""ab|x*""#, 198..200),
    ] {
        let ranges = ranges(patterns);
        assert_eq!((ranges.len(), ranges.last().cloned()), (100, Some(last)), "{patterns}");
    }
    assert_eq!(ranges(r#""(?:ab)+""#), Vec::from_iter(Some(0..600)));
}
