//! Collections: their schemas, their items, and queries over them.

mod reading;
pub(crate) mod removal;
pub(crate) mod showing;
mod writing;

mod items;
mod queries;
mod schemas;
pub(crate) mod tables;
