//! Sixth law: a text that is cut in two keeps its text, marks and links, and so does one that is
//! joined again.

use leafbase_markdown::{PlainText, join_inline, split_inline};
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::exact::text;
use crate::round_trip::cases;

/// The halves of a text have its plain text, and joined again they have it whole.
fn check_halves(inline: &str, split: fn(&str, usize) -> Option<[String; 2]>) -> Result<(), String> {
    let plain = PlainText::of(inline).into_string();
    for offset in 0..=plain.len() + 1 {
        let expected = plain.split_at_checked(offset);
        let halves = split(inline, offset);
        let texts = halves.as_ref().map(|halves| halves.each_ref().map(|half| PlainText::of(half)));
        let texts = texts.as_ref().map(|[first, second]| (first.as_str(), second.as_str()));
        if texts != expected {
            return Err(format!("{inline:?} at {offset}: {texts:?} and not {expected:?}"));
        }
        if let Some([first, second]) = halves {
            let joined = join_inline(&first, &second);
            if PlainText::of(&joined).as_str() != plain {
                return Err(format!("{inline:?} at {offset}: joined {joined:?}"));
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(2000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn halves_of_a_text_keep_it(inline in text()) {
        check_halves(&inline, split_inline).map_err(TestCaseError::fail)?;
    }
}

/// The control: a cut that knows no marks loses text.
#[test]
fn a_cut_without_marks_is_reported() {
    let cut = |inline: &str, offset: usize| {
        let (first, second) = inline.split_at_checked(offset)?;
        Some([first.to_owned(), second.to_owned()])
    };
    check_halves("ab", cut).unwrap();
    check_halves("**ab**", cut).unwrap_err();
}

/// Words with marks and links around them, nested.
pub(crate) fn marked() -> impl Strategy<Value = String> {
    let word = "[a-z]{1,3}".prop_map(String::from);
    let part = word.prop_recursive(3, 12, 3, |inner| {
        let parts = proptest::collection::vec(inner, 1..3).prop_map(|parts| parts.join(" "));
        (0..4_usize, parts).prop_map(|(mark, text)| match mark {
            0 if !text.contains('*') => format!("**{text}**"),
            1 if !text.contains('~') => format!("~~{text}~~"),
            2 if !text.contains('[') => format!("[{text}](https://x.org)"),
            _ => text,
        })
    });
    proptest::collection::vec(part, 1..4).prop_map(|parts| parts.join(" "))
}

/// Each character but blanks, with the marks and links around it.
pub(crate) fn styles(inline: &str) -> Vec<(char, Vec<String>)> {
    let (mut open, mut styles) = (Vec::new(), Vec::new());
    for event in Parser::new_ext(inline, Options::ENABLE_STRIKETHROUGH) {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) => open.push(dest_url.to_string()),
            Event::Start(tag) => open.push(format!("{tag:?}")),
            Event::End(_) => drop(open.pop()),
            Event::Text(text) => {
                let mut marks = open.clone();
                marks.sort_unstable();
                let letters = text.chars().filter(|letter| !letter.is_whitespace());
                styles.extend(letters.map(|letter| (letter, marks.clone())));
            }
            _ => {}
        }
    }
    styles
}

type Joined = fn(&str, &str) -> String;

fn check_marks(inline: &str, join: Joined) -> Result<(), String> {
    let whole = styles(inline);
    for offset in 0..=PlainText::of(inline).as_str().len() {
        let halves = split_inline(inline, offset).ok_or("an offset of ASCII")?;
        let [first, second] = halves.each_ref().map(|half| styles(half));
        if [first, second].concat() != whole {
            return Err(format!("{inline:?} at {offset}: {halves:?}"));
        }
        let joined = join(&halves[0], &halves[1]);
        if styles(&joined) != whole {
            return Err(format!("{inline:?} at {offset}: {halves:?} joined {joined:?}"));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(2000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn halves_of_a_text_keep_its_marks(inline in marked()) {
        check_marks(&inline, join_inline).map_err(TestCaseError::fail)?;
    }
}

/// The control: halves written one after the other are another text.
#[test]
fn halves_that_are_not_joined_are_reported() {
    let written: Joined = |first, second| [first, second].concat();
    check_marks("ab", written).unwrap();
    check_marks("**ab**", written).unwrap_err();
}
