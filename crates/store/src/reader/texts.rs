//! Reads of blocks for searches: what they say, and nothing else of most of them.

use std::ops::Range;

use leafbase_model::{BlockData, BlockId, BlockType, DocumentId, Result};

use super::SpaceReader;
use super::trees::{NodeBuilder as Making, TreeNode as Made, rows_of};
use crate::keyspaces::BLOCKS;
use crate::msgpack::{DecodeError, Decoded};
use crate::records;
use crate::records::block::{self, AuthorCache};
use crate::run::RunView;

mod asked;
mod sieved;

pub use sieved::SievedTexts;

/// Finds in bytes where texts may be that are asked for, so that the others need not be read.
pub trait Sieve {
    /// Whether [`Self::next`] finds all such places in these bytes.
    fn tells(&self, bytes: &[u8]) -> bool;

    /// A place from `from` on where something begins that every text has that is asked for, such
    /// that there is none before.
    fn next(&self, bytes: &[u8], from: usize) -> Option<usize>;

    /// Whether a text is not asked for in which [`Self::next`] finds nothing, where [`Self::tells`]
    /// doesn't say so of all.
    fn leaves_out(&self, _text: StoredText<'_>) -> bool {
        true
    }
}

/// A text as it lies in the store, not read yet.
#[derive(Clone, Copy, Debug)]
pub struct StoredText<'r>(&'r [u8]);

impl<'r> StoredText<'r> {
    /// The bytes of its markdown, not looked at; none if they are not found.
    pub fn markdown(self) -> Option<&'r [u8]> {
        block::markdown(self.0).ok().map(|(_, markdown)| markdown)
    }
}

/// Gets what blocks say.
pub trait TextVisitor {
    /// Whether it needs no more than the bytes of a block's markdown, which is all that the block
    /// says: then it does not get the block as a text. What its sieve seeks begins nowhere before
    /// `from`. They were not looked at: what is not ASCII may be no text at all.
    fn is_told_by(&mut self, document: DocumentId, markdown: &[u8], from: usize) -> bool;

    /// Gets what a block of `document` says.
    ///
    /// # Errors
    /// What ends the visit.
    fn visit(&mut self, document: DocumentId, text: BlockText<'_>) -> Result<()>;
}

/// What a block says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BlockText<'t> {
    /// All that a block of this type says is its markdown.
    Markdown(BlockType, &'t str),
    /// It says more.
    Data(&'t BlockData),
}

impl BlockText<'_> {
    /// The type of the block.
    pub const fn block_type(&self) -> BlockType {
        match self {
            Self::Markdown(block_type, _) => *block_type,
            Self::Data(data) => data.block_type(),
        }
    }
}

/// A block of [`Texts`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextBlock<'t> {
    /// The block.
    pub id: BlockId,
    /// How far below the first one it is.
    pub depth: u16,
    /// What it says.
    pub text: BlockText<'t>,
}

/// What a block with all below it says, in reading order.
#[derive(Debug, Default)]
pub struct Texts {
    /// The markdown of blocks that say nothing else, one after the other.
    markdown: String,
    blocks: Vec<(u16, Kept)>,
}

#[derive(Debug)]
struct Kept {
    id: BlockId,
    text: KeptText,
}

#[derive(Debug)]
enum KeptText {
    Markdown(BlockType, Range<usize>),
    Data(Box<BlockData>),
}

impl Texts {
    /// How many blocks they are.
    pub const fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// One of them.
    pub fn get(&self, index: usize) -> Option<TextBlock<'_>> {
        self.blocks.get(index).map(|block| self.block(block))
    }

    /// All of them.
    pub fn iter(
        &self,
    ) -> impl DoubleEndedIterator<Item = TextBlock<'_>> + ExactSizeIterator + Clone {
        self.blocks.iter().map(|block| self.block(block))
    }

    fn block<'t>(&'t self, (depth, kept): &'t (u16, Kept)) -> TextBlock<'t> {
        TextBlock { id: kept.id, depth: *depth, text: kept.text.of(&self.markdown) }
    }
}

impl KeptText {
    /// The text, which is part of `markdown`.
    fn of<'t>(&'t self, markdown: &'t str) -> BlockText<'t> {
        match self {
            Self::Markdown(block_type, range) => {
                BlockText::Markdown(*block_type, markdown.get(range.clone()).unwrap_or_default())
            }
            Self::Data(data) => BlockText::Data(data),
        }
    }

    const fn block_type(&self) -> BlockType {
        match self {
            Self::Markdown(block_type, _) => *block_type,
            Self::Data(data) => data.block_type(),
        }
    }
}

impl Made for Kept {
    fn id(&self) -> BlockId {
        self.id
    }

    fn block_type(&self) -> BlockType {
        self.text.block_type()
    }
}

/// About as long is most markdown, in bytes.
const MARKDOWN: usize = 64;

/// Gathers the markdown of blocks.
#[derive(Default)]
struct Gathering {
    markdown: String,
    authors: AuthorCache,
}

impl Making for Gathering {
    type Block = Kept;

    fn expect(&mut self, blocks: usize) {
        self.markdown.reserve(blocks * MARKDOWN);
    }

    fn make(&mut self, id: BlockId, record: &[u8], _: &[u8]) -> Decoded<Kept> {
        let text = match read(record)? {
            Ok((block_type, markdown)) => {
                let start = self.markdown.len();
                self.markdown.push_str(markdown);
                KeptText::Markdown(block_type, start..self.markdown.len())
            }
            Err(WithMore) => {
                KeptText::Data(Box::new(block::decode(id, record, &mut self.authors)?.data))
            }
        };
        Ok(Kept { id, text })
    }
}

/// The block says more than its markdown.
struct WithMore;

fn read(record: &[u8]) -> Decoded<std::result::Result<(BlockType, &str), WithMore>> {
    let (block_type, markdown) = block::markdown(record)?;
    Ok(if is_all(block_type) { Ok((block_type, text(markdown)?)) } else { Err(WithMore) })
}

fn text(bytes: &[u8]) -> Decoded<&str> {
    std::str::from_utf8(bytes).map_err(|_| DecodeError::Corrupt)
}

/// Whether all that a block of this type says is its markdown.
fn is_all(block_type: BlockType) -> bool {
    block_type.has_own_markdown() && block_type != BlockType::CollectionItem
}

impl SpaceReader<'_> {
    /// What `block` and all below it say, the items of collections included; empty if it does not
    /// exist. It reads as [`Self::subtree`] does, and makes no more of most blocks than their
    /// markdown.
    ///
    /// # Errors
    /// As [`Self::subtree`].
    pub fn texts(&self, block: BlockId) -> Result<Texts> {
        let mut gathering = Gathering::default();
        let blocks = self.made_of(block, &mut gathering)?;
        Ok(Texts { markdown: gathering.markdown, blocks })
    }

    /// Hands what each block of `documents` says to `visitor`, document after document, but in no
    /// order within them. The documents are sorted. Nothing is copied. Texts that are not asked for
    /// by `sieve` may be left out if they are all that a block says.
    ///
    /// # Errors
    /// As [`Self::locate`], and what `visitor` returned.
    pub fn visit_texts(
        &self,
        documents: &[DocumentId],
        sieve: Option<&dyn Sieve>,
        visitor: &mut dyn TextVisitor,
    ) -> Result<()> {
        // The keys of a document's blocks go on with its ID, which is that of its root.
        let roots: Vec<BlockId> = documents.iter().map(|document| document.root()).collect();
        let mut authors = AuthorCache::default();
        rows_of(self.read, &[BLOCKS.tag], &roots, &mut |root, key, value| {
            let document = DocumentId::from_bytes(*root.as_bytes());
            let run = RunView::read(key, value)?;
            let mut sifting = Sifting::new(sieve, run.records());
            for (id, record) in run.entries() {
                let fault = |fault| records::fault(key, fault);
                let Sifted::Kept(found) =
                    sifting.sift(run.records(), record.len()).map_err(fault)?
                else {
                    continue;
                };
                let (block_type, markdown) = block::markdown(record).map_err(fault)?;
                if !is_all(block_type) {
                    let data = block::decode(id, record, &mut authors).map_err(fault)?.data;
                    visitor.visit(document, BlockText::Data(&data))?;
                    continue;
                }
                // The markdown is a part of the record.
                let start = markdown.as_ptr().addr().saturating_sub(record.as_ptr().addr());
                if !visitor.is_told_by(document, markdown, found.saturating_sub(start)) {
                    visitor.visit(
                        document,
                        BlockText::Markdown(block_type, text(markdown).map_err(fault)?),
                    )?;
                }
            }
            Ok(())
        })
    }
}

/// Goes through the records of a run.
#[derive(Clone, Copy, Default)]
struct Sifting<'s> {
    /// None where all are kept.
    sieve: Option<&'s dyn Sieve>,
    /// Where the next record begins.
    at: usize,
    /// Where something is that may be asked for.
    found: Option<usize>,
}

impl<'s> Sifting<'s> {
    fn new(sieve: Option<&'s dyn Sieve>, records: &[u8]) -> Self {
        let sieve = sieve.filter(|sieve| sieve.tells(records));
        Self { sieve, at: 0, found: sieve.and_then(|sieve| sieve.next(records, 0)) }
    }

    /// What is known of the next of these records, which is so long, without reading it.
    #[inline]
    fn sift(&mut self, records: &[u8], length: usize) -> Decoded<Sifted> {
        let start = self.at;
        self.at += length;
        let Some(sieve) = self.sieve else { return Ok(Sifted::Kept(0)) };
        if let Some(found) = self.found.filter(|found| *found < self.at) {
            self.found = sieve.next(records, self.at);
            return Ok(Sifted::Kept(found.saturating_sub(start)));
        }
        let record = records.get(start..self.at).unwrap_or_default();
        let block_type = block::type_of(record)?;
        let is_left_out = is_all(block_type) && sieve.leaves_out(StoredText(record));
        Ok(if is_left_out { Sifted::LeftOut(block_type) } else { Sifted::Kept(0) })
    }
}

/// What a sieve tells of a record.
enum Sifted {
    /// It may say something that is asked for, which begins nowhere before this place.
    Kept(usize),
    /// It says nothing that is asked for.
    LeftOut(BlockType),
}
