//! Scoped connections: that nothing of the rest of a space can be told from them, and that they change nothing in it.

#[path = "scope/caller.rs"]
mod caller;
#[path = "scope/calls.rs"]
mod calls;
#[path = "scope/counting.rs"]
mod counting;
#[path = "scope/dice.rs"]
mod dice;
#[path = "scope/hidden.rs"]
mod hidden;
#[path = "scope/logs.rs"]
mod logs;
#[path = "scope/lookups.rs"]
mod lookups;
#[path = "scope/oracles.rs"]
mod oracles;
#[path = "scope/pair.rs"]
mod pair;
#[path = "scope/pairs.rs"]
mod pairs;
#[path = "scope/present.rs"]
mod present;
#[path = "scope/projection.rs"]
mod projection;
#[path = "scope/surface.rs"]
mod surface;
#[path = "scope/table.rs"]
mod table;
#[path = "scope/world.rs"]
mod world;
