//! Rules of the inbox, a hidden document whose tasks are shown as a list.
//!
//! Invariants: every child of its root is a task, and its root never changes. Below a task any
//! block is allowed. Operations on tasks put open ones before closed ones; block operations put a
//! task where the request says, and listings do not depend on the order.

use leafbase_model::{
    BlockData, BlockId, BlockLocation, DocumentId, Edge, Error, Location, Result, TaskState,
};

use crate::position::ResolvedPosition;

/// Blocks that are allowed as children of a parent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AllowedChildren {
    /// Every block that can have a parent.
    #[default]
    Anything,
    /// Tasks only: children of the root of the inbox.
    Tasks,
}

impl AllowedChildren {
    /// The children allowed for `parent`, a block of a document in `location`.
    pub(crate) fn of(parent: BlockId, document: DocumentId, location: Location) -> Self {
        if location == Location::Inbox && parent == document.root() {
            Self::Tasks
        } else {
            Self::Anything
        }
    }

    /// Whether a block with this data can be inserted.
    pub fn allows(self, data: &BlockData) -> bool {
        self == Self::Anything || data.task.is_some()
    }

    /// The error for a block that is not a task, without a path.
    pub fn refusal() -> Error {
        Error::rule(
            "the inbox contains only tasks; make the block a task first, or insert it into a document",
        )
    }

    /// Checks that a block with this data can be inserted.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::RuleViolation`], without a path.
    pub fn check(self, data: &BlockData) -> Result<()> {
        if self.allows(data) { Ok(()) } else { Err(Self::refusal()) }
    }

    /// Checks that a block can change from `before` to the first of `parts`, with the others as new
    /// siblings after it.
    pub(crate) fn check_change(self, before: &BlockData, parts: &[BlockData]) -> Result<()> {
        let Some((first, rest)) = parts.split_first() else { return Ok(()) };
        if self.allows(before) && !self.allows(first) {
            return Err(Error::rule(
                "a task in the inbox stays a task; move it out of the inbox first",
            )
            .at("listStyle"));
        }
        if rest.iter().all(|data| self.allows(data)) {
            return Ok(());
        }
        let message = "each further paragraph becomes a block, and the inbox contains only tasks; move \
                       the task out of the inbox first";
        Err(Error::rule(message).at("markdown"))
    }
}

/// Checks that a block can be updated: the root of the inbox cannot.
pub(crate) fn check_changeable(parent: Option<BlockId>, location: Location) -> Result<()> {
    if parent.is_none() && location == Location::Inbox {
        return Err(Error::rule("the inbox itself cannot be changed; change its tasks"));
    }
    Ok(())
}

/// The default edge for a task in a document in `location`: the start, but the end of the inbox if
/// the task is done or canceled.
pub fn task_edge(location: Location, data: &BlockData) -> Edge {
    if location == Location::Inbox && is_closed(data) { Edge::End } else { Edge::Start }
}

/// The position to move a block to after an update: a top-level task of the inbox moves when it is
/// opened or closed.
pub(crate) fn destination(
    block: BlockLocation,
    location: Location,
    before: &BlockData,
    after: &BlockData,
) -> Option<ResolvedPosition> {
    let parent = block.parent?;
    let is_top = AllowedChildren::of(parent, block.document, location) == AllowedChildren::Tasks;
    let moves = is_top && is_closed(before) != is_closed(after);
    moves.then(|| ResolvedPosition::Within(task_edge(location, after), parent))
}

fn is_closed(data: &BlockData) -> bool {
    data.task.is_some_and(|task| task.state != TaskState::Todo)
}
