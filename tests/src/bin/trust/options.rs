//! What is asked for on the command line.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::kind::Kind;
use crate::kinds;

pub struct Options {
    /// For all kinds together.
    pub time: Duration,
    pub kinds: Vec<&'static Kind>,
    /// That of the first trial of each kind; each further one has the next.
    pub seed: u64,
    /// How often each kind is called, whatever time that takes.
    pub calls: Option<u64>,
    pub threads: usize,
}

/// A run of this length shows the least of each kind.
const LONG: Duration = Duration::from_secs(30 * 60);

impl Options {
    /// Whether each kind goes on until it has shown its least.
    pub const fn is_long(&self) -> bool {
        self.calls.is_none() && self.time.as_secs() >= LONG.as_secs()
    }

    /// None if help is asked for.
    pub fn read(arguments: &[String]) -> Result<Option<Self>, String> {
        let mut options = Self {
            time: Duration::from_secs(180),
            kinds: Vec::new(),
            seed: now(),
            calls: None,
            threads: 2,
        };
        let mut arguments = arguments.iter();
        while let Some(name) = arguments.next() {
            if name == "--help" || name == "-h" {
                return Ok(None);
            }
            let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
            options.set(name, value)?;
        }
        if options.kinds.is_empty() {
            options.kinds = kinds::possible();
        }
        Ok(Some(options))
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "--minutes" => {
                let minutes: f64 = number(name, value)?;
                self.time = Duration::try_from_secs_f64(minutes * 60.0)
                    .map_err(|error| format!("{name}: {error}"))?;
            }
            "--kind" => {
                let kind = kinds::ALL.iter().find(|kind| kind.name == value);
                self.kinds.push(kind.ok_or_else(|| format!("there is no kind `{value}`"))?);
            }
            "--seed" => self.seed = number(name, value)?,
            "--trials" => self.calls = Some(number(name, value)?),
            "--threads" => self.threads = number::<usize>(name, value)?.max(1),
            _ => return Err(format!("there is no option `{name}`")),
        }
        Ok(())
    }
}

fn number<T: std::str::FromStr>(name: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{name} takes a number, and `{value}` is none"))
}

/// Other trials in every run: those that failed are repeated by their seed.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_secs() << 20)
}

pub fn help() -> String {
    let kinds: String =
        kinds::ALL.iter().map(|kind| format!("\n  {:<12} {}", kind.name, kind.says)).collect();
    format!(
        "usage: trust [--minutes M] [--kind NAME]... [--seed S] [--trials N] [--threads T]\n\n\
         M minutes for all kinds together (3 if left out), or N calls of each; from 30 minutes on at least so many trials of each as the table tells.\n\
         A trial that failed is repeated with --kind NAME --seed S --trials 1.\n\nkinds:{kinds}"
    )
}
