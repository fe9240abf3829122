//! The names of a store's files and of its directory. They become durable apart from the contents:
//! with an fsync of the directory that has them.

use std::collections::BTreeMap;

use super::content::FileContent;
use super::loss::{Loss, LossRandom};

/// Which names exist.
#[derive(Clone, Copy)]
struct LinkedNames {
    /// Whether the directory has its name; before, it has a temporary one.
    directory: bool,
    main: bool,
    /// The number of the WAL that has the name.
    wal: Option<u64>,
}

#[derive(Clone, Copy)]
enum LinkChange {
    Directory,
    Main,
    Wal(Option<u64>),
}

impl LinkedNames {
    fn apply(&mut self, change: LinkChange) {
        match change {
            LinkChange::Directory => self.directory = true,
            LinkChange::Main => self.main = true,
            LinkChange::Wal(wal) => self.wal = wal,
        }
    }
}

/// The names, and the contents of each WAL that was created: one without a name may get it back.
#[derive(Clone)]
pub(super) struct StoreNames {
    visible: LinkedNames,
    durable: LinkedNames,
    /// In the order in which they happened.
    unsynced: Vec<LinkChange>,
    wals: BTreeMap<u64, FileContent>,
}

/// The names of files that exist from the beginning.
impl Default for StoreNames {
    fn default() -> Self {
        let names = LinkedNames { directory: true, main: true, wal: Some(0) };
        let wals = BTreeMap::from([(0, FileContent::default())]);
        Self { visible: names, durable: names, unsynced: Vec::new(), wals }
    }
}

impl StoreNames {
    /// No names yet.
    pub(super) fn none() -> Self {
        let names = LinkedNames { directory: false, main: false, wal: None };
        Self { visible: names, durable: names, ..Self::default() }
    }

    pub(super) const fn has_directory(&self) -> bool {
        self.visible.directory
    }

    pub(super) const fn has_main(&self) -> bool {
        self.visible.main
    }

    pub(super) const fn has_wal(&self) -> bool {
        self.visible.wal.is_some()
    }

    /// The WAL that has the name, or had it last.
    pub(super) fn wal(&mut self) -> &mut FileContent {
        let number = self.visible.wal.or_else(|| self.wals.keys().next_back().copied());
        self.wals.entry(number.unwrap_or_default()).or_default()
    }

    pub(super) fn allocated(&self) -> usize {
        let named = self.visible.wal.and_then(|number| self.wals.get(&number));
        named.map_or(0, FileContent::allocated)
    }

    fn change(&mut self, change: LinkChange) {
        self.visible.apply(change);
        self.unsynced.push(change);
    }

    pub(super) fn create_main(&mut self) {
        if !self.visible.main {
            self.change(LinkChange::Main);
        }
    }

    /// Creates a WAL, or truncates the existing one.
    pub(super) fn create_wal(&mut self) {
        if self.has_wal() {
            return self.wal().set_length(0);
        }
        let number = self.wals.keys().next_back().map_or(0, |last| last + 1);
        self.wals.insert(number, FileContent::default());
        self.change(LinkChange::Wal(Some(number)));
    }

    pub(super) fn remove_wal(&mut self) {
        if self.has_wal() {
            self.change(LinkChange::Wal(None));
        }
    }

    pub(super) fn rename_directory(&mut self) {
        self.change(LinkChange::Directory);
    }

    /// Makes the names in the directory durable.
    pub(super) fn sync_names(&mut self) {
        self.sync(|change| !matches!(change, LinkChange::Directory));
    }

    /// Makes the name of the directory durable.
    pub(super) fn sync_parent(&mut self) {
        self.sync(|change| matches!(change, LinkChange::Directory));
    }

    fn sync(&mut self, is_synced: impl Fn(&LinkChange) -> bool) {
        for change in std::mem::take(&mut self.unsynced) {
            if is_synced(&change) {
                self.durable.apply(change);
            } else {
                self.unsynced.push(change);
            }
        }
    }

    /// The names, and the contents without the bytes that a power loss discards in any case.
    pub(super) fn without_visible(&self) -> Self {
        let wals = self.wals.iter().map(|(number, wal)| (*number, wal.without_visible()));
        Self { wals: wals.collect(), unsynced: self.unsynced.clone(), ..*self }
    }

    pub(super) fn after_loss(&self, loss: Loss, random: &mut LossRandom) -> Self {
        let mut names = self.durable;
        let kept = match loss {
            Loss::Unsynced => 0,
            Loss::Suffix => random.below(self.unsynced.len() + 1),
            _ => self.unsynced.len(),
        };
        for change in self.unsynced.iter().take(kept) {
            if matches!(loss, Loss::Suffix | Loss::Nothing) || random.coin() {
                names.apply(*change);
            }
        }
        let wals = self
            .wals
            .iter()
            .map(|(number, wal)| (*number, FileContent::synced(wal.after_loss(loss, random))));
        Self { visible: names, durable: names, unsynced: Vec::new(), wals: wals.collect() }
    }
}
