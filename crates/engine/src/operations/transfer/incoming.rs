//! Links of imported files become links to blocks.

use std::collections::HashMap;
use std::ops::Range;

use leafbase_markdown::{self as markdown, LinkForm, LinkTarget};
use leafbase_model::{AssetUrl, BlockData, BlockDraft, BlockId, BlockKind, TextStyle};

use crate::operations::transfer::notes::Notes;
use crate::operations::transfer::plan::Plan;
use crate::operations::transfer::report::AdaptationKind;
use crate::operations::transfer::rewriting::{Url, block_url, rewrite_urls};
use crate::operations::transfer::targets::{FileIndex, Found};
use crate::operations::transfer::urls::Reference;
use crate::operations::transfer::wiki::{self, WikiLink};
use crate::operations::transfer::{html, titles, urls};

/// Links to headings and blocks, which get their IDs when all files are read.
#[derive(Debug, Default)]
pub(super) struct Anchored {
    /// The ID that stands in for an anchor of a file until then.
    stand_ins: HashMap<(FileIndex, String), BlockId>,
}

impl Anchored {
    fn stand_in(
        &mut self,
        file: FileIndex,
        anchor: &str,
        mint: &mut dyn FnMut() -> [u8; 16],
    ) -> BlockId {
        let id = self.stand_ins.entry((file, anchor.to_owned()));
        *id.or_insert_with(|| BlockId::from_bytes(mint()))
    }

    /// What each ID stands in for, file by file.
    pub(super) fn by_file(&self) -> HashMap<FileIndex, Vec<(&str, BlockId)>> {
        let mut files: HashMap<FileIndex, Vec<(&str, BlockId)>> = HashMap::new();
        for ((file, anchor), id) in &self.stand_ins {
            files.entry(*file).or_default().push((anchor, *id));
        }
        files
    }
}

/// A link that has to be looked at again when all files are read.
#[derive(Clone, Debug)]
pub(super) struct Loose {
    /// Its block, by its place in the file's reading order.
    pub(super) place: usize,
    /// The line that it stands on.
    pub(super) line: Option<usize>,
    /// The file that it leads to.
    pub(super) file: FileIndex,
    /// The stand-in that its URL names until all files are read.
    pub(super) id: BlockId,
    /// The anchor, if it has one.
    pub(super) anchor: Option<String>,
}

/// The links of one file on their way to be links to blocks.
pub(super) struct Incoming<'a, 't> {
    pub(super) plan: &'a Plan,
    pub(super) from: FileIndex,
    /// Whether an earlier file was skipped after all.
    pub(super) is_gone: &'a dyn Fn(FileIndex) -> bool,
    pub(super) anchored: &'a mut Anchored,
    /// Takes in the file at a path, from the top: the URL that it has then, or why it is not taken
    /// in.
    pub(super) attach: &'a mut dyn FnMut(&str) -> Result<String, String>,
    pub(super) mint: &'a mut dyn FnMut() -> [u8; 16],
    pub(super) notes: &'a mut Notes<'t>,
    pub(super) loose: Vec<Loose>,
    pub(super) resolved: u64,
}

impl<'a> Incoming<'a, '_> {
    /// Rewrites the links of `drafts` and all below them. `first` is the place of the first one.
    pub(super) fn rewrite(&mut self, drafts: &mut [BlockDraft], first: usize) {
        let mut waiting: Vec<&mut BlockDraft> = drafts.iter_mut().rev().collect();
        let mut place = first;
        while let Some(draft) = waiting.pop() {
            self.rewrite_block(&mut draft.data, place);
            waiting.extend(draft.content.iter_mut().rev());
            place += 1;
        }
    }

    fn rewrite_block(&mut self, data: &mut BlockData, place: usize) {
        self.notes.begin_block(&data.markdown);
        if data.block_type().has_own_markdown() {
            self.tell_html(&data.markdown);
        }
        let mut changed = rewrite_urls(data, &mut |url| self.destination(url, place));
        if data.block_type().has_own_markdown() && data.markdown.contains("[[") {
            changed |= self.rewrite_wiki_links(data, place);
        }
        if changed {
            reread(data);
        }
    }

    /// Links that HTML makes stay as they are.
    fn tell_html(&mut self, text: &str) {
        for reference in
            html::references(text).iter().filter(|reference| urls::is_relative(reference.url))
        {
            let url = reference.url;
            if reference.embedded {
                self.attachment(url);
            } else {
                let message = format!("{url} is the link of an HTML tag; the link is kept");
                self.notes.add(AdaptationKind::UnresolvedPath, url, message);
            }
        }
    }

    fn attachment(&mut self, url: &str) {
        let path = urls::relative_reference(url)
            .and_then(|reference| urls::join(self.directory(), &reference.path));
        let document = path.and_then(|path| self.plan.targets.at_path(&path));
        self.not_attached(
            url,
            if document.is_some() { "it is a document" } else { "it is no file of the folder" },
        );
    }

    fn not_attached(&mut self, url: &str, why: &str) {
        let message = format!("{url} is not taken in, for {why}; the path is kept");
        self.notes.add(AdaptationKind::Attachment, url, message);
    }

    /// The new URL of a file that is shown from the relative path `url`.
    fn attached(&mut self, url: &str) -> Option<String> {
        let reference = urls::relative_reference(url);
        let found = reference.and_then(|reference| self.attachable(&reference));
        if found.is_none() {
            self.attachment(url);
        }
        let (path, fragment) = found?;
        Some(self.take_in(path, url)? + &fragment)
    }

    /// The file that is no markdown which a path relative to this one leads to, and what of the
    /// link stays behind its URL.
    fn attachable(&self, reference: &Reference) -> Option<(&'a str, String)> {
        let path = self.plan.attachable.at_path(&urls::join(self.directory(), &reference.path)?)?;
        let fragment = reference.anchor.as_ref().map(|anchor| format!("#{}", urls::encode(anchor)));
        Some((path, fragment.unwrap_or_default()))
    }

    fn take_in(&mut self, path: &str, written: &str) -> Option<String> {
        match (self.attach)(path) {
            Ok(new) => Some(new),
            Err(why) => {
                self.not_attached(written, &why);
                None
            }
        }
    }

    /// The directory of this file.
    fn directory(&self) -> &str {
        self.plan.files.get(self.from).map_or("", |file| urls::directory(&file.path))
    }

    /// The new URL of a link that leads to a file, by a relative path or, as some programs write
    /// it, by a wiki link.
    fn destination(&mut self, Url { url, embedded }: Url<'_>, place: usize) -> Option<String> {
        if let Some(link) =
            wiki::scan(url).pop().filter(|link| link.range == (0..url.len()) && !link.embed)
        {
            let file = self.existing_file(&link, url)?;
            return self.link_to(file, link.anchor, place, url);
        }
        if !urls::is_relative(url) {
            return None;
        }
        if embedded {
            return self.attached(url);
        }
        let Some(reference) = urls::relative_reference(url) else {
            let message = format!("{url} is more than a path; the link is kept");
            self.notes.add(AdaptationKind::UnresolvedPath, url, message);
            return None;
        };
        let Some(file) = self.file_at(&reference.path) else {
            if let Some((path, fragment)) = self.attachable(&reference) {
                return Some(self.take_in(path, url)? + &fragment);
            }
            let message =
                format!("{url} leads to no markdown file of the folder; the link is kept");
            self.notes.add(AdaptationKind::UnresolvedPath, url, message);
            return None;
        };
        self.link_to(file, reference.anchor.as_deref(), place, url)
    }

    /// The file at a path relative to this one.
    fn file_at(&self, path: &str) -> Option<FileIndex> {
        if path.is_empty() {
            return Some(self.from);
        }
        let own = self.plan.files.get(self.from).map_or("", |file| file.path.as_str());
        let path = urls::join(urls::directory(own), path)?;
        self.plan.targets.at_path(&path).filter(|file| !(self.is_gone)(*file))
    }

    fn rewrite_wiki_links(&mut self, data: &mut BlockData, place: usize) -> bool {
        let text = std::mem::take(&mut data.markdown);
        let (loose, resolved) = (self.loose.len(), self.resolved);
        let within = ordinary_links(&text);
        let (mut rewritten, mut at, mut changed) = (String::new(), 0, 0);
        for link in wiki::scan(&text) {
            let written = text.get(link.range.clone()).unwrap_or_default();
            if within
                .iter()
                .any(|range| range.start < link.range.end && link.range.start < range.end)
            {
                // As a destination of its own it was remarked on before.
                if !is_destination(&text, &link.range) {
                    let message = format!("{written} stands within another link and stays text");
                    self.notes.add(AdaptationKind::UnresolvedLink, written, message);
                }
                continue;
            }
            let Some(new) = self.wiki_link(&link, written, place) else { continue };
            rewritten.push_str(text.get(at..link.range.start).unwrap_or_default());
            rewritten.push_str(&new);
            at = link.range.end;
            changed += 1;
        }
        rewritten.push_str(text.get(at..).unwrap_or_default());
        // What stands around the links may keep markdown from reading them as such.
        if own_links(&rewritten) != own_links(&text) + changed {
            let message =
                format!("the wiki links stay text: {}", text.lines().next().unwrap_or_default());
            self.notes.add_at(AdaptationKind::UnresolvedLink, None, message);
            self.loose.truncate(loose);
            self.resolved = resolved;
            data.markdown = text;
            return false;
        }
        data.markdown = rewritten;
        changed > 0
    }

    /// A wiki link as an ordinary one.
    fn wiki_link(&mut self, link: &WikiLink<'_>, written: &str, place: usize) -> Option<String> {
        if link.embed {
            if let Some(path) = self.plan.attachable.by_name(self.directory(), link.target) {
                return self.embed(path, link, written);
            }
            self.notes.add(AdaptationKind::Embed, written, format!("{written} stays text"));
            return None;
        }
        let file = self.existing_file(link, written)?;
        let url = self.link_to(file, link.anchor, place, written)?;
        Some(format!("[{}]({url})", label(link)))
    }

    /// `![[..]]` of a file that is no markdown.
    fn embed(&mut self, path: &str, link: &WikiLink<'_>, written: &str) -> Option<String> {
        let url = self.take_in(path, written)?;
        let fragment =
            link.anchor.map(|anchor| format!("#{}", urls::encode(anchor))).unwrap_or_default();
        let (alias, size) = link.alias.map_or((None, None), wiki::without_size);
        if let Some(size) = size {
            let message = format!("the size {size} of {written} is left off");
            self.notes.add(AdaptationKind::Markdown, written, message);
        }
        Some(format!("![{}]({url}{fragment})", titles::literal(alias.unwrap_or(link.target))))
    }

    /// The file that a wiki link leads to; a remark if there is none.
    fn existing_file(&mut self, link: &WikiLink<'_>, written: &str) -> Option<FileIndex> {
        let file = self.named_file(link, written).filter(|file| !(self.is_gone)(*file));
        if file.is_none() {
            let message = format!("{written} leads to no file and stays text");
            self.notes.add(AdaptationKind::UnresolvedLink, written, message);
        }
        file
    }

    fn named_file(&mut self, link: &WikiLink<'_>, written: &str) -> Option<FileIndex> {
        if link.target.is_empty() {
            return Some(self.from);
        }
        let (file, all) = match self.plan.targets.by_name(self.from, link.target) {
            Found::Nothing => return None,
            Found::One(file) => return Some(file),
            Found::OneOf(file, all) => (file, all),
        };
        let path =
            |index: &FileIndex| self.plan.files.get(*index).map_or("", |file| file.path.as_str());
        let all: Vec<_> = all.iter().map(path).collect();
        let message =
            format!("{written} leads to {}; it could be any of {}", path(&file), all.join(", "));
        self.notes.add(AdaptationKind::AmbiguousLink, written, message);
        Some(file)
    }

    fn link_to(
        &mut self,
        file: FileIndex,
        anchor: Option<&str>,
        place: usize,
        written: &str,
    ) -> Option<String> {
        let document = self.plan.files.get(file)?.id.root();
        let id = match anchor {
            Some(anchor) => self.anchored.stand_in(file, anchor, self.mint),
            None => document,
        };
        if anchor.is_some() || file > self.from {
            let line = anchor.and_then(|_| self.notes.line_of(written));
            let anchor = anchor.map(ToOwned::to_owned);
            self.loose.push(Loose { place, line, file, id, anchor });
        }
        self.resolved += 1;
        Some(block_url(id))
    }
}

/// What the parser would make of a block whose links have changed: a link alone in a paragraph is a
/// block of its own.
fn reread(data: &mut BlockData) {
    if !data.block_type().has_own_markdown() {
        return;
    }
    let is_paragraph = matches!(&data.kind, BlockKind::Text(look) if look.style == TextStyle::Body);
    if is_paragraph && data.markdown.starts_with(['[', '!']) && data.markdown.ends_with(')') {
        let read = markdown::parse(&data.markdown, &markdown::ParseOptions::default());
        let mut blocks = read.map(|parsed| parsed.blocks).unwrap_or_default();
        if let (Some(block), true) = (blocks.pop(), blocks.is_empty())
            && !block.data.block_type().has_own_markdown()
        {
            let (read, _) = block.into_parts();
            (data.kind, data.markdown) = (read.kind, read.markdown);
            return;
        }
    }
    markdown::canonical(data);
}

/// How many links of `text` lead to blocks or to uploaded files.
fn own_links(text: &str) -> usize {
    let mut count = 0;
    markdown::links(text, &mut |link| {
        let is_own = matches!(link.target, LinkTarget::Block(_))
            || AssetUrl::asset_of(&link.destination).is_some();
        count += usize::from(is_own);
    });
    count
}

/// The bytes of each ordinary link, from its opening bracket to the end of its destination.
fn ordinary_links(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    markdown::links(text, &mut |link| {
        let words = matches!(link.form, LinkForm::Inline | LinkForm::Embedded);
        let start = words.then(|| opening_bracket(text, link.range.start)).flatten();
        found.push(start.unwrap_or(link.range.start)..link.range.end);
    });
    found
}

fn is_destination(text: &str, range: &Range<usize>) -> bool {
    let (before, after) = (text.get(..range.start), text.get(range.end..));
    before.is_some_and(|before| before.ends_with("]("))
        && after.is_some_and(|after| after.starts_with(')'))
}

/// Where the words of the link begin whose destination begins at `destination`.
fn opening_bracket(text: &str, destination: usize) -> Option<usize> {
    let before = text.get(..destination)?;
    let mut closed = 0_usize;
    for (at, letter) in before.get(..before.rfind("](")? + 1)?.char_indices().rev() {
        let escaped =
            before.get(..at)?.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
        match letter {
            _ if escaped => {}
            ']' => closed += 1,
            '[' if closed == 1 => return Some(at),
            '[' => closed -= 1,
            _ => {}
        }
    }
    None
}

/// The words of a wiki link, as inline markdown.
fn label(link: &WikiLink<'_>) -> String {
    match (link.alias, link.anchor) {
        (Some(alias), _) if can_be_label(alias) => alias.to_owned(),
        (Some(alias), _) => titles::literal(alias),
        (None, None) => titles::literal(link.target),
        (None, Some(anchor)) if link.target.is_empty() => titles::literal(anchor),
        (None, Some(anchor)) => titles::literal(&format!("{}#{anchor}", link.target)),
    }
}

/// Whether markdown reads `text` between brackets as a link's words.
fn can_be_label(text: &str) -> bool {
    let mut open = 0_usize;
    let mut escaped = false;
    for letter in text.chars() {
        match letter {
            _ if escaped => {}
            '[' => open += 1,
            ']' if open == 0 => return false,
            ']' => open -= 1,
            _ => {}
        }
        escaped = letter == '\\' && !escaped;
    }
    open == 0 && !escaped && !text.contains("](")
}
