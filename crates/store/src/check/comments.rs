//! Checks of comments.

use std::collections::BTreeMap;

use super::blocks::CheckedBlocks;
use super::{Invariant, SpaceCheck};
use crate::keyspaces::{self, COMMENT_BLOCKS, COMMENTS, RowName};
use crate::records::{self, comment};

impl SpaceCheck<'_> {
    pub(super) fn comments(&mut self, blocks: &CheckedBlocks) {
        let mut indexed = BTreeMap::new();
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
            if indexed.insert(id, block).is_some() {
                check.found(Invariant::Comment, RowName(key), "another comment has its ID");
            }
            records::decode(key, value, |decoder| comment::decode(id, decoder)).map(drop)
        });
        self.rows(COMMENT_BLOCKS, &mut |check, key, value| {
            let id = keyspaces::parse_comment_block(key).ok_or_else(|| records::corrupt(key))?;
            let block = records::decode(key, value, comment::decode_block)?;
            if indexed.remove(&id) != Some(block) {
                let message = "it does not follow from the comment";
                check.found(Invariant::Comment, RowName(key), message);
            }
            Ok(())
        });
        for id in indexed.into_keys() {
            self.expect_index_row(Invariant::Comment, &keyspaces::comment_block(id));
        }
    }
}
