//! Pairs of spaces that agree on what a scope shows and differ in the rest. The tests that they are
//! made for stand beside them.

#[path = "../tests/scope/caller.rs"]
pub mod caller;
#[path = "../tests/scope/calls.rs"]
pub mod calls;
#[path = "../tests/scope/dice.rs"]
pub mod dice;
#[path = "../tests/scope/hidden.rs"]
pub mod hidden;
#[path = "../tests/scope/leak.rs"]
pub mod leak;
#[path = "../tests/scope/logs.rs"]
pub mod logs;
#[path = "../tests/scope/pair.rs"]
pub mod pair;
#[path = "../tests/scope/present.rs"]
pub mod present;
#[path = "../tests/scope/projection.rs"]
pub mod projection;
#[path = "../tests/scope/stories.rs"]
pub mod stories;
#[path = "../tests/scope/world.rs"]
pub mod world;
