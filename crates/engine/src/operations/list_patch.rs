//! Patches of lists: the steps that make one list of another.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use leafbase_model::{Error, Result};

/// A step of a [`ListPatch`]. As JSON: `{"step": "insert", "at": 0, "entry": {..}}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "step", rename_all = "camelCase")]
pub enum PatchStep<E> {
    /// Inserts an entry, which has this index then.
    Insert {
        /// Its index.
        at: usize,
        /// The entry.
        entry: E,
    },
    /// Removes an entry.
    Remove {
        /// Its index.
        at: usize,
    },
    /// Moves an entry.
    Move {
        /// Its index.
        from: usize,
        /// Its index once it was removed and inserted again.
        to: usize,
    },
    /// Replaces an entry by another one with the same key.
    Update {
        /// Its index.
        at: usize,
        /// The new entry.
        entry: E,
    },
}

/// What makes the result of a query that is watched the present one. As JSON: `{"sequence": 7,
/// "steps": [..]}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ListPatch<E> {
    /// All changes up to this one are in the result.
    pub sequence: u64,
    /// The steps, one after the other: removals from the end on, then insertions and moves from the
    /// start on, then updates. No entry moves that may stay.
    pub steps: Vec<PatchStep<E>>,
}

impl<E: Clone> ListPatch<E> {
    /// Makes the list before the patch the one after it.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::Validation`] at `steps[n]` for a step that does not fit: the
    /// list is another one. It may have changed up to there.
    pub fn apply(&self, list: &mut Vec<E>) -> Result<()> {
        for (index, step) in self.steps.iter().enumerate() {
            let is_applied = match step {
                PatchStep::Insert { at, entry } if *at <= list.len() => {
                    list.insert(*at, entry.clone());
                    true
                }
                PatchStep::Remove { at } if *at < list.len() => {
                    list.remove(*at);
                    true
                }
                PatchStep::Move { from, to } if *from < list.len() && *to < list.len() => {
                    let entry = list.remove(*from);
                    list.insert(*to, entry);
                    true
                }
                PatchStep::Update { at, entry } => {
                    list.get_mut(*at).map(|found| found.clone_from(entry)).is_some()
                }
                _ => false,
            };
            if !is_applied {
                let message = format!("the step does not fit a list of {} entries", list.len());
                return Err(Error::validation(message).at(format_args!("steps[{index}]")));
            }
        }
        Ok(())
    }
}

/// The steps from one list to another, without any that could be left out. Takes time in proportion
/// to the entries, and for each entry that moves or is inserted once more.
pub(crate) fn steps_between<E: Clone + PartialEq, K: Eq + Hash>(
    before: &[E],
    after: &[E],
    key: impl Fn(&E) -> K,
) -> Vec<PatchStep<E>> {
    let keys: Vec<K> = after.iter().map(&key).collect();
    let indexes: HashMap<&K, usize> = keys.iter().zip(0..).collect();
    debug_assert!(indexes.len() == keys.len(), "each entry has a key of its own");
    // Each entry of the list as it becomes, by its index in the list after.
    let (mut list, mut steps) = (Vec::with_capacity(after.len()), Vec::new());
    let mut updates = Vec::new();
    for (at, entry) in before.iter().enumerate().rev() {
        match indexes.get(&key(entry)) {
            Some(index) => {
                list.push(*index);
                if after.get(*index).is_some_and(|after| after != entry) {
                    updates.push(*index);
                }
            }
            None => steps.push(PatchStep::Remove { at }),
        }
    }
    list.reverse();
    let placed: HashSet<usize> = longest_ascent(&list).into_iter().collect();
    let kept: HashSet<usize> = list.iter().copied().collect();
    // Placed entries are in order, so each entry belongs right after its predecessor.
    for (index, entry) in after.iter().enumerate() {
        if placed.contains(&index) {
            continue;
        }
        let position = |index: usize, list: &[usize]| list.iter().position(|at| *at == index);
        let behind = match index.checked_sub(1) {
            Some(before) => position(before, &list).map_or(0, |at| at + 1),
            None => 0,
        };
        if kept.contains(&index) {
            let from = position(index, &list);
            debug_assert!(from.is_some(), "a kept entry is in the list");
            let Some(from) = from else { continue };
            let to = if from < behind { behind - 1 } else { behind };
            list.remove(from);
            list.insert(to, index);
            steps.push(PatchStep::Move { from, to });
        } else {
            list.insert(behind, index);
            steps.push(PatchStep::Insert { at: behind, entry: entry.clone() });
        }
    }
    debug_assert!(list.iter().copied().eq(0..after.len()), "the steps give the list after");
    updates.sort_unstable();
    let update = |at: usize| {
        let entry = after.get(at)?.clone();
        Some(PatchStep::Update { at, entry })
    };
    steps.extend(updates.into_iter().filter_map(update));
    steps
}

/// The elements of a longest ascending subsequence of distinct numbers (Fredman, "On computing the
/// length of longest increasing subsequences", 1975).
pub(crate) fn longest_ascent(numbers: &[usize]) -> Vec<usize> {
    // For each length, the index of the smallest number that an ascent of it ends with.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous = vec![None; numbers.len()];
    for (index, number) in numbers.iter().enumerate() {
        let length = ends.partition_point(|end| numbers.get(*end).is_some_and(|end| end < number));
        if let Some(previous) = previous.get_mut(index) {
            *previous = length.checked_sub(1).and_then(|before| ends.get(before).copied());
        }
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut found = Vec::with_capacity(ends.len());
    let mut at = ends.last().copied();
    while let Some(index) = at {
        found.extend(numbers.get(index).copied());
        at = previous.get(index).copied().flatten();
    }
    debug_assert!(found.is_sorted_by(|one, other| one > other), "an ascent, read backwards");
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Entry = (u8, u8);

    fn patch(before: &[Entry], after: &[Entry]) -> ListPatch<Entry> {
        ListPatch { sequence: 1, steps: steps_between(before, after, |entry| entry.0) }
    }

    fn entries() -> impl Strategy<Value = Vec<Entry>> {
        let keys = proptest::sample::subsequence((0..12_u8).collect::<Vec<_>>(), 0..=12);
        let keys = keys.prop_shuffle();
        keys.prop_flat_map(|keys| {
            let count = keys.len();
            (Just(keys), proptest::collection::vec(0..2_u8, count))
        })
        .prop_map(|(keys, values)| keys.into_iter().zip(values).collect())
    }

    fn moves(patch: &ListPatch<Entry>) -> usize {
        patch.steps.iter().filter(|step| matches!(step, PatchStep::Move { .. })).count()
    }

    /// The fewest moves, by trying all subsets that stay.
    fn fewest_moves(before: &[Entry], after: &[Entry]) -> usize {
        let place = |key: u8| after.iter().position(|entry| entry.0 == key);
        let kept: Vec<usize> = before.iter().filter_map(|entry| place(entry.0)).collect();
        let stays = (0..1_u32 << kept.len()).filter(|subset| {
            let stays = kept.iter().enumerate().filter(|(at, _)| subset >> at & 1 == 1);
            stays.map(|(_, index)| index).is_sorted()
        });
        kept.len() - stays.map(u32::count_ones).max().unwrap_or(0) as usize
    }

    proptest! {
        #[test]
        fn a_patch_leads_from_one_list_to_another(before in entries(), after in entries()) {
            let patch = patch(&before, &after);
            let mut list = before.clone();
            patch.apply(&mut list).unwrap();
            prop_assert_eq!(&list, &after);
            prop_assert_eq!(moves(&patch), fewest_moves(&before, &after));
            let is_new = |entry: &&Entry| before.iter().all(|other| other.0 != entry.0);
            let is_gone = |entry: &&Entry| after.iter().all(|other| other.0 != entry.0);
            let differs = |entry: &&Entry| before.iter().any(|other| other.0 == entry.0 && other.1 != entry.1);
            let others = after.iter().filter(is_new).count()
                + before.iter().filter(is_gone).count()
                + after.iter().filter(differs).count();
            prop_assert_eq!(patch.steps.len() - moves(&patch), others);
        }
    }

    #[test]
    fn steps_that_do_not_fit_are_refused() {
        let steps = [
            PatchStep::Insert { at: 2, entry: (1, 1) },
            PatchStep::Remove { at: 1 },
            PatchStep::Move { from: 0, to: 1 },
            PatchStep::Update { at: 1, entry: (1, 1) },
        ];
        for step in steps {
            let patch = ListPatch { sequence: 1, steps: vec![step] };
            let refused = patch.apply(&mut vec![(0, 0)]).unwrap_err();
            assert_eq!(refused.path(), "steps[0]");
        }
    }

    #[test]
    fn patches_have_their_json() {
        let patch = patch(&[(1, 0), (2, 0), (3, 0)], &[(3, 0), (1, 1), (4, 0)]);
        assert_eq!(
            serde_json::to_string(&patch).unwrap(),
            r#"{"sequence":1,"steps":[{"step":"remove","at":1},{"step":"move","from":0,"to":1},{"step":"insert","at":2,"entry":[4,0]},{"step":"update","at":1,"entry":[1,1]}]}"#
        );
    }
}
