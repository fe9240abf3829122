//! `leafbase tui`: the command line of the screens, which are in `tui`.

use std::io::{self, IsTerminal};

use clap::Args;

use crate::context::CommandContext;
use crate::error::{CliError, CliResult, Exit};
use crate::tui;

/// Browse, search and edit the space in the terminal
///
/// Folders and documents are on the left, the open document is on the right. ? lists the keys, q
/// quits. Other programs can use the space meanwhile, and their writes are shown.
#[derive(Debug, Args)]
pub(crate) struct TuiCommand {}

impl TuiCommand {
    pub(crate) fn run(context: &CommandContext) -> CliResult<Exit> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Err(CliError::usage("tui needs a terminal for its input and its output")
                .hint("for files and pipes there are: leafbase ls, cat, search, edit --from -"));
        }
        tui::run(&context.sharer()?, context.out.has_color())
    }
}
