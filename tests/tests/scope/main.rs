//! Scoped connections: that nothing of the rest of a space can be told from them, and that they change nothing in it.

mod caller;
mod calls;
mod counting;
mod dice;
mod faults;
mod hidden;
mod logs;
mod lookups;
mod oracles;
mod pair;
mod pairs;
mod present;
mod projection;
mod scoped_collections;
mod scoped_links;
mod scopes;
mod searches;
mod surface;
mod table;
mod world;
