//! The attachment import: files that imported documents embed or link to become uploads, each once.

use std::collections::{BTreeSet, HashMap};

use leafbase_model::{AssetId, AssetRecord, AssetUrl, BlockDraft, Edit, Result, Stamp};

use crate::core::edges;
use crate::core::space::Space;
use crate::operations::files::{self, Upload};

use crate::operations::vault::file_names::decode_attachment;
use crate::operations::vault::folder::ImportSource;
use crate::operations::vault::link_paths::file_name;

struct ImportedFile {
    path: String,
    record: AssetRecord,
    /// The upload, until a document that shows the file is written. Dropping it deletes the bytes.
    upload: Option<Upload>,
}

/// Imports attachments. Uploads that no document shows are dropped with it.
pub(super) struct AttachmentImport {
    space: Space,
    stamp: Stamp,
    imported: HashMap<AssetId, ImportedFile>,
    /// By path, the import's result: the file, or why it failed.
    results: HashMap<String, Result<AssetId, String>>,
}

/// How far the import of a candidate got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CandidateState {
    /// No link leads to it.
    Unused,
    /// It was uploaded, but no document that shows it was created.
    Orphaned,
    /// It was imported, or a warning says why not.
    Done,
}

impl AttachmentImport {
    pub(super) fn new(space: &Space, stamp: &Stamp) -> Self {
        let (space, stamp) = (space.clone(), stamp.clone());
        Self { space, stamp, imported: HashMap::new(), results: HashMap::new() }
    }

    pub(super) fn state(&self, path: &str) -> CandidateState {
        match self.results.get(path) {
            None => CandidateState::Unused,
            Some(Ok(id)) if self.imported.get(id).is_some_and(|file| file.upload.is_some()) => {
                CandidateState::Orphaned
            }
            Some(_) => CandidateState::Done,
        }
    }

    /// The URL of the file at `path`, which is uploaded on first use; or why it cannot be imported.
    pub(super) fn import(
        &mut self,
        source: &mut dyn ImportSource,
        path: &str,
    ) -> Result<String, String> {
        // Errors are cached, too: a missing file is reported per link but opened once.
        let result = if let Some(known) = self.results.get(path) {
            known.clone()
        } else {
            let result = self.upload(source, path).map_err(|error| error.to_string());
            self.results.insert(path.to_owned(), result.clone());
            result
        };
        let url = self.url(result?);
        debug_assert!(url.is_some(), "{path} was imported");
        url.map(|url| url.to_string()).ok_or_else(|| "it was not read".to_owned())
    }

    fn upload(&mut self, source: &mut dyn ImportSource, path: &str) -> Result<AssetId> {
        let reader = source.open(path, self.space.limits().upload)?;
        let name = decode_attachment(file_name(path));
        let (upload, record) = Upload::of(&self.space, &self.stamp, &name, reader)?;
        let id = record.id;
        debug_assert!(!self.imported.contains_key(&id), "uploads have fresh IDs");
        self.imported
            .insert(id, ImportedFile { path: path.to_owned(), record, upload: Some(upload) });
        Ok(id)
    }

    fn url(&self, file: AssetId) -> Option<AssetUrl> {
        let record = &self.imported.get(&file)?.record;
        Some(AssetUrl::new(file, record.file_name.as_str()))
    }

    /// Gives images and videos among `drafts` the block type of the file that they show.
    pub(super) fn fit_block_types(&self, drafts: &mut [BlockDraft]) {
        let mut stack: Vec<&mut BlockDraft> = drafts.iter_mut().collect();
        while let Some(BlockDraft { data, content, .. }) = stack.pop() {
            stack.extend(content.iter_mut());
            if let Some(file) = files::shown_as_picture(data)
                && let (Some(known), Some(url)) = (self.imported.get(&file), self.url(file))
            {
                files::fit_block_type(data, &known.record.media_type, &url, self.space.limits());
            }
        }
    }

    /// The edits that create the files which the documents of `edits` show, with their uploads.
    /// Files that were created before are omitted.
    pub(super) fn create(&mut self, edits: &[Edit]) -> (Vec<Edit>, Vec<Upload>) {
        let (mut created, mut uploads) = (Vec::new(), Vec::new());
        for file in shown_files(edits) {
            if let Some(known) = self.imported.get_mut(&file)
                && let Some(upload) = known.upload.take()
            {
                created.push(Edit::CreateAsset(known.record.clone()));
                uploads.push(upload);
            }
        }
        debug_assert_eq!(created.len(), uploads.len(), "each file is created with its bytes");
        (created, uploads)
    }

    /// The imported files that the documents of `edits` show and that must already exist.
    pub(super) fn required(&self, edits: &[Edit]) -> BTreeSet<AssetId> {
        let mut files = shown_files(edits);
        files.retain(|file| self.imported.contains_key(file));
        for edit in edits {
            if let Edit::CreateAsset(record) = edit {
                files.remove(&record.id);
            }
        }
        files
    }

    /// Forgets a file that was deleted concurrently, so that it is imported again. Returns its
    /// path.
    pub(super) fn forget(&mut self, file: AssetId) -> Option<String> {
        let path = self.imported.remove(&file)?.path;
        self.results.remove(&path);
        Some(path)
    }
}

fn shown_files(edits: &[Edit]) -> BTreeSet<AssetId> {
    let mut files = BTreeSet::new();
    for edit in edits {
        if let Edit::CreateDocument { subtrees, .. } = edit {
            for node in &subtrees.0 {
                edges::files(&node.block.data, &mut |file| {
                    files.insert(file);
                });
            }
        }
    }
    files
}
