//! Spaces that trials are made on: on simulated disks, with time and IDs that are the same for the
//! same seed, and work to do on them.

pub mod calls;
pub mod machine;
pub mod scan;
pub mod work;
