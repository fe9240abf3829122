//! The journal of a killed space is damaged: the space opens with all that was written, or it is
//! told which record is damaged. Only what a journal ends with can be gone without a word, for so
//! it looks when a record was cut short by a loss of power.

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use leafbase::{Durability, ErrorKind, Position, Space};
use leafbase_store::directory::{STORE_FILE, WAL_FILE};
use leafbase_store::kv::OpenOptions;
use leafbase_store::testkit::open_killed;
use tests::reading::{self, Question};
use tests::rich;

use super::harm::{Harm, PAGE};
use super::unlike;
use crate::kind::{Failure, Fault, Trial};
use crate::random::Random;

/// Of a record: checksum, epoch, number, synced records, length.
const HEADER: usize = 40;
const ALIGNED: usize = 8;
/// No journal is shorter.
const SHORTEST: usize = 256 << 10;
/// Durable writes after the last commit.
const WRITES: usize = 12;

/// The files of a space as a process leaves them that is killed.
struct State {
    store: Arc<[u8]>,
    journal: Arc<[u8]>,
}

struct Killed {
    last: State,
    /// Where each record of the journal lies.
    records: Vec<Range<usize>>,
    questions: Vec<Question>,
    /// The answers with so many records.
    truth: Vec<Vec<String>>,
}

fn killed() -> &'static Killed {
    static KILLED: OnceLock<Killed> = OnceLock::new();
    KILLED.get_or_init(|| make().unwrap_or_else(|error| panic!("a killed space: {error:?}")))
}

fn make() -> Result<Killed, Box<dyn std::error::Error>> {
    let place = tempfile::tempdir()?;
    let path = place.path().join("space");
    let space = rich::builder().durability(Durability::Durable).create(&path)?;
    rich::fill(&space)?;
    let notes = space.connect().acting_as("Ada");
    let document = notes.create_document("Written last")?.id();
    space.flush()?;
    let mut states = vec![State::of(&path)?];
    for number in 0..WRITES {
        // Of all lengths: some share a page, others have several.
        let lines: String = (0..number % 5 * 9 + 1)
            .map(|line| format!("- [ ] line {line} of {number}\n"))
            .collect();
        notes.insert_markdown(&lines, Position::end_of(document))?;
        states.push(State::of(&path)?);
    }
    let last = states.pop().ok_or("a space without a state")?;
    let records = records(&last.journal);
    assert!(states.iter().all(|state| state.store == last.store), "a commit was made");
    assert_eq!(records.len(), WRITES, "each write is a record");
    let questions = reading::questions(&last.open(&last.journal)?)?;
    let states = states.iter().chain([&last]);
    let truth = states.map(|state| Ok(answers(&state.open(&state.journal)?, &questions)));
    let truth: Vec<_> = truth.collect::<leafbase::Result<_>>()?;
    assert!(truth.windows(2).all(|pair| pair[0] != pair[1]), "a write changes what is seen");
    Ok(Killed { records, questions, truth, last })
}

impl State {
    fn of(path: &Path) -> std::io::Result<Self> {
        let read = |name: &str| fs::read(path.join(name)).map(Arc::from);
        Ok(Self { store: read(STORE_FILE)?, journal: read(WAL_FILE)? })
    }

    fn open(&self, journal: &Arc<[u8]>) -> leafbase::Result<Space> {
        let store = open_killed(&self.store, journal, &OpenOptions::new().cache_bytes(1 << 20))?;
        rich::builder().read_only(true).over(Arc::new(store), false)
    }
}

/// Where the records lie that have the epoch of the first one.
fn records(journal: &[u8]) -> Vec<Range<usize>> {
    let wide = |at: usize| {
        journal
            .get(at..at + 8)
            .map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap_or_default()))
    };
    let (epoch, mut records, mut at) = (wide(8), Vec::new(), 0);
    while wide(at + 8) == epoch && wide(at + 16) == Some(records.len() as u64) {
        let end = at + HEADER + wide(at + 32).unwrap_or_default() as usize;
        records.push(at..end);
        at = end.next_multiple_of(ALIGNED);
    }
    records
}

fn answers(space: &Space, questions: &[Question]) -> Vec<String> {
    let notes = space.connect();
    let answer = |question| {
        reading::ask(&notes, question).unwrap_or_else(|error| format!("{:?}", error.kind()))
    };
    questions.iter().map(answer).collect()
}

pub fn replay(random: &mut Random) -> Result<Trial, Failure> {
    let killed = killed();
    let mut journal = killed.last.journal.to_vec();
    let harm = draw(random, killed, &mut journal);
    let is_touched = |record: &Range<usize>| {
        journal.get(record.clone()) != killed.last.journal.get(record.clone())
    };
    let touched: Vec<usize> =
        (0..killed.records.len()).filter(|number| is_touched(&killed.records[*number])).collect();
    let mut trial = Trial { trials: 1, ..Trial::default() };
    let fail = |fault, what: String| {
        Err(Failure::new(fault, format!("journal, {harm} (records {touched:?} from 0): {what}")))
    };
    let is_short = journal.len() < SHORTEST;
    let space = match killed.last.open(&Arc::from(journal)) {
        Ok(space) => space,
        Err(error) => {
            let named = touched
                .first()
                .map(|first| format!("damaged: record {} of the write-ahead log", first + 1));
            let short =
                is_short.then(|| "damaged: the write-ahead log, which is truncated".to_owned());
            let is_told = named.iter().chain(&short).any(|told| error.message() == *told);
            if error.kind() != ErrorKind::Corrupted || !is_told {
                return fail(Fault::Unopenable, format!("opening reports {error:?}"));
            }
            trial.note("journal refused", 1);
            return Ok(trial);
        }
    };
    let there = touched.first().copied().unwrap_or(killed.records.len());
    // The records from the first damaged one on: if one of them is whole, the journal does not end
    // there.
    if touched.len() != killed.records.len() - there {
        return fail(Fault::Lost, "it opens without a word".to_owned());
    }
    let found = answers(&space, &killed.questions);
    let pairs = found.iter().zip(&killed.truth[there]).zip(&killed.questions);
    if let Some(((found, answer), question)) =
        pairs.into_iter().find(|((found, answer), _)| found != answer)
    {
        return fail(Fault::WrongData, format!("{question:?} gives {}", unlike(found, answer)));
    }
    match space.check() {
        Ok(report) if report.is_clean() => {}
        other => return fail(Fault::WrongData, format!("the check says {other:?}")),
    }
    let what = match touched.len() {
        0 => "journal whole",
        1 => "journal without its last record",
        _ => "journal without its last page",
    };
    trial.note(what, 1);
    Ok(trial)
}

fn draw(random: &mut Random, killed: &Killed, journal: &mut Vec<u8>) -> Harm {
    let used = killed.records.last().map_or(PAGE, |record| record.end);
    let at = if random.one_in(8) { random.place(journal.len()) } else { random.place(used) };
    let harm = match random.below(16) {
        0 => Harm::Cut(at),
        1..3 => Harm::Zeroed(at / PAGE * PAGE),
        3 => Harm::Random(at / PAGE * PAGE),
        4..6 => Harm::Foreign(at, 1 + random.place(200)),
        6..9 => Harm::Byte(at),
        9 => Harm::Longer(1 + random.place(PAGE)),
        _ => Harm::Bit(at, u8::try_from(random.below(8)).unwrap_or_default()),
    };
    harm.apply(random, journal);
    harm
}
