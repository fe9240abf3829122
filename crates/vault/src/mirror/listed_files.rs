//! The files of a mirror as the source of an import: its participants, and the hash of
//! each that was read.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, Read};

use leafbase::{Error, ErrorKind, Result};
use xxhash_rust::xxh3::Xxh3;

use super::file_base::hash;
use super::files::{FileStat, MirrorFiles};
use crate::file_names::markdown_extension;
use crate::folder::{ImportSource, SourceEntry, reason_to_skip};
use crate::link_paths::directory;
use crate::report::Skipped;

/// Bytes that are hashed at a time.
const BUFFER_BYTES: usize = 1 << 16;

/// The files of a mirrored folder as they were listed.
pub(super) struct ListedFiles<'f> {
    pub(super) files: &'f mut dyn MirrorFiles,
    /// Markdown files by path.
    pub(super) notes: BTreeMap<String, FileStat>,
    /// All other files by path.
    pub(super) others: BTreeMap<String, FileStat>,
    pub(super) skipped: Vec<Skipped>,
    /// All directories.
    pub(super) all_directories: BTreeSet<String>,
    /// The paths of entries that are left out, such as symbolic links. No file can have them.
    left_out: Vec<String>,
    /// Markdown files that an import does not see.
    pub(super) omitted: BTreeSet<String>,
    /// Empty directories, of an import.
    pub(super) directories: Vec<String>,
    hashes: HashMap<String, String>,
}

impl<'f> ListedFiles<'f> {
    /// Lists the files. An import has empty directories as well, and reports hidden files.
    pub(super) fn new(files: &'f mut dyn MirrorFiles, is_import: bool) -> Result<Self> {
        let listing = files.list()?;
        // Collected at the end: a map is built from a list at less cost than entry by entry.
        let (mut notes, mut others) = (Vec::new(), Vec::new());
        let mut skipped = listing.skipped;
        let mut left_out: Vec<String> = skipped.iter().map(|it| it.path.clone()).collect();
        // Hidden directories belong to other programs: a mirror does not report them each time.
        skipped.retain(|skipped| is_import || skipped.reason != "hidden");
        for stat in listing.files {
            match reason_to_skip(&stat.path) {
                Some("hidden") if !is_import => {}
                Some(reason) => {
                    left_out.push(stat.path.clone());
                    skipped.push(Skipped { path: stat.path, reason: reason.to_owned() });
                }
                None if markdown_extension(&stat.path).is_some() => {
                    notes.push((stat.path.clone(), stat));
                }
                None => others.push((stat.path.clone(), stat)),
            }
        }
        let empty = listing.empty_directories;
        let (notes, others): (BTreeMap<_, _>, BTreeMap<_, _>) =
            (notes.into_iter().collect(), others.into_iter().collect());
        let paths = notes.keys().chain(others.keys()).chain(&left_out);
        let above = paths.map(|path| directory(path)).chain(empty.iter().map(String::as_str));
        let mut all_directories = BTreeSet::new();
        for mut at in above {
            while !at.is_empty() && all_directories.insert(at.to_owned()) {
                at = directory(at);
            }
        }
        let directories = if is_import { empty } else { Vec::new() };
        let (omitted, hashes) = (BTreeSet::new(), HashMap::new());
        Ok(Self {
            files,
            notes,
            others,
            skipped,
            all_directories,
            left_out,
            omitted,
            directories,
            hashes,
        })
    }

    /// The file at a path, as it was listed or last written.
    pub(super) fn stat(&self, path: &str) -> Option<&FileStat> {
        self.notes.get(path).or_else(|| self.others.get(path))
    }

    /// The paths that no directory can have: those of files, and of entries that are left out.
    pub(super) fn taken_paths(&self) -> impl Iterator<Item = &str> {
        self.paths().chain(self.left_out.iter().map(String::as_str))
    }

    /// The paths that no new file can have.
    pub(super) fn all_paths(&self) -> impl Iterator<Item = &str> {
        self.taken_paths().chain(self.all_directories.iter().map(String::as_str))
    }

    /// All paths of files.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.notes.keys().chain(self.others.keys()).map(String::as_str)
    }

    /// A digest of the paths, sizes and modification times. `None` if one of these cannot be relied
    /// on.
    pub(super) fn digest(&self) -> Option<String> {
        let mut hasher = Xxh3::new();
        for stat in self.notes.values().chain(self.others.values()) {
            hasher.update(stat.path.as_bytes());
            // No path has this byte, so that it ends there.
            hasher.update(&[0]);
            hasher.update(&stat.size.to_le_bytes());
            hasher.update(&stat.modified?.to_le_bytes());
        }
        Some(hex(&hasher))
    }

    /// Whether a file is as it was listed, or read since then.
    pub(super) fn is_unchanged(&mut self, path: &str) -> Result<bool> {
        let found = self.files.stat(path)?;
        let (Some(found), Some(listed)) = (&found, self.stat(path)) else {
            return Ok(found.is_none() && self.stat(path).is_none());
        };
        if found.size != listed.size || listed.modified.is_some() {
            return Ok(found.size == listed.size && found.modified == listed.modified);
        }
        // Saved just before it was listed: its time does not show a later save, such as one that
        // ticks a task and keeps the size.
        match self.hashes.get(path).cloned() {
            Some(known) => Ok(self.read_hash(path)? == known),
            None => Ok(true),
        }
    }

    /// Renames a file. There is none at the path `to`.
    pub(super) fn rename(&mut self, from: &str, to: &str) -> Result<()> {
        self.files.rename(from, to)?;
        // A file system that ignores case would still find it under its old path.
        self.forget(from);
        self.relist(to)
    }

    fn forget(&mut self, path: &str) {
        self.notes.remove(path);
        self.others.remove(path);
        self.hashes.remove(path);
    }

    /// Lists a file again that was written.
    pub(super) fn relist(&mut self, path: &str) -> Result<()> {
        self.forget(path);
        if let Some(stat) = self.files.stat(path)? {
            let is_note = markdown_extension(path).is_some();
            let listed = if is_note { &mut self.notes } else { &mut self.others };
            listed.insert(path.to_owned(), stat);
        }
        Ok(())
    }

    /// The hash of a file, which is read unless it was.
    pub(super) fn hash(&mut self, path: &str) -> Result<String> {
        if let Some(known) = self.hashes.get(path) {
            return Ok(known.clone());
        }
        let found = self.read_hash(path)?;
        self.hashes.insert(path.to_owned(), found.clone());
        Ok(found)
    }

    fn read_hash(&mut self, path: &str) -> Result<String> {
        let failed =
            |error| Error::new(ErrorKind::Storage, "a file cannot be read").with_source(error);
        let mut reader = self.files.open(path, u64::MAX)?;
        let (mut hasher, mut buffer) = (Xxh3::new(), vec![0; BUFFER_BYTES]);
        loop {
            let read = reader.read(&mut buffer).map_err(failed)?;
            if read == 0 {
                break;
            }
            // Every reader of the standard library keeps to its buffer; one of a host may not.
            let Some(bytes) = buffer.get(..read) else {
                return Err(failed(io::Error::other("more bytes were read than asked for")));
            };
            hasher.update(bytes);
        }
        Ok(hex(&hasher))
    }
}

fn hex(hasher: &Xxh3) -> String {
    format!("{:032x}", hasher.digest128())
}

impl ImportSource for ListedFiles<'_> {
    fn entries(&mut self) -> Result<Vec<SourceEntry>> {
        let paths = self.paths().filter(|path| !self.omitted.contains(*path));
        let files = paths.map(|path| SourceEntry::File(path.to_owned()));
        Ok(files.chain(self.directories.iter().cloned().map(SourceEntry::EmptyDirectory)).collect())
    }

    fn read(&mut self, path: &str, max_bytes: usize) -> Result<Vec<u8>> {
        let bytes = self.files.read(path, max_bytes)?;
        self.hashes.insert(path.to_owned(), hash(&bytes));
        Ok(bytes)
    }

    fn open(&mut self, path: &str, max_bytes: u64) -> Result<Box<dyn Read + '_>> {
        self.files.open(path, max_bytes)
    }
}
