//! The ranges of a text that match a query.

use leafbase_model::TermMode;
use leafbase_search::ParsedQuery;

/// The text with each match in brackets.
fn marked(terms: &[&str], mode: TermMode, text: &str) -> String {
    let (mut marked, mut from) = (String::new(), 0);
    for range in ParsedQuery::new(terms, mode).unwrap().match_ranges(text) {
        assert!(range.start >= from, "hits overlap: {terms:?} in {text:?}");
        marked.extend([&text[from..range.start], "[", &text[range.clone()], "]"]);
        from = range.end;
    }
    marked + &text[from..]
}

#[test]
fn hits_in_a_text() {
    for (terms, text, expected) in [
        (&["night"][..], "Night, nights and a knight", "[Night], [nights] and a knight"),
        (&["nig"], "night nig", "[night] [nig]"),
        (&["nig x"], "night nig x", "night [nig] [x]"),
        (&["connected"], "connect connects reconnect", "[connect] [connects] reconnect"),
        (
            &["\"night train\""],
            "night train, train night train",
            "[night train], train [night train]",
        ),
        (&["\"a a\""], "a a a", "[a a a]"),
        (
            &["snake_case"],
            "snake_case snake case, case_snake",
            "[snake_case] [snake case], case_snake",
        ),
        (&["snake"], "a snake_case", "a [snake_case]"),
        (&["case"], "a snake_case", "a snake_[case]"),
        (&["v1.2"], "v1.2 v1.25 v2.1", "[v1.2] [v1.25] v2.1"),
        (&["elan"], "Élan, ÉLAN", "[Élan], [ÉLAN]"),
        (&["東京"], "東京都と東京", "[東京]都と[東京]"),
        (&["東京都"], "東京都と東京", "[東京都]と[東京]"),
        (&["\"東京都\""], "東京都と東京", "[東京都]と東京"),
        (&["東京の天気"], "天気は東京", "[天気]は[東京]"),
        (&["東"], "東京は東", "[東京]は[東]"),
        (&["🎉"], "so 🎉!", "so [🎉]!"),
        (&["שלום"], "שָׁלוֹם!", "[שָׁלוֹם]!"),
        (&["a", "b"], "b a c", "[b] [a] c"),
        (&["", "--"], "b a c", "b a c"),
        (&["x"], "", ""),
    ] {
        assert_eq!(marked(terms, TermMode::All, text), expected, "{terms:?}");
    }
    assert_eq!(marked(&["snake_case"], TermMode::Any, "a case of snakes"), "a [case] of [snakes]");
}

#[test]
fn many_words_in_a_long_text() {
    let of = |letter: char| {
        (0..60).map(|number| format!("{letter}{number}")).collect::<Vec<_>>().join(" ")
    };
    let terms: Vec<String> = ('a'..='z').map(of).collect();
    let terms: Vec<&str> = terms.iter().map(|term| &term[..term.len().min(256)]).collect();
    let text = "a1 zz running ".repeat(10_000);
    assert_eq!(ParsedQuery::new(&terms, TermMode::All).unwrap().match_ranges(&text).len(), 10_000);
}
