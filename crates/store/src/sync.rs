//! What threads share of the location cache: of the standard library, or with `--cfg shuttle` of
//! shuttle, whose schedules `location_cache/schedules.rs` explores.

#[cfg(shuttle)]
pub(crate) use shuttle::sync::{RwLock, atomic::AtomicU64};
#[cfg(not(shuttle))]
pub(crate) use std::sync::{RwLock, atomic::AtomicU64};
