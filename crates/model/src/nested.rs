//! Cloning, comparing and dropping of trees of any depth without recursion.

/// A node with children of its own type.
pub(crate) trait Nested: Sized {
    /// The children.
    fn below(&self) -> &[Self];

    /// Takes the children out.
    fn take_below(&mut self) -> Vec<Self>;

    /// A copy of this node with other children.
    fn with_below(&self, below: Vec<Self>) -> Self;

    /// Whether this node equals `other`, regardless of children.
    fn is_alike(&self, other: &Self) -> bool;
}

/// Clones `top` with all descendants.
pub(crate) fn copy<T: Nested>(top: &T) -> T {
    // Postorder: when a node is cloned, the clones of its children are the last ones on the stack.
    let (mut made, mut waiting) = (Vec::new(), vec![(top, false)]);
    while let Some((one, is_met)) = waiting.pop() {
        let below = one.below();
        if is_met || below.is_empty() {
            let copies = made.split_off(made.len().saturating_sub(below.len()));
            made.push(one.with_below(copies));
        } else {
            waiting.push((one, true));
            waiting.extend(below.iter().rev().map(|one| (one, false)));
        }
    }
    made.pop().unwrap_or_else(|| top.with_below(Vec::new()))
}

/// Compares two trees node by node.
pub(crate) fn are_equal<T: Nested>(left: &T, right: &T) -> bool {
    let mut waiting = vec![(left, right)];
    while let Some((left, right)) = waiting.pop() {
        if !left.is_alike(right) || left.below().len() != right.below().len() {
            return false;
        }
        waiting.extend(left.below().iter().zip(right.below()));
    }
    true
}

/// Drops all descendants of `top` iteratively, so that its own drop finds no children and does not
/// recurse.
pub(crate) fn drop_below<T: Nested>(top: &mut T) {
    let mut waiting = top.take_below();
    while let Some(mut one) = waiting.pop() {
        waiting.append(&mut one.take_below());
    }
}

/// Implements `Clone`, `PartialEq` and `Drop` through [`Nested`].
macro_rules! without_recursion {
    ($name:ty) => {
        impl Clone for $name {
            fn clone(&self) -> Self {
                $crate::nested::copy(self)
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                $crate::nested::are_equal(self, other)
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                $crate::nested::drop_below(self);
            }
        }
    };
}
pub(crate) use without_recursion;
