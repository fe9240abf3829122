//! Small spaces, the same each time: their texts, IDs and times come from nowhere but here.

use benches::workload::{Generator, Id, TEXT_BYTES, Words};
use leafbase::{
    AddItems, AddTasks, BlockData, BlockDraft, BlockId, Clock, Connection, CreateCollection,
    CreateDocuments, Destination, DocumentId, Durability, IdSource, InsertBlocks, ItemDraft,
    Position, PropertyDraft, PropertyKind, SchemaDraft, SearchIndexing, SelectOption, Space,
    SpaceBuilder, TaskDraft, Timestamp,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tempfile::TempDir;

/// Blocks of a document.
pub const BLOCKS: usize = 100;
/// Documents that are searched, and blocks of each.
const SEARCHED: [usize; 2] = [150, 20];
/// Blocks of the one that is searched by itself.
const LARGE: usize = 1_000;
const ITEMS: usize = 400;
const STATES: [&str; 4] = ["open", "started", "waiting", "done"];

/// A time that moves on with each look, and IDs in its order, some milliseconds apart as in life.
#[derive(Clone)]
struct Present(Arc<AtomicI64>);

impl Clock for Present {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

impl IdSource for Present {
    fn new_id(&self, now: Timestamp) -> Id {
        let number = self.0.fetch_add(1, Ordering::Relaxed) as u64;
        let mut id = [0; 16];
        id[..6].copy_from_slice(&now.as_millis().to_be_bytes()[2..]);
        id[8..].copy_from_slice(&number.to_be_bytes());
        id
    }
}

/// A space in a directory that goes with it: the store that users have, not the one in memory.
pub struct Small {
    pub connection: Connection,
    pub documents: Vec<DocumentId>,
    /// Those of each document.
    pub blocks: Vec<Vec<BlockId>>,
    pub make: Texts,
    directory: TempDir,
    present: Present,
}

/// Makes words; those that are asked for are put among them.
pub struct Texts {
    make: Generator,
    words: Words,
}

impl Texts {
    fn new() -> Self {
        let mut make = Generator::new(7);
        let words = Words::new(&mut make.rng, 3_000);
        Self { make, words }
    }

    pub fn text(&mut self) -> String {
        self.words.text(&mut self.make.rng, TEXT_BYTES)
    }

    pub fn drafts(&mut self, count: usize) -> Vec<BlockDraft> {
        (0..count).map(|_| BlockDraft::new(BlockData::text(self.text()))).collect()
    }
}

/// No threads: what they do would be counted by chance.
fn options(present: &Present) -> SpaceBuilder {
    let builder = Space::builder().clock(present.clone()).ids(present.clone());
    builder.durability(Durability::Relaxed).search_indexing(SearchIndexing::OnDemand)
}

impl Small {
    fn empty() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let present = Present(Arc::new(AtomicI64::new(1_800_000_000_000)));
        let connection = options(&present)
            .create(directory.path().join("space.leafbase"))
            .expect("a space")
            .connect();
        Self {
            connection,
            documents: Vec::new(),
            blocks: Vec::new(),
            make: Texts::new(),
            directory,
            present,
        }
    }

    /// So many documents of a hundred blocks.
    pub fn of(documents: usize) -> Self {
        let mut small = Self::empty();
        for at in 0..documents {
            let content = small.make.drafts(BLOCKS);
            small.document(&format!("document {at}"), content);
        }
        small.flush();
        small
    }

    /// With words that are in a third of the documents, or in two of them.
    pub fn searched() -> Self {
        let mut small = Self::empty();
        let [documents, blocks] = SEARCHED;
        for at in 0..documents {
            let mut texts: Vec<String> = (0..blocks).map(|_| small.make.text()).collect();
            if at % 3 == 0 {
                texts[at % blocks].push_str(" harvest");
            }
            if at % 75 == 40 {
                texts[at % blocks].push_str(" zephyr");
            }
            let content = texts.into_iter().map(|text| BlockDraft::new(BlockData::text(text)));
            small.document(&format!("document {at}"), content.collect());
        }
        small.flush();
        small.connection.space().flush_search().expect("an index");
        small
    }

    /// One document of many blocks.
    pub fn large() -> Self {
        let mut small = Self::empty();
        let content = small.make.drafts(LARGE);
        small.document("large", content);
        small.flush();
        small
    }

    /// The first document is one in which every tenth block has a link to what a scope of it does
    /// not see.
    pub fn linked() -> Self {
        let mut small = Self::of(2);
        let target = small.documents[1];
        for at in (0..BLOCKS).step_by(10) {
            let text = format!("{} [there](block://{})", small.make.text(), target.root());
            small.connection.update_markdown(small.blocks[0][at], &text).expect("an update");
        }
        small.flush();
        small
    }

    /// A collection of items with a text, a number and a state.
    pub fn with_items() -> (Self, BlockId) {
        let mut small = Self::of(1);
        let states = STATES.map(SelectOption::new).to_vec();
        let properties = [
            ("Notes", PropertyKind::Text),
            ("Effort", PropertyKind::Number),
            ("State", PropertyKind::SingleSelect(states)),
        ];
        let schema = SchemaDraft::new(
            "Tasks",
            properties.map(|(name, kind)| PropertyDraft::new(name, kind)),
        );
        let request = CreateCollection::new(schema, Position::end_of(small.documents[0]));
        let collection = small.connection.create_collection(request).expect("a collection").id;
        let draft = |at: usize| {
            let draft = ItemDraft::new(format!("task {at}")).with("notes", small.make.text());
            draft.with("effort", at * 37 % 101).with("state", STATES[at % STATES.len()])
        };
        let drafts: Vec<_> = (0..ITEMS).map(draft).collect();
        let added = small.connection.add_items(AddItems::new(collection, drafts)).expect("items");
        small.blocks.push(added.iter().map(|item| item.id).collect());
        small.flush();
        (small, collection)
    }

    /// With tasks in the inbox and in a document.
    pub fn with_tasks() -> Self {
        let mut small = Self::of(1);
        let draft = |at: usize| {
            let draft = TaskDraft::new(small.make.text()).scheduled(leafbase::DayRef::Today);
            if at.is_multiple_of(2) { draft } else { draft.at(small.documents[0]) }
        };
        let drafts: Vec<_> = (0..200).map(draft).collect();
        small.connection.add_tasks(AddTasks::new(drafts)).expect("tasks");
        small.flush();
        small
    }

    /// The same, opened anew, with writes that wait for the disk.
    pub fn durable(self) -> Self {
        let Self { connection, documents, blocks, make, directory, present } = self;
        connection.space().clone().close().expect("close");
        drop(connection);
        let builder = options(&present).durability(Durability::Durable);
        let connection =
            builder.open(directory.path().join("space.leafbase")).expect("a space").connect();
        Self { connection, documents, blocks, make, directory, present }
    }

    fn document(&mut self, title: &str, content: Vec<BlockDraft>) {
        let page = BlockDraft::new(BlockData::page(title));
        let made = self
            .connection
            .create_documents(CreateDocuments::new(vec![page], Destination::Unsorted));
        let document = made.expect("a document")[0].id();
        let request = InsertBlocks::blocks(content, Position::end_of(document));
        let inserted = self.connection.insert_blocks(request).expect("blocks");
        self.documents.push(document);
        self.blocks.push(inserted.iter().map(|block| block.id).collect());
    }

    fn flush(&self) {
        self.connection.space().flush().expect("flush");
    }
}
