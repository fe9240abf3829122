//! Buckets and whatever else the crate `object_store` speaks to, as stores of objects.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::TryStreamExt;
use leafbase::{Error, ErrorKind, Result};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutPayload, PutResult, UpdateVersion};
use tokio::runtime::{Builder, Runtime};

use crate::store::{ObjectVersion, ReplicaStore, StoredObject, check_name};

/// A store of the crate `object_store`, which must have conditional puts: its `InMemory`, S3 and
/// what speaks its protocol with the headers `If-Match` and `If-None-Match`, Azure, Google. The
/// host chooses among them by the features of `object_store`, and makes the store.
///
/// Requests run on a runtime of its own, one at a time, and block: an async host calls from a
/// context where blocking is allowed.
///
/// ```
/// use std::sync::Arc;
/// use leafbase_replica::{ObjectStoreAdapter, ReplicaStore};
/// # fn main() -> leafbase::Result<()> {
/// let memory = Arc::new(object_store::memory::InMemory::new());
/// let store = ObjectStoreAdapter::new(memory, "spaces/notes")?;
/// assert!(store.put_if("manifest", b"one", None)?.is_some());
/// assert!(store.put_if("manifest", b"two", None)?.is_none()); // there is one
/// # Ok(())
/// # }
/// ```
pub struct ObjectStoreAdapter {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
    /// A runtime of the current thread, which the caller drives.
    runtime: Mutex<Runtime>,
}

impl fmt::Debug for ObjectStoreAdapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { store, prefix, .. } = self;
        f.debug_struct("ObjectStoreAdapter").field("store", store).field("prefix", prefix).finish()
    }
}

impl ObjectStoreAdapter {
    /// The objects of `store` whose names begin with `prefix` and a slash.
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] if `prefix` is not a path; [`ErrorKind::Storage`] if the system
    /// has no room for a runtime.
    pub fn new(store: Arc<dyn ObjectStore>, prefix: &str) -> Result<Self> {
        let prefix = Path::parse(prefix)
            .map_err(|error| Error::validation(format!("the prefix is not a path: {error}")))?;
        let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| {
            Error::new(ErrorKind::Storage, "no runtime can be started").with_source(error)
        })?;
        Ok(Self { store, prefix, runtime: Mutex::new(runtime) })
    }

    fn path(&self, name: &str) -> Result<Path> {
        check_name(name)?;
        Ok(name.split('/').fold(self.prefix.clone(), Path::join))
    }

    fn wait<T>(&self, request: impl Future<Output = T>) -> T {
        // The lock is held while the request runs: a runtime of one thread has one driver at a
        // time.
        self.runtime.lock().unwrap_or_else(PoisonError::into_inner).block_on(request)
    }
}

fn version(e_tag: Option<String>, number: Option<String>) -> ObjectVersion {
    ObjectVersion { tag: e_tag, number }
}

fn failed(action: &str, path: &Path, error: object_store::Error) -> Error {
    let kind = match error {
        object_store::Error::PermissionDenied { .. }
        | object_store::Error::Unauthenticated { .. } => ErrorKind::ReadOnly,
        object_store::Error::NotSupported { .. } | object_store::Error::NotImplemented { .. } => {
            ErrorKind::Validation
        }
        _ => ErrorKind::Storage,
    };
    Error::new(kind, format!("cannot {action} {path}: {error}")).with_source(error)
}

impl ReplicaStore for ObjectStoreAdapter {
    fn get(&self, name: &str) -> Result<Option<StoredObject>> {
        let path = self.path(name)?;
        let found = self.wait(async {
            let found = self.store.get(&path).await?;
            let version = version(found.meta.e_tag.clone(), found.meta.version.clone());
            Ok(StoredObject { bytes: found.bytes().await?.to_vec(), version })
        });
        match found {
            Ok(object) => Ok(Some(object)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(failed("read", &path, error)),
        }
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.path(name)?;
        let written = self.wait(self.store.put(&path, PutPayload::from(bytes.to_vec())));
        written.map(drop).map_err(|error| failed("write", &path, error))
    }

    fn put_if(
        &self,
        name: &str,
        bytes: &[u8],
        expected: Option<&ObjectVersion>,
    ) -> Result<Option<ObjectVersion>> {
        let path = self.path(name)?;
        let mode = match expected.cloned() {
            Some(ObjectVersion { tag: e_tag, number: version }) => {
                PutMode::Update(UpdateVersion { e_tag, version })
            }
            None => PutMode::Create,
        };
        let payload = PutPayload::from(bytes.to_vec());
        match self.wait(self.store.put_opts(&path, payload, mode.into())) {
            Ok(PutResult { e_tag, version: number, .. }) => Ok(Some(version(e_tag, number))),
            // The object is another one, exists, or does not.
            Err(
                object_store::Error::Precondition { .. }
                | object_store::Error::AlreadyExists { .. }
                | object_store::Error::NotFound { .. },
            ) => Ok(None),
            Err(error) => Err(failed("write", &path, error)),
        }
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>> {
        let path = match prefix.strip_suffix('/') {
            Some(directory) => self.path(directory)?,
            None => self.prefix.clone(),
        };
        let listed = self.wait(self.store.list(Some(&path)).try_collect::<Vec<_>>());
        let listed = listed.map_err(|error| failed("list", &path, error))?;
        let name = |object: &object_store::ObjectMeta| {
            let parts = object.location.prefix_match(&self.prefix)?;
            Some(parts.map(|part| part.as_ref().to_owned()).collect::<Vec<_>>().join("/"))
        };
        let mut names: Vec<String> = listed.iter().filter_map(name).collect();
        names.retain(|name| check_name(name).is_ok());
        names.sort();
        Ok(names)
    }

    fn delete(&self, name: &str) -> Result<()> {
        let path = self.path(name)?;
        match self.wait(self.store.delete(&path)) {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(failed("delete", &path, error)),
        }
    }
}
