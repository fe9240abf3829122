//! Versions of a memtable against maps of the standard library, and the fill of its nodes.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::write_batch::WriteBatch;

type Model = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

fn bytes(number: u16) -> Vec<u8> {
    number.to_be_bytes()[usize::from(number < 256)..].to_vec()
}

fn shown<'e>(entries: impl Iterator<Item = &'e Entry>) -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
    entries.map(|entry| (entry.key().to_vec(), entry.value().map(<[u8]>::to_vec))).collect()
}

fn is_above(bounds: (&Bound<Vec<u8>>, &Bound<Vec<u8>>), key: &[u8]) -> bool {
    let lower = match bounds.0 {
        Bound::Unbounded => true,
        Bound::Included(lower) => key >= lower.as_slice(),
        Bound::Excluded(lower) => key > lower.as_slice(),
    };
    lower
        && match bounds.1 {
            Bound::Unbounded => true,
            Bound::Included(upper) => key <= upper.as_slice(),
            Bound::Excluded(upper) => key < upper.as_slice(),
        }
}

fn bound() -> impl Strategy<Value = Bound<Vec<u8>>> {
    (0..3_u8, 0..2_100_u16).prop_map(|(kind, number)| match kind {
        0 => Bound::Unbounded,
        1 => Bound::Included(bytes(number)),
        _ => Bound::Excluded(bytes(number)),
    })
}

fn borrowed(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    bound.as_ref().map(Vec::as_slice)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Runs of keys are inserted upwards or downwards. A version is kept after each, and none of
    /// them changes later. Removing all keys of one, in any order, takes out one after the other.
    #[test]
    fn every_version_is_a_map_of_its_own(
        runs in prop::collection::vec(
            (0..2_000_u16, 1..200_u16, 1..5_u16, any::<[bool; 3]>()),
            1..16,
        ),
        ranges in prop::collection::vec((bound(), bound()), 8),
    ) {
        let (mut memtable, mut model) = (Memtable::default(), Model::new());
        let mut versions = vec![(memtable.clone(), model.clone())];
        for (round, (first, count, stride, [upwards, puts, at_once])) in (0_u8..).zip(runs) {
            let value = puts.then(|| vec![round]);
            let mut batch = WriteBatch::default();
            for step in (0..count).map(|step| step * stride) {
                let number = if upwards {
                    first.saturating_add(step)
                } else {
                    first.saturating_sub(step)
                };
                let key = bytes(number);
                match &value {
                    Some(value) => batch.put(&key, |out| out.extend(value)),
                    None => batch.delete(&key),
                }
                model.insert(key, value.clone());
            }
            if at_once {
                let mut entries = Vec::new();
                Entry::append_batch(&batch, &mut entries).unwrap();
                Entry::sort(&mut entries);
                memtable.insert_sorted(&entries).unwrap();
            } else {
                for (key, value) in batch.iter() {
                    memtable.insert(&Entry::new(key, value).unwrap()).unwrap();
                }
            }
            versions.push((memtable.clone(), model.clone()));
        }
        let mut emptied = memtable.clone();
        let mut keys: Vec<_> = model.keys().cloned().collect();
        keys.sort_by_key(|key| {
            key.iter().fold(7_u32, |sum, byte| sum.wrapping_mul(31) ^ u32::from(*byte))
        });
        for (removed, key) in keys.iter().enumerate() {
            emptied.remove(key);
            emptied.remove(key);
            prop_assert_eq!(emptied.len(), keys.len() - removed - 1);
            prop_assert!(emptied.get(key).is_none());
            if removed % 50 == 0 {
                let mut left = keys[removed + 1..].to_vec();
                left.sort();
                prop_assert!(emptied.keys().eq(left.iter().map(Vec::as_slice)));
            }
        }
        for (memtable, model) in &versions {
            prop_assert_eq!((memtable.len(), memtable.is_empty()), (model.len(), model.is_empty()));
            let all: Vec<_> = model.clone().into_iter().collect();
            prop_assert_eq!(shown(memtable.iter()), all.clone());
            for number in (0..2_200).step_by(7) {
                let entry = memtable.get(&bytes(number));
                let found = entry.map(|entry| entry.value().map(<[u8]>::to_vec));
                prop_assert_eq!(found.as_ref(), model.get(&bytes(number)));
            }
            for (lower, upper) in &ranges {
                let mut expected = all.clone();
                expected.retain(|(key, _)| is_above((lower, upper), key));
                let range = |reverse| {
                    shown(memtable.range(borrowed(lower), borrowed(upper), reverse))
                };
                prop_assert_eq!(range(false), expected.clone());
                expected.reverse();
                prop_assert_eq!(range(true), expected);
            }
        }
    }
}

fn nodes(node: &MemtableNode) -> usize {
    match node {
        MemtableNode::Leaf(entries) => {
            assert!(entries.len() <= MAX_FANOUT);
            1
        }
        MemtableNode::Branch(children) => {
            assert!(children.len() <= MAX_FANOUT && children.len() > 1);
            1 + children.iter().map(|child| nodes(&child.node)).sum::<usize>()
        }
    }
}

#[test]
fn ascending_inserts_leave_full_nodes() {
    let all: Vec<Entry> = (0..32_u16 * 32 * 32)
        .map(|number| Entry::new(&number.to_be_bytes(), None).unwrap())
        .collect();
    for at_once in [1, 7, 1_000, all.len()] {
        let mut memtable = Memtable::default();
        all.chunks(at_once).for_each(|entries| memtable.insert_sorted(entries).unwrap());
        assert!(nodes(&memtable.root) <= 32 * 32 + 32 + 40, "{at_once}: {}", nodes(&memtable.root));
    }
}
