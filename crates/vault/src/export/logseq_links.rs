//! Links of an export as Logseq writes them: `[[Page]]`, `[words]([[Page]])` and `((id))`.

use leafbase::bulk::LinkLayout;
use leafbase::markdown::{self, InlineLink, LinkForm, LinkTarget};
use leafbase::{BlockData, BlockId, BlockKind, BlockType, Day};

use super::layout::ExportLayout;
use super::relative_links::RelativeLinks;
use super::wiki_links::{is_plain, rewrite_links};
use crate::file_names::{decode, without_extension};
use crate::import::inline_links::wiki_links;
use crate::import::link_resolver::label;
use crate::link_paths::file_name;
use crate::logseq_ids::ID_PROPERTY;
use crate::markdown_file::literal;

/// Names of the months in titles of journals.
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The titles that documents have as pages of a graph.
#[derive(Debug)]
pub(crate) struct LogseqLinks {
    /// By the index of the document. `None` for a title that a link cannot have.
    titles: Vec<Option<String>>,
}

impl LogseqLinks {
    pub(crate) fn new(layout: &ExportLayout) -> Self {
        let titles = layout.documents.iter().map(|document| {
            let title = match layout.days.get(&document.id) {
                Some(day) => journal_title(*day),
                None => decode(without_extension(file_name(&document.path))),
            };
            is_plain(&title).then_some(title)
        });
        Self { titles: titles.collect() }
    }

    /// Rewrites the links of a block, and gives it the property by which others refer to it.
    pub(super) fn rewrite(&self, links: &RelativeLinks<'_>, block: BlockId, data: &mut BlockData) {
        if let BlockKind::RichUrl { url, title, .. } = &data.kind {
            if let LinkTarget::Block(target) = LinkTarget::of(url)
                && let Some(link) = self.reference(links, target, &literal(title), &[])
            {
                data.kind = BlockKind::empty(BlockType::Text);
                data.inline = link;
            }
            return;
        }
        let written = data.layout.as_deref().map(|layout| layout.links.clone()).unwrap_or_default();
        rewrite_links(data, &mut |inline, link| self.link(links, inline, link, &written));
        if links.own_logseq_id(block).is_none()
            && let Some(id) = links.logseq_id(block)
        {
            data.inline = format!("{}\n{ID_PROPERTY}{id}", data.inline);
        }
    }

    fn link(
        &self,
        links: &RelativeLinks<'_>,
        inline: &str,
        link: &InlineLink<'_>,
        written: &[LinkLayout],
    ) -> Option<String> {
        let (LinkForm::Inline, LinkTarget::Block(target)) = (link.form, link.target) else {
            return None;
        };
        self.reference(links, target, inline.get(link.label.clone()?)?, written)
    }

    /// A link to a page or a block. `None` for a block that has no place for a property.
    fn reference(
        &self,
        links: &RelativeLinks<'_>,
        to: BlockId,
        words: &str,
        written: &[LinkLayout],
    ) -> Option<String> {
        if let Some(id) = links.logseq_id(to) {
            let reference = format!("(({id}))");
            let has_words = words != reference && !written.iter().any(|it| is_label(it, words));
            return Some(if has_words { format!("[{words}]({reference})") } else { reference });
        }
        let title = self.titles.get(links.document_number(to)?)?.as_deref()?;
        let is_title = markdown::plain_text(words) == title;
        Some(if is_title { format!("[[{title}]]") } else { format!("[{words}]([[{title}]])") })
    }
}

/// Whether a link that was written without words got these.
fn is_label(written: &LinkLayout, words: &str) -> bool {
    let link = wiki_links(&written.text).pop().filter(|link| link.alias.is_none());
    link.is_some_and(|link| label(&link) == words)
}

/// The title of a journal: `Feb 10th, 2026`.
fn journal_title(day: Day) -> String {
    let month = MONTHS.get(usize::from(day.month()).saturating_sub(1)).copied().unwrap_or_default();
    let number = day.day();
    let ordinal = match (number % 10, number) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{month} {number}{ordinal}, {}", day.year())
}
