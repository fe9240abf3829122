//! Collections in their trees: what goes with items, collections and documents that go, what may
//! stand where, how collections are read as blocks and as markdown, and copies. After every step
//! the space checks out and both ends of each relation say the same.

mod removal;
mod rules;
mod shelves;
mod tables;
mod templates;
mod undoing;
