//! Staged tags: the tagged blocks of documents, and what follows from them, the documents of each
//! tag and their number.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use leafbase_model::{BlockId, DocumentId, Location, Result, invariant};

use super::documents::{StagedDocuments, add_to_count};
use crate::keyspaces;
use crate::kv::{KeyRange, Read, Transaction, WriteBatch};
use crate::reader::read_ahead::{prefetch_keys, prefetch_ranges};
use crate::reader::tags::tags_in;
use crate::records;
use crate::tags::{are_counted, are_indexed};

/// Rows that are loaded of a tag of a document: most tags have one.
const FEW_BLOCKS: usize = 4;

/// The blocks of one document whose row of one tag is put, with the tag as written, or deleted.
type StagedBlocks = BTreeMap<BlockId, Option<String>>;

/// The rows of tags that a transaction puts or deletes.
#[derive(Debug, Default)]
pub(crate) struct StagedTagRows {
    /// By document and tag, in lowercase.
    staged: BTreeMap<(DocumentId, String), StagedBlocks>,
}

impl StagedTagRows {
    pub(crate) fn put(&mut self, document: DocumentId, tag: String, block: BlockId, form: String) {
        self.staged.entry((document, tag)).or_default().insert(block, Some(form));
    }

    pub(crate) fn delete(&mut self, document: DocumentId, tag: String, block: BlockId) {
        self.staged.entry((document, tag)).or_default().insert(block, None);
    }

    /// Whether a tag of `document` is staged.
    pub(crate) fn has_any_of(&self, document: DocumentId) -> bool {
        let first = (document, String::new());
        self.staged.range(first..).next().is_some_and(|((next, _), _)| *next == document)
    }

    /// Writes the staged rows. Their documents were touched, are where their tags are counted, and
    /// were not erased since.
    pub(crate) fn flush(
        &mut self,
        rows: &mut dyn Transaction,
        documents: &StagedDocuments,
    ) -> Result<()> {
        // Before each read of a batch, most of which have no tags.
        if self.staged.is_empty() {
            return Ok(());
        }
        let (mut batch, mut changes) = (WriteBatch::default(), TagChanges::default());
        let staged = std::mem::take(&mut self.staged);
        let prefixes =
            staged.keys().map(|(document, tag)| keyspaces::blocks_tagged(*document, tag));
        prefetch_ranges(&*rows, prefixes, FEW_BLOCKS);
        for ((document, tag), blocks) in staged {
            let location = documents.location(document);
            invariant!(location.is_some(), "a document whose tags are staged was touched");
            // Before the rows are written: the index of documents changes only with the first
            // and with the last block of a tag.
            let (had, has) = presence(&*rows, document, &tag, &blocks)?;
            for (block, form) in blocks {
                let key = keyspaces::tagged_block(document, &tag, block);
                match form {
                    Some(form) => records::put(&mut batch, &key, |out| out.extend(form.as_bytes())),
                    None => batch.delete(&key),
                }
            }
            changes.add(document, &tag, [had, has].map(|has| location.filter(|_| has)));
        }
        batch.write_to(rows)?;
        changes.write(rows)
    }
}

/// Writes what follows from the move of a document, whose tags are not staged, between locations.
pub(crate) fn relist_tags(
    rows: &mut dyn Transaction,
    document: DocumentId,
    locations: [Location; 2],
) -> Result<()> {
    let [old, new] = locations;
    if (are_indexed(old), are_counted(old)) == (are_indexed(new), are_counted(new)) {
        return Ok(());
    }
    let mut changes = TagChanges::default();
    let mut tags: Vec<String> =
        tags_in(&*rows, document)?.into_iter().map(|tagged| tagged.tag).collect();
    debug_assert!(tags.is_sorted(), "the rows are sorted by tag");
    tags.dedup();
    for tag in tags {
        changes.add(document, &tag, locations.map(Some));
    }
    changes.write(rows)
}

/// Whether a document has a tag before its staged rows and with them.
fn presence(
    source: &dyn Read,
    document: DocumentId,
    tag: &str,
    staged: &StagedBlocks,
) -> Result<(bool, bool)> {
    let (is_put, mut had, mut stays) = (staged.values().any(Option::is_some), false, false);
    let prefix = keyspaces::blocks_tagged(document, tag);
    let end = keyspaces::prefix_end_of(&prefix);
    source.scan(KeyRange::half_open(&prefix, &end), &mut |key, value| {
        records::check(key, value)?;
        let parsed = keyspaces::parse_tagged_block(key);
        let (.., block) = parsed.ok_or_else(|| records::corrupt(key))?;
        had = true;
        stays = !staged.contains_key(&block);
        let is_over = is_put || stays;
        Ok(if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    Ok((had, is_put || stays))
}

/// Changes of the documents of tags, and of their numbers.
#[derive(Debug, Default)]
struct TagChanges {
    /// Keys to put or to delete.
    documents: BTreeMap<Vec<u8>, bool>,
    counts: BTreeMap<Vec<u8>, i64>,
}

impl TagChanges {
    /// A document has the tag at the first location, and then at the second; `None` without the
    /// tag.
    fn add(&mut self, document: DocumentId, tag: &str, locations: [Option<Location>; 2]) {
        let [was, is] = locations.map(|location| location.is_some_and(are_indexed));
        if was != is {
            self.documents.insert(keyspaces::document_by_tag(tag, document), is);
        }
        let [was, is] = locations.map(|location| location.is_some_and(are_counted));
        if was != is {
            let count = self.counts.entry(keyspaces::tag_count(tag)).or_default();
            *count += if is { 1 } else { -1 };
        }
    }

    fn write(self, rows: &mut dyn Transaction) -> Result<()> {
        let mut batch = WriteBatch::default();
        for (key, exists) in self.documents {
            if exists {
                records::put(&mut batch, &key, |_| ());
            } else {
                batch.delete(&key);
            }
        }
        batch.write_to(rows)?;
        prefetch_keys(&*rows, self.counts.keys());
        self.counts
            .into_iter()
            .try_for_each(|(key, difference)| add_to_count(rows, &key, difference))
    }
}
