//! Markdown to Leafbase blocks and back.
//!
//! [`parse`] reads `CommonMark` with GFM's tables and tasks, and the tags of the dialect: pages,
//! cards, callouts, captions and highlights. [`render`] writes it. Inline markdown is never taken
//! apart for that: a block keeps it as it was written.
//!
//! ```
//! use leafbase_markdown::{ParseOptions, parse, render};
//!
//! let text = "# Trip\n\n- [ ] pack\n  - socks\n\n<callout>*Monday*</callout>";
//! let parsed = parse(text, &ParseOptions::default())?;
//! assert_eq!(parsed.blocks.len(), 4);
//! assert_eq!(render(&parsed.blocks), text);
//! # Ok::<(), leafbase_model::Error>(())
//! ```
//!
//! # What holds
//!
//! 1. Blocks in [`canonical`] form come back from what is written of them, and what is read is
//!    canonical.
//! 2. What was read and written once stays as it is, to the byte.
//! 3. Every word that is read is in the blocks, in order.
//! 4. No text makes structure: `</page>` in a text closes no page, neither where it stands nor
//!    where it is written next.
//! 5. Time grows as the input does, the stack does not grow at all, and an error names line and
//!    column.
//!
//! # What markdown cannot say
//!
//! Written blocks lose what has no form: colour, alignment and font; size and width of pictures and
//! videos; layout of files and rich links; the card layout where the style is neither card nor
//! page; days and stamps of tasks. A block that is in no list keeps its indentation only up to one
//! level below the list item before it. A rich link in a list, or one whose URL has no `scheme://`,
//! comes back as a text with a link. Drawings and whiteboards come back as pictures, collections as
//! texts of their name, items as pages.

mod slice;

mod cursor;
mod line_starts;
mod tags;

mod code;
mod destination;
mod front_matter;
mod list_marks;
mod lone_link;
mod table;

mod containers;
mod leaf;
mod parsed;
mod parser;

mod block_builder;
mod leaves;
mod openers;
mod pages;
mod parse;

mod escape;

mod canonical;
mod highlights;
mod paragraphs;

mod layout;
mod render;
mod single_block;

mod links;
mod mentions;
mod plain_text;

pub use canonical::{canonical, canonical_inline};
pub use destination::escape;
pub use front_matter::{FrontMatter, front_matter};
pub use highlights::check_highlights;
pub use links::{InlineLink, LinkForm, LinkTarget, links, may_have_links, rewrite_links};
pub use mentions::{
    Mention, MentionForm, MentionTarget, Rewritten, mentions, placeholder, placeholder_numbers,
    rewrite_mentions,
};
pub use paragraphs::split_paragraphs;
pub use parse::parse;
pub use parsed::{EmptyFirstItem, ParseOptions, ParseWarning, ParseWarningKind, ParsedMarkdown};
pub use plain_text::{is_plain, plain_text};
pub use render::{Rendered, render};
pub use single_block::{read_block, render_block};
pub use table::table;
