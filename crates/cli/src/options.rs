//! Options that every command takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// The environment variable that names the space.
pub(crate) const SPACE_VARIABLE: &str = "LEAFBASE_SPACE";

/// Options that every command takes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalOptions {
    /// The directory of the space
    #[arg(short, long, global = true, env = SPACE_VARIABLE, value_name = "PATH")]
    pub(crate) space: Option<PathBuf>,
    /// Write JSON: of a listing one entry per line, else one line; errors become {"code", "error", "message"}, with "details" where a part is at fault
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Author recorded with every write
    #[arg(long = "as", global = true, env = "LEAFBASE_AUTHOR", value_name = "NAME")]
    pub(crate) author: Option<String>,
    /// Seconds to wait for another program that has the space open
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 2)]
    pub(crate) wait: u64,
    /// When to use colors; auto respects NO_COLOR and uses them on a terminal only
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorMode,
}

impl GlobalOptions {
    /// Takes what a line of a shell leaves open from the options of the shell.
    pub(crate) fn inherit(&mut self, shell: &Self) {
        self.json |= shell.json;
        if self.author.is_none() {
            self.author.clone_from(&shell.author);
        }
        if self.color == ColorMode::Auto {
            self.color = shell.color;
        }
    }
}

/// When output is colored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorMode {
    Auto,
    Always,
    Never,
}
