//! Places looked up before: most requests name blocks that were met a moment ago, and a look-up in memory costs a tenth.
//!
//! Entries are what the rows of the state committed last say. A write takes out what it changes before it commits, and no
//! entry is added while it does; a reader whose state is not the one committed last passes the cache by.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use leafbase_model::{BlockId, DocumentId};

use crate::reader::Standing;
use crate::records::place::Place;

/// So many places are kept, 64 bytes each, in a table of 8 MB; when one more comes, all are let go and met anew.
const KEPT: usize = 114_688;
/// A table that holds so many takes room for all at once: to grow step by step would move each entry many times.
const FEW: usize = 1_792;
/// The longest order key that is kept: longer ones are rare.
const ORDER_BYTES: usize = 15;

/// Counts the writes: a state is known by the number of those begun before it.
pub(crate) type Epoch = u64;

#[derive(Debug, Default)]
pub(crate) struct PlaceCache(RwLock<Inner>);

#[derive(Debug, Default)]
struct Inner {
    epoch: Epoch,
    /// Writes that are about to commit, or did and have not said so yet.
    committing: usize,
    places: HashMap<BlockId, Kept, BuildHasherDefault<IdHasher>>,
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
    fn of(place: &Place) -> Option<Self> {
        let mut order = [0; ORDER_BYTES];
        order.get_mut(..place.order.len())?.copy_from_slice(&place.order);
        let order_bytes = u8::try_from(place.order.len()).ok()?;
        Some(Self { document: place.document, parent: place.parent, order, order_bytes })
    }

    fn place(&self) -> Place {
        let order = self.order.get(..usize::from(self.order_bytes)).unwrap_or_default().into();
        Place { document: self.document, parent: self.parent, order }
    }
}

impl PlaceCache {
    /// The epoch of the state committed last; none while a write commits. A snapshot is of an epoch if it is told before
    /// and after taking it.
    pub(crate) fn epoch(&self) -> Option<Epoch> {
        let inner = self.read();
        (inner.committing == 0).then_some(inner.epoch)
    }

    /// The place of `block` in the state of `epoch`, if it is known.
    pub(crate) fn get(&self, epoch: Epoch, block: BlockId) -> Option<Place> {
        self.kept(epoch, block).map(|kept| kept.place())
    }

    /// Where `block` stands in the state of `epoch`, if it is known.
    pub(crate) fn standing(&self, epoch: Epoch, block: BlockId) -> Option<Standing> {
        self.kept(epoch, block).map(|kept| Standing::of(kept.document, kept.parent))
    }

    fn kept(&self, epoch: Epoch, block: BlockId) -> Option<Kept> {
        let inner = self.read();
        if inner.epoch == epoch { inner.places.get(&block).copied() } else { None }
    }

    /// Keeps what the row of `block` says in the state of `epoch`.
    pub(crate) fn add(&self, epoch: Epoch, block: BlockId, place: &Place) {
        let Some(kept) = Kept::of(place) else { return };
        let mut inner = self.write();
        if inner.epoch != epoch {
            return;
        }
        let places = &mut inner.places;
        if places.len() >= KEPT {
            places.clear();
        } else if places.len() == places.capacity() && places.len() >= FEW {
            places.reserve(KEPT - places.len());
        }
        places.insert(block, kept);
    }

    /// A write is about to commit that changes the places of these blocks. It has ended when what is returned is dropped.
    pub(crate) fn begin_commit(&self, changed: &[BlockId]) -> Committing<'_> {
        let mut inner = self.write();
        inner.epoch += 1;
        inner.committing += 1;
        if !inner.places.is_empty() {
            for block in changed {
                inner.places.remove(block);
            }
        }
        Committing(self)
    }

    fn read(&self) -> RwLockReadGuard<'_, Inner> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Inner> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A write that commits.
#[derive(Debug)]
pub(crate) struct Committing<'c>(&'c PlaceCache);

impl Drop for Committing<'_> {
    fn drop(&mut self) {
        let mut inner = self.0.write();
        inner.committing = inner.committing.saturating_sub(1);
    }
}

/// Hashes IDs: they end in random bits already, so one multiplication spreads them. IDs are made by the engine, never by who asks.
#[derive(Debug, Default)]
pub struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let word = match chunk.first_chunk() {
                Some(word) => u64::from_be_bytes(*word),
                None => chunk.iter().fold(0, |word, byte| (word << 8) | u64::from(*byte)),
            };
            self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
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

    fn place(document: u8) -> Place {
        Place { document: DocumentId::from_bytes([document; 16]), parent: block(9), order: Arc::from([1]) }
    }

    #[test]
    fn only_the_state_committed_last_is_answered_for() {
        let cache = PlaceCache::default();
        let before = cache.epoch().unwrap();
        cache.add(before, block(1), &place(1));
        cache.add(before, block(2), &place(1));
        assert_eq!(cache.get(before, block(1)), Some(place(1)));

        let committing = cache.begin_commit(&[block(1)]);
        assert_eq!(cache.epoch(), None, "what is committed last is not known while a write commits");
        assert_eq!(cache.get(before, block(2)), None, "an older state is not answered for");
        cache.add(before, block(1), &place(1));
        drop(committing);

        let after = cache.epoch().unwrap();
        assert_eq!(cache.get(after, block(1)), None, "neither kept over the write nor added by an older state");
        assert_eq!(cache.get(after, block(2)), Some(place(1)), "what the write did not change stays");
    }

    #[test]
    fn it_does_not_grow_without_end() {
        let cache = PlaceCache::default();
        let epoch = cache.epoch().unwrap();
        for number in 0..=KEPT {
            cache.add(epoch, BlockId::from_bytes((number as u128).to_be_bytes()), &place(1));
        }
        assert!(cache.read().places.len() <= KEPT);
    }
}
