//! Checks of kept replies.

use std::collections::BTreeSet;

use super::{Invariant, SpaceCheck};
use crate::keyspaces::{self, REPLIES, REPLIES_BY_TIME, RowName, time_bytes};
use crate::records::layout::Value;
use crate::records::{self, reply::KeptReply};

impl SpaceCheck<'_> {
    pub(super) fn replies(&mut self) {
        let mut indexed = BTreeSet::new();
        self.rows(REPLIES, &mut |_, key, value| {
            let request = keyspaces::parse_reply(key).ok_or_else(|| records::corrupt(key))?;
            let kept = records::decode(key, value, KeptReply::decode)?;
            indexed.insert(keyspaces::reply_by_time(time_bytes(kept.at), &request));
            Ok(())
        });
        self.rows(REPLIES_BY_TIME, &mut |check, key, value| {
            records::decode_empty(key, value)?;
            if !indexed.remove(key) {
                let message = "it does not follow from a kept reply";
                check.found(Invariant::Reply, RowName(key), message);
            }
            Ok(())
        });
        for key in indexed {
            self.expect_index_row(Invariant::Reply, &key);
        }
    }
}
