//! Collections: their schemas, their items, and queries over them.

pub(crate) mod copying;
pub(crate) mod showing;

mod items;
mod queries;
mod schemas;
pub(crate) mod tables;
