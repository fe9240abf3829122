//! Rows on their way into a store.

use leafbase_model::Result;

use super::Transaction;

/// Who writes many rows passes them on when there are so many bytes.
const FULL_BYTES: usize = 48 << 10;
/// And the last of them mostly takes no more than this.
const LAST_BYTES: usize = 8 << 10;

/// Rows to be put or deleted together. They lie in one piece of memory, where each value can be
/// made in its place.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    bytes: Vec<u8>,
    ends: Vec<End>,
}

/// Where a row ends; it begins where the one before it ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) key: usize,
    /// None if the key is to be deleted.
    pub(super) value: Option<usize>,
}

impl End {
    pub(super) fn row(self) -> usize {
        self.value.unwrap_or(self.key)
    }
}

impl Rows {
    /// With room for so many rows of so many bytes each, as far as they are passed on together.
    pub fn with_room(rows: usize, bytes: usize) -> Self {
        let bytes_of_all = rows.saturating_mul(bytes).min(FULL_BYTES + LAST_BYTES);
        let rows = rows.min(bytes_of_all / bytes.max(1));
        Self { bytes: Vec::with_capacity(bytes_of_all), ends: Vec::with_capacity(rows) }
    }

    /// Sets `key` to what `write` appends.
    pub fn put(&mut self, key: &[u8], write: impl FnOnce(&mut Vec<u8>)) {
        self.bytes.extend_from_slice(key);
        let key = self.bytes.len();
        write(&mut self.bytes);
        self.ends.push(End { key, value: Some(self.bytes.len()) });
    }

    /// Removes `key`.
    pub fn delete(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push(End { key: self.bytes.len(), value: None });
    }

    /// Whether there are enough to be worth a call.
    pub fn is_full(&self) -> bool {
        self.bytes.len() >= FULL_BYTES
    }

    /// Writes them, and lets go of them.
    ///
    /// # Errors
    /// What the engine reports.
    pub fn write_to(&mut self, transaction: &mut dyn Transaction) -> Result<()> {
        if !self.ends.is_empty() {
            transaction.put_all(self)?;
        }
        self.bytes.clear();
        self.ends.clear();
        Ok(())
    }

    /// Each key with its value, or without one if it is to be deleted.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let key = self.bytes.get(start..end.key).unwrap_or_default();
            start = end.row();
            (key, end.value.map(|value_end| self.bytes.get(end.key..value_end).unwrap_or_default()))
        })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn ends(&self) -> &[End] {
        &self.ends
    }
}
