//! The table.

use std::fmt::Write;

use crate::kind::{Fault, Kind};
use crate::running::Outcome;

/// The kinds that have run, and the controls.
#[derive(Default)]
pub struct Report {
    rows: String,
    notes: String,
    controls: String,
    pub failures: usize,
}

impl Report {
    pub fn kind(&mut self, kind: &Kind, outcome: &Outcome, is_long: bool) {
        let name = kind.name;
        let seconds = outcome.time.as_secs_f64().max(0.001);
        #[expect(clippy::cast_precision_loss, reason = "trials are counted, not weighed")]
        let each_second = outcome.trial.trials as f64 / seconds;
        let count = |fault: Fault| {
            outcome.failures.iter().filter(|(_, failure)| failure.fault == fault).count()
        };
        let faults: String =
            Fault::ALL.iter().map(|fault| format!(" {} |", count(*fault))).collect();
        let is_reached = kind.least.is_reached(outcome.trial.trials, outcome.calls);
        let least = match (is_reached, is_long) {
            (true, _) => format!("least {} reached", kind.least),
            (false, true) => format!("LEAST {} NOT REACHED", kind.least),
            // A short run is not there for it.
            (false, false) => format!("least {}", kind.least),
        };
        self.failures += usize::from(is_long && !is_reached);
        let _ = writeln!(
            self.rows,
            "| {name} | {} |{faults} {each_second:.1} | {least} |",
            outcome.trial.trials
        );
        self.failures += outcome.failures.len();
        let notes: Vec<_> =
            outcome.trial.notes.iter().map(|(what, times)| format!("{times} {what}")).collect();
        if !notes.is_empty() {
            let _ = writeln!(self.notes, "- {name}: {}", notes.join(", "));
        }
    }

    pub fn control(&mut self, name: &str, says: &str, found: Option<(u64, &str)>) {
        let outcome = match found {
            Some((trials, what)) => {
                let first = what.lines().next().unwrap_or_default();
                format!("reported by trial {trials}: {first}")
            }
            None => {
                self.failures += 1;
                "NOT NOTICED".to_owned()
            }
        };
        let _ = writeln!(self.controls, "| {name} | {says} | {outcome} |");
    }

    pub fn text(&self) -> String {
        let faults: Vec<_> = Fault::ALL.iter().map(|fault| fault.name()).collect();
        let head = format!("| kind | trials | {} | per second | at least |", faults.join(" | "));
        let rule = "|---".repeat(faults.len() + 4);
        let mut text = format!("{head}\n{rule}|\n{}", self.rows);
        if !self.notes.is_empty() {
            let _ = write!(text, "\n{}", self.notes);
        }
        if !self.controls.is_empty() {
            let _ = write!(
                text,
                "\n| control of | broken on purpose | outcome |\n|---|---|---|\n{}",
                self.controls
            );
        }
        text
    }
}
