//! Runs: consecutive children of one parent in one value, spliced without decoding the blocks
//! beside.
//!
//! The value is a count of 2 bytes, the IDs, the end of each block record but the last one (2
//! bytes, counted from the first record), and the records; framed like every record. A block that
//! is larger than a run is in one by itself, which is why the last end is left out: only it may be
//! beyond 2 bytes.

use leafbase_model::{BlockId, Result};

use crate::msgpack::DecodeError;
use crate::records::{self, FRAME_BYTES};

/// The most bytes of a run of several blocks: with its key it fills a page of 4 KiB, and no more.
pub(crate) const MAX_BYTES: usize = 4_030;
/// A run that falls below this is joined with a neighbour, if there is one with room.
pub(crate) const SMALL_BYTES: usize = MAX_BYTES / 4;
const COUNT_BYTES: usize = 2;
/// What a block costs besides its record.
pub(crate) const ENTRY_BYTES: usize = 16 + 2;

/// A run as it lies in the store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunView<'v> {
    ids: &'v [[u8; 16]],
    ends: &'v [[u8; 2]],
    blocks: &'v [u8],
}

impl<'v> RunView<'v> {
    pub(crate) fn read(key: &[u8], value: &'v [u8]) -> Result<Self> {
        let view = Self::split(records::body(key, value)?).filter(Self::ends_ascend);
        view.ok_or_else(|| records::fault(key, DecodeError::Corrupt))
    }

    /// Reads a value that was read before.
    pub(crate) fn read_again(value: &'v [u8]) -> Option<Self> {
        Self::split(records::body_again(value)?)
    }

    /// Reads a run without its frame.
    pub(crate) fn split(body: &'v [u8]) -> Option<Self> {
        let (count, rest) = body.split_first_chunk::<COUNT_BYTES>()?;
        let count = usize::from(u16::from_be_bytes(*count));
        let (ids, rest) = rest.split_at_checked(16 * count)?;
        let (ends, blocks) = rest.split_at_checked(2 * count.checked_sub(1)?)?;
        let (ids, []) = ids.as_chunks::<16>() else { return None };
        let (ends, []) = ends.as_chunks::<2>() else { return None };
        Some(Self { ids, ends, blocks })
    }

    fn ends_ascend(&self) -> bool {
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

    pub(crate) fn position(&self, block: BlockId) -> Option<usize> {
        self.ids.iter().position(|id| id == block.as_bytes())
    }

    /// Its position, if that is `index` or the next one.
    pub(crate) fn position_near(&self, block: BlockId, index: usize) -> Option<usize> {
        let is_at = |at: &usize| self.ids.get(*at) == Some(block.as_bytes());
        [index, index.saturating_add(1)].into_iter().find(is_at)
    }

    fn end(&self, index: usize) -> usize {
        self.ends.get(index).map_or(self.blocks.len(), |end| usize::from(u16::from_be_bytes(*end)))
    }

    /// The record at `index`.
    pub(crate) fn block(&self, index: usize) -> &'v [u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.end(before));
        self.blocks.get(start..self.end(index)).unwrap_or_default()
    }

    /// All records, one behind the other.
    pub(crate) const fn records(&self) -> &'v [u8] {
        self.blocks
    }

    /// Each ID with its record.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (BlockId, &'v [u8])> + use<'v> {
        let (mut start, view) = (0, *self);
        self.ids().enumerate().map(move |(index, id)| {
            let end = view.end(index);
            let bytes =
                view.blocks.get(std::mem::replace(&mut start, end)..end).unwrap_or_default();
            (id, bytes)
        })
    }
}

/// A run in the hands of a write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Run {
    ids: Vec<BlockId>,
    /// The end of each record.
    ends: Vec<usize>,
    blocks: Vec<u8>,
}

impl Run {
    pub(crate) fn read(key: &[u8], value: &[u8]) -> Result<Self> {
        RunView::read(key, value).map(Self::of)
    }

    pub(crate) fn of(view: RunView<'_>) -> Self {
        let ids: Vec<BlockId> = view.ids().collect();
        let ends = (0..ids.len()).map(|index| view.end(index)).collect();
        Self { ids, ends, blocks: view.blocks.to_vec() }
    }

    /// Its bytes in the store, or 2 more.
    pub(crate) fn bytes(&self) -> usize {
        FRAME_BYTES + COUNT_BYTES + ENTRY_BYTES * self.ids.len() + self.blocks.len()
    }

    /// How long its value is.
    pub(crate) fn value_bytes(&self) -> usize {
        // The last end is left out.
        self.bytes() - 2 * self.ids.len().min(1)
    }

    /// Whether it must be split: a block by itself may be of any size.
    pub(crate) fn is_over_full(&self) -> bool {
        self.ids.len() > 1 && self.bytes() > MAX_BYTES
    }

    pub(crate) fn ids(&self) -> &[BlockId] {
        &self.ids
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    pub(crate) fn position(&self, block: BlockId) -> Option<usize> {
        self.ids.iter().position(|id| *id == block)
    }

    fn start(&self, index: usize) -> usize {
        index.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or_default()
    }

    fn end(&self, index: usize) -> usize {
        self.ends.get(index).copied().unwrap_or(self.blocks.len())
    }

    /// The record at `index`.
    pub(crate) fn block(&self, index: usize) -> &[u8] {
        self.blocks.get(self.start(index)..self.end(index)).unwrap_or_default()
    }

    /// Each ID with its record.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (BlockId, &[u8])> {
        self.ids.iter().enumerate().map(|(index, id)| (*id, self.block(index)))
    }

    pub(crate) fn push(&mut self, id: BlockId, record: &[u8]) {
        self.blocks.extend_from_slice(record);
        self.ids.push(id);
        self.ends.push(self.blocks.len());
    }

    /// Puts `entries` before the block at `index`, or at the end.
    pub(crate) fn insert(&mut self, index: usize, entries: &[(BlockId, &[u8])]) {
        let index = index.min(self.ids.len());
        if index == self.ids.len() {
            self.blocks.reserve(entries.iter().map(|(_, record)| record.len()).sum());
            self.ids.reserve(entries.len());
            self.ends.reserve(entries.len());
            for (id, record) in entries {
                self.push(*id, record);
            }
            return;
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
        let added = end - start;
        self.ends.iter_mut().skip(index).for_each(|end| *end += added);
        self.ends.splice(index..index, ends);
        self.ids.splice(index..index, entries.iter().map(|(id, _)| *id));
        let records: Vec<u8> = entries.iter().flat_map(|(_, record)| *record).copied().collect();
        self.blocks.splice(start..start, records);
    }

    /// Puts another record at `index`.
    pub(crate) fn replace(&mut self, index: usize, record: &[u8]) {
        let (start, end) = (self.start(index), self.end(index));
        let end = end.max(start);
        self.blocks.splice(start..end, record.iter().copied());
        for later in self.ends.iter_mut().skip(index) {
            *later = *later - (end - start) + record.len();
        }
    }

    /// Takes out `count` blocks from `index` on.
    pub(crate) fn remove(&mut self, index: usize, count: usize) {
        let index = index.min(self.ids.len());
        let after = index.saturating_add(count).min(self.ids.len());
        let (start, end) = (self.start(index), self.start(after));
        let end = end.max(start);
        self.ids.drain(index..after);
        self.ends.drain(index..after);
        self.blocks.drain(start..end);
        self.ends.iter_mut().skip(index).for_each(|later| *later -= end - start);
    }

    /// Takes out the blocks from `index` on.
    pub(crate) fn split_off(&mut self, index: usize) -> Self {
        let index = index.min(self.ids.len());
        let start = self.start(index);
        let ends = self.ends.split_off(index).into_iter().map(|end| end - start).collect();
        Self { ids: self.ids.split_off(index), ends, blocks: self.blocks.split_off(start) }
    }

    /// Adds the blocks of `other` at the end.
    pub(crate) fn append(&mut self, other: &Self) {
        let start = self.blocks.len();
        self.blocks.extend_from_slice(&other.blocks);
        self.ids.extend_from_slice(&other.ids);
        self.ends.extend(other.ends.iter().map(|end| end + start));
    }

    /// How many of the first blocks go into a run of at most `most` bytes; at least one.
    fn fitting(&self, most: usize) -> usize {
        let fits = |index: usize| {
            FRAME_BYTES + COUNT_BYTES + ENTRY_BYTES * (index + 1) + self.end(index) <= most
        };
        (0..self.ids.len()).take_while(|index| fits(*index)).count().max(1)
    }

    /// Cuts an overfull run: what is left fits, and so does each of the runs that follow it. Two
    /// are cut at half, more are filled one after the other.
    pub(crate) fn cut(&mut self) -> Vec<Self> {
        let mut pieces = Vec::new();
        let mut rest = std::mem::take(self);
        while rest.is_over_full() {
            let fitting = rest.fitting(MAX_BYTES);
            let after = rest.split_off(fitting);
            pieces.push(std::mem::replace(&mut rest, after));
        }
        pieces.push(rest);
        if let [first, second] = pieces.as_mut_slice() {
            even_out(first, second);
        }
        let mut pieces = pieces.into_iter();
        *self = pieces.next().unwrap_or_default();
        pieces.collect()
    }

    /// The value under `key`, made in `value`.
    pub(crate) fn seal_into(&self, key: &[u8], value: &mut Vec<u8>) {
        value.clear();
        self.append_sealed(key, value);
    }

    /// Appends the value under `key`.
    pub(crate) fn append_sealed(&self, key: &[u8], value: &mut Vec<u8>) {
        records::append(key, value, |out| {
            out.reserve(self.bytes());
            out.extend_from_slice(&u16::try_from(self.ids.len()).unwrap_or(u16::MAX).to_be_bytes());
            for id in &self.ids {
                out.extend_from_slice(id.as_bytes());
            }
            // Runs of several blocks are never over 64 KiB.
            let but_last = self.ends.split_last().map_or(&[][..], |(_, ends)| ends);
            for end in but_last {
                out.extend_from_slice(&u16::try_from(*end).unwrap_or(u16::MAX).to_be_bytes());
            }
            out.extend_from_slice(&self.blocks);
        });
    }
}

/// Moves blocks from the end of `first` to `second` until it is the larger one, or full.
fn even_out(first: &mut Run, second: &mut Run) {
    let most = usize::midpoint(first.bytes(), second.bytes());
    let mut moved = first.split_off(first.fitting(most));
    moved.append(second);
    if moved.bytes() <= MAX_BYTES || moved.ids.len() == 1 {
        *second = moved;
    } else {
        // A large block does not share: all stays as it was.
        let kept = moved.ids.len() - second.ids.len();
        moved.split_off(kept);
        first.append(&moved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u8) -> BlockId {
        BlockId::from_bytes([number; 16])
    }

    fn run(records: &[(u8, usize)]) -> Run {
        let mut run = Run::default();
        for (number, size) in records {
            run.push(id(*number), &vec![*number; *size]);
        }
        run
    }

    fn contents(run: &Run) -> Vec<(u8, usize)> {
        let sizes = run.ids.iter().enumerate().map(|(index, id)| {
            let record = run.block(index);
            assert!(record.iter().all(|byte| *byte == id.as_bytes()[0]));
            (id.as_bytes()[0], record.len())
        });
        sizes.collect()
    }

    fn sealed(run: &Run) -> Vec<u8> {
        let mut value = Vec::new();
        run.seal_into(b"key", &mut value);
        assert_eq!(value.len() + 2, run.bytes(), "the last end is left out");
        value
    }

    #[test]
    fn a_run_reads_back() {
        for records in
            [&[(1, 5)][..], &[(1, 0), (2, 0)], &[(1, 90_000)], &[(1, 5), (2, 0), (3, 700)]]
        {
            let run = run(records);
            let value = sealed(&run);
            assert_eq!(Run::read(b"key", &value).unwrap(), run);
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
    fn splices_leave_the_others_as_they_are() {
        let mut run = run(&[(1, 3), (2, 4), (3, 5)]);
        run.insert(1, &[(id(7), &[7; 2]), (id(8), &[8; 1])]);
        assert_eq!(contents(&run), [(1, 3), (7, 2), (8, 1), (2, 4), (3, 5)]);
        run.replace(3, &[2; 9]);
        run.remove(0, 1);
        run.insert(4, &[(id(9), &[9; 6])]);
        assert_eq!(contents(&run), [(7, 2), (8, 1), (2, 9), (3, 5), (9, 6)]);
        let tail = run.split_off(2);
        assert_eq!(
            (contents(&run), contents(&tail)),
            (vec![(7, 2), (8, 1)], vec![(2, 9), (3, 5), (9, 6)])
        );
        run.append(&tail);
        assert_eq!(contents(&run), [(7, 2), (8, 1), (2, 9), (3, 5), (9, 6)]);
        run.remove(1, 3);
        assert_eq!(contents(&run), [(7, 2), (9, 6)]);
        run.remove(1, 9);
        run.remove(1, 1);
        assert_eq!(contents(&run), [(7, 2)]);
        run.remove(0, 1);
        assert_eq!(run, Run::default());
    }

    #[test]
    fn cuts_keep_the_order_and_fit() {
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
            let pieces = first.cut();
            for piece in std::iter::once(&first).chain(&pieces) {
                assert!(!piece.is_empty() && !piece.is_over_full(), "{:?}", contents(piece));
                all.extend(contents(piece));
            }
            assert_eq!(all, *records);
        }
    }

    #[test]
    fn two_pieces_are_about_equal() {
        let mut first = run(&(0..60).map(|number| (number, 60)).collect::<Vec<_>>());
        let pieces = first.cut();
        assert_eq!(pieces.len(), 1);
        assert!(first.bytes().abs_diff(pieces[0].bytes()) < 200);
    }

    #[test]
    fn a_run_under_another_key_is_damaged() {
        let value = sealed(&run(&[(1, 5)]));
        assert!(RunView::read(b"kez", &value).is_err());
    }
}
