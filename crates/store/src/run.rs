//! Runs: a run is a leaf of siblings, consecutive children of one parent in one value, which is
//! spliced without decoding the blocks in it.
//!
//! The value is framed like every record. Its body is the number of blocks (2 bytes), their IDs,
//! the end of each block record but the last (2 bytes, from the start of the first record), and the
//! records. A block that is larger than a run has a run of its own; the last end is omitted because
//! only there it may exceed 2 bytes.

use leafbase_model::{BlockId, Result, invariant};

use crate::records::{self, FRAME_BYTES};

/// Maximum bytes of a run of several blocks: with its key it fills a page of 4 KiB.
pub(crate) const MAX_BYTES: usize = 4_030;
/// A run below this is underfull, and merged with a neighbour that has room.
pub(crate) const MIN_BYTES: usize = MAX_BYTES / 4;
const COUNT_BYTES: usize = 2;
/// Bytes of a block besides its record.
pub(crate) const ENTRY_BYTES: usize = 16 + 2;

/// Receives the key of a run, the run, and the index of a block in it.
pub(crate) type VisitRun<'f> = &'f mut dyn FnMut(&[u8], RunView<'_>, usize) -> Result<()>;

/// A run, borrowed from its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunView<'v> {
    ids: &'v [[u8; 16]],
    ends: &'v [[u8; 2]],
    blocks: &'v [u8],
}

impl<'v> RunView<'v> {
    /// Reads the value of `key` and verifies it.
    pub(crate) fn read(key: &[u8], value: &'v [u8]) -> Result<Self> {
        let view = Self::parse(records::body(key, value)?).filter(Self::ends_are_valid);
        view.ok_or_else(|| records::corrupt(key))
    }

    /// Reads a value that [`Self::read`] verified before.
    pub(crate) fn verified(value: &'v [u8]) -> Result<Self> {
        let Some(view) = records::verified_body(value).and_then(Self::parse) else {
            invariant!("a value that was verified is a run")
        };
        Ok(view)
    }

    /// Reads the body of a run.
    fn parse(body: &'v [u8]) -> Option<Self> {
        let (count, rest) = body.split_first_chunk::<COUNT_BYTES>()?;
        let count = usize::from(u16::from_be_bytes(*count));
        // At most 65,535 blocks, so no product overflows.
        let (ids, rest) = rest.split_at_checked(16 * count)?;
        let (ends, blocks) = rest.split_at_checked(2 * count.checked_sub(1)?)?;
        let (ids, []) = ids.as_chunks::<16>() else { return None };
        let (ends, []) = ends.as_chunks::<2>() else { return None };
        Some(Self { ids, ends, blocks })
    }

    fn ends_are_valid(&self) -> bool {
        let mut before = 0;
        let ascend = self.ends.iter().all(|end| {
            let end = u16::from_be_bytes(*end);
            std::mem::replace(&mut before, end) <= end
        });
        ascend && usize::from(before) <= self.blocks.len()
    }

    /// The ID at `index`.
    pub(crate) fn id(&self, index: usize) -> Option<BlockId> {
        self.ids.get(index).map(|id| BlockId::from_bytes(*id))
    }

    pub(crate) fn ids(
        &self,
    ) -> impl DoubleEndedIterator<Item = BlockId> + ExactSizeIterator + use<'v> {
        self.ids.iter().map(|id| BlockId::from_bytes(*id))
    }

    /// The index of `block`.
    pub(crate) fn position(&self, block: BlockId) -> Option<usize> {
        self.ids.iter().position(|id| id == block.as_bytes())
    }

    /// The index of `block` if that is `index` or the next one.
    pub(crate) fn position_near(&self, block: BlockId, index: usize) -> Option<usize> {
        let is_at = |at: &usize| self.ids.get(*at) == Some(block.as_bytes());
        [index, index.saturating_add(1)].into_iter().find(is_at)
    }

    fn end(&self, index: usize) -> usize {
        self.ends.get(index).map_or(self.blocks.len(), |end| usize::from(u16::from_be_bytes(*end)))
    }

    fn record(&self, start: usize, end: usize) -> &'v [u8] {
        let record = self.blocks.get(start..end);
        // Reading the run verified that its ends ascend within the records.
        debug_assert!(record.is_some(), "record {start}..{end} of {} bytes", self.blocks.len());
        record.unwrap_or(&[])
    }

    /// The record at `index`.
    pub(crate) fn block(&self, index: usize) -> &'v [u8] {
        debug_assert!(index < self.ids.len(), "block {index} of {}", self.ids.len());
        let start = index.checked_sub(1).map_or(0, |before| self.end(before));
        self.record(start, self.end(index))
    }

    /// All records, concatenated.
    pub(crate) const fn records(&self) -> &'v [u8] {
        self.blocks
    }

    /// Each ID with its record.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (BlockId, &'v [u8])> + use<'v> {
        let (mut start, view) = (0, *self);
        self.ids().enumerate().map(move |(index, id)| {
            let end = view.end(index);
            (id, view.record(std::mem::replace(&mut start, end), end))
        })
    }
}

/// A run that a transaction changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunBuffer {
    ids: Vec<BlockId>,
    /// The end of each record.
    ends: Vec<usize>,
    blocks: Vec<u8>,
}

impl RunBuffer {
    pub(crate) fn read(key: &[u8], value: &[u8]) -> Result<Self> {
        RunView::read(key, value).map(Self::of)
    }

    fn of(view: RunView<'_>) -> Self {
        let mut run = Self::default();
        run.fill(view);
        run
    }

    /// Becomes the run of `view`, in the memory that it has.
    pub(crate) fn fill(&mut self, view: RunView<'_>) {
        self.ids.clear();
        self.ids.extend(view.ids());
        self.ends.clear();
        self.ends.extend((0..view.ids.len()).map(|index| view.end(index)));
        view.blocks.clone_into(&mut self.blocks);
    }

    /// The bytes of its value, or 2 more: the last end is omitted.
    pub(crate) fn bytes(&self) -> usize {
        FRAME_BYTES + COUNT_BYTES + ENTRY_BYTES * self.ids.len() + self.blocks.len()
    }

    /// Whether it must be split: only a single block may exceed [`MAX_BYTES`].
    pub(crate) fn is_overfull(&self) -> bool {
        self.ids.len() > 1 && self.bytes() > MAX_BYTES
    }

    pub(crate) fn ids(&self) -> &[BlockId] {
        &self.ids
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The index of `block`.
    pub(crate) fn position(&self, block: BlockId) -> Option<usize> {
        self.ids.iter().position(|id| *id == block)
    }

    /// Where the record at `index` starts: after the one before it.
    fn start(&self, index: usize) -> usize {
        let end = |before: usize| self.ends.get(before).copied();
        index.checked_sub(1).map_or(0, |before| end(before).unwrap_or(self.blocks.len()))
    }

    /// The record at `index`.
    pub(crate) fn block(&self, index: usize) -> &[u8] {
        let record = self.blocks.get(self.start(index)..self.start(index + 1));
        debug_assert!(record.is_some(), "block {index} of {}", self.ids.len());
        record.unwrap_or(&[])
    }

    fn push(&mut self, id: BlockId, record: &[u8]) {
        self.blocks.extend_from_slice(record);
        self.ids.push(id);
        self.ends.push(self.blocks.len());
    }

    /// Inserts `entries` before the block at `index`, or at the end.
    pub(crate) fn insert(&mut self, index: usize, entries: &[(BlockId, &[u8])]) -> Result<()> {
        invariant!(index <= self.ids.len(), "blocks are inserted into the run or at its end");
        if index == self.ids.len() {
            self.blocks.reserve(entries.iter().map(|(_, record)| record.len()).sum());
            self.ids.reserve(entries.len());
            self.ends.reserve(entries.len());
            for (id, record) in entries {
                self.push(*id, record);
            }
            return Ok(());
        }
        let start = self.start(index);
        let mut end = start;
        let ends: Vec<usize> = entries
            .iter()
            .map(|(_, record)| {
                end += record.len();
                end
            })
            .collect();
        // Ends after the insertion move by what is inserted, then the new ends take their place.
        let added = end - start;
        self.ends.iter_mut().skip(index).for_each(|end| *end += added);
        self.ends.splice(index..index, ends);
        self.ids.splice(index..index, entries.iter().map(|(id, _)| *id));
        let records: Vec<u8> = entries.iter().flat_map(|(_, record)| *record).copied().collect();
        self.blocks.splice(start..start, records);
        Ok(())
    }

    /// Replaces the record at `index`.
    pub(crate) fn replace(&mut self, index: usize, record: &[u8]) -> Result<()> {
        invariant!(index < self.ids.len(), "the replaced block is in the run");
        let (start, end) = (self.start(index), self.start(index + 1));
        self.blocks.splice(start..end, record.iter().copied());
        for later in self.ends.iter_mut().skip(index) {
            *later = *later - (end - start) + record.len();
        }
        Ok(())
    }

    /// Removes `count` blocks from `index` on.
    pub(crate) fn remove(&mut self, index: usize, count: usize) -> Result<()> {
        let after = index + count;
        invariant!(after <= self.ids.len(), "the removed blocks are in the run");
        let (start, end) = (self.start(index), self.start(after));
        debug_assert!(start <= end, "ends ascend");
        self.ids.drain(index..after);
        self.ends.drain(index..after);
        self.blocks.drain(start..end);
        self.ends.iter_mut().skip(index).for_each(|later| *later -= end - start);
        Ok(())
    }

    /// Splits off the blocks from `index` on, which is at most their number.
    fn split_off(&mut self, index: usize) -> Self {
        debug_assert!(index <= self.ids.len(), "a split is within the run");
        let start = self.start(index);
        let ends = self.ends.split_off(index).into_iter().map(|end| end - start).collect();
        Self { ids: self.ids.split_off(index), ends, blocks: self.blocks.split_off(start) }
    }

    /// Appends the blocks of `other`.
    pub(crate) fn append(&mut self, other: &Self) {
        let start = self.blocks.len();
        self.blocks.extend_from_slice(&other.blocks);
        self.ids.extend_from_slice(&other.ids);
        self.ends.extend(other.ends.iter().map(|end| end + start));
    }

    /// How many of the first blocks fit into a run of `max_bytes`; at least one.
    fn fitting(&self, max_bytes: usize) -> usize {
        let fits = |(index, end): &(usize, &usize)| {
            FRAME_BYTES + COUNT_BYTES + ENTRY_BYTES * (index + 1) + **end <= max_bytes
        };
        self.ends.iter().enumerate().take_while(fits).count().max(1)
    }

    /// Splits an overfull run. Returns the runs to its right: of two, both are about half full; of
    /// more, all but the last are full.
    pub(crate) fn split(&mut self) -> Result<Vec<Self>> {
        let blocks = self.ids.len();
        let mut pieces = Vec::new();
        let mut rest = std::mem::take(self);
        // Terminates: each step takes at least one block off.
        while rest.is_overfull() {
            let fitting = rest.fitting(MAX_BYTES);
            let after = rest.split_off(fitting);
            pieces.push(std::mem::replace(&mut rest, after));
        }
        pieces.push(rest);
        if let [first, second] = pieces.as_mut_slice() {
            even_out(first, second);
        }
        invariant!(
            pieces.iter().map(|piece| piece.ids.len()).sum::<usize>() == blocks,
            "a split keeps all blocks"
        );
        *self = pieces.remove(0);
        Ok(pieces)
    }

    /// Replaces `value` by the value under `key`.
    pub(crate) fn seal_into(&self, key: &[u8], value: &mut Vec<u8>) -> Result<()> {
        value.clear();
        self.append_sealed(key, value)
    }

    /// Appends the value under `key`.
    pub(crate) fn append_sealed(&self, key: &[u8], value: &mut Vec<u8>) -> Result<()> {
        let Ok(count) = u16::try_from(self.ids.len()) else {
            invariant!("a run has fewer than 65,536 blocks")
        };
        let all_but_last = self.ends.split_last().map_or(&[][..], |(_, ends)| ends);
        invariant!(
            all_but_last.last().is_none_or(|end| u16::try_from(*end).is_ok()),
            "only the last record of a run ends beyond 64 KiB"
        );
        records::append(key, value, |out| {
            // One allocation: the size is known.
            out.reserve(self.bytes());
            out.extend_from_slice(&count.to_be_bytes());
            for id in &self.ids {
                out.extend_from_slice(id.as_bytes());
            }
            for end in all_but_last {
                // Checked above: the last of these ends is the greatest.
                let [.., high, low] = end.to_be_bytes();
                out.extend_from_slice(&[high, low]);
            }
            out.extend_from_slice(&self.blocks);
        });
        Ok(())
    }
}

/// Moves blocks from the end of `first` to `second` until both are about equal.
fn even_out(first: &mut RunBuffer, second: &mut RunBuffer) {
    let half = usize::midpoint(first.bytes(), second.bytes());
    let mut moved = first.split_off(first.fitting(half));
    moved.append(second);
    if moved.is_overfull() {
        // A large block does not fit with others, so both stay unchanged.
        let kept = moved.ids.len() - second.ids.len();
        moved.split_off(kept);
        first.append(&moved);
    } else {
        *second = moved;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u8) -> BlockId {
        BlockId::from_bytes([number; 16])
    }

    fn run(records: &[(u8, usize)]) -> RunBuffer {
        let mut run = RunBuffer::default();
        for (number, size) in records {
            run.push(id(*number), &vec![*number; *size]);
        }
        run
    }

    fn contents(run: &RunBuffer) -> Vec<(u8, usize)> {
        let sizes = run.ids.iter().enumerate().map(|(index, id)| {
            let record = run.block(index);
            assert!(record.iter().all(|byte| *byte == id.as_bytes()[0]));
            (id.as_bytes()[0], record.len())
        });
        sizes.collect()
    }

    fn sealed(run: &RunBuffer) -> Vec<u8> {
        let mut value = Vec::new();
        run.seal_into(b"key", &mut value).unwrap();
        assert_eq!(value.len() + 2, run.bytes(), "the last end is left out");
        value
    }

    #[test]
    fn runs_round_trip() {
        for records in
            [&[(1, 5)][..], &[(1, 0), (2, 0)], &[(1, 90_000)], &[(1, 5), (2, 0), (3, 700)]]
        {
            let run = run(records);
            let value = sealed(&run);
            assert_eq!(RunBuffer::read(b"key", &value).unwrap(), run);
            let view = RunView::read(b"key", &value).unwrap();
            assert_eq!(
                view.entries()
                    .map(|(id, block)| (id.as_bytes()[0], block.len()))
                    .collect::<Vec<_>>(),
                records
            );
            assert_eq!(view.position(id(9)), None);
            assert_eq!(view.block(records.len() - 1).len(), records.last().unwrap().1);
        }
    }

    #[test]
    fn splices_leave_other_blocks_unchanged() {
        let mut run = run(&[(1, 3), (2, 4), (3, 5)]);
        run.insert(1, &[(id(7), &[7; 2]), (id(8), &[8; 1])]).unwrap();
        assert_eq!(contents(&run), [(1, 3), (7, 2), (8, 1), (2, 4), (3, 5)]);
        run.replace(3, &[2; 9]).unwrap();
        run.remove(0, 1).unwrap();
        run.insert(4, &[(id(9), &[9; 6])]).unwrap();
        assert_eq!(contents(&run), [(7, 2), (8, 1), (2, 9), (3, 5), (9, 6)]);
        let tail = run.split_off(2);
        assert_eq!(
            (contents(&run), contents(&tail)),
            (vec![(7, 2), (8, 1)], vec![(2, 9), (3, 5), (9, 6)])
        );
        run.append(&tail);
        assert_eq!(contents(&run), [(7, 2), (8, 1), (2, 9), (3, 5), (9, 6)]);
        run.remove(1, 3).unwrap();
        assert_eq!(contents(&run), [(7, 2), (9, 6)]);
        run.remove(1, 1).unwrap();
        assert_eq!(contents(&run), [(7, 2)]);
        run.remove(0, 1).unwrap();
        assert_eq!(run, RunBuffer::default());
    }

    #[test]
    #[should_panic(expected = "the removed blocks are in the run")]
    fn removing_beyond_the_end_breaks_an_invariant() {
        let _ = run(&[(1, 3)]).remove(0, 2);
    }

    #[test]
    fn splits_keep_the_order_and_fit() {
        let cases: &[&[(u8, usize)]] = &[
            &[(1, 2_000), (2, 2_000), (3, 2_000)],
            &[(1, 10), (2, 9_000), (3, 10)],
            &[(1, 9_000), (2, 9_000)],
            &[(1, 9_000), (2, 10), (3, 10)],
            &[(1, 3_900), (2, 100), (3, 3_900), (4, 100), (5, 3_900)],
        ];
        for records in cases {
            let mut first = run(records);
            let mut all = vec![];
            let pieces = first.split().unwrap();
            for piece in std::iter::once(&first).chain(&pieces) {
                assert!(!piece.is_empty() && !piece.is_overfull(), "{:?}", contents(piece));
                all.extend(contents(piece));
            }
            assert_eq!(all, *records);
        }
    }

    #[test]
    fn two_pieces_are_about_equal() {
        let mut first = run(&(0..60).map(|number| (number, 60)).collect::<Vec<_>>());
        let pieces = first.split().unwrap();
        assert_eq!(pieces.len(), 1);
        assert!(first.bytes().abs_diff(pieces[0].bytes()) < 200);
    }

    #[test]
    fn a_run_under_another_key_is_corrupt() {
        let value = sealed(&run(&[(1, 5)]));
        assert!(RunView::read(b"kez", &value).is_err());
    }
}
