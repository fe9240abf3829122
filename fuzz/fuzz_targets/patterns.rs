//! Any text is a pattern of bounded cost, or refused with the place of the fault; what it matches
//! is what another matcher finds.
#![no_main]

use std::ops::Range;

use leafbase_model::{Error, ErrorKind};
use leafbase_pattern::{Fuel, Pattern, Required, Trigram, trigrams};
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
    let mut fuel = Fuel::new(PLENTY);
    let Ok(found) = pattern.matcher().find_all(text, usize::MAX, &mut fuel) else { return };
    let used = PLENTY - fuel.left();
    let again = pattern.matcher().find_all(text, usize::MAX, &mut Fuel::new(used));
    assert_eq!(again.as_ref(), Ok(&found), "the same steps lead to the same matches");
    if let Some(fewer) = used.checked_sub(1) {
        let stopped = pattern.matcher().find_all(text, usize::MAX, &mut Fuel::new(fewer));
        assert!(stopped.is_err(), "steps are counted: {used}");
    }
    agrees_with_itself(pattern, text, &found);
    agrees_with_another(source, case_sensitive, text, &found);
}

fn agrees_with_itself(pattern: &Pattern, text: &str, found: &[Range<usize>]) {
    let mut matcher = pattern.matcher();
    if let Ok(is_match) = matcher.is_match(text, &mut Fuel::new(PLENTY)) {
        assert_eq!(is_match, !found.is_empty());
    }
    if let Ok(letters) = matcher.find_letters(text, usize::MAX, &mut Fuel::new(PLENTY)) {
        assert!(letters.iter().eq(found.iter().filter(|range| !range.is_empty())), "{letters:?}");
    }
    if !found.is_empty() {
        assert!(pattern.may_match(text.as_bytes()), "what it needs is there");
        assert!(meets(pattern.required(), &trigrams(text)), "{:?}", pattern.required());
    }
    // Lines are texts that are laid together.
    let lines =
        || text.split('\n').map(|line| pattern.matcher().is_match(line, &mut Fuel::new(PLENTY)));
    if pattern.may_join('\n') && lines().any(|is_match| is_match == Ok(true)) {
        assert!(!found.is_empty(), "a text that matches is found among others");
    }
}

fn meets(required: &Required, trigrams: &std::collections::BTreeSet<Trigram>) -> bool {
    match required {
        Required::Nothing => true,
        Required::Trigram(trigram) => trigrams.contains(trigram),
        Required::All(parts) => parts.iter().all(|part| meets(part, trigrams)),
        Required::Any(parts) => parts.iter().any(|part| meets(part, trigrams)),
    }
}

/// The other one looks around nothing, and takes `{3 }` for `{3}`: in RE2, as here, such braces are
/// letters.
fn agrees_with_another(source: &str, case_sensitive: bool, text: &str, found: &[Range<usize>]) {
    let looks_around = ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|around| source.contains(around));
    let mut braces =
        source.split('{').skip(1).map(|rest| rest.split('}').next().unwrap_or_default());
    if looks_around || braces.any(|within| within.contains(char::is_whitespace)) {
        return;
    }
    match RegexBuilder::new(source).case_insensitive(!case_sensitive).size_limit(PROGRAM).build() {
        Ok(other) => {
            let expected: Vec<_> = other.find_iter(text).map(|found| found.range()).collect();
            assert_eq!(found, expected, "{source:?} in {text:?}");
        }
        Err(regex::Error::CompiledTooBig(_)) => {}
        // Braces that repeat nothing are letters here, and what is quoted is quoted.
        Err(_) if source.contains('{') || source.contains("\\Q") => {}
        Err(error) => panic!("{source:?} is taken, but {error}"),
    }
}
