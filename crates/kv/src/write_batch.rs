//! A batch of puts and deletes on its way into a transaction.

/// Size at which a batch is worth writing ([`WriteBatch::is_full`]).
const FULL_BYTES: usize = 48 << 10;
/// Room for the entry that makes a batch full.
const LAST_ENTRY_BYTES: usize = 8 << 10;

/// Puts and deletes that are written together. All keys and values share one buffer, into which a
/// value can be encoded directly.
#[derive(Clone, Debug, Default)]
pub struct WriteBatch {
    bytes: Vec<u8>,
    ends: Vec<BatchedEnd>,
}

/// Where an entry ends in the buffer; it starts where the previous one ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchedEnd {
    pub(crate) key: usize,
    /// The end of the value; `None` for a tombstone.
    pub(crate) value: Option<usize>,
}

impl BatchedEnd {
    pub(crate) fn entry(self) -> usize {
        self.value.unwrap_or(self.key)
    }
}

impl WriteBatch {
    /// An empty batch with room for `entries` entries of `bytes` bytes each, but for no more than
    /// a full batch holds.
    pub fn with_capacity(entries: usize, bytes: usize) -> Self {
        let mut batch = Self::default();
        batch.reserve(entries, bytes);
        batch
    }

    /// Makes room for `entries` more entries of `bytes` bytes each, but for no more than a full
    /// batch holds.
    pub fn reserve(&mut self, entries: usize, bytes: usize) {
        let total_bytes = entries.saturating_mul(bytes).min(FULL_BYTES + LAST_ENTRY_BYTES);
        self.bytes.reserve(total_bytes);
        self.ends.reserve(entries.min(total_bytes / bytes.max(1)));
    }

    /// Sets `key` to the bytes that `encode` appends.
    pub fn put(&mut self, key: &[u8], encode: impl FnOnce(&mut Vec<u8>)) {
        self.bytes.extend_from_slice(key);
        let key_end = self.bytes.len();
        encode(&mut self.bytes);
        debug_assert!(self.bytes.len() >= key_end, "broken invariant: an encoder only appends");
        self.ends.push(BatchedEnd { key: key_end, value: Some(self.bytes.len()) });
    }

    /// Deletes `key`.
    pub fn delete(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push(BatchedEnd { key: self.bytes.len(), value: None });
    }

    /// Whether the batch holds enough to be worth writing.
    pub fn is_full(&self) -> bool {
        self.bytes.len() >= FULL_BYTES
    }

    /// Whether the batch holds no entry.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Removes all entries and keeps the buffer.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// The entries in the order in which they were added: each key with its value, or with `None`
    /// if it is deleted.
    #[expect(
        clippy::indexing_slicing,
        reason = "every end was the length of the buffer, which only grows until it is cleared \
                  together with the ends"
    )]
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let key = &self.bytes[start..end.key];
            start = end.entry();
            (key, end.value.map(|value_end| &self.bytes[end.key..value_end]))
        })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn ends(&self) -> &[BatchedEnd] {
        &self.ends
    }
}
