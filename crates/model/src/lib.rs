//! The nouns of Leafbase: typed IDs, block types, positions, edits, limits and the wire JSON.
//!
//! Nothing here does I/O or reads the clock. What JSON looks like is decided here and nowhere else: reading is
//! strict and names the path of what is wrong (`blocks[3].listStyle`), writing leaves defaults out.

mod error;
mod limits;

mod color;
mod id;
mod time;

mod block;
mod fields;
mod properties;
mod task;

mod draft;
mod patch;
mod position;

mod document;
mod folder;

mod change;
mod edit;

pub mod json;
mod requests;

pub use block::{
    Block, BlockData, BlockKind, BlockLayout, BlockType, CardLayout, CodeLanguage, Comment, Content, Decorations, Font,
    LineStyle, ListStyle, MediaSize, MediaWidth, Metadata, TextAlignment, TextLook, TextStyle,
};
pub use change::{Author, Change, Stamp};
pub use color::Color;
pub use document::{Document, DocumentRecord, Location};
pub use draft::BlockDraft;
pub use edit::{BlockRecord, Edit, Forest, Node, Slot};
pub use error::{Detail, Error, ErrorKind, Result};
pub use fields::Fields;
pub use folder::FolderRecord;
pub use id::{AssetId, BlockId, CommentId, DocumentId, FolderId, IdSource, SpaceId};
pub use limits::Limits;
pub use patch::BlockPatch;
pub use position::{Edge, Position, Side, Target};
pub use properties::{Properties, PropertyValue};
pub use requests::{DeleteBlocks, Fetch, FetchFrom, InsertBlocks, InsertSource, Items, MoveBlocks, UpdateBlocks};
pub use task::{TaskInfo, TaskState};
pub use time::{Clock, Day, DayRef, Timestamp};
