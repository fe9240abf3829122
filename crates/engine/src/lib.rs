//! Leafbase keeps a space of documents made of blocks: what SQLite is to rows, for the documents of note apps.
//!
//! A program links to it; there is no server. A [`Space`] is a directory (or lives in memory), a [`Connection`] has one
//! method for each operation.

mod clock;
mod days;
mod drafts;
mod ids;
mod links;
mod prepare;
mod rendered;
mod sight;
mod tree;

mod space;

mod connection;

mod blocks;
mod changes;
mod documents;
mod folders;

mod transfer;

pub use changes::Changes;
pub use clock::SystemClock;
pub use connection::Connection;
pub use ids::RandomIds;
pub use leafbase_model::*;
pub use leafbase_store::kv::Durability;
pub use leafbase_store::{CheckReport, Problem, SpaceMeta, Stats};
pub use sight::{Full, Sight};
pub use space::{Progress, Space, SpaceBuilder};
pub use transfer::{
    Adaptation, AdaptationKind, ExportOptions, ExportReport, ImportOptions, ImportReport, ImportSource, MemorySource,
    Skipped, SourceEntry,
};
