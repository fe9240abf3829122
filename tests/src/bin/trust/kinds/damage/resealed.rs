//! A store in which damage to records goes unnoticed: the control.

use std::sync::Arc;

use leafbase::Result;
use leafbase_store::kv::{
    KeyRange, Read, RedbStore, Snapshot, Store, Transaction, Visit, WriteOptions,
};
use leafbase_store::testkit::reseal;

/// The store below, with the checksum of each record computed anew when it is read.
#[derive(Debug)]
pub(super) struct Resealed(pub(super) Arc<RedbStore>);

struct ResealedSnapshot(Box<dyn Snapshot>);

impl Read for ResealedSnapshot {
    fn get(&self, key: &[u8], visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        self.0.get(key, &mut |value| visit(&resealed(key, value)))
    }

    fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()> {
        self.0.scan(range, &mut |key, value| visit(key, &resealed(key, value)))
    }
}

fn resealed(key: &[u8], value: &[u8]) -> Vec<u8> {
    let mut value = value.to_vec();
    reseal(key, &mut value);
    value
}

impl Snapshot for ResealedSnapshot {}

impl Store for Resealed {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        Ok(Box::new(ResealedSnapshot(self.0.snapshot()?)))
    }

    fn write(
        &self,
        options: WriteOptions,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        // Opened for reading only.
        self.0.write(options, f)
    }

    fn flush(&self) -> Result<()> {
        self.0.flush()
    }

    fn compact(&self) -> Result<()> {
        self.0.compact()
    }

    fn verify(&self) -> Result<bool> {
        self.0.verify()
    }

    fn bytes(&self) -> Result<u64> {
        self.0.bytes()
    }
}
