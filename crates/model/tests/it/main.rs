//! Tests of the model through its public face: a module for each noun.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "what fails here is a failed test"
)]

mod api;
mod blocks;
mod change_positions;
mod collections;
mod colors;
mod comments;
mod depth;
mod documents;
mod drafts;
mod edits;
mod embeddings;
mod errors;
mod files;
mod folders;
mod ids;
mod info;
#[cfg(feature = "jiff")]
mod jiff;
#[cfg(feature = "schemars")]
mod nulls;
mod patches;
mod positions;
mod queries;
mod requests;
mod schemas;
mod search;
mod strictness;
mod support;
mod tasks;
mod time;
mod wire;
