//! Uploaded files on their way out: each gets a path that the documents which show it link to.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};

use leafbase_model::{AssetId, AssetRecord, AssetUrl, BlockData, Error, Limits, Result};
use leafbase_store::SpaceReader;

use crate::operations::files;
use crate::operations::transfer::layout::Layout;
use crate::operations::transfer::names::Names;
use crate::operations::transfer::report::{Adaptation, AdaptationKind};
use crate::operations::transfer::{file_names, showing};

/// An uploaded file, and its path in the export.
#[derive(Debug)]
pub(super) struct Attachment {
    record: AssetRecord,
    pub(super) path: String,
    /// The type that an import will find, of a file that is shown as a picture.
    found_type: Option<String>,
}

/// The uploaded files of an export, by name.
#[derive(Debug, Default)]
pub(super) struct Attachments {
    pub(super) files: Vec<Attachment>,
    numbers: HashMap<AssetId, usize>,
    pub(super) adaptations: Vec<Adaptation>,
}

/// The uploaded files that documents show.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub(super) files: BTreeSet<AssetId>,
    /// Those of them that a block shows as a picture or a video.
    pub(super) pictured: BTreeSet<AssetId>,
}

impl Attachments {
    /// Gives each file of `shown` that exists a path.
    pub(super) fn of(reader: SpaceReader<'_>, layout: &Layout, shown: &Shown) -> Result<Self> {
        let mut records = Vec::new();
        for file in &shown.files {
            records.extend(reader.asset(*file)?);
        }
        records.sort_by(|one, other| (&one.file_name, one.id).cmp(&(&other.file_name, other.id)));
        let (mut attachments, mut names) = (Self::default(), Names::default());
        for record in records {
            let path = format!(
                "{}/{}",
                layout.attachments,
                file_names::claim(&mut names, &record.file_name)
            );
            let is_pictured = shown.pictured.contains(&record.id);
            let found_type = if is_pictured { Some(found_type(reader, &record)?) } else { None };
            attachments.tell_name(&record.file_name, &path);
            attachments.numbers.insert(record.id, attachments.files.len());
            attachments.files.push(Attachment { record, path, found_type });
        }
        Ok(attachments)
    }

    fn tell_name(&mut self, name: &str, path: &str) {
        if file_names::is_disguised(name) {
            let (path, kind) = (path.to_owned(), AdaptationKind::Attachment);
            let message =
                format!("the uploaded file {name:?} has another extension, for it is no document");
            self.adaptations.push(Adaptation { path, line: None, kind, message });
        }
    }

    fn get(&self, file: AssetId) -> Option<&Attachment> {
        self.files.get(*self.numbers.get(&file)?)
    }

    /// The path of the file, if it is exported.
    pub(super) fn path(&self, file: AssetId) -> Option<&str> {
        self.get(file).map(|attachment| attachment.path.as_str())
    }

    /// Makes a picture or a video of `data` the block that an import makes of its file. Tells
    /// whether it was another one.
    pub(super) fn show(&self, data: &mut BlockData, limits: &Limits) -> bool {
        let Some(Attachment { record, found_type, .. }) =
            showing::pictured(data).and_then(|file| self.get(file))
        else {
            return false;
        };
        let url = AssetUrl::new(record.id, record.file_name.as_str());
        found_type.as_ref().is_some_and(|found| showing::show(data, found, &url, limits))
    }
}

/// The type that the bytes say when nothing is declared.
fn found_type(reader: SpaceReader<'_>, record: &AssetRecord) -> Result<String> {
    let head = reader.chunk(record.id, 0)?.unwrap_or_default();
    let is_whole = u64::try_from(head.len()).ok() == Some(record.size);
    Ok(files::media_type(None, &head, is_whole))
}

impl Attachment {
    /// How many bytes it has.
    pub(super) const fn size(&self) -> u64 {
        self.record.size
    }

    /// Writes its bytes, a chunk at a time.
    pub(super) fn write(&self, reader: SpaceReader<'_>, out: &mut dyn Write) -> io::Result<()> {
        let missing = || Error::corrupted(format_args!("file {}", self.record.id));
        let (mut left, mut number) = (self.record.size, 0);
        while left > 0 {
            let chunk =
                reader.chunk(self.record.id, number).and_then(|chunk| chunk.ok_or_else(missing));
            let chunk = chunk.map_err(io::Error::other)?;
            out.write_all(&chunk)?;
            left = left.saturating_sub(u64::try_from(chunk.len()).unwrap_or(u64::MAX));
            number += 1;
        }
        Ok(())
    }
}
