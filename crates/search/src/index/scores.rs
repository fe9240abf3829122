//! Lists of documents in order, each with a number: put together, or what they have in common.

use std::ops::Add;

/// A document: by its place among all documents of a view, the fresh ones behind.
pub(super) type Place = u32;

/// Which documents of two lists are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// Those of either.
    Either,
    /// Those of both.
    Both,
    /// Those of the first.
    First,
}

/// What both have of each document that is kept, in sum.
pub(super) fn joined<T: Copy + Add<Output = T>>(
    one: Vec<(Place, T)>,
    other: Vec<(Place, T)>,
    keep: Keep,
) -> Vec<(Place, T)> {
    // Most words are in one lane only, or their stem in no other document.
    if one.is_empty() && keep == Keep::Either {
        return other;
    }
    if other.is_empty() && keep != Keep::Both {
        return one;
    }
    let mut found =
        Vec::with_capacity(one.len() + if keep == Keep::Either { other.len() } else { 0 });
    let mut rest = other.into_iter().peekable();
    for (place, score) in one {
        while let Some(before) = rest.next_if(|(other, _)| *other < place) {
            if keep == Keep::Either {
                found.push(before);
            }
        }
        match rest.next_if(|(other, _)| *other == place) {
            Some((_, more)) => found.push((place, score + more)),
            None if keep == Keep::Both => {}
            None => found.push((place, score)),
        }
    }
    if keep == Keep::Either {
        found.extend(rest);
    }
    found
}

/// How many documents are in both lists.
pub(super) fn in_both<T>(one: &[(Place, T)], other: &[(Place, T)]) -> usize {
    let mut rest = other.iter().map(|(place, _)| *place).peekable();
    let places = one.iter().filter(|(place, _)| {
        while rest.next_if(|other| other < place).is_some() {}
        rest.next_if_eq(place).is_some()
    });
    places.count()
}

#[cfg(test)]
mod tests {
    use super::{Keep, in_both, joined};

    #[test]
    fn two_lists() {
        let (one, other) =
            (vec![(1, 1.0), (3, 3.0), (5, 5.0)], vec![(0, 10.0), (3, 10.0), (6, 10.0), (7, 10.0)]);
        for (keep, expected) in [
            (Keep::Either, vec![(0, 10.0), (1, 1.0), (3, 13.0), (5, 5.0), (6, 10.0), (7, 10.0)]),
            (Keep::Both, vec![(3, 13.0)]),
            (Keep::First, vec![(1, 1.0), (3, 13.0), (5, 5.0)]),
        ] {
            assert_eq!(joined(one.clone(), other.clone(), keep), expected, "{keep:?}");
        }
        for (keep, with_none, none_with) in [
            (Keep::Either, one.clone(), one.clone()),
            (Keep::Both, vec![], vec![]),
            (Keep::First, one.clone(), vec![]),
        ] {
            assert_eq!(joined(one.clone(), vec![], keep), with_none, "{keep:?}");
            assert_eq!(joined(vec![], one.clone(), keep), none_with, "{keep:?}");
        }
        assert_eq!((in_both(&one, &other), in_both(&one, &one), in_both(&one, &[])), (1, 3, 0));
    }
}
