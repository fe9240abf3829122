//! Targets of insertions and moves: a position becomes a slot among the children of a parent that
//! allows them.

use leafbase_model::{
    BlockData, BlockId, BlockKind, BlockRecord, BlockType, DocumentId, Edge, Edit, Error,
    InsertTarget, Limits, Result, Side,
};

use crate::context::Context;
use crate::inbox::AllowedChildren;
use crate::position::ResolvedPosition;
use crate::read::ReadTree;
use crate::request::RequestReader;
use crate::update::update_edit;

/// A target that is ready to receive blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct PreparedTarget {
    /// Edits to apply first: a text that receives children becomes a page.
    pub edits: Vec<Edit>,
    /// Where to insert the blocks.
    pub target: InsertTarget,
    /// Depth of the inserted blocks: 1 for children of a root.
    pub depth: usize,
}

/// Prepares a position for blocks with `levels` levels, their own included: 1 for blocks without
/// children.
///
/// # Errors
/// [`leafbase_model::ErrorKind::NotFound`], [`leafbase_model::ErrorKind::InvalidPosition`] next to
/// a root, [`leafbase_model::ErrorKind::RuleViolation`] if the parent cannot have children or its
/// document is in the trash, and [`leafbase_model::ErrorKind::LimitExceeded`] if the blocks would
/// be nested too deep: each at `position.pageId` or `position.siblingId`.
pub fn prepare_target<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    position: ResolvedPosition,
    levels: usize,
) -> Result<PreparedTarget> {
    prepare(&RequestReader::new(tree), context, position, levels).map(|(prepared, _)| prepared)
}

/// As [`prepare_target`] for one block without children, whose `data` has to be allowed there.
///
/// # Errors
/// As [`prepare_target`].
pub fn prepare_target_for<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    position: ResolvedPosition,
    data: &BlockData,
) -> Result<PreparedTarget> {
    let (prepared, allowed) = prepare(&RequestReader::new(tree), context, position, 1)?;
    allowed.check(data).map_err(|error| error.at(position.path()))?;
    Ok(prepared)
}

fn prepare<T: ReadTree + ?Sized>(
    reader: &RequestReader<'_, T>,
    context: &Context<'_>,
    position: ResolvedPosition,
    levels: usize,
) -> Result<(PreparedTarget, AllowedChildren)> {
    let parent = TargetParent::find(reader, position)?;
    let depth = parent.depth();
    // The deepest inserted block is `levels - 1` below its top-level block.
    let deepest = (depth + levels).saturating_sub(1);
    check_nesting(context.limits, deepest).map_err(|error| error.at(position.path()))?;
    let target = parent.target(parent.after(reader)?);
    let allowed = parent.allowed;
    let edits = parent.into_page(context)?.into_iter().collect();
    Ok((PreparedTarget { edits, target, depth }, allowed))
}

pub(crate) fn check_nesting(limits: &Limits, depth: usize) -> Result<()> {
    let most = limits.deepest_page();
    if depth > most { Err(Error::limit("pages within pages", most, depth)) } else { Ok(()) }
}

/// The parent of a target, which allows children.
pub(crate) struct TargetParent {
    position: ResolvedPosition,
    document: DocumentId,
    id: BlockId,
    /// The parent's record if it is a text, which becomes a page.
    text: Option<BlockRecord>,
    /// The parent and its ancestors, up to the root.
    pub(crate) lineage: Vec<BlockId>,
    /// The levels above the root.
    levels_above: usize,
    pub(crate) allowed: AllowedChildren,
}

impl TargetParent {
    pub(crate) fn find<T: ReadTree + ?Sized>(
        reader: &RequestReader<'_, T>,
        position: ResolvedPosition,
    ) -> Result<Self> {
        Self::look_up(reader, position).map_err(|error| error.at(position.path()))
    }

    fn look_up<T: ReadTree + ?Sized>(
        reader: &RequestReader<'_, T>,
        position: ResolvedPosition,
    ) -> Result<Self> {
        let location = reader.locate(position.block())?;
        let document = location.document;
        let id = match position {
            ResolvedPosition::Within(_, page) => page,
            ResolvedPosition::Beside(..) => location
                .parent
                .ok_or_else(|| Error::position("the root of a document has no siblings"))?,
        };
        let levels_above = reader.tree.levels_above(document)?;
        // The root of a whole document is always a page, so its record need not be read.
        let is_page = id == document.root() && levels_above == 0;
        let text = if is_page { None } else { text_parent(reader, id)? };
        debug_assert!(
            position.block() == id || location.parent == Some(id),
            "the parent of the target"
        );
        let lineage = reader.lineage(id)?;
        let allowed = reader.allowed_children(document, id)?;
        Ok(Self { position, document, id, text, lineage, levels_above, allowed })
    }

    /// Depth of the children: 1 below a root.
    pub(crate) fn depth(&self) -> usize {
        self.levels_above + self.lineage.len()
    }

    pub(crate) fn id(&self) -> BlockId {
        self.id
    }

    pub(crate) fn target(&self, after: Option<BlockId>) -> InsertTarget {
        InsertTarget { document: self.document, parent: self.id, after }
    }

    /// The sibling that inserted blocks follow.
    pub(crate) fn after<T: ReadTree + ?Sized>(
        &self,
        reader: &RequestReader<'_, T>,
    ) -> Result<Option<BlockId>> {
        match self.position {
            ResolvedPosition::Within(Edge::Start, _) => Ok(None),
            ResolvedPosition::Within(Edge::End, page) => {
                reader.tree.last_child(self.document, page)
            }
            ResolvedPosition::Beside(Side::Before, sibling) => {
                reader.tree.previous_sibling(sibling)
            }
            ResolvedPosition::Beside(Side::After, sibling) => Ok(Some(sibling)),
        }
    }

    /// The edit that turns a text into a page before it receives children.
    pub(crate) fn into_page(self, context: &Context<'_>) -> Result<Option<Edit>> {
        let Some(text) = self.text else { return Ok(None) };
        let BlockKind::Text(look) = text.data.kind else { return Ok(None) };
        let mut data = text.data.clone();
        data.kind = BlockKind::Page(look);
        // A text may be too long for a title. The path names the position, because the request has
        // no field for that title.
        data.check(context.limits)
            .map_err(|error| error.without_path().at(self.position.path()))?;
        Ok(update_edit(self.document, text, data, context.stamp))
    }
}

/// Checks that a block can have children; returns its record if it is a text.
fn text_parent<T: ReadTree + ?Sized>(
    reader: &RequestReader<'_, T>,
    parent: BlockId,
) -> Result<Option<BlockRecord>> {
    let parent = reader.block(parent)?;
    let block_type = parent.data.block_type();
    check_parent(block_type)?;
    Ok(Some(parent).filter(|_| block_type == BlockType::Text))
}

pub(crate) fn check_parent(block_type: BlockType) -> Result<()> {
    if block_type.may_be_parent() {
        return Ok(());
    }
    if block_type == BlockType::Collection {
        return Err(Error::rule(
            "a block of type collection contains only items; use the item operations",
        ));
    }
    Err(Error::rule(format!("a block of type {block_type} cannot have children")))
}
