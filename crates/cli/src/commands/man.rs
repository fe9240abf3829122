//! `leafbase man`: prints or writes the manual pages.

use std::path::PathBuf;

use clap::{Args, Command};

use crate::context::CommandContext;
use crate::error::{CliError, CliResult};

/// Print the manual page, or write one page per command
#[derive(Debug, Args)]
pub(crate) struct ManCommand {
    /// Write leafbase.1 and one page per command into this directory; created if missing
    #[arg(long, value_name = "PATH")]
    to: Option<PathBuf>,
}

impl ManCommand {
    pub(crate) fn run(self, command: Command, context: &mut CommandContext) -> CliResult<()> {
        if let Some(path) = self.to {
            let failed = |error| {
                CliError::system(format!("cannot write manual pages to {}", path.display()), &error)
            };
            std::fs::create_dir_all(&path).map_err(failed)?;
            return clap_mangen::generate_to(command, &path).map_err(failed);
        }
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        context.out.bytes(&page)
    }
}
