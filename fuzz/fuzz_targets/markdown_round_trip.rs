//! What is read, written and read again is the same; so are canonical blocks, however they were
//! made.
#![no_main]

mod drafts;

use leafbase_markdown::{EmptyFirstItem, ParseOptions, canonical, check_highlights, parse, render};
use leafbase_model::{BlockDraft, ListStyle};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Text(&'a str),
    Blocks(drafts::Drafts),
}

fuzz_target!(|input: Input<'_>| match input {
    Input::Text(text) => text_is_stable(text),
    Input::Blocks(drafts) => blocks_come_back(drafts.0),
});

fn read(text: &str) -> Option<Vec<BlockDraft>> {
    let options = ParseOptions::default().with_empty_first_item(EmptyFirstItem::Drop);
    parse(text, &options).ok().map(|parsed| parsed.blocks)
}

fn text_is_stable(text: &str) {
    let Some(blocks) = read(text) else { return };
    assert_eq!(settled(blocks.clone()), blocks, "what is read is canonical");
    let first = render(&blocks);
    let again = read(&first).expect("what is written can be read");
    assert_eq!(again, blocks, "read, written and read:\n{first}");
    assert_eq!(render(&again), first);
}

fn blocks_come_back(blocks: Vec<BlockDraft>) {
    // No space has another text.
    let is_refused = |draft: &BlockDraft| check_highlights(&draft.data.inline).is_err();
    if blocks.iter().flat_map(BlockDraft::walk).any(|(_, draft)| is_refused(draft)) {
        return;
    }
    let mut blocks = settled(blocks);
    assert_eq!(settled(blocks.clone()), blocks, "the canonical form is settled");
    expressible(&mut blocks);
    let text = render(&blocks);
    let again = read(&text).expect("what is written can be read");
    assert_eq!(again, blocks, "written and read:\n{text}");
}

fn settled(blocks: Vec<BlockDraft>) -> Vec<BlockDraft> {
    let one = |mut draft: BlockDraft| {
        canonical(&mut draft.data);
        draft.content = settled(std::mem::take(&mut draft.content));
        draft
    };
    blocks.into_iter().map(one).collect()
}

/// Sets the indentation of what is in no list to what markdown can say: one level more than the
/// list item before, or than what follows that.
fn expressible(blocks: &mut [BlockDraft]) {
    let mut depth = 0;
    for block in blocks {
        let data = &mut block.data;
        if data.list_style == ListStyle::None {
            data.indentation = data.indentation.min(depth);
            depth = data.indentation;
        } else {
            depth = data.indentation + 1;
        }
        expressible(&mut block.content);
    }
}
