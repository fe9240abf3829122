//! Lookups of single records.

use leafbase_model::{BlockId, ChangePosition, DocumentId, Result, invariant};

use crate::keyspaces;
use crate::kv::{KeyRange, Read, ReadHint, Transaction};
use crate::records;
use crate::records::document::{self, StoredDocument};
use crate::records::layout::Value;
use crate::records::location::{self, LocationRecord};
use crate::records::meta::{self, DroppedChange, SpaceMeta, SpaceTotals};

/// Looks up `key` and decodes its value.
pub(crate) fn get<T>(
    source: &dyn Read,
    key: &[u8],
    mut decode: impl FnMut(&[u8]) -> Result<T>,
) -> Result<Option<T>> {
    let mut found = None;
    source.get(key, &mut |value| {
        found = Some(decode(value)?);
        Ok(())
    })?;
    Ok(found)
}

/// Whether `key` has a row. Its value is not verified.
pub(crate) fn contains(source: &dyn Read, key: &[u8]) -> Result<bool> {
    source.get(key, &mut |_| Ok(()))
}

/// The location of `block`, if it exists.
pub(crate) fn stored_location(source: &dyn Read, block: BlockId) -> Result<Option<LocationRecord>> {
    let key = keyspaces::block_location(block);
    get(source, &key, |value| records::decode(&key, value, location::decode))
}

/// The record of a document, if it exists.
pub(crate) fn stored_document(source: &dyn Read, id: DocumentId) -> Result<Option<StoredDocument>> {
    let key = keyspaces::document(id);
    get(source, &key, |value| document::decode_row(&key, value))
}

/// Loads the first entry of `range` from a remote store, before a scan that mostly ends with it: a
/// page of runs takes much longer than one.
pub(crate) fn load_first(source: &dyn Read, range: KeyRange<'_>) -> Result<()> {
    if source.is_remote() { source.prefetch(&[ReadHint::Range(range, 1)]) } else { Ok(()) }
}

/// The totals of the space, which always exist.
pub(crate) fn space_totals(source: &dyn Read) -> Result<SpaceTotals> {
    let key = keyspaces::meta(meta::TOTALS);
    get(source, &key, |value| records::decode(&key, value, SpaceTotals::decode))?
        .ok_or_else(|| records::corrupt(&key))
}

/// The position after the last change that was dropped from the log, where it begins.
pub(crate) fn log_beginning(source: &dyn Read) -> Result<ChangePosition> {
    let key = keyspaces::meta(meta::LOG_BEGINNING);
    let dropped = get(source, &key, |value| records::decode(&key, value, DroppedChange::decode))?;
    Ok(dropped.map_or(ChangePosition::BEGINNING, DroppedChange::position))
}

/// Records that changes were dropped up to `last`.
pub(crate) fn put_log_beginning(rows: &mut dyn Transaction, last: ChangePosition) -> Result<()> {
    let key = keyspaces::meta(meta::LOG_BEGINNING);
    let Some(token) = last.token() else { invariant!("a change that is dropped has a token") };
    let dropped = DroppedChange { sequence: last.sequence(), token: token.to_u64() };
    rows.put(&key, &records::seal(&key, |out| dropped.encode(out)))
}

/// Writes ID, name and zone of the space.
pub(crate) fn put_meta(rows: &mut dyn Transaction, meta: &SpaceMeta) -> Result<()> {
    let key = keyspaces::meta(meta::SPACE);
    rows.put(&key, &records::seal(&key, |out| meta.encode(out)))
}

/// Writes the totals of the space.
pub(crate) fn put_totals(rows: &mut dyn Transaction, totals: SpaceTotals) -> Result<()> {
    let key = keyspaces::meta(meta::TOTALS);
    rows.put(&key, &records::seal(&key, |out| totals.encode(out)))
}
