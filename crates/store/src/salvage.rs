//! Salvage: rebuilds a space from the readable records of a damaged one, which is only read, and
//! lists what is lost.
//!
//! It copies primary records: blocks, documents, folders, schemas, comments, files, vectors, the
//! change log. Lost blocks are taken from lists of tasks where those have them.
//! Index rows are derived again, and references to lost records are repaired: a lost block with
//! children or comments is reconstructed under its ID with the name "Recovered"; relations to lost
//! items are removed; files that no block embeds get a document of their own.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;

use leafbase_model::{Author, Error, ErrorKind, Result, SpaceId, SpaceSettings, Stamp, Timestamp};

use crate::directory;
use crate::edges::Extractor;
use crate::keyspaces::SCOPES;
use crate::kv::directory::RawFiles;
use crate::kv::{Durability, OpenOptions, RawPageReader, WriteOptions};
use crate::progress::ProgressFn;
use crate::records::layout::Value;
use crate::records::{self, meta::SpaceMeta};
use crate::space_store::SpaceStore;

mod documents;
mod embeddings;
mod files;
mod inventory;
mod log;
mod schemas;
mod tasks;
mod trees;

/// Losses that are listed; further ones are counted.
const LISTED: usize = 1_000;
/// The name of what lost its name.
const RECOVERED: &str = "Recovered";
/// The loss of a block that is reconstructed.
const DATA_IS_LOST: &str = "its data is lost: a new block under its ID keeps what belongs to it";

/// The kind of a lost thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum LossKind {
    /// The last commit: the salvaged state is the one before it, or may be.
    Commit,
    /// Records of the write-ahead log, which held the last writes.
    Journal,
    /// A page of the file: its entries are salvaged as far as they decode.
    Page,
    /// A record whose checksum does not match, or that does not decode.
    Record,
    /// Name, time zone or ID of the space.
    Space,
    /// The record of a document: its location, its day, its times.
    Document,
    /// A block.
    Block,
    /// A folder, or its parent.
    Folder,
    /// The schema of a collection: one is inferred from the values.
    Schema,
    /// A property value, such as a relation to a lost item.
    Value,
    /// A file with missing or other bytes, or its record.
    File,
    /// A change of the change log: an empty one takes its place.
    Change,
}

/// A lost thing.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Loss {
    /// Its kind.
    pub kind: LossKind,
    /// Its name, as in a check.
    pub record: String,
    /// The outcome.
    pub message: String,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.record, self.message)
    }
}

/// What was salvaged.
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
    /// Vectors of blocks and documents.
    pub embeddings: u64,
    /// Changes of the change log.
    pub changes: u64,
}

/// The result of a salvage.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SalvageReport {
    /// What the new space contains.
    pub saved: Saved,
    /// The number of losses of each kind. One damage may count several times: a page, and the
    /// blocks on it.
    pub lost: BTreeMap<LossKind, u64>,
    /// The first 1,000 losses.
    pub losses: Vec<Loss>,
    /// The number of further losses.
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
    /// Derives index rows from blocks.
    pub extractor: Extractor,
    /// The time of the salvage, which reconstructed records are stamped with.
    pub at: Timestamp,
    /// Generates IDs.
    pub new_id: &'a dyn Fn() -> [u8; 16],
}

impl fmt::Debug for SalvageOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SalvageOptions").field("at", &self.at).finish_non_exhaustive()
    }
}

/// A salvage in progress.
struct Salvager<'a> {
    reader: &'a RawPageReader,
    extractor: Extractor,
    stamp: Stamp,
    new_id: &'a dyn Fn() -> [u8; 16],
    report: SalvageReport,
}

/// Creates a space in the new directory `to` from the readable records of the one in `from`.
///
/// # Errors
/// Of `from`: [`ErrorKind::NotFound`], [`ErrorKind::NotASpace`], [`ErrorKind::AlreadyOpen`],
/// [`ErrorKind::NewerFormat`]; [`ErrorKind::Corrupted`] if nothing is readable. Of `to`:
/// [`ErrorKind::Validation`] if it exists, and errors of the operating system.
/// [`ErrorKind::Canceled`]. After an error nothing is at `to`.
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
        if progress(done).is_break() { Err(canceled()) } else { Ok(()) }
    };
    // The lock is held to the end: no other handle may open the damaged space in the meantime.
    let mut reader = RawPageReader::open(store, directory::RECORD_FORMAT, &mut step)?;
    let mut report = SalvageReport::default();
    let mut lost =
        |what: &str| report.lose(LossKind::Journal, what, "some of the last writes are lost");
    reader.replay_wal(wal.as_deref(), &mut lost)?;
    directory::create_with(to, &OpenOptions::default(), |target| {
        let stamp = Stamp { at: options.at, by: Author::ANONYMOUS };
        let SalvageOptions { extractor, new_id, .. } = *options;
        let mut salvage = Salvager {
            reader: &reader,
            extractor,
            stamp,
            new_id,
            // The closure borrows the report, and gives it back below.
            report: std::mem::take(&mut report),
        };
        salvage.run(target, &mut step)?;
        report = salvage.report;
        Ok(())
    })?;
    Ok(report)
}

fn canceled() -> Error {
    Error::new(ErrorKind::Canceled, "the salvage was canceled and its files were removed")
}

type OnStep<'f> = &'f mut dyn FnMut() -> Result<()>;

impl Salvager<'_> {
    fn run(&mut self, target: &dyn crate::kv::Store, step: OnStep<'_>) -> Result<()> {
        self.report_damage();
        // Everything is listed before anything is written: what is reconstructed depends on it.
        let log = self.inventory_log()?;
        let meta = self.meta(log.settings.clone())?;
        SpaceStore::initialize(target, &meta)?;
        self.scopes(target)?;
        let mut inventory = self.inventory(log, step)?;
        let folders = self.folders(target)?;
        self.schemas(&mut inventory)?;
        self.documents(target, &inventory, &folders, step)?;
        self.comments(target, &inventory, step)?;
        self.files(target, step)?;
        self.embeddings(target, &inventory, step)?;
        // Last: the totals that it writes count the folders.
        self.log(target, &inventory.log, folders.len(), step)
    }

    /// Copies the scopes that the host keeps.
    fn scopes(&mut self, target: &dyn crate::kv::Store) -> Result<()> {
        self.rows(SCOPES, &mut |salvage, key, value| {
            if records::meta::read_scope(key, value).is_err() {
                salvage.unread(key);
                return Ok(());
            }
            target.write(relaxed(), &mut |rows| rows.put(key, value))
        })
    }

    fn report_damage(&mut self) {
        let reader = self.reader;
        if reader.is_previous_commit() {
            self.report.lose(
                LossKind::Commit,
                "the last commit",
                "the salvaged state may be the one before it",
            );
        }
        for page in reader.lost_pages() {
            self.report.lose(
                LossKind::Page,
                page.describe(directory::RECORD_FORMAT.describe),
                format_args!("{} of its entries are salvaged", page.saved),
            );
        }
        for key in reader.corrupt_keys().iter().filter(|key| crate::keyspaces::is_primary(key)) {
            self.report.lose(
                LossKind::Record,
                crate::keyspaces::RowName(key),
                "its checksum does not match",
            );
        }
    }

    /// Name, time zone and ID of the space, or new ones.
    fn meta(&mut self, logged: Option<(u64, SpaceSettings)>) -> Result<SpaceMeta> {
        let reader = crate::reader::SpaceReader {
            read: self.reader,
            extractor: self.extractor,
            cache: crate::reader::ReaderCache::None,
            hints: None,
        };
        match reader.meta() {
            Ok(meta) => Ok(meta),
            // A later version's space is not damaged: rebuilding it would lose data.
            Err(error) if error.kind() == ErrorKind::NewerFormat => Err(error),
            Err(_) => Ok(self.space_record().unwrap_or_else(|| self.new_meta(logged))),
        }
    }

    /// A new ID, with the last settings in the change log, if it has any.
    fn new_meta(&mut self, logged: Option<(u64, SpaceSettings)>) -> SpaceMeta {
        let id = SpaceId::from_bytes((self.new_id)());
        let Some((sequence, settings)) = logged else {
            self.report.lose(LossKind::Space, "the space", "its name, zone and ID are new");
            let (name, zone) = (RECOVERED.to_owned(), "UTC".to_owned());
            return SpaceMeta { id, name, zone };
        };
        let message =
            format_args!("its ID is new, its name and zone are those after change {sequence}");
        self.report.lose(LossKind::Space, "the space", message);
        SpaceMeta::new(id, settings)
    }

    /// The record of the space, where that of the format is lost.
    fn space_record(&self) -> Option<SpaceMeta> {
        use crate::records::{self, meta};
        let (key, mut found) = (crate::keyspaces::meta(meta::SPACE), None);
        let visit = &mut |value: &[u8]| {
            found = records::decode(&key, value, SpaceMeta::decode).ok();
            Ok(())
        };
        crate::kv::Read::get(self.reader, &key, visit).ok()?;
        found
    }
}

/// Continues a scan.
const CONTINUE: ControlFlow<()> = ControlFlow::Continue(());

/// Durability is deferred: after a crash the salvage starts again.
fn relaxed() -> WriteOptions {
    WriteOptions::durability(Durability::Relaxed)
}
