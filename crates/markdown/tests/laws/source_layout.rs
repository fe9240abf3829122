//! Sixth law: what was read and not edited is written with its bytes, and layout never changes what
//! a text says.

use leafbase_markdown::{
    EmptyFirstItem, ParseOptions, ParsedMarkdown, parse, parse_with_layout, render,
    render_as_written, render_with_starts,
};
use leafbase_model::{BlockData, BlockDraft, BlockKind, TaskState};
use proptest::prelude::*;

use crate::round_trip::cases;
use crate::{generate, inputs};

fn options() -> ParseOptions {
    ParseOptions::default().with_empty_first_item(EmptyFirstItem::Drop)
}

fn read(text: &str) -> ParsedMarkdown {
    parse_with_layout(text, &options()).unwrap_or_default()
}

/// Blocks of a text without their layout.
fn plain(text: &str) -> Vec<BlockDraft> {
    parse(text, &options()).unwrap().blocks
}

/// The text of what was read, with what follows the last block.
fn written(read: &ParsedMarkdown) -> Option<String> {
    let file = read.file.as_ref()?;
    let text = render_as_written(&read.blocks, Some(file));
    Some(text + file.end.as_deref().unwrap_or("\n"))
}

/// Blocks without layout.
fn bare(mut blocks: Vec<BlockDraft>) -> Vec<BlockDraft> {
    let mut stack: Vec<&mut BlockDraft> = blocks.iter_mut().collect();
    while let Some(BlockDraft { data, content, .. }) = stack.pop() {
        data.layout = None;
        stack.extend(content.iter_mut());
    }
    blocks
}

fn check(text: &str, edit: Option<(usize, &BlockData)>) -> Result<(), String> {
    // Line ends are those of the file.
    let text = &text.replace("\r\n", "\n").replace('\r', "\n");
    let text = text.trim_start_matches('\u{feff}');
    let mut read = read(text);
    if let Some(back) = written(&read)
        && back != text
    {
        return Err(format!("{text:?} is written as {back:?}"));
    }
    if bare(read.blocks.clone()) != plain(text) {
        return Err(format!("{text:?} is read differently with layout"));
    }
    if let Some((at, data)) = edit
        && !read.blocks.is_empty()
    {
        // Another block in its place, with its layout; then without the one before it.
        let at = at % read.blocks.len();
        let mut removed = read.blocks.remove(at);
        let data = BlockData { layout: removed.data.layout.take(), ..data.clone() };
        read.blocks.insert(at, BlockDraft::new(data));
    }
    for round in 0..2 {
        let (text, starts) = render_with_starts(&read.blocks, read.file.as_ref());
        let is_line = |start: &usize| *start == 0 || text[..*start].ends_with('\n');
        if starts.len() != read.blocks.len() || !starts.is_sorted() || !starts.iter().all(is_line) {
            return Err(format!("{starts:?} are not where the blocks of {text:?} start"));
        }
        let canonical = render(&read.blocks);
        if plain(&text) != plain(&canonical) {
            return Err(format!("{canonical:?} is something else with layout: {text:?}"));
        }
        if round == 0 && !read.blocks.is_empty() {
            let at = edit.map_or(0, |(at, _)| at) % read.blocks.len();
            read.blocks.remove(at);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(4000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn layout_changes_no_meaning(
        text in generate::accepted_document(),
        at in any::<prop::sample::Index>(),
        data in generate::block(),
    ) {
        let edit = Some((at.index(1_000), &data));
        prop_assert_eq!(check(&text, edit), Ok(()));
    }
}

#[test]
fn each_section_of_the_standard_keeps_its_bytes() {
    let mut lost = Vec::new();
    for (section, input) in inputs::sections() {
        assert_eq!(check(&input, None), Ok(()), "{section}");
        let unified = input.replace("\r\n", "\n").replace('\r', "\n");
        if written(&read(&unified)).is_none() && parse(&input, &options()).is_ok() {
            lost.push((section, input));
        }
    }
    // The tags of pages and callouts are written in one way.
    lost.retain(|(section, _)| *section != "Dialect");
    assert_eq!(lost, []);
}

/// A text, and the same after its second block was replaced by a text `new`.
const EDITED: &[(&str, &str)] = &[
    ("# a\nb\n", "# a\nnew"),
    ("* a\n* b\n* c\n", "* a\n* new\n* c"),
    ("1. a\n2. b\n3. c\n", "1. a\n2. new\n3. c"),
    ("+ a\n\n\n+   b\n", "+ a\n\n\n+   new"),
    ("a\n\nb\n=\n", "a\n\nnew\n="),
    ("a\n\n###   b   ###\n", "a\n\n###   new   ###"),
    ("> a\n\n> b\n", "> a\n\n> new"),
    ("- [X] a\n- [X] b\n", "- [X] a\n- [X] new"),
    ("a\n\n* b\n  lazy\n", "a\n\n* new"),
];

#[test]
fn an_edited_block_keeps_what_fits() {
    for (text, expected) in EDITED {
        let mut read = read(text);
        read.blocks[1].data.inline = "new".to_owned();
        assert_eq!(render_as_written(&read.blocks, read.file.as_ref()), *expected, "{text:?}");
    }
}

/// What no longer fits is canonical, and no more than that.
#[test]
fn what_does_not_fit_is_canonical() {
    let mut edited = read("* a\n* b\n\n\nlast\n----\n");
    edited.blocks.remove(0);
    let item = &mut edited.blocks[0].data;
    if let Some(task) = &mut item.task {
        task.state = TaskState::Done;
    }
    edited.blocks[1].data.inline = "two\nlines\n- no".to_owned();
    edited.blocks[1].data.kind = BlockKind::Text(leafbase_model::TextFormat::default());
    let text = render_as_written(&edited.blocks, None);
    assert_eq!(plain(&text), plain(&render(&edited.blocks)));
    assert!(text.starts_with("* b\n\n\n"), "{text:?}");
}

#[test]
fn real_files_keep_their_bytes() {
    let mut lost = Vec::new();
    let files = inputs::files();
    for (path, text) in &files {
        assert_eq!(check(text, None), Ok(()), "{}", path.display());
        let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n");
        if written(&read(&text)).is_none() {
            lost.push(path);
        }
    }
    println!("{} of {} files lose bytes: {:#?}", lost.len(), files.len(), lost);
    assert!(lost.len() * 200 <= files.len(), "{} of {} files", lost.len(), files.len());
}
