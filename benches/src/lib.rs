//! Benches of Leafbase beside its peers.
