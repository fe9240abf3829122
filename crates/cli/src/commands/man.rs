//! `leafbase man`: the manual.

use std::path::PathBuf;

use clap::{Args, CommandFactory};

use crate::app::App;
use crate::args::Arguments;
use crate::fault::{Fault, Result};

/// Print the manual page, or write one for each command
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Write leafbase.1 and a page for each command into this directory
    #[arg(long, value_name = "PATH")]
    to: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(self, app: &mut App) -> Result<()> {
        let command = Arguments::command();
        if let Some(path) = self.to {
            let failed =
                |error| Fault::system(format!("manual pages in {}", path.display()), &error);
            return clap_mangen::generate_to(command, &path).map_err(failed);
        }
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        app.out.bytes(&page)
    }
}
