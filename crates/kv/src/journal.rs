//! The journal's file: records of writes, one behind the other, each whole or not there.
//!
//! A record says of which *epoch* it is, the number of the commit of the store's file that it
//! follows, and which one it is in that epoch. So a commit, which holds all that was written before
//! it, makes the journal empty by beginning the next epoch: nothing in this file has to change with
//! it, and what is left of earlier epochs counts for nothing. The checksums of an epoch are seeded
//! with its *salt*, which nobody knows who writes a text into a space: bytes of a value can't pass
//! for a record.
//!
//! Each record is synced before the next one is written. So a record that does not check is one
//! that a loss of power cut short, if it is the last one, and damage if another one follows. Damage
//! to all records from some point to the end can't be told from that.

use std::io;
use std::ops::Range;

use leafbase_model::{Error, Result};
use redb::StorageBackend;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::failure::from_io;
use super::view::{Edits, Row};

/// The file grows by so many zeros at a time: to write over bytes that are there costs half of
/// writing behind the end.
const STEP: u64 = 256 << 10;
/// Checksum, epoch, number, length.
const HEADER: usize = 32;
/// Records begin at multiples of this.
const ALIGNED: usize = 8;
/// More is never read: a journal is emptied long before.
const MAX_BYTES: u64 = 64 << 20;
/// Instead of the length of a value: the key is removed.
const REMOVED: u32 = u32::MAX;

/// What the records of an epoch have in common. Epochs count from 1: a file of zeros holds no
/// record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Epoch {
    pub(super) number: u64,
    pub(super) salt: u64,
}

impl Epoch {
    /// The one that a commit of these edits begins.
    pub(super) fn after(self, edits: &Edits) -> Self {
        let seeded = |salt, bytes: &[u8]| xxh3_64_with_seed(bytes, salt);
        let each = |salt, row: &Row| row.value().into_iter().fold(seeded(salt, row.key()), seeded);
        Self { number: self.number + 1, salt: edits.iter().fold(self.salt, each) }
    }

    fn checksum(self, bytes: &[u8]) -> u64 {
        xxh3_64_with_seed(bytes, self.salt)
    }
}

/// Where records are added.
#[derive(Debug)]
pub(super) struct Journal {
    file: Box<dyn StorageBackend>,
    epoch: Epoch,
    /// The number of the next record.
    next: u64,
    /// Where it begins.
    end: u64,
    /// How long the file is.
    length: u64,
    /// The record being written: kept for its memory.
    record: Vec<u8>,
}

impl Journal {
    /// Begins a journal in a new file, or in place of whatever is in it.
    pub(super) fn create(file: Box<dyn StorageBackend>) -> io::Result<Self> {
        file.set_len(0)?;
        let mut journal =
            Self { file, epoch: Epoch::default(), next: 0, end: 0, length: 0, record: Vec::new() };
        journal.grow_to(STEP)?;
        journal.file.sync_data()?;
        Ok(journal)
    }

    /// Empties it: from now on it takes records of this epoch.
    pub(super) const fn restart(&mut self, epoch: Epoch) {
        self.epoch = epoch;
        self.next = 0;
        self.end = 0;
    }

    /// Adds a record of these edits, and syncs it. After an error it may be there or not:
    /// [`Self::retract`] sees to it.
    pub(super) fn append<'e>(&mut self, edits: impl Iterator<Item = &'e Row>) -> io::Result<()> {
        let mut record = std::mem::take(&mut self.record);
        encode(&mut record, self.epoch, self.next, edits)?;
        let appended = self.write(&record);
        self.record = record;
        appended
    }

    fn write(&mut self, record: &[u8]) -> io::Result<()> {
        let end = self.end + record.len() as u64;
        if end > self.length {
            self.grow_to(end.next_multiple_of(STEP))?;
        }
        self.file.write(self.end, record)?;
        self.file.sync_data()?;
        self.end = end;
        self.next += 1;
        Ok(())
    }

    fn grow_to(&mut self, length: u64) -> io::Result<()> {
        let zeros = vec![0; usize::try_from(STEP).unwrap_or_default()];
        self.file.set_len(length)?;
        while self.length < length {
            if let Err(error) = self.file.write(self.length, &zeros) {
                // A length that there is no room for is of no use: where a record is taken back,
                // nothing could be written, either.
                let _ = self.file.set_len(self.length);
                return Err(error);
            }
            self.length += STEP;
        }
        Ok(())
    }

    /// Makes sure that the record which could not be added is not there.
    pub(super) fn retract(&self) -> io::Result<()> {
        if self.file.len()? >= self.end + HEADER as u64 {
            self.file.write(self.end, &[0; HEADER])?;
        }
        self.file.sync_data()
    }
}

/// The edits of this epoch that `file` holds, in the order in which they were written, over one
/// another.
///
/// # Errors
/// [`ErrorKind::Corrupted`](leafbase_model::ErrorKind::Corrupted) naming the record that is
/// damaged; what the operating system reports.
pub(super) fn replay(file: &dyn StorageBackend, epoch: Epoch) -> Result<Edits> {
    let bytes = read(file).map_err(|error| from_io("the journal could not be read", error))?;
    if (bytes.len() as u64) < STEP {
        return Err(Error::corrupted("the journal, which was cut short"));
    }
    let (mut edits, mut at, mut number) = (Edits::default(), 0, 0);
    while let Some(record) = Record::at(&bytes, at, epoch).filter(|record| record.number == number)
    {
        decode(record.payload, &mut edits).ok_or_else(|| damaged(number))?;
        at += record.bytes();
        number += 1;
    }
    let behind = (at..bytes.len()).step_by(ALIGNED).skip(1);
    if behind.filter_map(|at| Record::at(&bytes, at, epoch)).any(|record| record.number > number) {
        return Err(damaged(number));
    }
    Ok(edits)
}

/// What a damaged journal still holds: the edits of its whole records, and the numbers of those
/// that are lost before others.
pub(super) fn remains(
    file: &dyn StorageBackend,
    epoch: Epoch,
) -> io::Result<(Edits, Vec<Range<u64>>)> {
    let bytes = read(file)?;
    let (mut edits, mut lost, mut at, mut next) = (Edits::default(), Vec::new(), 0, 0);
    while at < bytes.len() {
        match Record::at(&bytes, at, epoch).filter(|record| record.number >= next) {
            Some(record) if decode(record.payload, &mut edits).is_some() => {
                lost.extend((next < record.number).then_some(next..record.number));
                next = record.number + 1;
                at += record.bytes();
            }
            _ => at += ALIGNED,
        }
    }
    Ok((edits, lost))
}

fn damaged(number: u64) -> Error {
    Error::corrupted(format_args!("record {} of the journal", number + 1))
}

fn read(file: &dyn StorageBackend) -> io::Result<Vec<u8>> {
    let length = usize::try_from(file.len()?.min(MAX_BYTES)).unwrap_or_default();
    let mut bytes = vec![0; length];
    if length > 0 {
        file.read(0, &mut bytes)?;
    }
    Ok(bytes)
}

/// A record that checks.
struct Record<'b> {
    number: u64,
    payload: &'b [u8],
}

impl<'b> Record<'b> {
    fn at(bytes: &'b [u8], at: usize, epoch: Epoch) -> Option<Self> {
        let record = bytes.get(at..)?;
        if u64_at(record, 8)? != epoch.number {
            return None;
        }
        let length = usize::try_from(u64_at(record, 24)?).ok()?;
        let end = HEADER.checked_add(length)?;
        let (checked, payload) = (record.get(8..end)?, record.get(HEADER..end)?);
        (epoch.checksum(checked) == u64_at(record, 0)?)
            .then_some(Self { number: u64_at(record, 16)?, payload })
    }

    fn bytes(&self) -> usize {
        (HEADER + self.payload.len()).next_multiple_of(ALIGNED)
    }
}

fn encode<'e>(
    record: &mut Vec<u8>,
    epoch: Epoch,
    number: u64,
    edits: impl Iterator<Item = &'e Row>,
) -> io::Result<()> {
    record.clear();
    record.resize(HEADER, 0);
    for (key, value) in edits.map(|row| (row.key(), row.value())) {
        let length = |bytes: &[u8]| {
            u32::try_from(bytes.len())
                .ok()
                .filter(|length| *length < REMOVED)
                .ok_or(io::ErrorKind::InvalidInput)
        };
        let value_length = value.map_or(Ok(REMOVED), length)?;
        record.extend_from_slice(&length(key)?.to_le_bytes());
        record.extend_from_slice(&value_length.to_le_bytes());
        record.extend_from_slice(key);
        record.extend_from_slice(value.unwrap_or_default());
    }
    let length = (record.len() - HEADER) as u64;
    put_u64(record, 8, epoch.number);
    put_u64(record, 16, number);
    put_u64(record, 24, length);
    let checksum = epoch.checksum(record.get(8..).unwrap_or_default());
    put_u64(record, 0, checksum);
    record.resize(record.len().next_multiple_of(ALIGNED), 0);
    Ok(())
}

/// None if the payload is not one: its checksum held, so something else wrote it.
fn decode(mut payload: &[u8], edits: &mut Edits) -> Option<()> {
    while !payload.is_empty() {
        let (key, value) = (u32_at(payload, 0)?, u32_at(payload, 4)?);
        let (key, rest) = payload.get(8..)?.split_at_checked(usize::try_from(key).ok()?)?;
        let (value, rest) = if value == REMOVED {
            (None, rest)
        } else {
            let (value, rest) = rest.split_at_checked(usize::try_from(value).ok()?)?;
            (Some(value), rest)
        };
        edits.insert(&Row::new(key, value).ok()?);
        payload = rest;
    }
    Some(())
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes)
}

fn put_u64(bytes: &mut [u8], at: usize, value: u64) {
    if let Some(there) = bytes.get_mut(at..at + 8) {
        there.copy_from_slice(&value.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use leafbase_model::ErrorKind;
    use redb::backends::InMemoryBackend;

    use super::*;

    fn epoch(number: u64) -> Epoch {
        Epoch { number, salt: number * 77 }
    }

    /// One edit, whose key and value tell its number.
    fn edit(number: u64) -> Row {
        let value = vec![b'v'; usize::try_from(number).unwrap() * 7];
        Row::new(format!("key {number}").as_bytes(), (number % 3 != 2).then_some(&value)).unwrap()
    }

    fn fill(journal: &mut Journal, numbers: std::ops::Range<u64>) {
        for row in numbers.map(edit) {
            journal.append(std::iter::once(&row)).unwrap();
        }
    }

    /// A journal of epoch 3 with four records over two of epoch 2, and its bytes.
    fn written() -> Vec<u8> {
        let mut journal = Journal::create(Box::new(InMemoryBackend::new())).unwrap();
        journal.restart(epoch(2));
        fill(&mut journal, 10..16);
        journal.restart(epoch(3));
        fill(&mut journal, 0..4);
        read(&*journal.file).unwrap()
    }

    fn replayed(bytes: &[u8], number: u64) -> Result<Vec<String>> {
        let file = InMemoryBackend::new();
        file.set_len(bytes.len() as u64).unwrap();
        file.write(0, bytes).unwrap();
        let keys = |edits: Edits| {
            edits.keys().map(|key| String::from_utf8_lossy(key).into_owned()).collect()
        };
        replay(&file, epoch(number)).map(keys)
    }

    /// Where the records of an epoch begin.
    fn starts(bytes: &[u8], number: u64) -> Vec<usize> {
        (0..bytes.len())
            .step_by(ALIGNED)
            .filter(|at| Record::at(bytes, *at, epoch(number)).is_some())
            .collect()
    }

    #[test]
    fn what_was_added_since_the_last_restart_is_there() {
        let bytes = written();
        assert_eq!(replayed(&bytes, 3).unwrap(), ["key 0", "key 1", "key 2", "key 3"]);
        assert!(!starts(&bytes, 2).is_empty(), "something of the epoch before is left");
        assert!(replayed(&bytes, 4).unwrap().is_empty());
        assert_eq!(
            replayed(&bytes[..bytes.len() / 2], 3).unwrap_err().kind(),
            ErrorKind::Corrupted,
            "cut short"
        );
        let file = InMemoryBackend::new();
        file.set_len(bytes.len() as u64).unwrap();
        file.write(0, &bytes).unwrap();
        assert!(replay(&file, Epoch { number: 3, salt: 1 }).unwrap().is_empty(), "of another salt");
    }

    #[test]
    fn a_record_cut_short_ends_it_and_one_damaged_before_others_is_named() {
        let bytes = written();
        let starts = starts(&bytes, 3);
        for (number, start) in starts.iter().enumerate() {
            let mut cut = bytes.clone();
            cut[start + HEADER + 3..].fill(0);
            let cut = replayed(&cut, 3).unwrap();
            assert_eq!(cut.len(), number, "cut in record {number}");
            for at in [0, 9, 17, 25, HEADER, HEADER + 9] {
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
                            .contains(&format!("record {} of the journal", number + 1)),
                        "{error}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_remains_of_a_damaged_one_is_what_is_whole() {
        let bytes = written();
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
            let (edits, found) = remains(&file, epoch(3)).unwrap();
            assert_eq!(
                (edits.size(), found),
                (4 - damaged.len(), lost.into_iter().collect()),
                "{damaged:?}"
            );
        }
    }

    #[test]
    fn what_is_retracted_is_not_there() {
        let mut journal = Journal::create(Box::new(InMemoryBackend::new())).unwrap();
        journal.restart(epoch(1));
        fill(&mut journal, 0..2);
        let (end, next) = (journal.end, journal.next);
        fill(&mut journal, 2..3);
        (journal.end, journal.next) = (end, next);
        journal.retract().unwrap();
        assert_eq!(replay(&*journal.file, epoch(1)).unwrap().size(), 2);
        fill(&mut journal, 3..5);
        assert_eq!(replay(&*journal.file, epoch(1)).unwrap().size(), 4);
    }

    #[test]
    fn it_grows() {
        let mut journal = Journal::create(Box::new(InMemoryBackend::new())).unwrap();
        journal.restart(epoch(1));
        for number in 0..9_u8 {
            let row = Row::new(b"key", Some(&vec![number; 100_000])).unwrap();
            journal.append(std::iter::once(&row)).unwrap();
        }
        assert_eq!(journal.length, 4 * STEP);
        let edits = replay(&*journal.file, epoch(1)).unwrap();
        assert_eq!(edits.get(b"key").unwrap().value(), Some(&vec![8_u8; 100_000][..]));
    }
}
