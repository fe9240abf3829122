//! Writes a static site from a space: a page for each document with links resolved, the documents
//! that link to it and its tags, and a page for each tag.
//!
//! `cargo run --example static_site` prints the site of a small space; `.. -- notes.leafbase site`
//! writes that of a space to a folder.

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::PathBuf;

use leafbase::{
    Block, BlockId, BlockKind, Connection, DocumentId, Fetch, ListDocuments, ListStyle, ListTags,
    Location, PlainText, Space, TagCount, TaskState, TextStyle,
};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// What all pages know of each other.
struct Site {
    notes: Connection,
    titles: BTreeMap<DocumentId, String>,
    /// The documents that link to each.
    back_links: BTreeMap<DocumentId, BTreeSet<DocumentId>>,
    /// Tags with their documents.
    tags: Vec<(String, BTreeSet<DocumentId>)>,
}

impl Site {
    fn read(notes: Connection) -> leafbase::Result<Self> {
        let (mut titles, mut back_links, mut tags) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let documents = notes.documents()?;
        for document in documents.iter().filter(|it| it.record.location != Location::Trash) {
            let links = notes.document_links(document.id())?.back_links;
            back_links.insert(document.id(), links.iter().map(|link| link.document_id).collect());
            titles.insert(document.id(), escaped(PlainText::of(&document.title).as_str()));
        }
        for TagCount { tag, .. } in notes.list_tags(ListTags::new())?.items {
            let tagged = notes.list_documents(ListDocuments::new().tagged(&tag))?;
            tags.push((tag, tagged.iter().map(leafbase::Document::id).collect()));
        }
        Ok(Self { notes, titles, back_links, tags })
    }

    /// Tags have any letters, so their files have numbers.
    fn tags_with(&self, is_shown: impl Fn(&BTreeSet<DocumentId>) -> bool) -> Vec<(String, String)> {
        let shown = self.tags.iter().enumerate().filter(|(_, (_, documents))| is_shown(documents));
        shown
            .map(|(at, (tag, _))| (format!("tag-{at}.html"), format!("#{}", escaped(tag))))
            .collect()
    }

    /// The address of a block; `None` if it is not on the site.
    fn address(&self, url: &str) -> Option<String> {
        let block: BlockId = url.strip_prefix("block://")?.parse().ok()?;
        let document = self.notes.document_of(block).ok()?;
        let anchor = if document.root() == block { String::new() } else { format!("#{block}") };
        self.titles.contains_key(&document).then(|| format!("{document}.html{anchor}"))
    }

    /// Inline markdown as HTML. Anything else is text.
    fn inline(&self, markdown: &str) -> String {
        let mut written = String::new();
        for event in Parser::new_ext(markdown, Options::ENABLE_STRIKETHROUGH) {
            match event {
                Event::Start(Tag::Link { dest_url, .. }) => {
                    let address = self.address(&dest_url).unwrap_or(dest_url.to_string());
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

    fn block(&self, block: &Block) -> String {
        let text = self.inline(&block.data.inline);
        let (id, indent) = (block.id, usize::from(block.data.indentation) * 2);
        let tag = match &block.data.kind {
            BlockKind::Text(look) => match look.style {
                TextStyle::H1 => "h2",
                TextStyle::H2 | TextStyle::H3 | TextStyle::H4 => "h3",
                _ => "p",
            },
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

    fn page(&self, document: DocumentId, title: &str) -> leafbase::Result<String> {
        let root = self.notes.fetch(Fetch::new(document))?;
        let mut body = String::new();
        // Pages nest: what users wrote is walked with a stack.
        let mut waiting: Vec<&Block> = root.children().iter().rev().collect();
        while let Some(block) = waiting.pop() {
            body += &self.block(block);
            waiting.extend(block.children().iter().rev());
        }
        let from = self.back_links.get(&document).into_iter().flatten();
        body += &self.list("Linked from", from);
        body += &list("Tags", self.tags_with(|tagged| tagged.contains(&document)));
        Ok(html(title, &body))
    }

    fn list<'a>(&self, heading: &str, of: impl IntoIterator<Item = &'a DocumentId>) -> String {
        list(
            heading,
            of.into_iter()
                .filter_map(|id| Some((format!("{id}.html"), self.titles.get(id)?.clone()))),
        )
    }

    /// Every file of the site, by its name.
    fn files(&self) -> leafbase::Result<BTreeMap<String, String>> {
        let mut files = BTreeMap::new();
        for (document, title) in &self.titles {
            files.insert(format!("{document}.html"), self.page(*document, title)?);
        }
        for ((file, title), (_, tagged)) in self.tags_with(|_| true).into_iter().zip(&self.tags) {
            files.insert(file, html(&title, &self.list("Documents", tagged)));
        }
        let index = self.list("Documents", self.titles.keys());
        let index = index + &list("Tags", self.tags_with(|_| true));
        files.insert("index.html".to_owned(), html("Notes", &index));
        Ok(files)
    }
}

/// A page with a title and a body.
fn html(title: &str, body: &str) -> String {
    let head = "<!doctype html>\n<meta charset=\"utf-8\">";
    format!("{head}\n<title>{title}</title>\n<h1>{title}</h1>\n{body}")
}

/// Links below a heading, if there are any.
fn list(heading: &str, entries: impl IntoIterator<Item = (String, String)>) -> String {
    let mut shown = String::new();
    for (file, title) in entries {
        shown.extend(["<p><a href=\"", &file, "\">", &title, "</a></p>\n"]);
    }
    if shown.is_empty() { shown } else { format!("<h3>{heading}</h3>\n{shown}") }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn sample() -> leafbase::Result<Connection> {
    let notes = Space::in_memory()?.connect();
    let trip = notes.create_document("Trip to Lisbon")?.id();
    let food = notes.create_document("Food & drink")?.id();
    let eat = format!("- [x] eat: [the *list*](block://{food}) #travel/lisbon");
    let text = format!("## Evening\n\n{eat}\n- [ ] <b>sleep</b>");
    notes.insert_markdown(&text, trip)?;
    notes.insert_markdown("Soup before all. #travel #kitchen", food)?;
    Ok(notes)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(space), Some(folder)) = (arguments.next(), arguments.next()) else {
        for (file, text) in Site::read(sample()?)?.files()? {
            println!("== {file}\n{text}");
        }
        return Ok(());
    };
    let files = Site::read(Space::builder().read_only(true).open(space)?.connect())?.files()?;
    fs::create_dir_all(&folder)?;
    for (file, text) in &files {
        fs::write(folder.join(file), text)?;
    }
    println!("{} files", files.len());
    Ok(())
}
