//! The part of a page in which a new text differs from its own.
//!
//! Markdown is read from line to line, so a part reads alone as it does in the text if nothing is
//! open before it and after it. That holds at a paragraph between blank lines: it closes the lists
//! and quotes before it. If something else is open, such as code, the paragraph is not read as a
//! block of its own, which is checked.

use std::ops::Range;

use leafbase_markdown::EmptyFirstItem;
use leafbase_model::{BlockType, Decorations, Limits, ListStyle, Result, TextStyle};

use super::outline::{self, OutlineBlock, PageReading};

/// A part that starts and ends with a paragraph that stays, or with the page.
pub(super) struct ChangedPart<'t> {
    old: &'t str,
    new: &'t str,
    /// Its blocks at the top of the page.
    blocks: Range<usize>,
    starts_with_paragraph: bool,
    ends_with_paragraph: bool,
}

impl<'t> ChangedPart<'t> {
    /// The least part in which `text` differs from that of the page; `None` if it is most of
    /// either.
    pub(super) fn find(page: &'t PageReading, text: &'t str) -> Option<Self> {
        let [old, new] = [&*page.text, text].map(|text| text.trim_end_matches('\n'));
        let lines = |text: &'t str| text.split_inclusive('\n');
        let same_start = lines(old).zip(lines(new)).take_while(|(old, new)| old == new);
        let same_start: usize = same_start.map(|(line, _)| line.len()).sum();
        let lines = |text: &'t str| text.get(same_start..).unwrap_or_default().rsplit('\n');
        let same_end = lines(old).zip(lines(new)).take_while(|(old, new)| old == new);
        let same_end: usize = same_end.map(|(line, _)| "\n".len() + line.len()).sum();

        let starts = page.starts.as_slice();
        // Of the first paragraph, the blank line after it stays, too; of the last, that before it.
        let after_first = starts.partition_point(|start| *start <= same_start);
        let is_paragraph = |block: &usize| page.is_paragraph(*block);
        let first = (0..after_first.saturating_sub(1)).rev().find(is_paragraph);
        let before_last = "\n\n".len() + old.len() - same_end.min(old.len());
        let last = starts.partition_point(|start| *start < before_last);
        let last = (last..starts.len()).find(is_paragraph);

        let start = first.and_then(|first| starts.get(first)).copied().unwrap_or(0);
        let (old, new) = match last {
            None => (page.text.get(start..)?, text.get(start..)?),
            Some(last) => {
                let after = starts.get(last + 1).map_or("", |next| old.get(*next..).unwrap_or(""));
                (old.strip_suffix(after)?.get(start..)?, new.strip_suffix(after)?.get(start..)?)
            }
        };
        let is_small = 2 * old.len() <= page.text.len() && 2 * new.len() <= text.len();
        is_small.then_some(Self {
            old,
            new,
            blocks: first.unwrap_or(0)..last.map_or(starts.len(), |last| last + 1),
            starts_with_paragraph: first.is_some(),
            ends_with_paragraph: last.is_some(),
        })
    }

    /// The blocks of the part, as the page has them and as the new text does; `None` if it cannot
    /// be read alone.
    pub(super) fn blocks(
        &self,
        page: &PageReading,
        limits: &Limits,
    ) -> Result<Option<(Vec<OutlineBlock>, Vec<OutlineBlock>)>> {
        let Some(content) = page.content.get(self.blocks.clone()) else { return Ok(None) };
        // An error is told with its place in the whole text.
        let Ok(new) = outline::parse(self.new, limits, EmptyFirstItem::Refuse) else {
            return Ok(None);
        };
        let new = outline::listed(new);
        let Some(old) = page.blocks_of(content, self.old, limits)? else { return Ok(None) };
        let is_kept = |old: Option<&OutlineBlock>, new: Option<&OutlineBlock>| {
            old.zip(new).is_some_and(|(old, new)| old.depth == new.depth && old.data == new.data)
        };
        let is_alone = (!self.starts_with_paragraph || is_kept(old.first(), new.first()))
            && (!self.ends_with_paragraph || is_kept(old.last(), new.last()));
        Ok(is_alone.then_some((old, new)))
    }
}

impl PageReading {
    /// Whether a block at the top of the page is a paragraph at the margin, between blank lines.
    fn is_paragraph(&self, block: usize) -> bool {
        let (Some(own), Some(start)) = (self.content.get(block), self.starts.get(block)) else {
            return false;
        };
        let data = &own.data;
        let is_plain = data.text_format().is_some_and(|format| format.style == TextStyle::Body)
            && data.block_type() == BlockType::Text
            && (data.list_style, data.indentation) == (ListStyle::None, 0)
            && data.decorations == Decorations::default()
            && own.children().is_empty();
        let follows_blank = |start: &usize| {
            let before = self.text.get(..*start);
            before.is_some_and(|before| before.is_empty() || before.ends_with("\n\n"))
        };
        // No mark of a list, a quote or anything else starts with a letter.
        let starts_with_letter =
            || self.text.get(*start..).is_some_and(|own| own.starts_with(char::is_alphabetic));
        let next = self.starts.get(block + 1);
        is_plain && follows_blank(start) && next.is_none_or(follows_blank) && starts_with_letter()
    }
}
