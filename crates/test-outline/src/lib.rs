//! A text language for block trees, a naive model to compare with, and random operations: for tests
//! and fuzz only.
//!
//! An outline has a line for each block, two spaces for each level:
//!
//! ```
//! use leafbase_test_outline::{NaiveSpace, Outline};
//! let text = r#"
//! page "Trip"
//!   page "Packing" style=card card=small #p
//!     text "socks" list=task task=done
//!   code code="let x = 1;" lang=rust
//! "#;
//! let outline = Outline::parse(text).unwrap();
//! assert_eq!(Outline::print(&outline), text.trim_start());
//! let (space, labels) = NaiveSpace::from_outline(text).unwrap();
//! assert_eq!(space.outline(&labels), text.trim_start());
//! ```
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::unwrap_used,
    reason = "what tests rely on says by a panic that it was used wrongly"
)]

mod attributes;
mod outline;
mod properties;
mod words;

mod broken;
mod naive;
mod naive_apply;
mod naive_blocks;
mod naive_collections;
mod naive_comments;
mod naive_copies;
mod naive_days;
mod naive_documents;
mod naive_files;
mod naive_folders;
mod naive_items;
mod naive_queries;
mod naive_read;
mod naive_relations;
mod naive_rules;
mod naive_schemas;
mod naive_tags;
mod naive_tasks;
mod naive_updates;
mod naive_values;

mod numbers;
mod ops;
mod sources;

pub use attributes::{Change, change, fields};
pub use broken::Broken;
pub use naive::{NaiveBlock, NaiveDocument, NaiveFile, NaiveSpace};
pub use naive_relations::{NaiveEnd, NaiveRelation};
pub use numbers::Numbers;
pub use ops::{
    BlockRequest, CollectionRequest, CommentRequest, DocumentRequest, FileRequest, FolderRequest,
    Request, Setting, TaskRequest, small_limits,
};
pub use outline::{Labels, Outline, ParseError};
pub use sources::{FixedClock, SequentialIds, stamp};
