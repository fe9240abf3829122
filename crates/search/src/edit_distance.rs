//! The edit distance of two words, and how many edits a misspelt word may have.

/// The edits that a word of this many characters may have: a short one is like too many others.
pub(crate) const fn max_edits(chars: usize) -> u8 {
    match chars {
        0..4 => 0,
        4..8 => 1,
        _ => 2,
    }
}

/// The number of insertions, deletions, replacements and transpositions of adjacent characters that
/// turn one word into the other (optimal string alignment). Costs time in proportion to the product
/// of both lengths.
pub(crate) fn edit_distance(one: &[char], other: &[char]) -> usize {
    let cell = |row: &[usize], at: usize| row.get(at).copied().unwrap_or(usize::MAX - 1);
    // The rows of the characters up to the second last one, and up to the last one.
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    let mut previous = None;
    for (number, ours) in one.iter().enumerate() {
        let mut row = Vec::with_capacity(other.len() + 1);
        let mut edits = number + 1;
        let mut previous_other = None;
        row.push(edits);
        for (at, theirs) in other.iter().enumerate() {
            let replaced = cell(&last, at) + usize::from(ours != theirs);
            edits = replaced.min(cell(&last, at + 1) + 1).min(edits + 1);
            if previous == Some(theirs) && previous_other == Some(ours) {
                edits = edits.min(cell(&before, at.saturating_sub(1)) + 1);
            }
            row.push(edits);
            previous_other = Some(theirs);
        }
        previous = Some(ours);
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::edit_distance;

    #[test]
    fn distances() {
        for (one, other, distance) in [
            ("", "", 0),
            ("", "abc", 3),
            ("train", "train", 0),
            ("train", "trian", 1),
            ("train", "rtain", 1),
            ("train", "trani", 1),
            ("train", "trains", 1),
            ("train", "rain", 1),
            ("train", "brain", 1),
            ("train", "trn", 2),
            ("ca", "abc", 3),
            ("straße", "strase", 1),
            ("поезд", "поздe", 2),
        ] {
            let [one, other] = [one, other].map(|word| word.chars().collect::<Vec<_>>());
            assert_eq!(edit_distance(&one, &other), distance, "{one:?} {other:?}");
            assert_eq!(edit_distance(&other, &one), distance, "{other:?} {one:?}");
        }
    }
}
