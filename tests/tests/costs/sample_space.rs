//! A space that is the same each time: its texts, IDs and times come from here alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use leafbase::{
    AddComments, AddItems, AddTasks, BlockData, BlockDraft, BlockId, Clock, CommentDraft,
    Connection, CreateCollection, CreateDocuments, Day, DayRef, Destination, DocumentId,
    Durability, FolderId, IdSource, InsertBlocks, ItemDraft, Position, PropertyDraft, PropertyKind,
    SchemaDraft, SearchIndexing, SelectOption, Space, TaskDraft, Timestamp,
};
use tempfile::TempDir;

use crate::counted_store::{CountedStore, Counter};

/// Blocks of a document that an operation is measured on.
pub(crate) const SUBJECT_BLOCKS: usize = 100;
/// Blocks of the largest documents.
pub(crate) const LARGE_BLOCKS: usize = 10_000;
/// Blocks of the other documents.
const BLOCKS: usize = 10;
/// Documents that operations are measured on, in spaces of every size.
const SUBJECTS: usize = 200;
const LARGE: usize = 6;
/// The hub, the one that is named, the template, and those of the due tasks and the collection.
const OTHERS: usize = 5;
const DUE_TASKS: usize = 100;
const FOLDERS: usize = 10;
const ITEMS: usize = 400;
const STATES: [&str; 4] = ["open", "started", "waiting", "done"];
/// 15 January 2027, 8:00 UTC.
const START_MILLIS: i64 = 1_800_000_000_000;
const DAY_MILLIS: i64 = 86_400_000;

/// A time that moves on with each look, and IDs in its order.
#[derive(Clone)]
struct Ticks(Arc<AtomicI64>);

impl Clock for Ticks {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

impl IdSource for Ticks {
    fn new_id(&self, now: Timestamp) -> [u8; 16] {
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        let mut id = [0; 16];
        id[..6].copy_from_slice(&now.as_millis().to_be_bytes()[2..]);
        id[8..].copy_from_slice(&number.to_be_bytes());
        id
    }
}

/// A document and its blocks.
#[derive(Clone)]
pub(crate) struct Sample {
    pub(crate) id: DocumentId,
    pub(crate) blocks: Vec<BlockId>,
}

pub(crate) struct SampleSpace {
    pub(crate) notes: Connection,
    pub(crate) counter: Counter,
    /// Documents of [`SUBJECT_BLOCKS`] blocks that no operation has read.
    subjects: std::vec::IntoIter<Sample>,
    /// Documents of [`LARGE_BLOCKS`] blocks that no operation has read.
    large: std::vec::IntoIter<Sample>,
    /// Every tenth document links to it.
    pub(crate) hub: DocumentId,
    /// Four documents have its title in a text.
    pub(crate) named: DocumentId,
    pub(crate) template: DocumentId,
    pub(crate) folders: Vec<FolderId>,
    pub(crate) collection: BlockId,
    items: std::vec::IntoIter<BlockId>,
    /// Days without a note.
    days: std::ops::Range<i64>,
    texts: Texts,
    _folder: TempDir,
}

/// Texts of words with a vowel after each consonant.
struct Texts(u64);

impl Texts {
    fn random(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }

    fn word(&mut self) -> String {
        let (consonants, vowels) = (b"bcdfghjklmnprstv", b"aeiou");
        let mut number = self.random(2_000) as usize;
        let mut word = String::new();
        for _ in 0..3 {
            word.push(char::from(consonants[number % consonants.len()]));
            word.push(char::from(vowels[number % vowels.len()]));
            number /= 7;
        }
        word
    }

    fn text(&mut self) -> String {
        let words: Vec<_> = (0..12).map(|_| self.word()).collect();
        words.join(" ")
    }
}

fn page(title: &str, texts: impl IntoIterator<Item = String>) -> BlockDraft {
    let content = texts.into_iter().map(|text| BlockDraft::new(BlockData::text(text)));
    BlockDraft::new(BlockData::page(title)).with_content(content.collect())
}

impl SampleSpace {
    /// A space of this number of documents.
    pub(crate) fn of(documents: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let counter = Counter::default();
        let present = Arc::new(AtomicI64::new(START_MILLIS));
        let ticks = Ticks(Arc::clone(&present));
        let store = CountedStore::create(folder.path(), &counter).unwrap();
        let space = Space::builder().clock(ticks.clone()).ids(ticks);
        // Without threads, whose work would be counted by chance.
        let space = space.search_indexing(SearchIndexing::OnDemand).search_threads(1);
        let space = space.over(Arc::new(store), true).unwrap();
        let relaxed = space.connect().with_durability(Durability::Relaxed);
        let mut texts = Texts(7);
        let folders = (0..FOLDERS).map(|at| relaxed.create_folder(&format!("Folder {at}"), None));
        let folders: Vec<FolderId> = folders.map(|folder| folder.unwrap().id).collect();
        let hub = relaxed.create_document("Hub").unwrap().id();
        let named = relaxed.create_document("Lighthouse keeper").unwrap().id();
        let mut samples = |count: usize, title: &str, blocks: usize| -> Vec<Sample> {
            let title = |at| format!("{title} {at}");
            (0..count).map(|at| sample(&relaxed, &mut texts, &title(at), blocks)).collect()
        };
        let large = samples(LARGE, "Large", LARGE_BLOCKS);
        let subjects = samples(SUBJECTS, "Subject", SUBJECT_BLOCKS);
        let template = sample(&relaxed, &mut texts, "Template", BLOCKS).id;
        let move_there = leafbase::MoveDocuments::new([template], Destination::Templates);
        relaxed.move_documents(move_there).unwrap();
        due_tasks(&relaxed, &mut texts);
        for at in 0..documents - SUBJECTS - LARGE - OTHERS {
            let blocks = (0..BLOCKS).map(|block| match (at % 10, block) {
                (0, 1) => format!("{} [the hub](block://{})", texts.text(), hub.root()),
                (0, 2) => format!("{} #garden", texts.text()),
                (1, 3) => format!("{} harvest", texts.text()),
                // In as many documents, however large the space is.
                (2, 4) if at < 40 => format!("{} zephyr, lighthouse keeper", texts.text()),
                _ => texts.text(),
            });
            let pages = vec![page(&format!("Note {at}"), blocks)];
            relaxed.create_documents(CreateDocuments::new(pages, folders[at % FOLDERS])).unwrap();
        }
        let (collection, items) = collection(&relaxed, &mut texts);
        space.flush().unwrap();
        // Stored as differences: the times of the operations are equal in spaces of each size.
        present.store(START_MILLIS + DAY_MILLIS, Ordering::Relaxed);
        Self {
            notes: space.connect(),
            counter,
            subjects: subjects.into_iter(),
            large: large.into_iter(),
            hub,
            named,
            template,
            folders,
            collection,
            items: items.into_iter(),
            days: 21_000..22_000,
            // The same requests however much was made before.
            texts: Texts(11),
            _folder: folder,
        }
    }

    /// A document that no operation has read.
    pub(crate) fn subject(&mut self) -> Sample {
        self.subjects.next().expect("more subjects are needed")
    }

    /// A large document that no operation has read.
    pub(crate) fn large(&mut self) -> Sample {
        self.large.next().expect("more large documents are needed")
    }

    /// An item of the collection that no operation has changed.
    pub(crate) fn item(&mut self) -> BlockId {
        self.items.next().expect("more items are needed")
    }

    /// A day without a note.
    pub(crate) fn day(&mut self) -> Day {
        Day::from_epoch_days(self.days.next().expect("more days are needed"))
    }

    pub(crate) fn text(&mut self) -> String {
        self.texts.text()
    }

    pub(crate) fn drafts(&mut self, count: usize) -> Vec<BlockDraft> {
        (0..count).map(|_| BlockDraft::new(BlockData::text(self.text()))).collect()
    }

    /// Lines of markdown: headings, lists, tasks and texts with marks.
    pub(crate) fn markdown(&mut self, lines: usize) -> String {
        let line = |at: usize| match at % 5 {
            0 => format!("## {}", self.texts.text()),
            1 => format!("- [ ] {}", self.texts.text()),
            2 => format!("- {} **{}**", self.texts.text(), self.texts.word()),
            3 => format!("> {}", self.texts.text()),
            _ => self.texts.text(),
        };
        (0..lines).map(line).collect::<Vec<_>>().join("\n\n")
    }

    /// Brings the store and the index of searches up to date.
    pub(crate) fn settle(&self) {
        self.notes.space().flush().unwrap();
        self.notes.space().flush_search().unwrap();
    }
}

fn sample(notes: &Connection, texts: &mut Texts, title: &str, blocks: usize) -> Sample {
    let id = notes.create_document(title).unwrap().id();
    let drafts = (0..blocks).map(|_| BlockDraft::new(BlockData::text(texts.text()))).collect();
    let inserted = notes.insert_blocks(InsertBlocks::blocks(drafts, Position::end_of(id)));
    let blocks: Vec<BlockId> = inserted.unwrap().iter().map(|block| block.id).collect();
    let comments = blocks.iter().take(2).map(|block| CommentDraft::new(*block, texts.text()));
    notes.add_comments(AddComments::new(comments)).unwrap();
    Sample { id, blocks }
}

/// Tasks of a document that are due today.
fn due_tasks(notes: &Connection, texts: &mut Texts) {
    let document = notes.create_document("Tasks").unwrap().id();
    let draft = |_| TaskDraft::new(texts.text()).at(document).scheduled(DayRef::Today);
    let drafts: Vec<_> = (0..DUE_TASKS).map(draft).collect();
    notes.add_tasks(AddTasks::new(drafts)).unwrap();
}

/// A collection with a text, a number and a state, and its items.
fn collection(notes: &Connection, texts: &mut Texts) -> (BlockId, Vec<BlockId>) {
    let document = notes.create_document("Collection").unwrap().id();
    let states = STATES.map(SelectOption::new).to_vec();
    let properties = [
        ("Notes", PropertyKind::Text),
        ("Effort", PropertyKind::Number),
        ("State", PropertyKind::SingleSelect(states)),
    ];
    let properties = properties.map(|(name, kind)| PropertyDraft::new(name, kind));
    let schema = SchemaDraft::new("Tasks", properties);
    let request = CreateCollection::new(schema, Position::end_of(document));
    let collection = notes.create_collection(request).unwrap().id;
    let draft = |at: usize| {
        let draft = ItemDraft::new(format!("Item {at}")).with("notes", texts.text());
        draft.with("effort", at * 37 % 101).with("state", STATES[at % STATES.len()])
    };
    let drafts: Vec<_> = (0..ITEMS).map(draft).collect();
    let added = notes.add_items(AddItems::new(collection, drafts)).unwrap();
    (collection, added.iter().map(|item| item.id).collect())
}
