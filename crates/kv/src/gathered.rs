//! Pages that wait for a sync, so that those which lie side by side are written by one call.
//!
//! redb writes the pages of a commit one by one and in no order, right before it syncs. Nothing is
//! promised of them until then: a crash in between leaves some of them, or none.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use redb::StorageBackend;

const PAGE: usize = 4_096;
/// So many pages of the file are gathered in one piece of memory.
const PAGES: usize = 16;
const WINDOW: usize = PAGES * PAGE;
const WINDOW_BYTES: u64 = WINDOW as u64;
/// More are not held in memory: 8 MiB, what is written once so much has gathered.
const MOST: usize = 128;
/// What is as long is a call of its own anyway.
const LONG: usize = WINDOW / 2;

/// Where bytes are that are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// All of them waited, and have been read.
    Here,
    /// None of them waits.
    Below,
    /// Some of them wait.
    Both,
}

/// The pages, by the window of the file that they are in.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    windows: BTreeMap<u64, Window>,
    /// Memory of windows that were written.
    spare: Vec<Vec<u8>>,
}

#[derive(Debug)]
struct Window {
    bytes: Vec<u8>,
    /// Whether each page is one to be written.
    is_filled: [bool; PAGES],
}

impl Gathered {
    pub(super) fn is_full(&self) -> bool {
        self.windows.len() >= MOST
    }

    /// Takes what is to be written, unless it is something else than a few whole pages.
    pub(super) fn take(&mut self, offset: u64, data: &[u8]) -> bool {
        let is_aligned = offset.is_multiple_of(PAGE as u64) && data.len().is_multiple_of(PAGE);
        if !is_aligned || data.len() >= LONG {
            return false;
        }
        for (at, page) in (offset..).step_by(PAGE).zip(data.chunks_exact(PAGE)) {
            let start = at - at % WINDOW_BYTES;
            let spare = &mut self.spare;
            let window = self.windows.entry(start).or_insert_with(|| Window {
                bytes: spare.pop().unwrap_or_else(|| vec![0; WINDOW]),
                is_filled: [false; PAGES],
            });
            let within = usize::try_from(at - start).unwrap_or_default();
            if let (Some(there), Some(is_filled)) = (
                window.bytes.get_mut(within..within + PAGE),
                window.is_filled.get_mut(within / PAGE),
            ) {
                there.copy_from_slice(page);
                *is_filled = true;
            }
        }
        true
    }

    /// Reads bytes if all of them wait.
    pub(super) fn read(&self, offset: u64, out: &mut [u8]) -> Found {
        if self.windows.is_empty() {
            return Found::Below;
        }
        let end = offset.saturating_add(out.len() as u64);
        let first = offset - offset % WINDOW_BYTES;
        let (mut here, mut all) = (0, 0);
        for page in (offset / PAGE as u64..end.div_ceil(PAGE as u64)).map(|page| page * PAGE as u64)
        {
            let window = self.windows.get(&(page - page % WINDOW_BYTES));
            let within = usize::try_from(page % WINDOW_BYTES).unwrap_or_default() / PAGE;
            here += usize::from(
                window.is_some_and(|window| window.is_filled.get(within) == Some(&true)),
            );
            all += 1;
        }
        if here == 0 {
            return Found::Below;
        }
        let within = usize::try_from(offset - first).unwrap_or_default();
        let waiting = self
            .windows
            .get(&first)
            .and_then(|window| window.bytes.get(within..within + out.len()));
        match waiting {
            Some(waiting) if here == all => {
                out.copy_from_slice(waiting);
                Found::Here
            }
            _ => Found::Both,
        }
    }

    /// Where the first window begins that has some of these bytes.
    pub(super) fn first_within(&self, bytes: Range<u64>) -> Option<u64> {
        let start = bytes.start - bytes.start % WINDOW_BYTES;
        self.windows.range(start..bytes.end.max(start)).next().map(|(start, _)| *start)
    }

    /// Writes the window that begins at `start`, and tells `wrote` what was written. After an error
    /// it waits on.
    pub(super) fn write(
        &mut self,
        start: u64,
        below: &dyn StorageBackend,
        mut wrote: impl FnMut(u64, usize),
    ) -> io::Result<()> {
        let Some(window) = self.windows.get(&start) else { return Ok(()) };
        let mut at = 0;
        for pages in window.is_filled.chunk_by(|left, right| left == right) {
            let bytes = window.bytes.get(at * PAGE..(at + pages.len()) * PAGE).unwrap_or_default();
            if pages.first() == Some(&true) {
                let offset = start + (at * PAGE) as u64;
                below.write(offset, bytes)?;
                wrote(offset, bytes.len());
            }
            at += pages.len();
        }
        self.spare.extend(self.windows.remove(&start).map(|window| window.bytes));
        Ok(())
    }

    /// Keeps memory for so many windows at most.
    pub(super) fn keep(&mut self, windows: usize) {
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
    fn pages_side_by_side_are_one_call() {
        let file = InMemoryBackend::new();
        file.set_len(1 << 20).unwrap();
        let mut gathered = Gathered::default();
        for number in [3, 17, 1, 40, 2, 16, 15] {
            let (offset, bytes) = page(number);
            assert!(gathered.take(offset, &bytes));
        }
        let mut newer = page(40).1;
        newer.fill(41);
        assert!(gathered.take(page(40).0, &newer), "what was written last counts");
        assert!(
            !gathered.take(0, &[0; 320])
                && !gathered.take(100, &page(1).1)
                && !gathered.take(0, &vec![0; LONG])
        );
        assert_eq!(gathered.first_within(page(18).0..page(19).0), Some(WINDOW_BYTES));
        assert_eq!(gathered.first_within(page(48).0..page(60).0), None);
        let mut read = [9; 3 * PAGE];
        for (first, pages, expected) in [
            (1, 3, Found::Here),
            (3, 1, Found::Here),
            (3, 2, Found::Both),
            (15, 3, Found::Both),
            (4, 3, Found::Below),
            (50, 1, Found::Below),
        ] {
            let found = gathered.read(page(first).0 + 1, read.get_mut(..pages * PAGE - 1).unwrap());
            assert_eq!(found, expected, "{first}");
            if found == Found::Here {
                assert_eq!(
                    (read[0], read[pages * PAGE - 2]),
                    (first, first + u8::try_from(pages).unwrap() - 1)
                );
            }
        }
        let mut calls = Vec::new();
        while let Some(start) = gathered.first_within(0..u64::MAX) {
            gathered
                .write(start, &file, |offset, size| calls.push((offset / PAGE as u64, size / PAGE)))
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
        let mut gathered = Gathered::default();
        let (offset, bytes) = page(1);
        assert!(gathered.take(offset, &bytes));
        assert!(gathered.write(0, &file, |_, _| unreachable!("the file is too short")).is_err());
        file.set_len(WINDOW_BYTES).unwrap();
        assert_eq!(gathered.first_within(0..u64::MAX), Some(0));
        gathered.write(0, &file, |_, _| ()).unwrap();
        assert_eq!(gathered.first_within(0..u64::MAX), None);
    }
}
