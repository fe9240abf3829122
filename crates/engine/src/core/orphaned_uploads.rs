//! Uploads that failed and whose bytes are still stored.

use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use leafbase_model::AssetId;
use leafbase_store::SpaceStore;
use leafbase_store::kv::{Durability, WriteOptions};

/// Uploads that failed and whose bytes could not be dropped, usually because the disk is full.
/// Uploads orphaned by a crash are swept when the space is opened.
#[derive(Debug, Default)]
pub(crate) struct OrphanedUploads(Mutex<Vec<AssetId>>);

impl OrphanedUploads {
    fn uploads(&self) -> MutexGuard<'_, Vec<AssetId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, upload: AssetId) {
        self.uploads().push(upload);
    }

    /// Drops the uploads from `store` until one fails: if the disk is still full, the next ones
    /// would fail as well.
    pub(crate) fn drop_from(&self, store: &SpaceStore) {
        // Taken out of the mutex: dropping writes to the store, and other threads may add more.
        let mut uploads = mem::take(&mut *self.uploads());
        while let Some(upload) = uploads.pop() {
            let options = WriteOptions::durability(Durability::Relaxed);
            if let Err(error) = store.drop_upload(options, upload) {
                // The error's text may name an upload that this call must not see: log its kind.
                let kind = error.kind();
                tracing::debug!(?kind, "the bytes of a failed upload cannot be dropped yet");
                uploads.push(upload);
                break;
            }
        }
        // Appended, not assigned: another thread may have added uploads in the meantime.
        self.uploads().append(&mut uploads);
    }
}
