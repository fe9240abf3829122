//! `leafbase shell`: the command line of the shell, which runs in `session`.

use clap::Args;

/// Run commands line by line on a space that stays open
///
/// A line is a command line without the word leafbase, quoted as in a shell. Tab completes
/// commands, options, titles and folders; the arrows go through the lines of earlier shells, which
/// are kept in LEAFBASE_HISTORY, by default in leafbase/history in XDG_DATA_HOME (~/.local/share);
/// an empty LEAFBASE_HISTORY keeps none. .help lists what the shell itself knows.
///
/// Lines of a pipe or file are run one after another. Errors name the line, and the exit code is
/// that of the first line that fails.
#[derive(Debug, Args)]
pub(crate) struct ShellCommand {}
