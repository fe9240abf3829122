//! The inbox: a hidden document that is shown as its tasks alone. So at its top there are tasks,
//! and its root stays as it is; below its tasks anything goes. Closed tasks stand behind the open
//! ones, so that these lie together however much was done: who lists them reads no more than them.

use leafbase_model::{
    BlockData, BlockId, BlockLocation, DocumentId, Edge, Error, Location, Result, TaskState,
};

use crate::ResolvedPosition;

/// What may stand at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Takes {
    /// All that may have a parent.
    #[default]
    Anything,
    /// Tasks: the place is at the top of the inbox.
    Tasks,
}

impl Takes {
    /// What may stand among the children of `parent`, in a document that is kept at `location`.
    pub(crate) fn below(parent: BlockId, document: DocumentId, location: Location) -> Self {
        if location == Location::Inbox && parent == document.root() {
            Self::Tasks
        } else {
            Self::Anything
        }
    }

    /// Whether a block may stand here that says `data`.
    fn admits(self, data: &BlockData) -> bool {
        self == Self::Anything || data.task.is_some()
    }

    /// Checks that a block may be put here that says `data`.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::RuleViolation`], without a path.
    pub fn check(self, data: &BlockData) -> Result<()> {
        if self.admits(data) {
            return Ok(());
        }
        Err(Error::rule(
            "only tasks stand in the inbox: make it a task first, or put it into a document",
        ))
    }

    /// Checks that a block may stay here that said `before`, and is to say `parts` together with
    /// blocks that follow it.
    pub(crate) fn check_change(self, before: &BlockData, parts: &[BlockData]) -> Result<()> {
        let Some((first, rest)) = parts.split_first() else { return Ok(()) };
        if self.admits(before) && !self.admits(first) {
            return Err(Error::rule(
                "a task in the inbox stays a task: move it out of the inbox first",
            )
            .at("listStyle"));
        }
        if rest.iter().all(|data| self.admits(data)) {
            return Ok(());
        }
        let message = "its further paragraphs would be no tasks, as all in the inbox are: move it out of the inbox first";
        Err(Error::rule(message).at("markdown"))
    }
}

/// Checks that a block may be changed: not the root of the inbox.
pub(crate) fn check_changeable(parent: Option<BlockId>, location: Location) -> Result<()> {
    if parent.is_none() && location == Location::Inbox {
        return Err(Error::rule("the inbox itself is not changed: change the tasks in it"));
    }
    Ok(())
}

/// Where a task that says `data` goes, of its own accord, in a document that is kept at `location`:
/// to the top, but to the end of the inbox once it is done or given up.
pub fn edge_for(location: Location, data: &BlockData) -> Edge {
    if location == Location::Inbox && is_closed(data) { Edge::End } else { Edge::Start }
}

/// Where a block goes that says `after` and no longer `before`: elsewhere only if it stands at the
/// top of the inbox, and was opened or closed.
pub(crate) fn destination(
    located: BlockLocation,
    location: Location,
    before: &BlockData,
    after: &BlockData,
) -> Option<ResolvedPosition> {
    let parent = located.parent?;
    let is_top = Takes::below(parent, located.document, location) == Takes::Tasks;
    let goes = is_top && is_closed(before) != is_closed(after);
    goes.then(|| ResolvedPosition::Within(edge_for(location, after), parent))
}

fn is_closed(data: &BlockData) -> bool {
    data.task.is_some_and(|task| task.state != TaskState::Todo)
}
