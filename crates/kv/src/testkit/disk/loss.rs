//! What a loss of power leaves: five ways in which devices and file systems differ, each as bad as
//! it may be.

use super::files::Files;
use super::{Change, Content, Disk, State, put};

/// What a device writes whole or not at all.
const SECTOR: usize = 512;

/// What is left of what was not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loss {
    /// Nothing.
    Unsynced,
    /// What was done first; the last write of it is torn.
    Suffix,
    /// Any of it, in any order: each sector is there or not.
    Sectors,
    /// All of it.
    Nothing,
    /// The files are as short as they were; of the rest, any of it.
    Lengths,
}

impl Loss {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Unsynced, Self::Suffix, Self::Sectors, Self::Nothing, Self::Lengths];
}

/// What a loss of power meets: what is durable, and what may be.
#[derive(Clone)]
pub struct Moment {
    store: Content,
    wal: Content,
    files: Files,
    operations: u64,
}

impl std::fmt::Debug for Moment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Moment").field("operations", &self.operations).finish_non_exhaustive()
    }
}

impl Moment {
    pub(super) fn of(state: &State) -> Self {
        // What is visible is of no use without power.
        let without_power = |content: &Content| Content {
            visible: Vec::new(),
            durable: content.durable.clone(),
            unsynced: content.unsynced.clone(),
            ..Content::default()
        };
        let (store, wal) = (without_power(&state.store), without_power(&state.wal));
        Self { store, wal, files: state.files.clone(), operations: state.operations }
    }

    /// How many operations had begun, one that was about to be done among them.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// The disk when the power is back.
    pub fn after(&self, loss: Loss, seed: u64) -> Disk {
        let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let store = self.store.after(loss, &mut dice);
        let wal = self.wal.after(loss, &mut dice);
        Disk::of(store, wal, self.files.after(loss, &mut dice))
    }
}

/// A small generator: what is lost must be the same everywhere.
pub(super) struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::try_from((self.next() >> 8) % (bound.max(1) as u64)).unwrap_or_default()
    }

    pub(super) fn coin(&mut self) -> bool {
        self.below(2) == 0
    }
}

impl Content {
    pub(super) fn after(&self, loss: Loss, dice: &mut Dice) -> Vec<u8> {
        let mut image = (*self.durable).clone();
        let short = image.len();
        let whole = match loss {
            Loss::Unsynced => return image,
            Loss::Suffix => dice.below(self.unsynced.len() + 1),
            _ => self.unsynced.len(),
        };
        let whole_changes = self.unsynced.iter().take(whole);
        for change in whole_changes {
            let survives =
                |dice: &mut Dice| matches!(loss, Loss::Suffix | Loss::Nothing) || dice.coin();
            match change {
                Change::Length(length) if survives(dice) => image.resize(*length, 0),
                Change::Length(_) => {}
                Change::Write(at, data) => {
                    write_sectors(&mut image, *at, data, &mut || survives(dice))
                }
            }
        }
        match (loss, self.unsynced.get(whole)) {
            (Loss::Suffix, Some(Change::Write(at, data))) => {
                let mut left = dice.below(data.len() / SECTOR + 1);
                write_sectors(&mut image, *at, data, &mut || {
                    left = left.saturating_sub(1);
                    left > 0
                });
            }
            (Loss::Lengths, _) => image.truncate(short),
            _ => {}
        }
        image
    }
}

fn write_sectors(image: &mut Vec<u8>, at: usize, data: &[u8], survives: &mut dyn FnMut() -> bool) {
    for (number, sector) in data.chunks(SECTOR).enumerate() {
        if survives() {
            put(image, at + number * SECTOR, sector);
        }
    }
}
