//! A store in a directory of a simulated disk, whose names a power loss may take.

use std::io;

use leafbase_model::{Error, ErrorKind, Result};
use redb::StorageBackend;

use super::disk::Disk;
use crate::redb_store::creation::NewDirectory;
use crate::store_files::StoreFiles;

/// The files of the store on a disk, with their names.
#[derive(Clone, Debug)]
pub struct DiskFiles {
    disk: Disk,
    is_temporary: bool,
}

impl DiskFiles {
    /// The files in a directory that has its name.
    pub fn new(disk: &Disk) -> Self {
        Self { disk: disk.clone(), is_temporary: false }
    }

    /// The files in a directory that gets its name later.
    pub fn temporary(disk: &Disk) -> Self {
        Self { disk: disk.clone(), is_temporary: true }
    }
}

impl StoreFiles for DiskFiles {
    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        self.disk.open_main(self.is_temporary)?;
        Ok(Box::new(self.disk.clone()))
    }

    fn are_temporary(&self) -> bool {
        self.is_temporary
    }

    fn open_wal(&self) -> io::Result<Box<dyn StorageBackend>> {
        self.disk.open_wal()?;
        Ok(Box::new(self.disk.wal()))
    }

    fn create_wal(&self) -> io::Result<Box<dyn StorageBackend>> {
        self.disk.create_wal()?;
        Ok(Box::new(self.disk.wal()))
    }

    fn sync_wal_name(&self) -> io::Result<()> {
        self.disk.sync_store_names()
    }

    fn remove_wal(&self) {
        let _ = self.disk.remove_wal();
    }
}

/// The directory of the store on a disk.
#[derive(Clone, Debug)]
pub struct DiskDirectory(Disk);

impl DiskDirectory {
    /// The directory on `disk`, which has no name yet.
    pub fn new(disk: &Disk) -> Self {
        Self(disk.clone())
    }
}

fn failed(error: io::Error) -> Error {
    Error::new(ErrorKind::Storage, "the simulated disk failed").with_source(error)
}

impl NewDirectory for DiskDirectory {
    fn sync_store(&self) -> Result<()> {
        self.0.sync_data().map_err(failed)
    }

    fn sync_names(&self) -> Result<()> {
        self.0.sync_store_names().map_err(failed)
    }

    fn rename(&mut self) -> Result<()> {
        self.0.rename_directory().map_err(failed)
    }

    fn sync_parent(&self) -> Result<()> {
        self.0.sync_parent().map_err(failed)
    }
}
