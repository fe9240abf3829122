//! The nouns of Leafbase: typed IDs, block types, positions, edits, limits and the wire JSON.
//!
//! Nothing here does I/O or reads the clock. What JSON looks like is decided here and nowhere else: reading is
//! strict and names the path of what is wrong (`blocks[3].listStyle`), writing leaves defaults out.

mod error;
mod limits;

//mod color;
//mod id;
//mod time;

//mod block;
//mod fields;
//mod properties;
//mod task;

//mod draft;
//mod patch;
//mod position;

//mod document;
//mod folder;

//mod change;
//mod edit;

//pub mod json;
//mod requests;

pub use error::{Detail, Error, ErrorKind, Result};
pub use limits::Limits;
