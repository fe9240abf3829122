//! Things put in order by their numbers in two passes, however many numbers there are: the first
//! one counts how many have each, the second one puts each in its place.

/// Where the things of each number go, of which there are so many; numbers are below `end`.
pub(super) struct Places(Vec<usize>);

impl Places {
    /// Of things with these numbers.
    pub(super) fn of(numbers: impl Iterator<Item = u32>, end: usize) -> Self {
        let mut counts = vec![0; end];
        for number in numbers {
            counts.get_mut(number as usize).into_iter().for_each(|count| *count += 1);
        }
        Self::of_counts(counts)
    }

    /// Where so many things have each number.
    pub(super) fn of_counts(counts: Vec<usize>) -> Self {
        let (mut places, mut start) = (counts, 0);
        for place in &mut places {
            start += std::mem::replace(place, start);
        }
        Self(places)
    }

    /// Puts the next thing of this number where it belongs.
    pub(super) fn put<T>(&mut self, number: u32, thing: T, into: &mut [T]) {
        if let Some(place) = self.0.get_mut(number as usize)
            && let Some(slot) = into.get_mut(*place)
        {
            *slot = thing;
            *place += 1;
        }
    }

    /// The things of this number, when all are in their places.
    pub(super) fn get<'t, T>(&self, number: u32, things: &'t [T]) -> &'t [T] {
        // Each place has moved from where its number begins to where it ends.
        let end = |number: usize| self.0.get(number).copied().unwrap_or_default();
        let number = number as usize;
        things.get(number.checked_sub(1).map_or(0, end)..end(number)).unwrap_or_default()
    }
}
