//! Random worlds that agree on what a scoped connection sees: whatever else there is and happens in
//! them, and whatever their indexes look like, every search gives the same bytes; and what a full
//! search of a space gives that has nothing else.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use leafbase::{
    AddComments, BlockId, BlockPatch, ChangeToken, CommentDraft, Connection, CreateDocuments,
    DeleteBlocks, DeleteDocuments, Destination, DocumentId, EmbeddingDraft, IdSource,
    MoveDocuments, Position, PutEmbeddings, QueryEmbedding, Scope, SearchBlocks, SearchDocuments,
    SearchIndexing, SearchWeights, Space, SpaceBuilder, TermMode, Timestamp, UpdateBlocks,
};
use leafbase_test_outline::FixedClock;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};

use crate::wrong;

const WORDS: [&str; 8] = ["lamp", "lamps", "lantern", "river", "Élan", "東京都", "kite", "kitten"];

/// IDs that do not tell how many were made of the hidden ones.
#[derive(Default)]
struct Lanes {
    is_hidden: AtomicBool,
    made: [AtomicU64; 2],
}

impl IdSource for Lanes {
    fn new_id(&self, _: Timestamp) -> [u8; 16] {
        let lane = usize::from(self.is_hidden.load(Ordering::Relaxed));
        id(lane, self.made[lane].fetch_add(1, Ordering::Relaxed))
    }

    fn new_token(&self, _: Timestamp) -> ChangeToken {
        ChangeToken::from_u64(0)
    }
}

fn id(lane: usize, number: u64) -> [u8; 16] {
    (u128::from(number) << 16 | (lane as u128 + 1)).to_be_bytes()
}

/// A link to a hidden block, which some worlds have.
fn hidden_link(number: u64) -> String {
    format!("[kite](block://{})", BlockId::from_bytes(id(1, number)))
}

/// What is done to a document, by its number.
#[derive(Clone, Debug)]
enum Change {
    Create(Vec<usize>),
    Insert(usize, Vec<usize>),
    Update(usize, usize, Vec<usize>),
    Delete(usize, usize),
    Comment(usize, usize, Vec<usize>),
    Trash(usize),
    Restore(usize),
    /// The vector of a document, or of one of its blocks.
    Embed(usize, usize, usize),
    /// Many at once, all of which have a word.
    Crowd(usize),
}

#[derive(Clone, Debug)]
enum Step {
    /// In all worlds, of what is seen.
    Seen(Change),
    /// In one world, of what is hidden.
    Hidden(usize, Change),
    /// Into a block of what is seen.
    Link(usize, u64),
    /// In all worlds, to a document that is seen.
    Mention(usize, usize),
    /// In one world, in a hidden document.
    HiddenMention(usize, usize, usize),
    Leave(usize),
    Join(usize),
    Flush(usize),
    Rebuild(usize),
    Reopen(usize),
    Ask(Asked),
}

#[derive(Clone, Debug)]
enum Asked {
    Words(Vec<usize>, TermMode),
    Weighed(Vec<usize>, usize),
    ByBlock(Vec<usize>, Option<usize>),
    Phrase(usize, usize),
    Beginning(usize, usize),
    Pattern(usize),
    Both(usize, usize),
    Within(usize, usize, bool),
    Blocks(usize, usize),
    /// A vector, with words or alone.
    Near(usize, Vec<usize>),
}

/// The vectors of a model of two components; of equal directions, too.
const VECTORS: [[f32; 2]; 7] =
    [[1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [1.0, 3.0], [0.0, -1.0], [-2.0, 1.0], [1.0, 1.0]];

const PATTERNS: [&str; 5] = ["lamps?", "out_of_scope#\\d", "kit(e|ten)", "^\\w+$", "(?i)ÉLAN|東"];

fn change() -> impl Strategy<Value = Change> {
    let words = || prop::collection::vec(0..WORDS.len(), 1..5);
    let any = || 0..6_usize;
    prop_oneof![
        4 => words().prop_map(Change::Create),
        4 => (any(), words()).prop_map(|(document, words)| Change::Insert(document, words)),
        2 => (any(), any(), words()).prop_map(|(document, block, words)| Change::Update(document, block, words)),
        1 => (any(), any()).prop_map(|(document, block)| Change::Delete(document, block)),
        1 => (any(), any(), words()).prop_map(|(document, block, words)| Change::Comment(document, block, words)),
        1 => any().prop_map(Change::Trash),
        1 => any().prop_map(Change::Restore),
        4 => (any(), any(), 0..VECTORS.len()).prop_map(|(document, block, vector)| Change::Embed(document, block, vector)),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (any, word) = (|| 0..6_usize, || 0..WORDS.len());
    let hidden = prop_oneof![8 => change(), 1 => word().prop_map(Change::Crowd)];
    let asked = prop_oneof![
        3 => (prop::collection::vec(word(), 1..4), prop::sample::select(TermMode::ALL)).prop_map(|(words, mode)| Asked::Words(words, mode)),
        2 => (prop::collection::vec(word(), 1..4), 0..WEIGHTS).prop_map(|(words, weights)| Asked::Weighed(words, weights)),
        2 => (prop::collection::vec(word(), 0..4), prop::option::of(0..PATTERNS.len())).prop_map(|(words, pattern)| Asked::ByBlock(words, pattern)),
        1 => (word(), word()).prop_map(|(one, other)| Asked::Phrase(one, other)),
        2 => (word(), 1..4_usize).prop_map(|(word, letters)| Asked::Beginning(word, letters)),
        2 => (0..PATTERNS.len()).prop_map(Asked::Pattern),
        1 => (word(), 0..PATTERNS.len()).prop_map(|(word, pattern)| Asked::Both(word, pattern)),
        1 => (word(), any(), prop::bool::ANY).prop_map(|(word, document, without)| Asked::Within(word, document, without)),
        1 => (any(), 0..PATTERNS.len()).prop_map(|(document, pattern)| Asked::Blocks(document, pattern)),
        3 => (0..VECTORS.len(), prop::collection::vec(word(), 0..3)).prop_map(|(vector, words)| Asked::Near(vector, words)),
    ];
    let step = prop_oneof![
        6 => change().prop_map(Step::Seen),
        6 => (0..2_usize, hidden).prop_map(|(world, change)| Step::Hidden(world, change)),
        1 => (any(), 0..3_u64).prop_map(|(document, number)| Step::Link(document, number)),
        2 => (any(), any()).prop_map(|(from, to)| Step::Mention(from, to)),
        2 => (0..2_usize, any(), any()).prop_map(|(world, from, to)| Step::HiddenMention(world, from, to)),
        1 => any().prop_map(Step::Leave),
        1 => any().prop_map(Step::Join),
        2 => (0..3_usize).prop_map(Step::Flush),
        1 => (0..3_usize).prop_map(Step::Rebuild),
        1 => (0..3_usize).prop_map(Step::Reopen),
        8 => asked.prop_map(Step::Ask),
    ];
    prop::collection::vec(step, 6..26)
}

const WEIGHTS: usize = 4;

/// Weights of what differs from document to document; times are all the same.
fn weights(number: usize) -> SearchWeights {
    let weights = SearchWeights::default();
    match number {
        0 => weights.links(1.0),
        1 => weights.links(100.0).title(0.0),
        2 => weights.recency(2.0, 1.0).headings(3.0),
        _ => weights.headings(1.0).body(0.5).links(5.0).recency(1.0, 0.5),
    }
}

fn text(words: &[usize]) -> String {
    words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ")
}

struct Document {
    id: DocumentId,
    is_trashed: bool,
    blocks: Vec<BlockId>,
}

/// A space with a scope, and the documents of each lane.
struct World {
    directory: Option<tempfile::TempDir>,
    ids: Arc<Lanes>,
    notes: Connection,
    scope: Scope,
    /// Whether searches are those of the whole space, filtered afterwards.
    leaks: bool,
    documents: [Vec<Document>; 2],
}

impl World {
    fn new(on_disk: bool, leaks: bool) -> Self {
        let (ids, directory) =
            (Arc::<Lanes>::default(), on_disk.then(|| tempfile::tempdir().unwrap()));
        let space = match &directory {
            Some(directory) => Self::builder(&ids).create(directory.path().join("space")),
            None => Self::builder(&ids).in_memory(),
        };
        let space = space.unwrap();
        let scope = space.scope([]);
        Self { directory, ids, notes: space.connect(), scope, leaks, documents: Default::default() }
    }

    fn builder(ids: &Arc<Lanes>) -> SpaceBuilder {
        let indexing = SearchIndexing::OnDemand;
        Space::builder()
            .search_indexing(indexing)
            .ids(Arc::clone(ids))
            .clock(FixedClock::at(1_773_144_000_000))
    }

    fn reopen(&mut self) {
        let Some(path) =
            self.directory.as_ref().map(|directory| -> PathBuf { directory.path().join("space") })
        else {
            return;
        };
        self.notes.space().clone().close().unwrap();
        let space = Self::builder(&self.ids).open(path).unwrap();
        (self.scope, self.notes) = (space.scope(self.scope.documents()), space.connect());
    }

    /// The document of this number, unless it is in the trash.
    fn document(&mut self, lane: usize, number: usize) -> Option<&mut Document> {
        let documents = &mut self.documents[lane];
        let count = documents.len();
        documents.get_mut(number % count.max(1)).filter(|document| !document.is_trashed)
    }

    fn change(&mut self, lane: usize, change: &Change) {
        self.ids.is_hidden.store(lane == 1, Ordering::Relaxed);
        let notes = self.notes.clone();
        match change {
            Change::Create(words) => self.create(lane, [text(words)]),
            Change::Crowd(word) => self.create(lane, vec![WORDS[*word].to_owned(); 25]),
            Change::Insert(number, words) => {
                let Some(document) = self.document(lane, *number) else { return };
                document.blocks.push(
                    notes.insert_markdown(&text(words), Position::end_of(document.id)).unwrap()[0]
                        .id,
                );
            }
            Change::Trash(number) => {
                let Some(document) = self.document(lane, *number) else { return };
                notes.delete_documents(DeleteDocuments::new([document.id])).unwrap();
                document.is_trashed = true;
            }
            Change::Restore(number) => {
                let count = self.documents[lane].len();
                let Some(document) = self.documents[lane].get_mut(number % count.max(1)) else {
                    return;
                };
                notes
                    .move_documents(MoveDocuments::new([document.id], Destination::Unsorted))
                    .unwrap();
                document.is_trashed = false;
            }
            Change::Embed(number, block, vector) => {
                let Some(document) = self.document(lane, *number) else { return };
                // The document itself after its blocks.
                let count = document.blocks.len() + 1;
                let id = document.blocks.get(block % count).copied();
                let id = id.unwrap_or_else(|| document.id.root());
                let draft = EmbeddingDraft::new(id, VECTORS[*vector]);
                notes.put_embeddings(PutEmbeddings::new("m", [draft])).unwrap();
            }
            Change::Update(number, block, _)
            | Change::Delete(number, block)
            | Change::Comment(number, block, _) => {
                let Some(document) = self.document(lane, *number) else { return };
                let count = document.blocks.len();
                let Some(id) = document.blocks.get(block % count.max(1)).copied() else { return };
                match change {
                    Change::Update(_, _, words) => {
                        let patch = BlockPatch::markdown(id, text(words));
                        notes.update_blocks(UpdateBlocks::new([patch])).unwrap();
                    }
                    Change::Comment(_, _, words) => {
                        notes
                            .add_comments(AddComments::new([CommentDraft::new(id, text(words))]))
                            .unwrap();
                    }
                    _ => {
                        notes.delete_blocks(DeleteBlocks::from(id)).unwrap();
                        document.blocks.retain(|block| *block != id);
                    }
                }
            }
        }
    }

    fn create(&mut self, lane: usize, titles: impl IntoIterator<Item = String>) {
        for made in self.notes.create_documents(CreateDocuments::titled(titles)).unwrap().iter() {
            self.documents[lane].push(Document {
                id: made.id(),
                is_trashed: false,
                blocks: Vec::new(),
            });
            self.scope.add((lane == 0).then_some(made.id()));
        }
    }

    fn link(&mut self, number: usize, target: u64) {
        self.ids.is_hidden.store(false, Ordering::Relaxed);
        let notes = self.notes.clone();
        if let Some(document) = self.document(0, number) {
            let text = format!("see {} there", hidden_link(target));
            document
                .blocks
                .push(notes.insert_markdown(&text, Position::end_of(document.id)).unwrap()[0].id);
        }
    }

    /// A link to a document that is seen, in another one.
    fn mention(&mut self, lane: usize, from: usize, to: usize) {
        self.ids.is_hidden.store(lane == 1, Ordering::Relaxed);
        let (notes, target) = (self.notes.clone(), self.seen(to));
        if let Some(document) = self.document(lane, from) {
            let text = format!("# of [lamps](block://{target})");
            document
                .blocks
                .push(notes.insert_markdown(&text, Position::end_of(document.id)).unwrap()[0].id);
        }
    }

    fn seen(&self, number: usize) -> DocumentId {
        let documents = &self.documents[0];
        documents
            .get(number % documents.len().max(1))
            .map_or(DocumentId::of_root(BlockId::NIL), |document| document.id)
    }

    /// Whether nothing is there that is not seen.
    fn is_all_seen(&self) -> bool {
        let scope = self.scope.documents();
        let is_seen = |document: &Document| !document.is_trashed && scope.contains(&document.id);
        self.documents[1].is_empty() && self.documents[0].iter().all(is_seen)
    }

    fn request(&self, asked: &Asked) -> Option<SearchDocuments> {
        Some(match asked {
            Asked::Words(words, mode) => {
                let mut request = SearchDocuments::words(text(words));
                request.term_mode = *mode;
                request
            }
            Asked::Weighed(words, number) => {
                SearchDocuments::words(text(words)).weighted(weights(*number))
            }
            Asked::ByBlock(words, pattern) => {
                let mut request = SearchDocuments::default().by_block().limit(3);
                request.include.extend((!words.is_empty()).then(|| text(words)));
                request.regexps.extend(pattern.map(|pattern| PATTERNS[pattern].to_owned()));
                request
            }
            Asked::Phrase(one, other) => {
                SearchDocuments::words(format!("\"{}\"", text(&[*one, *other])))
            }
            Asked::Beginning(word, letters) => {
                SearchDocuments::words(WORDS[*word].chars().take(*letters).collect::<String>())
            }
            Asked::Pattern(pattern) => SearchDocuments::pattern(PATTERNS[*pattern]),
            Asked::Both(word, pattern) => {
                SearchDocuments::words(WORDS[*word]).matching(PATTERNS[*pattern])
            }
            Asked::Within(word, document, without) => {
                let (request, documents) =
                    (SearchDocuments::words(WORDS[*word]), [self.seen(*document)]);
                if *without {
                    request.without_documents(documents)
                } else {
                    request.within_documents(documents)
                }
            }
            Asked::Blocks(..) => return None,
            Asked::Near(vector, words) => {
                let request = match words.as_slice() {
                    [] => SearchDocuments::default(),
                    words => SearchDocuments::words(text(words)),
                };
                request.near(QueryEmbedding::new("m", VECTORS[*vector]))
            }
        })
    }

    /// The reply that a scoped connection gets, as bytes.
    fn ask(&self, asked: &Asked) -> String {
        let guest = self.scope.connect();
        let reply = match (self.request(asked), asked) {
            (Some(request), _) if self.leaks => {
                let visible = self.scope.documents();
                self.notes.search(request.with_metadata()).map(|mut found| {
                    found.items.retain(|found| visible.contains(&found.document_id));
                    serde_json::to_string(&found).unwrap()
                })
            }
            (Some(request), _) => guest
                .search(request.with_metadata())
                .map(|found| serde_json::to_string(&found).unwrap()),
            (None, Asked::Blocks(document, pattern)) => {
                let request = SearchBlocks::new(self.seen(*document), PATTERNS[*pattern]);
                guest.search_blocks(request).map(|found| serde_json::to_string(&found).unwrap())
            }
            _ => return String::new(),
        };
        reply.unwrap_or_else(|error| wrong(&error))
    }

    /// Which documents, in which order, and what they are worth.
    fn ranked(&self, asked: &Asked, is_full: bool) -> Vec<(DocumentId, u64)> {
        let Some(request) = self.request(asked) else { return Vec::new() };
        let found =
            if is_full { self.notes.search(request) } else { self.scope.connect().search(request) };
        let found = found.map(|found| found.items).unwrap_or_default();
        found.iter().map(|found| (found.document_id, found.score.to_bits())).collect()
    }
}

/// Two worlds in which other things happen, and one in which nothing else is.
fn check(steps: &[Step], on_disk: bool, leaks: bool) -> Result<(), String> {
    let mut worlds = [(); 3].map(|()| World::new(on_disk, leaks));
    for step in steps {
        match step {
            Step::Seen(change) => worlds.iter_mut().for_each(|world| world.change(0, change)),
            Step::Hidden(world, change) => worlds[*world].change(1, change),
            Step::Link(document, target) => {
                worlds.iter_mut().for_each(|world| world.link(*document, *target))
            }
            Step::Mention(from, to) => {
                worlds.iter_mut().for_each(|world| world.mention(0, *from, *to))
            }
            Step::HiddenMention(world, from, to) => worlds[*world].mention(1, *from, *to),
            Step::Leave(document) => {
                worlds.iter().for_each(|world| world.scope.remove([world.seen(*document)]))
            }
            Step::Join(document) => {
                worlds.iter().for_each(|world| world.scope.add([world.seen(*document)]))
            }
            Step::Flush(world) => worlds[*world].notes.space().flush_search().unwrap(),
            Step::Rebuild(world) => worlds[*world].notes.space().rebuild_search().unwrap(),
            Step::Reopen(world) => worlds[*world].reopen(),
            Step::Ask(asked) => compare(&worlds, asked)?,
        }
    }
    let all = |worlds: &[World; 3]| {
        let words = (0..WORDS.len()).map(|word| Asked::Words(vec![word], TermMode::Most));
        words
            .chain((0..PATTERNS.len()).map(Asked::Pattern))
            .chain((0..WEIGHTS).map(|weights| Asked::Weighed(vec![0, 3], weights)))
            .chain((0..VECTORS.len()).map(|vector| Asked::Near(vector, Vec::new())))
            .chain((0..WORDS.len()).map(|word| Asked::Near(0, vec![word])))
            .try_for_each(|asked| compare(worlds, &asked))
    };
    all(&worlds)?;
    worlds[0].notes.space().flush_search().unwrap();
    all(&worlds)
}

fn compare(worlds: &[World; 3], asked: &Asked) -> Result<(), String> {
    let [one, other, alone] = worlds;
    let expected = alone.ask(asked);
    for (world, which) in [(one, "first"), (other, "second")] {
        let found = world.ask(asked);
        if found != expected {
            return Err(format!("{asked:?} of the {which} world: {found}\nalone: {expected}"));
        }
    }
    // A link to what is hidden reads otherwise for those who see all.
    let is_of_words =
        !matches!(asked, Asked::Pattern(_) | Asked::Both(..) | Asked::ByBlock(_, Some(_)));
    if is_of_words && alone.is_all_seen() {
        let (found, full) = (one.ranked(asked, false), alone.ranked(asked, true));
        if !one.leaks && found != full {
            return Err(format!("{asked:?}: {found:?}\nin a space of nothing else: {full:?}"));
        }
    }
    Ok(())
}

fn check_all(cases: u32, on_disk: bool) {
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let outcome =
        runner.run(&steps(), |steps| check(&steps, on_disk, false).map_err(TestCaseError::fail));
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn what_is_hidden_changes_no_byte() {
    check_all(150, false);
}

#[test]
fn what_is_hidden_changes_no_byte_on_disk() {
    check_all(25, true);
}

/// The control: searches of the whole space that are filtered afterwards are noticed.
#[test]
fn leaks_change_bytes() {
    let mut runner = TestRunner::deterministic();
    let leaks = |_| check(&steps().new_tree(&mut runner).unwrap().current(), false, true).is_err();
    assert!((0..100).any(leaks));
}
