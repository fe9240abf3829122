//! Writes a static site from a space: a page for each document, links between them resolved, and on
//! each what links to it.
//!
//! `cargo run --example static_site`, or `.. -- notes.leafbase site`.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example stays short"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use leafbase::{
    Block, BlockId, BlockKind, Connection, DocumentId, Fetch, ListStyle, Position, Space,
    TaskState, TextStyle,
};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// What all pages know of each other.
#[derive(Default)]
struct Site {
    titles: BTreeMap<DocumentId, String>,
    /// Which documents link to each.
    back_links: BTreeMap<DocumentId, BTreeSet<DocumentId>>,
}

fn file_of(document: DocumentId) -> String {
    format!("{document}.html")
}

impl Site {
    fn read(notes: &Connection) -> leafbase::Result<Self> {
        let mut site = Self::default();
        for document in notes.documents()?.iter().filter(|document| !is_trashed(document)) {
            site.titles.insert(document.id(), document.title.clone());
        }
        for document in site.titles.keys().copied().collect::<Vec<_>>() {
            let links = notes.document_links(document)?.back_links;
            site.back_links.insert(document, links.iter().map(|link| link.document_id).collect());
        }
        Ok(site)
    }

    /// A page's address for a link to a block; `None` if it is not on the site.
    fn address(&self, notes: &Connection, url: &str) -> Option<String> {
        let block: BlockId = url.strip_prefix("block://")?.parse().ok()?;
        let document =
            notes.document_of(block).ok().filter(|document| self.titles.contains_key(document))?;
        let anchor = if document.root() == block { String::new() } else { format!("#{block}") };
        Some(file_of(document) + &anchor)
    }

    /// Inline markdown as HTML. Anything else is text.
    fn inline(&self, notes: &Connection, markdown: &str) -> String {
        let mut written = String::new();
        for event in Parser::new_ext(markdown, Options::ENABLE_STRIKETHROUGH) {
            match event {
                Event::Start(Tag::Link { dest_url, .. }) => {
                    let address =
                        self.address(notes, &dest_url).unwrap_or_else(|| dest_url.to_string());
                    written.extend(["<a href=\"", &escaped(&address), "\">"]);
                }
                Event::End(TagEnd::Link) => written += "</a>",
                Event::Start(Tag::Emphasis) => written += "<em>",
                Event::End(TagEnd::Emphasis) => written += "</em>",
                Event::Start(Tag::Strong) => written += "<strong>",
                Event::End(TagEnd::Strong) => written += "</strong>",
                Event::Start(Tag::Strikethrough) => written += "<s>",
                Event::End(TagEnd::Strikethrough) => written += "</s>",
                Event::Code(text) => written.extend(["<code>", &escaped(&text), "</code>"]),
                Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                    written += &escaped(&text);
                }
                Event::SoftBreak | Event::HardBreak => written += "<br>",
                _ => {}
            }
        }
        written
    }

    fn block(&self, notes: &Connection, block: &Block) -> String {
        let text = self.inline(notes, &block.data.inline);
        let (id, indent) = (block.id, usize::from(block.data.indentation) * 2);
        let tag = match &block.data.kind {
            BlockKind::Text(look) if look.style == TextStyle::H1 => "h2",
            BlockKind::Text(look)
                if [TextStyle::H2, TextStyle::H3, TextStyle::H4].contains(&look.style) =>
            {
                "h3"
            }
            BlockKind::Page(_) => "h4",
            BlockKind::Code { raw_code, .. } => {
                return format!("<pre id=\"{id}\">{}</pre>\n", escaped(raw_code));
            }
            BlockKind::Line { .. } => return "<hr>\n".to_owned(),
            _ => "p",
        };
        let mark = match (block.data.list_style, block.data.task.map(|task| task.state)) {
            (ListStyle::Task, Some(TaskState::Done)) => "☑ ",
            (ListStyle::Task, Some(TaskState::Canceled)) => "☒ ",
            (ListStyle::Task, _) => "☐ ",
            (ListStyle::None, _) => "",
            _ => "• ",
        };
        format!("<{tag} id=\"{id}\" style=\"margin-left: {indent}em\">{mark}{text}</{tag}>\n")
    }

    fn page(&self, notes: &Connection, document: DocumentId) -> leafbase::Result<String> {
        let root = notes.fetch(Fetch::new(document))?;
        let mut body = String::new();
        // Pages nest: what users wrote is walked with a stack.
        let mut waiting: Vec<&Block> = root.children().iter().rev().collect();
        while let Some(block) = waiting.pop() {
            body += &self.block(notes, block);
            waiting.extend(block.children().iter().rev());
        }
        let from = self.back_links.get(&document).into_iter().flatten();
        let named = from.filter_map(|from| Some((file_of(*from), self.titles.get(from)?)));
        for (number, (file, title)) in named.enumerate() {
            let heading = if number == 0 { "<h3>Linked from</h3>\n" } else { "" };
            let _ = writeln!(
                body,
                "{heading}<p><a href=\"{file}\">{}</a></p>",
                self.inline(notes, title)
            );
        }
        let title = self.inline(notes, &root.data.inline);
        Ok(format!(
            "<!doctype html>\n<meta charset=\"utf-8\">\n<title>{}</title>\n<h1>{}</h1>\n{body}",
            escaped(&root.data.inline),
            title
        ))
    }
}

fn is_trashed(document: &leafbase::Document) -> bool {
    document.record.location == leafbase::Location::Trash
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn write_site(notes: &Connection, folder: &Path) -> Result<usize, Box<dyn std::error::Error>> {
    let site = Site::read(notes)?;
    fs::create_dir_all(folder)?;
    let mut index =
        String::from("<!doctype html>\n<meta charset=\"utf-8\">\n<title>Notes</title>\n");
    for (document, title) in &site.titles {
        fs::write(folder.join(file_of(*document)), site.page(notes, *document)?)?;
        writeln!(
            index,
            "<p><a href=\"{}\">{}</a></p>",
            file_of(*document),
            site.inline(notes, title)
        )?;
    }
    fs::write(folder.join("index.html"), index)?;
    Ok(site.titles.len())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    if let (Some(space), Some(folder)) = (arguments.next(), arguments.next()) {
        let notes = Space::builder().read_only(true).open(space)?.connect();
        println!("{} pages", write_site(&notes, &folder)?);
        return Ok(());
    }
    let notes = Space::in_memory()?.connect();
    let (trip, food) =
        (notes.create_document("Trip to *Lisbon*")?, notes.create_document("Food & drink")?);
    let text =
        format!("## Evening\n\n- [x] eat: [the list](block://{})\n- [ ] <b>sleep</b>", food.id());
    notes.insert_markdown(&text, Position::end_of(trip.id()))?;
    let directory = tempfile::tempdir()?;
    println!("{} pages", write_site(&notes, directory.path())?);
    let page = fs::read_to_string(directory.path().join(file_of(trip.id())))?;
    println!("{page}");
    assert!(
        page.contains(&format!("<a href=\"{}\">the list</a>", file_of(food.id())))
            && page.contains("&lt;b&gt;")
    );
    assert!(fs::read_to_string(directory.path().join(file_of(food.id())))?.contains("Linked from"));
    Ok(())
}
