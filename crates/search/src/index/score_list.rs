//! Sorted lists of documents with a number each, and their unions and intersections.

use std::ops::Add;

use super::snapshot::DocNumber;

/// Which documents of two lists a merge keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MergeMode {
    Union,
    Intersection,
    /// All documents of the first list.
    First,
}

/// Merges two lists; a document of both gets the sum.
pub(super) fn merge<T: Copy + Add<Output = T>>(
    one: Vec<(DocNumber, T)>,
    other: Vec<(DocNumber, T)>,
    mode: MergeMode,
) -> Vec<(DocNumber, T)> {
    debug_assert!(is_sorted(&one) && is_sorted(&other), "score lists are sorted by document");
    // Most terms occur in one field only, and most stems in no other form.
    if one.is_empty() && mode == MergeMode::Union {
        return other;
    }
    if other.is_empty() && mode != MergeMode::Intersection {
        return one;
    }
    let is_union = mode == MergeMode::Union;
    let mut merged = Vec::with_capacity(one.len() + if is_union { other.len() } else { 0 });
    let mut rest = other.into_iter().peekable();
    for (number, value) in one {
        while let Some(before) = rest.next_if(|(other, _)| *other < number) {
            if is_union {
                merged.push(before);
            }
        }
        match rest.next_if(|(other, _)| *other == number) {
            Some((_, more)) => merged.push((number, value + more)),
            None if mode == MergeMode::Intersection => {}
            None => merged.push((number, value)),
        }
    }
    if is_union {
        merged.extend(rest);
    }
    merged
}

fn is_sorted<T>(list: &[(DocNumber, T)]) -> bool {
    list.is_sorted_by(|(one, _), (other, _)| one < other)
}

/// The number of documents in both lists.
pub(super) fn intersection_len<T>(one: &[(DocNumber, T)], other: &[(DocNumber, T)]) -> usize {
    let mut rest = other.iter().map(|(number, _)| *number).peekable();
    let common = one.iter().filter(|(number, _)| {
        while rest.next_if(|other| other < number).is_some() {}
        rest.next_if_eq(number).is_some()
    });
    common.count()
}

#[cfg(test)]
mod tests {
    use super::{MergeMode, intersection_len, merge};

    #[test]
    fn merges_of_two_lists() {
        let one = vec![(1, 1.0), (3, 3.0), (5, 5.0)];
        let other = vec![(0, 10.0), (3, 10.0), (6, 10.0), (7, 10.0)];
        let union = vec![(0, 10.0), (1, 1.0), (3, 13.0), (5, 5.0), (6, 10.0), (7, 10.0)];
        for (mode, expected) in [
            (MergeMode::Union, union),
            (MergeMode::Intersection, vec![(3, 13.0)]),
            (MergeMode::First, vec![(1, 1.0), (3, 13.0), (5, 5.0)]),
        ] {
            assert_eq!(merge(one.clone(), other.clone(), mode), expected, "{mode:?}");
        }
        for (mode, with_empty, empty_with) in [
            (MergeMode::Union, one.clone(), one.clone()),
            (MergeMode::Intersection, vec![], vec![]),
            (MergeMode::First, one.clone(), vec![]),
        ] {
            assert_eq!(merge(one.clone(), vec![], mode), with_empty, "{mode:?}");
            assert_eq!(merge(vec![], one.clone(), mode), empty_with, "{mode:?}");
        }
        let lengths = [&other, &one, &vec![]].map(|list| intersection_len(&one, list));
        assert_eq!(lengths, [1, 3, 0]);
    }
}
