//! The bytes of an upload on their way in: read piece by piece, stored chunk by chunk, and
//! forgotten unless they become a file.

use std::io::{self, Read};

use leafbase_model::{AssetId, AssetRecord, AssetUrl, BlockData, Error, ErrorKind, Result, Stamp};
use leafbase_store::kv::{Durability, WriteOptions};
use leafbase_store::{CHUNK_BYTES, SpaceStore};

use super::{media, names};
use crate::core::space::Space;
use crate::core::visibility::Visibility;

/// Chunks of one transaction: with the copies on their way, an upload takes some MiB.
const CHUNKS: usize = 16;
/// Nothing has to last before the last write, which is as durable as the connection says.
const RELAXED: Durability = Durability::Relaxed;

/// A file whose bytes are stored, and that is none of the space yet. Unless it is kept its bytes go
/// with it: so they do however it ends, by an error or by a panic of the reader.
pub(crate) struct Upload {
    space: Space,
    /// Held for the end alone, so that the bytes go even if the space is closed meanwhile.
    store: SpaceStore,
    /// Which words errors of the store may have.
    seen: Visibility,
    id: AssetId,
    media_type: String,
    file_name: String,
    size: u64,
    chunks: u32,
    is_kept: bool,
}

impl Upload {
    /// Stores the bytes of a file that is declared to be of this media type, in lower case and
    /// without parameters, and said to have this name. Never from within a write: the bytes have
    /// writes of their own.
    pub(crate) fn read(
        (space, seen): (&Space, Visibility),
        declared: Option<&str>,
        name: Option<&str>,
        reader: impl Read,
    ) -> Result<Self> {
        let mut upload = Self::begin(space, seen)?;
        upload.take(reader, declared)?;
        let plain = name.and_then(names::plain);
        upload.file_name = plain.unwrap_or_else(|| media::name_for(&upload.media_type));
        Ok(upload)
    }

    /// As [`Self::read`], with the record of the file that it becomes by this stamp.
    pub(crate) fn of(
        space: &Space,
        stamp: &Stamp,
        name: &str,
        reader: impl Read,
    ) -> Result<(Self, AssetRecord)> {
        let upload = Self::read((space, Visibility::All), None, Some(name), reader)?;
        let record = upload.record(stamp);
        Ok((upload, record))
    }

    fn begin(space: &Space, seen: Visibility) -> Result<Self> {
        let store = space.store()?;
        space.orphaned_uploads().drop_from(&store);
        let id = AssetId::from_bytes(space.ids().new_id(space.now()));
        store
            .begin_upload(WriteOptions::durability(RELAXED), id)
            .map_err(|error| seen.redact_error(error))?;
        let (media_type, file_name) = (String::new(), String::new());
        Ok(Self {
            space: space.clone(),
            store,
            seen,
            id,
            media_type,
            file_name,
            size: 0,
            chunks: 0,
            is_kept: false,
        })
    }

    /// Stores all that `reader` gives, and looks at the first chunk.
    fn take(&mut self, mut reader: impl Read, declared: Option<&str>) -> Result<()> {
        let most = self.space.limits().upload;
        let mut buffer = Vec::new();
        loop {
            // One more byte tells that there are too many.
            let beyond = most.saturating_sub(self.size).saturating_add(1);
            let longest = usize::try_from(beyond).unwrap_or(usize::MAX).min(CHUNKS * CHUNK_BYTES);
            fill(&mut reader, &mut buffer, longest).map_err(unreadable)?;
            if self.size == 0 {
                let head = buffer.get(..CHUNK_BYTES).unwrap_or(&buffer);
                self.media_type = media::media_type(declared, head, head.len() == buffer.len());
            }
            self.size = self.size.saturating_add(buffer.len() as u64);
            if self.size > most {
                return Err(Error::limit("bytes of a file", most, "more"));
            }
            self.store(&buffer)?;
            if buffer.len() < longest {
                return Ok(());
            }
        }
    }

    fn store(&mut self, bytes: &[u8]) -> Result<()> {
        let chunks: Vec<&[u8]> = bytes.chunks(CHUNK_BYTES).collect();
        if chunks.is_empty() {
            return Ok(());
        }
        let stored = self.space.store()?.put_chunks(
            WriteOptions::durability(RELAXED),
            self.id,
            self.chunks,
            &chunks,
        );
        stored.map_err(|error| self.seen.redact_error(error))?;
        self.chunks = self.chunks.saturating_add(u32::try_from(chunks.len()).unwrap_or(u32::MAX));
        Ok(())
    }

    /// The file that it becomes, made by this stamp.
    pub(crate) fn record(&self, created: &Stamp) -> AssetRecord {
        let (media_type, file_name, created) =
            (self.media_type.clone(), self.file_name.clone(), created.clone());
        AssetRecord { id: self.id, media_type, file_name, size: self.size, created }
    }

    /// The block that shows it.
    pub(crate) fn block(&self) -> BlockData {
        media::block(&self.media_type, &self.url())
    }

    pub(crate) fn url(&self) -> AssetUrl {
        AssetUrl::new(self.id, &*self.file_name)
    }

    /// It is a file of the space now.
    pub(crate) fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        if let Err(error) = self.store.drop_upload(WriteOptions::durability(RELAXED), self.id) {
            let error = self.seen.redact_error(error);
            tracing::warn!(%error, "the bytes of an upload that failed stay until the next upload or flush");
            self.space.orphaned_uploads().add(self.id);
        }
    }
}

fn unreadable(error: io::Error) -> Error {
    Error::new(ErrorKind::Storage, "the bytes of the file could not be read").with_source(error)
}

/// Fills `buffer` with the next `longest` bytes of `reader`: fewer only where they end.
fn fill(reader: &mut impl Read, buffer: &mut Vec<u8>, longest: usize) -> io::Result<()> {
    let mut filled = 0;
    while filled < longest {
        // A small file takes little memory.
        if filled == buffer.len() {
            buffer.resize(longest.min(filled + CHUNK_BYTES), 0);
        }
        let end = longest.min(buffer.len());
        let room = buffer.get_mut(filled..end).unwrap_or_default();
        let most = room.len();
        match reader.read(room) {
            Ok(0) => break,
            Ok(read) if read <= most => filled += read,
            Ok(_) => {
                return Err(io::Error::other("the reader claims more bytes than it was asked for"));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    buffer.truncate(filled);
    Ok(())
}
