//! Reads of uploaded files.

use std::ops::ControlFlow;

use leafbase_model::{AssetId, AssetRecord, Result};

use super::{SpaceReader, get};
use crate::keyspaces::{self, ASSETS, PENDING_ASSETS};
use crate::kv::KeyRange;
use crate::records::{self, asset};

impl SpaceReader<'_> {
    /// What is known of the file, if it exists.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn asset(&self, asset: AssetId) -> Result<Option<AssetRecord>> {
        let key = keyspaces::asset(asset);
        get(self.read, &key, |value| {
            records::read(&key, value, |decoder| asset::read(asset, decoder))
        })
    }

    /// Whether there is any file.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn has_assets(&self) -> Result<bool> {
        let (prefix, mut any) = ([ASSETS.tag], false);
        self.read.scan(KeyRange::half_open(&prefix, &keyspaces::end_of(prefix)), &mut |_, _| {
            any = true;
            Ok(ControlFlow::Break(()))
        })?;
        Ok(any)
    }

    /// The chunk of this number of a file or of an upload, if it exists: each has
    /// [`crate::CHUNK_BYTES`] but the last.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn chunk(&self, asset: AssetId, number: u32) -> Result<Option<Vec<u8>>> {
        let key = keyspaces::chunk(asset, number);
        get(self.read, &key, |value| records::body(&key, value).map(<[u8]>::to_vec))
    }

    /// The uploads that were begun, and neither finished nor dropped yet.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn uploads(&self) -> Result<Vec<AssetId>> {
        let prefix = [PENDING_ASSETS.tag];
        let mut found = Vec::new();
        self.read.scan(
            KeyRange::half_open(&prefix, &keyspaces::end_of(prefix)),
            &mut |key, value| {
                // What they name is dropped: a row that damage has made out of another one must not
                // pass.
                records::read_empty(key, value)?;
                found.push(keyspaces::read_asset(key).ok_or_else(|| records::damaged(key))?);
                Ok(ControlFlow::Continue(()))
            },
        )?;
        Ok(found)
    }
}
