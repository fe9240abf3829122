//! Shows what a space can be trusted with: kinds of trials run for some minutes, each with faults
//! that are made on purpose. One table tells what was lost, and what was not; then the controls,
//! each broken on purpose, which have to be found out.
//!
//! `cargo run --release -p tests --bin trust -- --minutes 3`
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program tells what it found")]

use std::process::ExitCode;

use options::Options;

mod board;
mod kind;
mod kinds;
mod options;
mod random;
mod report;
mod running;
mod world;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(code) = kinds::child(&arguments) {
        return code;
    }
    match Options::read(&arguments) {
        Ok(Some(options)) => board::run(&options),
        Ok(None) => {
            println!("{}", options::help());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}\n\n{}", options::help());
            ExitCode::from(2)
        }
    }
}
