//! Bytes laid over other bytes: what is written stays here, what was not is read below.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use redb::StorageBackend;

const PAGE: usize = 4_096;
const PAGE_BYTES: u64 = PAGE as u64;

#[derive(Debug)]
pub(super) struct Overlay {
    length: u64,
    /// How much of what is below still counts: less than all of it after this was cut shorter.
    length_below: u64,
    pages: BTreeMap<u64, Box<[u8; PAGE]>>,
}

impl Overlay {
    pub(super) fn over(below: &dyn StorageBackend) -> io::Result<Self> {
        let length = below.len()?;
        Ok(Self { length, length_below: length, pages: BTreeMap::new() })
    }

    pub(super) fn len(&self) -> u64 {
        self.length
    }

    pub(super) fn read(
        &self,
        below: &dyn StorageBackend,
        offset: u64,
        out: &mut [u8],
    ) -> io::Result<()> {
        self.check(offset, out.len())?;
        if self
            .pages
            .range(offset - offset % PAGE_BYTES..offset + out.len() as u64)
            .next()
            .is_none()
            && offset + out.len() as u64 <= self.length_below
        {
            return below.read(offset, out);
        }
        for Piece { page, within, of_all } in pieces(offset, out.len()) {
            let out = part_mut(out, of_all);
            match self.pages.get(&page) {
                Some(page) => out.copy_from_slice(part(&page[..], within)),
                None => out.copy_from_slice(part(&self.page_below(below, page)?[..], within)),
            }
        }
        Ok(())
    }

    pub(super) fn write(
        &mut self,
        below: &dyn StorageBackend,
        offset: u64,
        data: &[u8],
    ) -> io::Result<()> {
        self.check(offset, data.len())?;
        for Piece { page: at, within, of_all } in pieces(offset, data.len()) {
            let mut page = match self.pages.remove(&at) {
                Some(page) => page,
                None => self.page_below(below, at)?,
            };
            part_mut(&mut page[..], within).copy_from_slice(part(data, of_all));
            self.pages.insert(at, page);
        }
        Ok(())
    }

    pub(super) fn set_len(&mut self, length: u64) {
        if length < self.length {
            self.length_below = self.length_below.min(length);
            self.pages.retain(|at, _| *at < length);
            let last = length - length % PAGE_BYTES;
            if let Some(page) = self.pages.get_mut(&last) {
                part_mut(&mut page[..], in_page(length - last)..PAGE).fill(0);
            }
        }
        self.length = length;
    }

    fn check(&self, offset: u64, length: usize) -> io::Result<()> {
        if offset.checked_add(length as u64).is_none_or(|end| end > self.length) {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "beyond the end"));
        }
        Ok(())
    }

    fn page_below(&self, below: &dyn StorageBackend, at: u64) -> io::Result<Box<[u8; PAGE]>> {
        let mut page = Box::new([0; PAGE]);
        let there = in_page(self.length_below.saturating_sub(at).min(PAGE_BYTES));
        if let Some(part) = page.get_mut(..there).filter(|part| !part.is_empty()) {
            below.read(at, part)?;
        }
        Ok(page)
    }
}

/// What a range has of one page: the page's place, the part within it, and that part's place in the
/// whole range.
struct Piece {
    page: u64,
    within: Range<usize>,
    of_all: Range<usize>,
}

fn pieces(offset: u64, length: usize) -> impl Iterator<Item = Piece> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done >= length {
            return None;
        }
        let at = offset + done as u64;
        let start = in_page(at % PAGE_BYTES);
        let taken = (PAGE - start).min(length - done);
        let piece = Piece {
            page: at - start as u64,
            within: start..start + taken,
            of_all: done..done + taken,
        };
        done += taken;
        Some(piece)
    })
}

/// A place in a page, which is never beyond it.
fn in_page(at: u64) -> usize {
    usize::try_from(at).unwrap_or(PAGE)
}

fn part(bytes: &[u8], range: Range<usize>) -> &[u8] {
    bytes.get(range).unwrap_or_default()
}

fn part_mut(bytes: &mut [u8], range: Range<usize>) -> &mut [u8] {
    bytes.get_mut(range).unwrap_or_default()
}
