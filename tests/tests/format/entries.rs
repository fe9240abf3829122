//! Keys and values as the table of entries has them.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::files::Entries;
use crate::message_pack::{self, Value, take, take_uint};
use crate::records::{LayoutReader, Record};
use crate::specification::Keyspace;
use crate::{Refused, refuse};

/// An entry, decoded.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The bytes of each part of the key after the tag.
    pub(crate) key: Vec<Vec<u8>>,
    pub(crate) body: Body,
    pub(crate) checksum: u64,
}

impl Entry {
    /// A part of the key that is an ID.
    pub(crate) fn id(&self, part: usize) -> [u8; 16] {
        self.key[part].as_slice().try_into().unwrap()
    }

    /// A part of the key that is a number.
    pub(crate) fn uint(&self, part: usize) -> u64 {
        take_uint(&mut &*self.key[part], self.key[part].len()).unwrap()
    }

    pub(crate) fn record(&self) -> &Record {
        match &self.body {
            Body::Record(record) => record,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.body {
            Body::Bytes(bytes) => bytes,
            other => panic!("{other:?}"),
        }
    }
}

/// A value without its version and its checksum.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Empty,
    Record(Record),
    /// Blocks with their IDs.
    Run(Vec<([u8; 16], Record)>),
    Bytes(Vec<u8>),
}

/// Reads every entry of a space.
pub(crate) fn read_all(reader: &LayoutReader, entries: &Entries) -> Refused<Vec<(u8, Entry)>> {
    let read = |(key, value): (&Vec<u8>, &Vec<u8>)| {
        let entry = read(reader, key, value);
        let entry = entry.map_err(|error| error.within(&format!("{:02x?}", &key[..1])))?;
        Ok((key[0], entry))
    };
    entries.iter().map(read).collect()
}

fn read(reader: &LayoutReader, key: &[u8], value: &[u8]) -> Refused<Entry> {
    let Some(keyspace) = key.first().and_then(|tag| reader.page.keyspaces.get(tag)) else {
        return refuse("a tag that is not in the table");
    };
    if key.len() >= 1_024 {
        return refuse(format!("a key of {} bytes", key.len()));
    }
    let Some((framed, checksum)) = value.split_last_chunk::<8>() else {
        return refuse("a value without a checksum");
    };
    let checksum = u64::from_be_bytes(*checksum);
    if checksum != xxh3_64_with_seed(framed, xxh3_64(key)) {
        return refuse("the checksum");
    }
    let [1, body @ ..] = framed else { return refuse("the version of the record") };
    let key = key_parts(keyspace, &key[1..])?;
    let body = read_body(reader, keyspace, &key, body)?;
    Ok(Entry { key, body, checksum })
}

/// Bytes of a part of a key; none if it ends where the next one begins.
fn width(part: &str, rest: &[u8]) -> Option<usize> {
    Some(match part {
        "document" | "parent" | "block" | "comment" | "folder" | "file" | "collection" | "item"
        | "source" | "hash of the title" => 16,
        "location" => 17,
        "request" | "hash of the name" => 32,
        "time" => 8,
        "day" => 4,
        "trash" | "state" | "kind" | "0" => 1,
        // A day is shorter than IDs and hashes.
        "target" => {
            if rest.first() == Some(&1) {
                5
            } else {
                17
            }
        }
        "name" | "tag" | "model" | "order key" | "sort key" => return None,
        number => match number.split_once(' ') {
            Some(("u32", _)) => 4,
            Some(("u64", _)) => 8,
            _ => panic!("no width of {number}"),
        },
    })
}

fn key_parts(keyspace: &Keyspace, mut rest: &[u8]) -> Refused<Vec<Vec<u8>>> {
    let mut parts = Vec::new();
    for (at, part) in keyspace.key.iter().enumerate() {
        let after = keyspace.key[at + 1..].iter();
        let width = match width(part, rest) {
            Some(width) => width,
            None => {
                let after: usize = after.map(|part| width(part, &[]).unwrap()).sum();
                match rest.len().checked_sub(after) {
                    Some(width @ 1..) => width,
                    _ => return refuse(format!("no room for {part}")),
                }
            }
        };
        let bytes = take(&mut rest, width)?;
        check_part(part, bytes)?;
        parts.push(bytes.to_vec());
    }
    if rest.is_empty() { Ok(parts) } else { refuse(format!("{rest:02x?} after the key")) }
}

fn check_part(part: &str, bytes: &[u8]) -> Refused<()> {
    let is_valid = match part {
        "0" => bytes == [0],
        "trash" | "state" => bytes[0] < 2,
        "kind" | "target" => bytes[0] < 4,
        "location" => bytes[0] < 6 && (bytes[0] == 3 || bytes[1..] == [0; 16]),
        "name" | "tag" | "model" => {
            std::str::from_utf8(bytes).is_ok_and(|text| !text.contains('\0'))
        }
        "order key" => {
            let is_last = bytes.len() == 4 || !bytes.ends_with(&[0, 0]);
            (4..=900).contains(&bytes.len()) && bytes.len().is_multiple_of(2) && is_last
        }
        _ => true,
    };
    if is_valid { Ok(()) } else { refuse(format!("no {part}: {bytes:02x?}")) }
}

fn read_body(
    reader: &LayoutReader,
    keyspace: &Keyspace,
    key: &[Vec<u8>],
    body: &[u8],
) -> Refused<Body> {
    let said = keyspace.body.as_str();
    if let Some(layouts) = said.strip_prefix('[') {
        let (first, others) = layouts.split_once(']').unwrap();
        // The records of the space are told apart by their names.
        let layout = match std::str::from_utf8(&key[0]) {
            Ok(name) if others.contains('[') && said.contains(&format!("[{name}]")) => name,
            _ if others.contains('[') => return refuse("a name that is not in the table"),
            _ => first,
        };
        return reader.read(layout, body).map(Body::Record);
    }
    let bytes = || Ok(Body::Bytes(body.to_vec()));
    let sized = |length: usize| {
        if body.len() == length { bytes() } else { refuse(format!("{} bytes", body.len())) }
    };
    match said.split([' ', ';', ',']).next().unwrap() {
        "empty" if body.is_empty() => Ok(Body::Empty),
        "empty" => refuse(format!("a body {body:02x?}")),
        "run" => run(reader, body).map(Body::Run),
        "day" => sized(if key[1] == [1] {
            8
        } else if body.is_empty() {
            0
        } else {
            4
        }),
        "u64" | "checksum" => sized(8),
        _ if said.starts_with("the checksum") => sized(8),
        _ if said.starts_with("the block's ID") => match message_pack::decode(body)? {
            Value::Bin(id) if id.len() == 16 => Ok(Body::Bytes(id)),
            other => refuse(format!("no ID: {other:?}")),
        },
        _ if said.starts_with("the tag as written") => match std::str::from_utf8(body) {
            Ok(tag) if tag.to_lowercase().as_bytes() == key[1] => bytes(),
            _ => refuse("another tag than that of the key"),
        },
        "up" if (1..=65_400).contains(&body.len()) => bytes(),
        "up" => refuse(format!("a chunk of {} bytes", body.len())),
        "part" if body.len() <= 4_050 + 12 => bytes(),
        "part" => refuse(format!("a part of {} bytes", body.len())),
        "bundle" | "bytes" => bytes(),
        other => panic!("no body {other} in {keyspace:?}"),
    }
}

/// Consecutive siblings.
fn run(reader: &LayoutReader, body: &[u8]) -> Refused<Vec<([u8; 16], Record)>> {
    let mut rest = body;
    let count = usize::try_from(take_uint(&mut rest, 2)?).unwrap();
    if count == 0 || count > 1 && body.len() > 4_030 {
        return refuse(format!("a run of {count} blocks in {} bytes", body.len()));
    }
    let ids: Vec<[u8; 16]> =
        (0..count).map(|_| Ok(take(&mut rest, 16)?.try_into().unwrap())).collect::<Refused<_>>()?;
    let mut ends = (1..count)
        .map(|_| Ok(usize::try_from(take_uint(&mut rest, 2)?).unwrap()))
        .collect::<Refused<Vec<_>>>()?;
    ends.push(rest.len());
    let mut start = 0;
    ids.into_iter()
        .zip(ends)
        .map(|(id, end)| {
            let Some(record) = rest.get(start..end) else { return refuse("ends of a run") };
            start = end;
            Ok((id, reader.read("block", record)?))
        })
        .collect()
}
