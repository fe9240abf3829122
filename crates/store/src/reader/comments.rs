//! Reads of comments.

use std::ops::ControlFlow;

use leafbase_model::{BlockId, Comment, DocumentId, Result};

use super::Reader;
use crate::keyspaces;
use crate::kv::KeyRange;
use crate::records::{self, comment};

/// So many comments on other blocks are passed by before the next block is sought anew.
const PASSED_BY: usize = 8;

impl Reader<'_> {
    /// The comments on a block of `document`, oldest first.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn comments_on(&self, document: DocumentId, block: BlockId) -> Result<Vec<Comment>> {
        let found = self.comments(&keyspaces::block_comments(document, block))?;
        Ok(found.into_iter().map(|(_, comment)| comment).collect())
    }

    /// The comments on all blocks of `document`, by block, then oldest first. One range of keys.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn comments_in(&self, document: DocumentId) -> Result<Vec<(BlockId, Comment)>> {
        self.comments(&keyspaces::document_comments(document))
    }

    /// The comments on those of `blocks`, which are sorted and of `document`, by block, then oldest first. What lies between them
    /// is leapt over: it costs what it gives, and a step for each block near which there are comments.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn comments_among(&self, document: DocumentId, blocks: &[BlockId]) -> Result<Vec<(BlockId, Comment)>> {
        let mut found = Vec::new();
        let Some(last) = blocks.last() else { return Ok(found) };
        let end = keyspaces::end_of_slice(&keyspaces::block_comments(document, *last));
        let mut wanted = blocks.iter().copied().peekable();
        while let Some(first) = wanted.peek() {
            let start = keyspaces::block_comments(document, *first);
            let (mut passed_by, mut leaps) = (0, false);
            self.read.scan(KeyRange::half_open(&start, &end), &mut |key, value| {
                let (_, block, id) = keyspaces::read_comment(key).ok_or_else(|| records::damaged(key))?;
                while wanted.next_if(|wanted| *wanted < block).is_some() {}
                match wanted.peek() {
                    None => return Ok(ControlFlow::Break(())),
                    Some(next) if *next == block => {
                        found.push((block, records::read(key, value, |unpack| comment::read(id, unpack))?));
                    }
                    Some(_) => passed_by += 1,
                }
                leaps = passed_by == PASSED_BY;
                Ok(if leaps { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
            if !leaps {
                break;
            }
        }
        found.sort_by_key(|(block, comment)| (*block, comment.created_at, comment.id));
        Ok(found)
    }

    fn comments(&self, prefix: &[u8]) -> Result<Vec<(BlockId, Comment)>> {
        let mut found = Vec::new();
        self.read.scan(KeyRange::half_open(prefix, &keyspaces::end_of_slice(prefix)), &mut |key, value| {
            let (_, block, id) = keyspaces::read_comment(key).ok_or_else(|| records::damaged(key))?;
            found.push((block, records::read(key, value, |unpack| comment::read(id, unpack))?));
            Ok(ControlFlow::Continue(()))
        })?;
        found.sort_by_key(|(block, comment)| (*block, comment.created_at, comment.id));
        Ok(found)
    }
}
