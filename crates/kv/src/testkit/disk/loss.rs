//! What a power loss leaves of unsynced changes: five models of devices and file systems, each at
//! its worst.

use super::content::{FileContent, UnsyncedChange, overwrite};

/// Devices write this many bytes atomically, at multiples of it.
const SECTOR: usize = 512;

/// What is left of unsynced changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loss {
    /// None of them.
    Unsynced,
    /// The first ones; the last write among them is torn.
    Suffix,
    /// Any of them in any order: each sector is kept or lost.
    Sectors,
    /// All of them, those of a failed fsync included: the process ends, and nothing else.
    Nothing,
    /// No change of a file's length, and any sector of the rest.
    Lengths,
}

impl Loss {
    /// All models.
    pub const ALL: [Self; 5] =
        [Self::Unsynced, Self::Suffix, Self::Sectors, Self::Nothing, Self::Lengths];
}

/// A small random generator: the same seed loses the same bytes on every platform.
pub(super) struct LossRandom(u64);

impl LossRandom {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 8) as usize % bound.max(1)
    }

    pub(super) fn coin(&mut self) -> bool {
        self.below(2) == 0
    }
}

impl FileContent {
    /// The bytes after a power loss.
    pub(super) fn after_loss(&self, loss: Loss, random: &mut LossRandom) -> Vec<u8> {
        if loss == Loss::Nothing && self.has_discarded {
            return self.visible.clone();
        }
        let mut bytes = (*self.durable).clone();
        let durable_length = bytes.len();
        let kept = match loss {
            Loss::Unsynced => return bytes,
            Loss::Suffix => random.below(self.unsynced.len() + 1),
            _ => self.unsynced.len(),
        };
        for change in self.unsynced.iter().take(kept) {
            let survives = |random: &mut LossRandom| {
                matches!(loss, Loss::Suffix | Loss::Nothing) || random.coin()
            };
            match change {
                UnsyncedChange::SetLength(length) if survives(random) => bytes.resize(*length, 0),
                UnsyncedChange::SetLength(_) => {}
                UnsyncedChange::Write(offset, data) => {
                    write_sectors(&mut bytes, *offset, data, &mut || survives(random));
                }
            }
        }
        match (loss, self.unsynced.get(kept)) {
            (Loss::Suffix, Some(UnsyncedChange::Write(offset, data))) => {
                let sectors = (offset + data.len()).div_ceil(SECTOR) - offset / SECTOR;
                let mut left = random.below(sectors);
                write_sectors(&mut bytes, *offset, data, &mut || {
                    let survives = left > 0;
                    left = left.saturating_sub(1);
                    survives
                });
            }
            (Loss::Lengths, _) => bytes.truncate(durable_length),
            _ => {}
        }
        bytes
    }
}

fn write_sectors(
    bytes: &mut Vec<u8>,
    offset: usize,
    data: &[u8],
    survives: &mut dyn FnMut() -> bool,
) {
    let (mut at, mut rest) = (offset, data);
    while !rest.is_empty() {
        let in_sector = (SECTOR - at % SECTOR).min(rest.len());
        let (sector, others) = rest.split_at(in_sector);
        if survives() {
            overwrite(bytes, at, sector);
        }
        (at, rest) = (at + in_sector, others);
    }
}
