//! Collections: their schemas, their items, and queries over them.

pub(crate) mod copying;
pub(crate) mod hidden;
mod reading;
pub(crate) mod removal;
pub(crate) mod showing;
mod writing;

mod items;
mod queries;
mod schemas;
pub(crate) mod tables;
pub(crate) mod verifying;
