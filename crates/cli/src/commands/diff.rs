//! `leafbase diff`: shows what differs between two versions of a document.

use clap::Args;
use leafbase::{
    Block, Connection, Document, DocumentDiff, ErrorKind, FlatBlock, PatchStep, TextDiff, TextPart,
};

use crate::context::CommandContext;
use crate::days::{self, HistoryPoint};
use crate::error::{CliError, CliResult};
use crate::names;
use crate::show::{line, styles};

/// Show what differs between two versions of a document
///
/// Versions are numbers of log and history. A line is a block: + was added, - removed, = moved and
/// ~ changed, with [-words that went-] and {+words that came+}.
#[derive(Debug, Args)]
pub(crate) struct DiffCommand {
    /// A document
    name: String,
    /// The version before: its number, or a day for the version at its beginning [default: before
    /// the last change of the document]
    #[arg(allow_hyphen_values = true)]
    from: Option<HistoryPoint>,
    /// The version after [default: the present one]
    #[arg(allow_hyphen_values = true)]
    to: Option<HistoryPoint>,
}

impl DiffCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        let notes = context.reader()?;
        let document = names::document(&notes, &self.name)?;
        let to = match &self.to {
            Some(to) => to.number(&notes)?,
            None => notes.last_sequence()?,
        };
        let from = match &self.from {
            Some(from) => from.number(&notes)?,
            None => before_last(&notes, &document)?,
        };
        let diff = match notes.diff_document(document.id(), from, to) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(self.missing_version(&notes, &document, from, to)?);
            }
            found => found?,
        };
        if context.options.json {
            return context.out.json(&diff);
        }
        let before = FlatBlock::list(notes.document_at(document.id(), from)?);
        show(context, &diff, before)
    }
}

impl DiffCommand {
    /// The error of the first version that the document does not have, by its name.
    fn missing_version(
        &self,
        notes: &Connection,
        document: &Document,
        from: u64,
        to: u64,
    ) -> CliResult<CliError> {
        let is_missing = |number| {
            let found = notes.document_at(document.id(), number);
            found.is_err_and(|error| error.kind() == ErrorKind::NotFound)
        };
        let title = &document.title;
        let (point, number) = if is_missing(from) { (&self.from, from) } else { (&self.to, to) };
        let message = match point {
            Some(HistoryPoint::Day(day)) => {
                let date = day.date(days::today(notes)?)?;
                format!("{title:?} did not exist at the beginning of {date}")
            }
            Some(HistoryPoint::Position(_)) => format!("{title:?} has no version {number}"),
            None => format!("{title:?} has no version before its first one, {}", number + 1),
        };
        Ok(CliError::not_found(message)
            .hint(format!("list its versions: leafbase history {}", names::quoted(title))))
    }
}

/// The version before the last one of the document.
fn before_last(notes: &Connection, document: &Document) -> CliResult<u64> {
    let versions = notes.history(document.id(), None, 1)?;
    let last = versions.first().map(|version| version.sequence);
    last.and_then(|last| last.checked_sub(1))
        .ok_or_else(|| CliError::not_found(format!("the log has no change of {}", document.title)))
}

/// Shows the steps in their order, on the list as those before left it.
fn show(
    context: &mut CommandContext,
    diff: &DocumentDiff,
    mut list: Vec<FlatBlock>,
) -> CliResult<()> {
    for step in &diff.steps {
        let (sign, style, text) = match step {
            PatchStep::Remove { at } if *at < list.len() => {
                ('-', styles::REMOVED, markdown(&list.remove(*at).block))
            }
            PatchStep::Insert { at, entry } => {
                list.insert((*at).min(list.len()), entry.clone());
                ('+', styles::ADDED, markdown(&entry.block))
            }
            PatchStep::Move { from, to } if *from < list.len() => {
                let entry = list.remove(*from);
                let text = markdown(&entry.block);
                list.insert((*to).min(list.len()), entry);
                ('=', styles::QUIET, text)
            }
            PatchStep::Update { entry, .. } => {
                let words = diff.texts.iter().find(|text| text.block_id == entry.block.id);
                ('~', styles::TITLE, words.map_or_else(|| markdown(&entry.block), words_of))
            }
            _ => continue,
        };
        for text in text.lines() {
            let text = line::clip(&format!("{sign} {}", line::plain(text)), context.out.width());
            let text = context.out.paint(style, text);
            context.out.line(text)?;
        }
    }
    Ok(())
}

fn markdown(block: &Block) -> String {
    block.block_form.as_deref().unwrap_or(&block.data.inline).to_owned()
}

fn words_of(text: &TextDiff) -> String {
    let part = |part: &TextPart| match part {
        TextPart::Kept(words) => words.clone(),
        TextPart::Removed(words) => format!("[-{words}-]"),
        TextPart::Inserted(words) => format!("{{+{words}+}}"),
    };
    text.parts.iter().map(part).collect()
}
