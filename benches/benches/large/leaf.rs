//! Leafbase, through its public interface alone.

use crate::plan::{Document, Plan, id, made_at};
use crate::rows::Peer;
use benches::workload::Id;
use leafbase::{
    BlockData, BlockDraft, BlockId, ChangeToken, Clock, Connection, Content, CreateDocuments,
    Destination, DocumentId, DocumentOrder, Durability, Fetch, IdSource, InsertBlocks,
    ListDocuments, Position, SearchDocuments, SearchIndexing, Space, Timestamp,
};
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// Documents of a call, and blocks.
const BATCH: usize = 50;
const BLOCKS_OF_CALL: usize = 5_000;
const CACHE_BYTES: usize = 64 << 20;

pub struct Leafbase {
    space: Space,
    notes: Connection,
}

/// IDs in the order in which they are made. After the import the time moves on.
struct Given;

static BLOCKS: AtomicU64 = AtomicU64::new(0);
static TOKENS: AtomicU64 = AtomicU64::new(0);
static EDITS: AtomicI64 = AtomicI64::new(0);

impl IdSource for Given {
    fn new_id(&self, now: Timestamp) -> Id {
        let number = BLOCKS.fetch_add(1, Ordering::Relaxed) + 1;
        // Those that are made later stand behind those of the import.
        let mut made = id(number);
        made[..6].copy_from_slice(&now.as_millis().to_be_bytes()[2..]);
        made
    }

    fn new_token(&self, _: Timestamp) -> ChangeToken {
        ChangeToken::from_u64(TOKENS.fetch_add(1, Ordering::Relaxed))
    }
}

impl Clock for Given {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(made_at() + EDITS.load(Ordering::Relaxed))
    }
}

fn drafts(texts: &[String]) -> Vec<BlockDraft> {
    texts.iter().map(|text| BlockDraft::new(BlockData::text(text))).collect()
}

fn page(document: &Document) -> BlockDraft {
    BlockDraft::new(BlockData::page(&document.title)).with_content(drafts(&document.blocks))
}

impl Leafbase {
    pub fn open(directory: &Path) -> Self {
        let path = directory.join("space.leafbase");
        let is_new = !path.exists();
        let indexing = if is_new { SearchIndexing::Background } else { SearchIndexing::OnDemand };
        let builder = Space::builder()
            .ids(Given)
            .clock(Given)
            .cache_bytes(CACHE_BYTES)
            .durability(Durability::Relaxed)
            .search_indexing(indexing);
        let space = if is_new { builder.create(path) } else { builder.open(path) };
        let space = space.expect("a space");
        let notes = space.connect();
        Self { space, notes }
    }

    fn durable(&self) -> Connection {
        EDITS.fetch_add(1, Ordering::Relaxed);
        self.space.connect().with_durability(Durability::Durable)
    }
}

impl Peer for Leafbase {
    fn build(&mut self, plan: &Plan) {
        let large = plan.document(0);
        let first = self.notes.create_document(&large.title).expect("a document").id();
        assert_eq!(first.to_bytes(), plan.document_id(0));
        for texts in large.blocks.chunks(BLOCKS_OF_CALL) {
            let request = InsertBlocks::blocks(drafts(texts), Position::end_of(first));
            self.notes.insert_blocks(request).expect("blocks");
        }
        drop(large);
        let numbers: Vec<usize> = (1..plan.documents).collect();
        for batch in numbers.chunks(BATCH) {
            let pages = batch.iter().map(|number| page(&plan.document(*number)));
            let request = CreateDocuments::new(pages, Destination::Unsorted);
            self.notes.create_documents(request).expect("documents");
        }
        self.space.flush().expect("flush");
        self.space.flush_search().expect("an index");
    }

    fn fetch(&mut self, document: Id) -> usize {
        let request = Fetch::new(DocumentId::from_bytes(document)).with_metadata();
        match self.notes.fetch(request).expect("a document").content {
            Content::Blocks(blocks) => blocks.len(),
            Content::None | Content::Preview(_) => 0,
        }
    }

    fn block(&mut self, id: Id) -> String {
        let request = Fetch::new(BlockId::from_bytes(id)).depth(0).with_metadata();
        self.notes.fetch(request).expect("a block").data.inline
    }

    fn document_of(&mut self, block: Id) -> Id {
        self.notes.document_of(BlockId::from_bytes(block)).expect("a block").to_bytes()
    }

    fn latest(&mut self, count: usize) -> Vec<String> {
        let request = ListDocuments::new().order_by(DocumentOrder::Modified).descending();
        let listed = self.notes.list_documents(request.limit(count)).expect("documents");
        listed.iter().map(|document| document.title.clone()).collect()
    }

    fn search(&mut self, word: &str) -> usize {
        self.notes.search(SearchDocuments::words(word).all_words()).expect("a search").len()
    }

    fn pattern(&mut self, pattern: &str) -> usize {
        self.notes.search(SearchDocuments::pattern(pattern)).expect("a search").len()
    }

    fn update(&mut self, block: Id, text: &str) {
        self.durable().update_markdown(BlockId::from_bytes(block), text).expect("an update");
    }

    fn update_words(&mut self, block: Id, text: &str) {
        EDITS.fetch_add(1, Ordering::Relaxed);
        self.notes.update_markdown(BlockId::from_bytes(block), text).expect("an update");
    }

    fn insert(&mut self, after: Id, text: &str) {
        let position = Position::after(BlockId::from_bytes(after));
        let request = InsertBlocks::blocks(drafts(&[text.to_owned()]), position);
        self.durable().insert_blocks(request).expect("a block");
    }

    fn check(&mut self) {
        let report = self.space.check().expect("a check");
        assert!(report.is_clean(), "{report:?}");
    }

    fn backup(&mut self, to: &Path) {
        self.space.backup_to(to).expect("a backup");
    }

    fn compact(&mut self) {
        self.space.compact().expect("a compaction");
    }

    fn close(self: Box<Self>) {
        let Self { space, notes } = *self;
        drop(notes);
        space.close().expect("a space that closes");
    }
}
