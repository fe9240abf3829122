//! Uploads: streams of up to some hundreds of kB, and deletions of some.

use std::io::{self, Read};

use leafbase::{AssetUrl, Block, BlockKind, Connection, DeleteBlocks, Fetch, Result, UploadFile};

use super::{FIRST, Job, document, missing};
use crate::random::Random;
use crate::world::work::shown;

/// Bytes of the longest upload, and of one read of it.
const MAX_UPLOAD_BYTES: u64 = 400_000;
const READ_BYTES: usize = 7_000;

/// Bytes of a length that depend on the number, of no format that is known by its first bytes.
pub fn upload_bytes(number: u64, length: u64) -> Vec<u8> {
    let mut random = Random::new(number);
    let noise = std::iter::repeat_with(|| random.next().to_le_bytes()).flatten();
    let length = usize::try_from(length).unwrap_or_default();
    b"trial \xFF".iter().copied().chain(noise).take(length).collect()
}

fn upload_length(number: u64) -> u64 {
    1 + Random::new(number).below(MAX_UPLOAD_BYTES)
}

/// A file in a line. Its bytes are told by a hash.
pub fn told_bytes(name: &str, bytes: &[u8]) -> String {
    #[expect(deprecated, reason = "a hash that is the same in every process")]
    let mut hasher = std::hash::SipHasher::new();
    std::hash::Hasher::write(&mut hasher, bytes);
    format!("{name} {} {:016x}", bytes.len(), std::hash::Hasher::finish(&hasher))
}

pub fn told_file(notes: &Connection, block: &Block) -> Result<String> {
    let BlockKind::File { url, file_name, .. } = &block.data.kind else { return Ok(shown(block)) };
    let mut bytes = Vec::new();
    let read = notes.open_file(url.parse::<AssetUrl>()?.id())?.read_to_end(&mut bytes);
    Ok(read.map_or_else(|error| format!("{file_name}: {error}"), |_| told_bytes(file_name, &bytes)))
}

pub fn uploaded(number: u64) -> String {
    told_bytes(&upload_name(number), &upload_bytes(number, upload_length(number)))
}

fn upload_name(number: u64) -> String {
    format!("file {number}.bin")
}

/// The uploads that the calls up to this one leave: each fourth call deletes that of two calls
/// before.
pub fn kept_uploads(last: u64) -> impl Iterator<Item = u64> {
    (FIRST..=last).filter(move |call| match call % 4 {
        1 => call + 2 > last,
        3 => false,
        _ => true,
    })
}

/// Gives some bytes at a time, as a network does.
struct UploadStream(io::Cursor<Vec<u8>>);

impl Read for UploadStream {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = out.len().min(READ_BYTES);
        self.0.read(&mut out[..length])
    }
}

pub fn upload(notes: &Connection, number: u64) -> Result<()> {
    let files = document(notes, Job::Uploads)?;
    if number % 4 == 3 {
        let name = upload_name(number - 2);
        let tree = notes.fetch(Fetch::new(files))?;
        let is_sought = |block: &&Block| match &block.data.kind {
            BlockKind::File { file_name, .. } => *file_name == name,
            _ => false,
        };
        let block = tree.children().iter().find(is_sought).ok_or_else(|| missing(&name))?;
        return notes.delete_blocks(DeleteBlocks::from(block.id)).map(drop);
    }
    let bytes = upload_bytes(number, upload_length(number));
    let request = UploadFile::new(files).named(upload_name(number));
    notes.upload_file(request, UploadStream(io::Cursor::new(bytes))).map(drop)
}

pub fn found_uploads(notes: &Connection) -> Result<Vec<String>> {
    let tree = notes.fetch(Fetch::new(document(notes, Job::Uploads)?))?;
    tree.children().iter().map(|block| told_file(notes, block)).collect()
}
