//! The attachment import: files that imported documents embed or link to become uploads, each once.

use std::collections::{BTreeSet, HashMap};

use leafbase::bulk::{self, DocumentFactory, StagedFile};
use leafbase::markdown;
use leafbase::{
    AssetId, AssetRecord, AssetUrl, BlockData, BlockDraft, BlockKind, Edit, Error, ErrorKind,
    Limits, Result,
};

use crate::file_names::decode_attachment;
use crate::folder::ImportSource;
use crate::link_paths::file_name;

struct ImportedFile {
    path: String,
    record: AssetRecord,
    /// The upload, until a document that shows the file is written. Dropping it deletes the bytes.
    upload: Option<StagedFile>,
}

/// Imports attachments. Uploads that no document shows are dropped with it.
#[derive(Default)]
pub(crate) struct AttachmentImport {
    imported: HashMap<AssetId, ImportedFile>,
    /// By path, the import's result: the file, or why it failed.
    results: HashMap<String, Result<AssetId, String>>,
    /// Whether files that are not known stay paths, in a dry run.
    is_closed: bool,
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
    /// Takes the file at `path` as imported before.
    pub(crate) fn assume(&mut self, path: &str, record: AssetRecord) {
        self.results.insert(path.to_owned(), Ok(record.id));
        let path = path.to_owned();
        self.imported.insert(record.id, ImportedFile { path, record, upload: None });
    }

    /// Uploads nothing from now on: links to files that are not known keep their paths.
    pub(super) const fn close(&mut self) {
        self.is_closed = true;
    }

    /// The files that documents show, with their paths.
    pub(crate) fn paths(&self) -> impl Iterator<Item = (AssetId, String)> {
        let created = self.imported.iter().filter(|(_, file)| file.upload.is_none());
        created.map(|(id, file)| (*id, file.path.clone()))
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
        factory: &DocumentFactory,
        source: &mut dyn ImportSource,
        path: &str,
    ) -> Result<String, String> {
        // Errors are cached, too: a missing file is reported per link but opened once.
        let result = if let Some(known) = self.results.get(path) {
            known.clone()
        } else {
            let result = self.upload(factory, source, path).map_err(|error| error.to_string());
            self.results.insert(path.to_owned(), result.clone());
            result
        };
        let url = self.url(result?);
        debug_assert!(url.is_some(), "{path} was imported");
        url.map(|url| url.to_string()).ok_or_else(|| "it was not read".to_owned())
    }

    fn upload(
        &mut self,
        factory: &DocumentFactory,
        source: &mut dyn ImportSource,
        path: &str,
    ) -> Result<AssetId> {
        if self.is_closed {
            return Err(Error::new(ErrorKind::ReadOnly, "a dry run uploads nothing"));
        }
        let reader = source.open(path, factory.limits().upload)?;
        let name = decode_attachment(file_name(path));
        let upload = factory.stage_file(&name, reader)?;
        let record = upload.record().clone();
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
    pub(super) fn fit_block_types(&self, drafts: &mut [BlockDraft], limits: &Limits) {
        let mut stack: Vec<&mut BlockDraft> = drafts.iter_mut().collect();
        while let Some(BlockDraft { data, content, .. }) = stack.pop() {
            stack.extend(content.iter_mut());
            if let Some(file) = bulk::shown_as_picture(data)
                && let (Some(known), Some(url)) = (self.imported.get(&file), self.url(file))
            {
                let picture = data.kind.clone();
                if bulk::fit_block_type(data, &known.record.media_type, &url, limits) {
                    keep_picture(data, picture);
                }
            }
        }
    }

    /// The imported files that the documents of `edits` show.
    pub(super) fn shown(&self, edits: &[Edit]) -> BTreeSet<AssetId> {
        // Without attachments, no text needs to be scanned for links.
        if self.imported.is_empty() {
            return BTreeSet::new();
        }
        let mut files = BTreeSet::new();
        for edit in edits {
            let Edit::CreateDocument { subtrees, .. } = edit else { continue };
            for node in &subtrees.0 {
                bulk::shown_files(&node.block.data, &mut |file| {
                    files.extend(self.imported.contains_key(&file).then_some(file));
                });
            }
        }
        files
    }

    /// The edits that create these files, with their uploads. Files that were created before are
    /// omitted.
    pub(crate) fn create(&mut self, files: BTreeSet<AssetId>) -> (Vec<Edit>, Vec<StagedFile>) {
        let (mut created, mut uploads) = (Vec::new(), Vec::new());
        for file in files {
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
        let mut files = self.shown(edits);
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

/// Keeps `![words](path)`, as which a block was written that is a file or a video now, in the place
/// of its path.
fn keep_picture(data: &mut BlockData, picture: BlockKind) {
    let links = data.layout.as_mut().map(|layout| layout.links.as_mut_slice());
    if let Some([link]) = links
        && !link.is_wiki
    {
        let mut written = BlockData::new(picture);
        if let Some((_, url)) = written.url_mut() {
            *url = link.text.to_string();
        }
        link.text = markdown::render(&[BlockDraft::new(written)]).into();
        link.is_wiki = true;
    }
}
