//! Documents: made, listed, put away and brought back.

mod creating;
mod library;
mod listing;
mod places;
mod updating;

pub use library::Library;
