//! A space of documents as plain trees: as simple as can be, and slow. What real code gives is
//! compared with it.

use leafbase_model::{
    AssetRecord, BlockId, BlockRecord, Comment, Day, DocumentId, DocumentRecord, FolderRecord,
    IdSource, Limits, Location, Result, Schema, Stamp, Timestamp,
};

use crate::{Broken, Labels, NaiveRelation, Outline, ParseError, SequentialIds, stamp};

/// When and by whom a request is made, and the IDs that it is given.
pub(crate) type By<'a> = (&'a Stamp, &'a dyn IdSource);

/// A block with its children.
#[derive(Clone, Debug, PartialEq)]
pub struct NaiveBlock {
    /// The block.
    pub record: BlockRecord,
    /// Its children.
    pub children: Vec<NaiveBlock>,
}

/// A document with its blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct NaiveDocument {
    /// The document.
    pub record: DocumentRecord,
    /// Its root.
    pub root: NaiveBlock,
}

/// An uploaded file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NaiveFile {
    /// The file.
    pub record: AssetRecord,
    /// Its bytes; none where only edits were seen, which have none.
    pub bytes: Vec<u8>,
}

/// A space of documents. Operations are written from the rules, apart from the code that they are
/// compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct NaiveSpace {
    /// The documents, in the order of their making; the inbox among them, once there is one.
    pub documents: Vec<NaiveDocument>,
    /// The folders, in the order of their making.
    pub folders: Vec<FolderRecord>,
    /// The comments with the blocks that they are on, oldest first.
    pub comments: Vec<(BlockId, Comment)>,
    /// The uploaded files.
    pub files: Vec<NaiveFile>,
    /// The schemas of collections; which end owns a relation is the one part of them that no
    /// request tells.
    pub schemas: Vec<(BlockId, Schema)>,
    /// The relations between items. Their values are here alone: items hold none.
    pub relations: Vec<NaiveRelation>,
    /// What operations may not pass.
    pub limits: Limits,
    /// How many hours the clocks of its zone are before UTC, in summer and winter.
    pub zone_hours: i64,
    /// The rule that is broken, for controls.
    pub broken: Option<Broken>,
}

impl NaiveBlock {
    /// How many levels stand below it.
    pub fn height(&self) -> usize {
        self.children.iter().map(|child| child.height() + 1).max().unwrap_or(0)
    }

    /// Whether it is `id`, or has it below.
    pub fn holds(&self, id: BlockId) -> bool {
        self.record.id == id || self.children.iter().any(|child| child.holds(id))
    }

    /// It and all below it, in reading order.
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
            limits,
            zone_hours: 0,
            broken: None,
        }
    }

    /// The day that it is in the space's zone.
    pub fn day_of(&self, instant: Timestamp) -> Day {
        Timestamp::from_millis(instant.as_millis() + self.zone_hours * 3_600_000).day_utc()
    }

    /// The same space, all of whose documents changed last when they were made: what edits say
    /// nothing of.
    pub fn timeless(mut self) -> Self {
        for document in &mut self.documents {
            document.record.modified_at = document.record.created_at;
        }
        self
    }

    pub(crate) fn breaks(&self, rule: Broken) -> bool {
        self.broken == Some(rule)
    }

    /// Does all of `operation` or nothing, and after it what goes with every write: comments go
    /// with their blocks, files with the last block that shows them, relations with what is at
    /// their ends, and documents that changed say so.
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
        }
    }

    /// A space whose documents are the top blocks of an outline, whatever the rules say of them.
    /// IDs come from [`SequentialIds`] of series 0 in reading order; labels name them.
    ///
    /// # Errors
    /// Those of [`Outline::parse`].
    pub fn from_outline(text: &str) -> Result<(Self, Labels), ParseError> {
        let (mut space, mut labels, ids) =
            (Self::new(Limits::default()), Labels::default(), SequentialIds::new(0));
        for top in Outline::parse(text)? {
            let root = planted(&top, &ids, &mut labels);
            let (location, at) = (top.location.unwrap_or_default(), stamp(0).at);
            let id = DocumentId::of_root(root.record.id);
            let record =
                DocumentRecord { id, location, day: None, created_at: at, modified_at: at };
            space.documents.push(NaiveDocument { record, root });
        }
        Ok((space, labels))
    }

    /// The space as an outline, with these labels.
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

/// Whether nothing of a document changed but where it is kept, in the trash or out of it.
fn is_same_content(before: &NaiveDocument, after: &NaiveDocument) -> bool {
    let is_trashed = |document: &NaiveDocument| document.record.location == Location::Trash;
    let elsewhere = DocumentRecord { location: before.record.location, ..after.record.clone() };
    is_trashed(before) == is_trashed(after)
        && before.record == elsewhere
        && before.root == after.root
}
