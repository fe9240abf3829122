//! Edits of uploaded files: a complete upload becomes a file, and a file is erased with its bytes.

use leafbase_model::{AssetRecord, Error, ErrorKind, Result};

use super::SpaceTransaction;
use super::errors::{conflict, missing};
use crate::edges::EdgeEnd;
use crate::keyspaces;
use crate::lookup::contains;
use crate::records::{self, asset};
use crate::uploads::{CHUNK_BYTES, chunks_of, stored_bytes};

impl SpaceTransaction<'_> {
    /// The hash is compared with the bytes by checks, not here: reading them would block writers.
    pub(super) fn create_asset(&mut self, record: &AssetRecord) -> Result<()> {
        if record.sha256.is_none() {
            return Err(Error::validation("a file is created with the hash of its bytes"));
        }
        let pending = keyspaces::pending_asset(record.id);
        if !contains(&*self.rows, &pending)? {
            let message = format!(
                "file {} has no uploaded bytes: an erased file cannot be created again",
                record.id
            );
            return Err(Error::new(ErrorKind::NotFound, message));
        }
        self.check_bytes(record)?;
        self.rows.delete(&pending)?;
        let key = keyspaces::asset(record.id);
        self.rows.put(&key, &records::seal(&key, |out| asset::encode(out, record)))
    }

    pub(super) fn erase_asset(&mut self, record: &AssetRecord) -> Result<()> {
        match self.reader()?.asset(record.id)? {
            None => return Err(missing("the file")),
            Some(stored) if stored != *record => return Err(conflict("the file has changed")),
            Some(_) => {}
        }
        if !self.reader()?.edges_to(EdgeEnd::Asset(record.id), None, 1)?.is_empty() {
            return Err(conflict("a block embeds the file"));
        }
        self.rows.delete(&keyspaces::asset(record.id))?;
        // By number: a scan would read all bytes of the file.
        for number in 0..chunks_of(record.size) {
            self.rows.delete(&keyspaces::chunk(record.id, number))?;
        }
        Ok(())
    }

    /// The stored chunks are a prefix of the upload, so the last one tells whether it is complete.
    fn check_bytes(&self, record: &AssetRecord) -> Result<()> {
        let chunks = chunks_of(record.size);
        let stored = |number| stored_bytes(&*self.rows, record.id, number);
        let size = match chunks.checked_sub(1) {
            None => 0,
            Some(last) => u64::from(last) * CHUNK_BYTES as u64 + stored(last)?.unwrap_or(0) as u64,
        };
        // A chunk after the last one belongs to a larger upload.
        if size != record.size || stored(chunks)?.is_some() {
            return Err(conflict("the uploaded bytes do not have the size of the file"));
        }
        Ok(())
    }
}
