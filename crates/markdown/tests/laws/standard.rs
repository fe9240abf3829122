//! The reader finds the code, headings, tables and separators that another reader of the standard
//! finds, and another reader finds these, and the levels of list items, in what the writer writes.
//!
//! What the dialect reads otherwise is left out: formulas, front matter, tags of the dialect.

use leafbase_model::{BlockDraft, BlockKind, ListStyle, TextFormat};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::dialect::parse;
use crate::inputs;

fn found(blocks: &[BlockDraft]) -> Vec<String> {
    let mut found = Vec::new();
    for (_, block) in blocks.iter().flat_map(BlockDraft::walk) {
        match &block.data.kind {
            BlockKind::Code { raw_code, .. } => found.push(format!("code {raw_code}")),
            BlockKind::Table => {
                found.push(format!("table {}", block.data.inline.lines().count()));
            }
            BlockKind::Line { .. } => found.push("line".to_owned()),
            BlockKind::Text(TextFormat { style, .. }) if style.as_str().starts_with('h') => {
                found.push(style.to_string());
            }
            _ => {}
        }
    }
    found
}

fn expected(text: &str) -> Vec<String> {
    let (mut found, mut code, mut rows) = (Vec::new(), None::<String>, 0);
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => code = Some(String::new()),
            Event::Text(text) => code.iter_mut().for_each(|code| code.push_str(&text)),
            Event::End(TagEnd::CodeBlock) => {
                let code = code.take().unwrap_or_default();
                found.push(format!("code {}", code.strip_suffix('\n').unwrap_or(&code)));
            }
            Event::Start(Tag::Heading { level, .. }) => {
                found.push(format!("h{}", (level as u8).min(4)));
            }
            Event::Rule => found.push("line".to_owned()),
            Event::Start(Tag::Table(_)) => rows = 1,
            Event::Start(Tag::TableHead | Tag::TableRow) => rows += 1,
            Event::End(TagEnd::Table) => found.push(format!("table {rows}")),
            _ => {}
        }
    }
    found
}

/// The levels of list items in what is written, for another reader: an item that holds only a list
/// is none.
fn levels_written(text: &str) -> Vec<u8> {
    let (mut levels, mut level, mut fresh) = (Vec::new(), 0, false);
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::List(_)) => (level, fresh) = (level + 1, false),
            Event::End(TagEnd::List(_)) => level -= 1,
            Event::Start(Tag::Item) => fresh = true,
            _ if std::mem::take(&mut fresh) => levels.push(level - 1),
            _ => {}
        }
    }
    levels
}

fn levels(blocks: &[BlockDraft]) -> Vec<u8> {
    let items = blocks
        .iter()
        .flat_map(BlockDraft::walk)
        .filter(|(_, block)| block.data.list_style != ListStyle::None);
    items.map(|(_, block)| block.data.indentation).collect()
}

/// Whether another reader sees in the written blocks what they are.
fn is_seen(blocks: &[BlockDraft]) -> bool {
    let written = leafbase_markdown::render(blocks);
    let formulas = |block: &String| !block.starts_with("code ");
    let seen: Vec<_> = expected(&written).into_iter().filter(formulas).collect();
    let meant: Vec<_> = found(blocks).into_iter().filter(formulas).collect();
    seen == meant && levels_written(&written) == levels(blocks)
}

#[test]
fn another_reader_sees_what_is_written() {
    for (section, input) in inputs::sections() {
        let blocks = parse(&input);
        // Tags, formulas and canceled tasks are not the standard's.
        if !matches!(section, "Dialect" | "Formulas" | "Tasks") {
            assert!(
                is_seen(&blocks),
                "{section}: {input}\n=====\n{}",
                leafbase_markdown::render(&blocks)
            );
        }
    }
    let (mut all, mut differ) = (0, Vec::new());
    for (path, text) in inputs::files() {
        all += 1;
        if !is_seen(&parse(&text)) {
            differ.push(path);
        }
    }
    println!("{} of {all}: {differ:#?}", differ.len());
    assert!(differ.len() * 200 <= all, "{} of {all}: {differ:#?}", differ.len());
}

/// Read otherwise on purpose: definitions stay text, so that what follows one directly belongs to
/// it.
const OTHERWISE: [&str; 2] = ["# [Foo]\n[foo]: /url\n> bar", "---\n---"];

#[test]
fn each_section_is_read_as_the_standard_says() {
    for (section, input) in inputs::sections() {
        if !matches!(section, "Dialect" | "Formulas" | "Tasks")
            && !OTHERWISE.contains(&input.as_str())
        {
            assert_eq!(found(&parse(&input)), expected(&input), "{section}: {input}");
        }
    }
}

#[test]
fn real_files_are_read_as_the_standard_says() {
    let (mut all, mut differ) = (0, Vec::new());
    for (path, text) in inputs::files() {
        if text.starts_with("---\n") {
            continue;
        }
        all += 1;
        if found(&parse(&text)) != expected(&text) {
            differ.push(path);
        }
    }
    // The few hold formulas.
    println!("{} of {all}: {differ:#?}", differ.len());
    assert!(differ.len() * 200 <= all, "{} of {all}: {differ:#?}", differ.len());
}
