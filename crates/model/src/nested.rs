//! Trees that may be built to any depth: copied, compared and dropped without recursion.

/// A thing with more of its kind below it.
pub(crate) trait Nested: Sized {
    /// What is right below it.
    fn below(&self) -> &[Self];

    /// Takes out what is right below it.
    fn take_below(&mut self) -> Vec<Self>;

    /// A copy of it, with this below.
    fn with_below(&self, below: Vec<Self>) -> Self;

    /// Whether it is equal to `other`, whatever is below the two.
    fn is_alike(&self, other: &Self) -> bool;
}

/// A copy of `top` and all below it.
pub(crate) fn copy<T: Nested>(top: &T) -> T {
    // A thing is copied after all below it; the copies of what is right below are the last ones
    // made then.
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

/// Whether the two are equal with all below them.
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

/// Drops all below `top`: for a `Drop` of its own, which finds nothing there any more.
pub(crate) fn drop_below<T: Nested>(top: &mut T) {
    let mut waiting = top.take_below();
    while let Some(mut one) = waiting.pop() {
        waiting.append(&mut one.take_below());
    }
}

/// Copies, compares and drops a type by its [`Nested`].
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
