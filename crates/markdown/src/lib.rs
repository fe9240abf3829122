//! Conversion between markdown and Leafbase blocks.
//!
//! [`parse`] reads `CommonMark` with GFM's tables and tasks, and the tags of the dialect: pages,
//! cards, callouts, captions and highlights. [`render`] writes them. Inline markdown is never
//! parsed for that: a block keeps it verbatim.
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
//! # Guarantees
//!
//! 1. Blocks in [`canonical`] form round-trip through markdown, and parsed blocks are canonical.
//! 2. Rendered markdown round-trips byte for byte.
//! 3. Every word of the input is in the blocks, in order.
//! 4. Text never becomes structure: `</page>` in a text closes no page, neither when it is parsed
//!    nor when it is rendered.
//! 5. Time is linear in the input, stack usage is constant, and an error has a line and a column.
//!
//! # Losses
//!
//! Rendering drops attributes without a syntax: color, alignment and font; size and width of
//! pictures and videos; layout of files and rich links; the card layout unless the style is card or
//! page; days and stamps of tasks. A block outside of lists keeps its indentation only up to one
//! level below the previous list item. A rich link in a list, or with a URL without `scheme://`,
//! parses back as a text with a link. Drawings and whiteboards parse back as pictures, collections
//! as texts with their name, items as pages.

mod slice;
mod source_spans;

mod cursor;
mod destination;
mod line_starts;
mod raw_html;
mod tags;

mod code;
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
mod char_forms;
mod highlights;
mod paragraphs;
mod text_blanks;
mod text_context;
mod text_escape;

mod block_form;
mod block_lines;
mod layout;
mod layout_capture;
mod layout_render;
mod layout_text;
mod render;
mod single_block;

mod exact_plain;
mod hash_tags;
mod inline_edits;
mod inline_halves;
mod links;
mod mentions;
mod plain_text;
mod wiki_links;

mod front_properties;

pub use block_form::{
    BlockForm, TextMarkers, block_form, block_form_without_markers, read_block_form,
};
pub use canonical::{canonical, canonical_inline};
pub use destination::escape;
pub use exact_plain::{InlineMark, InlineMarkKind, PlainText, inline_of_plain};
pub use front_matter::{FRONT_MATTER_TAG, FrontMatter, front_matter};
pub use front_properties::front_properties;
pub use hash_tags::hash_tags;
pub use highlights::check_highlights;
pub use inline_edits::{ReplacedPlain, replace_plain, replace_plain_charged};
pub use inline_halves::{join_inline, split_inline};
pub use layout_capture::parse_with_layout;
pub use layout_render::{render_as_written, render_with_starts};
pub use links::{InlineLink, LinkForm, LinkTarget, links, may_have_links, rewrite_links};
pub use mentions::{
    Mention, MentionForm, MentionTarget, Rewritten, mentions, placeholder, placeholder_numbers,
    rewrite_mentions,
};
pub use paragraphs::is_one_paragraph;
pub use parse::parse;
pub use parsed::{
    EmptyFirstItem, ParseOptions, ParseWarning, ParseWarningKind, ParsedMarkdown, UnknownHighlight,
};
pub use plain_text::{is_plain, is_plain_ascii, plain_text};
pub use render::{Rendered, render};
pub use single_block::{read_block, render_block};
pub use table::table;
pub use text_escape::{guard_lone_link, is_lone_link, unguard_lone_link};
pub use wiki_links::{wiki_link_ranges, wiki_links};
