//! Where blocks go: a place becomes a target among the children of a parent that may have them.

use leafbase_model::{
    BlockData, BlockId, BlockKind, BlockRecord, BlockType, DocumentId, Edge, Edit, Error,
    InsertTarget, Limits, Result, Side,
};

use crate::batch::Batch;
use crate::update::revise;
use crate::{Context, ReadTree, ResolvedPosition, Takes};

/// A place made ready to receive blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Opened {
    /// What must be done before: a text becomes a page.
    pub edits: Vec<Edit>,
    /// Where the blocks go.
    pub target: InsertTarget,
    /// How deep they will stand: 1 for the children of a root.
    pub depth: usize,
}

/// Makes a place ready for blocks that have `levels` levels, themselves included: 1 for blocks
/// without children.
///
/// # Errors
/// [`leafbase_model::ErrorKind::NotFound`], [`leafbase_model::ErrorKind::InvalidPosition`] next to
/// a root, [`leafbase_model::ErrorKind::RuleViolation`] if the parent may not have children or its
/// document is in the trash, and [`leafbase_model::ErrorKind::LimitExceeded`] if the blocks would
/// stand too deep: each at `position.pageId` or `position.siblingId`.
pub fn open_place<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    place: ResolvedPosition,
    levels: usize,
) -> Result<Opened> {
    open(&Batch::new(tree), context, place, levels).map(|(opened, _)| opened)
}

/// Makes a place ready for a block without children that says `data`: as [`open_place`], and it may
/// stand there.
///
/// # Errors
/// As [`open_place`].
pub fn open_place_for<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    place: ResolvedPosition,
    data: &BlockData,
) -> Result<Opened> {
    let (opened, takes) = open(&Batch::new(tree), context, place, 1)?;
    takes.check(data).map_err(|error| error.at(place.path()))?;
    Ok(opened)
}

fn open<T: ReadTree + ?Sized>(
    batch: &Batch<'_, T>,
    context: &Context<'_>,
    place: ResolvedPosition,
    levels: usize,
) -> Result<(Opened, Takes)> {
    let spot = Spot::find(batch, place)?;
    let deepest = (spot.depth() + levels).saturating_sub(1);
    check_nesting(context.limits, deepest).map_err(|error| error.at(place.path()))?;
    let (after, takes) = (spot.after(batch)?, spot.takes);
    let opened = Opened { target: spot.target(after), depth: spot.depth(), edits: Vec::new() };
    Ok((Opened { edits: spot.receive(context)?.into_iter().collect(), ..opened }, takes))
}

pub(crate) fn check_nesting(limits: &Limits, deepest: usize) -> Result<()> {
    let most = limits.deepest_page();
    if deepest > most { Err(Error::limit("pages within pages", most, deepest)) } else { Ok(()) }
}

/// A place that may receive blocks.
pub(crate) struct Spot {
    pub(crate) place: ResolvedPosition,
    pub(crate) document: DocumentId,
    parent: BlockId,
    /// The parent, where it is a text.
    text: Option<BlockRecord>,
    /// The parent, its parent, and so on up to the root.
    pub(crate) lineage: Vec<BlockId>,
    pub(crate) takes: Takes,
}

impl Spot {
    /// Looks `place` up.
    pub(crate) fn find<T: ReadTree + ?Sized>(
        batch: &Batch<'_, T>,
        place: ResolvedPosition,
    ) -> Result<Self> {
        Self::look_up(batch, place).map_err(|error| error.at(place.path()))
    }

    fn look_up<T: ReadTree + ?Sized>(
        batch: &Batch<'_, T>,
        place: ResolvedPosition,
    ) -> Result<Self> {
        let located = batch.locate(place.block())?;
        let parent = match place {
            ResolvedPosition::Within(_, page) => page,
            ResolvedPosition::Beside(..) => located.parent.ok_or_else(beside_a_root)?,
        };
        let document = located.document;
        // The root of a document is a page, always: it need not be read to know that.
        let text = if parent == document.root() { None } else { receiving(batch, parent)? };
        let (lineage, takes) = (batch.lineage(parent)?, batch.takes(document, parent)?);
        Ok(Self { place, document, parent, text, lineage, takes })
    }

    /// How deep blocks put here stand: 1 for the children of a root.
    pub(crate) fn depth(&self) -> usize {
        self.lineage.len()
    }

    pub(crate) fn parent(&self) -> BlockId {
        self.parent
    }

    pub(crate) fn target(&self, after: Option<BlockId>) -> InsertTarget {
        InsertTarget { document: self.document, parent: self.parent, after }
    }

    /// The sibling that blocks put here follow.
    pub(crate) fn after<T: ReadTree + ?Sized>(
        &self,
        batch: &Batch<'_, T>,
    ) -> Result<Option<BlockId>> {
        match self.place {
            ResolvedPosition::Within(Edge::Start, _) => Ok(None),
            ResolvedPosition::Within(Edge::End, page) => batch.tree.last_child(self.document, page),
            ResolvedPosition::Beside(Side::Before, sibling) => batch.tree.previous_sibling(sibling),
            ResolvedPosition::Beside(Side::After, sibling) => Ok(Some(sibling)),
        }
    }

    /// What must be done before blocks are put here: a text that receives children becomes a page.
    pub(crate) fn receive(self, context: &Context<'_>) -> Result<Option<Edit>> {
        let Some(text) = self.text else { return Ok(None) };
        let BlockKind::Text(look) = text.data.kind else { return Ok(None) };
        let mut data = text.data.clone();
        data.kind = BlockKind::Page(look);
        // The path names the position: the request has no field for the title.
        let at_place =
            |error: Error| Error::new(error.kind(), error.message()).at(self.place.path());
        data.check(context.limits).map_err(at_place)?;
        Ok(revise(self.document, text, data, context.stamp))
    }
}

/// A block that may have children, if it is a text.
fn receiving<T: ReadTree + ?Sized>(
    batch: &Batch<'_, T>,
    parent: BlockId,
) -> Result<Option<BlockRecord>> {
    let parent = batch.block(parent)?;
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
            "a block of type collection takes items only, through the item operations",
        ));
    }
    Err(Error::rule(format!("a block of type {block_type} cannot have children")))
}

fn beside_a_root() -> Error {
    Error::position("the root of a document has no siblings")
}
