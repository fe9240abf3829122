//! The steps that texts cost: none where the prefilter rules a text out, whether it is applied to
//! the text or to the bytes around it.

use leafbase_model::{ErrorKind, Result};

use super::{MAX_STEPS, PatternSet};

/// How many texts match, and the remaining steps. With a haystack, texts without candidates in it
/// are skipped, as in a run of blocks.
fn count(pattern: &str, texts: &[&str], with_haystack: bool) -> Result<(usize, u64)> {
    count_in(&PatternSet::new("regexps", &[pattern.to_owned()], false)?, texts, with_haystack)
}

fn count_in(patterns: &PatternSet, texts: &[&str], with_haystack: bool) -> Result<(usize, u64)> {
    let mut matcher = patterns.matcher();
    let haystack = texts.concat();
    let mut candidates = matcher
        .prefilter()
        .filter(|_| with_haystack)
        .map(|prefilter| prefilter.candidates(haystack.as_bytes()));
    let (mut count, mut start) = (0, 0);
    for text in texts {
        let range = start..start + text.len();
        start = range.end;
        if candidates.as_mut().is_none_or(|found| found.advance_to(&range)) {
            count += usize::from(matcher.is_match(text)?);
        }
    }
    Ok((count, matcher.remaining_steps()))
}

#[test]
fn texts_cost_the_same_with_and_without_a_haystack() {
    let long = "zeph zyr ".repeat(2_000);
    let texts = [
        "zephyr",
        "a zephyrs",
        "zephxr",
        "nothing of it",
        "東京 zephyr",
        "東京",
        "so\u{212a}",
        &long,
        "",
    ];
    for pattern in [
        "zeph[xy]r",
        r"\bzephyr\b",
        r"zeph\w+",
        "zephyr|zephxr",
        r"a z\w+s",
        r"\w+ok\b",
        r"\w+",
        "z|東",
    ] {
        let (filtered, all) =
            (count(pattern, &texts, true).unwrap(), count(pattern, &texts, false).unwrap());
        assert!(all.0 > 0, "{pattern}");
        assert_eq!(filtered, all, "{pattern}");
    }
}

/// Any number of texts without the pattern's literals costs no steps; texts with them do.
#[test]
fn texts_without_the_literals_cost_no_steps() {
    let lacking =
        format!("{}{}", "a text that says something else, ".repeat(30_000), "zz yr ".repeat(1_000));
    let having = format!("{lacking} zephyrs");
    for with_haystack in [true, false] {
        assert_eq!(
            count(r"zephyr\b", &vec![lacking.as_str(); 500], with_haystack),
            Ok((0, MAX_STEPS))
        );
        let error = count(r"zephyr\b", &vec![having.as_str(); 500], with_haystack).unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::LimitExceeded, "regexps"));
    }
}

/// The prefilter compares whole literals, but ignoring case their first four letters only: a text
/// that passes it is matched in linear time, at most a step per byte.
#[test]
fn texts_that_almost_contain_the_literals_cost_no_steps_or_one_per_byte() {
    let text = "z".repeat(1 << 20);
    let missed = "zzzzzzzzzzzzzzzx";
    let exact = PatternSet::new("regexps", &[missed.to_owned()], true).unwrap();
    assert_eq!(count_in(&exact, &[text.as_str(); 8], false), Ok((0, MAX_STEPS)));
    let steps = |texts: &[&str]| {
        let (count, left) = count(missed, texts, false).unwrap();
        assert_eq!(count, 0);
        MAX_STEPS - left
    };
    let one = steps(&[text.as_str()]);
    assert!(one <= text.len() as u64, "{one}");
    assert_eq!(steps(&[text.as_str(); 8]), 8 * one, "no text costs more than the one before");
    assert!(steps(&[&text[..1 << 19]]) <= one / 2 + 1, "half as much text, half the steps");
    let found = count("zzzzzzzzzzzzzzz[zx]", &[text.as_str(); 8], false);
    assert!(found.is_ok_and(|(count, left)| count == 8 && left < MAX_STEPS));
}
