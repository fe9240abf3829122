//! Looking into a store's file without changing it.

use std::io;

use leafbase_model::{Error, ErrorKind, Result};
use redb::{Builder, StorageBackend};

use super::failure::Health;
use super::gate::Gate;
use super::guard::Guard;
use super::{EntryFormat, structure, within};

/// The check reads each page about once: caching would not help it.
const CACHE_BYTES: usize = 4 << 20;

/// Whether the file behind `storage` is whole. Nobody may write to it meanwhile.
pub(super) fn is_whole(storage: Box<dyn StorageBackend>) -> Result<bool> {
    let health = Health::default();
    let checked = health.guard(|| {
        let check = || -> Result<bool, redb::Error> {
            let gate =
                Gate::over(Box::new(Unlocked(storage)), Guard::new(EntryFormat::default(), false))?;
            // What redb mends is mended in memory: the gate lets nothing through.
            let mut database =
                Builder::new().set_cache_size(CACHE_BYTES).create_with_backend(gate.clone())?;
            let checked = database.check_integrity();
            gate.shut();
            // It meets the error, and so writes nothing when it is dropped.
            let _ = database.check_integrity();
            Ok(checked?)
        };
        check().map_err(|error| health.report(error))
    });
    match checked {
        Err(error) if error.kind() == ErrorKind::Corrupted => Ok(false),
        checked => checked,
    }
}

/// Looks for damage where redb would not get over it: in the pages that it keeps its own account
/// in. `storage` gives the bytes each time it is asked.
pub(super) fn check_structure(storage: &dyn Fn() -> Result<Box<dyn StorageBackend>>) -> Result<()> {
    // Only redb can say what its pages must be. What is found here is a reason to ask it.
    let bytes = storage()?;
    if within::begins_within(&*bytes) && (structure::agrees(&*bytes) || is_whole(bytes)?) {
        return Ok(());
    }
    Err(Error::corrupted("the store's structure"))
}

/// Bytes that another handle may have locked.
#[derive(Debug)]
struct Unlocked(Box<dyn StorageBackend>);

impl StorageBackend for Unlocked {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
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

    fn close(&self) -> io::Result<()> {
        self.0.close()
    }
}
