//! Write coalescing: pages wait for the next fsync, and neighbours are written by one system call.
//!
//! redb writes the pages of a commit one by one in no particular order, right before it fsyncs. No
//! page is guaranteed to be in the file before that, so buffering keeps every guarantee. It took
//! the system time of an import from 47 ms to 15.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use leafbase_model::{Result, invariant};
use redb::StorageBackend;

const PAGE: usize = 4_096;
/// Pages of the file that share a window, one allocation.
const WINDOW_PAGES: usize = 16;
const WINDOW: usize = WINDOW_PAGES * PAGE;
const WINDOW_BYTES: u64 = WINDOW as u64;
/// Windows that fill the buffer: 8 MiB.
const MAX_WINDOWS: usize = 128;
/// Writes of at least this size gain nothing from waiting.
const MAX_BUFFERED_WRITE: usize = WINDOW / 2;

/// Whether the buffer holds the bytes of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Buffered {
    /// Entirely; they have been read.
    All,
    /// Not at all.
    None,
    Partly,
}

/// Written pages, by the window of the file that they are in.
#[derive(Debug, Default)]
pub(super) struct PageBuffer {
    windows: BTreeMap<u64, PageWindow>,
    /// Allocations of windows that were flushed.
    spare: Vec<Vec<u8>>,
}

#[derive(Debug)]
struct PageWindow {
    bytes: Vec<u8>,
    /// Whether each page was written.
    is_dirty: [bool; WINDOW_PAGES],
}

/// The window of an offset, and the offset inside it.
fn window_of(offset: u64) -> (u64, usize) {
    let in_window = offset % WINDOW_BYTES;
    // The remainder is smaller than a window.
    (offset - in_window, usize::try_from(in_window).unwrap_or(WINDOW))
}

impl PageBuffer {
    pub(super) fn is_full(&self) -> bool {
        self.windows.len() >= MAX_WINDOWS
    }

    /// Buffers a write of a few whole pages. Returns `false` for any other write.
    pub(super) fn buffer(&mut self, offset: u64, data: &[u8]) -> Result<bool> {
        let is_aligned = offset.is_multiple_of(PAGE as u64) && data.len().is_multiple_of(PAGE);
        if !is_aligned || data.len() >= MAX_BUFFERED_WRITE {
            return Ok(false);
        }
        invariant!(
            self.windows.len() <= MAX_WINDOWS + 1,
            "a full buffer is flushed before the next write"
        );
        for (at, page) in (offset..).step_by(PAGE).zip(data.chunks_exact(PAGE)) {
            let (start, in_window) = window_of(at);
            let spare = &mut self.spare;
            let window = self.windows.entry(start).or_insert_with(|| PageWindow {
                bytes: spare.pop().unwrap_or_else(|| vec![0; WINDOW]),
                is_dirty: [false; WINDOW_PAGES],
            });
            let target = window.bytes.get_mut(in_window..in_window + PAGE);
            let is_dirty = window.is_dirty.get_mut(in_window / PAGE);
            let (Some(target), Some(is_dirty)) = (target, is_dirty) else {
                invariant!("an aligned page lies inside its window")
            };
            target.copy_from_slice(page);
            *is_dirty = true;
        }
        Ok(true)
    }

    /// Reads bytes if all of them are buffered.
    pub(super) fn read(&self, offset: u64, out: &mut [u8]) -> Buffered {
        if self.windows.is_empty() {
            return Buffered::None;
        }
        let end = offset.saturating_add(out.len() as u64);
        let first_page = offset - offset % PAGE as u64;
        let is_dirty = |page: u64| {
            let (start, in_window) = window_of(page);
            let window = self.windows.get(&start);
            window.is_some_and(|window| window.is_dirty.get(in_window / PAGE) == Some(&true))
        };
        let pages = (first_page..end).step_by(PAGE);
        let dirty = pages.clone().filter(|page| is_dirty(*page)).count();
        if dirty == 0 {
            return Buffered::None;
        }
        // A read across two windows is rare: their pages are flushed and read from the file.
        let (start, in_window) = window_of(offset);
        let bytes = self
            .windows
            .get(&start)
            .and_then(|window| window.bytes.get(in_window..in_window + out.len()));
        match bytes {
            Some(bytes) if dirty == pages.count() => {
                out.copy_from_slice(bytes);
                Buffered::All
            }
            _ => Buffered::Partly,
        }
    }

    /// The start of the first window that contains some of these bytes.
    pub(super) fn first_window_in(&self, bytes: Range<u64>) -> Option<u64> {
        let (start, _) = window_of(bytes.start);
        self.windows.range(start..bytes.end.max(start)).next().map(|(start, _)| *start)
    }

    /// Writes the window at `start` and calls `written` with offset and length of each write. After
    /// an error the window stays buffered.
    pub(super) fn flush_window(
        &mut self,
        start: u64,
        below: &dyn StorageBackend,
        mut written: impl FnMut(u64, usize),
    ) -> io::Result<()> {
        let Some(window) = self.windows.get(&start) else {
            debug_assert!(false, "broken invariant: a window is flushed while it is buffered");
            return Ok(());
        };
        debug_assert!(
            window.bytes.len() == WINDOW && start.is_multiple_of(WINDOW_BYTES),
            "broken invariant: a window covers its aligned range of the file"
        );
        let mut rest = &*window.bytes;
        let mut offset = start;
        for run in window.is_dirty.chunk_by(|left, right| left == right) {
            // The flags and the bytes are of the same number of pages.
            let (bytes, others) = rest.split_at(run.len() * PAGE);
            if run.first() == Some(&true) {
                below.write(offset, bytes)?;
                written(offset, bytes.len());
            }
            rest = others;
            offset += bytes.len() as u64;
        }
        self.spare.extend(self.windows.remove(&start).map(|window| window.bytes));
        Ok(())
    }

    /// Frees all spare allocations but `windows`.
    pub(super) fn truncate_spare(&mut self, windows: usize) {
        self.spare.truncate(windows);
    }
}

#[cfg(test)]
mod tests {
    use redb::backends::InMemoryBackend;

    use super::*;

    fn page(number: u8) -> (u64, Vec<u8>) {
        (u64::from(number) * PAGE as u64, vec![number; PAGE])
    }

    #[test]
    fn neighbouring_pages_are_one_write() {
        let file = InMemoryBackend::new();
        file.set_len(1 << 20).unwrap();
        let mut buffer = PageBuffer::default();
        for number in [3, 17, 1, 40, 2, 16, 15] {
            let (offset, bytes) = page(number);
            assert!(buffer.buffer(offset, &bytes).unwrap());
        }
        let mut newer = page(40).1;
        newer.fill(41);
        assert!(buffer.buffer(page(40).0, &newer).unwrap(), "the last write wins");
        assert!(
            !buffer.buffer(0, &[0; 320]).unwrap()
                && !buffer.buffer(100, &page(1).1).unwrap()
                && !buffer.buffer(0, &vec![0; MAX_BUFFERED_WRITE]).unwrap()
        );
        assert_eq!(buffer.first_window_in(page(18).0..page(19).0), Some(WINDOW_BYTES));
        assert_eq!(buffer.first_window_in(page(48).0..page(60).0), None);
        let mut read = [9; 3 * PAGE];
        for (first, pages, expected) in [
            (1, 3, Buffered::All),
            (3, 1, Buffered::All),
            (3, 2, Buffered::Partly),
            (15, 3, Buffered::Partly),
            (4, 3, Buffered::None),
            (50, 1, Buffered::None),
        ] {
            let found = buffer.read(page(first).0 + 1, read.get_mut(..pages * PAGE - 1).unwrap());
            assert_eq!(found, expected, "{first}");
            if found == Buffered::All {
                assert_eq!(
                    (read[0], read[pages * PAGE - 2]),
                    (first, first + u8::try_from(pages).unwrap() - 1)
                );
            }
        }
        let mut calls = Vec::new();
        while let Some(start) = buffer.first_window_in(0..u64::MAX) {
            buffer
                .flush_window(start, &file, |offset, size| {
                    calls.push((offset / PAGE as u64, size / PAGE));
                })
                .unwrap();
        }
        assert_eq!(calls, [(1, 3), (15, 1), (16, 2), (40, 1)]);
        for (number, expected) in
            [(1, 1), (2, 2), (3, 3), (4, 0), (15, 15), (16, 16), (17, 17), (40, 41)]
        {
            let (offset, mut bytes) = page(number);
            file.read(offset, &mut bytes).unwrap();
            assert!(bytes.iter().all(|byte| *byte == expected), "page {number}");
        }
    }

    #[test]
    fn what_could_not_be_written_waits_on() {
        let file = InMemoryBackend::new();
        let mut buffer = PageBuffer::default();
        let (offset, bytes) = page(1);
        assert!(buffer.buffer(offset, &bytes).unwrap());
        assert!(
            buffer.flush_window(0, &file, |_, _| unreachable!("the file is too short")).is_err()
        );
        file.set_len(WINDOW_BYTES).unwrap();
        assert_eq!(buffer.first_window_in(0..u64::MAX), Some(0));
        buffer.flush_window(0, &file, |_, _| ()).unwrap();
        assert_eq!(buffer.first_window_in(0..u64::MAX), None);
    }
}
