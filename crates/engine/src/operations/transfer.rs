//! Import and export: folders of markdown files become documents, and a space becomes such a folder
//! again.
//!
//! What decides (names, front matter, links, anchors) reads and writes nothing; `source` and
//! `folder_writer` are the only files here that touch a file system. An export that is imported and
//! exported again is the same to the byte.

mod report;

mod front_matter;
mod names;
mod titles;
mod urls;

mod verbatim;

mod html;
mod wiki;

mod anchors;
mod attachable;
mod rewriting;
mod targets;

mod file_names;
mod showing;

mod source;

mod notes;
mod plan;
mod reading;

mod steps;

mod attaching;
mod landing;

mod batch;
mod incoming;
mod settling;

mod import;

mod attachments;
mod layout;
mod outgoing;
mod readback;

mod folder_writer;

mod export;

pub use report::{
    Adaptation, AdaptationKind, ExportOptions, ExportReport, ImportOptions, ImportReport, Skipped,
};
pub use source::{ImportSource, MemorySource, SourceEntry};
