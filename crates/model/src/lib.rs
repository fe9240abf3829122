//! The nouns of Leafbase: typed IDs, block types, positions, edits, limits and the wire JSON.
//!
//! Nothing here does I/O or reads the clock. What JSON looks like is decided here and nowhere else: reading is
//! strict and names the path of what is wrong (`blocks[3].listStyle`), writing leaves defaults out.

mod error;
mod limits;

mod color;
mod id;
mod time;

mod language;
mod properties;
mod styles;
mod task;

mod kind;
mod metadata;

mod block;
mod block_json;
mod fields;
mod table;

mod draft;
mod patch;
mod position;

mod document;
mod folder;

mod change;
mod edit;

pub mod json;
mod requests;

pub use block::{Block, BlockData, Content};
pub use change::{Author, Change, Stamp};
pub use color::Color;
pub use document::{Document, DocumentRecord, Location};
pub use draft::BlockDraft;
pub use edit::{BlockRecord, Edit, Forest, Node, Slot};
pub use error::{Detail, Error, ErrorKind, Result};
pub use fields::Fields;
pub use folder::FolderRecord;
pub use id::{AssetId, BlockId, CommentId, DocumentId, FolderId, IdSource, SpaceId};
pub use kind::{BlockKind, BlockType};
pub use language::CodeLanguage;
pub use limits::Limits;
pub use metadata::{Comment, Metadata};
pub use patch::BlockPatch;
pub use position::{Edge, Position, Side, Target};
pub use properties::{Properties, PropertyValue};
pub use requests::{DeleteBlocks, Fetch, FetchFrom, InsertBlocks, InsertSource, Items, MoveBlocks, UpdateBlocks};
pub use styles::{
    BlockLayout, CardLayout, Decorations, Font, LineStyle, ListStyle, MediaSize, MediaWidth, TextAlignment, TextLook,
    TextStyle,
};
pub use task::{TaskInfo, TaskState};
pub use time::{Clock, Day, DayRef, Timestamp};
