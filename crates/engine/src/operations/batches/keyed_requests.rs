//! Batches with a key: done once, whatever the number of times that they are sent.

use leafbase_model::{Batch, Error, ErrorKind, Limits, Result};
use leafbase_store::hash_request;
use serde_json::Value;

use crate::core::access::{AccessScope, Unbatched};
use crate::core::connection::Connection;

/// A batch with a key, by hashes of 32 bytes each.
pub(super) struct KeyedRequest {
    /// Of scope, author and key.
    request: [u8; 32],
    /// Of what is to be done.
    body: [u8; 32],
}

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
        Ok(Some(KeyedRequest {
            request: hash_request(&[&identity, author, key.as_bytes()]),
            body: hash_request(&[body.to_string().as_bytes()]),
        }))
    }
}

impl KeyedRequest {
    /// The replies of the first time.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] if another batch was done under the key;
    /// [`ErrorKind::HistoryGone`] if the replies were erased.
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
        let replies = serde_json::from_str(&reply)
            .map_err(|error| Error::corrupted(format!("the kept reply: {error}")))?;
        Ok(Some(replies))
    }

    /// Keeps the replies, with what the batch wrote.
    pub(super) fn keep<A: AccessScope>(
        &self,
        open: &Connection<A>,
        replies: &[Value],
    ) -> Result<()> {
        let reply = Value::from(replies).to_string();
        open.operation("keep_reply")
            .write(|transaction| transaction.keep_reply(&self.request, self.body, reply.clone()))?;
        Ok(())
    }
}
