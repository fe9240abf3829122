//! Addresses of replicas: where copies of a space are shipped to.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use leafbase_replica::{DirectoryStore, ReplicaStore};

use crate::context;
use crate::error::{CliError, CliResult};

/// The file without which a directory is not a replica: the first one that is written there.
const MANIFEST: &str = "manifest";

/// The place of a replica.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReplicaAddress {
    /// The directory of the replica
    replica: PathBuf,
}

impl ReplicaAddress {
    /// The store of the replica that is at the address.
    pub(crate) fn store(&self) -> CliResult<Arc<dyn ReplicaStore>> {
        if !self.is_replica() {
            let message = format!("there is no replica at {}", self.replica.display());
            return Err(CliError::not_found(message)
                .hint("ship the changes of a space there: leafbase replicate PATH"));
        }
        Ok(Arc::new(DirectoryStore::new(&self.replica)))
    }

    /// The store at the address, for a new replica or the one that is there.
    pub(crate) fn store_to_write(&self) -> CliResult<Arc<dyn ReplicaStore>> {
        context::check_outside_of_spaces(&self.replica)?;
        let mut entries = fs::read_dir(&self.replica).into_iter().flatten().flatten();
        // A writer that ended before the manifest leaves a hidden lock.
        let is_visible =
            |entry: fs::DirEntry| !entry.file_name().as_encoded_bytes().starts_with(b".");
        if !self.is_replica() && entries.any(is_visible) {
            let message = format!("{} is not empty, and no replica", self.replica.display());
            return Err(CliError::usage(message).hint("name a new directory"));
        }
        Ok(Arc::new(DirectoryStore::new(&self.replica)))
    }

    fn is_replica(&self) -> bool {
        self.replica.join(MANIFEST).is_file()
    }
}
