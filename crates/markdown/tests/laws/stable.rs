//! Second law: what is read and written once stays as it is, and what is read is canonical.

use proptest::prelude::*;

use crate::dialect::{Dialect, REAL};
use crate::round_trip::{canonical, cases, difference};
use crate::{generate, inputs};

pub(crate) fn holds(dialect: Dialect, text: &str) -> Result<(), String> {
    let blocks = (dialect.parse)(text);
    let settled = canonical(dialect, blocks.clone());
    if settled != blocks {
        return Err(format!("not canonical: {}", difference(&blocks, &settled)));
    }
    let first = (dialect.render)(&blocks);
    let again = (dialect.parse)(&first);
    if again != blocks {
        return Err(format!("read, then read again: {}", difference(&blocks, &again)));
    }
    let second = (dialect.render)(&again);
    if second == first { Ok(()) } else { Err(format!("{first}\n===== then\n{second}")) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(4000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_stable(text in generate::accepted_document()) {
        prop_assert_eq!(holds(REAL, &text), Ok(()));
    }
}

#[test]
fn each_section_of_the_standard_is_stable() {
    for (section, input) in inputs::sections() {
        assert_eq!(holds(REAL, &input), Ok(()), "{section}: {input}");
    }
}

#[test]
fn real_files_are_stable() {
    let mut failures = Vec::new();
    for (path, text) in inputs::files() {
        if let Err(failure) = holds(REAL, &text) {
            failures.push(format!("{}: {failure}", path.display()));
        }
    }
    assert!(failures.is_empty(), "{} files:\n{}", failures.len(), failures.join("\n\n"));
}

#[test]
fn dashes_behind_any_bullet_are_stable() {
    for text in [
        "* --",
        "* --\n#",
        "+ --\n  a",
        "* -- a",
        "* --\n  --",
        "* --\n  - --",
        "1. --",
        "- [ ] --",
        "* [ ] --",
    ] {
        assert_eq!(holds(REAL, text), Ok(()), "{text:?}");
    }
}

#[test]
fn a_highlight_broken_over_lines_is_none() {
    for text in [
        "<?\n<highlight color= red\n\n**b>",
        "<!--\n<highlight color=puce\n\n> a -->",
        "<pre>\n<highlight color=x\n\n\n>b\n</pre>",
        "<highlight color=puce&#10;>b</highlight>",
    ] {
        assert_eq!(holds(REAL, text), Ok(()), "{text:?}");
    }
}
