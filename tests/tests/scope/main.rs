//! Scoped connections: that nothing of the rest of a space can be told from them, and that they
//! change nothing in it.

use tests::scope::*;

mod counting;
mod faults;
mod lookups;
mod oracles;
mod page_scopes;
mod pairs;
mod scope_kinds;
mod scoped_collections;
mod scoped_links;
mod scoped_undo;
mod scopes;
mod searches;
mod surface;
mod table;
