//! The `leafbase` program: parses the command line, runs one command and reports its result as an
//! exit code.

#![expect(
    clippy::doc_markdown,
    reason = "doc comments of commands and options are help texts, which a terminal shows"
)]

mod options;

mod completion;
mod error;

mod out;
mod show;

mod interrupt;
mod progress;

mod catalog;
mod context;
mod days;
mod graph_layout;
mod names;
mod plot;
mod replica_address;
mod task_numbers;
mod user_directory;

mod tui;

mod args;
mod commands;

mod run;
mod session;

use std::process::ExitCode;

use args::{Arguments, Command};

fn main() -> ExitCode {
    run::record_panics();
    let words: Vec<_> = std::env::args_os().collect();
    let exit = match Arguments::parse(&words) {
        Ok((Arguments { options, command: Command::Shell(_) }, _)) => session::run(options),
        Ok((arguments, _)) => run::run(arguments, None, None),
        Err(error) => {
            let wants_json = words.iter().any(|word| word == "--json");
            run::report_usage(&error, None, wants_json)
        }
    };
    exit.into()
}
