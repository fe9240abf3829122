//! Any text is a pattern of bounded cost, or refused with the place of the fault; what it matches
//! is what another matcher finds.
#![no_main]

use std::ops::Range;

use leafbase_model::{Error, ErrorKind};
use leafbase_pattern::{Pattern, StepBudget, Trigram, TrigramQuery, trigrams};
use libfuzzer_sys::fuzz_target;
use regex::RegexBuilder;

/// More than a search in one block may take.
const PLENTY: u64 = 1_000_000;
/// What the other matcher may take of memory: larger programs take it too long.
const PROGRAM: usize = 1 << 18;

// A line is the pattern, what follows the text.
fuzz_target!(|input: &str| {
    let (source, text) = input.split_once('\n').unwrap_or((input, ""));
    for case_sensitive in [true, false] {
        match Pattern::new(source, case_sensitive) {
            Ok(pattern) => check(source, case_sensitive, &pattern, text),
            Err(error) => refused(source, &error),
        }
    }
});

fn refused(source: &str, error: &Error) {
    if error.kind() == ErrorKind::LimitExceeded {
        return;
    }
    assert_eq!(error.kind(), ErrorKind::InvalidPattern, "{error:?}");
    let told =
        error.message().rsplit_once(", at byte ").and_then(|(_, offset)| offset.parse().ok());
    let offset: usize = told.unwrap_or_else(|| panic!("no place: {error:?}"));
    assert!(source.is_char_boundary(offset), "{error:?}");
}

fn check(source: &str, case_sensitive: bool, pattern: &Pattern, text: &str) {
    let mut budget = StepBudget::new(PLENTY);
    let Ok(found) = pattern.matcher().find_all(text, usize::MAX, &mut budget) else { return };
    let used = PLENTY - budget.remaining();
    let again = pattern.matcher().find_all(text, usize::MAX, &mut StepBudget::new(used));
    assert_eq!(again.as_ref(), Ok(&found), "the same steps lead to the same matches");
    if let Some(fewer) = used.checked_sub(1) {
        let stopped = pattern.matcher().find_all(text, usize::MAX, &mut StepBudget::new(fewer));
        assert!(stopped.is_err(), "steps are counted: {used}");
    }
    agrees_with_itself(pattern, text, &found);
    agrees_with_another(source, case_sensitive, text, &found);
}

fn agrees_with_itself(pattern: &Pattern, text: &str, found: &[Range<usize>]) {
    let mut matcher = pattern.matcher();
    if let Ok(is_match) = matcher.is_match(text, &mut StepBudget::new(PLENTY)) {
        assert_eq!(is_match, !found.is_empty());
    }
    if let Ok(letters) = matcher.find_non_empty(text, usize::MAX, &mut StepBudget::new(PLENTY)) {
        assert!(letters.iter().eq(found.iter().filter(|range| !range.is_empty())), "{letters:?}");
    }
    // The haystack in which texts follow each other: each line has to be a candidate.
    let mut candidates = pattern.prefilter().map(|prefilter| prefilter.candidates(text.as_bytes()));
    let mut start = 0;
    for line in text.split('\n') {
        let range = start..start + line.len();
        start = range.end + 1;
        let is_candidate = candidates.as_mut().is_none_or(|found| found.advance_to(&range));
        let is_match = matcher.is_match(line, &mut StepBudget::new(PLENTY));
        assert!(is_candidate || is_match != Ok(true), "the prefilter rules out a match");
    }
    if !found.is_empty() {
        let query = pattern.trigram_query();
        assert!(meets(query, &trigrams(text)), "{query:?}");
    }
}

fn meets(query: &TrigramQuery, trigrams: &std::collections::BTreeSet<Trigram>) -> bool {
    match query {
        TrigramQuery::Unrestricted => true,
        TrigramQuery::Trigram(trigram) => trigrams.contains(trigram),
        TrigramQuery::And(parts) => parts.iter().all(|part| meets(part, trigrams)),
        TrigramQuery::Or(parts) => parts.iter().any(|part| meets(part, trigrams)),
    }
}

/// The other one looks around nothing, takes `{3 }` for `{3}`, and has boundaries of words and
/// classes that RE2 does not have: there, as here, such braces and brackets are letters.
fn agrees_with_another(source: &str, case_sensitive: bool, text: &str, found: &[Range<usize>]) {
    let looks_around = ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|around| source.contains(around));
    let mut braces =
        source.split('{').skip(1).map(|rest| rest.split('}').next().unwrap_or_default());
    let extensions = [r"\<", r"\>", r"\b{", "&&", "--", "~~"];
    let classes = source.split_once('[').is_some_and(|(_, rest)| rest.contains('['));
    if looks_around
        || classes
        || extensions.iter().any(|extension| source.contains(extension))
        || braces.any(|within| within.contains(char::is_whitespace))
    {
        return;
    }
    let mut other = RegexBuilder::new(source);
    match other.case_insensitive(!case_sensitive).octal(true).size_limit(PROGRAM).build() {
        Ok(other) => {
            let expected: Vec<_> = other.find_iter(text).map(|found| found.range()).collect();
            assert_eq!(found, expected, "{source:?} in {text:?}");
        }
        Err(regex::Error::CompiledTooBig(_)) => {}
        // Braces that repeat nothing are letters here, and what is quoted is quoted; a hyphen after
        // a set of a class is a character, as in `[\d-.]`.
        Err(_) if source.contains('{') || source.contains("\\Q") => {}
        Err(_) if source.contains('[') && source.contains('-') => {}
        Err(error) => panic!("{source:?} is taken, but {error}"),
    }
}
