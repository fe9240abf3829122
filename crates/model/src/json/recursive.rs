//! Reads nested drafts without recursion, because limits may allow hundreds of levels, and callers
//! may run on small stacks.

use std::fmt;

use serde_json::Value;

use super::object::Object;
use super::reader;
use crate::{Result, invariant};

/// A draft with children of its own type.
pub(crate) trait RecursiveDraft: Sized {
    /// The name of the field with the children.
    const CHILDREN: &'static str;

    /// Reads the draft from its fields except for the children.
    fn read_alone(object: Object, has_children: bool) -> Result<Self>;

    fn children_mut(&mut self) -> &mut Vec<Self>;

    /// Adapts the children, which are not read yet, to the fields of their parent.
    fn adapt_children(_: &Object, _: &mut [Value]) {}
}

/// A draft whose children are being read.
struct OpenDraft<T> {
    draft: T,
    children: std::vec::IntoIter<Value>,
    /// The number of children read so far.
    count: usize,
}

/// Reads a draft with all descendants.
pub(crate) fn read_recursive<T: RecursiveDraft>(value: Value) -> Result<T> {
    // The stack of the traversal: one entry per level of nesting.
    let mut open = vec![OpenDraft::<T>::new(value)?];
    loop {
        let Some(innermost) = open.last_mut() else {
            invariant!("the outermost draft stays open until it is returned")
        };
        if let Some(child) = innermost.children.next() {
            // Counted before the read: the path of an error includes the child itself.
            innermost.count += 1;
            let child = reader::at(OpenPath(&open), || OpenDraft::new(child))?;
            open.push(child);
        } else if let Some(done) = open.pop() {
            match open.last_mut() {
                Some(parent) => parent.draft.children_mut().push(done.draft),
                None => return Ok(done.draft),
            }
        }
    }
}

impl<T: RecursiveDraft> OpenDraft<T> {
    fn new(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let mut children = object.array(T::CHILDREN)?;
        T::adapt_children(&object, &mut children);
        let mut draft = T::read_alone(object, !children.is_empty())?;
        debug_assert!(draft.children_mut().is_empty(), "children are attached when they are read");
        Ok(Self { draft, children: children.into_iter(), count: 0 })
    }
}

/// Formats the path from the outermost draft to the child that is read next.
struct OpenPath<'o, T>(&'o [OpenDraft<T>]);

impl<T: RecursiveDraft> fmt::Display for OpenPath<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(level, draft)| {
            let separator = if level == 0 { "" } else { "." };
            debug_assert!(draft.count > 0, "an open draft has a child that is being read");
            write!(f, "{separator}{}[{}]", T::CHILDREN, draft.count.saturating_sub(1))
        })
    }
}
