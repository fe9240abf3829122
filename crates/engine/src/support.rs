//! What everything else builds on, and which knows nothing of a space: the system's clock,
//! randomness, days in a time zone, threads.

pub(crate) mod clock;
pub(crate) mod days;
pub(crate) mod ids;
pub(crate) mod named_thread;
#[cfg(feature = "search")]
pub(crate) mod shares;
