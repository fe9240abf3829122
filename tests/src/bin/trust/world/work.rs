//! Work on a space: random calls of every kind that writes, drawn for the space as it is.

use std::io;

use leafbase::{
    AddComments, AddItems, AddTasks, Block, BlockId, CommentDraft, Connection, CreateCollection,
    DeleteBlocks, DeleteFolders, DeleteItems, Destination, Document, DocumentId, Fetch, FolderId,
    GetItems, ItemDraft, ItemUpdate, ListCollections, Location, MoveBlocks, MoveDocuments,
    Position, PropertyDraft, PropertyKind, PurgeDocuments, Relation, Result, SchemaDraft,
    SearchDocuments, TaskDraft, TaskState, TaskUpdate, UpdateItems, UpdateTasks, UploadFile,
};
use serde::Serialize;

use crate::random::Random;

/// What is written, and sought. None is the beginning of another, and none is a word of the JSON of
/// blocks.
pub const WORDS: [&str; 16] = [
    "aardvark", "bobolink", "capybara", "dormouse", "echidna", "flamingo", "gazelle", "hedgehog",
    "ibex", "jackdaw", "kestrel", "lemur", "marmoset", "narwhal", "ocelot", "pelican",
];

/// The title of a document that others work on.
pub const APART: &str = "uploads";

/// So many documents are enough for one space: searches show them all.
const MOST_DOCUMENTS: usize = 12;

pub fn is_deleted(document: &Document) -> bool {
    document.record.location == Location::Trash
}

pub fn shown(value: impl Serialize) -> String {
    serde_json::to_string(&value).unwrap_or_default()
}

/// What a call says of itself, and how it ended.
pub struct Done {
    pub what: String,
    pub outcome: Result<()>,
    /// Whether everything is durable once it has succeeded, however the space is opened.
    pub makes_durable: bool,
    /// Whether it promises what the space does, whatever its connection promises.
    pub is_of_the_space: bool,
}

/// Does what `seed` says with the space as it is. The same seed does the same with the same space.
pub fn step(notes: &Connection, seed: u64) -> Done {
    let mut step = Step {
        notes,
        random: Random::new(seed),
        what: String::new(),
        makes_durable: false,
        is_of_the_space: false,
    };
    let outcome = step.run();
    let Step { what, makes_durable, is_of_the_space, .. } = step;
    Done { what, outcome, makes_durable, is_of_the_space }
}

struct Step<'s> {
    notes: &'s Connection,
    random: Random,
    what: String,
    makes_durable: bool,
    is_of_the_space: bool,
}

impl Step<'_> {
    fn run(&mut self) -> Result<()> {
        let documents = self.documents()?;
        let living: Vec<&Document> =
            documents.iter().filter(|document| !is_deleted(document)).collect();
        let Some(document) = self.random.pick(&living).map(|document| document.id()) else {
            return self.create();
        };
        match self.random.below(40) {
            0..=2 if documents.len() < MOST_DOCUMENTS => self.create(),
            0..=11 => self.insert(document),
            12..=15 => self.update(document),
            16..=18 => self.transfer(document),
            19..=20 => self.delete(document),
            21 => self.comment(document),
            22..=23 => self.folders(document),
            24..=26 => self.tasks(),
            27..=31 => self.collections(document),
            32..=33 => self.upload(document),
            34 => self.trash(&documents),
            35 => self.rename(),
            36 => self.flush(),
            37 => self.search(),
            _ => self.index(),
        }
    }

    fn documents(&self) -> Result<Vec<Document>> {
        Ok(self
            .notes
            .documents()?
            .0
            .into_iter()
            .filter(|document| document.title != APART)
            .collect())
    }

    fn says(&mut self, what: impl Into<String>) {
        self.what = what.into();
    }

    fn words(&mut self, most: u64) -> String {
        let count = 1 + self.random.below(most);
        let words: Vec<_> = (0..count).map(|_| WORDS[self.random.place(WORDS.len())]).collect();
        words.join(" ")
    }

    fn create(&mut self) -> Result<()> {
        let title = self.words(2);
        self.says(format!("create document {title:?}"));
        self.notes.create_document(&title).map(drop)
    }

    fn text(&mut self) -> String {
        match self.random.below(8) {
            0 => self.words(600),
            1 => format!(
                "<page><pageTitle>{}</pageTitle><content>\n\n{}\n\n</content></page>",
                self.words(2),
                self.words(9)
            ),
            2 => format!(
                "# {}\n\n- [ ] {}\n\n- {}\n\n{}",
                self.words(2),
                self.words(3),
                self.words(3),
                self.words(30)
            ),
            _ => self.words(12),
        }
    }

    fn blocks(&self, document: DocumentId) -> Result<Vec<Block>> {
        Ok(self.notes.fetch(Fetch::new(document))?.walk().map(|(_, block)| block.clone()).collect())
    }

    fn position(&mut self, document: DocumentId) -> Result<Position> {
        let blocks = self.blocks(document)?;
        let root = document.root();
        let block = self.random.pick(&blocks).map_or(root, |block| block.id);
        Ok(match self.random.below(4) {
            0 => Position::start_of(root),
            1 if block != root => Position::before(block),
            2 => Position::end_of(block),
            _ => Position::end_of(root),
        })
    }

    fn insert(&mut self, document: DocumentId) -> Result<()> {
        let (position, text) = (self.position(document)?, self.text());
        self.says(format!("insert {} bytes at {position:?}", text.len()));
        self.notes.insert_markdown(&text, position).map(drop)
    }

    fn update(&mut self, document: DocumentId) -> Result<()> {
        let blocks = self.blocks(document)?;
        let Some(block) = self.random.pick(&blocks).map(|block| block.id) else { return Ok(()) };
        let text = self.words(20);
        self.says(format!("update {block} to {} bytes", text.len()));
        self.notes.update_markdown(block, &text).map(drop)
    }

    /// Some blocks of a document, the root not among them.
    fn some(&mut self, document: DocumentId) -> Result<Vec<BlockId>> {
        let blocks = self.blocks(document)?;
        let inner = blocks.get(1..).unwrap_or_default();
        let count = 1 + self.random.place(3);
        let mut some: Vec<BlockId> =
            (0..count).filter_map(|_| Some(self.random.pick(inner)?.id)).collect();
        some.sort_unstable();
        some.dedup();
        Ok(some)
    }

    fn transfer(&mut self, document: DocumentId) -> Result<()> {
        let some = self.some(document)?;
        let documents = self.documents()?;
        let to = self.random.pick(&documents).map_or(document, Document::id);
        let position = self.position(to)?;
        self.says(format!("move {some:?} to {position:?}"));
        self.notes.move_blocks(MoveBlocks::new(some, position)).map(drop)
    }

    fn delete(&mut self, document: DocumentId) -> Result<()> {
        let some = self.some(document)?;
        self.says(format!("delete {some:?}"));
        self.notes.delete_blocks(DeleteBlocks::new(some)).map(drop)
    }

    fn comment(&mut self, document: DocumentId) -> Result<()> {
        let blocks = self.blocks(document)?;
        let Some(block) = self.random.pick(&blocks).map(|block| block.id) else { return Ok(()) };
        let text = self.words(4);
        self.says(format!("comment {text:?} on {block}"));
        self.notes.add_comments(AddComments::new([CommentDraft::new(block, text)])).map(drop)
    }

    fn folders(&mut self, document: DocumentId) -> Result<()> {
        let folders: Vec<FolderId> =
            self.notes.folders()?.iter().filter_map(leafbase::Folder::folder_id).collect();
        let folder = self.random.pick(&folders).copied();
        match (self.random.below(4), folder) {
            (0, Some(folder)) => {
                self.says(format!("delete folder {folder}"));
                self.notes.delete_folders(DeleteFolders::new([folder])).map(drop)
            }
            (1 | 2, Some(folder)) => {
                self.says(format!("keep {document} in {folder}"));
                self.notes.move_documents(MoveDocuments::new([document], folder)).map(drop)
            }
            _ => {
                let name = self.words(2);
                self.says(format!("create folder {name:?} in {folder:?}"));
                self.notes.create_folder(&name, folder).map(drop)
            }
        }
    }

    fn tasks(&mut self) -> Result<()> {
        let tasks = self.notes.tasks(leafbase::TaskScope::Inbox)?.items;
        let task = self.random.pick(&tasks).map(|task| task.id);
        match (self.random.below(4), task) {
            (0, Some(task)) => {
                self.says(format!("task {task} is done"));
                let done = TaskUpdate::of(task).with_state(TaskState::Done);
                self.notes.update_tasks(UpdateTasks::new([done])).map(drop)
            }
            (1, Some(task)) => {
                self.says(format!("delete task {task}"));
                self.notes.delete_tasks(task).map(drop)
            }
            _ => {
                let text = self.words(3);
                self.says(format!("add task {text:?}"));
                self.notes.add_tasks(AddTasks::new([TaskDraft::new(text)])).map(drop)
            }
        }
    }

    fn collections(&mut self, document: DocumentId) -> Result<()> {
        let collections = self.notes.list_collections(ListCollections::default())?;
        let Some(collection) = self.random.pick(&collections).map(|collection| collection.id)
        else {
            return self.new_collection(document, None);
        };
        if collections.len() < 3 && self.random.one_in(3) {
            return self.new_collection(document, Some(collection));
        }
        let items = self.notes.items(GetItems::of(collection))?.items;
        let item = self.random.pick(&items).map(|item| item.id);
        match (self.random.below(5), item) {
            (0, Some(item)) => {
                self.says(format!("delete item {item}"));
                self.notes.delete_items(DeleteItems::new(collection, [item])).map(drop)
            }
            (1 | 2, Some(item)) => {
                let update = ItemUpdate::of(item).with("note", self.words(2));
                let update = self.related(collection, update)?;
                self.says(format!("update item {item}: {update:?}"));
                self.notes.update_items(UpdateItems::new(collection, [update])).map(drop)
            }
            _ => {
                let count = 1 + self.random.below(3);
                let drafts =
                    (0..count).map(|_| ItemDraft::new(self.words(2)).with("note", self.words(3)));
                let drafts: Vec<_> = drafts.collect();
                self.says(format!("add {count} items to {collection}"));
                self.notes.add_items(AddItems::new(collection, drafts)).map(drop)
            }
        }
    }

    fn new_collection(&mut self, document: DocumentId, other: Option<BlockId>) -> Result<()> {
        let mut properties = vec![PropertyDraft::new("Note", PropertyKind::Text)];
        properties
            .extend(other.map(|other| PropertyDraft::new("Link", Relation::to(other).into())));
        self.says(format!("create a collection related to {other:?}"));
        let schema = SchemaDraft::new(self.words(2), properties);
        self.notes.create_collection(CreateCollection::new(schema, document)).map(drop)
    }

    /// Sets a relation as well, if the collection has one.
    fn related(&mut self, collection: BlockId, update: ItemUpdate) -> Result<ItemUpdate> {
        let schema = self.notes.schema(collection)?;
        let target = schema.properties.iter().find_map(|property| match &property.kind {
            PropertyKind::Relation(relation) => Some((property.key.clone(), relation.target)),
            _ => None,
        });
        let Some((key, target)) = target else { return Ok(update) };
        let items = self.notes.items(GetItems::of(target))?.items;
        Ok(match self.random.pick(&items) {
            Some(item) => update.with(key, item.id.to_string()),
            None => update,
        })
    }

    fn upload(&mut self, document: DocumentId) -> Result<()> {
        let length = if self.random.one_in(4) { 200_000 } else { 1 + self.random.place(70_000) };
        self.says(format!("upload {length} bytes"));
        let bytes =
            io::Read::take(io::repeat(self.random.below(256).to_le_bytes()[0]), length as u64);
        self.notes.upload_file(UploadFile::new(document).named("photo.bin"), bytes).map(drop)
    }

    fn trash(&mut self, documents: &[Document]) -> Result<()> {
        let Some(document) = self.random.pick(documents) else { return Ok(()) };
        let id = document.id();
        match (is_deleted(document), self.random.one_in(2)) {
            (false, _) => {
                self.says(format!("throw {id} away"));
                self.notes.delete_documents(id).map(drop)
            }
            (true, false) => {
                self.says(format!("restore {id}"));
                self.notes.move_documents(MoveDocuments::new([id], Destination::Unsorted)).map(drop)
            }
            (true, true) => {
                self.says(format!("purge {id}"));
                self.notes.purge_documents(PurgeDocuments::new([id])).map(drop)
            }
        }
    }

    fn rename(&mut self) -> Result<()> {
        let name = self.words(2);
        self.says(format!("rename the space to {name:?}"));
        self.is_of_the_space = true;
        self.notes.space().rename(&name)
    }

    fn flush(&mut self) -> Result<()> {
        self.says("flush");
        self.makes_durable = true;
        self.notes.space().flush()
    }

    fn search(&mut self) -> Result<()> {
        let word = self.words(1);
        self.says(format!("search {word:?}"));
        self.notes.search(SearchDocuments::words(word)).map(drop)
    }

    fn index(&mut self) -> Result<()> {
        self.says("bring the index up to date");
        self.notes.space().flush_search()
    }
}
