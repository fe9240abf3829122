//! Leaks that tests switch on, to see that they notice them. Without the feature `testkit` there
//! are none, and nothing is asked.

/// What a scoped connection gives away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Leak {
    /// Nothing.
    #[default]
    None,
    /// Links to hidden blocks are shown as they are stored.
    Links,
    /// Searches rank by the words of the whole space.
    Statistics,
    /// Searches take the best documents of the whole space first, and then leave out the hidden
    /// ones.
    Query,
    /// An ID that is hidden is answered in other words than one that never was.
    Errors,
    /// Relations to hidden collections are shown.
    Relations,
}

impl Leak {
    /// Whether `leak` is switched on.
    pub(crate) const fn is(self, leak: Self) -> bool {
        cfg!(feature = "testkit") && self as u8 == leak as u8
    }
}
