//! Storage of a space: keyspaces, records, transactions, the change log, checks and salvage.
//!
//! It knows no rules: `tree-ops` and `collections` decide, this crate applies their edits.

pub mod directory;
#[cfg(feature = "testkit")]
pub mod rows;
#[cfg(feature = "testkit")]
pub mod testkit;

mod index_bitmap;
pub use leafbase_kv as kv;

mod keyspaces;
mod msgpack;
mod order_key;
mod records;
mod run;

mod backup;
mod change_parts;
mod change_row;
mod check;
mod compaction;
mod document_index;
mod edges;
mod embeddings;
mod file_hasher;
mod handle_cache;
mod hash_parts;
mod items;
mod location_cache;
mod location_hints;
mod log_retention;
mod lookup;
mod progress;
mod reader;
mod salvage;
mod space_store;
mod tags;
mod tasks;
mod transaction;
mod uploads;
mod write_plan;

pub use change_row::ChangeRow;
pub use check::{CheckReport, Invariant, Problem};
pub use edges::{
    BackLink, EdgeEnd, EdgeExtractor, EdgeKind, EdgeTarget, Extractor, KeyExtractor, TagExtractor,
};
pub use embeddings::{QuantizedVector, StoredEmbedding};
pub use file_hasher::FileHasher;
pub use hash_parts::hash_parts;
pub use index_bitmap::IndexBitmap;
pub use log_retention::LogRetention;
pub use progress::ProgressFn;
pub use reader::{
    BlockText, BundleDigest, CollectionEntry, CountedTag, DocumentHistory, DocumentPage,
    DocumentQuery, DocumentTasks, EmbeddedRevs, IndexOrder, IndexedColumn, ItemIndex, ItemRow,
    PageCursor, RawText, RowOptions, RowRelations, RowValue, RowValues, SpaceReader, Span,
    StoredText, SubtreeText, SubtreeTexts, TaggedBlock, TaskPage, TaskRow, TextRun, ValueAt,
    ValueView, Within,
};
pub use records::document::StoredDocument;
pub use records::embeddings::{EmbeddingBundle, EmbeddingEntry, EmbeddingModelRecord};
pub use records::listed_task::task_location;
pub use records::meta::SpaceMeta;
pub use records::reply::KeptReply;
pub use salvage::{Loss, LossKind, SalvageOptions, SalvageReport, Saved, salvage};
pub use space_store::{SpaceSnapshot, SpaceStats, SpaceStore, WriteOutcome};
pub use transaction::SpaceTransaction;
pub use uploads::{CHUNK_BYTES, MAX_UPLOAD_SILENCE_MILLIS};
pub use write_plan::WritePlan;
