//! The merge policy: which segments become one.

/// The number of segments from which some are merged.
const MIN_SEGMENTS: usize = 8;

/// The documents of a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentSize {
    /// All documents, deleted ones included.
    pub(super) documents: u32,
    pub(super) deleted: u32,
}

impl SegmentSize {
    /// Whether more than a quarter of the documents is deleted.
    const fn is_sparse(self) -> bool {
        self.deleted as u64 * 4 > self.documents as u64
    }

    const fn live(self) -> u32 {
        self.documents.saturating_sub(self.deleted)
    }
}

/// The numbers of the segments to merge; empty if nothing is to be done.
///
/// If more than a quarter of all documents is deleted, the sparse segments are merged: the
/// deletions have paid for it. Otherwise, from [`MIN_SEGMENTS`] on, the smallest segments are
/// merged, and a larger one joins only if the smaller ones are as large together. So a document is
/// rewritten about once per doubling of the index (O'Neil et al., "The Log-Structured Merge-Tree",
/// 1996).
pub(super) fn choose(sizes: &[SegmentSize]) -> Vec<usize> {
    let sum =
        |of: fn(&SegmentSize) -> u32| sizes.iter().map(|size| u64::from(of(size))).sum::<u64>();
    if sum(|size| size.deleted) * 4 > sum(|size| size.documents) {
        let sparse = (0..).zip(sizes).filter(|(_, size)| size.is_sparse());
        return sparse.map(|(number, _)| number).collect();
    }
    if sizes.len() < MIN_SEGMENTS { Vec::new() } else { smallest(sizes) }
}

fn smallest(sizes: &[SegmentSize]) -> Vec<usize> {
    let mut by_size: Vec<(u32, usize)> = sizes.iter().map(|size| size.live()).zip(0..).collect();
    by_size.sort_unstable();
    let (mut total, mut chosen) = (0, Vec::new());
    for (size, number) in by_size {
        if chosen.len() > 1 && u64::from(size) > total {
            break;
        }
        total += u64::from(size);
        chosen.push(number);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::{SegmentSize, choose};

    fn sizes(of: &[(u32, u32)]) -> Vec<SegmentSize> {
        of.iter().map(|&(documents, deleted)| SegmentSize { documents, deleted }).collect()
    }

    #[test]
    fn sparse_or_small_segments_are_merged() {
        for (of, expected) in [
            (&[][..], &[][..]),
            (&[(10, 0)], &[]),
            (&[(10, 2)], &[]),
            (&[(10, 3)], &[0]),
            // A small segment that is edited again and again does not rewrite the large one.
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
            let mut found = choose(&sizes(of));
            found.sort_unstable();
            assert_eq!(found, expected, "{of:?}");
        }
    }

    #[test]
    fn rewrites_grow_slower_than_the_square_of_the_documents() {
        let (mut segments, mut written) = (Vec::new(), 0_u64);
        for _ in 0..4096 {
            segments.push(SegmentSize { documents: 1, deleted: 0 });
            let chosen = choose(&segments);
            let sum: u32 = chosen.iter().map(|&number| segments[number].documents).sum();
            if sum > 0 {
                written += u64::from(sum);
                segments = (0..)
                    .zip(segments)
                    .filter(|(number, _)| !chosen.contains(number))
                    .map(|(_, size)| size)
                    .collect();
                segments.push(SegmentSize { documents: sum, deleted: 0 });
            }
            assert!(segments.len() <= 8, "{segments:?}");
        }
        assert!(written < 4096 * 16, "{written}");
    }
}
