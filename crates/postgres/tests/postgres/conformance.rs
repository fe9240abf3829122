//! The store passes the suite of all stores, and one that loses a write does not.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use leafbase_kv::{Snapshot, Store, Transaction, WriteOptions, testkit};
use leafbase_model::{Error, ErrorKind, Result};
use leafbase_postgres::PostgresStore;

use crate::server::{server, unused_name};

#[test]
fn the_store_conforms() {
    let Some(server) = server() else { return };
    let database = server.database();
    testkit::conformance(&mut || Box::new(database.create_store(&unused_name()).unwrap()));
}

#[test]
fn handles_of_several_hosts_agree() {
    let Some(server) = server() else { return };
    testkit::handles(&mut |count| {
        let name = unused_name();
        let first = server.database().create_store(&name).unwrap();
        let others = (1..count).map(|_| server.database().open_store(&name).unwrap());
        std::iter::once(first).chain(others).map(|store| Arc::new(store) as _).collect()
    });
}

/// A store that loses one write in twenty.
#[derive(Debug)]
struct ForgetfulStore {
    inner: PostgresStore,
    writes: AtomicU64,
}

impl Store for ForgetfulStore {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        self.inner.snapshot()
    }

    fn write(
        &self,
        options: WriteOptions,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        let loses = self.writes.fetch_add(1, Ordering::Relaxed) % 20 == 19;
        let mut planned = Ok(());
        let written = self.inner.write(options, &mut |transaction| {
            planned = f(transaction);
            planned.clone()?;
            if loses { Err(Error::new(ErrorKind::Canceled, "lost")) } else { Ok(()) }
        });
        if loses { planned } else { written }
    }

    fn flush(&self) -> Result<()> {
        self.inner.flush()
    }

    fn compact(&self) -> Result<()> {
        self.inner.compact()
    }

    fn verify(&self) -> Result<bool> {
        self.inner.verify()
    }

    fn bytes(&self) -> Result<u64> {
        self.inner.bytes()
    }
}

#[test]
fn a_store_that_loses_a_write_does_not_conform() {
    let Some(server) = server() else { return };
    let database = server.database();
    let mut make = || -> Box<dyn Store> {
        let inner = database.create_store(&unused_name()).unwrap();
        Box::new(ForgetfulStore { inner, writes: AtomicU64::new(0) })
    };
    assert!(catch_unwind(AssertUnwindSafe(|| testkit::conformance(&mut make))).is_err());
}
