//! Kept replies: a request that is sent again under its key gets the reply of the first time.
//!
//! They are not part of the change log, so that copies and followers have none. They expire by the
//! time at which they were kept: each write of one deletes some that are older.

use std::ops::ControlFlow;

use leafbase_model::{Result, Timestamp};

use super::SpaceTransaction;
use crate::keyspaces::{self, REPLIES, REPLIES_BY_TIME, RequestHash, time_bytes};
use crate::kv::KeyRange;
use crate::lookup::get;
use crate::records;
use crate::records::layout::Value;
use crate::records::reply::KeptReply;

/// Expired replies that a write deletes: more than it adds, so that none stay behind.
const EXPIRED_PER_WRITE: usize = 4;

impl SpaceTransaction<'_> {
    /// The reply that is kept for a request, if it was done after `expired`.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn kept_reply(
        &self,
        request: &RequestHash,
        expired: Timestamp,
    ) -> Result<Option<KeptReply>> {
        let kept = self.reply(request)?;
        Ok(kept.filter(|kept| kept.at > expired))
    }

    /// Keeps the reply to a request, and deletes some that were kept until `expired`.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn keep_reply(
        &mut self,
        request: &RequestHash,
        kept: &KeptReply,
        expired: Timestamp,
    ) -> Result<()> {
        self.delete_expired_replies(expired)?;
        let key = keyspaces::reply(request);
        // The same request, which has expired and is not deleted yet.
        if let Some(earlier) = self.reply(request)? {
            self.rows.delete(&keyspaces::reply_by_time(time_bytes(earlier.at), request))?;
        }
        self.rows.put(&key, &records::seal(&key, |out| kept.encode(out)))?;
        let index = keyspaces::reply_by_time(time_bytes(kept.at), request);
        self.rows.put(&index, &records::seal_empty(&index))
    }

    fn reply(&self, request: &RequestHash) -> Result<Option<KeptReply>> {
        let key = keyspaces::reply(request);
        get(&*self.rows, &key, |value| records::decode(&key, value, KeptReply::decode))
    }

    fn delete_expired_replies(&mut self, expired: Timestamp) -> Result<()> {
        let (lower, mut found) = ([REPLIES_BY_TIME.tag], Vec::new());
        let upper = keyspaces::replies_from(time_bytes(expired));
        self.rows.scan(KeyRange::half_open(&lower, &upper), &mut |key, _| {
            found.push(key.to_vec());
            let is_enough = found.len() == EXPIRED_PER_WRITE;
            Ok(if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        for key in found {
            let request = keyspaces::parse_reply_by_time(&key);
            let request = request.ok_or_else(|| records::corrupt(&key))?;
            self.rows.delete(&keyspaces::reply(&request))?;
            self.rows.delete(&key)?;
        }
        Ok(())
    }

    /// Erases the content of all kept replies; that their requests were done stays known.
    pub(super) fn erase_replies(&mut self) -> Result<()> {
        let (lower, mut found) = ([REPLIES.tag], Vec::new());
        let upper = keyspaces::prefix_end(lower);
        self.rows.scan(KeyRange::half_open(&lower, &upper), &mut |key, value| {
            let kept = records::decode(key, value, KeptReply::decode)?;
            found.push((key.to_vec(), KeptReply { reply: None, documents: Vec::new(), ..kept }));
            Ok(ControlFlow::Continue(()))
        })?;
        for (key, kept) in found {
            self.rows.put(&key, &records::seal(&key, |out| kept.encode(out)))?;
        }
        Ok(())
    }
}
