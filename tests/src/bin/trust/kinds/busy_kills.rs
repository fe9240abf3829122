//! A process with a thread for each of several jobs is killed at random moments, and what is left
//! is compared with a model outside, made of the calls that it told.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use leafbase::{ChangePosition, Connection, Space};

use self::job::{FIRST, Job};
use self::worker::Orders;
use super::kills::{alone, place};
use crate::kind::{Control, Failure, Fault, Kind, Least, Trial};
use crate::random::Random;
use crate::world::scan::{check, searches_within, unopenable};

mod job;
mod log;
mod worker;

pub use worker::{BUSY_ARGUMENT, work};

pub const KIND: Kind = Kind {
    name: "busy_kills",
    says: "a process is killed while its threads type, import, upload, change items, purge and compact, and search",
    weight: 3,
    least: Least::Trials(500),
    trial: |seed| trial(seed, false),
    control: Some(Control {
        says: "a worker that tells each upload before it is done",
        trial: |seed| trial(seed, true),
    }),
};

/// How often the worker of one space is killed.
const KILLS: u64 = 8;
/// Microseconds that starting a worker and opening the space take.
const OPENING: u64 = 30_000;
/// Lines that a worker tells before it is killed, and microseconds after the last of them, at most.
const MAX_LINES: u64 = 160;
const MAX_PAUSE: u64 = 20_000;
/// A worker that is silent for so long hangs.
const PATIENCE: Duration = Duration::from_secs(60);
/// Words that are sought after each kill.
const SEARCHES: usize = 4;

fn trial(seed: u64, lies: bool) -> Result<Trial, Failure> {
    let directory = place().map_err(|error| Failure::new(Fault::Unopenable, error.to_string()))?;
    let path = directory.path().join("notes");
    let failed = |error: leafbase::Error| unopenable(&error, "made");
    let space = Space::create(&path).map_err(failed)?;
    job::prepare(&space.connect()).map_err(failed)?;
    alone(|| space.close()).map_err(failed)?;
    let (mut random, mut trial) = (Random::new(seed), Trial::default());
    let mut model = Model::new(seed.is_multiple_of(2), lies);
    for number in 1..=KILLS {
        let orders = model.orders(&mut random);
        let told = run(&path, &orders, &mut random)?;
        trial.trials += 1;
        trial.note("calls told", model.hear(&told)?);
        let is_compacting = orders.compacts && model.is_before_maintenance();
        trial.note("killed before or while the space was compacted", u64::from(is_compacting));
        model.judge(&path, &format!("kill {number}"), &mut random, &mut trial)?;
    }
    let indexing = if model.in_background { "indexing in background" } else { "indexing by calls" };
    trial.note(indexing, KILLS);
    Ok(trial)
}

/// Starts a worker, kills it some time later, and gives what it told.
fn run(path: &Path, orders: &Orders, random: &mut Random) -> Result<Vec<String>, Failure> {
    let failed =
        |error: std::io::Error| Failure::new(Fault::Unopenable, format!("the worker: {error}"));
    let program = env::current_exe().map_err(failed)?;
    let mut command = Command::new(program);
    command.arg(BUSY_ARGUMENT).arg(path).args(orders.arguments());
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child: Child = alone(|| command.spawn()).map_err(failed)?;
    let Some(mut lines) = child.stdout.take().map(BufReader::new) else { return Ok(Vec::new()) };
    let (awaited, pause) = if random.one_in(6) {
        (0, random.below(OPENING))
    } else {
        (1 + random.below(MAX_LINES), random.below(MAX_PAUSE))
    };
    let (mut told, started) = (Vec::new(), Instant::now());
    while (told.len() as u64) < awaited && read_line(&mut lines, &mut told) {}
    thread::sleep(Duration::from_micros(pause));
    child.kill().map_err(failed)?;
    while read_line(&mut lines, &mut told) {}
    child.wait().map_err(failed)?;
    if started.elapsed() > PATIENCE {
        return Err(Failure::new(Fault::Hang, "the worker tells nothing"));
    }
    Ok(told)
}

/// Reads one more line. One that was cut off was told to nobody.
fn read_line(lines: &mut impl BufRead, told: &mut Vec<String>) -> bool {
    let mut line = String::new();
    let read = lines.read_line(&mut line).unwrap_or_default();
    let is_whole = read > 0 && line.ends_with('\n');
    if is_whole {
        told.push(line.trim_end().to_owned());
    }
    is_whole
}

/// What the workers of one space have told, and what was found of it.
struct Model {
    in_background: bool,
    lies: bool,
    /// The last call of each job that is done: told, or found after a kill.
    done: BTreeMap<Job, u64>,
    /// Pages of imports that were in flight and are there in part.
    partial: BTreeMap<u64, BTreeSet<String>>,
    /// The last change when the space was looked at last.
    seen: ChangePosition,
}

impl Model {
    fn new(in_background: bool, lies: bool) -> Self {
        let done = Job::ALL.into_iter().map(|job| (job, FIRST - 1)).collect();
        let seen = ChangePosition::BEGINNING;
        Self { in_background, lies, done, partial: BTreeMap::new(), seen }
    }

    fn done(&self, job: Job) -> u64 {
        self.done.get(&job).copied().unwrap_or_default()
    }

    fn orders(&self, random: &mut Random) -> Orders {
        Orders {
            seed: random.next(),
            in_background: self.in_background,
            compacts: random.one_in(2),
            lies: self.lies,
            next: Job::ALL.map(|job| self.done(job) + 1),
        }
    }

    /// Takes in what a worker told: how many calls.
    fn hear(&mut self, told: &[String]) -> Result<u64, Failure> {
        let mut calls = 0;
        for line in told.iter().filter(|line| *line != "open") {
            let call = line
                .split_once(' ')
                .and_then(|(job, number)| Some((Job::named(job)?, number.parse::<u64>().ok()?)));
            let Some((job, number)) = call.filter(|(job, number)| *number == self.done(*job) + 1)
            else {
                return Err(Failure::new(Fault::WrongData, format!("the worker tells: {line}")));
            };
            self.done.insert(job, number);
            calls += 1;
        }
        Ok(calls)
    }

    /// Whether the next call of scraps maintains the space.
    fn is_before_maintenance(&self) -> bool {
        job::is_maintenance(self.done(Job::Scraps) + 1)
    }

    /// All that was told is there, and at most one more call of each job.
    fn judge(
        &mut self,
        path: &Path,
        when: &str,
        random: &mut Random,
        trial: &mut Trial,
    ) -> Result<(), Failure> {
        let failed = |error: leafbase::Error| unopenable(&error, when);
        let space = worker::open(path, self.in_background).map_err(failed)?;
        let notes = space.connect();
        // Searches come first: later ones could find an index that was made whole meanwhile.
        searches_within(&notes, random, SEARCHES, when)?;
        let purged = self.done(Job::Scraps);
        for job in Job::ALL {
            let unread = |error| unopenable(&error, &format!("{when}: {}", job.name()));
            let found = job.found(&notes).map_err(unread)?;
            if job == Job::Imports {
                self.compare_imports(&found, when, trial)?;
            } else {
                self.compare(job, &found, when, trial)?;
            }
        }
        check(&space, when)?;
        log::check_log(&notes, purged, when, trial)?;
        log::check_follower(&notes, self.seen, when, trial)?;
        self.see(&notes, when)?;
        alone(|| space.close()).map_err(failed)
    }

    fn see(&mut self, notes: &Connection, when: &str) -> Result<(), Failure> {
        self.seen = notes.last_position().map_err(|error| unopenable(&error, when))?;
        Ok(())
    }

    fn compare(
        &mut self,
        job: Job,
        found: &[String],
        when: &str,
        trial: &mut Trial,
    ) -> Result<(), Failure> {
        let done = self.done(job);
        let at = (done..=done + 1).find(|last| job.expected(*last) == found);
        let Some(last) = at else {
            let is_earlier = (FIRST - 1..done).any(|last| job.expected(last) == found);
            let fault = if is_earlier { Fault::Lost } else { Fault::HalfApplied };
            let (name, expected) = (job.name(), job.expected(done));
            let odd = differences(&expected, found);
            return Err(Failure::new(fault, format!("{when}: {name}, call {done}: {odd}")));
        };
        trial.note("calls in flight that are there", last - done);
        self.done.insert(job, last);
        Ok(())
    }

    /// Imports that were told are there. Of one in flight, each page is there as a whole or not at
    /// all; its links may lead to the documents of headings still.
    fn compare_imports(
        &mut self,
        found: &[String],
        when: &str,
        trial: &mut Trial,
    ) -> Result<(), Failure> {
        let done = self.done(Job::Imports);
        let all: BTreeSet<String> = Job::Imports.expected(done).into_iter().collect();
        let partial: BTreeSet<&String> = self.partial.values().flatten().collect();
        let is_partial = |line: &String| self.partial.keys().any(|at| job::is_of_import(line, *at));
        let expected: BTreeSet<&String> =
            all.iter().filter(|line| !is_partial(line)).chain(partial).collect();
        let in_flight = |line: &&String| job::is_of_import(line, done + 1);
        let (started, rest): (Vec<&String>, Vec<&String>) = found.iter().partition(in_flight);
        let rest: BTreeSet<&String> = rest.into_iter().collect();
        if rest != expected {
            let told = |lines: &BTreeSet<&String>| -> Vec<String> {
                lines.iter().map(|line| (*line).clone()).collect()
            };
            let odd = differences(&told(&expected), &told(&rest));
            let is_lost = rest.is_subset(&expected);
            let fault = if is_lost { Fault::Lost } else { Fault::HalfApplied };
            return Err(Failure::new(fault, format!("{when}: imports, call {done}: {odd}")));
        }
        if let Some(odd) = started.iter().find(|line| !job::is_whole_page(line, done + 1)) {
            return Err(Failure::new(Fault::HalfApplied, format!("{when}: in flight: {odd}")));
        }
        if !started.is_empty() {
            trial.note("imports in flight that are there", 1);
            let nowhere = started.iter().filter(|line| job::leads_nowhere(line)).count();
            trial.note("links of imports in flight that lead nowhere", nowhere as u64);
            let started: BTreeSet<String> = started.into_iter().cloned().collect();
            self.partial.insert(done + 1, started);
            self.done.insert(Job::Imports, done + 1);
        }
        Ok(())
    }
}

/// What is expected and not there, and the other way round.
fn differences(expected: &[String], found: &[String]) -> String {
    let first = |these: &[String], others: &[String]| {
        these.iter().find(|line| !others.contains(line)).cloned().unwrap_or_default()
    };
    let (missing, odd) = (first(expected, found), first(found, expected));
    format!("{} things for {}: no `{missing}`, but `{odd}`", found.len(), expected.len())
}
