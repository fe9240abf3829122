//! Reports of imports and exports.

use std::collections::{BTreeMap, BTreeSet};

use leafbase::{ChangePosition, Connection, DocumentId};
use leafbase_vault::{MirrorChange, Skipped, VaultWarning, VaultWarningKind};

use super::{line, styles};
use crate::error::CliResult;
use crate::out::Out;

/// Examples listed per kind without `--all`.
const MAX_EXAMPLES: usize = 2;

/// Writes the changes of documents and files, each in a line.
pub(crate) fn changes(out: &mut Out, changes: &[MirrorChange]) -> CliResult<()> {
    for MirrorChange { kind, path, other, .. } in changes {
        let other = other.as_ref().map(|other| format!(" ({other})")).unwrap_or_default();
        out.line(format_args!("{}: {path}{other}", kind.summary()))?;
    }
    Ok(())
}

/// Counts of what `changes` wrote, for the hint of an error after them: `3 documents in 2 changes`.
/// `None` if there are none.
pub(crate) fn written(notes: &Connection, changes: &[u64]) -> Option<String> {
    let before = ChangePosition::from(changes.first()?.saturating_sub(1));
    // Others may have written in between. A log that cannot be read must not hide the error.
    let logged = notes.changes_since(before).map_while(Result::ok);
    let own = logged.filter(|change| changes.binary_search(&change.sequence).is_ok());
    let documents: BTreeSet<DocumentId> = own.flat_map(|change| change.documents).collect();
    let documents = line::count(documents.len(), "document", "documents");
    Some(format!("{documents} in {}", line::count(changes.len(), "change", "changes")))
}

/// Writes the warnings by kind, then the skipped files.
pub(crate) fn write(
    out: &mut Out,
    warnings: &[VaultWarning],
    skipped: &[Skipped],
    all: bool,
) -> CliResult<()> {
    let mut kinds: BTreeMap<VaultWarningKind, Vec<&VaultWarning>> = BTreeMap::new();
    for warning in warnings {
        kinds.entry(warning.kind).or_default().push(warning);
    }
    let most = if all { usize::MAX } else { MAX_EXAMPLES };
    for (kind, found) in &kinds {
        heading(out, found.len(), kind.summary())?;
        for VaultWarning { path, line, message, .. } in found.iter().take(most) {
            let place = line.map_or_else(|| path.clone(), |line| format!("{path}:{line}"));
            example(out, &place, message)?;
        }
    }
    if !skipped.is_empty() {
        heading(out, skipped.len(), "skipped")?;
        for Skipped { path, reason, .. } in skipped.iter().take(most) {
            example(out, path, reason)?;
        }
    }
    let hidden = kinds.values().map(Vec::len).chain([skipped.len()]).any(|found| found > most);
    if hidden { out.line(out.paint(styles::QUIET, "         full list: --all")) } else { Ok(()) }
}

fn heading(out: &mut Out, count: usize, what: &str) -> CliResult<()> {
    out.line(format_args!("{:>7}  {what}", line::number(count)))
}

fn example(out: &mut Out, place: &str, message: &str) -> CliResult<()> {
    let room = out.width().saturating_sub(9).max(20);
    let text = line::clip(&line::plain(&format!("{place}: {message}")), room);
    out.line(format_args!("         {}", out.paint(styles::QUIET, text)))
}

#[cfg(test)]
mod tests {
    use leafbase::{Space, bulk};

    use super::*;

    #[test]
    fn own_changes_are_counted() {
        let notes = Space::in_memory().unwrap().connect();
        let ((), changes) = bulk::record(&notes, |own| {
            let trip = own.create_document("Trip").unwrap().id();
            notes.create_document("Other").unwrap();
            own.insert_markdown("passport", trip).unwrap();
        });
        assert_eq!(changes, [1, 3]);
        assert_eq!(written(&notes, &changes).as_deref(), Some("1 document in 2 changes"));
        assert_eq!(written(&notes, &[]), None);
    }
}
