//! `leafbase log`: the writes of a space, as they happened and as they happen.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use clap::Args;
use leafbase::{Change, Connection, DocumentId, Edit, Error, ErrorKind, Space};

use crate::app::App;
use crate::fault::Result;
use crate::interrupt;
use crate::show::{line, styles};

/// So many documents of a write are named.
const NAMED: usize = 3;
/// Columns of the number of a write.
const NUMBER: usize = 6;
/// Ctrl-C is looked for so often.
const STEP: Duration = Duration::from_millis(50);

/// Show what was written, the oldest first
///
/// With --follow the space is opened for reading once in each interval, and closed again: others
/// can write to it meanwhile.
#[derive(Debug, Args)]
pub(crate) struct Log {
    /// The last so many writes
    #[arg(
        short = 'n',
        long,
        value_name = "WRITES",
        default_value_t = 20,
        conflicts_with = "since"
    )]
    limit: u64,
    /// All writes after the one of this number; 0 for all
    #[arg(long, value_name = "NUMBER")]
    since: Option<u64>,
    /// Go on with what is written from now on, until Ctrl-C
    #[arg(short, long)]
    follow: bool,
    /// Seconds between looks with --follow
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

impl Log {
    pub(crate) fn run(self, app: &mut App) -> Result<()> {
        if self.follow {
            interrupt::listen();
        }
        let notes = app.reader()?;
        let since = match self.since {
            Some(since) => since,
            None => notes.last_sequence()?.saturating_sub(self.limit),
        };
        let mut last = show_since(app, &notes, since)?;
        drop(notes);
        if !self.follow {
            return Ok(());
        }
        let path = app.path()?;
        loop {
            app.out.flush()?;
            if self.pause() {
                return Ok(());
            }
            match Space::builder().read_only(true).open(&path) {
                Ok(space) => last = show_since(app, &space.connect(), last)?,
                // Somebody is writing: what, is seen the next time.
                Err(error) if error.kind() == ErrorKind::AlreadyOpen => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Waits, and tells whether to end.
    fn pause(&self) -> bool {
        let mut left = Duration::from_secs_f64(self.interval);
        while !left.is_zero() && !interrupt::asked() {
            let step = left.min(STEP);
            thread::sleep(step);
            left -= step;
        }
        interrupt::asked()
    }
}

/// Shows the writes after `since`, and gives the number of the last one.
fn show_since(app: &mut App, notes: &Connection, since: u64) -> Result<u64> {
    let mut last = since;
    for change in notes.changes_since(since) {
        let change = change?;
        last = change.sequence;
        if app.common.json {
            app.out.json(&change)?;
        } else {
            show(app, notes, &change)?;
        }
        if interrupt::asked() {
            break;
        }
    }
    Ok(last)
}

fn show(app: &mut App, notes: &Connection, change: &Change) -> Result<()> {
    let mut titles = change
        .documents
        .iter()
        .take(NAMED)
        .map(|document| title(notes, *document))
        .collect::<Result<Vec<_>>>()?;
    titles.sort();
    let mut titles = titles.join(", ");
    if change.documents.len() > NAMED {
        titles = format!("{titles} and {} more", change.documents.len() - NAMED);
    }
    let number = app.out.paint(styles::QUIET, format_args!("{:>NUMBER$}", change.sequence));
    let (at, by) = (change.stamp.at, &change.stamp.by);
    let by = if by.is_nobody() { String::new() } else { format!("  {}", line::plain(by.as_str())) };
    // A line ends where the terminal does.
    let room = app.out.width().saturating_sub(NUMBER);
    let what = line::clip(&format!("  {at}{by}  {}  ", edits(&change.edits)), room);
    let left = room.saturating_sub(line::width(&what));
    let titles = if left == 0 { String::new() } else { line::clip(&line::plain(&titles), left) };
    let titles = app.out.paint(styles::TITLE, titles);
    app.out.line(format!("{number}{what}{titles}").trim_end())
}

/// The title of a document; its ID if it is gone by now.
fn title(notes: &Connection, document: DocumentId) -> Result<String> {
    match notes.document(document) {
        Ok(document) => Ok(document.title),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(document.to_string()),
        Err(error) => Err(Error::into(error)),
    }
}

/// The kinds of edits, each with how many there are.
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
