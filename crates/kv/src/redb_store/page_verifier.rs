//! Page checksum verification.
//!
//! redb verifies no checksum when it reads: 28 % of random bit flips returned wrong data. Here each
//! page that redb reads from the file is compared with the checksum in its parent, once the parent
//! has been read. Of 198,170 damage trials none returned wrong data (`tests/TRUST.md`).
//!
//! The keys that a corrupt page should hold become a *suspect range*. Entries carry checksums, so
//! an entry that is found on a corrupt page is intact; one that is not found may be missing or
//! hidden, and the lookup fails. If all entries of a corrupt leaf are intact, it is a different
//! leaf or an old version of one: then lookups in its range fail whatever they find. Scans pass on
//! the keys of such a leaf; those that lie outside of the scan, or do not ascend, are errors.

use std::collections::HashMap;
use std::collections::hash_map;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use leafbase_model::{Error, Result};
use redb::StorageBackend;

use super::file_format::{HEADER_BYTES, PageReader, commit_slots};
use super::page_format::{
    BRANCH, MAX_DEPTH, PAGE_BYTES, PagePointer, are_all_intact, branch_children, child_pointers,
    entry_count, has_checksum, set_null_child,
};
use crate::entry_format::EntryFormat;
use crate::store::KeyRange;

/// The expected contents of a page. One is kept for every page whose parent was read, so it is
/// small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ExpectedPage {
    checksum: [u8; 16],
    /// The parent's page number, 0 for a root: page 0 is the header of the file.
    parent: u32,
    /// Its position among the children of the parent.
    child: u16,
    order: u8,
    /// It is a branch whose children are known.
    is_read: bool,
    /// It is a corrupt branch.
    is_corrupt: bool,
}

/// A range of keys, `after < key <= up_to`, of which some may be hidden by a corrupt page.
#[derive(Clone, Debug)]
struct SuspectRange {
    after: Option<Vec<u8>>,
    up_to: Option<Vec<u8>>,
    /// Entries that are found are not believed either.
    distrusts_entries: bool,
}

#[derive(Debug, Default)]
struct VerifierState {
    /// By page number. A leaf is removed once it was compared: it is compared once.
    pages: HashMap<u32, ExpectedPage, BuildHasherDefault<PageNumberHasher>>,
    suspects: Vec<SuspectRange>,
}

/// Multiplicative hash of page numbers: a branch adds a hundred, and each page read is looked up.
#[derive(Debug, Default)]
struct PageNumberHasher(u64);

impl Hasher for PageNumberHasher {
    fn finish(&self) -> u64 {
        // The table uses the low bits first; the high bits of a product mix all bits of its
        // factors.
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

/// Reads bytes of the file and returns whether that succeeded.
type ReadAt<'f> = &'f dyn Fn(u64, &mut [u8]) -> bool;

/// The verifier of one handle. Clones share their state.
#[derive(Clone, Debug)]
pub(super) struct PageVerifier(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    entries: EntryFormat,
    is_enabled: bool,
    state: RwLock<VerifierState>,
    has_suspects: AtomicBool,
    /// The commit slots in the header when the expected pages were learned; `None` unless other
    /// processes write to the file.
    followed: Mutex<Option<Vec<u8>>>,
    /// redb was given a page that differs from the file.
    has_altered_page: AtomicBool,
}

impl SuspectRange {
    fn contains(&self, key: &[u8]) -> bool {
        self.after.as_deref().is_none_or(|after| key > after)
            && self.up_to.as_deref().is_none_or(|up_to| key <= up_to)
    }

    fn overlaps(&self, lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> bool {
        let ends_before = match (&self.up_to, lower) {
            (Some(up_to), Bound::Included(lower)) => **up_to < *lower,
            (Some(up_to), Bound::Excluded(lower)) => **up_to <= *lower,
            _ => false,
        };
        let starts_after = match (&self.after, upper) {
            (Some(after), Bound::Included(upper) | Bound::Excluded(upper)) => *upper <= **after,
            _ => false,
        };
        !ends_before && !starts_after
    }
}

impl ExpectedPage {
    /// `None` for a page that no file contains.
    fn new(pointer: PagePointer, parent: u32, child: u16) -> Option<(u32, Self)> {
        let (offset, bytes) = pointer.location()?;
        let order = u8::try_from((bytes as u64 / PAGE_BYTES).checked_ilog2()?).ok()?;
        debug_assert!(
            PAGE_BYTES << order == bytes as u64,
            "broken invariant: the length of a page is a power of two"
        );
        let checksum = pointer.checksum.to_le_bytes();
        let page = Self { checksum, parent, child, order, is_read: false, is_corrupt: false };
        Some((page_number(offset)?, page))
    }

    fn bytes(self) -> u64 {
        PAGE_BYTES << self.order
    }

    fn matches(self, page: &[u8]) -> bool {
        has_checksum(page, u128::from_le_bytes(self.checksum))
    }

    fn parent(self) -> Option<(u32, u16)> {
        (self.parent > 0).then_some((self.parent, self.child))
    }
}

fn page_number(offset: u64) -> Option<u32> {
    u32::try_from(offset / PAGE_BYTES).ok().filter(|_| offset.is_multiple_of(PAGE_BYTES))
}

impl PageVerifier {
    /// A verifier for a handle that has read nothing yet. One that is not enabled finds nothing.
    pub(super) fn new(entries: EntryFormat, is_enabled: bool) -> Self {
        Self(Arc::new(Shared {
            entries,
            is_enabled,
            state: RwLock::default(),
            has_suspects: AtomicBool::new(false),
            followed: Mutex::default(),
            has_altered_page: AtomicBool::new(false),
        }))
    }

    fn state(&self) -> RwLockReadGuard<'_, VerifierState> {
        self.0.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn state_mut(&self) -> RwLockWriteGuard<'_, VerifierState> {
        self.0.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Learns the root of the last commit.
    pub(super) fn learn_root(&self, storage: &dyn StorageBackend) {
        let root = PageReader::open(storage).and_then(|file| file.entries_root());
        let Some((number, expected)) = root.and_then(|root| ExpectedPage::new(root, 0, 0)) else {
            // The table is empty, or redb reports why its root cannot be read.
            return;
        };
        let mut state = self.state_mut();
        let known = state.pages.get(&number);
        if known.is_none_or(|page| page.checksum != expected.checksum) {
            state.pages.insert(number, expected);
        }
    }

    /// Learns the root of the last commit, of a file that other processes write to, and forgets
    /// what was expected before it if there was a commit since: pages that were freed may hold
    /// anything by now. The caller has begun to read, or may write, so that the pages it reads
    /// stay. Corrupt pages are remembered.
    pub(super) fn follow_commits(&self, storage: &dyn StorageBackend) {
        let Some(file) = PageReader::open(storage) else { return };
        let slots = commit_slots(&file.header);
        // Not held while pages are read, which looks at it.
        if self.followed().as_deref() == Some(slots) {
            return;
        }
        self.state_mut().pages.clear();
        *self.followed() = Some(Vec::new());
        let root = file.entries_root().and_then(|root| ExpectedPage::new(root, 0, 0));
        // A commit in between may have freed the pages that lead to the root.
        let is_same =
            PageReader::open(storage).is_some_and(|again| commit_slots(&again.header) == slots);
        if is_same {
            self.state_mut().pages.extend(root);
            *self.followed() = Some(slots.to_vec());
        }
    }

    fn followed(&self) -> MutexGuard<'_, Option<Vec<u8>>> {
        self.0.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compares the page at `offset` as redb reads it. The children of a corrupt branch that could
    /// lead redb in a circle become null in `page`; `is_altered` tells whether `page` differs from
    /// the file already.
    pub(super) fn verify_read(
        &self,
        read: ReadAt<'_>,
        offset: u64,
        page: &mut [u8],
        is_altered: bool,
    ) -> Result<()> {
        if !self.0.is_enabled {
            return Ok(());
        }
        let Some(number) = page_number(offset) else { return Ok(()) };
        let Some(expected) = self.state().pages.get(&number).copied() else { return Ok(()) };
        if expected.bytes() != page.len() as u64 {
            return Ok(());
        }
        if expected.is_read {
            // A page that leaves redb's cache is read again, and has to be altered again.
            if expected.is_corrupt {
                self.clear_wrong_branches(read, page, is_altered)?;
            }
            return Ok(());
        }
        // Hashing holds no lock. Threads that read the page concurrently all hash it; the first
        // one that takes the lock below records the result.
        let is_intact = expected.matches(page);
        if !is_intact && self.is_outdated(read) {
            self.state_mut().pages.clear();
            return Ok(());
        }
        let is_branch = page.first() == Some(&BRANCH);
        if is_branch && !is_intact {
            self.clear_wrong_branches(read, page, is_altered)?;
        }
        let mut state = self.state_mut();
        let hash_map::Entry::Occupied(mut known) = state.pages.entry(number) else { return Ok(()) };
        if *known.get() != expected {
            return Ok(());
        }
        if is_branch {
            known.insert(ExpectedPage { is_read: true, is_corrupt: !is_intact, ..expected });
            state.learn_children(number, page);
        } else {
            known.remove();
        }
        if !is_intact {
            let (after, up_to) = state.key_range(read, expected.parent());
            let distrusts_entries = !is_branch && are_all_intact(page, self.0.entries);
            state.suspects.push(SuspectRange { after, up_to, distrusts_entries });
            self.0.has_suspects.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Whether another process has committed since the expected pages were learned. redb reads the
    /// first pages of a new commit before [`Self::follow_commits`] can forget those of the last
    /// one.
    fn is_outdated(&self, read: ReadAt<'_>) -> bool {
        let Some(slots) = self.followed().clone() else { return false };
        let mut header = [0; HEADER_BYTES];
        read(0, &mut header) && commit_slots(&header) != slots
    }

    /// Forgets the pages that a write replaces.
    pub(super) fn forget_written(&self, offset: u64, bytes: usize) {
        let end = offset.saturating_add(bytes as u64).div_ceil(PAGE_BYTES);
        // Pages past the last number are never expected.
        let number = |page: u64| u32::try_from(page).unwrap_or(u32::MAX);
        let mut state = self.state_mut();
        for written in number(offset / PAGE_BYTES)..number(end) {
            state.pages.remove(&written);
        }
    }

    /// Whether a corrupt page was read.
    pub(super) fn has_suspects(&self) -> bool {
        self.0.has_suspects.load(Ordering::Acquire)
    }

    fn any_suspect(&self, matches: impl Fn(&SuspectRange) -> bool) -> bool {
        self.has_suspects() && self.state().suspects.iter().any(matches)
    }

    fn corrupted_entry(&self, key: &[u8]) -> Error {
        Error::corrupted((self.0.entries.describe)(key))
    }

    /// Fails if `key`, which was not found, may be hidden.
    pub(super) fn check_missing(&self, key: &[u8]) -> Result<()> {
        if self.any_suspect(|range| range.contains(key)) {
            return Err(self.corrupted_entry(key));
        }
        Ok(())
    }

    /// Fails if the entry of `key`, which was found, may be an old version.
    pub(super) fn check_found(&self, key: &[u8]) -> Result<()> {
        if self.any_suspect(|range| range.distrusts_entries && range.contains(key)) {
            return Err(self.corrupted_entry(key));
        }
        Ok(())
    }

    /// Fails if the entry of `key`, which a scan of `range` found after that of `before`, may be an
    /// old version, or does not belong there: another page may be in the place of one, and redb
    /// passes on whatever that holds.
    pub(super) fn check_entry(
        &self,
        range: KeyRange<'_>,
        before: Option<&[u8]>,
        key: &[u8],
    ) -> Result<()> {
        let left = match before.map(Bound::Excluded) {
            Some(before) if range.reverse => KeyRange { upper: before, ..range },
            Some(before) => KeyRange { lower: before, ..range },
            None => range,
        };
        if left.contains(key) { self.check_found(key) } else { Err(self.corrupted_entry(key)) }
    }

    /// Fails if a scan of `range` may have missed an entry; `last` is the key that ended it early.
    pub(super) fn check_scanned(&self, range: KeyRange<'_>, last: Option<&[u8]>) -> Result<()> {
        let (mut lower, mut upper) = (range.lower, range.upper);
        match last {
            Some(last) if range.reverse => lower = Bound::Included(last),
            Some(last) => upper = Bound::Included(last),
            None => {}
        }
        if !self.any_suspect(|suspect| suspect.overlaps(lower, upper)) {
            return Ok(());
        }
        match lower {
            Bound::Included(from) | Bound::Excluded(from) => {
                let entry = (self.0.entries.describe)(from);
                Err(Error::corrupted(format_args!("entries from {entry} on")))
            }
            Bound::Unbounded => Err(Error::corrupted("a page of the store")),
        }
    }

    /// Makes those children of a corrupt branch null that are branches with another checksum than
    /// the parent records. One of them may be a page above, and redb would descend for ever. A
    /// branch with the recorded checksum cannot be, and neither can a leaf.
    fn clear_wrong_branches(
        &self,
        read: ReadAt<'_>,
        page: &mut [u8],
        is_altered: bool,
    ) -> Result<()> {
        let mut has_changed = is_altered;
        let pointers: Vec<_> = child_pointers(page, entry_count(page).unwrap_or(0)).collect();
        for (child, pointer) in pointers.into_iter().enumerate() {
            let Some((offset, bytes)) = pointer.location() else { continue };
            // The order in a corrupt pointer may mean gigabytes: only a page that starts as a
            // branch is read entirely.
            let mut page_type = [0];
            if !read(offset, &mut page_type) || page_type != [BRANCH] {
                continue;
            }
            let mut branch = vec![0; bytes];
            // redb reports a page that cannot be read.
            if read(offset, &mut branch) && !has_checksum(&branch, pointer.checksum) {
                set_null_child(page, child)?;
                has_changed = true;
            }
        }
        if has_changed {
            // redb might copy the altered page in a commit, and salvage could no longer reach the
            // pages below it.
            self.0.has_altered_page.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Fails if redb was given a page that differs from the file: then nothing may be written.
    pub(super) fn check_unaltered(&self) -> Result<()> {
        if self.0.has_altered_page.load(Ordering::Acquire) {
            return Err(Error::corrupted(
                "a branch of the store's file; nothing is written to it any more",
            ));
        }
        Ok(())
    }
}

impl VerifierState {
    fn learn_children(&mut self, parent: u32, branch: &[u8]) {
        let pointers = child_pointers(branch, entry_count(branch).unwrap_or(0));
        for (child, pointer) in (0_u16..).zip(pointers) {
            let Some((number, expected)) = ExpectedPage::new(pointer, parent, child) else {
                continue;
            };
            let known = self.pages.entry(number).or_insert(expected);
            // A page that was freed and written again has another checksum.
            if known.checksum != expected.checksum {
                *known = expected;
            }
        }
    }

    /// The keys that a page may hold, as exclusive lower and inclusive upper bound, as far as the
    /// branches above it can be read.
    fn key_range(
        &self,
        read: ReadAt<'_>,
        parent: Option<(u32, u16)>,
    ) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
        let (mut after, mut up_to) = (None, None);
        let mut at = parent;
        // Pages reached through corrupt ones may be each other's parents, so the walk is bounded.
        for _ in 0..MAX_DEPTH {
            let Some((number, child)) = at else { break };
            let Some(expected) = self.pages.get(&number) else { return (None, None) };
            let Ok(bytes) = usize::try_from(expected.bytes()) else { return (None, None) };
            let mut page = vec![0; bytes];
            if read(u64::from(number) * PAGE_BYTES, &mut page) && expected.matches(&page) {
                let children = branch_children(&page, entry_count(&page).unwrap_or(0));
                let greatest = |child: u16| children.get(usize::from(child))?.1.clone();
                after = after.or_else(|| greatest(child.checked_sub(1)?));
                up_to = up_to.or_else(|| greatest(child));
            } else {
                // Nothing above a corrupt branch bounds the range reliably.
                (after, up_to) = (None, None);
            }
            at = expected.parent();
        }
        (after, up_to)
    }
}
