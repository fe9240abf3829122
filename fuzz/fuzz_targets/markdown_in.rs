//! Any text is read as blocks within the limits, or refused; nothing panics.
#![no_main]

use leafbase_markdown::{
    EmptyFirstItem, ParseOptions, PlainText, block_form, check_highlights, front_properties, hash_tags,
    inline_of_plain, links, parse, plain_text, read_block_form, rewrite_links,
};
use leafbase_model::{BlockData, BlockDraft, Limits};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for limits in [Limits::default(), small()] {
        let options = ParseOptions::default()
            .with_limits(limits.clone())
            .with_empty_first_item(EmptyFirstItem::Drop);
        if let Ok(parsed) = parse(text, &options) {
            parsed.blocks.iter().for_each(|block| check(block, &limits));
        }
    }
    let mut count = 0;
    links(text, &mut |_| count += 1);
    let mut rewritten = 0;
    let same = rewrite_links(text, &mut |_| {
        rewritten += 1;
        None
    });
    assert_eq!((same.as_ref(), rewritten), (text, count), "links are seen as they are rewritten");
    plain_text(text);
    hash_tags(text, &mut |tag| assert!(!tag.is_empty() && tag.len() <= Limits::TAG_BYTES));
    front_properties(text);
    let exact = BlockData::text(text);
    // No space has another text.
    if check_highlights(text).is_ok()
        && !has_longest_reference(text)
        && let Ok(form) = read_block_form(&block_form(&exact), &Limits::default()) {
        assert_eq!((form.inline.as_str(), form.further.len()), (text, 0), "a block form is exact");
    }
    if !text.contains('\0') {
        assert_eq!(PlainText::of(&inline_of_plain(text)).as_str(), text, "plain text is exact");
    }
});

/// Whether a text has a character reference of seven digits: the longest one cannot be told from
/// what a shorter one is raised to.
fn has_longest_reference(text: &str) -> bool {
    text.match_indices("&#").any(|(at, start)| {
        let number = &text[at + start.len()..];
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        digits == 7 && number[digits..].starts_with(';')
    })
}

/// Limits that short texts reach.
fn small() -> Limits {
    let mut limits = Limits::default();
    (limits.page_nesting, limits.block_text, limits.block_raw, limits.markdown) =
        (2, 24, 24, 1 << 10);
    limits
}

/// What the parser promises. Titles and URLs are for the engine to bound.
fn check(block: &BlockDraft, limits: &Limits) {
    for (depth, block) in block.walk() {
        let mut limits = limits.clone();
        (limits.title, limits.attribute) = (usize::MAX, usize::MAX);
        if block.data.block_type().may_be_parent() {
            limits.block_text = usize::MAX;
        } else {
            assert!(block.content.is_empty(), "{:?} has content", block.data);
        }
        assert_eq!(block.data.check(&limits), Ok(()), "{:?}", block.data);
        assert!(depth <= limits.page_nesting, "{depth} pages deep");
    }
}
