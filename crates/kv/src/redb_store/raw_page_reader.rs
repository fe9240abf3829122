//! The raw page reader: reads the entries of a redb file that may be too corrupt for redb.
//!
//! Only salvage uses it: `trust` salvaged 8,456 corrupt spaces with it (`tests/TRUST.md`). It
//! writes nothing and does not use redb. From a page with a correct checksum it takes all entries;
//! from another one, those with correct checksums of their own, and every child that looks like a
//! page. If two pages have the same key, the one with the correct checksum wins.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::mem;
use std::ops::{Bound, ControlFlow, Range};
use std::rc::Rc;

use leafbase_model::{Error, Result, invariant};
use redb::StorageBackend;
use xxhash_rust::xxh3::xxh3_128;

use super::file_format::{CommitSlot, HEADER_BYTES, PageReader, PageTree};
use super::page_format::{
    BRANCH, BranchChild, MAX_DEPTH, PagePointer, branch_children, bytes_at, entry_count,
    entry_ranges, fits_branch, has_checksum, is_entry_intact,
};
use super::tables::{ENTRIES_NAME, WAL_HEADER_NAME};
use crate::entry_format::EntryFormat;
use crate::store::{KeyRange, Read, Visit};
use crate::wal::file::{WalEpoch, salvage_records};
use crate::wal::manager::WalHeader;

/// Exceeds the entries of any page: each takes 8 bytes and a key.
const MAX_PAGE_ENTRIES: usize = 512;
/// Bytes of a corrupt entry's key that are kept to name it.
const MAX_KEY_BYTES: usize = 64;

/// Where the value of an entry is.
#[derive(Clone, Debug)]
struct ValueLocation {
    source: SalvagedFrom,
    range: Range<usize>,
    /// Whether the checksum of the page is correct.
    is_page_intact: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SalvagedFrom {
    Page(u64),
    Wal,
}

/// A page with a wrong checksum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostPage {
    /// All keys of the page are greater, if known.
    pub after: Option<Vec<u8>>,
    /// The greatest key that the page may hold, if known.
    pub up_to: Option<Vec<u8>>,
    /// How many of its entries, or children, could still be read.
    pub saved: usize,
}

impl LostPage {
    /// Names the page by its range of keys, each as `entry` names it.
    pub fn describe(&self, entry: fn(&[u8]) -> String) -> String {
        let mut name = match &self.after {
            Some(after) => format!("a page after {}", entry(after)),
            None => "a page from the beginning".to_owned(),
        };
        if let Some(up_to) = &self.up_to {
            name = format!("{name} up to {}", entry(up_to));
        }
        name
    }
}

/// The readable entries of a corrupt store.
#[derive(Debug)]
pub struct RawPageReader {
    storage: Box<dyn StorageBackend>,
    entries: BTreeMap<Vec<u8>, ValueLocation>,
    lost_pages: Vec<LostPage>,
    corrupt_keys: Vec<Vec<u8>>,
    is_previous_commit: bool,
    /// `None` if it cannot be read.
    wal_header: Option<WalHeader>,
    /// The values of the WAL's records.
    wal_values: Rc<[u8]>,
    /// The page read last.
    cached: RefCell<Option<(u64, Rc<[u8]>)>>,
}

impl RawPageReader {
    /// Reads the keys of the whole file. `progress` is called for each page and may stop with an
    /// error.
    ///
    /// # Errors
    /// [`Corrupted`](leafbase_model::ErrorKind::Corrupted) if no entry can be read; errors of
    /// `progress`.
    pub fn open(
        storage: Box<dyn StorageBackend>,
        format: EntryFormat,
        progress: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Self> {
        let unreadable = || Error::corrupted("the root of the store; no entry could be read");
        let length = storage.len().map_err(|error| unreadable().with_source(error))?;
        let mut header = vec![0; HEADER_BYTES];
        storage.read(0, &mut header).map_err(|error| unreadable().with_source(error))?;
        let slots = CommitSlot::both(&header).ok_or_else(unreadable)?;
        for (number, slot) in slots.into_iter().enumerate() {
            let mut walk = PageWalk::new(&*storage, length, format);
            let Some(tree) = walk.entries_tree(slot) else { continue };
            walk.read_tree(tree, progress)?;
            let wal_header = walk.wal_header(slot);
            let PageWalk { entries, lost_pages, corrupt_keys, .. } = walk;
            if !entries.is_empty() {
                return Ok(Self {
                    storage,
                    entries,
                    lost_pages,
                    corrupt_keys,
                    is_previous_commit: number > 0 || !slot.is_intact(),
                    wal_header,
                    wal_values: Rc::default(),
                    cached: RefCell::default(),
                });
            }
        }
        Err(unreadable())
    }

    /// The pages with wrong checksums.
    pub fn lost_pages(&self) -> &[LostPage] {
        &self.lost_pages
    }

    /// The keys of entries with wrong checksums, at most 64 bytes of each.
    pub fn corrupt_keys(&self) -> &[Vec<u8>] {
        &self.corrupt_keys
    }

    /// Whether this may be the state before the last commit.
    pub fn is_previous_commit(&self) -> bool {
        self.is_previous_commit
    }

    /// Replays the readable records of the store's WAL over the entries. `wal` is its file, if it
    /// exists; `lost` is called with a description of each loss.
    ///
    /// # Errors
    /// I/O errors.
    pub fn replay_wal(
        &mut self,
        wal: Option<&dyn StorageBackend>,
        lost: &mut dyn FnMut(&str),
    ) -> Result<()> {
        let (wal, epoch) = match (self.wal_header, wal) {
            (Some(header), Some(wal)) if header.in_use => (wal, header.epoch),
            (Some(header), None) if header.in_use => {
                lost("the write-ahead log, which is missing");
                return Ok(());
            }
            (None, Some(_)) => {
                lost("the write-ahead log: the store no longer records to which state it belongs");
                return Ok(());
            }
            _ => return Ok(()),
        };
        let (memtable, unreadable) = salvage_records(wal, epoch)?;
        for records in unreadable {
            let first = records.start + 1;
            lost(&format!("records {first} to {} of the write-ahead log", records.end));
        }
        let mut values = Vec::new();
        for entry in &memtable {
            let Some(value) = entry.value() else {
                // Deleted after the checkpoint whose pages still have it.
                self.entries.remove(entry.key());
                continue;
            };
            let start = values.len();
            values.extend_from_slice(value);
            let location = ValueLocation {
                source: SalvagedFrom::Wal,
                range: start..values.len(),
                is_page_intact: true,
            };
            self.entries.insert(entry.key().to_vec(), location);
        }
        self.wal_values = values.into();
        Ok(())
    }

    fn page(&self, number: u64) -> Result<Rc<[u8]>> {
        if let Some((_, page)) = self.cached.borrow().as_ref().filter(|(page, _)| *page == number) {
            return Ok(Rc::clone(page));
        }
        let read =
            || PageReader::with_default_layout(&*self.storage, self.storage.len()?).page(number);
        let read =
            read().map_err(|error| Error::corrupted("a page of the store").with_source(error));
        let page: Rc<[u8]> = read?.into();
        *self.cached.borrow_mut() = Some((number, Rc::clone(&page)));
        Ok(page)
    }

    fn visit_value(
        &self,
        location: &ValueLocation,
        visit: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let bytes = match location.source {
            SalvagedFrom::Page(number) => self.page(number)?,
            SalvagedFrom::Wal => Rc::clone(&self.wal_values),
        };
        let Some(value) = bytes.get(location.range.clone()) else {
            invariant!("a value lies inside the page that it was found on")
        };
        visit(value)
    }
}

impl Read for RawPageReader {
    fn get(&self, key: &[u8], visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        let Some(location) = self.entries.get(key) else { return Ok(false) };
        self.visit_value(location, visit).map(|()| true)
    }

    fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let bounds: (Bound<&[u8]>, Bound<&[u8]>) = (range.lower, range.upper);
        let mut entries = self.entries.range::<[u8], _>(bounds);
        while let Some((key, location)) =
            if range.reverse { entries.next_back() } else { entries.next() }
        {
            let mut flow = ControlFlow::Continue(());
            self.visit_value(location, &mut |value| {
                flow = visit(key, value)?;
                Ok(())
            })?;
            if flow.is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// A page still to be read, and the range of keys that it may hold.
struct PendingPage {
    pointer: PagePointer,
    depth: usize,
    after: Option<Vec<u8>>,
    up_to: Option<Vec<u8>>,
}

/// A walk over the pages of a tree.
struct PageWalk<'s> {
    file: PageReader<'s>,
    format: EntryFormat,
    entries: BTreeMap<Vec<u8>, ValueLocation>,
    lost_pages: Vec<LostPage>,
    corrupt_keys: Vec<Vec<u8>>,
    /// A corrupt pointer may lead to any page, also to one above.
    visited: HashSet<u64>,
}

impl<'s> PageWalk<'s> {
    fn new(storage: &'s dyn StorageBackend, length: u64, format: EntryFormat) -> Self {
        Self {
            file: PageReader::with_default_layout(storage, length),
            format,
            entries: BTreeMap::new(),
            lost_pages: Vec::new(),
            corrupt_keys: Vec::new(),
            visited: HashSet::new(),
        }
    }

    /// The WAL header of a commit; the default if it has none.
    fn wal_header(&self, slot: CommitSlot<'_>) -> Option<WalHeader> {
        let tables = self.tables(slot)?;
        let table = tables.into_iter().find(|(name_bytes, _)| *name_bytes == WAL_HEADER_NAME.len());
        let Some((_, tree)) = table else { return Some(WalHeader::default()) };
        let root = tree.root?;
        let page = self.file.page(root.number).ok()?;
        let value = tree.widths.values(&page, entry_count(&page)?)?.first()?.clone();
        // A wrong header would replay the wrong records, so the page must be intact.
        if page.get(..value.end).map(xxh3_128) != Some(root.checksum) {
            return None;
        }
        let header = page.get(value)?;
        let word = |at| bytes_at(header, at).map(u64::from_le_bytes);
        let epoch = WalEpoch { number: word(0)?, salt: word(8)? };
        Some(WalHeader { epoch, in_use: *header.get(16)? != 0 })
    }

    fn entries_tree(&self, slot: CommitSlot<'_>) -> Option<PageTree> {
        let tables = self.tables(slot)?;
        let table = tables.into_iter().find(|(name_bytes, _)| *name_bytes == ENTRIES_NAME.len());
        table.map(|(_, tree)| tree)
    }

    /// The tables with the lengths of their names: no two are equally long, and the letters may be
    /// corrupt.
    fn tables(&self, slot: CommitSlot<'_>) -> Option<Vec<(usize, PageTree)>> {
        let page = self.file.page(slot.tables()?.root?.number).ok()?;
        let definitions = entry_ranges(&page, entry_count(&page)?).into_iter();
        let tables = definitions.filter_map(|(name, definition)| {
            Some((name.len(), PageTree::of_table(page.get(definition)?)?))
        });
        Some(tables.collect())
    }

    fn read_tree(
        &mut self,
        tree: PageTree,
        progress: &mut dyn FnMut() -> Result<()>,
    ) -> Result<()> {
        let root = tree.root;
        let root = root.map(|pointer| PendingPage { pointer, depth: 0, after: None, up_to: None });
        let mut pending: Vec<_> = root.into_iter().collect();
        while let Some(next) = pending.pop() {
            progress()?;
            if !self.visited.insert(next.pointer.number) || next.depth > MAX_DEPTH {
                self.lost_pages.push(LostPage { after: next.after, up_to: next.up_to, saved: 0 });
                continue;
            }
            let mut after = next.after.clone();
            let mut children = Vec::new();
            for (pointer, greatest_key) in self.read_page(&next) {
                let up_to = greatest_key.or_else(|| next.up_to.clone());
                let child_after = mem::replace(&mut after, up_to.clone());
                children.push(PendingPage {
                    pointer,
                    depth: next.depth + 1,
                    after: child_after,
                    up_to,
                });
            }
            // Reversed, so that the first child is popped first.
            pending.extend(children.into_iter().rev());
        }
        Ok(())
    }

    /// Takes the entries of a leaf, or returns the children of a branch.
    fn read_page(&mut self, at: &PendingPage) -> Vec<BranchChild> {
        let lost = |saved| LostPage { after: at.after.clone(), up_to: at.up_to.clone(), saved };
        let Ok(page) = self.file.page(at.pointer.number) else {
            self.lost_pages.push(lost(0));
            return Vec::new();
        };
        let recorded = entry_count(&page).unwrap_or(0);
        if has_checksum(&page, at.pointer.checksum) {
            if page.first() == Some(&BRANCH) {
                return branch_children(&page, recorded);
            }
            self.take_entries(&page, at.pointer.number, recorded, true);
            return Vec::new();
        }
        let count = self.likely_entry_count(&page, recorded);
        let children = if count == 0 { self.likely_children(&page, recorded) } else { Vec::new() };
        let saved = if children.is_empty() {
            self.take_entries(&page, at.pointer.number, count, false)
        } else {
            children.len()
        };
        self.lost_pages.push(lost(saved));
        children
    }

    /// The number of entries with which most of them are intact.
    fn likely_entry_count(&self, page: &[u8], recorded: usize) -> usize {
        let intact = |count: usize| {
            let entries = entry_ranges(page, count).into_iter();
            entries.filter(|entry| is_entry_intact(page, entry, self.format)).count()
        };
        let recorded = recorded.min(MAX_PAGE_ENTRIES);
        // The count itself is rarely the corrupt part.
        if intact(recorded) > 0 {
            return recorded;
        }
        let counts = (1..=MAX_PAGE_ENTRIES).map(|count| (intact(count), count));
        counts.max().filter(|(intact, _)| *intact > 0).map_or(0, |(_, count)| count)
    }

    /// The children, with the first number of keys that gives an intact one.
    fn likely_children(&self, page: &[u8], recorded: usize) -> Vec<BranchChild> {
        let is_intact = |(pointer, _): &BranchChild| {
            let child = self.file.page(pointer.number);
            child.is_ok_and(|child| has_checksum(&child, pointer.checksum))
        };
        let others =
            (1..=MAX_PAGE_ENTRIES).filter(|keys| *keys != recorded && fits_branch(page, *keys));
        for keys in [recorded].into_iter().chain(others) {
            let children = branch_children(page, keys);
            if children.iter().any(is_intact) {
                return children;
            }
        }
        Vec::new()
    }

    /// Takes the intact entries of a leaf and returns their number.
    fn take_entries(
        &mut self,
        page: &[u8],
        number: u64,
        count: usize,
        is_page_intact: bool,
    ) -> usize {
        let mut saved = 0;
        for entry in entry_ranges(page, count) {
            let Some(key) = page.get(entry.0.clone()) else { continue };
            if !is_entry_intact(page, &entry, self.format) {
                self.corrupt_keys.push(key.iter().copied().take(MAX_KEY_BYTES).collect());
                continue;
            }
            saved += 1;
            let source = SalvagedFrom::Page(number);
            let location = ValueLocation { source, range: entry.1, is_page_intact };
            match self.entries.get_mut(key) {
                // An old version of the page may still be referred to by a corrupt one.
                Some(kept) if kept.is_page_intact || !is_page_intact => {}
                Some(kept) => *kept = location,
                None => drop(self.entries.insert(key.to_owned(), location)),
            }
        }
        saved
    }
}
