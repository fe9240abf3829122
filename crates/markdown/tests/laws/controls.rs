//! Each law fails on a dialect that breaks it: the laws see what they are for.

use leafbase_model::{BlockData, BlockDraft, ListStyle, TextStyle};

use crate::dialect::{Dialect, REAL, parse};
use crate::{exact, forging, inputs, round_trip, stable, words};

/// Writes texts as they are, in the structure that the real writer makes.
fn nothing_escaped(blocks: &[BlockDraft]) -> String {
    fn take(blocks: &mut [BlockDraft], texts: &mut Vec<String>) {
        for block in blocks {
            let slot = format!("slot{}slot", texts.len());
            texts.push(std::mem::replace(&mut block.data.inline, slot));
            take(&mut block.content, texts);
        }
    }
    let (mut blocks, mut texts) = (blocks.to_vec(), Vec::new());
    take(&mut blocks, &mut texts);
    let mut written = leafbase_markdown::render(&blocks);
    for (number, text) in texts.iter().enumerate() {
        written = written.replace(&format!("slot{number}slot"), text);
    }
    written
}

/// Writes each block without its list marker.
fn without_lists(blocks: &[BlockDraft]) -> String {
    let mut blocks = blocks.to_vec();
    for block in &mut blocks {
        (block.data.list_style, block.data.task) = (ListStyle::None, None);
    }
    leafbase_markdown::render(&blocks)
}

fn without_the_last_word(text: &str) -> Vec<BlockDraft> {
    let mut blocks = parse(text);
    if let Some(words) = blocks.last_mut().map(|last| &mut last.data.inline) {
        *words = words.rsplit_once(' ').map(|(kept, _)| kept.to_owned()).unwrap_or_default();
    }
    blocks
}

fn in_another_order(text: &str) -> Vec<BlockDraft> {
    let mut blocks = parse(text);
    blocks.reverse();
    blocks
}

/// Reads the same text otherwise from time to time: one level further in for each time it was
/// written.
fn growing(blocks: &[BlockDraft]) -> String {
    leafbase_markdown::render(blocks) + " x"
}

#[test]
fn the_first_law_sees_missing_escapes() {
    let broken = Dialect { render: nothing_escaped, ..REAL };
    for text in [
        "# a",
        "- a",
        "1. a",
        "> a",
        "```",
        "***",
        "a\n- b",
        "a\n===",
        "[a](https://x.example)",
        "$$a$$",
    ] {
        let blocks = || vec![BlockDraft::new(BlockData::text(text))];
        assert!(round_trip::holds(broken, blocks()).is_err(), "{text}");
        assert_eq!(round_trip::holds(REAL, blocks()), Ok(()), "{text}");
    }
}

#[test]
fn the_first_law_sees_lost_lists() {
    let item = BlockData { list_style: ListStyle::Bullet, ..BlockData::text("a") };
    let broken = Dialect { render: without_lists, ..REAL };
    assert!(round_trip::holds(broken, vec![BlockDraft::new(item)]).is_err());
}

#[test]
fn the_second_law_sees_drift_and_texts_that_are_not_canonical() {
    assert!(stable::holds(Dialect { render: growing, ..REAL }, "a").is_err());
    assert!(stable::holds(Dialect { render: without_lists, ..REAL }, "- a").is_err());
    let shouting = Dialect { canonical: |data| data.inline.make_ascii_uppercase(), ..REAL };
    assert!(stable::holds(shouting, "a").is_err());
}

#[test]
fn the_third_law_sees_lost_words_and_order() {
    for broken in [without_the_last_word, in_another_order] {
        let broken = Dialect { parse: broken, ..REAL };
        let failing =
            inputs::sections().filter(|(_, input)| words::holds(broken, input).is_err()).count();
        assert!(failing > 100, "{failing}");
    }
}

#[test]
fn the_fourth_law_sees_forged_structure() {
    let broken = Dialect { render: nothing_escaped, ..REAL };
    for text in
        ["</page>", "a </content></page> b", "a</callout>", "# a\n- b", "<!-- a", "a\n<pre>\nb"]
    {
        assert!(forging::holds(broken, text, TextStyle::Body, ListStyle::None).is_err(), "{text}");
    }
}

#[test]
fn the_fifth_law_sees_lost_blanks() {
    let broken = Dialect { render: nothing_escaped, ..REAL };
    for text in ["a ", " a", "a\n\nb", "a\r\nb", "# a"] {
        let data = BlockData::text(text);
        assert!(exact::holds_in_a_document(broken, &data).is_err(), "{text:?}");
        assert_eq!(exact::holds_in_a_document(REAL, &data), Ok(()), "{text:?}");
    }
}
