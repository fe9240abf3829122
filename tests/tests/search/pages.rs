//! Pages of results: one order whatever the limit, each document once, also while others are
//! written.

use std::collections::BTreeSet;

use leafbase::{
    BlockData, BlockDraft, Connection, CreateDocuments, DeleteDocuments, Destination, DocumentId,
    EmbeddingDraft, Position, PutEmbeddings, QueryEmbedding, SearchDocuments, SearchMatch,
    SearchPage, Space, Unbatched,
};

use crate::{Shelf, wrong};

const WORDS: [&str; 6] = ["lamp", "lamps", "river", "snow", "kite", "東京都"];
/// Misspelt words of queries, which documents that are written later may have.
const MISSPELT: [&str; 2] = ["rivr", "sonw"];

/// Numbers that follow from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % count
    }

    fn text(&mut self) -> String {
        let words = 1 + self.below(5);
        let words: Vec<_> = (0..words).map(|_| WORDS[self.below(WORDS.len())]).collect();
        words.join(" ")
    }

    /// Of few directions, so that some are equal.
    fn vector(&mut self) -> Vec<f32> {
        let component = |count| f32::from(u8::try_from(count).unwrap()) - 2.0;
        vec![component(self.below(5)), component(self.below(5)), 1.0]
    }

    fn query(&mut self) -> String {
        let text = self.text();
        match self.below(3) {
            0 => format!("{text} {}", MISSPELT[self.below(MISSPELT.len())]),
            _ => text,
        }
    }
}

/// A space that is written to while it is searched.
struct Desk {
    notes: Connection,
    /// All documents, those in the trash included.
    documents: Vec<DocumentId>,
    written: BTreeSet<DocumentId>,
    dice: Dice,
}

impl Desk {
    fn new(seed: u64) -> Self {
        let notes = Space::in_memory().unwrap().connect();
        let mut desk =
            Self { notes, documents: Vec::new(), written: BTreeSet::new(), dice: Dice(seed) };
        for _ in 0..25 {
            desk.create();
        }
        if seed.is_multiple_of(2) {
            desk.notes.space().flush_search().unwrap();
        }
        desk.written.clear();
        desk
    }

    fn create(&mut self) {
        let document = self.notes.create_document(&self.dice.text()).unwrap().id();
        self.documents.push(document);
        self.insert(document);
    }

    fn insert(&mut self, document: DocumentId) {
        self.written.insert(document);
        let text = self.dice.text();
        // A document in the trash is not writable.
        let inserted = self.notes.insert_markdown(&text, Position::end_of(document));
        let mut ids = vec![document.root()];
        ids.extend(inserted.iter().flat_map(|inserted| inserted.iter().map(|block| block.id)));
        // Some have a vector of the document, some of a block, some of both, and some none.
        ids.retain(|_| self.dice.below(3) > 0);
        let drafts: Vec<_> =
            ids.into_iter().map(|id| EmbeddingDraft::new(id, self.dice.vector())).collect();
        self.notes.put_embeddings(PutEmbeddings::new("m", drafts)).unwrap();
    }

    /// Writes that change the statistics of every term.
    fn write(&mut self) {
        for _ in 0..self.dice.below(4) {
            let document = self.documents[self.dice.below(self.documents.len())];
            match self.dice.below(7) {
                0 | 1 => self.create(),
                2 | 3 => self.insert(document),
                4 => {
                    self.written.insert(document);
                    // It may be in the trash already.
                    let _ = self.notes.delete_documents(DeleteDocuments::new([document]));
                }
                5 => {
                    let document = self.notes.create_document("rivr sonw").unwrap().id();
                    self.written.insert(document);
                }
                _ => self.notes.space().flush_search().unwrap(),
            }
        }
    }

    fn request(&mut self) -> SearchDocuments {
        let (one, other) = (self.dice.query(), self.dice.query());
        let request = SearchDocuments::words(one).and(other);
        let request = match self.dice.below(6) {
            0 => request.all_words(),
            1 => request.any_word(),
            2 => SearchDocuments::pattern("lamp|kite"),
            3 => request.matching("s(now)?"),
            _ => request,
        };
        let embedding = QueryEmbedding::new("m", self.dice.vector());
        match self.dice.below(6) {
            0 | 1 => request.near(embedding),
            2 => SearchDocuments::default().near(embedding),
            _ => request,
        }
    }
}

/// How a caller goes on after a page.
type Continue = fn(&Connection, &SearchDocuments, &SearchPage) -> Option<SearchPage>;

/// By the cursor of the page.
fn by_cursor(
    notes: &Connection,
    request: &SearchDocuments,
    page: &SearchPage,
) -> Option<SearchPage> {
    let cursor = page.next_cursor.clone()?;
    Some(notes.search(request.clone().after(cursor)).unwrap())
}

/// By the rank of the last document, among the ranks of the moment.
fn by_rank(notes: &Connection, request: &SearchDocuments, page: &SearchPage) -> Option<SearchPage> {
    let last = page.items.last()?;
    let mut all = notes.search(request.clone().limit(1_000)).unwrap();
    let lacks = |found: &SearchMatch| !found.missing_terms.is_empty();
    all.items.retain(|found| {
        let order = lacks(last).cmp(&lacks(found)).then(found.score.total_cmp(&last.score));
        order.then_with(|| last.document_id.cmp(&found.document_id)).is_lt()
    });
    all.items.truncate(request.paging.limit.unwrap());
    Some(all).filter(|page| !page.is_empty())
}

/// Reads all pages while documents are written, and compares those that are not.
fn read_pages(seed: u64, next: Continue) -> Result<(), String> {
    let mut desk = Desk::new(seed);
    let request = desk.request();
    let all = desk.notes.search(request.clone().limit(1_000)).unwrap();
    assert_eq!((all.total, &all.next_cursor), (all.len(), &None));
    let request = request.limit(1 + desk.dice.below(6));
    let mut page = desk.notes.search(request.clone()).unwrap();
    let mut found: Vec<DocumentId> = Vec::new();
    loop {
        found.extend(page.iter().map(|found| found.document_id));
        // What is written may come on a later page, and more of it than a page has.
        if found.len() < 100 {
            desk.write();
        }
        match next(&desk.notes, &request, &page) {
            Some(more) => page = more,
            None => break,
        }
    }
    let is_kept = |document: &DocumentId| !desk.written.contains(document);
    let expected: Vec<_> = all.iter().map(|found| found.document_id).filter(is_kept).collect();
    let found: Vec<_> = found.into_iter().filter(is_kept).collect();
    if found == expected {
        Ok(())
    } else {
        Err(format!("seed {seed}, {request:?}: {found:?}, not {expected:?}"))
    }
}

#[test]
fn each_document_that_is_not_written_is_on_one_page() {
    for seed in 0..150 {
        read_pages(seed, by_cursor).unwrap();
    }
    // Ranks move with the statistics.
    assert!((0..150).any(|seed| read_pages(seed, by_rank).is_err()));
}

/// All pages of a search, each with the total of `all`.
fn pages<A: Unbatched>(
    notes: &Connection<A>,
    request: &SearchDocuments,
    limit: usize,
    all: &SearchPage,
) -> Vec<SearchMatch> {
    let (mut request, mut items) = (request.clone().limit(limit), Vec::new());
    loop {
        let page = notes.search(request.clone()).unwrap();
        assert_eq!((page.total, page.total_is_lower_bound), (all.len(), false));
        assert!(page.len() == limit || page.next_cursor.is_none(), "a page is full");
        items.extend(page.items);
        match page.next_cursor {
            Some(cursor) => request = request.after(cursor),
            None => return items,
        }
    }
}

#[test]
fn pages_are_parts_of_one_order_on_full_and_scoped_connections() {
    for seed in 0..40 {
        let mut desk = Desk::new(seed);
        let (request, limit) = (desk.request(), 1 + desk.dice.below(5));
        let half: Vec<_> = desk.documents.iter().copied().step_by(2).collect();
        let guest = desk.notes.space().scoped(half.clone());
        let all = desk.notes.search(request.clone().limit(1_000)).unwrap();
        assert_eq!(pages(&desk.notes, &request, limit, &all), all.items, "{request:?}");
        let of_scope = guest.search(request.clone().limit(1_000)).unwrap();
        assert!(of_scope.iter().all(|found| half.contains(&found.document_id)));
        assert_eq!(pages(&guest, &request, limit, &of_scope), of_scope.items, "{request:?}");
    }
}

#[test]
fn a_cursor_continues_its_own_search_in_its_own_history() {
    let directory = tempfile::tempdir().unwrap();
    let (path, copy) = (directory.path().join("space"), directory.path().join("copy"));
    let space = Space::builder().create(&path).unwrap();
    let notes = space.connect();
    let documents = notes.create_documents(CreateDocuments::titled(["a word"; 5])).unwrap();
    let request = SearchDocuments::words("word").limit(2);
    let page = notes.search(request.clone()).unwrap();
    let cursor = page.next_cursor.unwrap();
    let guest = space.scoped(documents.iter().map(|document| document.id()));
    let of_scope = guest.search(request.clone()).unwrap().next_cursor.unwrap();
    for (other, cursor) in [
        (SearchDocuments::words("words"), &cursor),
        (SearchDocuments::words("word").all_words(), &cursor),
        (SearchDocuments::words("word").matching("w"), &cursor),
        (SearchDocuments::words("word").tagged("x"), &cursor),
        (SearchDocuments::words("word").near(QueryEmbedding::new("m", [1.0])), &cursor),
        (SearchDocuments::words("word"), &of_scope),
        (SearchDocuments::words("word"), &"00".to_owned()),
        (SearchDocuments::words("word"), &"word".to_owned()),
    ] {
        let error = notes.search(other.clone().after(cursor)).unwrap_err();
        assert_eq!(wrong(&error), "VALIDATION cursor", "{other:?}");
    }
    assert_eq!(
        wrong(&guest.search(request.clone().after(&cursor)).unwrap_err()),
        "VALIDATION cursor"
    );
    // Another limit, and metadata, are pages of the same search.
    let rest = request.clone().limit(9).with_metadata().after(&cursor);
    assert_eq!(notes.search(rest.clone()).unwrap().len(), 3);

    // Another history: the copy lacks the write before the cursor, and has another in its place.
    space.flush_search().unwrap();
    space.clone().close().unwrap();
    crate::copy(&path, &copy);
    let later = Space::builder().open(&path).unwrap().connect();
    later.create_document("one more").unwrap();
    let cursor = later.search(request.clone()).unwrap().next_cursor.unwrap();
    let restored = Space::builder().open(&copy).unwrap().connect();
    let refused =
        |cursor: &str| wrong(&restored.search(request.clone().after(cursor)).unwrap_err());
    assert_eq!(refused(&cursor), "HISTORY_GONE cursor");
    restored.create_document("another").unwrap();
    assert_eq!(refused(&cursor), "HISTORY_GONE cursor");
}

#[test]
fn pages_have_a_thousand_documents_at_most() {
    let shelf = Shelf::new();
    shelf.notes.create_documents(CreateDocuments::titled(vec!["word"; 1_001])).unwrap();
    let request = SearchDocuments::words("word");
    assert_eq!(shelf.search(request.clone().limit(1_000)).len(), 1_000);
    assert_eq!(shelf.search(request.clone()).len(), 20);
    assert_eq!(shelf.found(request.clone().limit(1_001)), "LIMIT_EXCEEDED limit");
    assert_eq!(shelf.found(request.clone().limit(0)), "VALIDATION limit");
    for request in [request.clone(), request.matching("w"), SearchDocuments::pattern("wo")] {
        let first = shelf.notes.search(request.clone().limit(1_000)).unwrap();
        assert_eq!((first.total, first.total_is_lower_bound), (1_001, false));
        let last = shelf.notes.search(request.after(first.next_cursor.unwrap())).unwrap();
        assert_eq!((last.len(), last.total, last.next_cursor), (1, 1_001, None));
    }
}

/// A page of many documents is read on several threads, each with a part of it.
#[test]
fn a_page_is_the_same_on_any_number_of_threads() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("space");
    let mut dice = Dice(5);
    let drafts = (0..700).map(|_| {
        let content = [(); 3].map(|()| BlockDraft::new(BlockData::text(dice.text())));
        BlockDraft::new(BlockData::page(dice.text())).with_content(content.into())
    });
    let drafts = CreateDocuments::new(drafts, Destination::Unsorted);
    let space = Space::builder().create(&path).unwrap();
    let documents = space.connect().create_documents(drafts).unwrap();
    let half: Vec<_> = documents.iter().map(leafbase::Document::id).step_by(2).collect();
    space.close().unwrap();
    let pages = [1, 2, 3, 64].map(|threads| {
        let space = Space::builder().search_threads(threads).open(&path).unwrap();
        let (notes, guest) = (space.connect(), space.scoped(half.clone()));
        let pages = [300, 699, 1_000].map(|limit| {
            let request = SearchDocuments::words("lamp sonw").limit(limit).with_metadata();
            (notes.search(request.clone()).unwrap(), guest.search(request).unwrap())
        });
        space.close().unwrap();
        pages
    });
    let [alone, others @ ..] = &pages;
    let lengths = [alone[0].0.len(), alone[2].0.len(), alone[2].1.len()];
    assert!(lengths[0] == 300 && lengths[1] > 512 && lengths[2] > 256, "{lengths:?}");
    for other in others {
        assert_eq!(other, alone);
    }
}

#[test]
fn totals_count_ten_thousand_documents() {
    let shelf = Shelf::new();
    shelf.notes.create_documents(CreateDocuments::titled(vec!["word"; 10_000])).unwrap();
    let words = SearchDocuments::words("word").limit(1);
    let pattern = SearchDocuments::pattern("wor").limit(1);
    let totals = || {
        let requests = [words.clone(), words.clone().matching("wor"), pattern.clone()];
        requests.map(|request| {
            let page = shelf.notes.search(request).unwrap();
            (page.total, page.total_is_lower_bound)
        })
    };
    assert_eq!(totals(), [(10_000, false); 3]);
    shelf.notes.create_document("word").unwrap();
    assert_eq!(totals(), [(10_000, true); 3]);
}

#[test]
fn a_total_is_a_lower_bound_where_a_pattern_costs_too_much() {
    let cheap = "word word word";
    let costly = format!("word\n\n{}c", "a".repeat(200_000));
    let shelf = Shelf::of(&[("one", cheap), ("two", cheap), ("three", &costly)]);
    let request = SearchDocuments::words("word").matching("word");
    let request = request.matching("(?=a)(a?){40}[ab]{60}c").limit(1);
    let first = shelf.notes.search(request.clone()).unwrap();
    assert_eq!((first.len(), first.total, first.total_is_lower_bound), (1, 2, true));
    let second = shelf.notes.search(request.clone().after(first.next_cursor.unwrap())).unwrap();
    assert_eq!((second.len(), second.total, second.total_is_lower_bound), (1, 2, true));
    assert_ne!(second[0].document_id, first.items[0].document_id);
    let third = shelf.notes.search(request.after(second.next_cursor.unwrap()));
    assert_eq!(wrong(&third.unwrap_err()), "LIMIT_EXCEEDED regexps[1]");
}
