//! The bytes of a file on their way out: any part of them, a chunk at a time.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};

use leafbase_model::{AssetRecord, Error, ErrorKind, Result};
use leafbase_store::CHUNK_BYTES;

use crate::core::space::Space;
use crate::core::visibility::Visibility;

/// The bytes of an uploaded file: [`Read`], and [`Seek`] for a part of them. It keeps one chunk of
/// 64 KiB in memory, and holds back nothing of the space: each chunk is read as the space is then.
///
/// If the file goes meanwhile, or a scoped connection sees no block any more that shows it, the
/// next chunk is an error of kind [`io::ErrorKind::NotFound`]. What is damaged is one of kind
/// [`io::ErrorKind::InvalidData`]. The errors hold the [`Error`] of the space.
///
/// ```
/// use leafbase::UploadFile;
/// use std::io::{Read, Seek, SeekFrom};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let notes = leafbase::Space::in_memory()?.connect();
/// let trip = notes.create_document("Trip")?;
/// let uploaded = notes.upload_file(UploadFile::new(trip.id()).named("budget.csv"), &b"what,how much\ntram,3.10\n"[..])?;
///
/// let mut file = notes.open_file(uploaded.asset_url.id())?;
/// file.seek(SeekFrom::Start(14))?; // what an HTTP range asks for
/// let mut rest = String::new();
/// file.read_to_string(&mut rest)?;
/// assert_eq!((file.len(), rest.as_str()), (24, "tram,3.10\n"));
/// # Ok(())
/// # }
/// ```
pub struct FileReader {
    space: Space,
    record: AssetRecord,
    /// Whether it may still be read; none if it may for as long as it is there.
    guard: Option<Guard>,
    position: u64,
    /// The chunk read last.
    chunk: Option<(u32, Vec<u8>)>,
}

/// What is seen by now; fails where the file is not seen any more.
pub(super) type Guard = Box<dyn Fn() -> Result<Visibility> + Send + Sync>;

impl FileReader {
    pub(super) fn new(space: Space, record: AssetRecord, guard: Option<Guard>) -> Self {
        Self { space, record, guard, position: 0, chunk: None }
    }

    /// What is known of the file.
    pub fn record(&self) -> &AssetRecord {
        &self.record
    }

    /// Its bytes, wherever the reader stands.
    pub fn len(&self) -> u64 {
        self.record.size
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.record.size == 0
    }

    /// The chunk of this number, as it is kept or read anew.
    fn chunk(&mut self, number: u32) -> Result<&[u8]> {
        if self.chunk.as_ref().is_none_or(|(kept, _)| *kept != number) {
            let chunk = self.read_chunk(number)?;
            self.chunk = Some((number, chunk));
        }
        Ok(self.chunk.as_ref().map(|(_, bytes)| bytes.as_slice()).unwrap_or_default())
    }

    fn read_chunk(&self, number: u32) -> Result<Vec<u8>> {
        let Some(guard) = &self.guard else { return self.stored_chunk(number) };
        let seen = guard().map_err(|error| {
            if error.kind() == ErrorKind::NotFound { self.gone() } else { error }
        })?;
        self.stored_chunk(number).map_err(|error| seen.redact_error(error))
    }

    fn stored_chunk(&self, number: u32) -> Result<Vec<u8>> {
        let snapshot = self.space.store()?.snapshot()?;
        let id = self.record.id;
        let before = u64::from(number) * CHUNK_BYTES as u64;
        let expected = (self.record.size.saturating_sub(before)).min(CHUNK_BYTES as u64);
        match snapshot.reader().chunk(id, number)? {
            Some(chunk) if chunk.len() as u64 == expected => Ok(chunk),
            None if snapshot.reader().asset(id)?.is_none() => Err(self.gone()),
            _ => Err(Error::corrupted(format_args!(
                "file {id}: its chunk {number} is not there as it was stored"
            ))),
        }
    }

    fn gone(&self) -> Error {
        let id = self.record.id;
        Error::new(ErrorKind::NotFound, format!("file {id} is gone: no block shows it any more"))
    }
}

impl Read for FileReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() || self.position >= self.record.size {
            return Ok(0);
        }
        let (number, within) =
            (self.position / CHUNK_BYTES as u64, self.position % CHUNK_BYTES as u64);
        let chunk = self.chunk(u32::try_from(number).unwrap_or(u32::MAX)).map_err(into_io)?;
        let rest =
            usize::try_from(within).ok().and_then(|within| chunk.get(within..)).unwrap_or_default();
        let count = rest.len().min(out.len());
        if let (Some(out), Some(rest)) = (out.get_mut(..count), rest.get(..count)) {
            out.copy_from_slice(rest);
        }
        self.position += count as u64;
        Ok(count)
    }
}

impl Seek for FileReader {
    /// As in a file of the system: beyond the end there is nothing to read, before the beginning is
    /// an error.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let sought = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => self.record.size.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        let before = || {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                "sought to before the beginning of the file, or too far",
            )
        };
        self.position = sought.ok_or_else(before)?;
        Ok(self.position)
    }
}

impl fmt::Debug for FileReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { record, position, .. } = self;
        f.debug_struct("FileReader")
            .field("record", record)
            .field("position", position)
            .finish_non_exhaustive()
    }
}

fn into_io(error: Error) -> io::Error {
    let kind = match error.kind() {
        ErrorKind::NotFound => io::ErrorKind::NotFound,
        ErrorKind::Corrupted => io::ErrorKind::InvalidData,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, error)
}
