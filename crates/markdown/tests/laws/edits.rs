//! Seventh law: a text in which parts are replaced has the plain text with these parts replaced,
//! and the marks and links of the rest.

use std::ops::Range;

use leafbase_markdown::{PlainText, ReplacedPlain, replace_plain, replace_plain_charged};
use proptest::prelude::*;

use crate::exact::text;
use crate::halves::{marked, styles};
use crate::round_trip::cases;

type Edits = Vec<(Range<usize>, String)>;

/// Ranges of `plain` in order, at fractions of its length, each with a replacement.
fn edits(plain: &str, at: &[(u8, u8)], texts: &[String]) -> Edits {
    let mut from = 0;
    let mut edits = Vec::new();
    let boundary = |at: usize| (0..=at).rev().find(|at| plain.is_char_boundary(*at)).unwrap_or(0);
    for ((skip, length), text) in at.iter().zip(texts) {
        let start = boundary((from + usize::from(*skip)).min(plain.len())).max(from);
        let end = boundary((start + usize::from(*length)).min(plain.len())).max(start);
        edits.push((start..end, text.clone()));
        from = end;
    }
    edits
}

fn replaced(plain: &str, edits: &Edits) -> String {
    let mut replaced = plain.to_owned();
    for (range, text) in edits.iter().rev() {
        replaced.replace_range(range.clone(), text);
    }
    replaced
}

type Replace = fn(&str, &[(Range<usize>, String)]) -> Option<ReplacedPlain>;

fn check_text(inline: &str, edits: &Edits, replace: Replace) -> Result<(), String> {
    let plain = PlainText::of(inline);
    let made = replace(inline, edits).ok_or("ranges of the plain text")?;
    if made.replaced + made.kept != edits.len() {
        return Err(format!("{inline:?}: {made:?} of {edits:?}"));
    }
    let found = PlainText::of(&made.inline);
    let expected = replaced(plain.as_str(), edits);
    if made.kept == 0 && found.as_str() != expected {
        return Err(format!(
            "{inline:?} with {edits:?}: {:?} has {:?}",
            made.inline,
            found.as_str()
        ));
    }
    Ok(())
}

/// What is not replaced keeps its marks, and what is replaced has those of its first letter.
fn check_marks(inline: &str, range: Range<usize>, replace: Replace) -> Result<(), String> {
    let plain = PlainText::of(inline);
    let letters = |text: &str| text.chars().filter(|letter| !letter.is_whitespace()).count();
    let before = letters(&plain.as_str()[..range.start]);
    let gone = letters(&plain.as_str()[range.clone()]);
    let whole = styles(inline);
    let made = replace(inline, &[(range, "X".to_owned())]).ok_or("a range of ASCII")?;
    let mut expected = whole.clone();
    if made.kept == 0 {
        let (_, marks) = whole.get(before).cloned().ok_or("a letter that is replaced")?;
        expected.splice(before..before + gone, [('X', marks)]);
    }
    let found = styles(&made.inline);
    let is_kept = |link: &(char, Vec<String>)| link.1.iter().any(|mark| mark.contains("x.org"));
    if found != expected || whole.iter().any(is_kept) != found.iter().any(is_kept) {
        return Err(format!("{inline:?}: {:?}", made.inline));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(2000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_text_with_replacements_is_exact(
        inline in text(),
        at in proptest::collection::vec((0..12_u8, 0..6_u8), 0..4),
        texts in proptest::collection::vec(text(), 4),
    ) {
        let edits = edits(PlainText::of(&inline).as_str(), &at, &texts);
        check_text(&inline, &edits, replace_plain).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn replacements_keep_marks(inline in marked()) {
        let plain = PlainText::of(&inline).into_string();
        let starts = (0..plain.len()).filter(|at| !plain[*at..].starts_with(' '));
        for start in starts {
            // Up to the end of a word: marks that end within one cannot always be written.
            let ends = (start + 1..=plain.len()).filter(|end| {
                !plain[..*end].ends_with(' ') && (plain[*end..].starts_with(' ') || *end == plain.len())
            });
            for end in ends {
                check_marks(&inline, start..end, replace_plain).map_err(TestCaseError::fail)?;
            }
        }
    }
}

/// The control: a replacement in the markdown itself loses text and marks.
#[test]
fn a_replacement_in_markdown_is_reported() {
    let naive: Replace = |inline, edits| {
        let mut replaced = ReplacedPlain { inline: inline.to_owned(), ..Default::default() };
        for (range, text) in edits.iter().rev() {
            replaced.inline.replace_range(range.clone(), text);
            replaced.replaced += 1;
        }
        Some(replaced)
    };
    check_text("ab", &vec![(0..1, "c".to_owned())], naive).unwrap();
    check_text("**ab**", &vec![(0..1, "c".to_owned())], naive).unwrap_err();
    check_text("ab", &vec![(0..1, "*c*".to_owned())], naive).unwrap_err();
    check_marks("ab", 0..1, naive).unwrap();
    check_marks("a **b**", 2..3, naive).unwrap_err();
}

#[test]
fn what_is_replaced_has_the_marks_of_its_first_letter() {
    for (inline, range, text, expected, kept) in [
        ("Lisbon", 0..6, "Porto", "Porto", 0),
        ("to **Lisbon**", 3..9, "Porto", "to **Porto**", 0),
        ("**Lis**bon", 0..6, "Porto", "**Porto**", 0),
        ("[Lisbon](x.org) now", 0..10, "Porto now", "[Porto](x.org) now", 0),
        ("to [Lisbon](x.org)", 0..9, "home", "to [Lisbon](x.org)", 1),
        ("to [Lisbon](x.org)", 3..9, "", "to [Lisbon](x.org)", 1),
        ("a [Lisbon](x.org)", 2..8, "Lisbons", "a [Lisbons](x.org)", 0),
        ("**a** b", 1..1, "!", "**a**! b", 0),
        ("`a*b`", 0..3, "c*d", "`c*d`", 0),
        ("_a_", 0..1, "*", "_\\*_", 0),
        ("a &amp; b", 2..3, "and", "a and b", 0),
        ("a<br>b", 1..2, " ", "a b", 0),
        ("![a map](x.png)", 2..5, "plan", "![a plan](x.png)", 0),
    ] {
        let made = replace_plain(inline, &[(range, text.to_owned())]).unwrap();
        assert_eq!((made.inline.as_str(), made.kept), (expected, kept), "{inline}");
    }
    assert_eq!(replace_plain("é", &[(0..1, String::new())]), None);
    assert_eq!(replace_plain("a", &[(0..2, String::new())]), None);
}

#[test]
fn replacements_between_marks_are_made_together() {
    for (text, find, replacement, replaced, each_apart) in [
        ("**ab** [b](x.org) ", "b", "*c", "**a\\*c** [\\*c](x.org) ", 0),
        ("**ab** ", "a", "", "**b** ", 0),
        ("**ab** c ", "ab", "d", "**d** c ", 0),
        ("a**b** ", "ab", "d", "d ", 1),
        ("a **b** ", "b", "", "a  ", 1),
        ("**a**b a ", "a", "c", "**c**b c ", 0),
    ] {
        for n in [10, 20, 40] {
            let inline = text.repeat(n);
            let plain = PlainText::of(&inline).into_string();
            let found = plain.match_indices(find);
            let edits: Edits =
                found.map(|(at, found)| (at..at + found.len(), replacement.to_owned())).collect();
            let mut apart = None;
            let charge = |edits| {
                apart = Some(edits);
                Ok::<_, ()>(())
            };
            let made = replace_plain_charged(&inline, &edits, charge).unwrap().unwrap();
            assert_eq!(made.inline, replaced.repeat(n), "{text} {find}");
            assert_eq!((made.replaced, made.kept), (edits.len(), 0), "{text} {find}");
            assert_eq!(apart, Some(each_apart * n), "{text} {find}");
            assert_eq!(replace_plain_charged(&inline, &edits, |_| Err(1)), Err(1));
        }
    }
}

/// A text and the next one may not both go, since nothing would be left of the marks around.
#[test]
fn marks_end_with_the_last_of_their_text() {
    for (inline, expected) in [
        ("a <highlight color=\"red\">bc</highlight>", "a "),
        ("a **bc**", "a "),
        ("a **bcd**", "a **d**"),
    ] {
        let edits = [(2..3, String::new()), (3..4, String::new())];
        let made = replace_plain(inline, &edits).unwrap();
        assert_eq!((made.inline.as_str(), made.replaced), (expected, 2), "{inline}");
    }
}
