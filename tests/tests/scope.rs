//! Scoped connections: that nothing of the rest of a space can be told from them, and that they change nothing in it.

use tests::scope::*;

#[path = "scope/counting.rs"]
mod counting;
#[path = "scope/lookups.rs"]
mod lookups;
#[path = "scope/oracles.rs"]
mod oracles;
#[path = "scope/pairs.rs"]
mod pairs;
#[path = "scope/surface.rs"]
mod surface;
#[path = "scope/table.rs"]
mod table;
