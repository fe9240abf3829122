//! Addresses of replicas: where copies of a space are shipped to.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use leafbase_replica::{DirectoryStore, ReplicaStore};

/// The place of a replica.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReplicaAddress {
    /// The directory of the replica
    replica: PathBuf,
}

impl ReplicaAddress {
    /// The store at the address. Nothing is read or written yet.
    pub(crate) fn store(&self) -> Arc<dyn ReplicaStore> {
        Arc::new(DirectoryStore::new(&self.replica))
    }
}
