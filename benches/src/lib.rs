//! What the benches share: the generated workload, block order keys, an expert's `SQLite`, and the
//! board that keeps interleaved rounds and prints medians.

pub mod baseline;
pub mod cold;
pub mod comparison;
pub mod measure;
pub mod order;
pub mod ratio;
pub mod saved;
pub mod section;

pub mod workload;
