//! Patterns across documents.

use leafbase::SearchDocuments;

use super::Shelf;

fn shelf() -> Shelf {
    Shelf::of(&[
        ("one", "cost: €12\n\nfoobar\n\nTODO call"),
        ("two", "foobaz\n\nfoo\n\n12:30"),
        ("three", "```rust\nfn main() {}\n```\n\n**bold** words"),
        ("four", "x\n\nx\n\nx"),
        ("five", "X\n\nétude"),
    ])
}

#[test]
fn documents_are_found_by_blocks_that_match() {
    let rows = [
        ("foo", "one, two"),
        ("foo(?!bar)", "two"),
        ("foo(?=bar)", "one"),
        ("(?<=€)\\d+", "one"),
        ("(?<!:)12", "one, two"),
        ("(?<!€)12", "two"),
        ("^foo$", "two"),
        ("^two$", "two"),
        ("todo", "one"),
        ("(?-i)todo", ""),
        ("\\bmain\\(\\)", "three"),
        ("```rust", "three"),
        ("\\*\\*bold", "three"),
        ("ÉTUDE", "five"),
        ("\\d\\d:\\d\\d", "two"),
        ("call.foo", ""),
        ("(?s)foobar.*todo", ""),
        ("nowhere", ""),
        ("", "five, four, one, three, two"),
        ("^$", ""),
    ];
    let shelf = shelf();
    for what in ["changed", "indexed"] {
        for (pattern, expected) in rows {
            assert_eq!(
                shelf.sorted(SearchDocuments::pattern(pattern)),
                expected,
                "{what}: {pattern}"
            );
        }
        shelf.notes.space().flush_search().unwrap();
    }
}

#[test]
fn several_patterns_words_and_order() {
    let shelf = shelf();
    for _ in 0..2 {
        assert_eq!(shelf.found(SearchDocuments::pattern("x")), "four, five");
        assert_eq!(
            shelf
                .search(SearchDocuments::pattern("^x"))
                .iter()
                .map(|hit| hit.score)
                .collect::<Vec<_>>(),
            [3.0, 1.0]
        );
        assert_eq!(shelf.sorted(SearchDocuments::pattern("^x$").matching("€")), "five, four, one");
        assert_eq!(shelf.sorted(SearchDocuments::words("foobaz").matching("12")), "two");
        assert_eq!(shelf.found(SearchDocuments::words("foobar").matching("12:")), "");
        assert_eq!(shelf.found(SearchDocuments::words("?!").matching("12:")), "two");
        assert_eq!(
            shelf.sorted(SearchDocuments::words("foobar bold").any_word().matching("o")),
            "one, three"
        );
        shelf.notes.space().flush_search().unwrap();
    }
}

#[test]
fn equal_ones_are_ordered_by_id() {
    let shelf = Shelf::new();
    let mut made: Vec<_> = (0..25).map(|_| shelf.put("same", "word")).collect();
    made.sort_unstable();
    for _ in 0..2 {
        let found = shelf.search(SearchDocuments::pattern("wor"));
        assert_eq!(found.iter().map(|hit| hit.document_id).collect::<Vec<_>>(), made[..20]);
        shelf.notes.space().flush_search().unwrap();
    }
}

#[test]
fn what_is_wrong_with_a_pattern_names_it() {
    let shelf = shelf();
    let many =
        |count| (1..count).fold(SearchDocuments::pattern("x"), |request, _| request.matching("x"));
    assert_eq!(shelf.found(many(8)), "four, five");
    assert_eq!(shelf.found(many(9)), "LIMIT_EXCEEDED regexps");
    let rows = [
        ("(a", "INVALID_PATTERN"),
        ("(a)\\1", "INVALID_PATTERN"),
        ("a++", "INVALID_PATTERN"),
        ("(?<=a+)b", "INVALID_PATTERN"),
    ];
    for (pattern, code) in rows {
        assert_eq!(shelf.found(SearchDocuments::pattern(pattern)), format!("{code} regexps"));
        assert_eq!(
            shelf.found(SearchDocuments::pattern("x").matching(pattern)),
            format!("{code} regexps[1]")
        );
    }
    assert_eq!(shelf.found(SearchDocuments::pattern("x".repeat(1_001))), "LIMIT_EXCEEDED regexps");
}

#[test]
fn a_pattern_that_costs_too_much_is_refused_whether_indexed_or_not() {
    let shelf = Shelf::of(&[("hostile", &format!("{}c", "a".repeat(200_000))), ("other", "b")]);
    let pattern = "(?=a)(a?){40}[ab]{60}c";
    for _ in 0..2 {
        let error =
            shelf.notes.search(SearchDocuments::pattern("never").matching(pattern)).unwrap_err();
        assert_eq!((error.code(), error.path()), ("LIMIT_EXCEEDED", "regexps[1]"));
        shelf.notes.space().flush_search().unwrap();
    }
}
