//! The contents of a simulated file: visible bytes, durable bytes, and unsynced changes.

use std::collections::{BTreeSet, btree_set};
use std::sync::Arc;

/// Space is allocated in blocks of this size.
pub(super) const BLOCK: usize = 4 << 10;

/// The bytes of a file.
#[derive(Clone, Default)]
pub(super) struct FileContent {
    /// The bytes that reads return.
    pub(super) visible: Vec<u8>,
    /// Blocks without allocated space: the file was extended and they were not written since.
    holes: BTreeSet<usize>,
    /// The bytes after a power loss that keeps nothing unsynced.
    pub(super) durable: Arc<Vec<u8>>,
    pub(super) unsynced: Vec<UnsyncedChange>,
    /// Whether a failed fsync discarded changes: what a process that ends leaves is then no longer
    /// what a power loss can leave.
    pub(super) has_discarded: bool,
}

#[derive(Clone)]
pub(super) enum UnsyncedChange {
    Write(usize, Vec<u8>),
    SetLength(usize),
}

impl FileContent {
    /// A file whose bytes are durable.
    pub(super) fn synced(bytes: Vec<u8>) -> Self {
        Self {
            visible: bytes.clone(),
            holes: BTreeSet::new(),
            durable: Arc::new(bytes),
            unsynced: Vec::new(),
            has_discarded: false,
        }
    }

    /// The file without the visible bytes, unless they cannot be made of the others.
    pub(super) fn without_visible(&self) -> Self {
        if self.has_discarded {
            return self.clone();
        }
        Self {
            durable: Arc::clone(&self.durable),
            unsynced: self.unsynced.clone(),
            ..Self::default()
        }
    }

    /// Discards the unsynced changes, which reads still return.
    pub(super) fn discard_unsynced(&mut self) {
        self.has_discarded |= !self.unsynced.is_empty();
        self.unsynced.clear();
    }

    /// Allocated bytes.
    pub(super) fn allocated(&self) -> usize {
        self.visible.len().saturating_sub(self.holes.len() * BLOCK)
    }

    /// The blocks that a write to this range would allocate.
    pub(super) fn holes_in(&self, offset: usize, length: usize) -> btree_set::Range<'_, usize> {
        self.holes.range(offset / BLOCK..(offset + length).div_ceil(BLOCK))
    }

    /// Sets the length. Blocks that are added are holes.
    pub(super) fn set_length_sparse(&mut self, length: usize) {
        let blocks = self.visible.len().div_ceil(BLOCK);
        drop(self.holes.split_off(&length.div_ceil(BLOCK)));
        self.holes.extend(blocks..length.div_ceil(BLOCK));
        self.set_length(length);
    }

    pub(super) fn set_length(&mut self, length: usize) {
        self.visible.resize(length, 0);
        self.unsynced.push(UnsyncedChange::SetLength(length));
    }

    pub(super) fn write(&mut self, offset: usize, data: &[u8]) {
        for block in self.holes_in(offset, data.len()).copied().collect::<Vec<_>>() {
            self.holes.remove(&block);
        }
        overwrite(&mut self.visible, offset, data);
        self.unsynced.push(UnsyncedChange::Write(offset, data.to_vec()));
    }

    pub(super) fn sync(&mut self) {
        if self.unsynced.is_empty() {
            return;
        }
        let durable = Arc::make_mut(&mut self.durable);
        for change in self.unsynced.drain(..) {
            match change {
                UnsyncedChange::SetLength(length) => durable.resize(length, 0),
                UnsyncedChange::Write(offset, data) => overwrite(durable, offset, &data),
            }
        }
    }
}

/// Writes `data` into `bytes`, which are extended as needed.
pub(super) fn overwrite(bytes: &mut Vec<u8>, offset: usize, data: &[u8]) {
    let end = offset + data.len();
    bytes.resize(bytes.len().max(end), 0);
    bytes.splice(offset..end, data.iter().copied());
}
