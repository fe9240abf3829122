//! Which segments should be put together, by their sizes.

/// From so many segments on some are put together.
const MANY: usize = 8;

/// How many documents a segment has, and how many of them are deleted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) all: u32,
    pub(super) deleted: u32,
}

impl Size {
    const fn is_worn(self) -> bool {
        self.deleted as u64 * 4 > self.all as u64
    }
}

/// The numbers of the segments that should become one; none if all is well.
///
/// Where a quarter of all documents is deleted, the segments where it is: that is paid by the
/// deletions. Where segments are many, the small ones: the next larger one is taken along only if
/// they are as large together, so that a document is written anew about as often as all there is
/// doubles (O'Neil et al., "The Log-Structured Merge-Tree", 1996).
pub(super) fn chosen(sizes: &[Size]) -> Vec<usize> {
    let sum = |size: fn(&Size) -> u32| sizes.iter().map(|one| u64::from(size(one))).sum::<u64>();
    if sum(|size| size.deleted) * 4 > sum(|size| size.all) {
        return (0..)
            .zip(sizes)
            .filter(|(_, size)| size.is_worn())
            .map(|(number, _)| number)
            .collect();
    }
    if sizes.len() < MANY { Vec::new() } else { smallest(sizes) }
}

fn smallest(sizes: &[Size]) -> Vec<usize> {
    let mut by_size: Vec<(u32, usize)> = sizes
        .iter()
        .zip(0..)
        .map(|(size, number)| (size.all - size.deleted.min(size.all), number))
        .collect();
    by_size.sort_unstable();
    let (mut together, mut chosen) = (0, Vec::new());
    for (size, number) in by_size {
        if chosen.len() > 1 && u64::from(size) > together {
            break;
        }
        together += u64::from(size);
        chosen.push(number);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::{Size, chosen};

    fn sizes(of: &[(u32, u32)]) -> Vec<Size> {
        of.iter().map(|&(all, deleted)| Size { all, deleted }).collect()
    }

    #[test]
    fn segments_that_become_one() {
        for (of, expected) in [
            (&[][..], &[][..]),
            (&[(10, 0)], &[]),
            (&[(10, 2)], &[]),
            (&[(10, 3)], &[0]),
            // One edited over and over says nothing of the large one.
            (&[(1000, 10), (2, 1)], &[]),
            (&[(1000, 400), (2, 1), (5, 0)], &[0, 1]),
            (&[(1, 0); 7], &[]),
            (&[(1, 0); 8], &[0, 1, 2, 3, 4, 5, 6, 7]),
            (
                &[(1000, 0), (1, 0), (1, 0), (1, 0), (1, 0), (1, 0), (1, 0), (1, 0)],
                &[1, 2, 3, 4, 5, 6, 7],
            ),
            (&[(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0), (64, 0), (128, 0)], &[0, 1]),
        ] {
            let mut found = chosen(&sizes(of));
            found.sort_unstable();
            assert_eq!(found, expected, "{of:?}");
        }
    }

    #[test]
    fn what_is_written_anew_grows_slower_than_the_square_of_what_there_is() {
        let (mut segments, mut written) = (Vec::new(), 0_u64);
        for _ in 0..4096 {
            segments.push(Size { all: 1, deleted: 0 });
            let chosen = chosen(&segments);
            let sum: u32 = chosen.iter().map(|&number| segments[number].all).sum();
            if sum > 0 {
                written += u64::from(sum);
                segments = (0..)
                    .zip(segments)
                    .filter(|(number, _)| !chosen.contains(number))
                    .map(|(_, size)| size)
                    .collect();
                segments.push(Size { all: sum, deleted: 0 });
            }
            assert!(segments.len() <= 8, "{segments:?}");
        }
        assert!(written < 4096 * 16, "{written}");
    }
}
