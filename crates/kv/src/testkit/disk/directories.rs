//! Named files in numbered directories, as a file system keeps them: the contents of a file and its
//! name become durable separately.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::content::FileContent;
use super::loss::{Loss, LossRandom};

/// A directory and a name in it.
type FileName = (u64, String);

/// All directories and their files.
#[derive(Clone, Default)]
pub(super) struct Directories {
    /// The contents by inode number. Without a name they are unreachable.
    contents: BTreeMap<u64, FileContent>,
    inodes: u64,
    visible: DirectoryEntries,
    durable: DirectoryEntries,
    /// In the order in which they happened.
    unsynced: Vec<NameChange>,
}

#[derive(Clone, Default)]
struct DirectoryEntries {
    directories: BTreeSet<u64>,
    files: BTreeMap<FileName, u64>,
}

#[derive(Clone)]
enum NameChange {
    Link(FileName, u64),
    Unlink(FileName),
    CreateDirectory(u64),
    RemoveDirectory(u64),
}

impl NameChange {
    /// The directory that changes; `None` for the parent of all.
    const fn directory(&self) -> Option<u64> {
        match self {
            Self::Link(name, _) | Self::Unlink(name) => Some(name.0),
            Self::CreateDirectory(_) | Self::RemoveDirectory(_) => None,
        }
    }
}

impl DirectoryEntries {
    fn apply(&mut self, change: &NameChange) {
        match change {
            NameChange::Link(name, inode) => drop(self.files.insert(name.clone(), *inode)),
            NameChange::Unlink(name) => drop(self.files.remove(name)),
            NameChange::CreateDirectory(directory) => drop(self.directories.insert(*directory)),
            NameChange::RemoveDirectory(directory) => drop(self.directories.remove(directory)),
        }
    }
}

impl Directories {
    fn change(&mut self, change: NameChange) {
        self.visible.apply(&change);
        self.unsynced.push(change);
    }

    fn inode(&self, directory: u64, name: &str) -> io::Result<u64> {
        let inode = self.visible.files.get(&(directory, name.to_owned()));
        inode.copied().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn allocate(&mut self, content: FileContent) -> u64 {
        self.inodes += 1;
        self.contents.insert(self.inodes, content);
        self.inodes
    }

    pub(super) fn content(&mut self, directory: u64, name: &str) -> io::Result<&mut FileContent> {
        let inode = self.inode(directory, name)?;
        self.contents.get_mut(&inode).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Allocated bytes of all named files.
    pub(super) fn allocated(&self) -> u64 {
        let named = self.visible.files.values().filter_map(|inode| self.contents.get(inode));
        named.map(|content| content.allocated() as u64).sum()
    }

    pub(super) fn directories(&self) -> Vec<u64> {
        self.visible.directories.iter().copied().collect()
    }

    pub(super) fn create_directory(&mut self, directory: u64) -> io::Result<()> {
        if self.visible.directories.contains(&directory) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.change(NameChange::CreateDirectory(directory));
        Ok(())
    }

    pub(super) fn remove_directory(&mut self, directory: u64) {
        for name in self.names(directory) {
            self.change(NameChange::Unlink((directory, name)));
        }
        self.change(NameChange::RemoveDirectory(directory));
    }

    pub(super) fn names(&self, directory: u64) -> Vec<String> {
        let names = self.visible.files.keys().filter(|name| name.0 == directory);
        names.map(|name| name.1.clone()).collect()
    }

    pub(super) fn create_file(&mut self, directory: u64, name: &str) -> io::Result<()> {
        if self.inode(directory, name).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let inode = self.allocate(FileContent::default());
        self.change(NameChange::Link((directory, name.to_owned()), inode));
        Ok(())
    }

    pub(super) fn replace_file(&mut self, directory: u64, name: &str, data: &[u8]) {
        let inode = self.allocate(FileContent::synced(data.to_vec()));
        self.change(NameChange::Link((directory, name.to_owned()), inode));
    }

    pub(super) fn remove_file(&mut self, directory: u64, name: &str) -> io::Result<()> {
        self.inode(directory, name)?;
        self.change(NameChange::Unlink((directory, name.to_owned())));
        Ok(())
    }

    pub(super) fn sync_directory(&mut self, directory: u64) {
        for change in std::mem::take(&mut self.unsynced) {
            if change.directory() == Some(directory) {
                self.durable.apply(&change);
            } else {
                self.unsynced.push(change);
            }
        }
    }

    pub(super) fn after_loss(&self, loss: Loss, random: &mut LossRandom) -> Self {
        let mut entries = self.durable.clone();
        let kept = if loss == Loss::Suffix {
            random.below(self.unsynced.len() + 1)
        } else {
            self.unsynced.len()
        };
        for change in self.unsynced.iter().take(kept) {
            let survives = match loss {
                // Their parent is never synced, so without this no directory would survive.
                Loss::Unsynced => change.directory().is_none() && random.below(8) > 0,
                Loss::Suffix | Loss::Nothing => true,
                Loss::Sectors | Loss::Lengths => {
                    random.coin() || change.directory().is_none() && random.coin()
                }
            };
            if survives {
                entries.apply(change);
            }
        }
        let DirectoryEntries { directories, files } = &mut entries;
        files.retain(|name, _| directories.contains(&name.0));
        let named: BTreeSet<u64> = files.values().copied().collect();
        let contents = self.contents.iter().filter(|(inode, _)| named.contains(inode));
        let contents = contents.map(|(inode, content)| {
            (*inode, FileContent::synced(content.after_loss(loss, random)))
        });
        Self {
            contents: contents.collect(),
            inodes: self.inodes,
            visible: entries.clone(),
            durable: entries,
            unsynced: Vec::new(),
        }
    }
}
