//! The files that imported documents show are taken in, each once.

use std::collections::{BTreeSet, HashMap};

use leafbase_model::{AssetId, AssetRecord, AssetUrl, Edit, Error, Stamp};

use crate::files::Upload;
use crate::links;
use crate::space::Space;
use crate::transfer::source::ImportSource;

/// What became of a file.
enum Taken {
    /// Its bytes are stored; it is a file of the space once a document that shows it is written.
    Stored { upload: Upload, record: AssetRecord },
    /// It is a file of the space, of this URL.
    Made(String),
    /// It was not taken in.
    Refused(String),
}

/// Takes files in. What no document shows in the end is forgotten with it.
pub(super) struct Attaching {
    space: Space,
    stamp: Stamp,
    taken: HashMap<String, Taken>,
    /// The path of each file that is stored.
    paths: HashMap<AssetId, String>,
}

impl Attaching {
    pub(super) fn new(space: &Space, stamp: &Stamp) -> Self {
        let (space, stamp) = (space.clone(), stamp.clone());
        Self { space, stamp, taken: HashMap::new(), paths: HashMap::new() }
    }

    /// Whether the file at `path` was asked for.
    pub(super) fn knows(&self, path: &str) -> bool {
        self.taken.contains_key(path)
    }

    /// The URL of the file at `path`, whose bytes are stored if they were not yet; or why they cannot be.
    pub(super) fn take(&mut self, source: &mut dyn ImportSource, path: &str) -> Result<String, String> {
        if !self.taken.contains_key(path) {
            let taken = self.store(source, path).unwrap_or_else(|error| Taken::Refused(error.to_string()));
            self.taken.insert(path.to_owned(), taken);
        }
        match self.taken.get(path) {
            Some(Taken::Stored { record, .. }) => {
                self.paths.insert(record.id, path.to_owned());
                Ok(AssetUrl::new(record.id, record.file_name.as_str()).to_string())
            }
            Some(Taken::Made(url)) => Ok(url.clone()),
            Some(Taken::Refused(why)) => Err(why.clone()),
            None => Err("it was not read".to_owned()),
        }
    }

    fn store(&self, source: &mut dyn ImportSource, path: &str) -> Result<Taken, Error> {
        let reader = source.open(path, self.space.limits().upload)?;
        let name = path.rsplit('/').next().unwrap_or_default();
        let (upload, record) = Upload::of(&self.space, &self.stamp, name, reader)?;
        Ok(Taken::Stored { upload, record })
    }

    /// The edits that make files of what the blocks of `edits` show, with their uploads; what is a file already is left out.
    pub(super) fn settle(&mut self, edits: &[Edit]) -> (Vec<Edit>, Vec<Upload>) {
        let (mut made, mut uploads) = (Vec::new(), Vec::new());
        for file in shown(edits) {
            let Some(path) = self.paths.remove(&file) else { continue };
            if let Some(Taken::Stored { upload, record }) = self.taken.remove(&path) {
                let url = AssetUrl::new(record.id, record.file_name.as_str()).to_string();
                self.taken.insert(path, Taken::Made(url));
                made.push(Edit::CreateAsset(record));
                uploads.push(upload);
            }
        }
        (made, uploads)
    }
}

fn shown(edits: &[Edit]) -> BTreeSet<AssetId> {
    let mut files = BTreeSet::new();
    for edit in edits {
        if let Edit::CreateDocument { forest, .. } = edit {
            for node in &forest.0 {
                links::files(&node.block.data, &mut |file| {
                    files.insert(file);
                });
            }
        }
    }
    files
}
