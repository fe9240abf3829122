//! Uploads: bytes are read and stored chunk by chunk, and deleted unless they become a file.

use std::io::{self, Read};

use leafbase_model::{AssetId, AssetRecord, AssetUrl, BlockData, Error, ErrorKind, Result, Stamp};
use leafbase_store::kv::{Durability, WriteOptions};
use leafbase_store::{CHUNK_BYTES, FileHasher, SpaceStore};

use super::{media, names};
use crate::core::space::Space;
use crate::core::visibility::Visibility;

/// Chunks per transaction. With the copies in flight, an upload takes some MiB.
const CHUNKS: usize = 16;

/// Stored bytes that are not a file yet (an orphan unless kept). Dropping an upload deletes them,
/// after an error or a panic of the reader as well.
pub(crate) struct Upload {
    space: Space,
    /// Held so that the bytes can be deleted even if the space has been closed.
    store: SpaceStore,
    /// Chunks are relaxed: the last write, which creates the file, is as durable as the connection.
    options: WriteOptions,
    /// Redacts errors of the store.
    seen: Visibility,
    id: AssetId,
    media_type: String,
    file_name: String,
    size: u64,
    /// The largest size allowed.
    most: u64,
    hasher: FileHasher,
    chunks: u32,
    is_kept: bool,
}

impl Upload {
    /// Stores the bytes of a file with this declared media type (lowercased, without parameters)
    /// and name. Must not be called inside a write: it writes transactions of its own.
    pub(crate) fn read(
        (space, seen): (&Space, Visibility),
        declared: Option<&str>,
        name: Option<&str>,
        reader: impl Read,
    ) -> Result<Self> {
        // From here on, dropping `upload` deletes the stored bytes.
        let mut upload = Self::begin(space, seen)?;
        upload.take(reader, declared)?;
        let plain = name.and_then(names::plain);
        upload.file_name = plain.unwrap_or_else(|| media::name_for(&upload.media_type));
        Ok(upload)
    }

    /// As [`Self::read`], with the record of the file that the upload becomes.
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

    /// Stores the bytes of the file that `record` describes, for a change that creates it: from
    /// then on they stay until the change is applied or the space is opened again.
    pub(crate) fn store_file(space: &Space, record: &AssetRecord, reader: impl Read) -> Result<()> {
        space.check_not_read_only()?;
        let store = space.store()?;
        if store.snapshot()?.reader().asset(record.id)?.is_some() {
            return Ok(());
        }
        // What an earlier call stored, whose change was not applied.
        store.drop_upload(WriteOptions::durability(Durability::Relaxed), record.id)?;
        let mut upload = Self::begin_as(space, Visibility::All, record.id)?;
        upload.most = record.size;
        upload.take(reader, None)?;
        if upload.size != record.size || Some(upload.hasher.clone().finish()) != record.sha256 {
            return Err(Error::corrupted(format_args!("the bytes given for file {}", record.id)));
        }
        upload.keep();
        Ok(())
    }

    fn begin(space: &Space, seen: Visibility) -> Result<Self> {
        space.check_leads()?;
        Self::begin_as(space, seen, AssetId::from_bytes(space.ids().new_id(space.now())))
    }

    fn begin_as(space: &Space, seen: Visibility, id: AssetId) -> Result<Self> {
        let store = space.store()?;
        space.orphaned_uploads().drop_from(&store);
        let now = space.now();
        let options = WriteOptions::durability(Durability::Relaxed).at_millis(now.as_millis());
        store.begin_upload(options, id).map_err(|error| seen.redact_error(error))?;
        let (media_type, file_name) = (String::new(), String::new());
        Ok(Self {
            space: space.clone(),
            store,
            options,
            seen,
            id,
            media_type,
            file_name,
            size: 0,
            most: space.limits().upload,
            hasher: FileHasher::default(),
            chunks: 0,
            is_kept: false,
        })
    }

    /// Stores all bytes of `reader` and sniffs the first chunk.
    fn take(&mut self, mut reader: impl Read, declared: Option<&str>) -> Result<()> {
        let most = self.most;
        let mut buffer = Vec::new();
        loop {
            // One byte more than the limit shows that the file is too long.
            let beyond = most.saturating_sub(self.size).saturating_add(1);
            let longest = usize::try_from(beyond).unwrap_or(usize::MAX).min(CHUNKS * CHUNK_BYTES);
            fill(&mut reader, &mut buffer, longest).map_err(unreadable)?;
            // The first chunk decides the media type.
            if self.size == 0 {
                let head = buffer.get(..CHUNK_BYTES).unwrap_or(&buffer);
                self.media_type = media::media_type(declared, head, head.len() == buffer.len());
            }
            debug_assert!(buffer.len() <= longest, "at most one batch of chunks is buffered");
            self.size = self.size.saturating_add(buffer.len() as u64);
            if self.size > most {
                return Err(Error::limit("bytes of a file", most, "more"));
            }
            // The limit is checked before storing: an oversized upload leaves at most the chunks
            // before.
            self.store(&buffer)?;
            self.hasher.update(&buffer);
            if buffer.len() < longest {
                return Ok(());
            }
        }
    }

    fn store(&mut self, bytes: &[u8]) -> Result<()> {
        debug_assert_eq!(
            u64::from(self.chunks) * CHUNK_BYTES as u64 + bytes.len() as u64,
            self.size,
            "all chunks but the last are full"
        );
        let chunks: Vec<&[u8]> = bytes.chunks(CHUNK_BYTES).collect();
        if chunks.is_empty() {
            return Ok(());
        }
        // The present time is the heart-beat: another handle takes a silent upload for abandoned.
        let options = self.options.at_millis(self.space.now().as_millis());
        let stored = self.space.store()?.put_chunks(options, self.id, self.chunks, &chunks);
        stored.map_err(|error| self.seen.redact_error(error))?;
        self.chunks = self.chunks.saturating_add(u32::try_from(chunks.len()).unwrap_or(u32::MAX));
        Ok(())
    }

    /// The record of the file, with this stamp.
    pub(crate) fn record(&self, created: &Stamp) -> AssetRecord {
        AssetRecord {
            id: self.id,
            media_type: self.media_type.clone(),
            file_name: self.file_name.clone(),
            size: self.size,
            sha256: Some(self.hasher.clone().finish()),
            created: created.clone(),
        }
    }

    /// The block that shows the file.
    pub(crate) fn block(&self) -> BlockData {
        media::block(&self.media_type, &self.url())
    }

    pub(crate) fn url(&self) -> AssetUrl {
        AssetUrl::new(self.id, &*self.file_name)
    }

    /// Marks the upload as a file of the space.
    pub(crate) fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        if let Err(error) = self.store.drop_upload(self.options, self.id) {
            let error = self.seen.redact_error(error);
            tracing::warn!(%error, "the bytes of an upload that failed stay until the next upload or flush");
            self.space.orphaned_uploads().add(self.id);
        }
    }
}

fn unreadable(error: io::Error) -> Error {
    Error::new(ErrorKind::Storage, "the bytes of the file could not be read").with_source(error)
}

/// Fills `buffer` with up to `longest` bytes; with fewer only at the end of the reader.
fn fill(reader: &mut impl Read, buffer: &mut Vec<u8>, longest: usize) -> io::Result<()> {
    let mut filled = 0;
    while filled < longest {
        // The buffer grows with the file, so that a small file takes little memory.
        if filled == buffer.len() {
            buffer.resize(longest.min(filled + CHUNK_BYTES), 0);
        }
        let end = longest.min(buffer.len());
        // Without room a read of 0 bytes would pass for the end of the file.
        debug_assert!(filled < end, "the buffer has room for {} more bytes", longest - filled);
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
