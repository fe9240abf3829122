//! Replaces the search index where the feature `search` is off.

use std::path::Path;

use leafbase_store::SpaceStore;

pub(crate) enum NoIndexHome {
    Memory,
    Directory,
}

#[derive(Clone, Copy, Default)]
pub(crate) enum NoIndexing {
    #[default]
    Never,
}

/// Has the methods of the indexer that other code calls; they do nothing.
pub(crate) struct NoIndexer;

impl NoIndexHome {
    pub(crate) fn of_space(_: &Path, _: bool) -> Self {
        Self::Directory
    }
}

impl NoIndexer {
    pub(crate) fn new(_: NoIndexHome, _: String, _: NoIndexing) -> Self {
        Self
    }

    pub(crate) fn will_relax(&self) {
        let Self = self;
    }

    pub(crate) fn wrote(&self, _: &SpaceStore, _: usize) {
        let Self = self;
    }

    pub(crate) fn exclusive<T>(&self, work: impl FnOnce() -> T) -> T {
        let Self = self;
        work()
    }

    pub(crate) fn close(&self) {
        let Self = self;
    }
}
