//! Comments on blocks.
