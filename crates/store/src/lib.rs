//! Where Leafbase keeps a space: ordered keys, records, change log, integrity.
//!
//! It knows no rule: `tree-ops` and `collections` decide, this crate applies.

pub mod directory;
pub mod kv;
