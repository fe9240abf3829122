//! The system calls of a process that writes, recorded by strace and replayed on a model of the
//! disk, which loses power between any two of them.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::{env, fs, io};

use leafbase::{Durability, Result, SearchIndexing, Space};

use super::kills::{Known, MAIN, alone, place, say, state};
use crate::kind::{Control, Failure, Fault, Kind, Least, Trial};
use crate::random::Random;
use crate::world::work;

mod record;
mod replay;

use record::{Recorded, SystemCall};
use replay::{ReplayedDisk, SyncFault};

pub const KIND: Kind = Kind {
    name: "system_calls",
    says: "the power fails between any two system calls of a process, as strace recorded them",
    weight: 3,
    least: Least::Trials(5_000),
    trial: |seed| trial(seed, None),
    control: Some(Control {
        says: "a disk that ignores fsyncs of directories",
        trial: |seed| trial(seed, Some(SyncFault::Directories)),
    }),
};

/// Starts this program as the process that is recorded.
pub const ARGUMENT: &str = "--write-recorded";

/// The directory of the recorded space, in the directory of a trial.
const RECORDED: &str = "recorded";
const SPACE: &str = "notes";
/// Calls of the recorded process after it has created the space.
const CALLS: u64 = 25;
/// Losses of power in one recorded run.
const LOSSES: u64 = 60;

/// Creates a space, works on it, and reports each call that has returned.
pub fn write(path: &Path, seed: u64) -> ExitCode {
    if let Err(error) = try_write(path, seed) {
        say(&format!("failed {error:?}"));
    }
    ExitCode::SUCCESS
}

fn try_write(path: &Path, seed: u64) -> Result<()> {
    let mut random = Random::new(seed);
    let indexing =
        if random.one_in(2) { SearchIndexing::Background } else { SearchIndexing::OnDemand };
    let builder = Space::builder().durability(Durability::Durable).search_indexing(indexing);
    say("making");
    let mut space = builder.clone().create(path)?;
    let mut notes = space.connect().acting_as(MAIN);
    say(&format!("open {} {}", notes.last_sequence()?, state(&notes)?));
    for _ in 0..CALLS {
        if random.one_in(10) {
            drop(notes);
            space.close()?;
            space = builder.clone().open(path)?;
            notes = space.connect().acting_as(MAIN);
        }
        if random.one_in(15) {
            space.compact()?;
        }
        let done = work::step(&notes, random.next());
        let sequence = notes.last_sequence()?;
        say(&format!("state {sequence} {}", state(&notes)?));
        if done.outcome.is_ok() {
            say(&format!("done {sequence}"));
        }
    }
    drop(notes);
    if random.one_in(2) { space.close() } else { Ok(()) }
}

fn trial(seed: u64, fault: Option<SyncFault>) -> std::result::Result<Trial, Failure> {
    let failed = |error: io::Error| Failure::new(Fault::Unopenable, error.to_string());
    let (mut random, mut trial) = (Random::new(seed), Trial::default());
    let directory = place().map_err(failed)?;
    let root = directory.path().join(RECORDED);
    fs::create_dir(&root).map_err(failed)?;
    let calls = run(&root, directory.path(), random.next()).map_err(failed)?;
    let recorded = record::parse(&calls).map_err(|what| Failure::new(Fault::WrongData, what))?;
    trial.note("system calls recorded", recorded.len() as u64);
    for number in 0..LOSSES {
        let cut = random.place(recorded.len() + 1);
        let image = directory.path().join(format!("image {number}"));
        let (disk, reports) = replay(&root, &recorded[..cut], fault);
        disk.write_after_loss(&image, &mut random).map_err(failed)?;
        trial.trials += 1;
        let when = format!("power lost after system call {cut} of {}", recorded.len());
        let mut known = Known::default();
        known.hear(&reports)?;
        let path = image.join(SPACE);
        if path.exists() {
            known.judge(&path, &when, &mut random, &mut trial)?;
        } else if known.exists() {
            return Err(Failure::new(Fault::Lost, format!("{when}: the space is gone")));
        } else {
            trial.note("lost before the space was made", 1);
        }
        fs::remove_dir_all(&image).map_err(failed)?;
    }
    Ok(trial)
}

/// Whether strace is installed, and allowed.
pub fn can_trace() -> bool {
    let mut strace = Command::new("strace");
    strace.args(["-o", "/dev/null", "true"]).stdout(Stdio::null()).stderr(Stdio::null());
    strace.status().is_ok_and(|status| status.success())
}

/// Records the process.
fn run(root: &Path, directory: &Path, seed: u64) -> io::Result<String> {
    let record = directory.join("record");
    let mut strace = Command::new("strace");
    // Hexadecimal strings of any length, from all threads.
    strace.args(["-f", "-xx", "-s", "100000000", "-e", "signal=none"]);
    strace.arg("-e").arg(format!("trace={}", record::TRACED)).arg("-o").arg(&record);
    strace.arg(env::current_exe()?).arg(ARGUMENT).arg(root.join(SPACE)).arg(seed.to_string());
    let mut child = alone(|| strace.stdout(Stdio::null()).stderr(Stdio::null()).spawn())?;
    let status = child.wait()?;
    if !status.success() {
        return Err(io::Error::other(format!("strace: {status}")));
    }
    fs::read_to_string(&record)
}

/// The disk after the calls, and the lines that the process had reported by then.
fn replay(
    root: &Path,
    calls: &[Recorded],
    fault: Option<SyncFault>,
) -> (ReplayedDisk, Vec<String>) {
    let (mut disk, mut reports) = (ReplayedDisk::new(root, fault), String::new());
    for Recorded { call, result } in calls {
        if let SystemCall::Write { file: 1, data, .. } = call {
            reports.push_str(&String::from_utf8_lossy(data));
        } else {
            disk.apply(call, *result);
        }
    }
    (disk, reports.lines().map(str::to_owned).collect())
}
