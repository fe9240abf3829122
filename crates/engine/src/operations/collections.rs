//! Collections: schemas, items, and queries over items.

pub(crate) mod clones;
pub(crate) mod presenter;

mod items;
mod queries;
mod schemas;
pub(crate) mod tables;
