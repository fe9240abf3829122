//! Leafbase is an embedded database of documents made of blocks: `SQLite` for the documents of note
//! apps.
//!
//! A program links to it; there is no server. A [`Space`] is a directory, or lives in memory. A
//! [`Connection`] to it has one method per operation.
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
//! The [`guide`] has a page per subject, from [spaces](guide::spaces) to
//! [platforms](guide::platforms).
//!
//! # Operations
//!
//! [`guide::operations`] has the JSON of each.
//!
//! | To | Use |
//! |---|---|
//! | read | [`fetch`](Connection::fetch), [`fetch_markdown`](Connection::fetch_markdown), [`content_markdown`](Connection::content_markdown) |
//! | write | [`insert_blocks`](Connection::insert_blocks), [`insert_markdown`](Connection::insert_markdown), [`update_blocks`](Connection::update_blocks), [`move_blocks`](Connection::move_blocks), [`delete_blocks`](Connection::delete_blocks) |
//! | edit texts as keys do | [`split_block`](Connection::split_block), [`merge_block`](Connection::merge_block), [`indent_blocks`](Connection::indent_blocks), [`replace_text`](Connection::replace_text), [`duplicate_blocks`](Connection::duplicate_blocks), [`shift_blocks`](Connection::shift_blocks), [`sort_blocks`](Connection::sort_blocks) |
//! | bring back edited markdown | [`apply_markdown`](Connection::apply_markdown), [`edit_markdown`](Connection::edit_markdown) |
//! | make documents | [`create_document`](Connection::create_document), [`create_documents`](Connection::create_documents), [`create_from_template`](Connection::create_from_template) |
//! | find and keep them | [`list_documents`](Connection::list_documents), [`move_documents`](Connection::move_documents), [`update_documents`](Connection::update_documents), [`delete_documents`](Connection::delete_documents), [`restore_daily_notes`](Connection::restore_daily_notes), [`purge_documents`](Connection::purge_documents) |
//! | order them in folders | [`folders`](Connection::folders), [`create_folders`](Connection::create_folders), [`move_folders`](Connection::move_folders), [`update_folders`](Connection::update_folders), [`delete_folders`](Connection::delete_folders) |
//! | keep tasks | [`tasks`](Connection::tasks), [`add_tasks`](Connection::add_tasks), [`update_tasks`](Connection::update_tasks), [`delete_tasks`](Connection::delete_tasks) |
//! | keep tables whose rows are pages | [`create_collection`](Connection::create_collection), [`list_collections`](Connection::list_collections), [`collection_schema`](Connection::collection_schema), [`replace_schema`](Connection::replace_schema) |
//! | fill and ask them | [`items`](Connection::items), [`add_items`](Connection::add_items), [`update_items`](Connection::update_items), [`delete_items`](Connection::delete_items), [`query_items`](Connection::query_items), [`count_items`](Connection::count_items) |
//! | remark on blocks | [`add_comments`](Connection::add_comments), [`list_comments`](Connection::list_comments), [`update_comments`](Connection::update_comments), [`delete_comments`](Connection::delete_comments) |
//! | keep files | [`upload_file`](Connection::upload_file), [`file`](Connection::file), [`open_file`](Connection::open_file) |
//! | know where one is | [`info`](Connection::info) |
//! | search | [`search`](Connection::search) for documents, [`search_blocks`](Connection::search_blocks) for blocks |
//! | search by vectors of a model | [`put_embeddings`](Connection::put_embeddings), [`missing_embeddings`](Connection::missing_embeddings), [`embeddings`](Connection::embeddings), [`remove_embeddings`](Connection::remove_embeddings), [`embedding_models`](Connection::embedding_models) |
//! | tag them | [`list_tags`](Connection::list_tags), [`document_properties`](Connection::document_properties) |
//! | see what links where | [`back_links`](Connection::back_links), [`unlinked_mentions`](Connection::unlinked_mentions), [`resolve_embeds`](Connection::resolve_embeds), [`document_links`](Connection::document_links) |
//! | copy each write to another space | [`change_rows`](Connection::change_rows), [`Space::follow`]; the crate `leafbase-replica` ships them |
//! | follow what happens | [`changes_since`](Connection::changes_since), [`wait_for`](Connection::wait_for), [`watch`](Connection::watch) |
//! | bring notes in and out | the crate `leafbase-vault`: folders of markdown; [`bulk`] and [`markdown`] for other formats |
//! | undo and redo | [`Connection::undo`], [`Connection::undo_manager`] |
//! | see what was | [`Connection::history`], [`Connection::document_at`], [`Connection::restore`] |
//! | show some documents alone | [`Space::scope`], [`Space::folder_scope`], [`Space::page_scope`], [`Scope::connect`], [`Scope::add`], [`Scope::remove`], [`Scope::read_only`] |
//! | look after a space | [`check`](Space::check), [`backup_to`](Space::backup_to), [`salvage`](Space::salvage), [`compact`](Space::compact), [`stats`](Space::stats), [`rebuild_search`](Space::rebuild_search) |
//!
//! # Scopes
//!
//! [`Space::scope`] is a set of documents, and [`Scope::connect`] returns a [`Connection`] to which
//! nothing else exists. It has the operations on blocks, collections, comments, files and searches,
//! and lists its documents. The operations on folders, tasks, daily notes, the trash and the space
//! do not exist on its type:
//!
//! ```compile_fail
//! # let space = leafbase::Space::in_memory().unwrap();
//! space.scoped([]).create_document("Trip");
//! ```
//!
//! Hidden, trashed and purged data is answered like data that never existed. A link to it is shown
//! as `invalid:out_of_scope#N`; when the text is written back, the address is restored. A relation
//! to a hidden collection does not exist for the connection, and survives its writes. Matches,
//! ranks and counts of searches depend on visible documents only. The duration of a call is not
//! concealed.
//!
//! # Threads
//!
//! [`Space`] and [`Connection`] are cheap to clone, and every clone may be used on its own thread.
//! Any number of threads read while one writes; a second writer waits. A read sees one snapshot.
//! One process at a time has a directory open, or several that share it
//! ([`SpaceBuilder::shared`]).
//!
//! Calls block: a read until it is done, a durable write until it is synced. There is no async
//! runtime, and no background thread before the first search of a space or the first bulk creation
//! of documents: these start one which keeps the search index up to date, and which uses further
//! threads while it writes the index.
//! With [`SearchIndexing::OnDemand`] no thread outlives a call. An async host calls from a context
//! where blocking is allowed, such as `tokio::task::spawn_blocking`, with a clone of the
//! connection.
//!
//! # Errors
//!
//! Every operation returns the same [`Error`] type: a stable [`ErrorKind`] to match on, a sentence,
//! and the path of the invalid value in the request (`blocks[3].color`). Every call is one
//! transaction: after an error nothing of it has happened, unless the message says otherwise.
//! [`Error::is_retryable`] returns whether the same call may succeed later. Corruption and bad
//! input are errors, never panics.
//!
//! # JSON
//!
//! Requests, replies, errors and the change feed are serde types, so that a host that speaks HTTP,
//! MCP or IPC needs no mapping. Parse untrusted JSON with [`Space::read_json`]: it applies the
//! space's [`Limits`], accepts every nesting that these allow, and its errors have the path in a
//! field. `serde_json::from_str` reads the same types, but at most 128 levels of JSON, and returns
//! its own error. [`Space::read_query`] reads query strings, and [`Error::http_status`] is the
//! status of an answer over HTTP.
//!
//! # Durability
//!
//! By default a write that has returned survives the loss of power. With [`Durability::Relaxed`] it
//! survives the end of the process, but the loss of power only after a later durable write,
//! [`Space::flush`] or [`Space::close`] has returned, or a call that came more than a second later.
//! A power loss before takes a suffix of the relaxed writes, and never a part of one.
//!
//! # Where to look next
//!
//! [`Space::builder`] has the options: durability, [`Limits`], time zone, and the [`Clock`] and
//! [`IdSource`] that tests replace. [`Position`] describes positions of blocks, [`BlockKind`] their
//! types, and the example `tour` shows the library in one program.

pub mod guide;

/// Reads and writes of whole documents, for programs that import, export or mirror them.
///
/// [`read`](bulk::read) shows one version of the space record by record; [`write`](bulk::write)
/// applies edits in one transaction, such as those that a
/// [`DocumentFactory`](bulk::DocumentFactory) makes: thousands of blocks with IDs that are known
/// before. The crate `leafbase-vault` is made of it. For all else the operations of a
/// [`Connection`] are simpler, and check more.
pub mod bulk {
    pub use crate::operations::bulk::document_factory::{DocumentFactory, NewDocument, StagedFile};
    pub use crate::operations::bulk::space_view::SpaceView;
    pub use crate::operations::bulk::{
        index, linked_blocks, put_host_records, read, record, shown_files, write,
    };
    pub use crate::operations::files::{fit_block_type, plain_file_name, shown_as_picture};
    pub use crate::support::days::long_form as daily_note_title;
    pub use leafbase_model::{
        BlockRecord, FileLayout, LineLayout, LinkLayout, SourceLayout, SubtreeNode, Subtrees,
        TextRole, VerbatimLines, invariant,
    };
    pub use leafbase_store::StoredDocument;
    pub use leafbase_tree_ops::assemble;
}

/// Markdown to blocks and back, for programs that read or write it themselves.
///
/// ```
/// use leafbase::markdown::{ParseOptions, parse, render};
/// let parsed = parse("# Trip\n\n- [ ] passport", &ParseOptions::default())?;
/// assert_eq!(parsed.blocks.len(), 2);
/// assert_eq!(render(&parsed.blocks), "# Trip\n\n- [ ] passport");
/// # Ok::<(), leafbase::Error>(())
/// ```
pub mod markdown {
    pub use leafbase_markdown::{
        EmptyFirstItem, FrontMatter, InlineLink, LinkForm, LinkTarget, ParseOptions, ParseWarning,
        ParseWarningKind, ParsedMarkdown, Rendered, UnknownHighlight, canonical, canonical_inline,
        escape, front_matter, guard_lone_link, is_lone_link, links, parse, parse_with_layout,
        plain_text, render, render_as_written, render_block, rewrite_links, unguard_lone_link,
    };
}

/// Parsing of requests from JSON text.
pub mod json {
    pub use leafbase_model::json::{
        FromJson, ReadRequest, UnknownFields, from_query, from_query_with, from_str, from_str_with,
    };
}

/// The key-value trait that a space is stored in, for hosts that bring their own store
/// ([`SpaceBuilder::over`]).
pub mod kv {
    pub use leafbase_store::kv::{
        CommitSignal, Durability, IndexHint, KeyRange, MemoryStore, Read, ReadHint, Snapshot,
        Store, Transaction, Visit, VisitMany, WriteOptions,
    };
}

mod operations;

mod core;

mod support;

#[cfg(feature = "schemars")]
mod tool_schemas;

pub use self::core::access::{AccessScope, Full, FullAccess, Scoped, Unbatched};
pub use self::core::batch::BatchAccess;
pub use self::core::connection::Connection;
pub use self::core::progress::Progress;
pub use self::core::scope::Scope;
#[cfg(feature = "search")]
pub use self::core::search_index::IndexDirectories;
#[cfg(feature = "search")]
pub use self::core::search_index::SearchIndexing;
pub use self::core::space::{CompactOptions, Space, SpaceBuilder};
pub use leafbase_markdown::{InlineMark, InlineMarkKind, PlainText};
pub use leafbase_model::{
    AddComments, AddItems, AddTasks, AddedComment, AppliedMarkdown, ApplyMarkdown, AssetId,
    AssetRecord, AssetUrl, Author, BackLinks, Batch, BatchOperation, BatchReply, BesideText, Block,
    BlockData, BlockDraft, BlockEvent, BlockFields, BlockId, BlockKind, BlockLayout, BlockMatch,
    BlockOrder, BlockPatch, BlockType, BlockVersion, BuiltInLocation, CardLayout, Change,
    ChangePosition, ChangeToken, Clock, CodeLanguage, Collection, CollectionSchema, Color, Comment,
    CommentDraft, CommentId, CommentPatch, CommentSource, Condition, ConnectionInfo, Content,
    ContentProperty, ContentPropertyDraft, ContextBlock, CorrectedTerm, CountItems,
    CreateCollection, CreateDocuments, CreateFolders, CreateFromTemplate, Day, DayRange, DayRef,
    Decorations, DeleteBlocks, DeleteComments, DeleteDocuments, DeleteFolders, DeleteItems,
    DeleteTasks, Destination, Detail, Direction, Document, DocumentFilter, DocumentFilterMode,
    DocumentId, DocumentOrder, DocumentPatch, DocumentProperties, DocumentRecord, DocumentVersion,
    DuplicateBlocks, Edge, Edit, EditMarkdown, EditSubject, EmbedGraph, Embedding, EmbeddingDraft,
    EmbeddingModel, EmbeddingTargets, EmbeddingVector, EmbeddingsReply, Error, ErrorKind,
    Expectations, Fetch, FetchFrom, FileHash, FindDocuments, Folder, FolderDestination,
    FolderDraft, FolderId, FolderPatch, FolderRecord, FolderRef, Font, GetEmbeddings, GetItems,
    GetMarkdown, GetSchema, GivenText, GroupValue, IdSource, IndentBlocks, IndentLevels,
    InsertBlocks, InsertSource, Item, ItemCounts, ItemDraft, ItemFields, ItemFilter, ItemGroup,
    ItemUpdate, ItemValue, ItemValues, Items, ItemsPage, KeptScope, Language, Limits, LineStyle,
    ListCollections, ListComments, ListDocuments, ListScopedDocuments, ListStyle, ListTags,
    ListTasks, ListedComment, Location, MarkdownEdit, MarkdownEditKind, MediaSize, MediaWidth,
    MergeBlock, Metadata, MissingEmbedding, MissingEmbeddings, MoveBlocks, MoveDocuments,
    MoveFolders, NearestBlock, Needle, Operator, OptionRename, Paging, PathStep, Position,
    PositionTarget, Properties, Property, PropertyChange, PropertyDraft, PropertyKey, PropertyKind,
    PropertyType, PropertyValue, PurgeDocuments, PutEmbeddings, QueryEmbedding, QueryItems,
    RelatedItem, Relation, RemoveEmbeddings, ReplaceSchema, ReplaceText, ReplacedBlock,
    ReplacedText, ResolveBlocks, ResolveEmbeds, ResolvedBlock, ResolvedEmbed, RestoreDailyNotes,
    Result, Schema, SchemaDraft, SchemaFormat, SchemaReply, ScopedChange, ScopedDocument,
    ScopedDocumentPatch, SearchBlocks, SearchDocuments, SearchGroup, SearchMatch, SearchPage,
    SearchWeights, SelectOption, SharedText, ShiftBlocks, ShiftDirection, Side, Sort, SortBlocks,
    SpaceId, SpaceInfo, SpaceSettings, SplitBlock, Stamp, TagCount, Task, TaskDestination,
    TaskDraft, TaskInfo, TaskLocation, TaskPatch, TaskScope, TaskState, TaskUpdate, TermMode,
    TextAlignment, TextFormat, TextStyle, Timestamp, UndoChanges, UnlinkedMentions, UpdateBlocks,
    UpdateComments, UpdateDocuments, UpdateFolders, UpdateItems, UpdateScopedDocuments,
    UpdateTasks, UploadFile, UploadedFile, UrlTemplates, UtcInfo,
};
pub use leafbase_pattern::escape_pattern;
#[cfg(feature = "search")]
pub use leafbase_search::IndexStorage;
pub use leafbase_store::kv::Durability;
pub use leafbase_store::{
    ChangeRow, CheckReport, Invariant, Loss, LossKind, Problem, SalvageReport, Saved, SpaceMeta,
    SpaceStats,
};
pub use operations::changes::{Changes, ScopedChanges};
pub use operations::files::FileReader;
pub use operations::flat_blocks::FlatBlock;
pub use operations::history::differences::{DocumentDiff, TextDiff, TextPart};
pub use operations::id_prefixes::FoundIds;
#[cfg(feature = "search")]
pub use operations::links::mentions::TitleMention;
pub use operations::links::{DocumentLinks, Link};
pub use operations::list_patch::{ListPatch, PatchStep};
pub use operations::undo::manager::UndoManager;
pub use operations::watch::watch_thread::WatchThread;
pub use operations::watch::{FollowedAccess, WatchQuery, WatchedList, Watcher};
pub use support::clock::SystemClock;
pub use support::ids::RandomIds;
#[cfg(feature = "schemars")]
pub use tool_schemas::{ToolSchema, ToolSchemas, scoped_tool_schemas, tool_schemas};
