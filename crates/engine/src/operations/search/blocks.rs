//! The search for blocks: by patterns, with the blocks around each match.

use std::borrow::Cow;

use leafbase_model::{
    BlockId, BlockMatch, ContextBlock, DocumentId, Error, ItemsPage, Limits, Paging, PathStep,
    Result, SearchBlocks, invariant,
};
use leafbase_store::{BlockText, SubtreeTexts};
use leafbase_tree_ops::ReadTree;

use super::patterns::{PatternSet, PatternSetMatcher};
use super::surroundings::Surroundings;
use super::texts::VisibleTexts;
use crate::core::access::AccessScope;
use crate::core::connection::Connection;
use crate::operations::cursor_text::fingerprint_of;

/// A reply ends at the match whose text reaches this length.
const MAX_REPLY_BYTES: usize = 16 << 20;

impl<A: AccessScope> Connection<A> {
    /// Finds the blocks that match patterns, with the blocks around each: those of a document or of
    /// one of its pages in reading order, or those of all documents that filters select
    /// ([`SearchBlocks::everywhere`]), ordered by the IDs of the documents. Items of collections
    /// and their pages are searched, too.
    ///
    /// Patterns match the `markdown` of one block as replies show it: `^` and `$` are its start and
    /// end. An empty match is a match: `^$` finds empty blocks, `^(?!.*done)` blocks without a
    /// word, and `x*` all blocks. Context comes from the whole document, even if a page is
    /// searched.
    ///
    /// A reply has at most [`Limits::BLOCK_MATCHES`] matches, and fewer if their texts are long.
    /// Its cursor continues after the last match. If that block has been deleted, the search
    /// restarts from the beginning of its document, so that no block is skipped. In a search of
    /// several documents, the blocks of each document that is not written in the meantime are
    /// returned once; a reply also ends, possibly without matches, where the step budget of a call
    /// ends.
    ///
    /// ```
    /// use leafbase::{SearchBlocks, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// notes.insert_markdown("Trains\n\nto Lisbon at 22:15\n\nto Porto, €12\n\nThe end", trip.id())?;
    ///
    /// let found = notes.search_blocks(SearchBlocks::new(trip.id(), r"\d\d:\d\d").or("(?<=€)[0-9]+").context(1, 0))?;
    /// assert_eq!(
    ///     found.iter().map(|hit| &hit.markdown[hit.ranges[0].clone()]).collect::<Vec<_>>(),
    ///     ["22:15", "12"],
    /// );
    /// assert_eq!(
    ///     (found[0].path[0].content.as_str(), found[0].before[0].markdown.as_str()),
    ///     ("Trip", "Trains"),
    /// );
    /// let found = notes.search_blocks(SearchBlocks::everywhere("porto"))?;
    /// assert_eq!((found.len(), found[0].document_id), (1, trip.id()));
    ///
    /// let error = notes.search_blocks(SearchBlocks::new(trip.id(), "(a")).unwrap_err();
    /// assert_eq!(error.to_string(), "pattern: unclosed group, at byte 0");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cost
    /// It reads the searched blocks once, scans their text, and reads the context of matches. In a
    /// search of several documents, each page asks the index for the documents that have the
    /// trigrams of a pattern, and reads these from the cursor on; a scoped connection, and a
    /// pattern that requires no three characters in a row, read all that the filters select.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] at `blockId` or `documentId`, `documentIds[n]` and
    /// `folderIds[n]`;
    /// [`crate::ErrorKind::InvalidPattern`] at `pattern`, or at `pattern[n]` of several, with the
    /// offset; [`crate::ErrorKind::LimitExceeded`] for more than [`Limits::PATTERNS`] patterns of
    /// [`Limits::PATTERN_BYTES`] bytes, for more than [`Limits::CONTEXT_BLOCKS`] blocks around a
    /// match, and at a pattern that exceeds its step budget in one document, which is the same on
    /// every machine; [`crate::ErrorKind::Validation`] if [`SearchBlocks::check`] refuses the
    /// request, at `cursor` for a cursor of another search, at `blockId` in a batch and without the
    /// feature `search` if it names no block, and on a scoped connection at filters that belong to
    /// the full space.
    pub fn search_blocks(&self, request: SearchBlocks) -> Result<ItemsPage<BlockMatch>> {
        request.check()?;
        let Some(within) = request.within else {
            return self.search_documents_for_blocks(&request);
        };
        self.operation("search_blocks").read(move |tree| {
            let missing = if request.by_document { Error::no_document } else { Error::no_block };
            let located =
                tree.locate(within)?.ok_or_else(|| missing().at(request.within_field()))?;
            let patterns = PatternSet::new("pattern", &request.patterns, request.case_sensitive)?;
            let fingerprint = fingerprint(&request)?;
            let cursor = request.paging.cursor.as_deref();
            let after = cursor.map(|text| read_cursor(fingerprint, text)).transpose()?;
            let texts = VisibleTexts::new(tree);
            let mut page = BlockPage::new(&request);
            let top = (located.document, within);
            page.search(&texts, top, &mut patterns.matcher(), after)?;
            let last = page.items.last().filter(|_| page.has_more);
            let next_cursor = last.map(|last| write_cursor(fingerprint, last.block_id));
            Ok(ItemsPage { items: page.items, next_cursor })
        })
    }

    #[cfg(not(feature = "search"))]
    #[expect(clippy::unused_self, reason = "as with the feature")]
    fn search_documents_for_blocks(&self, _: &SearchBlocks) -> Result<ItemsPage<BlockMatch>> {
        Err(Error::validation("searching all documents is the feature search").at("blockId"))
    }
}

/// The fingerprint of a request without its page.
pub(super) fn fingerprint(request: &SearchBlocks) -> Result<u64> {
    let mut request = request.clone();
    request.paging = Paging::default();
    let request = serde_json::to_vec(&request).map_err(|error| {
        Error::validation("cannot be written as JSON").with_source(error).at("pattern")
    })?;
    Ok(fingerprint_of(&request))
}

/// The cursor of a reply: the fingerprint of the request, and the last match.
fn write_cursor(fingerprint: u64, last: BlockId) -> String {
    format!("b{fingerprint:016x}{last}")
}

/// The last match of the previous reply.
fn read_cursor(fingerprint: u64, text: &str) -> Result<BlockId> {
    let last = text.strip_prefix('b');
    let last = last.and_then(|text| text.strip_prefix(&format!("{fingerprint:016x}")));
    let last = last.and_then(|last| last.parse().ok());
    last.ok_or_else(|| Error::validation("the cursor is not of this search").at("cursor"))
}

/// A page of matches.
pub(super) struct BlockPage<'r> {
    request: &'r SearchBlocks,
    pub(super) items: Vec<BlockMatch>,
    bytes: usize,
    /// Whether a match comes after the page.
    pub(super) has_more: bool,
}

impl<'r> BlockPage<'r> {
    pub(super) const fn new(request: &'r SearchBlocks) -> Self {
        Self { request, items: Vec::new(), bytes: 0, has_more: false }
    }

    fn is_full(&self) -> bool {
        let limit = self.request.paging.limit.unwrap_or(usize::MAX);
        self.items.len() >= limit.min(Limits::BLOCK_MATCHES) || self.bytes >= MAX_REPLY_BYTES
    }

    fn push(&mut self, item: BlockMatch) {
        let context = item.before.iter().chain(&item.after).map(|block| block.markdown.len());
        self.bytes += item.markdown.len() + context.sum::<usize>();
        self.items.push(item);
    }

    /// Adds the matches of a block and its descendants, from a match of a previous page on.
    pub(super) fn search(
        &mut self,
        texts: &VisibleTexts<'_, '_>,
        (document, within): (DocumentId, BlockId),
        matcher: &mut PatternSetMatcher<'_>,
        after: Option<BlockId>,
    ) -> Result<()> {
        let blocks = texts.tree.reader_at(within)?.subtree_texts(within)?;
        BlockSearch::new(texts, document, &blocks)?.run((self, within), matcher, after)
    }
}

/// A search of a block and its descendants, in reading order.
struct BlockSearch<'a, 'b> {
    texts: &'b VisibleTexts<'b, 'a>,
    document: DocumentId,
    blocks: &'b SubtreeTexts,
    /// The pages that contain the first block.
    path: Vec<PathStep>,
}

/// A block with descendants in a [`BlockSearch`].
struct Ancestor {
    index: usize,
    depth: u16,
}

/// The index of a parent, with the path of its children.
type SiblingPath = Option<(usize, Vec<PathStep>)>;

impl<'a, 'b> BlockSearch<'a, 'b> {
    fn new(
        texts: &'b VisibleTexts<'b, 'a>,
        document: DocumentId,
        blocks: &'b SubtreeTexts,
    ) -> Result<Self> {
        let path = match blocks.get(0) {
            Some(top) => path_to(texts, top.id)?,
            None => Vec::new(),
        };
        Ok(Self { texts, document, blocks, path })
    }

    fn run(
        &self,
        (page, within): (&mut BlockPage<'_>, BlockId),
        matcher: &mut PatternSetMatcher<'_>,
        after: Option<BlockId>,
    ) -> Result<()> {
        // A block that is gone since the last page restarts the search, so that none is skipped.
        let last = after.and_then(|after| self.blocks.iter().position(|block| block.id == after));
        let start = last.map_or(0, |last| last + 1);
        let mut surroundings = Surroundings::new(self.texts, (self.document, within), page.request);
        let (mut siblings, mut ancestors) = (None, Vec::new());
        for (index, block) in self.blocks.iter().enumerate() {
            self.enter(index, block.depth, &mut ancestors);
            if index < start {
                continue;
            }
            let markdown = self.texts.markdown(block.text)?;
            if !matcher.is_match(&markdown)? {
                continue;
            }
            // Checked at the next match, so that the last page has no cursor.
            if page.is_full() {
                page.has_more = true;
                return Ok(());
            }
            let [before, after] = self.context(index, &mut surroundings)?;
            page.push(BlockMatch {
                document_id: self.document,
                block_id: block.id,
                rev: block.rev,
                ranges: matcher.ranges(&markdown)?,
                path: self.path(&ancestors, &mut siblings)?,
                before,
                after,
                markdown: markdown.into_owned(),
            });
        }
        Ok(())
    }

    /// Makes `ancestors` those of the block at `index`, after the previous block.
    fn enter(&self, index: usize, depth: u16, ancestors: &mut Vec<Ancestor>) {
        // In reading order, a block is a child of the nearest block before it with less depth.
        let previous = index.checked_sub(1).and_then(|previous| self.blocks.get(previous));
        ancestors.extend(previous.map(|block| Ancestor { index: index - 1, depth: block.depth }));
        while ancestors.pop_if(|ancestor| ancestor.depth >= depth).is_some() {}
    }

    /// The pages that contain a block with these ancestors, the document's root first. `siblings`
    /// is the path of the previous match, which most share.
    fn path(&self, ancestors: &[Ancestor], siblings: &mut SiblingPath) -> Result<Vec<PathStep>> {
        let Some(parent) = ancestors.last() else { return Ok(self.path.clone()) };
        if let Some((_, path)) = siblings.as_ref().filter(|(of, _)| *of == parent.index) {
            return Ok(path.clone());
        }
        let mut path = self.path.clone();
        for ancestor in ancestors {
            let Some(block) = self.blocks.get(ancestor.index) else {
                invariant!("ancestors are among the blocks");
            };
            path.extend(step(self.texts, block.id, block.text)?);
        }
        Ok(siblings.insert((parent.index, path)).1.clone())
    }

    /// The blocks before and after the block at `index`.
    fn context(
        &self,
        index: usize,
        surroundings: &mut Surroundings<'_, '_>,
    ) -> Result<[Vec<ContextBlock>; 2]> {
        let (max_before, max_after) = (surroundings.max_before, surroundings.max_after);
        let start = index.saturating_sub(max_before);
        let end = self.blocks.len().min(index + 1 + max_after);
        // Near the ends of the searched subtree, context continues outside of it.
        let mut before = Vec::with_capacity(max_before);
        before.extend_from_slice(surroundings.before(max_before - (index - start))?);
        let mut after = Vec::with_capacity(max_after);
        for at in (start..end).filter(|at| *at != index) {
            let Some(block) = self.blocks.get(at) else {
                invariant!("context within the subtree is among its blocks");
            };
            let side = if at < index { &mut before } else { &mut after };
            let markdown = self.texts.markdown(block.text)?.into_owned();
            side.push(ContextBlock { block_id: block.id, markdown });
        }
        debug_assert!(after.len() <= max_after, "the subtree gives at most the context asked for");
        after.extend_from_slice(surroundings.after(max_after - after.len())?);
        Ok([before, after])
    }
}

/// The pages that contain a block, the document's root first.
pub(crate) fn path_to(texts: &VisibleTexts<'_, '_>, block: BlockId) -> Result<Vec<PathStep>> {
    let reader = texts.tree.reader_at(block)?;
    let top = texts.tree.locate(block)?.map_or(block, |location| location.document.root());
    let mut path = Vec::new();
    let mut at = block;
    while at != top
        && let Some(parent) = reader.locate(at)?.and_then(|location| location.parent)
    {
        if let Some(ancestor) = reader.block(parent)? {
            path.extend(step(texts, ancestor.id, BlockText::Data(&ancestor.data))?);
        }
        at = parent;
    }
    path.reverse();
    Ok(path)
}

/// The step of a path for an ancestor, if it is a page. Collections are left out.
fn step(
    texts: &VisibleTexts<'_, '_>,
    id: BlockId,
    text: BlockText<'_>,
) -> Result<Option<PathStep>> {
    let step = |content: Cow<'_, str>| PathStep { id, content: content.into_owned() };
    text.block_type().is_page().then(|| texts.markdown(text).map(step)).transpose()
}
