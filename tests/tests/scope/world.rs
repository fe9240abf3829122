//! A world: a space with some documents in scope, and a rest that nobody who sees the scope may
//! notice.

use std::collections::BTreeMap;
use std::sync::Arc;

use leafbase::json::FromJson;
use leafbase::{
    BlockId, Connection, DeleteDocuments, Destination, DocumentId, EmbeddingDraft, Fetch, FolderId,
    Limits, MoveBlocks, MoveDocuments, Position, PutEmbeddings, RestoreDailyNotes, Scope, Scoped,
    SearchIndexing, Space, SpaceBuilder, UploadFile, json,
};
use leafbase_store::kv::MemoryStore;
use serde_json::{Value, json};

use super::dice::Dice;
use super::hidden::{Hidden, SEEN_MODEL, VECTORS};
use super::present::{Present, Writer};

/// How many documents both worlds have in common.
pub const DOCUMENTS: usize = 5;
/// How long each step of a pair takes: fifty of them go over a midnight.
pub const STEP: i64 = 40 * 60_000;

/// What a scope is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeKind {
    /// Documents that the host names.
    Documents,
    /// The same, for reading only.
    ReadOnly,
    /// A folder, and the documents that cannot be in one.
    Folder,
    /// Pages, each in a hidden document, and the documents that cannot be one.
    Pages,
}

impl ScopeKind {
    pub fn of(seed: u64) -> Self {
        match seed % 8 {
            3 | 6 => Self::Folder,
            5 => Self::ReadOnly,
            1 | 4 => Self::Pages,
            _ => Self::Documents,
        }
    }
}

pub struct World {
    /// 0 or 1.
    pub number: u64,
    kind: ScopeKind,
    /// The folder of the scope, if that is one.
    folder: Option<FolderId>,
    /// The documents of pages.
    holders: BTreeMap<DocumentId, DocumentId>,
    pub present: Present,
    store: Arc<MemoryStore>,
    space: Option<Space>,
    scope: Option<Scope>,
    /// What both worlds have, in the scope or not.
    pub documents: Vec<DocumentId>,
    pub collections: Vec<BlockId>,
    pub hidden: Hidden,
    /// Whether the index is caught up with now and then.
    pub flushes: bool,
}

/// Low, so that what counts towards them shows.
pub fn limits() -> Limits {
    let mut limits = Limits::default();
    (limits.page_nesting, limits.blocks_per_request, limits.blocks_per_fetch) = (6, 12, 60);
    (limits.schema_properties, limits.select_options) = (8, 5);
    (limits.block_text, limits.title, limits.comment) = (600, 160, 160);
    limits
}

/// A request of the host, from JSON.
pub fn read<T: FromJson>(body: &Value) -> T {
    json::from_str(&body.to_string(), &limits()).unwrap_or_else(|error| panic!("{body}: {error}"))
}

impl World {
    pub fn new(number: u64, seed: u64) -> Self {
        let (present, store) = (Present::default(), Arc::new(MemoryStore::new()));
        present.begin(Writer::Host(0), 0);
        let space = builder(&present).over(store.clone(), true).unwrap();
        let mut world = Self {
            number,
            kind: ScopeKind::of(seed),
            folder: None,
            holders: BTreeMap::new(),
            present,
            store,
            space: Some(space),
            scope: None,
            documents: Vec::new(),
            collections: Vec::new(),
            hidden: Hidden::new(Dice::new(seed, number + 1)),
            flushes: true,
        };
        world.make_documents();
        world.present.begin(Writer::Hidden(number, 0), 1_000);
        world.begin_hidden();
        world.make_collections();
        world.present.begin(Writer::Hidden(number, 1), 3_000);
        world.relate_hidden();
        let documents: Vec<_> = world.documents.iter().copied().take(DOCUMENTS - 1).collect();
        world.scope_anew(&documents);
        world
    }

    /// Another world that goes on from here, without an index: the first search makes one, and
    /// nothing else does.
    pub fn fork(&self, documents: &[DocumentId]) -> Self {
        let (present, store) = (self.present.fork(), Arc::new(self.store.copy()));
        let space = builder(&present).over(store.clone(), false).unwrap();
        let mut world = Self {
            number: self.number,
            kind: self.kind,
            folder: self.folder,
            holders: self.holders.clone(),
            present,
            store,
            space: Some(space),
            scope: None,
            documents: self.documents.clone(),
            collections: self.collections.clone(),
            hidden: self.hidden.clone(),
            flushes: self.flushes,
        };
        world.scope_anew(documents);
        world
    }

    /// What the space holds now.
    pub fn state(&self) -> MemoryStore {
        self.store.copy()
    }

    /// A space of its own that holds this.
    pub fn space_in(&self, state: MemoryStore) -> Space {
        builder(&self.present.fork()).over(Arc::new(state), false).unwrap()
    }

    pub fn space(&self) -> &Space {
        self.space.as_ref().unwrap()
    }

    pub fn all(&self) -> Connection {
        self.space().connect()
    }

    pub fn scope(&self) -> &Scope {
        self.scope.as_ref().unwrap()
    }

    pub fn scoped(&self) -> Connection<Scoped> {
        self.scope().connect()
    }

    /// A document for each way of keeping one: loose ones, a daily note, one in the templates.
    fn make_documents(&mut self) {
        let host = self.all().acting_as("Host");
        for title in ["Amber trip", "*Birch* list", "Cedar diary"] {
            let document = self.make_document(&host, title);
            self.documents.push(document);
        }
        let day = Position::end_of_day(leafbase::DayRef::Date("2026-03-02".parse().unwrap()));
        let note = host.insert_markdown("- [ ] water the amber", day).unwrap()[0].id;
        self.documents.push(host.document_of(note).unwrap());
        let last = self.make_document(&host, "Delta draft");
        self.documents.push(last);
        for document in &self.documents {
            let text = host.insert_markdown(TEXTS, *document).unwrap()[0].id;
            let remark = json!({"comments": [{"blockId": text, "content": "which *amber*?"}]});
            host.add_comments(read(&remark)).unwrap();
            host.upload_file(UploadFile::new(*document).named("map.txt"), &b"a map"[..]).unwrap();
        }
        self.embed(&host);
        if self.kind == ScopeKind::Folder {
            let folder = host.create_folder("Shared", None).unwrap().id;
            let inner = host.create_folder("Inner", Some(folder)).unwrap().id;
            for (number, document) in self.documents.iter().take(DOCUMENTS - 2).enumerate() {
                let folder = if number == 1 { inner } else { folder };
                host.move_documents(MoveDocuments::new([*document], folder)).unwrap();
            }
            self.folder = Some(folder);
        }
    }

    /// Vectors of what both worlds have in common; some blocks and one document have none.
    fn embed(&self, host: &Connection) {
        let targets = self.documents.iter().enumerate().flat_map(|(number, document)| {
            let page = host.fetch(Fetch::new(document.root()).depth(1)).unwrap();
            let blocks = page.walk().filter(|(depth, _)| *depth == 1).step_by(2);
            let blocks: Vec<_> = blocks.map(|(_, block)| block.id).collect();
            blocks.into_iter().chain((number > 0).then_some(document.root()))
        });
        let draft = |(number, target)| EmbeddingDraft::new(target, VECTORS[number % VECTORS.len()]);
        let drafts: Vec<_> = targets.enumerate().map(draft).collect();
        for drafts in drafts.chunks(limits().blocks_per_request) {
            host.put_embeddings(PutEmbeddings::new(SEEN_MODEL, drafts.to_vec())).unwrap();
        }
    }

    /// A document, or a page in a hidden document.
    fn make_document(&mut self, host: &Connection, title: &str) -> DocumentId {
        if self.kind != ScopeKind::Pages {
            return host.create_document(title).unwrap().id();
        }
        let number = 100 + self.holders.len() as u64;
        self.present.begin(Writer::Hidden(self.number, number), 0);
        let holder = self.hidden.make_holder(&self.all().acting_as(super::hidden::AUTHOR));
        self.present.begin(Writer::Host(number), 0);
        let page = host.insert_markdown(title, holder).unwrap()[0].id;
        let page = DocumentId::of_root(page);
        self.holders.insert(page, holder);
        page
    }

    /// The hidden documents that contain pages.
    pub fn holders(&self) -> impl Iterator<Item = DocumentId> {
        self.holders.values().copied()
    }

    /// Writes around a page, or moves it.
    fn edit_holder(&mut self, notes: &Connection, dice: &mut Dice) -> Option<String> {
        let (page, holder) = dice.any(&Vec::from_iter(&self.holders)).map(|(p, h)| (**p, **h))?;
        Some(match dice.below(4) {
            0 => {
                let edge = if dice.once_in(2) {
                    Position::start_of(holder)
                } else {
                    Position::end_of(holder)
                };
                // Refused in the trash.
                let moved = notes.move_blocks(MoveBlocks::new([page.root()], edge));
                format!("move the page {page}: {}", moved.is_ok())
            }
            1 => self.hidden.rename(notes, dice, holder),
            _ => self.hidden.insert(notes, dice, holder.root(), &[]),
        })
    }

    /// Collections in common documents that are related to each other and, in one world and not in
    /// the other, to hidden ones.
    fn make_collections(&mut self) {
        let host = self.all().acting_as("Host");
        for (number, name) in ["Books", "People", "Places"].into_iter().enumerate() {
            let mut properties = plain_properties();
            if let Some(target) = self.collections.last() {
                let inverse = format!("of_{}", name.to_lowercase());
                let related = json!({"name": "Related", "type": "relation", "targetCollectionId": target, "inverseKey": inverse});
                properties.insert(1, related);
            }
            self.present.begin(Writer::Host(10 + number as u64), 2_000);
            let hidden = self.hidden.properties_to_be_hidden();
            let (at, hidden) = (number % (properties.len() + 1), hidden);
            for property in hidden {
                properties.insert(at, property);
            }
            let schema = json!({"name": name, "contentPropDetails": {"key": "label", "name": "Label"}, "properties": properties});
            // The last one stands in the document that is not in the scope at first.
            let home = self.documents[if number == 2 { DOCUMENTS - 1 } else { number }];
            let request =
                json!({"schema": schema, "position": {"position": "end", "pageId": home}});
            let made = host.create_collection(read(&request)).unwrap().id;
            self.present.begin(Writer::Host(20 + number as u64), 2_500);
            let items: Vec<Value> = ["amber", "birch", "cedar delta"]
                .iter()
                .enumerate()
                .map(|(index, title)| {
                    let mut properties = json!({"pages": index * 100, "due": format!("2026-01-0{}", index + 1), "state": "Open"});
                    self.hidden.values_to_be_hidden(&host.schema(made).unwrap(), properties.as_object_mut().unwrap());
                    json!({"label": title, "properties": properties, "content": [{"type": "text", "markdown": "on amber"}]})
                })
                .collect();
            host.add_items(read(&json!({"collectionId": made, "items": items}))).unwrap();
            self.collections.push(made);
        }
    }

    fn begin_hidden(&mut self) {
        let (host, hidden) = (self.all().acting_as(super::hidden::AUTHOR), &mut self.hidden);
        hidden.begin(&host);
    }

    fn relate_hidden(&mut self) {
        let host = self.all().acting_as(super::hidden::AUTHOR);
        self.hidden.relate(&host, &self.collections);
    }

    /// Some hidden edits at this step.
    pub fn edit_hidden(&mut self, step: u64, millis: i64, dice: &mut Dice) -> Vec<String> {
        let notes = self.all().acting_as(super::hidden::AUTHOR);
        let mut done = Vec::new();
        for number in 0..dice.below(3) {
            self.present.begin(Writer::Hidden(self.number, step * 8 + number as u64), millis);
            // The rest of the space does not move documents in and out of the folder of a scope.
            let movable = match self.kind {
                ScopeKind::Folder => Vec::new(),
                ScopeKind::Pages => self.holders().collect(),
                _ => self.documents.clone(),
            };
            let around = if dice.once_in(3) { self.edit_holder(&notes, dice) } else { None };
            done.push(match around {
                Some(done) => done,
                None => self.hidden.edit(&notes, dice, &movable, &self.collections),
            });
        }
        if dice.once_in(8) && self.flushes {
            done.push("flush the search".into());
            self.space().flush_search().unwrap();
        }
        done
    }

    /// Closes the space and opens it again.
    pub fn reopen(&mut self) {
        self.scope = None;
        let space = self.space.take().unwrap();
        space.close().unwrap();
        self.space = Some(builder(&self.present).over(self.store.clone(), false).unwrap());
    }

    /// Makes the scope anew.
    pub fn scope_anew(&mut self, documents: &[DocumentId]) {
        let documents = documents.iter().copied();
        self.scope = Some(match (self.kind, self.folder) {
            (ScopeKind::Folder, Some(folder)) => {
                let scope = self.space().folder_scope([folder]);
                // The addition is told with its time.
                self.present.begin(Writer::Host(500), 4_000);
                scope.add(documents.filter(|document| !self.is_movable(*document)));
                scope
            }
            (ScopeKind::ReadOnly, _) => self.space().scope(documents).read_only(),
            (ScopeKind::Pages, _) => {
                let (pages, documents): (Vec<_>, Vec<_>) =
                    documents.partition(|document| self.holders.contains_key(document));
                let scope = self.space().page_scope(pages.iter().map(|page| page.root()));
                self.present.begin(Writer::Host(500), 4_000);
                scope.add(documents);
                scope
            }
            _ => self.space().scope(documents),
        });
    }

    /// Whether the document may be in a folder: daily notes may not.
    fn is_movable(&self, document: DocumentId) -> bool {
        let found = self.all().document(document);
        self.documents.contains(&document) && found.is_ok_and(|found| found.record.day.is_none())
    }

    /// Takes a document into the scope. Whether it is in it then.
    pub fn show(&self, document: DocumentId) -> bool {
        match self.folder.filter(|_| self.is_movable(document)) {
            Some(folder) => {
                let is_trashed =
                    |found: leafbase::Document| found.record.location == leafbase::Location::Trash;
                !self.all().document(document).is_ok_and(is_trashed)
                    && self.all().move_documents(MoveDocuments::new([document], folder)).is_ok()
            }
            None => {
                match self.holders.contains_key(&document) {
                    true => self.scope().add_pages([document.root()]),
                    false => self.scope().add([document]),
                }
                true
            }
        }
    }

    /// Takes a document out of the scope.
    pub fn hide(&self, document: DocumentId) {
        if self.folder.is_some() && self.is_movable(document) {
            self.restore(document);
        } else if self.holders.contains_key(&document) {
            self.scope().remove_pages([document.root()]);
        } else {
            self.scope().remove([document]);
        }
    }

    /// Whether a document that is restored is outside of the scope.
    pub fn restores_outside(&self, document: DocumentId) -> bool {
        self.folder.is_some() && self.is_movable(document)
    }

    pub fn trash(&self, document: DocumentId) -> bool {
        let document = self.holders.get(&document).copied().unwrap_or(document);
        self.all().delete_documents(DeleteDocuments::from(document)).is_ok()
    }

    pub fn restore(&self, document: DocumentId) -> bool {
        let document = self.holders.get(&document).copied().unwrap_or(document);
        let notes = self.all();
        notes.move_documents(MoveDocuments::new([document], Destination::Unsorted)).is_ok()
            || notes.restore_daily_notes(RestoreDailyNotes::new([document])).is_ok()
    }
}

fn builder(present: &Present) -> SpaceBuilder {
    Space::builder()
        .name("Shared")
        .limits(limits())
        .clock(present.clone())
        .ids(present.clone())
        .search_indexing(SearchIndexing::OnDemand)
}

fn plain_properties() -> Vec<Value> {
    vec![
        json!({"name": "Pages", "type": "number"}),
        json!({"name": "Due", "type": "date"}),
        json!({"name": "State", "type": "select", "options": [{"name": "Open"}, {"name": "Done"}]}),
        json!({"name": "Note", "type": "text"}),
    ]
}

const TEXTS: &str = "# amber\n\nbirch and *cedar*\n\n- [ ] delta of amber\n\n<page>\n<pageTitle>cedar page</pageTitle>\n<content>\n\nchild of \
                     birch\n\n> quoted delta\n\n</content>\n</page>\n\n\
                     | amber | birch |\n| --- | --- |\n| cedar | delta |\n\n```rust\nlet amber = 1;\n```\n\n*****";
