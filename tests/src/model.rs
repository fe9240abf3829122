//! The engine beside the naive model: pairs of the two, and random sequences of requests to both.

pub mod pair;
pub mod sequences;

mod canonical;
mod dumps;
mod engine;
pub use engine::operation;
mod naive;
mod twice;
