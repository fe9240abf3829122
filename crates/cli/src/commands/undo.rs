//! `leafbase undo`: undoes changes.

use std::collections::HashSet;

use clap::Args;
use leafbase::{ErrorKind, UndoChanges};

use crate::context::CommandContext;
use crate::error::{CliError, CliResult};
use crate::task_numbers;

/// Undo the last change, or changes by their numbers
///
/// log and history list the numbers. Later changes stay; if one conflicts, nothing is undone, and
/// the error names the blocks. An undo is a change, which can be undone.
#[derive(Debug, Args)]
pub(crate) struct UndoCommand {
    /// Numbers of changes: 12, or 12,14-16 [default: the last one]
    #[arg(value_name = "NUMBER")]
    numbers: Vec<String>,
}

impl UndoCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        let notes = context.writer()?;
        let mut numbers = Vec::new();
        for name in &self.numbers {
            let found = task_numbers::numbers(name)?.ok_or_else(|| {
                CliError::usage(format!("{name:?} is not the number of a change"))
                    .hint("list the changes with their numbers: leafbase log")
            })?;
            numbers.extend(found.into_iter().map(|number| number as u64));
        }
        let mut seen = HashSet::new();
        numbers.retain(|number| seen.insert(*number));
        let last = notes.last_sequence()?;
        if numbers.is_empty() {
            if last == 0 {
                return Err(CliError::usage("the space has no change to undo"));
            }
            numbers.push(last);
        }
        if let Some(unknown) = numbers.iter().find(|number| !(1..=last).contains(*number)) {
            return Err(CliError::not_found(format!("no change has the number {unknown}"))
                .hint("list the changes with their numbers: leafbase log"));
        }
        let undone = notes.undo(UndoChanges::new(numbers.iter().copied()));
        let change = undone.map_err(|error| {
            let obstacles = error.details().into_iter();
            let obstacles = obstacles.map(|detail| format!("{} {}", detail.path, detail.message));
            let obstacles = obstacles.collect::<Vec<_>>().join("\n");
            match error.kind() {
                ErrorKind::Conflict => {
                    CliError::failed("what was written since is in the way").hint(obstacles)
                }
                _ => CliError::of_entry(error, &[]),
            }
        })?;
        if context.options.json {
            return context.out.json(&change);
        }
        let numbers: Vec<_> = numbers.iter().map(u64::to_string).collect();
        context.out.line(format_args!("undone: {}, by {}", numbers.join(", "), change.sequence))
    }
}
