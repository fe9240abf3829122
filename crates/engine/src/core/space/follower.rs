//! Whether a space follows another one.

use std::sync::atomic::Ordering;

use leafbase_model::{Error, ErrorKind, Result};

use super::Space;

impl Space {
    /// Whether the space follows another one: connections cannot write then.
    pub fn is_follower(&self) -> bool {
        self.0.is_follower.load(Ordering::SeqCst)
    }

    /// Lets connections write from now on, and ends the following: the space has a history of its
    /// own. Before calling it make sure that the space which it followed is written no more.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::builder().follower(true).in_memory()?;
    /// let notes = space.connect();
    /// assert!(notes.create_document("Trip").is_err());
    /// space.promote();
    /// notes.create_document("Trip")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn promote(&self) {
        self.0.is_follower.store(false, Ordering::SeqCst);
    }

    /// Lets connections write no more, as those of a follower, because another copy of the space
    /// took its place. Writes in progress end as they would.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// space.demote();
    /// assert!(space.connect().create_document("Trip").is_err() && space.is_follower());
    /// # Ok(())
    /// # }
    /// ```
    pub fn demote(&self) {
        self.0.is_follower.store(true, Ordering::SeqCst);
    }

    /// Fails if connections cannot write.
    pub(crate) fn check_leads(&self) -> Result<()> {
        self.check_not_read_only()?;
        if self.is_follower() {
            let message = "the space follows another one: it can be read only";
            return Err(Error::new(ErrorKind::ReadOnly, message));
        }
        Ok(())
    }

    /// Fails unless the space follows another one.
    pub(crate) fn check_follows(&self) -> Result<()> {
        if self.is_follower() {
            return Ok(());
        }
        Err(Error::rule("the space follows no other one, so it takes no rows of a change log"))
    }
}
