//! An entry of the memtable: a key with a value, or with a tombstone.

use std::sync::Arc;

use leafbase_model::{Error, Result, invariant};

use crate::write_batch::WriteBatch;

/// Entries that are written together share allocations of up to this size, each freed with the
/// last of its entries.
const SHARED_BYTES: usize = 64 << 10;

/// A key with its value or a tombstone. Cheap to clone: versions of the memtable share the bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    bytes: Arc<[u8]>,
    start: u32,
    key_end: u32,
    /// The end of the value; `None` for a tombstone.
    value_end: Option<u32>,
}

impl Entry {
    pub(crate) fn new(key: &[u8], value: Option<&[u8]>) -> Result<Self> {
        Self::with_scratch(
            &mut Vec::with_capacity(key.len() + value.map_or(0, <[u8]>::len)),
            key,
            value,
        )
    }

    /// The same, assembled in `scratch` so that one buffer serves many entries.
    pub(crate) fn with_scratch(
        scratch: &mut Vec<u8>,
        key: &[u8],
        value: Option<&[u8]>,
    ) -> Result<Self> {
        scratch.clear();
        scratch.extend_from_slice(key);
        let value_end = value.map(|value| {
            scratch.extend_from_slice(value);
            scratch.len()
        });
        Self::within(Arc::from(&**scratch), 0, key.len(), value_end)
    }

    /// All entries of a batch, in its order.
    pub(crate) fn from_batch(batch: &WriteBatch) -> Result<Vec<Self>> {
        let mut entries = Vec::with_capacity(batch.ends().len());
        let mut rest = batch.ends();
        let mut start = 0;
        while !rest.is_empty() {
            // An entry larger than the bound gets an allocation of its own.
            let fitting = rest.partition_point(|end| end.entry() - start <= SHARED_BYTES).max(1);
            let (group, others) = rest.split_at(fitting);
            let group_end = group.last().map_or(start, |end| end.entry());
            let Some(group_bytes) = batch.bytes().get(start..group_end) else {
                invariant!("the entries of a batch end inside its buffer")
            };
            let bytes: Arc<[u8]> = Arc::from(group_bytes);
            let mut at = start;
            for end in group {
                let value_end = end.value.map(|value_end| value_end - start);
                let bytes = Arc::clone(&bytes);
                entries.push(Self::within(bytes, at - start, end.key - start, value_end)?);
                at = end.entry();
            }
            (rest, start) = (others, group_end);
        }
        invariant!(entries.len() == batch.ends().len(), "every entry of a batch is taken");
        Ok(entries)
    }

    /// The one constructor: checks the offsets that the accessors rely on.
    fn within(
        bytes: Arc<[u8]>,
        start: usize,
        key_end: usize,
        value_end: Option<usize>,
    ) -> Result<Self> {
        let end = value_end.unwrap_or(key_end);
        invariant!(
            start <= key_end && key_end <= end && end <= bytes.len(),
            "the key {start}..{key_end} and the value up to {end} lie in {} bytes",
            bytes.len()
        );
        Ok(Self {
            start: offset(start)?,
            key_end: offset(key_end)?,
            value_end: value_end.map(offset).transpose()?,
            bytes,
        })
    }

    /// Sorts by key. Of several entries with one key the last is kept.
    pub(crate) fn sort(entries: &mut Vec<Self>) {
        if !entries.is_sorted_by(|left, right| left.key() < right.key()) {
            // The sort is stable, so after the reversal the latest entry of a key comes first.
            entries.reverse();
            entries.sort_by(|left, right| left.key().cmp(right.key()));
            entries.dedup_by(|earlier, kept| earlier.key() == kept.key());
        }
        debug_assert!(
            entries.is_sorted_by(|left, right| left.key() < right.key()),
            "broken invariant: sorted entries have distinct ascending keys"
        );
    }

    pub(crate) fn key(&self) -> &[u8] {
        self.slice(self.start, self.key_end)
    }

    /// The value; `None` for a tombstone.
    pub(crate) fn value(&self) -> Option<&[u8]> {
        self.value_end.map(|end| self.slice(self.key_end, end))
    }

    /// Bytes of key and value.
    pub(crate) fn len(&self) -> usize {
        self.key().len() + self.value().map_or(0, <[u8]>::len)
    }

    #[expect(clippy::indexing_slicing, reason = "checked by `within`, and the bytes never change")]
    fn slice(&self, start: u32, end: u32) -> &[u8] {
        &self.bytes[start as usize..end as usize]
    }
}

fn offset(at: usize) -> Result<u32> {
    u32::try_from(at).map_err(|_| Error::limit("bytes of an entry", u32::MAX, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_entry_of_a_key_wins() {
        let mut batch = WriteBatch::default();
        let long = vec![7; SHARED_BYTES];
        let put = |batch: &mut WriteBatch, key: &str, value: &[u8]| {
            batch.put(key.as_bytes(), |out| out.extend(value));
        };
        put(&mut batch, "b", b"1");
        put(&mut batch, "c", &long);
        batch.delete(b"a");
        put(&mut batch, "b", b"2");
        put(&mut batch, "d", b"");
        batch.delete(b"d");
        put(&mut batch, "a", b"3");
        let mut entries = Entry::from_batch(&batch).unwrap();
        assert_eq!(entries.len(), 7);
        Entry::sort(&mut entries);
        let found: Vec<_> = entries.iter().map(|entry| (entry.key(), entry.value())).collect();
        let expected: [(&[u8], Option<&[u8]>); 4] =
            [(b"a", Some(b"3")), (b"b", Some(b"2")), (b"c", Some(&long)), (b"d", None)];
        assert_eq!(found, expected);
        let single = Entry::new(b"b", Some(b"2")).unwrap();
        assert_eq!((single.key(), single.value(), single.len()), (found[1].0, found[1].1, 2));
        assert_eq!(Entry::new(b"d", None).unwrap().value(), None);
    }

    #[test]
    #[should_panic(expected = "broken invariant")]
    fn an_entry_outside_of_its_bytes_is_refused() {
        Entry::within(Arc::from(&b"key"[..]), 0, 2, Some(4)).ok();
    }
}
