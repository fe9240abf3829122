//! Pages as markdown that is edited outside: what changed in the text changes in the blocks, and
//! nothing else.

use leafbase_markdown::{self as markdown, EmptyFirstItem};
use leafbase_model::{
    AppliedMarkdown, ApplyMarkdown, BlockData, BlockDraft, BlockId, BlockRecord, BlockType,
    DocumentId, Edge, Edit, EditMarkdown, Error, ErrorKind, Limits, Location, Result, SubtreeNode,
    Subtrees, invariant,
};
use leafbase_tree_ops::{self as ops, AllowedChildren, Context, ReadTree, ResolvedPosition};

use crate::core::access::AccessScope;
use crate::core::connection::Connection;
use crate::core::redaction::LinkRedactor;
use crate::core::tree::Tree;
use crate::operations::files::named;
use crate::operations::normalize;
use crate::operations::rewrite::plan::rewritten;
use crate::operations::rewrite::tree_copy::TreeCopy;
use crate::operations::undo::conflict;

mod block_matches;
mod changed_part;
mod merge;
mod outline;
mod text_search;

use changed_part::ChangedPart;
use outline::{OutlineBlock, PageReading};

impl<A: AccessScope> Connection<A> {
    /// Makes the content of a page, or of a document, equal a markdown text: the counterpart of
    /// [`Self::content_markdown`] for texts that were edited outside. Blocks that the text leaves
    /// as they are keep their ID, revision and comments, the links to them, and all that markdown
    /// does not say, such as colors and dates; so do blocks that it moves. A block whose text
    /// changes keeps them too, if enough of it stays or it is alone between blocks that stay.
    /// All is one change, which one undo takes back.
    ///
    /// The title is not part of the text. Collections stay as they are, with the table that the
    /// text shows; one is removed, with its items, if name and table are gone from the text and
    /// nothing takes their place.
    ///
    /// ```
    /// use leafbase::ApplyMarkdown;
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?.id();
    /// let lines = notes.insert_markdown("## Packing\n\n- [ ] one passport\n- [ ] towel", trip)?;
    /// let text = notes.content_markdown(trip)?;
    /// let edited = "- [x] towel\n- [ ] two passports\n\n## Packing";
    /// let done = notes.apply_markdown(ApplyMarkdown::new(trip, edited).if_markdown(text))?;
    /// assert_eq!((done.inserted.len(), done.removed.len()), (0, 0));
    /// assert!(done.updated.contains(&lines[1].id) && done.updated.contains(&lines[2].id));
    /// assert_eq!(notes.content_markdown(trip)?, edited);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cost
    /// The page is read and written as markdown. If blocks change where they are, both texts are
    /// parsed from the last paragraph before the change to the first one after it, otherwise as a
    /// whole. What is written are the blocks that differ.
    ///
    /// # Errors
    /// - [`ErrorKind::NotFound`] at `pageId`; [`ErrorKind::RuleViolation`] there for a block that
    ///   cannot have children, a collection, and a document in the trash.
    /// - [`ErrorKind::InvalidMarkdown`] at `markdown`, with line and column;
    ///   [`ErrorKind::Validation`] there for the page with its title, as [`Self::fetch_markdown`]
    ///   returns it.
    /// - [`ErrorKind::Conflict`] at `expected` if the page has other content by now.
    /// - [`ErrorKind::RuleViolation`] at `markdown` if the table or the name of a collection
    ///   changed, and for a block at the top of the inbox that is not a task.
    /// - [`ErrorKind::LimitExceeded`] for more than [`crate::Limits::blocks_per_fetch`] blocks, and
    ///   at `markdown` for blocks beyond the other limits.
    pub fn apply_markdown(&self, request: ApplyMarkdown) -> Result<AppliedMarkdown> {
        let ApplyMarkdown { page_id, markdown: text, expected, dry_run, .. } = request;
        let is_same =
            |one: &str, other: &str| one.trim_end_matches('\n') == other.trim_end_matches('\n');
        self.rewrite_page("apply_markdown", page_id, dry_run, |target, read| {
            if expected.as_ref().is_some_and(|expected| !is_same(expected, &read.text)) {
                let message = "the page has other content by now: read it again";
                return Err(Error::new(ErrorKind::Conflict, message).at("expected"));
            }
            if is_same(&text, &read.text) {
                return Ok(Vec::new());
            }
            self.check_length(&text).map_err(|error| error.at("markdown"))?;
            if let Some(edits) = target.updates_in_part(read, &text)? {
                return Ok(edits);
            }
            let drafts = self.parse_page(&text).map_err(|error| error.at("markdown"))?;
            if read.is_page(&drafts) {
                // Of `fetch_markdown`: the page would be nested in itself.
                let message = "has the tags and the title of the page: give its content alone, \
                               which content_markdown returns";
                return Err(Error::validation(message).at("markdown"));
            }
            target.edits(read, drafts)
        })
    }

    /// Edits the markdown of a page, or of a document, at exact texts, as
    /// [`Self::content_markdown`] shows them: replaces a text, inserts blocks before or after the
    /// block that has it, or at the end of the section of a heading. Each edit finds the page as
    /// those before it left it. What they leave as it is stays, as of [`Self::apply_markdown`]; all
    /// is one change.
    ///
    /// Siblings of a list item are indented as it is. The text of a heading may be given with its
    /// marks or without them.
    ///
    /// ```
    /// use leafbase::{EditMarkdown, ErrorKind};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?.id();
    /// notes.insert_markdown("## Packing\n\n- [ ] one passport\n\n## Tickets", trip)?;
    /// notes.edit_markdown(
    ///     EditMarkdown::of(trip)
    ///         .replace("one passport", "two passports")
    ///         .insert_under("Packing", "- [ ] towel"),
    /// )?;
    /// let text = notes.content_markdown(trip)?;
    /// assert_eq!(text, "## Packing\n\n- [ ] two passports\n- [ ] towel\n\n## Tickets");
    ///
    /// let ambiguous = EditMarkdown::of(trip).replace("## ", "### ");
    /// let error = notes.edit_markdown(ambiguous).unwrap_err();
    /// assert_eq!((error.kind(), error.path()), (ErrorKind::Conflict, "edits[0].text"));
    /// assert!(error.message().contains("lines 1 and 6"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cost
    /// That of [`Self::apply_markdown`], and for each edit the page is rendered, or parsed, again:
    /// together they may read [`Limits::EDITED_MARKDOWN_BYTES`].
    ///
    /// # Errors
    /// As [`Self::apply_markdown`], with the paths below `edits[n]`; [`ErrorKind::Conflict`] at
    /// `edits[n].text` if the text is not there, with the line that is most like it, or there more
    /// than once, with the lines; [`ErrorKind::Validation`] for an empty text;
    /// [`ErrorKind::LimitExceeded`] at `edits` for too many, and for too many on a large page.
    pub fn edit_markdown(&self, request: EditMarkdown) -> Result<AppliedMarkdown> {
        let EditMarkdown { page_id, edits, dry_run, .. } = request;
        let most = self.limits().blocks_per_request;
        self.prepare(|| {
            if edits.len() > most {
                return Err(Error::limit("edits in one request", most, edits.len()).at("edits"));
            }
            Ok(())
        })?;
        self.rewrite_page("edit_markdown", page_id, dry_run, |target, read| {
            let mut drafts = outline::parse(&read.text, self.limits(), EmptyFirstItem::Drop)?;
            let mut read_bytes = 0;
            for (index, edit) in edits.iter().enumerate() {
                let page = markdown::render_as_written(&drafts, None);
                let rest = page.len().saturating_mul(edits.len() - index);
                let most = Limits::EDITED_MARKDOWN_BYTES;
                if edits.len() > 1 && rest.saturating_add(read_bytes) > most {
                    let what = "bytes of the page, once for each edit";
                    return Err(Error::limit(what, most, read_bytes + rest).at("edits"));
                }
                read_bytes += page.len();
                drafts = text_search::edited(drafts, &page, edit, &|text| self.parse_page(text))
                    .map_err(|error| error.at(format_args!("edits[{index}]")))?;
            }
            target.edits(read, drafts)
        })
    }

    fn check_length(&self, text: &str) -> Result<()> {
        let most = self.limits().markdown;
        if text.len() > most {
            return Err(Error::limit("bytes of markdown in one request", most, text.len()));
        }
        Ok(())
    }

    fn parse_page(&self, text: &str) -> Result<Vec<BlockDraft>> {
        self.check_length(text)?;
        outline::parse(text, self.limits(), EmptyFirstItem::Refuse)
    }

    /// Applies the edits that `rewrite` returns for a page and its text.
    fn rewrite_page(
        &self,
        operation: &'static str,
        page: BlockId,
        dry_run: bool,
        rewrite: impl Fn(&PageTarget<'_>, &PageReading) -> Result<Vec<Edit>>,
    ) -> Result<AppliedMarkdown> {
        let (reply, _) = self.operation(operation).write(|transaction| {
            let edits = transaction.plan(|tree, context| {
                let target = PageTarget::find(tree, context, page)?;
                rewrite(&target, &PageReading::new(tree, page, self.limits())?)
            })?;
            let reply = AppliedMarkdown::new(&edits, dry_run);
            if !dry_run {
                transaction.apply(edits)?;
            }
            Ok(reply)
        })?;
        Ok(reply)
    }
}

/// The content of a page as markdown.
pub(crate) fn page_text(tree: &Tree<'_>, page: BlockId, limits: &Limits) -> Result<String> {
    Ok(PageReading::new(tree, page, limits)?.text)
}

/// The edits by which the content of a page becomes `drafts`.
pub(crate) fn page_edits(
    tree: &Tree<'_>,
    context: &Context<'_>,
    page: BlockId,
    drafts: Vec<BlockDraft>,
) -> Result<Vec<Edit>> {
    let target = PageTarget::find(tree, context, page)?;
    target.edits(&PageReading::new(tree, page, context.limits)?, drafts)
}

/// The page that is rewritten.
struct PageTarget<'a> {
    tree: &'a Tree<'a>,
    context: &'a Context<'a>,
    page: BlockId,
    document: DocumentId,
    allowed: AllowedChildren,
}

impl<'a> PageTarget<'a> {
    fn find(tree: &'a Tree<'a>, context: &'a Context<'a>, page: BlockId) -> Result<Self> {
        let missing = || Error::no_block().at("pageId");
        let document = tree.locate(page)?.ok_or_else(missing)?.document;
        let location = tree.document(document)?.ok_or_else(missing)?.location;
        let is_inbox = location == Location::Inbox && page == document.root();
        let allowed = if is_inbox { AllowedChildren::Tasks } else { AllowedChildren::Anything };
        let target = Self { tree, context, page, document, allowed };
        target.check_levels(1)?;
        Ok(target)
    }

    /// Checks that the page may have this many levels of blocks below it.
    fn check_levels(&self, levels: usize) -> Result<()> {
        let position = ResolvedPosition::Within(Edge::End, self.page);
        let prepared = ops::prepare_target(self.tree, self.context, position, levels);
        prepared.map(drop).map_err(|error| match error.kind() {
            ErrorKind::LimitExceeded => error.without_path().at("markdown"),
            ErrorKind::Storage | ErrorKind::Corrupted => error.without_path(),
            _ => error.without_path().at("pageId"),
        })
    }

    /// The edits by which the content of the page becomes `text`, if they are found where the texts
    /// differ: all else need not be parsed.
    fn updates_in_part(&self, read: &PageReading, text: &str) -> Result<Option<Vec<Edit>>> {
        // The tasks of the inbox are in an order of their own.
        if self.allowed == AllowedChildren::Tasks {
            return Ok(None);
        }
        let Some(part) = ChangedPart::find(read, text) else { return Ok(None) };
        let Some((old, new)) = part.blocks(read, self.context.limits)? else { return Ok(None) };
        let origins = block_matches::matched(&old, &new);
        if !is_in_place(&old, &new, &origins) {
            return Ok(None);
        }
        outline::check_collections(&old, &new, &origins)?;
        self.updates(&old, &new).map(Some)
    }

    /// The edits by which the content of the page becomes `drafts`.
    fn edits(&self, read: &PageReading, drafts: Vec<BlockDraft>) -> Result<Vec<Edit>> {
        let old = read.blocks(self.context.limits)?;
        let mut new = outline::listed(drafts);
        if self.allowed == AllowedChildren::Tasks {
            new = outline::closed_last(new);
        }
        let levels = new.iter().map(|block| block.depth + 1).max().unwrap_or(0);
        self.check_levels(levels.max(1))?;
        let origins = block_matches::matched(&old, &new);
        outline::check_collections(&old, &new, &origins)?;
        if is_in_place(&old, &new, &origins) {
            return self.updates(&old, &new);
        }
        let present = TreeCopy::new(self.document, self.page, self.tree.subtree(self.page, None)?);
        let target = self.target(&present, &old, &new, &origins)?;
        rewritten(self.tree, self.context, present, &target)?.map_err(conflict)
    }

    /// The edits where no block comes, goes or moves: the page needs no copy then.
    fn updates(&self, old: &[OutlineBlock], new: &[OutlineBlock]) -> Result<Vec<Edit>> {
        let mut edits = Vec::new();
        let differs = |(old, new): &(&OutlineBlock, &OutlineBlock)| {
            old.data != new.data || old.layout != new.layout
        };
        for (old, new) in old.iter().zip(new).filter(differs) {
            let Some(present) = old.id.map(|id| self.tree.block(id)).transpose()?.flatten() else {
                invariant!("what a page reads as are blocks of it")
            };
            let data = self.kept(&present, old, new)?;
            edits.extend(ops::update_edit(self.document, present, data, self.context.stamp));
        }
        Ok(edits)
    }

    /// The page as it becomes; `origins` are the indexes of the old blocks that the new ones are.
    fn target(
        &self,
        present: &TreeCopy,
        old: &[OutlineBlock],
        new: &[OutlineBlock],
        origins: &[Option<usize>],
    ) -> Result<TreeCopy> {
        let Some(mut top) = present.get(self.page).cloned() else {
            invariant!("a copy of a page has the page")
        };
        if !new.is_empty() {
            merge::make_page(&mut top.data);
        }
        let mut nodes = vec![SubtreeNode { depth: 0, block: top }];
        for (block, origin) in new.iter().zip(origins) {
            let block_record = match origin.and_then(|origin| old.get(origin)) {
                // The table of a collection is not a block of its own.
                Some(origin) if origin.is_table_of_collection() => continue,
                Some(origin) => {
                    let Some(present) = origin.id.and_then(|id| present.get(id)) else {
                        invariant!("what a page reads as are blocks of it")
                    };
                    let data = self.kept(present, origin, block)?;
                    BlockRecord { data, ..present.clone() }
                }
                None => self.new_block(block)?,
            };
            let Ok(depth) = u16::try_from(block.depth + 1) else {
                invariant!("the levels of a page are limited")
            };
            nodes.push(SubtreeNode { depth, block: block_record });
        }
        Ok(TreeCopy::new(self.document, self.page, Subtrees(nodes)))
    }

    /// The data of a block that stays, with what the text says of it.
    fn kept(
        &self,
        present: &BlockRecord,
        old: &OutlineBlock,
        new: &OutlineBlock,
    ) -> Result<BlockData> {
        let layout = merge::merged_layout(&present.data, old, new);
        if old.data == new.data {
            return Ok(BlockData { layout, ..present.data.clone() });
        }
        debug_assert_eq!(old.id, Some(present.id), "a block is merged with its own text");
        let mut data = merge::merged(&present.data, &old.data, &new.data);
        data.layout = layout;
        // The text before has placeholders, and so has what was taken from the new one.
        LinkRedactor::new(self.tree).restore(&present.data, &mut data)?;
        self.finish(Some(present), new, &mut data)?;
        Ok(data)
    }

    fn new_block(&self, block: &OutlineBlock) -> Result<BlockRecord> {
        let mut data = BlockData { layout: block.layout.clone(), ..block.data.clone() };
        self.finish(None, block, &mut data)?;
        Ok(self.context.new_block(data))
    }

    /// Completes and checks the data of a block that is written.
    fn finish(
        &self,
        present: Option<&BlockRecord>,
        block: &OutlineBlock,
        data: &mut BlockData,
    ) -> Result<()> {
        let at = |error: Error| error.without_path().at("markdown");
        markdown::canonical(data);
        data.task = data.task.map(|task| task.stamped(self.context.stamp.at));
        if data.block_type() != BlockType::Collection {
            ops::check_draft(self.context.limits, data, block.has_content).map_err(at)?;
        }
        if block.depth == 0 {
            self.allowed.check(data).map_err(at)?;
        }
        let field = normalize::address_field(data);
        let parts = std::slice::from_ref(data);
        named::check_named(self.tree, present.map(|it| &it.data), parts, field).map_err(at)
    }
}

/// Whether no block comes, goes or moves; `origins` are the indexes of the old blocks that the new
/// ones are.
fn is_in_place(old: &[OutlineBlock], new: &[OutlineBlock], origins: &[Option<usize>]) -> bool {
    old.len() == new.len()
        && origins.iter().enumerate().all(|(index, origin)| *origin == Some(index))
        && old.iter().zip(new).all(|(old, new)| old.parent == new.parent)
}
