//! The block operations: fetch, insert, update, delete, move.

use leafbase_collections::ReadCollections;
use leafbase_markdown as markdown;
use leafbase_model::{
    Block, BlockData, BlockDraft, BlockId, BlockKind, BlockPatch, BlockRecord, BlockType, Content,
    DayRef, DeleteBlocks, Error, Fetch, FetchFrom, InsertBlocks, InsertSource, ItemFields, Items,
    Limits, MoveBlocks, Position, PositionTarget, Result, UpdateBlocks,
};
use leafbase_tree_ops::{
    self as ops, AllowedChildren, BlockUpdate, Context, PatchedBlock, ReadTree, ResolvedPosition,
    UpdatedBlocks,
};

use serde_json::{Map, Value};

use crate::core::access::AccessScope;
use crate::core::connection::Connection;
use crate::core::redaction::LinkRedactor;
use crate::core::transaction::OperationTransaction;
use crate::core::tree::Tree;
use crate::operations::block_markdown::{render_tree, show_plain_text};
use crate::operations::collections::presenter::ItemPresenter;
use crate::operations::collections::tables;
use crate::operations::drafts::{self, FileAccess, ValidatedDrafts};
use crate::operations::files::named;
use crate::operations::normalize::FurtherBlocks;
use crate::operations::{comments, documents, echo, normalize, tasks};
use crate::support::days;

impl<A: AccessScope> Connection<A> {
    /// Reads a block with its descendants. The cost grows with the reply.
    ///
    /// On a scoped connection the address of a link to a hidden block is `invalid:out_of_scope#N`,
    /// in any text: N numbers such links within the block from 1, and within each comment. The
    /// placeholder reveals neither the target nor whether it exists. [`Self::update_blocks`]
    /// restores the address if the text still contains the placeholder. Code is not redacted.
    ///
    /// ```
    /// use leafbase::Fetch;
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// notes.insert_markdown("one\n\ntwo", trip.id())?;
    /// let shown = notes.fetch(Fetch::new(trip.id()).with_metadata())?;
    /// assert_eq!((shown.data.inline.as_str(), shown.children().len()), ("Trip", 2));
    /// assert!(notes.fetch(Fetch::new(trip.id()).depth(0))?.children().is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] if the block or the note of the day does not exist;
    /// [`crate::ErrorKind::LimitExceeded`] for more than [`crate::Limits::blocks_per_fetch`]
    /// blocks.
    pub fn fetch(&self, request: Fetch) -> Result<Block> {
        self.operation("fetch").read(|tree| self.fetch_from(tree, &request))
    }

    fn fetch_from(&self, tree: &Tree<'_>, request: &Fetch) -> Result<Block> {
        let start = match request.from {
            FetchFrom::Block(block) => block,
            FetchFrom::Day(day) => {
                let day = days::resolve(day, &tree.zone()?, self.space.now())?;
                tree.daily_note(day)?.ok_or_else(|| Error::no_daily_note().at("date"))?.id.root()
            }
        };
        fetched(tree, start, request, self.limits())
    }

    /// Reads a block with its descendants as markdown. A page is written in `<page>` tags. A page
    /// whose children are cut off by a depth is shown with its title and without content: markdown
    /// cannot express omitted children.
    ///
    /// A collection is written as its name in bold and a table of its items: their titles, linked
    /// to them, and a column for each property. The pages of the items are omitted. If a depth cuts
    /// off the items, only the name is written.
    ///
    /// ```
    /// use leafbase::Fetch;
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// notes.insert_markdown("passport", trip.id())?;
    /// let markdown = notes.fetch_markdown(Fetch::new(trip.id()))?;
    /// assert!(markdown.contains("<pageTitle>Trip</pageTitle>") && markdown.contains("passport"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Self::fetch`]; [`crate::ErrorKind::LimitExceeded`] also for collections with more items
    /// than a fetch may have blocks.
    pub fn fetch_markdown(&self, request: Fetch) -> Result<String> {
        Ok(markdown::render(&self.tabulated("fetch_markdown", &request)?.1))
    }

    /// Reads the content of a page or a document as markdown, without its title and tags; of a
    /// collection the table of its items. The page is given by its ID, or by a
    /// [`GetMarkdown`](crate::GetMarkdown) that was read from JSON.
    ///
    /// Blocks that were imported, or written by [`Self::apply_markdown`], and are as they were then
    /// are written as that text has them: markers, numbers, fences, blank lines. Edited blocks keep
    /// of it what fits, other blocks are written in canonical form. Links show the blocks they lead
    /// to. The text has no line break at its end.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// notes.insert_markdown("# Packing\n\n- [ ] passport", trip.id())?;
    /// assert_eq!(notes.content_markdown(trip.id())?, "# Packing\n\n- [ ] passport");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Self::fetch_markdown`], at `pageId` for a page that does not exist.
    pub fn content_markdown(&self, page: impl Into<BlockId>) -> Result<String> {
        let found = self.tabulated("content_markdown", &Fetch::new(page));
        // A fetch has the path of another request.
        let (block_type, blocks) = found.map_err(|error| match error.path() {
            "id" => error.without_path().at("pageId"),
            _ => error,
        })?;
        let (page, content) = match (block_type, blocks.split_first()) {
            (_, None) => return Ok(String::new()),
            (BlockType::Collection, Some((_, table))) => (None, table),
            (_, Some((page, _))) => (page.data.layout.as_ref(), page.children()),
        };
        let file = page.and_then(|layout| layout.file.as_deref());
        Ok(markdown::render_as_written(content, file))
    }

    /// The fetched blocks with tables in place of collections, and the type of the requested block.
    fn tabulated(
        &self,
        operation: &'static str,
        request: &Fetch,
    ) -> Result<(BlockType, Vec<Block>)> {
        self.operation(operation).read(|tree| {
            let block = self.fetch_from(tree, request)?;
            let (block_type, mut blocks) = (block.data.block_type(), vec![block]);
            tables::tabulate(tree, &mut blocks, request.max_depth, self.limits().blocks_per_fetch)?;
            Ok((block_type, blocks))
        })
    }

    /// Inserts new blocks at a position and returns them with their IDs. A text that receives
    /// children becomes a page.
    ///
    /// ```
    /// use leafbase::{BlockData, BlockDraft, InsertBlocks, Position};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// let day = BlockDraft::new(BlockData::page("Day 1"))
    ///     .with_content(vec![BlockData::text("Alfama").into()]);
    /// let added = notes
    ///     .insert_blocks(InsertBlocks::blocks(vec![day], Position::start_of(trip.id())))?;
    /// assert_eq!(added[0].children()[0].data.inline, "Alfama");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] if the target does not exist, and on a scoped connection for
    /// an uploaded file that no visible block shows; [`crate::ErrorKind::RuleViolation`] if the
    /// target cannot have children, a block is not allowed there, or a block that is not a task
    /// would be at the top level of the inbox; [`crate::ErrorKind::InvalidPosition`] for the root
    /// of a document as a sibling, and on a scoped connection for a day;
    /// [`crate::ErrorKind::InvalidMarkdown`]; [`crate::ErrorKind::LimitExceeded`]; with IDs that
    /// are kept [`crate::ErrorKind::Conflict`] if one is that of another block, and
    /// [`crate::ErrorKind::Validation`] on a scoped connection. The path is that of the first
    /// invalid entry, and nothing is inserted.
    pub fn insert_blocks(&self, request: InsertBlocks) -> Result<Items<Block>> {
        let ready = self.prepare(|| match request.source {
            InsertSource::Blocks(mut blocks) => {
                self.date(&mut blocks)?;
                let (files, limits) = (self.files(), self.limits());
                if request.keep_ids {
                    self.check_keeps_ids()?;
                    Ok(drafts::validate_with_ids("blocks", blocks, files, limits))
                } else {
                    Ok(drafts::validate_list("blocks", blocks, files, limits))
                }
            }
            InsertSource::Markdown(text) => drafts::parse(&text, self.files(), self.limits()),
        })?;
        self.insert("insert_blocks", &ready, request.position)
    }

    /// Only the whole space tells that an ID is taken without revealing a hidden block.
    fn check_keeps_ids(&self) -> Result<()> {
        if self.is_unrestricted() {
            return Ok(());
        }
        let message = "a scoped connection gives blocks IDs of their own";
        Err(Error::validation(message).at("keepIds"))
    }

    /// Parses markdown, inserts its blocks at a position and returns them with their IDs.
    ///
    /// ```
    /// use leafbase::{DayRef, Position};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let added = notes
    ///     .insert_markdown("woke early\n\n- [ ] call", Position::end_of_day(DayRef::Today))?;
    /// assert_eq!(added.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Self::insert_blocks`].
    pub fn insert_markdown(
        &self,
        text: &str,
        position: impl Into<Position>,
    ) -> Result<Items<Block>> {
        let ready = self.prepare(|| drafts::parse(text, self.files(), self.limits()))?;
        self.insert("insert_markdown", &ready, position.into())
    }

    /// The uploaded files that written blocks may reference.
    pub(crate) fn files(&self) -> FileAccess {
        if self.is_unrestricted() { FileAccess::Any } else { FileAccess::Visible }
    }

    fn insert(
        &self,
        operation: &'static str,
        ready: &ValidatedDrafts,
        position: Position,
    ) -> Result<Items<Block>> {
        let (mut inserted, _) = self.operation(operation).write(|transaction| {
            let Some(place) = self.resolve_position(transaction, position, ready.is_empty())?
            else {
                return Ok(Vec::new());
            };
            let inserted = transaction.plan(|tree, context| {
                let drafts = |depth: usize, allowed: AllowedChildren| {
                    ready.at(tree, depth, allowed, self.limits())
                };
                ops::insert_at(tree, context, place, drafts)
            })?;
            // The reply is assembled from the edits: the new blocks are not read again.
            let mut blocks = match inserted.subtrees() {
                Some(subtrees) => ops::assemble(subtrees)?,
                None => Vec::new(),
            };
            transaction.apply(inserted.edits)?;
            if !self.is_unrestricted() {
                transaction.plan(|tree, _| redact_links(tree, &mut blocks))?;
            }
            Ok(blocks)
        })?;
        for block in &mut inserted {
            render_tree(block);
        }
        Ok(Items(inserted))
    }

    /// Updates the given fields of blocks, and returns the blocks without their descendants. A
    /// top-level task of the inbox that is opened moves to its start, and one that is closed to its
    /// end, after the open ones.
    ///
    /// On a scoped connection, `invalid:out_of_scope#N` in a text is replaced by the address that
    /// it denotes in the block as a fetch would show it now. A placeholder that denotes nothing is
    /// text.
    ///
    /// ```
    /// use leafbase::{BlockPatch, ErrorKind, TextStyle, UpdateBlocks};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// let line = notes.insert_markdown("Packing", trip.id())?[0].id;
    /// let change = BlockPatch::markdown(line, "To pack").with_text_style(TextStyle::H2).if_rev(1);
    /// assert_eq!(notes.update_blocks(UpdateBlocks::new([change.clone()]))?[0].rev, 2);
    /// assert_eq!(notes.update_blocks(change.into()).unwrap_err().kind(), ErrorKind::Conflict);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`], as for [`Self::insert_blocks`] also for a file that the
    /// block did not reference before; [`crate::ErrorKind::Conflict`] if a block no longer has the
    /// given `rev`; [`crate::ErrorKind::Validation`] for a field that the block's type lacks, and
    /// for a title of a document that becomes more than one paragraph;
    /// [`crate::ErrorKind::RuleViolation`], also if a block at the top level of the inbox would no
    /// longer be a task, for the root of the inbox, and in the trash;
    /// [`crate::ErrorKind::InvalidMarkdown`]; [`crate::ErrorKind::LimitExceeded`]. The path is that
    /// of the first invalid entry, and nothing is changed.
    pub fn update_blocks(&self, request: UpdateBlocks) -> Result<Items<Block>> {
        let UpdateBlocks { blocks, .. } = request;
        let (mut updated, _) = self.operation("update_blocks").write(|transaction| {
            // A clone for each run: the closure may run again.
            let mut patches = blocks.clone();
            Self::resolve_days(transaction, &mut patches)?;
            let updated = transaction.plan(|tree, context| self.updated(tree, context, patches))?;
            transaction.apply(updated.edits)?;
            // After the edits: a moved task is planned with its new state.
            tasks::move_to(transaction, updated.moves)?;
            let mut updated: Vec<_> = updated.blocks.into_iter().map(without_children).collect();
            // Other blocks are shown as stored: nothing has to be read again.
            let has_items =
                updated.iter().any(|block| block.data.block_type() == BlockType::CollectionItem);
            if has_items || !self.is_unrestricted() {
                transaction.plan(|tree, _| {
                    redact_links(tree, &mut updated)?;
                    present_items(tree, &mut updated)
                })?;
            }
            Ok(updated)
        })?;
        for block in &mut updated {
            render_tree(block);
        }
        Ok(Items(updated))
    }

    /// Plans updates.
    pub(crate) fn updated(
        &self,
        tree: &Tree<'_>,
        context: &Context<'_>,
        patches: Vec<BlockPatch>,
    ) -> Result<UpdatedBlocks> {
        let links = LinkRedactor::new(tree);
        let blocks: Vec<_> = patches.iter().map(|patch| patch.id).collect();
        let mut update = BlockUpdate::new(tree, context, &blocks)?;
        for mut patch in patches {
            let (content, item) = (patch.content.take(), patch.item.take());
            let mut block = update.find(patch)?;
            if let Some(item) = item {
                self.take_item(tree, &mut block, item).map_err(|error| block.at(error))?;
            }
            if let Some(content) = content {
                check_content(tree, block.before.id, &content, self.limits())
                    .map_err(|error| block.at(error.at("content")))?;
            }
            let further =
                self.prepare_fields(&links, &mut block).map_err(|error| block.at(error))?;
            let data = match update.apply(&mut block)? {
                None if further.is_empty() => None,
                data => Some(data.unwrap_or_else(|| block.before.data.clone())),
            };
            let parts = match data {
                Some(data) => self
                    .prepare_data(tree, &block, data, further)
                    .map_err(|error| block.at(error))?,
                None => Vec::new(),
            };
            update.add(&block, parts)?;
        }
        Ok(update.finish())
    }

    /// Takes back the fields of an item as a reply shows them: the title may be another one.
    fn take_item(
        &self,
        tree: &Tree<'_>,
        block: &mut PatchedBlock,
        given: Map<String, Value>,
    ) -> Result<()> {
        let item =
            fetched(tree, block.before.id, &Fetch::new(block.before.id).depth(0), self.limits())?
                .item;
        for (name, value) in given {
            match &item {
                Some(item) if name == *item.content_key => {
                    let title = value.as_str().ok_or_else(|| {
                        Error::validation("the title of an item is a text").at(&name)
                    })?;
                    block.fields.title = Some(title.to_owned());
                    block.title_field = Some(name);
                }
                Some(item) if name == "properties" => {
                    let shown = serde_json::to_value(&item.properties)
                        .map_err(|error| Error::validation(format!("not comparable: {error}")))?;
                    if !value.is_null() && value != shown {
                        let message =
                            "the values of an item are changed by the operations on items";
                        return Err(Error::validation(message).at(name));
                    }
                }
                _ => return Err(Error::validation(format!("unknown field `{name}`")).at(name)),
            }
        }
        Ok(())
    }

    /// Restores the links that the scope redacts in the fields of a patch, and reads its text.
    fn prepare_fields(
        &self,
        links: &LinkRedactor<'_, '_>,
        block: &mut PatchedBlock,
    ) -> Result<FurtherBlocks> {
        let before = &block.before.data;
        normalize::fields(&*links.redacted(before)?, &mut block.fields, self.limits())?;
        links.restore(before, &mut block.fields)?;
        normalize::text(before, &mut block.fields, self.limits())
    }

    /// Normalizes the block and those split from its text, and checks the files that they name.
    fn prepare_data(
        &self,
        tree: &Tree<'_>,
        block: &PatchedBlock,
        data: BlockData,
        further: FurtherBlocks,
    ) -> Result<Vec<BlockData>> {
        let (before, field) = (&block.before.data, normalize::address_field(&data));
        // A title that was stored before stays.
        if block.is_root() && data.inline != before.inline {
            normalize::check_document_title(&data.inline, 0)?;
        }
        let parts = normalize::data(data, further, self.limits())?;
        named::check_named(tree, Some(before), &parts, field)?;
        Ok(parts)
    }

    /// Updates the markdown of one block.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// let line = notes.insert_markdown("- [ ] passport", trip.id())?[0].id;
    /// notes.update_markdown(line, "~~passport~~")?; // it stays a task
    /// assert_eq!(notes.content_markdown(trip.id())?, "- [ ] ~~passport~~");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Self::update_blocks`].
    pub fn update_markdown(&self, block: impl Into<BlockId>, text: &str) -> Result<Items<Block>> {
        self.update_blocks(UpdateBlocks::new(vec![BlockPatch::markdown(block, text)]))
    }

    /// Deletes blocks with their descendants, and returns the requested IDs.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// let line = notes.insert_markdown("Packing", trip.id())?[0].id;
    /// assert_eq!(*notes.delete_blocks(line.into())?, [line]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`]; [`crate::ErrorKind::RuleViolation`] for a document's root
    /// and in the trash; [`crate::ErrorKind::Validation`] for a block that is named twice;
    /// [`crate::ErrorKind::LimitExceeded`].
    pub fn delete_blocks(&self, request: DeleteBlocks) -> Result<Items<BlockId>> {
        self.operation("delete_blocks").write(|transaction| {
            let ids = request.block_ids.clone();
            let deleted = transaction.plan(|tree, context| ops::delete(tree, context, ids))?;
            transaction.apply(deleted.edits)
        })?;
        Ok(Items(request.block_ids))
    }

    /// Moves blocks with all below them, within and across documents; they keep their IDs and the
    /// order of the request.
    ///
    /// ```
    /// use leafbase::{MoveBlocks, Position};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let (trip, list) = (notes.create_document("Trip")?, notes.create_document("List")?);
    /// let line = notes.insert_markdown("socks", trip.id())?[0].id;
    /// notes.move_blocks(MoveBlocks::new([line], Position::end_of(list.id())))?;
    /// assert_eq!(notes.content_markdown(list.id())?, "socks");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`]; [`crate::ErrorKind::RuleViolation`] for an item, a
    /// document's root and in the trash, if a block would become its own descendant, the target
    /// cannot have children, or a block that is not a task would be at the top level of the inbox;
    /// [`crate::ErrorKind::InvalidPosition`] as for [`Self::insert_blocks`], and next to a block
    /// that is moved; [`crate::ErrorKind::Validation`] for a block that is named twice;
    /// [`crate::ErrorKind::LimitExceeded`] for too many blocks, and if pages would nest too deep.
    pub fn move_blocks(&self, request: MoveBlocks) -> Result<Items<BlockId>> {
        self.operation("move_blocks").write(|transaction| {
            let is_empty = request.block_ids.is_empty();
            let Some(place) = self.resolve_position(transaction, request.position, is_empty)?
            else {
                return Ok(());
            };
            let ids = request.block_ids.clone();
            let moved =
                transaction.plan(|tree, context| ops::move_blocks(tree, context, ids, place))?;
            transaction.apply(moved.edits)
        })?;
        Ok(Items(request.block_ids))
    }

    /// Resolves a position to a block. The daily note of a day is created if it does not exist,
    /// unless nothing is inserted (`is_empty`): then there may be no position.
    pub(crate) fn resolve_position(
        &self,
        transaction: &mut OperationTransaction<'_, '_>,
        position: Position,
        is_empty: bool,
    ) -> Result<Option<ResolvedPosition>> {
        let (edge, target) = match position {
            Position::Beside(side, sibling) => {
                return Ok(Some(ResolvedPosition::Beside(side, sibling)));
            }
            Position::Within(edge, target) => (edge, target),
        };
        let day = match target {
            PositionTarget::Page(page) => return Ok(Some(ResolvedPosition::Within(edge, page))),
            PositionTarget::Day(day) => day,
            PositionTarget::Unnamed => DayRef::Today,
        };
        // Days are not visible to a scoped connection: refused before the note is looked up.
        if !self.is_unrestricted() {
            return Err(Error::position("name exactly one of pageId and siblingId").at("position"));
        }
        let day = transaction
            .plan(|tree, context| days::resolve(day, &tree.zone()?, context.stamp.at))?;
        // Inserting nothing must not create a note.
        let note = if is_empty {
            transaction.plan(|tree, _| Ok(tree.daily_note(day)?.map(|note| note.id)))?
        } else {
            Some(documents::daily_note(transaction, day)?)
        };
        Ok(note.map(|note| ResolvedPosition::Within(edge, note.root())))
    }

    /// Resolves relative days in drafts to dates.
    pub(crate) fn date(&self, drafts: &mut [BlockDraft]) -> Result<()> {
        let now = self.space.now();
        let meta = || self.space.meta().map_err(|error| self.visibility().redact_error(error));
        let date = |day| days::resolve(day, &days::zone(&meta()?.zone)?, now);
        drafts.iter_mut().try_for_each(|draft| draft.resolve_days(date))
    }

    /// Resolves relative days in patches to dates.
    fn resolve_days(
        transaction: &mut OperationTransaction<'_, '_>,
        patches: &mut [BlockPatch],
    ) -> Result<()> {
        if patches.iter().all(|patch| patch.fields.task_patch.is_none()) {
            return Ok(());
        }
        let now = transaction.context.stamp.at;
        let zone = transaction.plan(|tree, _| tree.zone())?;
        for (index, patch) in patches.iter_mut().enumerate() {
            let resolved = patch.resolve_days(|day| days::resolve(day, &zone, now));
            resolved.map_err(|error| error.at(format_args!("blocks[{index}]")))?;
        }
        Ok(())
    }
}

/// A block without its descendants.
pub(crate) fn without_children(block: BlockRecord) -> Block {
    let BlockRecord { id, rev, data, .. } = block;
    Block {
        id,
        rev,
        data,
        block_form: None,
        plain: None,
        metadata: None,
        item: None,
        content: Content::None,
    }
}

/// Redacts the links of the blocks of a reply.
pub(crate) fn redact_links(tree: &Tree<'_>, blocks: &mut [Block]) -> Result<()> {
    let links = LinkRedactor::new(tree);
    blocks.iter_mut().try_for_each(|block| links.redact_tree(block))
}

/// Adds the values of item blocks as the schemas of their collections present them.
fn present_items(tree: &Tree<'_>, blocks: &mut [Block]) -> Result<()> {
    let mut presenter = ItemPresenter::new(tree);
    for block in blocks {
        block.item = item_fields(tree, &mut presenter, block.id, &mut block.data)?;
    }
    Ok(())
}

/// A block with its descendants, as a reply shows them.
pub(crate) fn fetched(
    tree: &Tree<'_>,
    start: BlockId,
    request: &Fetch,
    limits: &Limits,
) -> Result<Block> {
    // One redactor for the whole reply: each link target is looked up once.
    let links = LinkRedactor::new(tree);
    let plain = |data: &_| links.plain(data);
    let check_count = |blocks: usize| {
        let most = limits.blocks_per_fetch;
        if blocks <= most {
            return Ok(());
        }
        let error = Error::limit("blocks in one fetch (a maxDepth asks for fewer)", most, blocks);
        Err(error.at(if matches!(request.from, FetchFrom::Day(_)) { "date" } else { "id" }))
    };
    let (depth, metadata) = (request.max_depth, request.metadata);
    let mut block = ops::fetch(tree, start, depth, metadata, &plain, &check_count)?;
    links.finish()?;
    links.redact_tree(&mut block)?;
    render_tree(&mut block);
    if request.text {
        show_plain_text(&mut block);
    }
    // Items are children of collections, whose children a fetch omits: only the first block can
    // be an item.
    block.item = item_fields(tree, &mut ItemPresenter::new(tree), block.id, &mut block.data)?;
    if request.metadata
        && let Some(located) = tree.locate(start)?
    {
        comments::show_in(tree, located.document, &links, &mut block)?;
    }
    Ok(block)
}

/// Refuses children other than those that a fetch of the block shows.
pub(crate) fn check_content(
    tree: &Tree<'_>,
    block: BlockId,
    content: &[Value],
    limits: &Limits,
) -> Result<()> {
    let shown = fetched(tree, block, &Fetch::new(block).with_text(), limits)?;
    let shown = serde_json::to_value(shown.children())
        .map_err(|error| Error::validation(format!("cannot be compared: {error}")))?;
    if echo::is_same_list(content, &shown) {
        return Ok(());
    }
    Err(Error::validation(
        "an update of a block leaves its content as it is: update the blocks in it, insert or delete them",
    ))
}

fn item_fields(
    tree: &Tree<'_>,
    presenter: &mut ItemPresenter<'_, '_>,
    id: BlockId,
    data: &mut BlockData,
) -> Result<Option<Box<ItemFields>>> {
    let BlockKind::CollectionItem { properties } = &mut data.kind else { return Ok(None) };
    let Some(collection) = tree.locate(id)?.and_then(|located| located.parent) else {
        return Ok(None);
    };
    // An item outside of a collection is damage: the check of the space reports it, and a fetch
    // shows the plain block.
    let Some(schema) = tree.schema(collection)? else { return Ok(None) };
    let fields = presenter.fields(collection, id, properties.clone())?;
    if !tree.is_unrestricted() {
        // The visible schema lacks hidden properties: their raw values are dropped, too.
        let is_hidden = |key: &&str| schema.property(key).is_none();
        let hidden: Vec<String> =
            properties.iter().map(|(key, _)| key).filter(is_hidden).map(str::to_owned).collect();
        properties.apply(hidden.into_iter().map(|key| (key, None)));
    }
    Ok(Some(Box::new(fields)))
}
