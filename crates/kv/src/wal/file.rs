//! The file of the write-ahead log: records one after the other, each valid or absent.
//!
//! A record names its *epoch*, which a checkpoint of the store's file starts, and its number within
//! the epoch. A checkpoint holds everything written before it, so it truncates the log by starting
//! the next epoch: nothing in this file has to change with it, and records of earlier epochs are
//! ignored. The checksums of an epoch are seeded with its *salt*, which cannot be guessed by who
//! writes a text into the store: bytes of a value cannot pass for a record.
//!
//! A durable write fsyncs the log after its record, a relaxed one does not: the operating system
//! has the record, so that it survives the process, and a power loss may take it. The sectors of
//! unsynced records reach the device in any order. So each record also names how many records
//! before it were fsynced: an invalid one among them is corruption. Any other invalid record ends
//! the log, as a torn write that loses a suffix; valid records after it belong to that suffix.
//! Corruption since the last fsync that a valid record names is indistinguishable from a torn
//! write.

use std::io;
use std::mem;
use std::ops::Range;

use leafbase_model::{Error, Result, invariant};
use redb::StorageBackend;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::io_errors::io_error;
use crate::memtable::{Entry, Memtable};
use crate::store::Durability;

/// The file grows by this much, filled with zeros: overwriting allocated bytes costs half of
/// appending.
const GROWTH_BYTES: usize = 256 << 10;
/// Checksum, epoch, number, synced records, payload length: eight bytes each.
const HEADER_BYTES: usize = 40;
/// Records start at multiples of this.
const ALIGNMENT: usize = 8;
/// Most bytes of a log. The bounds of the memtable truncate it before, unless its entries are tiny.
const MAX_BYTES: u64 = 32 << 20;
/// A buffer for records that is larger than this is freed after use.
const MAX_KEPT_BUFFER_BYTES: usize = 256 << 10;
/// Length of the key, length of the value: four bytes each.
const ENTRY_HEADER_BYTES: usize = 8;
/// Length of a value that marks a tombstone.
const TOMBSTONE: u32 = u32::MAX;

/// The number and the salt of an epoch. Epochs count from 1, so a file of zeros holds no record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WalEpoch {
    pub(crate) number: u64,
    pub(crate) salt: u64,
}

impl WalEpoch {
    /// The epoch that a checkpoint of `memtable` starts. The salt depends on all that was written.
    pub(crate) fn next(self, memtable: &Memtable) -> Self {
        let hash = |seed, bytes: &[u8]| xxh3_64_with_seed(bytes, seed);
        let salt = memtable.iter().fold(self.salt, |salt, entry| {
            entry.value().into_iter().fold(hash(salt, entry.key()), hash)
        });
        Self { number: self.number + 1, salt }
    }

    fn checksum(self, bytes: &[u8]) -> u64 {
        xxh3_64_with_seed(bytes, self.salt)
    }
}

/// An open write-ahead log that records are appended to.
#[derive(Debug)]
pub(crate) struct WalFile {
    file: Box<dyn StorageBackend>,
    epoch: WalEpoch,
    /// The number of the next record.
    next_number: u64,
    /// How many records of the epoch are fsynced: all before this number.
    synced: u64,
    /// The offset of the next record.
    end: u64,
    file_bytes: u64,
    /// Reused for each record.
    buffer: Vec<u8>,
}

impl WalFile {
    /// Starts an empty log in `file`, whatever it holds.
    pub(crate) fn create(file: Box<dyn StorageBackend>) -> io::Result<Self> {
        file.set_len(0)?;
        let epoch = WalEpoch::default();
        let (next_number, synced, end, file_bytes) = (0, 0, 0, 0);
        let mut wal =
            Self { file, epoch, next_number, synced, end, file_bytes, buffer: Vec::new() };
        wal.grow_to(GROWTH_BYTES as u64)?;
        wal.file.sync_data()?;
        Ok(wal)
    }

    /// Truncates the log: from now on it takes records of `epoch`.
    pub(crate) fn start_epoch(&mut self, epoch: WalEpoch) {
        debug_assert!(
            epoch.number > 0,
            "broken invariant: epochs count from 1, so that zeros are not a record"
        );
        // The bytes of the last epoch stay in the file. Its records name it, so replay ignores
        // them.
        self.epoch = epoch;
        self.next_number = 0;
        self.synced = 0;
        self.end = 0;
    }

    /// Whether a record of these entries, which have `bytes` bytes, exceeds the length of a log.
    pub(crate) fn is_full_for(&self, entries: usize, bytes: usize) -> bool {
        let record = HEADER_BYTES + entries * ENTRY_HEADER_BYTES + bytes;
        self.end + record.next_multiple_of(ALIGNMENT) as u64 > MAX_BYTES
    }

    /// Appends a record in one write, and fsyncs the log if it has to be durable. After an error
    /// the record may be in the file or not; [`Self::truncate_tail`] removes it.
    pub(crate) fn append(
        &mut self,
        entries: &[Entry],
        durability: Durability,
    ) -> Result<io::Result<()>> {
        let mut record = mem::take(&mut self.buffer);
        let head = RecordHead { epoch: self.epoch, number: self.next_number, synced: self.synced };
        let encoded = encode(&mut record, head, entries)?;
        let appended = encoded.and_then(|()| self.write(&record, durability));
        if record.capacity() <= MAX_KEPT_BUFFER_BYTES {
            self.buffer = record;
        }
        Ok(appended)
    }

    fn write(&mut self, record: &[u8], durability: Durability) -> io::Result<()> {
        let end = self.end + record.len() as u64;
        debug_assert!(
            end.is_multiple_of(ALIGNMENT as u64),
            "broken invariant: a record ends where the next one can start"
        );
        if end > self.file_bytes {
            self.grow_to(end.next_multiple_of(GROWTH_BYTES as u64))?;
        }
        debug_assert!(
            end <= self.file_bytes,
            "broken invariant: a record lies in the allocated part of the file"
        );
        debug_assert!(
            self.synced <= self.next_number,
            "broken invariant: no record is synced before it is written"
        );
        self.file.write(self.end, record)?;
        if durability == Durability::Durable {
            self.file.sync_data()?;
            self.synced = self.next_number + 1;
        }
        // Only now: a record that failed is overwritten by the truncation.
        self.end = end;
        self.next_number += 1;
        Ok(())
    }

    /// Fsyncs the records that relaxed writes appended.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()?;
        self.synced = self.next_number;
        Ok(())
    }

    fn grow_to(&mut self, length: u64) -> io::Result<()> {
        debug_assert!(
            length.is_multiple_of(GROWTH_BYTES as u64),
            "broken invariant: the file grows in whole steps"
        );
        let zeros = vec![0; GROWTH_BYTES];
        self.file.set_len(length)?;
        while self.file_bytes < length {
            if let Err(error) = self.file.write(self.file_bytes, &zeros) {
                // On a full disk the length would be a hole that `truncate_tail` cannot write to.
                let _ = self.file.set_len(self.file_bytes);
                return Err(error);
            }
            self.file_bytes += zeros.len() as u64;
        }
        Ok(())
    }

    /// Overwrites and fsyncs the header of a record whose append failed.
    pub(crate) fn truncate_tail(&self) -> io::Result<()> {
        if self.file.len()? >= self.end + HEADER_BYTES as u64 {
            self.file.write(self.end, &[0; HEADER_BYTES])?;
        }
        self.file.sync_data()
    }
}

/// Replays the records of `epoch` in order into a memtable.
///
/// # Errors
/// [`Corrupted`](leafbase_model::ErrorKind::Corrupted) naming the invalid record; I/O errors.
pub(crate) fn replay(file: &dyn StorageBackend, epoch: WalEpoch) -> Result<Memtable> {
    let read = read_all(file);
    let bytes = read.map_err(|error| io_error("the write-ahead log could not be read", error))?;
    if bytes.len() < GROWTH_BYTES {
        return Err(Error::corrupted("the write-ahead log, which is truncated"));
    }
    let mut memtable = Memtable::default();
    let mut at = 0;
    let mut number = 0;
    while let Some(record) =
        Record::parse(&bytes, at, epoch).filter(|record| record.number == number)
    {
        if !replay_payload(record.payload, &mut memtable)? {
            return Err(corrupt_record(number));
        }
        at += record.aligned_bytes();
        number += 1;
    }
    // The first invalid record is a torn write unless a later one says that it was fsynced.
    let mut later = (at..bytes.len()).step_by(ALIGNMENT).skip(1);
    let follows_its_sync = |record: Record<'_>| record.number > number && record.synced > number;
    if later.any(|at| Record::parse(&bytes, at, epoch).is_some_and(follows_its_sync)) {
        return Err(corrupt_record(number));
    }
    Ok(memtable)
}

/// Reads the valid records of a corrupt log: their entries, and the numbers of the unreadable
/// records before them.
///
/// # Errors
/// I/O errors, as an error of the store.
pub(crate) fn salvage_records(
    file: &dyn StorageBackend,
    epoch: WalEpoch,
) -> Result<(Memtable, Vec<Range<u64>>)> {
    let read = read_all(file);
    let bytes = read.map_err(|error| io_error("the write-ahead log could not be read", error))?;
    let mut memtable = Memtable::default();
    let mut unreadable = Vec::new();
    let mut at = 0;
    let mut next_number = 0;
    while at < bytes.len() {
        let record = Record::parse(&bytes, at, epoch).filter(|record| record.number >= next_number);
        match record {
            Some(record) if replay_payload(record.payload, &mut memtable)? => {
                if next_number < record.number {
                    unreadable.push(next_number..record.number);
                }
                next_number = record.number + 1;
                at += record.aligned_bytes();
            }
            _ => at += ALIGNMENT,
        }
    }
    Ok((memtable, unreadable))
}

fn corrupt_record(number: u64) -> Error {
    Error::corrupted(format_args!("record {} of the write-ahead log", number + 1))
}

fn read_all(file: &dyn StorageBackend) -> io::Result<Vec<u8>> {
    let length = usize::try_from(file.len()?.min(MAX_BYTES)).map_err(io::Error::other)?;
    let mut bytes = vec![0; length];
    if length > 0 {
        file.read(0, &mut bytes)?;
    }
    Ok(bytes)
}

/// A record with a correct checksum.
struct Record<'b> {
    number: u64,
    /// How many records of the epoch were fsynced before this one was written.
    synced: u64,
    payload: &'b [u8],
}

impl<'b> Record<'b> {
    fn parse(bytes: &'b [u8], at: usize, epoch: WalEpoch) -> Option<Self> {
        let record = bytes.get(at..)?;
        if u64_at(record, 8)? != epoch.number {
            return None;
        }
        let length = usize::try_from(u64_at(record, 32)?).ok()?;
        let end = HEADER_BYTES.checked_add(length)?;
        let payload = record.get(HEADER_BYTES..end)?;
        if epoch.checksum(record.get(8..end)?) != u64_at(record, 0)? {
            return None;
        }
        Some(Self { number: u64_at(record, 16)?, synced: u64_at(record, 24)?, payload })
    }

    fn aligned_bytes(&self) -> usize {
        (HEADER_BYTES + self.payload.len()).next_multiple_of(ALIGNMENT)
    }
}

/// What a record says of itself.
#[derive(Clone, Copy)]
struct RecordHead {
    epoch: WalEpoch,
    number: u64,
    synced: u64,
}

/// Encodes a record. Fails for a key or a value of 4 GiB, which the format cannot hold.
fn encode(record: &mut Vec<u8>, head: RecordHead, entries: &[Entry]) -> Result<io::Result<()>> {
    let payload = entries.iter().map(|entry| ENTRY_HEADER_BYTES + entry.len()).sum::<usize>();
    record.clear();
    record.reserve((HEADER_BYTES + payload).next_multiple_of(ALIGNMENT));
    record.resize(HEADER_BYTES, 0);
    for entry in entries {
        let Some(key_bytes) = encoded_length(entry.key()) else {
            return Ok(Err(io::ErrorKind::InvalidInput.into()));
        };
        let value_bytes = match entry.value() {
            None => TOMBSTONE,
            Some(value) => match encoded_length(value) {
                Some(length) => length,
                None => return Ok(Err(io::ErrorKind::InvalidInput.into())),
            },
        };
        record.extend_from_slice(&key_bytes.to_le_bytes());
        record.extend_from_slice(&value_bytes.to_le_bytes());
        record.extend_from_slice(entry.key());
        if let Some(value) = entry.value() {
            record.extend_from_slice(value);
        }
    }
    let payload_bytes = (record.len() - HEADER_BYTES) as u64;
    let RecordHead { epoch, number, synced } = head;
    let header_words = [epoch.number, number, synced, payload_bytes];
    let Some((_, words)) = record.split_first_chunk_mut::<8>() else {
        invariant!("a record starts with its header")
    };
    for (word, slot) in header_words.iter().zip(words.chunks_exact_mut(8)) {
        slot.copy_from_slice(&word.to_le_bytes());
    }
    // The checksum covers the rest of the header and the payload, without the padding.
    let checksum = epoch.checksum(words);
    let Some(slot) = record.first_chunk_mut::<8>() else {
        invariant!("a record starts with its header")
    };
    *slot = checksum.to_le_bytes();
    record.resize(record.len().next_multiple_of(ALIGNMENT), 0);
    Ok(Ok(()))
}

fn encoded_length(bytes: &[u8]) -> Option<u32> {
    u32::try_from(bytes.len()).ok().filter(|length| *length < TOMBSTONE)
}

/// Inserts the entries of a payload. Returns `false` if it is malformed: its checksum is correct,
/// so something else wrote it.
fn replay_payload(mut payload: &[u8], memtable: &mut Memtable) -> Result<bool> {
    while !payload.is_empty() {
        let Some((key, value, rest)) = split_entry(payload) else { return Ok(false) };
        memtable.insert(&Entry::new(key, value)?)?;
        payload = rest;
    }
    Ok(true)
}

/// Key, value or tombstone, and the rest of the payload.
type SplitEntry<'p> = (&'p [u8], Option<&'p [u8]>, &'p [u8]);

/// The first entry of a payload and what follows it.
fn split_entry(payload: &[u8]) -> Option<SplitEntry<'_>> {
    let key_bytes = usize::try_from(u32_at(payload, 0)?).ok()?;
    let value_bytes = u32_at(payload, 4)?;
    let (key, rest) = payload.get(ENTRY_HEADER_BYTES..)?.split_at_checked(key_bytes)?;
    if value_bytes == TOMBSTONE {
        return Some((key, None, rest));
    }
    let (value, rest) = rest.split_at_checked(usize::try_from(value_bytes).ok()?)?;
    Some((key, Some(value), rest))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use leafbase_model::ErrorKind;
    use redb::backends::InMemoryBackend;

    use super::*;

    fn epoch(number: u64) -> WalEpoch {
        WalEpoch { number, salt: number * 77 }
    }

    /// An entry whose key and value depend on its number.
    fn entry(number: u64) -> Entry {
        let value = vec![b'v'; usize::try_from(number).unwrap() * 7];
        Entry::new(format!("key {number}").as_bytes(), (number % 3 != 2).then_some(&value)).unwrap()
    }

    fn fill(wal: &mut WalFile, numbers: Range<u64>) {
        append(wal, numbers, Durability::Durable);
    }

    fn append(wal: &mut WalFile, numbers: Range<u64>, durability: Durability) {
        for entry in numbers.map(entry) {
            wal.append(&[entry], durability).unwrap().unwrap();
        }
    }

    /// The bytes of a log with four records of epoch 3 over the remains of epoch 2.
    fn sample() -> Vec<u8> {
        let mut wal = WalFile::create(Box::new(InMemoryBackend::new())).unwrap();
        wal.start_epoch(epoch(2));
        fill(&mut wal, 10..16);
        wal.start_epoch(epoch(3));
        fill(&mut wal, 0..4);
        read_all(&*wal.file).unwrap()
    }

    fn replayed(bytes: &[u8], number: u64) -> Result<Vec<String>> {
        let file = InMemoryBackend::new();
        file.set_len(bytes.len() as u64).unwrap();
        file.write(0, bytes).unwrap();
        let keys = |memtable: Memtable| {
            memtable.keys().map(|key| String::from_utf8_lossy(key).into_owned()).collect()
        };
        replay(&file, epoch(number)).map(keys)
    }

    /// The offsets of the records of an epoch.
    fn starts(bytes: &[u8], number: u64) -> Vec<usize> {
        (0..bytes.len())
            .step_by(ALIGNMENT)
            .filter(|at| Record::parse(bytes, *at, epoch(number)).is_some())
            .collect()
    }

    #[test]
    fn a_new_epoch_truncates_the_log() {
        let bytes = sample();
        assert_eq!(replayed(&bytes, 3).unwrap(), ["key 0", "key 1", "key 2", "key 3"]);
        assert!(!starts(&bytes, 2).is_empty(), "records of the previous epoch remain");
        assert!(replayed(&bytes, 4).unwrap().is_empty());
        assert_eq!(
            replayed(&bytes[..bytes.len() / 2], 3).unwrap_err().kind(),
            ErrorKind::Corrupted,
            "truncated"
        );
        let file = InMemoryBackend::new();
        file.set_len(bytes.len() as u64).unwrap();
        file.write(0, &bytes).unwrap();
        assert!(replay(&file, WalEpoch { number: 3, salt: 1 }).unwrap().is_empty(), "another salt");
    }

    #[test]
    fn a_torn_record_ends_the_log_and_a_corrupt_one_before_others_is_named() {
        let bytes = sample();
        let starts = starts(&bytes, 3);
        for (number, start) in starts.iter().enumerate() {
            let mut cut = bytes.clone();
            cut[start + HEADER_BYTES + 3..].fill(0);
            let cut = replayed(&cut, 3).unwrap();
            assert_eq!(cut.len(), number, "cut in record {number}");
            for at in [0, 9, 17, 25, 33, HEADER_BYTES, HEADER_BYTES + 9] {
                let mut damaged = bytes.clone();
                damaged[start + at] ^= 0x10;
                let found = replayed(&damaged, 3);
                if number + 1 == starts.len() {
                    assert_eq!(found.unwrap().len(), number, "byte {at} of the last record");
                } else {
                    let error = found.unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::Corrupted);
                    assert!(
                        error
                            .to_string()
                            .contains(&format!("record {} of the write-ahead log", number + 1)),
                        "{error}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_valid_records_of_a_corrupt_log_are_salvaged() {
        let bytes = sample();
        let starts = starts(&bytes, 3);
        let cases: [(&[usize], Option<Range<u64>>); 3] =
            [(&[0], Some(0..1)), (&[1, 2], Some(1..3)), (&[3], None)];
        for (damaged, lost) in cases {
            let file = InMemoryBackend::new();
            file.set_len(bytes.len() as u64).unwrap();
            file.write(0, &bytes).unwrap();
            for number in damaged {
                file.write(starts[*number] as u64 + 20, &[9]).unwrap();
            }
            let (memtable, found) = salvage_records(&file, epoch(3)).unwrap();
            assert_eq!(
                (memtable.len(), found),
                (4 - damaged.len(), lost.into_iter().collect()),
                "{damaged:?}"
            );
        }
    }

    #[test]
    fn a_truncated_record_is_gone() {
        let mut wal = WalFile::create(Box::new(InMemoryBackend::new())).unwrap();
        wal.start_epoch(epoch(1));
        fill(&mut wal, 0..2);
        let before = (wal.end, wal.next_number, wal.synced);
        fill(&mut wal, 2..3);
        (wal.end, wal.next_number, wal.synced) = before;
        wal.truncate_tail().unwrap();
        assert_eq!(replay(&*wal.file, epoch(1)).unwrap().len(), 2);
        fill(&mut wal, 3..5);
        assert_eq!(replay(&*wal.file, epoch(1)).unwrap().len(), 4);
    }

    /// Of each unsynced record any sectors may be lost. What is left is a prefix of the records; a
    /// lost record that was fsynced is corruption.
    #[test]
    fn unsynced_records_are_lost_as_a_suffix() {
        let mut wal = WalFile::create(Box::new(InMemoryBackend::new())).unwrap();
        wal.start_epoch(epoch(3));
        append(&mut wal, 0..2, Durability::Relaxed);
        append(&mut wal, 2..3, Durability::Durable);
        append(&mut wal, 3..6, Durability::Relaxed);
        let bytes = read_all(&*wal.file).unwrap();
        for (number, start) in starts(&bytes, 3).into_iter().enumerate() {
            let mut torn = bytes.clone();
            torn[start + HEADER_BYTES - 3] ^= 1;
            match replayed(&torn, 3) {
                Ok(keys) => assert_eq!(keys.len(), number, "record {number}"),
                Err(error) => {
                    assert!(number < 3, "record {number}: {error}");
                    assert_eq!(error.kind(), ErrorKind::Corrupted);
                }
            }
            assert_eq!(replayed(&torn, 3).is_err(), number < 3, "record {number}");
        }
        wal.sync().unwrap();
        append(&mut wal, 6..7, Durability::Relaxed);
        let mut bytes = read_all(&*wal.file).unwrap();
        let start = starts(&bytes, 3)[4];
        bytes[start] ^= 1;
        assert_eq!(replayed(&bytes, 3).unwrap_err().kind(), ErrorKind::Corrupted);
    }

    #[test]
    fn a_log_has_a_greatest_length() {
        let mut wal = WalFile::create(Box::new(InMemoryBackend::new())).unwrap();
        wal.start_epoch(epoch(1));
        let large = [Entry::new(b"key", Some(&vec![7; 1 << 20])).unwrap()];
        let mut records = 0;
        while !wal.is_full_for(1, large[0].len()) {
            wal.append(&large, Durability::Relaxed).unwrap().unwrap();
            records += 1;
        }
        assert_eq!(records, 31);
        assert!(wal.file_bytes <= MAX_BYTES && wal.buffer.capacity() <= MAX_KEPT_BUFFER_BYTES);
        assert_eq!(replay(&*wal.file, epoch(1)).unwrap().len(), 1);
    }

    #[test]
    fn it_grows() {
        let mut wal = WalFile::create(Box::new(InMemoryBackend::new())).unwrap();
        wal.start_epoch(epoch(1));
        for number in 0..9_u8 {
            let entry = Entry::new(b"key", Some(&vec![number; 100_000])).unwrap();
            wal.append(&[entry], Durability::Durable).unwrap().unwrap();
        }
        assert_eq!(wal.file_bytes, 4 * GROWTH_BYTES as u64);
        let memtable = replay(&*wal.file, epoch(1)).unwrap();
        assert_eq!(memtable.get(b"key").unwrap().value(), Some(&vec![8_u8; 100_000][..]));
    }
}
