//! Searches by vectors beside a loop over the same bytes that only finds the nearest one: vectors
//! alone, fused with words, and after writes.

use crate::plan::{self, Plan};
use benches::comparison::Comparison;
use benches::measure::timed;
use benches::ratio::typical;
use leafbase::{
    BlockData, BlockDraft, BlockId, Connection, CreateDocuments, Destination, Durability,
    EmbeddingDraft, MissingEmbeddings, PutEmbeddings, QueryEmbedding, SearchDocuments,
    SearchIndexing, Space,
};
use std::hint::black_box;
use std::path::Path;

const DIMENSIONS: usize = 384;
/// A sample is the median of so many calls.
const CALLS: usize = 21;
const LEAFBASE: usize = 0;
const LOOP: usize = 1;
const MODEL: &str = "model";

/// The most that Leafbase may take, as a share of the loop's time.
fn bar(row: &str) -> Option<f64> {
    (!row.ends_with("not kept in memory")).then_some(1.3)
}

struct Vectors {
    notes: Connection,
    /// The same space, whose searches keep nothing in memory.
    unkept: Connection,
    blocks: Vec<BlockId>,
    /// The bytes that are stored, in one piece.
    bytes: Vec<i8>,
    norms: Vec<f64>,
    numbers: Numbers,
}

/// Components of vectors: the same ones on every machine.
struct Numbers(u64);

impl Numbers {
    /// From -127 to 127, so that the first component, which is 127, is the largest.
    fn component(&mut self) -> i8 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        i8::try_from(i64::try_from(self.0 >> 40).expect("24 bits") % 255 - 127).expect("a byte")
    }

    fn vector(&mut self) -> Vec<i8> {
        let mut vector = vec![127];
        vector.resize_with(DIMENSIONS, || self.component());
        vector
    }
}

fn floats(vector: &[i8]) -> Vec<f32> {
    vector.iter().copied().map(f32::from).collect()
}

/// Measures the rows of vectors, each of `documents` times 40 blocks.
pub fn measure(root: &Path, documents: usize, rounds: usize) -> Comparison {
    let mut vectors = Vectors::new(root, documents);
    let mut report = Comparison::new(["Leafbase", "a loop"], LEAFBASE, bar);
    vectors.agree();
    for round in 0..rounds {
        vectors.round(&mut report);
        eprintln!("vectors: round {} of {rounds}", round + 1);
    }
    report
}

impl Vectors {
    fn new(root: &Path, documents: usize) -> Self {
        let path = root.join("vectors.leafbase");
        let options = Space::builder()
            .durability(Durability::Relaxed)
            .search_indexing(SearchIndexing::OnDemand);
        let space = options.clone().create(&path).expect("a space");
        let notes = space.connect();
        let plan = Plan::new(documents, plan::BLOCKS);
        for documents in plan.documents.chunks(50) {
            let drafts = documents.iter().map(|document| {
                let texts = document.blocks.iter();
                let content = texts.map(|text| BlockDraft::new(BlockData::text(text)));
                BlockDraft::new(BlockData::page(&document.title)).with_content(content.collect())
            });
            notes
                .create_documents(CreateDocuments::new(drafts, Destination::Unsorted))
                .expect("documents");
        }
        space.flush_search().expect("an index");
        let (mut numbers, mut blocks, mut bytes) = (Numbers(1), Vec::new(), Vec::new());
        let (whole, ()) = timed(|| {
            let mut request = MissingEmbeddings::of_blocks(MODEL);
            loop {
                let missing = notes.missing_embeddings(request.clone()).expect("what is missing");
                let drafts = missing.iter().map(|entry| {
                    let vector = numbers.vector();
                    bytes.extend_from_slice(&vector);
                    blocks.push(entry.id);
                    EmbeddingDraft::new(entry.id, floats(&vector)).of_rev(entry.rev)
                });
                notes.put_embeddings(PutEmbeddings::new(MODEL, drafts)).expect("vectors");
                let Some(cursor) = missing.next_cursor else { break };
                request = request.after(cursor);
            }
        });
        println!("{} vectors listed and stored in {whole:?}", blocks.len());
        drop(notes);
        space.close().expect("a space that closes");
        let notes = options.clone().open(&path).expect("a space").connect();
        let (first, _) = timed(|| {
            let near = SearchDocuments::default().near(query(&numbers.vector()));
            notes.search(near).expect("a search")
        });
        println!("the first search after opening took {first:?}");
        let copy = root.join("unkept.leafbase");
        notes.space().backup_to(&copy).expect("a copy");
        let unkept = options.embedding_cache(0).open(&copy).expect("a space").connect();
        unkept.space().flush_search().expect("an index");
        let norms = norms(&bytes);
        Self { notes, unkept, blocks, bytes, norms, numbers }
    }

    /// The loop finds what the search finds.
    fn agree(&mut self) {
        let vector = self.numbers.vector();
        let (nearest, _) = nearest(&self.bytes, &self.norms, &vector);
        let near = SearchDocuments::default().near(query(&vector)).limit(1);
        for notes in [&self.notes, &self.unkept] {
            let found = notes.search(near.clone()).expect("a search");
            assert_eq!(found[0].nearest.expect("a block").block_id, self.blocks[nearest]);
        }
    }

    fn round(&mut self, report: &mut Comparison) {
        let count = self.blocks.len();
        let row = |what: &str| format!("{count} x {DIMENSIONS}: {what}");
        let words = SearchDocuments::words;
        for (what, request) in [
            ("top 20 by a vector", SearchDocuments::default()),
            ("top 20 by a vector and a rare word", words("zephyr")),
            ("top 20 by a vector and two words", words("harvest lantern")),
        ] {
            let vector = self.numbers.vector();
            let request = request.near(query(&vector));
            let ask = || self.notes.search(request.clone()).expect("a search");
            report.record(&row(what), LEAFBASE, sampled(ask));
            report.record(&row(what), LOOP, sampled(|| nearest(&self.bytes, &self.norms, &vector)));
        }
        let what = row("a vector is written, then top 20 by a vector");
        let vector = self.numbers.vector();
        let near = SearchDocuments::default().near(query(&vector));
        let block = self.blocks[count / 2];
        let draft = EmbeddingDraft::new(block, floats(&self.numbers.vector()));
        let write = || {
            self.notes
                .put_embeddings(PutEmbeddings::new(MODEL, [draft.clone()]))
                .expect("a vector");
            self.notes.search(near.clone()).expect("a search")
        };
        report.record(&what, LEAFBASE, sampled(write));
        report.record(&what, LOOP, sampled(|| nearest(&self.bytes, &self.norms, &vector)));
        let what = row("top 20 by a vector, not kept in memory");
        let ask = || self.unkept.search(near.clone()).expect("a search");
        report.record(&what, LEAFBASE, sampled(ask));
        report.record(&what, LOOP, sampled(|| nearest(&self.bytes, &self.norms, &vector)));
    }
}

fn query(vector: &[i8]) -> QueryEmbedding {
    QueryEmbedding::new(MODEL, floats(vector))
}

/// The length of each vector.
fn norms(bytes: &[i8]) -> Vec<f64> {
    let square = |component: &i8| i32::from(*component) * i32::from(*component);
    let norm = |vector: &[i8]| f64::from(vector.iter().map(square).sum::<i32>()).sqrt();
    bytes.chunks_exact(DIMENSIONS).map(norm).collect()
}

/// The vector with the greatest cosine, by its number: a scan and nothing else.
fn nearest(bytes: &[i8], norms: &[f64], vector: &[i8]) -> (usize, f64) {
    let wide: Vec<i16> = vector.iter().copied().map(i16::from).collect();
    let product = |(one, other): (&i8, &i16)| i32::from(i16::from(*one)) * i32::from(*other);
    let mut best = (0, f64::MIN);
    for (number, (other, norm)) in bytes.chunks_exact(DIMENSIONS).zip(norms).enumerate() {
        let dot: i32 = other.iter().zip(&wide).map(product).sum();
        let similarity = f64::from(dot) / norm;
        if similarity > best.1 {
            best = (number, similarity);
        }
    }
    best
}

/// The median of calls, after one that brings what is needed into memory.
fn sampled<T>(mut call: impl FnMut() -> T) -> f64 {
    black_box(call());
    typical((0..CALLS).map(|_| timed(|| black_box(call())).0).collect::<Vec<_>>())
}
