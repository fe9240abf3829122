//! What was looked up before: where blocks stand, and which documents have comments. Most requests
//! name blocks that were met a moment ago, and a look-up in memory costs a tenth.
//!
//! Entries are what the rows of the state committed last say. A write takes out what it changes
//! before it commits, and no entry is added while it does; a reader whose state is not the one
//! committed last passes the cache by.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use leafbase_model::{BlockId, BlockLocation, DocumentId, IdMap};

use crate::records::location::{self, LocationRecord};

/// So many places are kept, 64 bytes each, in a table of 8 MB; when one more comes, all are let go
/// and met anew.
const KEPT: usize = 114_688;
/// The first takes room for so many, 30 KB.
const FIRST: usize = 448;
/// A table that holds so many takes room for all at once: to grow step by step would move each
/// entry many times.
const FEW: usize = 1_792;
/// Of so many documents it is kept whether they have comments, 17 bytes each.
const KEPT_DOCUMENTS: usize = 14_336;
/// The longest order key that is kept: longer ones are rare.
const ORDER_BYTES: usize = 15;

/// Counts the writes: a state is known by the number of those begun before it.
pub(crate) type CommitEpoch = u64;

#[derive(Debug, Default)]
pub(crate) struct LocationCache {
    inner: RwLock<Inner>,
    /// Writes that were about to commit. Changes with the epoch of what is kept, in one with it.
    begun: AtomicU64,
    /// Those of them that did, and said so.
    ended: AtomicU64,
}

#[derive(Debug, Default)]
struct Inner {
    epoch: CommitEpoch,
    locations: IdMap<BlockId, Kept>,
    /// Whether each has comments.
    documents: IdMap<DocumentId, bool>,
}

/// What a write changes of what may be kept.
#[derive(Debug, Default)]
pub(crate) struct Changed {
    /// The blocks whose places it changes.
    pub(crate) blocks: Vec<BlockId>,
    /// The documents whose comments it changes.
    pub(crate) commented: Vec<DocumentId>,
}

/// A place without memory of its own.
#[derive(Clone, Copy, Debug)]
struct Kept {
    document: DocumentId,
    parent: BlockId,
    order: [u8; ORDER_BYTES],
    order_bytes: u8,
}

impl Kept {
    /// None if the order key is too long.
    fn of(location: &LocationRecord) -> Option<Self> {
        let mut order = [0; ORDER_BYTES];
        order.get_mut(..location.order.len())?.copy_from_slice(&location.order);
        let order_bytes = u8::try_from(location.order.len()).ok()?;
        Some(Self { document: location.document, parent: location.parent, order, order_bytes })
    }

    fn location(&self) -> LocationRecord {
        let order = self.order.get(..usize::from(self.order_bytes)).unwrap_or_default().into();
        LocationRecord { document: self.document, parent: self.parent, order }
    }
}

impl LocationCache {
    /// The epoch of the state committed last; mostly none while a write commits. Asked once, it may
    /// be told although one was under way: another one has ended meanwhile. A snapshot is of an
    /// epoch if it is told before and after taking it.
    pub(crate) fn epoch(&self) -> Option<CommitEpoch> {
        // In this order: what ended is never more than what began.
        let begun = self.begun.load(Ordering::SeqCst);
        let ended = self.ended.load(Ordering::SeqCst);
        (begun == ended).then_some(begun)
    }

    /// The place of `block` in the state of `epoch`, if it is known.
    pub(crate) fn get(&self, epoch: CommitEpoch, block: BlockId) -> Option<LocationRecord> {
        self.kept(epoch, block).map(|kept| kept.location())
    }

    /// Where `block` stands in the state of `epoch`, if it is known.
    pub(crate) fn standing(&self, epoch: CommitEpoch, block: BlockId) -> Option<BlockLocation> {
        self.kept(epoch, block).map(|kept| location::location(kept.document, kept.parent))
    }

    fn kept(&self, epoch: CommitEpoch, block: BlockId) -> Option<Kept> {
        let inner = self.read();
        if inner.epoch == epoch { inner.locations.get(&block).copied() } else { None }
    }

    /// Keeps what the row of `block` says in the state of `epoch`.
    pub(crate) fn add(&self, epoch: CommitEpoch, block: BlockId, location: &LocationRecord) {
        let Some(kept) = Kept::of(location) else { return };
        let mut inner = self.write();
        if inner.epoch != epoch {
            return;
        }
        let locations = &mut inner.locations;
        if locations.capacity() == 0 {
            locations.reserve(FIRST);
        } else if locations.len() >= KEPT {
            locations.clear();
        } else if locations.len() == locations.capacity() && locations.len() >= FEW {
            locations.reserve(KEPT - locations.len());
        }
        locations.insert(block, kept);
    }

    /// Whether `document` has comments in the state of `epoch`, if it is known.
    pub(crate) fn has_comments(&self, epoch: CommitEpoch, document: DocumentId) -> Option<bool> {
        let inner = self.read();
        if inner.epoch == epoch { inner.documents.get(&document).copied() } else { None }
    }

    /// Keeps whether `document` has comments in the state of `epoch`.
    pub(crate) fn add_document(
        &self,
        epoch: CommitEpoch,
        document: DocumentId,
        has_comments: bool,
    ) {
        let mut inner = self.write();
        if inner.epoch != epoch {
            return;
        }
        if inner.documents.len() >= KEPT_DOCUMENTS {
            inner.documents.clear();
        }
        inner.documents.insert(document, has_comments);
    }

    /// A write is about to commit that changes this. It has ended when what is returned is dropped.
    pub(crate) fn begin_commit(&self, changed: &Changed) -> Committing<'_> {
        let mut inner = self.write();
        inner.epoch += 1;
        self.begun.store(inner.epoch, Ordering::SeqCst);
        if !inner.locations.is_empty() {
            for block in &changed.blocks {
                inner.locations.remove(block);
            }
        }
        for document in &changed.commented {
            inner.documents.remove(document);
        }
        Committing(self)
    }

    fn read(&self) -> RwLockReadGuard<'_, Inner> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Inner> {
        self.inner.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A write that commits.
#[derive(Debug)]
pub(crate) struct Committing<'c>(&'c LocationCache);

impl Drop for Committing<'_> {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use leafbase_model::DocumentId;

    use super::*;

    fn block(number: u8) -> BlockId {
        BlockId::from_bytes([number; 16])
    }

    fn location(document: u8) -> LocationRecord {
        LocationRecord {
            document: DocumentId::from_bytes([document; 16]),
            parent: block(9),
            order: Arc::from([1]),
        }
    }

    #[test]
    fn only_the_state_committed_last_is_answered_for() {
        let cache = LocationCache::default();
        let before = cache.epoch().unwrap();
        cache.add(before, block(1), &location(1));
        cache.add(before, block(2), &location(1));
        assert_eq!(cache.get(before, block(1)), Some(location(1)));

        let committing =
            cache.begin_commit(&Changed { blocks: vec![block(1)], ..Changed::default() });
        assert_eq!(
            cache.epoch(),
            None,
            "what is committed last is not known while a write commits"
        );
        assert_eq!(cache.get(before, block(2)), None, "an older state is not answered for");
        cache.add(before, block(1), &location(1));
        drop(committing);

        let after = cache.epoch().unwrap();
        assert_eq!(
            cache.get(after, block(1)),
            None,
            "neither kept over the write nor added by an older state"
        );
        assert_eq!(
            cache.get(after, block(2)),
            Some(location(1)),
            "what the write did not change stays"
        );
    }

    #[test]
    fn a_document_whose_comments_change_is_looked_up_again() {
        let cache = LocationCache::default();
        let [changed, same] = [1, 2].map(|number| location(number).document);
        let before = cache.epoch().unwrap();
        cache.add_document(before, changed, false);
        cache.add_document(before, same, true);
        assert_eq!(
            [changed, same].map(|document| cache.has_comments(before, document)),
            [Some(false), Some(true)]
        );

        let committing =
            cache.begin_commit(&Changed { commented: vec![changed], ..Changed::default() });
        cache.add_document(before, changed, false);
        assert_eq!(cache.has_comments(before, same), None, "an older state is not answered for");
        drop(committing);

        let after = cache.epoch().unwrap();
        assert_eq!(
            [changed, same].map(|document| cache.has_comments(after, document)),
            [None, Some(true)]
        );
    }

    #[test]
    fn a_state_is_known_once_every_write_has_ended() {
        let cache = LocationCache::default();
        let first = cache.begin_commit(&Changed::default());
        let second = cache.begin_commit(&Changed::default());
        drop(second);
        assert_eq!(cache.epoch(), None);
        drop(first);
        assert_eq!(cache.epoch(), Some(2));
    }

    #[test]
    fn it_does_not_grow_without_end() {
        let cache = LocationCache::default();
        let epoch = cache.epoch().unwrap();
        for number in 0..=KEPT {
            cache.add(epoch, BlockId::from_bytes((number as u128).to_be_bytes()), &location(1));
        }
        for number in 0..=KEPT_DOCUMENTS {
            cache.add_document(epoch, DocumentId::from_bytes((number as u128).to_be_bytes()), true);
        }
        assert!(
            cache.read().locations.len() <= KEPT && cache.read().documents.len() <= KEPT_DOCUMENTS
        );
    }
}
