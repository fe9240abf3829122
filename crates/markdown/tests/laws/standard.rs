//! The reader finds the code, headings, tables and separators that another reader of the standard finds.
//!
//! What the dialect reads otherwise is left out: formulas, front matter, structure within HTML comments that go on over a
//! blank line, tags of the dialect.

use leafbase_model::{BlockDraft, BlockKind, TextStyle};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::dialect::parse;
use crate::inputs;

fn found(blocks: &[BlockDraft]) -> Vec<String> {
    let mut found = Vec::new();
    for (_, block) in blocks.iter().flat_map(BlockDraft::walk) {
        match &block.data.kind {
            BlockKind::Code { raw_code, .. } => found.push(format!("code {raw_code}")),
            BlockKind::Table => found.push(format!("table {}", block.data.markdown.lines().count())),
            BlockKind::Line { .. } => found.push("line".to_owned()),
            BlockKind::Text(look) => match look.style {
                style @ (TextStyle::H1 | TextStyle::H2 | TextStyle::H3 | TextStyle::H4) => {
                    found.push(style.to_string())
                }
                _ => {}
            },
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
            Event::Text(text) if code.is_some() => code.as_mut().unwrap().push_str(&text),
            Event::End(TagEnd::CodeBlock) => {
                let code = code.take().unwrap();
                found.push(format!("code {}", code.strip_suffix('\n').unwrap_or(&code)));
            }
            Event::Start(Tag::Heading { level, .. }) => found.push(format!("h{}", (level as u8).min(4))),
            Event::Rule => found.push("line".to_owned()),
            Event::Start(Tag::Table(_)) => rows = 1,
            Event::Start(Tag::TableHead | Tag::TableRow) => rows += 1,
            Event::End(TagEnd::Table) => found.push(format!("table {rows}")),
            _ => {}
        }
    }
    found
}

/// Read otherwise on purpose: definitions stay text, so that what follows one directly belongs to it.
const OTHERWISE: [&str; 3] = ["[foo]: /url\n===\n[foo]", "# [Foo]\n[foo]: /url\n> bar", "---\n---"];

#[test]
fn each_section_is_read_as_the_standard_says() {
    for (section, input) in inputs::sections() {
        if !matches!(section, "Dialect" | "Formulas" | "Tasks") && !OTHERWISE.contains(&input.as_str()) {
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
    // The few hold formulas, or comments with blank lines.
    assert!(differ.len() * 200 <= all, "{} of {all}: {differ:#?}", differ.len());
}
