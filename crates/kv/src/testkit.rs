//! Tools for tests: a conformance suite that every [`Store`](crate::Store) must pass, a simulated
//! disk, and stores on files that a test supplies.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed expectation is how the suite reports a violation"
)]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the random numbers used here are small"
)]

mod access;
mod conformance;
mod disk;
mod disk_files;
mod files;
mod handles;
mod random;
mod threads;

pub use conformance::conformance;
pub use disk::{Disk, Fault, Loss, Moment, WalOnDisk};
pub use disk_files::{DiskDirectory, DiskFiles};
pub use files::{ImageFiles, open_backend, open_backends};
pub use handles::handles;
pub use random::random_operations;

pub use crate::redb_store::creation::{NewDirectory, create_in};
