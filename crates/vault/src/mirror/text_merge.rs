//! The three-way merge of two texts by their blocks, and of how both write them.

use leafbase::BlockDraft;
use leafbase::bulk::SourceLayout;
use leafbase::markdown::render;
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// A range of blocks of the base that one side replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ReplacedRange {
    start: usize,
    end: usize,
    with: std::ops::Range<usize>,
}

impl ReplacedRange {
    /// Whether both replace a common block, or insert at one place.
    fn overlaps(&self, other: &Self) -> bool {
        let is_same = (self.start, self.end) == (other.start, other.end);
        is_same || (self.start < other.end && other.start < self.end)
    }

    /// The block of the base that the block number `at` of the replacement is, if each is one.
    fn origin(&self, at: usize) -> Option<usize> {
        (self.end - self.start == self.with.len()).then_some(self.start + at)
    }
}

/// The texts of a merge.
#[derive(Clone, Copy, Debug)]
pub(super) struct MergeTexts<'a> {
    /// The text that both sides were edited from.
    pub(super) base: &'a [BlockDraft],
    /// The document.
    pub(super) ours: &'a [BlockDraft],
    /// The file.
    pub(super) theirs: &'a [BlockDraft],
    /// The blocks of the file as the document would show them. A layout of `theirs` that no
    /// document shows, such as a wiki link, is not in `base` and `ours` either.
    pub(super) shown: &'a [BlockDraft],
}

/// A side of a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MergeSide {
    Ours,
    Theirs,
}

impl MergeTexts<'_> {
    /// Merges both sides. `None` if they replaced the same blocks by different ones, inserted at
    /// the same place, or wrote a block that both kept in different ways.
    pub(super) fn merged(mut self) -> Option<Vec<BlockDraft>> {
        let is_alike = self.theirs.len() == self.shown.len()
            && self.theirs.iter().zip(self.shown).all(|(one, other)| count(one) == count(other));
        if !is_alike {
            self.shown = self.theirs;
        }
        let [before, one, other] = [self.base, self.ours, self.theirs].map(keys);
        let (left, right) = (replacements(&before, &one), replacements(&before, &other));
        let kept = [alignment(before.len(), &left), alignment(before.len(), &right)];
        let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
        let (mut blocks, mut at) = (Vec::new(), 0);
        loop {
            let (next, side) = match (left.peek(), right.peek()) {
                (None, None) => break,
                (Some(l), Some(r)) if l.overlaps(r) => {
                    // Both made the same edit: it is taken once.
                    let is_same = (l.start, l.end) == (r.start, r.end)
                        && one.get(l.with.clone()) == other.get(r.with.clone());
                    if !is_same {
                        return None;
                    }
                    let (l, r) = (left.next()?, right.next()?);
                    self.add_kept(&mut blocks, at..l.start, &kept)?;
                    for (number, (ours, theirs)) in l.with.clone().zip(r.with).enumerate() {
                        let base = l.origin(number);
                        blocks.push(self.block(base, ours, theirs, MergeSide::Ours)?);
                    }
                    at = l.end;
                    continue;
                }
                (Some(l), Some(r)) if (l.start, l.end) > (r.start, r.end) => {
                    (right.next()?, MergeSide::Theirs)
                }
                (Some(_), _) => (left.next()?, MergeSide::Ours),
                (None, Some(_)) => (right.next()?, MergeSide::Theirs),
            };
            self.add_kept(&mut blocks, at..next.start, &kept)?;
            self.add_replaced(&mut blocks, &next, side, &kept)?;
            at = next.end;
        }
        self.add_kept(&mut blocks, at..before.len(), &kept)?;
        Some(blocks)
    }

    /// Adds blocks of the base whose content neither side changed.
    fn add_kept(
        &self,
        blocks: &mut Vec<BlockDraft>,
        range: std::ops::Range<usize>,
        [ours, theirs]: &[Vec<Option<usize>>; 2],
    ) -> Option<()> {
        for at in range {
            let (ours, theirs) = ((*ours.get(at)?)?, (*theirs.get(at)?)?);
            blocks.push(self.block(Some(at), ours, theirs, MergeSide::Ours)?);
        }
        Some(())
    }

    /// Adds the blocks by which one side replaced a range that the other left as it was.
    fn add_replaced(
        &self,
        blocks: &mut Vec<BlockDraft>,
        range: &ReplacedRange,
        side: MergeSide,
        [ours, theirs]: &[Vec<Option<usize>>; 2],
    ) -> Option<()> {
        let (other, shown) = match side {
            MergeSide::Ours => (theirs, self.shown),
            MergeSide::Theirs => (ours, self.ours),
        };
        for (number, at) in range.with.clone().enumerate() {
            let Some(origin) = range.origin(number) else {
                let from = if side == MergeSide::Ours { self.ours } else { self.theirs };
                blocks.push(from.get(at)?.clone());
                continue;
            };
            let other = (*other.get(origin)?)?;
            let (ours, theirs) = match side {
                MergeSide::Ours => (at, other),
                MergeSide::Theirs => (other, at),
            };
            blocks.push(self.block(Some(origin), ours, theirs, side)?);
        }
        if range.origin(0).is_none() {
            // The other side may have written a block in another way that is gone now.
            for at in range.start..range.end {
                let other = shown.get((*other.get(at)?)?)?;
                is_written_alike(self.base.get(at)?, other).then_some(())?;
            }
        }
        Some(())
    }

    /// A block with the content of one side, and the layout of the side that changed it.
    fn block(
        &self,
        base: Option<usize>,
        ours: usize,
        theirs: usize,
        side: MergeSide,
    ) -> Option<BlockDraft> {
        let (ours, shown, theirs) =
            (self.ours.get(ours)?, self.shown.get(theirs)?, self.theirs.get(theirs)?);
        let base = base.and_then(|base| self.base.get(base));
        let (mut block, kept) = match side {
            MergeSide::Ours => (ours.clone(), shown),
            MergeSide::Theirs => (theirs.clone(), ours),
        };
        let has_count = |block: &BlockDraft| count(block) == count(ours);
        if !has_count(theirs) || base.is_some_and(|base| !has_count(base)) {
            // Blocks below a page came or went.
            let is_alike = base.is_none_or(|base| is_written_alike(base, kept));
            return is_alike.then_some(block);
        }
        let mut base = base.map(layouts).into_iter().flatten();
        let mut sides = layouts(ours).zip(layouts(theirs)).zip(layouts(shown));
        let mut stack = vec![&mut block];
        while let Some(BlockDraft { data, content, .. }) = stack.pop() {
            let ((ours, theirs), shown) = sides.next()?;
            data.layout = merged_layout(base.next(), ours, theirs, &shown)?.into_option();
            stack.extend(content.iter_mut().rev());
        }
        Some(block)
    }
}

/// The layout of a block: of the side that changed it. `None` if both did.
fn merged_layout(
    base: Option<SourceLayout>,
    ours: SourceLayout,
    theirs: SourceLayout,
    shown: &SourceLayout,
) -> Option<SourceLayout> {
    // A file alone says how its links are written.
    let links = theirs.links.clone();
    let Some(base) = base else { return Some(theirs) };
    let before = if shown.before == base.before { &ours } else { &theirs }.before.clone();
    let [base, our_lines, their_lines] = [&base, &ours, shown].map(own_lines);
    let lines = if their_lines == base {
        ours
    } else if our_lines == base || our_lines == their_lines {
        theirs
    } else {
        return None;
    };
    Some(SourceLayout { before, links, file: None, ..lines })
}

/// A layout as far as it is of the block's own lines.
fn own_lines(layout: &SourceLayout) -> SourceLayout {
    SourceLayout { before: None, links: Vec::new(), file: None, ..layout.clone() }
}

/// Whether two blocks of the same content are written in the same way, with all below them.
fn is_written_alike(one: &BlockDraft, other: &BlockDraft) -> bool {
    let [one, other] = [one, other].map(|block| layouts(block).map(|layout| own_lines(&layout)));
    one.eq(other)
}

fn layouts(block: &BlockDraft) -> impl Iterator<Item = SourceLayout> {
    let layouts = block.walk().map(|(_, draft)| draft.data.layout.as_deref());
    layouts.map(|layout| layout.map_or_else(SourceLayout::default, Clone::clone))
}

fn count(block: &BlockDraft) -> usize {
    block.walk().count()
}

/// Whether both texts have the same content, whatever their layout.
pub(super) fn have_same_content(one: &[BlockDraft], other: &[BlockDraft]) -> bool {
    render(one) == render(other)
}

/// The content of each block: its indentation, which it has among other blocks alone, and its
/// markdown.
fn keys(blocks: &[BlockDraft]) -> Vec<(u8, String)> {
    let key = |block: &BlockDraft| (block.data.indentation, render(std::slice::from_ref(block)));
    blocks.iter().map(key).collect()
}

/// The index that each block of the base has on a side, if that left it as it was.
fn alignment(blocks: usize, replaced: &[ReplacedRange]) -> Vec<Option<usize>> {
    let (mut aligned, mut next) = (Vec::with_capacity(blocks), 0);
    for range in replaced {
        let kept = range.start - aligned.len();
        aligned.extend((next..next + kept).map(Some));
        aligned.extend((range.start..range.end).map(|_| None));
        next = range.with.end;
    }
    let rest = blocks - aligned.len();
    aligned.extend((next..next + rest).map(Some));
    aligned
}

fn replacements(before: &[(u8, String)], after: &[(u8, String)]) -> Vec<ReplacedRange> {
    let operations = capture_diff_slices(Algorithm::Myers, before, after);
    let changed = operations.iter().filter(|operation| !matches!(operation, DiffOp::Equal { .. }));
    let mut found: Vec<ReplacedRange> = Vec::new();
    for operation in changed {
        let (old, with) = (operation.old_range(), operation.new_range());
        match found.last_mut().filter(|last| last.end == old.start && last.with.end == with.start) {
            Some(last) => (last.end, last.with.end) = (old.end, with.end),
            None => found.push(ReplacedRange { start: old.start, end: old.end, with }),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use leafbase::markdown::{ParseOptions, parse_with_layout, render_as_written};

    use super::*;

    fn blocks(text: &str) -> Vec<BlockDraft> {
        parse_with_layout(text, &ParseOptions::default()).expect("parses").blocks
    }

    #[test]
    fn edits_of_different_blocks_are_merged() {
        for (base, ours, theirs, expected) in [
            ("a\n\nb\n\nc", "A\n\nb\n\nc", "a\n\nb\n\nC", Some("A\n\nb\n\nC")),
            ("a\n\nb\n\nc", "a\n\nc", "a\n\nb\n\nc\n\nd", Some("a\n\nc\n\nd")),
            ("a\n\nb\n\nc", "a\n\nb\n\nc", "c", Some("c")),
            ("a\n\nb", "A\n\nb", "A\n\nb", Some("A\n\nb")),
            ("a\n\nb", "A\n\nb", "a\n\nB", Some("A\n\nB")),
            ("a\n\nb", "a\n\nx\n\nb", "a\n\nB", Some("a\n\nx\n\nB")),
            ("a\n\nb", "A\n\nb", "a\n\nx\n\nb", Some("A\n\nx\n\nb")),
            ("a\n\nb", "x\n\na\n\nb", "a\n\nb\n\ny", Some("x\n\na\n\nb\n\ny")),
            ("- a\n- b\n- c", "- A\n- b\n- c", "- a\n- b\n- C", Some("- A\n- b\n- C")),
            ("a\n\nb", "A\n\nb", "B\n\nb", None),
            ("a\n\nb", "A\n\nb", "b", None),
            ("a", "a\n\nx", "a\n\ny", None),
            ("", "x", "y", None),
            ("", "x", "", Some("x")),
            // What a block does not say by itself, and how it is written.
            ("- a\n\np\n\nq", "- a\n\np\n\nQ", "- a\n\n  p\n\nq", Some("- a\n\n  p\n\nQ")),
            ("- a\n- b", "- a\n- B", "- a\n  - b", None),
            ("1. a\n\nq", "1. a\n\nQ", "5. a\n\nq", Some("5. a\n\nQ")),
            ("1. a\n\nq", "5. a\n\nq", "1. a\n\nQ", Some("5. a\n\nQ")),
            ("1. a\n\nq", "5. a\n\nq", "1. A\n\nq", Some("5. A\n\nq")),
            ("1. a\n\nq", "1. A\n\nq", "5. a\n\nq", Some("5. A\n\nq")),
            ("1. a\n\nq", "5. a\n\nq", "5. a\n\nQ", Some("5. a\n\nQ")),
            ("1. a\n\nq", "5. a\n\nq", "7. a\n\nQ", None),
            ("1. a\n\nq", "q", "5. a\n\nq", None),
            ("1. a\n\nq", "1. a\n\nx\n\nq", "5. a\n\nq", Some("5. a\n\nx\n\nq")),
            ("> a\n\nq", "> a\n\nQ", "> > a\n\nq", Some("> > a\n\nQ")),
            ("* a\n\nq", "* a\n\nQ", "- a\n\nq", Some("- a\n\nQ")),
            ("- [ ] a\n\nq", "- [ ] a\n\nQ", "1. [ ] a\n\nq", Some("1. [ ] a\n\nQ")),
            ("#### a\n\nq", "#### a\n\nQ", "###### a\n\nq", Some("###### a\n\nQ")),
            ("    a\n\nq", "    a\n\nQ", "~~~\na\n~~~\n\nq", Some("~~~\na\n~~~\n\nQ")),
            ("a\n\nb\n\nc", "a\n\nb\n\nC", "a\n\n\nb\n\nc", Some("a\n\n\nb\n\nC")),
        ] {
            let [base, ours, theirs] = [base, ours, theirs].map(blocks);
            let texts = MergeTexts { base: &base, ours: &ours, theirs: &theirs, shown: &theirs };
            let text = texts.merged().map(|blocks| render_as_written(&blocks, None));
            assert_eq!(text.as_deref(), expected, "{texts:?}");
        }
    }
}
