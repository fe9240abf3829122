//! Any text is applied to a page of any blocks: the page reads as the text does, what is read from
//! a page changes nothing, and no law of the store is broken.
#![no_main]

mod drafts;

use leafbase::{
    ApplyMarkdown, Connection, DocumentId, EditMarkdown, ErrorKind, InsertBlocks, Position, Space,
};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
enum Page<'a> {
    Text(&'a str),
    Blocks(drafts::Drafts),
}

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    page: Page<'a>,
    after: &'a str,
    /// A text that is edited, and what stands there then.
    edit: (&'a str, &'a str),
}

fn page(space: &Space, content: Page<'_>) -> (Connection, DocumentId) {
    let notes = space.connect();
    let document = notes.create_document("d").expect("made").id();
    // What is refused leaves an empty page.
    let _refused = match content {
        Page::Text(text) => notes.insert_markdown(text, document),
        Page::Blocks(drafts) => {
            let position = Position::end_of(document);
            notes.insert_blocks(InsertBlocks::blocks(drafts.0, position))
        }
    };
    (notes, document)
}

fuzz_target!(|input: Input<'_>| {
    let Input { page: content, after, edit: (text, markdown) } = input;
    let is_text = matches!(content, Page::Text(_));
    let space = Space::in_memory().expect("a space");
    let (notes, document) = page(&space, content);
    let read = || notes.content_markdown(document).expect("read");
    let same = || {
        let last = notes.last_sequence().expect("read");
        let own = ApplyMarkdown::new(document, read()).if_markdown(read());
        notes.apply_markdown(own).expect("what a page says is applied");
        assert_eq!(notes.last_sequence().expect("read"), last, "nothing changes");
    };
    same();
    match notes.apply_markdown(ApplyMarkdown::new(document, after)) {
        Ok(_) => {
            same();
            if is_text {
                // An insertion is of what a text says, not of how it is written.
                let other = Space::in_memory().expect("a space");
                let (other, fresh) = page(&other, Page::Text(""));
                other.apply_markdown(ApplyMarkdown::new(fresh, after)).expect("applied before");
                assert_eq!(read(), other.content_markdown(fresh).expect("read"));
            }
        }
        Err(error) => assert_ne!(error.kind(), ErrorKind::Internal, "{error}"),
    }
    match notes.edit_markdown(EditMarkdown::of(document).replace(text, markdown)) {
        Ok(_) => same(),
        Err(error) => assert_ne!(error.kind(), ErrorKind::Internal, "{error}"),
    }
    assert!(space.check().expect("checked").is_clean());
});
