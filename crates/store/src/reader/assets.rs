//! Reads of uploaded files.

use std::ops::ControlFlow;

use leafbase_model::{AssetId, AssetRecord, Result};

use super::SpaceReader;
use crate::keyspaces::{self, ASSETS, PENDING_ASSETS};
use crate::kv::KeyRange;
use crate::lookup::get;
use crate::records::upload::PendingUpload;
use crate::records::{self, asset};

impl SpaceReader<'_> {
    /// The record of a file, if it exists.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn asset(&self, asset: AssetId) -> Result<Option<AssetRecord>> {
        let key = keyspaces::asset(asset);
        get(self.read, &key, |value| {
            records::decode(&key, value, |decoder| asset::decode(asset, decoder))
        })
    }

    /// Whether any file exists.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn has_assets(&self) -> Result<bool> {
        let (prefix, mut any) = ([ASSETS.tag], false);
        self.read.scan(
            KeyRange::half_open(&prefix, &keyspaces::prefix_end(prefix)),
            &mut |_, _| {
                any = true;
                Ok(ControlFlow::Break(()))
            },
        )?;
        Ok(any)
    }

    /// A chunk of a file or of an upload, if it exists: each has [`crate::CHUNK_BYTES`] but the
    /// last.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn chunk(&self, asset: AssetId, number: u32) -> Result<Option<Vec<u8>>> {
        let key = keyspaces::chunk(asset, number);
        get(self.read, &key, |value| records::body(&key, value).map(<[u8]>::to_vec))
    }

    /// The uploads in progress.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn uploads(&self) -> Result<Vec<AssetId>> {
        Ok(self.pending_uploads()?.into_iter().map(|(asset, _)| asset).collect())
    }

    /// The uploads in progress with their records.
    pub(crate) fn pending_uploads(&self) -> Result<Vec<(AssetId, PendingUpload)>> {
        let prefix = [PENDING_ASSETS.tag];
        let mut found = Vec::new();
        self.read.scan(
            KeyRange::half_open(&prefix, &keyspaces::prefix_end(prefix)),
            &mut |key, value| {
                // Verified, because the caller deletes what the row names.
                let upload = PendingUpload::read(key, value)?;
                let asset = keyspaces::parse_asset(key).ok_or_else(|| records::corrupt(key))?;
                found.push((asset, upload));
                Ok(ControlFlow::Continue(()))
            },
        )?;
        Ok(found)
    }
}
