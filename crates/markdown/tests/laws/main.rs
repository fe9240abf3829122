//! The laws of the dialect, over generated blocks and texts, over inputs for each section of the
//! standard, and over real files where they are at hand. Each law also runs on a deliberately
//! broken dialect, which must fail it.

#![expect(clippy::panic, clippy::unwrap_used, reason = "what fails here is a failed test")]

mod dialect;
mod generate;
mod inputs;

mod bounds;
mod controls;
mod edits;
mod exact;
mod forging;
mod halves;
mod round_trip;
mod source_layout;
mod stable;
mod standard;
mod words;
