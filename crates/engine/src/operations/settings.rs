//! Operations on the settings of a space: its name, its time zone, and the scopes kept in it.

use leafbase_model::{Edit, Error, KeptScope, Result, SpaceSettings};
#[cfg(doc)]
use leafbase_model::{ErrorKind, Limits};

use crate::core::scope::Scope;
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

    /// Keeps a scope in the space under `name`, in place of one that has the name: the documents,
    /// pages and folders that it names now, and whether it is for reading only. What the host adds
    /// to the scope later is not kept before the next call. Backups and the change log have it.
    /// Each is a row of its own: however many a space keeps, no other call reads or writes them.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let trip = space.connect().create_document("Trip")?.id();
    /// space.keep_scope("for Ben", &space.scope([trip]).read_only())?;
    /// // later, or in another process
    /// let guest = space.kept_scope("for Ben")?.connect();
    /// assert_eq!(guest.document(trip)?.title, "Trip");
    /// assert!(guest.insert_markdown("passport", trip).is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] at `name` if it is blank; [`ErrorKind::LimitExceeded`] at `name`;
    /// [`ErrorKind::ReadOnly`]; other errors of the store.
    pub fn keep_scope(&self, name: &str, scope: &Scope) -> Result<()> {
        check_name(name, self.limits())?;
        if name.trim().is_empty() {
            return Err(Error::validation("a scope needs a name").at("name"));
        }
        self.set_scope("keep_scope", name, Some(scope.kept_as(name)))
    }

    /// The scope that is kept under `name`, as it was kept.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// assert_eq!(space.kept_scope("for Ben").unwrap_err().path(), "name");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] at `name`; errors of the store.
    pub fn kept_scope(&self, name: &str) -> Result<Scope> {
        let kept = self.store()?.snapshot()?.reader().kept_scope(name)?.ok_or_else(no_scope)?;
        Ok(Scope::of_kept(self.clone(), kept))
    }

    /// The scopes that are kept in the space, by name.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// space.keep_scope("empty", &space.scope([]))?;
    /// assert_eq!(space.kept_scopes()?[0].name, "empty");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Errors of the store.
    pub fn kept_scopes(&self) -> Result<Vec<KeptScope>> {
        let mut scopes = self.store()?.snapshot()?.reader().kept_scopes()?;
        scopes.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        Ok(scopes)
    }

    /// Deletes the scope that is kept under `name`. Connections of it that are open stay.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// space.keep_scope("empty", &space.scope([]))?;
    /// space.delete_kept_scope("empty")?;
    /// assert!(space.kept_scopes()?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] at `name`; [`ErrorKind::ReadOnly`]; other errors of the store.
    pub fn delete_kept_scope(&self, name: &str) -> Result<()> {
        self.set_scope("delete_kept_scope", name, None)
    }

    /// Keeps a scope under its name, or deletes the one that has it.
    fn set_scope(
        &self,
        operation: &'static str,
        name: &str,
        kept: Option<KeptScope>,
    ) -> Result<()> {
        let after = kept.map(Box::new);
        let connection = self.connect();
        let ((), _) = connection.operation(operation).write(|transaction| {
            // Read in the transaction: writers run one at a time, so no concurrent change is lost.
            let before = transaction.plan_with_reader(|reader, _| reader.kept_scope(name))?;
            if before.is_none() && after.is_none() {
                return Err(no_scope());
            }
            let (before, after) = (before.map(Box::new), after.clone());
            if after == before {
                return Ok(());
            }
            transaction.apply(vec![Edit::SetScope { before, after }])
        })?;
        Ok(())
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

fn no_scope() -> Error {
    Error::not_found("no scope has this name").at("name")
}
