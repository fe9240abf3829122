//! A child process of a trial: commands go to it, and replies come back, one line each.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::worker::{ARGUMENT, DONE, PANIC};
use crate::kind::{Failure, Fault};
use crate::random::Random;

pub struct PlaceProcess {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    pub current_directory: PathBuf,
}

/// The reply to a command.
#[derive(Clone, Debug)]
pub enum ProcessReply {
    Done(Vec<String>),
    Refused {
        /// The name of the error's kind.
        kind: String,
        message: String,
    },
}

impl PlaceProcess {
    pub fn start(
        directory: &Path,
        random: &mut Random,
        same_tokens: bool,
    ) -> Result<Self, Failure> {
        let mut command = Command::new(env::current_exe().map_err(broken)?);
        command.arg(ARGUMENT).arg(random.next().to_string()).arg(same_tokens.to_string());
        command.current_dir(directory).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().map_err(broken)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (input, output) = pipes.ok_or_else(|| broken("it has no pipes"))?;
        let (output, current_directory) = (BufReader::new(output), directory.to_owned());
        Ok(Self { child, input, output, current_directory })
    }

    pub fn ask(&mut self, fields: &[&str]) -> Result<ProcessReply, Failure> {
        self.send(fields)?;
        let mut line = String::new();
        self.output.read_line(&mut line).map_err(broken)?;
        let ended = || Failure::new(Fault::Panic, format!("the process ended at {fields:?}"));
        let line = line.strip_suffix('\n').ok_or_else(ended)?;
        let mut fields = line.split('\t').map(str::to_owned);
        match fields.next().as_deref() {
            Some(DONE) => Ok(ProcessReply::Done(fields.collect())),
            Some(PANIC) => Err(Failure::new(Fault::Panic, line)),
            _ => {
                let kind = fields.next().unwrap_or_default();
                Ok(ProcessReply::Refused { kind, message: fields.collect() })
            }
        }
    }

    /// Sends a command without waiting for the reply.
    pub fn send(&mut self, fields: &[&str]) -> Result<(), Failure> {
        writeln!(self.input, "{}", fields.join("\t")).map_err(broken)
    }

    /// `SIGKILL` on Unix.
    pub fn kill(&mut self) -> Result<(), Failure> {
        self.child.kill().map_err(broken)?;
        self.child.wait().map(drop).map_err(broken)
    }
}

impl Drop for PlaceProcess {
    fn drop(&mut self) {
        // Both fail if it was killed before.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn broken(error: impl std::fmt::Display) -> Failure {
    Failure::new(Fault::Unopenable, format!("a process of the trial: {error}"))
}
