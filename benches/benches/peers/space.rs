//! The generated space, and the edits that each operation is measured with.

use crate::app::{self, Document, Edit, Position, TEXT};
use crate::floor::Weight;
use benches::workload::{Generator, Id, TEXT_BYTES};

/// Documents by shape. Edits keep every document as long as it was.
pub struct Space {
    pub flat: Vec<Document>,
    pub pages: Vec<Document>,
    /// Fifty blocks, then a page of forty-nine.
    pub section: Vec<Document>,
    pub large: Document,
    /// Texts that `fresh` has not given yet.
    unmet: Vec<Id>,
}

/// Edits of a batch.
const EDITS_OF_BATCH: usize = 100;

/// Edits to measure; those before and after them, which are not measured; and what they weigh on
/// the floor.
#[derive(Default)]
pub struct Work {
    pub before: Vec<Edit>,
    pub edits: Vec<Edit>,
    pub after: Vec<Edit>,
    pub weights: Vec<(Id, Weight)>,
}

/// Bytes of a block's record, about.
const RECORD: usize = 130;
const ONE: Weight = Weight { runs: 1, places: 1, change: RECORD };
const UPDATE: Weight = Weight { runs: 1, places: 0, change: 2 * RECORD };
const MOVE: Weight = Weight { runs: 3, places: 50, change: 50 * 60 };
const DELETE: Weight = Weight { runs: 2, places: 50, change: 50 * RECORD };
const HUNDRED: Weight = Weight { runs: 4, places: 100, change: 100 * RECORD };

/// How many flat documents are for moves at most; the edits of one block go to the others.
const MOVES: usize = 100;
/// Fewer documents are not enough for all edits.
const FEWEST: usize = 60;

impl Space {
    pub fn new(make: &mut Generator, documents: usize, large: usize) -> Self {
        let third = documents.max(FEWEST) / 3;
        let mut made = |flat, pages, each| app::document(&make.document(flat, pages, each));
        Self {
            flat: (0..documents.max(FEWEST) - 2 * third).map(|_| made(100, 0, 0)).collect(),
            pages: (0..third).map(|_| made(0, 5, 19)).collect(),
            section: (0..third).map(|_| made(50, 1, 49)).collect(),
            large: made(large / 2, large / 200, 99),
            unmet: Vec::new(),
        }
    }

    pub fn all(&self) -> Vec<Document> {
        let parts = [&self.flat, &self.pages, &self.section];
        let mut all: Vec<Document> = parts.into_iter().flatten().cloned().collect();
        all.push(self.large.clone());
        all.sort_unstable_by_key(|document| document.id);
        all
    }

    pub fn blocks(&self) -> usize {
        self.all().iter().map(|document| app::rows(document.id, &document.blocks).len()).sum()
    }

    /// A few documents of each shape.
    pub fn sample(&self) -> Vec<Id> {
        let parts = [&self.flat, &self.pages, &self.section];
        let some = parts
            .into_iter()
            .flat_map(|documents| documents.iter().step_by(23).map(|document| document.id));
        some.chain([self.large.id]).collect()
    }

    /// How many pairs of documents are for moves.
    fn moving(&self) -> usize {
        (self.flat.len() / 2).min(MOVES) / 2
    }

    fn any(&self, make: &mut Generator) -> &Document {
        match make.rng.below(3) {
            0 => make.rng.pick(&self.flat[self.moving() * 2..]),
            1 => make.rng.pick(&self.pages),
            _ => make.rng.pick(&self.section),
        }
    }

    /// A block of text.
    pub fn text(&self, make: &mut Generator) -> Id {
        text_of(self.any(make), make)
    }

    /// So many blocks of text, none of which was given before: what a peer remembers of others does
    /// not help it.
    pub fn fresh(&mut self, make: &mut Generator, count: usize) -> Vec<Id> {
        if self.unmet.len() < count {
            let documents = [&self.flat, &self.pages, &self.section].into_iter().flatten();
            let blocks = documents.flat_map(|document| app::rows(document.id, &document.blocks));
            self.unmet = blocks
                .filter(|(_, _, block)| block.kind == TEXT)
                .map(|(_, _, block)| block.id)
                .collect();
            for at in (1..self.unmet.len()).rev() {
                self.unmet.swap(at, make.rng.below(at + 1));
            }
        }
        self.unmet.split_off(self.unmet.len() - count)
    }

    pub fn updates(&self, make: &mut Generator, count: usize) -> Work {
        let mut work =
            Work { before: Vec::new(), edits: Vec::new(), after: Vec::new(), weights: Vec::new() };
        for _ in 0..count {
            let document = self.any(make);
            let id = text_of(document, make);
            work.edits
                .push(Edit::Update(id, app::text(&make.words.text(&mut make.rng, TEXT_BYTES))));
            work.weights.push((document.id, UPDATE));
        }
        work
    }

    fn inserts<'a>(
        &'a self,
        make: &mut Generator,
        count: usize,
        each: usize,
        weight: Weight,
        place: impl Fn(&mut Generator) -> (&'a Document, Position),
    ) -> Work {
        let mut work =
            Work { before: Vec::new(), edits: Vec::new(), after: Vec::new(), weights: Vec::new() };
        let mut ids = Vec::new();
        for _ in 0..count {
            let (document, position) = place(make);
            let blocks: Vec<app::Block> =
                (0..each).map(|_| app::block(&make.block(TEXT))).collect();
            ids.extend(blocks.iter().map(|block| block.id));
            work.edits.push(Edit::Insert(blocks, position));
            work.weights.push((document.id, weight));
        }
        work.after.push(Edit::Delete(ids));
        work
    }

    fn moves(&self, make: &mut Generator, count: usize, across: bool) -> Work {
        let mut work =
            Work { before: Vec::new(), edits: Vec::new(), after: Vec::new(), weights: Vec::new() };
        for _ in 0..count {
            let at = make.rng.below(self.moving());
            let (from, to) = (&self.flat[at], &self.flat[self.moving() + at]);
            let ids: Vec<Id> = from.blocks[20..70].iter().map(|block| block.id).collect();
            let away = if across {
                Position::After(to.blocks[49].id)
            } else {
                Position::After(from.blocks[5].id)
            };
            work.edits.push(Edit::Move(ids.clone(), away));
            work.edits.push(Edit::Move(ids, Position::After(from.blocks[19].id)));
            work.weights.extend([(from.id, MOVE); 2]);
        }
        work
    }

    fn deletes(&self, make: &mut Generator, count: usize) -> Work {
        let mut made = self.inserts(make, count, 50, DELETE, |make| self.middle(make));
        made.after.clear();
        let deletes = made.edits.iter().map(|edit| match edit {
            Edit::Insert(blocks, _) => Edit::Delete(blocks.iter().map(|block| block.id).collect()),
            other => other.clone(),
        });
        Work { edits: deletes.collect(), before: made.edits, ..made }
    }

    /// Batches of a hundred edits: updates or insertions, each in a document of its own as long as
    /// there are enough.
    fn batches(&self, make: &mut Generator, count: usize, inserts: bool) -> Work {
        let mut work = Work::default();
        let mut added = Vec::new();
        let documents = &self.flat[self.moving() * 2..];
        for _ in 0..count {
            let edits = (0..EDITS_OF_BATCH).map(|number| {
                let document = &documents[number % documents.len()];
                work.weights.push((document.id, if inserts { ONE } else { UPDATE }));
                if inserts {
                    let block = app::block(&make.block(TEXT));
                    added.push(block.id);
                    Edit::Insert(vec![block], Position::After(document.blocks[50].id))
                } else {
                    let words = make.words.text(&mut make.rng, TEXT_BYTES);
                    Edit::Update(text_of(document, make), app::text(&words))
                }
            });
            let edits = edits.collect();
            work.edits.push(Edit::Batch(edits));
        }
        if !added.is_empty() {
            work.after.push(Edit::Delete(added));
        }
        work
    }

    /// Batches of a hundred edits in one document: updates, insertions, moves and deletions.
    fn mixed_batches(&self, make: &mut Generator, count: usize) -> Work {
        let mut work = Work::default();
        for _ in 0..count {
            let document = self.single(make);
            let mut edits = Vec::with_capacity(EDITS_OF_BATCH);
            for number in 0..EDITS_OF_BATCH / 5 {
                let block = app::block(&make.block(TEXT));
                let (id, place) = (block.id, document.blocks[20 + number].id);
                let words = |make: &mut Generator| make.words.text(&mut make.rng, TEXT_BYTES);
                edits.push(Edit::Update(text_of(document, make), app::text(&words(make))));
                edits.push(Edit::Insert(vec![block], Position::After(place)));
                edits.push(Edit::Move(vec![id], Position::After(document.blocks[70].id)));
                edits.push(Edit::Update(id, app::text(&words(make))));
                edits.push(Edit::Delete(vec![id]));
                work.weights.extend([(document.id, UPDATE); 5]);
            }
            work.edits.push(Edit::Batch(edits));
        }
        work
    }

    /// Every batch that is measured, `count` times.
    pub fn batched(&self, make: &mut Generator, count: usize) -> Vec<(&'static str, Work)> {
        vec![
            ("batch of 100 mixed edits in one document", self.mixed_batches(make, count)),
            ("batch of 100 updates in 100 documents", self.batches(make, count, false)),
            ("batch of 100 insertions in 100 documents", self.batches(make, count, true)),
        ]
    }

    fn single(&self, make: &mut Generator) -> &Document {
        make.rng.pick(&self.flat[self.moving() * 2..])
    }

    fn middle(&self, make: &mut Generator) -> (&Document, Position) {
        let document = self.single(make);
        (document, Position::After(document.blocks[25 + make.rng.below(50)].id))
    }

    /// Every edit that is measured both ways, `count` times; those of many blocks an eighth as
    /// often.
    pub fn work(&self, make: &mut Generator, count: usize) -> Vec<(&'static str, Work)> {
        let few = count.div_ceil(8);
        let start = |make: &mut Generator| {
            let document = self.single(make);
            (document, Position::Start { document: document.id, parent: document.id })
        };
        let end = |make: &mut Generator| {
            let document = self.single(make);
            (document, Position::End { document: document.id, parent: document.id })
        };
        let large = |make: &mut Generator| {
            let tops = self.large.blocks.len() / 2;
            (&self.large, Position::After(self.large.blocks[tops / 2 + make.rng.below(tops)].id))
        };
        vec![
            ("insert at the start", self.inserts(make, count, 1, ONE, start)),
            ("insert in the middle", self.inserts(make, count, 1, ONE, |make| self.middle(make))),
            ("insert at the end", self.inserts(make, count, 1, ONE, end)),
            ("insert in the middle of 10,000", self.inserts(make, count, 1, ONE, large)),
            ("update", self.updates(make, count)),
            ("move of 50 within", self.moves(make, few, false)),
            ("move of 50 across", self.moves(make, few, true)),
            ("delete of 50", self.deletes(make, few)),
            (
                "insert of 100 in one call",
                self.inserts(make, few, 100, HUNDRED, |make| self.middle(make)),
            ),
        ]
    }
}

fn text_of(document: &Document, make: &mut Generator) -> Id {
    loop {
        let (_, _, block) = *make.rng.pick(&app::rows(document.id, &document.blocks));
        if block.kind == TEXT {
            return block.id;
        }
    }
}
