//! The numbers that random requests are made from.

/// Numbers from a generator or a fuzzer. Used up, they go on as zeros, which make the simplest
/// choices.
#[derive(Debug)]
pub struct Numbers<'a>(&'a [u32]);

impl<'a> Numbers<'a> {
    /// These numbers.
    pub const fn new(numbers: &'a [u32]) -> Self {
        Self(numbers)
    }

    /// A number from 0 to below `end`, which is at least 1.
    pub fn below(&mut self, end: usize) -> usize {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::try_from(*first).unwrap_or(usize::MAX) % end
    }

    /// Once in so many times.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}
