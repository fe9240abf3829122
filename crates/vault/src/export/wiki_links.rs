//! Wiki links of an export: `[[Note]]`, `[[Note|words]]` and `[[Note#^name|words]]`.

use std::collections::HashMap;

use leafbase::markdown::{self, InlineLink, LinkForm, LinkTarget};
use leafbase::{BlockData, BlockType};

use super::layout::ExportLayout;
use super::relative_links::RelativeLinks;
use crate::file_names::{fold, without_extension};
use crate::link_paths::file_name;

/// The names that documents have in wiki links: the file's name, or its path if another file has
/// the same name.
#[derive(Debug)]
pub(crate) struct WikiNames {
    /// By the index of the document. `None` for a name that a wiki link cannot have.
    names: Vec<Option<String>>,
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
            let name = if is_unique { file } else { path };
            let is_plain = !name.contains(['[', ']', '|', '#', '^', '%', '\\']);
            (is_plain && name.trim() == name).then(|| name.to_owned())
        };
        Self { names: paths().map(name).collect() }
    }

    /// Rewrites the links of a block that wiki links can say.
    pub(super) fn rewrite(&self, links: &RelativeLinks<'_>, data: &mut BlockData) {
        // The bar would end the cell.
        let bar = if data.block_type() == BlockType::Table { "\\|" } else { "|" };
        rewrite_links(data, &mut |inline, link| self.wiki_link(links, inline, link, bar));
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
    /// The wiki link equivalent to a link, if there is one. `bar` divides name and words.
    pub(super) fn wiki_link(
        &self,
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
        let name = self.names.get(number)?.as_deref()?;
        let anchor = anchor.map_or_else(String::new, |anchor| format!("#{anchor}"));
        let words = if !anchor.is_empty() || label != name {
            format!("{bar}{label}")
        } else {
            String::new()
        };
        Some(format!("[[{name}{anchor}{words}]]"))
    }
}

/// Whether the words of a link have no markup: a wiki link shows them as they are.
pub(super) fn is_plain(label: &str) -> bool {
    !label.is_empty()
        && label.trim() == label
        && !label.contains(['[', ']', '|', '\\', '\n'])
        && markdown::plain_text(label) == label
}
