//! Addresses of replicas: where copies of a space are shipped to.

use std::sync::Arc;

use clap::Args;
use leafbase_replica::{DirectoryStore, ReplicaStore};

use crate::error::{CliError, CliResult};

/// The place of a replica.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReplicaAddress {
    /// The place of the replica: a directory, or s3://BUCKET/PREFIX where built with the feature s3
    replica: String,
}

impl ReplicaAddress {
    /// The store at the address. Nothing is read or written yet.
    pub(crate) fn store(&self) -> CliResult<Arc<dyn ReplicaStore>> {
        if let Some(address) = self.replica.strip_prefix("s3://") {
            return s3(address);
        }
        Ok(Arc::new(DirectoryStore::new(&self.replica)))
    }
}

/// A bucket, with the credentials and the endpoint in the variables `AWS_*` of the environment.
#[cfg(feature = "s3")]
fn s3(address: &str) -> CliResult<Arc<dyn ReplicaStore>> {
    let (bucket, prefix) = address.split_once('/').unwrap_or((address, ""));
    Ok(Arc::new(leafbase_replica::ObjectStoreAdapter::s3_from_env(bucket, prefix)?))
}

#[cfg(not(feature = "s3"))]
fn s3(_: &str) -> CliResult<Arc<dyn ReplicaStore>> {
    Err(CliError::usage("this program was built without support for s3")
        .hint("build it with: cargo install leafbase-cli --features s3"))
}
