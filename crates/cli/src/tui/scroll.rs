//! Which part of a list of entries is on the screen, where entries may have several rows.

/// The first row on the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scroll {
    /// The entry at the top.
    pub(crate) top: usize,
    /// Its rows above the screen.
    pub(crate) skipped: usize,
}

impl Scroll {
    /// Scrolls as little as shows `selected`: whole, or from its first row on if it is higher than
    /// the screen. Asks for the heights of entries on one screen alone.
    pub(crate) fn show(&mut self, selected: usize, rows: usize, height: impl Fn(usize) -> usize) {
        let of_selected = height(selected);
        if of_selected > rows {
            let is_within = self.top == selected && self.skipped + rows <= of_selected;
            if !is_within {
                *self = Self { top: selected, skipped: 0 };
            }
            return;
        }
        if selected <= self.top {
            *self = Self { top: selected, skipped: 0 };
            return;
        }
        // From the selected entry upwards until the screen is full.
        let (mut top, mut used) = (selected, of_selected);
        while top > self.top && used < rows {
            top -= 1;
            used += height(top);
        }
        let skipped = used.saturating_sub(rows);
        if top > self.top || skipped > self.skipped {
            *self = Self { top, skipped };
        }
    }

    /// Scrolls an entry that is higher than the screen by a row, down or up; whether it did.
    pub(crate) fn step_within(
        &mut self,
        selected: usize,
        is_down: bool,
        rows: usize,
        height: usize,
    ) -> bool {
        if self.top != selected || height <= rows {
            return false;
        }
        let next = if is_down { self.skipped.checked_add(1) } else { self.skipped.checked_sub(1) };
        let next = next.filter(|skipped| skipped + rows <= height);
        self.skipped = next.unwrap_or(self.skipped);
        next.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selected_entry_is_on_the_screen() {
        let heights = [1, 3, 1, 9, 2, 1];
        let show = |top, skipped, selected| {
            let mut scroll = Scroll { top, skipped };
            scroll.show(selected, 4, |entry| heights[entry]);
            (scroll.top, scroll.skipped)
        };
        assert_eq!(show(0, 0, 1), (0, 0), "it is there");
        assert_eq!(show(0, 0, 2), (1, 0), "the entry at the top goes");
        assert_eq!(show(0, 0, 3), (3, 0), "a high one from its first row on");
        assert_eq!(show(3, 2, 3), (3, 2), "within a high one it stays");
        assert_eq!(show(3, 5, 4), (3, 7), "rows of the entry at the top go");
        assert_eq!(show(5, 0, 1), (1, 0), "upwards");
        let mut scroll = Scroll { top: 3, skipped: 4 };
        assert!(scroll.step_within(3, true, 4, 9) && scroll.skipped == 5);
        assert!(!scroll.step_within(3, true, 4, 9) && scroll.skipped == 5);
        assert!(!scroll.step_within(1, true, 4, 3));
    }
}
