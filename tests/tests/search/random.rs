//! Random writes and searches, with an index that catches up now and then, is damaged, or lost:
//! what is found is what a naive look at every text finds.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use leafbase::{
    AddComments, BlockId, BlockPatch, CommentDraft, Connection, DeleteBlocks, DeleteDocuments,
    Destination, DocumentId, MoveDocuments, Position, SearchDocuments, SearchIndexing, SearchMatch,
    Space, UpdateBlocks,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};

use super::copy;

/// Words of which none begins another, but for the plurals.
const WORDS: [&str; 8] = ["lamp", "lamps", "river", "Élan", "snow", "東京都", "kite", "zebra"];

#[derive(Clone, Debug)]
enum Step {
    Create(Vec<usize>),
    Insert(usize, Vec<usize>),
    Update(usize, usize, Vec<usize>),
    Delete(usize, usize),
    Comment(usize, usize, Vec<usize>),
    Trash(usize),
    Restore(usize),
    Flush,
    Rebuild,
    Reopen,
    /// The process ends without closing the space.
    Crash,
    Damage(usize, usize),
    Word(usize),
    Words(usize, usize),
    Phrase(usize, usize),
    Beginning(usize, usize),
    Pattern(usize, usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let words = || prop::collection::vec(0..WORDS.len(), 1..4);
    let (any, word) = (|| 0..6_usize, || 0..WORDS.len());
    let step = prop_oneof![
        4 => words().prop_map(Step::Create),
        4 => (any(), words()).prop_map(|(document, words)| Step::Insert(document, words)),
        2 => (any(), any(), words()).prop_map(|(document, block, words)| Step::Update(document, block, words)),
        1 => (any(), any()).prop_map(|(document, block)| Step::Delete(document, block)),
        1 => (any(), any(), words()).prop_map(|(document, block, words)| Step::Comment(document, block, words)),
        1 => any().prop_map(Step::Trash),
        1 => any().prop_map(Step::Restore),
        2 => Just(Step::Flush),
        1 => Just(Step::Rebuild),
        1 => Just(Step::Reopen),
        1 => Just(Step::Crash),
        1 => (0..20_usize, 0..1_000_usize).prop_map(|(file, place)| Step::Damage(file, place)),
        2 => word().prop_map(Step::Word),
        2 => (word(), word()).prop_map(|(one, other)| Step::Words(one, other)),
        1 => (word(), word()).prop_map(|(one, other)| Step::Phrase(one, other)),
        1 => (word(), 1..4_usize).prop_map(|(word, letters)| Step::Beginning(word, letters)),
        1 => (word(), word()).prop_map(|(one, other)| Step::Pattern(one, other)),
    ];
    prop::collection::vec(step, 1..16)
}

fn text(words: &[usize]) -> String {
    words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ")
}

struct Document {
    id: DocumentId,
    is_trashed: bool,
    title: String,
    blocks: Vec<(BlockId, String)>,
    comments: Vec<(BlockId, String)>,
}

impl Document {
    fn texts(&self) -> impl Iterator<Item = &str> {
        let others = self.blocks.iter().chain(&self.comments).map(|(_, text)| text.as_str());
        std::iter::once(self.title.as_str()).chain(others)
    }

    fn has(&self, is_found: impl Fn(&[&str]) -> bool) -> bool {
        self.texts().any(|text| is_found(&text.split(' ').collect::<Vec<_>>()))
    }
}

/// One form for all of a word.
fn stem(word: &str) -> String {
    word.trim_end_matches('s').to_lowercase()
}

struct Run {
    directory: tempfile::TempDir,
    on_disk: bool,
    notes: Connection,
    documents: Vec<Document>,
    /// A look that is too naive: it forgets the trash.
    is_blind: bool,
}

impl Run {
    fn new(on_disk: bool, is_blind: bool) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let builder = Space::builder().search_indexing(SearchIndexing::OnDemand);
        let path = directory.path().join("space");
        let space = if on_disk { builder.create(path) } else { builder.in_memory() }.unwrap();
        Self { directory, on_disk, notes: space.connect(), documents: Vec::new(), is_blind }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("space")
    }

    fn expected(&self, is_found: impl Fn(&Document) -> bool) -> BTreeSet<DocumentId> {
        let seen = self.documents.iter().filter(|document| self.is_blind || !document.is_trashed);
        seen.filter(|document| is_found(document)).map(|document| document.id).collect()
    }

    fn compare(
        &self,
        request: SearchDocuments,
        expected: &BTreeSet<DocumentId>,
    ) -> Result<(), String> {
        let found =
            self.notes.search(request.clone()).map_err(|error| format!("{request:?}: {error}"))?;
        let found: BTreeSet<_> = found.iter().map(|found| found.document_id).collect();
        if found == *expected {
            Ok(())
        } else {
            Err(format!("{request:?}: found {found:?}, not {expected:?}"))
        }
    }

    fn document(&mut self, number: usize) -> Option<&mut Document> {
        let count = self.documents.len();
        self.documents.get_mut(number % count.max(1)).filter(|document| !document.is_trashed)
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Create(words) => {
                let title = text(words);
                let id = self.notes.create_document(&title).unwrap().id();
                let (blocks, comments) = (Vec::new(), Vec::new());
                self.documents.push(Document { id, is_trashed: false, title, blocks, comments });
            }
            Step::Flush => self.notes.space().flush_search().map_err(|error| error.to_string())?,
            Step::Rebuild => {
                self.notes.space().rebuild_search().map_err(|error| error.to_string())?
            }
            Step::Reopen => self.reopen(|_| {}),
            Step::Crash => self.crash(),
            Step::Damage(file, place) => self.reopen(|path| damage(path, *file, *place)),
            Step::Trash(number) => self.trash(*number),
            Step::Restore(number) => self.restore(*number),
            Step::Insert(..) | Step::Update(..) | Step::Delete(..) | Step::Comment(..) => {
                self.change(step)
            }
            _ => self.search(step)?,
        }
        Ok(())
    }

    fn reopen(&mut self, between: impl FnOnce(&Path)) {
        if !self.on_disk {
            return;
        }
        let path = self.path();
        self.notes.space().clone().close().unwrap();
        between(&path);
        self.notes = Space::builder()
            .search_indexing(SearchIndexing::OnDemand)
            .open(path)
            .unwrap()
            .connect();
    }

    /// Goes on with the files as they are while the space is open.
    fn crash(&mut self) {
        if !self.on_disk {
            return;
        }
        let next = tempfile::tempdir().unwrap();
        copy(&self.path(), &next.path().join("space"));
        self.notes.space().clone().close().unwrap();
        self.directory = next;
        self.notes = Space::builder()
            .search_indexing(SearchIndexing::OnDemand)
            .open(self.path())
            .unwrap()
            .connect();
    }

    fn trash(&mut self, number: usize) {
        let notes = self.notes.clone();
        if let Some(document) = self.document(number) {
            notes.delete_documents(DeleteDocuments::new([document.id])).unwrap();
            document.is_trashed = true;
        }
    }

    fn restore(&mut self, number: usize) {
        let count = self.documents.len();
        if let Some(document) = self.documents.get_mut(number % count.max(1)) {
            self.notes
                .move_documents(MoveDocuments::new([document.id], Destination::Unsorted))
                .unwrap();
            document.is_trashed = false;
        }
    }

    fn change(&mut self, step: &Step) {
        let notes = self.notes.clone();
        let (Step::Insert(number, _)
        | Step::Update(number, ..)
        | Step::Delete(number, _)
        | Step::Comment(number, ..)) = step
        else {
            return;
        };
        let Some(document) = self.document(*number) else { return };
        if let Step::Insert(_, words) = step {
            let added = notes.insert_markdown(&text(words), Position::end_of(document.id)).unwrap();
            document.blocks.push((added[0].id, text(words)));
            return;
        }
        let (Step::Update(_, block, _) | Step::Delete(_, block) | Step::Comment(_, block, _)) =
            step
        else {
            return;
        };
        let count = document.blocks.len();
        let Some((id, said)) = document.blocks.get_mut(block % count.max(1)) else { return };
        let id = *id;
        match step {
            Step::Update(_, _, words) => {
                notes
                    .update_blocks(UpdateBlocks::new([BlockPatch::markdown(id, text(words))]))
                    .unwrap();
                *said = text(words);
            }
            Step::Comment(_, _, words) => {
                notes.add_comments(AddComments::new([CommentDraft::new(id, text(words))])).unwrap();
                document.comments.push((id, text(words)));
            }
            _ => {
                notes.delete_blocks(DeleteBlocks::from(id)).unwrap();
                document.blocks.retain(|(block, _)| *block != id);
                document.comments.retain(|(block, _)| *block != id);
            }
        }
    }

    fn search(&self, step: &Step) -> Result<(), String> {
        let is = |asked: usize| move |word: &&str| stem(word) == stem(WORDS[asked]);
        let has = |document: &Document, asked| document.has(|text| text.iter().any(is(asked)));
        match step {
            Step::Word(word) => {
                let expected = self.expected(|document| has(document, *word));
                self.compare(SearchDocuments::words(WORDS[*word]), &expected)
            }
            Step::Words(one, other) => {
                let asked = format!("{} {}", WORDS[*one], WORDS[*other]);
                let both = self.expected(|document| has(document, *one) && has(document, *other));
                self.compare(SearchDocuments::words(&asked).all_words(), &both)?;
                let either = self.expected(|document| has(document, *one) || has(document, *other));
                self.compare(SearchDocuments::words(&asked).any_word(), &either)?;
                self.compare(SearchDocuments::words(&asked), &either)?;
                let found = self.notes.search(asked.as_str()).map_err(|error| error.to_string())?;
                let lacks = |found: &SearchMatch| !found.missing_terms.is_empty();
                let is_ordered = found.is_sorted_by_key(lacks)
                    && found.iter().all(|found| lacks(found) != both.contains(&found.document_id));
                if is_ordered { Ok(()) } else { Err(format!("{asked}: {found:?}")) }
            }
            Step::Phrase(one, other) => {
                let row = [WORDS[*one], WORDS[*other]];
                let in_a_row = |text: &[&str]| text.windows(2).any(|pair| pair == row);
                let expected = self.expected(|document| document.has(in_a_row));
                self.compare(SearchDocuments::words(format!("\"{}\"", row.join(" "))), &expected)
            }
            Step::Beginning(word, letters) => {
                let beginning: String = WORDS[*word].chars().take(*letters).collect();
                let begins = |text: &[&str]| text.iter().any(|word| word.starts_with(&beginning));
                let expected = self.expected(|document| document.has(begins));
                self.compare(SearchDocuments::words(&beginning), &expected)
            }
            Step::Pattern(one, other) => {
                let row = format!("{} {}", WORDS[*one], WORDS[*other]);
                let blocks = |document: &Document| {
                    let has = |text: &str| text.contains(&row);
                    has(&document.title) || document.blocks.iter().any(|(_, text)| has(text))
                };
                let pattern = format!("{} {}", WORDS[*one], WORDS[*other]);
                self.compare(SearchDocuments::pattern(pattern), &self.expected(blocks))
            }
            _ => Ok(()),
        }
    }

    /// Every word, at the end.
    fn all(&self) -> Result<(), String> {
        (0..WORDS.len()).try_for_each(|word| self.search(&Step::Word(word)))
    }
}

/// Damages a file of the index, or takes all of it away.
fn damage(space: &Path, file: usize, place: usize) {
    let index = space.join("index");
    let Some(Ok(generation)) = fs::read_dir(&index).ok().and_then(|mut entries| entries.next())
    else {
        return;
    };
    let mut files: Vec<_> =
        fs::read_dir(generation.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort_unstable();
    let Some(path) = files.get(file) else { return fs::remove_dir_all(index).unwrap() };
    let mut bytes = fs::read(path).unwrap();
    match (place % 3, bytes.len()) {
        (_, 0) | (0, _) => return fs::remove_file(path).unwrap(),
        (1, length) => bytes.truncate(place % length),
        (_, length) => bytes[place % length] ^= 0x10,
    }
    fs::write(path, bytes).unwrap();
}

fn check(steps: &[Step], on_disk: bool, is_blind: bool) -> Result<(), String> {
    let mut run = Run::new(on_disk, is_blind);
    for step in steps {
        run.step(step)?;
    }
    run.all()?;
    run.notes.space().flush_search().map_err(|error| error.to_string())?;
    run.all()
}

fn check_all(cases: u32, on_disk: bool) {
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let outcome =
        runner.run(&steps(), |steps| check(&steps, on_disk, false).map_err(TestCaseError::fail));
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn in_memory() {
    check_all(400, false);
}

#[test]
fn on_disk_with_damage() {
    check_all(120, true);
}

/// What forgets the trash is told from what doesn't.
#[test]
fn a_wrong_expectation_is_not_met() {
    let mut runner = TestRunner::deterministic();
    let wrong = |_| check(&steps().new_tree(&mut runner).unwrap().current(), false, true).is_err();
    assert!((0..60).any(wrong));
}
