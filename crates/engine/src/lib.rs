//! Leafbase keeps a space of documents made of blocks: what `SQLite` is to rows, for the documents
//! of note apps.
//!
//! A program links to it; there is no server. A [`Space`] is a directory, or lives in memory. A
//! [`Connection`] to it has one method for each operation.
//!
//! ```
//! use leafbase::{BlockPatch, Fetch, Position, Space};
//! # fn main() -> leafbase::Result<()> {
//! let space = Space::in_memory()?; // or Space::create(path), Space::open(path)
//! let notes = space.connect().acting_as("Ada");
//! let trip = notes.create_document("Trip to Lisbon")?;
//! let added = notes.insert_markdown("## Packing\n\n- [ ] passport", Position::end_of(trip.id()))?;
//! notes.update_markdown(added[1].id, "passport, *the new one*")?;
//! assert_eq!(notes.content_markdown(trip.id())?, "## Packing\n\n- [ ] passport, *the new one*");
//! assert_eq!(notes.fetch(Fetch::new(trip.id()))?.children().len(), 2);
//! # Ok(())
//! # }
//! ```
//!
//! The [`guide`] has a page for each subject, from [spaces](guide::spaces) to
//! [platforms](guide::platforms).
//!
//! # Operations
//!
//! [`guide::operations`] has the JSON of each, too.
//!
//! | To | Use |
//! |---|---|
//! | read | [`fetch`](Connection::fetch), [`fetch_markdown`](Connection::fetch_markdown), [`content_markdown`](Connection::content_markdown) |
//! | write | [`insert_blocks`](Connection::insert_blocks), [`insert_markdown`](Connection::insert_markdown), [`update_blocks`](Connection::update_blocks), [`move_blocks`](Connection::move_blocks), [`delete_blocks`](Connection::delete_blocks) |
//! | make documents | [`create_document`](Connection::create_document), [`create_documents`](Connection::create_documents), [`create_from_template`](Connection::create_from_template) |
//! | find and keep them | [`list_documents`](Connection::list_documents), [`move_documents`](Connection::move_documents), [`delete_documents`](Connection::delete_documents), [`restore_daily_notes`](Connection::restore_daily_notes), [`purge_documents`](Connection::purge_documents) |
//! | order them in folders | [`folders`](Connection::folders), [`create_folders`](Connection::create_folders), [`move_folders`](Connection::move_folders), [`delete_folders`](Connection::delete_folders) |
//! | keep tasks | [`tasks`](Connection::tasks), [`add_tasks`](Connection::add_tasks), [`update_tasks`](Connection::update_tasks), [`delete_tasks`](Connection::delete_tasks) |
//! | keep tables whose rows are pages | [`create_collection`](Connection::create_collection), [`list_collections`](Connection::list_collections), [`collection_schema`](Connection::collection_schema), [`replace_schema`](Connection::replace_schema) |
//! | fill and ask them | [`items`](Connection::items), [`add_items`](Connection::add_items), [`update_items`](Connection::update_items), [`delete_items`](Connection::delete_items), [`query_items`](Connection::query_items), [`count_items`](Connection::count_items) |
//! | remark on blocks | [`add_comments`](Connection::add_comments) |
//! | keep files | [`upload_file`](Connection::upload_file), [`file`](Connection::file), [`open_file`](Connection::open_file) |
//! | know where one is | [`info`](Connection::info) |
//! | search | [`search`](Connection::search), and in one document [`search_blocks`](Connection::search_blocks) |
//! | see what links where | [`document_links`](Connection::document_links) |
//! | follow what happens | [`changes_since`](Connection::changes_since) |
//! | bring notes in and out | [`import_folder`](Connection::import_folder), [`export_folder`](Connection::export_folder) |
//! | show some documents alone | [`Space::scope`], [`Scope::connect`], [`Scope::add`], [`Scope::remove`] |
//! | look after a space | [`check`](Space::check), [`backup_to`](Space::backup_to), [`salvage`](Space::salvage), [`compact`](Space::compact), [`stats`](Space::stats), [`rebuild_search`](Space::rebuild_search) |
//!
//! # Scopes
//!
//! [`Space::scope`] is some documents, and [`Scope::connect`] gives a [`Connection`] that sees
//! these and not a trace of the rest. It has the operations on blocks, collections, comments, files
//! and searches, and lists its documents; those on folders, tasks, daily notes, the trash and the
//! space itself do not exist on its type:
//!
//! ```compile_fail
//! # let space = leafbase::Space::in_memory().unwrap();
//! space.scoped([]).create_document("Trip");
//! ```
//!
//! What is hidden, in the trash or purged is answered like what never was. A link to it is shown as
//! `invalid:out_of_scope#N`, which stands for it when the text is written back. A relation to a
//! collection that is not seen does not exist for the connection, and survives what it writes.
//! Searches find, rank and count by what is seen alone. How long a call takes is not hidden.
//!
//! # Threads
//!
//! [`Space`] and [`Connection`] are cheap to clone, and every clone may be used on its own thread.
//! Any number of threads read while one writes; a second writer waits. A read sees one state from
//! beginning to end. One process at a time has a directory open.
//!
//! Calls block: a read for as long as it takes, a durable write until the disk has it. There is no
//! runtime, and no thread of Leafbase's own before the first search of a space: that starts one
//! which keeps the search index up, and while the index is written it has threads of its own. With
//! [`SearchIndexing::OnDemand`] none outlives a call. An async host calls from where blocking is
//! allowed, such as `tokio::task::spawn_blocking`, with a clone of the connection.
//!
//! # Errors
//!
//! Every operation returns the one [`Error`]: a stable [`ErrorKind`] to match on, a sentence, and
//! the path of what is wrong in the request (`blocks[3].color`). Every call is one transaction:
//! after an error nothing of it has happened, or the message says otherwise.
//! [`Error::is_retryable`] tells whether the same call may succeed later. Damage and bad input are
//! errors, never panics.
//!
//! # JSON
//!
//! Requests, replies, errors and the change feed are serde types, so that a host that speaks HTTP,
//! MCP or IPC needs no mapping. Read what comes from outside with [`Space::read_json`]: it holds
//! what it reads to the space's [`Limits`], reads any nesting that these allow, and its errors have
//! the path apart. `serde_json::from_str` reads the same types, but no more than 128 levels of
//! JSON, and gives its own error.
//!
//! # Durability
//!
//! By default a write that has returned survives the loss of power. With [`Durability::Relaxed`] it
//! is seen by everyone at once, but survives only once a later durable write, [`Space::flush`] or
//! [`Space::close`] has returned; a crash before takes the last relaxed writes, all after one
//! point, and never half of one.
//!
//! # Where to look next
//!
//! [`Space::builder`] has the options: durability, [`Limits`], time zone, and the [`Clock`] and
//! [`IdSource`] that a test replaces. [`Position`] says where blocks go, [`BlockKind`] what they
//! can be, and the example `tour` shows all of it in one program.

pub mod guide;

/// Parsing of requests from JSON text.
pub mod json {
    pub use leafbase_model::json::{FromJson, from_str};
}

/// The key-value trait that a space is stored in, for hosts that bring their own store
/// ([`SpaceBuilder::over`]).
pub mod kv {
    pub use leafbase_store::kv::{
        Durability, KeyRange, MemoryStore, Read, Snapshot, Store, Transaction, Visit, VisitMany,
        WriteOptions,
    };
}

mod operations;

mod core;

mod support;

pub use self::core::access::{AccessScope, Full, Scoped};
pub use self::core::connection::Connection;
pub use self::core::progress::Progress;
pub use self::core::scope::Scope;
#[cfg(feature = "testkit")]
#[doc(hidden)]
pub use self::core::search_index::Device;
#[cfg(feature = "search")]
pub use self::core::search_index::SearchIndexing;
pub use self::core::space::{Space, SpaceBuilder};
pub use leafbase_model::{
    AddComments, AddItems, AddTasks, AddedComment, AssetId, AssetRecord, AssetUrl, Author, Block,
    BlockData, BlockDraft, BlockFields, BlockId, BlockKind, BlockLayout, BlockMatch, BlockPatch,
    BlockType, BuiltInLocation, CardLayout, Change, Clock, CodeLanguage, Collection,
    CollectionSchema, Color, Comment, CommentDraft, CommentId, Condition, ConnectionInfo, Content,
    ContentProperty, ContentPropertyDraft, ContextBlock, CountItems, CreateCollection,
    CreateDocuments, CreateFolders, CreateFromTemplate, Day, DayRange, DayRef, Decorations,
    DeleteBlocks, DeleteDocuments, DeleteFolders, DeleteItems, DeleteTasks, Destination, Detail,
    Direction, Document, DocumentFilter, DocumentFilterMode, DocumentId, DocumentOrder,
    DocumentRecord, Edge, Edit, Error, ErrorKind, Fetch, FetchFrom, Folder, FolderDestination,
    FolderDraft, FolderId, FolderRecord, FolderRef, Font, GetItems, GetSchema, GroupValue,
    IdSource, InsertBlocks, InsertSource, Item, ItemCounts, ItemDraft, ItemFields, ItemFilter,
    ItemGroup, ItemUpdate, ItemValue, ItemValues, Items, ItemsPage, Limits, LineStyle,
    ListCollections, ListDocuments, ListScopedDocuments, ListStyle, ListTasks, Location, MediaSize,
    MediaWidth, Metadata, MoveBlocks, MoveDocuments, MoveFolders, Operator, Paging, PathStep,
    Position, PositionTarget, Properties, Property, PropertyChange, PropertyDraft, PropertyKey,
    PropertyKind, PropertyType, PropertyValue, PurgeDocuments, QueryItems, RelatedItem, Relation,
    ReplaceSchema, RestoreDailyNotes, Result, Schema, SchemaDraft, SchemaFormat, SchemaReply,
    ScopedChange, ScopedDocument, SearchBlocks, SearchDocuments, SearchMatch, SelectOption,
    SharedText, Side, Sort, SpaceId, SpaceInfo, Stamp, Task, TaskDestination, TaskDraft, TaskInfo,
    TaskLocation, TaskPatch, TaskScope, TaskState, TaskUpdate, TermMode, TextAlignment, TextFormat,
    TextStyle, Timestamp, UpdateBlocks, UpdateItems, UpdateTasks, UploadFile, UploadedFile,
    UrlTemplates, UtcInfo,
};
#[cfg(feature = "testkit")]
#[doc(hidden)]
pub use leafbase_search::Shelf;
pub use leafbase_store::kv::Durability;
pub use leafbase_store::{
    CheckReport, Loss, LossKind, Problem, SalvageReport, Saved, SpaceMeta, SpaceStats,
};
pub use operations::changes::{Changes, ScopedChanges};
pub use operations::files::FileReader;
pub use operations::links::{DocumentLinks, Link};
pub use operations::transfer::{
    Adaptation, AdaptationKind, ExportOptions, ExportReport, ImportOptions, ImportReport,
    ImportSource, MemorySource, Skipped, SourceEntry,
};
pub use support::clock::SystemClock;
pub use support::ids::RandomIds;
