//! The `leafbase` program: reads the command line, runs one command, and tells by its exit code how
//! that went.

#![expect(
    clippy::doc_markdown,
    reason = "comments of commands and options are their help, which a terminal shows"
)]

mod fault;

mod args;

mod out;
mod show;

mod interrupt;
mod progress;

mod app;
mod catalog;
mod names;

mod commands;

use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::Mutex;

use clap::Parser;

use app::App;
use args::Arguments;
use fault::Fault;

fn main() -> ExitCode {
    keep_panics();
    match Arguments::try_parse() {
        Ok(arguments) => run(arguments),
        Err(error) => usage(&error),
    }
}

/// What panicked last, and where.
static PANICKED: Mutex<String> = Mutex::new(String::new());

fn panicked() -> String {
    PANICKED.lock().map(|told| told.clone()).unwrap_or_default()
}

/// Keeps panics for the end: the engine makes errors of those that damage causes below it, and only
/// others are told.
fn keep_panics() {
    panic::set_hook(Box::new(|told| {
        if let Ok(mut last) = PANICKED.lock() {
            *last = told.to_string();
        }
    }));
}

fn run(Arguments { common, command }: Arguments) -> ExitCode {
    let mut app = App::new(common);
    let running =
        AssertUnwindSafe(|| command.run(&mut app).and_then(|exit| app.out.flush().map(|()| exit)));
    let done = panic::catch_unwind(running).unwrap_or_else(|_| Err(Fault::bug(&panicked())));
    match done {
        Ok(exit) => exit.into(),
        Err(fault) => {
            // What was found before the fault is told before it, if that is still possible.
            drop(app.out.flush());
            fault.tell(app.common.json, app.common.color)
        }
    }
}

/// Help and the version are no faults, and go to the standard output.
fn usage(error: &clap::Error) -> ExitCode {
    let wants_json = std::env::args_os().any(|argument| argument == "--json");
    if error.use_stderr() && wants_json {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
        return Fault::usage(first).tell(true, args::When::Never);
    }
    // Nothing is left to do if even this cannot be written.
    drop(error.print());
    if error.use_stderr() { fault::Exit::Usage.into() } else { ExitCode::SUCCESS }
}
