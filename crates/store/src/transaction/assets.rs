//! Uploaded files: an upload whose bytes are all there becomes a file of the space, and a file goes
//! with its bytes.

use leafbase_model::{AssetRecord, Error, ErrorKind, Result};

use super::{SpaceTransaction, conflict, missing};
use crate::edges::EdgeEnd;
use crate::keyspaces;
use crate::kv::Read;
use crate::records::{self, asset};
use crate::uploads::{CHUNK_BYTES, chunks_of, stored_bytes};

impl SpaceTransaction<'_> {
    pub(super) fn create_asset(&mut self, record: &AssetRecord) -> Result<()> {
        let pending = keyspaces::pending_asset(record.id);
        if !self.has_row(&pending)? {
            let message = format!(
                "the bytes of file {} are not there: those of a file that was erased never come back",
                record.id
            );
            return Err(Error::new(ErrorKind::NotFound, message));
        }
        self.check_bytes(record)?;
        self.rows.delete(&pending)?;
        let key = keyspaces::asset(record.id);
        self.rows.put(&key, &records::seal(&key, |out| asset::put(out, record)))?;
        self.log.create_asset(record);
        Ok(())
    }

    pub(super) fn erase_asset(&mut self, record: &AssetRecord) -> Result<()> {
        match self.reader()?.asset(record.id)? {
            None => return Err(missing("the file")),
            Some(stored) if stored != *record => return Err(conflict("the file has changed")),
            Some(_) => {}
        }
        if !self.reader()?.edges_to(EdgeEnd::Asset(record.id), None, 1)?.is_empty() {
            return Err(conflict("a block shows the file"));
        }
        self.rows.delete(&keyspaces::asset(record.id))?;
        // By number, because a scan of them would read all their bytes.
        for number in 0..chunks_of(record.size) {
            self.rows.delete(&keyspaces::chunk(record.id, number))?;
        }
        self.log.erase_asset(record);
        Ok(())
    }

    /// What is stored of an upload is a whole beginning of it: its end tells whether it is all.
    fn check_bytes(&self, record: &AssetRecord) -> Result<()> {
        let chunks = chunks_of(record.size);
        let stored = |number| stored_bytes(&*self.rows, record.id, number);
        let size = match chunks.checked_sub(1) {
            None => 0,
            Some(last) => {
                u64::from(last) * CHUNK_BYTES as u64 + stored(last)?.unwrap_or_default() as u64
            }
        };
        if size != record.size || stored(chunks)?.is_some() {
            return Err(conflict("the bytes stored are not those of the file"));
        }
        Ok(())
    }

    fn has_row(&self, key: &[u8]) -> Result<bool> {
        Read::get(&*self.rows, key, &mut |_| Ok(()))
    }
}
