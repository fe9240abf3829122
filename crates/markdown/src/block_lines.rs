//! The lines of a block, in canonical form and as its source layout has them.

use leafbase_model::{BlockKind, LineLayout, SourceLayout, TextFormat, TextStyle, VerbatimLines};
use xxhash_rust::xxh3::xxh3_64;

use crate::cursor::is_blank;
use crate::slice;

/// Position of a block in a rendered text.
#[derive(Clone, Debug)]
pub(crate) struct RenderedSpan {
    /// Start of its first line.
    pub(crate) start: usize,
    /// Start of its content on that line: after indentation and list marker.
    pub(crate) content: usize,
    pub(crate) end: usize,
    /// The text before the content on its other lines.
    pub(crate) prefix: Box<str>,
    pub(crate) shape: BlockShape,
}

/// Shape of the lines of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockShape {
    /// Lines of text.
    Text,
    /// The line of a heading.
    Heading,
    /// Lines of code between an opening and a closing line.
    Code,
    /// The tag of a page; its title and the tags around its content are between blocks.
    Page,
}

impl BlockShape {
    pub(crate) fn of(kind: &BlockKind) -> Self {
        use TextStyle::{H1, H2, H3, H4};
        match kind {
            BlockKind::Code { .. } => Self::Code,
            BlockKind::Text(TextFormat { style: H1 | H2 | H3 | H4, .. }) => Self::Heading,
            _ => Self::Text,
        }
    }
}

/// The lines of a block in canonical form.
#[derive(Debug)]
pub(crate) struct BlockLines<'t> {
    shape: BlockShape,
    first_lead: &'t str,
    prefix: &'t str,
    /// The lines without their leads.
    contents: Vec<&'t str>,
}

impl<'t> BlockLines<'t> {
    pub(crate) fn new(text: &'t str, span: &'t RenderedSpan) -> Self {
        debug_assert!(
            span.start <= span.content && span.content <= span.end,
            "the content of a block is in its span"
        );
        let (first_lead, prefix) = (slice::within(text, span.start..span.content), &*span.prefix);
        let contents = slice::within(text, span.content..span.end).split('\n').enumerate();
        let contents = contents.map(|(line, content)| match content.strip_prefix(prefix) {
            _ if line == 0 => content,
            Some(content) => content,
            // A blank line has the prefix without its trailing spaces.
            None => content.strip_prefix(prefix.trim_end_matches(' ')).unwrap_or(content),
        });
        Self { shape: span.shape, first_lead, prefix, contents: contents.collect() }
    }

    /// Hash of the content.
    fn digest(&self) -> u64 {
        xxh3_64(self.contents.join("\n").as_bytes())
    }

    /// The opening line, the content, and the closing line.
    fn parts(&self) -> (Option<&'t str>, &[&'t str], Option<&'t str>) {
        match (self.shape, self.contents.as_slice()) {
            (BlockShape::Code, [opening, inner @ .., closing]) => {
                (Some(opening), inner, Some(closing))
            }
            (_, all) => (None, all, None),
        }
    }

    /// The text before the content of a line in canonical form.
    fn canonical_lead(&self, line: usize, content: &str) -> &'t str {
        match (self.shape, line) {
            (BlockShape::Text | BlockShape::Heading | BlockShape::Page, 0) => self.first_lead,
            _ if content.is_empty() => self.prefix.trim_end_matches(' '),
            _ => self.prefix,
        }
    }

    /// The layout of `source`, the lines that the block was read from, other than canonical ones.
    pub(crate) fn describe(&self, source: &str, layout: &mut SourceLayout) {
        let lines: Vec<&str> = source.split('\n').collect();
        let offsets: &[usize] = if self.shape == BlockShape::Code { &[1, 0] } else { &[0] };
        for &offset in offsets {
            let mut described = layout.clone();
            if self.align(&lines, offset, &mut described).is_some()
                && self.write(&described) == source
            {
                *layout = described;
                return;
            }
        }
        let lines = VerbatimLines { digest: self.digest(), text: source.into() };
        layout.verbatim = Some(Box::new(lines));
    }

    /// Fits the content to `lines` from line `offset` on.
    fn align(&self, lines: &[&str], offset: usize, layout: &mut SourceLayout) -> Option<()> {
        let (opening, inner, closing) = self.parts();
        let (opened, rest) = lines.split_at_checked(offset)?;
        let (middle, closed) = rest.split_at_checked(inner.len())?;
        let is_same = |lines: &[&str], canonical: Option<String>| match (lines, canonical) {
            ([line], Some(canonical)) => *line == canonical,
            ([], None) => true,
            _ => false,
        };
        if !is_same(opened, opening.map(|line| format!("{}{line}", self.first_lead))) {
            layout.opening = Some(opened.join("\n").into());
        }
        if !is_same(closed, closing.map(|line| format!("{}{line}", self.prefix))) {
            layout.closing = Some(closed.join("\n").into());
        }
        let parted = middle.iter().zip(inner).map(|(line, content)| part(line, content));
        let parted: Vec<(&str, &str)> = parted.collect::<Option<_>>()?;
        let first = usize::from(opening.is_none());
        if let (1, Some((lead, _))) = (first, parted.first())
            && *lead != self.first_lead
        {
            layout.first_lead = Some((*lead).into());
        }
        let mut others = parted.iter().zip(inner).skip(first);
        if let Some(((lead, _), _)) = others.find(|(_, content)| !is_blank(content))
            && *lead != self.prefix
        {
            layout.other_lead = Some((*lead).into());
        }
        for (number, ((lead, trail), content)) in parted.iter().zip(inner).enumerate() {
            let differs = *lead != self.lead(layout, number, content);
            if differs || !trail.is_empty() {
                let lead = differs.then(|| (*lead).into());
                let line = u32::try_from(number).ok()?;
                layout.lines.push(LineLayout { line, lead, trail: (*trail).into() });
            }
        }
        Some(())
    }

    /// The text before the content of a line, if the line is not an exception.
    fn lead<'l>(&'l self, layout: &'l SourceLayout, line: usize, content: &str) -> &'l str {
        let canonical = self.canonical_lead(line, content);
        if line == 0 && self.shape != BlockShape::Code {
            return layout.first_lead.as_deref().unwrap_or(canonical);
        }
        match &layout.other_lead {
            Some(lead) if content.is_empty() => lead.trim_end_matches([' ', '\t']),
            Some(lead) => lead,
            None => canonical,
        }
    }

    /// The lines as `layout` has them.
    pub(crate) fn write(&self, layout: &SourceLayout) -> String {
        if let Some(verbatim) = &layout.verbatim
            && verbatim.digest == self.digest()
        {
            return verbatim.text.to_string();
        }
        let (opening, inner, closing) = self.parts();
        let mut lines = Vec::with_capacity(self.contents.len() + 1);
        match (&layout.opening, opening) {
            (Some(line), _) if line.is_empty() => {}
            (Some(line), _) => lines.push(line.to_string()),
            (None, Some(line)) => lines.push(format!("{}{line}", self.first_lead)),
            (None, None) => {}
        }
        // In the order of lines, so that one pass meets each.
        debug_assert!(
            layout.lines.is_sorted_by(|one, other| one.line < other.line),
            "exceptions are sorted by line"
        );
        let mut exceptions = layout.lines.iter().peekable();
        for (number, content) in inner.iter().enumerate() {
            let exception = exceptions.next_if(|exception| exception.line as usize == number);
            let lead = exception
                .and_then(|exception| exception.lead.as_deref())
                .unwrap_or_else(|| self.lead(layout, number, content));
            let trail = exception.map_or("", |exception| &exception.trail);
            lines.push(format!("{lead}{content}{trail}"));
        }
        match (&layout.closing, closing) {
            (Some(line), _) if line.is_empty() => {}
            (Some(line), _) => lines.push(line.to_string()),
            (None, Some(line)) => lines.push(format!("{}{line}", self.prefix)),
            (None, None) => {}
        }
        lines.join("\n")
    }
}

/// The text before and after `content` on a line.
fn part<'l>(line: &'l str, content: &str) -> Option<(&'l str, &'l str)> {
    if content.is_empty() {
        return Some((line, ""));
    }
    let trimmed = line.trim_end_matches([' ', '\t']);
    let start = if line.ends_with(content) {
        line.len() - content.len()
    } else if trimmed.ends_with(content) {
        trimmed.len() - content.len()
    } else {
        line.rfind(content)?
    };
    Some((slice::before(line, start), slice::after(line, start + content.len())))
}
