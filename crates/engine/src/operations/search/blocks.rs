//! The search in one document: its blocks by patterns, each with what stands around it.

use std::borrow::Cow;

use leafbase_model::{
    BlockId, BlockMatch, BlockType, ContextBlock, DocumentId, Error, ItemsPage, Limits, PathStep,
    Result, SearchBlocks,
};
use leafbase_store::{BlockText, Sieve, SievedTexts};
use leafbase_tree_ops::ReadTree;

use super::around::Around;
use super::patterns::{Matching, Passage, Patterns};
use super::texts::Reading;
use crate::core::access::AccessScope;
use crate::core::connection::Connection;

/// A reply ends behind the match with which its texts are as long, in bytes.
const REPLY: usize = 16 << 20;

impl<A: AccessScope> Connection<A> {
    /// Finds the blocks of a document, or of one page of it, that patterns match: in reading order,
    /// with the items of its collections and their pages, each with the blocks around it.
    ///
    /// A pattern is matched on the `markdown` of each block by itself, as replies show it: `^` and
    /// `$` are its start and its end. A block is found if a pattern matches it, if only without
    /// taking a letter: `^$` finds empty blocks, `^(?!.*done)` those without a word, and `x*` all.
    /// The blocks around a match are those of the whole document, even where a page of it is
    /// searched.
    ///
    /// A reply has at most [`Limits::BLOCK_MATCHES`] matches, fewer where their texts are long; its
    /// cursor leads on behind the last of them. If that block is gone by then, the search begins
    /// anew, so that nothing is left out.
    ///
    /// ```
    /// use leafbase::{SearchBlocks, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// notes.insert_markdown("Trains\n\nto Lisbon at 22:15\n\nto Porto, €12\n\nThe end", trip.id())?;
    ///
    /// let found = notes.search_blocks(SearchBlocks::new(trip.id(), r"\d\d:\d\d").or("(?<=€)[0-9]+").context(1, 0))?;
    /// assert_eq!(found.iter().map(|hit| &hit.markdown[hit.ranges[0].clone()]).collect::<Vec<_>>(), ["22:15", "12"]);
    /// assert_eq!((found[0].path[0].content.as_str(), found[0].before[0].markdown.as_str()), ("Trip", "Trains"));
    ///
    /// let error = notes.search_blocks(SearchBlocks::new(trip.id(), "(a")).unwrap_err();
    /// assert_eq!(error.to_string(), "pattern: unclosed group, at byte 0");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// It costs one read of what is searched, a step for every few bytes of it, and the matches
    /// with what is around them.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] at `blockId`; [`crate::ErrorKind::InvalidPattern`] at
    /// `pattern`, or at `pattern[n]` of several, with the offset;
    /// [`crate::ErrorKind::LimitExceeded`] for more than [`Limits::PATTERNS`] patterns of
    /// [`Limits::PATTERN_BYTES`] bytes, for more than [`Limits::CONTEXT_BLOCKS`] blocks around a
    /// match, and at a pattern that costs too much for the text: steps are counted, so that it is
    /// the same everywhere; [`crate::ErrorKind::Validation`] at `limit` for 0, and at `cursor` for
    /// one of another place.
    pub fn search_blocks(&self, request: SearchBlocks) -> Result<ItemsPage<BlockMatch>> {
        request.check()?;
        self.operation("search_blocks").read(move |tree| {
            let located =
                tree.locate(request.within)?.ok_or_else(|| Error::not_found().at("blockId"))?;
            let patterns = Patterns::new("pattern", &request.patterns, request.case_sensitive)?;
            let after = request
                .paging
                .cursor
                .as_deref()
                .map(|text| read_cursor(request.within, text))
                .transpose()?;
            // Placeholders do not stand in what is stored, so each text is read where there may be
            // some.
            let sieve = if tree.is_unrestricted() { patterns.sieve() } else { None };
            let sieve = sieve.as_ref().map(|sieve| sieve as &dyn Sieve);
            let blocks = tree.reader_at(request.within)?.sieved_texts(request.within, sieve)?;
            let reading = Reading::new(tree);
            let place = Place::new(&reading, located.document, &blocks)?;
            place.search(&request, &mut patterns.matching(), after)
        })
    }
}

/// The cursor of a reply: where it searched, and the last match.
fn cursor(within: BlockId, last: BlockId) -> String {
    format!("b{within}{last}")
}

/// The last match of the reply before.
fn read_cursor(within: BlockId, text: &str) -> Result<BlockId> {
    let last = text.strip_prefix('b').and_then(|text| text.strip_prefix(&within.to_string()));
    let last = last.and_then(|last| last.parse().ok());
    last.ok_or_else(|| Error::validation("the cursor is not of this search").at("cursor"))
}

/// What is searched: a block with all below it, in reading order.
struct Place<'a, 'b> {
    reading: &'b Reading<'b, 'a>,
    document: DocumentId,
    blocks: &'b SievedTexts,
    /// The pages that the first stands in.
    path: Vec<PathStep>,
}

impl<'a, 'b> Place<'a, 'b> {
    fn new(
        reading: &'b Reading<'b, 'a>,
        document: DocumentId,
        blocks: &'b SievedTexts,
    ) -> Result<Self> {
        let path = blocks.id(0).map(|top| path_to(reading, top)).transpose()?.unwrap_or_default();
        Ok(Self { reading, document, blocks, path })
    }

    fn search(
        &self,
        request: &SearchBlocks,
        matching: &mut Matching<'_>,
        after: Option<BlockId>,
    ) -> Result<ItemsPage<BlockMatch>> {
        let most = request.paging.limit.unwrap_or(usize::MAX).min(Limits::BLOCK_MATCHES);
        let last = after.and_then(|after| self.blocks.ids().position(|(_, id)| id == after));
        let mut around = Around::new(self.reading, self.document, request);
        let (mut items, mut bytes, mut siblings) = (Vec::new(), 0, None);
        let mut through = matching.through(self);
        through.skip_to(last.map_or(0, |last| self.blocks.asked_before(last + 1)));
        while let Some(number) = through.next().transpose()? {
            if items.len() >= most || bytes >= REPLY {
                let next_cursor =
                    items.last().map(|last: &BlockMatch| cursor(request.within, last.block_id));
                return Ok(ItemsPage { items, next_cursor });
            }
            let Some(index) = self.blocks.asked(number) else { break };
            let markdown = self.text(number)?.into_owned();
            let [before, after] = self.beside(index, &mut around)?;
            let hit = BlockMatch {
                block_id: self.id(index),
                ranges: through.matching.ranges(&markdown)?,
                path: self.path(index, &mut siblings)?,
                before,
                after,
                markdown,
            };
            let near = hit.before.iter().chain(&hit.after).map(|block| block.markdown.len());
            bytes += hit.markdown.len() + near.sum::<usize>();
            items.push(hit);
        }
        Ok(ItemsPage { items, next_cursor: None })
    }

    fn id(&self, index: usize) -> BlockId {
        self.blocks.id(index).unwrap_or(BlockId::NIL)
    }

    /// The pages that a block stands in, the document's root first. `siblings` is that of the block
    /// before, with its parent: most stand beside it.
    fn path(
        &self,
        index: usize,
        siblings: &mut Option<(usize, Vec<PathStep>)>,
    ) -> Result<Vec<PathStep>> {
        let Some(parent) = self.blocks.parent(index) else { return Ok(self.path.clone()) };
        if let Some((_, path)) = siblings.as_ref().filter(|(of, _)| *of == parent) {
            return Ok(path.clone());
        }
        let above = std::iter::successors(Some(parent), |index| self.blocks.parent(*index));
        let step = |index| match self.blocks.blocks(index..index + 1).next().transpose()? {
            Some((id, text)) => step(self.reading, id, text),
            None => Ok(None),
        };
        let within = above.filter_map(|index| step(index).transpose());
        let mut within = within.collect::<Result<Vec<_>>>()?;
        within.reverse();
        let path = self.path.iter().cloned().chain(within).collect();
        Ok(siblings.insert((parent, path)).1.clone())
    }

    /// The blocks before and behind one.
    fn beside(&self, index: usize, around: &mut Around<'_, '_>) -> Result<[Vec<ContextBlock>; 2]> {
        let (start, end) =
            (index.saturating_sub(around.before), self.blocks.len().min(index + 1 + around.behind));
        let mut before = Vec::with_capacity(around.before);
        before.extend_from_slice(around.before(around.before - (index - start))?);
        let mut behind = Vec::with_capacity(around.behind);
        for (at, block) in (start..end).zip(self.blocks.blocks(start..end)) {
            if at != index {
                let (block_id, text) = block?;
                let found = if at < index { &mut before } else { &mut behind };
                found.push(ContextBlock {
                    block_id,
                    markdown: self.reading.text(text)?.into_owned(),
                });
            }
        }
        behind.extend_from_slice(around.behind(around.behind - behind.len())?);
        Ok([before, behind])
    }
}

/// Of all blocks those that may match.
impl Passage for Place<'_, '_> {
    fn len(&self) -> usize {
        self.blocks.count_asked()
    }

    fn text(&self, number: usize) -> Result<Cow<'_, str>> {
        self.blocks
            .asked_text(number)
            .map_or_else(|| Ok(Cow::default()), |text| self.reading.text(text))
    }
}

/// The pages that a block stands in.
fn path_to(reading: &Reading<'_, '_>, block: BlockId) -> Result<Vec<PathStep>> {
    let (mut path, mut at, reader) = (Vec::new(), block, reading.tree.reader_at(block)?);
    while let Some(parent) = reader.locate(at)?.and_then(|standing| standing.parent) {
        if let Some(above) = reader.block(parent)? {
            path.extend(step(reading, above.id, BlockText::Data(&above.data))?);
        }
        at = parent;
    }
    path.reverse();
    Ok(path)
}

/// A block as a step of a path, if it is a page: a collection is none.
fn step(reading: &Reading<'_, '_>, id: BlockId, text: BlockText<'_>) -> Result<Option<PathStep>> {
    let is_page = matches!(text.block_type(), BlockType::Page | BlockType::CollectionItem);
    let step = |content: Cow<'_, str>| PathStep { id, content: content.into_owned() };
    is_page.then(|| reading.text(text).map(step)).transpose()
}
