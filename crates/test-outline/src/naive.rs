//! Naive space: documents as plain trees in memory, simple and slow. Tests compare the engine's
//! results with it.

use std::collections::BTreeMap;

use leafbase_model::{
    AssetRecord, BlockId, BlockRecord, Comment, Day, DocumentId, DocumentRecord, FolderRecord,
    IdSource, KeptScope, Limits, Location, Result, Schema, SpaceSettings, Stamp, Timestamp,
};

use crate::{Broken, Labels, NaiveRelation, Outline, ParseError, SequentialIds, stamp};

/// Stamp and source of IDs of a request.
pub(crate) type By<'a> = (&'a Stamp, &'a dyn IdSource);

/// A block with its children.
#[derive(Clone, Debug, PartialEq)]
pub struct NaiveBlock {
    /// Record of the block.
    pub record: BlockRecord,
    /// Its children in order.
    pub children: Vec<NaiveBlock>,
}

/// A document with its blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct NaiveDocument {
    /// Record of the document.
    pub record: DocumentRecord,
    /// Its root.
    pub root: NaiveBlock,
}

/// An uploaded file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NaiveFile {
    /// Record of the file.
    pub record: AssetRecord,
    /// Its bytes; `None` if only edits are known, which contain no bytes.
    pub bytes: Vec<u8>,
}

/// A space of documents. Operations are implemented from the specification, independently of the
/// code under test.
#[derive(Clone, Debug, PartialEq)]
pub struct NaiveSpace {
    /// Documents in order of creation, including the inbox if it exists.
    pub documents: Vec<NaiveDocument>,
    /// Folders in order of creation.
    pub folders: Vec<FolderRecord>,
    /// Comments with their blocks, oldest first.
    pub comments: Vec<(BlockId, Comment)>,
    /// Uploaded files.
    pub files: Vec<NaiveFile>,
    /// Schemas of collections. Which end owns a relation is the only part that requests do not
    /// contain.
    pub schemas: Vec<(BlockId, Schema)>,
    /// Relations between items; items store no relation values.
    pub relations: Vec<NaiveRelation>,
    /// Name and time zone, which only edits read.
    pub settings: SpaceSettings,
    /// Kept scopes by name, which only edits read.
    pub scopes: BTreeMap<String, KeptScope>,
    /// Limits of operations.
    pub limits: Limits,
    /// UTC offsets of its time zone in hours, in winter and summer.
    pub zone_hours: i64,
    /// A rule that is disabled on purpose, for controls.
    pub broken: Option<Broken>,
    /// The revisions of documents before the batch in progress.
    pub(crate) batch_revs: Option<BTreeMap<DocumentId, u64>>,
}

impl NaiveBlock {
    /// Number of levels below the block.
    pub fn height(&self) -> usize {
        self.children.iter().map(|child| child.height() + 1).max().unwrap_or(0)
    }

    /// Whether the block is `id` or an ancestor of it.
    pub fn holds(&self, id: BlockId) -> bool {
        self.record.id == id || self.children.iter().any(|child| child.holds(id))
    }

    /// The block and its descendants in reading order.
    pub fn walk(&self) -> Vec<&NaiveBlock> {
        let (mut met, mut waiting) = (Vec::new(), vec![self]);
        while let Some(block) = waiting.pop() {
            met.push(block);
            waiting.extend(block.children.iter().rev());
        }
        met
    }

    pub(crate) fn outline(&self, labels: &Labels) -> Outline {
        Outline {
            label: labels.of(self.record.id).map(str::to_owned),
            children: self.children.iter().map(|child| child.outline(labels)).collect(),
            ..Outline::of_data(self.record.data.clone())
        }
    }
}

impl NaiveSpace {
    /// A space without documents.
    pub fn new(limits: Limits) -> Self {
        let (documents, folders, comments, files) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (schemas, relations) = (Vec::new(), Vec::new());
        Self {
            documents,
            folders,
            comments,
            files,
            schemas,
            relations,
            settings: SpaceSettings::default(),
            scopes: BTreeMap::new(),
            limits,
            zone_hours: 0,
            broken: None,
            batch_revs: None,
        }
    }

    /// The current day in its time zone.
    pub fn day_of(&self, instant: Timestamp) -> Day {
        Timestamp::from_millis(instant.as_millis() + self.zone_hours * 3_600_000).day_utc()
    }

    /// A copy without what edits do not contain: every document's modification time is its creation
    /// time, and documents and folders have the revision 1.
    pub fn timeless(mut self) -> Self {
        for document in &mut self.documents {
            document.record.modified_at = document.record.created_at;
            document.record.rev = 1;
        }
        for folder in &mut self.folders {
            folder.rev = 1;
        }
        self
    }

    pub(crate) fn breaks(&self, rule: Broken) -> bool {
        self.broken == Some(rule)
    }

    /// Begins a batch: its writes are one change, which gives a document one revision.
    pub fn begin_batch(&mut self) {
        let revs = self.documents.iter().map(|found| (found.record.id, found.record.rev));
        self.batch_revs = Some(revs.collect());
    }

    /// Ends a batch.
    pub fn end_batch(&mut self) {
        self.batch_revs = None;
    }

    /// Runs `operation` atomically, then the cascades of every write: comments are deleted with
    /// their blocks, files with the last block that shows them, relations with their ends, and
    /// changed documents get a new modification time.
    pub(crate) fn write<T>(
        &mut self,
        stamp: &Stamp,
        operation: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let before = self.clone();
        let done = operation(self);
        if done.is_err() {
            *self = before;
            return done;
        }
        self.drop_comments();
        self.drop_files();
        self.name_schemas();
        self.drop_relations();
        self.revise_folders(&before);
        if self.breaks(Broken::OtherEndsAreChanged) {
            self.revise_holders(&before, stamp, &|_| true);
        }
        if !self.breaks(Broken::ChangesAreNotDated) {
            self.date_changes(&before, stamp);
        }
        done
    }

    fn date_changes(&mut self, before: &Self, stamp: &Stamp) {
        let (commented, former) = (self.commented(), before.commented());
        let same = |document: &NaiveDocument| {
            let id = document.record.id;
            let on = |(found, _): &&(DocumentId, Comment)| *found == id;
            let is_same_tree =
                before.document(id).is_some_and(|before| is_same_content(before, document));
            is_same_tree && commented.iter().filter(on).eq(former.iter().filter(on))
        };
        let changed: Vec<_> = self.documents.iter().map(|document| !same(document)).collect();
        for (document, _) in self.documents.iter_mut().zip(changed).filter(|(_, changed)| *changed)
        {
            document.record.modified_at = document.record.modified_at.max(stamp.at);
            let id = document.record.id;
            document.record.rev = match &self.batch_revs {
                Some(revs) => revs.get(&id).map_or(1, |rev| rev + 1),
                None => rev_after(before.document(id)),
            };
        }
    }

    /// A changed folder has the next revision.
    fn revise_folders(&mut self, before: &Self) {
        for folder in &mut self.folders {
            if let Some(former) = before.folder(folder.id).filter(|former| **former != *folder) {
                folder.rev = former.rev + 1;
            }
        }
    }

    /// A space whose documents are the top-level blocks of an outline, without checking any rule.
    /// IDs come from [`SequentialIds`] of series 0 in reading order; labels name them.
    ///
    /// # Errors
    /// As [`Outline::parse`].
    pub fn from_outline(text: &str) -> Result<(Self, Labels), ParseError> {
        let (mut space, mut labels, ids) =
            (Self::new(Limits::default()), Labels::default(), SequentialIds::new(0));
        for top in Outline::parse(text)? {
            let root = planted(&top, &ids, &mut labels);
            let (location, at) = (top.location.unwrap_or_default(), stamp(0).at);
            let id = DocumentId::of_root(root.record.id);
            let record =
                DocumentRecord { id, location, day: None, created_at: at, modified_at: at, rev: 1 };
            space.documents.push(NaiveDocument { record, root });
        }
        Ok((space, labels))
    }

    /// The outline of the space with these labels.
    pub fn outline(&self, labels: &Labels) -> String {
        let outline = |document: &NaiveDocument| {
            let location =
                Some(document.record.location).filter(|location| *location != Location::Unsorted);
            Outline { location, ..document.root.outline(labels) }
        };
        Outline::print(&self.documents.iter().map(outline).collect::<Vec<_>>())
    }
}

fn planted(outline: &Outline, ids: &SequentialIds, labels: &mut Labels) -> NaiveBlock {
    let id = BlockId::from_bytes(ids.new_id(stamp(0).at));
    if let Some(label) = &outline.label {
        labels.bind(label, id);
    }
    let (created, modified, data) = (stamp(0), stamp(0), outline.data.clone());
    let record = BlockRecord { id, rev: outline.rev.unwrap_or(1), created, modified, data };
    NaiveBlock {
        record,
        children: outline.children.iter().map(|child| planted(child, ids, labels)).collect(),
    }
}

/// The revision of a changed document, which may be new.
fn rev_after(before: Option<&NaiveDocument>) -> u64 {
    before.map_or(1, |before| before.record.rev + 1)
}

/// Whether a document changed only by moving to the trash or out of it.
fn is_same_content(before: &NaiveDocument, after: &NaiveDocument) -> bool {
    let is_trashed = |document: &NaiveDocument| document.record.location == Location::Trash;
    let elsewhere = DocumentRecord { location: before.record.location, ..after.record.clone() };
    is_trashed(before) == is_trashed(after)
        && before.record == elsewhere
        && before.root == after.root
}
