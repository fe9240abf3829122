//! Tags of the naive space, in the texts that the random requests make.

use std::collections::{BTreeMap, BTreeSet};

use leafbase_model::{BlockData, BlockKind, DocumentId, ListTags, Location, TagCount};

use crate::{NaiveDocument, NaiveSpace};

impl NaiveSpace {
    /// All tags that a list request names, on all pages.
    pub fn list_tags(&self, request: &ListTags) -> Vec<TagCount> {
        let prefix = request.prefix.trim_start_matches('#').to_lowercase();
        let mut shown: Vec<_> = self.documents.iter().collect();
        shown.retain(|document| document.record.location != Location::Inbox);
        shown.sort_by_key(|document| document.record.id);
        let (mut forms, mut counts) = (BTreeMap::new(), BTreeMap::<String, u64>::new());
        for document in shown {
            for (tag, form) in tags_of(document) {
                let is_counted = document.record.location != Location::Trash;
                *counts.entry(tag.clone()).or_default() += u64::from(is_counted);
                forms.entry(tag).or_insert(form);
            }
        }
        let listed =
            counts.into_iter().filter(|(tag, count)| *count > 0 && tag.starts_with(&prefix));
        listed.map(|(tag, count)| TagCount::new(forms[&tag].clone(), count)).collect()
    }

    /// Whether a document has all tags of a filter.
    pub(crate) fn has_tags(&self, document: DocumentId, tags: &[String]) -> bool {
        let found = self.document(document).map(tags_of).unwrap_or_default();
        tags.iter().all(|tag| found.contains_key(&tag.trim_start_matches('#').to_lowercase()))
    }
}

/// The tags of a document in lowercase, each as its first block by ID writes it.
fn tags_of(document: &NaiveDocument) -> BTreeMap<String, String> {
    let mut blocks = document.root.walk();
    blocks.sort_by_key(|block| block.record.id);
    let mut tags = BTreeMap::new();
    for block in blocks {
        for form in written(&block.record.data) {
            tags.entry(form.to_lowercase()).or_insert(form);
        }
    }
    tags
}

/// The tags that a block writes, and those that they are nested in.
fn written(data: &BlockData) -> Vec<String> {
    let mut found = Vec::new();
    match &data.kind {
        BlockKind::Code { raw_code, language_tag, .. } if language_tag == "yaml frontmatter" => {
            let names = raw_code.strip_prefix("tags: [").and_then(|rest| rest.strip_suffix(']'));
            found.extend(names.unwrap_or_default().split(", ").map(str::to_owned));
        }
        _ if data.block_type().has_own_markdown() => {
            // Two words are a tag in brackets; everything else ends at a space.
            let text = data.inline.replace("#[[to do]]", "#to\u{1}do");
            let words = text.split(' ').filter_map(|word| word.strip_prefix('#'));
            let words = words.filter(|word| word.contains(|letter: char| !letter.is_ascii_digit()));
            found.extend(words.map(|word| word.replace('\u{1}', " ")));
        }
        _ => {}
    }
    let mut all = BTreeSet::new();
    let mut levels = Vec::new();
    for tag in found.into_iter().filter(|tag| !tag.is_empty()) {
        let parents = tag.match_indices('/').map(|(at, _)| tag[..at].to_owned());
        for level in parents.chain([tag.clone()]) {
            if all.insert(level.to_lowercase()) {
                levels.push(level);
            }
        }
    }
    levels
}
