//! A simulated disk: it fails when told to, and can lose power at any moment. On it lie the file of
//! a store, the one of its wal, and small files by name.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use files::Files;
pub use loss::{Loss, Moment};

mod files;
mod loss;

/// A disk with one store on it, its wal, and files of an index. Copies are the same disk.
#[derive(Clone, Debug, Default)]
pub struct Disk(Arc<Mutex<State>>);

/// The file of the wal on a disk. The disk itself stands for the one of the store.
#[derive(Clone, Debug)]
pub struct WalOnDisk(Disk);

/// One of the two files without a name.
#[derive(Clone, Copy)]
enum FileKind {
    Store,
    Wal,
}

/// Which operations fail, counted from the disk's first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The one with this number.
    Once(u64),
    /// This one and all that follow.
    From(u64),
    /// From the first of these up to the second, which is done again.
    Between(u64, u64),
    /// Whatever takes room: see [`Disk::takes_room_at_once`].
    Full,
    /// One in so many, spread irregularly.
    OneIn(u64),
}

/// What an operation does to the room that is taken: so many bytes more are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Room {
    Kept,
    Taken(usize),
}

#[derive(Clone, Default)]
struct State {
    store: Content,
    wal: Content,
    files: Files,
    operations: u64,
    fault: Option<(Fault, io::ErrorKind)>,
    failures: u64,
    /// Before which operations what a loss of power would leave is kept.
    awaited: BTreeSet<u64>,
    moments: Vec<Moment>,
    /// One sync in so many does nothing, and says that it did.
    lies: Option<u64>,
    syncs: u64,
    /// How many bytes fit.
    limit: Option<u64>,
    /// Whether a file that becomes longer takes room.
    takes_room_at_once: bool,
}

/// Room is taken by so many bytes at a time.
const BLOCK: usize = 4 << 10;

/// The bytes of a file.
#[derive(Clone, Default)]
struct Content {
    /// What reads see.
    visible: Vec<u8>,
    /// Which blocks of it take no room: it became longer, and nothing was written there yet.
    holes: BTreeSet<usize>,
    /// What a loss of power leaves, if it leaves nothing that was not synced.
    durable: Arc<Vec<u8>>,
    unsynced: Vec<Change>,
}

#[derive(Clone)]
enum Change {
    Write(usize, Vec<u8>),
    Length(usize),
}

impl Content {
    /// Of which nothing can be lost.
    fn kept(bytes: Vec<u8>) -> Self {
        Self {
            visible: bytes.clone(),
            holes: BTreeSet::new(),
            durable: Arc::new(bytes),
            unsynced: Vec::new(),
        }
    }

    /// How many bytes take room.
    fn used(&self) -> usize {
        self.visible.len().saturating_sub(self.holes.len() * BLOCK)
    }

    /// The blocks that a write there would take room for.
    fn missing(
        &self,
        offset: usize,
        length: usize,
    ) -> std::collections::btree_set::Range<'_, usize> {
        self.holes.range(offset / BLOCK..(offset + length).div_ceil(BLOCK))
    }

    /// Becomes longer or shorter; what it becomes longer by are holes.
    fn stretch(&mut self, length: usize) {
        let whole = self.visible.len().div_ceil(BLOCK);
        drop(self.holes.split_off(&length.div_ceil(BLOCK)));
        self.holes.extend(whole..length.div_ceil(BLOCK));
        self.set_length(length);
    }

    fn write(&mut self, offset: usize, data: &[u8]) {
        for block in self.missing(offset, data.len()).copied().collect::<Vec<_>>() {
            self.holes.remove(&block);
        }
        put(&mut self.visible, offset, data);
        self.unsynced.push(Change::Write(offset, data.to_vec()));
    }

    fn set_length(&mut self, length: usize) {
        self.visible.resize(length, 0);
        self.unsynced.push(Change::Length(length));
    }

    fn sync(&mut self) {
        if self.unsynced.is_empty() {
            return;
        }
        let durable = Arc::make_mut(&mut self.durable);
        for change in self.unsynced.drain(..) {
            match change {
                Change::Length(length) => durable.resize(length, 0),
                Change::Write(offset, data) => put(durable, offset, &data),
            }
        }
    }
}

/// Writes into `image`, which becomes as long as is needed.
fn put(image: &mut Vec<u8>, at: usize, data: &[u8]) {
    image.resize(image.len().max(at + data.len()), 0);
    if let Some(part) = image.get_mut(at..at + data.len()) {
        part.copy_from_slice(data);
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("length", &self.store.visible.len())
            .field("operations", &self.operations)
            .finish_non_exhaustive()
    }
}

impl Disk {
    /// An empty disk.
    pub fn new() -> Self {
        Self::default()
    }

    fn of(store: Vec<u8>, wal: Vec<u8>, files: Files) -> Self {
        let (store, wal) = (Content::kept(store), Content::kept(wal));
        Self(Arc::new(Mutex::new(State { store, wal, files, ..State::default() })))
    }

    /// The file of the wal on it.
    pub fn wal(&self) -> WalOnDisk {
        WalOnDisk(self.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another disk with the same on it, and with the same that is not synced.
    pub fn copy(&self) -> Self {
        Self(Arc::new(Mutex::new(self.state().clone())))
    }

    /// Makes operations fail with an error of `kind` from now on.
    pub fn fail(&self, fault: Fault, kind: io::ErrorKind) {
        self.state().fault = Some((fault, kind));
    }

    /// Ends all failing.
    pub fn heal(&self) {
        self.state().fault = None;
    }

    /// From now on one sync in so many does nothing, and says that it did.
    pub fn ignore_one_sync_in(&self, every: u64) {
        self.state().lies = Some(every);
    }

    /// Lets no more than so many bytes fit from now on; or any number.
    pub fn limit(&self, bytes: Option<u64>) {
        self.state().limit = bytes;
    }

    /// From now on a file takes room as soon as it becomes longer, as some file systems have it.
    /// Else what it becomes longer by is a hole, as on Linux: what is written there first takes
    /// room, and where there is none, a write has been done in part.
    pub fn takes_room_at_once(self) -> Self {
        self.state().takes_room_at_once = true;
        self
    }

    /// How many bytes are taken.
    pub fn used(&self) -> u64 {
        self.state().used()
    }

    /// How many reads, writes, changes of length and syncs there were.
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    /// How many of them failed.
    pub fn failures(&self) -> u64 {
        self.state().failures
    }

    /// The bytes of the store that reads see.
    pub fn image(&self) -> Vec<u8> {
        self.state().store.visible.clone()
    }

    /// Changes the bytes of the wal behind everybody's back.
    pub fn corrupt_wal(&self, change: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.state();
        let mut bytes = std::mem::take(&mut state.wal.visible);
        change(&mut bytes);
        state.wal = Content::kept(bytes);
    }

    /// Changes the bytes of the store behind everybody's back, as a failing device does.
    pub fn corrupt(&self, change: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.state();
        let mut bytes = std::mem::take(&mut state.store.visible);
        change(&mut bytes);
        state.store = Content::kept(bytes);
    }

    /// The disk after a loss of power right now: each sector written since the last sync is there
    /// or not, as `seed` draws. With the seed 0 none is.
    pub fn after_power_loss(&self, seed: u64) -> Self {
        let loss = if seed == 0 { Loss::Unsynced } else { Loss::Sectors };
        self.moment().after(loss, seed)
    }

    /// What a loss of power would meet right now.
    pub fn moment(&self) -> Moment {
        Moment::of(&self.state())
    }

    /// Keeps what a loss of power would meet before the operation of this number, counted from the
    /// disk's first one.
    pub fn await_operation(&self, number: u64) {
        self.state().awaited.insert(number);
    }

    /// The moments kept so far, in their order. They are given once.
    pub fn moments(&self) -> Vec<Moment> {
        std::mem::take(&mut self.state().moments)
    }

    /// Counts an operation, and fails if it is due to.
    fn operation(&self, room: Room) -> io::Result<MutexGuard<'_, State>> {
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
                Fault::Full => room != Room::Kept,
                Fault::OneIn(every) => {
                    number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32 < (1 << 32) / every
                }
            }
        {
            state.failures += 1;
            return Err(io::Error::new(kind, "a fault that a test asked for"));
        }
        if let (Some(limit), Room::Taken(bytes)) = (state.limit, room)
            && state.used() + bytes as u64 > limit
        {
            state.failures += 1;
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(state)
    }
}

impl State {
    fn content(&mut self, which: FileKind) -> &mut Content {
        match which {
            FileKind::Store => &mut self.store,
            FileKind::Wal => &mut self.wal,
        }
    }

    fn used(&self) -> u64 {
        (self.store.used() + self.wal.used()) as u64 + self.files.used()
    }

    /// Whether a sync that begins now is one that is done.
    fn is_honest(&mut self) -> bool {
        self.syncs += 1;
        self.lies.is_none_or(|every| !self.syncs.is_multiple_of(every))
    }
}

fn beyond_the_end() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "beyond the end")
}

fn place(at: u64) -> io::Result<usize> {
    usize::try_from(at).map_err(|_| beyond_the_end())
}

impl Disk {
    fn length(&self, which: FileKind) -> usize {
        self.state().content(which).visible.len()
    }

    fn read_from(&self, which: FileKind, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut state = self.operation(Room::Kept)?;
        let offset = place(offset)?;
        let visible = &state.content(which).visible;
        let part = visible.get(offset..offset + out.len()).ok_or_else(beyond_the_end)?;
        out.copy_from_slice(part);
        Ok(())
    }

    fn set_length(&self, which: FileKind, length: u64) -> io::Result<()> {
        let length = place(length)?;
        if self.state().takes_room_at_once {
            let more = length.checked_sub(self.length(which)).filter(|more| *more > 0);
            let mut state = self.operation(more.map_or(Room::Kept, Room::Taken))?;
            state.content(which).set_length(length);
        } else {
            self.operation(Room::Kept)?.content(which).stretch(length);
        }
        Ok(())
    }

    /// A sync that fails loses what was not synced, though reads go on seeing it: so do operating
    /// systems.
    fn sync(&self, which: FileKind) -> io::Result<()> {
        let mut state = match self.operation(Room::Kept) {
            Ok(state) => state,
            Err(error) => {
                self.state().content(which).unsynced.clear();
                return Err(error);
            }
        };
        if state.is_honest() {
            state.content(which).sync();
        }
        Ok(())
    }

    fn write_to(&self, which: FileKind, offset: u64, data: &[u8]) -> io::Result<()> {
        let offset = place(offset)?;
        let (missing, fits) = {
            let mut state = self.state();
            let mut missing = state.content(which).missing(offset, data.len());
            let first = missing.next().map(|block| (block * BLOCK).saturating_sub(offset));
            (missing.count() + usize::from(first.is_some()), first.unwrap_or(data.len()))
        };
        let room = if missing > 0 { Room::Taken(missing * BLOCK) } else { Room::Kept };
        let operation = self.operation(room);
        if let (Err(error), Some(before)) = (&operation, data.get(..fits))
            && error.kind() == io::ErrorKind::StorageFull
        {
            self.state().content(which).write(offset, before);
        }
        let mut state = operation?;
        let content = state.content(which);
        if offset + data.len() > content.visible.len() {
            return Err(beyond_the_end());
        }
        content.write(offset, data);
        Ok(())
    }
}

impl redb::StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.length(FileKind::Store) as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.read_from(FileKind::Store, offset, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.set_length(FileKind::Store, length)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.sync(FileKind::Store)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.write_to(FileKind::Store, offset, data)
    }
}

impl redb::StorageBackend for WalOnDisk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.length(FileKind::Wal) as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_from(FileKind::Wal, offset, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.0.set_length(FileKind::Wal, length)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync(FileKind::Wal)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write_to(FileKind::Wal, offset, data)
    }
}
