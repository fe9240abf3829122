//! What is to be written over a committed state, by key: a B-tree whose versions share all nodes
//! that are alike.
//!
//! A copy costs nothing, so each snapshot keeps its own version. A write copies the nodes above
//! what it changes, each once, and those of keys that lie side by side are the same. Nothing is
//! ever taken out: an edit that removes a row stays until a commit begins anew.

use std::iter;
use std::mem;
use std::ops::Bound;
use std::slice;
use std::sync::Arc;

pub(super) use super::row::Row;

/// The most entries of a node. More make longer copies where a write changes single keys, fewer
/// make more nodes.
const MOST: usize = 32;

/// Edits by key.
#[derive(Clone, Debug, Default)]
pub(super) struct Edits {
    root: Arc<Node>,
    size: usize,
}

#[derive(Debug)]
enum Node {
    Leaf(Vec<Row>),
    Branch(Vec<Child>),
}

#[derive(Clone, Debug)]
struct Child {
    /// All keys below are its key or later ones; but the first child has what is before it, too.
    from: Row,
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
            Self::Leaf(rows) => Self::Leaf(copied(rows)),
            Self::Branch(children) => Self::Branch(copied(children)),
        }
    }
}

fn copied<T: Clone>(all: &[T]) -> Vec<T> {
    let mut copy = Vec::with_capacity(MOST + 1);
    copy.extend_from_slice(all);
    copy
}

/// Takes the upper part off a node that has become too large. Where `at`, the last change, is at
/// its end that is little: what is put in in order leaves full nodes behind.
fn split_off<T>(all: &mut Vec<T>, at: usize) -> Vec<T> {
    let kept = if at + 1 == all.len() { at } else { all.len() / 2 };
    let mut upper = Vec::with_capacity(MOST + 1);
    upper.extend(all.drain(kept.min(all.len())..));
    upper
}

/// Which child has `key`.
fn child_with(children: &[Child], key: &[u8]) -> usize {
    children.partition_point(|child| child.from.key() <= key).saturating_sub(1)
}

fn leaf(rows: Vec<Row>) -> Option<Child> {
    let from = rows.first()?.clone();
    Some(Child { from, node: Arc::new(Node::Leaf(rows)) })
}

fn branch(children: Vec<Child>) -> Option<Child> {
    let from = children.first()?.from.clone();
    Some(Child { from, node: Arc::new(Node::Branch(children)) })
}

/// What came of rows that were put into a node.
#[derive(Default)]
struct Put {
    added: usize,
    /// What did not fit goes right behind the node.
    behind: Vec<Child>,
}

impl Node {
    /// Puts in those of `rows`, which ascend, that come before `end`: the first one does. No deeper
    /// than the tree, whose height is the logarithm of what it holds.
    fn put(self: &mut Arc<Self>, rows: &mut &[Row], end: Option<&Row>) -> Put {
        match Arc::make_mut(self) {
            Self::Leaf(all) => put_into_leaf(all, rows, end),
            Self::Branch(children) => {
                let (mut added, mut last) = (0, 0);
                while let Some(row) = rows.first() {
                    let at = child_with(children, row.key());
                    let Some((with_key, others)) = children.split_at_mut_checked(at + 1) else {
                        break;
                    };
                    let Some(child) = with_key.last_mut() else { break };
                    let put = child.node.put(rows, others.first().map(|next| &next.from).or(end));
                    added += put.added;
                    last = at + put.behind.len();
                    if !put.behind.is_empty() {
                        let behind = at + 1;
                        children.splice(behind..behind, put.behind);
                    }
                    if is_beyond(rows, end) {
                        break;
                    }
                }
                Put { added, behind: cut(children, last) }
            }
        }
    }
}

/// Whether none of `rows` comes before `end`.
fn is_beyond(rows: &[Row], end: Option<&Row>) -> bool {
    match (rows.first(), end) {
        (Some(row), Some(end)) => row.key() >= end.key(),
        (first, _) => first.is_none(),
    }
}

fn put_into_leaf(all: &mut Vec<Row>, rows: &mut &[Row], end: Option<&Row>) -> Put {
    let mut added = 0;
    // Leaves that are done, and those whose turn is still to come, the next one last.
    let (mut done, mut waiting): (Vec<Vec<Row>>, Vec<Vec<Row>>) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some((row, others)) = rows.split_first() {
        *rows = others;
        while let Some(next) =
            waiting.pop_if(|next| next.first().is_some_and(|first| first.key() <= row.key()))
        {
            done.push(mem::replace(all, next));
            at = 0;
        }
        let left = all.get(at..).unwrap_or_default();
        match left.binary_search_by(|other| other.key().cmp(row.key())) {
            Ok(passed) => {
                at += passed;
                if let Some(before) = all.get_mut(at) {
                    *before = row.clone();
                }
            }
            Err(passed) => {
                at += passed;
                all.insert(at, row.clone());
                added += 1;
                if all.len() > MOST {
                    waiting.push(split_off(all, at));
                }
            }
        }
        at = (at + 1).min(all.len());
        if is_beyond(rows, end) {
            break;
        }
    }
    if done.is_empty() && waiting.is_empty() {
        return Put { added, behind: Vec::new() };
    }
    done.push(mem::take(all));
    done.extend(waiting.into_iter().rev());
    let mut leaves = done.into_iter();
    *all = leaves.next().unwrap_or_default();
    Put { added, behind: leaves.filter_map(leaf).collect() }
}

/// Takes off a branch what is too much for it, in branches of their own. They are full where the
/// last change, `at`, is at the end.
fn cut(children: &mut Vec<Child>, at: usize) -> Vec<Child> {
    if children.len() <= MOST {
        return Vec::new();
    }
    let parts = children.len().div_ceil(MOST);
    let each = if at + 1 == children.len() { MOST } else { children.len().div_ceil(parts) };
    let mut left = children.drain(each..);
    let next = || {
        let mut part = Vec::with_capacity(MOST + 1);
        part.extend(left.by_ref().take(each));
        branch(part)
    };
    iter::from_fn(next).collect()
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
    pub(super) fn get(&self, key: &[u8]) -> Option<&Row> {
        let mut node = &self.root;
        loop {
            match &**node {
                Node::Branch(children) => node = &children.get(child_with(children, key))?.node,
                Node::Leaf(rows) => {
                    let at = rows.binary_search_by(|other| other.key().cmp(key)).ok()?;
                    return rows.get(at);
                }
            }
        }
    }

    /// Sets what is to become of a key, whatever that was before.
    pub(super) fn insert(&mut self, row: &Row) {
        self.insert_all(slice::from_ref(row));
    }

    /// The same for several, whose keys ascend: each node is sought and copied once.
    pub(super) fn insert_all(&mut self, mut rows: &[Row]) {
        if rows.is_empty() {
            return;
        }
        let Put { added, mut behind } = self.root.put(&mut rows, None);
        self.size += added;
        while !behind.is_empty() {
            let mut level = Vec::with_capacity(MOST + 1);
            level.push(Child { from: Row::default(), node: mem::take(&mut self.root) });
            level.append(&mut behind);
            let last = level.len() - 1;
            behind = cut(&mut level, last);
            self.root = Arc::new(Node::Branch(level));
        }
    }

    /// All, by key.
    pub(super) fn iter(&self) -> Iter<'_> {
        self.range(Bound::Unbounded, Bound::Unbounded, false)
    }

    #[cfg(test)]
    pub(super) fn keys(&self) -> impl Iterator<Item = &[u8]> {
        self.iter().map(Row::key)
    }

    /// Those within these bounds by key, or the last one first.
    pub(super) fn range<'e>(
        &'e self,
        lower: Bound<&'e [u8]>,
        upper: Bound<&'e [u8]>,
        reverse: bool,
    ) -> Iter<'e> {
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
                Node::Leaf(rows) => {
                    let part = if reverse {
                        rows.get(..rows.partition_point(|row| is_within(row.key())))
                    } else {
                        rows.get(rows.partition_point(|row| is_before(row.key()))..)
                    };
                    iter.leaf = part.unwrap_or_default().iter();
                    return iter;
                }
            }
        }
    }
}

impl<'e> IntoIterator for &'e Edits {
    type Item = &'e Row;
    type IntoIter = Iter<'e>;

    fn into_iter(self) -> Iter<'e> {
        self.iter()
    }
}

/// A walk over edits.
pub(super) struct Iter<'e> {
    /// Of each node above the leaf the children that are still to come.
    path: Vec<slice::Iter<'e, Child>>,
    leaf: slice::Iter<'e, Row>,
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
                Node::Leaf(rows) => {
                    self.leaf = rows.iter();
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
    type Item = &'e Row;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let next = if self.reverse { self.leaf.next_back() } else { self.leaf.next() };
            if let Some(row) = next {
                if self.is_beyond(row.key()) {
                    self.leaf = [].iter();
                    self.path.clear();
                    return None;
                }
                return Some(row);
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
mod tests;
