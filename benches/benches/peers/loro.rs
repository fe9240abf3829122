//! Loro, a library of CRDTs: one movable tree for each document, and redb below, which has the
//! updates of each and where blocks are. Documents that were read or written stay in memory. Its
//! history is its change log.

use crate::app::{
    self, Block, Document, Edit, Fetched, Mode, Peer, Position, Ready, TASK_DONE, Task,
};
use crate::leaf::{kept, parsed};
use benches::workload::Id;
use loro::{
    ExportMode, LoroDoc, LoroMap, LoroTree, LoroValue, TreeID, TreeParentId, VersionVector,
};
use redb::{Database, Durability, ReadableDatabase, TableDefinition, WriteTransaction};
use std::collections::HashMap;
use std::path::Path;

/// What was exported of a document, in the order of writing: the first is a snapshot.
const PARTS: TableDefinition<'static, (Id, u32), &'static [u8]> = TableDefinition::new("parts");
/// A block's document, and its node there.
const PLACES: TableDefinition<'static, Id, (Id, u64, i32)> = TableDefinition::new("places");
const MODIFIED: TableDefinition<'static, (i64, Id), ()> = TableDefinition::new("modified");
const CACHE: usize = 64 << 20;

struct Loro {
    database: Database,
    durability: Durability,
    loaded: HashMap<Id, Loaded>,
}

/// A document in memory.
struct Loaded {
    doc: LoroDoc,
    tree: LoroTree,
    /// What of it is stored, and in how many parts.
    stored: VersionVector,
    parts: u32,
}

/// What an edit writes beside Loro's own updates.
#[derive(Default)]
struct Changes {
    documents: Vec<Id>,
    put: Vec<(Id, Id, TreeID)>,
    gone: Vec<Id>,
}

/// Where the next block goes.
#[derive(Clone, Copy)]
enum Place {
    Start(TreeParentId),
    End(TreeParentId),
    After(TreeID),
}

pub fn open(directory: &Path, mode: Mode) -> Box<dyn Peer> {
    let database = Database::builder()
        .set_cache_size(CACHE)
        .create(directory.join("space.loro"))
        .expect("open");
    let durability = if mode == Mode::Durable { Durability::Immediate } else { Durability::None };
    let peer = Loro { database, durability, loaded: HashMap::new() };
    peer.write(|transaction| {
        transaction.open_table(PARTS).expect("table");
        transaction.open_table(PLACES).expect("table");
        transaction.open_table(MODIFIED).expect("table");
    });
    Box::new(peer)
}

impl Loaded {
    fn new(doc: LoroDoc, parts: u32) -> Self {
        // The one writer there is.
        doc.set_peer_id(1).expect("a peer");
        let tree = doc.get_tree("blocks");
        tree.enable_fractional_index(0);
        let stored = doc.oplog_vv();
        Self { doc, tree, stored, parts }
    }

    fn head(&self) -> LoroMap {
        self.doc.get_map("document")
    }

    /// A new node at a place, and the place after it.
    fn make(&self, place: Place) -> (TreeID, Place) {
        let node = match place {
            Place::Start(parent) => self.tree.create_at(parent, 0),
            Place::End(parent) => self.tree.create(parent),
            Place::After(sibling) => {
                let parent = self.tree.parent(sibling).expect("a sibling");
                let node = self.tree.create(parent).expect("create");
                self.tree.mov_after(node, sibling).map(|()| node)
            }
        };
        let node = node.expect("create");
        (node, if matches!(place, Place::End(_)) { place } else { Place::After(node) })
    }

    /// Puts blocks, as they are, with all below them.
    fn put(&self, document: Id, blocks: &[Block], mut place: Place, changes: &mut Changes) {
        for block in blocks {
            let node;
            (node, place) = self.make(place);
            write(&self.tree.get_meta(node).expect("a node"), block);
            changes.put.push((block.id, document, node));
            self.put(document, &block.children, Place::End(TreeParentId::Node(node)), changes);
        }
    }

    fn block(&self, node: TreeID) -> Block {
        read(&self.tree.get_meta(node).expect("a node").get_value())
    }

    fn with_all_below(&self, node: TreeID) -> Block {
        let children = self.tree.children(TreeParentId::Node(node)).unwrap_or_default();
        Block {
            children: children.into_iter().map(|child| self.with_all_below(child)).collect(),
            ..self.block(node)
        }
    }
}

impl Loro {
    fn write(&self, run: impl FnOnce(&WriteTransaction)) {
        let mut transaction = self.database.begin_write().expect("write");
        transaction.set_durability(self.durability).expect("durability");
        run(&transaction);
        transaction.commit().expect("commit");
    }

    fn document(&mut self, id: Id) -> &Loaded {
        if !self.loaded.contains_key(&id) {
            let parts = self.database.begin_read().expect("read").open_table(PARTS).expect("table");
            let rows = parts.range((id, 0)..=(id, u32::MAX)).expect("range");
            let parts: Vec<Vec<u8>> =
                rows.map(|row| row.expect("row").1.value().to_vec()).collect();
            let doc = LoroDoc::new();
            doc.import_batch(&parts).expect("import");
            self.loaded.insert(id, Loaded::new(doc, parts.len() as u32));
        }
        &self.loaded[&id]
    }

    fn place_of(&self, id: Id) -> (Id, TreeID) {
        let places = self.database.begin_read().expect("read").open_table(PLACES).expect("table");
        let (document, peer, counter) = places.get(id).expect("get").expect("a block").value();
        (document, TreeID::new(peer, counter))
    }

    fn place(&self, position: Position) -> (Id, Place) {
        let parent = |document: Id, id: Id| {
            if document == id {
                TreeParentId::Root
            } else {
                TreeParentId::Node(self.place_of(id).1)
            }
        };
        match position {
            Position::Start { document, parent: id } => {
                (document, Place::Start(parent(document, id)))
            }
            Position::End { document, parent: id } => (document, Place::End(parent(document, id))),
            Position::After(sibling) => {
                let (document, node) = self.place_of(sibling);
                (document, Place::After(node))
            }
        }
    }

    fn insert(&mut self, blocks: &[Block], position: Position, now: i64) -> Changes {
        let (document, place) = self.place(position);
        let mut changes = Changes { documents: vec![document], ..Changes::default() };
        self.document(document).put(document, &stamped(blocks, now), place, &mut changes);
        changes
    }

    fn update(&mut self, id: Id, markdown: &str, now: i64) -> Changes {
        let (document, node) = self.place_of(id);
        let loaded = self.document(document);
        let meta = loaded.tree.get_meta(node).expect("a node");
        let rev = read(&meta.get_value()).rev;
        meta.insert("markdown", markdown).expect("insert");
        meta.insert("rev", rev as i64 + 1).expect("insert");
        meta.insert("modified", now).expect("insert");
        Changes { documents: vec![document], ..Changes::default() }
    }

    fn relocate(&mut self, ids: &[Id], position: Position) -> Changes {
        let (target, mut place) = self.place(position);
        let mut changes = Changes { documents: vec![target], ..Changes::default() };
        for id in ids {
            let (source, node) = self.place_of(*id);
            let loaded = self.document(source);
            if source == target {
                let moved = match place {
                    Place::Start(parent) => loaded.tree.mov_to(node, parent, 0),
                    Place::End(parent) => loaded.tree.mov(node, parent),
                    Place::After(sibling) => loaded.tree.mov_after(node, sibling),
                };
                moved.expect("move");
                if !matches!(place, Place::End(_)) {
                    place = Place::After(node);
                }
                continue;
            }
            let block = loaded.with_all_below(node);
            loaded.tree.delete(node).expect("delete");
            changes.touch(source);
            let first = changes.put.len();
            self.document(target).put(target, std::slice::from_ref(&block), place, &mut changes);
            if !matches!(place, Place::End(_)) {
                place = Place::After(changes.put[first].2);
            }
        }
        changes
    }

    fn delete(&mut self, ids: &[Id]) -> Changes {
        let mut changes = Changes::default();
        for id in ids {
            let (document, node) = self.place_of(*id);
            let loaded = self.document(document);
            let taken = loaded.with_all_below(node);
            changes.gone.push(taken.id);
            changes
                .gone
                .extend(app::rows(taken.id, &taken.children).iter().map(|(_, _, block)| block.id));
            loaded.tree.delete(node).expect("delete");
            changes.touch(document);
        }
        changes
    }

    fn create(&mut self, document: &Document, now: i64, changes: &mut Changes) {
        let loaded = Loaded::new(LoroDoc::new(), 0);
        loaded.head().insert("title", document.title.as_str()).expect("insert");
        let blocks = stamped(&document.blocks, now);
        loaded.put(document.id, &blocks, Place::End(TreeParentId::Root), changes);
        changes.touch(document.id);
        self.loaded.insert(document.id, loaded);
    }

    /// Writes what the documents have since they were last stored, and what goes with it, in one
    /// transaction.
    fn store(&mut self, changes: &Changes, now: i64) {
        let mut parts: Vec<((Id, u32), Vec<u8>)> = Vec::with_capacity(changes.documents.len());
        let mut times: Vec<(Option<i64>, Id)> = Vec::with_capacity(changes.documents.len());
        for id in &changes.documents {
            let loaded = self.loaded.get_mut(id).expect("a document that was changed");
            let head = loaded.head();
            let before =
                head.get("modified").and_then(|value| value.into_value().ok()?.into_i64().ok());
            head.insert("modified", now).expect("insert");
            loaded.doc.commit();
            let mode = if loaded.parts == 0 {
                ExportMode::Snapshot
            } else {
                ExportMode::updates(&loaded.stored)
            };
            parts.push(((*id, loaded.parts), loaded.doc.export(mode).expect("export")));
            loaded.stored = loaded.doc.oplog_vv();
            loaded.parts += 1;
            times.push((before, *id));
        }
        self.write(|transaction| {
            let mut stored = transaction.open_table(PARTS).expect("table");
            for (key, part) in &parts {
                stored.insert(key, part.as_slice()).expect("put");
            }
            let mut modified = transaction.open_table(MODIFIED).expect("table");
            for (before, id) in times {
                if let Some(before) = before {
                    modified.remove((before, id)).expect("delete");
                }
                modified.insert((now, id), ()).expect("put");
            }
            let mut places = transaction.open_table(PLACES).expect("table");
            for (block, document, node) in &changes.put {
                places.insert(block, (*document, node.peer, node.counter)).expect("put");
            }
            for block in &changes.gone {
                places.remove(block).expect("delete");
            }
        });
    }
}

impl Changes {
    fn touch(&mut self, document: Id) {
        if !self.documents.contains(&document) {
            self.documents.push(document);
        }
    }
}

impl Peer for Loro {
    fn apply(&mut self, edit: &Edit, _: Ready, now: i64) {
        let changes = match edit {
            Edit::Insert(blocks, position) => self.insert(blocks, *position, now),
            Edit::Update(id, markdown) => self.update(*id, markdown, now),
            Edit::Move(ids, position) => self.relocate(ids, *position),
            Edit::Delete(ids) => self.delete(ids),
            Edit::Import(documents) => {
                let mut changes = Changes::default();
                documents.iter().for_each(|document| self.create(document, now, &mut changes));
                changes
            }
            Edit::ImportMarkdown(files) => {
                let mut changes = Changes::default();
                for file in files {
                    let blocks = kept(parsed(&file.text), &mut file.ids.iter().copied(), now);
                    let document = Document { id: file.id, title: file.title.clone(), blocks };
                    self.create(&document, now, &mut changes);
                }
                changes
            }
        };
        self.store(&changes, now);
    }

    fn fetch(&mut self, document: Id) -> Fetched {
        let loaded = self.document(document);
        let title = loaded
            .head()
            .get("title")
            .and_then(|value| value.into_value().ok()?.into_string().ok());
        let children = nodes(&loaded.tree.get_value_with_meta());
        let markdown = title.map_or_else(String::new, |title| title.to_string());
        Fetched::Plain(Block { id: document, markdown, children, ..Block::default() })
    }

    fn block(&mut self, id: Id) -> Fetched {
        let (document, node) = self.place_of(id);
        Fetched::Plain(self.document(document).block(node))
    }

    fn document_of(&mut self, id: Id) -> Id {
        self.place_of(id).0
    }

    fn flush(&mut self) {
        let transaction = self.database.begin_write().expect("write");
        transaction.commit().expect("commit");
    }

    fn compact(&mut self) {
        self.database.compact().expect("nobody reads");
    }
}

/// New blocks as they are stored.
fn stamped(blocks: &[Block], now: i64) -> Vec<Block> {
    let stamped_one = |block: &Block| {
        let mut made = Block { children: stamped(&block.children, now), ..block.clone() };
        (made.rev, made.created, made.modified) = (1, now, now);
        if let Some(task) = &mut made.task {
            task.completed = task.completed.or((task.state == TASK_DONE).then_some(now));
        }
        made
    };
    blocks.iter().map(stamped_one).collect()
}

/// The fields of a block, each one that two people may change at once a value of its own; those at
/// their defaults are left out.
fn write(to: &LoroMap, block: &Block) {
    let put = |key: &str, value: LoroValue| to.insert(key, value).expect("insert");
    let number = |key: &str, value: Option<i64>| {
        if let Some(value) = value.filter(|value| *value != 0) {
            put(key, value.into());
        }
    };
    put("id", block.id.to_vec().into());
    put("markdown", block.markdown.as_str().into());
    number("rev", Some(block.rev as i64));
    number("kind", Some(block.kind.into()));
    number("indentation", Some(block.indentation.into()));
    number("list", Some(block.list_style.into()));
    number("style", Some(block.style.into()));
    number("color", block.color.map(|color| i64::from(color) + 1));
    number("created", Some(block.created));
    number("modified", Some(block.modified));
    if let Some(task) = block.task {
        number("state", Some(i64::from(task.state) + 1));
        number("scheduled", task.scheduled.map(i64::from));
        number("deadline", task.deadline.map(i64::from));
        number("completed", task.completed);
        number("canceled", task.canceled);
    }
    for (key, value) in [
        ("attributes", &block.attributes),
        ("createdBy", &block.created_by),
        ("modifiedBy", &block.modified_by),
    ] {
        if let Some(value) = value {
            put(key, (&**value).into());
        }
    }
}

/// A node's fields.
fn read(meta: &LoroValue) -> Block {
    let LoroValue::Map(map) = meta else { panic!("a map: {meta:?}") };
    let number = |key: &str| match map.get(key) {
        Some(LoroValue::I64(number)) => Some(*number),
        _ => None,
    };
    let words = |key: &str| match map.get(key) {
        Some(LoroValue::String(words)) => Some(words.as_str()),
        _ => None,
    };
    let small = |key: &str| number(key).unwrap_or_default() as u8;
    let Some(LoroValue::Binary(id)) = map.get("id") else { panic!("an ID: {meta:?}") };
    let task = number("state").map(|state| Task {
        state: (state - 1) as u8,
        scheduled: number("scheduled").map(|day| day as i32),
        deadline: number("deadline").map(|day| day as i32),
        completed: number("completed"),
        canceled: number("canceled"),
    });
    Block {
        id: id.as_slice().try_into().expect("sixteen bytes"),
        rev: number("rev").unwrap_or_default() as u64,
        kind: small("kind"),
        markdown: words("markdown").unwrap_or_default().to_owned(),
        indentation: small("indentation"),
        list_style: small("list"),
        style: small("style"),
        color: number("color").map(|color| (color - 1) as u32),
        task,
        attributes: words("attributes").map(Into::into),
        created: number("created").unwrap_or_default(),
        created_by: words("createdBy").map(Into::into),
        modified: number("modified").unwrap_or_default(),
        modified_by: words("modifiedBy").map(Into::into),
        children: Vec::new(),
    }
}

/// Nodes as Loro gives them, with their fields and children.
fn nodes(list: &LoroValue) -> Vec<Block> {
    let LoroValue::List(list) = list else { return Vec::new() };
    let node = |value: &LoroValue| {
        let LoroValue::Map(node) = value else { panic!("a node: {value:?}") };
        Block { children: nodes(&node["children"]), ..read(&node["meta"]) }
    };
    list.iter().map(node).collect()
}
