//! Import and export: a folder of markdown files becomes documents, and a space becomes such a
//! folder again.
//!
//! Decisions (names, links, anchors, front matter) do no I/O; `folder.rs` alone accesses a file
//! system. An export that is imported and exported again is identical to the byte.

mod file_names;
mod link_paths;
mod markdown_file;
mod report;

mod folder;

mod export;
mod import;

pub use folder::{ImportSource, MemorySource, SourceEntry};
pub use report::{
    ExportOptions, ExportReport, ImportOptions, ImportReport, Skipped, VaultWarning,
    VaultWarningKind,
};
