//! Copies of a [`leafbase`] space that follow it through a directory or an object store.
//!
#![doc = include_str!("../README.md")]

/// The guide: concepts and guarantees. Its code runs as tests.
pub mod guide {
    #[doc = include_str!("../guide/replicas.md")]
    pub mod replicas {}
}

mod parts;
mod store;

mod directory_store;
#[cfg(feature = "object-store")]
mod object_store_adapter;

mod frames;
mod manifest;

mod apply;
mod restore;

mod leader;
mod leader_options;
mod lease;
mod log_continuation;
mod snapshots;

mod follower;

pub use apply::RestorePoint;
pub use directory_store::DirectoryStore;
pub use follower::Follower;
pub use leader::{Leader, Shipment};
pub use leader_options::LeaderOptions;
#[cfg(feature = "object-store")]
pub use object_store_adapter::ObjectStoreAdapter;
pub use restore::restore;
pub use store::{ObjectVersion, ReplicaStore, StoredObject};
