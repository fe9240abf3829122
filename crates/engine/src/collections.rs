//! Collections: their schemas, their items, and queries over them.

mod reading;
mod removal;
mod showing;
mod writing;

mod items;
mod queries;
mod schemas;
mod tables;
