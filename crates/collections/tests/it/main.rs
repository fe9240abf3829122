//! Tests of what collections allow, over generated schemas, items, relations and queries.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "what fails here is a failed test")]

mod json_schema;
mod memory;
mod relations;
mod support;
