//! A lock on a file, which ends with its holder and with nobody else.

use std::fs::{File, TryLockError};
use std::io;

/// Held until it is dropped. It is given back then, and not only when the last copy of the file's
/// handle is closed: a process that is being started holds copies of all that is open here, until
/// it is another program.
#[derive(Debug)]
pub struct Lock(File);

impl Lock {
    /// Locks `file`, alone or with others that only read; none if somebody else has it.
    ///
    /// # Errors
    /// What the operating system reports.
    pub fn try_on(file: File, is_shared: bool) -> io::Result<Option<Self>> {
        match if is_shared { file.try_lock_shared() } else { file.try_lock() } {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // If it can't be given back it goes with the handle.
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_the_handle_keeps_no_lock() {
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
        // What a process holds that is being started.
        let _copy = file.try_clone().unwrap();
        let lock = Lock::try_on(file, false).unwrap().unwrap();
        assert!(Lock::try_on(open(), false).unwrap().is_none());
        drop(lock);
        assert!(Lock::try_on(open(), false).unwrap().is_some());
    }
}
