//! What a Leafbase block tree allows: reads through a trait, returns edits. It writes nothing.

mod read;

pub use read::{Located, ReadTree};
