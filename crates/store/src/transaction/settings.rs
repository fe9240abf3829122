//! Edits of the settings of the space, and of the scopes that the host keeps.

use leafbase_model::{KeptScope, Result, SpaceSettings, invariant};

use super::SpaceTransaction;
use super::errors::conflict;
use crate::lookup::put_meta;
use crate::records;
use crate::records::layout::Value;
use crate::records::meta::{self, SpaceMeta};

impl SpaceTransaction<'_> {
    pub(super) fn update_space(
        &mut self,
        before: &SpaceSettings,
        after: &SpaceSettings,
    ) -> Result<()> {
        let stored = self.reader()?.meta()?;
        if stored.settings() != *before {
            return Err(conflict("the settings of the space have changed"));
        }
        put_meta(self.rows, &SpaceMeta::new(stored.id, after.clone()))
    }

    pub(super) fn set_scope(
        &mut self,
        before: Option<&KeptScope>,
        after: Option<&KeptScope>,
    ) -> Result<()> {
        let Some(named) = before.or(after) else { return Ok(()) };
        let is_same = |scope: &KeptScope| scope.name == named.name;
        invariant!(after.is_none_or(is_same), "an edit of a scope keeps its name");
        if self.reader()?.kept_scope(&named.name)?.as_ref() != before {
            return Err(conflict("the kept scope has changed"));
        }
        let key = meta::scope_key(&named.name);
        match after {
            Some(scope) => self.rows.put(&key, &records::seal(&key, |out| scope.encode(out))),
            None => self.rows.delete(&key),
        }
    }
}
