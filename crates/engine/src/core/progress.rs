//! The progress of long operations.

/// The progress of a long operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// How many records, pages or documents are done.
    pub done: u64,
    /// How many there are in all, if that is known: an estimate that is never below `done`.
    pub total: Option<u64>,
}

impl Progress {
    /// The progress after `done` steps.
    ///
    /// ```
    /// assert_eq!(leafbase::Progress::new(3, Some(2)).total, Some(3));
    /// ```
    pub fn new(done: u64, total: Option<u64>) -> Self {
        Self { done, total: total.map(|total| total.max(done)) }
    }
}
