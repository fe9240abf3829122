//! The files of an index on disk. Those that say what belongs to it carry a checksum of their own,
//! and are on disk when a commit returns.

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

use super::{Failure, grams};

/// What the index is made of.
const META: &str = "meta.json";
/// The files that are tantivy's to remove. Not kept: they are those that are there.
const MANAGED: &str = ".managed.json";
/// What a file that was being replaced in a crash begins with.
const TEMPORARY: &str = ".tmp";
/// A segment is named by so many digits.
const SEGMENT_DIGITS: usize = 32;
/// The digits of a checksum.
const SEAL: usize = 16;

/// A directory with an index.
#[derive(Clone, Debug)]
pub(super) struct Files {
    inner: Box<dyn Directory>,
    place: Place,
}

/// Where the names of files are asked for.
#[derive(Clone, Debug)]
enum Place {
    Directory(Arc<Path>),
    #[cfg(feature = "testkit")]
    Shelf(Arc<dyn super::shelf::Shelf>),
}

impl Place {
    fn names(&self) -> io::Result<Vec<String>> {
        match self {
            Self::Directory(path) => {
                let name = |entry: io::Result<DirEntry>| {
                    Ok(entry?.file_name().into_string().unwrap_or_default())
                };
                std::fs::read_dir(path)?.map(name).collect()
            }
            #[cfg(feature = "testkit")]
            Self::Shelf(files) => files.names(),
        }
    }
}

impl Files {
    pub(super) fn open(path: &Path) -> Result<Self, OpenDirectoryError> {
        Ok(Self {
            inner: Box::new(MmapDirectory::open(path)?),
            place: Place::Directory(Arc::from(path)),
        })
    }

    #[cfg(feature = "testkit")]
    pub(super) fn shelved(shelf: Arc<dyn super::shelf::Shelf>) -> Self {
        Self {
            inner: Box::new(super::shelf::Shelved(Arc::clone(&shelf))),
            place: Place::Shelf(shelf),
        }
    }

    pub(super) fn has_index(&self) -> bool {
        // What cannot be told is not overwritten.
        self.inner.exists(Path::new(META)).unwrap_or(true)
    }

    /// The names of all that an index leaves in a directory, as JSON. What a crash left behind is
    /// among them, and is removed with what is out of use; a file by another name is somebody
    /// else's.
    fn listed(&self) -> io::Result<Vec<u8>> {
        let names = self.place.names()?;
        let names: Vec<_> =
            names.iter().filter(|name| is_own(name)).map(|name| format!("\"{name}\"")).collect();
        Ok(format!("[{}]", names.join(",")).into_bytes())
    }
}

fn is_own(name: &str) -> bool {
    let is_plain =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.');
    let is_segment = name.split_once('.').is_some_and(|(id, _)| {
        id.len() == SEGMENT_DIGITS && id.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    is_plain(name) && (is_segment || name == META || name.starts_with(TEMPORARY))
}

fn seal(data: &[u8]) -> String {
    format!("{:0width$x}", xxh3_64(data), width = SEAL)
}

fn sealed(data: &[u8]) -> Vec<u8> {
    [data, b"\n", seal(data).as_bytes()].concat()
}

fn unsealed(mut data: Vec<u8>) -> Option<Vec<u8>> {
    let end = data.len().checked_sub(SEAL + 1)?;
    let (content, found) = data.split_at_checked(end)?;
    if found.strip_prefix(b"\n")? != seal(content).as_bytes() {
        return None;
    }
    data.truncate(end);
    Some(data)
}

impl Directory for Files {
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
            return self.listed().map_err(failed);
        }
        let damaged =
            || failed(io::Error::new(io::ErrorKind::InvalidData, "its checksum is another"));
        unsealed(self.inner.atomic_read(path)?).ok_or_else(damaged)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        if path == Path::new(MANAGED) {
            return Ok(());
        }
        self.inner.atomic_write(path, &sealed(data))?;
        // Without this the loss of power may bring the file back that it replaces.
        self.inner.sync_directory()
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.inner.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        // It keeps files from being removed while another process opens them. Here one process has
        // a space, and `Index` does one after the other; without it an index can be opened where
        // nothing may be written.
        if lock.filepath == META_LOCK.filepath {
            return Ok(DirectoryLock::from(Box::new(())));
        }
        self.inner.acquire_lock(lock)
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.inner.watch(callback)
    }
}

/// Whether every file that the index is made of is there, and is as it was written. Reads all of
/// it.
pub(super) fn are_whole(index: &tantivy::Index) -> Result<bool, Failure> {
    for segment in index.searchable_segment_metas()? {
        let kept = [
            SegmentComponent::Terms,
            SegmentComponent::Postings,
            SegmentComponent::Positions,
            SegmentComponent::FastFields,
            SegmentComponent::FieldNorms,
            SegmentComponent::Store,
            grams::component(),
        ];
        let deleted = segment.has_deletes().then_some(SegmentComponent::Delete);
        for component in kept.into_iter().chain(deleted) {
            let path: PathBuf = segment.relative_path(component);
            if !index
                .directory()
                .validate_checksum(&path)
                .map_err(super::failed)
                .map_err(Failure)?
            {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::{is_own, sealed, unsealed};

    #[test]
    fn a_sealed_file_in_which_anything_changed_is_none() {
        let whole = sealed(b"{\"segments\": []}");
        assert_eq!(unsealed(whole.clone()).as_deref(), Some(b"{\"segments\": []}".as_slice()));
        for place in 0..whole.len() {
            for bit in 0..8 {
                let flipped = whole
                    .iter()
                    .enumerate()
                    .map(|(at, byte)| if at == place { byte ^ (1 << bit) } else { *byte });
                assert_eq!(unsealed(flipped.collect()), None, "bit {bit} of byte {place}");
            }
            assert_eq!(
                unsealed(whole.iter().copied().take(place).collect()),
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
            assert_eq!(is_own(name), expected, "{name}");
        }
    }
}
