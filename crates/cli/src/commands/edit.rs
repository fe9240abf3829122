//! `leafbase edit`: changes a document as markdown, in an editor or from a file.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use leafbase::{AppliedMarkdown, ApplyMarkdown, BlockId, Error, ErrorKind, bulk};

use crate::context::CommandContext;
use crate::error::{CliError, CliResult};
use crate::interrupt;
use crate::names::{self, ResolvedName};
use crate::show::line;

/// Edit a document or page as markdown, in $VISUAL or $EDITOR
///
/// What changed in the text changes in the document; all other blocks keep their IDs, comments and
/// what markdown does not say. The space is not held open during the edit. If the document changed
/// meanwhile, nothing is written, and the edited text is kept in a file.
#[derive(Debug, Args)]
pub(crate) struct EditCommand {
    /// A document, or the ID of a page
    name: String,
    /// Take the text from a file instead of an editor; - for the standard input
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Write nothing; print the counts of the changes
    #[arg(long)]
    dry_run: bool,
}

impl EditCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        let (page, title, text) = self.read(context)?;
        let (edited, kept) = match &self.from {
            Some(file) => (read_file(file)?, None),
            None => edit(&text)?,
        };
        let kept_in = kept.as_ref().map(|file| format!("the edited text is in {}", file.display()));
        let is_same_text = edited.strip_suffix('\n').unwrap_or(&edited) == text;
        let mut request = ApplyMarkdown::new(page, edited).if_markdown(text);
        request.dry_run = self.dry_run;
        let (applied, changed) = apply(context, request).map_err(|error| match &kept_in {
            Some(place) => error.further_hint(place),
            None => error,
        })?;
        if let Some(file) = kept.filter(|_| is_same_text || !self.dry_run) {
            // The space has the text: the file is not needed, and may be gone already.
            drop(fs::remove_file(file));
        }
        if context.options.json {
            return context.out.json(&applied);
        }
        let form = match (changed, self.dry_run && !is_same_text) {
            (true, _) => TextForm::Changed,
            (false, true) => TextForm::Unknown,
            (false, false) => TextForm::Same,
        };
        context.out.line(summary(&applied, form, &title))?;
        match kept_in.filter(|_| self.dry_run && !is_same_text) {
            Some(place) => context.out.line(place),
            None => Ok(()),
        }
    }

    /// The page, its title, and its markdown. The space is closed again.
    fn read(&self, context: &CommandContext) -> CliResult<(BlockId, String, String)> {
        let notes = context.reader()?;
        let named = names::document_or_block(&notes, &self.name)?;
        let page = named.block();
        if !names::is_page(&notes, page)? {
            let message = format!("block {page} is not a page, and has no content of its own");
            return Err(CliError::usage(message).hint("edit the document or page that it is in"));
        }
        let title = match named {
            ResolvedName::Document(document) => document.title,
            ResolvedName::Block(block) => block.to_string(),
        };
        let text = notes.content_markdown(page)?;
        Ok((page, title, text))
    }
}

/// Applies the request; also returns whether it changed anything.
fn apply(context: &CommandContext, request: ApplyMarkdown) -> CliResult<(AppliedMarkdown, bool)> {
    let (applied, changes) =
        bulk::record(&context.writer()?, |notes| notes.apply_markdown(request));
    let is_stale =
        |error: &Error| error.kind() == ErrorKind::Conflict && error.path() == "expected";
    match applied {
        Ok(applied) => Ok((applied, !changes.is_empty())),
        Err(error) if is_stale(&error) => {
            Err(CliError::failed("the document changed meanwhile; nothing is written"))
        }
        Err(error) => Err(error.into()),
    }
}

fn read_file(file: &Path) -> CliResult<String> {
    let read = if file == Path::new("-") {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        fs::read_to_string(file)
    };
    read.map_err(|error| CliError::system(file.display().to_string(), &error))
}

/// The text after an editor had it, and the file that has it.
fn edit(text: &str) -> CliResult<(String, Option<PathBuf>)> {
    let named = ["VISUAL", "EDITOR"].into_iter().filter_map(|name| std::env::var(name).ok());
    let editor = named.into_iter().find(|editor| !editor.trim().is_empty()).ok_or_else(|| {
        CliError::usage("neither VISUAL nor EDITOR names an editor")
            .hint("EDITOR=vi leafbase edit NOTE, or leafbase edit NOTE --from FILE")
    })?;
    let failed = |error: io::Error| CliError::system("the file to edit", &error);
    let file = tempfile::Builder::new().prefix("leafbase-").suffix(".md").tempfile();
    let (_, path) = file.and_then(|file| Ok(file.keep()?)).map_err(failed)?;
    fs::write(&path, format!("{text}\n")).map_err(failed)?;
    // As a shell reads it: a path with blanks is quoted. Otherwise the whole is a path.
    let words = shlex::split(&editor).unwrap_or_else(|| vec![editor.clone()]);
    let (program, options) = words.split_first().unwrap_or((&editor, &[]));
    let mut command = Command::new(program);
    command.args(options).arg(&path);
    let status = interrupt::ignore_during(|| command.status());
    let status = status.map_err(|error| {
        // No one has edited the text.
        drop(fs::remove_file(&path));
        CliError::failed(format!("the editor {editor} cannot be started: {error}"))
            .hint("set VISUAL or EDITOR to another one, or take the text from a file: --from FILE")
    })?;
    if !status.success() {
        let message = format!("the editor {editor} failed; nothing is changed");
        return Err(CliError::failed(message).hint(format!("the text is in {}", path.display())));
    }
    let edited = fs::read_to_string(&path).map_err(failed)?;
    Ok((edited, Some(path)))
}

/// Whether the markdown of a page has another form, such as other list markers, which its layout
/// keeps and no block shows.
#[derive(Clone, Copy, Debug)]
enum TextForm {
    Same,
    Changed,
    /// A dry run writes no change that would say so.
    Unknown,
}

fn summary(applied: &AppliedMarkdown, form: TextForm, title: &str) -> String {
    let counts = [
        (applied.updated.len(), "changed"),
        (applied.inserted.len(), "added"),
        (applied.moved.len(), "moved"),
        (applied.removed.len(), "removed"),
    ];
    let parts = counts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<_> =
        parts.map(|(count, what)| format!("{} {what}", line::number(count))).collect();
    let dry = if applied.dry_run { "dry run: " } else { "" };
    let title = line::plain(title);
    match form {
        _ if !parts.is_empty() => format!("{dry}blocks of {title}: {}", parts.join(", ")),
        TextForm::Same => format!("{dry}nothing changed in {title}"),
        TextForm::Changed => format!("the form of {title} changed, and none of its blocks"),
        TextForm::Unknown => format!("{dry}no block changed in {title}, at most its form"),
    }
}
