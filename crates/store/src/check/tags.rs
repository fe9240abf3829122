//! Checks of tags, which follow from the blocks and the locations of their documents.

use std::collections::{BTreeMap, HashSet};

use leafbase_model::{DocumentId, DocumentRecord};

use super::blocks::CheckedBlocks;
use super::tasks::row_hash;
use super::{Invariant, SpaceCheck};
use crate::keyspaces::{self, DOCUMENTS_BY_TAG, RowName, TAG_COUNTS, TAGGED_BLOCKS};
use crate::reader::tags::parse_entry;
use crate::records::{self, document};
use crate::tags::{are_counted, are_indexed};

/// What follows from the tags of all blocks.
#[derive(Default)]
struct ExpectedTags {
    /// Hashes of rows, with their bodies.
    rows: HashSet<u128>,
    /// Keys of counts.
    counts: BTreeMap<Vec<u8>, u64>,
}

impl SpaceCheck<'_> {
    pub(super) fn tags(
        &mut self,
        blocks: &CheckedBlocks,
        documents: &BTreeMap<DocumentId, DocumentRecord>,
    ) {
        let ExpectedTags { rows, counts } = self.expect_tags(blocks, documents);
        self.rows(TAGGED_BLOCKS, &mut |check, key, value| {
            let tagged = parse_entry(key, value)?;
            if !rows.contains(&row_hash(key, tagged.form.as_bytes())) {
                check.found(Invariant::Tag, RowName(key), "it follows from no block");
            }
            Ok(())
        });
        self.rows(DOCUMENTS_BY_TAG, &mut |check, key, value| {
            keyspaces::parse_document(key).ok_or_else(|| records::corrupt(key))?;
            if !rows.contains(&row_hash(key, &[])) {
                check.found(Invariant::Tag, RowName(key), "no block of the document has the tag");
            }
            records::decode_empty(key, value)
        });
        self.rows(TAG_COUNTS, &mut |check, key, value| {
            keyspaces::parse_tag_count(key).ok_or_else(|| records::corrupt(key))?;
            let counted = records::decode(key, value, document::decode_count)?;
            let found = counts.get(key).copied().unwrap_or(0);
            if counted != found {
                let message = format_args!("the count is {counted}, but {found} have it");
                check.found(Invariant::Tag, RowName(key), message);
            }
            Ok(())
        });
        for key in counts.keys() {
            self.expect_index_row(Invariant::Tag, key);
        }
    }

    /// Checks that the expected rows exist.
    fn expect_tags(
        &mut self,
        blocks: &CheckedBlocks,
        documents: &BTreeMap<DocumentId, DocumentRecord>,
    ) -> ExpectedTags {
        let (mut expected, mut tagged) = (ExpectedTags::default(), HashSet::new());
        for (block, tag, form) in &blocks.tags {
            let Some((document, ..)) = blocks.run_of(*block) else { continue };
            let key = keyspaces::tagged_block(document, tag, *block);
            // Here the row must exist; its body is compared when rows are scanned.
            self.expect_index_row(Invariant::Tag, &key);
            expected.rows.insert(row_hash(&key, form.as_bytes()));
            let location = documents.get(&document).map(|record| record.location);
            let is_first = tagged.insert((document, tag));
            if is_first && location.is_some_and(are_indexed) {
                let key = keyspaces::document_by_tag(tag, document);
                self.expect_index_row(Invariant::Tag, &key);
                expected.rows.insert(row_hash(&key, &[]));
            }
            if is_first && location.is_some_and(are_counted) {
                *expected.counts.entry(keyspaces::tag_count(tag)).or_default() += 1;
            }
        }
        expected
    }
}
