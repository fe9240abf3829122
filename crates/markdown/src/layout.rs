//! Where a block stands in the markdown that is written: what separates it from the one before, its prefix on each line,
//! its list marker, and the quotes and callouts around it.
//!
//! Decorations shared by neighbours are opened once, around all of them, and lists stand within. A block that differs from
//! its neighbours, but stands in a list with them, has its decoration within its list item instead.

use leafbase_model::{BlockData, BlockKind, Decorations, ListStyle, TaskState};

use crate::render::LEVELS;

/// What was written before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Previous {
    #[default]
    Nothing,
    /// A list item at this level; another may follow in the next line.
    Item(usize),
    Block,
}

#[derive(Debug, Default)]
pub(crate) struct Layout {
    prefix: String,
    /// Bytes of the prefix that come from what is around: it is never shorter.
    base: usize,
    /// Whether this is the content of a page, which opens before the first block.
    in_page: bool,
    /// What is open around the present run of blocks.
    outer: Decorations,
    /// Whether the present block has a callout of its own, and whether that is in one line with it.
    own_callout: Option<bool>,
    /// Columns that each open list level sets its content in.
    levels: [usize; LEVELS],
    depth: usize,
    previous: Previous,
}

const DASHES: &str = "- - - - - - ";
const SPACES: &str = "                                ";

impl Layout {
    /// What stands before each line of the present block but the first.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Whether nothing was written.
    pub(crate) fn is_empty(&self) -> bool {
        self.previous == Previous::Nothing
    }

    /// The layout of the content of the present block, a page.
    pub(crate) fn inner(&self) -> Self {
        Self { prefix: self.prefix.clone(), base: self.prefix.len(), in_page: true, ..Self::default() }
    }

    /// Begins a block; `alone` if it is one line of text and the next block is decorated otherwise.
    pub(crate) fn begin(&mut self, out: &mut String, data: &BlockData, alone: bool) {
        let is_item = data.list_style != ListStyle::None;
        let level = usize::from(data.indentation).min(LEVELS - 1);
        let mut own = Decorations::default();
        if data.decorations == self.outer {
            self.separate(out, is_item.then_some(level), data);
        } else if self.can_nest(data, level) {
            own.quote = data.decorations.quote && !self.outer.quote;
            own.callout = data.decorations.callout && !self.outer.callout;
            self.separate(out, is_item.then_some(level), data);
        } else {
            own.callout = data.decorations.callout && alone;
            self.reopen(out, Decorations { callout: data.decorations.callout && !alone, ..data.decorations });
        }
        self.mark(out, data, level);
        if own.quote {
            out.push_str("> ");
            self.prefix.push_str("> ");
        }
        if own.callout {
            let in_line = alone || is_text(data);
            out.push_str("<callout>");
            if !in_line {
                self.next_line(out);
            }
            self.own_callout = Some(in_line);
        }
        let tight = is_item && !swallows_lines(data);
        self.previous = if tight { Previous::Item(level) } else { Previous::Block };
    }

    /// Whether the block can be decorated within its list item, rather than around it: all that is open around applies to it.
    /// A task's mark stands before its text, so that a quote must stand around both.
    fn can_nest(&self, data: &BlockData, level: usize) -> bool {
        let wanted = data.decorations;
        let applies = (wanted.quote || !self.outer.quote) && (wanted.callout || !self.outer.callout);
        let task_in_quote = data.list_style == ListStyle::Task && wanted.quote && !self.outer.quote;
        applies && (1..=self.depth).contains(&level) && !task_in_quote
    }

    /// Begins a line for the next block: right below a list item where it is one too, otherwise behind a blank line.
    fn separate(&mut self, out: &mut String, item: Option<usize>, data: &BlockData) {
        self.set_prefix(0);
        match (self.previous, item) {
            (Previous::Nothing, _) => self.begin_content(out),
            // Below an item's text, dashes and pipes alone would read as the rule of a table.
            (Previous::Item(above), Some(level)) if level <= above || !is_rule_like(data) => {
                out.push('\n');
                self.push_base(out);
            }
            _ => self.begin_line(out),
        }
    }

    /// Closes what is open around the run before, and opens what is around the next.
    fn reopen(&mut self, out: &mut String, wanted: Decorations) {
        self.close(out);
        self.outer = Decorations::default();
        self.depth = 0;
        self.set_prefix(0);
        match self.previous {
            Previous::Nothing => self.begin_content(out),
            _ => self.begin_line(out),
        }
        self.outer = wanted;
        self.set_prefix(0);
        if wanted.callout {
            self.indent(out);
            out.push_str("<callout>");
            self.begin_line(out);
        }
    }

    fn begin_content(&self, out: &mut String) {
        if self.in_page {
            self.next_line(out);
            out.push_str("<content>");
            self.begin_line(out);
        }
    }

    /// A blank line, and what every line here begins with. The rest of the prefix comes with the list marker.
    fn begin_line(&self, out: &mut String) {
        out.push('\n');
        out.push_str(self.prefix.trim_end_matches(' '));
        out.push('\n');
        self.push_base(out);
    }

    fn push_base(&self, out: &mut String) {
        out.push_str(self.prefix.get(..self.base).unwrap_or_default());
    }

    /// Closes what is open around the last run of blocks.
    pub(crate) fn close(&mut self, out: &mut String) {
        self.set_prefix(0);
        if self.outer.callout {
            out.push('\n');
            out.push_str(self.prefix.trim_end_matches(' '));
            self.next_line(out);
            out.push_str("</callout>");
            self.outer.callout = false;
        }
    }

    /// Ends a callout of the block's own.
    pub(crate) fn end_inner(&mut self, out: &mut String) {
        if let Some(in_line) = self.own_callout.take() {
            if !in_line {
                self.next_line(out);
            }
            out.push_str("</callout>");
        }
    }

    fn next_line(&self, out: &mut String) {
        out.push('\n');
        out.push_str(&self.prefix);
    }

    /// The prefix of what stands in the first `levels` list levels.
    fn set_prefix(&mut self, levels: usize) {
        self.prefix.truncate(self.base);
        if self.outer.quote {
            self.prefix.push_str("> ");
        }
        let columns = self.levels.iter().take(levels).sum::<usize>();
        self.prefix.push_str(SPACES.get(..columns).unwrap_or(SPACES));
    }

    /// Writes what stands before the first line, marker included, and sets the prefix of the others.
    fn mark(&mut self, out: &mut String, data: &BlockData, level: usize) {
        let marker = match data.list_style {
            ListStyle::None => {
                self.depth = self.depth.min(level);
                self.set_prefix(self.depth);
                self.indent(out);
                return;
            }
            ListStyle::Bullet => "- ",
            ListStyle::Numbered => "1. ",
            ListStyle::Toggle => "+ ",
            ListStyle::Task => match data.task.map(|task| task.state).unwrap_or_default() {
                TaskState::Todo => "- [ ] ",
                TaskState::Done => "- [x] ",
                TaskState::Canceled => "- [-] ",
            },
        };
        let open = self.depth.min(level);
        self.set_prefix(open);
        self.indent(out);
        // Levels that no item stands for: a list that begins with a list.
        out.push_str(DASHES.get(..2 * (level - open)).unwrap_or_default());
        let empty_task = data.list_style == ListStyle::Task && is_text(data) && data.markdown.is_empty();
        out.push_str(if empty_task { marker.trim_end() } else { marker });
        let width = if data.list_style == ListStyle::Numbered { 3 } else { 2 };
        for (place, columns) in self.levels.iter_mut().enumerate().skip(open) {
            *columns = if place == level { width } else { 2 };
        }
        self.depth = level + 1;
        self.set_prefix(self.depth);
    }

    /// The part of the prefix that lists set in; the rest is there already.
    fn indent(&self, out: &mut String) {
        out.push_str(self.prefix.get(self.base..).unwrap_or_default());
    }
}

fn is_text(data: &BlockData) -> bool {
    matches!(data.kind, BlockKind::Text(_)) && !crate::render::ends_escaping(&data.markdown)
}

/// Whether lines right below a text could be taken for more of it, whatever they begin with.
fn swallows_lines(data: &BlockData) -> bool {
    let html = || data.markdown.split('\n').any(|line| line.trim_start_matches([' ', '\t']).starts_with('<'));
    data.markdown.starts_with("$$") || (memchr::memchr(b'<', data.markdown.as_bytes()).is_some() && html())
}

fn is_rule_like(data: &BlockData) -> bool {
    let line = data.markdown.split('\n').next().unwrap_or_default();
    line.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t'))
}
