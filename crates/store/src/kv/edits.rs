//! What is to be written over a committed state, by key: a B-tree whose versions share all nodes that are alike.
//!
//! A copy costs nothing, so each snapshot keeps its own version. A write copies the nodes above what it changes, each once, and those of keys that lie
//! side by side are the same. Nothing is ever taken out: an edit that removes a row stays until a commit begins anew.

use std::ops::Bound;
use std::slice;
use std::sync::Arc;

/// A key or a value, shared between the versions of [`Edits`].
pub(super) type Bytes = Arc<[u8]>;

/// A key, and a value or nothing where the key is to be removed.
type Entry = (Bytes, Option<Bytes>);

/// The most entries of a node. More make longer copies where a write changes single keys, fewer make more nodes.
const MOST: usize = 32;

/// Edits by key.
#[derive(Clone, Debug, Default)]
pub(super) struct Edits {
    root: Arc<Node>,
    size: usize,
}

#[derive(Debug)]
enum Node {
    Leaf(Vec<Entry>),
    Branch(Vec<Child>),
}

#[derive(Clone, Debug)]
struct Child {
    /// All keys below are this one or later ones; but the first child has what is before it, too.
    from: Bytes,
    node: Arc<Node>,
}

impl Default for Node {
    fn default() -> Self {
        Self::Leaf(Vec::new())
    }
}

/// A copy has room for one more: it is made to be changed.
impl Clone for Node {
    fn clone(&self) -> Self {
        match self {
            Self::Leaf(entries) => Self::Leaf(copied(entries)),
            Self::Branch(children) => Self::Branch(copied(children)),
        }
    }
}

fn copied<T: Clone>(all: &[T]) -> Vec<T> {
    let mut copy = Vec::with_capacity(MOST + 1);
    copy.extend_from_slice(all);
    copy
}

/// What came of an entry that was put into a node.
struct Put {
    is_new: bool,
    /// What did not fit goes right behind the node.
    split: Option<Child>,
}

/// Takes the upper part off a node that has become too large. Where `at`, the last change, is at its end that is little: what is put in in order
/// leaves full nodes behind.
fn split_off<T>(all: &mut Vec<T>, at: usize) -> Option<Vec<T>> {
    if all.len() <= MOST {
        return None;
    }
    let kept = if at + 1 == all.len() { at } else { all.len() / 2 };
    let mut upper = Vec::with_capacity(MOST + 1);
    upper.extend(all.drain(kept.min(all.len())..));
    Some(upper)
}

/// Which child has `key`.
fn child_with(children: &[Child], key: &[u8]) -> usize {
    children.partition_point(|child| *child.from <= *key).saturating_sub(1)
}

impl Node {
    /// No deeper than the tree, whose height is the logarithm of what it holds.
    fn put(self: &mut Arc<Self>, key: Bytes, value: Option<Bytes>) -> Put {
        match Arc::make_mut(self) {
            Self::Leaf(entries) => match entries.binary_search_by(|(other, _)| (**other).cmp(&*key)) {
                Ok(at) => {
                    if let Some((_, before)) = entries.get_mut(at) {
                        *before = value;
                    }
                    Put { is_new: false, split: None }
                }
                Err(at) => {
                    entries.insert(at, (key, value));
                    let upper = split_off(entries, at);
                    let from = |upper: &Vec<Entry>| upper.first().map(|(key, _)| Arc::clone(key));
                    let split =
                        upper.and_then(|upper| Some(Child { from: from(&upper)?, node: Arc::new(Self::Leaf(upper)) }));
                    Put { is_new: true, split }
                }
            },
            Self::Branch(children) => {
                let at = child_with(children, &key);
                let Some(child) = children.get_mut(at) else { return Put { is_new: false, split: None } };
                let Put { is_new, split } = child.node.put(key, value);
                let Some(split) = split else { return Put { is_new, split: None } };
                children.insert(at + 1, split);
                let upper = split_off(children, at + 1);
                let from = |upper: &Vec<Child>| upper.first().map(|child| Arc::clone(&child.from));
                let split =
                    upper.and_then(|upper| Some(Child { from: from(&upper)?, node: Arc::new(Self::Branch(upper)) }));
                Put { is_new, split }
            }
        }
    }
}

impl Edits {
    /// How many keys there are.
    pub(super) const fn size(&self) -> usize {
        self.size
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// What is to become of `key`, if it is edited.
    pub(super) fn get(&self, key: &[u8]) -> Option<&Option<Bytes>> {
        self.get_key_value(key).map(|(_, value)| value)
    }

    /// The same with the key.
    pub(super) fn get_key_value(&self, key: &[u8]) -> Option<(&Bytes, &Option<Bytes>)> {
        let mut node = &self.root;
        loop {
            match &**node {
                Node::Branch(children) => node = &children.get(child_with(children, key))?.node,
                Node::Leaf(entries) => {
                    let at = entries.binary_search_by(|(other, _)| (**other).cmp(key)).ok()?;
                    return entries.get(at).map(|(key, value)| (key, value));
                }
            }
        }
    }

    /// Sets what is to become of `key`, whatever that was before.
    pub(super) fn insert_mut(&mut self, key: Bytes, value: Option<Bytes>) {
        let Put { is_new, split } = self.root.put(key, value);
        self.size += usize::from(is_new);
        if let Some(split) = split {
            let lower = Child { from: Arc::from(&[][..]), node: std::mem::take(&mut self.root) };
            self.root = Arc::new(Node::Branch(vec![lower, split]));
        }
    }

    /// All, by key.
    pub(super) fn iter(&self) -> Iter<'_> {
        self.range(Bound::Unbounded, Bound::Unbounded, false)
    }

    #[cfg(test)]
    pub(super) fn keys(&self) -> impl Iterator<Item = &Bytes> {
        self.iter().map(|(key, _)| key)
    }

    /// Those within these bounds by key, or the last one first.
    pub(super) fn range<'e>(&'e self, lower: Bound<&'e [u8]>, upper: Bound<&'e [u8]>, reverse: bool) -> Iter<'e> {
        let far = if reverse { lower } else { upper };
        let mut iter = Iter { path: Vec::new(), leaf: [].iter(), far, reverse };
        let near = match if reverse { upper } else { lower } {
            Bound::Unbounded => {
                iter.descend(&self.root);
                return iter;
            }
            Bound::Included(key) | Bound::Excluded(key) => key,
        };
        let is_before = |key: &[u8]| match lower {
            Bound::Unbounded => false,
            Bound::Included(lower) => key < lower,
            Bound::Excluded(lower) => key <= lower,
        };
        let is_within = |key: &[u8]| match upper {
            Bound::Unbounded => true,
            Bound::Included(upper) => key <= upper,
            Bound::Excluded(upper) => key < upper,
        };
        let mut node = &self.root;
        loop {
            match &**node {
                Node::Branch(children) => {
                    let at = child_with(children, near);
                    let others = if reverse { children.get(..at) } else { children.get(at + 1..) };
                    iter.path.push(others.unwrap_or_default().iter());
                    let Some(child) = children.get(at) else { return iter };
                    node = &child.node;
                }
                Node::Leaf(entries) => {
                    let part = if reverse {
                        entries.get(..entries.partition_point(|(key, _)| is_within(key)))
                    } else {
                        entries.get(entries.partition_point(|(key, _)| is_before(key))..)
                    };
                    iter.leaf = part.unwrap_or_default().iter();
                    return iter;
                }
            }
        }
    }
}

impl<'e> IntoIterator for &'e Edits {
    type Item = (&'e Bytes, &'e Option<Bytes>);
    type IntoIter = Iter<'e>;

    fn into_iter(self) -> Iter<'e> {
        self.iter()
    }
}

/// A walk over edits.
pub(super) struct Iter<'e> {
    /// Of each node above the leaf the children that are still to come.
    path: Vec<slice::Iter<'e, Child>>,
    leaf: slice::Iter<'e, Entry>,
    /// Where it ends.
    far: Bound<&'e [u8]>,
    reverse: bool,
}

impl<'e> Iter<'e> {
    fn step<T>(&self, iter: &mut slice::Iter<'e, T>) -> Option<&'e T> {
        if self.reverse { iter.next_back() } else { iter.next() }
    }

    /// Goes down to the first leaf below `node`, or to the last one.
    fn descend(&mut self, mut node: &'e Arc<Node>) {
        loop {
            match &**node {
                Node::Leaf(entries) => {
                    self.leaf = entries.iter();
                    return;
                }
                Node::Branch(children) => {
                    let mut children = children.iter();
                    let Some(child) = self.step(&mut children) else { return };
                    self.path.push(children);
                    node = &child.node;
                }
            }
        }
    }

    fn is_beyond(&self, key: &[u8]) -> bool {
        match (self.far, self.reverse) {
            (Bound::Unbounded, _) => false,
            (Bound::Included(far), false) => key > far,
            (Bound::Excluded(far), false) => key >= far,
            (Bound::Included(far), true) => key < far,
            (Bound::Excluded(far), true) => key <= far,
        }
    }
}

impl<'e> Iterator for Iter<'e> {
    type Item = (&'e Bytes, &'e Option<Bytes>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let next = if self.reverse { self.leaf.next_back() } else { self.leaf.next() };
            if let Some((key, value)) = next {
                if self.is_beyond(key) {
                    self.leaf = [].iter();
                    self.path.clear();
                    return None;
                }
                return Some((key, value));
            }
            let children = self.path.last_mut()?;
            let child = if self.reverse { children.next_back() } else { children.next() };
            match child {
                Some(child) => self.descend(&child.node),
                None => drop(self.path.pop()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    type Model = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

    fn bytes(number: u16) -> Vec<u8> {
        number.to_be_bytes()[usize::from(number < 256)..].to_vec()
    }

    fn shown<'e>(entries: impl Iterator<Item = (&'e Bytes, &'e Option<Bytes>)>) -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
        entries.map(|(key, value)| (key.to_vec(), value.as_ref().map(|value| value.to_vec()))).collect()
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

        /// Stretches of keys are put in upwards or downwards; after each a version is kept, and every version goes on saying what it said.
        #[test]
        fn every_version_is_a_map_of_its_own(
            stretches in prop::collection::vec((0..2_000_u16, 1..200_u16, any::<[bool; 2]>()), 1..16),
            ranges in prop::collection::vec((bound(), bound()), 8),
        ) {
            let (mut edits, mut model) = (Edits::default(), Model::new());
            let mut versions = vec![(edits.clone(), model.clone())];
            for (round, (first, count, [upwards, puts])) in (0_u8..).zip(stretches) {
                for step in 0..count {
                    let number = if upwards { first.saturating_add(step) } else { first.saturating_sub(step) };
                    let value = puts.then(|| vec![round]);
                    edits.insert_mut(bytes(number).into(), value.clone().map(Bytes::from));
                    model.insert(bytes(number), value);
                }
                versions.push((edits.clone(), model.clone()));
            }
            for (edits, model) in &versions {
                prop_assert_eq!((edits.size(), edits.is_empty()), (model.len(), model.is_empty()));
                let all: Vec<_> = model.clone().into_iter().collect();
                prop_assert_eq!(shown(edits.iter()), all.clone());
                for number in (0..2_200).step_by(7) {
                    let found = edits.get(&bytes(number)).map(|value| value.as_ref().map(|value| value.to_vec()));
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
            Node::Leaf(entries) => {
                assert!(entries.len() <= MOST);
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
        let mut edits = Edits::default();
        for number in 0..32_u16 * 32 * 32 {
            edits.insert_mut(number.to_be_bytes()[..].into(), None);
        }
        assert!(nodes(&edits.root) <= 32 * 32 + 32 + 40, "{}", nodes(&edits.root));
    }
}
