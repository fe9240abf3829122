//! Fill factor: how entries fill redb's leaf pages when they are written in the order of their
//! keys. redb starts a page when the next entry does not fit.

/// Overhead of a leaf page, and of each of its entries.
const PAGE_HEADER_BYTES: usize = 4;
const ENTRY_OVERHEAD_BYTES: usize = 8;
const PAGE_BYTES: usize = 4_096;

/// The page that is being filled.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageFill {
    /// Bytes used; 0 before the first page.
    used: usize,
    pages: u64,
}

impl PageFill {
    /// The largest entry, key and value together, that fits into the page.
    pub fn room(self) -> usize {
        PAGE_BYTES.saturating_sub(self.used.max(PAGE_HEADER_BYTES) + ENTRY_OVERHEAD_BYTES)
    }

    /// The largest entry that fits into an empty page.
    pub fn whole() -> usize {
        Self::default().room()
    }

    /// The number of pages started.
    pub fn pages(self) -> u64 {
        self.pages
    }

    /// Adds an entry of `bytes` bytes and returns whether it starts a page.
    pub fn put(&mut self, bytes: usize) -> bool {
        let starts_page = self.used == 0 || bytes > self.room();
        let before = if starts_page { PAGE_HEADER_BYTES } else { self.used };
        self.used = before + ENTRY_OVERHEAD_BYTES + bytes;
        self.pages += u64::from(starts_page);
        starts_page
    }
}
