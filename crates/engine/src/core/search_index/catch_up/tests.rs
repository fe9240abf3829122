//! Writes during a catch-up.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use leafbase_model::{
    BlockData, BlockDraft, CreateDocuments, DeleteDocuments, Destination, DocumentId, Position,
};
use proptest::prelude::*;

use super::CatchUpPace;
use crate::{Connection, Durability, SearchIndexing, Space};

/// A write to one document.
#[derive(Clone, Copy, Debug)]
enum Write {
    Make,
    Edit(usize),
    Delete(usize),
}

/// Words of which none is a prefix of another.
fn word(number: u32) -> String {
    format!("word{number:04}")
}

/// Writes between two passes of a catch-up.
struct Writing<'s> {
    notes: &'s Connection,
    rounds: RefCell<std::vec::IntoIter<Vec<Write>>>,
    /// The words of each document. No two documents share a word.
    words: RefCell<BTreeMap<DocumentId, Vec<String>>>,
    next: Cell<u32>,
}

impl Writing<'_> {
    fn word(&self) -> String {
        self.next.set(self.next.get() + 1);
        word(self.next.get())
    }

    fn write(&self, write: Write) {
        let mut words = self.words.borrow_mut();
        let nth = |number: usize| words.keys().copied().cycle().nth(number % words.len().max(1));
        match write {
            Write::Make => {
                let word = self.word();
                words.insert(self.notes.create_document(&word).unwrap().id(), vec![word]);
            }
            Write::Edit(number) => {
                let Some(document) = nth(number) else { return };
                let word = self.word();
                self.notes.insert_markdown(&word, Position::end_of(document)).unwrap();
                words.entry(document).or_default().push(word);
            }
            Write::Delete(number) => {
                let Some(document) = nth(number) else { return };
                self.notes.delete_documents(DeleteDocuments::new([document])).unwrap();
                words.remove(&document);
            }
        }
    }

    /// Every word finds its document, and words of deleted documents find nothing.
    fn check(&self, notes: &Connection) {
        for (document, words) in &*self.words.borrow() {
            for word in words {
                let found: Vec<_> = notes
                    .search(word.as_str())
                    .unwrap()
                    .iter()
                    .map(|found| found.document_id)
                    .collect();
                assert_eq!(found, [*document], "{word}");
            }
        }
        let here: usize = self.words.borrow().values().map(Vec::len).sum();
        let all =
            (1..=self.next.get()).filter(|number| !notes.search(word(*number)).unwrap().is_empty());
        assert_eq!(all.count(), here);
    }
}

impl CatchUpPace for Writing<'_> {
    fn is_cancelled(&self) -> bool {
        false
    }

    fn expects_more(&self) -> bool {
        !self.rounds.borrow().as_slice().is_empty()
    }

    fn wait_for_more(&self) -> bool {
        let Some(round) = self.rounds.borrow_mut().next() else { return false };
        for write in round {
            self.write(write);
        }
        true
    }
}

fn writes() -> impl Strategy<Value = Vec<Write>> {
    let write = prop_oneof![
        3 => Just(Write::Make),
        2 => any::<usize>().prop_map(Write::Edit),
        1 => any::<usize>().prop_map(Write::Delete),
    ];
    prop::collection::vec(write, 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn writes_during_a_catch_up_are_found(
        before in writes(),
        rounds in prop::collection::vec(writes(), 0..4),
        after in writes(),
        has_index in any::<bool>(),
        is_reopened in any::<bool>(),
    ) {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("space");
        let builder = || Space::builder().search_indexing(SearchIndexing::OnDemand);
        let notes = builder().create(&path).unwrap().connect();
        let writing = Writing {
            notes: &notes,
            rounds: RefCell::new(rounds.into_iter()),
            words: RefCell::default(),
            next: Cell::new(0),
        };
        writing.write(Write::Make);
        if has_index {
            notes.space().flush_search().unwrap();
        }
        for write in before {
            writing.write(write);
        }
        let space = notes.space();
        space.indexer().try_catch_up(&space.store().unwrap(), &writing).unwrap();
        writing.check(&notes);
        if is_reopened {
            space.clone().close().unwrap();
            writing.check(&builder().open(&path).unwrap().connect());
            return Ok(());
        }
        for write in after {
            writing.write(write);
        }
        space.flush_search().unwrap();
        writing.check(&notes);
    }
}

/// A bulk write does not starve callers that need exclusive access to the index or the store.
#[test]
fn a_bulk_write_starves_no_caller() {
    let home = tempfile::tempdir().unwrap();
    let space =
        Space::builder().durability(Durability::Relaxed).create(home.path().join("space")).unwrap();
    let (notes, is_over) = (space.connect(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let pages = (0..10).map(|_| BlockDraft::new(BlockData::page("made beside")));
                notes.create_documents(CreateDocuments::new(pages, Destination::Unsorted)).unwrap();
                // Often enough to keep the catch-up going, without filling the disk.
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        for number in 0..4 {
            let word = word(number);
            notes.create_document(&word).unwrap();
            space.flush_search().unwrap();
            assert_eq!(notes.search(word.as_str()).unwrap().len(), 1);
            space.compact().unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let made = notes.documents().unwrap().len();
    assert!(made > 4);
    space.clone().close().unwrap();
}
