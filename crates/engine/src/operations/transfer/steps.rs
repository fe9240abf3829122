//! What is told of an import or an export under way, and whether it is to go on.

use std::ops::ControlFlow;

use crate::core::progress::Progress;

/// Counts the steps, and asks the host after each.
pub(super) struct Steps<'p> {
    progress: &'p mut dyn FnMut(Progress) -> ControlFlow<()>,
    done: u64,
    total: u64,
    broken_off: bool,
}

impl<'p> Steps<'p> {
    /// So many steps, as far as is known yet.
    pub(super) fn new(
        progress: &'p mut dyn FnMut(Progress) -> ControlFlow<()>,
        total: usize,
    ) -> Self {
        let mut steps = Self { progress, done: 0, total: 0, broken_off: false };
        steps.add(total);
        steps
    }

    /// There are so many more.
    pub(super) fn add(&mut self, more: usize) {
        self.total = self.total.saturating_add(u64::try_from(more).unwrap_or(u64::MAX));
    }

    /// One is done.
    pub(super) fn count(&mut self) {
        self.done += 1;
    }

    /// Whether something is left to do.
    pub(super) fn is_left(&self) -> bool {
        self.done < self.total
    }

    pub(super) fn is_broken_off(&self) -> bool {
        self.broken_off
    }

    /// Tells the host how far it is. Whoever broke off once is not asked again.
    pub(super) fn tell(&mut self) {
        if !self.broken_off {
            self.broken_off =
                (self.progress)(Progress::new(self.done, Some(self.total))).is_break();
        }
    }
}
