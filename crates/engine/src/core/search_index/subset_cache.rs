//! The subsets of an index that scoped connections see, computed once per index snapshot and scope.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use leafbase_model::Result;
use leafbase_search::{DocumentSubset, IndexSnapshot};

use crate::core::scope_roots::ScopeRoots;
use crate::core::visibility::Visibility;

/// Subsets in the cache.
const MAX_CACHED_SUBSETS: usize = 16;

/// A cache with the most recently used subset last.
#[derive(Default)]
pub(super) struct SubsetCache(Mutex<Vec<CachedSubset>>);

/// A subset, keyed by the identity of its snapshot and of its scope, which it does not keep alive.
struct CachedSubset {
    snapshot: Weak<IndexSnapshot>,
    roots: Weak<ScopeRoots>,
    subset: Arc<DocumentSubset>,
}

impl CachedSubset {
    fn matches(&self, snapshot: &Arc<IndexSnapshot>, roots: &Arc<ScopeRoots>) -> bool {
        // A weak pointer keeps the allocation, so its address is not reused.
        self.snapshot.as_ptr() == Arc::as_ptr(snapshot) && self.roots.as_ptr() == Arc::as_ptr(roots)
    }

    fn is_alive(&self) -> bool {
        self.snapshot.strong_count() > 0 && self.roots.strong_count() > 0
    }
}

impl SubsetCache {
    /// The subset of the documents of `roots` that is visible. The first call costs time in
    /// proportion to their number.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::Internal`].
    pub(super) fn get(
        &self,
        snapshot: &Arc<IndexSnapshot>,
        visibility: &Visibility,
        roots: &Arc<ScopeRoots>,
    ) -> Result<Arc<DocumentSubset>> {
        if let Some(subset) = self.find(snapshot, roots) {
            return Ok(subset);
        }
        // Without the lock: two threads may compute the same subset, and one of them is dropped.
        let subset = snapshot.subset(roots.documents.iter().copied(), |document| {
            visibility.allows_at(document.id, document.location)
        })?;
        let subset = Arc::new(subset);
        let cached = CachedSubset {
            snapshot: Arc::downgrade(snapshot),
            roots: Arc::downgrade(roots),
            subset: Arc::clone(&subset),
        };
        let mut all = self.lock();
        all.retain(CachedSubset::is_alive);
        if all.len() >= MAX_CACHED_SUBSETS {
            all.remove(0);
        }
        all.push(cached);
        Ok(subset)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<CachedSubset>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(
        &self,
        snapshot: &Arc<IndexSnapshot>,
        roots: &Arc<ScopeRoots>,
    ) -> Option<Arc<DocumentSubset>> {
        let mut all = self.lock();
        let index = all.iter().position(|cached| cached.matches(snapshot, roots))?;
        let cached = all.remove(index);
        let subset = Arc::clone(&cached.subset);
        all.push(cached);
        Some(subset)
    }
}

#[cfg(test)]
mod tests {
    use leafbase_search::Index;

    use super::*;

    fn snapshot() -> Arc<IndexSnapshot> {
        Index::in_memory("a space").unwrap().snapshot().unwrap()
    }

    fn scope() -> Arc<ScopeRoots> {
        Arc::default()
    }

    fn get(
        cache: &SubsetCache,
        snapshot: &Arc<IndexSnapshot>,
        scope: &Arc<ScopeRoots>,
    ) -> Arc<DocumentSubset> {
        cache.get(snapshot, &Visibility::Roots(Arc::clone(scope)), scope).unwrap()
    }

    #[test]
    fn subsets_are_cached_by_snapshot_and_scope() {
        let (cache, snapshots, scopes) =
            (SubsetCache::default(), [snapshot(), snapshot()], [scope(), scope()]);
        let all = || {
            let pairs =
                snapshots.iter().flat_map(|one| scopes.iter().map(move |scope| (one, scope)));
            pairs.map(|(snapshot, scope)| get(&cache, snapshot, scope)).collect::<Vec<_>>()
        };
        let first = all();
        for (number, one) in first.iter().enumerate() {
            let mut others = first.iter().skip(number + 1);
            assert!(others.all(|other| !Arc::ptr_eq(one, other)), "each pair has its own");
        }
        assert!(all().iter().zip(&first).all(|(again, first)| Arc::ptr_eq(again, first)));
    }

    #[test]
    fn unused_subsets_are_evicted() {
        let (cache, index, kept) = (SubsetCache::default(), snapshot(), scope());
        let cached = || cache.lock().len();
        get(&cache, &index, &kept);
        assert_eq!(cached(), 1);
        get(&cache, &index, &scope());
        get(&cache, &snapshot(), &kept);
        assert_eq!(cached(), 2, "a dropped scope is evicted by the next insertion");
        get(&cache, &index, &scope());
        assert_eq!(cached(), 2, "and so is a dropped snapshot");
        let scopes: Vec<_> = (0..2 * MAX_CACHED_SUBSETS).map(|_| scope()).collect();
        let subsets: Vec<_> = scopes.iter().map(|scope| get(&cache, &index, scope)).collect();
        assert_eq!(cached(), MAX_CACHED_SUBSETS);
        for (scope, subset) in scopes.iter().zip(&subsets).skip(MAX_CACHED_SUBSETS) {
            assert!(Arc::ptr_eq(&get(&cache, &index, scope), subset));
        }
        assert!(!Arc::ptr_eq(&get(&cache, &index, &scopes[0]), &subsets[0]));
    }
}
