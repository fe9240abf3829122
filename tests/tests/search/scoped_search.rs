//! Searches of a scoped connection: what it does not see is neither found nor counted, and nothing
//! tells of it.

mod links;
mod random;
mod rules;
