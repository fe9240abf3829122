//! Snapshots: read-only transactions of one state each.

use leafbase_kv::{KeyRange, Read, ReadHint, Snapshot, Visit, VisitMany};
use leafbase_model::Result;

use crate::key_span::KeySpan;
use crate::remote_reader::RemoteReader;

/// A read-only transaction. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct PostgresSnapshot(pub(crate) RemoteReader);

impl Snapshot for PostgresSnapshot {}

impl Read for PostgresSnapshot {
    fn get(&self, key: &[u8], visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        match self.0.get(key)? {
            Some(value) => visit(&value).map(|()| true),
            None => Ok(false),
        }
    }

    fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()> {
        self.0.scan(KeySpan::of(range), range.reverse, visit)
    }

    fn get_many(&self, keys: &[&[u8]], visit: VisitMany<'_>) -> Result<()> {
        let values = self.0.get_all(keys)?;
        values.iter().enumerate().try_for_each(|(index, value)| visit(index, value.as_deref()))
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn is_loaded(&self, key: &[u8]) -> bool {
        self.0.is_loaded(key)
    }

    fn prefetch(&self, hints: &[ReadHint<'_>]) -> Result<()> {
        self.0.load(hints)
    }
}
