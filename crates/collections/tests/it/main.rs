//! Tests of what collections allow, over generated schemas, items, relations and queries.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "what fails here is a failed test"
)]
#![allow(clippy::needless_pass_by_value, reason = "JSON is written where it is passed")]

mod bounds;
mod constraints;
mod json_schema;
mod memory;
mod query;
mod relations;
mod replace;
mod support;
