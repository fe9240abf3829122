//! A store in memory that fails where it is told to.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use leafbase::{Error, ErrorKind, Result};
use leafbase_replica::{ObjectVersion, ReplicaStore, StoredObject};

/// What a store has, and what was done to it.
#[derive(Debug, Default)]
pub(crate) struct MemoryObjects {
    objects: Mutex<BTreeMap<String, (Vec<u8>, u64)>>,
    versions: AtomicU64,
    /// Puts and deletes that changed something.
    writes: AtomicU64,
    /// Gets, puts and deletes until all fail; `u64::MAX` for never.
    left: Mutex<u64>,
    /// Whether conditions are ignored: a store that does not know who leads.
    pub ignores_conditions: Mutex<bool>,
}

impl MemoryObjects {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { left: Mutex::new(u64::MAX), ..Self::default() })
    }

    /// Lets `calls` calls succeed, and all after them fail.
    pub(crate) fn fail_after(&self, calls: u64) {
        *self.left.lock().unwrap() = calls;
    }

    /// Lets all calls succeed.
    pub(crate) fn heal(&self) {
        *self.left.lock().unwrap() = u64::MAX;
    }

    pub(crate) fn writes(&self) -> u64 {
        self.writes.load(Ordering::SeqCst)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.objects.lock().unwrap().keys().cloned().collect()
    }

    /// Whether any object has these bytes.
    pub(crate) fn contains(&self, needle: &[u8]) -> bool {
        let objects = self.objects.lock().unwrap();
        objects.values().any(|(bytes, _)| bytes.windows(needle.len()).any(|part| part == needle))
    }

    /// Changes the bytes of an object behind the back of those who use it.
    pub(crate) fn alter(&self, name: &str, alter: impl FnOnce(&mut Vec<u8>)) {
        alter(&mut self.objects.lock().unwrap().get_mut(name).unwrap().0);
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        self.objects.lock().unwrap()[name].0.clone()
    }

    fn call(&self) -> Result<()> {
        let mut left = self.left.lock().unwrap();
        if *left == 0 {
            return Err(Error::new(ErrorKind::Storage, "the store cannot be reached"));
        }
        *left = left.saturating_sub(u64::from(*left != u64::MAX));
        Ok(())
    }

    fn insert(&self, name: &str, bytes: &[u8]) -> ObjectVersion {
        self.writes.fetch_add(1, Ordering::SeqCst);
        let version = self.versions.fetch_add(1, Ordering::SeqCst);
        self.objects.lock().unwrap().insert(name.to_owned(), (bytes.to_vec(), version));
        version_of(version)
    }
}

fn version_of(version: u64) -> ObjectVersion {
    ObjectVersion { tag: Some(version.to_string()), number: None }
}

impl ReplicaStore for MemoryObjects {
    fn get(&self, name: &str) -> Result<Option<StoredObject>> {
        self.call()?;
        let objects = self.objects.lock().unwrap();
        let found = objects.get(name);
        Ok(found.map(|(bytes, version)| StoredObject {
            bytes: bytes.clone(),
            version: version_of(*version),
        }))
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.call()?;
        self.insert(name, bytes);
        Ok(())
    }

    fn put_if(
        &self,
        name: &str,
        bytes: &[u8],
        expected: Option<&ObjectVersion>,
    ) -> Result<Option<ObjectVersion>> {
        self.call()?;
        let found = self.objects.lock().unwrap().get(name).map(|(_, version)| version_of(*version));
        if found.as_ref() != expected && !*self.ignores_conditions.lock().unwrap() {
            return Ok(None);
        }
        Ok(Some(self.insert(name, bytes)))
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>> {
        self.call()?;
        Ok(self.names().into_iter().filter(|name| name.starts_with(prefix)).collect())
    }

    fn delete(&self, name: &str) -> Result<()> {
        self.call()?;
        if self.objects.lock().unwrap().remove(name).is_some() {
            self.writes.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    }
}
