//! Operations on the settings of a space: its name and its time zone.

use leafbase_model::{Edit, Result, SpaceSettings};
#[cfg(doc)]
use leafbase_model::{ErrorKind, Limits};

use crate::core::space::Space;
use crate::core::space::settings::{check_name, known_zone};

impl Space {
    /// Renames the space, to at most [`Limits::title`] characters. The change log has the change,
    /// without an author; the name that the space already has writes nothing.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// space.rename("Notes of 2026")?;
    /// assert_eq!(space.meta()?.name, "Notes of 2026");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`] at `name`; [`ErrorKind::ReadOnly`]; other errors of the store.
    pub fn rename(&self, name: &str) -> Result<()> {
        check_name(name, self.limits())?;
        self.update_settings("rename", |settings| name.clone_into(&mut settings.name))
    }

    /// Sets the time zone in which the days of the space are counted, by its IANA name. Daily notes
    /// keep their days. The change log has the change, without an author; the zone that the space
    /// already has writes nothing.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// space.set_zone("Europe/Lisbon")?; // from now on `today` is the day in Lisbon
    /// assert_eq!(space.set_zone("Europe/Atlantis").unwrap_err().path(), "zone");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] at `zone` if the zone is unknown; [`ErrorKind::ReadOnly`]; other
    /// errors of the store.
    pub fn set_zone(&self, zone: &str) -> Result<()> {
        let zone = known_zone(zone)?;
        self.update_settings("set_zone", |settings| settings.zone.clone_from(&zone))
    }

    fn update_settings(
        &self,
        operation: &'static str,
        change: impl Fn(&mut SpaceSettings),
    ) -> Result<()> {
        let connection = self.connect();
        let ((), _) = connection.operation(operation).write(|transaction| {
            // Read in the transaction: writers run one at a time, so no concurrent change is lost.
            let before = transaction.plan_with_reader(|reader, _| reader.meta())?.settings();
            let mut after = before.clone();
            change(&mut after);
            if after == before {
                return Ok(());
            }
            transaction.apply(vec![Edit::UpdateSpace { before, after }])
        })?;
        Ok(())
    }
}
