//! Checks of comments.

use super::blocks::Blocks;
use super::{Check, Law};
use crate::keyspaces::{self, COMMENTS, Row};
use crate::records::{self, comment};

impl Check<'_> {
    pub(super) fn comments(&mut self, blocks: &Blocks) {
        self.rows(COMMENTS, &mut |check, key, value| {
            let (document, block, id) =
                keyspaces::read_comment(key).ok_or_else(|| records::damaged(key))?;
            check.report.comments += 1;
            match blocks.run_of(block) {
                None => check.found(Law::Comment, Row(key), "the block it is on does not exist"),
                Some((elsewhere, ..)) if elsewhere != document => {
                    check.found(
                        Law::Comment,
                        Row(key),
                        "the block it is on is in another document",
                    );
                }
                Some(_) => {}
            }
            records::read(key, value, |unpack| comment::read(id, unpack)).map(drop)
        });
    }
}
