//! The base of a mirror: the state of a file and its document when they were last equal. It
//! is kept with the document, and erased with it.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::ControlFlow;

use leafbase::bulk::{self, SpaceView};
use leafbase::{AssetId, ChangePosition, Connection, DocumentId, Error, Result};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::files::FileStat;

/// A file and its document when they were last equal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileBase {
    pub(super) file: FileVersion,
    /// The path that a mirror gives the file, until its base has that.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) next_path: String,
    /// The sequence of the last change of the document.
    pub(super) change: u64,
    pub(super) title: String,
    /// Where the document was, in names of folders.
    pub(super) place: String,
    /// The attachments that it shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) attachments: Vec<AttachmentBase>,
    /// Whether the file was removed and the document is in the trash: the file may come back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_gone: bool,
    /// The folder of an import, hashed. Empty for a mirror, whose records are its own.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) folder: String,
}

impl FileBase {
    /// The base of the file once it is removed, and its document is in the trash.
    pub(super) fn gone(&self) -> Self {
        Self { is_gone: true, ..self.clone() }
    }
}

/// An attachment of a file and its upload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AttachmentBase {
    pub(super) file: FileVersion,
    pub(super) upload: AssetId,
}

/// The path and the content of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileVersion {
    pub(super) path: String,
    pub(super) size: u64,
    pub(super) modified: Option<i64>,
    pub(super) hash: String,
}

impl FileVersion {
    pub(super) fn new(stat: &FileStat, hash: String) -> Self {
        let FileStat { path, size, modified } = stat.clone();
        Self { path, size, modified, hash }
    }

    /// Whether the description of the file says that its content is the same.
    pub(super) fn is_current(&self, stat: &FileStat) -> bool {
        // Without a modification time only the hash can say so.
        self.size == stat.size && self.modified.is_some() && self.modified == stat.modified
    }
}

pub(super) fn hash(bytes: &[u8]) -> String {
    format!("{:032x}", xxh3_128(bytes))
}

/// Hashes what is written to it, as [`hash`] does.
#[derive(Default)]
pub(super) struct HashWriter(Xxh3);

impl HashWriter {
    pub(super) fn finish(&self) -> String {
        format!("{:032x}", self.0.digest128())
    }
}

impl Write for HashWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The records of a mirror in the space.
#[derive(Debug)]
pub(super) struct BaseRecords {
    /// The name of the records: one for each mirrored folder, and one for all imports.
    name: String,
    /// The folder of an import, hashed.
    folder: String,
}

/// A moment at which no document differed from its file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MirrorState {
    pub(super) position: ChangePosition,
    /// The files, once a mirror found each of them as its base says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) files: Option<FileSet>,
}

/// The files of a folder as they were listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileSet {
    /// Of paths, sizes and modification times.
    pub(super) digest: String,
    /// Files that have a document.
    pub(super) documents: u64,
}

/// The base of all files, and the position in the change log at which no document differed.
#[derive(Debug, Default)]
pub(super) struct MirrorBase {
    pub(super) files: BTreeMap<DocumentId, FileBase>,
    /// The bases of files that were removed, with their documents in the trash.
    pub(super) gone: BTreeMap<DocumentId, FileBase>,
    pub(super) position: Option<ChangePosition>,
    /// The bases of other imported folders.
    pub(super) others: BTreeMap<String, BTreeMap<DocumentId, FileBase>>,
}

impl BaseRecords {
    /// The records of the folder with this `identity`.
    pub(super) fn new(identity: &str) -> Self {
        // Hashed: it may be a path, which says more than a space should keep.
        Self { name: format!("mirror {}", hash(identity.as_bytes())), folder: String::new() }
    }

    /// The records of imports of the folder with this `identity` into a folder of the space. All
    /// imports have one name, so that a folder that was moved is found.
    pub(super) fn of_import(into: &str, identity: &str) -> Self {
        Self { name: format!("import {into}"), folder: hash(identity.as_bytes()) }
    }

    pub(super) fn read(&self, view: &SpaceView<'_>) -> Result<MirrorBase> {
        let mut base = MirrorBase::default();
        view.host_records(&self.name, &mut |document, value| {
            // What cannot be read, of a later version for example, is as good as none: both sides
            // are compared.
            if document == NO_DOCUMENT {
                let state = serde_json::from_slice::<MirrorState>(value).ok();
                base.position = state.map(|state| state.position);
            } else if let Ok(file) = serde_json::from_slice::<FileBase>(value) {
                let folder = if file.folder == self.folder {
                    if file.is_gone { &mut base.gone } else { &mut base.files }
                } else {
                    base.others.entry(file.folder.clone()).or_default()
                };
                folder.insert(document, file);
            }
            ControlFlow::Continue(())
        })?;
        Ok(base)
    }

    /// Keeps the base of a document; with none it is removed.
    pub(super) fn put(
        &self,
        notes: &Connection,
        bases: &[(DocumentId, Option<FileBase>)],
    ) -> Result<()> {
        let encode = |base: &FileBase| {
            let base = FileBase { folder: self.folder.clone(), ..base.clone() };
            serde_json::to_vec(&base).map_err(unwritable)
        };
        let mut records = Vec::with_capacity(bases.len());
        for (document, base) in bases {
            records.push((*document, base.as_ref().map(encode).transpose()?));
        }
        bulk::put_host_records(notes, &self.name, &records)
    }

    /// The state of the last mirror that was complete. One lookup.
    pub(super) fn state(&self, view: &SpaceView<'_>) -> Result<Option<MirrorState>> {
        let value = view.host_record(NO_DOCUMENT, &self.name)?;
        Ok(value.and_then(|value| serde_json::from_slice(&value).ok()))
    }

    pub(super) fn put_state(&self, notes: &Connection, state: &MirrorState) -> Result<()> {
        let value = serde_json::to_vec(state).map_err(unwritable)?;
        bulk::put_host_records(notes, &self.name, &[(NO_DOCUMENT, Some(value))])
    }
}

/// The key of records of the space as a whole.
const NO_DOCUMENT: DocumentId = DocumentId::of_root(leafbase::BlockId::NIL);

fn unwritable(error: serde_json::Error) -> Error {
    Error::validation("the base of a mirror cannot be written").with_source(error)
}
