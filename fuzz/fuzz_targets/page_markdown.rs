//! Any text is applied to a page of any blocks: the page reads as the text does, also where the
//! text is a small part of it, what is read from a page changes nothing, and no law of the store is
//! broken.
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

/// Where a text is a small part of a page, it is read as in one that is made of the whole.
fn surrounded(before: &str, after: &str) {
    let around = "A line of a letter.\n\n".repeat(4 + before.len().max(after.len()) / 16);
    let [before, after] = [before, after].map(|text| format!("{around}{text}\n\n{around}"));
    let pages = [before.as_str(), ""].map(|text| {
        let space = Space::in_memory().expect("a space");
        let (notes, document) = page(&space, Page::Text(""));
        // What is refused leaves an empty page.
        let _refused = notes.apply_markdown(ApplyMarkdown::new(document, text));
        (notes, document)
    });
    let [one, other] = pages.map(|(notes, document)| {
        let applied = notes.apply_markdown(ApplyMarkdown::new(document, &*after));
        let applied = applied.map_err(|error| (error.kind(), error.message().to_owned()));
        applied.map(|_| notes.content_markdown(document).expect("read"))
    });
    assert_eq!(one, other, "{before:?} becomes {after:?}");
}

fuzz_target!(|input: Input<'_>| {
    let Input { page: content, after, edit: (text, markdown) } = input;
    let before = if let Page::Text(text) = content { Some(text) } else { None };
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
            if before.is_some() {
                // An insertion is of what a text says, not of how it is written.
                let other = Space::in_memory().expect("a space");
                let (other, fresh) = page(&other, Page::Text(""));
                other.apply_markdown(ApplyMarkdown::new(fresh, after)).expect("applied before");
                assert_eq!(read(), other.content_markdown(fresh).expect("read"));
            }
        }
        Err(error) => assert_ne!(error.kind(), ErrorKind::Internal, "{error}"),
    }
    if let Some(before) = before {
        surrounded(before, after);
    }
    match notes.edit_markdown(EditMarkdown::of(document).replace(text, markdown)) {
        Ok(_) => same(),
        Err(error) => assert_ne!(error.kind(), ErrorKind::Internal, "{error}"),
    }
    assert!(space.check().expect("checked").is_clean());
});
