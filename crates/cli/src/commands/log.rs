//! `leafbase log`: shows past changes of a space, and with `--follow` new ones.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use clap::Args;
use leafbase::{Change, ChangePosition, Connection, DocumentId, Edit, Error, ErrorKind, Space};

use crate::context::{CommandContext, open_beside};
use crate::days::HistoryPoint;
use crate::error::{CliError, CliResult};
use crate::interrupt;
use crate::show::{line, styles};

/// Documents named per change.
const MAX_TITLES: usize = 3;
/// Columns of the sequence number.
const SEQUENCE_COLUMNS: usize = 6;

/// Show changes, oldest first
///
/// With --follow the space is opened read-only once per interval and closed again, so that other
/// programs can write to it.
#[derive(Debug, Args)]
pub(crate) struct LogCommand {
    /// Number of most recent changes
    #[arg(
        short = 'n',
        long,
        value_name = "WRITES",
        default_value_t = 20,
        conflicts_with = "since"
    )]
    limit: u64,
    /// Show all changes after this sequence number, 0 for all, or after NUMBER:TOKEN, as JSON shows
    /// them: refused if the space has another history by now; or since a day: yesterday, "last
    /// monday"
    #[arg(long, value_name = "POSITION", allow_hyphen_values = true)]
    since: Option<HistoryPoint>,
    /// Keep showing new changes until Ctrl-C
    #[arg(short, long)]
    follow: bool,
    /// Polling interval of --follow in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = interval)]
    interval: f64,
}

fn interval(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    if (0.05..=86_400.0).contains(&seconds) {
        Ok(seconds)
    } else {
        Err("expected 0.05 to 86400 seconds".to_owned())
    }
}

impl LogCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        if self.follow {
            interrupt::listen();
        }
        let notes = context.reader()?;
        let since = match &self.since {
            Some(since) => existing(&notes, since.position(&notes)?)?,
            None => latest(&notes, self.limit)?,
        };
        let mut last = show_since(context, &notes, since)?;
        // Released between polls, so that other programs can open the space for writing.
        drop(notes);
        if !self.follow {
            return Ok(());
        }
        // The path is resolved once: a change of the current directory must not matter.
        let path = context.path()?;
        loop {
            context.out.flush()?;
            if interrupt::pause(Duration::from_secs_f64(self.interval)) {
                return Ok(());
            }
            match open_beside(&Space::builder().read_only(true), &path) {
                Ok(space) => last = show_since(context, &space.connect(), last)?,
                // Another program is writing: the next attempt shows its changes.
                Err(error) if error.kind() == ErrorKind::AlreadyOpen => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// The position, unless it is a number that no change has. One with a token is compared with the
/// history.
fn existing(notes: &Connection, since: ChangePosition) -> CliResult<ChangePosition> {
    let last = notes.last_sequence()?;
    if since.token().is_some() || since.sequence() <= last {
        return Ok(since);
    }
    let number = since.sequence();
    Err(CliError::not_found(format!("no change has the number {number}: the last one is {last}"))
        .hint("list the last changes: leafbase log"))
}

/// The error of a change that the log does not have.
fn not_logged(error: Error) -> CliError {
    let is_gone = error.kind() == ErrorKind::HistoryGone;
    let error = CliError::from(error);
    if is_gone { error.hint("start over with the last changes: leafbase log") } else { error }
}

/// The position before the last `limit` changes.
fn latest(notes: &Connection, limit: u64) -> CliResult<ChangePosition> {
    let position = ChangePosition::from(notes.last_sequence()?.saturating_sub(limit));
    match notes.changes_since(position).next() {
        // Compaction dropped the change or merged it: the remaining changes are counted.
        Some(Err(error)) if error.kind() == ErrorKind::HistoryGone => {}
        _ => return Ok(position),
    }
    let (mut positions, most) = (VecDeque::new(), usize::try_from(limit).unwrap_or(usize::MAX));
    positions.push_back(notes.log_begins_at()?);
    for change in notes.changes_since(notes.log_begins_at()?) {
        positions.push_back(change?.position());
        if positions.len() > most.saturating_add(1) {
            positions.pop_front();
        }
    }
    Ok(positions.pop_front().unwrap_or_default())
}

/// Shows the changes after `since` and returns the position of the last one.
fn show_since(
    context: &mut CommandContext,
    notes: &Connection,
    since: ChangePosition,
) -> CliResult<ChangePosition> {
    let mut last = since;
    for change in notes.changes_since(since) {
        let change = change.map_err(not_logged)?;
        last = change.position();
        if context.options.json {
            context.out.json(&change)?;
        } else {
            show(context, notes, &change)?;
        }
        if interrupt::is_requested() {
            break;
        }
    }
    Ok(last)
}

fn show(context: &mut CommandContext, notes: &Connection, change: &Change) -> CliResult<()> {
    let mut titles = change
        .documents
        .iter()
        .take(MAX_TITLES)
        .map(|document| title(notes, *document))
        .collect::<CliResult<Vec<_>>>()?;
    titles.sort();
    let mut titles = titles.join(", ");
    if change.documents.len() > MAX_TITLES {
        titles = format!("{titles} and {} more", change.documents.len() - MAX_TITLES);
    }
    let number =
        context.out.paint(styles::QUIET, format_args!("{:>SEQUENCE_COLUMNS$}", change.sequence));
    let (at, by) = (change.stamp.at, &change.stamp.by);
    let by =
        if by.is_anonymous() { String::new() } else { format!("  {}", line::plain(by.as_str())) };
    // Clipped to the width of the terminal.
    let room = context.out.width().saturating_sub(SEQUENCE_COLUMNS);
    let what = line::clip(&format!("  {at}{by}  {}  ", edits(&change.edits)), room);
    let left = room.saturating_sub(line::width(&what));
    let titles = if left == 0 { String::new() } else { line::clip(&line::plain(&titles), left) };
    let titles = context.out.paint(styles::TITLE, titles);
    context.out.line(format!("{number}{what}{titles}").trim_end())
}

/// The title of a document, or its ID if it no longer exists.
fn title(notes: &Connection, document: DocumentId) -> CliResult<String> {
    match notes.document(document) {
        Ok(document) => Ok(document.title),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(document.to_string()),
        Err(error) => Err(Error::into(error)),
    }
}

/// The kinds of edits with their counts.
fn edits(edits: &[Edit]) -> String {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for edit in edits {
        *kinds.entry(edit.type_name()).or_default() += 1;
    }
    let shown = kinds
        .into_iter()
        .map(|(kind, count)| if count == 1 { kind.to_owned() } else { format!("{count} {kind}") });
    shown.collect::<Vec<_>>().join(", ")
}
