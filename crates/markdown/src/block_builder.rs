//! Construction of blocks: list style, task, indentation and decorations follow from the open
//! containers.

use leafbase_model::{
    BlockData, BlockDraft, BlockKind, Limits, ListStyle, Result, TaskInfo, TextFormat, TextStyle,
};

use crate::containers::{Container, ItemContent, OpenItem};
use crate::escape::escape_unknown_highlights;
use crate::parsed::{EmptyFirstItem, ParseWarningKind, UnknownHighlight, invalid};
use crate::parser::BlockParser;
use crate::source_spans::SourceSpan;
use crate::tags::Element;

impl BlockParser<'_, '_> {
    /// Level of the innermost list item, 0 outside of lists.
    pub(crate) fn level(&self) -> usize {
        self.stack.iter().rev().find_map(Container::level).unwrap_or(0)
    }

    /// Number of open containers without pages, which have a limit of their own.
    pub(crate) fn depth(&self) -> usize {
        (self.stack.len() + 1).saturating_sub(self.out.len())
    }

    /// Whether a quote is open within the innermost page.
    pub(crate) fn is_quoted(&self) -> bool {
        let mut open =
            self.stack.iter().rev().take_while(|open| !matches!(open, Container::Page(_)));
        open.any(|open| matches!(open, Container::Quote(_)))
    }

    /// The innermost list item if it is empty so far: the next block takes its list style.
    fn waiting(&self) -> Option<&OpenItem> {
        let inner = self
            .stack
            .iter()
            .rev()
            .find(|open| matches!(open, Container::Item(_) | Container::Page(_)))?;
        match inner {
            Container::Item(item) if item.holds == ItemContent::Nothing => Some(item),
            _ => None,
        }
    }

    /// List style of the next block.
    pub(crate) fn list_style(&self) -> ListStyle {
        self.waiting().map_or(ListStyle::None, |item| item.style)
    }

    /// Records in the enclosing list items that they contain a block.
    pub(crate) fn claim(&mut self) {
        for open in self.stack.iter_mut().rev() {
            match open {
                Container::Item(item) if item.holds == ItemContent::Block => return,
                Container::Item(item) => item.holds = ItemContent::Block,
                Container::Page(_) => return,
                _ => {}
            }
        }
    }

    /// Records in the innermost list item that it contains a list.
    pub(crate) fn hold_list(&mut self) {
        if let Some(item) = self.inner_item().filter(|item| item.holds == ItemContent::Nothing) {
            item.holds = ItemContent::List;
        }
    }

    /// The innermost list item within the current page.
    pub(crate) fn inner_item(&mut self) -> Option<&mut OpenItem> {
        let inner = self
            .stack
            .iter_mut()
            .rev()
            .find(|open| matches!(open, Container::Item(_) | Container::Page(_)))?;
        match inner {
            Container::Item(item) => Some(item),
            _ => None,
        }
    }

    /// Text format of the next text block.
    pub(crate) fn look(&self) -> TextFormat {
        let open = self.stack.iter().rev().take_while(|open| !matches!(open, Container::Page(_)));
        let mut looks = open.filter_map(|open| match open {
            Container::Wrapper(wrapper) => wrapper.look,
            _ => None,
        });
        looks.next().unwrap_or_default()
    }

    /// Applies the open containers to a block: list style, task, indentation, decorations.
    pub(crate) fn dress(&mut self, data: &mut BlockData) {
        if let Some(item) = self.waiting() {
            (data.list_style, data.task) = (item.style, item.task.map(TaskInfo::of_state));
        }
        let level = self.level();
        let indentation = if data.list_style == ListStyle::None { level } else { level - 1 };
        // Deeper levels are clamped, and reported below.
        data.indentation = u8::try_from(indentation).unwrap_or(u8::MAX).min(Limits::INDENTATION);
        if indentation > usize::from(Limits::INDENTATION) {
            self.adapt(self.leaf_at, ParseWarningKind::Indentation);
        }
        for open in self.stack.iter().rev().take_while(|open| !matches!(open, Container::Page(_))) {
            match open {
                Container::Quote(_) => data.decorations.quote = true,
                Container::Wrapper(wrapper) if wrapper.element == Element::Callout => {
                    data.decorations.callout = true;
                }
                _ => {}
            }
        }
        self.claim();
        self.after_item = None;
    }

    /// Appends a block to the innermost page.
    pub(crate) fn emit(&mut self, mut data: BlockData) {
        self.keep_highlights(&mut data);
        if self.stack.is_empty() {
            self.after_item = None;
        } else {
            self.dress(&mut data);
        }
        let span = SourceSpan::of_lines(self.leaf_at.0, self.leaf_end);
        self.add(BlockDraft::new(data), span);
    }

    /// Makes highlights of an unknown color text, where they are not refused.
    pub(crate) fn keep_highlights(&self, data: &mut BlockData) {
        let keeps = self.options.unknown_highlight == UnknownHighlight::Keep;
        if keeps && self.present.highlights {
            data.inline = escape_unknown_highlights(&data.inline);
        }
    }

    /// Records that a block starts at `offset` of the current line, and ends on it so far.
    pub(crate) fn begin_lines(&mut self, offset: usize) {
        self.leaf_at = self.place(offset);
        self.leaf_end = self.number;
    }

    pub(crate) fn add(&mut self, draft: BlockDraft, span: SourceSpan) {
        self.made += 1;
        if let Some(blocks) = self.out.last_mut() {
            blocks.push(draft);
        }
        if self.options.keeps_spans
            && let Some(spans) = self.spans.last_mut()
        {
            spans.push(span);
        }
    }

    pub(crate) fn push(&mut self, container: Container) {
        if let Container::Page(_) = container {
            self.out.push(Vec::new());
            self.spans.push(Vec::new());
        }
        self.stack.push(container);
        self.matched = self.stack.len();
        self.after_item = None;
    }

    /// Closes the innermost container. Precondition: its leaf is closed.
    pub(crate) fn pop(&mut self) -> Result<()> {
        let mut after = None;
        debug_assert!(!self.stack.is_empty(), "a container is open");
        match self.stack.pop() {
            Some(Container::Item(item)) => {
                // A following item at this stack index with this sign continues the list.
                after = Some((self.stack.len(), item.sign));
                if item.holds == ItemContent::Nothing || self.is_empty_first_task(&item) {
                    self.empty_item(item)?;
                }
            }
            Some(Container::Page(page)) => self.close_page(*page)?,
            Some(Container::Wrapper(wrapper)) if wrapper.depth > 0 => {
                self.unclosed(wrapper.element, wrapper.at);
            }
            _ => {}
        }
        self.after_item = after;
        Ok(())
    }

    /// Whether an item is the first of its list and consists of a task mark.
    fn is_empty_first_task(&self, item: &OpenItem) -> bool {
        item.first && item.is_bare_task && self.made == item.made_before + 1
    }

    fn empty_item(&mut self, item: OpenItem) -> Result<()> {
        if !item.first {
            // An empty item is pushed again while its block is emitted, which takes its list style
            // from it.
            (self.leaf_at, self.leaf_end) = (item.at, item.at.0);
            self.stack.push(Container::Item(item));
            self.emit(BlockData::new(BlockKind::Text(TextFormat {
                style: TextStyle::Body,
                ..TextFormat::default()
            })));
            self.stack.pop();
            return Ok(());
        }
        match self.options.empty_first_item {
            EmptyFirstItem::Refuse => Err(invalid(item.at, "the first item of a list is empty")),
            EmptyFirstItem::Drop => {
                self.adapt(item.at, ParseWarningKind::EmptyFirstItem);
                if item.is_bare_task {
                    self.made -= 1;
                    self.out.last_mut().and_then(Vec::pop);
                    self.spans.last_mut().and_then(Vec::pop);
                }
                // Without its only child, the enclosing item is empty again, and may be dropped in
                // turn.
                let made = self.made;
                if let Some(around) = self.inner_item().filter(|around| around.made_before == made)
                {
                    around.holds = ItemContent::Nothing;
                }
                Ok(())
            }
        }
    }

    pub(crate) fn unclosed(&mut self, element: Element, at: (usize, usize)) {
        self.adapt(at, ParseWarningKind::Unclosed(element.name()));
    }
}
