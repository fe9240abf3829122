//! The data model of Leafbase: typed IDs, block types, positions, edits, limits and the wire JSON.
//!
//! This crate does no I/O and does not read the clock. It alone defines the JSON: deserialization
//! is strict and reports the path of a fault (`blocks[3].listStyle`), serialization omits defaults.
//!
//! | What | Types |
//! |---|---|
//! | IDs | [`BlockId`], [`DocumentId`], ..: 16 bytes, one type per kind of object; ULIDs |
//! | when | [`Timestamp`], [`Day`], [`DayRef`] (a day as a request names it: `today`) |
//! | content of blocks | [`BlockData`]: common fields, and a [`BlockKind`] for each of 13 types |
//! | a block in a reply | [`Block`]: data, `rev`, [`Metadata`], [`Content`] |
//! | blocks in requests | [`BlockDraft`] to insert, [`BlockPatch`] to update; both of [`BlockFields`] |
//! | where | [`Position`] in a request; [`BlockLocation`] and [`InsertTarget`] in the tree |
//! | locations of documents | [`Location`], [`Folder`]; in requests [`Destination`], [`FolderRef`] |
//! | tasks, comments, files | [`Task`], [`Comment`], [`AssetRecord`] and [`AssetUrl`] |
//! | collections | [`Schema`], [`Property`], [`Relation`], [`PropertyValue`]; [`Item`]; [`ItemFilter`] |
//! | a write | [`Edit`]s, each with what it replaces; a [`Change`] is a row of the change log |
//! | a failure | [`Error`]: a stable [`ErrorKind`], a sentence, a path into the request |
//! | how much | [`Limits`] |
//!
//! Requests are plain serde types, so that a host passes JSON straight through:
//!
//! ```
//! use leafbase_model::{BlockType, InsertBlocks, InsertSource, Limits, json};
//! let request: InsertBlocks = serde_json::from_str(
//!     r#"{"blocks": [{"type": "text", "markdown": "Packing", "textStyle": "h2"}],
//!         "position": {"position": "end", "pageId": "01KASZ4ZJG0000000000000001"}}"#,
//! )?;
//! let InsertSource::Blocks(blocks) = request.source else { panic!("blocks were given") };
//! assert_eq!(blocks[0].data.block_type(), BlockType::Text);
//!
//! // `json::from_str` bounds the input, and its errors have a path.
//! let body = r#"{"blocks": [{"type": "line", "lineStyle": "bold"}]}"#;
//! let error = json::from_str::<InsertBlocks>(body, &Limits::default()).unwrap_err();
//! assert_eq!(error.path(), "blocks[0].lineStyle");
//! assert!(error.message().starts_with(r#"unknown line style "bold", expected one of strong"#));
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! [`json::from_str`] is the entry point for untrusted text: [`Limits`] bound its length and
//! nesting.

mod echoed;
mod error;
mod invariant;
mod limits;
mod nested;

mod color;
mod id;
mod id_hash;
mod time;

mod language;
mod properties;
mod schema;
mod source_layout;
mod styles;
mod task;
mod task_location;

mod kind;
mod metadata;

mod block;
mod block_check;
mod block_json;
mod fields;
mod table;
mod text_language;
mod texts;

mod draft;
mod patch;
mod position;

mod asset;
mod block_version;
mod collection;
mod document;
mod document_properties;
mod document_version;
mod embedding_vector;
mod folder;
mod info;
mod item_values;
mod scoped;
mod search;
mod settings;
mod shared_text;

mod change;
mod change_json;
mod change_position;
mod edit;
mod location;
mod stamp;

pub mod json;
mod requests;

#[cfg(feature = "jiff")]
mod jiff;
#[cfg(feature = "schemars")]
mod json_schemas;

pub use asset::{AssetRecord, AssetUrl, FileHash};
pub use block::{Block, BlockData, Content};
pub use block_version::{BlockEvent, BlockVersion};
pub use change::Change;
pub use change_position::{ChangePosition, ChangeToken};
pub use collection::{
    Collection, CollectionSchema, GroupValue, Item, ItemCounts, ItemGroup, SchemaReply,
};
pub use color::Color;
pub use document::{Destination, Document, DocumentRecord, Location};
pub use document_properties::DocumentProperties;
pub use document_version::DocumentVersion;
pub use draft::{BesideText, BlockDraft, GivenText};
pub use edit::{BlockRecord, Edit, EditSubject, SubtreeNode, Subtrees};
pub use embedding_vector::{EmbeddingVector, NearestBlock, QueryEmbedding};
pub use error::{Detail, Error, ErrorKind, Result};
pub use fields::BlockFields;
pub use folder::{BuiltInLocation, Folder, FolderRecord, FolderRef};
pub use id::{AssetId, BlockId, CommentId, DocumentId, FolderId, IdSource, SpaceId};
#[doc(hidden)]
pub use id_hash::{IdHasher, IdMap, IdSet};
pub use info::{ConnectionInfo, SpaceInfo, UrlTemplates, UtcInfo};
#[doc(hidden)]
pub use invariant::{broken_invariant, is_broken_invariant};
pub use item_values::{ItemFields, ItemValue, ItemValues, RelatedItem};
pub use kind::{BlockKind, BlockType};
pub use language::CodeLanguage;
pub use limits::Limits;
pub use location::{BlockLocation, InsertTarget};
pub use metadata::{Comment, Metadata};
pub use patch::BlockPatch;
pub use position::{Edge, Position, PositionTarget, Side};
pub use properties::{Properties, PropertyChange, PropertyValue};
pub use requests::batch::{Batch, BatchOperation, BatchReply, Expectations};
pub use requests::blocks::{
    DeleteBlocks, Fetch, FetchFrom, InsertBlocks, InsertSource, MoveBlocks, UpdateBlocks,
};
pub use requests::collections::{
    AddItems, CreateCollection, DeleteItems, DocumentFilterMode, GetItems, GetSchema, ItemDraft,
    ItemUpdate, ListCollections, OptionRename, ReplaceSchema, SchemaFormat, UpdateItems,
};
pub use requests::comments::{
    AddComments, AddedComment, CommentDraft, CommentPatch, CommentSource, DeleteComments,
    ListComments, ListedComment, UpdateComments,
};
pub use requests::document_patch::{
    DocumentPatch, ScopedDocumentPatch, UpdateDocuments, UpdateScopedDocuments,
};
pub use requests::documents::{
    CreateDocuments, CreateFromTemplate, DayRange, DeleteDocuments, DocumentFilter, DocumentOrder,
    ListDocuments, MoveDocuments, PurgeDocuments, RestoreDailyNotes,
};
pub use requests::embeddings::{
    Embedding, EmbeddingDraft, EmbeddingModel, EmbeddingTargets, EmbeddingsReply, GetEmbeddings,
    MissingEmbedding, MissingEmbeddings, PutEmbeddings, RemoveEmbeddings,
};
pub use requests::files::{UploadFile, UploadedFile};
pub use requests::folder_patch::{FolderPatch, UpdateFolders};
pub use requests::folders::{
    CreateFolders, DeleteFolders, FolderDestination, FolderDraft, MoveFolders,
};
pub use requests::links::{BackLinks, EmbedGraph, ResolveEmbeds, ResolvedEmbed, UnlinkedMentions};
pub use requests::lookups::{FindDocuments, ResolveBlocks, ResolvedBlock};
pub use requests::page_markdown::{
    AppliedMarkdown, ApplyMarkdown, EditMarkdown, GetMarkdown, MarkdownEdit, MarkdownEditKind,
};
pub use requests::queries::{
    Condition, CountItems, Direction, ItemFilter, Operator, QueryItems, Sort,
};
#[doc(hidden)]
pub use requests::query_text::is_emoji;
pub use requests::ranges::{BlockOrder, DuplicateBlocks, ShiftBlocks, ShiftDirection, SortBlocks};
pub use requests::replacements::{Needle, ReplaceText, ReplacedBlock, ReplacedText};
pub use requests::search::{SearchBlocks, SearchDocuments, SearchGroup, TermMode};
pub use requests::search_weights::SearchWeights;
pub use requests::tags::{ListTags, TagCount, fold_tag};
pub use requests::tasks::{
    AddTasks, DeleteTasks, ListTasks, TaskDraft, TaskScope, TaskUpdate, UpdateTasks,
};
pub use requests::text_edits::{IndentBlocks, IndentLevels, MergeBlock, SplitBlock};
pub use requests::undo::UndoChanges;
pub use requests::{Items, ItemsPage, Paging};
pub use schema::{
    ContentProperty, ContentPropertyDraft, Property, PropertyDraft, PropertyKind, PropertyType,
    Relation, Schema, SchemaDraft, SelectOption,
};
pub use scoped::{ListScopedDocuments, ScopedChange, ScopedDocument};
pub use search::{BlockMatch, ContextBlock, CorrectedTerm, PathStep, SearchMatch, SearchPage};
pub use settings::{KeptScope, SpaceSettings};
pub use shared_text::{PropertyKey, SharedText};
pub use source_layout::{FileLayout, LineLayout, LinkLayout, SourceLayout, VerbatimLines};
pub use stamp::{Author, Stamp};
pub use styles::{
    BlockLayout, CardLayout, Decorations, Font, LineStyle, ListStyle, MediaSize, MediaWidth,
    TextAlignment, TextFormat, TextStyle,
};
pub use table::{cell_values, change_cells};
pub use task::{Task, TaskInfo, TaskPatch, TaskState};
pub use task_location::{TaskDestination, TaskLocation};
pub use text_language::Language;
pub use texts::TextRole;
pub use time::{Clock, Day, DayRef, Timestamp};
