//! The inbox: a hidden document that is shown as its tasks alone. So at its top there are tasks, and its root stays as it is;
//! below its tasks anything goes.

use leafbase_model::{BlockData, BlockId, DocumentId, Error, Location, Result};

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
        if location == Location::Inbox && parent == document.root() { Self::Tasks } else { Self::Anything }
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
        Err(Error::rule("only tasks stand in the inbox: make it a task first, or put it into a document"))
    }

    /// Checks that a block may stay here that said `before`, and is to say `parts` together with blocks that follow it.
    pub(crate) fn check_change(self, before: &BlockData, parts: &[BlockData]) -> Result<()> {
        let Some((first, rest)) = parts.split_first() else { return Ok(()) };
        if self.admits(before) && !self.admits(first) {
            return Err(Error::rule("a task in the inbox stays a task: move it out of the inbox first").at("listStyle"));
        }
        if rest.iter().all(|data| self.admits(data)) {
            return Ok(());
        }
        let message =
            "its further paragraphs would be no tasks, as all in the inbox are: move it out of the inbox first";
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
