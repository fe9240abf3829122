//! A writer, eight readers and a searcher at once.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use leafbase::{
    BlockId, BlockPatch, Connection, DeleteBlocks, DocumentId, Durability, Error, Fetch, ListTasks,
    Space, TaskScope, UpdateBlocks,
};

use crate::kind::{Control, Failure, Fault, Kind, Least, Trial};

pub const KIND: Kind = Kind {
    name: "threads",
    says: "eight readers and a searcher look on while one call after the other writes three documents, and see all of a call or nothing",
    weight: 1,
    least: Least::Calls(2),
    trial: |seed| play(seed, time(), false),
    control: Some(Control {
        says: "what belongs together is written by two calls",
        trial: |seed| play(seed, SHORT, true),
    }),
};

const READERS: usize = 8;
const DOCUMENTS: usize = 3;
/// Blocks of each document that every write changes.
const BLOCKS: usize = 5;
const SHORT: Duration = Duration::from_secs(5);
const LONG: Duration = Duration::from_secs(60);

/// A minute, in a run that has some.
fn time() -> Duration {
    let arguments: Vec<String> = std::env::args().collect();
    let given = arguments
        .windows(2)
        .find(|pair| pair[0] == "--minutes")
        .and_then(|pair| pair[1].parse::<f64>().ok());
    if given.is_some_and(|minutes| minutes >= 10.0) { LONG } else { SHORT }
}

struct Stage {
    notes: Connection,
    documents: Vec<DocumentId>,
    blocks: Vec<BlockId>,
    /// The number of the write under way, and of the last one that has returned.
    begun: AtomicU64,
    done: AtomicU64,
    over: AtomicBool,
    looks: AtomicU64,
    searches: AtomicU64,
    wrong: Mutex<Option<Failure>>,
}

/// A number as a word that is no other's beginning, and has no stem.
fn word(mut number: u64) -> String {
    let letter = |_| {
        let letter = LETTERS[usize::try_from(number % 16).unwrap_or_default()];
        number /= 16;
        char::from(letter)
    };
    (0..6).map(letter).collect()
}

fn number(word: &str) -> Option<u64> {
    let digit =
        |letter: u8| LETTERS.iter().position(|known| *known == letter).map(|digit| digit as u64);
    word.bytes()
        .rev()
        .try_fold(0, |number, letter| Some(number * 16 + digit(letter)?))
        .filter(|_| word.len() == 6)
}

const LETTERS: &[u8; 16] = b"bcdfghjkmnpqvwxz";

fn play(seed: u64, time: Duration, in_two: bool) -> Result<Trial, Failure> {
    let place = tempfile::tempdir().unwrap_or_else(|error| panic!("no room: {error}"));
    let path = place.path().join("space");
    let durability = if seed.is_multiple_of(2) { Durability::Relaxed } else { Durability::Durable };
    let builder = || Space::builder().durability(durability);
    let space = builder().create(&path).map_err(unexpected)?;
    let stage = Stage::new(space.connect()).map_err(unexpected)?;
    thread::scope(|scope| {
        let stage = &stage;
        scope.spawn(move || stage.take_part(|| stage.write(in_two)));
        scope.spawn(move || stage.take_part(|| stage.search()));
        for reader in 0..READERS {
            scope.spawn(move || stage.take_part(|| stage.read(reader)));
        }
        let started = Instant::now();
        while started.elapsed() < time && !stage.over.load(SeqCst) {
            thread::sleep(Duration::from_millis(20));
        }
        stage.over.store(true, SeqCst);
    });
    let Stage { wrong, begun, looks, searches, documents, .. } = stage;
    if let Some(wrong) = wrong.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(wrong);
    }
    let report = space.check().map_err(unexpected)?;
    if !report.is_clean() {
        return Err(Failure::new(Fault::WrongData, format!("{report:?}")));
    }
    space.close().map_err(unexpected)?;
    let last = builder()
        .open(&path)
        .map_err(unexpected)?
        .connect()
        .content_markdown(documents[0])
        .map_err(unexpected)?;
    if !last.contains(&word(begun.load(SeqCst))) {
        return Err(Failure::new(
            Fault::Lost,
            format!("write {} of a space that was closed: {last}", begun.load(SeqCst)),
        ));
    }
    let mut trial = Trial { trials: 1, ..Trial::default() };
    trial.note("writes", begun.load(SeqCst));
    trial.note("looks", looks.load(SeqCst));
    trial.note("searches", searches.load(SeqCst));
    trial.note("seconds", time.as_secs());
    Ok(trial)
}

fn unexpected(error: Error) -> Failure {
    Failure::new(Fault::WrongData, format!("{error:?}"))
}

fn torn(what: impl std::fmt::Debug) -> Failure {
    Failure::new(Fault::HalfApplied, format!("{what:?}"))
}

impl Stage {
    fn new(notes: Connection) -> leafbase::Result<Self> {
        let (mut documents, mut blocks) = (Vec::new(), Vec::new());
        for title in 0..DOCUMENTS {
            let document = notes.create_document(&format!("Lamp {title}"))?.id();
            let lines = format!("- [x] {}\n", word(0)).repeat(BLOCKS);
            blocks.extend(notes.insert_markdown(&lines, document)?.iter().map(|block| block.id));
            documents.push(document);
        }
        let [begun, done, looks, searches] = [(); 4].map(|()| AtomicU64::new(0));
        Ok(Self {
            notes,
            documents,
            blocks,
            begun,
            done,
            over: false.into(),
            looks,
            searches,
            wrong: Mutex::default(),
        })
    }

    fn take_part(&self, part: impl FnOnce() -> Result<(), Failure>) {
        // A panic is handed on when the thread is joined; the others end.
        let ending = Ending(&self.over);
        if let Err(failure) = part() {
            self.wrong.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
        }
        drop(ending);
    }

    fn goes_on(&self) -> bool {
        !self.over.load(SeqCst)
    }

    fn write(&self, in_two: bool) -> Result<(), Failure> {
        let write = |blocks: &[BlockId], number| {
            let patch = |id: &BlockId| {
                let mut patch = BlockPatch::of(*id);
                patch.fields.markdown = Some(word(number));
                patch
            };
            self.notes.update_blocks(UpdateBlocks::new(blocks.iter().map(patch)))
        };
        for number in 1.. {
            if !self.goes_on() {
                break;
            }
            self.begun.store(number, SeqCst);
            let (first, rest) =
                self.blocks.split_at(if in_two { self.blocks.len() / 2 } else { 0 });
            for part in [first, rest].into_iter().filter(|part| !part.is_empty()) {
                write(part, number).map_err(unexpected)?;
            }
            self.done.store(number, SeqCst);
            self.work_beside(number).map_err(unexpected)?;
        }
        Ok(())
    }

    /// What else there is to be done meanwhile.
    fn work_beside(&self, number: u64) -> leafbase::Result<()> {
        let space = self.notes.space();
        if number.is_multiple_of(16) {
            space.flush()?;
        }
        if number.is_multiple_of(32) {
            let aside = self.notes.create_document("Aside")?.id();
            let added = self.notes.insert_markdown(&"some words\n\n".repeat(100), aside)?;
            let ids: Vec<_> = added.iter().skip(1).map(|block| block.id).collect();
            self.notes.delete_blocks(DeleteBlocks::new(ids))?;
        }
        Ok(())
    }

    fn read(&self, reader: usize) -> Result<(), Failure> {
        let mut seen = 0;
        while self.goes_on() {
            let done = self.done.load(SeqCst);
            let words = self.look(reader).map_err(unexpected)?;
            let numbers: BTreeSet<Option<u64>> = words.iter().map(|word| number(word)).collect();
            let Some(Some(found)) = numbers.first().copied().filter(|_| numbers.len() == 1) else {
                return Err(torn((reader, words)));
            };
            if found < done.max(seen) {
                return Err(Failure::new(
                    Fault::Lost,
                    format!("write {found} is seen after {done}"),
                ));
            }
            seen = found;
            self.looks.fetch_add(1, SeqCst);
        }
        Ok(())
    }

    /// What one call shows of the blocks.
    fn look(&self, reader: usize) -> leafbase::Result<Vec<String>> {
        let document = self.documents[reader % DOCUMENTS];
        Ok(match reader % 3 {
            0 => {
                let tree = self.notes.fetch(Fetch::new(document))?;
                tree.walk()
                    .filter(|(depth, _)| *depth > 0)
                    .map(|(_, block)| block.data.inline.clone())
                    .collect()
            }
            1 => {
                let text = self.notes.content_markdown(document)?;
                text.lines()
                    .filter_map(|line| line.strip_prefix("- [x] "))
                    .map(str::to_owned)
                    .collect()
            }
            _ => {
                let tasks = self.notes.tasks(ListTasks::new(TaskScope::Logbook))?.items;
                tasks.into_iter().map(|task| task.inline).collect()
            }
        })
    }

    fn search(&self) -> Result<(), Failure> {
        while self.goes_on() {
            let done = self.done.load(SeqCst);
            let found = self.notes.search(word(done)).map_err(unexpected)?;
            let found: BTreeSet<_> = found.iter().map(|found| found.document_id).collect();
            // A word is in all of them or, once the next write is under way, in none.
            let all =
                found.len() == DOCUMENTS && self.documents.iter().all(|id| found.contains(id));
            let none = found.is_empty() && self.begun.load(SeqCst) > done;
            if !all && !none {
                return Err(torn((done, found)));
            }
            self.searches.fetch_add(1, SeqCst);
        }
        Ok(())
    }
}

/// Ends the others, also where a thread panics.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}
