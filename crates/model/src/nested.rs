//! Cloning, comparing and dropping of trees of any depth without recursion.

/// A node with children of its own type.
pub(crate) trait Nested: Sized {
    /// The children.
    fn children(&self) -> &[Self];

    /// Takes the children out.
    fn take_children(&mut self) -> Vec<Self>;

    /// A copy of this node with other children.
    fn with_children(&self, children: Vec<Self>) -> Self;

    /// Whether this node equals `other`, regardless of children.
    fn eq_without_children(&self, other: &Self) -> bool;
}

/// Clones `top` with all descendants.
pub(crate) fn clone_tree<T: Nested>(top: &T) -> T {
    // Postorder: when a node is cloned, the clones of its children are the last ones on the stack.
    let (mut clones, mut stack) = (Vec::new(), vec![(top, false)]);
    while let Some((node, is_expanded)) = stack.pop() {
        let children = node.children();
        if is_expanded || children.is_empty() {
            debug_assert!(children.len() <= clones.len(), "the children were cloned before");
            let cloned = clones.split_off(clones.len().saturating_sub(children.len()));
            // The clones of the children are complete: attach them.
            clones.push(node.with_children(cloned));
        } else {
            stack.push((node, true));
            stack.extend(children.iter().rev().map(|child| (child, false)));
        }
    }
    debug_assert_eq!(clones.len(), 1, "one clone of the root remains");
    clones.pop().unwrap_or_else(|| top.with_children(Vec::new()))
}

/// Compares two trees node by node.
pub(crate) fn are_equal<T: Nested>(left: &T, right: &T) -> bool {
    let mut stack = vec![(left, right)];
    while let Some((left, right)) = stack.pop() {
        if !left.eq_without_children(right) || left.children().len() != right.children().len() {
            return false;
        }
        // The lengths are equal, so that `zip` drops no child.
        stack.extend(left.children().iter().zip(right.children()));
    }
    true
}

/// Drops all descendants of `top` iteratively, so that its own drop finds no children and does not
/// recurse.
pub(crate) fn drop_children<T: Nested>(top: &mut T) {
    let mut stack = top.take_children();
    // Each node is dropped after its children were moved to the stack: it drops nothing nested.
    while let Some(mut node) = stack.pop() {
        stack.append(&mut node.take_children());
    }
}

/// Implements `Clone`, `PartialEq` and `Drop` through [`Nested`].
macro_rules! without_recursion {
    ($name:ty) => {
        impl Clone for $name {
            fn clone(&self) -> Self {
                $crate::nested::clone_tree(self)
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                $crate::nested::are_equal(self, other)
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                $crate::nested::drop_children(self);
            }
        }
    };
}
pub(crate) use without_recursion;
