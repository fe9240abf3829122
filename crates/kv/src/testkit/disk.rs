//! A simulated disk that fails on demand and can lose power at any moment. It holds the main file
//! of a store and its WAL, with their names and that of their directory, and the named files of an
//! index.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use content::{BLOCK, FileContent};
use directories::Directories;
pub use loss::Loss;
use loss::LossRandom;
use names::StoreNames;

mod content;
mod directories;
mod loss;
mod names;

/// A disk. It is itself the backend of the store's main file; [`Disk::wal`] is that of the WAL.
/// Clones are the same disk.
#[derive(Clone, Debug, Default)]
pub struct Disk(Arc<Mutex<DiskState>>);

/// The WAL on a disk.
#[derive(Clone, Debug)]
pub struct WalOnDisk(Disk);

/// One of the two files of a store.
#[derive(Clone, Copy)]
enum StoreFile {
    Main,
    Wal,
}

/// Which operations fail. They are numbered from the disk's first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The operation with this number.
    Once(u64),
    /// This one and all later ones.
    From(u64),
    /// From the first number, inclusive, to the second, exclusive.
    Between(u64, u64),
    /// Every operation that allocates space; see [`Disk::takes_room_at_once`].
    Full,
    /// One in this many, spread irregularly.
    OneIn(u64),
}

/// The space that an operation allocates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Allocation {
    None,
    Bytes(usize),
}

#[derive(Clone, Default)]
struct DiskState {
    store: FileContent,
    /// The WAL with them.
    names: StoreNames,
    directories: Directories,
    operations: u64,
    fault: Option<(Fault, io::ErrorKind)>,
    failures: u64,
    /// Numbers of the operations before which a [`Moment`] is recorded.
    awaited: BTreeSet<u64>,
    moments: Vec<Moment>,
    /// One fsync in this many does nothing and reports success.
    ignored_syncs: Option<u64>,
    syncs: u64,
    /// Capacity in bytes.
    capacity: Option<u64>,
    /// Whether extending a file allocates space.
    allocates_on_extend: bool,
}

impl std::fmt::Debug for DiskState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DiskState")
            .field("length", &self.store.visible.len())
            .field("operations", &self.operations)
            .finish_non_exhaustive()
    }
}

/// The state of a disk at one moment: what is durable, and what a power loss may keep.
#[derive(Clone)]
pub struct Moment {
    store: FileContent,
    names: StoreNames,
    directories: Directories,
    operations: u64,
}

impl std::fmt::Debug for Moment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Moment").field("operations", &self.operations).finish_non_exhaustive()
    }
}

impl Moment {
    fn of(state: &DiskState) -> Self {
        Self {
            store: state.store.without_visible(),
            names: state.names.without_visible(),
            directories: state.directories.clone(),
            operations: state.operations,
        }
    }

    /// The number of operations so far, including the one that was about to run.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// The disk after a power loss at this moment.
    pub fn after(&self, loss: Loss, seed: u64) -> Disk {
        let mut random = LossRandom::new(seed);
        let store = FileContent::synced(self.store.after_loss(loss, &mut random));
        let names = self.names.after_loss(loss, &mut random);
        let store = if names.has_main() { store } else { FileContent::default() };
        let directories = self.directories.after_loss(loss, &mut random);
        let state = DiskState { store, names, directories, ..DiskState::default() };
        Disk(Arc::new(Mutex::new(state)))
    }
}

impl Disk {
    /// A disk with empty files of a store, whose names are durable.
    pub fn new() -> Self {
        Self::default()
    }

    /// A disk without any name: `DiskFiles` create them.
    pub fn without_names() -> Self {
        let disk = Self::default();
        disk.state().names = StoreNames::none();
        disk
    }

    /// The backend of the WAL.
    pub fn wal(&self) -> WalOnDisk {
        WalOnDisk(self.clone())
    }

    fn state(&self) -> MutexGuard<'_, DiskState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another disk with the same contents and the same unsynced changes.
    pub fn copy(&self) -> Self {
        Self(Arc::new(Mutex::new(self.state().clone())))
    }

    /// Makes operations fail with an error of `kind` from now on.
    pub fn fail(&self, fault: Fault, kind: io::ErrorKind) {
        self.state().fault = Some((fault, kind));
    }

    /// Ends all faults.
    pub fn heal(&self) {
        self.state().fault = None;
    }

    /// Makes one fsync in `every` do nothing and report success.
    pub fn ignore_one_sync_in(&self, every: u64) {
        self.state().ignored_syncs = Some(every);
    }

    /// Sets the capacity of the disk.
    pub fn limit(&self, bytes: Option<u64>) {
        self.state().capacity = bytes;
    }

    /// Makes the extension of a file allocate space, as on some file systems. Otherwise it creates
    /// a hole, as on Linux: the first write to a block allocates it, and fails in part on a full
    /// disk.
    pub fn takes_room_at_once(self) -> Self {
        self.state().allocates_on_extend = true;
        self
    }

    /// Allocated bytes.
    pub fn used(&self) -> u64 {
        self.state().allocated()
    }

    /// The number of reads, writes, length changes and fsyncs so far.
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    /// The number of operations that failed.
    pub fn failures(&self) -> u64 {
        self.state().failures
    }

    /// The visible bytes of the main file.
    pub fn image(&self) -> Vec<u8> {
        self.state().store.visible.clone()
    }

    /// Changes the bytes of the WAL, as a failing device does.
    pub fn corrupt_wal(&self, change: impl FnOnce(&mut Vec<u8>)) {
        corrupt(self.state().names.wal(), change);
    }

    /// Changes the bytes of the main file, as a failing device does.
    pub fn corrupt(&self, change: impl FnOnce(&mut Vec<u8>)) {
        corrupt(&mut self.state().store, change);
    }

    /// The disk after a power loss now: each sector written since the last fsync is kept or lost,
    /// depending on `seed`. Seed 0 loses all of them.
    pub fn after_power_loss(&self, seed: u64) -> Self {
        let loss = if seed == 0 { Loss::Unsynced } else { Loss::Sectors };
        self.moment().after(loss, seed)
    }

    /// The current moment.
    pub fn moment(&self) -> Moment {
        Moment::of(&self.state())
    }

    /// Records the moment before the operation with this number.
    pub fn await_operation(&self, number: u64) {
        self.state().awaited.insert(number);
    }

    /// Takes the recorded moments in their order.
    pub fn moments(&self) -> Vec<Moment> {
        std::mem::take(&mut self.state().moments)
    }

    /// Counts an operation and applies faults and capacity to it.
    fn operation(&self, allocation: Allocation) -> io::Result<MutexGuard<'_, DiskState>> {
        let mut state = self.state();
        state.operations += 1;
        let number = state.operations;
        if state.awaited.remove(&number) {
            let moment = Moment::of(&state);
            state.moments.push(moment);
        }
        if let Some((fault, kind)) = state.fault
            && match fault {
                Fault::Once(at) => number == at,
                Fault::From(first) => number >= first,
                Fault::Between(first, end) => (first..end).contains(&number),
                Fault::Full => allocation != Allocation::None,
                Fault::OneIn(every) => {
                    number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32 < (1 << 32) / every
                }
            }
        {
            state.failures += 1;
            return Err(io::Error::new(kind, "an injected fault"));
        }
        if let (Some(capacity), Allocation::Bytes(bytes)) = (state.capacity, allocation)
            && state.allocated() + bytes as u64 > capacity
        {
            state.failures += 1;
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(state)
    }
}

fn corrupt(file: &mut FileContent, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = std::mem::take(&mut file.visible);
    change(&mut bytes);
    *file = FileContent::synced(bytes);
}

impl DiskState {
    fn file(&mut self, file: StoreFile) -> &mut FileContent {
        match file {
            StoreFile::Main => &mut self.store,
            StoreFile::Wal => self.names.wal(),
        }
    }

    fn allocated(&self) -> u64 {
        (self.store.allocated() + self.names.allocated()) as u64 + self.directories.allocated()
    }

    /// Counts an fsync and returns whether it takes effect.
    fn performs_sync(&mut self) -> bool {
        self.syncs += 1;
        self.ignored_syncs.is_none_or(|every| !self.syncs.is_multiple_of(every))
    }
}

fn past_the_end() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "past the end of the file")
}

fn to_offset(at: u64) -> io::Result<usize> {
    usize::try_from(at).map_err(|_| past_the_end())
}

impl Disk {
    fn length(&self, file: StoreFile) -> usize {
        self.state().file(file).visible.len()
    }

    fn read_from(&self, file: StoreFile, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut state = self.operation(Allocation::None)?;
        let offset = to_offset(offset)?;
        let visible = &state.file(file).visible;
        out.copy_from_slice(visible.get(offset..offset + out.len()).ok_or_else(past_the_end)?);
        Ok(())
    }

    fn set_length(&self, file: StoreFile, length: u64) -> io::Result<()> {
        let length = to_offset(length)?;
        if self.state().allocates_on_extend {
            let added = length.saturating_sub(self.length(file));
            let allocation = if added > 0 { Allocation::Bytes(added) } else { Allocation::None };
            self.operation(allocation)?.file(file).set_length(length);
        } else {
            self.operation(Allocation::None)?.file(file).set_length_sparse(length);
        }
        Ok(())
    }

    /// A failed fsync discards the unsynced changes, though reads still return them: operating
    /// systems do the same.
    fn sync(&self, file: StoreFile) -> io::Result<()> {
        let mut state = match self.operation(Allocation::None) {
            Ok(state) => state,
            Err(error) => {
                self.state().file(file).discard_unsynced();
                return Err(error);
            }
        };
        if state.performs_sync() {
            state.file(file).sync();
        }
        Ok(())
    }

    fn write_to(&self, file: StoreFile, offset: u64, data: &[u8]) -> io::Result<()> {
        let offset = to_offset(offset)?;
        let (missing, fitting) = {
            let mut state = self.state();
            let mut holes = state.file(file).holes_in(offset, data.len());
            let first = holes.next().map(|block| (block * BLOCK).saturating_sub(offset));
            (holes.count() + usize::from(first.is_some()), first.unwrap_or(data.len()))
        };
        let allocation =
            if missing > 0 { Allocation::Bytes(missing * BLOCK) } else { Allocation::None };
        let operation = self.operation(allocation);
        // On a full disk the bytes before the first hole are written.
        if let (Err(error), Some(before)) = (&operation, data.get(..fitting))
            && error.kind() == io::ErrorKind::StorageFull
        {
            self.state().file(file).write(offset, before);
        }
        let mut state = operation?;
        let content = state.file(file);
        if offset + data.len() > content.visible.len() {
            return Err(past_the_end());
        }
        content.write(offset, data);
        Ok(())
    }
}

impl redb::StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.length(StoreFile::Main) as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.read_from(StoreFile::Main, offset, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.set_length(StoreFile::Main, length)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.sync(StoreFile::Main)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.write_to(StoreFile::Main, offset, data)
    }
}

impl redb::StorageBackend for WalOnDisk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.length(StoreFile::Wal) as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_from(StoreFile::Wal, offset, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.0.set_length(StoreFile::Wal, length)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync(StoreFile::Wal)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write_to(StoreFile::Wal, offset, data)
    }
}

/// The names of a store's files and of its directory.
impl Disk {
    /// Whether the directory has its name.
    pub fn has_directory(&self) -> bool {
        self.state().names.has_directory()
    }

    /// Finds the main file, or creates it.
    pub(super) fn open_main(&self, creates: bool) -> io::Result<()> {
        if !self.state().names.has_main() {
            if !creates {
                return Err(io::ErrorKind::NotFound.into());
            }
            self.operation(Allocation::Bytes(0))?.names.create_main();
        }
        Ok(())
    }

    pub(super) fn open_wal(&self) -> io::Result<()> {
        if self.state().names.has_wal() { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    pub(super) fn create_wal(&self) -> io::Result<()> {
        self.operation(Allocation::Bytes(0))?.names.create_wal();
        Ok(())
    }

    pub(super) fn remove_wal(&self) -> io::Result<()> {
        self.operation(Allocation::None)?.names.remove_wal();
        Ok(())
    }

    /// Makes the names in the directory durable.
    pub(super) fn sync_store_names(&self) -> io::Result<()> {
        let mut state = self.operation(Allocation::None)?;
        if state.performs_sync() {
            state.names.sync_names();
        }
        Ok(())
    }

    pub(super) fn rename_directory(&self) -> io::Result<()> {
        self.operation(Allocation::Bytes(0))?.names.rename_directory();
        Ok(())
    }

    /// Makes the name of the directory durable.
    pub(super) fn sync_parent(&self) -> io::Result<()> {
        let mut state = self.operation(Allocation::None)?;
        if state.performs_sync() {
            state.names.sync_parent();
        }
        Ok(())
    }
}

/// The named files of an index. Directories have numbers.
impl Disk {
    /// The existing directories.
    ///
    /// # Errors
    /// An injected fault, like all methods below.
    pub fn directories(&self) -> io::Result<Vec<u64>> {
        Ok(self.operation(Allocation::None)?.directories.directories())
    }

    /// Creates a directory.
    ///
    /// # Errors
    /// If it exists.
    pub fn make_directory(&self, directory: u64) -> io::Result<()> {
        self.operation(Allocation::Bytes(0))?.directories.create_directory(directory)
    }

    /// Removes a directory and its files.
    ///
    /// # Errors
    /// An injected fault.
    pub fn remove_directory(&self, directory: u64) -> io::Result<()> {
        self.operation(Allocation::None)?.directories.remove_directory(directory);
        Ok(())
    }

    /// The names of the files in a directory.
    ///
    /// # Errors
    /// An injected fault.
    pub fn files(&self, directory: u64) -> io::Result<Vec<String>> {
        Ok(self.operation(Allocation::None)?.directories.names(directory))
    }

    /// The bytes of a file.
    ///
    /// # Errors
    /// If it does not exist.
    pub fn read_file(&self, directory: u64, name: &str) -> io::Result<Vec<u8>> {
        let mut state = self.operation(Allocation::None)?;
        Ok(state.directories.content(directory, name)?.visible.clone())
    }

    /// Creates an empty file.
    ///
    /// # Errors
    /// If it exists.
    pub fn make_file(&self, directory: u64, name: &str) -> io::Result<()> {
        self.operation(Allocation::Bytes(0))?.directories.create_file(directory, name)
    }

    /// Appends to a file.
    ///
    /// # Errors
    /// If it does not exist.
    pub fn append(&self, directory: u64, name: &str, data: &[u8]) -> io::Result<()> {
        let mut state = self.operation(Allocation::Bytes(data.len()))?;
        let content = state.directories.content(directory, name)?;
        content.write(content.visible.len(), data);
        Ok(())
    }

    /// Makes the contents of a file durable.
    ///
    /// # Errors
    /// If it does not exist.
    pub fn sync_file(&self, directory: u64, name: &str) -> io::Result<()> {
        let mut state = self.operation(Allocation::None)?;
        let is_performed = state.performs_sync();
        let content = state.directories.content(directory, name)?;
        if is_performed {
            content.sync();
        }
        Ok(())
    }

    /// Writes a file under a temporary name, fsyncs it and renames it, replacing the file with that
    /// name.
    ///
    /// # Errors
    /// An injected fault.
    pub fn replace_file(&self, directory: u64, name: &str, data: &[u8]) -> io::Result<()> {
        let mut state = self.operation(Allocation::Bytes(data.len()))?;
        state.directories.replace_file(directory, name, data);
        Ok(())
    }

    /// Removes a file.
    ///
    /// # Errors
    /// If it does not exist.
    pub fn remove_file(&self, directory: u64, name: &str) -> io::Result<()> {
        self.operation(Allocation::None)?.directories.remove_file(directory, name)
    }

    /// Makes the names in a directory durable.
    ///
    /// # Errors
    /// An injected fault.
    pub fn sync_directory(&self, directory: u64) -> io::Result<()> {
        let mut state = self.operation(Allocation::None)?;
        if state.performs_sync() {
            state.directories.sync_directory(directory);
        }
        Ok(())
    }
}
