//! Wiki links of an export: `[[Note]]`, `[[Note|words]]` and `[[Note#^name|words]]`.

use std::collections::HashMap;

use leafbase::markdown::{self, InlineLink, LinkForm, LinkTarget};
use leafbase::{BlockData, BlockType};

use super::layout::ExportLayout;
use super::relative_links::RelativeLinks;
use crate::file_names::{fold, without_extension};
use crate::import::inline_links::block_reference;
use crate::import::link_targets::{DocumentTargets, NameMatch};
use crate::link_paths::{block_name, file_name, relative_path};
use crate::logseq_ids::{ID_PROPERTY, is_id, own_id};

/// The names that documents have in wiki links: the file's name, or its path if another file has
/// the same name.
#[derive(Debug)]
pub(crate) struct WikiNames {
    /// By the index of the document. `None` for a name that a wiki link cannot have.
    names: Vec<Option<String>>,
    documents: DocumentTargets,
}

impl WikiNames {
    pub(crate) fn new(layout: &ExportLayout) -> Self {
        let paths = || layout.documents.iter().map(|document| without_extension(&document.path));
        let mut files: HashMap<String, usize> = HashMap::new();
        for path in paths() {
            *files.entry(fold(file_name(path))).or_default() += 1;
        }
        let name = |path: &str| {
            let file = file_name(path);
            let is_unique = files.get(&fold(file)).is_none_or(|count| *count == 1);
            plain_name(if is_unique { file } else { path })
        };
        let documents = DocumentTargets::new(layout.documents.iter().map(|it| it.path.as_str()));
        Self { names: paths().map(name).collect(), documents }
    }

    /// The documents by path and by name.
    pub(super) const fn documents(&self) -> &DocumentTargets {
        &self.documents
    }

    /// The document that a name leads to from the document of index `from`.
    pub(super) fn document(&self, from: usize, name: &str) -> Option<usize> {
        match self.documents.by_name(from, name) {
            NameMatch::None => None,
            NameMatch::One(number) | NameMatch::Ambiguous(number, ..) => Some(number),
        }
    }

    /// A name that leads from one document to another: a file next to the link may have the same
    /// one, and comes first.
    fn name(&self, layout: &ExportLayout, from: usize, to: usize) -> Option<String> {
        let name = self.names.get(to)?.clone();
        if name.as_deref().is_some_and(|name| self.document(from, name) == Some(to)) {
            return name;
        }
        let (from_file, file) = (layout.documents.get(from)?, layout.documents.get(to)?);
        let relative = relative_path(&from_file.path, &file.path);
        let relative = plain_name(without_extension(&relative))?;
        (self.document(from, &relative) == Some(to)).then_some(relative)
    }

    /// Rewrites the links of a block that wiki links can say.
    pub(super) fn rewrite(&self, from: usize, links: &RelativeLinks<'_>, data: &mut BlockData) {
        // The bar would end the cell.
        let bar = if data.block_type() == BlockType::Table { "\\|" } else { "|" };
        rewrite_links(data, &mut |inline, link| self.wiki_link(from, links, inline, link, bar));
        name_linked(links, data);
    }
}

/// Rewrites the links in the text of a block for which `new` has another form.
pub(super) fn rewrite_links(
    data: &mut BlockData,
    new: &mut dyn FnMut(&str, &InlineLink<'_>) -> Option<String>,
) {
    if !matches!(data.block_type(), BlockType::Text | BlockType::Table) {
        return;
    }
    let (mut written, mut end) = (String::new(), 0);
    let inline = &data.inline;
    markdown::links(inline, &mut |link| {
        let before = inline.get(end..link.whole.start);
        // A link within the last one that was rewritten goes with it.
        if let (Some(link_text), Some(before)) = (new(inline, &link), before) {
            end = link.whole.end;
            written.extend([before, &link_text]);
        }
    });
    if end > 0 {
        written.push_str(inline.get(end..).unwrap_or_default());
        data.inline = written;
    }
}

impl WikiNames {
    /// The wiki link equivalent to a link in the document of index `from`, if there is one. `bar`
    /// divides name and words.
    pub(super) fn wiki_link(
        &self,
        from: usize,
        links: &RelativeLinks<'_>,
        inline: &str,
        link: &InlineLink<'_>,
        bar: &str,
    ) -> Option<String> {
        let (LinkForm::Inline, LinkTarget::Block(block)) = (link.form, link.target) else {
            return None;
        };
        let label = inline.get(link.label.clone()?).filter(|it| is_plain(it))?;
        let (number, anchor) = links.named_target(block)?;
        let name = self.name(links.layout(), from, number)?;
        let anchor = anchor.map_or_else(String::new, |anchor| format!("#{anchor}"));
        let target = format!("{name}{anchor}");
        let is_reference = block_reference(label).is_some();
        let words =
            if is_reference || label == target { String::new() } else { format!("{bar}{label}") };
        Some(format!("[[{target}{words}]]"))
    }
}

/// A name that a wiki link can have.
fn plain_name(name: &str) -> Option<String> {
    let is_plain = !name.contains(['[', ']', '|', '#', '^', '%', '\\']);
    (is_plain && name.trim() == name).then(|| name.to_owned())
}

/// Gives a linked block that has an ID of Logseq this name as Obsidian knows it: `^name` at its end
/// in place of the property.
fn name_linked(links: &RelativeLinks<'_>, data: &mut BlockData) {
    let Some(id) = own_id(data).filter(|id| is_id(id) && links.is_own_logseq_id(id)) else {
        return;
    };
    if data.block_type() != BlockType::Text || block_name(&data.inline).is_some() {
        return;
    }
    let property = format!("{ID_PROPERTY}{id}");
    let mut lines: Vec<&str> = data.inline.lines().filter(|line| line.trim() != property).collect();
    let name = format!("^{id}");
    let last =
        lines.pop().map_or_else(|| name.clone(), |last| format!("{} {name}", last.trim_end()));
    lines.push(&last);
    data.inline = lines.join("\n");
}

/// Whether the words of a link have no markup: a wiki link shows them as they are.
pub(super) fn is_plain(label: &str) -> bool {
    !label.is_empty()
        && label.trim() == label
        && !label.contains(['[', ']', '|', '\\', '\n'])
        && markdown::plain_text(label) == label
}
