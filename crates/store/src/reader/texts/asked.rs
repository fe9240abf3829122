//! What of a block and all below it is asked for: of the rest nothing is kept.

use leafbase_model::{BlockId, BlockType, Result};

use super::{Kept, Sieve, Sifted, Sifting, Texts};
use crate::msgpack::Decoded;
use crate::reader::SpaceReader;
use crate::reader::trees::{NodeBuilder as Making, TreeNode as Made};

enum Sought {
    Kept(Kept),
    LeftOut(BlockId, BlockType),
}

impl Made for Sought {
    fn id(&self) -> BlockId {
        match self {
            Self::Kept(kept) => kept.id,
            Self::LeftOut(id, _) => *id,
        }
    }

    fn block_type(&self) -> BlockType {
        match self {
            Self::Kept(kept) => kept.block_type(),
            Self::LeftOut(_, block_type) => *block_type,
        }
    }
}

/// Gathers the texts that are asked for.
struct Gathering<'s> {
    sieve: &'s dyn Sieve,
    read: super::Gathering,
    /// None before the first run, which is that of the first block: it is kept.
    sifting: Option<Sifting<'s>>,
}

impl Making for Gathering<'_> {
    type Block = Sought;

    fn begin(&mut self, records: &[u8]) {
        let sieve = self.sifting.is_some().then_some(self.sieve);
        self.sifting = Some(Sifting::new(sieve, records));
    }

    fn make(&mut self, id: BlockId, record: &[u8], records: &[u8]) -> Decoded<Sought> {
        let sifting = self.sifting.get_or_insert_default();
        Ok(match sifting.sift(records, record.len())? {
            Sifted::Kept(_) => Sought::Kept(self.read.make(id, record, records)?),
            Sifted::LeftOut(block_type) => Sought::LeftOut(id, block_type),
        })
    }
}

impl SpaceReader<'_> {
    /// What `block` says, and what those below it say that `sieve` asks for, as [`Self::texts`]
    /// tells: the others may be left out.
    ///
    /// # Errors
    /// As [`Self::subtree`].
    pub fn asked_texts(&self, block: BlockId, sieve: &dyn Sieve) -> Result<Texts> {
        let mut gathering = Gathering { sieve, read: super::Gathering::default(), sifting: None };
        let blocks = self.made_of(block, &mut gathering)?;
        let kept = blocks.into_iter().filter_map(|(depth, block)| match block {
            Sought::Kept(kept) => Some((depth, kept)),
            Sought::LeftOut(..) => None,
        });
        Ok(Texts { blocks: kept.collect(), markdown: gathering.read.markdown })
    }
}
