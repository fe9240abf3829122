//! What a block and all below it say, where some of it is asked for: the records of the rest are kept as they lie, and read when they are wanted.

use leafbase_model::{BlockId, BlockType, Result};

use super::{BlockText, KeptText, Sieve, Sifted, Sifting, read};
use crate::keyspaces;
use crate::msgpack::{Fault, Unpacked};
use crate::reader::Reader;
use crate::reader::trees::{Made, Making};
use crate::records;

/// About as long are most records, in bytes.
const RECORD: usize = 96;

/// A block with all below it, in reading order.
#[derive(Debug, Default)]
pub struct SievedTexts {
    /// Of what was asked for.
    markdown: String,
    /// Those of the blocks in whose runs something was looked for, run after run.
    records: Vec<u8>,
    blocks: Vec<(u16, Kept)>,
}

#[derive(Debug)]
struct Kept {
    id: BlockId,
    text: Text,
}

#[derive(Debug)]
enum Text {
    Read(KeptText),
    /// Not asked for, and not read yet.
    Record {
        block_type: BlockType,
        length: u32,
        start: usize,
    },
}

impl SievedTexts {
    /// How many blocks they are.
    pub const fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Each, and how far below the first one it is.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = (u16, BlockId)> {
        self.blocks.iter().map(|(depth, block)| (*depth, block.id))
    }

    /// One of them.
    pub fn id(&self, index: usize) -> Option<BlockId> {
        self.blocks.get(index).map(|(_, block)| block.id)
    }

    /// Whether it may be one that was asked for.
    pub fn is_asked_for(&self, index: usize) -> bool {
        self.blocks.get(index).is_some_and(|(_, block)| matches!(block.text, Text::Read(_)))
    }

    /// What it says, asked for or not.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::Corrupted`] if that cannot be read.
    pub fn text(&self, index: usize) -> Result<Option<BlockText<'_>>> {
        let Some((_, Kept { id, text })) = self.blocks.get(index) else { return Ok(None) };
        let (start, length) = match text {
            Text::Read(text) => return Ok(Some(text.of(&self.markdown))),
            Text::Record { start, length, .. } => (*start, *length as usize),
        };
        let record = self.records.get(start..start + length).unwrap_or_default();
        match read(record) {
            Ok(Ok((block_type, markdown))) => Ok(Some(BlockText::Markdown(block_type, markdown))),
            Ok(Err(_)) => Err(records::damaged(&keyspaces::place(*id))),
            Err(fault) => Err(records::fault(&keyspaces::place(*id), fault)),
        }
    }
}

impl Made for Kept {
    fn id(&self) -> BlockId {
        self.id
    }

    fn block_type(&self) -> BlockType {
        match &self.text {
            Text::Read(text) => text.block_type(),
            Text::Record { block_type, .. } => *block_type,
        }
    }
}

/// Gathers texts and records.
#[derive(Default)]
struct Gathering<'s> {
    sieve: Option<&'s dyn Sieve>,
    read: super::Gathering,
    records: Vec<u8>,
    /// Where the run begins that is read.
    run: usize,
    sifting: Sifting<'s>,
}

impl Making for Gathering<'_> {
    type Block = Kept;

    fn expect(&mut self, blocks: usize) {
        if self.sieve.is_some() {
            self.records.reserve(blocks * RECORD);
        }
    }

    fn begin(&mut self, records: &[u8]) {
        self.run = self.records.len();
        self.sifting = Sifting::new(self.sieve, records);
        if self.sifting.is_looking() {
            self.records.extend_from_slice(records);
        }
    }

    fn make(&mut self, id: BlockId, record: &[u8], records: &[u8]) -> Unpacked<Kept> {
        let start = self.run + self.sifting.at;
        let text = match self.sifting.sift(records, record)? {
            Sifted::Kept(_) => Text::Read(self.read.make(id, record, records)?.text),
            Sifted::LeftOut(block_type) => {
                let length = u32::try_from(record.len()).map_err(|_| Fault::Damaged)?;
                Text::Record { block_type, length, start }
            }
        };
        Ok(Kept { id, text })
    }
}

impl Reader<'_> {
    /// What `block` and all below it say, as [`Self::texts`] tells: but what is not asked for by `sieve` is not read until it is wanted.
    ///
    /// # Errors
    /// As [`Self::subtree`].
    pub fn sieved_texts(&self, block: BlockId, sieve: Option<&dyn Sieve>) -> Result<SievedTexts> {
        let mut gathering = Gathering { sieve, ..Gathering::default() };
        let blocks = self.made_of(block, &mut gathering)?;
        Ok(SievedTexts { markdown: gathering.read.markdown, records: gathering.records, blocks })
    }
}
