//! What every operation goes through: the space, connections and their transactions, visibility,
//! redaction, cascades, and the search index.
//!
//! Nothing here imports an operation.

pub(crate) mod connection;
pub(crate) mod scope;
pub(crate) mod search_index;
pub(crate) mod sight;
pub(crate) mod space;
pub(crate) mod tree;
pub(crate) mod upkeep;
