//! Patterns that nest and branch as much as they can, and terms of nothing but signs.

use leafbase::{Limits, SearchBlocks, SearchDocuments};
use serde_json::json;

use super::on_a_small_stack;
use crate::bounds::asking::ask;
use crate::host::{Host, wrong};

const MILLION: usize = 1_000_000;

/// Patterns as long as they may be that nest, or branch, as much as they can.
fn patterns() -> Vec<String> {
    let most = Limits::PATTERN_BYTES;
    let fold = |open: &str, close: &str| {
        let levels = (most - 1) / (open.len() + close.len());
        open.repeat(levels) + "a" + &close.repeat(levels)
    };
    let mut patterns: Vec<String> = [
        "(", "[", "(?:", "(?=", "(?<=", "a|", "|", "(|", "(a|", "[^", "[[", "\\", "{", "a{9}",
        "(?i)", "(?<n>", "x*", "^", "\\b",
    ]
    .map(|piece| piece.repeat(most / piece.len()))
    .into();
    patterns.extend(
        ["(", "(?:", "(?=", "(?!", "(?<=", "[", "(a|", "(?i:"]
            .map(|open| fold(open, if open == "[" { "]" } else { ")" })),
    );
    patterns.extend([
        fold("(", ")*"),
        fold("(?:", ")+"),
        fold("(", "|b)"),
        fold("(?:", "){9}"),
        fold("(a*", ")*"),
    ]);
    patterns.push((0..most / 4).map(|n| format!("{:03}|", n)).collect::<String>() + "z");
    patterns.iter_mut().for_each(|pattern| pattern.truncate(most));
    patterns
}

#[test]
fn patterns_nest_and_branch_as_they_like() {
    on_a_small_stack(|| {
        let host = Host::new();
        let text = "ab".repeat(2_000) + " (([[ {{ 007 xyz";
        host.notes.insert_markdown(&text, host.document()).unwrap();
        let root = host.id("root").to_string();
        for pattern in patterns() {
            for (operation, body) in [
                ("search", json!({"regexps": [pattern]})),
                ("search_blocks", json!({"blockId": root, "pattern": [pattern, "b"]})),
            ] {
                let Err(error) = ask(&host.notes, operation, &body.to_string()) else { continue };
                assert!(
                    ["INVALID_PATTERN", "LIMIT_EXCEEDED"].contains(&error.code()),
                    "{pattern}: {error}"
                );
                let is_named =
                    error.path().starts_with("regexps") || error.path().starts_with("pattern");
                assert!(is_named, "{pattern}: {error}");
            }
        }
        for pattern in ["(", "a|", "[", "(?:"] {
            let pattern = pattern.repeat(MILLION);
            let error =
                ask(&host.notes, "search", &json!({"regexps": [pattern]}).to_string()).unwrap_err();
            assert_eq!(wrong(&error), "LIMIT_EXCEEDED regexps");
            let request = SearchBlocks::new(host.id("root"), pattern);
            assert_eq!(
                wrong(&host.notes.search_blocks(request).unwrap_err()),
                "LIMIT_EXCEEDED pattern"
            );
        }
    });
}

#[test]
fn terms_of_nothing_but_quotes() {
    on_a_small_stack(|| {
        let host = Host::new();
        host.notes.insert_markdown("a \"quoted\" word", host.document()).unwrap();
        for piece in ["\"", "\" ", "\"a", "\"a\" ", "-", "(", "*", "a OR ", "\\"] {
            let full = piece.repeat(256 / piece.len());
            let many = vec![full; 32];
            ask(&host.notes, "search", &json!({"include": many}).to_string()).unwrap();
            ask(&host.notes, "search", &json!({"include": many, "termMode": "any"}).to_string())
                .unwrap();
            let error =
                ask(&host.notes, "search", &json!({"include": piece.repeat(MILLION)}).to_string())
                    .unwrap_err();
            assert_eq!(wrong(&error), "LIMIT_EXCEEDED include[0]");
            let request = SearchDocuments::words("a").and(piece.repeat(MILLION));
            assert_eq!(
                wrong(&host.notes.search(request).unwrap_err()),
                "LIMIT_EXCEEDED include[1]"
            );
        }
        let error = ask(&host.notes, "search", &json!({"include": vec!["a"; MILLION]}).to_string())
            .unwrap_err();
        assert_eq!(wrong(&error), "LIMIT_EXCEEDED include");
    });
}
