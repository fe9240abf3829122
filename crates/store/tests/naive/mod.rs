//! A space as plain maps: the model that the store must agree with after every edit.
#![allow(dead_code, unreachable_pub, clippy::panic, reason = "each test uses a part of it")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use leafbase_model::{
    AssetId, AssetRecord, BlockData, BlockId, BlockKind, BlockRecord, Comment, CommentId, Day,
    DocumentId, DocumentRecord, Edit, ErrorKind, FileHash, FolderId, FolderRecord, IdSource,
    InsertTarget, KeptScope, Location, PropertyValue, Schema, SpaceId, SpaceSettings, Stamp,
    SubtreeNode, Subtrees, TaskInfo, Timestamp,
};
use leafbase_store::kv::{Durability, MemoryStore, Store, WriteOptions};
use leafbase_store::{
    CHUNK_BYTES, EdgeEnd, EdgeKind, EdgeTarget, Extractor, FileHasher, SpaceMeta, SpaceStore,
};

pub mod agrees;
pub mod collections;
mod maker;
mod refused;

pub use maker::Maker;
pub use refused::Rule;

/// Finds links in texts: `b:` and a block's ID, `d:` and a day, or `f:` and a file.
pub fn extract(data: &BlockData, tell: &mut dyn FnMut(EdgeTarget)) {
    if let BlockKind::CollectionItem { properties } = &data.kind {
        for (_, value) in properties.iter() {
            let PropertyValue::Relations(items) = value else { continue };
            for item in items {
                tell(EdgeTarget { to: EdgeEnd::Block(*item), kind: EdgeKind::Relation });
            }
        }
    }
    for word in data.inline.split(' ') {
        if let Some(Ok(id)) = word.strip_prefix("b:").map(str::parse) {
            tell(EdgeTarget { to: EdgeEnd::Block(id), kind: EdgeKind::Link });
        } else if let Some(Ok(day)) = word.strip_prefix("d:").map(str::parse) {
            tell(EdgeTarget { to: EdgeEnd::Day(day), kind: EdgeKind::Embed });
        } else if let Some(Ok(asset)) = word.strip_prefix("f:").map(str::parse) {
            tell(EdgeTarget { to: EdgeEnd::Asset(asset), kind: EdgeKind::Embed });
        }
    }
}

/// The extractor of these tests.
pub const EXTRACTOR: Extractor =
    Extractor { edges: extract, keys: collections::keys, tags: extract_tags };

/// Finds tags in texts: `t:` and a tag.
pub fn extract_tags(data: &BlockData, tell: &mut dyn FnMut(&str)) {
    data.inline.split(' ').filter_map(|word| word.strip_prefix("t:")).for_each(tell);
}

pub fn stamp(millis: i64) -> Stamp {
    Stamp { at: Timestamp::from_millis(millis), by: leafbase_model::Author::new("Ada") }
}

/// A source of IDs, each of which is the number of those before it.
#[derive(Default)]
struct CountedIds(AtomicU64);

impl IdSource for CountedIds {
    fn new_id(&self, _: Timestamp) -> [u8; 16] {
        u128::from(self.0.fetch_add(1, Ordering::Relaxed)).to_be_bytes()
    }
}

/// Makes the tokens of changes: the same ones for the same number of changes.
pub fn ids() -> Arc<dyn IdSource> {
    Arc::new(CountedIds::default())
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Naive {
    pub documents: BTreeMap<DocumentId, DocumentRecord>,
    pub folders: BTreeMap<FolderId, FolderRecord>,
    pub blocks: BTreeMap<BlockId, BlockRecord>,
    pub children: BTreeMap<BlockId, Vec<BlockId>>,
    pub standing: BTreeMap<BlockId, (DocumentId, Option<BlockId>)>,
    pub comments: BTreeMap<(BlockId, CommentId), Comment>,
    pub assets: BTreeMap<AssetId, AssetRecord>,
    pub schemas: BTreeMap<BlockId, Schema>,
    /// `None` as long as they are those of [`meta`].
    pub settings: Option<SpaceSettings>,
    /// Kept scopes, by name.
    pub scopes: BTreeMap<String, KeptScope>,
}

impl Naive {
    pub fn children(&self, parent: BlockId) -> &[BlockId] {
        self.children.get(&parent).map_or(&[], Vec::as_slice)
    }

    pub fn subtree(&self, top: BlockId, max_depth: usize) -> Subtrees {
        let mut nodes = vec![];
        let mut waiting = vec![(0_usize, top)];
        while let Some((depth, id)) = waiting.pop() {
            nodes.push(SubtreeNode {
                depth: u16::try_from(depth).unwrap(),
                block: self.blocks[&id].clone(),
            });
            if depth < max_depth {
                waiting.extend(self.children(id).iter().rev().map(|child| (depth + 1, *child)));
            }
        }
        Subtrees(nodes)
    }

    fn plant(
        &mut self,
        document: DocumentId,
        parent: Option<BlockId>,
        at: usize,
        subtrees: &Subtrees,
    ) {
        let mut at = at;
        for (inner, block) in subtrees.with_parents() {
            self.blocks.insert(block.id, block.clone());
            self.standing.insert(block.id, (document, inner.or(parent)));
            match inner.or(parent) {
                Some(parent) if inner.is_none() => {
                    self.children.entry(parent).or_default().insert(at, block.id);
                    at += 1;
                }
                Some(parent) => self.children.entry(parent).or_default().push(block.id),
                None => {}
            }
        }
    }

    fn target_after(&self, target: &InsertTarget) -> usize {
        target.after.map_or(0, |after| {
            1 + self.children(target.parent).iter().position(|child| *child == after).unwrap()
        })
    }

    fn uproot(&mut self, subtrees: &Subtrees) {
        for node in &subtrees.0 {
            if let Some((_, Some(parent))) = self.standing.remove(&node.block.id) {
                self.children.get_mut(&parent).unwrap().retain(|child| *child != node.block.id);
            }
            self.blocks.remove(&node.block.id);
        }
        self.children.retain(|_, children| !children.is_empty());
    }

    pub fn apply(&mut self, edit: &Edit) {
        match edit {
            Edit::Insert { target, subtrees } => {
                let at = self.target_after(target);
                self.plant(target.document, Some(target.parent), at, subtrees);
            }
            Edit::Remove { subtrees, .. } => self.uproot(subtrees),
            Edit::Update { after, .. } => drop(self.blocks.insert(after.id, (**after).clone())),
            Edit::Move { block, from, to } => {
                self.children.get_mut(&from.parent).unwrap().retain(|child| child != block);
                let at = self.target_after(to);
                self.children.entry(to.parent).or_default().insert(at, *block);
                for node in self.subtree(*block, usize::MAX).0 {
                    self.standing.get_mut(&node.block.id).unwrap().0 = to.document;
                }
                self.standing.get_mut(block).unwrap().1 = Some(to.parent);
                self.children.retain(|_, children| !children.is_empty());
            }
            Edit::CreateDocument { record, subtrees } => {
                self.documents.insert(record.id, record.clone());
                self.plant(record.id, None, 0, subtrees);
            }
            Edit::EraseDocument { record, subtrees } => {
                self.documents.remove(&record.id);
                self.uproot(subtrees);
            }
            Edit::PurgeDocument { .. } => panic!("these tests purge nothing"),
            Edit::UpdateDocument { after, .. } => {
                self.documents.insert(after.id, after.clone());
            }
            Edit::CreateFolder(folder) => drop(self.folders.insert(folder.id, folder.clone())),
            Edit::RemoveFolder(folder) => drop(self.folders.remove(&folder.id)),
            Edit::UpdateFolder { after, .. } => drop(self.folders.insert(after.id, after.clone())),
            Edit::AddComment { block, comment, .. } => {
                assert_eq!(self.comments.insert((*block, comment.id), comment.clone()), None);
            }
            Edit::RemoveComment { block, comment, .. } => {
                assert_eq!(self.comments.remove(&(*block, comment.id)), Some(comment.clone()));
            }
            Edit::UpdateComment { block, before, after, .. } => {
                let replaced = self.comments.insert((*block, after.id), after.clone());
                assert_eq!(replaced.as_ref(), Some(before));
            }
            Edit::CreateAsset(record) => {
                assert_eq!(self.assets.insert(record.id, record.clone()), None);
            }
            Edit::EraseAsset(record) => {
                assert_eq!(self.assets.remove(&record.id), Some(record.clone()));
            }
            Edit::SetSchema { collection, before, after, .. } => {
                assert_eq!(self.schemas.remove(collection), before.as_deref().cloned());
                self.schemas.extend(after.as_deref().map(|after| (*collection, after.clone())));
            }
            Edit::UpdateSpace { before, after } => {
                assert_eq!(self.settings(), *before);
                self.settings = Some(after.clone()).filter(|after| *after != meta().settings());
            }
            Edit::SetScope { before, after } => {
                let name = &before.as_ref().or(after.as_ref()).unwrap().name;
                assert_eq!(self.scopes.remove(name), before.as_deref().cloned());
                self.scopes.extend(after.as_deref().map(|after| (name.clone(), after.clone())));
            }
        }
    }

    /// The name and zone of the space.
    pub fn settings(&self) -> SpaceSettings {
        self.settings.clone().unwrap_or_else(|| meta().settings())
    }

    /// The files that no block embeds.
    pub fn unshown(&self) -> Vec<AssetRecord> {
        let mut left = self.assets.clone();
        for block in self.blocks.values() {
            extract(&block.data, &mut |target| {
                if let EdgeEnd::Asset(asset) = target.to {
                    left.remove(&asset);
                }
            });
        }
        left.into_values().collect()
    }

    /// The daily note of `day`, which is neither the inbox nor in the trash.
    pub fn note_of(&self, day: Day) -> Option<DocumentId> {
        let hidden = [Location::Trash, Location::Inbox];
        let mut notes = self.documents.values().filter(|record| !hidden.contains(&record.location));
        notes.find(|record| record.day == Some(day)).map(|record| record.id)
    }

    /// A folder with all its descendants.
    pub fn folders_below(&self, top: FolderId) -> Vec<FolderId> {
        let mut below = vec![top];
        let mut at = 0;
        while let Some(folder) = below.get(at).copied() {
            below.extend(
                self.folders
                    .values()
                    .filter(|inner| inner.parent == Some(folder))
                    .map(|inner| inner.id),
            );
            at += 1;
        }
        below
    }

    pub fn inbox(&self) -> Option<DocumentId> {
        self.documents
            .values()
            .find(|record| record.location == Location::Inbox)
            .map(|record| record.id)
    }

    /// The tasks, with their documents.
    pub fn tasks(&self) -> Vec<(BlockId, TaskInfo, &DocumentRecord)> {
        let tasks =
            self.blocks.values().filter_map(|block| block.data.task.map(|task| (block.id, task)));
        tasks
            .map(|(block, task)| (block, task, &self.documents[&self.standing[&block].0]))
            .collect()
    }

    /// Possible parents: roots, pages and texts.
    pub fn parents(&self) -> Vec<BlockId> {
        let parents = self.blocks.values().filter(|block| block.data.block_type().may_be_parent());
        parents.map(|block| block.id).collect()
    }

    /// The target after the sibling before `block`.
    pub fn slot_of(&self, block: BlockId) -> InsertTarget {
        let (document, parent) = self.standing[&block];
        let parent = parent.unwrap();
        let siblings = self.children(parent);
        let at = siblings.iter().position(|sibling| *sibling == block).unwrap();
        InsertTarget { document, parent, after: at.checked_sub(1).map(|before| siblings[before]) }
    }
}

fn pick<T: Copy>(all: &[T], number: u32) -> Option<T> {
    all.get(usize::try_from(number).unwrap() % all.len().max(1)).copied()
}

pub fn relaxed() -> WriteOptions {
    WriteOptions::durability(Durability::Relaxed)
}

pub fn meta() -> SpaceMeta {
    SpaceMeta {
        id: SpaceId::from_bytes([5; 16]),
        name: "Space".to_owned(),
        zone: "Europe/Berlin".to_owned(),
    }
}

/// An empty space in memory, and its store.
pub fn memory_space() -> (Arc<dyn Store>, SpaceStore) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let space = SpaceStore::create(Arc::clone(&store), EXTRACTOR, ids(), &meta()).unwrap();
    (store, space)
}

/// Gives an edit the revisions that it was given with: the store counts them.
fn forget_revs(applied: &mut Edit, given: &Edit) {
    match (applied, given) {
        (Edit::EraseDocument { record, .. }, Edit::EraseDocument { record: given, .. }) => {
            record.rev = given.rev;
        }
        (Edit::RemoveFolder(folder), Edit::RemoveFolder(given))
        | (Edit::UpdateFolder { after: folder, .. }, Edit::UpdateFolder { after: given, .. }) => {
            folder.rev = given.rev;
        }
        _ => {}
    }
}

/// The bytes of a file in these tests.
pub fn bytes_of(record: &AssetRecord) -> Vec<u8> {
    vec![record.id.to_bytes()[15]; usize::try_from(record.size).unwrap()]
}

/// The record with the hash of these bytes.
pub fn hashed(record: AssetRecord) -> AssetRecord {
    AssetRecord { sha256: Some(hash_of(&bytes_of(&record))), ..record }
}

pub fn hash_of(bytes: &[u8]) -> FileHash {
    let mut hasher = FileHasher::default();
    hasher.update(bytes);
    hasher.finish()
}

/// Stores the bytes of the files that `edits` create.
pub fn upload(space: &SpaceStore, edits: &[Edit]) {
    for edit in edits {
        let Edit::CreateAsset(record) = edit else { continue };
        space.begin_upload(relaxed(), record.id).unwrap();
        for (number, chunk) in (0..).zip(bytes_of(record).chunks(CHUNK_BYTES)) {
            space.put_chunks(relaxed(), record.id, number, &[chunk]).unwrap();
        }
    }
}

/// The last of `edits` is refused, and the transaction rolls back.
fn is_refused(space: &SpaceStore, edits: &[Edit], kind: ErrorKind, now: i64) {
    let sequence = || space.snapshot().unwrap().reader().last_sequence().unwrap();
    let before = sequence();
    let written = space.write(relaxed(), &stamp(now), |transaction| {
        let (last, others) = edits.split_last().unwrap();
        transaction.apply(others.to_vec()).unwrap();
        transaction.apply(vec![last.clone()])
    });
    assert_eq!(written.map(drop).map_err(|error| error.kind()), Err(kind), "{:?}", edits.last());
    assert_eq!(sequence(), before);
}

/// Applies edits from `numbers`, interspersed with edits that break a rule, in batches, to the
/// model and the space.
pub fn play(
    space: &SpaceStore,
    naive: &mut Naive,
    maker: &mut Maker,
    numbers: &[[u32; 4]],
    now: &mut i64,
) {
    for group in numbers.chunks(3) {
        *now += 1;
        let before = naive.clone();
        let mut edits = vec![];
        for numbers in group {
            edits.extend(maker.edits(naive, *numbers));
        }
        upload(space, &edits);
        let refused = Rule::of(group[0][1])
            .and_then(|rule| Some((rule, maker.refused(naive, rule, group[0])?)));
        if let Some((rule, edit)) = &refused {
            // A transaction reads its own writes.
            let after: Vec<Edit> = edits.iter().chain([edit]).cloned().collect();
            is_refused(space, &after, rule.kind(), *now);
        }
        let in_two_turns = group[0][3].is_multiple_of(2);
        let written = space.write(relaxed(), &stamp(*now), |transaction| {
            let mut edits = edits.clone();
            if in_two_turns {
                let rest = edits.split_off(edits.len() / 2);
                transaction.apply(edits)?;
                transaction.reader()?.last_sequence()?;
                edits = rest;
            }
            transaction.apply(edits)?;
            if in_two_turns {
                naive.agrees_with(transaction.reader()?);
            }
            Ok(())
        });
        let change = written.unwrap_or_else(|error| panic!("{error} {edits:?} {before:?}")).change;
        let mut applied = change.map(|change| change.edits).unwrap_or_default();
        applied.iter_mut().zip(&edits).for_each(|(applied, given)| forget_revs(applied, given));
        assert_eq!(applied, edits);
        if let Some((rule, edit)) = refused {
            is_refused(space, &[edit], rule.kind(), *now);
            maker.tried.push(rule);
        }
    }
}
