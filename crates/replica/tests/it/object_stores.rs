//! Stores of the crate `object_store`.

use std::sync::Arc;

use leafbase_replica::{ObjectStoreAdapter, ReplicaStore};
use object_store::memory::InMemory;

use crate::store_laws::{conforms, ships};

#[test]
fn stores_do_what_the_trait_says() {
    let directory = tempfile::tempdir().unwrap();
    conforms(&leafbase_replica::DirectoryStore::new(directory.path().join("replica")));
    conforms(&ObjectStoreAdapter::new(Arc::new(InMemory::new()), "").unwrap());
    conforms(&ObjectStoreAdapter::new(Arc::new(InMemory::new()), "spaces/notes").unwrap());
    conforms(&*crate::stores::MemoryObjects::new());
}

#[test]
fn a_space_is_shipped_through_an_object_store() {
    let store = ObjectStoreAdapter::new(Arc::new(InMemory::new()), "spaces/notes").unwrap();
    let store: Arc<dyn ReplicaStore> = Arc::new(store);
    ships(&store);
}
