//! Links as they were written in the files of an import, where they still lead to the same target.

use std::ops::Range;

use leafbase::bulk::LinkLayout;
use leafbase::markdown::{self, InlineLink, LinkForm, LinkTarget};
use leafbase::{
    AssetId, AssetUrl, BlockData, BlockId, BlockKind, BlockType, MediaSize, MediaWidth,
};

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
        if is_equivalent(&read.kind, &data.kind) || self.is_named_as(&data.kind, &read.kind, target)
        {
            data.kind = BlockKind::empty(BlockType::Text);
            data.inline = link.text.to_string();
        }
    }

    /// Whether a file has the name that a picture of it was written with, or a picture or a video
    /// the same words and size.
    fn is_named_as(&self, kind: &BlockKind, picture: &BlockKind, target: OwnTarget) -> bool {
        if let (Some(present), Some(written)) = (shown(kind), shown(picture)) {
            return present == written;
        }
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

    fn rewrite_inline(&self, from: usize, data: &mut BlockData, written: Vec<LinkLayout>) {
        let bar = if data.block_type() == BlockType::Table { "\\|" } else { "|" };
        let (mut text, mut end) = (String::new(), 0);
        let inline = &data.inline;
        let (in_order, mut written) = self.in_order(from, inline, written);
        let mut in_order = in_order.into_iter();
        markdown::links(inline, &mut |link| {
            let Some(target) = OwnTarget::of_url(&link.destination) else { return };
            let own = in_order.next().flatten();
            if self.leaves(target) {
                return;
            }
            let own = own.or_else(|| self.take(from, &mut written, target, inline, &link));
            let (range, new) = match own {
                Some(LinkLayout { text, is_wiki, .. }) => {
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

    /// The texts that the links of a block have in order, and the other ones. The order says
    /// something as long as there are as many links as texts.
    fn in_order(
        &self,
        from: usize,
        inline: &str,
        written: Vec<LinkLayout>,
    ) -> (Vec<Option<LinkLayout>>, Vec<LinkLayout>) {
        let mut fitting = Vec::new();
        markdown::links(inline, &mut |link| {
            if let Some(target) = OwnTarget::of_url(&link.destination) {
                let is_own = |own: &LinkLayout| {
                    // A block reference names its target by ID: its order says nothing.
                    let is_other =
                        block_reference(&own.text).is_some() && self.is_stale(from, own, target);
                    !is_other && self.fits(from, own, target, inline, &link)
                };
                fitting.push(written.get(fitting.len()).is_some_and(is_own));
            }
        });
        let (mut in_order, mut others) = (Vec::new(), Vec::new());
        if fitting.len() == written.len() {
            for (written, fits) in written.into_iter().zip(fitting) {
                if fits {
                    in_order.push(Some(written));
                } else {
                    in_order.push(None);
                    others.push(written);
                }
            }
        } else {
            others = written;
        }
        (in_order, others)
    }

    /// Takes the text of a link out of those that no link has in order.
    fn take(
        &self,
        from: usize,
        written: &mut Vec<LinkLayout>,
        target: OwnTarget,
        inline: &str,
        link: &InlineLink<'_>,
    ) -> Option<LinkLayout> {
        let found = written.iter().enumerate();
        let found = found.filter(|(_, written)| {
            self.fits(from, written, target, inline, link)
                && !self.leads_elsewhere(from, written, target)
        });
        // The text of a link that led elsewhere is taken if no other one leads there.
        let found = found.min_by_key(|(_, written)| self.is_stale(from, written, target));
        let index = found?.0;
        Some(written.remove(index))
    }

    /// Whether a link may be written so: it leads to its target, and shows its words.
    fn fits(
        &self,
        from: usize,
        written: &LinkLayout,
        target: OwnTarget,
        inline: &str,
        link: &InlineLink<'_>,
    ) -> bool {
        self.leads_to(from, written, target) && has_label(written, inline, link)
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
        match target {
            OwnTarget::Block(block) => self.leads_to_block(from, written, block),
            OwnTarget::File(file) => {
                let path = self.written_attachment(from, written);
                path.is_some() && path == self.links.attachment_path(file)
            }
        }
    }

    fn leads_to_block(&self, from: usize, written: &LinkLayout, block: BlockId) -> bool {
        if let Some(id) = block_reference(&written.text) {
            // The ID of a block that is gone may be that of another one by now.
            let is_gone = !self.links.is_exported(block);
            return is_gone || self.links.own_logseq_id(block) == Some(id);
        }
        if self.links.is_gone(block) {
            // Its name or path is all that is left of it, and may lead to another one some day.
            return written.attachment.is_none();
        }
        let has_alias = |link: &WikiLink<'_>| link.alias.is_some();
        if self.is_for_logseq && whole_wiki_link(written).as_ref().is_some_and(has_alias) {
            return false;
        }
        let found = self.written_document(from, written);
        found.is_some_and(|(number, anchor)| self.links.leads_to(number, anchor.as_deref(), block))
    }

    /// The document that a link as written leads to, and the anchor that it names.
    fn written_document(
        &self,
        from: usize,
        written: &LinkLayout,
    ) -> Option<(usize, Option<String>)> {
        if let Some(link) = whole_wiki_link(written) {
            let number = self.named_document(from, &link)?;
            return Some((number, link.anchor.map(ToOwned::to_owned)));
        }
        let url = relative_url(written)?;
        let number = match url.path.as_str() {
            "" => from,
            path => self.names.documents().at_path(&join(self.directory(from), path)?)?,
        };
        Some((number, url.anchor))
    }

    /// The path of the file that a link as written leads to.
    fn written_attachment(&self, from: usize, written: &LinkLayout) -> Option<&str> {
        let own_directory = self.directory(from);
        match whole_wiki_link(written) {
            Some(link) => self.attachments.by_name(own_directory, link.target),
            None => self.attachments.at_path(&join(own_directory, &relative_url(written)?.path)?),
        }
    }

    fn directory(&self, from: usize) -> &str {
        let document = self.links.layout().documents.get(from);
        debug_assert!(document.is_some(), "links are written in exported documents");
        document.map_or("", |document| directory(&document.path))
    }

    /// Whether a link as written led to another block, which is gone or has lost the anchor: a link
    /// to its document, or to a block that is gone itself, may be written so.
    fn is_stale(&self, from: usize, written: &LinkLayout, target: OwnTarget) -> bool {
        let OwnTarget::Block(block) = target else { return false };
        if let Some(id) = block_reference(&written.text) {
            return !self.links.is_exported(block) && self.links.is_own_logseq_id(id);
        }
        if self.links.is_gone(block) {
            return self.written_document(from, written).is_some();
        }
        self.links.document_number(block).is_some() && written_anchor(written).is_some()
    }

    /// Whether the target is gone, and the path of a link as written is that of another document:
    /// it says nothing of the target, as the words of a wiki link do.
    fn leads_elsewhere(&self, from: usize, written: &LinkLayout, target: OwnTarget) -> bool {
        let OwnTarget::Block(block) = target else { return false };
        !written.is_wiki
            && self.links.is_gone(block)
            && self.written_document(from, written).is_some()
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

/// The words and the size of a picture or a video.
fn shown(kind: &BlockKind) -> Option<(&str, MediaSize, MediaWidth)> {
    match kind {
        BlockKind::Image { alt_text, size, width, .. }
        | BlockKind::Video { alt_text, size, width, .. } => Some((alt_text, *size, *width)),
        _ => None,
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
    match wiki_links(&written.text).pop() {
        Some(link) => link.anchor.map(ToOwned::to_owned),
        None => relative_url(written)?.anchor,
    }
}

/// A link as written that is a wiki link.
fn whole_wiki_link(written: &LinkLayout) -> Option<WikiLink<'_>> {
    let link = wiki_links(&written.text).pop();
    link.filter(|link| link.range == (0..written.text.len()))
}

/// A link as written that has a path.
fn relative_url(written: &LinkLayout) -> Option<RelativeUrl> {
    let url =
        if written.is_wiki { first_destination(&written.text) } else { url_of(&written.text) };
    RelativeUrl::parse(&url?)
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
