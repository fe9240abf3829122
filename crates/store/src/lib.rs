//! Where Leafbase keeps a space: ordered keys, records, change log, integrity.
//!
//! It knows no rule: `tree-ops` and `collections` decide, this crate applies.

pub mod directory;
#[cfg(feature = "testkit")]
pub mod rows;
#[cfg(feature = "testkit")]
pub mod testkit;

pub use leafbase_kv as kv;

mod keyspaces;
mod msgpack;
mod order_key;
mod records;
mod run;
mod signature;

mod backup;
mod check;
mod edges;
mod items;
mod lookup_cache;
mod packing;
mod reader;
mod salvage;
mod space_store;
mod tasks;
mod transaction;
mod uploads;

pub use check::{CheckReport, Law, Problem};
pub use edges::{BackLink, EdgeEnd, EdgeExtractor, EdgeKind, EdgeTarget, Extractor, KeyExtractor};
pub use reader::{
    BlockText, CollectionEntry, Cursor, DocumentPage, DocumentQuery, IndexedColumn, ItemIndex,
    ItemRow, Order, Reader, RowOptions, RowRelations, RowValue, RowValues, Sieve, SievedTexts,
    Span, StoredText, TaskPage, TextBlock, TextVisitor, Texts, ValueAt, ValueView, Within,
};
pub use salvage::{Loss, LossKind, SalvageOptions, SalvageReport, Saved, salvage};
pub use signature::Signature;
pub use space_store::{Progress, SpaceMeta, SpaceSnapshot, SpaceStore, Stats, Written};
pub use transaction::SpaceTransaction;
pub use uploads::CHUNK_BYTES;
