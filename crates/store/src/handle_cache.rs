//! The caches of a handle: of committed states, and hints where blocks were.

use std::sync::{Arc, PoisonError, RwLock};

use leafbase_model::FolderRecord;

use crate::location_cache::LocationCache;
use crate::location_hints::LocationHints;

/// Folders up to which they are cached, some 150 bytes each.
const MAX_FOLDERS: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct HandleCache {
    pub(crate) locations: LocationCache,
    pub(crate) folders: FolderCache,
    /// Of a store on another machine, of which nothing else is kept.
    pub(crate) hints: LocationHints,
}

/// Cache of all folders, sorted as they are shown.
///
/// Folders change rarely and are shown after most changes: with it a list of 200 takes half of the
/// time. It belongs to the last change of a folder, which the totals of the space name, so that
/// other changes, of this handle or of another one, leave it valid.
#[derive(Debug, Default)]
pub(crate) struct FolderCache {
    entry: RwLock<Option<(u64, Arc<[FolderRecord]>)>>,
}

impl FolderCache {
    /// All folders as of the change that was the last one of a folder.
    pub(crate) fn get(&self, last_folder_edit: u64) -> Option<Arc<[FolderRecord]>> {
        let entry = self.entry.read().unwrap_or_else(PoisonError::into_inner);
        let (version, folders) = entry.as_ref()?;
        (*version == last_folder_edit).then(|| Arc::clone(folders))
    }

    /// Caches all folders, unless there are too many or a later change is cached.
    pub(crate) fn set(&self, last_folder_edit: u64, folders: &Arc<[FolderRecord]>) {
        if folders.len() > MAX_FOLDERS {
            return;
        }
        let mut entry = self.entry.write().unwrap_or_else(PoisonError::into_inner);
        if entry.as_ref().is_none_or(|(version, _)| *version < last_folder_edit) {
            *entry = Some((last_folder_edit, Arc::clone(folders)));
        }
    }
}

#[cfg(test)]
mod tests {
    use leafbase_model::FolderId;

    use super::*;

    fn folders(number: usize) -> Arc<[FolderRecord]> {
        let id = FolderId::from_bytes([1; 16]);
        let folder = FolderRecord { id, name: "Travel".to_owned(), parent: None, rev: 1 };
        vec![folder; number].into()
    }

    #[test]
    fn folders_belong_to_their_change_and_are_bounded() {
        let cache = FolderCache::default();
        cache.set(3, &folders(1));
        assert_eq!(cache.get(3), Some(folders(1)));
        assert_eq!(cache.get(2), None);
        cache.set(2, &folders(2));
        assert_eq!(cache.get(3), Some(folders(1)), "an earlier state replaces nothing");
        cache.set(4, &folders(2));
        assert_eq!((cache.get(3), cache.get(4)), (None, Some(folders(2))));
        cache.set(5, &folders(MAX_FOLDERS + 1));
        assert_eq!(cache.get(5), None);
    }
}
