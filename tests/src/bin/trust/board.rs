//! Shares the time out among the kinds, and tells how they went.

use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::kind::{Control, Kind};
use crate::options::Options;
use crate::report::Report;
use crate::running;

/// A control that is not noticed in so many trials is not noticed.
const CONTROL_TRIALS: u64 = 2_000;
const CONTROL_TIME: Duration = Duration::from_secs(60);

pub fn run(options: &Options) -> ExitCode {
    running::keep_panics_quiet();
    let report = Arc::new(Mutex::new(Report::default()));
    let seen = Arc::clone(&report);
    running::watch(move || {
        println!("{}", seen.lock().unwrap_or_else(PoisonError::into_inner).text())
    });
    let started = Instant::now();
    let change = |work: &dyn Fn(&mut Report)| {
        work(&mut report.lock().unwrap_or_else(PoisonError::into_inner))
    };
    let all: u32 = options.kinds.iter().map(|kind| kind.weight).sum();
    for kind in &options.kinds {
        let time = options.time * kind.weight / all.max(1);
        eprintln!("{}: {} ({} s)", kind.name, kind.says, time.as_secs());
        let outcome = running::many(kind, options, time);
        eprintln!(
            "{}: {} trials, {} failures",
            kind.name,
            outcome.trial.trials,
            outcome.failures.len()
        );
        change(&|report| report.kind(kind, &outcome, options.is_long()));
    }
    // One trial is repeated to be looked at: controls would say nothing about it.
    let controls = options.kinds.iter().filter(|_| options.calls != Some(1));
    for (kind, control) in controls.filter_map(|kind| Some((kind, kind.control.as_ref()?))) {
        let found = noticed(kind, control, options.seed);
        change(&|report| {
            let found = found.as_ref().map(|(number, what)| (*number, what.as_str()));
            report.control(kind.name, control.says, found);
        });
    }
    let report = report.lock().unwrap_or_else(PoisonError::into_inner);
    println!("seed {}\n\n{}", options.seed, report.text());
    println!("{} seconds on {} threads", started.elapsed().as_secs(), options.threads);
    if report.failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Which trial fails first, and with what.
fn noticed(kind: &Kind, control: &Control, seed: u64) -> Option<(u64, String)> {
    let started = Instant::now();
    let numbers = (0..CONTROL_TRIALS).take_while(|_| started.elapsed() < CONTROL_TIME);
    let mut tried = numbers
        .map(|number| (number, running::one(kind.name, control.trial, seed.wrapping_add(number))));
    let (number, failure) = tried.find_map(|(number, outcome)| Some((number, outcome.err()?)))?;
    eprintln!("{}: control: {}: trial {}: {}", kind.name, control.says, number + 1, failure.what);
    Some((number + 1, failure.what))
}
