//! Tests over a PostgreSQL server of their own.

mod conformance;
mod copies;
mod faults;
mod hosts;
mod proxy;
mod requests;
mod round_trips;
mod server;
