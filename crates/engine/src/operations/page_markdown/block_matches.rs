//! Which blocks of a page the blocks of its new text are.
//!
//! Blocks that say the same come first: those that say it alone on both sides, wherever they are,
//! then those between them by the difference of the lists (Myers, "An O(ND) difference algorithm",
//! 1986), then the rest. What is left is matched by the pairs of letters in common, and a block
//! that is alone between matched ones matches the one that was alone there.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use leafbase_model::BlockType;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::outline::OutlineBlock;
use crate::operations::list_patch::longest_ascent;

/// Most pairs of blocks that are compared by the difference of lists: those of two lists of 1,000.
const MAX_DIFFERENCE_PAIRS: usize = 1_000_000;

/// Letters at the start of a word that lead from one block to another: `passport` to `passports`.
const WORD_START_LETTERS: usize = 4;

/// Most blocks that such letters may be in.
const MAX_BLOCKS_PER_WORD: usize = 8;

/// Most pairs of blocks between matched ones that are compared by their texts.
const MAX_NEAR_PAIRS: usize = 64;

/// The least likeness of blocks that are one block, between the same matched blocks and elsewhere.
const LEAST_LIKENESS: [f64; 2] = [0.4, 0.6];

/// For each block of `new`, the index of the block of `old` that it is.
pub(super) fn matched(old: &[OutlineBlock], new: &[OutlineBlock]) -> Vec<Option<usize>> {
    // What both begin and end with is most of a page that was edited.
    let is_same = |(old, new): &(&OutlineBlock, &OutlineBlock)| old.data == new.data;
    let start = old.iter().zip(new).take_while(is_same).count();
    let (_, old_rest) = old.split_at(start);
    let (_, new_rest) = new.split_at(start);
    let end = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(is_same).count();
    let (old_middle, _) = old_rest.split_at(old_rest.len() - end);
    let (new_middle, _) = new_rest.split_at(new_rest.len() - end);
    let mut matching = Matching::new(old_middle, new_middle);
    matching.match_unique();
    matching.match_between();
    matching.match_repeated();
    matching.match_alike();
    matching.match_lone();
    let between = matching.new_to_old.iter().map(|old| old.map(|old| old + start));
    let ends = (old.len() - end..old.len()).map(Some);
    let matched: Vec<_> = (0..start).map(Some).chain(between).chain(ends).collect();
    debug_assert_eq!(matched.len(), new.len(), "each block has its match, or none");
    matched
}

struct Matching<'a> {
    old: &'a [OutlineBlock],
    new: &'a [OutlineBlock],
    /// Equal for blocks that say the same.
    keys: [Vec<usize>; 2],
    new_to_old: Vec<Option<usize>>,
    old_to_new: Vec<Option<usize>>,
}

/// Unmatched blocks of both sides between the same matched ones.
struct Gap {
    old: Vec<usize>,
    new: Vec<usize>,
}

impl<'a> Matching<'a> {
    fn new(old: &'a [OutlineBlock], new: &'a [OutlineBlock]) -> Self {
        let mut known: HashMap<&str, Vec<(&OutlineBlock, usize)>> = HashMap::new();
        let mut count = 0;
        let mut key = |block: &'a OutlineBlock| {
            let alike = known.entry(block.text()).or_default();
            if let Some((_, key)) = alike.iter().find(|(other, _)| other.data == block.data) {
                return *key;
            }
            count += 1;
            alike.push((block, count));
            count
        };
        let keys = [old.iter().map(&mut key).collect(), new.iter().map(&mut key).collect()];
        Self {
            old,
            new,
            keys,
            new_to_old: vec![None; new.len()],
            old_to_new: vec![None; old.len()],
        }
    }

    fn join(&mut self, old: usize, new: usize) {
        if let (Some(to_new), Some(to_old)) =
            (self.old_to_new.get_mut(old), self.new_to_old.get_mut(new))
        {
            debug_assert!(to_new.is_none() && to_old.is_none(), "a block is matched once");
            (*to_new, *to_old) = (Some(new), Some(old));
        }
    }

    fn is_free(&self, old: usize) -> bool {
        self.old_to_new.get(old).is_some_and(Option::is_none)
    }

    /// Matches the blocks that say something that one other block says, on the other side.
    fn match_unique(&mut self) {
        let [old, new] = self.keys.each_ref().map(|keys| lone_keys(keys));
        let mut pairs: Vec<_> =
            new.into_iter().filter_map(|(key, at)| Some((*old.get(&key)?, at))).collect();
        pairs.sort_unstable();
        for (old, new) in pairs {
            self.join(old, new);
        }
    }

    /// The unmatched blocks between matched blocks in their order.
    fn gaps(&self) -> Vec<Gap> {
        let matched: Vec<usize> = self.new_to_old.iter().flatten().copied().collect();
        let mut gaps = Vec::new();
        let (mut last_old, mut last_new) = (0, 0);
        let mut ends = longest_ascent(&matched);
        ends.sort_unstable();
        let ends = ends.into_iter();
        let ends = ends.filter_map(|old| Some((old, self.old_to_new.get(old).copied().flatten()?)));
        for (old, new) in ends.chain([(self.old.len(), self.new.len())]) {
            debug_assert!(
                last_old <= old && last_new <= new,
                "an ascent is in the order of both lists"
            );
            let free = |range: Range<usize>, list: &[Option<usize>]| -> Vec<usize> {
                range.filter(|at| list.get(*at).is_some_and(Option::is_none)).collect()
            };
            let gap = Gap {
                old: free(last_old..old, &self.old_to_new),
                new: free(last_new..new, &self.new_to_old),
            };
            if !gap.old.is_empty() && !gap.new.is_empty() {
                gaps.push(gap);
            }
            (last_old, last_new) = (old + 1, new + 1);
        }
        gaps
    }

    /// Matches equal blocks between matched ones.
    fn match_between(&mut self) {
        for gap in self.gaps() {
            if gap.old.len().saturating_mul(gap.new.len()) > MAX_DIFFERENCE_PAIRS {
                continue;
            }
            let [old, new] = [(&gap.old, 0), (&gap.new, 1)].map(|(list, side)| {
                let keys = self.keys.get(side);
                list.iter().filter_map(|at| keys?.get(*at).copied()).collect::<Vec<usize>>()
            });
            for operation in capture_diff_slices(Algorithm::Myers, &old, &new) {
                if let DiffOp::Equal { old_index, new_index, len } = operation {
                    for step in 0..len {
                        if let (Some(old), Some(new)) =
                            (gap.old.get(old_index + step), gap.new.get(new_index + step))
                        {
                            self.join(*old, *new);
                        }
                    }
                }
            }
        }
    }

    /// Matches equal blocks that are still unmatched, in order.
    fn match_repeated(&mut self) {
        let [old_keys, new_keys] = &self.keys;
        let mut free: HashMap<usize, Vec<usize>> = HashMap::new();
        for (at, key) in old_keys.iter().enumerate().rev().filter(|(at, _)| self.is_free(*at)) {
            free.entry(*key).or_default().push(at);
        }
        let mut pairs = Vec::new();
        for (at, key) in new_keys.iter().enumerate() {
            if self.new_to_old.get(at).is_some_and(Option::is_none)
                && let Some(old) = free.get_mut(key).and_then(Vec::pop)
            {
                pairs.push((old, at));
            }
        }
        for (old, new) in pairs {
            self.join(old, new);
        }
    }

    /// Matches blocks with alike texts, the most alike first.
    fn match_alike(&mut self) {
        let free = |list: &[Option<usize>]| -> Vec<usize> {
            list.iter().enumerate().filter(|(_, to)| to.is_none()).map(|(at, _)| at).collect()
        };
        let [old, new] = [free(&self.old_to_new), free(&self.new_to_old)];
        if old.is_empty() || new.is_empty() {
            return;
        }
        let texts = |blocks: &'a [OutlineBlock], list: &[usize]| -> Vec<(usize, &'a str)> {
            list.iter().filter_map(|at| Some((*at, blocks.get(*at)?.text()))).collect()
        };
        let [old_texts, new_texts] = [texts(self.old, &old), texts(self.new, &new)];
        let mut pairs: HashSet<(usize, usize)> = HashSet::new();
        let mut near: HashSet<(usize, usize)> = HashSet::new();
        let mut gap_of: HashMap<usize, usize> = HashMap::new();
        for (number, gap) in self.gaps().iter().enumerate() {
            gap_of.extend(gap.new.iter().map(|at| (*at, number)));
            let is_small = gap.old.len().saturating_mul(gap.new.len()) <= MAX_NEAR_PAIRS;
            for old in &gap.old {
                near.insert((*old, number));
                if is_small {
                    pairs.extend(gap.new.iter().map(|new| (*old, *new)));
                }
            }
        }
        let mut with_word: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, text) in &old_texts {
            for start in word_starts(text) {
                with_word.entry(start).or_default().push(*at);
            }
        }
        with_word.retain(|_, blocks| blocks.len() <= MAX_BLOCKS_PER_WORD);
        for (at, text) in &new_texts {
            let others = word_starts(text).into_iter().filter_map(|it| with_word.get(it)).flatten();
            pairs.extend(others.map(|old| (*old, *at)));
        }
        let [old_pairs, new_pairs] = [old_texts, new_texts].map(|texts| {
            let pairs = texts.into_iter().map(|(at, text)| (at, LetterPairs::of(text)));
            pairs.collect::<HashMap<_, _>>()
        });
        let mut likely: Vec<(f64, usize, usize)> = Vec::new();
        for (old, new) in pairs {
            let (Some(before), Some(after)) = (self.old.get(old), self.new.get(new)) else {
                continue;
            };
            let (Some(old_pairs), Some(new_pairs)) = (old_pairs.get(&old), new_pairs.get(&new))
            else {
                continue;
            };
            let is_near = gap_of.get(&new).is_some_and(|gap| near.contains(&(old, *gap)));
            let likeness = old_pairs.likeness(new_pairs);
            let [least_near, least_far] = LEAST_LIKENESS;
            let least = if is_near { least_near } else { least_far };
            if may_be_one(before, after) && likeness >= least {
                let [near, style] = [is_near, before.data.kind == after.data.kind]
                    .map(|it| f64::from(u8::from(it)));
                likely.push((likeness + near * 0.5 + style * 0.1, old, new));
            }
        }
        likely.sort_by(|(one, a, b), (other, c, d)| {
            other.total_cmp(one).then_with(|| (a, b).cmp(&(c, d)))
        });
        for (_, old, new) in likely {
            if self.is_free(old) && self.new_to_old.get(new).is_some_and(Option::is_none) {
                self.join(old, new);
            }
        }
    }

    /// Matches a block that is alone between matched ones with the one that was alone there.
    fn match_lone(&mut self) {
        for gap in self.gaps() {
            let ([old], [new]) = (gap.old.as_slice(), gap.new.as_slice()) else { continue };
            if let (Some(before), Some(after)) = (self.old.get(*old), self.new.get(*new))
                && may_be_one(before, after)
                && before.data.list_style == after.data.list_style
                && before.depth == after.depth
            {
                self.join(*old, *new);
            }
        }
    }
}

/// The keys that occur once, with the index.
fn lone_keys(keys: &[usize]) -> HashMap<usize, usize> {
    let (mut seen, mut again) = (HashMap::new(), HashSet::new());
    for (at, key) in keys.iter().enumerate() {
        if seen.insert(*key, at).is_some() {
            again.insert(*key);
        }
    }
    seen.retain(|key, _| !again.contains(key));
    seen
}

/// Whether one block may become the other and keep its ID.
fn may_be_one(old: &OutlineBlock, new: &OutlineBlock) -> bool {
    let is_text =
        |block: &OutlineBlock| matches!(block.data.block_type(), BlockType::Text | BlockType::Page);
    let is_same = old.data.block_type() == new.data.block_type();
    !old.is_fixed() && (is_same || (is_text(old) && is_text(new)))
}

/// The pairs of letters in the text of a block, with how often each occurs.
struct LetterPairs {
    counts: HashMap<(char, char), usize>,
    total: usize,
}

impl LetterPairs {
    fn of(text: &str) -> Self {
        let (mut counts, mut total, mut last) = (HashMap::new(), 0, ' ');
        for letter in text.chars().filter(|letter| letter.is_alphanumeric() || *letter == ' ') {
            *counts.entry((last, letter)).or_default() += 1;
            (total, last) = (total + 1, letter);
        }
        Self { counts, total }
    }

    /// How alike two texts are, from 0 to 1 (Dice, "Measures of the amount of ecologic association
    /// between species", 1945).
    fn likeness(&self, other: &Self) -> f64 {
        let common = self.counts.iter().filter_map(|(pair, count)| {
            let other = other.counts.get(pair)?;
            Some(count.min(other))
        });
        ratio(2 * common.sum::<usize>(), self.total + other.total)
    }
}

/// The first letters of the words of a text: they lead to blocks that may be alike.
fn word_starts(text: &str) -> HashSet<&str> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|it| !it.is_empty());
    let start = |word: &'_ str| {
        word.char_indices().nth(WORD_START_LETTERS).map_or(word.len(), |(end, _)| end)
    };
    words.filter_map(|word| word.get(..start(word))).collect()
}

#[expect(clippy::cast_precision_loss, reason = "lengths of texts")]
fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
