//! A folder of markdown files becomes folders and documents.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use leafbase_model::{
    AssetId, BlockData, BlockDraft, BlockId, Edit, Error, FolderId, IdSource, Result, Stamp,
    Subtrees, Timestamp,
};
use leafbase_store::SpaceReader;
use leafbase_tree_ops::{self as ops, Context};

use crate::core::access::Full;
use crate::core::connection::Connection;
use crate::core::progress::Progress;
use crate::operations::files::Upload;
use crate::operations::transfer::attaching::{Attaching, Fate};
use crate::operations::transfer::batch::{Batch, Written};
use crate::operations::transfer::incoming::{Anchored, Incoming, Loose};
use crate::operations::transfer::notes::Notes;
use crate::operations::transfer::plan::{Given, Plan, Step};
use crate::operations::transfer::reading::{self, Text};
use crate::operations::transfer::report::{
    Adaptation, AdaptationKind, ImportOptions, ImportReport, Skipped,
};
use crate::operations::transfer::settling::Settling;
use crate::operations::transfer::source::{FolderSource, ImportSource};
use crate::operations::transfer::steps::Steps;
use crate::operations::transfer::targets::FileIndex;
use crate::operations::transfer::urls;
use crate::support::days;

/// Blocks that are written in one transaction, and a last document's more: it bounds memory, and a
/// commit is worth it.
const BATCH: usize = 2_000;

impl Connection<Full> {
    /// Imports the markdown files below the directory `path`: directories become folders, files
    /// become documents in them, and those whose name is a day become the daily notes of it (see
    /// [`ImportOptions::daily_notes`]).
    ///
    /// Front matter becomes a document's first block, code with the tag `yaml frontmatter`. Wiki
    /// links and relative links to files of the folder become links to blocks. Other files that a
    /// document shows or links to are taken in as uploads are, and one that is shown alone in a
    /// paragraph is shown by the block that an upload of it would make. Names that an export
    /// escaped are those that they were before. The report tells what had to be adapted and what
    /// was left out; hidden files, symbolic links and files that no document shows are. Memory
    /// stays bounded by the largest file.
    ///
    /// Others may write to the space meanwhile. What is for a folder that they delete goes into the
    /// nearest one above it, a day that gets a note keeps it, and a file that they delete with all
    /// that showed it is taken in again for the next document.
    ///
    /// `progress` is told the steps done: one for each file, and when all are read, those that find
    /// what links to headings mean, by which the total grows. It may break off: the report says so,
    /// and what was imported stays, whole; a link to a heading that was not looked for leads to the
    /// document.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use leafbase::{ImportOptions, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let vault = directory.path();
    /// # std::fs::write(vault.join("Trip.md"), "See [[Packing]].").unwrap();
    /// # std::fs::write(vault.join("Packing.md"), "##### Clothes").unwrap();
    /// let notes = Space::in_memory()?.connect();
    /// let report = notes.import_folder(vault, &ImportOptions::new(), &mut |_| ControlFlow::Continue(()))?;
    /// assert_eq!((report.documents, report.links), (2, 1));
    /// for adaptation in &report.adaptations {
    ///     println!("{}: {}", adaptation.path, adaptation.message); // a heading of level 5 became one of level 4
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] if there is no such directory, or no such folder in the
    /// space; what the operating system or the store reports. What was imported before stays.
    pub fn import_folder(
        &self,
        path: impl AsRef<Path>,
        options: &ImportOptions,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<ImportReport> {
        self.import_from(&mut FolderSource::new(path.as_ref()), options, progress)
    }

    /// Imports markdown files from elsewhere: [`crate::MemorySource`], or a source of the host's
    /// own.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use leafbase::{ImportOptions, MemorySource, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = Space::in_memory()?.connect();
    /// let mut source = MemorySource::from_iter([("Lisbon/Trip.md", "# Packing"), ("2026-03-01.md", "rain")]);
    /// let report = notes.import_from(&mut source, &ImportOptions::new(), &mut |_| ControlFlow::Continue(()))?;
    /// assert_eq!((report.documents, report.folders), (2, 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Self::import_folder`], and what the source reports.
    pub fn import_from(
        &self,
        source: &mut dyn ImportSource,
        options: &ImportOptions,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<ImportReport> {
        let into =
            self.operation("import_folder").read_all(|reader| way_up(reader, options.folder))?;
        if into.is_empty() && options.folder.is_some() {
            return Err(Error::not_found().at("folder"));
        }
        let now = self.space.now();
        let takes_note = |day| {
            Ok(options.daily_notes
                && self
                    .operation("import_folder")
                    .read_all(|reader| reader.note_of(day))?
                    .is_none())
        };
        let mut mint = || self.space.ids().new_id(now);
        let given = Given { into: &into, takes_note: &takes_note, mint: &mut mint };
        let mut plan = Plan::of(source, given)?;
        if !options.daily_notes {
            plan.files.iter_mut().for_each(|file| file.taken_day = None);
        }
        let mut import = Import::new(self, &plan, now);
        import.takes_attachments = options.attachments;
        let mut steps = Steps::new(progress, plan.files.len());
        import.run(source, &mut steps)?;
        import.finish(&mut steps)
    }
}

/// An import under way.
struct Import<'a> {
    connection: &'a Connection<Full>,
    plan: &'a Plan,
    stamp: Stamp,
    anchored: Anchored,
    /// Links to look at again, with their block and the file that it is of.
    loose: Vec<(BlockId, FileIndex, Loose)>,
    /// Whether each file was imported.
    made: Vec<bool>,
    takes_attachments: bool,
    /// Whether a file is kept as code.
    keeps_code: bool,
    attaching: Attaching,
    batch: Batch,
    report: ImportReport,
}

impl<'a> Import<'a> {
    fn new(connection: &'a Connection<Full>, plan: &'a Plan, now: Timestamp) -> Self {
        let report = ImportReport { skipped: plan.skipped.clone(), ..ImportReport::default() };
        let (made, stamp) =
            (vec![false; plan.files.len()], Stamp { at: now, by: connection.author().clone() });
        let (attaching, takes_attachments) = (Attaching::new(&connection.space, &stamp), true);
        let (anchored, loose, batch) = (Anchored::default(), Vec::new(), Batch::default());
        let keeps_code = false;
        Self {
            connection,
            plan,
            stamp,
            anchored,
            loose,
            made,
            takes_attachments,
            keeps_code,
            attaching,
            batch,
            report,
        }
    }

    fn run(&mut self, source: &mut dyn ImportSource, steps: &mut Steps<'_>) -> Result<()> {
        for step in &self.plan.steps {
            match step {
                Step::Folder(folder) => {
                    self.batch.edits.push(Edit::CreateFolder(folder.clone()));
                    self.batch.folders += 1;
                }
                Step::File(index) => {
                    if let Err(reason) = self.file(source, *index) {
                        let path = self
                            .plan
                            .files
                            .get(*index)
                            .map(|file| file.path.clone())
                            .unwrap_or_default();
                        self.report.skipped.push(Skipped { path, reason: reason.to_string() });
                    }
                    steps.count();
                }
            }
            if self.batch.blocks >= BATCH {
                self.write(source)?;
            }
            steps.tell();
            if steps.is_broken_off() {
                self.report.canceled = steps.is_left();
                break;
            }
        }
        self.write(source)
    }

    /// Reads a file and puts its document into the batch. An error is why the file is skipped.
    fn file(&mut self, source: &mut dyn ImportSource, index: FileIndex) -> Result<()> {
        let Some(file) = self.plan.files.get(index) else { return Ok(()) };
        let limits = self.connection.limits();
        let bytes = source.read(&file.path, limits.markdown)?;
        if bytes.len() > limits.markdown {
            return Err(Error::limit("bytes of a file", limits.markdown, "more"));
        }
        let text = Text::of(bytes).ok_or_else(|| Error::validation("it is not UTF-8"))?;
        let mut notes = Notes::new(&file.path, &text.text);
        for (kind, message) in &text.adapted {
            notes.add_at(*kind, None, *message);
        }
        let mut blocks = reading::blocks(&text.text, limits, &mut notes);
        let (loose, links) = self.rewrite_links(source, index, &mut blocks, &mut notes);
        let (subtrees, edits, links, loose) = match self.document(index, blocks) {
            Ok((subtrees, edits)) => (subtrees, edits, links, loose),
            Err(error) => {
                notes.add_at(
                    AdaptationKind::KeptAsCode,
                    None,
                    format!("the file is kept as code: {error}"),
                );
                let (subtrees, edits) = self.document(index, reading::as_code(&text.text))?;
                (subtrees, edits, 0, Vec::new())
            }
        };
        if let Some(day) = file.taken_day {
            notes.add_at(AdaptationKind::DailyNote, None, reading::has_note_already(day));
        }
        let changed =
            if file.day.is_some() { None } else { reading::title_changed(&file.path, &edits) };
        if let Some(message) = changed {
            notes.add_at(AdaptationKind::Title, None, message);
        }
        self.keeps_code |= notes
            .adaptations
            .iter()
            .any(|adaptation| adaptation.kind == AdaptationKind::KeptAsCode);
        self.report.links += links;
        self.report.adaptations.append(&mut notes.adaptations);
        let block_at = |place: usize| subtrees.get(place).copied().unwrap_or_default();
        self.loose.extend(loose.into_iter().map(|loose| (block_at(loose.place), index, loose)));
        self.batch.blocks += subtrees.len();
        self.batch.documents += 1;
        self.report.blocks += u64::try_from(subtrees.len().saturating_sub(1)).unwrap_or(0);
        let (files, uploads) = self.attaching.settle(&edits);
        self.batch.edits.extend(files.into_iter().chain(edits));
        self.batch.uploads.extend(uploads);
        if let Some(made) = self.made.get_mut(index) {
            *made = true;
        }
        Ok(())
    }

    fn rewrite_links(
        &mut self,
        source: &mut dyn ImportSource,
        index: FileIndex,
        blocks: &mut [BlockDraft],
        notes: &mut Notes<'_>,
    ) -> (Vec<Loose>, u64) {
        let (ids, at, made) = (self.connection.space.ids(), self.stamp.at, &self.made);
        let (attaching, takes_attachments) = (&mut self.attaching, self.takes_attachments);
        let mut attach = |path: &str| {
            if takes_attachments {
                attaching.take(source, path)
            } else {
                Err("attachments are left out".to_owned())
            }
        };
        let mut incoming = Incoming {
            plan: self.plan,
            attach: &mut attach,
            from: index,
            is_gone: &|file| file < index && !made.get(file).copied().unwrap_or(false),
            anchored: &mut self.anchored,
            mint: &mut || ids.new_id(at),
            notes,
            loose: Vec::new(),
            resolved: 0,
        };
        // The root comes first.
        incoming.rewrite(blocks, 1);
        let links = (incoming.loose, incoming.resolved);
        self.attaching.show(blocks);
        links
    }

    /// The edits that make the document of a file, and its blocks in reading order.
    fn document(
        &self,
        index: FileIndex,
        blocks: Vec<BlockDraft>,
    ) -> Result<(Vec<BlockId>, Vec<Edit>)> {
        let file = self.plan.files.get(index).ok_or_else(Error::not_found)?;
        let ids = RootFirst {
            root: Mutex::new(Some(file.id.root().to_bytes())),
            rest: self.connection.space.ids(),
        };
        // A file is no request: what bounds it is its length.
        let mut limits = self.connection.limits().clone();
        limits.blocks_per_request = usize::MAX;
        let context = Context { limits: &limits, stamp: &self.stamp, ids: &ids };
        let title = file.day.map_or_else(|| reading::title(&file.path), days::long_form);
        let page = BlockDraft::new(BlockData::page(title)).with_content(blocks);
        let created = ops::create_document(&context, page, file.location, file.day)?;
        let subtrees = created.edits.iter().flat_map(|edit| match edit {
            Edit::CreateDocument { subtrees: Subtrees(nodes), .. } => nodes.as_slice(),
            _ => &[],
        });
        Ok((subtrees.map(|node| node.block.id).collect(), created.edits))
    }

    /// Writes the batch, into the space as it is now.
    fn write(&mut self, source: &mut dyn ImportSource) -> Result<()> {
        let mut batch = std::mem::take(&mut self.batch);
        while !batch.edits.is_empty() {
            let relied_on = self.attaching.relied_on(&batch.edits);
            match batch.write(self.connection, self.plan, &relied_on)? {
                Written::Whole(mut adaptations) => {
                    self.report.adaptations.append(&mut adaptations);
                    break;
                }
                // What is taken in again is made by this very write, and not relied on.
                Written::Nothing { gone } => {
                    for file in gone {
                        self.take_again(source, file, &mut batch);
                    }
                }
            }
        }
        self.report.documents += batch.documents;
        self.report.folders += batch.folders;
        self.report.attachments += u64::try_from(batch.uploads.len()).unwrap_or(u64::MAX);
        batch.uploads.into_iter().for_each(Upload::keep);
        Ok(())
    }

    /// Takes in a file again that was deleted with what showed it before, for the documents of
    /// `batch`.
    fn take_again(&mut self, source: &mut dyn ImportSource, file: AssetId, batch: &mut Batch) {
        let Some(path) = self.attaching.forget(file) else { return };
        match self.attaching.take(source, &path) {
            Ok(url) => drop(batch.redirect(file, &|_| url.clone())),
            Err(why) => self.keep_path(batch, file, &path, &why),
        }
        let (files, uploads) = self.attaching.settle(&batch.edits);
        batch.edits.splice(0..0, files);
        batch.uploads.extend(uploads);
    }

    /// Gives the links to `file` their relative path back.
    fn keep_path(&mut self, batch: &mut Batch, file: AssetId, path: &str, why: &str) {
        let from = |document| self.plan.file(document).map_or("", |file| file.path.as_str());
        let way = |document| urls::encode(&urls::relative_path(from(document), path));
        for document in batch.redirect(file, &way) {
            let message = format!("{path} is not taken in, for {why}; the path is kept");
            let (path, kind) = (from(document).to_owned(), AdaptationKind::Attachment);
            self.report.adaptations.push(Adaptation { path, line: None, kind, message });
        }
    }

    /// The files that are no markdown and were not taken in, beside those that were told of where
    /// they are shown.
    fn left_out(&self) -> Vec<Skipped> {
        let mut left_out = Vec::new();
        for path in self.plan.attachable.paths() {
            let reason = match self.attaching.fate(path) {
                Fate::Settled => continue,
                _ if !self.takes_attachments => "not markdown, and attachments are not taken in",
                Fate::NotShown => "not markdown, and what shows it is kept as code",
                Fate::NotAskedFor if self.report.canceled => {
                    "not markdown, and no document shows it that was made before the import was broken off"
                }
                Fate::NotAskedFor if self.keeps_code => {
                    "not markdown, and no document shows it, unless it is one that is kept as code"
                }
                Fate::NotAskedFor => "not markdown, and no document shows it",
            };
            left_out.push(Skipped { path: path.to_owned(), reason: reason.to_owned() });
        }
        left_out
    }

    fn finish(mut self, steps: &mut Steps<'_>) -> Result<ImportReport> {
        let mut left_out = self.left_out();
        let made = |file: FileIndex| self.made.get(file).copied().unwrap_or(false);
        let settling = Settling { connection: self.connection, plan: self.plan, made: &made };
        let mut settled = settling.settle(&self.anchored, &self.loose, steps)?;
        self.report.canceled |= settled.canceled;
        self.report.adaptations.append(&mut settled.remarks);
        self.report.skipped.append(&mut left_out);
        // Stable: what is remarked on one file stays in the order of its lines.
        self.report
            .adaptations
            .sort_by(|one, other| (&one.path, one.line).cmp(&(&other.path, other.line)));
        self.report.skipped.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(self.report)
    }
}

/// `folder`, if it is there, and the folders that it is in, the nearest first.
fn way_up(reader: SpaceReader<'_>, mut folder: Option<FolderId>) -> Result<Vec<FolderId>> {
    let mut way = Vec::new();
    while let Some(record) = folder.map(|id| reader.folder(id)).transpose()?.flatten() {
        way.push(record.id);
        folder = record.parent.filter(|parent| !way.contains(parent));
    }
    Ok(way)
}

/// Gives the root of a document the ID that was minted for it, and the rest new ones.
struct RootFirst<'a> {
    root: Mutex<Option<[u8; 16]>>,
    rest: &'a dyn IdSource,
}

impl IdSource for RootFirst<'_> {
    fn new_id(&self, now: Timestamp) -> [u8; 16] {
        let root = self.root.lock().unwrap_or_else(PoisonError::into_inner).take();
        root.unwrap_or_else(|| self.rest.new_id(now))
    }
}
