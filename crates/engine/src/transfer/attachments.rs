//! Uploaded files on their way out: each gets a path that the documents which show it link to.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};

use leafbase_model::{AssetId, AssetRecord, Error, Result};
use leafbase_store::Reader;

use crate::transfer::layout::Layout;
use crate::transfer::names::Names;

/// An uploaded file, and its path in the export.
#[derive(Debug)]
pub(super) struct Attachment {
    record: AssetRecord,
    pub(super) path: String,
}

/// The uploaded files of an export, by name.
#[derive(Debug, Default)]
pub(super) struct Attachments {
    pub(super) files: Vec<Attachment>,
    paths: HashMap<AssetId, String>,
}

impl Attachments {
    /// Gives each file of `shown` that exists a path.
    pub(super) fn of(reader: Reader<'_>, layout: &Layout, shown: &BTreeSet<AssetId>) -> Result<Self> {
        let mut records = Vec::new();
        for file in shown {
            records.extend(reader.asset(*file)?);
        }
        records.sort_by(|one, other| (&one.file_name, one.id).cmp(&(&other.file_name, other.id)));
        let (mut attachments, mut names) = (Self::default(), Names::default());
        for record in records {
            let (stem, extension) = split(&record.file_name);
            let path = format!("{}/{}", layout.attachments, names.claim(stem, extension));
            attachments.paths.insert(record.id, path.clone());
            attachments.files.push(Attachment { record, path });
        }
        Ok(attachments)
    }

    /// The path of the file, if it is exported.
    pub(super) fn path(&self, file: AssetId) -> Option<&str> {
        self.paths.get(&file).map(String::as_str)
    }
}

impl Attachment {
    /// How many bytes it has.
    pub(super) const fn size(&self) -> u64 {
        self.record.size
    }

    /// Writes its bytes, a chunk at a time.
    pub(super) fn write(&self, reader: Reader<'_>, out: &mut dyn Write) -> io::Result<()> {
        let missing = || Error::corrupted(format_args!("file {}", self.record.id));
        let (mut left, mut number) = (self.record.size, 0);
        while left > 0 {
            let chunk = reader.chunk(self.record.id, number).and_then(|chunk| chunk.ok_or_else(missing));
            let chunk = chunk.map_err(io::Error::other)?;
            out.write_all(&chunk)?;
            left = left.saturating_sub(u64::try_from(chunk.len()).unwrap_or(u64::MAX));
            number += 1;
        }
        Ok(())
    }
}

/// The name without its extension, and the extension with its dot. One that systems could not write is a part of the name.
fn split(name: &str) -> (&str, &str) {
    let is_plain = |extension: &str| {
        (2..=16).contains(&extension.len()) && extension.bytes().skip(1).all(|letter| letter.is_ascii_alphanumeric())
    };
    let dot = name.rfind('.').filter(|dot| *dot > 0 && name.get(*dot..).is_some_and(is_plain));
    dot.and_then(|dot| name.split_at_checked(dot)).unwrap_or((name, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_are_short_and_plain() {
        for (name, parts) in [
            ("map.png", ("map", ".png")),
            ("archive.tar.gz", ("archive.tar", ".gz")),
            ("README", ("README", "")),
            (".profile", (".profile", "")),
            ("end.", ("end.", "")),
            ("a.b c", ("a.b c", "")),
            ("a.?", ("a.?", "")),
        ] {
            assert_eq!(split(name), parts, "{name}");
        }
    }
}
