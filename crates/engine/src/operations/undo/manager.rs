//! The undo stack of an editor: own changes, grouped as a user thinks of them.

use std::sync::Arc;
use std::time::Duration;

use leafbase_model::{BlockId, Change, Result, ScopedChange, Timestamp};

use super::named_changes::{ChangeNumbers, nothing_left};
use crate::core::access::{AccessScope, Full, Scoped, Unbatched};
use crate::core::change_recorder::{ChangeRecorder, RecordedChange};
use crate::core::connection::Connection;

/// Groups that are kept at most.
const MAX_GROUPS: usize = 1_000;
/// Edits of one text within this time of each other are one group.
const DEFAULT_WINDOW: Duration = Duration::from_secs(1);

/// Undoes and redoes the changes of one connection, as an editor's menu does: only those made by
/// [`UndoManager::notes`], and never those of others.
///
/// Consecutive edits of the text of one block, each within a second of the one before, are one
/// step; every other change is a step of its own, and so is a [`Connection::batch`]. A new edit
/// clears what can be redone. The last 1,000 steps are kept, in memory.
///
/// ```
/// use leafbase::Position;
/// # fn main() -> leafbase::Result<()> {
/// let space = leafbase::Space::in_memory()?;
/// let mut undo = space.connect().acting_as("Ada").undo_manager();
/// let notes = undo.notes().clone();
/// let trip = notes.create_document("Trip")?.id();
/// let line = notes.insert_markdown("p", trip)?[0].id;
/// notes.update_markdown(line, "pa")?;
/// notes.update_markdown(line, "pass")?;
///
/// undo.undo()?; // both edits of the text
/// assert_eq!(notes.content_markdown(trip)?, "p");
/// undo.redo()?;
/// assert_eq!(notes.content_markdown(trip)?, "pass");
/// undo.undo()?;
/// notes.insert_markdown("other", Position::after(line))?;
/// assert!(undo.can_undo() && !undo.can_redo());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct UndoManager<A: AccessScope = Full> {
    /// Records what it writes.
    notes: Connection<A>,
    recorder: Arc<ChangeRecorder>,
    window: Duration,
    undo: Vec<UndoStep>,
    redo: Vec<UndoStep>,
}

/// Changes that are undone together.
#[derive(Clone, Debug)]
struct UndoStep {
    sequences: Vec<u64>,
    /// The time of the last one.
    at: Timestamp,
    typed_in: Option<BlockId>,
}

impl<A: Unbatched> Connection<A> {
    /// An undo stack for changes made from now on by the connection [`UndoManager::notes`], which
    /// has the author and the durability of this one.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let mut undo = leafbase::Space::in_memory()?.connect().undo_manager();
    /// undo.notes().create_document("Trip")?;
    /// undo.undo()?;
    /// assert!(undo.notes().documents()?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn undo_manager(&self) -> UndoManager<A> {
        let recorder = Arc::new(ChangeRecorder::default());
        let notes = self.recorded_by(Arc::clone(&recorder));
        let (undo, redo) = (Vec::new(), Vec::new());
        UndoManager { notes, recorder, window: DEFAULT_WINDOW, undo, redo }
    }
}

impl<A: Unbatched> UndoManager<A> {
    /// The connection whose changes are undone. Its clones are recorded as well, on any thread.
    pub fn notes(&self) -> &Connection<A> {
        &self.notes
    }

    /// The same stack, with another time within which edits of one text are one step. By default a
    /// second; zero makes each edit a step. Times are those of the space's clock.
    #[must_use]
    pub fn joining_within(mut self, window: Duration) -> Self {
        self.window = window;
        self
    }

    /// Whether there is something to undo.
    pub fn can_undo(&mut self) -> bool {
        self.add_recorded();
        !self.undo.is_empty()
    }

    /// Whether there is something to redo.
    pub fn can_redo(&mut self) -> bool {
        self.add_recorded();
        !self.redo.is_empty()
    }

    /// Ends the step: the next edit of the same text is one of its own, as after the caret moved.
    pub fn end_step(&mut self) {
        self.add_recorded();
        self.close_step();
    }

    fn close_step(&mut self) {
        if let Some(step) = self.undo.last_mut() {
            step.typed_in = None;
        }
    }

    /// Gives up the last step: the next undo is of the one before it. Whether there was one.
    pub fn drop_step(&mut self) -> bool {
        self.add_recorded();
        let dropped = self.undo.pop();
        self.close_step();
        dropped.is_some()
    }

    fn undo_step(&mut self) -> Result<Option<Change>> {
        self.add_recorded();
        let Some(step) = self.undo.last() else { return Ok(None) };
        let change = self.revert(step)?;
        self.undo.pop();
        // The next edit does not follow those of the step before.
        self.close_step();
        self.redo.push(UndoStep::of(&change));
        Ok(Some(change))
    }

    fn redo_step(&mut self) -> Result<Option<Change>> {
        self.add_recorded();
        let Some(step) = self.redo.last() else { return Ok(None) };
        let change = self.revert(step)?;
        self.redo.pop();
        self.undo.push(UndoStep::of(&change));
        Ok(Some(change))
    }

    fn revert(&self, step: &UndoStep) -> Result<Change> {
        let change = self.notes.write_undo(&ChangeNumbers::Recorded(&step.sequences))?;
        let change = change.ok_or_else(nothing_left)?;
        // An undo is not an edit of its own.
        for recorded in self.recorder.take() {
            if recorded.sequence != change.sequence {
                self.recorder.put_back(recorded);
            }
        }
        Ok(change)
    }

    /// Adds the changes made since the last call.
    fn add_recorded(&mut self) {
        for change in self.recorder.take() {
            self.redo.clear();
            self.add(change);
        }
    }

    fn add(&mut self, RecordedChange { sequence, at, typed_in }: RecordedChange) {
        let window = i64::try_from(self.window.as_millis()).unwrap_or(i64::MAX);
        let joins = |step: &&mut UndoStep| {
            let elapsed = at.as_millis().saturating_sub(step.at.as_millis());
            typed_in.is_some() && step.typed_in == typed_in && elapsed < window
        };
        if let Some(step) = self.undo.last_mut().filter(joins) {
            step.sequences.push(sequence);
            step.at = at;
            return;
        }
        if self.undo.len() >= MAX_GROUPS {
            self.undo.remove(0);
        }
        self.undo.push(UndoStep { sequences: vec![sequence], at, typed_in });
    }
}

impl UndoManager<Full> {
    /// Undoes the last step, as one change, and returns that; none if there is nothing to undo.
    ///
    /// # Errors
    /// As [`Connection::undo`]. The step stays, so that it can be undone once what is in the way
    /// has gone; [`Self::drop_step`] gives it up.
    pub fn undo(&mut self) -> Result<Option<Change>> {
        self.undo_step()
    }

    /// Redoes the step that was undone last, as one change, and returns that; none if there is
    /// nothing to redo.
    ///
    /// # Errors
    /// As [`Self::undo`].
    pub fn redo(&mut self) -> Result<Option<Change>> {
        self.redo_step()
    }
}

impl UndoManager<Scoped> {
    /// Undoes the last step, as on a full connection, within what the scope shows.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let trip = space.connect().create_document("Trip")?.id();
    /// let mut undo = space.scoped([trip]).undo_manager();
    /// undo.notes().insert_markdown("passport", trip)?;
    /// assert_eq!(undo.undo()?.unwrap().documents, [trip]);
    /// assert!(undo.redo()?.is_some());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As `undo` on a scoped connection.
    pub fn undo(&mut self) -> Result<Option<ScopedChange>> {
        let change = self.undo_step()?;
        change.map(|change| self.notes.scoped_change(&change)).transpose()
    }

    /// Redoes the step that was undone last, as on a full connection.
    ///
    /// # Errors
    /// As [`Self::undo`].
    pub fn redo(&mut self) -> Result<Option<ScopedChange>> {
        let change = self.redo_step()?;
        change.map(|change| self.notes.scoped_change(&change)).transpose()
    }
}

impl UndoStep {
    /// A step that nothing joins.
    fn of(change: &Change) -> Self {
        Self { sequences: vec![change.sequence], at: change.stamp.at, typed_in: None }
    }
}
