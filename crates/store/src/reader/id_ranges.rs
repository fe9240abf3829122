//! Blocks and documents by a range of their IDs.

use std::ops::ControlFlow;

use leafbase_model::{BlockId, DocumentId, Result};

use super::SpaceReader;
use crate::keyspaces::{self, prefix_end};
use crate::kv::KeyRange;
use crate::records;

impl SpaceReader<'_> {
    /// The IDs of at most `limit` blocks from `first` to `last`, in order. One range of keys.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn blocks_between(
        &self,
        first: BlockId,
        last: BlockId,
        limit: usize,
    ) -> Result<Vec<BlockId>> {
        let keys = [first, last].map(keyspaces::block_location);
        self.ids_between(keys, limit, keyspaces::parse_block_location)
    }

    /// The IDs of at most `limit` documents from `first` to `last`, in order. One range of keys.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn documents_between(
        &self,
        first: DocumentId,
        last: DocumentId,
        limit: usize,
    ) -> Result<Vec<DocumentId>> {
        let keys = [first, last].map(keyspaces::document);
        self.ids_between(keys, limit, keyspaces::parse_document)
    }

    fn ids_between<T>(
        &self,
        [first, last]: [[u8; 17]; 2],
        limit: usize,
        parse: fn(&[u8]) -> Option<T>,
    ) -> Result<Vec<T>> {
        let (mut found, end) = (Vec::new(), prefix_end(last));
        if limit == 0 || first > last {
            return Ok(found);
        }
        self.read.scan(KeyRange::half_open(&first, &end), &mut |key, _| {
            found.push(parse(key).ok_or_else(|| records::corrupt(key))?);
            let is_full = found.len() >= limit;
            Ok(if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(found)
    }
}
