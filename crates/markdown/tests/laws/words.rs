//! Third law: no text is lost. Every word of the input is in the blocks, in order.
//!
//! A word is a run of letters and digits. Not counted are the words of markup: numbers and task
//! marks of list items, the tags of the dialect, character references.

use leafbase_model::{BlockDraft, BlockKind};
use proptest::prelude::*;

use crate::dialect::{Dialect, REAL};
use crate::round_trip::cases;
use crate::{generate, inputs};

pub(crate) fn holds(dialect: Dialect, text: &str) -> Result<(), String> {
    let mut held = String::new();
    for block in (dialect.parse)(text) {
        for (_, block) in block.walk() {
            push_texts(&mut held, block);
        }
    }
    let mut found = words(&held);
    let text = without_markup(text);
    for word in words(&text) {
        if !found.any(|found| found == word) {
            return Err(format!("lost from {word:?} on, in {held}"));
        }
    }
    Ok(())
}

fn push_texts(held: &mut String, block: &BlockDraft) {
    let data = &block.data;
    let texts: [&str; 3] = match &data.kind {
        BlockKind::Image { url, alt_text: label, .. }
        | BlockKind::Video { url, alt_text: label, .. }
        | BlockKind::File { url, file_name: label, .. } => [label, url, ""],
        BlockKind::Code { raw_code, language, language_tag } => {
            [language.as_str(), language_tag, raw_code]
        }
        BlockKind::RichUrl { url, title, description, .. } => [title, url, description],
        _ => [&data.inline, "", ""],
    };
    for text in texts {
        held.push_str(text);
        held.push('\n');
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn without_markup(text: &str) -> String {
    let text = without_tags(text);
    let lines = text.split(['\n', '\r']).map(|line| without_references(without_markers(line)));
    lines.collect::<Vec<_>>().join("\n")
}

/// A line without list markers and task marks at its start.
fn without_markers(line: &str) -> &str {
    let mut rest = line;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '>', '\u{feff}']);
        let digits = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let next = match (digits.chars().next(), rest.len() - digits.len()) {
            (Some('.' | ')'), 1..=9) | (Some('-' | '+' | '*'), 0) => &digits[1..],
            _ => ["[x]", "[X]"].iter().find_map(|mark| rest.strip_prefix(mark)).unwrap_or(rest),
        };
        if next.len() == rest.len() {
            return rest;
        }
        rest = next;
    }
}

/// A text without the tags of the dialect: behind each one a line begins.
fn without_tags(text: &str) -> String {
    let mut kept = text.to_owned();
    for name in ["pageTitle", "page", "card", "content", "callout", "caption"] {
        for open in [format!("<{name}"), format!("</{name}")] {
            while let Some(start) = kept.find(&open) {
                let end = kept[start..].find('>').map_or(kept.len(), |end| start + end + 1);
                kept.replace_range(start..end, "\n");
            }
        }
    }
    kept
}

fn without_references(line: &str) -> String {
    let mut kept = String::new();
    for (number, part) in line.split('&').enumerate() {
        let name = part.find(';').filter(|end| {
            part[..*end].chars().all(|letter| letter.is_alphanumeric() || letter == '#')
        });
        match name {
            Some(end) if number > 0 => kept.push_str(&part[end..]),
            _ => kept.push_str(part),
        }
        kept.push(' ');
    }
    kept
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(4000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_keeps_its_words(text in generate::accepted_document()) {
        prop_assert_eq!(holds(REAL, &text), Ok(()));
    }
}

#[test]
fn each_section_of_the_standard_keeps_its_words() {
    for (section, input) in inputs::sections() {
        assert_eq!(holds(REAL, &input), Ok(()), "{section}: {input}");
    }
}

#[test]
fn real_files_keep_their_words() {
    let mut failures = Vec::new();
    for (path, text) in inputs::files() {
        if let Err(failure) = holds(REAL, &text) {
            failures.push(format!(
                "{}: {}",
                path.display(),
                failure.chars().take(300).collect::<String>()
            ));
        }
    }
    assert!(failures.is_empty(), "{} files:\n{}", failures.len(), failures.join("\n\n"));
}
