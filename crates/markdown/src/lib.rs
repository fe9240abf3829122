//! Markdown to Leafbase blocks and back.
mod cursor;
mod starts;
mod tags;

mod code;
mod destination;
mod lists;
mod sole;
mod table;

mod containers;
mod parse;
mod reader;

mod blocks;
mod leaves;
mod open;
mod pages;

mod canonical;
mod split;

mod layout;
mod render;
mod single;

mod links;
mod plain;

pub use canonical::{canonical, canonical_inline};
pub use destination::escape;
pub use links::{Link, LinkForm, LinkTarget, links, rewrite_links};
pub use parse::{Adaptation, AdaptationKind, EmptyFirstItem, ParseOptions, Parsed, parse};
pub use plain::plain_text;
pub use render::{Rendered, render};
pub use single::{read_block, render_block};
pub use split::split_paragraphs;
