//! The `leafbase` program: parses the command line, runs one command and reports its result as an
//! exit code.

#![expect(
    clippy::doc_markdown,
    reason = "doc comments of commands and options are help texts, which a terminal shows"
)]

mod options;

mod error;

mod out;
mod show;

mod interrupt;
mod progress;

mod catalog;
mod context;
mod names;
mod replica_address;

mod args;
mod commands;

use std::io::Write;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::Mutex;

use clap::Parser;

use args::Arguments;
use context::CommandContext;
use error::{CliError, Exit};
use options::ColorMode;

fn main() -> ExitCode {
    record_panics();
    match Arguments::try_parse() {
        Ok(arguments) => run(arguments),
        Err(error) => report_usage(&error),
    }
}

/// Message and location of the last panic.
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

fn last_panic() -> String {
    LAST_PANIC.lock().map(|message| message.clone()).unwrap_or_default()
}

/// Records panics instead of printing them: the engine turns a panic caused by a damaged store into
/// an error, so only a panic that reaches [`run`] is reported.
fn record_panics() {
    panic::set_hook(Box::new(|panic| {
        if let Ok(mut last) = LAST_PANIC.lock() {
            *last = panic.to_string();
        }
    }));
}

fn run(Arguments { options, command }: Arguments) -> ExitCode {
    let mut context = CommandContext::new(options);
    // Unwind safe: after a panic only the output is used, which holds no invariant.
    let running = AssertUnwindSafe(|| {
        command.run(&mut context).and_then(|exit| context.out.flush().map(|()| exit))
    });
    let result = panic::catch_unwind(running).unwrap_or_else(|_| Err(CliError::bug(&last_panic())));
    match result {
        Ok(exit) => exit.into(),
        Err(error) => {
            // Buffered output precedes the error. The flush may fail, too: the error matters more.
            drop(context.out.flush());
            report(&error, context.options.json, context.options.color)
        }
    }
}

/// Help and the version are no errors: they go to the standard output.
fn report_usage(error: &clap::Error) -> ExitCode {
    let wants_json = std::env::args_os().any(|argument| argument == "--json");
    if error.use_stderr() && wants_json {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or("").trim_start_matches("error: ");
        return report(&CliError::usage(first), true, ColorMode::Never);
    }
    // A failed print leaves only the exit code.
    drop(error.print());
    if error.use_stderr() { Exit::Usage.into() } else { ExitCode::SUCCESS }
}

/// Writes the error to the standard error and returns its exit code.
fn report(error: &CliError, json: bool, color: ColorMode) -> ExitCode {
    let CliError::Reported(report) = error else { return ExitCode::SUCCESS };
    let text = if json { report.to_json() } else { report.to_text() };
    // A failed write leaves only the exit code.
    drop(out::error_stream(color).write_all(text.as_bytes()));
    report.exit.into()
}
