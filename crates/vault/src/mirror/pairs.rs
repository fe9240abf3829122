//! The pairs of a mirror: which file belongs to which document, and what happened to both.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use leafbase::{DocumentId, Result};

use super::file_base::FileBase;
use super::files::FileStat;
use super::space_side::SpaceSide;
use crate::file_names::{decode, encode};
use crate::link_paths::{directory, file_name};
use crate::markdown_file;

/// A document and its file, or one of both.
#[derive(Debug)]
pub(super) struct Pair {
    /// The document, if it is in the mirrored part of the space.
    pub(super) document: Option<DocumentId>,
    /// What both had in common.
    pub(super) base: Option<(DocumentId, FileBase)>,
    /// The file, under its present path.
    pub(super) file: Option<FileStat>,
}

impl Pair {
    /// The path of the file before and after a rename outside.
    pub(super) fn file_rename(&self) -> Option<(&str, &str)> {
        let (from, to) = (&self.base.as_ref()?.1.file.path, &self.file.as_ref()?.path);
        (from != to).then_some((from, to))
    }

    /// Whether the document was renamed or moved in the space. The name of the file wins over that
    /// of the document, and its directory over the folder.
    pub(super) fn is_document_renamed(&self, side: &SpaceSide) -> bool {
        let (Some((_, base)), Some(document)) = (&self.base, self.document) else { return false };
        let (from, to) = self.file_rename().unwrap_or(("", ""));
        side.documents.get(&document).is_some_and(|document| {
            (document.row.title != base.title && file_name(from) == file_name(to))
                || (document.place != base.place && directory(from) == directory(to))
        })
    }
}

/// Pairs documents and files: by the base; files that were renamed by their content, or by their
/// name if they were moved; all others by folder and title.
pub(super) fn pairs(
    side: &SpaceSide,
    bases: BTreeMap<DocumentId, FileBase>,
    files: &BTreeMap<String, FileStat>,
    by_base_alone: bool,
    hash: &mut dyn FnMut(&str) -> Result<String>,
) -> Result<Vec<Pair>> {
    let mut free: BTreeSet<&str> = files.keys().map(String::as_str).collect();
    for base in bases.values() {
        free.remove(base.file.path.as_str());
    }
    let is_lost = |base: &FileBase| !files.contains_key(&base.file.path);
    let lost: Vec<(DocumentId, &FileBase)> =
        bases.iter().filter(|(_, base)| is_lost(base)).map(|(id, base)| (*id, base)).collect();
    let renamed = renames(side, &lost, &mut free, files, hash)?;
    let mut pairs: Vec<Pair> = bases
        .into_iter()
        .map(|(id, base)| {
            let path = renamed.get(&id).unwrap_or(&base.file.path);
            Pair {
                document: side.documents.contains_key(&id).then_some(id),
                file: files.get(path).cloned(),
                base: Some((id, base)),
            }
        })
        .collect();
    let known: BTreeSet<DocumentId> = pairs.iter().filter_map(|pair| pair.document).collect();
    // An import takes a document for that of a file by its base alone: another folder may have
    // files of the same names.
    let mut unpaired = NamedDocuments::new(side, |id| !(by_base_alone || known.contains(&id)));
    for path in free {
        let document = unpaired.take(path);
        pairs.push(Pair { document, base: None, file: files.get(path).cloned() });
    }
    let rest = unpaired.rest.into_iter();
    pairs.extend(rest.map(|id| Pair { document: Some(id), base: None, file: None }));
    Ok(pairs)
}

/// The new paths of files that are not where the base says.
fn renames(
    side: &SpaceSide,
    lost: &[(DocumentId, &FileBase)],
    free: &mut BTreeSet<&str>,
    files: &BTreeMap<String, FileStat>,
    hash: &mut dyn FnMut(&str) -> Result<String>,
) -> Result<HashMap<DocumentId, String>> {
    let mut renamed = HashMap::new();
    let sizes: BTreeSet<u64> = lost.iter().map(|(_, base)| base.file.size).collect();
    let mut by_hash: HashMap<String, Vec<&str>> = HashMap::new();
    // In reverse, so that `pop` takes the first path of several equal files.
    for path in free.iter().rev() {
        if files.get(*path).is_some_and(|stat| sizes.contains(&stat.size)) {
            by_hash.entry(hash(path)?).or_default().push(path);
        }
    }
    let mut moved: Vec<(DocumentId, &str)> = Vec::new();
    for (id, base) in lost {
        // The same name is preferred: of several empty files each keeps its own.
        let name = file_name(&base.file.path);
        let found = by_hash.get_mut(&base.file.hash).and_then(|paths| {
            let same = paths.iter().rposition(|path| file_name(path) == name);
            same.map(|at| paths.remove(at)).or_else(|| paths.pop())
        });
        match found {
            Some(path) => {
                free.remove(path);
                renamed.insert(*id, path.to_owned());
            }
            None => moved.push((*id, name)),
        }
    }
    // Moved and edited: the name is enough if it is the only one.
    for (id, name) in &moved {
        let mut named = free.iter().filter(|path| file_name(path) == *name);
        if let (Some(path), None) = (named.next().copied(), named.next())
            && moved.iter().filter(|(_, other)| other == name).count() == 1
            && side.documents.contains_key(id)
        {
            free.remove(path);
            renamed.insert(*id, path.to_owned());
        }
    }
    Ok(renamed)
}

/// Documents by what their files would be called.
pub(super) struct NamedDocuments {
    by_name: HashMap<(String, String), Vec<DocumentId>>,
    rest: BTreeSet<DocumentId>,
}

impl NamedDocuments {
    pub(super) fn new(side: &SpaceSide, is_wanted: impl Fn(DocumentId) -> bool) -> Self {
        let mut named = Self { by_name: HashMap::new(), rest: BTreeSet::new() };
        for (id, document) in side.documents.iter().filter(|(id, _)| is_wanted(**id)) {
            let key = match document.row.record.day {
                Some(day) => (String::new(), day.to_string()),
                None => (document.place.clone(), document.row.title.clone()),
            };
            named.by_name.entry(key).or_default().push(*id);
            named.rest.insert(*id);
        }
        named
    }

    /// The document that a file is of, if there is exactly one.
    pub(super) fn take(&mut self, path: &str) -> Option<DocumentId> {
        let names = directory(path).split('/').filter(|part| !part.is_empty());
        let place = names.map(|name| encode(&decode(name))).collect::<Vec<_>>().join("/");
        let day = markdown_file::day(path).map(|day| (String::new(), day.to_string()));
        let keys = day.into_iter().chain([(place, markdown_file::title(path))]);
        for key in keys {
            if let Some([id]) = self.by_name.get(&key).map(Vec::as_slice)
                && self.rest.remove(id)
            {
                return Some(*id);
            }
        }
        None
    }
}
