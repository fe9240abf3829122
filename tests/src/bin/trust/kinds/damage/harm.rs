//! What a failing device, or another program, does to a file.

use std::fmt;

use leafbase::{Error, ErrorKind};

use crate::random::Random;

pub const PAGE: usize = 4_096;
/// The file's own header, and of it what tells its kind and its format.
const HEADER: usize = 320;
const MAGIC: usize = 9;
const VERSIONS: [usize; 2] = [64, 192];

/// One damage. Places are bytes of the file.
#[derive(Clone, Debug)]
pub enum Harm {
    Bit(usize, u8),
    Byte(usize),
    Zeroed(usize),
    Random(usize),
    Swapped(usize, usize),
    Cut(usize),
    Longer(usize),
    Foreign(usize, usize),
    Newer,
}

impl Harm {
    /// Does one damage to `image`, of which these pages are used.
    pub fn draw(random: &mut Random, used: &[usize], image: &mut Vec<u8>) -> Self {
        let harm = Self::choose(random, used, image.len());
        harm.apply(random, image);
        harm
    }

    /// The same for a file of any kind and length, which is not empty.
    pub fn draw_in(random: &mut Random, used: &[usize], bytes: &mut Vec<u8>) -> Self {
        let length = bytes.len();
        let harm = match random.below(4) {
            0 => Self::Cut(random.place(length)),
            1 => Self::Byte(random.place(length)),
            2 if !used.is_empty() => {
                Self::Zeroed(random.pick(used).copied().unwrap_or_default() * PAGE)
            }
            _ => Self::Bit(random.place(length), u8::try_from(random.below(8)).unwrap_or_default()),
        };
        harm.apply(random, bytes);
        harm
    }

    fn choose(random: &mut Random, used: &[usize], length: usize) -> Self {
        let page = |random: &mut Random| random.pick(used).copied().unwrap_or_default() * PAGE;
        // Heads of pages are small, and most depends on them.
        let at = |random: &mut Random| match random.below(8) {
            0 => random.place(HEADER),
            1 | 2 => page(random) + random.place(64),
            3 => page(random) + random.place(512),
            _ => page(random) + random.place(PAGE),
        };
        match random.below(40) {
            0..18 => Self::Bit(at(random), u8::try_from(random.below(8)).unwrap_or_default()),
            18..26 => Self::Byte(at(random)),
            26..29 => Self::Zeroed(page(random)),
            29..31 => Self::Random(page(random)),
            31..34 => Self::Swapped(page(random), page(random)),
            34..36 => Self::Cut(random.place(length)),
            36 => Self::Longer(1 + random.place(3 * PAGE)),
            37..39 => Self::Foreign(at(random), 1 + random.place(700)),
            _ => Self::Newer,
        }
    }

    pub fn apply(&self, random: &mut Random, image: &mut Vec<u8>) {
        let length = image.len();
        let page = |at: usize| at..(at + PAGE).min(length);
        match *self {
            Self::Bit(at, bit) => image[at] ^= 1 << bit,
            Self::Byte(at) => image[at] ^= 1 + random.next() as u8 % 255,
            Self::Zeroed(at) => image[page(at)].fill(0),
            Self::Random(at) => image[page(at)].fill_with(|| random.next() as u8),
            Self::Swapped(one, other) => {
                let held = image[page(one)].to_vec();
                image.copy_within(page(other), one);
                image[page(other)].copy_from_slice(&held);
            }
            Self::Cut(to) => image.truncate(to),
            Self::Longer(by) => image.extend((0..by).map(|_| random.next() as u8)),
            Self::Foreign(at, bytes) => {
                let text = b"Some other program wrote this here. ".iter().cycle().copied();
                image[at..(at + bytes).min(length)]
                    .iter_mut()
                    .zip(text)
                    .for_each(|(byte, other)| *byte = other);
            }
            Self::Newer => VERSIONS.into_iter().for_each(|at| image[at] = 9),
        }
    }

    /// Whether a space that was damaged so may be refused with this error.
    pub fn explains(&self, error: &Error) -> bool {
        match error.kind() {
            ErrorKind::Corrupted => true,
            ErrorKind::NewerFormat => matches!(self, Self::Newer) || self.covers_versions(),
            ErrorKind::NotASpace => self.begins_before(MAGIC) || self.covers_versions(),
            _ => false,
        }
    }

    /// Whether it changes both places that tell the format.
    fn covers_versions(&self) -> bool {
        match *self {
            Self::Foreign(at, bytes) => {
                VERSIONS.iter().all(|version| (at..at + bytes).contains(version))
            }
            _ => self.begins_before(1),
        }
    }

    /// Whether it changes something before this byte.
    fn begins_before(&self, end: usize) -> bool {
        match *self {
            Self::Bit(at, _)
            | Self::Byte(at)
            | Self::Zeroed(at)
            | Self::Random(at)
            | Self::Foreign(at, _) => at < end,
            Self::Swapped(one, other) => one.min(other) < end,
            Self::Cut(to) => to < end,
            Self::Longer(_) | Self::Newer => false,
        }
    }
}

impl fmt::Display for Harm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bit(at, bit) => write!(f, "bit {bit} of byte {at} (page {}) flipped", at / PAGE),
            Self::Byte(at) => write!(f, "byte {at} (page {}) changed", at / PAGE),
            Self::Zeroed(at) => write!(f, "page {} zeroed", at / PAGE),
            Self::Random(at) => write!(f, "page {} overwritten with noise", at / PAGE),
            Self::Swapped(one, other) => {
                write!(f, "pages {} and {} swapped", one / PAGE, other / PAGE)
            }
            Self::Cut(to) => write!(f, "cut at {to}"),
            Self::Longer(by) => write!(f, "{by} bytes added"),
            Self::Foreign(at, bytes) => {
                write!(f, "{bytes} foreign bytes at {at} (page {})", at / PAGE)
            }
            Self::Newer => f.write_str("a newer format"),
        }
    }
}
