//! The files that imported documents show are taken in, each once.

use std::collections::{BTreeSet, HashMap};

use leafbase_model::{AssetId, AssetRecord, AssetUrl, BlockDraft, Edit, Result, Stamp};

use crate::core::edges;
use crate::core::space::Space;
use crate::operations::files::Upload;
use crate::operations::transfer::file_names;
use crate::operations::transfer::showing;
use crate::operations::transfer::source::ImportSource;

/// A file that was taken in.
struct Taken {
    path: String,
    record: AssetRecord,
    /// Its bytes, as long as it is no file of the space: it is one once a document that shows it is
    /// written.
    upload: Option<Upload>,
}

/// Takes files in. What no document shows in the end is forgotten with it.
pub(super) struct Attaching {
    space: Space,
    stamp: Stamp,
    taken: HashMap<AssetId, Taken>,
    /// What became of the file at each path that was asked for, or why it is not taken in.
    paths: HashMap<String, Result<AssetId, String>>,
}

/// How far a file came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// No link was found that shows it.
    NotAskedFor,
    /// It was taken in, but for no document that was made.
    NotShown,
    /// It is a file of the space, or it was told why it is none.
    Settled,
}

impl Attaching {
    pub(super) fn new(space: &Space, stamp: &Stamp) -> Self {
        let (space, stamp) = (space.clone(), stamp.clone());
        Self { space, stamp, taken: HashMap::new(), paths: HashMap::new() }
    }

    /// What became of the file at `path`.
    pub(super) fn fate(&self, path: &str) -> Fate {
        match self.paths.get(path) {
            None => Fate::NotAskedFor,
            Some(Ok(id)) if self.taken.get(id).is_some_and(|taken| taken.upload.is_some()) => {
                Fate::NotShown
            }
            Some(_) => Fate::Settled,
        }
    }

    /// The URL of the file at `path`, whose bytes are stored if they were not yet; or why they
    /// cannot be.
    pub(super) fn take(
        &mut self,
        source: &mut dyn ImportSource,
        path: &str,
    ) -> Result<String, String> {
        if !self.paths.contains_key(path) {
            let taken = self.store(source, path).map_err(|error| error.to_string());
            self.paths.insert(path.to_owned(), taken);
        }
        let id =
            self.paths.get(path).cloned().unwrap_or_else(|| Err("it was not read".to_owned()))?;
        self.url(id).map(|url| url.to_string()).ok_or_else(|| "it was not read".to_owned())
    }

    fn store(&mut self, source: &mut dyn ImportSource, path: &str) -> Result<AssetId> {
        let reader = source.open(path, self.space.limits().upload)?;
        let name = file_names::original(path.rsplit('/').next().unwrap_or_default());
        let (upload, record) = Upload::of(&self.space, &self.stamp, &name, reader)?;
        let id = record.id;
        self.taken.insert(id, Taken { path: path.to_owned(), record, upload: Some(upload) });
        Ok(id)
    }

    fn url(&self, file: AssetId) -> Option<AssetUrl> {
        self.taken.get(&file).map(|taken| AssetUrl::new(file, taken.record.file_name.as_str()))
    }

    /// Makes the pictures and videos among `drafts` that show what was taken in blocks of the kind
    /// that such files have.
    pub(super) fn show(&self, drafts: &mut [BlockDraft]) {
        let mut waiting: Vec<&mut BlockDraft> = drafts.iter_mut().collect();
        while let Some(BlockDraft { data, content, .. }) = waiting.pop() {
            waiting.extend(content.iter_mut());
            if let Some(file) = showing::pictured(data)
                && let (Some(taken), Some(url)) = (self.taken.get(&file), self.url(file))
            {
                showing::show(data, &taken.record.media_type, &url, self.space.limits());
            }
        }
    }

    /// The edits that make files of what the blocks of `edits` show, with their uploads; what is a
    /// file already is left out.
    pub(super) fn settle(&mut self, edits: &[Edit]) -> (Vec<Edit>, Vec<Upload>) {
        let (mut made, mut uploads) = (Vec::new(), Vec::new());
        for file in shown(edits) {
            let Some(taken) = self.taken.get_mut(&file) else { continue };
            if let Some(upload) = taken.upload.take() {
                made.push(Edit::CreateAsset(taken.record.clone()));
                uploads.push(upload);
            }
        }
        (made, uploads)
    }

    /// The files that the blocks of `edits` show, and that are to be in the space already.
    pub(super) fn relied_on(&self, edits: &[Edit]) -> BTreeSet<AssetId> {
        let mut files = shown(edits);
        files.retain(|file| self.taken.contains_key(file));
        for edit in edits {
            if let Edit::CreateAsset(record) = edit {
                files.remove(&record.id);
            }
        }
        files
    }

    /// Forgets a file that is no longer in the space, so that it is taken in anew. Gives its path.
    pub(super) fn forget(&mut self, file: AssetId) -> Option<String> {
        let path = self.taken.remove(&file)?.path;
        self.paths.remove(&path);
        Some(path)
    }
}

fn shown(edits: &[Edit]) -> BTreeSet<AssetId> {
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
