//! Unlinked mentions: blocks that say the title of a document or page without a link.

use std::collections::BTreeSet;
use std::ops::Range;

use leafbase_markdown::{PlainText, wiki_link_ranges};
use leafbase_model::{
    BlockData, BlockId, BlockKind, DocumentId, Error, ItemsPage, Limits, Location, Result,
    SearchDocuments, UnlinkedMentions, invariant,
};
use leafbase_pattern::escape_pattern;
use leafbase_store::BlockText;
use leafbase_tree_ops::ReadTree;
use serde::Serialize;

use crate::core::access::Unbatched;
use crate::core::connection::Connection;
use crate::core::redaction::{LinkRedactor, shown_markdown};
use crate::core::scope_roots::ScopeRoots;
use crate::core::tree::Tree;
use crate::operations::documents::properties::properties_of;
use crate::operations::search::{PatternSet, PatternSetMatcher};

/// Length of a block ID in a cursor.
const ID_LENGTH: usize = 26;
/// Letters from here on are mostly of scripts without blanks between words.
const FIRST_IDEOGRAPHIC: char = '\u{2E80}';

/// A block that says a title. As JSON: `{"documentId", "blockId", "markdown", "ranges": [{"start",
/// "end"}]}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TitleMention {
    /// The document that contains the block.
    pub document_id: DocumentId,
    /// The block.
    pub block_id: BlockId,
    /// The markdown of the block.
    pub markdown: String,
    /// Where the title is in the plain text of the block, in bytes.
    pub ranges: Vec<Range<usize>>,
}

impl<A: Unbatched> Connection<A> {
    /// The blocks that say the title of a document or page, or an alias in its front matter, as
    /// words of their own and in any case, outside of links and of wiki links, resolved or not: an
    /// editor offers to link them. Texts and titles are searched, also of items; not tables and
    /// code. Blocks of the document or page itself are not listed, nor those in the trash. A page
    /// of a scope is a document here as well. A name is not looked for if a pattern of it has more
    /// than [`Limits::PATTERN_BYTES`] bytes.
    ///
    /// Sorted by document and block, each by ID, which no edit changes. Needs the feature `search`.
    ///
    /// ```
    /// use leafbase::UnlinkedMentions;
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let lisbon = notes.create_document("Lisbon")?.id();
    /// let trip = notes.create_document("Trip")?.id();
    /// notes.insert_markdown(&format!("to [Lisbon](block://{lisbon})\n\nto lisbon"), trip)?;
    /// let mentions = notes.unlinked_mentions(lisbon)?;
    /// assert_eq!((mentions.len(), mentions[0].markdown.as_str()), (1, "to lisbon"));
    /// assert_eq!(mentions[0].ranges, [3..9]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cost
    /// Documents are found by the index of searches, and those with the title are read; a title of
    /// fewer than three characters, and a scoped connection, read all documents from the cursor on.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] at `id`; [`crate::ErrorKind::Validation`] there for a block
    /// that has no title, at `limit` for 0, and at `cursor` for a cursor of another target.
    pub fn unlinked_mentions(
        &self,
        request: impl Into<UnlinkedMentions>,
    ) -> Result<ItemsPage<TitleMention>> {
        let request = request.into();
        request.paging.check()?;
        let operation = self.operation("unlinked_mentions");
        let pattern = operation.read(|tree| name_pattern(tree, request.id))?;
        let after = request.paging.cursor.as_deref();
        let after = after.map(|text| MentionPosition::read(request.id, text)).transpose()?;
        if pattern.is_empty() {
            return Ok(ItemsPage { items: Vec::new(), next_cursor: None });
        }
        let patterns = PatternSet::new("id", std::slice::from_ref(&pattern), false)?;
        let candidates = self.mention_candidates(pattern)?;
        operation.read(|tree| {
            let links = LinkRedactor::new(tree);
            let matcher = patterns.matcher();
            let own = tree.reader_at(request.id)?.subtree_texts(request.id)?;
            let own = own.iter().map(|block| block.id).collect();
            let reader = MentionReader { tree, links, matcher, own };
            reader.page(&request, candidates, after)
        })
    }

    /// The documents that may have the title, by ID.
    fn mention_candidates(&self, pattern: String) -> Result<Option<BTreeSet<DocumentId>>> {
        if !self.is_unrestricted() {
            // The content of the index depends on writes to the rest of the space.
            return Ok(None);
        }
        let (documents, _) = self.pattern_candidates(&SearchDocuments::pattern(pattern))?;
        Ok(Some(documents.into_iter().collect()))
    }
}

/// The plain text of a title.
fn title_of(tree: &Tree<'_>, id: BlockId) -> Result<String> {
    let record = tree.block(id)?.ok_or_else(|| Error::no_block().at("id"))?;
    match record.data.kind {
        BlockKind::Page(_) | BlockKind::CollectionItem { .. } => {
            let shown = LinkRedactor::new(tree).redacted(&record.data)?.inline.clone();
            Ok(PlainText::of(&shown).into_string())
        }
        _ => Err(Error::validation("the block is neither a document nor a page").at("id")),
    }
}

/// A pattern of the title and the aliases in the front matter of a document, without those that
/// would make it longer than a pattern may be. Empty without a name.
fn name_pattern(tree: &Tree<'_>, id: BlockId) -> Result<String> {
    let title = title_of(tree, id)?;
    let is_document = tree.locate(id)?.is_some_and(|location| location.document.root() == id);
    let mut names = vec![title];
    if is_document {
        names.extend(properties_of(tree, DocumentId::of_root(id))?.aliases);
    }
    let mut pattern = String::new();
    for name in names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
        let words = word_pattern(name);
        let joined = if pattern.is_empty() { words } else { format!("{pattern}|{words}") };
        if joined.len() <= Limits::PATTERN_BYTES {
            pattern = joined;
        }
    }
    Ok(pattern)
}

/// A pattern of the title as words of their own, where the script has such.
fn word_pattern(title: &str) -> String {
    let is_of_word = |letter: Option<char>| {
        letter.is_some_and(|it| it.is_alphanumeric() && it < FIRST_IDEOGRAPHIC)
    };
    let before = if is_of_word(title.chars().next()) { r"(?<![\p{L}\p{N}])" } else { "" };
    let after = if is_of_word(title.chars().next_back()) { r"(?![\p{L}\p{N}])" } else { "" };
    format!("{before}{}{after}", escape_pattern(title))
}

/// Where a page of mentions ends, whether the block exists or not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct MentionPosition {
    document: DocumentId,
    block: BlockId,
}

impl MentionPosition {
    fn write(self, id: BlockId) -> String {
        format!("m{id}{}{}", self.document, self.block)
    }

    fn read(id: BlockId, text: &str) -> Result<Self> {
        let position = text.strip_prefix('m').and_then(|rest| rest.strip_prefix(&id.to_string()));
        let position = position.and_then(|rest| {
            let (document, block) = rest.split_at_checked(ID_LENGTH)?;
            Some(Self { document: document.parse().ok()?, block: block.parse().ok()? })
        });
        let other = || Error::validation("the cursor is not of these mentions").at("cursor");
        position.ok_or_else(other)
    }
}

struct MentionReader<'t, 'a> {
    tree: &'t Tree<'a>,
    links: LinkRedactor<'t, 'a>,
    matcher: PatternSetMatcher<'t>,
    /// The blocks of the target.
    own: BTreeSet<BlockId>,
}

impl MentionReader<'_, '_> {
    fn page(
        mut self,
        request: &UnlinkedMentions,
        candidates: Option<BTreeSet<DocumentId>>,
        after: Option<MentionPosition>,
    ) -> Result<ItemsPage<TitleMention>> {
        let limit = request.paging.limit.unwrap_or(usize::MAX);
        let documents = candidates.unwrap_or_else(|| {
            let roots = self.tree.visibility().roots();
            roots.into_iter().flat_map(ScopeRoots::ids).collect()
        });
        let mut items: Vec<TitleMention> = Vec::new();
        let first = after.map(|position| position.document);
        for document in documents.into_iter().filter(|it| first.is_none_or(|first| *it >= first)) {
            for mention in self.mentions_in(document)? {
                let position = MentionPosition { document, block: mention.block_id };
                if after.is_some_and(|after| position <= after) {
                    continue;
                }
                if items.len() == limit {
                    let Some(last) = items.last() else { invariant!("a full page has mentions") };
                    let last = MentionPosition { document: last.document_id, block: last.block_id };
                    return Ok(ItemsPage { items, next_cursor: Some(last.write(request.id)) });
                }
                items.push(mention);
            }
        }
        Ok(ItemsPage { items, next_cursor: None })
    }

    /// The mentions in a document, by block.
    fn mentions_in(&mut self, document: DocumentId) -> Result<Vec<TitleMention>> {
        let record = self.tree.document(document)?;
        let is_listed = record.is_some_and(|record| record.location != Location::Trash);
        // A page within another one of the scope is read with that one.
        if !is_listed || self.tree.is_part_of_another(document)? {
            return Ok(Vec::new());
        }
        let texts = self.tree.reader_of(document)?.subtree_texts(document.root())?;
        let mut found = Vec::new();
        for block in texts.iter() {
            if self.own.contains(&block.id) || !self.may_match(block.text)? {
                continue;
            }
            let Some(record) = self.tree.block(block.id)? else { continue };
            let data = self.links.redacted(&record.data)?.into_owned();
            let ranges = self.ranges_in(&data)?;
            if !ranges.is_empty() {
                let markdown = shown_markdown(&data).into_owned();
                let (document_id, block_id) = (document, block.id);
                found.push(TitleMention { document_id, block_id, markdown, ranges });
            }
        }
        found.sort_unstable_by_key(|mention| mention.block_id);
        debug_assert!(
            found.is_sorted_by(|one, other| one.block_id < other.block_id),
            "a block is in a document once"
        );
        Ok(found)
    }

    fn may_match(&mut self, text: BlockText<'_>) -> Result<bool> {
        let inline = match text {
            BlockText::Markdown(_, inline) => inline,
            BlockText::Data(data) => &data.inline,
        };
        // A scoped connection is shown placeholders for some links, which are text of their own if
        // nothing else is there.
        if !self.tree.is_unrestricted() && inline.contains("block:") {
            return Ok(true);
        }
        self.matcher.is_match(PlainText::of(inline).as_str())
    }

    /// Where the title is outside of links.
    fn ranges_in(&mut self, data: &BlockData) -> Result<Vec<Range<usize>>> {
        if !matches!(
            data.kind,
            BlockKind::Text(_) | BlockKind::Page(_) | BlockKind::CollectionItem { .. }
        ) {
            return Ok(Vec::new());
        }
        let plain = PlainText::of(&data.inline);
        let mut ranges = self.matcher.matches(plain.as_str())?;
        let mut wiki_links = Vec::new();
        wiki_link_ranges(&data.inline, &mut |range| wiki_links.push(range));
        let is_in_wiki_link = |range: &Range<usize>| {
            let start = plain.to_inline(range.start);
            wiki_links.iter().any(|link| link.contains(&start))
        };
        ranges.retain(|range| !plain.is_linked(range) && !is_in_wiki_link(range));
        debug_assert!(
            ranges.is_sorted_by(|one, other| one.end <= other.start),
            "matches come in order and do not overlap"
        );
        Ok(ranges)
    }
}
