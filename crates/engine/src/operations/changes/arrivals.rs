//! Waiting for changes.

use std::time::Duration;

#[cfg(doc)]
use leafbase_model::ErrorKind;
use leafbase_model::{ChangePosition, Result};

use crate::core::access::{Full, Scoped, Unbatched};
use crate::core::connection::Connection;

impl Connection<Full> {
    /// Waits until there is a change after a position, or until `timeout` has passed, and returns
    /// the position after the last change: the same one if there was none. A view that follows the
    /// space reads [`Self::changes_since`] after it, and waits again.
    ///
    /// It wakes by the writes of this [`crate::Space`], its clones, and the other spaces over its
    /// store, on whatever thread and connection; those of other processes are noticed within a
    /// quarter of a second, unless the store hears of them earlier. It blocks the thread; an async
    /// host calls it where blocking is allowed.
    ///
    /// ```
    /// use std::time::Duration;
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let seen = notes.last_position()?;
    /// let writer = notes.clone();
    /// let written = std::thread::spawn(move || writer.create_document("Trip"));
    /// let last = notes.wait_for(seen, Duration::from_secs(60))?;
    /// assert_eq!(notes.changes_since(seen).count() as u64, last.sequence());
    /// # written.join().unwrap()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cost
    /// Two lookups for each write of the space while it waits.
    ///
    /// # Errors
    /// [`ErrorKind::Closed`] once the space is closed; errors of the store.
    pub fn wait_for(
        &self,
        position: impl Into<ChangePosition>,
        timeout: Duration,
    ) -> Result<ChangePosition> {
        let seen = position.into().sequence();
        self.wait_until(timeout, |last| last.sequence() > seen, Self::last_position)
    }
}

impl Connection<Scoped> {
    /// Waits until there is a change of the scope after the one numbered `sequence`, or until
    /// `timeout` has passed, and returns the number of the last one. Writes to the rest of the
    /// space do not end it.
    ///
    /// ```
    /// use std::time::Duration;
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let trip = space.connect().create_document("Trip")?;
    /// let guest = space.scoped([trip.id()]);
    /// space.connect().create_document("Diary")?;
    /// assert_eq!(guest.wait_for(0, Duration::ZERO)?, 0);
    /// guest.insert_markdown("passport", trip.id())?;
    /// assert_eq!(guest.wait_for(0, Duration::from_secs(60))?, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cost
    /// That of [`Self::last_sequence`] for each write of the space while it waits.
    ///
    /// # Errors
    /// [`ErrorKind::Closed`] once the space is closed; errors of the store.
    pub fn wait_for(&self, sequence: u64, timeout: Duration) -> Result<u64> {
        self.wait_until(timeout, |last| *last > sequence, Self::last_sequence)
    }
}

impl<A: Unbatched> Connection<A> {
    /// Waits until `is_new` is what `last` reads, or an error is, and returns that.
    fn wait_until<T>(
        &self,
        timeout: Duration,
        is_new: impl Fn(&T) -> bool,
        last: impl Fn(&Self) -> Result<T>,
    ) -> Result<T> {
        let mut found = None;
        self.space.commit_signal().wait(timeout, || {
            let read = last(self);
            let is_met = read.as_ref().map_or(true, &is_new);
            found = Some(read);
            is_met
        });
        found.unwrap_or_else(|| last(self))
    }
}
