//! A store's file that may be too damaged for redb: its pages are walked by our own reader, which
//! goes on after one that cannot be read.
//!
//! Nothing is written, and redb is not asked. A page whose checksum is right is what redb wrote; of
//! another one each row is taken whose own checksum is right, and each page below that looks like
//! one. What two pages say is taken from the sound one.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::{Bound, ControlFlow};
use std::path::Path;
use std::rc::Rc;
use std::{fmt, fs, io};

use leafbase_model::{Error, Result};
use redb::StorageBackend;
use xxhash_rust::xxh3::xxh3_128;

use super::base::TABLE_NAME;
use super::failure::from_io;
use super::journal::{self, Epoch};
use super::journaling::Mark;
use super::opener::JOURNAL_TABLE;
use super::structure::{BRANCH, File, LEAF, MAX_DEPTH, Root, Slot, Tree, bytes, number};
use super::{KeyRange, Read, Visit};
use crate::EntryFormat;

/// More rows than a page of any kind holds: each takes 8 bytes and a key.
const MOST_ROWS: usize = 512;

/// Stands for a page: the value is one of the journal's.
const JOURNAL: u64 = u64::MAX;

/// Where the value of a row lies.
#[derive(Clone, Copy, Debug)]
struct Spot {
    page: u64,
    start: usize,
    end: usize,
    /// Whether the page's checksum is right.
    sound: bool,
}

/// A page that is damaged: which keys it is to hold, as far as is known, and how many of its rows
/// are saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// All keys of the page are greater than this one, if it is known.
    pub after: Option<Vec<u8>>,
    /// The greatest key that the page may hold, if it is known.
    pub up_to: Option<Vec<u8>>,
    /// How many of its entries could still be read.
    pub saved: usize,
}

impl Gap {
    /// Names the page by the keys that it held, each as `entry` names it.
    pub fn describe(&self, entry: fn(&[u8]) -> String) -> String {
        let start = self.after.as_deref().map_or_else(
            || "a page from the beginning".to_owned(),
            |after| format!("a page after {}", entry(after)),
        );
        let end = self.up_to.as_deref().map(|up_to| format!(" up to {}", entry(up_to)));
        start + &end.unwrap_or_default()
    }
}

/// What can be read of a file.
#[derive(Debug)]
pub struct Wreck {
    storage: FileBytes,
    rows: BTreeMap<Vec<u8>, Spot>,
    /// The damaged pages.
    pub gaps: Vec<Gap>,
    /// The keys of rows whose checksum is wrong.
    pub bad: Vec<Vec<u8>>,
    /// Whether it is the state before the last commit.
    pub is_older: bool,
    /// What it says of its journal, where that can be read.
    mark: Option<Mark>,
    /// The values that the journal has.
    journal: Rc<[u8]>,
    page: RefCell<Option<(u64, Rc<[u8]>)>>,
}

/// The bytes of a file, for reading and nothing else. The file is not locked.
#[derive(Debug)]
pub struct FileBytes(pub fs::File);

impl StorageBackend for FileBytes {
    fn len(&self) -> io::Result<u64> {
        self.0.metadata().map(|metadata| metadata.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut file = &self.0;
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(out)
    }

    fn set_len(&self, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn sync_data(&self) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn write(&self, _: u64, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

/// A page still to be read.
struct Waiting {
    root: Root,
    depth: usize,
    after: Option<Vec<u8>>,
    up_to: Option<Vec<u8>>,
}

/// The children of a branch, each with the key that ends it.
type Children = Vec<Child>;
/// A page below a branch, and the last key that it may hold where the branch says so.
pub(super) type Child = (Root, Option<Vec<u8>>);

impl Wreck {
    /// Looks through the whole file. `tell` is called for each page, and may break off.
    ///
    /// # Errors
    /// [`Corrupted`](leafbase_model::ErrorKind::Corrupted) if nothing can be read, and what `tell`
    /// returned.
    pub fn open(
        storage: FileBytes,
        entries: EntryFormat,
        tell: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Self> {
        let mut header = vec![0; 320];
        let nothing = || Error::corrupted("the root of the store: nothing of it could be read");
        let length = storage.len().map_err(|error| nothing().with_source(error))?;
        storage.read(0, &mut header).map_err(|error| nothing().with_source(error))?;
        let slots = Slot::both(&header).ok_or_else(nothing)?;
        for (number, slot) in slots.into_iter().enumerate() {
            let mut walk = Walk::over(&storage, length, entries);
            let Some(tree) = walk.table(slot) else { continue };
            walk.tree(tree, tell)?;
            let mark = walk.mark(slot);
            let Walk { rows, gaps, bad, .. } = walk;
            if !rows.is_empty() {
                let (is_older, journal) = (number > 0 || !slot.agrees(), Rc::default());
                return Ok(Self {
                    storage,
                    rows,
                    gaps,
                    bad,
                    is_older,
                    mark,
                    journal,
                    page: RefCell::default(),
                });
            }
        }
        Err(nothing())
    }

    /// Lays what can be read of the journal beside the store over it, and tells what cannot.
    ///
    /// # Errors
    /// What the operating system reports.
    pub fn lay_journal(
        &mut self,
        path: &Path,
        lost: &mut dyn FnMut(&dyn fmt::Display),
    ) -> Result<()> {
        let epoch = match (self.mark, fs::metadata(path).is_ok()) {
            (Some(mark), true) if mark.in_use => mark.epoch,
            (Some(mark), false) if mark.in_use => {
                lost(&"the journal, which is gone");
                return Ok(());
            }
            (None, true) => {
                lost(&"the journal: the store does not say any more what it belongs to");
                return Ok(());
            }
            _ => return Ok(()),
        };
        let cannot_read = |error| from_io("the journal could not be read", error);
        let file = FileBytes(fs::File::open(path).map_err(cannot_read)?);
        let (edits, damaged) = journal::remains(&file, epoch).map_err(cannot_read)?;
        for records in damaged {
            lost(&format_args!("records {} to {} of the journal", records.start + 1, records.end));
        }
        let mut values = Vec::new();
        for edit in &edits {
            let Some(value) = edit.value() else {
                self.rows.remove(edit.key());
                continue;
            };
            let start = values.len();
            values.extend_from_slice(value);
            self.rows.insert(
                edit.key().to_vec(),
                Spot { page: JOURNAL, start, end: values.len(), sound: true },
            );
        }
        self.journal = values.into();
        Ok(())
    }

    fn page(&self, number: u64) -> Result<Rc<[u8]>> {
        if number == JOURNAL {
            return Ok(Rc::clone(&self.journal));
        }
        if let Some((_, page)) = self.page.borrow().as_ref().filter(|(kept, _)| *kept == number) {
            return Ok(Rc::clone(page));
        }
        let length = self.storage.len().map_err(|error| damaged().with_source(error))?;
        let file = File::of_default_layout(&self.storage, length);
        let page: Rc<[u8]> =
            file.page(number).map_err(|error| damaged().with_source(error))?.into();
        *self.page.borrow_mut() = Some((number, Rc::clone(&page)));
        Ok(page)
    }

    fn value(&self, spot: Spot, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let page = self.page(spot.page)?;
        visit(page.get(spot.start..spot.end).ok_or_else(damaged)?)
    }
}

fn damaged() -> Error {
    Error::corrupted("a page of the store")
}

impl Read for Wreck {
    fn get(&self, key: &[u8], visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        self.rows.get(key).map_or(Ok(false), |spot| self.value(*spot, visit).map(|()| true))
    }

    fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let bounds: (Bound<&[u8]>, Bound<&[u8]>) = (range.lower, range.upper);
        let mut rows = self.rows.range::<[u8], _>(bounds);
        while let Some((key, spot)) = if range.reverse { rows.next_back() } else { rows.next() } {
            let mut flow = ControlFlow::Continue(());
            self.value(*spot, &mut |value| {
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

/// A walk through the pages of a tree.
struct Walk<'s> {
    file: File<'s>,
    format: EntryFormat,
    rows: BTreeMap<Vec<u8>, Spot>,
    gaps: Vec<Gap>,
    bad: Vec<Vec<u8>>,
    /// A pointer that is damaged may lead anywhere.
    seen: HashSet<u64>,
}

impl<'s> Walk<'s> {
    fn over(storage: &'s FileBytes, length: u64, entries: EntryFormat) -> Self {
        let file = File::of_default_layout(storage, length);
        Self {
            file,
            format: entries,
            rows: BTreeMap::new(),
            gaps: Vec::new(),
            bad: Vec::new(),
            seen: HashSet::new(),
        }
    }

    /// What the store says of its journal: nothing if it never had one.
    fn mark(&self, slot: Slot<'_>) -> Option<Mark> {
        let Some((_, tree)) =
            self.tables(slot)?.into_iter().find(|(name, _)| *name == JOURNAL_TABLE.len())
        else {
            return Some(Mark::default());
        };
        let root = tree.root?;
        let page = self.file.page(root.page).ok()?;
        let (start, end) = *tree.values(&page, count(&page)?)?.first()?;
        let value = page
            .get(start..end)
            .filter(|_| page.get(..end).map(xxh3_128) == Some(root.checksum))?;
        let wide = |at| bytes(value, at).map(u64::from_le_bytes);
        Some(Mark {
            epoch: Epoch { number: wide(0)?, salt: wide(8)? },
            in_use: *value.get(16)? != 0,
        })
    }

    /// The table of the space.
    fn table(&self, slot: Slot<'_>) -> Option<Tree> {
        self.tables(slot)?
            .into_iter()
            .find(|(name, _)| *name == TABLE_NAME.len())
            .map(|(_, tree)| tree)
    }

    /// The tables, each with how long its name is: no two are equally long, and letters may be
    /// damaged.
    fn tables(&self, slot: Slot<'_>) -> Option<Vec<(usize, Tree)>> {
        let page = self.file.page(slot.tables()?.root?.page).ok()?;
        let entries = entries(&page, count(&page)?).into_iter();
        Some(
            entries
                .filter_map(|(key, value)| Some((key.len(), Tree::of_table(page.get(value)?)?)))
                .collect(),
        )
    }

    fn tree(&mut self, tree: Tree, tell: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let first = tree.root.map(|root| Waiting { root, depth: 0, after: None, up_to: None });
        let mut waiting: Vec<_> = first.into_iter().collect();
        while let Some(next) = waiting.pop() {
            tell()?;
            if !self.seen.insert(next.root.page) || next.depth > MAX_DEPTH {
                self.gaps.push(Gap { after: next.after, up_to: next.up_to, saved: 0 });
                continue;
            }
            let children = self.visit(&next);
            let mut after = next.after.clone();
            let below = children.into_iter().map(|(root, end)| {
                let up_to = end.or_else(|| next.up_to.clone());
                Waiting {
                    root,
                    depth: next.depth + 1,
                    after: std::mem::replace(&mut after, up_to.clone()),
                    up_to,
                }
            });
            let below: Vec<_> = below.collect();
            // The first one is to be the next.
            waiting.extend(below.into_iter().rev());
        }
        Ok(())
    }

    /// Takes the rows of a page, and gives its children.
    fn visit(&mut self, at: &Waiting) -> Children {
        let gap = |saved| Gap { after: at.after.clone(), up_to: at.up_to.clone(), saved };
        let Ok(page) = self.file.page(at.root.page) else {
            self.gaps.push(gap(0));
            return Vec::new();
        };
        if is_sound(&page, at.root.checksum) {
            if page.first() == Some(&BRANCH) {
                return children(&page, count(&page).unwrap_or_default());
            }
            self.take(&page, at.root.page, count(&page).unwrap_or_default(), true);
            return Vec::new();
        }
        let rows = likely_rows(&page, self.format);
        let children = if rows == 0 { self.likely_children(&page) } else { Vec::new() };
        let saved = if children.is_empty() {
            self.take(&page, at.root.page, rows, false)
        } else {
            children.len()
        };
        self.gaps.push(gap(saved));
        children
    }

    /// The children with the number of them with which most are sound.
    fn likely_children(&self, page: &[u8]) -> Children {
        let is_whole = |(root, _): &(Root, _)| {
            self.file.page(root.page).is_ok_and(|page| is_sound(&page, root.checksum))
        };
        let told = count(page).unwrap_or_default();
        let others =
            (1..=MOST_ROWS).filter(|keys| *keys != told && 8 + 24 * (keys + 1) <= page.len());
        for keys in [told].into_iter().chain(others) {
            let found = children(page, keys);
            if found.iter().any(is_whole) {
                return found;
            }
        }
        Vec::new()
    }

    /// Takes the rows that are right, and gives their number.
    fn take(&mut self, page: &[u8], number: u64, rows: usize, sound: bool) -> usize {
        let mut saved = 0;
        for entry in entries(page, rows) {
            let (Some(key), is_right) =
                (page.get(entry.0.clone()), is_right(page, &entry, self.format))
            else {
                continue;
            };
            if !is_right {
                self.bad.push(key.iter().copied().take(64).collect());
                continue;
            }
            saved += 1;
            let spot = Spot { page: number, start: entry.1.start, end: entry.1.end, sound };
            let kept = self.rows.entry(key.to_owned()).or_insert(spot);
            if sound && !kept.sound {
                *kept = spot;
            }
        }
        saved
    }
}

type Range = std::ops::Range<usize>;

pub(super) fn count(page: &[u8]) -> Option<usize> {
    Some(usize::from(u16::from_le_bytes(bytes(page, 2)?)))
}

/// Where key and value of each row of a leaf with so many lie; those are left out that cannot be.
fn entries(page: &[u8], rows: usize) -> Vec<(Range, Range)> {
    let end = |at: usize| number(page, at).filter(|end| *end <= page.len());
    let (first_key, last_key) = (4 + 8 * rows, (4 + 4 * rows).checked_sub(4).and_then(end));
    let mut found = Vec::new();
    for index in 0..rows {
        let before = |table: usize, first: Option<usize>| {
            if index == 0 { first } else { end(table + 4 * index - 4) }
        };
        let key = before(4, Some(first_key)).zip(end(4 + 4 * index));
        let values = 4 + 4 * rows;
        let value = before(values, last_key).zip(end(values + 4 * index));
        if let (Some((start, end)), Some((from, to))) = (key, value)
            && start <= end
            && from <= to
        {
            found.push((start..end, from..to));
        }
    }
    found
}

/// The number of rows with which most of them are right.
fn likely_rows(page: &[u8], format: EntryFormat) -> usize {
    let right = |rows: &usize| {
        entries(page, *rows).into_iter().filter(|entry| is_right(page, entry, format)).count()
    };
    let told = count(page).unwrap_or_default().min(MOST_ROWS);
    // Mostly the number itself is not what is damaged.
    if right(&told) > 0 {
        return told;
    }
    (1..=MOST_ROWS)
        .map(|rows| (right(&rows), rows))
        .max()
        .filter(|(right, _)| *right > 0)
        .map_or(0, |(_, rows)| rows)
}

/// Whether the row's own checksum is right.
fn is_right(page: &[u8], (key, value): &(Range, Range), format: EntryFormat) -> bool {
    let (key, value) = (page.get(key.clone()), page.get(value.clone()));
    key.zip(value).is_some_and(|(key, value)| (format.is_intact)(key, value))
}

/// The children of a branch with so many keys between them.
pub(super) fn children(page: &[u8], keys: usize) -> Children {
    let ends = 8 + 24 * (keys + 1);
    let last_key = |child: usize| {
        let start =
            if child == 0 { Some(ends + 4 * keys) } else { number(page, ends + 4 * child - 4) };
        let end = if child < keys { start.zip(number(page, ends + 4 * child)) } else { None };
        end.and_then(|(start, end)| page.get(start..end)).map(<[u8]>::to_vec)
    };
    roots(page, keys).enumerate().map(|(child, root)| (root, last_key(child))).collect()
}

/// The same without the keys, as far as the page goes.
pub(super) fn roots(page: &[u8], keys: usize) -> impl Iterator<Item = Root> {
    (0..=keys).map_while(move |child| {
        let checksum = bytes(page, 8 + 16 * child).map(u128::from_le_bytes)?;
        let number = bytes(page, 8 + 16 * (keys + 1) + 8 * child).map(u64::from_le_bytes)?;
        Some(Root { page: number, checksum })
    })
}

/// Whether the page is what redb wrote.
pub(super) fn is_sound(page: &[u8], checksum: u128) -> bool {
    let end = || {
        let count = count(page)?;
        match *page.first()? {
            // Where the last value ends: before it are four bytes, and the ends of the keys and of
            // the other values.
            LEAF if count > 0 => number(page, 8 * count),
            BRANCH => Tree::of_bytes().branch_end(page, count),
            _ => None,
        }
    };
    end().and_then(|end| page.get(..end)).is_some_and(|content| xxh3_128(content) == checksum)
}

/// Whether each row of a leaf is right, and there are some.
pub(super) fn are_all_right(page: &[u8], format: EntryFormat) -> bool {
    let rows = count(page).unwrap_or_default();
    let entries = entries(page, rows);
    rows > 0 && entries.len() == rows && entries.iter().all(|entry| is_right(page, entry, format))
}
