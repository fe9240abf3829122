//! In place of the index, where searches across documents are left out.

use std::path::Path;

use leafbase_store::SpaceStore;

/// Where there is no index.
pub(crate) enum Home {
    Memory,
    Directory,
}

/// Nobody brings it up to date.
#[derive(Clone, Copy, Default)]
pub(crate) enum SearchIndexing {
    #[default]
    Never,
}

/// No index.
pub(crate) struct Indexer;

impl Home {
    pub(crate) fn of_space(_: &Path, _: bool) -> Self {
        Self::Directory
    }
}

impl Indexer {
    pub(crate) fn new(_: Home, _: String, _: SearchIndexing) -> Self {
        Self
    }

    pub(crate) fn will_relax(&self) {
        let Self = self;
    }

    pub(crate) fn wrote(&self, _: &SpaceStore, _: usize) {
        let Self = self;
    }

    pub(crate) fn undisturbed<T>(&self, work: impl FnOnce() -> T) -> T {
        let Self = self;
        work()
    }

    pub(crate) fn close(&self) {
        let Self = self;
    }
}
