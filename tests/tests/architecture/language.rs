//! Language: the width of lines, the first line of each file, and phrases that avoid a noun.

use crate::sources::{Source, below, production};

/// Columns of a line.
const MAX_WIDTH: usize = 100;

/// Phrases that are refused in comments of production code. A technical noun says more.
const REFUSED: &[&str] = &[
    "anew",
    "anybody",
    "lets go",
    "made ready",
    "makes ready",
    "nobody",
    "of late",
    "put together",
    "puts together",
    "so many",
    "somebody",
    "sought",
    "whoever",
];

/// Lines that are too wide. Strings, URLs and rows of tables can't be broken.
fn wide(sources: &[Source]) -> Vec<String> {
    let unbreakable = |line: &str| {
        line.contains('"')
            || line.contains("://")
            || line.contains("//! |")
            || line.contains("/// |")
    };
    lines(sources)
        .filter(|(_, line)| line.chars().count() > MAX_WIDTH && !unbreakable(line))
        .map(|(place, _)| place)
        .collect()
}

fn lines(sources: &[Source]) -> impl Iterator<Item = (String, &str)> {
    sources.iter().flat_map(|source| {
        let lines = source.text.lines().enumerate();
        lines.map(|(at, line)| (format!("{}:{}", source.path, at + 1), line))
    })
}

fn comment(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("//")
}

/// Comments with a refused phrase, as whole words.
fn refused(sources: &[Source]) -> Vec<String> {
    let says = |text: &str| {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
        let words: Vec<String> =
            words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
        let text = format!(" {} ", words.join(" "));
        REFUSED.iter().find(|phrase| text.contains(&format!(" {phrase} ")))
    };
    lines(sources)
        .filter_map(|(place, line)| Some((place, says(comment(line)?)?)))
        .map(|(place, phrase)| format!("{place}: {phrase}"))
        .collect()
}

fn says_its_job(source: &str) -> bool {
    let first = source.lines().next();
    first.is_some_and(|line| line.strip_prefix("//! ").is_some_and(|job| !job.trim().is_empty()))
}

#[test]
fn lines_have_at_most_100_columns() {
    assert_eq!(wide(&production()), [""; 0]);
    // Tests and benches hold texts of several lines: SQL, markdown, JSON.
    let mut others: Vec<_> =
        ["crates", "tests", "benches", "browser", "fuzz"].into_iter().flat_map(below).collect();
    for source in &mut others {
        let comments = source.text.lines().map(|line| comment(line).map_or("", |_| line));
        source.text = comments.collect::<Vec<_>>().join("\n");
    }
    assert_eq!(wide(&others), [""; 0]);
}

#[test]
fn comments_use_no_refused_phrase() {
    assert_eq!(refused(&production()), [""; 0]);
}

#[test]
fn every_source_file_says_its_job_first() {
    let silent: Vec<_> = production()
        .into_iter()
        .filter(|source| !says_its_job(&source.text))
        .map(|source| source.path)
        .collect();
    assert_eq!(silent, [""; 0]);
}

mod controls {
    use super::*;

    fn source(text: &str) -> [Source; 1] {
        [Source { path: "a.rs".to_owned(), text: text.to_owned() }]
    }

    #[test]
    fn a_wide_line_is_reported() {
        let long = "x".repeat(MAX_WIDTH);
        assert_eq!(wide(&source(&long)), [""; 0]);
        assert_eq!(wide(&source(&format!("// {long}\nok\n"))), ["a.rs:1"]);
        assert_eq!(wide(&source(&format!("\"{long}\"\n//! | {long} |\n"))), [""; 0]);
    }

    #[test]
    fn a_refused_phrase_is_reported() {
        let text = "let whoever = 1;\n/// Whoever waits,\n// is told so\n// made\n//! So many: 3\n";
        assert_eq!(refused(&source(text)), ["a.rs:2: whoever", "a.rs:5: so many"]);
    }

    #[test]
    fn a_file_that_says_nothing_is_reported() {
        assert!(says_its_job("//! Colours.\n"));
        for silent in
            ["", "//!\n", "//! \n", "// Colours.\n", "use std::fmt;\n", "\n//! Colours.\n"]
        {
            assert!(!says_its_job(silent), "{silent:?}");
        }
    }
}
