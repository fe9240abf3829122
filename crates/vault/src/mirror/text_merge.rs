//! The three-way merge of two texts by their blocks.

use leafbase::BlockDraft;
use leafbase::markdown::render;
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// A range of blocks of the base that one side replaced.
#[derive(Debug, PartialEq, Eq)]
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
}

/// Merges `ours` and `theirs`, both edited from `base`. `None` if both replaced the same blocks by
/// different ones, or inserted at the same place.
pub(super) fn merged(
    base: &[BlockDraft],
    ours: &[BlockDraft],
    theirs: &[BlockDraft],
) -> Option<Vec<BlockDraft>> {
    let [before, one, other] = [base, ours, theirs].map(texts);
    let (mut left, mut right) = (
        replacements(&before, &one).into_iter().peekable(),
        replacements(&before, &other).into_iter().peekable(),
    );
    let (mut blocks, mut at) = (Vec::new(), 0);
    loop {
        let (next, from) = match (left.peek(), right.peek()) {
            (None, None) => break,
            (Some(l), Some(r)) if l.overlaps(r) => {
                // Both made the same edit: it is taken once.
                let is_same = (l.start, l.end) == (r.start, r.end)
                    && one.get(l.with.clone()) == other.get(r.with.clone());
                if !is_same {
                    return None;
                }
                right.next();
                (left.next()?, ours)
            }
            (Some(l), Some(r)) if (l.start, l.end) > (r.start, r.end) => (right.next()?, theirs),
            (Some(_), _) => (left.next()?, ours),
            (None, Some(_)) => (right.next()?, theirs),
        };
        blocks.extend_from_slice(base.get(at..next.start)?);
        blocks.extend_from_slice(from.get(next.with)?);
        at = next.end;
    }
    blocks.extend_from_slice(base.get(at..)?);
    Some(blocks)
}

/// Whether both texts are equal.
pub(super) fn are_equal(one: &[BlockDraft], other: &[BlockDraft]) -> bool {
    render(one) == render(other)
}

fn texts(blocks: &[BlockDraft]) -> Vec<String> {
    blocks.iter().map(|block| render(std::slice::from_ref(block))).collect()
}

fn replacements(before: &[String], after: &[String]) -> Vec<ReplacedRange> {
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
    use leafbase::markdown::{ParseOptions, parse};

    use super::*;

    fn blocks(text: &str) -> Vec<BlockDraft> {
        parse(text, &ParseOptions::default()).expect("parses").blocks
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
        ] {
            let merged = merged(&blocks(base), &blocks(ours), &blocks(theirs));
            let text = merged.map(|blocks| render(&blocks));
            assert_eq!(text.as_deref(), expected, "{base:?} {ours:?} {theirs:?}");
        }
    }
}
