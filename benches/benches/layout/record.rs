//! Records as bytes: a checksum that is verified on reading, then the content.

use benches::workload::{Block, Id};
use serde::{Deserialize, Serialize, Serializer};
use xxhash_rust::xxh3::xxh3_64;

pub const CHECKSUM: usize = 8;
const VERSION: u8 = 1;

/// Writes the checksum over everything after it into the first bytes.
pub fn seal(bytes: &mut [u8]) {
    let sum = xxh3_64(&bytes[CHECKSUM..]).to_le_bytes();
    bytes[..CHECKSUM].copy_from_slice(&sum);
}

/// A sealed value of these parts.
pub fn sealed(parts: &[&[u8]]) -> Vec<u8> {
    let mut bytes =
        Vec::with_capacity(CHECKSUM + parts.iter().map(|part| part.len()).sum::<usize>());
    bytes.extend([0; CHECKSUM]);
    for part in parts {
        bytes.extend_from_slice(part);
    }
    seal(&mut bytes);
    bytes
}

pub fn unseal(bytes: &[u8]) -> &[u8] {
    let (sum, content) = bytes.split_at(CHECKSUM);
    assert_eq!(sum, xxh3_64(content).to_le_bytes(), "a damaged record");
    content
}

pub fn id(bytes: &[u8]) -> Id {
    bytes[..16].try_into().expect("sixteen bytes")
}

#[derive(Serialize, Deserialize)]
struct Fields<'a> {
    rev: u32,
    #[serde(borrow)]
    markdown: &'a str,
    indentation: u8,
    list_style: u8,
    created: u64,
    modified: u64,
}

/// A block without its ID: version, kind, then the fields as a MessagePack array.
pub fn encode(block: &Block) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(48 + block.markdown.len());
    bytes.extend([VERSION, block.kind]);
    let fields = Fields {
        rev: block.rev,
        markdown: &block.markdown,
        indentation: block.indentation,
        list_style: block.list_style,
        created: block.created,
        modified: block.modified,
    };
    rmp_serde::encode::write(&mut bytes, &fields).expect("writing to memory");
    bytes
}

pub fn decode(id: Id, record: &[u8]) -> Block {
    assert_eq!(record[0], VERSION);
    let fields: Fields<'_> = rmp_serde::from_slice(&record[2..]).expect("a block record");
    Block {
        id,
        rev: fields.rev,
        kind: record[1],
        markdown: fields.markdown.to_owned(),
        indentation: fields.indentation,
        list_style: fields.list_style,
        created: fields.created,
        modified: fields.modified,
    }
}

pub fn kind(record: &[u8]) -> u8 {
    record[1]
}

/// A document's own record: title, created, modified.
pub fn encode_document(title: &str, created: u64, modified: u64) -> Vec<u8> {
    sealed(&[&rmp_serde::to_vec(&(title, created, modified)).expect("writing to memory")])
}

pub fn decode_document(value: &[u8]) -> (String, u64, u64) {
    rmp_serde::from_slice(unseal(value)).expect("a document record")
}

struct Bytes<'a>(&'a [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

/// A change-log row: when, in which document, what, with what it replaced.
pub fn change(at: u64, document: Id, kind: &str, parts: &[&[u8]]) -> Vec<u8> {
    let parts: Vec<Bytes<'_>> = parts.iter().map(|part| Bytes(part)).collect();
    rmp_serde::to_vec(&(at, Bytes(&document), kind, parts)).expect("writing to memory")
}
