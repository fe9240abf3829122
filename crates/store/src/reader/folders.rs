//! Reads of folders.

use std::ops::ControlFlow;
use std::sync::Arc;

use leafbase_model::{Error, FolderId, FolderRecord, Result};

use super::{ReaderCache, SpaceReader};
use crate::keyspaces::{self, FOLDERS};
use crate::kv::KeyRange;
use crate::lookup::{get, space_totals};
use crate::records::{self, folder};

impl SpaceReader<'_> {
    /// The folder, if it exists.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn folder(&self, folder: FolderId) -> Result<Option<FolderRecord>> {
        let key = keyspaces::folder(folder);
        get(self.read, &key, |value| {
            records::decode(&key, value, |decoder| folder::decode(folder, decoder))
        })
    }

    /// The folders in `parent`, or at the top, by ID.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn folders_in(&self, parent: Option<FolderId>) -> Result<Vec<FolderRecord>> {
        let prefix = keyspaces::folders_in(parent);
        let mut folders = Vec::new();
        self.read.scan(
            KeyRange::half_open(&prefix, &keyspaces::prefix_end(prefix)),
            &mut |key, value| {
                records::decode_empty(key, value)?;
                let (_, folder) =
                    keyspaces::parse_folder_child(key).ok_or_else(|| records::corrupt(key))?;
                folders.push(folder);
                Ok(ControlFlow::Continue(()))
            },
        )?;
        let records = folders.into_iter().map(|folder| {
            self.folder(folder)?
                .ok_or_else(|| records::corrupt(&keyspaces::folder_child(parent, folder)))
        });
        records.collect()
    }

    /// All folders, by ID.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn folders(&self) -> Result<Vec<FolderRecord>> {
        let prefix = [FOLDERS.tag];
        let mut folders = Vec::new();
        self.read.scan(
            KeyRange::half_open(&prefix, &keyspaces::prefix_end(prefix)),
            &mut |key, value| {
                let id = keyspaces::parse_folder(key).ok_or_else(|| records::corrupt(key))?;
                folders.push(records::decode(key, value, |decoder| folder::decode(id, decoder))?);
                Ok(ControlFlow::Continue(()))
            },
        )?;
        // An unreachable page would hide folders: no other row refers to one at the top.
        let expected = space_totals(self.read)?.folders;
        if folders.len() as u64 == expected {
            Ok(folders)
        } else {
            Err(Error::corrupted(format_args!("folders: {} of {expected} exist", folders.len())))
        }
    }

    /// All folders: by parent, those at the top first, then by name, ignoring case, and by ID. They
    /// are cached until a folder changes.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn folders_by_name(&self) -> Result<Arc<[FolderRecord]>> {
        let cache = match self.cache {
            ReaderCache::Committed(cache, _) => {
                Some((&cache.folders, space_totals(self.read)?.last_folder_edit))
            }
            ReaderCache::None | ReaderCache::Transaction(_) => None,
        };
        if let Some(folders) = cache.and_then(|(cache, version)| cache.get(version)) {
            return Ok(folders);
        }
        let mut folders = self.folders()?;
        folders.sort_by_cached_key(|folder| (folder.parent, folder.name.to_lowercase(), folder.id));
        let folders = folders.into();
        if let Some((cache, version)) = cache {
            cache.set(version, &folders);
        }
        Ok(folders)
    }
}
