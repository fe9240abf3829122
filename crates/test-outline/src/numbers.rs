//! Numbers from which random requests are built.

/// Numbers from a generator or fuzzer. Once exhausted they are zeros, which select the simplest
/// choices.
#[derive(Debug)]
pub struct Numbers<'a>(&'a [u32]);

impl<'a> Numbers<'a> {
    /// Wraps these numbers.
    pub const fn new(numbers: &'a [u32]) -> Self {
        Self(numbers)
    }

    /// A number below `end`, which is at least 1.
    pub fn below(&mut self, end: usize) -> usize {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::try_from(*first).unwrap_or(usize::MAX) % end
    }

    /// True once in `times` calls on average.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}
