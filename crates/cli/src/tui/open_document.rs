//! The open document: its visible blocks and the selected one.

use std::collections::{BTreeMap, HashSet};

use leafbase::{
    BlockId, Connection, DocumentId, Fetch, FlatBlock, Full, ListStyle, PlainText, Watcher,
};

use super::block_lines::BlockContext;

/// A document, followed as it changes.
pub(crate) struct OpenDocument {
    id: DocumentId,
    watcher: Watcher<Full, Fetch>,
    /// The pages that were opened, and the toggles that were closed. What is below the root and in
    /// no page is always visible.
    flipped: HashSet<BlockId>,
    shown: Vec<ShownBlock>,
    selected: usize,
}

/// A block that no closed page hides.
#[derive(Clone, Copy, Debug)]
struct ShownBlock {
    /// Its index among the blocks of the document.
    index: usize,
    context: BlockContext,
}

impl OpenDocument {
    pub(crate) fn open(notes: &Connection, id: DocumentId) -> leafbase::Result<Self> {
        let watcher = notes.watch(Fetch::new(id))?;
        let (flipped, shown) = (HashSet::new(), Vec::new());
        let mut opened = Self { id, watcher, flipped, shown, selected: 0 };
        opened.arrange();
        Ok(opened)
    }

    pub(crate) const fn id(&self) -> DocumentId {
        self.id
    }

    pub(crate) fn title(&self) -> String {
        let root = self.watcher.entries().first();
        root.map(|root| PlainText::of(&root.block.data.inline).into_string()).unwrap_or_default()
    }

    pub(crate) const fn selected(&self) -> usize {
        self.selected
    }

    /// A shown block.
    pub(crate) fn entry(&self, place: usize) -> Option<(&FlatBlock, BlockContext)> {
        let shown = self.shown.get(place)?;
        Some((self.watcher.entries().get(shown.index)?, shown.context))
    }

    pub(crate) fn selected_entry(&self) -> Option<(&FlatBlock, BlockContext)> {
        self.entry(self.selected)
    }

    /// The blocks below the selected one.
    pub(crate) fn below_selected(&self) -> usize {
        let Some(shown) = self.shown.get(self.selected) else { return 0 };
        let mut entries = self.watcher.entries().iter().skip(shown.index);
        let depth = entries.next().map_or(0, |entry| entry.depth);
        entries.take_while(|entry| entry.depth > depth).count()
    }

    pub(crate) fn select(&mut self, place: usize) {
        self.selected = place.min(self.shown.len().saturating_sub(1));
    }

    /// Selects a block; opens the pages and toggles that it is in.
    pub(crate) fn select_block(&mut self, block: BlockId) {
        let entries = self.watcher.entries();
        let Some(index) = entries.iter().position(|entry| entry.block.id == block) else { return };
        let mut level = entries.get(index).map_or((0, 0), level);
        for entry in entries.iter().take(index).rev() {
            let (depth, indentation) = self::level(entry);
            if depth < level.0 {
                self.flipped.insert(entry.block.id);
            } else if depth == level.0 && indentation < level.1 {
                if entry.block.data.list_style == ListStyle::Toggle {
                    self.flipped.remove(&entry.block.id);
                }
            } else {
                continue;
            }
            level = (depth, indentation);
        }
        self.arrange();
        let place = self.shown.iter().position(|shown| shown.index == index);
        self.select(place.unwrap_or(self.selected));
    }

    /// Selects the block with most of the words; among equals the first in reading order.
    pub(crate) fn select_match(&mut self, blocks: &[BlockId], words: &[String]) {
        let blocks: HashSet<_> = blocks.iter().collect();
        let entries = self.watcher.entries().iter();
        let matches = entries.filter(|entry| blocks.contains(&entry.block.id)).map(|entry| {
            let text = entry.block.markdown().to_lowercase();
            let count = words.iter().filter(|word| text.contains(word.as_str())).count();
            (count, entry.block.id)
        });
        // Among equal maxima max_by_key returns the last one, so the order is reversed.
        let matches: Vec<_> = matches.collect();
        let best = matches.into_iter().rev().max_by_key(|(count, _)| *count);
        if let Some((_, block)) = best {
            self.select_block(block);
        }
    }

    /// Opens the selected page or toggle, or closes it; whether the selected block is one with
    /// blocks below it.
    pub(crate) fn toggle(&mut self) -> bool {
        let foldable = self.selected_entry().filter(|(_, context)| context.is_open.is_some());
        let Some(block) = foldable.map(|(entry, _)| entry.block.id) else { return false };
        if !self.flipped.remove(&block) {
            self.flipped.insert(block);
        }
        self.arrange();
        true
    }

    /// Applies patches of the watcher; returns whether anything changed. Keeps the selected block.
    pub(crate) fn refresh(&mut self) -> leafbase::Result<bool> {
        let before = self.selected_entry().map(|(entry, _)| entry.block.id);
        let mut is_changed = false;
        while self.watcher.try_next()?.is_some() {
            is_changed = true;
        }
        if is_changed {
            self.arrange();
            let is_same =
                |place: &usize| self.entry(*place).map(|(entry, _)| entry.block.id) == before;
            let place = (0..self.shown.len()).find(is_same);
            self.select(place.unwrap_or(self.selected));
        }
        Ok(is_changed)
    }

    /// Decides which blocks are shown.
    fn arrange(&mut self) {
        let entries = self.watcher.entries();
        let mut numbers = ListNumbers::default();
        let mut closed_at: Option<Level> = None;
        self.shown.clear();
        for (index, entry) in entries.iter().enumerate() {
            let level = level(entry);
            if closed_at.is_some_and(|closed| level > closed) {
                continue;
            }
            let is_toggle = entry.block.data.list_style == ListStyle::Toggle;
            // A page has what is deeper, a toggle also what is further in.
            let last = if is_toggle { level } else { (level.0, u8::MAX) };
            let has_blocks = entries.get(index + 1).is_some_and(|next| self::level(next) > last);
            let is_foldable = has_blocks && entry.depth > 0;
            let is_open = is_foldable.then(|| self.flipped.contains(&entry.block.id) != is_toggle);
            closed_at = (is_open == Some(false)).then_some(last);
            let context = BlockContext { number: numbers.next(entry), is_open };
            self.shown.push(ShownBlock { index, context });
        }
        self.select(self.selected);
    }
}

/// The depth of a block, and within it the indentation.
type Level = (usize, u8);

const fn level(entry: &FlatBlock) -> Level {
    (entry.depth, entry.block.data.indentation)
}

/// Counts the items of numbered lists, by depth and indentation.
#[derive(Default)]
struct ListNumbers(BTreeMap<(usize, u8), usize>);

impl ListNumbers {
    /// The number of the next block; 0 if it is in no numbered list.
    fn next(&mut self, entry: &FlatBlock) -> usize {
        let level = (entry.depth, entry.block.data.indentation);
        // Lists that are further in end here.
        self.0.retain(|other, _| *other <= level);
        if entry.block.data.list_style != ListStyle::Numbered {
            self.0.remove(&level);
            return 0;
        }
        let number = self.0.entry(level).or_default();
        *number += 1;
        *number
    }
}
