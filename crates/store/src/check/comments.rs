//! Checks of comments.

use super::blocks::CheckedBlocks;
use super::{Invariant, SpaceCheck};
use crate::keyspaces::{self, COMMENTS, RowName};
use crate::records::{self, comment};

impl SpaceCheck<'_> {
    pub(super) fn comments(&mut self, blocks: &CheckedBlocks) {
        self.rows(COMMENTS, &mut |check, key, value| {
            let (document, block, id) =
                keyspaces::parse_comment(key).ok_or_else(|| records::corrupt(key))?;
            check.report.comments += 1;
            match blocks.run_of(block) {
                None => check.found(Invariant::Comment, RowName(key), "its block does not exist"),
                Some((elsewhere, ..)) if elsewhere != document => {
                    check.found(
                        Invariant::Comment,
                        RowName(key),
                        "its block is in another document",
                    );
                }
                Some(_) => {}
            }
            records::decode(key, value, |decoder| comment::decode(id, decoder)).map(drop)
        });
    }
}
