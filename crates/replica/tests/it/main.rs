//! Replicas of spaces that random programs write.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "test helpers are not test functions"
)]

mod dump;
mod programs;
mod stores;

mod damage;
mod followers;
mod leaders;
#[cfg(feature = "object-store")]
mod object_stores;
mod purges;
mod restores;
#[cfg(feature = "object-store")]
mod store_laws;
