//! Vectors that a host supplies: what a search finds by them is what a naive scan of the stored
//! vectors finds, alone and fused with words; and they follow their blocks.

use std::collections::{BTreeMap, BTreeSet};

use leafbase::{
    BlockId, BlockPatch, Connection, DeleteBlocks, DeleteDocuments, DocumentId, EmbeddingDraft,
    ErrorKind, GetEmbeddings, Limits, MissingEmbeddings, MoveBlocks, Position, PurgeDocuments,
    PutEmbeddings, QueryEmbedding, RemoveEmbeddings, SearchDocuments, SearchMatch, Space,
    Unbatched, UpdateBlocks,
};

use crate::{Shelf, wrong};

const WORDS: [&str; 5] = ["lamp", "river", "snow", "kite", "candle"];
const DIMENSIONS: usize = 7;

/// Numbers that follow from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % count
    }

    fn text(&mut self) -> String {
        let words = 1 + self.below(3);
        let words: Vec<_> = (0..words).map(|_| WORDS[self.below(WORDS.len())]).collect();
        words.join(" ")
    }

    fn vector(&mut self) -> Vec<f32> {
        let component = |number| f32::from(i16::try_from(number).unwrap()) / 100.0 - 5.0;
        let mut vector: Vec<f32> = (0..DIMENSIONS).map(|_| component(self.below(1_000))).collect();
        vector[0] += 0.001;
        vector
    }
}

/// A document of the naive model.
struct Sheet {
    id: DocumentId,
    is_trashed: bool,
    blocks: Vec<BlockId>,
}

/// A space, and what a naive model knows of its vectors.
struct Atlas {
    notes: Connection,
    sheets: Vec<Sheet>,
    vectors: BTreeMap<BlockId, Vec<f32>>,
    dice: Dice,
    /// A model that is too naive: it keeps the vectors of deleted blocks.
    is_blind: bool,
}

/// As the store keeps it: each component as the nearest of 255 multiples of one scale.
fn stored(vector: &[f32]) -> Vec<f32> {
    let largest = vector.iter().fold(0.0_f32, |most, component| most.max(component.abs()));
    let scale = largest / 127.0;
    vector.iter().map(|component| (component / largest * 127.0).round() * scale).collect()
}

fn cosine(one: &[f32], other: &[f32]) -> f64 {
    let dot = |one: &[f32], other: &[f32]| -> f64 {
        one.iter().zip(other).map(|(one, other)| f64::from(*one) * f64::from(*other)).sum()
    };
    dot(one, other) / (dot(one, one) * dot(other, other)).sqrt()
}

impl Atlas {
    fn new(seed: u64, is_blind: bool) -> Self {
        // A cache of nothing reads the store in each search.
        let builder = Space::builder();
        let builder = if seed.is_multiple_of(3) { builder.embedding_cache(0) } else { builder };
        let notes = builder.in_memory().unwrap().connect();
        let (sheets, vectors) = (Vec::new(), BTreeMap::new());
        Self { notes, sheets, vectors, dice: Dice(seed), is_blind }
    }

    /// A document outside of the trash.
    fn sheet(&mut self) -> Option<usize> {
        let index = self.dice.below(self.sheets.len().max(1));
        self.sheets.get(index).filter(|sheet| !sheet.is_trashed).map(|_| index)
    }

    fn create(&mut self) {
        let id = self.notes.create_document(&self.dice.text()).unwrap().id();
        self.sheets.push(Sheet { id, is_trashed: false, blocks: Vec::new() });
    }

    fn insert(&mut self, sheet: usize) {
        let texts: Vec<_> = (0..=self.dice.below(6)).map(|_| self.dice.text()).collect();
        let sheet = &mut self.sheets[sheet];
        let inserted = self.notes.insert_markdown(&texts.join("\n\n"), sheet.id).unwrap();
        sheet.blocks.extend(inserted.iter().map(|block| block.id));
    }

    /// Vectors of the document and of some of its blocks.
    fn embed(&mut self, sheet: usize) {
        let sheet = &self.sheets[sheet];
        let ids = std::iter::once(sheet.id.root()).chain(sheet.blocks.iter().copied());
        let ids: Vec<BlockId> = ids.filter(|_| self.dice.below(2) > 0).collect();
        let mut drafts = Vec::new();
        for id in ids {
            let vector = self.dice.vector();
            drafts.push(EmbeddingDraft::new(id, vector.clone()));
            self.vectors.insert(id, vector);
        }
        self.notes.put_embeddings(PutEmbeddings::new("m", drafts)).unwrap();
    }

    fn forget(&mut self, ids: &[BlockId]) {
        if !self.is_blind {
            ids.iter().for_each(|id| drop(self.vectors.remove(id)));
        }
    }

    fn step(&mut self) {
        let Some(sheet) = self.sheet() else { return self.create() };
        let notes = self.notes.clone();
        match self.dice.below(14) {
            0 | 1 => self.create(),
            2 | 3 => self.insert(sheet),
            4..=7 => self.embed(sheet),
            8 => {
                let count = self.sheets[sheet].blocks.len();
                let first = self.dice.below(count.max(1));
                let gone: Vec<_> = self.sheets[sheet].blocks.drain(first..count).collect();
                notes.delete_blocks(DeleteBlocks::new(gone.clone())).unwrap();
                self.forget(&gone);
            }
            9 => {
                let Some(to) = self.sheet() else { return };
                let count = self.sheets[sheet].blocks.len();
                let first = self.dice.below(count.max(1));
                let moved: Vec<_> = self.sheets[sheet].blocks.drain(first..count).collect();
                let position = Position::end_of(self.sheets[to].id);
                notes.move_blocks(MoveBlocks::new(moved.clone(), position)).unwrap();
                self.sheets[to].blocks.extend(moved);
            }
            10 => {
                let Some(block) = self.sheets[sheet].blocks.first().copied() else { return };
                let patch = BlockPatch::markdown(block, self.dice.text());
                notes.update_blocks(UpdateBlocks::new([patch])).unwrap();
            }
            11 => {
                let id = self.sheets[sheet].id;
                notes.delete_documents(DeleteDocuments::new([id])).unwrap();
                self.sheets[sheet].is_trashed = true;
            }
            12 => {
                let Some(gone) = self.sheets.iter().position(|sheet| sheet.is_trashed) else {
                    return;
                };
                let Sheet { id, mut blocks, .. } = self.sheets.remove(gone);
                notes.purge_documents(PurgeDocuments::new([id])).unwrap();
                blocks.push(id.root());
                self.forget(&blocks);
            }
            _ => {
                let Some(id) = self.vectors.keys().next().copied() else { return };
                notes.remove_embeddings(RemoveEmbeddings::new("m", [id])).unwrap();
                self.vectors.remove(&id);
            }
        }
    }

    /// The nearest vector of each document that is searched.
    fn nearest(&self, query: &[f32], within: &BTreeSet<DocumentId>) -> BTreeMap<DocumentId, f64> {
        let query = stored(query);
        let mut nearest = BTreeMap::new();
        for sheet in &self.sheets {
            let ids = std::iter::once(sheet.id.root()).chain(sheet.blocks.iter().copied());
            for vector in ids.filter_map(|id| self.vectors.get(&id)) {
                let similarity = cosine(&stored(vector), &query);
                if !sheet.is_trashed && within.contains(&sheet.id) {
                    let best = nearest.entry(sheet.id).or_insert(f64::MIN);
                    *best = best.max(similarity);
                }
            }
        }
        nearest
    }

    /// Compares a search by a vector, and one by a vector and words, with the naive model.
    fn compare<A: Unbatched>(
        &mut self,
        notes: &Connection<A>,
        within: &BTreeSet<DocumentId>,
    ) -> Result<(), String> {
        let (vector, words) = (self.dice.vector(), self.dice.text());
        let embedding = QueryEmbedding::new("m", vector.clone());
        let expected = self.nearest(&vector, within);
        let request = SearchDocuments::default().near(embedding.clone()).limit(1_000);
        let found = notes.search(request).unwrap();
        let documents: BTreeSet<_> = found.iter().map(|found| found.document_id).collect();
        let all: BTreeSet<_> = expected.keys().copied().collect();
        if documents != all || found.total != all.len() {
            return Err(format!("found {documents:?}, not {all:?}"));
        }
        for pair in found.windows(2) {
            let [one, other] = [0, 1].map(|index| expected[&pair[index].document_id]);
            assert!(one >= other - 1e-6, "{one} before {other}");
        }
        for found in found.iter() {
            let nearest = found.nearest.unwrap();
            let error = f64::from(nearest.similarity) - expected[&found.document_id];
            assert!(error.abs() < 1e-6, "{error}");
            assert_eq!(found.score.to_bits(), f64::from(nearest.similarity).to_bits());
        }
        let by_words = SearchDocuments::words(words).limit(1_000);
        let lexical = notes.search(by_words.clone()).unwrap();
        let fused = notes.search(by_words.near(embedding)).unwrap();
        let expected = reciprocal(&lexical, &found);
        let found: Vec<_> = fused.iter().map(|found| (found.document_id, found.score)).collect();
        assert_eq!(found.len(), expected.len());
        for ((found, score), (document, expected)) in found.iter().zip(&expected) {
            assert_eq!(found, document);
            assert!((score - expected).abs() < 1e-12);
        }
        Ok(())
    }
}

/// Documents by the sum of their reciprocal ranks in both results.
fn reciprocal(words: &[SearchMatch], vectors: &[SearchMatch]) -> Vec<(DocumentId, f64)> {
    let worth = |found: &SearchMatch| {
        let score = found.score as f32;
        (found.missing_terms.is_empty(), score)
    };
    let mut scores: BTreeMap<DocumentId, f64> = BTreeMap::new();
    for found in [words, vectors] {
        for one in found {
            let better = found.iter().filter(|other| {
                let ((complete, score), (other_complete, other)) = (worth(one), worth(other));
                (other_complete, other) != (complete, score)
                    && (other_complete & !complete || (other_complete == complete && other > score))
            });
            let rank = f64::from(u32::try_from(better.count()).unwrap()) + 1.0;
            *scores.entry(one.document_id).or_default() += 1.0 / (60.0 + rank);
        }
    }
    let mut ranked: Vec<_> = scores.into_iter().collect();
    ranked.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    ranked
}

fn run(seed: u64, is_blind: bool) -> Result<(), String> {
    let mut atlas = Atlas::new(seed, is_blind);
    for step in 0..60 {
        atlas.step();
        if step % 6 != 5 {
            continue;
        }
        let all: BTreeSet<_> = atlas.sheets.iter().map(|sheet| sheet.id).collect();
        let notes = atlas.notes.clone();
        atlas.compare(&notes, &all)?;
        let half: BTreeSet<_> = all.iter().copied().filter(|_| atlas.dice.below(2) > 0).collect();
        let guest = notes.space().scoped(half.clone());
        atlas.compare(&guest, &half)?;
        let known: Vec<_> = atlas.vectors.keys().copied().collect();
        let read = notes.embeddings(GetEmbeddings::new("m", known.clone())).unwrap();
        if read.len() != known.len() {
            return Err("a vector is missing".to_owned());
        }
        for read in read.iter() {
            assert_eq!(*read.vector, *stored(&atlas.vectors[&read.id]));
        }
        let checked = notes.space().check().unwrap();
        assert!(checked.is_clean(), "{checked:#?}");
        assert_eq!(checked.embeddings, known.len() as u64);
        assert_eq!(notes.space().stats().unwrap().embeddings, known.len() as u64);
    }
    Ok(())
}

#[test]
fn searches_find_what_a_naive_scan_finds() {
    for seed in 0..60 {
        run(seed, false).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
    // The control: a model that keeps what is deleted is noticed.
    assert!((0..60).any(|seed| run(seed, true).is_err()));
}

/// The texts and IDs of what is missing, page by page.
fn missing(notes: &Connection, request: &MissingEmbeddings) -> Vec<(String, bool)> {
    let (mut request, mut found) = (request.clone(), Vec::new());
    loop {
        let page = notes.missing_embeddings(request.clone()).unwrap();
        assert!(page.len() <= request.paging.limit.unwrap_or(1_000));
        found.extend(page.items.into_iter().map(|entry| {
            let title = || notes.document(entry.document_id).unwrap().title;
            (entry.markdown.clone().unwrap_or_else(title), entry.is_stale)
        }));
        match page.next_cursor {
            Some(cursor) => request = request.after(cursor),
            None => return found,
        }
    }
}

#[test]
fn what_is_missing_or_stale_is_listed_once() {
    let shelf = Shelf::of(&[("one", "a\n\nb\n\n***\n\nc"), ("two", "d"), ("three", "")]);
    let notes = &shelf.notes;
    let blocks = MissingEmbeddings::of_blocks("m");
    let texts = |request: &MissingEmbeddings| {
        let mut found: Vec<_> = missing(notes, request)
            .into_iter()
            .map(|(text, is_stale)| if is_stale { format!("{text}*") } else { text })
            .collect();
        found.sort();
        found.join(" ")
    };
    for limit in [1, 2, 3, 1_000] {
        assert_eq!(texts(&blocks.clone().limit(limit)), "a b c d", "{limit}");
        let documents = MissingEmbeddings::of_documents("m").limit(limit);
        assert_eq!(texts(&documents), "one three two", "{limit}");
        let named = documents.clone().within_documents([shelf.id("one"), shelf.id("two")]);
        assert_eq!(texts(&named), "one two", "{limit}");
    }
    // Each gets a vector, and nothing is missing until something is written.
    let fill = |request: MissingEmbeddings| {
        let found = notes.missing_embeddings(request).unwrap();
        let drafts =
            found.iter().map(|entry| EmbeddingDraft::new(entry.id, [1.0, 0.5]).of_rev(entry.rev));
        notes.put_embeddings(PutEmbeddings::new("m", drafts)).unwrap()
    };
    let revs = || notes.documents().unwrap().iter().map(|one| one.record.rev).collect::<Vec<_>>();
    let (before, sequence) = (revs(), notes.last_sequence().unwrap());
    fill(blocks.clone());
    let reply = fill(MissingEmbeddings::of_documents("m"));
    assert_eq!((reply.model.embeddings, reply.model.dimensions), (7, 2));
    // A vector raises no revision, and is not part of the log.
    assert_eq!((revs(), notes.last_sequence().unwrap()), (before, sequence));
    assert_eq!(texts(&blocks), "");
    let one = shelf.id("one");
    let children = notes.fetch(leafbase::Fetch::new(one)).unwrap();
    let [a, b] = [0, 1].map(|index| children.children()[index].id);
    notes.update_markdown(a, "A").unwrap();
    assert_eq!(texts(&blocks), "A*");
    assert_eq!(texts(&MissingEmbeddings::of_documents("m")), "one*");
    // A stale vector still counts.
    let near = SearchDocuments::default().near(QueryEmbedding::new("m", [1.0, 0.5]));
    assert_eq!(shelf.search(near.clone()).len(), 3);
    // Undone, it has a revision of its own; a vector of an older one is stale.
    notes.undo(notes.last_sequence().unwrap()).unwrap();
    assert_eq!(texts(&blocks), "a*");
    let old = EmbeddingDraft::new(a, [0.5, 1.0]).of_rev(1);
    notes.put_embeddings(PutEmbeddings::new("m", [old])).unwrap();
    assert_eq!(texts(&blocks), "a*");
    // A deleted block that comes back has none.
    notes.delete_blocks(DeleteBlocks::from(b)).unwrap();
    notes.undo(notes.last_sequence().unwrap()).unwrap();
    assert_eq!(texts(&blocks), "a* b");
    // The trash is listed if it is named.
    notes.delete_documents(DeleteDocuments::new([one])).unwrap();
    assert_eq!(texts(&blocks), "");
    let trash = leafbase::BuiltInLocation::Trash;
    assert_eq!(texts(&blocks.clone().at(trash)), "a* b");
    let mut folder = blocks.clone();
    folder.filter.folders = Some(vec![trash.into()]);
    assert_eq!(texts(&folder), "a* b");
    assert_eq!(shelf.search(near).len(), 2);
    let cursor = notes.missing_embeddings(blocks.clone().limit(1)).unwrap().next_cursor;
    assert_eq!(cursor, None);
    let error = notes.missing_embeddings(blocks.after("00")).unwrap_err();
    assert_eq!(wrong(&error), "VALIDATION cursor");
}

#[test]
fn vectors_names_and_lists_are_bounded() {
    let notes = Space::in_memory().unwrap().connect();
    let trip = notes.create_document("Trip").unwrap().id();
    let put = |model: &str, dimensions: usize| {
        let draft = EmbeddingDraft::new(trip, vec![1.0; dimensions]);
        notes.put_embeddings(PutEmbeddings::new(model, [draft])).map(drop)
    };
    let (longest, widest) =
        ("m".repeat(Limits::EMBEDDING_MODEL_BYTES), Limits::EMBEDDING_DIMENSIONS);
    put(&longest, widest).unwrap();
    notes.insert_markdown(&"a\n\n".repeat(Limits::MISSING_EMBEDDINGS + 1), trip).unwrap();
    let list = |limit| notes.missing_embeddings(MissingEmbeddings::of_blocks("m").limit(limit));
    let full = list(Limits::MISSING_EMBEDDINGS).unwrap();
    assert_eq!(full.items.len(), Limits::MISSING_EMBEDDINGS);
    assert!(full.next_cursor.is_some());
    for (refused, path) in [
        (put(&format!("{longest}m"), 1), "model"),
        (put("m", widest + 1), "embeddings[0].vector"),
        (list(Limits::MISSING_EMBEDDINGS + 1).map(drop), "limit"),
    ] {
        let error = refused.unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::LimitExceeded, path));
    }
}

#[test]
fn requests_are_refused_with_a_path() {
    let shelf = Shelf::of(&[("one", "lamp")]);
    let (notes, one) = (&shelf.notes, shelf.id("one"));
    let put = |model: &str, drafts: Vec<EmbeddingDraft>| {
        notes.put_embeddings(PutEmbeddings::new(model, drafts)).map_err(|error| wrong(&error))
    };
    let draft = |vector: &[f32]| EmbeddingDraft::new(one, vector);
    assert_eq!(put("m", vec![draft(&[1.0, 2.0])]).unwrap().model.embeddings, 1);
    let long = "m".repeat(65);
    for (model, drafts, expected) in [
        ("", vec![draft(&[1.0])], "VALIDATION model"),
        ("a\0b", vec![draft(&[1.0])], "VALIDATION model"),
        (&*long, vec![draft(&[1.0])], "LIMIT_EXCEEDED model"),
        ("m", vec![draft(&[1.0])], "VALIDATION embeddings[0].vector"),
        ("m", vec![draft(&[0.0, 0.0])], "VALIDATION embeddings[0].vector"),
        ("m", vec![draft(&[])], "VALIDATION embeddings[0].vector"),
        ("m", vec![draft(&[1.0, f32::NAN])], "VALIDATION embeddings[0].vector[1]"),
        ("n", vec![draft(&[1.0; 4_097])], "LIMIT_EXCEEDED embeddings[0].vector"),
        ("m", vec![draft(&[1.0, 1.0]); 2], "VALIDATION embeddings[1].id"),
        ("m", vec![draft(&[1.0, 1.0]).of_rev(99)], "VALIDATION embeddings[0].rev"),
    ] {
        assert_eq!(put(model, drafts).unwrap_err(), expected);
    }
    // Nothing of them was written.
    let models = notes.embedding_models().unwrap();
    assert_eq!((models.len(), models[0].embeddings), (1, 1));
    // What was deleted meanwhile is told, and the rest stored.
    let gone = EmbeddingDraft::new(BlockId::from_bytes([7; 16]), [1.0, 2.0]);
    let reply = put("m", vec![gone.clone(), draft(&[3.0, 2.0])]).unwrap();
    assert_eq!(reply.missing_ids, [gone.id]);
    // Another number of components than the model has; a model without vectors takes any.
    let near = |model: &str, vector: &[f32]| {
        SearchDocuments::default().near(QueryEmbedding::new(model, vector))
    };
    assert_eq!(shelf.found(near("m", &[1.0])), "VALIDATION embedding.vector");
    assert_eq!(shelf.found(near("", &[1.0])), "VALIDATION embedding.model");
    assert_eq!(shelf.found(near("m", &[0.0, 0.0])), "VALIDATION embedding.vector");
    assert_eq!(shelf.found(near("other", &[1.0])), "");
    assert_eq!(shelf.found(near("m", &[1.0, 1.0])), "one");
    notes.remove_embeddings(RemoveEmbeddings::all("m")).unwrap();
    assert_eq!(put("m", vec![draft(&[1.0])]).unwrap().model.dimensions, 1);
    assert_eq!(shelf.found(near("m", &[1.0])), "one");
    // A scope in which no document has vectors knows no model.
    let other = shelf.put("two", "kite");
    let guest = notes.space().scoped([other]);
    assert_eq!(guest.search(near("m", &[1.0, 2.0])).unwrap().len(), 0);
}

#[test]
fn the_nearest_text_is_shown_beside_words() {
    let shelf = Shelf::of(&[("trip", "passports\n\ncharger"), ("home", "a lamp"), ("far", "snow")]);
    let notes = &shelf.notes;
    let found = notes.missing_embeddings(MissingEmbeddings::of_blocks("m")).unwrap();
    let drafts = found.iter().map(|entry| match entry.markdown.as_deref() {
        Some("charger") => EmbeddingDraft::new(entry.id, [1.0, 0.0]),
        Some("a lamp") => EmbeddingDraft::new(entry.id, [1.0, 1.0]),
        _ => EmbeddingDraft::new(entry.id, [-1.0, 0.5]),
    });
    notes.put_embeddings(PutEmbeddings::new("m", drafts)).unwrap();
    let query = QueryEmbedding::new("m", [1.0, 0.0]);
    let by_vector = shelf.search(SearchDocuments::default().near(query.clone()));
    let shown: Vec<_> = by_vector.iter().map(|found| found.markdown.as_str()).collect();
    assert_eq!(shown, ["charger", "a lamp", "snow"]);
    let both = shelf.search(SearchDocuments::words("lamp").near(query.clone()));
    let shown: Vec<_> = both.iter().map(|found| found.markdown.as_str()).collect();
    assert_eq!(shown, ["a **lamp**", "charger", "snow"]);
    assert_eq!(both[1].missing_terms, ["lamp"]);
    // Filters come first, and words that are excluded or required in titles; a pattern is required.
    let words = || SearchDocuments::words("lamp").near(query.clone());
    assert_eq!(shelf.sorted(words().without("snow")), "home, trip");
    assert_eq!(shelf.sorted(words().titled("trip")), "trip");
    assert_eq!(shelf.sorted(words().within_documents([shelf.id("far")])), "far");
    assert_eq!(shelf.sorted(words().matching("ch.rger")), "trip");
    let pattern = SearchDocuments::pattern("s").near(query);
    assert_eq!(shelf.found(pattern), "trip, far");
}

/// Vectors are in backups, and outlive the space being opened again.
#[test]
fn backups_have_vectors() {
    let directory = tempfile::tempdir().unwrap();
    let [path, copy] = ["space", "copy"].map(|name| directory.path().join(name));
    let space = Space::create(&path).unwrap();
    let notes = space.connect();
    let one = notes.create_document("one").unwrap().id();
    let draft = EmbeddingDraft::new(one, [127.0, -3.0]);
    notes.put_embeddings(PutEmbeddings::new("m", [draft])).unwrap();
    space.backup_to(&copy).unwrap();
    drop(notes);
    space.close().unwrap();
    for path in [path, copy] {
        let notes = Space::open(path).unwrap().connect();
        let read = notes.embeddings(GetEmbeddings::new("m", [one])).unwrap();
        assert_eq!(*read[0].vector, [127.0, -3.0]);
        let near = SearchDocuments::default().near(QueryEmbedding::new("m", [1.0, 0.0]));
        assert_eq!(notes.search(near).unwrap()[0].document_id, one);
    }
}

/// More than 2 MiB of vectors are compared on several threads, each with a part of them.
#[test]
fn the_nearest_vectors_are_the_same_on_any_number_of_threads() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("space");
    let space = Space::builder().create(&path).unwrap();
    let (notes, mut dice) = (space.connect(), Dice(3));
    // The vectors of the first document are in the parts of all threads.
    for blocks in [400, 1, 1, 50, 1] {
        let document = notes.create_document("a").unwrap().id();
        let texts = vec!["b"; blocks].join("\n\n");
        let inserted = notes.insert_markdown(&texts, Position::end_of(document)).unwrap();
        for chunk in inserted.chunks(100) {
            let drafts = chunk.iter().map(|block| {
                let vector = dice.vector().into_iter().cycle().take(Limits::EMBEDDING_DIMENSIONS);
                EmbeddingDraft::new(block.id, vector.collect::<Vec<_>>())
            });
            notes.put_embeddings(PutEmbeddings::new("m", drafts)).unwrap();
        }
    }
    let asked: Vec<f32> =
        dice.vector().into_iter().cycle().take(Limits::EMBEDDING_DIMENSIONS).collect();
    space.close().unwrap();
    let found = [1, 2, 3, 64].map(|threads| {
        let space = Space::builder().search_threads(threads).open(&path).unwrap();
        let near = QueryEmbedding::new("m", asked.clone());
        let found = space.connect().search(SearchDocuments::default().near(near)).unwrap();
        space.close().unwrap();
        found
    });
    assert_eq!(found[0].len(), 5);
    assert!(found.iter().all(|other| *other == found[0]));
}
