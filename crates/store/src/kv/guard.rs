//! Whether pages are what their parents say. redb verifies no checksum when it reads: a damaged page may hide rows from it, and an older one shows
//! what is no more. So each page that redb reads from the file is compared with the checksum that its parent holds, once
//! that parent was read; what a page that differs should hold is remembered, and not believed to be missing.
//!
//! Each record has a checksum of its own. So of a page that is damaged what is found is right, and only what is not found may be wrong. A page
//! whose rows are all right is another one, or an older one: of it nothing is believed.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use leafbase_model::{Error, Result};
use redb::StorageBackend;

use super::KeyRange;
use super::structure::{BRANCH, File};
use super::wreck::{self, Child};
use crate::keyspaces::Row;

/// What a page must be, by its place in the file.
#[derive(Clone, Copy, Debug)]
struct Expected {
    checksum: u128,
    /// Where the branch is that it is a child of, and which one; none for the root.
    parent: Option<(u64, u16)>,
    bytes: usize,
    /// Its children are known.
    is_read: bool,
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
    pages: BTreeMap<u64, Expected>,
    doubts: Vec<Doubt>,
}

/// Reads bytes of the file, if they can be read.
type ReadAt<'f> = &'f dyn Fn(u64, &mut [u8]) -> bool;

/// What is known of the pages of one handle. Copies are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Guard(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    state: Mutex<State>,
    has_doubts: AtomicBool,
}

impl Doubt {
    fn holds(&self, key: &[u8]) -> bool {
        self.after.as_deref().is_none_or(|after| key > after) && self.up_to.as_deref().is_none_or(|up_to| key <= up_to)
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

impl Guard {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Learns the root of what was committed last.
    pub(super) fn learn_root(&self, storage: &dyn StorageBackend) {
        let Some((at, bytes, checksum)) = File::open(storage).and_then(|file| file.root_of_data()) else { return };
        let mut state = self.state();
        let is_known = state.pages.get(&at).is_some_and(|page| page.checksum == checksum);
        if !is_known {
            state.pages.insert(at, Expected { checksum, parent: None, bytes, is_read: false });
        }
    }

    /// The page at `offset` was read from the file.
    pub(super) fn saw(&self, read: ReadAt<'_>, offset: u64, page: &[u8]) {
        let mut state = self.state();
        let Some(expected) = state.pages.get(&offset).copied() else { return };
        let is_branch = page.first() == Some(&BRANCH);
        if expected.bytes != page.len() || expected.is_read {
            return;
        }
        let is_sound = wreck::is_sound(page, expected.checksum);
        if is_branch {
            state.pages.insert(offset, Expected { is_read: true, ..expected });
            state.learn(offset, wreck::children(page, wreck::count(page).unwrap_or_default()));
        }
        if !is_sound {
            if !is_branch {
                state.pages.remove(&offset);
            }
            let (after, up_to) = state.range(read, expected.parent);
            let of_all = !is_branch && wreck::are_all_right(page);
            state.doubts.push(Doubt { after, up_to, of_all });
            self.0.has_doubts.store(true, Ordering::Release);
        }
    }

    /// Something is written there: what was known of it holds no more.
    pub(super) fn wrote(&self, offset: u64, bytes: usize) {
        let mut state = self.state();
        let written: Vec<u64> =
            state.pages.range(offset..offset.saturating_add(bytes as u64)).map(|(at, _)| *at).collect();
        for at in written {
            state.pages.remove(&at);
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
        if self.doubts(|doubt| doubt.holds(key)) { Err(Error::corrupted(Row(key))) } else { Ok(()) }
    }

    /// Something was found under `key`.
    pub(super) fn check_found(&self, key: &[u8]) -> Result<()> {
        if self.doubts(|doubt| doubt.of_all && doubt.holds(key)) { Err(Error::corrupted(Row(key))) } else { Ok(()) }
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
                Err(Error::corrupted(format_args!("rows from {} on", Row(from))))
            }
            Bound::Unbounded => Err(Error::corrupted("a page of the store")),
        }
    }
}

impl State {
    fn learn(&mut self, parent: u64, children: Vec<Child>) {
        for (number, (root, _)) in (0_u16..).zip(children) {
            let Some((at, bytes)) = root.place() else { continue };
            let expected = Expected { checksum: root.checksum, parent: Some((parent, number)), bytes, is_read: false };
            let known = self.pages.entry(at).or_insert(expected);
            if known.checksum != root.checksum {
                *known = expected;
            }
        }
    }

    /// The keys that a child of a branch is to hold, as far as the branches above can be read.
    fn range(&self, read: ReadAt<'_>, parent: Option<(u64, u16)>) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
        let (mut after, mut up_to, mut at) = (None, None, parent);
        while let Some((offset, number)) = at {
            let Some(expected) = self.pages.get(&offset) else { return (None, None) };
            let mut page = vec![0; expected.bytes];
            if read(offset, &mut page) && wreck::is_sound(&page, expected.checksum) {
                let children = wreck::children(&page, wreck::count(&page).unwrap_or_default());
                let end = |number: Option<u16>| children.get(usize::from(number?))?.1.clone();
                after = after.or_else(|| end(number.checked_sub(1)));
                up_to = up_to.or_else(|| end(Some(number)));
            } else {
                (after, up_to) = (None, None);
            }
            at = expected.parent;
        }
        (after, up_to)
    }
}
