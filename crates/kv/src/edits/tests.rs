//! Versions of edits beside maps of the standard library, and how full nodes are.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::Rows;

type Model = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

fn bytes(number: u16) -> Vec<u8> {
    number.to_be_bytes()[usize::from(number < 256)..].to_vec()
}

fn shown<'e>(rows: impl Iterator<Item = &'e Row>) -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
    rows.map(|row| (row.key().to_vec(), row.value().map(<[u8]>::to_vec))).collect()
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

    /// Stretches of keys are put in upwards or downwards; after each a version is kept, and every
    /// version goes on saying what it said.
    #[test]
    fn every_version_is_a_map_of_its_own(
        stretches in prop::collection::vec((0..2_000_u16, 1..200_u16, 1..5_u16, any::<[bool; 3]>()), 1..16),
        ranges in prop::collection::vec((bound(), bound()), 8),
    ) {
        let (mut edits, mut model) = (Edits::default(), Model::new());
        let mut versions = vec![(edits.clone(), model.clone())];
        for (round, (first, count, stride, [upwards, puts, at_once])) in (0_u8..).zip(stretches) {
            let value = puts.then(|| vec![round]);
            let mut rows = Rows::default();
            for step in (0..count).map(|step| step * stride) {
                let key = bytes(if upwards { first.saturating_add(step) } else { first.saturating_sub(step) });
                match &value {
                    Some(value) => rows.put(&key, |out| out.extend(value)),
                    None => rows.delete(&key),
                }
                model.insert(key, value.clone());
            }
            if at_once {
                let mut rows = Row::all(&rows).unwrap();
                Row::sort(&mut rows);
                edits.insert_all(&rows);
            } else {
                rows.iter().for_each(|(key, value)| edits.insert(&Row::new(key, value).unwrap()));
            }
            versions.push((edits.clone(), model.clone()));
        }
        for (edits, model) in &versions {
            prop_assert_eq!((edits.size(), edits.is_empty()), (model.len(), model.is_empty()));
            let all: Vec<_> = model.clone().into_iter().collect();
            prop_assert_eq!(shown(edits.iter()), all.clone());
            for number in (0..2_200).step_by(7) {
                let found = edits.get(&bytes(number)).map(|row| row.value().map(<[u8]>::to_vec));
                prop_assert_eq!(found.as_ref(), model.get(&bytes(number)));
            }
            for (lower, upper) in &ranges {
                let mut expected = all.clone();
                expected.retain(|(key, _)| is_above((lower, upper), key));
                prop_assert_eq!(shown(edits.range(borrowed(lower), borrowed(upper), false)), expected.clone());
                expected.reverse();
                prop_assert_eq!(shown(edits.range(borrowed(lower), borrowed(upper), true)), expected);
            }
        }
    }
}

fn nodes(node: &Node) -> usize {
    match node {
        Node::Leaf(rows) => {
            assert!(rows.len() <= MOST);
            1
        }
        Node::Branch(children) => {
            assert!(children.len() <= MOST && children.len() > 1);
            1 + children.iter().map(|child| nodes(&child.node)).sum::<usize>()
        }
    }
}

#[test]
fn what_comes_in_order_fills_its_nodes() {
    let all: Vec<Row> = (0..32_u16 * 32 * 32)
        .map(|number| Row::new(&number.to_be_bytes(), None).unwrap())
        .collect();
    for at_once in [1, 7, 1_000, all.len()] {
        let mut edits = Edits::default();
        all.chunks(at_once).for_each(|rows| edits.insert_all(rows));
        assert!(nodes(&edits.root) <= 32 * 32 + 32 + 40, "{at_once}: {}", nodes(&edits.root));
    }
}
