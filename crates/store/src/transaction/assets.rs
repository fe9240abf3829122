//! Uploaded files: an upload whose bytes are all there becomes a file of the space, and a file goes with its bytes.

use leafbase_model::{AssetId, AssetRecord, Error, ErrorKind, Result};

use super::{SpaceTransaction, conflict, missing};
use crate::keyspaces;
use crate::kv::Read;
use crate::records::{self, asset};
use crate::uploads::chunks_of;

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
        let chunks = chunks_of(record.size);
        let last = chunks.checked_sub(1).map_or(Ok(true), |last| self.has_chunk(record.id, last))?;
        if !last || self.has_chunk(record.id, chunks)? {
            return Err(conflict("the bytes stored are not those of the file"));
        }
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
        self.rows.delete(&keyspaces::asset(record.id))?;
        let chunks = keyspaces::chunks(record.id);
        self.rows.delete_range(&chunks, &keyspaces::end_of(chunks))?;
        self.log.erase_asset(record);
        Ok(())
    }

    fn has_chunk(&self, asset: AssetId, number: u32) -> Result<bool> {
        self.has_row(&keyspaces::chunk(asset, number))
    }

    fn has_row(&self, key: &[u8]) -> Result<bool> {
        Read::get(&*self.rows, key, &mut |_| Ok(()))
    }
}
