//! Tests over a `PostgreSQL` server of their own.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "test helpers are not test functions"
)]

mod conformance;
mod copies;
mod faults;
mod hosts;
mod proxy;
mod requests;
mod round_trips;
mod server;
