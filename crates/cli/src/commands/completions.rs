//! `leafbase completions`: prints a completion script for a shell.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::context::CommandContext;
use crate::error::CliResult;

/// Print a completion script for a shell
///
/// bash: leafbase completions bash > ~/.local/share/bash-completion/completions/leafbase;
/// zsh: into a directory of $fpath as _leafbase; fish: ~/.config/fish/completions/leafbase.fish
#[derive(Debug, Args)]
pub(crate) struct CompletionsCommand {
    /// The shell
    shell: Shell,
}

impl CompletionsCommand {
    pub(crate) fn run(self, command: &mut Command, context: &mut CommandContext) -> CliResult<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, command, "leafbase", &mut script);
        context.out.bytes(&script)
    }
}
