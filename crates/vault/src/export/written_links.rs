//! Links as they were written in the files of an import, where they still lead to the same target.

use std::ops::Range;

use leafbase::bulk::LinkLayout;
use leafbase::markdown::{self, InlineLink, LinkForm, LinkTarget};
use leafbase::{AssetId, AssetUrl, BlockData, BlockId, BlockKind, BlockType};

use super::relative_links::RelativeLinks;
use super::wiki_links::WikiNames;
use crate::import::inline_links::{WikiLink, block_reference, wiki_links};
use crate::import::inline_rewrites::normalize;
use crate::import::link_resolver::{embed_markdown, label};
use crate::import::link_targets::AttachmentCandidates;
use crate::link_paths::{RelativeUrl, destination_range, directory, join, rewrite_urls};

/// Writes links as they were written. One whose target moved, or was renamed, is written in its own
/// form: as a wiki link, or as a relative one.
#[derive(Debug)]
pub(crate) struct WrittenLinks<'a> {
    links: &'a RelativeLinks<'a>,
    names: WikiNames,
    attachments: AttachmentCandidates,
    /// Whether [`super::logseq_links::LogseqLinks`] writes the links that Logseq has another form
    /// for.
    is_for_logseq: bool,
}

/// Target of a link of an export.
#[derive(Clone, Copy, Debug)]
enum OwnTarget {
    Block(BlockId),
    File(AssetId),
}

impl OwnTarget {
    fn of_url(url: &str) -> Option<Self> {
        match LinkTarget::of(url) {
            LinkTarget::Block(block) => Some(Self::Block(block)),
            _ => AssetUrl::asset_of(url).map(Self::File),
        }
    }
}

impl<'a> WrittenLinks<'a> {
    pub(crate) fn new(links: &'a RelativeLinks<'a>) -> Self {
        let layout = links.layout();
        let attachments = links.attachments().iter().map(|file| file.path.clone());
        Self {
            links,
            names: WikiNames::new(layout),
            attachments: AttachmentCandidates::new(attachments.collect()),
            is_for_logseq: false,
        }
    }

    /// Leaves links to blocks that Logseq knows by an ID, wiki links with words, and wiki links to
    /// pages of another name to [`super::logseq_links::LogseqLinks`].
    pub(super) const fn for_logseq(mut self) -> Self {
        self.is_for_logseq = true;
        self
    }

    /// Rewrites the links of a block in the document of index `from` that its layout knows.
    pub(super) fn rewrite(&self, from: usize, data: &mut BlockData) {
        let Some(written) = data.layout.as_deref().map(|layout| layout.links.clone()) else {
            return;
        };
        if written.is_empty() {
        } else if data.block_type().has_own_markdown() {
            self.rewrite_inline(from, data, written);
        } else {
            self.rewrite_block(from, data, &written);
        }
    }

    /// Rewrites a block that is one link.
    fn rewrite_block(&self, from: usize, data: &mut BlockData, written: &[LinkLayout]) {
        let Some((_, url)) = data.url() else { return };
        let Some(target) = OwnTarget::of_url(url) else { return };
        let Some(link) = written.iter().find(|link| self.leads_to(from, link, target)) else {
            return;
        };
        if !link.is_wiki {
            if let Some((_, url)) = data.url_mut() {
                *url = link.text.to_string();
            }
            return;
        }
        if let Some(picture) = picture(link) {
            if self.is_named_as(&data.kind, &picture, target) {
                data.kind = picture;
            }
            return;
        }
        // A wiki link alone in a paragraph became a block of its own: as long as that says the
        // same, it is written as the text that it was.
        let mut read = match wiki_links(&link.text).pop() {
            Some(link) if link.is_embed => BlockData::text(embed_markdown(&link, url)),
            Some(link) => BlockData::text(format!("[{}]({url})", label(&link))),
            None => {
                let mut text = BlockData::text(link.text.to_string());
                rewrite_urls(&mut text, &mut |_| Some(url.to_owned()));
                text
            }
        };
        normalize(&mut read);
        if is_equivalent(&read.kind, &data.kind) {
            data.kind = BlockKind::empty(BlockType::Text);
            data.inline = link.text.to_string();
        }
    }

    /// Whether a file has the name that a picture of it was written with.
    fn is_named_as(&self, kind: &BlockKind, picture: &BlockKind, target: OwnTarget) -> bool {
        let (BlockKind::File { file_name, .. }, OwnTarget::File(file)) = (kind, target) else {
            return false;
        };
        match picture {
            BlockKind::Image { alt_text, .. } | BlockKind::Video { alt_text, .. } => {
                let is_own = || self.links.attachment_name(file) == Some(file_name);
                alt_text == file_name || (alt_text.is_empty() && is_own())
            }
            _ => false,
        }
    }

    fn rewrite_inline(&self, from: usize, data: &mut BlockData, mut written: Vec<LinkLayout>) {
        let bar = if data.block_type() == BlockType::Table { "\\|" } else { "|" };
        let (mut text, mut end) = (String::new(), 0);
        let inline = &data.inline;
        markdown::links(inline, &mut |link| {
            let Some(target) = OwnTarget::of_url(&link.destination) else { return };
            if self.leaves(target) {
                return;
            }
            let is_it = |(_, written): &(usize, &LinkLayout)| {
                self.leads_to(from, written, target) && has_label(written, inline, &link)
            };
            // The text of a link that led elsewhere is taken if no other one leads there.
            let found = written.iter().enumerate().filter(is_it);
            let found = found.min_by_key(|(_, written)| self.is_stale(written, target));
            let (range, new) = match found.map(|(index, _)| index) {
                Some(index) => {
                    let LinkLayout { text, is_wiki, .. } = written.remove(index);
                    let whole = whole_range(inline, &link);
                    let range = if is_wiki { whole } else { destination_range(inline, &link) };
                    (range, text.to_string())
                }
                // The target moved, or the words changed: a link of the same form.
                None => match self.in_known_form(from, &mut written, target, inline, &link, bar) {
                    Some(new) => new,
                    None => return,
                },
            };
            if let Some(before) = inline.get(end..range.start) {
                text.push_str(before);
                text.push_str(&new);
                end = range.end;
            }
        });
        if end > 0 {
            text.push_str(inline.get(end..).unwrap_or_default());
            data.inline = text;
        }
    }

    /// The range and the text of a link in a form that the block had: a reference, or a wiki link.
    fn in_known_form(
        &self,
        from: usize,
        written: &mut Vec<LinkLayout>,
        target: OwnTarget,
        inline: &str,
        link: &InlineLink<'_>,
        bar: &str,
    ) -> Option<(Range<usize>, String)> {
        if let OwnTarget::Block(block) = target
            && let Some(id) = self.links.own_logseq_id(block)
            && written.iter().any(|link| block_reference(&link.text).is_some())
        {
            return Some((destination_range(inline, link), format!("(({id}))")));
        }
        if self.is_for_logseq {
            return None;
        }
        let is_wiki = |written: &LinkLayout| written.is_wiki && !written.text.starts_with('!');
        let is_it = |written: &LinkLayout| is_wiki(written) && has_label(written, inline, link);
        if let Some(index) = written.iter().position(is_it) {
            written.remove(index);
        } else if !written.iter().any(is_wiki) || written.iter().any(|link| !link.is_wiki) {
            return None;
        }
        let wiki_link = self.names.wiki_link(from, self.links, inline, link, bar)?;
        Some((link.whole.clone(), wiki_link))
    }

    /// Whether a link as written in the document of index `from` leads to the target.
    fn leads_to(&self, from: usize, written: &LinkLayout, target: OwnTarget) -> bool {
        let Some(document) = self.links.layout().documents.get(from) else { return false };
        let own_directory = directory(&document.path);
        if let (Some(id), OwnTarget::Block(block)) = (block_reference(&written.text), target) {
            // The ID of a block that is gone may be that of another one by now.
            let is_gone = !self.links.is_exported(block);
            return is_gone || self.links.own_logseq_id(block) == Some(id);
        }
        let wiki_link = wiki_links(&written.text).pop();
        let whole = wiki_link.filter(|link| link.range == (0..written.text.len()));
        match (whole, target) {
            (Some(link), OwnTarget::Block(_)) if self.is_for_logseq && link.alias.is_some() => {
                false
            }
            (Some(link), OwnTarget::Block(block)) => {
                let number = self.named_document(from, &link);
                number.is_some_and(|number| self.links.leads_to(number, link.anchor, block))
            }
            (Some(link), OwnTarget::File(file)) => {
                let path = self.attachments.by_name(own_directory, link.target);
                path.is_some() && path == self.links.attachment_path(file)
            }
            (None, target) => {
                let url = if written.is_wiki {
                    first_destination(&written.text)
                } else {
                    url_of(&written.text)
                };
                let Some(url) = url.and_then(|url| RelativeUrl::parse(&url)) else {
                    return false;
                };
                let path = join(own_directory, &url.path);
                match target {
                    OwnTarget::Block(block) => {
                        let number = match url.path.as_str() {
                            "" => Some(from),
                            _ => path.and_then(|path| self.names.documents().at_path(&path)),
                        };
                        let anchor = url.anchor.as_deref();
                        number.is_some_and(|number| self.links.leads_to(number, anchor, block))
                    }
                    OwnTarget::File(file) => {
                        let path = path.and_then(|path| self.attachments.at_path(&path));
                        path.is_some() && path == self.links.attachment_path(file)
                    }
                }
            }
        }
    }

    /// Whether a link as written led to another block, which is gone or has lost the anchor: a link
    /// to its document, or to a block that is gone itself, may be written so.
    fn is_stale(&self, written: &LinkLayout, target: OwnTarget) -> bool {
        let OwnTarget::Block(block) = target else { return false };
        if let Some(id) = block_reference(&written.text) {
            return !self.links.is_exported(block) && self.links.is_own_logseq_id(id);
        }
        self.links.document_number(block).is_some() && written_anchor(written).is_some()
    }

    fn leaves(&self, target: OwnTarget) -> bool {
        let OwnTarget::Block(block) = target else { return false };
        self.is_for_logseq && self.links.logseq_id(block).is_some()
    }

    fn named_document(&self, from: usize, link: &WikiLink<'_>) -> Option<usize> {
        if link.target.is_empty() {
            return Some(from);
        }
        self.names.document(from, link.target)
    }
}

/// The block that markdown reads as a picture, as which a file was written.
fn picture(written: &LinkLayout) -> Option<BlockKind> {
    if !written.is_wiki || !written.text.starts_with("![") || written.text.starts_with("![[") {
        return None;
    }
    let parsed = markdown::parse(&written.text, &markdown::ParseOptions::default()).ok()?;
    let (data, _) = parsed.blocks.into_iter().next()?.into_parts();
    Some(data.kind)
}

/// The anchor in a link as written.
fn written_anchor(written: &LinkLayout) -> Option<String> {
    if let Some(link) = wiki_links(&written.text).pop() {
        return link.anchor.map(ToOwned::to_owned);
    }
    let url =
        if written.is_wiki { first_destination(&written.text) } else { url_of(&written.text) };
    RelativeUrl::parse(&url?)?.anchor
}

/// The destination that a link as written has.
fn url_of(written: &str) -> Option<String> {
    // A block that is one link has its destination decoded.
    if written.contains(' ') && !written.starts_with('<') {
        return Some(written.to_owned());
    }
    first_destination(&format!("[x]({written})"))
}

fn first_destination(text: &str) -> Option<String> {
    let mut url = None;
    markdown::links(text, &mut |link| {
        url.get_or_insert_with(|| link.destination.into_owned());
    });
    url
}

/// Whether a wiki link shows the words that a link has now.
fn has_label(written: &LinkLayout, inline: &str, link: &InlineLink<'_>) -> bool {
    if block_reference(&written.text).is_some() {
        let label = link.label.clone().and_then(|label| inline.get(label));
        return (label == Some(&*written.text)) == written.is_wiki;
    }
    if !written.is_wiki {
        return true;
    }
    let Some(wiki_link) = wiki_links(&written.text).pop() else { return false };
    let range = whole_range(inline, link);
    debug_assert!(inline.get(range.clone()).is_some(), "the link {range:?} is in {inline:?}");
    let whole = inline.get(whole_range(inline, link)).unwrap_or_default();
    let url = link.destination.as_ref();
    if wiki_link.is_embed {
        return whole == embed_markdown(&wiki_link, url);
    }
    link.form == LinkForm::Inline && whole == format!("[{}]({url})", label(&wiki_link))
}

/// The byte range of a link, with the exclamation mark of an embedded one.
fn whole_range(inline: &str, link: &InlineLink<'_>) -> Range<usize> {
    let is_marked = link.form == LinkForm::Embedded
        && inline.get(..link.whole.start).is_some_and(|before| before.ends_with('!'));
    link.whole.start - usize::from(is_marked)..link.whole.end
}

/// Whether two blocks say the same, but for the size of pictures.
fn is_equivalent(read: &BlockKind, present: &BlockKind) -> bool {
    match (read, present) {
        (
            BlockKind::Image { url, alt_text, .. },
            BlockKind::Image { url: present_url, alt_text: present_text, .. },
        )
        | (
            BlockKind::Video { url, alt_text, .. },
            BlockKind::Video { url: present_url, alt_text: present_text, .. },
        ) => url == present_url && alt_text == present_text,
        (
            BlockKind::File { url, file_name, .. },
            BlockKind::File { url: present_url, file_name: present_name, .. },
        ) => url == present_url && file_name == present_name,
        (
            BlockKind::RichUrl { url, title, .. },
            BlockKind::RichUrl { url: present_url, title: present_title, .. },
        ) => url == present_url && title == present_title,
        _ => read == present,
    }
}
