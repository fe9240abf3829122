//! A space in one encrypted file, over the public storage trait: entries are in memory while it is
//! open, and each commit is appended to the file as a sealed record (XChaCha20-Poly1305).
//!
//! Who has the file, but not the key, learns its size, and when and how much was written. A changed
//! byte, and a record that was moved, repeated or taken from another file, are refused: each is
//! sealed with the tag of the one before, and a nonce that is random and too long to repeat.
//! Not protected: an older copy of the file, and one with its last records cut off, open as they
//! were then, like after a crash; keep the last sequence elsewhere and compare it. Memory and swap
//! have the notes and the key; a keychain is the place for that. Nothing here stops two processes.
#![allow(clippy::expect_used, clippy::print_stdout, reason = "an example stays short")]

use std::fs::{self, File};
use std::io::{Error as IoError, Write as _};
use std::sync::{Arc, Mutex};

use chacha20poly1305::aead::{Aead, Generate, Key, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use leafbase::kv::{
    Durability, KeyRange, MemoryStore, Read, Snapshot, Store, Transaction, Visit, WriteOptions,
};
use leafbase::{Error, ErrorKind, Result, Space};

const NONCE_BYTES: usize = 24;
const TAG_BYTES: usize = 16;
/// Put, delete and delete a range, each with two keys or values.
type Write = (u8, Vec<u8>, Vec<u8>);

#[derive(Debug)]
struct Log {
    cipher: XChaCha20Poly1305,
    file: File,
    last_tag: Vec<u8>,
}

fn failed(error: impl Into<IoError>) -> Error {
    Error::new(ErrorKind::Storage, format!("the encrypted file: {}", error.into()))
}

fn tag(sealed: &[u8]) -> &[u8] {
    sealed.split_at(sealed.len() - TAG_BYTES).1
}

impl Log {
    fn seal(&self, aad: &[u8], msg: &[u8]) -> Vec<u8> {
        let nonce = XNonce::generate();
        let sealed = self.cipher.encrypt(&nonce, Payload { msg, aad });
        [nonce.as_slice(), &sealed.expect("a record is shorter than 256 GB")].concat()
    }

    fn unseal(&self, aad: &[u8], sealed: &[u8]) -> Result<Vec<u8>> {
        let (nonce, msg) = sealed.split_at(NONCE_BYTES);
        let nonce = XNonce::try_from(nonce).expect("it has its length");
        let message = "the encrypted file was changed, or the key is not the one of the file";
        let refused = |_| Error::new(ErrorKind::Corrupted, message);
        self.cipher.decrypt(&nonce, Payload { msg, aad }).map_err(refused)
    }

    /// The length is sealed by itself: a changed one does not pass for a record written in part.
    fn append(&mut self, writes: &[Write], is_durable: bool) -> Result<()> {
        let record = rmp_serde::to_vec(writes).expect("bytes can be written");
        let length = u32::try_from(record.len()).expect("requests have limits").to_le_bytes();
        let head = self.seal(&self.last_tag, &length);
        let body = self.seal(tag(&head), &record);
        let end = self.file.metadata().map_err(failed)?.len();
        let put = self.file.write_all(&[&*head, &body].concat());
        let put = put.and_then(|()| if is_durable { self.file.sync_data() } else { Ok(()) });
        // What was written in part goes, or the next record would follow it.
        let whole = put.or_else(|error| self.file.set_len(end).and(Err(error)));
        whole.map(|()| self.last_tag = tag(&body).to_vec()).map_err(failed)
    }

    /// Applies all records to `entries`; what a crash left of the last one goes.
    fn replay(&mut self, mut rest: &[u8], entries: &MemoryStore) -> Result<()> {
        let bytes = rest.len();
        while let Some((head, after)) = rest.split_at_checked(NONCE_BYTES + 4 + TAG_BYTES) {
            let length = self.unseal(&self.last_tag, head)?.try_into();
            let length = u32::from_le_bytes(length.expect("four bytes were sealed")) as usize;
            let length = NONCE_BYTES + length + TAG_BYTES;
            let Some((body, after)) = after.split_at_checked(length) else { break };
            let writes = rmp_serde::from_slice::<Vec<Write>>(&self.unseal(tag(head), body)?);
            let writes = writes.expect("a record is what was written");
            entries.write(WriteOptions::default(), &mut |to| {
                writes.iter().try_for_each(|(kind, first, second)| match kind {
                    0 => to.put(first, second),
                    1 => to.delete(first),
                    _ => to.delete_range(first, second),
                })
            })?;
            (self.last_tag, rest) = (tag(body).to_vec(), after);
        }
        if self.last_tag.is_empty() && !rest.is_empty() {
            return Err(Error::new(ErrorKind::Corrupted, "this is not an encrypted file"));
        }
        self.file.set_len((bytes - rest.len()) as u64).map_err(failed)
    }
}

/// A transaction that notes what it writes.
struct Recorder<'a>(&'a mut dyn Transaction, Vec<Write>);

impl Read for Recorder<'_> {
    fn get(&self, key: &[u8], visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        self.0.get(key, visit)
    }

    fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()> {
        self.0.scan(range, visit)
    }
}

impl Transaction for Recorder<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.1.push((0, key.to_vec(), value.to_vec()));
        self.0.put(key, value)
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.1.push((1, key.to_vec(), Vec::new()));
        self.0.delete(key)
    }

    fn delete_range(&mut self, lower: &[u8], upper: &[u8]) -> Result<()> {
        self.1.push((2, lower.to_vec(), upper.to_vec()));
        self.0.delete_range(lower, upper)
    }
}

#[derive(Debug)]
struct EncryptedFile(MemoryStore, Mutex<Log>);

impl EncryptedFile {
    fn open(path: &std::path::Path, key: &Key<XChaCha20Poly1305>) -> Result<Arc<Self>> {
        let file = File::options().read(true).append(true).create(true).open(path);
        let (file, cipher) = (file.map_err(failed)?, XChaCha20Poly1305::new(key));
        let (mut log, entries) = (Log { cipher, file, last_tag: Vec::new() }, MemoryStore::new());
        log.replay(&fs::read(path).map_err(failed)?, &entries)?;
        Ok(Arc::new(Self(entries, Mutex::new(log))))
    }
}

impl Store for EncryptedFile {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        self.0.snapshot()
    }

    fn write(
        &self,
        options: WriteOptions,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        self.0.write(options, &mut |to| {
            let mut recorder = Recorder(to, Vec::new());
            f(&mut recorder)?;
            let mut log = self.1.lock().expect("no writer panics");
            log.append(&recorder.1, options.durability == Durability::Durable)
        })
    }

    fn flush(&self) -> Result<()> {
        self.1.lock().expect("no writer panics").file.sync_data().map_err(failed)
    }

    fn compact(&self) -> Result<()> {
        Ok(())
    }

    fn verify(&self) -> Result<bool> {
        Ok(true)
    }

    fn bytes(&self) -> Result<u64> {
        Ok(self.1.lock().expect("no writer panics").file.metadata().map_err(failed)?.len())
    }
}

fn main() -> Result<()> {
    let folder = tempfile::tempdir().map_err(failed)?;
    let (path, key) = (folder.path().join("notes.sealed"), Key::<XChaCha20Poly1305>::generate());
    let space = Space::builder().over(EncryptedFile::open(&path, &key)?, true)?;
    let trip = space.connect().create_document("Trip to Lisbon")?.id();
    space.connect().insert_markdown("- [ ] passport", trip)?;
    space.close()?;
    let space = Space::builder().over(EncryptedFile::open(&path, &key)?, false)?;
    println!("reopened: {}", space.connect().content_markdown(trip)?);
    space.close()?;
    let bytes = fs::read(&path).map_err(failed)?;
    let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    println!("plaintext in the file: {}", has("Lisbon") || has("passport"));
    let other = EncryptedFile::open(&path, &Key::<XChaCha20Poly1305>::generate());
    println!("another key: {}", other.expect_err("it is refused"));
    for at in (0..bytes.len()).step_by(bytes.len() / 100) {
        let mut changed = bytes.clone();
        changed.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1);
        fs::write(&path, &changed).map_err(failed)?;
        EncryptedFile::open(&path, &key).expect_err("a changed byte is refused");
    }
    println!("changed bytes: refused, each of a hundred");
    Ok(())
}
