//! The directory of an index: tantivy's, with two additions. The file with the metadata carries a
//! checksum, and is durable when a commit returns. The list of managed files is derived from the
//! directory instead of being stored.

use std::fs::DirEntry;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::Directory;
use tantivy::directory::error::{
    DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError,
};
use tantivy::directory::{
    DirectoryLock, FileHandle, Lock, META_LOCK, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};
use tantivy::index::SegmentComponent;
use xxhash_rust::xxh3::xxh3_64;

use super::error::{IndexFailure, storage_error};
use super::storage::{IndexStorage, StorageDirectory};
use super::trigram_plugin;

/// tantivy's metadata: the segments of the last commit, and its payload.
const META: &str = "meta.json";
/// tantivy's list of the files that it may remove.
const MANAGED: &str = ".managed.json";
/// Prefix of temporary files. A crash leaves one while a file is replaced.
const TEMPORARY: &str = ".tmp";
/// Hexadecimal digits of a segment's ID, which its files are named by.
const SEGMENT_DIGITS: usize = 32;
/// Hexadecimal digits of a checksum.
const CHECKSUM_DIGITS: usize = 16;

#[derive(Clone, Debug)]
pub(super) struct IndexDirectory {
    inner: Box<dyn Directory>,
    listing: DirectoryListing,
}

/// Lists the names of files, which tantivy's directories do not.
#[derive(Clone, Debug)]
enum DirectoryListing {
    Path(Arc<Path>),
    Storage(Arc<dyn IndexStorage>),
}

impl DirectoryListing {
    /// The names of all files. Names that are not UTF-8 are left out: no file of an index has one.
    fn names(&self) -> io::Result<Vec<String>> {
        match self {
            Self::Path(path) => {
                let name = |entry: io::Result<DirEntry>| match entry {
                    Ok(entry) => entry.file_name().into_string().ok().map(Ok),
                    Err(error) => Some(Err(error)),
                };
                std::fs::read_dir(path)?.filter_map(name).collect()
            }
            Self::Storage(storage) => storage.names(),
        }
    }
}

impl IndexDirectory {
    pub(super) fn open(path: &Path) -> Result<Self, OpenDirectoryError> {
        let inner = Box::new(MmapDirectory::open(path)?);
        Ok(Self { inner, listing: DirectoryListing::Path(Arc::from(path)) })
    }

    pub(super) fn over(storage: Arc<dyn IndexStorage>) -> Self {
        let inner = Box::new(StorageDirectory(Arc::clone(&storage)));
        Self { inner, listing: DirectoryListing::Storage(storage) }
    }

    pub(super) fn has_index(&self) -> bool {
        // On an error there may be one, which must not be overwritten.
        self.inner.exists(Path::new(META)).unwrap_or(true)
    }

    /// The files of an index as a JSON list, leftovers of a crash included, so that tantivy removes
    /// those that no segment uses. Files with other names are not part of the index and stay.
    fn managed_files(&self) -> io::Result<Vec<u8>> {
        let names = self.listing.names()?;
        let names = names.iter().filter(|name| is_index_file(name));
        let names: Vec<_> = names.map(|name| format!("\"{name}\"")).collect();
        Ok(format!("[{}]", names.join(",")).into_bytes())
    }
}

/// Whether an index writes files with such names. They need no escapes in JSON.
fn is_index_file(name: &str) -> bool {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.');
    let is_segment = name.split_once('.').is_some_and(|(id, _)| {
        id.len() == SEGMENT_DIGITS && id.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    is_plain && (is_segment || name == META || name.starts_with(TEMPORARY))
}

fn checksum(data: &[u8]) -> String {
    format!("{:0width$x}", xxh3_64(data), width = CHECKSUM_DIGITS)
}

/// The data, a line break and its checksum.
fn append_checksum(data: &[u8]) -> Vec<u8> {
    [data, b"\n", checksum(data).as_bytes()].concat()
}

/// The data without its checksum; `None` if that does not match.
fn verify_checksum(mut data: Vec<u8>) -> Option<Vec<u8>> {
    let end = data.len().checked_sub(CHECKSUM_DIGITS + 1)?;
    let (content, stored) = data.split_at_checked(end)?;
    if stored.strip_prefix(b"\n")? != checksum(content).as_bytes() {
        return None;
    }
    data.truncate(end);
    Some(data)
}

impl Directory for IndexDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.inner.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.inner.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.inner.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.inner.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let failed = |error| OpenReadError::wrap_io_error(error, path.to_path_buf());
        if path == Path::new(MANAGED) {
            return self.managed_files().map_err(failed);
        }
        let corrupt =
            || failed(io::Error::new(io::ErrorKind::InvalidData, "its checksum does not match"));
        verify_checksum(self.inner.atomic_read(path)?).ok_or_else(corrupt)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        if path == Path::new(MANAGED) {
            return Ok(());
        }
        self.inner.atomic_write(path, &append_checksum(data))?;
        // The file was replaced by a rename. Without an fsync of the directory, a loss of power may
        // bring the old one back after the commit has returned.
        self.inner.sync_directory()
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.inner.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        // It keeps files from being removed while another process opens them. `Index` serializes
        // its writes, and where several processes share an index, an opening that fails is tried
        // again. Without the lock file an index can be opened in a read-only directory.
        if lock.filepath == META_LOCK.filepath {
            return Ok(DirectoryLock::from(Box::new(())));
        }
        self.inner.acquire_lock(lock)
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.inner.watch(callback)
    }
}

/// Whether all files of the segments exist and match their checksums. Reads all of them.
pub(super) fn checksums_match(index: &tantivy::Index) -> Result<bool, IndexFailure> {
    for segment in index.searchable_segment_metas()? {
        let components = [
            SegmentComponent::Terms,
            SegmentComponent::Postings,
            SegmentComponent::Positions,
            SegmentComponent::FastFields,
            SegmentComponent::FieldNorms,
            SegmentComponent::Store,
            trigram_plugin::component(),
        ];
        let deletes = segment.has_deletes().then_some(SegmentComponent::Delete);
        for component in components.into_iter().chain(deletes) {
            let path: PathBuf = segment.relative_path(component);
            let matches = index.directory().validate_checksum(&path);
            if !matches.map_err(|error| IndexFailure(storage_error(error)))? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::{append_checksum, is_index_file, verify_checksum};

    #[test]
    fn any_change_of_a_file_with_a_checksum_is_detected() {
        let whole = append_checksum(b"{\"segments\": []}");
        assert_eq!(
            verify_checksum(whole.clone()).as_deref(),
            Some(b"{\"segments\": []}".as_slice())
        );
        for place in 0..whole.len() {
            for bit in 0..8 {
                let flipped = whole
                    .iter()
                    .enumerate()
                    .map(|(at, byte)| if at == place { byte ^ (1 << bit) } else { *byte });
                assert_eq!(verify_checksum(flipped.collect()), None, "bit {bit} of byte {place}");
            }
            assert_eq!(
                verify_checksum(whole.iter().copied().take(place).collect()),
                None,
                "cut at {place}"
            );
        }
    }

    #[test]
    fn files_of_an_index() {
        let segment = "0123456789abcdef0123456789abcdef";
        for (name, expected) in [
            ("meta.json", true),
            (&format!("{segment}.idx"), true),
            (&format!("{segment}.12.del"), true),
            (".tmpAbC123", true),
            (".managed.json", false),
            (".tantivy-writer.lock", false),
            ("notes.txt", false),
            ("0123.idx", false),
            (&format!("{segment}.\"x"), false),
        ] {
            assert_eq!(is_index_file(name), expected, "{name}");
        }
    }
}
