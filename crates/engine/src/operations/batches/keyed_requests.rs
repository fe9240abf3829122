//! Batches with a key: done once, whatever the number of times that they are sent.

use std::collections::BTreeSet;

use leafbase_model::{Batch, BlockId, DocumentId, Error, ErrorKind, Limits, Result};
use leafbase_store::hash_parts;
use leafbase_tree_ops::ReadTree;
use serde_json::Value;

use crate::core::access::{AccessScope, Unbatched};
use crate::core::connection::Connection;

/// A batch with a key, by hashes of 32 bytes each.
pub(super) struct KeyedRequest {
    /// Of scope, author and key.
    request: [u8; 32],
    /// Of what is to be done.
    body: [u8; 32],
    /// The blocks that the batch names, within a scope.
    named: Vec<BlockId>,
}

/// The documents of a scope that the replies to a batch show.
#[derive(Default)]
pub(super) struct ShownDocuments(BTreeSet<DocumentId>);

impl<A: Unbatched> Connection<A> {
    /// None for a dry run, and for a batch without a key.
    pub(super) fn keyed_request(&self, batch: &Batch) -> Result<Option<KeyedRequest>> {
        let Some(key) = batch.request_key.as_ref().filter(|_| !batch.dry_run) else {
            return Ok(None);
        };
        let refused = if key.is_empty() {
            Some(Error::validation("expected a text that is not empty"))
        } else if key.len() > Limits::REQUEST_KEY_BYTES {
            let what = "bytes of a request key";
            Some(Error::limit(what, Limits::REQUEST_KEY_BYTES, key.len()))
        } else {
            None
        };
        if let Some(error) = refused {
            return Err(error.at("requestKey"));
        }
        let identity = self.access().identity();
        let author = self.author().as_str().as_bytes();
        let mut body = serde_json::to_value(batch)
            .map_err(|error| Error::validation(format!("the batch is not valid JSON: {error}")))?;
        // In a host that keeps the order of fields, too.
        body.sort_all_objects();
        let body = body.to_string();
        let is_scoped = self.access().scoped().is_some();
        Ok(Some(KeyedRequest {
            request: hash_parts(&[&identity, author, key.as_bytes()]),
            body: hash_parts(&[body.as_bytes()]),
            named: if is_scoped { named_blocks(&body) } else { Vec::new() },
        }))
    }
}

impl KeyedRequest {
    /// The replies of the first time.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] if another batch was done under the key;
    /// [`ErrorKind::HistoryGone`] if the replies were erased, or show documents that the scope does
    /// not have now.
    pub(super) fn kept_replies<A: AccessScope>(
        &self,
        open: &Connection<A>,
    ) -> Result<Option<Vec<Value>>> {
        let (kept, _) = open
            .operation("kept_reply")
            .write(|transaction| transaction.kept_reply(&self.request))?;
        let Some(kept) = kept else { return Ok(None) };
        if kept.body != self.body {
            let message = "another batch was done under this key";
            return Err(Error::new(ErrorKind::Conflict, message).at("requestKey"));
        }
        let Some(reply) = kept.reply else {
            let message = "the batch was done; its reply was erased by a purge";
            return Err(Error::new(ErrorKind::HistoryGone, message).at("requestKey"));
        };
        let is_visible = open.operation("kept_reply").read(|tree| {
            for document in &kept.documents {
                if !tree.can_see_document(*document)? {
                    return Ok(false);
                }
            }
            Ok(true)
        })?;
        if !is_visible {
            let message = "the batch was done; its reply shows documents that are hidden now";
            return Err(Error::new(ErrorKind::HistoryGone, message).at("requestKey"));
        }
        let replies = serde_json::from_str(&reply)
            .map_err(|error| Error::corrupted(format!("the kept reply: {error}")))?;
        Ok(Some(replies))
    }

    /// The documents that the batch names, before its first operation.
    pub(super) fn named_documents<A: AccessScope>(
        &self,
        open: &Connection<A>,
    ) -> Result<ShownDocuments> {
        let mut shown = ShownDocuments::default();
        shown.add_documents_of(open, &self.named)?;
        Ok(shown)
    }

    /// Keeps the replies, with what the batch wrote.
    pub(super) fn keep<A: AccessScope>(
        &self,
        open: &Connection<A>,
        replies: &[Value],
        shown: ShownDocuments,
    ) -> Result<()> {
        let reply = Value::from(replies).to_string();
        let documents: Vec<DocumentId> = shown.0.into_iter().collect();
        open.operation("keep_reply").write(|transaction| {
            let (reply, documents) = (reply.clone(), documents.clone());
            transaction.keep_reply(&self.request, self.body, reply, documents)
        })?;
        Ok(())
    }
}

impl ShownDocuments {
    /// Adds the documents of the blocks that `reply` names, right after its operation: a later one
    /// may delete them.
    pub(super) fn add_reply<A: AccessScope>(
        &mut self,
        open: &Connection<A>,
        reply: &Value,
    ) -> Result<()> {
        if open.access().scoped().is_none() {
            return Ok(());
        }
        self.add_documents_of(open, &named_blocks(&reply.to_string()))
    }

    fn add_documents_of<A: AccessScope>(
        &mut self,
        open: &Connection<A>,
        blocks: &[BlockId],
    ) -> Result<()> {
        if blocks.is_empty() {
            return Ok(());
        }
        open.operation("shown_documents").read(|tree| {
            for block in blocks {
                self.0.extend(tree.locate(*block)?.map(|location| location.document));
            }
            Ok(())
        })
    }
}

/// The IDs of 26 characters in `json`, in fields and in links.
fn named_blocks(json: &str) -> Vec<BlockId> {
    let words = json.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.filter(|word| word.len() == 26).filter_map(|word| word.parse().ok()).collect()
}
