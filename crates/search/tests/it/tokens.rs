//! Tokens of texts, words of queries, and that queries match texts.

use std::collections::BTreeSet;

use leafbase_search::{Token, TokenKind, fold, query_words, tokens};
use proptest::prelude::*;

/// Each token as `text@position`.
fn listed(text: &str) -> String {
    let one = |token: &Token| format!("{}@{}", token.text, token.position);
    tokens(text).iter().map(one).collect::<Vec<_>>().join(" ")
}

/// Each word of a query as its parts, `*` after a prefix, and the whole in brackets.
fn asked(text: &str) -> String {
    let words = query_words(text).into_iter().map(|word| {
        let star = |prefix| if prefix { "*" } else { "" };
        let parts = word
            .parts
            .iter()
            .map(|part| format!("{}{}@{}", part.text, star(part.prefix), part.position));
        let whole = word.whole.map(|whole| format!(" [{whole}]")).unwrap_or_default();
        parts.collect::<Vec<_>>().join(" ") + &whole
    });
    words.collect::<Vec<_>>().join(", ")
}

#[test]
fn tokens_of_texts() {
    for (text, expected) in [
        ("", ""),
        (" ,.-– → _ \n", ""),
        ("so 🎉 ❤️👍🏽 1️⃣", "so@0 🎉@1 ❤@2 👍🏽@3 1@4"),
        ("a \u{640} b", "a@0 b@1"),
        ("The quick brown fox", "the@0 quick@1 brown@2 fox@3"),
        ("Ünïcödé STRASSE Straße", "unicode@0 strasse@1 strasse@2"),
        // Compounds.
        ("snake_case", "snake_case@0 snake@0 case@1"),
        ("a snake_case b", "a@0 snake_case@1 snake@1 case@2 b@3"),
        ("__init__", "init@0"),
        ("v1.2", "v1.2@0 v1@0 v@0 1@1 2@2"),
        ("covid19 now", "covid19@0 covid@0 19@1 now@2"),
        ("3.14", "3.14@0 3@0 14@1"),
        ("1,000", "1,000@0 1@0 000@1"),
        ("don't", "don't@0 don@0 t@1"),
        ("don’t", "don't@0 don@0 t@1"),
        ("l'été", "l'ete@0 l@0 ete@1"),
        ("MAX_LEN_2", "max_len_2@0 max@0 len@1 2@2"),
        ("m²", "m@0 2@1"),
        // Separators of words, not compounds.
        ("follow-up", "follow@0 up@1"),
        ("src/main.rs", "src@0 main.rs@1 main@1 rs@2"),
        ("C++ & C#", "c@0 c@1"),
        ("camelCase", "camelcase@0"),
        // Markdown syntax is punctuation.
        ("**bold** [link](block://01J)", "bold@0 link@1 block@2 01j@3 01@3 j@4"),
        // Scripts without spaces.
        ("東", "東@0"),
        ("東京", "東京@0 京@1"),
        ("東京都", "東京@0 京都@1 都@2"),
        ("東京 都", "東京@0 京@1 都@2"),
        ("食べる。寝る", "食べ@0 べる@1 る@2 寝る@3 る@4"),
        ("カタカナ", "カタ@0 タカ@1 カナ@2 ナ@3"),
        ("ｶﾀｶﾅ", "カタ@0 タカ@1 カナ@2 ナ@3"),
        ("한국어는", "한국@0 국어@1 어는@2 는@3"),
        ("Rust언어 책", "rust@0 언어@1 어@2 책@3"),
        ("第3章", "第@0 3@1 章@2"),
        ("Tokyo東京2024", "tokyo@0 東京@1 京@2 2024@3"),
        ("foo_バー", "foo@0 バー@1 ー@2"),
        ("ที่นี่", "ที่นี่@0 นี่@1"),
        ("สวัสดี", "สวั@0 วัส@1 สดี@2 ดี@3"),
        ("ភាសា", "ភាសា@0 សា@1"),
        // Scripts with spaces and combining marks.
        ("नमस्ते दुनिया", "नमस्ते@0 दुनिया@1"),
        ("שָׁלוֹם עולם", "שלום@0 עולם@1"),
        ("مَرْحَبًا بالعالم", "مرحبا@0 بالعالم@1"),
        ("Привет, мир", "привет@0 мир@1"),
        ("١٢٣", "١٢٣@0"),
        // Invisible characters do not split words.
        ("co\u{ad}op zero\u{200d}joined", "coop@0 zerojoined@1"),
    ] {
        assert_eq!(listed(text), expected, "{text}");
    }
}

#[test]
fn words_of_queries() {
    for (text, expected) in [
        ("", ""),
        ("?!", ""),
        ("Brown Fox", "brown@0, fox@1"),
        ("snake_case", "snake@0 case@1 [snake_case]"),
        ("v1.2", "v@0 1@1 2@2 [v1.2]"),
        ("1.2", "1@0 2@1 [1.2]"),
        ("Don’t panic", "don@0 t@1 [don't], panic@2"),
        ("東", "東*@0"),
        ("東京", "東京@0"),
        ("東京都", "東京@0 京都@1"),
        ("東京tower", "東京@0, tower@2"),
        ("第3章", "第*@0, 3@1, 章*@2"),
        ("한국", "한국@0"),
        ("ที่", "ที่*@0"),
    ] {
        assert_eq!(asked(text), expected, "{text}");
    }
}

/// Whether a text has all words of a query, in any order.
fn finds(query: &str, text: &str) -> bool {
    let index = tokens(text);
    let stands = |text: &str, position: usize, prefix: bool| {
        index.iter().any(|token| {
            token.position == position
                && (token.text == text || (prefix && token.text.starts_with(text)))
        })
    };
    let positions: BTreeSet<_> = index.iter().map(|token| token.position).collect();
    query_words(query).iter().all(|word| {
        let first = word.parts.first().map_or(0, |part| part.position);
        positions.iter().any(|at| {
            word.parts
                .iter()
                .all(|part| stands(&part.text, at + part.position - first, part.prefix))
        })
    })
}

#[test]
fn queries_find_texts() {
    for (query, text) in [
        ("cafes", "Zwei Cafés"),
        ("CAFÉS", "zwei cafes"),
        ("snake_case", "use snake_case here"),
        ("case", "use snake_case here"),
        ("snake case", "use snake_case here"),
        ("snake_case", "a snake case"),
        ("1.2", "released v1.2 today"),
        ("v1", "released v1.2 today"),
        ("v1.2", "released V1.2 today"),
        ("covid", "COVID19"),
        ("京都", "東京都庁"),
        ("庁", "東京都庁"),
        ("京", "東京都庁"),
        ("東京都庁", "旧東京都庁舎"),
        ("국어", "한국어를"),
        ("3章", "第3章"),
        ("avion", "l'avion"),
    ] {
        assert!(finds(query, text), "{query} in {text}");
    }
    for (query, text) in [
        ("東都", "東京都"),
        ("case_snake", "snake_case"),
        ("1.3", "v1.2"),
        ("か", "が"),
        ("snake_case", "snake of a case"),
    ] {
        assert!(!finds(query, text), "{query} in {text}");
    }
}

#[test]
fn long_words_are_truncated_alike() {
    let long = "ä".repeat(10_000) + "東" + &"x1".repeat(5_000);
    assert!(tokens(&long).iter().all(|token| token.text.len() <= 255));
    assert_eq!(tokens(&long)[0].range, 0..20_000);
    assert!(finds(&long, &long));
}

#[test]
fn kinds() {
    let kinds: Vec<_> = tokens("fox v1 東").into_iter().map(|token| token.kind).collect();
    let expected = [
        TokenKind::Word,
        TokenKind::Compound,
        TokenKind::Part,
        TokenKind::Part,
        TokenKind::Characters,
    ];
    assert_eq!(kinds, expected);
}

/// Texts of mixed scripts and punctuation.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-zA-Zéßøİ]{1,4}",
        "[0-9_.,'’ -]{1,3}",
        "[東京都ひらカナーｶﾞ。、]{1,4}",
        "[한국어ㄱ\u{1112}\u{1161}]{1,3}",
        "[กที่นี้ำเ]{1,4}",
        "[नमस्तेשָׁמَر]{1,4}",
        "[\u{300}\u{301}\u{200d}\u{ad}\u{3099}]{1,2}",
        ".{0,3}",
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn tokens_are_in_source_order(text in text()) {
        let found = tokens(&text);
        for token in &found {
            prop_assert!(!token.range.is_empty() && !token.text.is_empty());
            prop_assert!(text.get(token.range.clone()).is_some(), "{:?} of {:?}", token, text);
            prop_assert_eq!(&fold(&token.text), &token.text);
        }
        for pair in found.windows(2) {
            prop_assert!(pair[0].range.start <= pair[1].range.start);
            prop_assert!(pair[0].position <= pair[1].position);
        }
    }

    #[test]
    fn folding_twice_is_folding_once(text in text()) {
        let once = fold(&text);
        prop_assert_eq!(fold(&once), once);
    }

    /// A text matches itself: each part of the query has a token at its position.
    #[test]
    fn every_text_is_found_by_itself(text in text()) {
        let index: BTreeSet<_> = tokens(&text).into_iter().map(|token| (token.text, token.position)).collect();
        for word in query_words(&text) {
            prop_assert!(text.get(word.range.clone()).is_some());
            for part in word.parts {
                let stands = index.contains(&(part.text.clone(), part.position));
                prop_assert!(stands, "{:?} of {:?} in {:?}", part, text, index);
            }
        }
    }

    #[test]
    fn any_characters_in_a_row_are_found(letters in proptest::collection::vec(proptest::sample::select("東京都庁舎ひらカナ한국어".chars().collect::<Vec<_>>()), 1..20), from in 0..20_usize, count in 1..5_usize) {
        let text: String = letters.iter().collect();
        let query: String = letters.iter().skip(from % letters.len()).take(count).collect();
        prop_assert!(finds(&query, &text), "{} in {}", query, text);
    }

    #[test]
    fn letter_case_does_not_matter(words in "[a-zA-Z0-9_. éèàüñçøл東]{0,30}") {
        let (upper, lower) = (words.to_uppercase(), words.to_lowercase());
        prop_assert_eq!(listed(&upper), listed(&lower));
    }
}
