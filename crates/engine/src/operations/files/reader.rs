//! Readers of uploaded files, with seeking, one chunk at a time.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};

use leafbase_model::{AssetRecord, Error, ErrorKind, Result, invariant};
use leafbase_store::CHUNK_BYTES;

use crate::core::space::Space;
use crate::core::visibility::Visibility;

/// A reader of an uploaded file, with [`Read`] and [`Seek`]. It buffers one chunk of 64 KiB and
/// holds no snapshot: each chunk is read from the current state of the space.
///
/// If the file is deleted, or no visible block shows it any more, the next chunk is an error of
/// kind [`io::ErrorKind::NotFound`]. Damage is an error of kind [`io::ErrorKind::InvalidData`].
/// Errors wrap the [`Error`] of the space.
///
/// ```
/// use leafbase::UploadFile;
/// use std::io::{Read, Seek, SeekFrom};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let notes = leafbase::Space::in_memory()?.connect();
/// let trip = notes.create_document("Trip")?;
/// let request = UploadFile::new(trip.id()).named("budget.csv");
/// let uploaded = notes.upload_file(request, &b"what,how much\ntram,3.10\n"[..])?;
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
    /// Checks before each chunk that the file is still visible. `None` on the full space.
    check: Option<VisibilityCheck>,
    position: u64,
    /// The buffered chunk.
    chunk: Option<(u32, Vec<u8>)>,
}

/// Returns the current visibility; fails if the file is not visible.
pub(super) type VisibilityCheck = Box<dyn Fn() -> Result<Visibility> + Send + Sync>;

impl FileReader {
    pub(super) fn new(space: Space, record: AssetRecord, check: Option<VisibilityCheck>) -> Self {
        Self { space, record, check, position: 0, chunk: None }
    }

    /// The record of the file.
    pub fn record(&self) -> &AssetRecord {
        &self.record
    }

    /// The size of the file in bytes, independent of the position.
    pub fn len(&self) -> u64 {
        self.record.size
    }

    /// Whether the file is empty.
    pub fn is_empty(&self) -> bool {
        self.record.size == 0
    }

    /// The chunk with this number, buffered.
    fn chunk(&mut self, number: u32) -> Result<&[u8]> {
        if self.chunk.as_ref().is_none_or(|(kept, _)| *kept != number) {
            let chunk = self.read_chunk(number)?;
            self.chunk = Some((number, chunk));
        }
        let Some((_, bytes)) = &self.chunk else {
            invariant!("chunk {number} of file {} was read", self.record.id)
        };
        Ok(bytes)
    }

    fn read_chunk(&self, number: u32) -> Result<Vec<u8>> {
        let Some(check) = &self.check else { return self.stored_chunk(number) };
        let seen = check().map_err(|error| {
            if error.kind() == ErrorKind::NotFound { self.gone() } else { error }
        })?;
        self.stored_chunk(number).map_err(|error| seen.redact_error(error))
    }

    fn stored_chunk(&self, number: u32) -> Result<Vec<u8>> {
        let snapshot = self.space.store()?.snapshot()?;
        let id = self.record.id;
        let before = u64::from(number) * CHUNK_BYTES as u64;
        // The last chunk is shorter; any other length is damage.
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
            usize::try_from(within).ok().and_then(|within| chunk.get(within..)).unwrap_or(&[]);
        debug_assert!(!rest.is_empty(), "a position before the end is inside of its chunk");
        let count = rest.len().min(out.len());
        if let (Some(out), Some(rest)) = (out.get_mut(..count), rest.get(..count)) {
            out.copy_from_slice(rest);
        }
        self.position += count as u64;
        Ok(count)
    }
}

impl Seek for FileReader {
    /// As for a file of the operating system: after the end there are no bytes; a position before
    /// the start is an error.
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
