//! Files that the operating system no longer keeps in memory, or all of.

use std::fs::File;
use std::io;
use std::path::Path;

/// Syncs every file below `directory` and asks the system to forget its pages; where it cannot be
/// asked, they stay.
pub fn evict(directory: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            evict(&path)?;
        } else {
            let file = File::open(path)?;
            file.sync_all()?;
            #[cfg(target_os = "linux")]
            rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
        }
    }
    Ok(())
}

/// Reads every file below `directory`, so that the system has all of it in memory.
pub fn warm(directory: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            warm(&path)?;
        } else {
            io::copy(&mut File::open(path)?, &mut io::sink())?;
        }
    }
    Ok(())
}

/// Copies `from` with all below it to the new directory `to`.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let path = entry?.path();
        let Some(name) = path.file_name() else { continue };
        if path.is_dir() {
            copy(&path, &to.join(name))?;
        } else {
            std::fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}
