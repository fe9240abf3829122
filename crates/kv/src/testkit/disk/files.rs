//! Small files by name, in numbered directories, as a file system keeps them: what a file holds and
//! what it is called are made durable each by a sync of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::loss::{Dice, Loss};
use super::{Content, Disk, Room};

/// A directory, and a name in it.
type Place = (u64, String);

/// All directories.
#[derive(Clone, Default)]
pub(super) struct Files {
    /// What each file holds, by its number. A file without a name is of no use to anybody.
    contents: BTreeMap<u64, Content>,
    made: u64,
    visible: Names,
    durable: Names,
    /// In the order in which they were done.
    unsynced: Vec<Step>,
}

#[derive(Clone, Default)]
struct Names {
    directories: BTreeSet<u64>,
    files: BTreeMap<Place, u64>,
}

#[derive(Clone)]
enum Step {
    Link(Place, u64),
    Unlink(Place),
    MakeDirectory(u64),
    RemoveDirectory(u64),
}

impl Step {
    /// The directory in which it is a change; none for the one above all.
    const fn directory(&self) -> Option<u64> {
        match self {
            Self::Link(place, _) | Self::Unlink(place) => Some(place.0),
            Self::MakeDirectory(_) | Self::RemoveDirectory(_) => None,
        }
    }
}

impl Names {
    fn apply(&mut self, step: &Step) {
        match step {
            Step::Link(place, file) => drop(self.files.insert(place.clone(), *file)),
            Step::Unlink(place) => drop(self.files.remove(place)),
            Step::MakeDirectory(directory) => drop(self.directories.insert(*directory)),
            Step::RemoveDirectory(directory) => drop(self.directories.remove(directory)),
        }
    }
}

impl Files {
    fn step(&mut self, step: Step) {
        self.visible.apply(&step);
        self.unsynced.push(step);
    }

    fn find(&self, directory: u64, name: &str) -> io::Result<u64> {
        let found = self.visible.files.get(&(directory, name.to_owned()));
        found.copied().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn make(&mut self, content: Content) -> u64 {
        self.made += 1;
        self.contents.insert(self.made, content);
        self.made
    }

    pub(super) fn used(&self) -> u64 {
        let named = self.visible.files.values().filter_map(|file| self.contents.get(file));
        named.map(|content| content.used() as u64).sum()
    }

    fn remove_directory(&mut self, directory: u64) {
        let places = self.visible.files.keys().filter(|place| place.0 == directory);
        for place in places.cloned().collect::<Vec<_>>() {
            self.step(Step::Unlink(place));
        }
        self.step(Step::RemoveDirectory(directory));
    }

    fn sync_directory(&mut self, directory: u64) {
        for step in std::mem::take(&mut self.unsynced) {
            if step.directory() == Some(directory) {
                self.durable.apply(&step);
            } else {
                self.unsynced.push(step);
            }
        }
    }

    pub(super) fn after(&self, loss: Loss, dice: &mut Dice) -> Self {
        let mut names = self.durable.clone();
        let kept = if loss == Loss::Suffix {
            dice.below(self.unsynced.len() + 1)
        } else {
            self.unsynced.len()
        };
        for step in self.unsynced.iter().take(kept) {
            let survives = match loss {
                // Directories are not synced: what depends on them would never be seen.
                Loss::Unsynced => step.directory().is_none() && dice.below(8) > 0,
                Loss::Suffix | Loss::Nothing => true,
                Loss::Sectors | Loss::Lengths => {
                    dice.coin() || step.directory().is_none() && dice.coin()
                }
            };
            if survives {
                names.apply(step);
            }
        }
        let Names { directories, files } = &mut names;
        files.retain(|place, _| directories.contains(&place.0));
        let used: BTreeSet<u64> = files.values().copied().collect();
        let left = self.contents.iter().filter(|(number, _)| used.contains(number));
        let contents = left
            .map(|(number, content)| (*number, Content::kept(content.after(loss, dice))))
            .collect();
        Self {
            contents,
            made: self.made,
            visible: names.clone(),
            durable: names,
            unsynced: Vec::new(),
        }
    }
}

/// Directories have numbers; the names of files in them are the caller's.
impl Disk {
    /// The directories that there are.
    ///
    /// # Errors
    /// The fault that was asked for, as of all that follow.
    pub fn directories(&self) -> io::Result<Vec<u64>> {
        Ok(self.operation(Room::Kept)?.files.visible.directories.iter().copied().collect())
    }

    /// Makes a directory.
    ///
    /// # Errors
    /// If there is one.
    pub fn make_directory(&self, directory: u64) -> io::Result<()> {
        let mut state = self.operation(Room::Taken(0))?;
        if state.files.visible.directories.contains(&directory) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        state.files.step(Step::MakeDirectory(directory));
        Ok(())
    }

    /// Removes a directory with all that is in it.
    ///
    /// # Errors
    /// The fault that was asked for.
    pub fn remove_directory(&self, directory: u64) -> io::Result<()> {
        self.operation(Room::Kept)?.files.remove_directory(directory);
        Ok(())
    }

    /// The names of the files in a directory.
    ///
    /// # Errors
    /// The fault that was asked for.
    pub fn files(&self, directory: u64) -> io::Result<Vec<String>> {
        let state = self.operation(Room::Kept)?;
        let names = state.files.visible.files.keys().filter(|place| place.0 == directory);
        Ok(names.map(|place| place.1.clone()).collect())
    }

    /// All bytes of a file.
    ///
    /// # Errors
    /// If there is none.
    pub fn read_file(&self, directory: u64, name: &str) -> io::Result<Vec<u8>> {
        let state = self.operation(Room::Kept)?;
        let file = state.files.find(directory, name)?;
        Ok(state
            .files
            .contents
            .get(&file)
            .map(|content| content.visible.clone())
            .unwrap_or_default())
    }

    /// Makes an empty file.
    ///
    /// # Errors
    /// If there is one.
    pub fn make_file(&self, directory: u64, name: &str) -> io::Result<()> {
        let mut state = self.operation(Room::Taken(0))?;
        let files = &mut state.files;
        if files.find(directory, name).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let file = files.make(Content::default());
        files.step(Step::Link((directory, name.to_owned()), file));
        Ok(())
    }

    /// Writes at the end of a file.
    ///
    /// # Errors
    /// If there is none.
    pub fn append(&self, directory: u64, name: &str, data: &[u8]) -> io::Result<()> {
        let mut state = self.operation(Room::Taken(data.len()))?;
        let file = state.files.find(directory, name)?;
        if let Some(content) = state.files.contents.get_mut(&file) {
            content.write(content.visible.len(), data);
        }
        Ok(())
    }

    /// Makes durable what a file holds.
    ///
    /// # Errors
    /// If there is none.
    pub fn sync_file(&self, directory: u64, name: &str) -> io::Result<()> {
        let mut state = self.operation(Room::Kept)?;
        let file = state.files.find(directory, name)?;
        if state.is_honest()
            && let Some(content) = state.files.contents.get_mut(&file)
        {
            content.sync();
        }
        Ok(())
    }

    /// Writes a file under another name, syncs it, and gives it the name: what had that before is
    /// replaced.
    ///
    /// # Errors
    /// The fault that was asked for.
    pub fn replace_file(&self, directory: u64, name: &str, data: &[u8]) -> io::Result<()> {
        let mut state = self.operation(Room::Taken(data.len()))?;
        let file = state.files.make(Content::kept(data.to_vec()));
        state.files.step(Step::Link((directory, name.to_owned()), file));
        Ok(())
    }

    /// Removes a file.
    ///
    /// # Errors
    /// If there is none.
    pub fn remove_file(&self, directory: u64, name: &str) -> io::Result<()> {
        let mut state = self.operation(Room::Kept)?;
        state.files.find(directory, name)?;
        state.files.step(Step::Unlink((directory, name.to_owned())));
        Ok(())
    }

    /// Makes durable which files are in a directory.
    ///
    /// # Errors
    /// The fault that was asked for.
    pub fn sync_directory(&self, directory: u64) -> io::Result<()> {
        let mut state = self.operation(Room::Kept)?;
        if state.is_honest() {
            state.files.sync_directory(directory);
        }
        Ok(())
    }
}
