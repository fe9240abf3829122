//! What texts cost patterns: as much where they are sifted before as where each is looked at.

use leafbase_model::{BlockId, DocumentId, ErrorKind, Result};
use leafbase_store::Sieve;

use super::Patterns;

/// In how many texts the pattern matches, and the steps that are left; with those left out that a
/// full connection passes by unread, or with all of them.
fn count(pattern: &str, texts: &[&str], is_sifted: bool) -> Result<(usize, u64)> {
    let patterns = Patterns::new("regexps", &[pattern.to_owned()], false)?;
    let (mut matching, document) =
        (patterns.matching(), DocumentId::from_bytes(*BlockId::NIL.as_bytes()));
    let sieve = matching.sieve().filter(|_| is_sifted);
    let mut counting = matching.counting();
    for text in texts {
        let found = match sieve.as_ref().filter(|sieve| sieve.tells(text.as_bytes())) {
            None => Some(0),
            Some(sieve) => sieve.next(text.as_bytes(), 0),
        };
        if found.is_some_and(|from| !counting.is_told_by(document, text.as_bytes(), from)) {
            counting.add(document, text)?;
        }
    }
    let counted = counting.finish()?.iter().map(|(_, count)| count).sum();
    Ok((counted, matching.left.left()))
}

#[test]
fn texts_cost_alike_whether_they_are_sifted_or_not() {
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
        let (sifted, all) =
            (count(pattern, &texts, true).unwrap(), count(pattern, &texts, false).unwrap());
        assert!(all.0 > 0, "{pattern}");
        assert_eq!(sifted, all, "{pattern}");
    }
}

/// However many texts there are, what lacks the pattern's letters in a row uses no steps up; what
/// has them does.
#[test]
fn texts_that_lack_the_letters_use_no_steps_up() {
    let lacking =
        format!("{}{}", "a text that says something else, ".repeat(30_000), "zz yr ".repeat(1_000));
    let having = format!("{lacking} zephyrs");
    for is_sifted in [true, false] {
        assert_eq!(
            count(r"zephyr\b", &vec![lacking.as_str(); 500], is_sifted),
            Ok((0, super::STEPS))
        );
        let error = count(r"zephyr\b", &vec![having.as_str(); 500], is_sifted).unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::LimitExceeded, "regexps"));
    }
}

/// A letter that is sought at each place costs its look, not a walk.
#[test]
fn letters_that_almost_stand_in_a_row_use_no_steps_up() {
    let text = "z".repeat(1 << 20);
    assert_eq!(count("zzzzzzzzzzzzzzzx", &[text.as_str(); 8], false), Ok((0, super::STEPS)));
    let found = count("zzzzzzzzzzzzzzz[zx]", &[text.as_str(); 8], false);
    assert!(found.is_ok_and(|(count, left)| count == 8 && left < super::STEPS));
}
