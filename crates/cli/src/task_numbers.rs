//! The last listing of tasks, so that its numbers name them.

use std::collections::HashSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use leafbase::{BlockId, Connection, ErrorKind, ListTasks, Task, TaskScope};

use crate::context::CommandContext;
use crate::error::{CliError, CliResult};
use crate::names::{self, MIN_ID_PREFIX};
use crate::out;
use crate::show::{line, styles};
use crate::user_directory::user_directory;

/// The file of the listing: the tasks of one space in their order, an ID per line.
fn file(context: &CommandContext, notes: &Connection) -> CliResult<Option<PathBuf>> {
    let space = notes.space().meta()?.id;
    let path = context.path()?;
    // A backup has the ID of its space, but another path.
    let mut hasher = DefaultHasher::new();
    path.canonicalize().unwrap_or(path).hash(&mut hasher);
    let name = format!("tasks-{space}-{:016x}", hasher.finish());
    let directory = user_directory("XDG_STATE_HOME", ".local/state");
    Ok(directory.map(|directory| directory.join(name)))
}

/// Remembers the tasks in the order of their numbers, or warns that they cannot be remembered. An
/// empty listing has no numbers: the earlier ones stay.
pub(crate) fn remember<'a>(
    context: &CommandContext,
    notes: &Connection,
    tasks: impl Iterator<Item = &'a Task>,
) -> CliResult<()> {
    let ids: Vec<_> = tasks.map(|task| task.id.to_string()).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let written = match file(context, notes)? {
        Some(file) => replace(&file, &ids.join("\n")).inspect_err(|_| {
            // Numbers of an earlier listing would name other tasks than those on the screen.
            drop(fs::remove_file(&file));
        }),
        None => Err(io::Error::other("neither XDG_STATE_HOME nor HOME names a directory")),
    };
    if let Err(error) = written {
        let (red, cyan) = (styles::ERROR, styles::HINT);
        let text = format!(
            "{red}warning:{red:#} the numbers of this listing are not remembered: {error}\n\
             {cyan}hint:{cyan:#} name the tasks by their IDs\n"
        );
        // The listing itself does not depend on the warning.
        drop(out::error_stream(context.options.color).write_all(text.as_bytes()));
    }
    Ok(())
}

/// A new file in the directory of `file`, which is created if it is missing.
fn unfinished(file: &Path) -> io::Result<tempfile::NamedTempFile> {
    let directory = file.parent().unwrap_or(file);
    fs::create_dir_all(directory)?;
    tempfile::NamedTempFile::new_in(directory)
}

fn replace(file: &Path, text: &str) -> io::Result<()> {
    let mut written = unfinished(file)?;
    written.write_all(text.as_bytes())?;
    written.persist(file).map(drop).map_err(io::Error::from)
}

fn recall(context: &CommandContext, notes: &Connection) -> CliResult<Vec<BlockId>> {
    let missing = || {
        CliError::usage("a number is that of the last listing of tasks, and there is none")
            .hint("list the tasks with their numbers: leafbase tasks")
    };
    let file = file(context, notes)?.ok_or_else(missing)?;
    let text = fs::read_to_string(&file).map_err(|_| missing())?;
    // A listing that cannot be replaced may be older than the one on the screen.
    unfinished(&file).map_err(|error| {
        let message = format!("the numbers may be those of an earlier listing: {error}");
        CliError::failed(message).hint("name the tasks by their IDs: leafbase tasks")
    })?;
    text.lines().map(|id| id.parse().map_err(|_| missing())).collect()
}

/// Resolves tasks by their numbers in the last listing, by IDs, prefixes of them, or their texts.
/// Each has its number or name.
pub(crate) fn tasks(
    context: &CommandContext,
    notes: &Connection,
    names: &[String],
) -> CliResult<Vec<(String, BlockId)>> {
    let mut found = Vec::with_capacity(names.len());
    for name in names {
        match numbers(name)? {
            Some(numbers) => {
                let listed = recall(context, notes)?;
                for number in numbers {
                    let task = number.checked_sub(1).and_then(|index| listed.get(index));
                    let task = *task.ok_or_else(|| out_of_range(number, listed.len()))?;
                    check_present(notes, task, number)?;
                    found.push((format!("task {number}"), task));
                }
            }
            None => found.push((name.clone(), task(notes, name)?)),
        }
    }
    Ok(found)
}

/// Fails if the task with this number was deleted after it was listed.
fn check_present(notes: &Connection, task: BlockId, number: usize) -> CliResult<()> {
    match notes.document_of(task) {
        Err(error) if error.kind() == ErrorKind::NotFound => Err(CliError::not_found(format!(
            "task {number} of the last listing, {task}, is not in the space"
        ))
        .hint("list the tasks with their numbers: leafbase tasks")),
        found => Ok(found.map(drop)?),
    }
}

fn out_of_range(number: usize, listed: usize) -> CliError {
    let count = line::count(listed, "task", "tasks");
    CliError::not_found(format!("the last listing has {count} and no number {number}"))
        .hint("list the tasks with their numbers: leafbase tasks")
}

/// Numbers within one range of the command line, so that a mistyped one does not fill the memory.
const MAX_RANGE: usize = 10_000;

/// Parses `3` and `3,5-7`; none if the text has no such form.
pub(crate) fn numbers(text: &str) -> CliResult<Option<Vec<usize>>> {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
    let ends = |part: &'_ str| {
        part.split_once('-').map_or((part.to_owned(), part.to_owned()), |(from, to)| {
            (from.to_owned(), to.to_owned())
        })
    };
    let mut numbers = Vec::new();
    // An ID has digits alone only in theory; it is one nevertheless.
    if text.parse::<BlockId>().is_ok() {
        return Ok(None);
    }
    for part in text.split(',') {
        let (from, to) = ends(part.trim());
        if !is_number(&from) || !is_number(&to) {
            return Ok(None);
        }
        let parse = |number: &str| {
            number.parse::<usize>().map_err(|_| CliError::usage(format!("{number} is too large")))
        };
        let (from, to) = (parse(&from)?, parse(&to)?);
        if from > to || to - from >= MAX_RANGE {
            let message = format!("{part} is not a range of at most {MAX_RANGE} numbers");
            return Err(CliError::usage(message));
        }
        numbers.extend(from..=to);
    }
    Ok(Some(numbers))
}

/// Ascending numbers as [`numbers`] parses them: `3,5-7`.
pub(crate) fn ranges(numbers: &[u64]) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((from, to)) if *to + 1 == *number && *to - *from + 1 < MAX_RANGE as u64 => {
                *to = *number;
            }
            _ => ranges.push((*number, *number)),
        }
    }
    let ranges = ranges
        .into_iter()
        .map(|(from, to)| if from == to { from.to_string() } else { format!("{from}-{to}") });
    ranges.collect::<Vec<_>>().join(",")
}

/// Bytes that a part of a task's text has at least.
const MIN_PART: usize = 3;

/// Resolves one task by its ID, a prefix of its ID, or its text.
fn task(notes: &Connection, name: &str) -> CliResult<BlockId> {
    let missing = || {
        CliError::not_found(format!("no task is named {name:?}"))
            .hint("list the tasks with their numbers and IDs: leafbase tasks")
    };
    if let Ok(id) = name.parse() {
        return match notes.document_of(id) {
            Err(error) if error.kind() == ErrorKind::NotFound => Err(missing()),
            found => Ok(found.map(|_| id)?),
        };
    }
    let mut all: Vec<Task> = Vec::new();
    for scope in [TaskScope::Open, TaskScope::Inbox, TaskScope::Logbook] {
        all.extend(notes.tasks(ListTasks::new(scope))?.items);
    }
    // A task of the inbox may be an open one as well.
    let mut known = HashSet::new();
    all.retain(|task| known.insert(task.id));
    let (id, lower) = (name.to_ascii_uppercase(), name.to_lowercase());
    let text = |task: &Task| line::first(&task.inline);
    let tests: [&dyn Fn(&Task) -> bool; 4] = [
        &|task| text(task) == name,
        &|task| text(task).to_lowercase() == lower,
        &|task| name.len() >= MIN_ID_PREFIX && task.id.to_string().starts_with(&id),
        &|task| lower.len() >= MIN_PART && text(task).to_lowercase().contains(&lower),
    ];
    for test in tests {
        let found: Vec<_> = all.iter().filter(|task| test(task)).collect();
        match found.as_slice() {
            [] => {}
            [one] => return Ok(one.id),
            several => {
                let candidates = several.iter().map(|task| (task.id.to_string(), text(task)));
                return Err(names::ambiguous("tasks", name, candidates));
            }
        }
    }
    Err(missing())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_ranges() {
        for (text, numbers_in_it) in [
            ("3", Some(vec![3])),
            ("3,5-7", Some(vec![3, 5, 6, 7])),
            ("2-2, 1", Some(vec![2, 1])),
            ("", None),
            ("3,", None),
            ("call Ana, 3", None),
            ("-3", None),
            ("01KASZ4ZJG0000000000000001", None),
            ("01234567890123456789012345", None),
        ] {
            assert_eq!(numbers(text).unwrap(), numbers_in_it, "{text}");
        }
        for (numbers_in_it, text) in [
            (vec![3], "3"),
            (vec![1, 2], "1-2"),
            (vec![3, 5, 6, 7, 9], "3,5-7,9"),
            ((1..=MAX_RANGE as u64 + 1).collect(), "1-10000,10001"),
        ] {
            assert_eq!(ranges(&numbers_in_it), text);
            let parsed = numbers(text).unwrap().unwrap().into_iter();
            assert_eq!(parsed.map(|number| number as u64).collect::<Vec<_>>(), numbers_in_it);
        }
        for text in ["7-5", "1-99999", "99999999999999999999999"] {
            assert!(numbers(text).is_err(), "{text}");
        }
    }
}
