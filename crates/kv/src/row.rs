//! One edit: a key, and a value or nothing where the key is to be removed.

use std::sync::Arc;

use leafbase_model::{Error, Result};

use super::Rows;

/// So many bytes of rows that are written together share a piece of memory, which is freed with the
/// last of them.
const SHARED_BYTES: usize = 64 << 10;

/// An edit, shared between versions: a part of a piece of memory that others may have parts of,
/// too.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    bytes: Arc<[u8]>,
    start: u32,
    key_end: u32,
    /// None if the key is to be removed.
    end: Option<u32>,
}

impl Row {
    pub(super) fn new(key: &[u8], value: Option<&[u8]>) -> Result<Self> {
        Self::made_in(&mut Vec::with_capacity(key.len() + value.map_or(0, <[u8]>::len)), key, value)
    }

    /// The same, put together in `scratch`.
    pub(super) fn made_in(scratch: &mut Vec<u8>, key: &[u8], value: Option<&[u8]>) -> Result<Self> {
        scratch.clear();
        scratch.extend_from_slice(key);
        scratch.extend_from_slice(value.unwrap_or_default());
        let end = value.map(|_| offset(scratch.len())).transpose()?;
        Ok(Self { bytes: Arc::from(&**scratch), start: 0, key_end: offset(key.len())?, end })
    }

    /// All of `rows`, in their order.
    pub(super) fn all(rows: &Rows) -> Result<Vec<Self>> {
        let mut all: Vec<Self> = Vec::with_capacity(rows.ends().len());
        let (mut left, mut start) = (rows.ends(), 0);
        while !left.is_empty() {
            let fitting = left.partition_point(|end| end.row() - start <= SHARED_BYTES).max(1);
            let (these, others) = left.split_at_checked(fitting).unwrap_or((left, &[]));
            let end = these.last().map_or(start, |end| end.row());
            let bytes: Arc<[u8]> = Arc::from(rows.bytes().get(start..end).unwrap_or_default());
            let mut at = start;
            for end in these {
                all.push(Self {
                    bytes: Arc::clone(&bytes),
                    start: offset(at - start)?,
                    key_end: offset(end.key - start)?,
                    end: end.value.map(|end| offset(end - start)).transpose()?,
                });
                at = end.row();
            }
            (left, start) = (others, end);
        }
        Ok(all)
    }

    /// Puts rows into the order of their keys. Of several with the same key the last one counts.
    pub(super) fn sort(all: &mut Vec<Self>) {
        if !all.is_sorted_by(|left, right| left.key() < right.key()) {
            all.reverse();
            all.sort_by(|left, right| left.key().cmp(right.key()));
            all.dedup_by(|later, kept| later.key() == kept.key());
        }
    }

    pub(super) fn key(&self) -> &[u8] {
        self.part(self.start, self.key_end)
    }

    pub(super) fn value(&self) -> Option<&[u8]> {
        self.end.map(|end| self.part(self.key_end, end))
    }

    /// How many bytes its key and its value have.
    pub(super) fn len(&self) -> usize {
        self.key().len() + self.value().map_or(0, <[u8]>::len)
    }

    fn part(&self, start: u32, end: u32) -> &[u8] {
        self.bytes.get(start as usize..end as usize).unwrap_or_default()
    }
}

fn offset(at: usize) -> Result<u32> {
    u32::try_from(at).map_err(|_| Error::limit("bytes of a row", u32::MAX, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_rows_in_any_order_the_last_one_of_a_key_counts() {
        let mut rows = Rows::default();
        let long = vec![7; SHARED_BYTES];
        let put = |rows: &mut Rows, key: &str, value: &[u8]| {
            rows.put(key.as_bytes(), |out| out.extend(value))
        };
        put(&mut rows, "b", b"1");
        put(&mut rows, "c", &long);
        rows.delete(b"a");
        put(&mut rows, "b", b"2");
        put(&mut rows, "d", b"");
        rows.delete(b"d");
        put(&mut rows, "a", b"3");
        let mut all = Row::all(&rows).unwrap();
        assert_eq!(all.len(), 7);
        Row::sort(&mut all);
        let found: Vec<_> = all.iter().map(|row| (row.key(), row.value())).collect();
        let expected: [(&[u8], Option<&[u8]>); 4] =
            [(b"a", Some(b"3")), (b"b", Some(b"2")), (b"c", Some(&long)), (b"d", None)];
        assert_eq!(found, expected);
        let single = Row::new(b"b", Some(b"2")).unwrap();
        assert_eq!((single.key(), single.value(), single.len()), (found[1].0, found[1].1, 2));
        assert_eq!(Row::new(b"d", None).unwrap().value(), None);
    }
}
