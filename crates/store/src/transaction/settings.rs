//! Edits of the settings of the space.

use leafbase_model::{Result, SpaceSettings};

use super::SpaceTransaction;
use super::errors::conflict;
use crate::lookup::put_meta;
use crate::records::meta::SpaceMeta;

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
}
