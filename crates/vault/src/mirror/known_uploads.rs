//! Uploads whose files are in the folder already: those of the bases, and those that documents
//! without a base show.

use std::collections::{BTreeMap, HashMap, HashSet};

use leafbase::bulk;
use leafbase::{AssetId, AssetRecord, Result};

use super::file_base::{AttachmentBase, HashWriter, MirrorBase};
use super::pairs::Pair;
use super::run::MirrorRun;
use crate::file_names::decode_attachment;
use crate::link_paths::file_name;

/// An upload, and the paths that its file had where it was read.
struct ShownUpload {
    record: AssetRecord,
    source_paths: Vec<String>,
}

impl MirrorRun<'_, '_, '_> {
    /// Takes the attachments of the base that are as they were.
    pub(super) fn assume_uploads(&mut self, base: &MirrorBase) -> Result<()> {
        let of_files = base.files.values().flat_map(|base| &base.attachments);
        let known: HashSet<&str> = of_files.clone().map(|it| it.file.path.as_str()).collect();
        // Those of files that may come back, too.
        let of_gone = base.gone.values().flat_map(|base| &base.attachments);
        let of_gone = of_gone.filter(|it| !known.contains(it.file.path.as_str()));
        for AttachmentBase { file, upload } in of_files.chain(of_gone) {
            let Some(stat) = self.files.others.get(&file.path).cloned() else { continue };
            if file.is_current(&stat) || self.files.hash(&file.path)? == file.hash {
                self.uploads.insert(*upload, file.path.clone());
            }
        }
        Ok(())
    }

    /// Takes files as those of the uploads that documents without a base show, if they have the
    /// same content, and the path that they were read from or else the name of the upload.
    /// Otherwise an unedited picture would be another one on each side.
    pub(super) fn assume_shown_uploads(&mut self, pairs: &[Pair]) -> Result<()> {
        let shown = self.shown_uploads(pairs)?;
        if shown.is_empty() {
            return Ok(());
        }
        let mut by_name: HashMap<String, Vec<String>> = HashMap::new();
        for path in self.files.others.keys() {
            by_name.entry(decode_attachment(file_name(path))).or_default().push(path.clone());
        }
        let mut taken: HashSet<String> = self.uploads.values().cloned().collect();
        // The paths of all before the names of any: several files may have one name.
        for has_path in [true, false] {
            for (id, ShownUpload { record, source_paths }) in &shown {
                if self.uploads.contains_key(id) {
                    continue;
                }
                let named = by_name.get(&record.file_name).map(Vec::as_slice);
                let paths = if has_path { Some(source_paths.as_slice()) } else { named };
                for path in paths.into_iter().flatten() {
                    if !taken.contains(path) && self.has_content_of(path, record)? {
                        taken.insert(path.clone());
                        self.uploads.insert(*id, path.clone());
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// The uploads of documents that have a file, and no base.
    fn shown_uploads(&self, pairs: &[Pair]) -> Result<BTreeMap<AssetId, ShownUpload>> {
        let mut shown: BTreeMap<AssetId, ShownUpload> = BTreeMap::new();
        if self.files.others.is_empty() {
            return Ok(shown);
        }
        let unknown = pairs.iter().filter(|pair| pair.base.is_none() && pair.file.is_some());
        bulk::read(self.notes, |view| {
            for id in unknown.filter_map(|pair| pair.document) {
                for node in view.subtree(id.root())?.0 {
                    let data = &node.block.data;
                    let mut files = Vec::new();
                    bulk::shown_files(data, &mut |file| files.push(file));
                    let links = data.layout.iter().flat_map(|layout| &layout.links);
                    let paths = links.filter_map(|link| link.attachment.as_deref());
                    let paths: Vec<String> = paths.map(ToOwned::to_owned).collect();
                    for file in files {
                        if let Some(record) = view.file(file)? {
                            let source_paths = Vec::new();
                            let new = ShownUpload { record, source_paths };
                            let known = shown.entry(file).or_insert(new);
                            known.source_paths.extend_from_slice(&paths);
                        }
                    }
                }
            }
            Ok(())
        })?;
        Ok(shown)
    }

    fn has_content_of(&mut self, path: &str, record: &AssetRecord) -> Result<bool> {
        let is_long_as = self.files.others.get(path).is_some_and(|stat| stat.size == record.size);
        if !is_long_as {
            return Ok(false);
        }
        let mut hash = HashWriter::default();
        // An upload that cannot be read is replaced by the file.
        let read = bulk::read(self.notes, |view| Ok(view.write_file(record, &mut hash)))?;
        Ok(read.is_ok() && self.files.hash(path)? == hash.finish())
    }
}
