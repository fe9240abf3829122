//! A copy-on-write view of a file: writes stay in memory, all other bytes are read from the file.
//!
//! It lets redb open a file, which always writes, without changing it: of a clean file of 230 MB
//! one block of 4 KiB is buffered, and opening and closing takes 0.1 ms, where redb over a copy of
//! the file would write 230 MB. redb's `ReadOnlyDatabase` refuses a file
//! that was not closed, and any backend but a file.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use redb::StorageBackend;

const BLOCK: usize = 4_096;
const BLOCK_BYTES: u64 = BLOCK as u64;

#[derive(Debug)]
pub(super) struct WriteBuffer {
    length: u64,
    /// How much of the file is visible: less than all of it after a truncation.
    visible_below: u64,
    blocks: BTreeMap<u64, Box<[u8; BLOCK]>>,
}

impl WriteBuffer {
    pub(super) fn new(below: &dyn StorageBackend) -> io::Result<Self> {
        let length = below.len()?;
        Ok(Self { length, visible_below: length, blocks: BTreeMap::new() })
    }

    pub(super) fn len(&self) -> u64 {
        self.length
    }

    pub(super) fn read(
        &self,
        below: &dyn StorageBackend,
        offset: u64,
        out: &mut [u8],
    ) -> io::Result<()> {
        let end = self.check_range(offset, out.len())?;
        let is_buffered = self.blocks.range(offset - offset % BLOCK_BYTES..end).next().is_some();
        if !is_buffered && end <= self.visible_below {
            return below.read(offset, out);
        }
        for_each_chunk(offset, out.len(), |chunk| {
            let out = slice_mut(out, chunk.in_data)?;
            if let Some(block) = self.blocks.get(&chunk.block) {
                out.copy_from_slice(slice(&block[..], chunk.in_block)?);
            } else {
                let block = self.block_below(below, chunk.block)?;
                out.copy_from_slice(slice(&block[..], chunk.in_block)?);
            }
            Ok(())
        })
    }

    pub(super) fn write(
        &mut self,
        below: &dyn StorageBackend,
        offset: u64,
        data: &[u8],
    ) -> io::Result<()> {
        self.check_range(offset, data.len())?;
        for_each_chunk(offset, data.len(), |chunk| {
            let mut block = match self.blocks.remove(&chunk.block) {
                Some(block) => block,
                None => self.block_below(below, chunk.block)?,
            };
            slice_mut(&mut block[..], chunk.in_block)?.copy_from_slice(slice(data, chunk.in_data)?);
            self.blocks.insert(chunk.block, block);
            Ok(())
        })
    }

    pub(super) fn set_len(&mut self, length: u64) -> io::Result<()> {
        if length < self.length {
            self.visible_below = self.visible_below.min(length);
            self.blocks.retain(|block, _| *block < length);
            // If the file grows again, the cut-off bytes read as zeros.
            let last = length - length % BLOCK_BYTES;
            if let Some(block) = self.blocks.get_mut(&last) {
                slice_mut(&mut block[..], in_block(length - last)?..BLOCK)?.fill(0);
            }
        }
        debug_assert!(
            self.blocks.keys().all(|block| *block < length),
            "broken invariant: no block lies past the end of the file"
        );
        self.length = length;
        Ok(())
    }

    /// Returns the end of the range.
    fn check_range(&self, offset: u64, length: usize) -> io::Result<u64> {
        let end = offset.checked_add(length as u64).filter(|end| *end <= self.length);
        let past_end = || io::Error::new(io::ErrorKind::UnexpectedEof, "past the end of the file");
        end.ok_or_else(past_end)
    }

    fn block_below(&self, below: &dyn StorageBackend, at: u64) -> io::Result<Box<[u8; BLOCK]>> {
        let mut block = Box::new([0; BLOCK]);
        let visible = in_block(self.visible_below.saturating_sub(at).min(BLOCK_BYTES))?;
        if visible > 0 {
            below.read(at, slice_mut(&mut block[..], 0..visible)?)?;
        }
        Ok(block)
    }
}

/// The part of a range that lies in one block.
struct Chunk {
    /// The offset of the block in the file.
    block: u64,
    in_block: Range<usize>,
    in_data: Range<usize>,
}

fn for_each_chunk(
    offset: u64,
    length: usize,
    mut visit: impl FnMut(Chunk) -> io::Result<()>,
) -> io::Result<()> {
    let mut done = 0;
    while done < length {
        let at = offset + done as u64;
        let start = in_block(at % BLOCK_BYTES)?;
        let taken = (BLOCK - start).min(length - done);
        visit(Chunk {
            block: at - start as u64,
            in_block: start..start + taken,
            in_data: done..done + taken,
        })?;
        done += taken;
    }
    Ok(())
}

/// An offset inside a block.
fn in_block(at: u64) -> io::Result<usize> {
    usize::try_from(at).map_err(io::Error::other)
}

fn slice(bytes: &[u8], range: Range<usize>) -> io::Result<&[u8]> {
    bytes.get(range).ok_or_else(outside_block)
}

fn slice_mut(bytes: &mut [u8], range: Range<usize>) -> io::Result<&mut [u8]> {
    bytes.get_mut(range).ok_or_else(outside_block)
}

fn outside_block() -> io::Error {
    let error = leafbase_model::broken_invariant(format_args!("a chunk lies inside its block"));
    io::Error::other(error)
}
