//! What a renderer shows of the files of a corpus, before and after an import and export: every
//! difference is of a known kind, or named by a warning of the reports.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use leafbase::Space;
use leafbase_vault::{ExportOptions, ImportOptions, MemorySource, export_folder, import_from};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use regex::Regex;

use super::{files_below, on};

/// Kinds of differences, from what is compared last to what is compared first: with each, what a
/// renderer shows is compared without what the kind concerns.
const KINDS: [&str; 5] = ["paragraphs", "heading levels", "numbers", "quotes", "lists"];

/// What a renderer shows, without what the first `ignored` kinds concern. Relative links count by
/// their words.
fn shown(text: &str, ignored: usize) -> String {
    let ignores = |kind: &str| KINDS.iter().take(ignored).any(|known| *known == kind);
    let mut out = String::new();
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_MATH
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    for event in Parser::new_ext(text, options) {
        let token = match event {
            Event::Text(text) => {
                out.push_str(&text);
                continue;
            }
            Event::SoftBreak => "\n".to_owned(),
            Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph)
                if ignores("paragraphs") =>
            {
                "\n".to_owned()
            }
            Event::Start(Tag::Heading { level, .. }) if ignores("heading levels") => {
                format!("<h{}>", (level as u8).min(4))
            }
            Event::End(TagEnd::Heading(level)) if ignores("heading levels") => {
                format!("</h{}>", (level as u8).min(4))
            }
            Event::Start(Tag::List(Some(_))) if ignores("numbers") => "<ol>".to_owned(),
            Event::Start(Tag::BlockQuote(_)) | Event::End(TagEnd::BlockQuote(_))
                if ignores("quotes") =>
            {
                "\n".to_owned()
            }
            Event::Start(Tag::List(_)) | Event::End(TagEnd::List(_)) if ignores("lists") => {
                "\n".to_owned()
            }
            Event::Start(Tag::CodeBlock(_)) => "<code>".to_owned(),
            Event::Start(Tag::Link { .. }) | Event::End(TagEnd::Link) => continue,
            Event::Start(Tag::Image { .. }) => "<img>".to_owned(),
            event => format!("<{event:?}>"),
        };
        out.push_str(&token);
    }
    let words = out.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    // A wiki link may have become a link with the same words.
    let wiki_link = Regex::new(r"\[\[(?:[^\[\]|]*\\?\|)?([^\[\]|]*)\]\]").unwrap();
    wiki_link.replace_all(&words.replace("> ", ">").replace(" <", "<"), "$1").into_owned()
}

/// The kind of a difference; none if a renderer shows the same.
fn kind(one: &str, other: &str) -> Option<&'static str> {
    if shown(one, 0) == shown(other, 0) {
        return None;
    }
    let first = (1..=KINDS.len()).find(|ignored| shown(one, *ignored) == shown(other, *ignored));
    Some(first.map_or("other", |ignored| KINDS[ignored - 1]))
}

#[test]
fn each_kind_of_difference_is_seen() {
    for (one, other, expected) in [
        ("a\nb", "a b", None),
        ("* a\n* b", "- a\n- b", None),
        ("[a](b.md)", "[a](c.md)", None),
        ("[[b|a]] [[c]]", "[a](b.md) [c](c.md)", None),
        ("- a\n\n- b", "- a\n- b", Some("paragraphs")),
        ("##### a", "#### a", Some("heading levels")),
        ("3. a", "1. a", Some("numbers")),
        ("> > a", "> a", Some("quotes")),
        ("- a\n\n* b", "- a\n- b", Some("lists")),
        ("a", "b", Some("other")),
        ("    a", "a", Some("other")),
    ] {
        assert_eq!(kind(one, other), expected, "{one:?} {other:?}");
    }
}

#[test]
fn differences_of_what_is_shown_are_named() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    if !corpus.is_dir() {
        return;
    }
    let mut files = files_below(&corpus);
    files.retain(|path, _| path.ends_with(".md"));
    let notes = Space::in_memory().unwrap().connect();
    let source = &mut MemorySource::from_iter(files.clone());
    let imported = import_from(&notes, source, &ImportOptions::new(), &mut on).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let exported = export_folder(&notes, directory.path(), &ExportOptions::new(), &mut on).unwrap();
    let back = files_below(directory.path());
    let named: BTreeSet<&str> = imported
        .warnings
        .iter()
        .chain(&exported.warnings)
        .map(|warning| warning.path.as_str())
        .collect();
    let mut differing = 0;
    let mut unnamed: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (path, bytes) in &files {
        let Some(written) = back.get(path) else { panic!("{path} has another path") };
        let (before, after) = (String::from_utf8_lossy(bytes), String::from_utf8_lossy(written));
        let kind = kind(&before, &after).or((bytes != written).then_some("bytes"));
        differing += usize::from(kind.is_some());
        if let Some(kind) = kind.filter(|_| !named.contains(path.as_str())) {
            unnamed.entry(kind).or_default().push(path);
        }
    }
    println!("{differing} files differ");
    assert!(unnamed.is_empty(), "not named by a warning: {unnamed:?}");
}
