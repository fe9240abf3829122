//! Salvager: what can be read of a damaged space becomes a new one, and what cannot is listed. The
//! damaged one is only read.
//!
//! Records that nothing else tells are taken: blocks, documents, folders, schemas, comments, files,
//! the change log. What follows from them is made anew, and what they name that is lost is mended:
//! a lost block that others stand below, or that has comments, comes back as one called "Recovered"
//! in its place, by its ID; relations to lost items go; files that nothing shows any more get a
//! document of their own.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;

use leafbase_model::{Author, Error, ErrorKind, Result, SpaceId, Stamp, Timestamp};

use crate::directory;
use crate::edges::Extractor;
use crate::kv::directory::RawFiles;
use crate::kv::{OpenOptions, RawPageReader};
use crate::space_store::{ProgressFn, SpaceMeta, SpaceStore};

mod documents;
mod files;
mod inventory;
mod log;
mod schemas;
mod trees;

/// So many losses are listed; the others are counted.
const LISTED: usize = 1_000;
/// What is called so stands for something whose name is lost.
const RECOVERED: &str = "Recovered";

/// What kind of thing is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum LossKind {
    /// The last commit: what is saved is the state before it, or one that may be.
    Commit,
    /// Records of the journal, which held the last writes.
    Journal,
    /// A page of the file, which held some records: those that could be told from it are saved.
    Page,
    /// A record whose checksum is wrong, or that does not read.
    Record,
    /// What the space says of itself: its name, its zone or its ID.
    Space,
    /// What is known of a document: where it is kept, its day, its times.
    Document,
    /// A block.
    Block,
    /// A folder, or where it was.
    Folder,
    /// The schema of a collection: one that fits the values is made in its place.
    Schema,
    /// A value of an item, such as a relation to a lost item.
    Value,
    /// A file, some of whose bytes are lost.
    File,
    /// A row of the change log: an empty one stands in its place.
    Change,
}

/// Something that is lost.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Loss {
    /// What kind of thing it is.
    pub kind: LossKind,
    /// Which, named as a check names it.
    pub record: String,
    /// What became of it.
    pub message: String,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.record, self.message)
    }
}

/// How much was saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Saved {
    /// Documents, the inbox included.
    pub documents: u64,
    /// Blocks, items and roots included.
    pub blocks: u64,
    /// Folders.
    pub folders: u64,
    /// Collections.
    pub collections: u64,
    /// Comments.
    pub comments: u64,
    /// Files.
    pub files: u64,
    /// Rows of the change log.
    pub changes: u64,
}

/// What a salvage saved, and what is lost.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SalvageReport {
    /// What is in the new space.
    pub saved: Saved,
    /// How much of each kind is lost. One damage may count in several: a page, and the blocks that
    /// were on it.
    pub lost: BTreeMap<LossKind, u64>,
    /// The first 1,000 losses.
    pub losses: Vec<Loss>,
    /// How many more there are.
    pub unlisted: u64,
}

impl SalvageReport {
    /// Whether nothing is lost.
    pub fn is_whole(&self) -> bool {
        self.lost.is_empty()
    }

    fn lose(&mut self, kind: LossKind, record: impl fmt::Display, message: impl fmt::Display) {
        *self.lost.entry(kind).or_default() += 1;
        if self.losses.len() < LISTED {
            self.losses.push(Loss {
                kind,
                record: record.to_string(),
                message: message.to_string(),
            });
        } else {
            self.unlisted += 1;
        }
    }
}

/// What a salvage needs of the host.
pub struct SalvageOptions<'a> {
    /// What follows from blocks.
    pub extractor: Extractor,
    /// When it is done: what is made in place of something lost was made then.
    pub at: Timestamp,
    /// New IDs.
    pub new_id: &'a dyn Fn() -> [u8; 16],
}

impl fmt::Debug for SalvageOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SalvageOptions").field("at", &self.at).finish_non_exhaustive()
    }
}

/// A salvage under way.
struct Salvager<'a> {
    reader: &'a RawPageReader,
    extractor: Extractor,
    stamp: Stamp,
    new_id: &'a dyn Fn() -> [u8; 16],
    report: SalvageReport,
}

/// Makes a space in the new directory `to` of what can be read of the one in `from`.
///
/// # Errors
/// Of `from`: [`ErrorKind::NotFound`], [`ErrorKind::NotASpace`], [`ErrorKind::AlreadyOpen`],
/// [`ErrorKind::NewerFormat`]; [`ErrorKind::Corrupted`] if nothing of it can be read. Of `to`:
/// [`ErrorKind::Validation`] if something is there, and what the operating system reports.
/// [`ErrorKind::Canceled`]. Nothing is at `to` then.
pub fn salvage(
    from: &Path,
    to: &Path,
    options: &SalvageOptions<'_>,
    progress: ProgressFn<'_>,
) -> Result<SalvageReport> {
    let RawFiles { store, wal, lock: _lock } = leafbase_kv::directory::open_raw(from)?;
    let mut done = 0;
    let mut step = || {
        done += 1;
        if progress(done).is_break() { Err(broken_off()) } else { Ok(()) }
    };
    let mut reader = RawPageReader::open(store, directory::RECORD_FORMAT, &mut step)?;
    let mut report = SalvageReport::default();
    let mut lost =
        |what: &str| report.lose(LossKind::Journal, what, "some of the last writes are not saved");
    reader.replay_wal(wal.as_deref(), &mut lost)?;
    directory::create_with(to, &OpenOptions::default(), |target| {
        let stamp = Stamp { at: options.at, by: Author::NOBODY };
        let SalvageOptions { extractor, new_id, .. } = *options;
        let mut salvage = Salvager {
            reader: &reader,
            extractor,
            stamp,
            new_id,
            report: std::mem::take(&mut report),
        };
        salvage.run(target, &mut step)?;
        report = salvage.report;
        Ok(())
    })?;
    Ok(report)
}

fn broken_off() -> Error {
    Error::new(ErrorKind::Canceled, "the salvage was broken off: nothing is left of it")
}

type OnStep<'f> = &'f mut dyn FnMut() -> Result<()>;

impl Salvager<'_> {
    fn run(&mut self, target: &dyn crate::kv::Store, step: OnStep<'_>) -> Result<()> {
        self.report_damage();
        let meta = self.meta()?;
        SpaceStore::initialize(target, &meta)?;
        let mut inventory = self.inventory(step)?;
        let folders = self.folders(target)?;
        self.schemas(&mut inventory)?;
        self.documents(target, &inventory, &folders, step)?;
        self.comments(target, &inventory, step)?;
        self.files(target, step)?;
        self.log(target, folders.len(), step)
    }

    fn report_damage(&mut self) {
        let reader = self.reader;
        if reader.is_previous_commit() {
            self.report.lose(
                LossKind::Commit,
                "the last commit",
                "what is saved may be the state before it",
            );
        }
        for page in reader.lost_pages() {
            self.report.lose(
                LossKind::Page,
                page.describe(directory::RECORD_FORMAT.describe),
                format_args!("{} of its entries are saved", page.saved),
            );
        }
        for key in reader.corrupt_keys().iter().filter(|key| inventory::is_primary(key)) {
            self.report.lose(
                LossKind::Record,
                crate::keyspaces::RowName(key),
                "its checksum is wrong",
            );
        }
    }

    /// What the space says of itself.
    fn meta(&mut self) -> Result<SpaceMeta> {
        let reader = crate::reader::SpaceReader {
            read: self.reader,
            extractor: self.extractor,
            known: crate::reader::ReaderCache::Nothing,
        };
        match reader.meta() {
            Ok(meta) => Ok(meta),
            Err(error) if error.kind() == ErrorKind::NewerFormat => Err(error),
            Err(_) => Ok(self.space_record().unwrap_or_else(|| self.new_meta())),
        }
    }

    fn new_meta(&mut self) -> SpaceMeta {
        self.report.lose(LossKind::Space, "the space", "its name, zone and ID are new");
        let id = SpaceId::from_bytes((self.new_id)());
        SpaceMeta { id, name: RECOVERED.to_owned(), zone: "UTC".to_owned() }
    }

    /// The record of name and zone, where that of the format is lost.
    fn space_record(&self) -> Option<SpaceMeta> {
        use crate::records::{self, meta};
        let (key, mut found) = (crate::keyspaces::meta(meta::SPACE), None);
        let visit = &mut |value: &[u8]| {
            found = records::read(&key, value, meta::read_space).ok();
            Ok(())
        };
        crate::kv::Read::get(self.reader, &key, visit).ok()?;
        found
    }
}

/// What scans go on with.
const CONTINUE: ControlFlow<()> = ControlFlow::Continue(());
