//! Reads of tags: of a document, the documents of one, and all of them with their counts.

use std::ops::{Bound, ControlFlow};

use leafbase_model::{BlockId, DocumentId, Result};

use super::SpaceReader;
use super::documents::first_in;
use super::read_ahead::prefetch_ranges;
use crate::keyspaces::{self, prefix_end_of};
use crate::kv::{KeyRange, Read};
use crate::lookup::contains;
use crate::records::{self, document};

/// A tag of a block.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaggedBlock {
    /// The tag in lowercase.
    pub tag: String,
    /// The block.
    pub block: BlockId,
    /// The tag as the block writes it.
    pub form: String,
}

/// A tag of documents outside of the trash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedTag {
    /// The tag in lowercase.
    pub tag: String,
    /// The tag as the first block, by ID, of the first document writes it, in the trash or not.
    pub form: String,
    /// The number of its documents.
    pub documents: u64,
}

/// Decodes a row by document.
pub(crate) fn parse_entry(key: &[u8], value: &[u8]) -> Result<TaggedBlock> {
    let corrupt = || records::corrupt(key);
    let (_, tag, block) = keyspaces::parse_tagged_block(key).ok_or_else(corrupt)?;
    let form = str::from_utf8(records::body(key, value)?).map_err(|_| corrupt())?;
    Ok(TaggedBlock { tag: tag.to_owned(), block, form: form.to_owned() })
}

/// The tagged blocks of a document, by tag and block, if they are at most `most`.
pub(crate) fn few_tags_in(
    source: &dyn Read,
    document: DocumentId,
    most: usize,
) -> Result<Option<Vec<TaggedBlock>>> {
    let (mut found, prefix) = (Vec::new(), keyspaces::tagged_blocks(document));
    let (mut are_few, end) = (true, prefix_end_of(&prefix));
    source.scan(KeyRange::half_open(&prefix, &end), &mut |key, value| {
        are_few = found.len() < most;
        if !are_few {
            return Ok(ControlFlow::Break(()));
        }
        found.push(parse_entry(key, value)?);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(are_few.then_some(found))
}

/// The tagged blocks of a document, by tag and block.
pub(crate) fn tags_in(source: &dyn Read, document: DocumentId) -> Result<Vec<TaggedBlock>> {
    tagged_at(source, &keyspaces::tagged_blocks(document))
}

/// The tagged blocks whose keys begin with `prefix`.
fn tagged_at(source: &dyn Read, prefix: &[u8]) -> Result<Vec<TaggedBlock>> {
    let mut found = Vec::new();
    let end = prefix_end_of(prefix);
    source.scan(KeyRange::half_open(prefix, &end), &mut |key, value| {
        found.push(parse_entry(key, value)?);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

impl SpaceReader<'_> {
    /// The tagged blocks of a document, by tag and block. One range of keys.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn tags_in(&self, document: DocumentId) -> Result<Vec<TaggedBlock>> {
        tags_in(self.read, document)
    }

    /// The blocks of a document that have a tag, in lowercase. One range of keys.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn blocks_tagged(&self, document: DocumentId, tag: &str) -> Result<Vec<TaggedBlock>> {
        tagged_at(self.read, &keyspaces::blocks_tagged(document, tag))
    }

    /// The documents with a tag, in lowercase, by ID; those in the trash included. One range of
    /// keys.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn documents_tagged(&self, tag: &str) -> Result<Vec<DocumentId>> {
        self.indexed_documents(&keyspaces::documents_tagged(tag))
    }

    /// Whether a document other than the inbox has a tag, in lowercase. One lookup.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn is_tagged(&self, document: DocumentId, tag: &str) -> Result<bool> {
        contains(self.read, &keyspaces::document_by_tag(tag, document))
    }

    /// At most `limit` tags that begin with `prefix`, in lowercase, and come after the tag `after`;
    /// sorted as bytes in lowercase. One range of keys, and two lookups for each tag.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn counted_tags(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<CountedTag>> {
        let lower = keyspaces::tag_count(prefix);
        let (end, after) = (prefix_end_of(&lower), after.map(keyspaces::tag_count));
        let mut range = KeyRange::half_open(&lower, &end);
        if let Some(after) = after.as_ref().filter(|after| **after >= lower) {
            range.lower = Bound::Excluded(after);
        }
        let mut found: Vec<CountedTag> = Vec::new();
        if limit == 0 || range.is_empty() {
            return Ok(found);
        }
        self.read.scan(range, &mut |key, value| {
            let tag = keyspaces::parse_tag_count(key).ok_or_else(|| records::corrupt(key))?;
            let documents = records::decode(key, value, document::decode_count)?;
            found.push(CountedTag { tag: tag.to_owned(), form: String::new(), documents });
            let is_full = found.len() >= limit;
            Ok(if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        let prefixes = found.iter().map(|it| keyspaces::documents_tagged(&it.tag));
        prefetch_ranges(self.read, prefixes, 1);
        let documents = found.iter().map(|it| self.first_tagged(&it.tag));
        let documents = documents.collect::<Result<Vec<_>>>()?;
        let prefixes = found.iter().zip(&documents);
        let prefixes = prefixes.map(|(it, first)| keyspaces::blocks_tagged(*first, &it.tag));
        prefetch_ranges(self.read, prefixes, 1);
        for (counted, first) in found.iter_mut().zip(documents) {
            counted.form = self.first_form(first, &counted.tag)?;
        }
        Ok(found)
    }

    fn first_tagged(&self, tag: &str) -> Result<DocumentId> {
        let missing = || records::corrupt(&keyspaces::tag_count(tag));
        first_in(self.read, &keyspaces::documents_tagged(tag))?.ok_or_else(missing)
    }

    /// The tag as its first block in `document` writes it.
    fn first_form(&self, document: DocumentId, tag: &str) -> Result<String> {
        let missing = || records::corrupt(&keyspaces::tag_count(tag));
        let (prefix, mut form) = (keyspaces::blocks_tagged(document, tag), None);
        let end = prefix_end_of(&prefix);
        self.read.scan(KeyRange::half_open(&prefix, &end), &mut |key, value| {
            form = Some(parse_entry(key, value)?.form);
            Ok(ControlFlow::Break(()))
        })?;
        form.ok_or_else(missing)
    }
}
