//! Uploads: the bytes of a file are stored in chunks, each in its own transaction, before the file
//! is created. An upload of any size so takes little memory and blocks no writer for long.
//!
//! Chunks are not part of the change log. A crash leaves an abandoned upload, which is swept when
//! the space is opened again. Each write of an upload is its heart-beat, by which a handle that
//! opens the space beside others tells theirs from abandoned ones.

use leafbase_model::{AssetId, Error, ErrorKind, Result, Timestamp};

use crate::keyspaces;
use crate::kv::{Read, Transaction, WriteOptions};
use crate::lookup::get;
use crate::records::layout::Value;
use crate::records::upload::PendingUpload;
use crate::records::{self, FRAME_BYTES};
use crate::space_store::SpaceStore;

/// Bytes of each chunk but the last: with its frame it fills 16 pages.
pub const CHUNK_BYTES: usize = 65_400;

/// How long an upload may store nothing before a handle that opens the space beside others takes it
/// for abandoned, in milliseconds by the clocks of the hosts.
pub const MAX_UPLOAD_SILENCE_MILLIS: i64 = 60 * 60 * 1_000;

/// The number of chunks of a file of `size` bytes.
pub(crate) fn chunks_of(size: u64) -> u32 {
    u32::try_from(size.div_ceil(CHUNK_BYTES as u64)).unwrap_or(u32::MAX)
}

/// The number of bytes of a stored chunk.
pub(crate) fn stored_bytes(rows: &dyn Read, asset: AssetId, number: u32) -> Result<Option<usize>> {
    let mut bytes = None;
    rows.get(&keyspaces::chunk(asset, number), &mut |value| {
        bytes = Some(value.len().saturating_sub(FRAME_BYTES));
        Ok(())
    })?;
    Ok(bytes)
}

/// The stored chunks must stay a prefix of the file.
fn check_chunks(rows: &dyn Read, asset: AssetId, first: u32, chunks: &[&[u8]]) -> Result<()> {
    let Some((last, before)) = chunks.split_last() else { return Ok(()) };
    let follows = match first.checked_sub(1) {
        None => true,
        Some(previous) => stored_bytes(rows, asset, previous)? == Some(CHUNK_BYTES),
    };
    let next = u32::try_from(chunks.len()).ok().and_then(|count| first.checked_add(count));
    let next = next.ok_or_else(|| Error::limit("chunks of a file", u32::MAX, "more"))?;
    // A short chunk ends the file, so nothing may follow it.
    let is_filled = before.iter().all(|chunk| chunk.len() == CHUNK_BYTES)
        && (1..=CHUNK_BYTES).contains(&last.len())
        && (last.len() == CHUNK_BYTES || stored_bytes(rows, asset, next)?.is_none());
    if follows && is_filled {
        Ok(())
    } else {
        Err(Error::validation(
            "chunks of a file must follow each other, and all but the last must have the full length",
        ))
    }
}

/// The number of stored chunks of an upload, which have no gap. Found by binary search.
fn stored_chunks(source: &dyn Read, asset: AssetId) -> Result<u32> {
    let is_there = |number: u32| source.get(&keyspaces::chunk(asset, number), &mut |_| Ok(()));
    // Doubles until a chunk is missing: the upload may have any size.
    let (mut there, mut beyond) = (0, 1);
    while is_there(beyond - 1)? {
        (there, beyond) = (beyond, beyond.saturating_mul(2));
    }
    // Invariant: the chunk before `there` is stored, and the one before `beyond` is not.
    while there + 1 < beyond {
        let middle = there + (beyond - there) / 2;
        debug_assert!(there < middle && middle < beyond, "the search narrows in each step");
        if is_there(middle - 1)? {
            there = middle;
        } else {
            beyond = middle;
        }
    }
    Ok(there)
}

/// Records that an upload is alive at the time of the caller's `options`.
fn put_heart_beat(rows: &mut dyn Transaction, key: &[u8; 17], options: WriteOptions) -> Result<()> {
    let upload = PendingUpload { active_at: Timestamp::from_millis(options.at_millis) };
    rows.put(key, &records::seal(key, |out| upload.encode(out)))
}

impl SpaceStore {
    /// Begins an upload, whose heart-beat is `options.at_millis` in milliseconds since 1970.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] if the ID is in use; errors of the store.
    pub fn begin_upload(&self, options: WriteOptions, asset: AssetId) -> Result<()> {
        self.store.write(options, &mut |rows| {
            let key = keyspaces::pending_asset(asset);
            for key in [&key, &keyspaces::asset(asset)] {
                if rows.get(key, &mut |_| Ok(()))? {
                    return Err(Error::new(
                        ErrorKind::Conflict,
                        "a file of this ID exists already",
                    ));
                }
            }
            // From here on the sweep finds the upload, whatever happens to its chunks.
            put_heart_beat(rows, &key, options)
        })
    }

    /// Stores chunks of an upload, whose heart-beat is then `options.at_millis`. They are numbered
    /// from `first` on; the first chunk of a file has the number 0. Each has [`CHUNK_BYTES`] bytes
    /// but the last of the file, which has between 1 and that.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is no such upload; [`ErrorKind::Validation`] if the chunks
    /// do not follow the stored ones, or a chunk before another is short; errors of the store.
    pub fn put_chunks(
        &self,
        options: WriteOptions,
        asset: AssetId,
        first: u32,
        chunks: &[&[u8]],
    ) -> Result<()> {
        self.store.write(options, &mut |rows| {
            let pending = keyspaces::pending_asset(asset);
            if !rows.get(&pending, &mut |_| Ok(()))? {
                return Err(Error::new(ErrorKind::NotFound, "there is no such upload"));
            }
            check_chunks(&*rows, asset, first, chunks)?;
            for (number, chunk) in (first..).zip(chunks) {
                let key = keyspaces::chunk(asset, number);
                rows.put(&key, &records::seal(&key, |out| out.extend_from_slice(chunk)))?;
            }
            put_heart_beat(rows, &pending, options)
        })
    }

    /// Deletes an upload and its bytes, if it exists.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn drop_upload(&self, options: WriteOptions, asset: AssetId) -> Result<()> {
        self.drop_upload_if(options, asset, |_| true).map(drop)
    }

    /// Deletes an upload if it exists and `is_dropped`. Returns whether it does.
    fn drop_upload_if(
        &self,
        options: WriteOptions,
        asset: AssetId,
        is_dropped: impl Fn(PendingUpload) -> bool,
    ) -> Result<bool> {
        let mut has_dropped = false;
        self.store.write(options, &mut |rows| {
            let pending = keyspaces::pending_asset(asset);
            let upload = get(&*rows, &pending, |value| PendingUpload::read(&pending, value))?;
            // Decided here: since the caller listed it, it may have stored more or become a file.
            has_dropped = upload.is_some_and(&is_dropped);
            if !has_dropped {
                return Ok(());
            }
            // By number: a scan would read the bytes.
            for number in 0..stored_chunks(&*rows, asset)? {
                rows.delete(&keyspaces::chunk(asset, number))?;
            }
            // Last: until then a crash leaves an upload that the sweep finds.
            rows.delete(&pending)
        })?;
        Ok(has_dropped)
    }

    /// Deletes all uploads: for a caller that has the only handle of the store, so that a crash
    /// abandoned each of them. Returns their number; without any, nothing is written.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn sweep_uploads(&self, options: WriteOptions) -> Result<usize> {
        self.sweep(options, |_| true)
    }

    /// Deletes the uploads that have been silent for more than [`MAX_UPLOAD_SILENCE_MILLIS`] at the
    /// time of `options`: for a caller that may not have the only handle. Returns their number.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn sweep_silent_uploads(&self, options: WriteOptions) -> Result<usize> {
        // One of a clock that is ahead counts as alive.
        self.sweep(options, |upload| {
            options.at_millis.saturating_sub(upload.active_at.as_millis())
                > MAX_UPLOAD_SILENCE_MILLIS
        })
    }

    fn sweep(
        &self,
        options: WriteOptions,
        is_abandoned: impl Fn(PendingUpload) -> bool,
    ) -> Result<usize> {
        let mut swept = 0;
        for (asset, upload) in self.snapshot()?.reader().pending_uploads()? {
            if is_abandoned(upload) && self.drop_upload_if(options, asset, &is_abandoned)? {
                swept += 1;
            }
        }
        Ok(swept)
    }
}
