//! Where a block stands in the markdown that is written: what separates it from the one before, its
//! prefix on each line, its list marker, and the quotes and callouts around it.
//!
//! A run of neighbours with the same decorations has them opened once around all of it, lists and
//! all: `> - x`. Where such a run stands within a list item that began before it, or that goes on
//! after it, each block has them on its own instead, within its item: `- > x`. So the levels of
//! lists never depend on decorations.

use leafbase_model::{
    BlockData, BlockKind, BlockType, Decorations, Limits, ListStyle, TaskState, TextStyle,
};

use crate::escape::ends_escaping;
use crate::slice;

/// The deepest level of a list, and one more for what stands in its items.
const LIST_LEVELS: usize = Limits::INDENTATION as usize + 1;

/// What was written before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Previous {
    #[default]
    Nothing,
    /// A list item at this level; another may follow in the next line.
    Item(usize),
    Block,
}

/// Neighbours with the same decorations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecorationRun {
    /// How many blocks are left behind the last of it.
    pub(crate) ends: usize,
    /// Whether it is one block that is no list item.
    pub(crate) alone: bool,
    /// Whether what follows stands in a list item of it.
    pub(crate) goes_on: bool,
}

#[derive(Debug, Default)]
pub(crate) struct BlockLayout {
    prefix: String,
    /// Bytes of the prefix that come from what is around: it is never shorter.
    base: usize,
    /// Whether this is the content of a page, which opens before the first block.
    in_page: bool,
    /// How many blocks are left behind the present run, if there is one.
    run_ends: Option<usize>,
    /// Whether each block of the run has its decorations on its own.
    apart: bool,
    /// What is open around the present run of blocks.
    outer: Decorations,
    /// Whether the present block has a callout of its own, and whether that is in one line with it.
    own_callout: Option<bool>,
    /// Columns that each open list level sets its content in.
    levels: [usize; LIST_LEVELS],
    depth: usize,
    previous: Previous,
}

const DASHES: &str = "- - - - - - ";
const SPACES: &str = "                                ";

impl BlockLayout {
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
        Self {
            prefix: self.prefix.clone(),
            base: self.prefix.len(),
            in_page: true,
            ..Self::default()
        }
    }

    /// Begins a block, behind which `left` are left; `run` looks ahead for the run that the block
    /// begins.
    pub(crate) fn begin(
        &mut self,
        out: &mut String,
        data: &BlockData,
        left: usize,
        run: impl FnOnce() -> DecorationRun,
    ) {
        let is_item = data.list_style != ListStyle::None;
        let level = usize::from(data.indentation).min(LIST_LEVELS - 1);
        let wanted = data.decorations;
        if wanted.is_empty() {
            self.run_ends = None;
        } else if self.run_ends.is_none_or(|ends| left < ends) {
            let run = run();
            self.run_ends = Some(run.ends);
            self.apart = run.alone || run.goes_on || level.min(self.depth) > 0;
            if !self.apart {
                self.depth = 0;
            }
        }
        let apart = self.apart && self.run_ends.is_some();
        let (outer, own) =
            if apart { (Decorations::default(), wanted) } else { (wanted, Decorations::default()) };
        // A run that ends and one of the same decorations that begins are parted as blocks of one
        // run are.
        if outer == self.outer {
            self.separate(out, is_item.then_some(level), data);
        } else {
            self.reopen(out, outer);
        }
        self.mark(out, data, level, own.quote);
        if own.callout {
            let in_line = is_text(data);
            out.push_str("<callout>");
            if !in_line {
                self.blank_line(out);
            }
            self.own_callout = Some(in_line);
        }
        let tight = is_item && !swallows_lines(data);
        self.previous = if tight { Previous::Item(level) } else { Previous::Block };
    }

    /// Begins a line for the next block: right below a list item where it is one too, otherwise
    /// behind a blank line.
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
        self.set_prefix(0);
        match self.previous {
            Previous::Nothing => self.begin_content(out),
            _ => self.begin_line(out),
        }
        self.depth = 0;
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

    /// A blank line, and what every line here begins with. The rest of the prefix comes with the
    /// list marker.
    fn begin_line(&self, out: &mut String) {
        out.push('\n');
        out.push_str(self.prefix.trim_end_matches(' '));
        out.push('\n');
        self.push_base(out);
    }

    fn push_base(&self, out: &mut String) {
        out.push_str(slice::before(&self.prefix, self.base));
    }

    /// Closes what is open around the last run of blocks.
    pub(crate) fn close(&mut self, out: &mut String) {
        self.set_prefix(0);
        if self.outer.callout {
            self.blank_line(out);
            out.push_str("</callout>");
            self.outer.callout = false;
        }
    }

    /// Ends a callout of the block's own.
    pub(crate) fn end_inner(&mut self, out: &mut String) {
        if let Some(in_line) = self.own_callout.take() {
            if !in_line {
                self.blank_line(out);
            }
            out.push_str("</callout>");
        }
    }

    fn next_line(&self, out: &mut String) {
        out.push('\n');
        out.push_str(&self.prefix);
    }

    fn blank_line(&self, out: &mut String) {
        out.push('\n');
        out.push_str(self.prefix.trim_end_matches(' '));
        self.next_line(out);
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

    /// Writes what stands before the first line, marker and a quote of the block's own included,
    /// and sets the prefix of the other lines.
    fn mark(&mut self, out: &mut String, data: &BlockData, level: usize, quote: bool) {
        let open = self.depth.min(level);
        self.set_prefix(open);
        self.indent(out);
        self.depth = open;
        if data.list_style != ListStyle::None {
            // Levels that no item stands for: a list that begins with a list.
            out.push_str(DASHES.get(..2 * (level - open)).unwrap_or_default());
            let (marker, width) = match data.list_style {
                ListStyle::Numbered => ("1. ", 3),
                ListStyle::Toggle => ("+ ", 2),
                _ => ("- ", 2),
            };
            out.push_str(marker);
            for (place, columns) in self.levels.iter_mut().enumerate().skip(open) {
                *columns = if place == level { width } else { 2 };
            }
            self.depth = level + 1;
            self.set_prefix(self.depth);
        }
        if quote {
            out.push_str("> ");
            self.prefix.push_str("> ");
        }
        if let Some(task) = data.task.filter(|_| data.list_style == ListStyle::Task) {
            out.push_str(match task.state {
                TaskState::Todo => "[ ]",
                TaskState::Done => "[x]",
                TaskState::Canceled => "[-]",
            });
            if !is_empty_task(data) {
                out.push(' ');
            }
        }
    }

    /// The part of the prefix that lists set in; the rest is there already.
    fn indent(&self, out: &mut String) {
        out.push_str(slice::after(&self.prefix, self.base));
    }
}

/// A task without a word: its mark is all of it.
pub(crate) fn is_empty_task(data: &BlockData) -> bool {
    let body = data.text_format().is_some_and(|look| look.style == TextStyle::Body);
    data.list_style == ListStyle::Task
        && body
        && data.block_type() == BlockType::Text
        && data.markdown.is_empty()
        && !data.decorations.callout
}

/// Whether a block is one text that fits between tags in one line. A heading without a word needs
/// the line's end.
fn is_text(data: &BlockData) -> bool {
    let BlockKind::Text(look) = data.kind else { return false };
    let heading =
        matches!(look.style, TextStyle::H1 | TextStyle::H2 | TextStyle::H3 | TextStyle::H4);
    (!heading || !data.markdown.is_empty()) && !ends_escaping(&data.markdown)
}

/// Whether lines right below a text could be taken for more of it, whatever they begin with.
fn swallows_lines(data: &BlockData) -> bool {
    let html = || {
        data.markdown.split('\n').any(|line| line.trim_start_matches([' ', '\t']).starts_with('<'))
    };
    data.markdown.starts_with("$$")
        || (memchr::memchr(b'<', data.markdown.as_bytes()).is_some() && html())
}

fn is_rule_like(data: &BlockData) -> bool {
    let line = data.markdown.split('\n').next().unwrap_or_default();
    line.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t'))
}
