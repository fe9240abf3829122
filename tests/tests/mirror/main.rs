//! Mirrors: a folder and a space are kept equal, whatever happens to both.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::ops::ControlFlow;

use leafbase::{
    ApplyMarkdown, Connection, CreateDocuments, DeleteBlocks, DeleteDocuments, Document,
    DocumentId, DocumentPatch, Error, ErrorKind, Fetch, Location, MoveDocuments, Position,
    PurgeDocuments, Result, Space, UpdateDocuments, UploadFile, markdown,
};
use leafbase_vault::{
    ExportOptions, FileListing, FileStat, ImportOptions, ImportSource, MemorySource,
    MirrorChangeKind as Kind, MirrorFiles, MirrorOptions, MirrorReport, SourceEntry, export_folder,
    import_from, mirror, mirror_files,
};

mod rows;
mod stories;

/// Files in memory, whose clock ticks with every write. A write may be made to fail.
#[derive(Clone, Debug, Default)]
struct Files {
    files: BTreeMap<String, (Vec<u8>, i64)>,
    clock: i64,
    /// How many writes succeed before one fails; with none all do.
    left: Option<u32>,
    writes: u32,
    reads: u32,
    /// Whether files were saved so lately that their times are not relied on.
    is_fresh: bool,
    /// A file that is saved once more when the mirror looks at it again.
    saved_late: Option<(String, String)>,
}

impl Files {
    fn put(&mut self, path: &str, text: impl Into<Vec<u8>>) {
        self.clock += 1;
        self.files.insert(path.to_owned(), (text.into(), self.clock));
    }

    fn text(&self, path: &str) -> String {
        let (bytes, _) = self.files.get(path).unwrap_or_else(|| panic!("no {path} in {self:?}"));
        String::from_utf8(bytes.clone()).unwrap()
    }

    fn paths(&self) -> Vec<&str> {
        self.files.keys().map(String::as_str).collect()
    }

    fn step(&mut self) -> Result<()> {
        if self.left == Some(0) {
            return Err(Error::new(ErrorKind::Storage, "the power is gone"));
        }
        self.left = self.left.map(|left| left - 1);
        self.writes += 1;
        Ok(())
    }

    fn described(&self, path: &str) -> Option<FileStat> {
        let (bytes, modified) = self.files.get(path)?;
        let size = bytes.len() as u64;
        let modified = (!self.is_fresh).then_some(*modified);
        Some(FileStat { path: path.to_owned(), size, modified })
    }
}

impl ImportSource for Files {
    fn entries(&mut self) -> Result<Vec<SourceEntry>> {
        Ok(self.files.keys().cloned().map(SourceEntry::File).collect())
    }

    fn read(&mut self, path: &str, _: usize) -> Result<Vec<u8>> {
        self.reads += 1;
        self.files.get(path).map(|file| file.0.clone()).ok_or_else(Error::no_file)
    }
}

impl MirrorFiles for Files {
    fn list(&mut self) -> Result<FileListing> {
        let files = self.files.keys().filter_map(|path| self.described(path)).collect();
        Ok(FileListing { files, ..FileListing::default() })
    }

    fn stat(&mut self, path: &str) -> Result<Option<FileStat>> {
        if let Some((_, text)) = self.saved_late.take_if(|(saved, _)| saved == path) {
            self.put(path, text);
        }
        Ok(self.described(path))
    }

    fn write(
        &mut self,
        path: &str,
        fill: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        let mut bytes = Vec::new();
        fill(&mut bytes).unwrap();
        self.step()?;
        self.put(path, bytes);
        Ok(())
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<()> {
        assert!(!self.files.contains_key(to), "{to} is there");
        self.step()?;
        let file = self.files.remove(from).expect("is there");
        self.files.insert(to.to_owned(), file);
        Ok(())
    }

    fn remove(&mut self, path: &str) -> Result<()> {
        self.step()?;
        self.files.remove(path).expect("is there");
        Ok(())
    }
}

fn go_on(_: leafbase::Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn run(notes: &Connection, files: &mut Files) -> MirrorReport {
    mirror_files(notes, files, &MirrorOptions::new(), &mut go_on).expect("mirrored")
}

/// All documents outside of the trash.
fn documents(notes: &Connection) -> Vec<Document> {
    let mut all = notes.documents().expect("listed").0;
    all.retain(|document| document.record.location != Location::Trash);
    all
}

fn titled(notes: &Connection, title: &str) -> DocumentId {
    let all = documents(notes);
    let found = all.iter().find(|document| document.title == title);
    found.unwrap_or_else(|| panic!("no {title} among {all:?}")).id()
}

fn text(notes: &Connection, title: &str) -> String {
    notes.content_markdown(titled(notes, title)).expect("read")
}

/// Replaces a block's text.
fn edit(notes: &Connection, title: &str, from: &str, to: &str) {
    let page = notes.fetch(Fetch::new(titled(notes, title))).expect("fetched");
    let mut blocks = page.children().iter();
    let block = blocks.find(|block| block.data.inline == from);
    let block = block.unwrap_or_else(|| panic!("no {from} in {page:?}"));
    notes.update_markdown(block.id, to).expect("updated");
}

fn retitle(notes: &Connection, title: &str, to: &str) {
    let patch = DocumentPatch::of(titled(notes, title)).titled(to);
    notes.update_documents(UpdateDocuments::new([patch])).expect("updated");
}

fn kinds(report: &MirrorReport) -> Vec<(Kind, &str)> {
    let mut kinds: Vec<_> =
        report.changes.iter().map(|change| (change.kind, change.path.as_str())).collect();
    kinds.sort_unstable();
    kinds
}
