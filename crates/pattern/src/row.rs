//! Letters of ASCII in a row, sought by the rarest of them: many bytes are passed by at a time, and
//! few places are looked at. Where these are many, each byte is looked at once, so that no text
//! takes more than its length.

use std::sync::OnceLock;

use memchr::{memchr, memchr2, memchr3};
use regex_automata::util::prefilter::Prefilter;
use regex_automata::{MatchKind, Span};

/// Letters of ASCII, a bit for each.
pub type Set = u128;

/// So many letters at most are in a row.
pub const LONGEST: usize = 16;
/// A letter of more forms cannot be sought.
const FORMS: usize = 3;
/// So many bytes behind a place are looked through by one letter.
const NEAR: usize = 128;
/// In long texts so many letters are sought together, in so many forms.
const TOGETHER: usize = 4;
const FORMS_TOGETHER: usize = 16;
/// So many places that are sought and no row, and one more in so many bytes: beyond them it is
/// faster to look at each byte.
const MISSES: usize = 4;
const BYTES_OF_MISS: usize = 8;
/// The bit that tells small letters from capitals.
pub const CASE: u8 = 0x20;

/// What may stand at each place of the row.
#[derive(Clone, Debug)]
pub struct Row {
    sets: Vec<Set>,
    /// Which of them is sought, and its forms.
    rarest: usize,
    forms: Vec<u8>,
    together: OnceLock<Option<Together>>,
    by_byte: ByByte,
}

/// At which places of a row each byte may stand, a bit for each place.
#[derive(Clone, Debug)]
pub struct ByByte {
    places: Box<[u16; 256]>,
    /// How many places there are.
    length: usize,
}

impl ByByte {
    /// None if there are more than [`LONGEST`].
    pub fn of(sets: &[Set]) -> Option<Self> {
        let mut places = Box::new([0; 256]);
        for (place, set) in sets.iter().enumerate() {
            let bit = 1_u16.checked_shl(u32::try_from(place).ok()?).filter(|_| place < LONGEST)?;
            for byte in bytes_of(*set) {
                places
                    .get_mut(usize::from(byte))
                    .into_iter()
                    .for_each(|places: &mut u16| *places |= bit);
            }
        }
        Some(Self { places, length: sets.len() })
    }

    fn places(&self, byte: u8) -> u16 {
        self.places.get(usize::from(byte)).copied().unwrap_or_default()
    }

    /// Whether these bytes begin with such a row.
    pub fn is_at(&self, bytes: &[u8]) -> bool {
        let Some(here) = bytes.get(..self.length) else { return false };
        here.iter().enumerate().all(|(place, byte)| self.places(*byte) >> place & 1 == 1)
    }

    /// The first place from `from` on where one begins, in one step for each byte (Baeza-Yates and
    /// Gonnet, "A New Approach to Text Searching", 1992).
    fn find(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let last = self.length.checked_sub(1)?;
        let mut begun = 0_u16;
        let end = bytes.iter().skip(from).position(|byte| {
            begun = (begun << 1 | 1) & self.places(*byte);
            begun >> last & 1 == 1
        })?;
        (from + end).checked_sub(last)
    }
}

/// Some letters of the row with all their forms, sought at once.
#[derive(Clone, Debug)]
struct Together {
    /// The number of the first.
    first: usize,
    seeking: Prefilter,
}

impl Row {
    /// None if it is too long, or no letter can be sought.
    pub fn of(sets: &[Set]) -> Option<Self> {
        let is_sought = |set: Set| (1..=FORMS).contains(&(set.count_ones() as usize));
        let sought = sets.iter().enumerate().filter(|(_, set)| is_sought(**set));
        let (rarest, set) =
            sought.min_by(|(_, one), (_, other)| share_of(**one).total_cmp(&share_of(**other)))?;
        let forms = bytes_of(*set).collect();
        let by_byte = ByByte::of(sets)?;
        Some(Self { sets: sets.to_vec(), rarest, forms, together: OnceLock::new(), by_byte })
    }

    /// What may stand at each place.
    pub fn sets(&self) -> &[Set] {
        &self.sets
    }

    /// In which share of all places it is, roughly.
    pub fn share(&self) -> f64 {
        self.sets.iter().map(|set| share_of(*set)).product()
    }

    /// The first place from `from` on where it begins, most likely there.
    pub fn find_here(&self, bytes: &[u8], from: usize) -> Option<usize> {
        if self.by_byte.is_at(bytes.get(from..)?) { Some(from) } else { self.find(bytes, from) }
    }

    /// The first place from `from` on where it begins, in a text that is long.
    pub fn find_far(&self, bytes: &[u8], from: usize) -> Option<usize> {
        // Behind one there may be more, and to begin to seek several letters takes longer than to
        // seek one.
        let far = from.saturating_add(NEAR);
        let Some(near) = bytes.get(..far).filter(|_| from > 0) else {
            return self.find_together(bytes, from);
        };
        // One that begins near may end behind.
        self.find(near, from)
            .or_else(|| self.find_together(bytes, far.saturating_sub(self.sets.len() - 1)))
    }

    fn find_together(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let Some(together) = self.together.get_or_init(|| Together::of(&self.sets)) else {
            return self.find(bytes, from);
        };
        let seek = |at: usize| {
            let span = (at <= bytes.len()).then(|| Span::from(at..bytes.len()))?;
            together.seeking.find(bytes, span).map(|found| found.start)
        };
        self.find_by(bytes, from, together.first, seek)
    }

    /// The first place from `from` on where it begins.
    pub fn find(&self, bytes: &[u8], from: usize) -> Option<usize> {
        self.find_by(bytes, from, self.rarest, |at| Some(at + self.seek(bytes.get(at..)?)?))
    }

    /// The same, where `seek` finds the next place of what it has at `number`.
    fn find_by(
        &self,
        bytes: &[u8],
        from: usize,
        number: usize,
        seek: impl Fn(usize) -> Option<usize>,
    ) -> Option<usize> {
        let (mut at, mut misses) = (from.checked_add(number)?, 0);
        loop {
            at = seek(at)?;
            let start = at - number;
            if self.by_byte.is_at(bytes.get(start..)?) {
                return Some(start);
            }
            at += 1;
            misses += 1;
            if misses > MISSES + (start - from) / BYTES_OF_MISS {
                return self.by_byte.find(bytes, start + 1);
            }
        }
    }

    fn seek(&self, bytes: &[u8]) -> Option<usize> {
        match *self.forms.as_slice() {
            [one] => memchr(one, bytes),
            [one, other] => memchr2(one, other, bytes),
            [one, other, third] => memchr3(one, other, third, bytes),
            _ => None,
        }
    }
}

impl Together {
    /// The rarest letters side by side that have few forms; none if they are not sought any faster
    /// than a single one.
    fn of(sets: &[Set]) -> Option<Self> {
        let forms =
            |sets: &[Set]| sets.iter().map(|set| set.count_ones() as usize).product::<usize>();
        let all =
            (2..=TOGETHER.min(sets.len())).flat_map(|length| sets.windows(length).enumerate());
        let few = all.filter(|(_, sets)| (1..=FORMS_TOGETHER).contains(&forms(sets)));
        let share = |sets: &[Set]| sets.iter().map(|set| share_of(*set)).product::<f64>();
        let (first, sets) =
            few.min_by(|(_, one), (_, other)| share(one).total_cmp(&share(other)))?;
        let mut needles = vec![Vec::new()];
        for set in sets {
            let longer = |needle: &Vec<u8>| {
                bytes_of(*set).map(|byte| [needle.as_slice(), &[byte]].concat()).collect::<Vec<_>>()
            };
            needles = needles.iter().flat_map(longer).collect();
        }
        let seeking = Prefilter::new(MatchKind::LeftmostFirst, &needles)?;
        MANY_AT_A_TIME.get_or_init(many_at_a_time).then_some(Self { first, seeking })
    }
}

/// Whether this processor looks at many bytes at a time for one of several texts.
static MANY_AT_A_TIME: OnceLock<bool> = OnceLock::new();

fn many_at_a_time() -> bool {
    // Of two letters none is said to be sought fast, though they are by the same means.
    Prefilter::new(MatchKind::LeftmostFirst, &["abc", "xyz"])
        .is_some_and(|seeking| seeking.is_fast())
}

fn bytes_of(mut set: Set) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let byte = u8::try_from(set.trailing_zeros()).ok().filter(u8::is_ascii)?;
        set &= !(1 << byte);
        Some(byte)
    })
}

/// The letters of ASCII among these.
pub fn ascii(ranges: &[(char, char)]) -> Set {
    let bytes = |letter: char| u8::try_from(letter).ok().filter(u8::is_ascii);
    let ranges =
        ranges.iter().filter_map(|(from, to)| Some(bytes(*from)?..=bytes(*to).unwrap_or(0x7f)));
    ranges.flatten().fold(0, |set, byte| set | 1 << byte)
}

/// In which share of the places of a text one of these is, roughly.
fn share_of(set: Set) -> f64 {
    bytes_of(set).map(share).sum()
}

/// In which share of the places of a text a byte is, roughly.
pub fn share(byte: u8) -> f64 {
    // Of English, in thousandths.
    const LETTERS: [u8; 26] = [
        65, 12, 22, 33, 103, 18, 16, 50, 57, 1, 6, 33, 20, 57, 62, 15, 1, 50, 52, 74, 23, 8, 19, 2,
        16, 1,
    ];
    let letter =
        LETTERS.get(usize::from((byte | CASE).wrapping_sub(b'a'))).copied().unwrap_or_default();
    let thousandths = match byte {
        b'a'..=b'z' => f64::from(letter),
        b'A'..=b'Z' => f64::from(letter) / 20.0,
        b' ' => 180.0,
        b'\n' | b',' | b'.' | b'-' => 10.0,
        _ => 2.0,
    };
    thousandths / 1_000.0
}
