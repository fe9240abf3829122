//! Numbers that follow from a seed: the same seed makes the same world, the same hidden edits and
//! the same calls.

/// A generator (splitmix64). Seeds that differ in one bit give numbers that have nothing in common.
#[derive(Clone, Debug)]
pub struct Dice {
    state: u64,
    /// Numbers that come first, the last one before the others.
    given: Vec<u8>,
}

impl Dice {
    /// The numbers of this seed and this use of it.
    pub fn new(seed: u64, purpose: u64) -> Self {
        let mut dice =
            Self { state: seed ^ purpose.wrapping_mul(0xD6E8_FEB8_6659_FD93), given: Vec::new() };
        Self { state: dice.next(), given: Vec::new() }
    }

    /// These numbers, and then those that follow from how many they are.
    pub fn of(bytes: &[u8]) -> Self {
        Self { given: bytes.iter().rev().copied().collect(), ..Self::new(bytes.len() as u64, 0) }
    }

    #[expect(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> u64 {
        if let Some(number) = self.given.pop() {
            return number.into();
        }
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }

    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[self.below(from.len())]
    }

    /// One of these, if there are any.
    pub fn any<'t, T>(&mut self, from: &'t [T]) -> Option<&'t T> {
        if from.is_empty() { None } else { Some(self.pick(from)) }
    }
}
