//! How full pages of the tree get when rows are put in one after the other in the order of their
//! keys: redb begins a page where the next row doesn't fit.

/// What a page of rows takes for itself, and what it takes for each row.
const HEAD_BYTES: usize = 4;
const ROW_BYTES: usize = 8;
const BYTES: usize = 4_096;

/// The page that rows are being put into.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageFill {
    /// What is taken of it; nothing of one that is not begun.
    used: usize,
    pages: u64,
}

impl PageFill {
    /// The longest row, key and value together, that still goes into the page.
    pub fn room(self) -> usize {
        BYTES.saturating_sub(self.used.max(HEAD_BYTES) + ROW_BYTES)
    }

    /// The same for a page with nothing in it.
    pub fn whole() -> usize {
        Self::default().room()
    }

    /// How many pages were begun.
    pub fn pages(self) -> u64 {
        self.pages
    }

    /// Puts in a row of so many bytes, and says whether it begins a page.
    pub fn put(&mut self, bytes: usize) -> bool {
        let begins = self.used == 0 || bytes > self.room();
        let before = if begins { HEAD_BYTES } else { self.used };
        self.used = before + ROW_BYTES + bytes;
        self.pages += u64::from(begins);
        begins
    }
}
