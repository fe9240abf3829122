//! The file of a segment's trigrams: the lists one behind the other, how each is kept before it,
//! then the numbers of the trigrams in order, then where each list ends, then how many there are.

use std::io::{Error, ErrorKind, Write};

use tantivy::directory::{OwnedBytes, TerminatingWrite, WritePtr};
use tantivy::index::SegmentComponent;
use tantivy::{DocId, Segment, SegmentReader};

use super::list::{Documents, Posting, postings};
use crate::grams::Gram;

/// The file's name ends so.
pub(super) const EXTENSION: &str = "grams";

/// The bytes of a trigram's number, those of where a list ends, and those of how many there are.
const GRAM: usize = 4;
const END: usize = 5;
const COUNT: usize = 4;

/// The file of a segment.
pub(crate) fn component() -> SegmentComponent {
    SegmentComponent::Custom(EXTENSION.to_owned())
}

/// A file that is being written.
pub(super) struct Writing {
    file: WritePtr,
    documents: DocId,
    /// The list that is being written.
    kept: Vec<u8>,
    grams: Vec<u8>,
    ends: Vec<u8>,
    written: u64,
}

impl Writing {
    /// That of a segment of so many documents.
    pub(super) fn begin(segment: &Segment, documents: DocId) -> tantivy::Result<Self> {
        let file = segment.open_write(component())?;
        let (kept, grams, ends) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { file, documents, kept, grams, ends, written: 0 })
    }

    /// Adds a list, whose trigram comes after the others.
    pub(super) fn put(&mut self, gram: Gram, list: Documents<'_>) -> tantivy::Result<()> {
        let how = list.keep(self.documents, &mut self.kept);
        self.file.write_all(&[how])?;
        self.file.write_all(&self.kept)?;
        self.written += 1 + self.kept.len() as u64;
        self.grams.extend(gram.to_le_bytes());
        self.ends.extend(self.written.to_le_bytes().iter().take(END));
        Ok(())
    }

    pub(super) fn finish(mut self) -> tantivy::Result<()> {
        let count = u32::try_from(self.grams.len() / GRAM).unwrap_or(u32::MAX);
        self.file.write_all(&self.grams)?;
        self.file.write_all(&self.ends)?;
        self.file.write_all(&count.to_le_bytes())?;
        Ok(self.file.terminate()?)
    }
}

/// The trigrams of a segment.
pub(crate) struct Table {
    lists: OwnedBytes,
    grams: OwnedBytes,
    ends: OwnedBytes,
    documents: DocId,
}

impl Table {
    pub(crate) fn open(segment: &SegmentReader) -> tantivy::Result<Self> {
        let bytes = segment.open_read(component())?.read_bytes()?;
        let damaged =
            || Error::new(ErrorKind::InvalidData, "the trigrams of a segment are damaged");
        let read = || {
            let counted = bytes.len().checked_sub(COUNT)?;
            let count = u32::from_le_bytes(*bytes.as_slice().last_chunk()?) as usize;
            let ends = counted.checked_sub(count.checked_mul(END)?)?;
            let grams = ends.checked_sub(count.checked_mul(GRAM)?)?;
            Some((bytes.slice(0..grams), bytes.slice(grams..ends), bytes.slice(ends..counted)))
        };
        let (lists, grams, ends) = read().ok_or_else(damaged)?;
        Ok(Self { lists, grams, ends, documents: segment.max_doc() })
    }

    /// All trigrams, in order.
    pub(super) fn grams(&self) -> impl Iterator<Item = Gram> {
        self.grams.as_chunks().0.iter().map(|bytes| Gram::from_le_bytes(*bytes))
    }

    /// The documents that have a trigram, in order, deleted ones included.
    pub(crate) fn postings(&self, gram: Gram) -> Vec<Posting> {
        let grams = self.grams.as_chunks::<GRAM>().0;
        let Ok(number) = grams.binary_search_by_key(&gram, |bytes| Gram::from_le_bytes(*bytes))
        else {
            return Vec::new();
        };
        let start = number.checked_sub(1).map_or(0, |before| self.end(before));
        let kept = self.lists.get(start..self.end(number)).and_then(<[u8]>::split_first);
        kept.map(|(how, kept)| postings(*how, kept, self.documents)).unwrap_or_default()
    }

    /// Where the list of a trigram ends.
    fn end(&self, number: usize) -> usize {
        let mut end = [0; size_of::<u64>()];
        let kept = self.ends.as_chunks::<END>().0.get(number).copied().unwrap_or_default();
        end.iter_mut().zip(kept).for_each(|(byte, kept)| *byte = kept);
        usize::try_from(u64::from_le_bytes(end)).unwrap_or(usize::MAX)
    }
}
