//! Files of a store that tests supply.

use std::fmt;
use std::io;
use std::sync::Arc;

use leafbase_model::Result;
use redb::StorageBackend;

use crate::options::OpenOptions;
use crate::redb_store::store::RedbStore;
use crate::store_files::StoreFiles;

type OpenBackend = Box<dyn Fn() -> Box<dyn StorageBackend> + Send + Sync>;

struct BackendFiles {
    store: OpenBackend,
    wal: Option<OpenBackend>,
}

impl fmt::Debug for BackendFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BackendFiles").finish_non_exhaustive()
    }
}

impl StoreFiles for BackendFiles {
    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        Ok((self.store)())
    }

    fn open_wal(&self) -> io::Result<Box<dyn StorageBackend>> {
        self.wal.as_ref().map_or_else(|| Err(io::ErrorKind::NotFound.into()), |open| Ok(open()))
    }

    fn create_wal(&self) -> io::Result<Box<dyn StorageBackend>> {
        self.wal.as_ref().map_or_else(|| Err(io::ErrorKind::Unsupported.into()), |open| Ok(open()))
    }
}

/// Opens or creates a store without a WAL on what `open` returns. It is called again whenever the
/// store is reopened, and has to return the same bytes.
///
/// # Errors
/// As [`RedbStore::with_files`].
pub fn open_backend<B: StorageBackend>(
    open: impl Fn() -> B + Send + Sync + 'static,
    options: &OpenOptions,
) -> Result<RedbStore> {
    let store: OpenBackend = Box::new(move || Box::new(open()));
    RedbStore::with_files(BackendFiles { store, wal: None }, options)
}

/// The same with a WAL on what `open_wal` returns.
///
/// # Errors
/// As [`RedbStore::with_files`].
pub fn open_backends<B: StorageBackend, W: StorageBackend>(
    open: impl Fn() -> B + Send + Sync + 'static,
    open_wal: impl Fn() -> W + Send + Sync + 'static,
    options: &OpenOptions,
) -> Result<RedbStore> {
    let store: OpenBackend = Box::new(move || Box::new(open()));
    let wal: OpenBackend = Box::new(move || Box::new(open_wal()));
    RedbStore::with_files(BackendFiles { store, wal: Some(wal) }, options)
}

/// The bytes of a store's files. They are never changed, so open them for reading only.
#[derive(Clone, Debug)]
pub struct ImageFiles {
    /// The main file.
    pub store: Arc<[u8]>,
    /// The WAL, if there is one.
    pub wal: Option<Arc<[u8]>>,
}

impl StoreFiles for ImageFiles {
    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        Ok(Box::new(ImageFile(Arc::clone(&self.store))))
    }

    fn open_wal(&self) -> io::Result<Box<dyn StorageBackend>> {
        match &self.wal {
            Some(wal) => Ok(Box::new(ImageFile(Arc::clone(wal)))),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

/// A file in memory that cannot be written.
#[derive(Debug)]
struct ImageFile(Arc<[u8]>);

impl StorageBackend for ImageFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::UnexpectedEof)?;
        let end = start.checked_add(out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(self.0.get(start..end).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn sync_data(&self) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn write(&self, _: u64, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}
