//! The link resolver: links of an imported file become links to blocks and to uploads.

use std::collections::HashMap;
use std::ops::Range;

use leafbase::bulk::LinkLayout;
use leafbase::markdown;
use leafbase::{BlockData, BlockDraft, BlockId, BlockType};

use super::block_references::{BlockReference, reference_ids};
use super::file_warnings::FileWarnings;
use super::inline_links::{WikiLink, block_reference, split_size, wiki_links};
use super::inline_rewrites::{normalize, ordinary_links, own_link_starts, own_links};
use super::link_targets::{DocumentTargets, FileIndex, NameMatch};
use super::plan::ImportPlan;
use crate::link_paths::{
    LinkUrl, RelativeUrl, block_url, directory, file_name, is_relative, join, rewrite_urls,
    to_fragment,
};
use crate::markdown_file::literal;
use crate::report::VaultWarningKind;

/// Placeholder IDs of anchors: a link to a heading or block gets one until the second pass, when
/// all files have been read.
#[derive(Debug, Default)]
pub(super) struct AnchorPlaceholders(HashMap<(FileIndex, String), BlockId>);

impl AnchorPlaceholders {
    fn get(
        &mut self,
        file: FileIndex,
        anchor: &str,
        new_id: &mut dyn FnMut() -> [u8; 16],
    ) -> BlockId {
        let id = self.0.entry((file, anchor.to_owned()));
        *id.or_insert_with(|| BlockId::from_bytes(new_id()))
    }
}

/// A link that the second pass has to revisit: its anchor is not resolved yet, or its target may
/// still be skipped.
#[derive(Clone, Debug)]
pub(crate) struct PendingLink {
    /// Index of its block in document order.
    pub(super) block: usize,
    pub(crate) line: Option<usize>,
    pub(crate) target: FileIndex,
    /// The ID in its URL: a placeholder, or the root of the target.
    pub(crate) id: BlockId,
    pub(crate) anchor: Option<String>,
}

/// Resolves the links of one file.
pub(super) struct LinkResolver<'a, 't> {
    pub(super) plan: &'a ImportPlan,
    pub(super) from: FileIndex,
    /// Whether a file before this one was skipped.
    pub(super) is_skipped: &'a dyn Fn(FileIndex) -> bool,
    pub(super) placeholders: &'a mut AnchorPlaceholders,
    /// Imports the attachment at a path and returns its URL, or why it cannot be imported.
    pub(super) import_attachment: &'a mut dyn FnMut(&str) -> Result<String, String>,
    pub(super) new_id: &'a mut dyn FnMut() -> [u8; 16],
    pub(super) warnings: &'a mut FileWarnings<'t>,
    pub(super) pending: Vec<PendingLink>,
    /// References to blocks, which stay text until all files have been read.
    pub(super) references: Vec<BlockReference>,
    /// The resolved links of the block, as they were written.
    pub(super) written: Vec<LinkLayout>,
    /// The path of the attachment that was imported last.
    pub(super) attachment_path: Option<Box<str>>,
    /// Number of links that became links to blocks.
    pub(super) resolved: u64,
    /// Whether a link led to a file by its former path.
    pub(super) has_former_links: bool,
}

impl<'a> LinkResolver<'a, '_> {
    /// Rewrites the links of `drafts` and their descendants by a pre-order traversal. `first` is
    /// the index of the first draft in document order.
    pub(super) fn rewrite(&mut self, drafts: &mut [BlockDraft], first: usize) {
        let mut stack: Vec<&mut BlockDraft> = drafts.iter_mut().rev().collect();
        let mut index = first;
        while let Some(draft) = stack.pop() {
            self.rewrite_block(&mut draft.data, index);
            // Document order: indices have to match those of the stored subtrees.
            stack.extend(draft.content.iter_mut().rev());
            index += 1;
        }
    }

    fn rewrite_block(&mut self, data: &mut BlockData, block: usize) {
        self.warnings.begin_block(&data.inline);
        for id in reference_ids(data) {
            let line = self.warnings.line_of(&format!("(({id}))"));
            self.references.push(BlockReference { block, line, id });
        }
        self.written.clear();
        let has_markdown = data.block_type().has_own_markdown();
        let source = if has_markdown { data.inline.clone() } else { String::new() };
        // A comment kept it from becoming a block of its own.
        let is_lone_link = markdown::is_lone_link(data);
        let mut changed = rewrite_urls(data, &mut |link| {
            let new = self.resolve_url(link, block)?;
            let attachment = self.attachment_path.take();
            self.written.push(LinkLayout { text: link.written.into(), is_wiki: false, attachment });
            Some(new)
        });
        if has_markdown && data.inline.contains("[[") {
            changed |= self.rewrite_wiki_links(data, block);
        }
        if changed && !is_lone_link {
            normalize(data);
            if has_markdown && data.block_type() == BlockType::File {
                self.keep_whole_link(&source);
            }
        }
        if !self.written.is_empty() {
            data.layout.get_or_insert_default().links = std::mem::take(&mut self.written);
        }
    }

    /// Keeps the text of a paragraph whose link became a file block, in the place of its path.
    fn keep_whole_link(&mut self, source: &str) {
        if let [link] = self.written.as_mut_slice()
            && !link.is_wiki
        {
            link.text = source.into();
            link.is_wiki = true;
        }
    }

    fn warn_of_no_candidate(&mut self, url: &str) {
        let path = RelativeUrl::parse(url).and_then(|url| join(self.directory(), &url.path));
        let document = path.and_then(|path| self.plan.documents.at_path(&path));
        let reason =
            if document.is_some() { "it is a document" } else { "it is not a file of the folder" };
        self.warn_not_imported(url, reason);
    }

    fn warn_not_imported(&mut self, written: &str, reason: &str) {
        let message = format!("{written} was not imported: {reason}; the path is kept");
        self.warnings.warn(VaultWarningKind::Attachment, written, message);
    }

    /// The candidate that a relative URL leads to, and the fragment to keep.
    fn attachment(&self, url: &RelativeUrl) -> Option<(&'a str, String)> {
        let path = self.plan.attachments.at_path(&join(self.directory(), &url.path)?)?;
        Some((path, to_fragment(url.anchor.as_deref())))
    }

    /// Imports an attachment. Returns its new URL.
    fn import(&mut self, path: &str, fragment: &str, written: &str) -> Option<String> {
        match (self.import_attachment)(path) {
            Ok(url) => {
                self.attachment_path = Some(path.into());
                Some(url + fragment)
            }
            Err(reason) => {
                self.warn_not_imported(written, &reason);
                None
            }
        }
    }

    fn directory(&self) -> &'a str {
        directory(self.plan.path(self.from))
    }

    /// The new URL of a link: of a relative path, or of a wiki link in the place of a URL, as some
    /// programs write it.
    fn resolve_url(
        &mut self,
        LinkUrl { url, is_embedded, .. }: LinkUrl<'_>,
        block: usize,
    ) -> Option<String> {
        // Some programs write `[words]([[Note]])`: a wiki link as the destination.
        let wiki_link = wiki_links(url).pop();
        if let Some(link) = wiki_link.filter(|link| link.range == (0..url.len()) && !link.is_embed)
        {
            let file = self.existing_file(&link, url)?;
            return Some(self.link_to(file, link.anchor, block, url));
        }
        if !is_relative(url) || block_reference(url).is_some() {
            return None;
        }
        let relative = RelativeUrl::parse(url);
        if is_embedded {
            let Some((path, fragment)) = relative.and_then(|url| self.attachment(&url)) else {
                self.warn_of_no_candidate(url);
                return None;
            };
            return self.import(path, &fragment, url);
        }
        let Some(relative) = relative else {
            let message = format!("{url} is more than a path; the link is kept");
            self.warnings.warn(VaultWarningKind::UnresolvedPath, url, message);
            return None;
        };
        // Documents take precedence over attachments of the same path.
        if let Some(file) = self.file_at(&relative.path) {
            return Some(self.link_to(file, relative.anchor.as_deref(), block, url));
        }
        if let Some((path, fragment)) = self.attachment(&relative) {
            return self.import(path, &fragment, url);
        }
        let former_directory = directory(self.plan.former_path(self.from));
        let former = self
            .former_file(|documents| documents.at_path(&join(former_directory, &relative.path)?));
        if let Some(file) = former {
            return Some(self.link_to(file, relative.anchor.as_deref(), block, url));
        }
        let message = format!("{url} leads to no markdown file of the folder; the link is kept");
        self.warnings.warn(VaultWarningKind::UnresolvedPath, url, message);
        None
    }

    /// The document at a path relative to this file.
    fn file_at(&self, path: &str) -> Option<FileIndex> {
        if path.is_empty() {
            return Some(self.from);
        }
        let path = join(self.directory(), path)?;
        self.plan.documents.at_path(&path).filter(|file| !(self.is_skipped)(*file))
    }

    /// The document that a link led to when files had their former paths.
    fn former_file(
        &mut self,
        find: impl FnOnce(&DocumentTargets) -> Option<FileIndex>,
    ) -> Option<FileIndex> {
        let found = find(self.plan.former_documents.as_ref()?);
        let found = found.filter(|file| !(self.is_skipped)(*file));
        self.has_former_links |= found.is_some();
        found
    }

    fn rewrite_wiki_links(&mut self, data: &mut BlockData, block: usize) -> bool {
        let text = std::mem::take(&mut data.inline);
        // Saved for a rollback, if the rewritten text does not parse as expected.
        let (pending, resolved) = (self.pending.len(), self.resolved);
        let ordinary_count = self.written.len();
        let ordinary = ordinary_links(&text);
        let own_starts = own_link_starts(&text);
        let (mut rewritten, mut at, mut count) = (String::new(), 0, 0);
        for link in wiki_links(&text) {
            debug_assert!(link.range.start >= at, "wiki links are in order and disjoint");
            let written = text.get(link.range.clone()).unwrap_or("");
            let overlaps =
                |range: &Range<usize>| range.start < link.range.end && link.range.start < range.end;
            if ordinary.iter().any(overlaps) {
                // As the destination of an ordinary link it was handled by `resolve_url`.
                if !is_destination(&text, &link.range) {
                    let message = format!("{written} is inside another link and stays text");
                    self.warnings.warn(VaultWarningKind::UnresolvedLink, written, message);
                }
                continue;
            }
            if let Some(new) = self.resolve_wiki_link(&link, written, block) {
                rewritten.push_str(text.get(at..link.range.start).unwrap_or(""));
                rewritten.push_str(&new);
                at = link.range.end;
                count += 1;
                let attachment = self.attachment_path.take();
                // In the order of the text: after the ordinary links before it, and the wiki links.
                let before = own_starts.iter().filter(|start| **start < link.range.start).count();
                let index = (before.min(ordinary_count) + count - 1).min(self.written.len());
                let layout = LinkLayout { text: written.into(), is_wiki: true, attachment };
                self.written.insert(index, layout);
            }
        }
        rewritten.push_str(text.get(at..).unwrap_or(""));
        // The surrounding text can keep markdown from parsing the new links as links.
        if own_links(&rewritten) != own_links(&text) + count {
            let first_line = text.lines().next().unwrap_or("");
            let message = format!("the wiki links stay text: {first_line}");
            self.warnings.warn_at(VaultWarningKind::UnresolvedLink, None, message);
            self.pending.truncate(pending);
            self.written.retain(|link| !link.is_wiki);
            self.resolved = resolved;
            data.inline = text;
            return false;
        }
        data.inline = rewritten;
        count > 0
    }

    /// A wiki link as an ordinary link.
    fn resolve_wiki_link(
        &mut self,
        link: &WikiLink<'_>,
        written: &str,
        block: usize,
    ) -> Option<String> {
        if link.is_embed {
            if let Some(path) = self.plan.attachments.by_name(self.directory(), link.target) {
                return self.embed(path, link, written);
            }
            let message = format!("{written} stays text");
            self.warnings.warn(VaultWarningKind::Embed, written, message);
            return None;
        }
        let url = if let Some(path) = self.named_attachment(link) {
            self.import(path, &to_fragment(link.anchor), written)?
        } else {
            let file = self.existing_file(link, written)?;
            self.link_to(file, link.anchor, block, written)
        };
        Some(format!("[{}]({url})", label(link)))
    }

    /// The attachment that a wiki link names with its extension, if there is no such document.
    fn named_attachment(&self, link: &WikiLink<'_>) -> Option<&'a str> {
        let documents = &self.plan.documents;
        let is_free = file_name(link.target).contains('.')
            && documents.by_name(self.from, link.target) == NameMatch::None;
        let found = || self.plan.attachments.by_name(self.directory(), link.target);
        if is_free { found() } else { None }
    }

    fn embed(&mut self, path: &str, link: &WikiLink<'_>, written: &str) -> Option<String> {
        let url = self.import(path, &to_fragment(link.anchor), written)?;
        Some(embed_markdown(link, &url))
    }

    /// The file that a wiki link leads to. Warns if there is none.
    fn existing_file(&mut self, link: &WikiLink<'_>, written: &str) -> Option<FileIndex> {
        let file = self.named_file(link, written).filter(|file| !(self.is_skipped)(*file));
        if file.is_none() {
            let message = format!("{written} leads to no file and stays text");
            self.warnings.warn(VaultWarningKind::UnresolvedLink, written, message);
        }
        file
    }

    fn named_file(&mut self, link: &WikiLink<'_>, written: &str) -> Option<FileIndex> {
        if link.target.is_empty() {
            return Some(self.from);
        }
        let (file, named, count) = match self.plan.documents.by_name(self.from, link.target) {
            NameMatch::None => {
                let from = self.from;
                return self.former_file(|documents| match documents.by_name(from, link.target) {
                    NameMatch::None => None,
                    NameMatch::One(file) | NameMatch::Ambiguous(file, ..) => Some(file),
                });
            }
            NameMatch::One(file) => return Some(file),
            NameMatch::Ambiguous(file, named, count) => (file, named, count),
        };
        let more = count.saturating_sub(named.len());
        let named = named.iter().map(|file| self.plan.path(*file)).collect::<Vec<_>>().join(", ");
        let more = match more {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let path = self.plan.path(file);
        let message = format!("{written} leads to {path}; it could be any of {named}{more}");
        self.warnings.warn(VaultWarningKind::AmbiguousLink, written, message);
        Some(file)
    }

    /// The URL of a link to a document or to an anchor in it.
    fn link_to(
        &mut self,
        target: FileIndex,
        anchor: Option<&str>,
        block: usize,
        written: &str,
    ) -> String {
        let root = self.plan.files.get(target).map_or(BlockId::NIL, |file| file.id.root());
        let id = match anchor {
            Some(anchor) => self.placeholders.get(target, anchor, self.new_id),
            None => root,
        };
        // A file after this one may still be skipped.
        if anchor.is_some() || target > self.from {
            let line = anchor.and_then(|_| self.warnings.line_of(written));
            let anchor = anchor.map(ToOwned::to_owned);
            self.pending.push(PendingLink { block, line, target, id, anchor });
        }
        self.resolved += 1;
        block_url(id)
    }
}

fn is_destination(text: &str, range: &Range<usize>) -> bool {
    let (before, after) = (text.get(..range.start), text.get(range.end..));
    before.is_some_and(|before| before.ends_with("]("))
        && after.is_some_and(|after| after.starts_with(')'))
}

/// An embed as an ordinary one; its size stays in the source layout.
pub(crate) fn embed_markdown(link: &WikiLink<'_>, url: &str) -> String {
    let (alias, _) = link.alias.map_or((None, None), split_size);
    format!("![{}]({url})", literal(alias.unwrap_or(link.target)))
}

/// The text of a wiki link, as inline markdown.
pub(crate) fn label(link: &WikiLink<'_>) -> String {
    match (link.alias, link.anchor) {
        (Some(alias), _) if can_be_label(alias) => alias.to_owned(),
        (Some(alias), _) => literal(alias),
        (None, None) => literal(link.target),
        (None, Some(anchor)) if link.target.is_empty() => literal(anchor),
        (None, Some(anchor)) => literal(&format!("{}#{anchor}", link.target)),
    }
}

/// Whether markdown parses `text` between brackets as the text of a link.
fn can_be_label(text: &str) -> bool {
    let mut open = 0_usize;
    let mut is_escaped = false;
    for character in text.chars() {
        match character {
            _ if is_escaped => {}
            '[' => open += 1,
            ']' if open == 0 => return false,
            ']' => open -= 1,
            _ => {}
        }
        is_escaped = character == '\\' && !is_escaped;
    }
    open == 0 && !is_escaped && !text.contains("](")
}
