//! Rendering of blocks as markdown.
//!
//! The output is plain `CommonMark` wherever it has a syntax: a reader without the dialect shows
//! lists, quotes, code and tables correctly. Attributes without a syntax are dropped: color,
//! alignment, font, sizes and layouts (except the card layout of pages and cards), dates of tasks,
//! and the indentation of blocks outside of lists beyond the previous list.

use leafbase_model::{Block, BlockData, BlockDraft, BlockKind, Content, ListStyle, TextStyle};

use crate::block_lines::{BlockShape, RenderedSpan};
use crate::escape::ends_escaping;
use crate::layout::{BlockLayout, DecorationRun};
use crate::single_block::write_look;
use crate::text_context::TextContext;
use crate::text_escape::escape;

/// A block with children, as the renderer reads it: drafts and fetched blocks.
pub trait Rendered: Sized {
    /// Data of the block.
    fn data(&self) -> &BlockData;

    /// Its children in order.
    fn children(&self) -> &[Self];

    /// Whether its children were not loaded: the page is then rendered without content.
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

/// Renders blocks as markdown without a trailing line break. Pages are rendered in tags with their
/// content. A collection is rendered as its name: a caller that has its schema and items can insert
/// a table made by [`table`](crate::table).
///
/// ```
/// use leafbase_markdown::{ParseOptions, parse, render};
///
/// let parsed = parse("* one\n* two\n    * three", &ParseOptions::default())?;
/// assert_eq!(render(&parsed.blocks), "- one\n- two\n  - three");
/// # Ok::<(), leafbase_model::Error>(())
/// ```
pub fn render<B: Rendered>(blocks: &[B]) -> String {
    let mut writer = Writer {
        out: String::new(),
        layout: BlockLayout::default(),
        frames: Vec::new(),
        spans: None,
    };
    writer.run(blocks);
    // A leading U+FEFF would be read as the byte order mark: it needs one before it.
    if writer.out.starts_with('\u{feff}') {
        writer.out.insert(0, '\u{feff}');
    }
    writer.out
}

/// Renders blocks, and says where each of them is in the text, in reading order.
pub(crate) fn render_with_spans<B: Rendered>(blocks: &[B]) -> (String, Vec<RenderedSpan>) {
    let mut writer = Writer {
        out: String::new(),
        layout: BlockLayout::default(),
        frames: Vec::new(),
        spans: Some(Vec::new()),
    };
    writer.run(blocks);
    let mut spans = writer.spans.unwrap_or_default();
    // As in `render`; the mark belongs to the first line.
    if writer.out.starts_with('\u{feff}') {
        writer.out.insert(0, '\u{feff}');
        for (number, span) in spans.iter_mut().enumerate() {
            let mark = '\u{feff}'.len_utf8();
            span.start += if number == 0 { 0 } else { mark };
            span.content += mark;
            span.end += mark;
        }
    }
    (writer.out, spans)
}

/// A page whose content is being rendered.
struct Frame<'b, B> {
    left: std::slice::Iter<'b, B>,
    layout: BlockLayout,
    element: &'static str,
}

struct Writer<'b, B> {
    out: String,
    layout: BlockLayout,
    /// Enclosing pages, outermost first: an explicit stack, because the depth is user data.
    frames: Vec<Frame<'b, B>>,
    /// Positions of the blocks so far, if they are asked for.
    spans: Option<Vec<RenderedSpan>>,
}

impl<'b, B: Rendered> Writer<'b, B> {
    fn run(&mut self, blocks: &'b [B]) {
        let mut left = blocks.iter();
        loop {
            let Some(block) = left.next() else {
                self.layout.close(&mut self.out);
                let Some(frame) = self.frames.pop() else { return };
                self.end_page(&frame);
                // Continue with the siblings of the page that has just ended.
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

    /// Renders a block; for a page only the part before its content, and returns its element.
    fn block(&mut self, block: &B, left: &[B]) -> Option<&'static str> {
        let data = block.data();
        let element = match &data.kind {
            BlockKind::Page(_) | BlockKind::CollectionItem { .. } => Some("page"),
            BlockKind::Text(_) if !block.children().is_empty() => Some("page"),
            _ => None,
        };
        let on_first_line = self.layout.begin(&mut self.out, data, left.len(), || run(data, left));
        let content = self.out.len();
        if let Some(element) = element {
            self.page_head(data, element);
            self.add_span(on_first_line, content, BlockShape::Page);
            // A cut page is closed at once: empty content would read as no children.
            if !block.is_cut() {
                return Some(element);
            }
            self.line_break();
            self.out.push_str("</page>");
        } else {
            crate::single_block::write(&mut self.out, data, self.layout.prefix());
        }
        self.layout.end_inner(&mut self.out);
        if element.is_none() {
            self.add_span(on_first_line, content, BlockShape::of(&data.kind));
        }
        None
    }

    fn add_span(&mut self, on_first_line: usize, content: usize, shape: BlockShape) {
        if let Some(spans) = &mut self.spans {
            let bytes = self.out.as_bytes();
            let break_before =
                bytes.get(..on_first_line).and_then(|out| memchr::memrchr(b'\n', out));
            let start = break_before.map_or(0, |at| at + 1);
            let tag_end = bytes.get(start..).and_then(|own| memchr::memchr(b'\n', own));
            let end = match shape {
                BlockShape::Page => tag_end.map_or(bytes.len(), |length| start + length),
                BlockShape::Text | BlockShape::Heading | BlockShape::Code => bytes.len(),
            };
            // The marks of a heading precede its content.
            let is_mark = |byte: &&u8| shape == BlockShape::Heading && **byte == b'#';
            debug_assert!(
                content <= bytes.len(),
                "the content of a block follows what was written"
            );
            let own = bytes.get(content..).unwrap_or_default();
            let marks = own.iter().take_while(is_mark).count();
            let space = usize::from(marks > 0 && own.get(marks) == Some(&b' '));
            let content = (content + marks + space).min(end);
            let prefix = self.layout.prefix().into();
            spans.push(RenderedSpan { start, content, end, prefix, shape });
        }
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
        let title = escape(&data.inline, TextContext::Title);
        self.out.push_str(&title);
        // A trailing backslash would escape the closing tag.
        if ends_escaping(&title) {
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

/// The decoration run that starts with `first` and continues in `left`.
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
