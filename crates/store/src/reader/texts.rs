//! Texts of blocks for searches: the markdown of most blocks, and all data of the others.

use std::ops::Range;

use leafbase_model::{BlockData, BlockId, BlockType, DocumentId, Result, invariant};

use super::SpaceReader;
use super::trees::{CHILD_OF_TOP, CollectedNode, NodeBuilder, TreeNode, rows_of};
use crate::keyspaces::BLOCKS;
use crate::msgpack::{DecodeError, Decoded};
use crate::records;
use crate::records::block::{self, AuthorCache};
use crate::run::RunView;

/// The text of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BlockText<'t> {
    /// A block of this type has no text but its markdown, and no markers.
    Markdown(BlockType, &'t str),
    /// The block has other text, too, or its markdown is rendered from other fields.
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

fn utf8(bytes: &[u8]) -> Decoded<&str> {
    std::str::from_utf8(bytes).map_err(|_| DecodeError::Corrupt)
}

/// Sibling blocks that are stored together, borrowed from the store.
#[derive(Clone, Copy, Debug)]
pub struct TextRun<'r> {
    document: DocumentId,
    key: &'r [u8],
    run: RunView<'r>,
}

impl<'r> TextRun<'r> {
    /// The document of the blocks.
    pub const fn document(&self) -> DocumentId {
        self.document
    }

    /// The encoded blocks, which contain verbatim each text that [`StoredText::is_markdown_only`].
    /// A substring search over them can rule out many texts at once.
    pub const fn bytes(&self) -> &'r [u8] {
        self.run.records()
    }

    /// The texts of the blocks, in order.
    pub fn texts(self) -> impl Iterator<Item = Result<StoredText<'r>>> {
        let mut start = 0;
        self.run.entries().map(move |(id, record)| {
            // Records follow each other in the run without gaps.
            let range = start..start + record.len();
            start = range.end;
            debug_assert!(start <= self.bytes().len(), "records lie within their run");
            let corrupted = |error| self.corrupted(error);
            let block_type = block::type_of(record).map_err(corrupted)?;
            let is_markdown_only = is_markdown_only(block_type, record).map_err(corrupted)?;
            Ok(StoredText { run: self, id, block_type, is_markdown_only, range, record })
        })
    }

    fn corrupted(&self, error: DecodeError) -> leafbase_model::Error {
        records::decode_error(self.key, error)
    }
}

/// The text of a block in a [`TextRun`], not decoded yet.
#[derive(Clone, Debug)]
pub struct StoredText<'r> {
    run: TextRun<'r>,
    id: BlockId,
    block_type: BlockType,
    is_markdown_only: bool,
    range: Range<usize>,
    record: &'r [u8],
}

impl StoredText<'_> {
    /// The range of [`TextRun::bytes`] that encodes the block.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// Whether the block has no text but its markdown, and no markers.
    pub const fn is_markdown_only(&self) -> bool {
        self.is_markdown_only
    }

    /// Passes the decoded text to `visit`.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::Corrupted`] if the record is damaged, and errors of `visit`.
    pub fn read<T>(&self, visit: impl FnOnce(BlockText<'_>) -> Result<T>) -> Result<T> {
        if self.is_markdown_only() {
            let markdown = block::markdown(self.record).and_then(|(_, bytes)| utf8(bytes));
            let markdown = markdown.map_err(|error| self.run.corrupted(error))?;
            return visit(BlockText::Markdown(self.block_type, markdown));
        }
        let block = block::decode(self.id, self.record, &mut AuthorCache::default());
        visit(BlockText::Data(&block.map_err(|error| self.run.corrupted(error))?.data))
    }
}

/// Whether a block has no text but its markdown, and no markers.
fn is_markdown_only(block_type: BlockType, record: &[u8]) -> Decoded<bool> {
    Ok(block_type.is_markdown_only()
        && (block_type != BlockType::Text || !block::may_have_markers(record)?))
}

/// A block of [`SubtreeTexts`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubtreeText<'t> {
    /// The block.
    pub id: BlockId,
    /// Its revision.
    pub rev: u64,
    /// Levels below the first block.
    pub depth: u16,
    /// Its text.
    pub text: BlockText<'t>,
}

/// The texts of a block and its descendants, in reading order.
#[derive(Debug, Default)]
pub struct SubtreeTexts {
    /// The markdown of all blocks without other text, concatenated.
    markdown: String,
    blocks: Vec<(u16, TextEntry)>,
}

impl SubtreeTexts {
    /// The number of blocks.
    pub const fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether there are no blocks.
    pub const fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The block at `index`.
    pub fn get(&self, index: usize) -> Option<SubtreeText<'_>> {
        self.blocks.get(index).map(|block| self.block(block))
    }

    /// All blocks.
    pub fn iter(
        &self,
    ) -> impl DoubleEndedIterator<Item = SubtreeText<'_>> + ExactSizeIterator + Clone {
        self.blocks.iter().map(|block| self.block(block))
    }

    fn block<'t>(&'t self, (depth, entry): &'t (u16, TextEntry)) -> SubtreeText<'t> {
        let text = match &entry.text {
            EntryText::Markdown(block_type, range) => {
                let markdown = self.markdown.get(range.clone());
                debug_assert!(markdown.is_some(), "an entry's range lies within the markdown");
                BlockText::Markdown(*block_type, markdown.unwrap_or(""))
            }
            EntryText::Data(data) => BlockText::Data(data),
        };
        SubtreeText { id: entry.id, rev: entry.rev, depth: *depth, text }
    }
}

#[derive(Debug)]
struct TextEntry {
    id: BlockId,
    rev: u64,
    text: EntryText,
}

#[derive(Debug)]
enum EntryText {
    /// A range of [`SubtreeTexts::markdown`].
    Markdown(BlockType, Range<usize>),
    Data(Box<BlockData>),
}

/// An entry, or a block of no interest below which others may be.
enum CollectedText {
    Entry(TextEntry),
    Omitted(BlockId, BlockType),
}

impl TreeNode for CollectedText {
    fn id(&self) -> BlockId {
        match self {
            Self::Entry(entry) => entry.id,
            Self::Omitted(id, _) => *id,
        }
    }

    fn block_type(&self) -> BlockType {
        match self {
            Self::Entry(TextEntry { text: EntryText::Markdown(block_type, _), .. })
            | Self::Omitted(_, block_type) => *block_type,
            Self::Entry(TextEntry { text: EntryText::Data(data), .. }) => data.block_type(),
        }
    }
}

/// The markdown of a block, borrowed from its run and not verified to be UTF-8.
#[derive(Clone, Debug)]
pub struct RawText<'r> {
    /// The encoded blocks of the run, as [`TextRun::bytes`].
    pub run: &'r [u8],
    /// The range of them that encodes the block.
    pub range: Range<usize>,
    /// The markdown, a part of that range.
    pub markdown: &'r [u8],
}

/// Decides by its markdown whether a block is of interest.
type IsOfInterest<'f> = &'f mut dyn FnMut(RawText<'_>) -> bool;

struct TextCollector<'f> {
    /// `None` if each block is.
    is_of_interest: Option<IsOfInterest<'f>>,
    /// Whether the first block was collected, which is the top of the subtree.
    has_top: bool,
    /// The engine makes pages of texts that receive children; the format allows others.
    texts_may_be_parents: bool,
    markdown: String,
    authors: AuthorCache,
}

/// Bytes of markdown to reserve per block.
const MARKDOWN_BYTES_PER_BLOCK: usize = 64;
/// Blocks to reserve memory for if most are left out.
const FEW_BLOCKS: usize = 4;

impl NodeBuilder for TextCollector<'_> {
    type Node = CollectedText;

    fn expect(&mut self, blocks: usize) -> usize {
        if self.is_of_interest.is_some() {
            // Most have no node.
            self.markdown.reserve(MARKDOWN_BYTES_PER_BLOCK * FEW_BLOCKS);
            return FEW_BLOCKS.min(blocks);
        }
        self.markdown.reserve(blocks * MARKDOWN_BYTES_PER_BLOCK);
        blocks
    }

    fn build(&mut self, id: BlockId, record: &[u8]) -> Decoded<CollectedText> {
        let (block_type, markdown) = block::markdown(record)?;
        Ok(CollectedText::Entry(self.entry(id, block_type, markdown, record)?))
    }

    fn build_run(
        &mut self,
        run: RunView<'_>,
        nodes: &mut Vec<CollectedNode<CollectedText>>,
    ) -> Decoded<usize> {
        let (mut start, mut omitted) = (0, 0);
        for (id, record) in run.entries() {
            let range = start..start + record.len();
            start = range.end;
            let (block_type, markdown) = block::markdown(record)?;
            let text = RawText { run: run.records(), range, markdown };
            if self.is_wanted(block_type, text) {
                let entry = self.entry(id, block_type, markdown, record)?;
                nodes.push(Some((CHILD_OF_TOP, CollectedText::Entry(entry))));
            } else if block_type.holds_blocks()
                && (self.texts_may_be_parents || block_type != BlockType::Text)
            {
                nodes.push(Some((CHILD_OF_TOP, CollectedText::Omitted(id, block_type))));
            } else {
                omitted += 1;
            }
        }
        Ok(omitted)
    }

    fn restart(&mut self) -> bool {
        self.markdown.clear();
        self.has_top = false;
        self.is_of_interest.is_some() && !std::mem::replace(&mut self.texts_may_be_parents, true)
    }
}

impl<'f> TextCollector<'f> {
    fn new(is_of_interest: Option<IsOfInterest<'f>>) -> Self {
        let (markdown, authors) = (String::new(), AuthorCache::default());
        Self { is_of_interest, has_top: false, texts_may_be_parents: false, markdown, authors }
    }

    /// The texts of the collected blocks in their order, without those that were omitted.
    fn texts(self, ordered: Vec<(u16, CollectedText)>) -> SubtreeTexts {
        let blocks = ordered.into_iter().filter_map(|(depth, block)| match block {
            CollectedText::Entry(entry) => Some((depth, entry)),
            CollectedText::Omitted(..) => None,
        });
        SubtreeTexts { blocks: blocks.collect(), markdown: self.markdown }
    }

    /// Whether the caller wants a block.
    fn is_wanted(&mut self, block_type: BlockType, text: RawText<'_>) -> bool {
        let Some(is_of_interest) = &mut self.is_of_interest else { return true };
        let is_of_interest = is_of_interest(text);
        // The top is collected first. Its text is kept: it may be the title.
        let is_top = !std::mem::replace(&mut self.has_top, true);
        is_top || is_of_interest || !block_type.is_markdown_only()
    }

    fn entry(
        &mut self,
        id: BlockId,
        block_type: BlockType,
        markdown: &[u8],
        record: &[u8],
    ) -> Decoded<TextEntry> {
        let text = if is_markdown_only(block_type, record)? {
            // One string for all blocks saves an allocation per block.
            let start = self.markdown.len();
            self.markdown.push_str(utf8(markdown)?);
            EntryText::Markdown(block_type, start..self.markdown.len())
        } else {
            EntryText::Data(Box::new(block::decode(id, record, &mut self.authors)?.data))
        };
        Ok(TextEntry { id, rev: block::rev_of(record)?, text })
    }
}

impl SpaceReader<'_> {
    /// The texts of `block` and its descendants, the items of collections included; empty if the
    /// block does not exist. It reads as much as [`Self::subtree`], and decodes less.
    ///
    /// # Errors
    /// As [`Self::subtree`].
    pub fn subtree_texts(&self, block: BlockId) -> Result<SubtreeTexts> {
        let mut collector = TextCollector::new(None);
        let blocks = self.nodes_of(block, &mut collector)?;
        Ok(collector.texts(blocks))
    }

    /// The texts of an existing document.
    ///
    /// # Errors
    /// As [`Self::document_texts_where`].
    pub fn document_texts(&self, document: DocumentId) -> Result<SubtreeTexts> {
        let mut collector = TextCollector::new(None);
        let blocks = self.document_nodes(document, &mut collector)?;
        Ok(collector.texts(blocks))
    }

    /// The texts of an existing document without blocks below its root whose markdown is their only
    /// text and is not of interest. The predicate is asked of each block in turn, run by run, so
    /// that it can search a whole run and go on where it found something.
    ///
    /// # Errors
    /// As [`Self::subtree`], and [`leafbase_model::ErrorKind::Corrupted`] if there is no such
    /// document.
    pub fn document_texts_where(
        &self,
        document: DocumentId,
        is_of_interest: &mut dyn FnMut(RawText<'_>) -> bool,
    ) -> Result<SubtreeTexts> {
        let mut collector = TextCollector::new(Some(is_of_interest));
        let blocks = self.document_nodes(document, &mut collector)?;
        Ok(collector.texts(blocks))
    }

    /// Visits the texts of `documents`, which are sorted, document by document, and in no
    /// particular order within one. Nothing is copied or decoded before it is asked for.
    ///
    /// # Errors
    /// As [`Self::locate`], and errors of `visit`.
    pub fn visit_text_runs(
        &self,
        documents: &[DocumentId],
        visit: &mut dyn FnMut(TextRun<'_>) -> Result<()>,
    ) -> Result<()> {
        invariant!(documents.is_sorted(), "one scan visits sorted documents");
        // The keys of a document's runs begin with its ID, which is also the root's ID.
        let roots: Vec<BlockId> = documents.iter().map(|document| document.root()).collect();
        rows_of(self.read, &[BLOCKS.tag], &roots, &mut |root, key, value| {
            let document = DocumentId::from_bytes(*root.as_bytes());
            visit(TextRun { document, key, run: RunView::read(key, value)? })
        })
    }
}
