//! Imports: three pages that link to each other's headings, and one attachment.
//!
//! The engine writes a document in one transaction, together with the attachment that it shows, so
//! each page is there as a whole or not at all. A small import is one transaction; a second one
//! resolves links to headings. Until then they have placeholders, and where the process ends
//! between the two, these stay: links to blocks that do not exist.

use std::ops::ControlFlow;

use leafbase::{BlockId, Connection, Error, ErrorKind, Fetch, Result};
use leafbase_vault::{ImportOptions, MemorySource, import_from};

use super::files::{told_bytes, told_file, upload_bytes};
use super::words;

/// Documents of one import.
pub const PAGES: u64 = 3;
/// How a line tells where the link of a page leads to.
const TO_HEAD: &str = " | to Head of ";
const TO_NOTHING: &str = " | to nothing | ";

fn page_title(import: u64, page: u64) -> String {
    format!("import {import:06} page {page}")
}

/// The file of a page; the attachment is shown by the first page alone.
fn page_file(import: u64, page: u64) -> String {
    let (title, next) = (page_title(import, page), page_title(import, (page + 1) % PAGES));
    let text = words(import * PAGES + page, 40);
    let attached = if page == 0 { "\n\n![[data.bin]]" } else { "" };
    format!("# Head of {title}\n\n{text}\n\n[[{next}#Head of {next}]]{attached}")
}

/// What a page is, told in a line.
pub fn page(import: u64, page: u64) -> String {
    let text = words(import * PAGES + page, 40);
    let (title, next) = (page_title(import, page), page_title(import, (page + 1) % PAGES));
    let attached = if page == 0 { attachment(import) } else { String::new() };
    format!("{title}: Head of {title} | {text} | to Head of {next} | {attached}")
}

/// Whether a line tells a page of this import.
pub fn is_of_import(line: &str, import: u64) -> bool {
    line.starts_with(&format!("import {import:06} "))
}

/// Whether a line tells a whole page of an import that was in flight: until the transaction after
/// that of the pages, its link has a placeholder, a block that is nowhere.
pub fn is_whole_page(line: &str, import: u64) -> bool {
    (0..PAGES)
        .map(|number| page(import, number))
        .any(|page| [page.as_str(), with_placeholder(&page).as_str()].contains(&line))
}

fn with_placeholder(page: &str) -> String {
    let (before, after) = page.split_once(TO_HEAD).unwrap_or((page, ""));
    let attached = after.split_once(" | ").map_or("", |(_, attached)| attached);
    format!("{before}{TO_NOTHING}{attached}")
}

/// Whether the link of a page leads nowhere.
pub fn leads_nowhere(line: &str) -> bool {
    line.contains(TO_NOTHING)
}

fn attachment(import: u64) -> String {
    told_bytes("data.bin", &upload_bytes(import, attachment_length(import)))
}

const fn attachment_length(import: u64) -> u64 {
    3_000 + import * 977 % 90_000
}

pub fn import(notes: &Connection, number: u64) -> Result<()> {
    let folder = format!("import {number}");
    let data = upload_bytes(number, attachment_length(number));
    let pages = (0..PAGES).map(|page| {
        let path = format!("{folder}/{}.md", page_title(number, page));
        (path, page_file(number, page).into_bytes())
    });
    let mut source: MemorySource = pages.chain([(format!("{folder}/data.bin"), data)]).collect();
    let go_on = &mut |_| ControlFlow::Continue(());
    let report = import_from(notes, &mut source, &ImportOptions::new(), go_on)?;
    if (report.documents, report.attachments) == (PAGES, 1) { Ok(()) } else { Err(odd(&report)) }
}

fn odd(what: impl std::fmt::Debug) -> Error {
    Error::new(ErrorKind::Corrupted, format!("not what was imported: {what:?}"))
}

pub fn found_pages(notes: &Connection) -> Result<Vec<String>> {
    let documents = notes.documents()?;
    let pages = documents.iter().filter(|document| document.title.starts_with("import "));
    let mut found = pages
        .map(|document| {
            let tree = notes.fetch(Fetch::new(document.id()))?;
            let blocks = tree.children();
            let text = |at: usize| blocks.get(at).map_or("", |block| &block.data.inline);
            let attached = blocks.get(3).map_or(Ok(String::new()), |block| told_file(notes, block));
            let linked = link_target(text(2)).map(|target| heading(notes, target));
            let linked = linked.unwrap_or_else(|| Ok("no link".to_owned()));
            let (title, head) = (&document.title, text(0));
            Ok(format!("{title}: {head} | {} | to {} | {}", text(1), linked?, attached?))
        })
        .collect::<Result<Vec<_>>>()?;
    found.sort_unstable();
    Ok(found)
}

/// The text of the block that a link leads to.
fn heading(notes: &Connection, target: BlockId) -> Result<String> {
    match notes.fetch(Fetch::new(target).depth(0)) {
        Ok(block) => Ok(block.data.inline),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok("nothing".to_owned()),
        Err(error) => Err(error),
    }
}

/// The block that the only link of a text leads to.
fn link_target(text: &str) -> Option<BlockId> {
    text.split_once("(block://")?.1.split_once(')')?.0.parse().ok()
}
