//! The processes of a trial and the model of its directories, and the comparison of both.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::io_failure;
use super::process::{PlaceProcess, ProcessReply};
use super::tree::{LoggedWrite, OpenHandle, SpaceTree, relative};
use super::worker::INDEX_PROBLEM;
use crate::kind::{Failure, Fault, Trial};
use crate::random::Random;
use crate::world::work::WORDS;

/// The directories that spaces are in.
pub const PARENTS: [&str; 2] = ["here", "there"];
const PROCESSES: usize = 2;
/// Searches of one comparison.
const SEARCHES: usize = 2;
/// Positions of one comparison.
const POSITIONS: usize = 3;

pub struct PlaceScene {
    place: tempfile::TempDir,
    pub random: Random,
    pub trial: Trial,
    /// What was done, for the report of a failure.
    pub steps: Vec<String>,
    pub processes: Vec<PlaceProcess>,
    pub tree: SpaceTree,
    /// Positions of all histories, as followers keep them.
    positions: Vec<String>,
    /// The last number of a title, a path or a handle.
    serial: u64,
    same_tokens: bool,
}

impl PlaceScene {
    pub fn new(random: Random, same_tokens: bool) -> Result<Self, Failure> {
        // In memory where possible: no trial ends the system, so nothing has to be synced.
        let place = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let mut scene = Self {
            place: place.map_err(io_failure)?,
            random,
            trial: Trial::default(),
            steps: Vec::new(),
            processes: Vec::new(),
            tree: SpaceTree::default(),
            positions: Vec::new(),
            serial: 0,
            same_tokens,
        };
        for parent in PARENTS {
            fs::create_dir(scene.root().join(parent)).map_err(io_failure)?;
        }
        for _ in 0..PROCESSES {
            let process = scene.new_process()?;
            scene.processes.push(process);
        }
        Ok(scene)
    }

    pub fn root(&self) -> PathBuf {
        self.place.path().to_owned()
    }

    pub fn new_process(&mut self) -> Result<PlaceProcess, Failure> {
        let root = self.root();
        PlaceProcess::start(&root, &mut self.random, self.same_tokens)
    }

    pub fn any_process(&mut self) -> usize {
        self.random.place(self.processes.len())
    }

    pub fn number(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    /// A path that no directory has had before.
    pub fn new_path(&mut self, name: &str) -> PathBuf {
        let parent = PARENTS[self.random.place(PARENTS.len())];
        let name = format!("{name}{}", self.number());
        self.root().join(parent).join(name)
    }

    /// A title of two words that no document has had before.
    pub fn title(&mut self) -> String {
        let [one, other] = [0, 1].map(|_| WORDS[self.random.place(WORDS.len())]);
        format!("{one} {other} {}", self.number())
    }

    /// A path as a process may write it: absolute, or relative to its current directory.
    pub fn spelled(&mut self, process: usize, path: &Path) -> String {
        let path = if self.random.one_in(3) {
            path.to_owned()
        } else {
            relative(path, &self.processes[process].current_directory)
        };
        let path = path.display().to_string();
        if path.is_empty() { ".".to_owned() } else { path }
    }

    /// A path in the report of a failure.
    pub fn short(&self, path: &Path) -> String {
        relative(path, self.place.path()).display().to_string()
    }

    pub fn says(&mut self, what: String) {
        self.steps.push(what);
    }

    /// Asks a process for what it must not refuse.
    pub fn done(&mut self, process: usize, fields: &[&str]) -> Result<Vec<String>, Failure> {
        match self.processes[process].ask(fields)? {
            ProcessReply::Done(answer) => Ok(answer),
            ProcessReply::Refused { message, .. } => {
                let what = format!("process {process}: {fields:?} is refused: {message}");
                Err(Failure::new(Fault::Unopenable, what))
            }
        }
    }

    /// Compares a space with what was acknowledged in it.
    pub fn compare(&mut self, at: usize, handle: &OpenHandle) -> Result<(), Failure> {
        self.resolve_in_flight(at, handle)?;
        let found = self.documents(handle)?;
        let expected = owned(self.tree.directories[at].documents());
        if found != expected {
            let is_there = |(id, title): (&String, &String)| found.get(id) == Some(title);
            let is_lost = !expected.iter().all(is_there);
            let fault = if is_lost { Fault::Lost } else { Fault::WrongData };
            let what = format!("{}: {found:?} for {expected:?}", self.name(at));
            return Err(Failure::new(fault, what));
        }
        self.compare_searches(at, handle, &expected)?;
        self.compare_positions(at, handle)?;
        self.compare_check(at, handle)
    }

    fn name(&self, at: usize) -> String {
        self.short(&self.tree.directories[at].path)
    }

    fn documents(&mut self, handle: &OpenHandle) -> Result<BTreeMap<String, String>, Failure> {
        let found = self.done(handle.process, &["read", &handle.name])?;
        let pair = |field: &String| field.split_once('=').map(owned_pair);
        Ok(found.iter().filter_map(pair).collect())
    }

    fn compare_searches(
        &mut self,
        at: usize,
        handle: &OpenHandle,
        documents: &BTreeMap<String, String>,
    ) -> Result<(), Failure> {
        for _ in 0..SEARCHES {
            let word = WORDS[self.random.place(WORDS.len())];
            let found = self.done(handle.process, &["search", &handle.name, word])?;
            let found: BTreeSet<&String> = found.iter().collect();
            let has_word = |(id, title): (_, &String)| title.contains(word).then_some(id);
            let expected: BTreeSet<&String> = documents.iter().filter_map(has_word).collect();
            if found != expected {
                let name = self.name(at);
                let what = format!("{name}: a search of {word} finds {found:?}, not {expected:?}");
                return Err(Failure::new(Fault::WrongData, what));
            }
            self.trial.note("searches compared", 1);
        }
        Ok(())
    }

    /// A position of the space's own history is followed by its later writes; any other is refused.
    fn compare_positions(&mut self, at: usize, handle: &OpenHandle) -> Result<(), Failure> {
        for _ in 0..POSITIONS {
            let Some(position) = self.random.pick(&self.positions).cloned() else { continue };
            let fields = ["follow", &handle.name, &position];
            let reply = self.processes[handle.process].ask(&fields)?;
            let expected = self.tree.directories[at].after(&position);
            let expected: Option<Vec<String>> =
                expected.map(|writes| writes.iter().map(feed_entry).collect());
            match (&reply, expected) {
                (ProcessReply::Done(found), Some(expected)) if *found == expected => {
                    self.trial.note("positions that go on", 1);
                }
                (ProcessReply::Refused { kind, .. }, None) if kind == "HistoryGone" => {
                    self.trial.note("positions of another history refused", 1);
                }
                (_, expected) => {
                    let name = self.name(at);
                    let what = format!("{name}: {position} gives {reply:?} for {expected:?}");
                    return Err(Failure::new(Fault::WrongData, what));
                }
            }
        }
        let last = self.tree.directories[at].log.last().map(|write| write.position.clone());
        self.positions.extend(last);
        Ok(())
    }

    fn compare_check(&mut self, at: usize, handle: &OpenHandle) -> Result<(), Failure> {
        let reply = self.processes[handle.process].ask(&["check", &handle.name])?;
        let is_moved = self.tree.is_moved(at, handle);
        let problems = match reply {
            ProcessReply::Done(problems) => problems,
            // A check opens the files of the directory once more, and only where it was opened.
            ProcessReply::Refused { kind, .. } if is_moved && kind == "Storage" => {
                self.trial.note("checks of moved directories refused", 1);
                return Ok(());
            }
            ProcessReply::Refused { message, .. } => {
                let what = format!("{}: the check is refused: {message}", self.name(at));
                return Err(Failure::new(Fault::Unopenable, what));
            }
        };
        // A read-only handle cannot replace a stale index: its searches use one in memory.
        let is_index =
            |problem: &str| problem.split_once('=').is_some_and(|(of, _)| of == INDEX_PROBLEM);
        let matters = |problem: &&String| !(handle.is_read_only && is_index(problem));
        problems.iter().find(matters).map_or(Ok(()), |problem| {
            let what = format!("{}: the check finds {problem}", self.name(at));
            Err(Failure::new(Fault::HalfApplied, what))
        })
    }

    /// Finds out whether the call that a kill interrupted took place: then it belongs to the space.
    pub fn resolve_in_flight(&mut self, at: usize, handle: &OpenHandle) -> Result<(), Failure> {
        let Some(title) = self.tree.directories[at].in_flight.take() else { return Ok(()) };
        let found = self.documents(handle)?.into_iter().find(|document| document.1 == title);
        let Some((document, title)) = found else {
            self.trial.note("call in flight is gone", 1);
            return Ok(());
        };
        let last = self.tree.directories[at].log.last();
        let last = last.map_or_else(|| "0".to_owned(), |write| write.position.clone());
        let changes = self.done(handle.process, &["follow", &handle.name, &last])?;
        let [change] = &changes[..] else {
            let what = format!("{}: one call in flight, and {changes:?}", self.name(at));
            return Err(Failure::new(Fault::WrongData, what));
        };
        let position = change.split_once('=').map_or("", |(position, _)| position).to_owned();
        let title = Some(title);
        self.tree.directories[at].log.push(LoggedWrite { position, document, title });
        self.trial.note("call in flight is there", 1);
        Ok(())
    }
}

fn feed_entry(write: &LoggedWrite) -> String {
    format!("{}={}", write.position, write.document)
}

fn owned(documents: BTreeMap<&str, &str>) -> BTreeMap<String, String> {
    documents.into_iter().map(owned_pair).collect()
}

fn owned_pair((left, right): (&str, &str)) -> (String, String) {
    (left.to_owned(), right.to_owned())
}
