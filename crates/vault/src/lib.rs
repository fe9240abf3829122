//! Folders of markdown in and out of a [`leafbase`] space.
//!
//! Decisions (names, links, anchors, front matter) do no I/O; `folder.rs` and
//! `mirror/files.rs` alone access a file system.
//!
#![doc = include_str!("../README.md")]

/// The guide: concepts and guarantees. Its code runs as tests.
pub mod guide {
    #[doc = include_str!("../guide/mirror.md")]
    pub mod mirror {}
}

mod file_names;
mod link_paths;
mod logseq_ids;
mod markdown_file;
mod report;
mod task_dates;

mod folder;

mod export;
mod import;

mod mirror;

pub use export::export_folder;
pub use folder::{ImportSource, MemorySource, SourceEntry};
pub use import::import_from;
pub use mirror::files::{FileListing, FileStat, MirrorFiles};
pub use mirror::folder_import::import_folder;
pub use mirror::options::{MirrorOptions, MirrorReport};
pub use mirror::{mirror, mirror_files};
pub use report::{
    ExportOptions, ExportReport, ImportOptions, ImportReport, LinkStyle, MirrorChange,
    MirrorChangeKind, Skipped, VaultWarning, VaultWarningKind,
};
pub use task_dates::TaskDates;
