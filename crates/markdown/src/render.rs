//! Blocks to markdown.
//!
//! The form is that of `CommonMark` wherever it has one: a reader that knows nothing of the dialect
//! shows lists, quotes, code and tables as they are. What markdown cannot say is left out: colour,
//! alignment, font, sizes and layouts (but the card layout of pages and cards), dates of tasks, and
//! the indentation of what is in no list beyond the list before it.

use leafbase_model::{Block, BlockData, BlockDraft, BlockKind, Content, ListStyle, TextStyle};

use crate::escape::ends_escaping;
use crate::layout::{BlockLayout, DecorationRun};
use crate::single_block::write_look;

/// A block with its children, as rendering reads it: drafts and fetched blocks alike.
pub trait Rendered: Sized {
    /// What it says.
    fn data(&self) -> &BlockData;

    /// Its children, in order.
    fn children(&self) -> &[Self];

    /// Whether there are children that are not at hand: then the page is rendered without content.
    fn is_cut(&self) -> bool {
        false
    }
}

impl Rendered for BlockDraft {
    fn data(&self) -> &BlockData {
        &self.data
    }

    fn children(&self) -> &[Self] {
        &self.content
    }
}

impl Rendered for Block {
    fn data(&self) -> &BlockData {
        &self.data
    }

    fn children(&self) -> &[Self] {
        Self::children(self)
    }

    fn is_cut(&self) -> bool {
        matches!(self.content, Content::Preview(_))
    }
}

/// Writes blocks as markdown, without a line break at the end. Pages are written with their
/// content, in tags; of a collection only the name is, since its schema and items are not at hand:
/// who has them puts a table in its place, made by [`table`](crate::table).
///
/// ```
/// use leafbase_markdown::{ParseOptions, parse, render};
///
/// let parsed = parse("* one\n* two\n    * three", &ParseOptions::default())?;
/// assert_eq!(render(&parsed.blocks), "- one\n- two\n  - three");
/// # Ok::<(), leafbase_model::Error>(())
/// ```
pub fn render<B: Rendered>(blocks: &[B]) -> String {
    let mut writer =
        Writer { out: String::new(), layout: BlockLayout::default(), frames: Vec::new() };
    writer.run(blocks);
    // The first one would be taken for the signature of the encoding.
    if writer.out.starts_with('\u{feff}') {
        writer.out.insert(0, '\u{feff}');
    }
    writer.out
}

/// One page, or one list of blocks, that is being written.
struct Frame<'b, B> {
    left: std::slice::Iter<'b, B>,
    layout: BlockLayout,
    element: &'static str,
}

struct Writer<'b, B> {
    out: String,
    layout: BlockLayout,
    /// The pages around, outermost first. No recursion: the depth is the data's.
    frames: Vec<Frame<'b, B>>,
}

impl<'b, B: Rendered> Writer<'b, B> {
    fn run(&mut self, blocks: &'b [B]) {
        let mut left = blocks.iter();
        loop {
            let Some(block) = left.next() else {
                self.layout.close(&mut self.out);
                let Some(frame) = self.frames.pop() else { return };
                self.end_page(&frame);
                (left, self.layout) = (frame.left, frame.layout);
                self.layout.end_inner(&mut self.out);
                continue;
            };
            if let Some(element) = self.block(block, left.as_slice()) {
                let inner = self.layout.inner();
                let layout = std::mem::replace(&mut self.layout, inner);
                self.frames.push(Frame {
                    left: std::mem::replace(&mut left, block.children().iter()),
                    layout,
                    element,
                });
            }
        }
    }

    /// Writes a block; of a page what stands before its content, and then names its element.
    fn block(&mut self, block: &B, left: &[B]) -> Option<&'static str> {
        let data = block.data();
        let element = match &data.kind {
            BlockKind::Page(_) | BlockKind::CollectionItem { .. } => Some("page"),
            BlockKind::Text(_) if !block.children().is_empty() => Some("page"),
            _ => None,
        };
        self.layout.begin(&mut self.out, data, left.len(), || run(data, left));
        if let Some(element) = element {
            self.page_head(data, element);
            if !block.is_cut() {
                return Some(element);
            }
            self.line_break();
            self.out.push_str("</page>");
        } else {
            crate::single_block::write(&mut self.out, data, self.layout.prefix());
        }
        self.layout.end_inner(&mut self.out);
        None
    }

    fn line_break(&mut self) {
        self.out.push('\n');
        self.out.push_str(self.layout.prefix());
    }

    fn page_head(&mut self, data: &BlockData, element: &str) {
        self.out.push('<');
        self.out.push_str(element);
        if let Some(look) = data.text_format() {
            write_look(&mut self.out, *look, TextStyle::Body);
        }
        self.out.push('>');
        self.line_break();
        self.out.push_str("<pageTitle>");
        self.out.push_str(&data.markdown);
        if ends_escaping(&data.markdown) {
            self.line_break();
        }
        self.out.push_str("</pageTitle>");
    }

    fn end_page(&mut self, frame: &Frame<'b, B>) {
        let prefix = frame.layout.prefix();
        if self.layout.is_empty() {
            self.out.push('\n');
            self.out.push_str(prefix);
            self.out.push_str("<content>");
        } else {
            self.out.push('\n');
            self.out.push_str(prefix.trim_end_matches(' '));
        }
        self.out.push('\n');
        self.out.push_str(prefix);
        self.out.push_str("</content>\n");
        self.out.push_str(prefix);
        self.out.push_str("</");
        self.out.push_str(frame.element);
        self.out.push('>');
    }
}

/// The run that begins with the block `first`, which `left` follow.
fn run<B: Rendered>(first: &BlockData, left: &[B]) -> DecorationRun {
    let more =
        left.iter().take_while(|block| block.data().decorations == first.decorations).count();
    let next = left.get(more).map(Rendered::data);
    DecorationRun {
        ends: left.len() - more,
        alone: more == 0 && first.list_style == ListStyle::None,
        goes_on: next
            .is_some_and(|next| next.list_style == ListStyle::None && next.indentation > 0),
    }
}
