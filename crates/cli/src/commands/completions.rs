//! `leafbase completions`: a script that completes command lines.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::app::App;
use crate::args::Arguments;
use crate::fault::Result;

/// Print a script that completes command lines in a shell
///
/// bash: leafbase completions bash > ~/.local/share/bash-completion/completions/leafbase;
/// zsh: into a directory of $fpath as _leafbase; fish: ~/.config/fish/completions/leafbase.fish
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, app: &mut App) -> Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "leafbase", &mut script);
        app.out.bytes(&script)
    }
}
