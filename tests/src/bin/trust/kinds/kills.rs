//! A process that writes is killed at random moments, while it says through a pipe what it has
//! done: uploads and the search index at work.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{env, thread};

use leafbase::{Author, Space};

use crate::kind::{Control, Failure, Fault, Kind, Least, Trial};
use crate::random::Random;
use crate::world::scan::{check, searches, unopenable};

mod writer;

pub use writer::{ARGUMENT, MAIN, say, state, write};

pub const KIND: Kind = Kind {
    name: "kills",
    says: "a process that writes to a directory is killed at any moment, while it makes the space, too",
    weight: 3,
    least: Least::Trials(1_000),
    trial: |seed| trial(seed, false),
    control: Some(Control {
        says: "a writer that says of each call that it is done before it is",
        trial: |seed| trial(seed, true),
    }),
};

/// How often the writer of one space is killed.
const KILLS: u64 = 12;
/// Microseconds that making a space takes, and starting and opening one.
const MAKING: u64 = 6_000;
const OPENING: u64 = 20_000;

fn trial(seed: u64, lies: bool) -> Result<Trial, Failure> {
    let directory = place().map_err(|error| Failure::new(Fault::Unopenable, error.to_string()))?;
    let (mut random, mut trial) = (Random::new(seed), Trial::default());
    let mut path = directory.path().join("notes");
    let mut known = Known::default();
    for number in 0..KILLS {
        if random.one_in(4) {
            // Another one, to be killed while it is made.
            (path, known) = (directory.path().join(format!("notes {number}")), Known::default());
        }
        let acks = run(&path, lies, &mut random)?;
        trial.trials += 1;
        let is_made = acks.iter().any(|line| line.starts_with("open"));
        trial.note(
            "killed while the space was made",
            u64::from(!is_made && acks.iter().any(|line| line == "making")),
        );
        known.hear(&acks)?;
        let when = format!("kill {}", number + 1);
        if !path.exists() {
            if known.exists {
                return Err(Failure::new(Fault::Lost, format!("{when}: the space is gone")));
            }
            trial.note("killed before the space was made", 1);
            continue;
        }
        trial.note("acknowledged calls", acks.len() as u64);
        known.judge(&path, &when, &mut random, &mut trial)?;
    }
    Ok(trial)
}

/// A directory in memory, where there is one: a process that is killed leaves there what it leaves
/// on a disk, and sooner.
pub fn place() -> std::io::Result<tempfile::TempDir> {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())
}

/// What is started has all that is open here until it is another program, a lock among it. So while
/// one process starts, no space is closed: its lock would stay.
pub fn alone<T>(work: impl FnOnce() -> T) -> T {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    work()
}

/// Starts a writer, kills it some time later, and gives what it has said.
fn run(path: &Path, lies: bool, random: &mut Random) -> Result<Vec<String>, Failure> {
    let failed =
        |error: std::io::Error| Failure::new(Fault::Unopenable, format!("the writer: {error}"));
    let program = env::current_exe().map_err(failed)?;
    let mut child = Command::new(program);
    let child = child.arg(ARGUMENT).arg(path).arg(random.next().to_string()).arg(lies.to_string());
    let mut child: Child =
        alone(|| child.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()).map_err(failed)?;
    let lines = child.stdout.take().map(BufReader::new);
    // While it makes a space that is new, or opens it, or after some calls.
    let (acks, pause) = match (path.exists(), random.below(3)) {
        (false, 0 | 1) => (1, random.below(MAKING)),
        (true, 0) => (0, random.below(OPENING)),
        _ => (random.below(20), random.below(3_000)),
    };
    let mut said = Vec::new();
    let started = Instant::now();
    if let Some(mut lines) = lines {
        let mut next = |said: &mut Vec<String>| {
            let mut line = String::new();
            let read = lines.read_line(&mut line).unwrap_or_default();
            // The last line may have been cut off: then nobody was told.
            let is_whole = line.ends_with('\n');
            if is_whole {
                said.push(line.trim_end().to_owned());
            }
            read > 0 && is_whole
        };
        while (said.len() as u64) < acks && next(&mut said) {}
        thread::sleep(Duration::from_micros(pause));
        child.kill().map_err(failed)?;
        while next(&mut said) {}
    }
    child.wait().map_err(failed)?;
    if started.elapsed() > Duration::from_secs(60) {
        return Err(Failure::new(Fault::Hang, "the writer says nothing"));
    }
    Ok(said)
}

/// What the writers of one space have said.
#[derive(Default)]
pub struct Known {
    exists: bool,
    /// The last change whose call was said to be done.
    acknowledged: u64,
    /// After which change of the main thread which state was seen; those of the last writer alone.
    states: Vec<(u64, String)>,
}

impl Known {
    pub const fn exists(&self) -> bool {
        self.exists
    }

    pub fn hear(&mut self, lines: &[String]) -> Result<(), Failure> {
        let wrong = |line: &str| Failure::new(Fault::WrongData, format!("the writer says: {line}"));
        self.states.retain(|state| state.0 <= self.acknowledged);
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |at: usize| {
                words.get(at).and_then(|word| word.parse::<u64>().ok()).ok_or_else(|| wrong(line))
            };
            match words.first() {
                Some(&"making") => {}
                Some(&"open") => {
                    self.exists = true;
                    self.states =
                        vec![(number(1)?, words.get(2).copied().unwrap_or_default().to_owned())];
                }
                Some(&"state") => self
                    .states
                    .push((number(1)?, words.get(2).copied().unwrap_or_default().to_owned())),
                Some(&"done") => self.acknowledged = self.acknowledged.max(number(1)?),
                Some(&"failed") => return Err(Failure::new(Fault::Unopenable, line.clone())),
                _ => return Err(wrong(line)),
            }
        }
        Ok(())
    }

    /// What is stored holds all that was acknowledged, and nothing in part.
    pub fn judge(
        &mut self,
        path: &Path,
        when: &str,
        random: &mut Random,
        trial: &mut Trial,
    ) -> Result<(), Failure> {
        let failed = |error: leafbase::Error| unopenable(&error, when);
        let started = Instant::now();
        let space = Space::open(path).map_err(failed)?;
        if started.elapsed() > Duration::from_secs(5) {
            return Err(Failure::new(
                Fault::Hang,
                format!("{when}: opening takes {:?}", started.elapsed()),
            ));
        }
        let notes = space.connect();
        let last = notes.last_sequence().map_err(failed)?;
        if last < self.acknowledged {
            let what = format!(
                "{when}: change {last} is the last, and {} was acknowledged",
                self.acknowledged
            );
            return Err(Failure::new(Fault::Lost, what));
        }
        check(&space, when)?;
        if let Some((sequence, expected)) = self.states.iter().rev().find(|state| state.0 <= last) {
            let changes: Result<Vec<_>, _> = notes.changes_since(*sequence).collect();
            let main = Author::new(writer::MAIN);
            if changes.map_err(failed)?.iter().any(|change| change.stamp.by == main) {
                trial.note("call in flight is there", 1);
            } else {
                trial.note("states compared", 1);
                let found = writer::state(&notes).map_err(failed)?;
                if found != *expected {
                    let what = format!(
                        "{when}: another state than after change {sequence}, the last of {last}"
                    );
                    return Err(Failure::new(Fault::HalfApplied, what));
                }
            }
        }
        searches(&notes, random, 3, when)?;
        self.exists = true;
        self.acknowledged = last;
        alone(|| space.close()).map_err(failed)
    }
}
