//! The command line, and the dispatch of its command.

use std::ffi::OsString;

use clap::builder::Styles;
use clap::builder::styling::AnsiColor;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::commands::{
    add, backup, cat, check, collections, compact, completions, diff, edit, export, follow, graph,
    grep, history, import, links, list, log, man, mirror, mv, new, query, replicate, restore, rm,
    salvage, search, shell, stats, tags, tasks, today, tree, tui, undo,
};
use crate::context::CommandContext;
use crate::days::SpokenDay;
use crate::error::{CliError, CliResult, EXIT_CODES, Exit};
use crate::options::{GlobalOptions, SPACE_VARIABLE};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Notes, tasks and tables in a space: documents made of blocks, stored in one directory
///
/// The space is the one given by --space, else by LEAFBASE_SPACE, else the nearest one from the
/// current directory upwards: the directory itself, or the only one in it whose name ends in
/// .leafbase.
///
/// A document is named by its title (Bread), its path (Kitchen/Bread), its day, its ID or a prefix
/// of its ID; a block by its ID or a prefix, an item of a collection also by its title. A title
/// comes before a day, and documents in the trash come last. Case is ignored unless it resolves an
/// ambiguity.
///
/// A day is 2026-03-01, today, tomorrow, yesterday, friday (the first one after today), last
/// friday, +3d, -2w, +1m, in 3 days, 2 weeks ago, next month; blanks may be hyphens.
#[derive(Debug, Parser)]
#[command(name = "leafbase", version, styles = STYLES, after_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) options: GlobalOptions,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Arguments {
    /// Parses words, the program's name first. Also whether they name a space: the parser knows,
    /// where a word such as `-sword` may be a text.
    pub(crate) fn parse(words: &[OsString]) -> Result<(Self, bool), clap::Error> {
        let mut command = Self::command();
        // An empty variable is an unset one.
        if std::env::var_os(SPACE_VARIABLE).is_some_and(|path| path.is_empty()) {
            command = command.mut_arg("space", |space| space.env(None::<&str>));
        }
        let matches = match command.clone().try_get_matches_from(words) {
            Err(error) if error.kind() == ErrorKind::UnknownArgument && has_past_day(words) => {
                let command = command.clone().mut_subcommands(with_hyphens_in_names);
                command.try_get_matches_from(words).map_err(|_| error)?
            }
            found => found?,
        };
        let has_space = matches.value_source("space") == Some(ValueSource::CommandLine);
        let arguments = Self::from_arg_matches(&matches);
        Ok((arguments.map_err(|error| error.format(&mut command))?, has_space))
    }
}

/// Whether a word is a day such as `-2w`, which looks like an option.
fn has_past_day(words: &[OsString]) -> bool {
    let mut words = words.iter().filter_map(|word| word.to_str());
    words.any(|word| word.starts_with('-') && word.parse::<SpokenDay>().is_ok())
}

/// The command with hyphens allowed in the names of documents. Not so in general: mistyped options
/// and `-s/path` would be names then.
fn with_hyphens_in_names(command: clap::Command) -> clap::Command {
    command.mut_args(|arg| {
        if arg.is_positional() && matches!(arg.get_id().as_str(), "name" | "names") {
            // Of several names, the later ones would take in options.
            arg.allow_hyphen_values(true).value_parser(not_option)
        } else {
            arg
        }
    })
}

fn not_option(name: &str) -> Result<String, &'static str> {
    if name.starts_with("--") { Err("an option") } else { Ok(name.to_owned()) }
}

/// The commands, in the order of the help.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    New(new::NewCommand),
    Import(import::ImportCommand),
    Export(export::ExportCommand),
    Mirror(mirror::MirrorCommand),
    Ls(list::ListCommand),
    Tree(tree::TreeCommand),
    Cat(cat::CatCommand),
    Add(add::AddCommand),
    Edit(edit::EditCommand),
    Mv(mv::MoveCommand),
    Rm(rm::RemoveCommand),
    Search(search::SearchCommand),
    Grep(grep::GrepCommand),
    Tags(tags::TagsCommand),
    Tasks(tasks::TasksCommand),
    Today(today::TodayCommand),
    Collections(collections::CollectionsCommand),
    Query(query::QueryCommand),
    Links(links::LinksCommand),
    Graph(graph::GraphCommand),
    Log(log::LogCommand),
    History(history::HistoryCommand),
    Diff(diff::DiffCommand),
    Undo(undo::UndoCommand),
    Stats(stats::StatsCommand),
    Check(check::CheckCommand),
    Salvage(salvage::SalvageCommand),
    Backup(backup::BackupCommand),
    Replicate(replicate::ReplicateCommand),
    Follow(follow::FollowCommand),
    Restore(restore::RestoreCommand),
    Compact(compact::CompactCommand),
    Shell(shell::ShellCommand),
    Tui(tui::TuiCommand),
    Completions(completions::CompletionsCommand),
    Man(man::ManCommand),
}

impl Command {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<Exit> {
        let result = match self {
            Self::Grep(grep) => return grep.run(context),
            Self::Check(_) => return check::CheckCommand::run(context),
            Self::Salvage(salvage) => return salvage.run(context),
            Self::Import(import) => return import.run(context),
            Self::Export(export) => return export.run(context),
            Self::Mirror(mirror) => return mirror.run(context),
            Self::Tui(_) => return tui::TuiCommand::run(context),
            Self::New(new) => new.run(context),
            Self::Ls(list) => list.run(context),
            Self::Tree(tree) => tree.run(context),
            Self::Cat(cat) => cat.run(context),
            Self::Add(add) => add.run(context),
            Self::Edit(edit) => edit.run(context),
            Self::Mv(mv) => mv.run(context),
            Self::Rm(rm) => rm.run(context),
            Self::Search(search) => search.run(context),
            Self::Tags(tags) => tags.run(context),
            Self::Tasks(tasks) => tasks.run(context),
            Self::Today(today) => today.run(context),
            Self::Collections(collections) => collections.run(context),
            Self::Query(query) => query.run(context),
            Self::Links(links) => links.run(context),
            Self::Graph(graph) => graph.run(context),
            Self::Log(log) => log.run(context),
            Self::History(history) => history.run(context),
            Self::Diff(diff) => diff.run(context),
            Self::Undo(undo) => undo.run(context),
            Self::Stats(stats) => stats.run(context),
            Self::Backup(backup) => backup.run(context),
            Self::Replicate(replicate) => replicate.run(context),
            Self::Follow(follow) => follow.run(context),
            Self::Restore(restore) => restore.run(context),
            Self::Compact(command) => command.run(context),
            // The program starts a session before it comes here: this is a line of one.
            Self::Shell(_) => Err(CliError::usage("this is a shell already")),
            Self::Completions(completions) => completions.run(&mut Arguments::command(), context),
            Self::Man(man) => man.run(Arguments::command(), context),
        };
        result.map(|()| Exit::Done)
    }
}
