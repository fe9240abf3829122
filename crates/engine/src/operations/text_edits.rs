//! What an editor's keys do: split and merge of texts, indentation of a range. Each one is one
//! change.

use leafbase_markdown as markdown;
use leafbase_model::{
    Block, BlockFields, Error, IndentBlocks, Items, MergeBlock, Result, SplitBlock, invariant,
};
use leafbase_tree_ops::{self as ops, Context, EditedTexts, ReadTree};

use crate::core::access::AccessScope;
use crate::core::connection::Connection;
use crate::core::redaction::LinkRedactor;
use crate::core::tree::Tree;
use crate::operations::block_markdown::render_tree;
use crate::operations::blocks::{redact_links, without_children};
use crate::operations::ranges::siblings_of;

impl<A: AccessScope> Connection<A> {
    /// Splits a text block at an offset in its plain text ([`crate::PlainText`]), in bytes, and
    /// returns both blocks. Marks and links around the offset are in both halves; a half whose
    /// marks markdown cannot express there keeps its text without them.
    ///
    /// The first half keeps the ID. At the start, the new block is an empty one above, and ID and
    /// comments stay with the text. The new block has the style, list and indentation of the other;
    /// an empty one beside a heading is plain text, and a new task is open and without days. Blocks
    /// that are indented below the text follow the second half. A text has no children.
    ///
    /// ```
    /// use leafbase::SplitBlock;
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// let line = notes.insert_markdown("- [x] **one two**", trip.id())?[0].id;
    /// notes.split_block(SplitBlock::new(line, 4))?;
    /// assert_eq!(notes.content_markdown(trip.id())?, "- [x] **one**&#32;\n- [ ] **two**");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`]; [`crate::ErrorKind::Validation`] at `blockId` for a block
    /// that is not a text, and at `offset` beyond the text or within a character;
    /// [`crate::ErrorKind::RuleViolation`] at `blockId` in the trash.
    pub fn split_block(&self, request: SplitBlock) -> Result<Items<Block>> {
        self.edit_texts("split_block", |tree, context| {
            let text = ops::locate_text(tree, request.block_id).map_err(|e| e.at("blockId"))?;
            let links = LinkRedactor::new(tree);
            // The offset is one in the text that the caller sees.
            let shown = links.redacted(&text.record.data)?;
            let Some(mut halves) = markdown::split_inline(&shown.inline, request.offset) else {
                let message = format!("{} is no offset of a character", request.offset);
                return Err(Error::validation(message).at("offset"));
            };
            for half in &mut halves {
                let inline = Some(std::mem::take(half));
                let mut fields = BlockFields { inline, ..BlockFields::default() };
                links.restore(&text.record.data, &mut fields)?;
                let Some(restored) = fields.inline else {
                    invariant!("restored fields keep their text")
                };
                *half = restored;
            }
            ops::split(tree, context, &text, halves)
        })
    }

    /// Appends a text block to the text block before it, and returns that one: it keeps its ID,
    /// style, list, indentation and task. Equal marks that meet become one. The merged block is
    /// deleted, with its comments. Blocks indented below it stay where they are.
    ///
    /// An editor that first takes off the list style or indentation of the block does so by
    /// [`Self::update_blocks`].
    ///
    /// ```
    /// use leafbase::MergeBlock;
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// let lines = notes.insert_markdown("- **one**\n- **two**", trip.id())?;
    /// notes.merge_block(MergeBlock::from(lines[1].id))?;
    /// assert_eq!(notes.content_markdown(trip.id())?, "- **onetwo**");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// At `blockId`: [`crate::ErrorKind::NotFound`]; [`crate::ErrorKind::Validation`] if the block
    /// or the one before it is not a text, or none is before it;
    /// [`crate::ErrorKind::RuleViolation`] in the trash; [`crate::ErrorKind::LimitExceeded`] if the
    /// text would be too long.
    pub fn merge_block(&self, request: MergeBlock) -> Result<Items<Block>> {
        self.edit_texts("merge_block", |tree, context| {
            let merged = || {
                let second = ops::locate_text(tree, request.block_id)?;
                let before = tree.previous_sibling(request.block_id)?.ok_or_else(|| {
                    Error::validation("no block is before it that it could be merged into")
                })?;
                let first = ops::locate_text(tree, before)?;
                let (one, other) = (&first.record.data.inline, &second.record.data.inline);
                ops::merge(tree, context, [&first, &second], markdown::join_inline(one, other))
            };
            merged().map_err(|error: Error| error.at("blockId"))
        })
    }

    /// Indents or outdents a range of siblings, and the blocks after it that are indented below
    /// its last one. Returns all of these blocks. Outdenting ends at level 0, and blocks below
    /// another one stay below it. The cost grows with the range, and with the IDs of the siblings.
    ///
    /// ```
    /// use leafbase::IndentBlocks;
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// let lines = notes.insert_markdown("- a\n- b\n  - c\n- d", trip.id())?;
    /// notes.indent_blocks(IndentBlocks::from(lines[1].id))?;
    /// assert_eq!(notes.content_markdown(trip.id())?, "- a\n  - b\n    - c\n- d");
    /// notes.indent_blocks(IndentBlocks::range(lines[1].id, lines[3].id).by(-1))?;
    /// assert_eq!(notes.content_markdown(trip.id())?, "- a\n- b\n  - c\n- d");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] at `firstId`; [`crate::ErrorKind::Validation`] at `lastId`
    /// for a block that is not beside the first or is before it;
    /// [`crate::ErrorKind::RuleViolation`] at `firstId` for an item, in the trash, or if it would
    /// be more than one level below the block before it, and at `levels` beyond
    /// [`crate::Limits::INDENTATION`]; [`crate::ErrorKind::LimitExceeded`] for more than
    /// [`crate::Limits::blocks_per_request`].
    pub fn indent_blocks(&self, request: IndentBlocks) -> Result<Items<Block>> {
        self.edit_texts("indent_blocks", |tree, context| {
            let siblings = siblings_of(tree, request.first_id)?;
            ops::indent(tree, context, &siblings, request)
        })
    }

    /// Applies the edits of `plan`, and shows its blocks.
    fn edit_texts(
        &self,
        operation: &'static str,
        plan: impl Fn(&Tree<'_>, &Context<'_>) -> Result<EditedTexts>,
    ) -> Result<Items<Block>> {
        let (mut blocks, _) = self.operation(operation).write(|transaction| {
            let EditedTexts { edits, blocks } = transaction.plan(&plan)?;
            transaction.apply(edits)?;
            let mut blocks: Vec<_> = blocks.into_iter().map(without_children).collect();
            transaction.plan(|tree, _| redact_links(tree, &mut blocks))?;
            Ok(blocks)
        })?;
        for block in &mut blocks {
            render_tree(block);
        }
        Ok(Items(blocks))
    }
}
