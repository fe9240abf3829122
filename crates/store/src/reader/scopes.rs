//! Reads of the scopes that a host keeps.

use std::ops::ControlFlow;

use leafbase_model::{KeptScope, Result};

use super::SpaceReader;
use crate::keyspaces::{self, SCOPES};
use crate::kv::KeyRange;
use crate::lookup::get;
use crate::records::meta;

impl SpaceReader<'_> {
    /// The scope that is kept under this name.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn kept_scope(&self, name: &str) -> Result<Option<KeptScope>> {
        let key = meta::scope_key(name);
        get(self.read, &key, |value| meta::read_scope(&key, value))
    }

    /// All kept scopes, in no order that means anything.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn kept_scopes(&self) -> Result<Vec<KeptScope>> {
        let (lower, upper) = ([SCOPES.tag], keyspaces::prefix_end([SCOPES.tag]));
        let mut scopes = Vec::new();
        self.read.scan(KeyRange::half_open(&lower, &upper), &mut |key, value| {
            scopes.push(meta::read_scope(key, value)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(scopes)
    }
}
