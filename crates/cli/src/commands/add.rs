//! `leafbase add`: appends markdown to a document, a new one, a daily note or the inbox.

use std::io::{self, IsTerminal, Read};

use clap::Args;
use leafbase::{
    AddTasks, Connection, CreateDocuments, DayRef, Destination, InsertBlocks, Position,
    TaskDestination, TaskDraft,
};

use crate::catalog::FolderCatalog;
use crate::context::CommandContext;
use crate::days::SpokenDay;
use crate::error::{CliError, CliResult};
use crate::names;
use crate::show::line;

/// Add markdown to today's note, another document or a new one, or add a task
#[derive(Debug, Args)]
pub(crate) struct AddCommand {
    /// Markdown text; read from the standard input if missing or -
    #[arg(allow_hyphen_values = true)]
    text: Option<String>,
    /// Further words of the text
    #[arg(hide = true)]
    more: Vec<String>,
    /// The document, block ID or day; a missing daily note is created [default: today; for a task:
    /// the inbox]
    #[arg(short, long, value_name = "NAME", allow_hyphen_values = true)]
    to: Option<String>,
    /// Insert at the start instead of the end
    #[arg(long, conflicts_with_all = ["new", "task"])]
    start: bool,
    /// Create a document with this title
    #[arg(short, long, value_name = "TITLE", conflicts_with_all = ["to", "task"])]
    new: Option<String>,
    /// Folder of the new document, or templates; a missing folder is created
    #[arg(long = "in", value_name = "FOLDER", requires = "new")]
    folder: Option<String>,
    /// Add a task
    #[arg(short = 'k', long)]
    task: bool,
    /// Day for which the task is scheduled: today, friday, +3d, "in 2 weeks", 2026-03-01
    #[arg(long, value_name = "DAY", requires = "task", allow_hyphen_values = true)]
    on: Option<SpokenDay>,
    /// Deadline of the task
    #[arg(long, value_name = "DAY", requires = "task", allow_hyphen_values = true)]
    due: Option<SpokenDay>,
}

impl AddCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        // The text comes first: a program that writes it may be reading the space.
        let text = self.words()?;
        let notes = context.writer()?;
        if let Some(title) = &self.new {
            return self.document(context, &notes, title, &text);
        }
        if text.trim().is_empty() {
            return Err(if self.task {
                CliError::usage("the task has no text").hint("leafbase add --task TEXT")
            } else {
                CliError::usage("no text to add").hint("leafbase add TEXT")
            });
        }
        if self.task {
            return self.task(context, &notes, &text);
        }
        let position = self.position(&notes)?;
        let added = notes.insert_blocks(InsertBlocks::markdown(text, position))?;
        if context.options.json {
            return context.out.json(&added);
        }
        let count = line::count(added.len(), "block", "blocks");
        let Some(first) = added.first() else { return context.out.line("nothing to add") };
        let document = notes.document(notes.document_of(first.id)?)?;
        let path = FolderCatalog::read(&notes)?.shown_path(&document);
        context.out.line(format_args!("added {count} to {path}"))
    }

    /// The text of the command line or of the standard input.
    fn words(&self) -> CliResult<String> {
        match self.text.as_deref() {
            None if self.new.is_some() && io::stdin().is_terminal() => Ok(String::new()),
            None if io::stdin().is_terminal() => {
                Err(CliError::usage("no text to add").hint("leafbase add TEXT"))
            }
            None | Some("-") => read_stdin(),
            Some(first) => Ok([&[first.to_owned()], self.more.as_slice()].concat().join(" ")),
        }
    }

    fn position(&self, notes: &Connection) -> CliResult<Position> {
        let on_day = |day| {
            if self.start { Position::start_of_day(day) } else { Position::end_of_day(day) }
        };
        let Some(name) = &self.to else { return Ok(on_day(DayRef::Today)) };
        if let Some(day) = names::day_to_write(notes, name)? {
            return Ok(on_day(day));
        }
        let block = match names::document_or_block(notes, name)? {
            names::ResolvedName::Document(document) => document.id().root(),
            names::ResolvedName::Block(block) => block,
        };
        Ok(if self.start { Position::start_of(block) } else { Position::end_of(block) })
    }

    fn document(
        &self,
        context: &mut CommandContext,
        notes: &Connection,
        title: &str,
        text: &str,
    ) -> CliResult<()> {
        let place = self
            .folder
            .as_deref()
            .map(|name| names::planned_destination(notes, name))
            .transpose()?;
        let mut is_in_title = false;
        // One change: what cannot be added leaves no empty document.
        let made = notes.batch(|batch| {
            let place = place.as_ref().map(|place| place.create(batch)).transpose()?;
            is_in_title = true;
            let place = place.unwrap_or(Destination::Unsorted);
            let made = batch.create_documents(CreateDocuments::titled([title]).at(place))?;
            is_in_title = false;
            if let (Some(document), false) = (made.first(), text.trim().is_empty()) {
                batch.insert_markdown(text, document.id())?;
            }
            made.iter()
                .map(|document| batch.document(document.id()))
                .collect::<leafbase::Result<_>>()
        });
        let made: Vec<_> = made.map_err(|error| {
            if is_in_title {
                CliError::of_entry(error, &["title".to_owned()])
            } else {
                error.into()
            }
        })?;
        if context.options.json {
            return context.out.json(&leafbase::Items(made));
        }
        let folders = FolderCatalog::read(notes)?;
        made.iter().try_for_each(|document| {
            context.out.line(format_args!(
                "created {} {}",
                folders.shown_path(document),
                document.id()
            ))
        })
    }

    fn task(&self, context: &mut CommandContext, notes: &Connection, text: &str) -> CliResult<()> {
        let location = match self.to.as_deref() {
            None => TaskDestination::Inbox,
            Some(name) => match names::day_to_write(notes, name)? {
                Some(day) => TaskDestination::DailyNote(day),
                None => names::document(notes, name)?.id().into(),
            },
        };
        let mut draft = TaskDraft::new(text.trim_end()).at(location);
        draft.info.schedule_date = self.on.map(|day| day.at(notes)).transpose()?.map(Some);
        draft.info.deadline_date = self.due.map(|day| day.at(notes)).transpose()?.map(Some);
        let added = notes.add_tasks(AddTasks::new([draft]))?;
        if context.options.json {
            return context.out.json(&added);
        }
        added.iter().try_for_each(|task| context.out.line(format_args!("added task {}", task.id)))
    }
}

fn read_stdin() -> CliResult<String> {
    let mut text = String::new();
    io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| CliError::system("cannot read the standard input", &error))?;
    Ok(text)
}
