//! The operations: one file for each noun. Each adds its methods to
//! [`Connection`](crate::Connection), or to [`Space`](crate::Space).

pub(crate) mod batches;
pub(crate) mod block_markdown;
pub(crate) mod blocks;
pub(crate) mod bulk;
pub(crate) mod changes;
pub(crate) mod collections;
pub(crate) mod comments;
pub(crate) mod cursor_text;
pub(crate) mod documents;
pub(crate) mod drafts;
pub(crate) mod echo;
pub(crate) mod embeddings;
pub(crate) mod files;
pub(crate) mod flat_blocks;
pub(crate) mod folders;
pub(crate) mod history;
pub(crate) mod id_prefixes;
pub(crate) mod info;
pub(crate) mod links;
pub(crate) mod list_patch;
pub(crate) mod lookups;
pub(crate) mod normalize;
pub(crate) mod page_markdown;
pub(crate) mod ranges;
pub(crate) mod replacements;
pub(crate) mod rewrite;
mod search;
pub(crate) mod settings;
pub(crate) mod tags;
pub(crate) mod tasks;
pub(crate) mod templates;
pub(crate) mod text_edits;
pub(crate) mod undo;

pub(crate) mod watch;
