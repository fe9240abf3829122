//! An advisory lock on a file.

use std::fs::{File, TryLockError};
use std::{io, process};

/// A lock that is held until it is dropped.
///
/// Dropping it unlocks explicitly. Closing the file would not be enough: a process that is being
/// spawned holds copies of all open descriptors until it executes the other program. For the same
/// reason a forked process must not unlock, since it shares the lock with its parent.
#[derive(Debug)]
pub struct FileLock {
    file: File,
    /// The process that took the lock.
    owner: u32,
}

impl FileLock {
    /// Locks `file` exclusively, or shared with other readers. `None` if it is locked elsewhere.
    ///
    /// # Errors
    /// I/O errors of the operating system.
    pub fn try_lock(file: File, is_shared: bool) -> io::Result<Option<Self>> {
        match if is_shared { file.try_lock_shared() } else { file.try_lock() } {
            Ok(()) => Ok(Some(Self { file, owner: process::id() })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

#[cfg(test)]
impl FileLock {
    /// Makes the lock that of another process.
    pub(crate) fn set_owner(&mut self, owner: u32) {
        self.owner = owner;
    }

    /// The copy of the descriptor that a forked process has.
    pub(crate) fn duplicate(&self) -> File {
        self.file.try_clone().unwrap()
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        if self.owner == process::id() {
            // If unlocking fails, closing the descriptor releases the lock.
            let _ = self.file.unlock();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duplicated_descriptor_does_not_hold_the_lock() {
        let directory = tempfile::tempdir().unwrap();
        let open = || {
            File::options()
                .write(true)
                .create(true)
                .truncate(false)
                .open(directory.path().join("lock"))
                .unwrap()
        };
        let file = open();
        // A process that is being spawned holds such a copy.
        let _duplicate = file.try_clone().unwrap();
        let lock = FileLock::try_lock(file, false).unwrap().unwrap();
        assert!(FileLock::try_lock(open(), false).unwrap().is_none());
        drop(lock);
        assert!(FileLock::try_lock(open(), false).unwrap().is_some());
    }
}
