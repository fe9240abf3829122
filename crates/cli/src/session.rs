//! The shell: reads lines from a terminal or a script, and runs each on a space that stays open.

use std::ffi::OsString;
use std::io::{self, BufRead, IsTerminal};
use std::path::PathBuf;

use clap::CommandFactory;
use leafbase::Space;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use crate::args::{Arguments, Command};
use crate::catalog::Catalog;
use crate::completion::{self, Vocabulary};
use crate::context::{CommandContext, HeldSpace};
use crate::error::{CliError, CliResult, Exit};
use crate::interrupt;
use crate::options::GlobalOptions;
use crate::run;
use crate::user_directory::user_directory;

const HELP: &str = "\
.help        this list
.open PATH   go on with another space
.quit        end the shell, as Ctrl-D does
COMMAND      any command of leafbase: help lists them, help COMMAND explains one
";

const OWN_COMMANDS: [&str; 3] = [".help", ".open", ".quit"];

/// A shell on one space.
struct ShellSession {
    options: GlobalOptions,
    held: Option<HeldSpace>,
}

/// What a line asks for.
enum LineOutcome {
    Ran(Exit),
    Quit,
}

/// Runs the lines of the terminal or of the standard input.
pub(crate) fn run(options: GlobalOptions) -> Exit {
    let (json, color) = (options.json, options.color);
    let mut session = ShellSession { options, held: None };
    let is_interactive = io::stdin().is_terminal();
    match session.open() {
        Ok(()) if is_interactive => session.converse(),
        Ok(()) => session.script(),
        Err(error) => run::report(error, None, json, color),
    }
}

impl ShellSession {
    /// Opens the space of the options, and takes its path for all lines.
    fn open(&mut self) -> CliResult<()> {
        let context = CommandContext::new(self.options.clone(), None);
        let held = context.hold()?;
        self.options.space = Some(held.path.clone());
        self.held = Some(held);
        Ok(())
    }

    /// Runs all lines. Ends with the exit of the first one that failed.
    fn script(&mut self) -> Exit {
        let mut first = Exit::Done;
        let mut number = 0;
        loop {
            let mut line = String::new();
            // The lock is released for the command, which may read the rest: `add -`.
            match io::stdin().lock().read_line(&mut line) {
                Ok(0) => return first,
                Ok(_) => number += 1,
                Err(error) => {
                    let error = CliError::system("cannot read the standard input", &error);
                    return self.report(error, None);
                }
            }
            match self.line(&line, Some(number)) {
                LineOutcome::Quit => return first,
                LineOutcome::Ran(exit) if first == Exit::Done => first = exit,
                LineOutcome::Ran(_) => {}
            }
        }
    }

    fn report(&self, error: CliError, line: Option<usize>) -> Exit {
        run::report(error, line, self.options.json, self.options.color)
    }

    /// Reads lines from a person until the end of the input.
    fn converse(&mut self) -> Exit {
        let config = Config::builder().completion_type(CompletionType::List).build();
        let mut editor = match Editor::<ShellHelper, FileHistory>::with_config(config) {
            Ok(editor) => editor,
            Err(error) => return self.report(of_terminal(error), None),
        };
        let history = history_file();
        if let Some(file) = &history {
            // Without a history of earlier shells this one begins it.
            drop(editor.load_history(file));
        }
        loop {
            let space = self.held.as_ref().map(|held| held.space.clone());
            let name = space.as_ref().and_then(|space| Some(space.meta().ok()?.name));
            let vocabulary = Vocabulary::of(&Arguments::command(), &OWN_COMMANDS);
            editor.set_helper(Some(ShellHelper { vocabulary, space }));
            let prompt = format!("{}> ", name.as_deref().unwrap_or("leafbase"));
            match editor.readline(&prompt) {
                Ok(line) => {
                    // Only a line that says something is worth keeping.
                    drop(editor.add_history_entry(line.trim()));
                    if let Some(file) = &history {
                        drop(file.parent().map(std::fs::create_dir_all));
                        drop(editor.append_history(file));
                    }
                    editor.set_helper(None);
                    if matches!(self.line(&line, None), LineOutcome::Quit) {
                        return Exit::Done;
                    }
                }
                Err(ReadlineError::Interrupted) => {}
                Err(ReadlineError::Eof) => return Exit::Done,
                Err(error) => return self.report(of_terminal(error), None),
            }
        }
    }

    fn line(&mut self, line: &str, number: Option<usize>) -> LineOutcome {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return LineOutcome::Ran(Exit::Done);
        }
        let Some(words) = shlex::split(line) else {
            let error = CliError::usage("a quotation mark is not closed");
            return LineOutcome::Ran(self.report(error, number));
        };
        match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            [".quit" | ".exit"] => LineOutcome::Quit,
            [".help"] => LineOutcome::Ran(self.help(number)),
            [".open", path] => LineOutcome::Ran(self.reopen(path, number)),
            [name, ..] if name.starts_with('.') => {
                let error = CliError::usage(format!("{line:?} is not a shell command"));
                let error = error.hint(OWN_COMMANDS.join(", "));
                LineOutcome::Ran(self.report(error, number))
            }
            _ => {
                let exit = self.command(&words, number);
                interrupt::forget();
                LineOutcome::Ran(exit)
            }
        }
    }

    fn help(&self, number: Option<usize>) -> Exit {
        let mut context = CommandContext::new(self.options.clone(), None);
        let written = context.out.text(HELP).and_then(|()| context.out.flush());
        written.map_or_else(|error| self.report(error, number), |()| Exit::Done)
    }

    /// Goes on with another space; stays with the present one if that does not open.
    fn reopen(&mut self, path: &str, number: Option<usize>) -> Exit {
        let before = (self.options.space.replace(PathBuf::from(path)), self.held.take());
        match self.open() {
            Ok(()) => Exit::Done,
            Err(error) => {
                (self.options.space, self.held) = before;
                self.report(error, number)
            }
        }
    }

    fn command(&mut self, words: &[String], number: Option<usize>) -> Exit {
        let named = std::iter::once("leafbase").chain(words.iter().map(String::as_str));
        let named: Vec<_> = named.map(OsString::from).collect();
        let (mut arguments, has_space) = match Arguments::parse(&named) {
            Ok(parsed) => parsed,
            Err(error) => {
                let wants_json = self.options.json || words.iter().any(|word| word == "--json");
                return run::report_usage(&error, number, wants_json);
            }
        };
        // The shell has a space: that of the environment is for lines without a shell.
        if !has_space {
            arguments.options.space.clone_from(&self.options.space);
        }
        arguments.options.inherit(&self.options);
        if !arguments.command.needs_closed_space() {
            return run::run(arguments, self.held.clone(), number);
        }
        self.held = None;
        let exit = run::run(arguments, None, number);
        match self.open() {
            Ok(()) => exit,
            Err(error) => self.report(error, number),
        }
    }
}

impl Command {
    /// Whether the command opens the space as no other handle of the same program may.
    const fn needs_closed_space(&self) -> bool {
        matches!(self, Self::Salvage(_) | Self::Replicate(_) | Self::Compact(_))
    }
}

fn of_terminal(error: ReadlineError) -> CliError {
    CliError::system("the terminal", &io::Error::other(error))
}

/// The file that keeps the lines of earlier shells.
fn history_file() -> Option<PathBuf> {
    if let Some(file) = std::env::var_os("LEAFBASE_HISTORY") {
        return Some(PathBuf::from(file)).filter(|file| !file.as_os_str().is_empty());
    }
    Some(user_directory("XDG_DATA_HOME", ".local/share")?.join("history"))
}

/// Completes the lines of a person.
struct ShellHelper {
    vocabulary: Vocabulary,
    space: Option<Space>,
}

impl ShellHelper {
    /// Titles and folders; none while they cannot be read.
    fn names(&self) -> Vec<String> {
        let catalog = self.space.as_ref().and_then(|it| Catalog::read(&it.connect()).ok());
        let Some(catalog) = catalog else { return Vec::new() };
        let titles = catalog.documents.iter().map(|(_, document)| document.title.clone());
        let mut names: Vec<_> =
            titles.chain(catalog.folders.paths().map(|(path, _)| format!("{path}/"))).collect();
        names.sort();
        names.dedup();
        names
    }
}

impl Completer for ShellHelper {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        cursor: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let line = line.get(..cursor).unwrap_or(line);
        Ok(completion::candidates(&self.vocabulary, line, || self.names()))
    }
}

impl Hinter for ShellHelper {
    type Hint = String;
}
impl Highlighter for ShellHelper {}
impl Validator for ShellHelper {}
impl Helper for ShellHelper {}
