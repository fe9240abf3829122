//! Several processes share a space and write to it, search it and read it back, while one after the
//! other is killed at a random moment and started again. What each told is there, once and whole,
//! and no process ever goes back.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use leafbase::{
    Connection, DocumentId, Fetch, Position, Result, SearchIndexing, Space, SpaceBuilder,
};

use super::kills::{alone, place, say};
use crate::kind::{Control, Failure, Fault, Kind, Least, Trial};
use crate::random::Random;
use crate::world::scan::{check, unopenable};

pub const KIND: Kind = Kind {
    name: "processes",
    says: "two or three processes share a space under load, and each is killed again and again",
    weight: 3,
    least: Least::Trials(500),
    trial: |seed| trial(seed, false),
    control: Some(Control {
        says: "a process that tells each write before it is done",
        trial: |seed| trial(seed, true),
    }),
};

/// What starts this program as one of the processes.
pub const SHARING_ARGUMENT: &str = "--share-until-killed";

/// Kills of one space.
const KILLS: u64 = 10;
/// Calls of a process, so that one that nobody kills ends.
const MAX_CALLS: u64 = 5_000;
/// Microseconds between two kills, at most.
const MAX_PAUSE: u64 = 120_000;
/// Microseconds that starting a process and opening the space take.
const OPENING: u64 = 30_000;
/// A process that tells nothing for so long hangs.
const PATIENCE: Duration = Duration::from_secs(60);
/// One in so many calls of a process searches for what was written.
const SEARCHES: u64 = 8;
/// The document that all processes write to, and those that belong to one each.
const COMMON: &str = "Common";
const OWN: [&str; 3] = ["First", "Second", "Third"];

fn shared(in_background: bool) -> SpaceBuilder {
    let indexing =
        if in_background { SearchIndexing::Background } else { SearchIndexing::OnDemand };
    Space::builder().shared(true).search_indexing(indexing)
}

/// The texts of the blocks of a document.
fn lines(notes: &Connection, document: DocumentId) -> Result<Vec<String>> {
    let document = notes.fetch(Fetch::new(document))?;
    Ok(document.children().iter().map(|block| block.data.inline.clone()).collect())
}

fn titled(notes: &Connection, title: &str) -> Result<DocumentId> {
    let documents = notes.documents()?;
    let found = documents.iter().find(|document| document.title == title);
    found.map(leafbase::Document::id).ok_or_else(|| leafbase::Error::validation("no document"))
}

fn trial(seed: u64, lies: bool) -> std::result::Result<Trial, Failure> {
    let directory = place().map_err(|error| Failure::new(Fault::Unopenable, error.to_string()))?;
    let path = directory.path().join("notes");
    let failed = |error: leafbase::Error| unopenable(&error, "made");
    let (mut random, mut trial) = (Random::new(seed), Trial::default());
    let space = alone(|| shared(seed.is_multiple_of(2)).create(&path)).map_err(failed)?;
    let notes = space.connect();
    for title in [COMMON].into_iter().chain(OWN) {
        notes.create_document(title).map_err(failed)?;
    }
    let count = 2 + random.place(2);
    let start = |number: usize, next: u64, random: &mut Random| {
        Sharer::start(&path, number, next, random, lies)
    };
    let mut sharers = Vec::new();
    for number in 0..count {
        sharers.push(start(number, 1, &mut random)?);
    }
    let mut seen = 0;
    for kill in 1..=KILLS {
        let when = format!("kill {kill} of {count} processes");
        let pause = if random.one_in(5) { OPENING } else { MAX_PAUSE };
        let until = Instant::now() + Duration::from_micros(random.below(pause));
        while Instant::now() < until {
            seen = look(&notes, seen, &when)?;
        }
        let sharer = sharers.swap_remove(random.place(count));
        let (number, told) = (sharer.number, sharer.kill()?);
        trial.trials += 1;
        trial.note("writes told", told.calls);
        // Whatever the process was about to commit is decided, before another one goes on.
        space.flush().map_err(failed)?;
        let last = compare(&notes, number, &told, &when)?;
        trial.note("writes in flight that are there", last - told.last);
        sharers.push(start(number, last + 1, &mut random)?);
    }
    let mut last = [0; OWN.len()];
    for sharer in sharers {
        let (number, told) = (sharer.number, sharer.kill()?);
        space.flush().map_err(failed)?;
        last[number] = compare(&notes, number, &told, "the last kills")?;
    }
    look(&notes, seen, "the last kills")?;
    check(&space, "shared by nobody else")?;
    alone(|| space.close()).map_err(failed)?;
    judge_alone(&path, &last)?;
    Ok(trial)
}

/// One process, until it is killed.
struct Sharer {
    number: usize,
    /// The number of its first write.
    next: u64,
    child: Child,
    output: BufReader<ChildStdout>,
}

/// What a process told.
struct SharerReport {
    last: u64,
    calls: u64,
}

impl Sharer {
    fn start(
        path: &Path,
        number: usize,
        next: u64,
        random: &mut Random,
        lies: bool,
    ) -> std::result::Result<Self, Failure> {
        let failed = |error: std::io::Error| Failure::new(Fault::Unopenable, error.to_string());
        let program = env::current_exe().map_err(failed)?;
        let mut command = Command::new(program);
        command.arg(SHARING_ARGUMENT).arg(path).args([
            number.to_string(),
            next.to_string(),
            random.next().to_string(),
            lies.to_string(),
        ]);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = alone(|| command.spawn()).map_err(failed)?;
        let Some(output) = child.stdout.take().map(BufReader::new) else {
            return Err(Failure::new(Fault::Unopenable, "a process without output"));
        };
        Ok(Self { number, next, child, output })
    }

    fn kill(mut self) -> std::result::Result<SharerReport, Failure> {
        let failed = |error: std::io::Error| Failure::new(Fault::Unopenable, error.to_string());
        self.child.kill().map_err(failed)?;
        let started = Instant::now();
        self.child.wait().map_err(failed)?;
        let (mut last, mut calls) = (self.next - 1, 0);
        let mut line = String::new();
        // One that was cut off was told to nobody.
        while self.output.read_line(&mut line).is_ok_and(|read| read > 0) && line.ends_with('\n') {
            match line.trim_end().split_once(' ') {
                Some(("done", number)) if number.parse() == Ok(last + 1) => {
                    last += 1;
                    calls += 1;
                }
                _ if line == "open\n" => {}
                Some(("lost", what)) => return Err(Failure::new(Fault::Lost, what)),
                Some(("wrong", what)) => return Err(Failure::new(Fault::WrongData, what)),
                _ => return Err(Failure::new(Fault::Unopenable, line)),
            }
            line.clear();
        }
        if started.elapsed() > PATIENCE {
            return Err(Failure::new(Fault::Hang, "a process that is killed goes on"));
        }
        Ok(SharerReport { last, calls })
    }
}

/// Reads the common document beside the processes: whole writes, and none less than before.
fn look(notes: &Connection, seen: usize, when: &str) -> std::result::Result<usize, Failure> {
    let unread = |error: leafbase::Error| unopenable(&error, when);
    let common = titled(notes, COMMON).map_err(unread)?;
    let found = lines(notes, common).map_err(unread)?;
    if found.len() < seen {
        let what = format!("{when}: {} lines are read, and {seen} were before", found.len());
        return Err(Failure::new(Fault::Lost, what));
    }
    if found.iter().collect::<BTreeSet<_>>().len() != found.len() {
        return Err(Failure::new(Fault::WrongData, format!("{when}: a line is there twice")));
    }
    Ok(found.len())
}

/// What a process told is there, in its own document and in the common one, and at most one more.
fn compare(
    notes: &Connection,
    number: usize,
    told: &SharerReport,
    when: &str,
) -> std::result::Result<u64, Failure> {
    let unread = |error: leafbase::Error| unopenable(&error, when);
    let own = OWN[number];
    let read = |title| titled(notes, title).and_then(|document| lines(notes, document));
    let found = read(own).map_err(unread)?;
    let common = read(COMMON).map_err(unread)?;
    let common: Vec<String> =
        common.into_iter().filter(|line| line.split(' ').next() == Some(own)).collect();
    let last = found.len() as u64;
    let expected: Vec<String> = (1..=last).map(|at| line_of(own, at)).collect();
    if last < told.last {
        let what = format!("{when}: {own} has {last} writes, and {} were told", told.last);
        return Err(Failure::new(Fault::Lost, what));
    }
    if found != expected || common != expected || last > told.last + 1 {
        let what = format!(
            "{when}: {own} told {}: {} and {} lines are there",
            told.last,
            found.len(),
            common.len()
        );
        return Err(Failure::new(Fault::HalfApplied, what));
    }
    Ok(last)
}

/// A handle that does not share the space finds what all have written.
fn judge_alone(path: &Path, last: &[u64]) -> std::result::Result<(), Failure> {
    let when = "opened alone";
    let failed = |error: leafbase::Error| unopenable(&error, when);
    let space = alone(|| Space::open(path)).map_err(failed)?;
    let notes = space.connect();
    for (number, last) in last.iter().enumerate() {
        compare(&notes, number, &SharerReport { last: *last, calls: 0 }, when)?;
        let is_found = notes.search(OWN[number]).map_err(failed)?.len() == 2 || *last == 0;
        if !is_found {
            return Err(Failure::new(
                Fault::WrongData,
                format!("{when}: a search finds too little"),
            ));
        }
    }
    check(&space, when)?;
    alone(|| space.close()).map_err(failed)
}

fn line_of(own: &str, number: u64) -> String {
    format!("{own} wrote word{number}")
}

/// A process that shares the space, until it is killed.
pub fn share(path: &Path, arguments: &[String]) -> ExitCode {
    let [number, next, seed, lies] = arguments else { return ExitCode::from(2) };
    let number = number.parse::<usize>().unwrap_or_default();
    let next = next.parse().unwrap_or_default();
    let seed = seed.parse().unwrap_or_default();
    if let Err(error) = write_until_killed(path, OWN[number], next, seed, lies == "true") {
        say(&format!("failed: {error:?}"));
    }
    ExitCode::SUCCESS
}

fn write_until_killed(path: &Path, own: &str, next: u64, seed: u64, lies: bool) -> Result<()> {
    let mut random = Random::new(seed);
    let space = shared(random.one_in(2)).open(path)?;
    let notes = space.connect().acting_as(own);
    say("open");
    let (document, common) = (titled(&notes, own)?, titled(&notes, COMMON)?);
    let mut seen = 0;
    for number in next..next + MAX_CALLS {
        let line = line_of(own, number);
        if lies {
            say(&format!("done {number}"));
            thread::sleep(Duration::from_millis(2));
        }
        notes.batch(|batch| {
            batch.insert_markdown(&line, Position::end_of(document))?;
            batch.insert_markdown(&line, Position::end_of(common))
        })?;
        if !lies {
            say(&format!("done {number}"));
        }
        let found = lines(&notes, common)?;
        if !found.contains(&line) || found.len() <= seen {
            say(&format!("lost {own}: {line} is not there, or {} of {seen} are", found.len()));
        }
        seen = found.len();
        if random.one_in(SEARCHES) {
            let hits = notes.search(format!("word{number}").as_str())?;
            if !hits.iter().any(|hit| hit.document_id == document) {
                say(&format!("wrong {own}: a search does not find {line}"));
            }
        }
        if random.one_in(64) {
            space.flush_search()?;
        }
    }
    Ok(())
}
