//! `leafbase add`: writes into a document, a new one, a daily note or the inbox.

use std::io::{self, IsTerminal, Read};

use clap::Args;
use leafbase::{
    AddTasks, Connection, CreateDocuments, DayRef, Destination, InsertBlocks, Position,
    TaskDestination, TaskDraft,
};

use crate::app::App;
use crate::catalog::Folders;
use crate::fault::{Fault, Result};
use crate::names;
use crate::show::line;

/// Add markdown to today's note, another document or a new one, or add a task
#[derive(Debug, Args)]
pub(crate) struct Add {
    /// Markdown; without any, or as -, it is read from the standard input
    #[arg(allow_hyphen_values = true)]
    text: Option<String>,
    /// More words of it
    #[arg(hide = true)]
    more: Vec<String>,
    /// The document, or the ID of a block, or a day, whose note is made if there is none [default:
    /// today, a task: the inbox]
    #[arg(short, long, value_name = "NAME")]
    to: Option<String>,
    /// At the start, not at the end
    #[arg(long, conflicts_with_all = ["new", "task"])]
    start: bool,
    /// Make a new document of this title
    #[arg(short, long, value_name = "TITLE", conflicts_with_all = ["to", "task"])]
    new: Option<String>,
    /// The folder of the new document, or templates; a folder is made if there is none
    #[arg(long = "in", value_name = "FOLDER", requires = "new")]
    folder: Option<String>,
    /// Add a task
    #[arg(short = 'k', long)]
    task: bool,
    /// The day that the task is planned for: today, tomorrow, 2026-03-01
    #[arg(long, value_name = "DAY", requires = "task")]
    on: Option<DayRef>,
    /// The day that the task has to be done by
    #[arg(long, value_name = "DAY", requires = "task")]
    due: Option<DayRef>,
}

impl Add {
    pub(crate) fn run(self, app: &mut App) -> Result<()> {
        let notes = app.writer()?;
        if let Some(title) = &self.new {
            return self.document(app, &notes, title);
        }
        if self.task {
            return self.task(app, &notes);
        }
        let text = self.words()?;
        let position = self.position(&notes)?;
        let added = notes.insert_blocks(InsertBlocks::markdown(text, position))?;
        if app.common.json {
            return app.out.json(&added);
        }
        let count = line::count(u64::try_from(added.len()).unwrap_or(u64::MAX), "block", "blocks");
        let Some(first) = added.first() else { return app.out.line("added nothing") };
        let document = notes.document(notes.document_of(first.id)?)?;
        let path = Folders::read(&notes)?.path_of(&document);
        app.out.line(format_args!("added {count} to {path}"))
    }

    /// The text of the command line, or of the standard input.
    fn words(&self) -> Result<String> {
        match self.text.as_deref() {
            None if io::stdin().is_terminal() => {
                Err(Fault::usage("there is nothing to add").hint("leafbase add TEXT"))
            }
            None | Some("-") => read_stdin(),
            Some(first) => Ok([&[first.to_owned()], self.more.as_slice()].concat().join(" ")),
        }
    }

    fn position(&self, notes: &Connection) -> Result<Position> {
        let name = self.to.as_deref().unwrap_or("today");
        if let Ok(day) = name.parse::<DayRef>() {
            return Ok(if self.start {
                Position::start_of_day(day)
            } else {
                Position::end_of_day(day)
            });
        }
        let block = match names::document_or_block(notes, name)? {
            names::Named::Document(document) => document.id().root(),
            names::Named::Block(block) => block,
        };
        Ok(if self.start { Position::start_of(block) } else { Position::end_of(block) })
    }

    fn document(&self, app: &mut App, notes: &Connection, title: &str) -> Result<()> {
        let text = if self.text.is_none() && io::stdin().is_terminal() {
            String::new()
        } else {
            self.words()?
        };
        let place =
            self.folder.as_deref().map(|name| names::destination(notes, name)).transpose()?;
        let request = CreateDocuments::titled([title]).at(place.unwrap_or(Destination::Unsorted));
        let made = notes.create_documents(request)?;
        if let (Some(document), false) = (made.first(), text.trim().is_empty()) {
            notes.insert_markdown(&text, document.id())?;
        }
        if app.common.json {
            return app.out.json(&made);
        }
        let folders = Folders::read(notes)?;
        made.iter().try_for_each(|document| {
            app.out.line(format_args!("made {} {}", folders.path_of(document), document.id()))
        })
    }

    fn task(&self, app: &mut App, notes: &Connection) -> Result<()> {
        let location = match self.to.as_deref() {
            None => TaskDestination::Inbox,
            Some(name) => match name.parse::<DayRef>() {
                Ok(day) => TaskDestination::DailyNote(day),
                Err(_) => names::document(notes, name)?.id().into(),
            },
        };
        let mut draft = TaskDraft::new(self.words()?.trim_end()).at(location);
        draft.info.schedule_date = self.on.map(Some);
        draft.info.deadline_date = self.due.map(Some);
        let added = notes.add_tasks(AddTasks::new([draft]))?;
        if app.common.json {
            return app.out.json(&added);
        }
        added.iter().try_for_each(|task| app.out.line(format_args!("added the task {}", task.id)))
    }
}

fn read_stdin() -> Result<String> {
    let mut text = String::new();
    io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| Fault::system("the standard input", &error))?;
    Ok(text)
}
