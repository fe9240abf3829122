//! The command line: what every command takes. What one of them takes stands in its own file.

use std::path::PathBuf;

use clap::builder::Styles;
use clap::builder::styling::AnsiColor;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::app::App;
use crate::commands::{
    add, backup, cat, check, collections, compact, completions, export, grep, import, links, list,
    log, man, mv, new, query, rm, salvage, search, stats, tasks, today, tree,
};
use crate::fault::{EXIT_CODES, Exit, Result};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Keeps notes, tasks and tables in a space: documents made of blocks, in one directory
///
/// A space is found by --space, else by LEAFBASE_SPACE, else it is the nearest one from the current
/// directory upwards: that directory itself, or the only one in it whose name ends in .leafbase.
///
/// Documents are named by their title (Bread), their path (Kitchen/Bread), a day (today,
/// 2026-03-01), their ID, or the beginning of that. Upper and lower case matter only where it
/// decides. Blocks are named by their ID.
#[derive(Debug, Parser)]
#[command(name = "leafbase", version, styles = STYLES, after_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Common {
    /// The directory of the space
    #[arg(short, long, global = true, env = "LEAFBASE_SPACE", value_name = "PATH")]
    pub(crate) space: Option<PathBuf>,
    /// Write one JSON value, or one for each line of log; errors too, as {"code", "message",
    /// "details"}
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Whose name stands on what is written
    #[arg(long = "as", global = true, env = "LEAFBASE_AUTHOR", value_name = "NAME")]
    pub(crate) author: Option<String>,
    /// Seconds to wait for another program that has the space open
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 2)]
    pub(crate) wait: u64,
    /// When to use colours; auto heeds NO_COLOR and uses them on a terminal only
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: When,
}

/// When colours are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}

/// The commands, in the order that help lists them.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    New(new::New),
    Import(import::Import),
    Export(export::Export),
    Ls(list::List),
    Tree(tree::Tree),
    Cat(cat::Cat),
    Add(add::Add),
    Mv(mv::Move),
    Rm(rm::Remove),
    Search(search::Search),
    Grep(grep::Grep),
    Tasks(tasks::Tasks),
    Today(today::Today),
    Collections(collections::Collections),
    Query(query::Query),
    Links(links::Links),
    Log(log::Log),
    Stats(stats::Stats),
    Check(check::Check),
    Salvage(salvage::Salvage),
    Backup(backup::Backup),
    Compact(compact::Compact),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Command {
    pub(crate) fn run(self, app: &mut App) -> Result<Exit> {
        let done = match self {
            Self::Grep(grep) => return grep.run(app),
            Self::Check(_) => return check::Check::run(app),
            Self::Salvage(salvage) => return salvage.run(app),
            Self::Import(import) => return import.run(app),
            Self::Export(export) => return export.run(app),
            Self::New(new) => new.run(app),
            Self::Ls(list) => list.run(app),
            Self::Tree(tree) => tree.run(app),
            Self::Cat(cat) => cat.run(app),
            Self::Add(add) => add.run(app),
            Self::Mv(mv) => mv.run(app),
            Self::Rm(rm) => rm.run(app),
            Self::Search(search) => search.run(app),
            Self::Tasks(tasks) => tasks.run(app),
            Self::Today(_) => today::Today::run(app),
            Self::Collections(collections) => collections.run(app),
            Self::Query(query) => query.run(app),
            Self::Links(links) => links.run(app),
            Self::Log(log) => log.run(app),
            Self::Stats(_) => stats::Stats::run(app),
            Self::Backup(backup) => backup.run(app),
            Self::Compact(_) => compact::Compact::run(app),
            Self::Completions(completions) => completions.run(app),
            Self::Man(man) => man.run(app),
        };
        done.map(|()| Exit::Done)
    }
}
