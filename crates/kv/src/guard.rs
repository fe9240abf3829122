//! Whether pages are what their parents say. redb verifies no checksum when it reads: a damaged
//! page may hide rows from it, and an older one shows what is no more. So each page that redb reads
//! from the file is compared with the checksum that its parent holds, once that parent was read;
//! what a page that differs should hold is remembered, and not believed to be missing.
//!
//! Each record has a checksum of its own. So of a page that is damaged what is found is right, and
//! only what is not found may be wrong. A page whose rows are all right is another one, or an older
//! one: of it nothing is believed.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use leafbase_model::{Error, Result};
use redb::StorageBackend;

use super::KeyRange;
use super::structure::{BRANCH, File, MAX_DEPTH, PAGE_BYTES, Root};
use super::within::lead_nowhere;
use super::wreck;
use crate::EntryFormat;

/// What a page must be, by its place in the file. There may be one for each page of a large file,
/// so it is kept small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Expected {
    checksum: [u8; 16],
    /// The number of the branch that it is a child of, and which one; 0 for the root: that page is
    /// the file's header.
    parent: u32,
    child: u16,
    /// Its length is that of a page, doubled so often.
    doubled: u8,
    /// Its children are known.
    is_read: bool,
    /// It is a branch that is damaged.
    is_wrong: bool,
}

/// A range of keys, after the first and up to the second, of which some may be hidden.
#[derive(Clone, Debug)]
struct Doubt {
    after: Option<Vec<u8>>,
    up_to: Option<Vec<u8>>,
    /// What is found there is not believed, either.
    of_all: bool,
}

#[derive(Debug, Default)]
struct State {
    /// By their numbers. A leaf that was compared is left out: it is compared once.
    pages: HashMap<u32, Expected, BuildHasherDefault<Spread>>,
    doubts: Vec<Doubt>,
}

/// Spreads the numbers of pages. Each branch that is read brings a hundred of them, and each page
/// that is read is looked up.
#[derive(Debug, Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        // The upper bits of a product depend on all bits of its factors, and a table goes by the
        // lower ones first.
        self.0.rotate_left(32)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

/// Reads bytes of the file, if they can be read.
type ReadAt<'f> = &'f dyn Fn(u64, &mut [u8]) -> bool;

/// What is known of the pages of one handle. Copies are the same.
#[derive(Clone, Debug)]
pub(super) struct Guard(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    entries: EntryFormat,
    is_enabled: bool,
    state: RwLock<State>,
    has_doubts: AtomicBool,
    has_altered: AtomicBool,
}

impl Doubt {
    fn holds(&self, key: &[u8]) -> bool {
        self.after.as_deref().is_none_or(|after| key > after)
            && self.up_to.as_deref().is_none_or(|up_to| key <= up_to)
    }

    fn overlaps(&self, lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> bool {
        let is_before = match (&self.up_to, lower) {
            (Some(up_to), Bound::Included(lower)) => **up_to < *lower,
            (Some(up_to), Bound::Excluded(lower)) => **up_to <= *lower,
            _ => false,
        };
        let is_behind = match (&self.after, upper) {
            (Some(after), Bound::Included(upper) | Bound::Excluded(upper)) => *upper <= **after,
            _ => false,
        };
        !is_before && !is_behind
    }
}

impl Expected {
    /// None for a page that no file holds.
    fn of(root: Root, parent: u32, child: u16) -> Option<(u32, Self)> {
        let (at, bytes) = root.place()?;
        let doubled = u8::try_from((bytes as u64 / PAGE_BYTES).checked_ilog2()?).ok()?;
        let checksum = root.checksum.to_le_bytes();
        Some((
            page_number(at)?,
            Self { checksum, parent, child, doubled, is_read: false, is_wrong: false },
        ))
    }

    fn bytes(self) -> usize {
        usize::try_from(PAGE_BYTES).unwrap_or_default() << self.doubled
    }

    fn is(self, page: &[u8]) -> bool {
        wreck::is_sound(page, u128::from_le_bytes(self.checksum))
    }

    fn parent(self) -> Option<(u32, u16)> {
        (self.parent > 0).then_some((self.parent, self.child))
    }
}

fn page_number(offset: u64) -> Option<u32> {
    u32::try_from(offset / PAGE_BYTES).ok().filter(|_| offset.is_multiple_of(PAGE_BYTES))
}

impl Guard {
    /// For a handle that has read nothing yet. One that is not enabled finds nothing.
    pub(super) fn new(entries: EntryFormat, is_enabled: bool) -> Self {
        Self(Arc::new(Inner {
            entries,
            is_enabled,
            state: RwLock::default(),
            has_doubts: AtomicBool::new(false),
            has_altered: AtomicBool::new(false),
        }))
    }

    fn state(&self) -> RwLockReadGuard<'_, State> {
        self.0.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn state_mut(&self) -> RwLockWriteGuard<'_, State> {
        self.0.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Learns the root of what was committed last.
    pub(super) fn learn_root(&self, storage: &dyn StorageBackend) {
        let Some(root) = File::open(storage).and_then(|file| file.root_of_data()) else { return };
        let Some((number, expected)) = Expected::of(root, 0, 0) else { return };
        let mut state = self.state_mut();
        let is_known =
            state.pages.get(&number).is_some_and(|page| page.checksum == expected.checksum);
        if !is_known {
            state.pages.insert(number, expected);
        }
    }

    /// The page at `offset` was read from the file. A damaged one is changed where it could lead
    /// round in circles; `is_cut` tells whether it was changed before.
    pub(super) fn saw(&self, read: ReadAt<'_>, offset: u64, page: &mut [u8], is_cut: bool) {
        if !self.0.is_enabled {
            return;
        }
        let Some(number) = page_number(offset) else { return };
        let Some(expected) = self.state().pages.get(&number).copied() else { return };
        if expected.bytes() != page.len() {
            return;
        }
        if expected.is_read {
            // Each time anew: what a cache lets go is read again.
            if expected.is_wrong {
                self.part_from_wrong_branches(read, page, is_cut);
            }
            return;
        }
        // Nobody waits while it is compared. Whoever reads it at the same time compares it as well,
        // and the first one keeps what comes of it.
        let (is_sound, is_branch) = (expected.is(page), page.first() == Some(&BRANCH));
        if is_branch && !is_sound {
            self.part_from_wrong_branches(read, page, is_cut);
        }
        let page = &*page;
        let mut state = self.state_mut();
        let Entry::Occupied(mut known) = state.pages.entry(number) else { return };
        if *known.get() != expected {
            return;
        }
        if is_branch {
            known.insert(Expected { is_read: true, is_wrong: !is_sound, ..expected });
            state.learn(number, page);
        } else {
            known.remove();
        }
        if !is_sound {
            let (after, up_to) = state.range(read, expected.parent());
            let of_all = !is_branch && wreck::are_all_right(page, self.0.entries);
            state.doubts.push(Doubt { after, up_to, of_all });
            self.0.has_doubts.store(true, Ordering::Release);
        }
    }

    /// Something is written there: what was known of it holds no more.
    pub(super) fn wrote(&self, offset: u64, bytes: usize) {
        let end = offset.saturating_add(bytes as u64).div_ceil(PAGE_BYTES);
        let number = |page: u64| u32::try_from(page).unwrap_or(u32::MAX);
        let mut state = self.state_mut();
        for written in number(offset / PAGE_BYTES)..number(end) {
            state.pages.remove(&written);
        }
    }

    /// Whether a page differs from what its parent says.
    pub(super) fn is_in_doubt(&self) -> bool {
        self.0.has_doubts.load(Ordering::Acquire)
    }

    fn doubts(&self, is_in: impl Fn(&Doubt) -> bool) -> bool {
        self.is_in_doubt() && self.state().doubts.iter().any(is_in)
    }

    /// Nothing was found under `key`.
    pub(super) fn check_missing(&self, key: &[u8]) -> Result<()> {
        if self.doubts(|doubt| doubt.holds(key)) {
            Err(Error::corrupted((self.0.entries.describe)(key)))
        } else {
            Ok(())
        }
    }

    /// Something was found under `key`.
    pub(super) fn check_found(&self, key: &[u8]) -> Result<()> {
        if self.doubts(|doubt| doubt.of_all && doubt.holds(key)) {
            Err(Error::corrupted((self.0.entries.describe)(key)))
        } else {
            Ok(())
        }
    }

    /// All of `range` was found; `last` is where the search ended before its end.
    pub(super) fn check_all(&self, range: KeyRange<'_>, last: Option<&[u8]>) -> Result<()> {
        let (mut lower, mut upper) = (range.lower, range.upper);
        match last {
            Some(last) if range.reverse => lower = Bound::Included(last),
            Some(last) => upper = Bound::Included(last),
            None => {}
        }
        if !self.doubts(|doubt| doubt.overlaps(lower, upper)) {
            return Ok(());
        }
        match lower {
            Bound::Included(from) | Bound::Excluded(from) => {
                let entry = (self.0.entries.describe)(from);
                Err(Error::corrupted(format_args!("rows from {entry} on")))
            }
            Bound::Unbounded => Err(Error::corrupted("a page of the store")),
        }
    }

    /// Lets those children of a damaged branch be nowhere that are branches, and not what it says
    /// that they are. One that is wrong may be a page above it: redb would go down for ever. One
    /// that is right, or a leaf, leads to no such page.
    fn part_from_wrong_branches(&self, read: ReadAt<'_>, page: &mut [u8], is_cut: bool) {
        let mut is_changed = is_cut;
        let children: Vec<_> = wreck::roots(page, wreck::count(page).unwrap_or_default()).collect();
        for (child, root) in children.into_iter().enumerate() {
            let Some((at, bytes)) = root.place() else { continue };
            // A damaged number may stand for a page of gigabytes: all of it is read only if it
            // begins as a branch.
            let mut kind = [0];
            if !read(at, &mut kind) || kind != [BRANCH] {
                continue;
            }
            let mut held = vec![0; bytes];
            // What can't be read leads nowhere.
            if read(at, &mut held) && !wreck::is_sound(&held, root.checksum) {
                lead_nowhere(page, child);
                is_changed = true;
            }
        }
        if is_changed {
            // redb would write it so, and with it the end of what is below, which salvage can still
            // read.
            self.0.has_altered.store(true, Ordering::Release);
        }
    }

    /// Fails if redb was given a page that differs from the file's: then nothing may be written.
    pub(super) fn check_unaltered(&self) -> Result<()> {
        if self.0.has_altered.load(Ordering::Acquire) {
            return Err(Error::corrupted(
                "a branch of the store's file: nothing is written to it any more",
            ));
        }
        Ok(())
    }
}

impl State {
    fn learn(&mut self, parent: u32, branch: &[u8]) {
        for (child, root) in
            (0_u16..).zip(wreck::roots(branch, wreck::count(branch).unwrap_or_default()))
        {
            let Some((number, expected)) = Expected::of(root, parent, child) else { continue };
            let known = self.pages.entry(number).or_insert(expected);
            if known.checksum != expected.checksum {
                *known = expected;
            }
        }
    }

    /// The keys that a child of a branch is to hold, as far as the branches above can be read.
    fn range(
        &self,
        read: ReadAt<'_>,
        parent: Option<(u32, u16)>,
    ) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
        let (mut after, mut up_to, mut at) = (None, None, parent);
        // Pages that were read by way of damaged ones may be each other's parents.
        for _ in 0..MAX_DEPTH {
            let Some((number, child)) = at else { break };
            let Some(expected) = self.pages.get(&number) else { return (None, None) };
            let mut page = vec![0; expected.bytes()];
            if read(u64::from(number) * PAGE_BYTES, &mut page) && expected.is(&page) {
                let children = wreck::children(&page, wreck::count(&page).unwrap_or_default());
                let end = |child: Option<u16>| children.get(usize::from(child?))?.1.clone();
                after = after.or_else(|| end(child.checked_sub(1)));
                up_to = up_to.or_else(|| end(Some(child)));
            } else {
                (after, up_to) = (None, None);
            }
            at = expected.parent();
        }
        (after, up_to)
    }
}
