//! Tags of documents, and of pages that a scope shows as documents.

use std::collections::BTreeMap;

use leafbase_model::{BlockId, DocumentId, Result};
use leafbase_tree_ops::ReadTree;

use super::Tree;
use crate::core::tags::tags;

impl Tree<'_> {
    /// The tags of a document in lowercase, each as its first block by ID writes it; empty if the
    /// document is hidden. A page costs its blocks, a document its tags: what is around a page has
    /// no effect.
    pub(crate) fn tags_of(&self, document: DocumentId) -> Result<BTreeMap<String, String>> {
        if !self.can_see_document(document)? {
            return Ok(BTreeMap::new());
        }
        let mut found: BTreeMap<String, (BlockId, String)> = BTreeMap::new();
        let mut add = |tag: String, block: BlockId, form: &str| {
            let first = found.entry(tag).or_insert_with(|| (block, form.to_owned()));
            if block < first.0 {
                *first = (block, form.to_owned());
            }
        };
        if self.stored_in(document)? == document {
            for tagged in self.reader.tags_in(document)? {
                add(tagged.tag, tagged.block, &tagged.form);
            }
        } else {
            for node in self.subtree(document.root(), None)?.0 {
                let block = node.block.id;
                tags(&node.block.data, &mut |form| add(form.to_lowercase(), block, form));
            }
        }
        Ok(found.into_iter().map(|(tag, (_, form))| (tag, form)).collect())
    }

    /// Whether a document has all of the tags, which are in lowercase.
    pub(crate) fn has_tags(&self, document: DocumentId, tags: &[String]) -> Result<bool> {
        if tags.is_empty() {
            return Ok(true);
        }
        let found = self.tags_of(document)?;
        Ok(tags.iter().all(|tag| found.contains_key(tag)))
    }
}
