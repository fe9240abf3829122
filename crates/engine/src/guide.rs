//! The guide: concepts and guarantees, one page per subject. Its code runs as tests.
//!
//! Read [`spaces`], [`blocks`] and [`positions`] first; the rest as it is needed. [`operations`]
//! has every operation with its request, its reply and its JSON, and [`costs`] what each costs.

#![allow(clippy::doc_markdown, reason = "the pages name formats and products in plain words")]

#[doc = include_str!("../guide/spaces.md")]
pub mod spaces {}

#[doc = include_str!("../guide/blocks.md")]
pub mod blocks {}

#[doc = include_str!("../guide/positions.md")]
pub mod positions {}

#[doc = include_str!("../guide/markdown.md")]
pub mod markdown {}

#[cfg(feature = "search")]
#[doc = include_str!("../guide/search.md")]
pub mod search {}

#[doc = include_str!("../guide/collections.md")]
pub mod collections {}

#[doc = include_str!("../guide/scopes.md")]
pub mod scopes {}

#[doc = include_str!("../guide/operations.md")]
pub mod operations {}

#[doc = include_str!("../guide/costs.md")]
pub mod costs {}

#[doc = include_str!("../guide/semantics.md")]
pub mod semantics {}

#[doc = include_str!("../guide/durability.md")]
pub mod durability {}

#[doc = include_str!("../guide/concurrency.md")]
pub mod concurrency {}

#[doc = include_str!("../guide/batches.md")]
pub mod batches {}

#[doc = include_str!("../guide/undo.md")]
pub mod undo {}

#[doc = include_str!("../guide/views.md")]
pub mod views {}
#[doc = include_str!("../guide/links.md")]
pub mod links {}

#[doc = include_str!("../guide/tags.md")]
pub mod tags {}

#[doc = include_str!("../guide/editors.md")]
pub mod editors {}

#[doc = include_str!("../guide/async_hosts.md")]
pub mod async_hosts {}

#[doc = include_str!("../guide/backup.md")]
pub mod backup {}

#[doc = include_str!("../guide/format.md")]
pub mod format {}

#[doc = include_str!("../guide/embedding.md")]
pub mod embedding {}

#[doc = include_str!("../guide/platforms.md")]
pub mod platforms {}
