//! A simulated disk: it fails when told to, and can lose power at any moment.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a device writes whole or not at all.
const SECTOR: usize = 512;

/// A disk with one file on it. Copies are the same disk.
#[derive(Clone, Debug, Default)]
pub struct Disk(Arc<Mutex<State>>);

/// Which operations fail, counted from the disk's first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The one with this number.
    Once(u64),
    /// This one and all that follow.
    From(u64),
    /// Whatever makes the file longer.
    Full,
    /// One in so many, spread irregularly.
    OneIn(u64),
}

#[derive(Default)]
struct State {
    /// What reads see.
    visible: Vec<u8>,
    /// What a loss of power leaves, if it leaves nothing that was not synced.
    durable: Vec<u8>,
    unsynced: Vec<Change>,
    operations: u64,
    fault: Option<(Fault, io::ErrorKind)>,
    failures: u64,
}

#[derive(Clone)]
enum Change {
    Write(usize, Vec<u8>),
    Length(usize),
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("length", &self.visible.len())
            .field("operations", &self.operations)
            .finish_non_exhaustive()
    }
}

impl Disk {
    /// An empty disk.
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes operations fail with an error of `kind` from now on.
    pub fn fail(&self, fault: Fault, kind: io::ErrorKind) {
        self.state().fault = Some((fault, kind));
    }

    /// Ends all failing.
    pub fn heal(&self) {
        self.state().fault = None;
    }

    /// How many reads, writes, changes of length and syncs there were.
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    /// How many of them failed.
    pub fn failures(&self) -> u64 {
        self.state().failures
    }

    /// The bytes that reads see.
    pub fn image(&self) -> Vec<u8> {
        self.state().visible.clone()
    }

    /// Changes the bytes behind everybody's back, as a failing device does.
    pub fn damage(&self, change: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.state();
        change(&mut state.visible);
        let State { visible, durable, unsynced, .. } = &mut *state;
        durable.clone_from(visible);
        unsynced.clear();
    }

    /// The disk after a loss of power right now: each sector written since the last sync is there or not, as `seed` draws.
    /// With the seed 0 none is.
    pub fn after_power_loss(&self, seed: u64) -> Self {
        let state = self.state();
        let mut image = state.durable.clone();
        let mut random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut survives = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            seed != 0 && random & 1 == 0
        };
        for change in &state.unsynced {
            match change {
                Change::Length(length) if survives() => image.resize(*length, 0),
                Change::Length(_) => {}
                Change::Write(offset, data) => {
                    for (number, sector) in data.chunks(SECTOR).enumerate() {
                        if survives() {
                            let at = offset + number * SECTOR;
                            image.resize(image.len().max(at + sector.len()), 0);
                            patch(&mut image, at, sector);
                        }
                    }
                }
            }
        }
        Self(Arc::new(Mutex::new(State { visible: image.clone(), durable: image, ..State::default() })))
    }

    /// Counts an operation, and fails if it is due to.
    fn operation(&self, lengthens: bool) -> io::Result<MutexGuard<'_, State>> {
        let mut state = self.state();
        state.operations += 1;
        let number = state.operations;
        if let Some((fault, kind)) = state.fault
            && match fault {
                Fault::Once(at) => number == at,
                Fault::From(first) => number >= first,
                Fault::Full => lengthens,
                Fault::OneIn(every) => number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32 < (1 << 32) / every,
            }
        {
            state.failures += 1;
            return Err(io::Error::new(kind, "a fault that a test asked for"));
        }
        Ok(state)
    }
}

fn patch(image: &mut [u8], at: usize, data: &[u8]) {
    if let Some(part) = image.get_mut(at..at + data.len()) {
        part.copy_from_slice(data);
    }
}

fn beyond_the_end() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "beyond the end")
}

fn place(at: u64) -> io::Result<usize> {
    usize::try_from(at).map_err(|_| beyond_the_end())
}

impl redb::StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.state().visible.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.operation(false)?;
        let offset = place(offset)?;
        let part = state.visible.get(offset..offset + out.len()).ok_or_else(beyond_the_end)?;
        out.copy_from_slice(part);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let length = place(length)?;
        let longer = length > self.state().visible.len();
        let mut state = self.operation(longer)?;
        state.visible.resize(length, 0);
        state.unsynced.push(Change::Length(length));
        Ok(())
    }

    /// A sync that fails loses what was not synced, though reads go on seeing it: so do operating systems.
    fn sync_data(&self) -> io::Result<()> {
        let mut state = match self.operation(false) {
            Ok(state) => state,
            Err(error) => {
                self.state().unsynced.clear();
                return Err(error);
            }
        };
        for change in std::mem::take(&mut state.unsynced) {
            match change {
                Change::Length(length) => state.durable.resize(length, 0),
                Change::Write(offset, data) => {
                    let needed = state.durable.len().max(offset + data.len());
                    state.durable.resize(needed, 0);
                    patch(&mut state.durable, offset, &data);
                }
            }
        }
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut state = self.operation(false)?;
        let offset = place(offset)?;
        if offset + data.len() > state.visible.len() {
            return Err(beyond_the_end());
        }
        patch(&mut state.visible, offset, data);
        state.unsynced.push(Change::Write(offset, data.to_vec()));
        Ok(())
    }
}
