//! Replaces the search index where the feature `search` is off.
#![expect(clippy::unnecessary_wraps, reason = "results are those of the search index")]

use std::path::Path;

use leafbase_model::{Language, Result};
use leafbase_store::{CheckReport, SpaceStore};

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

    pub(crate) fn of_shared_space(_: &Path, _: bool) -> Self {
        Self::Directory
    }
}

impl NoIndexer {
    pub(crate) fn new(_: NoIndexHome, _: &str, _: NoIndexing, _: Vec<Language>) -> Self {
        Self
    }

    pub(crate) fn will_relax(&self) {
        let Self = self;
    }

    pub(crate) fn wrote(&self, _: &SpaceStore, _: usize) {
        let Self = self;
    }

    pub(crate) fn exclusive<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let Self = self;
        work()
    }

    pub(crate) fn catch_up(&self, _: &SpaceStore) -> Result<()> {
        let Self = self;
        Ok(())
    }

    pub(crate) fn compare(&self, _: &SpaceStore, _: &mut CheckReport) -> Result<()> {
        let Self = self;
        Ok(())
    }

    pub(crate) fn unindexed(&self, _: &SpaceStore) -> Result<Option<u64>> {
        let Self = self;
        Ok(None)
    }

    pub(crate) fn erase_deleted(&self, _: &SpaceStore) -> Result<()> {
        let Self = self;
        Ok(())
    }

    pub(crate) fn close(&self) {
        let Self = self;
    }
}
