//! What a transaction has written, for the write-ahead log.

use leafbase_model::{IdMap, Result, invariant};

use crate::memtable::{Entry, EntryAddress};

/// The entries that a transaction has written. A batch writes the page that it edits again and
/// again: of a large entry only the last version is kept, so that 100 edits hold and log one page
/// instead of 100.
#[derive(Default)]
pub(super) struct WrittenEntries {
    /// Possibly several of one key, the last one last.
    entries: Vec<Entry>,
    /// Where the large ones are in it.
    large: IdMap<EntryAddress, usize>,
    /// Bytes of all entries.
    bytes: usize,
}

impl WrittenEntries {
    /// Adds an entry. `replaced` is the one that it took the place of in the memtable.
    pub(super) fn push(&mut self, entry: Entry, replaced: Option<&Entry>) -> Result<()> {
        self.bytes += entry.len();
        // What was in the memtable is the last version of its key, if it is of this transaction:
        // nothing was written under the key since.
        let former = replaced.and_then(|replaced| self.large.remove(&replaced.address()));
        let at = former.unwrap_or(self.entries.len());
        if entry.is_large() {
            self.large.insert(entry.address(), at);
        }
        if former.is_some() {
            let Some(former) = self.entries.get_mut(at) else {
                invariant!("a large entry is among those written")
            };
            self.bytes -= former.len();
            *former = entry;
        } else {
            self.entries.push(entry);
        }
        Ok(())
    }

    /// Moves `entries`, none of which is large, here.
    pub(super) fn append(&mut self, entries: &mut Vec<Entry>) {
        debug_assert!(
            !entries.iter().any(Entry::is_large),
            "broken invariant: large entries are pushed one by one"
        );
        self.bytes += entries.iter().map(Entry::len).sum::<usize>();
        self.entries.append(entries);
    }

    /// The entries, and the bytes of all.
    pub(super) fn into_parts(self) -> (Vec<Entry>, usize) {
        debug_assert_eq!(
            self.entries.iter().map(Entry::len).sum::<usize>(),
            self.bytes,
            "broken invariant: the bytes of the entries are counted"
        );
        (self.entries, self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::memtable::Memtable;

    /// A transaction that writes `writes`: a key, and the length of its value, or none.
    fn written(writes: &[(u8, Option<usize>)]) -> (Memtable, Vec<Entry>) {
        let (mut memtable, mut written) = (Memtable::default(), WrittenEntries::default());
        for (number, (key, length)) in (0..=u8::MAX).cycle().zip(writes) {
            let value = length.map(|length| vec![number; length]);
            let entry = Entry::new(&[*key], value.as_deref()).unwrap();
            let replaced = memtable.insert(&entry).unwrap();
            written.push(entry, replaced.as_ref()).unwrap();
        }
        let (entries, _) = written.into_parts();
        (memtable, entries)
    }

    fn replayed(entries: &[Entry]) -> Memtable {
        let mut memtable = Memtable::default();
        for entry in entries {
            memtable.insert(entry).unwrap();
        }
        memtable
    }

    fn content(memtable: &Memtable) -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
        memtable.iter().map(|it| (it.key().to_vec(), it.value().map(<[u8]>::to_vec))).collect()
    }

    #[test]
    fn one_version_of_a_large_entry_is_kept() {
        let writes: Vec<_> =
            (0..240_u8).flat_map(|turn| [(turn % 80, Some(2_000)), (99, Some(1))]).collect();
        let (memtable, entries) = written(&writes);
        assert_eq!(entries.iter().filter(|entry| entry.is_large()).count(), 80);
        assert_eq!(content(&replayed(&entries)), content(&memtable));
    }

    proptest! {
        #[test]
        fn a_replay_leaves_what_the_transaction_left(
            writes in prop::collection::vec(
                (0..12_u8, prop::option::weighted(0.8, prop_oneof![Just(3), Just(1_500)])),
                1..120,
            ),
        ) {
            let (memtable, entries) = written(&writes);
            prop_assert_eq!(content(&replayed(&entries)), content(&memtable));
        }
    }
}
