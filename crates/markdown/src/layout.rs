//! Line layout of rendered blocks: separators, line prefixes, list markers, and the quotes and
//! callouts around blocks.
//!
//! A run of adjacent blocks with equal decorations opens them once around the whole run, lists
//! included: `> - x`. If the run lies inside a list item that started before it or continues after
//! it, each block opens its own decorations within its item instead: `- > x`. List levels therefore
//! never depend on decorations.

use leafbase_model::{
    BlockData, BlockKind, BlockType, Decorations, Limits, ListStyle, TaskState, TextStyle,
};

use crate::escape::ends_escaping;
use crate::slice;
use crate::text_escape::NOTHING;

/// Maximum list level, plus one for the content of its items.
const LIST_LEVELS: usize = Limits::INDENTATION as usize + 1;

/// The previously rendered block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PreviousBlock {
    #[default]
    Nothing,
    /// A list item at this level; another item may follow on the next line.
    Item(usize),
    Block,
}

/// Adjacent blocks with equal decorations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecorationRun {
    /// Number of blocks that follow the run.
    pub(crate) ends: usize,
    /// Whether it is a single block outside of lists.
    pub(crate) alone: bool,
    /// Whether the next block continues a list item of the run.
    pub(crate) goes_on: bool,
}

#[derive(Debug, Default)]
pub(crate) struct BlockLayout {
    prefix: String,
    /// Bytes of the prefix that belong to enclosing containers: its minimum length.
    base: usize,
    /// Whether this is a page's content, whose tag opens before the first block.
    in_page: bool,
    /// Number of blocks that follow the current run, if there is one.
    run_ends: Option<usize>,
    /// Whether each block of the run has decorations of its own.
    apart: bool,
    /// Decorations open around the current run.
    outer: Decorations,
    /// Whether the current block has a callout of its own, and whether both share a line.
    own_callout: Option<bool>,
    /// Content column of each open list level.
    levels: [usize; LIST_LEVELS],
    depth: usize,
    previous: PreviousBlock,
    /// The level of the previous block if it is an item marked with a dash, in the same run.
    dash_level: Option<usize>,
}

const DASHES: &str = "- - - - - - ";
const SPACES: &str = "                                ";

impl BlockLayout {
    /// Prefix of each line of the current block except the first.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Whether nothing is rendered yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.previous == PreviousBlock::Nothing
    }

    /// Layout of the content of the current block, a page.
    pub(crate) fn inner(&self) -> Self {
        Self {
            prefix: self.prefix.clone(),
            base: self.prefix.len(),
            in_page: true,
            ..Self::default()
        }
    }

    /// Starts a block that `left` blocks follow; `run` computes the run that starts with it.
    /// Returns a position on its
    /// first line, before the list marker.
    pub(crate) fn begin(
        &mut self,
        out: &mut String,
        data: &BlockData,
        left: usize,
        run: impl FnOnce() -> DecorationRun,
    ) -> usize {
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
        // Adjacent runs with equal decorations are separated like blocks of one run.
        if outer == self.outer {
            self.separate(out, is_item.then_some(level), data);
        } else {
            self.reopen(out, outer);
            self.dash_level = None;
        }
        let separated = out.len();
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
        self.previous = if tight { PreviousBlock::Item(level) } else { PreviousBlock::Block };
        let is_dashed = matches!(data.list_style, ListStyle::Bullet | ListStyle::Task);
        self.dash_level = (tight && is_dashed).then_some(level);
        separated
    }

    /// Starts a line for the next block: directly below a list item for another item, after a blank
    /// line otherwise.
    fn separate(&mut self, out: &mut String, item: Option<usize>, data: &BlockData) {
        self.set_prefix(0);
        match (self.previous, item) {
            (PreviousBlock::Nothing, _) => self.begin_content(out),
            // Below the text of an item, dashes and pipes alone would parse as a table's delimiter
            // row.
            (PreviousBlock::Item(above), Some(level)) if level <= above || !is_rule_like(data) => {
                out.push('\n');
                self.push_base(out);
            }
            _ => self.begin_line(out),
        }
    }

    /// Closes the decorations of the previous run, and opens those of the next one.
    fn reopen(&mut self, out: &mut String, wanted: Decorations) {
        self.close(out);
        self.outer = Decorations::default();
        self.set_prefix(0);
        match self.previous {
            PreviousBlock::Nothing => self.begin_content(out),
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

    /// Appends a blank line and the base prefix. The list marker appends the rest of the prefix.
    fn begin_line(&self, out: &mut String) {
        out.push('\n');
        out.push_str(self.prefix.trim_end_matches(' '));
        out.push('\n');
        self.push_base(out);
    }

    fn push_base(&self, out: &mut String) {
        debug_assert!(self.base <= self.prefix.len(), "the base prefix is part of the prefix");
        out.push_str(slice::before(&self.prefix, self.base));
    }

    /// Closes the decorations of the last run.
    pub(crate) fn close(&mut self, out: &mut String) {
        self.set_prefix(0);
        if self.outer.callout {
            self.blank_line(out);
            out.push_str("</callout>");
            self.outer.callout = false;
        }
    }

    /// Closes the block's own callout.
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

    /// Sets the prefix for content of the first `levels` list levels.
    fn set_prefix(&mut self, levels: usize) {
        self.prefix.truncate(self.base);
        if self.outer.quote {
            self.prefix.push_str("> ");
        }
        let columns = self.levels.iter().take(levels).sum::<usize>();
        self.prefix.push_str(SPACES.get(..columns).unwrap_or(SPACES));
    }

    /// Writes the start of the first line, including the marker and the block's own quote, and sets
    /// the prefix of the other lines.
    fn mark(&mut self, out: &mut String, data: &BlockData, level: usize, quote: bool) {
        let open = self.depth.min(level);
        self.set_prefix(open);
        self.indent(out);
        self.depth = open;
        if data.list_style != ListStyle::None {
            // Levels without an item of their own: a list that starts with a nested list.
            debug_assert!(open <= level, "an item is not above the levels that are open");
            out.push_str(slice::before(DASHES, 2 * (level - open)));
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
            } else if self.dash_level != Some(level) {
                // A mark alone is refused as the first item of a list.
                out.push(' ');
                out.push_str(NOTHING);
            }
        }
    }

    /// Appends the part of the prefix that lists add; the base prefix is written already.
    fn indent(&self, out: &mut String) {
        out.push_str(slice::after(&self.prefix, self.base));
    }
}

/// Whether a block is a task without text: its mark is all of it.
pub(crate) fn is_empty_task(data: &BlockData) -> bool {
    let body = data.text_format().is_some_and(|look| look.style == TextStyle::Body);
    data.list_style == ListStyle::Task
        && body
        && data.block_type() == BlockType::Text
        && data.inline.is_empty()
        && !data.decorations.callout
}

/// Whether a block is one text that fits on a line between tags. An empty heading needs the end of
/// the line.
fn is_text(data: &BlockData) -> bool {
    let BlockKind::Text(look) = data.kind else { return false };
    (!look.style.is_heading() || !data.inline.is_empty()) && !ends_escaping(&data.inline)
}

/// Whether the parser could attach any following line to this text.
fn swallows_lines(data: &BlockData) -> bool {
    let html = || {
        data.inline.split('\n').any(|line| line.trim_start_matches([' ', '\t']).starts_with('<'))
    };
    data.inline.starts_with("$$")
        || (memchr::memchr(b'<', data.inline.as_bytes()).is_some() && html())
}

fn is_rule_like(data: &BlockData) -> bool {
    let line = data.inline.lines().next().unwrap_or("");
    line.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t'))
}
