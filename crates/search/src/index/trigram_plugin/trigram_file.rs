//! The file with the trigrams of a segment: the posting lists, the IDs of their trigrams in order
//! (4 bytes each), the offset at which each list ends (5 bytes each), and the number of lists
//! (4 bytes). Numbers are little-endian. tantivy appends a checksum to the file.

use std::io::{self, ErrorKind, Write};

use tantivy::directory::{OwnedBytes, TerminatingWrite, WritePtr};
use tantivy::index::SegmentComponent;
use tantivy::{DocId, Segment, SegmentReader, TantivyError};

use super::posting_list::{decode, encode};
use crate::trigrams::TrigramId;

/// The extension of the file's name.
pub(super) const EXTENSION: &str = "grams";

const ID_BYTES: usize = 4;
const END_BYTES: usize = 5;
const COUNT_BYTES: usize = 4;

/// The file as a component of a segment.
pub(crate) fn component() -> SegmentComponent {
    SegmentComponent::Custom(EXTENSION.to_owned())
}

/// Writes the file of a segment.
pub(super) struct TrigramFileWriter {
    file: WritePtr,
    max_doc: DocId,
    encoded: Vec<u8>,
    ids: Vec<u8>,
    ends: Vec<u8>,
    written: u64,
}

impl TrigramFileWriter {
    pub(super) fn create(segment: &Segment, max_doc: DocId) -> tantivy::Result<Self> {
        let file = segment.open_write(component())?;
        let [encoded, ids, ends] = [const { Vec::new() }; 3];
        Ok(Self { file, max_doc, encoded, ids, ends, written: 0 })
    }

    /// Writes a list. IDs have to increase from call to call.
    pub(super) fn write_list(&mut self, id: TrigramId, list: &[DocId]) -> tantivy::Result<()> {
        let last = self.ids.last_chunk().map(|bytes| TrigramId::from_le_bytes(*bytes));
        debug_assert!(last.is_none_or(|last| last < id), "lists are written in the order of IDs");
        encode(list, self.max_doc, &mut self.encoded);
        self.file.write_all(&self.encoded)?;
        self.written += self.encoded.len() as u64;
        self.ids.extend(id.to_le_bytes());
        self.ends.extend(self.written.to_le_bytes().iter().take(END_BYTES));
        Ok(())
    }

    pub(super) fn finish(mut self) -> tantivy::Result<()> {
        // There are at most as many lists as trigram IDs.
        let count = u32::try_from(self.ids.len() / ID_BYTES);
        let count = count.map_err(|error| TantivyError::InternalError(error.to_string()))?;
        self.file.write_all(&self.ids)?;
        self.file.write_all(&self.ends)?;
        self.file.write_all(&count.to_le_bytes())?;
        Ok(self.file.terminate()?)
    }
}

/// The trigrams of a segment, memory-mapped.
pub(crate) struct TrigramFile {
    lists: OwnedBytes,
    ids: OwnedBytes,
    ends: OwnedBytes,
    max_doc: DocId,
}

fn corrupt() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "the trigram file of a segment is corrupt")
}

impl TrigramFile {
    pub(crate) fn open(segment: &SegmentReader) -> tantivy::Result<Self> {
        let bytes = segment.open_read(component())?.read_bytes()?;
        let read = || {
            let ends_end = bytes.len().checked_sub(COUNT_BYTES)?;
            let count = u32::from_le_bytes(*bytes.as_slice().last_chunk()?) as usize;
            let ids_end = ends_end.checked_sub(count.checked_mul(END_BYTES)?)?;
            let lists_end = ids_end.checked_sub(count.checked_mul(ID_BYTES)?)?;
            let (lists, ids) = (bytes.slice(0..lists_end), bytes.slice(lists_end..ids_end));
            Some((lists, ids, bytes.slice(ids_end..ends_end)))
        };
        let (lists, ids, ends) = read().ok_or_else(corrupt)?;
        Ok(Self { lists, ids, ends, max_doc: segment.max_doc() })
    }

    /// All trigrams, in order.
    pub(super) fn ids(&self) -> impl Iterator<Item = TrigramId> {
        self.ids.as_chunks().0.iter().map(|bytes| TrigramId::from_le_bytes(*bytes))
    }

    /// The documents that have a trigram, sorted, deleted ones included.
    ///
    /// # Errors
    /// If the list is corrupt.
    pub(crate) fn postings(&self, id: TrigramId) -> tantivy::Result<Vec<DocId>> {
        let ids = self.ids.as_chunks::<ID_BYTES>().0;
        let found = ids.binary_search_by_key(&id, |bytes| TrigramId::from_le_bytes(*bytes));
        let Ok(number) = found else { return Ok(Vec::new()) };
        let start = match number.checked_sub(1) {
            Some(before) => self.end(before)?,
            None => 0,
        };
        let list = self.lists.get(start..self.end(number)?).ok_or_else(corrupt)?;
        Ok(decode(list, self.max_doc)?)
    }

    /// The offset at which a list ends.
    fn end(&self, number: usize) -> io::Result<usize> {
        let stored = self.ends.as_chunks::<END_BYTES>().0.get(number).ok_or_else(corrupt)?;
        let mut end = [0; size_of::<u64>()];
        end.iter_mut().zip(stored).for_each(|(byte, stored)| *byte = *stored);
        usize::try_from(u64::from_le_bytes(end)).map_err(|_| corrupt())
    }
}
