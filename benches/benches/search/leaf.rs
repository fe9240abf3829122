//! Leafbase, through its public interface alone.

use crate::peer::{Build, Peer};
use crate::plan::{Document, Number, Plan, Question};
use benches::measure::timed;
use benches::workload::Id;
use leafbase::{
    BlockData, BlockDraft, Connection, CreateDocuments, Destination, DocumentId, Durability, Fetch,
    IdSource, SearchBlocks, SearchDocuments, SearchIndexing, SearchMatch, SearchPage, Space,
    Timestamp,
};
use std::collections::HashMap;
use std::hint::black_box;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Documents that are made in one call.
const BATCH: usize = 50;

pub struct Leafbase {
    space: Space,
    connection: Connection,
    documents: Vec<DocumentId>,
    numbers: HashMap<DocumentId, Number>,
}

/// IDs in the order in which they are made: nobody pays for chance, and equal documents stand in
/// the order of their numbers.
struct InOrder;

impl IdSource for InOrder {
    fn new_id(&self, now: Timestamp) -> Id {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let mut id = [0; 16];
        id[..6].copy_from_slice(&now.as_millis().to_be_bytes()[2..]);
        id[8..].copy_from_slice(&number.to_be_bytes());
        id
    }
}

fn draft(document: &Document) -> BlockDraft {
    let content = document.blocks.iter().map(|text| BlockDraft::new(BlockData::text(text)));
    BlockDraft::new(BlockData::page(&document.title)).with_content(content.collect())
}

/// Fills a new space, which is safe at the end, as its index is that has all of it.
pub fn build(directory: &Path, plan: &Plan) -> Build<Leafbase> {
    let path = directory.join("space.leafbase");
    let of_batch =
        |batch: &[Document]| CreateDocuments::new(batch.iter().map(draft), Destination::Unsorted);
    let requests: Vec<_> = plan.documents.chunks(BATCH).map(of_batch).collect();
    let (whole, (space, documents, indexing)) = timed(|| {
        // As it is if nobody says otherwise: the index is made beside the documents.
        let space =
            options().search_indexing(SearchIndexing::Background).create(&path).expect("a space");
        let connection = space.connect();
        let mut documents = Vec::new();
        for request in requests {
            let made = connection.create_documents(request).expect("documents");
            documents.extend(made.iter().map(leafbase::Document::id));
        }
        space.flush().expect("flush");
        let (indexing, ()) = timed(|| space.flush_search().expect("an index"));
        (space, documents, indexing)
    });
    space.close().expect("a space that closes");
    let space = options().open(&path).expect("a space");
    let connection = space.connect();
    let numbers = documents.iter().enumerate().map(|(number, id)| (*id, number)).collect();
    let peer = Leafbase { space, connection, documents, numbers };
    Build { whole, indexing, peer }
}

fn options() -> leafbase::SpaceBuilder {
    Space::builder()
        .ids(InOrder)
        .durability(Durability::Relaxed)
        .search_indexing(SearchIndexing::OnDemand)
}

/// Opens the space and searches.
pub fn open_and_ask(directory: &Path, question: &Question) -> usize {
    let space = options().open(directory.join("space.leafbase")).expect("a space");
    space.connect().search(request(question)).expect("a search").len()
}

fn request(question: &Question) -> SearchDocuments {
    let request = match question {
        Question::Words(words) => SearchDocuments::words(words.join(" ")).all_words(),
        Question::Prefix(words) => SearchDocuments::words(*words).all_words(),
        Question::Sentence(words) | Question::Misspelt(words) | Question::Many(words) => {
            SearchDocuments::words(*words)
        }
        Question::Pattern(pattern) => SearchDocuments::pattern(*pattern),
    };
    request.limit(question.limit())
}

impl Leafbase {
    fn search(&self, question: &Question) -> SearchPage {
        self.connection.search(request(question)).expect("a search")
    }

    fn number(&self, found: &SearchMatch) -> Number {
        self.numbers[&found.document_id]
    }
}

impl Peer for Leafbase {
    fn ask(&mut self, question: &Question) -> usize {
        black_box(self.search(question)).len()
    }

    fn top(&mut self, question: &Question) -> Vec<Number> {
        self.search(question).iter().map(|found| self.number(found)).collect()
    }

    fn all(&mut self, question: &Question) -> Vec<Number> {
        let chunks = self.documents.chunks(20);
        let found = chunks.flat_map(|chunk| {
            let request = request(question).within_documents(chunk.iter().copied());
            self.connection.search(request).expect("a search").items
        });
        let mut found: Vec<Number> = found.map(|found| self.number(&found)).collect();
        found.sort_unstable();
        found
    }

    fn within(&mut self, pattern: &str) -> Vec<String> {
        let request = SearchBlocks::new(self.documents[0], pattern);
        let found = self.connection.search_blocks(request).expect("a search");
        assert!(found.next_cursor.is_none(), "all in one reply");
        found.items.into_iter().map(|block| block.markdown).collect()
    }

    fn edit(&mut self, document: Number, block: usize, text: &str) -> Duration {
        let page = self.connection.fetch(Fetch::new(self.documents[document])).expect("a document");
        let id = page.children()[block].id;
        timed(|| self.connection.update_markdown(id, text).expect("an update")).0
    }

    fn settle(&mut self) {
        self.space.flush().expect("flush");
        self.space.flush_search().expect("an index");
    }
}
