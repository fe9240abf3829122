//! A space as plain maps: what the store must agree with after every edit.
#![allow(dead_code, unreachable_pub, clippy::panic, reason = "each test uses a part of it")]

use std::collections::BTreeMap;
use std::sync::Arc;

use leafbase_model::{
    BlockData, BlockId, BlockRecord, DocumentId, DocumentRecord, Edit, FolderId, FolderRecord, Forest, Location, Node,
    Slot, SpaceId, Stamp, Timestamp,
};
use leafbase_store::kv::{Durability, MemoryStore, Store, WriteOptions};
use leafbase_store::{BackLink, DocumentQuery, EdgeEnd, EdgeKind, EdgeTarget, Reader, SpaceMeta, SpaceStore, Within};

/// Finds links in texts: a word `b:` and a block's ID, or `d:` and a day.
pub fn extract(data: &BlockData, tell: &mut dyn FnMut(EdgeTarget)) {
    for word in data.markdown.split(' ') {
        if let Some(Ok(id)) = word.strip_prefix("b:").map(str::parse) {
            tell(EdgeTarget { to: EdgeEnd::Block(id), kind: EdgeKind::Link });
        } else if let Some(Ok(day)) = word.strip_prefix("d:").map(str::parse) {
            tell(EdgeTarget { to: EdgeEnd::Day(day), kind: EdgeKind::Embed });
        }
    }
}

pub fn stamp(millis: i64) -> Stamp {
    Stamp { at: Timestamp::from_millis(millis), by: leafbase_model::Author::new("Ada") }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Naive {
    pub documents: BTreeMap<DocumentId, DocumentRecord>,
    pub folders: BTreeMap<FolderId, FolderRecord>,
    pub blocks: BTreeMap<BlockId, BlockRecord>,
    pub children: BTreeMap<BlockId, Vec<BlockId>>,
    pub standing: BTreeMap<BlockId, (DocumentId, Option<BlockId>)>,
}

impl Naive {
    pub fn children(&self, parent: BlockId) -> &[BlockId] {
        self.children.get(&parent).map_or(&[], Vec::as_slice)
    }

    pub fn subtree(&self, top: BlockId, max_depth: usize) -> Forest {
        let mut nodes = vec![];
        let mut waiting = vec![(0_usize, top)];
        while let Some((depth, id)) = waiting.pop() {
            nodes.push(Node { depth: u16::try_from(depth).unwrap(), block: self.blocks[&id].clone() });
            if depth < max_depth {
                waiting.extend(self.children(id).iter().rev().map(|child| (depth + 1, *child)));
            }
        }
        Forest(nodes)
    }

    fn plant(&mut self, document: DocumentId, parent: Option<BlockId>, at: usize, forest: &Forest) {
        let mut at = at;
        for (inner, block) in forest.with_parents() {
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

    fn place_after(&self, slot: &Slot) -> usize {
        slot.after.map_or(0, |after| 1 + self.children(slot.parent).iter().position(|child| *child == after).unwrap())
    }

    fn uproot(&mut self, forest: &Forest) {
        for node in &forest.0 {
            if let Some((_, Some(parent))) = self.standing.remove(&node.block.id) {
                self.children.get_mut(&parent).unwrap().retain(|child| *child != node.block.id);
            }
            self.blocks.remove(&node.block.id);
        }
        self.children.retain(|_, children| !children.is_empty());
    }

    pub fn apply(&mut self, edit: &Edit) {
        match edit {
            Edit::Insert { slot, forest } => {
                let at = self.place_after(slot);
                self.plant(slot.document, Some(slot.parent), at, forest);
            }
            Edit::Remove { forest, .. } => self.uproot(forest),
            Edit::Update { after, .. } => drop(self.blocks.insert(after.id, (**after).clone())),
            Edit::Move { block, from, to } => {
                self.children.get_mut(&from.parent).unwrap().retain(|child| child != block);
                let at = self.place_after(to);
                self.children.entry(to.parent).or_default().insert(at, *block);
                for node in self.subtree(*block, usize::MAX).0 {
                    self.standing.get_mut(&node.block.id).unwrap().0 = to.document;
                }
                self.standing.get_mut(block).unwrap().1 = Some(to.parent);
                self.children.retain(|_, children| !children.is_empty());
            }
            Edit::CreateDocument { record, forest } => {
                self.documents.insert(record.id, record.clone());
                self.plant(record.id, None, 0, forest);
            }
            Edit::EraseDocument { record, forest } => {
                self.documents.remove(&record.id);
                self.uproot(forest);
            }
            Edit::UpdateDocument { after, .. } => drop(self.documents.insert(after.id, after.clone())),
            Edit::CreateFolder(folder) => drop(self.folders.insert(folder.id, folder.clone())),
            Edit::RemoveFolder(folder) => drop(self.folders.remove(&folder.id)),
            Edit::UpdateFolder { after, .. } => drop(self.folders.insert(after.id, after.clone())),
            Edit::AddComment { .. } | Edit::RemoveComment { .. } | Edit::CreateAsset(_) | Edit::EraseAsset(_) => {
                unreachable!("the sequences make none")
            }
        }
    }

    fn back_links(&self) -> BTreeMap<EdgeEnd, Vec<BackLink>> {
        let mut links: BTreeMap<EdgeEnd, Vec<BackLink>> = BTreeMap::new();
        for block in self.blocks.values() {
            extract(&block.data, &mut |target| {
                links.entry(target.to).or_default().push(BackLink { kind: target.kind, source: block.id });
            });
        }
        for sources in links.values_mut() {
            sources.sort_unstable();
            sources.dedup();
        }
        links
    }

    /// Compares every read with this model.
    pub fn agrees_with(&self, reader: Reader<'_>) {
        let all = reader.find_documents(&DocumentQuery::default(), None, usize::MAX).unwrap();
        let without_times = |record: &DocumentRecord| DocumentRecord { modified_at: Timestamp::MIN, ..record.clone() };
        let stored: Vec<_> = all.documents.iter().map(without_times).collect();
        assert_eq!(stored, self.documents.values().map(without_times).collect::<Vec<_>>());
        for document in self.documents.keys() {
            assert_eq!(reader.subtree(document.root(), None).unwrap(), self.subtree(document.root(), usize::MAX));
            let record = self.documents[document].clone();
            let query = DocumentQuery { within: Within::Location(record.location), ..DocumentQuery::default() };
            let found = reader.find_documents(&query, None, usize::MAX).unwrap();
            assert!(found.documents.iter().any(|found| found.id == *document));
        }
        for (index, (id, block)) in self.blocks.iter().enumerate() {
            let standing = reader.locate(*id).unwrap().unwrap();
            assert_eq!((standing.document, standing.parent), self.standing[id]);
            assert_eq!(reader.block(*id).unwrap().as_ref(), Some(block));
            let children = self.children(*id);
            assert_eq!(reader.last_child(standing.document, *id).unwrap(), children.last().copied());
            assert_eq!(reader.children(standing.document, *id).unwrap(), children);
            let first: Vec<_> = children.iter().take(3).map(|child| self.blocks[child].clone()).collect();
            assert_eq!(reader.first_children(standing.document, *id, 3).unwrap(), first);
            if let Some(parent) = standing.parent {
                let siblings = self.children(parent);
                let at = siblings.iter().position(|sibling| sibling == id).unwrap();
                assert_eq!(reader.previous_sibling(*id).unwrap(), at.checked_sub(1).map(|before| siblings[before]));
            }
            if index.is_multiple_of(7) {
                for depth in [0, 1, 2, usize::MAX] {
                    let limit = (depth < usize::MAX).then_some(depth);
                    assert_eq!(reader.subtree(*id, limit).unwrap(), self.subtree(*id, depth));
                }
            }
        }
        let links = self.back_links();
        for (target, sources) in &links {
            assert_eq!(reader.edges_to(*target, None, usize::MAX).unwrap(), *sources);
            if let [first, rest @ ..] = sources.as_slice() {
                assert_eq!(reader.edges_to(*target, Some(*first), usize::MAX).unwrap(), *rest);
            }
        }
        assert_eq!(reader.folders().unwrap(), self.folders.values().cloned().collect::<Vec<_>>());
        for parent in std::iter::once(None).chain(self.folders.keys().copied().map(Some)) {
            let inside: Vec<_> = self.folders.values().filter(|folder| folder.parent == parent).cloned().collect();
            assert_eq!(reader.folders_in(parent).unwrap(), inside);
        }
    }

    /// The blocks that may get children: roots, pages and texts.
    pub fn parents(&self) -> Vec<BlockId> {
        let parents = self.blocks.values().filter(|block| block.data.block_type().may_be_parent());
        parents.map(|block| block.id).collect()
    }

    /// The slot after the sibling before `block`.
    pub fn slot_of(&self, block: BlockId) -> Slot {
        let (document, parent) = self.standing[&block];
        let parent = parent.unwrap();
        let siblings = self.children(parent);
        let at = siblings.iter().position(|sibling| *sibling == block).unwrap();
        Slot { document, parent, after: at.checked_sub(1).map(|before| siblings[before]) }
    }
}

/// Makes valid edits out of numbers.
pub struct Maker {
    next: u64,
}

impl Maker {
    pub fn new() -> Self {
        Self { next: 1 }
    }

    /// IDs come partly in order, as those of one moment do not, and partly not.
    fn id(&mut self) -> [u8; 16] {
        self.next += 1;
        let mixed = self.next.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let number = u128::from(self.next / 20 + 1) << 64 | u128::from(mixed);
        number.to_be_bytes()
    }

    pub fn block(&mut self, naive: &Naive, seed: u32) -> BlockRecord {
        let size = match seed % 23 {
            0 => 5_000,
            1 => 1_500,
            2 | 3 => 0,
            other => usize::try_from(other).unwrap() * 9,
        };
        let mut text = "x".repeat(size);
        match seed % 5 {
            0 => {
                let target = pick(&naive.blocks.keys().copied().collect::<Vec<_>>(), seed).unwrap_or_default();
                text = format!("{text} b:{target} b:{target}");
            }
            1 => text = format!("{text} d:2026-03-{:02}", seed % 28 + 1),
            _ => {}
        }
        let data = match seed % 7 {
            0 => BlockData { markdown: text, ..BlockData::page("") },
            1 => BlockData::new(leafbase_model::BlockKind::Line { style: leafbase_model::LineStyle::Strong }),
            _ => BlockData::text(text),
        };
        let stamp = stamp(i64::from(seed) * 1_000);
        BlockRecord { id: BlockId::from_bytes(self.id()), rev: 1, created: stamp.clone(), modified: stamp, data }
    }

    fn forest(&mut self, naive: &Naive, seed: u32) -> Forest {
        let count = if seed.is_multiple_of(3) { 1 } else { seed % 40 + 1 };
        let mut nodes: Vec<Node> = vec![];
        for index in 0..count {
            let block = self.block(naive, seed.wrapping_mul(31).wrapping_add(index * 7));
            let depth = match nodes.last() {
                Some(before) if before.block.data.block_type().may_be_parent() => {
                    (seed.wrapping_add(index * 13) % 4).min(u32::from(before.depth) + 1)
                }
                Some(before) => u32::from(before.depth).min(seed % 3),
                None => 0,
            };
            nodes.push(Node { depth: u16::try_from(depth).unwrap(), block });
        }
        Forest(nodes)
    }

    fn slot(naive: &Naive, a: u32, b: u32) -> Option<Slot> {
        let parent = pick(&naive.parents(), a)?;
        let siblings = naive.children(parent);
        let at = usize::try_from(b).unwrap() % (siblings.len() + 1);
        Some(Slot {
            document: naive.standing[&parent].0,
            parent,
            after: at.checked_sub(1).map(|before| siblings[before]),
        })
    }

    /// An edit that is valid now.
    pub fn edit(&mut self, naive: &Naive, [kind, a, b, seed]: [u32; 4]) -> Option<Edit> {
        let inner = |naive: &Naive| -> Vec<BlockId> {
            naive.standing.iter().filter(|(_, (_, parent))| parent.is_some()).map(|(id, _)| *id).collect()
        };
        match kind % 20 {
            0 => {
                let mut forest = self.forest(naive, seed);
                for node in &mut forest.0 {
                    node.depth += 1;
                }
                let mut root = self.block(naive, 7);
                root.data = BlockData::page(format!("Title {a}"));
                let id = DocumentId::of_root(root.id);
                forest.0.insert(0, Node { depth: 0, block: root });
                let day = seed.is_multiple_of(4).then(|| "2026-02-03".parse().unwrap());
                let location = if day.is_some() { Location::DailyNotes } else { Location::Unsorted };
                let at = Timestamp::from_millis(i64::from(b));
                let record = DocumentRecord { id, location, day, created_at: at, modified_at: at };
                Some(Edit::CreateDocument { record, forest })
            }
            1..=7 => Some(Edit::Insert { slot: Self::slot(naive, a, b)?, forest: self.forest(naive, seed) }),
            8..=10 => {
                let id = pick(&naive.blocks.keys().copied().collect::<Vec<_>>(), a)?;
                let before = naive.blocks[&id].clone();
                let mut after = self.block(naive, seed);
                after.id = id;
                after.rev = before.rev + 1;
                after.created = before.created.clone();
                after.data.kind = before.data.kind.clone();
                let (document, _) = naive.standing[&id];
                Some(Edit::Update { document, before: Box::new(before), after: Box::new(after) })
            }
            11..=13 => {
                let first = pick(&inner(naive), a)?;
                let slot = naive.slot_of(first);
                let siblings = naive.children(slot.parent);
                let at = siblings.iter().position(|sibling| *sibling == first).unwrap();
                let count = usize::try_from(b % 12 + 1).unwrap();
                let forest = siblings[at..].iter().take(count).flat_map(|top| naive.subtree(*top, usize::MAX).0);
                Some(Edit::Remove { slot, forest: Forest(forest.collect()) })
            }
            14..=16 => {
                let block = pick(&inner(naive), a)?;
                let from = naive.slot_of(block);
                let mut left = naive.clone();
                left.uproot(&naive.subtree(block, usize::MAX));
                Some(Edit::Move { block, from, to: Self::slot(&left, b, seed)? })
            }
            17 if seed.is_multiple_of(4) => {
                let id = pick(&naive.documents.keys().copied().collect::<Vec<_>>(), a)?;
                let forest = naive.subtree(id.root(), usize::MAX);
                Some(Edit::EraseDocument { record: naive.documents[&id].clone(), forest })
            }
            17 | 18 => {
                let id = pick(&naive.documents.keys().copied().collect::<Vec<_>>(), a)?;
                let before = naive.documents[&id].clone();
                let folder = pick(&naive.folders.keys().copied().collect::<Vec<_>>(), b);
                let location = folder.filter(|_| seed % 2 == 0).map_or(Location::Trash, Location::Folder);
                Some(Edit::UpdateDocument { after: DocumentRecord { location, ..before.clone() }, before })
            }
            _ => Some(self.folder_edit(naive, [a, b, seed])),
        }
    }

    fn folder_edit(&mut self, naive: &Naive, [a, b, seed]: [u32; 3]) -> Edit {
        let ids: Vec<_> = naive.folders.keys().copied().collect();
        let Some(id) = pick(&ids, a).filter(|_| !seed.is_multiple_of(3)) else {
            let id = FolderId::from_bytes(self.id());
            return Edit::CreateFolder(FolderRecord { id, name: format!("Folder {b}"), parent: pick(&ids, b) });
        };
        let folder = naive.folders[&id].clone();
        let is_empty = naive.folders.values().all(|other| other.parent != Some(id))
            && naive.documents.values().all(|document| document.location != Location::Folder(id));
        if is_empty && seed % 3 == 1 {
            Edit::RemoveFolder(folder)
        } else {
            Edit::UpdateFolder {
                after: FolderRecord { name: format!("Named {b}"), parent: None, ..folder.clone() },
                before: folder,
            }
        }
    }
}

fn pick<T: Copy>(all: &[T], number: u32) -> Option<T> {
    all.get(usize::try_from(number).unwrap() % all.len().max(1)).copied()
}

pub fn relaxed() -> WriteOptions {
    WriteOptions::durability(Durability::Relaxed)
}

pub fn meta() -> SpaceMeta {
    SpaceMeta { id: SpaceId::from_bytes([5; 16]), name: "Space".to_owned(), zone: "Europe/Berlin".to_owned() }
}

/// An empty space in memory, and the store that it is in.
pub fn memory_space() -> (Arc<dyn Store>, SpaceStore) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let space = SpaceStore::create(Arc::clone(&store), extract, &meta()).unwrap();
    (store, space)
}

/// Applies edits made of `numbers`, in writes of some, to the model and the space.
pub fn play(space: &SpaceStore, naive: &mut Naive, maker: &mut Maker, numbers: &[[u32; 4]], now: &mut i64) {
    for group in numbers.chunks(3) {
        *now += 1;
        let before = naive.clone();
        let mut edits = vec![];
        for numbers in group {
            if let Some(edit) = maker.edit(naive, *numbers) {
                naive.apply(&edit);
                edits.push(edit);
            }
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
            transaction.apply(edits)
        });
        let change = written.unwrap_or_else(|error| panic!("{error} {edits:?} {before:?}")).change;
        assert_eq!(change.map(|change| change.edits).unwrap_or_default(), edits);
    }
}
