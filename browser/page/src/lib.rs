//! Notes in a browser page: a space in memory, without the feature `search`, whose entries the page
//! keeps.

#[cfg(target_family = "wasm")]
mod exports;
mod notes;

pub use notes::Notes;
