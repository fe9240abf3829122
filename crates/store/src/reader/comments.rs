//! Reads of comments.

use std::ops::ControlFlow;

use leafbase_model::{BlockId, Comment, CommentId, DocumentId, Result};

use super::trees::rows_of;
use super::{ReaderCache, SpaceReader};
use crate::keyspaces;
use crate::kv::KeyRange;
use crate::lookup::get;
use crate::records::{self, comment};

impl SpaceReader<'_> {
    /// The comments on a block of `document`, oldest first.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn comments_on(&self, document: DocumentId, block: BlockId) -> Result<Vec<Comment>> {
        let found = self.comments(&keyspaces::block_comments(document, block))?;
        Ok(found.into_iter().map(|(_, comment)| comment).collect())
    }

    /// The block that a comment is on, if the comment exists.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn block_of_comment(&self, comment: CommentId) -> Result<Option<BlockId>> {
        let key = keyspaces::comment_block(comment);
        get(self.read, &key, |value| records::decode(&key, value, comment::decode_block))
    }

    /// A comment on a block of `document`, if it exists.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn comment(
        &self,
        document: DocumentId,
        block: BlockId,
        id: CommentId,
    ) -> Result<Option<Comment>> {
        let key = keyspaces::comment(document, block, id);
        get(self.read, &key, |value| {
            records::decode(&key, value, |decoder| comment::decode(id, decoder))
        })
    }

    /// The comments on all blocks of `document`, by block, then oldest first. One range of keys.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn comments_in(&self, document: DocumentId) -> Result<Vec<(BlockId, Comment)>> {
        self.comments(&keyspaces::document_comments(document))
    }

    /// Whether a block of `document` may have comments: one lookup, which is cached. It is `true`
    /// if the lookup fails: reading the comments of a block then reports the error.
    pub fn may_have_comments(&self, document: DocumentId) -> bool {
        if let Some(cache) = self.transaction_cache() {
            if cache.is_commentless(document) {
                return false;
            }
            let found = self.find_comment(document).unwrap_or(true);
            cache.set_commentless((!found).then_some(document));
            return found;
        }
        let ReaderCache::Committed(cache, version) = self.cache else {
            return self.find_comment(document).unwrap_or(true);
        };
        if let Some(known) = cache.locations.has_comments(version, document) {
            return known;
        }
        // An error is not cached: the read of the comments reports it.
        let Ok(found) = self.find_comment(document) else { return true };
        cache.locations.add_has_comments(version, document, found);
        found
    }

    fn find_comment(&self, document: DocumentId) -> Result<bool> {
        let prefix = keyspaces::document_comments(document);
        let mut found = false;
        self.read.scan(
            KeyRange::half_open(&prefix, &keyspaces::prefix_end(prefix)),
            &mut |_, _| {
                found = true;
                Ok(ControlFlow::Break(()))
            },
        )?;
        Ok(found)
    }

    /// The comments on `blocks`, which are sorted and in `document`, by block, then oldest first.
    /// Comments on other blocks are skipped, so the cost is that of the result and one seek for
    /// each block with comments nearby.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn comments_among(
        &self,
        document: DocumentId,
        blocks: &[BlockId],
    ) -> Result<Vec<(BlockId, Comment)>> {
        let mut found = Vec::new();
        if !self.may_have_comments(document) {
            return Ok(found);
        }
        rows_of(
            self.read,
            &keyspaces::document_comments(document),
            blocks,
            &mut |_, key, value| {
                found.push(parse_comment_row(key, value)?);
                Ok(())
            },
        )?;
        Ok(oldest_first(found))
    }

    fn comments(&self, prefix: &[u8]) -> Result<Vec<(BlockId, Comment)>> {
        let mut found = Vec::new();
        self.read.scan(
            KeyRange::half_open(prefix, &keyspaces::prefix_end_of(prefix)),
            &mut |key, value| {
                found.push(parse_comment_row(key, value)?);
                Ok(ControlFlow::Continue(()))
            },
        )?;
        Ok(oldest_first(found))
    }
}

/// A comment with the block that it is on.
pub(crate) fn parse_comment_row(key: &[u8], value: &[u8]) -> Result<(BlockId, Comment)> {
    let (_, block, id) = keyspaces::parse_comment(key).ok_or_else(|| records::corrupt(key))?;
    Ok((block, records::decode(key, value, |decoder| comment::decode(id, decoder))?))
}

fn oldest_first(mut comments: Vec<(BlockId, Comment)>) -> Vec<(BlockId, Comment)> {
    comments.sort_by_key(|(block, comment)| (*block, comment.created_at, comment.id));
    comments
}
