//! Rows of the change log of another space of this history, applied as they are.
//!
//! The edits of a row have what followed from them, so no rule is applied again, and the row is
//! written as it came: sequence, token, time, author and bytes.

use leafbase_model::{Change, ChangePosition, Error, ErrorKind, Result};

use super::{Flush, SpaceTransaction};
use crate::change_parts::put_change;
use crate::change_row::ChangeRow;
use crate::edges::Extractor;
use crate::keyspaces;
use crate::kv::Transaction;
use crate::lookup::{contains, space_totals};
use crate::reader::{ReaderCache, SpaceReader};

impl<'a> SpaceTransaction<'a> {
    /// A transaction for `row`, which must follow the last change in the log.
    pub(crate) fn following(
        rows: &'a mut dyn Transaction,
        extractor: Extractor,
        row: &'a ChangeRow,
    ) -> Result<Self> {
        let totals = space_totals(&*rows)?;
        let reader = SpaceReader { read: &*rows, extractor, cache: ReaderCache::None, hints: None };
        check_follows(row, reader.position_at(totals.sequence)?)?;
        let Change { stamp, sequence, .. } = row.change();
        Ok(Self { totals, ..Self::copying(rows, extractor, stamp, *sequence) })
    }

    /// Applies the row and writes it to the log.
    pub(crate) fn follow(mut self, row: &ChangeRow) -> Result<()> {
        let change = row.change();
        for file in row.files() {
            if !contains(&*self.rows, &keyspaces::pending_asset(file.id))? {
                let message = format!(
                    "the bytes of file {}, which change {} creates, are not stored yet",
                    file.id, change.sequence
                );
                return Err(Error::new(ErrorKind::NotFound, message));
            }
        }
        let edits = row.edits(|file| contains(&*self.rows, &keyspaces::asset(file)))?;
        self.apply(edits).map_err(|error| refused(row, error))?;
        for document in &change.documents {
            // A merged row stands for as many writes there: revisions here count them as well.
            self.documents.skip_revisions(*document, change.sequence - change.first_sequence);
        }
        self.flush(Flush::Last)?;
        // The row names the documents and the change of each before it: here they are the same, or
        // the spaces have diverged.
        if self.documents.touched() != row.documents()? {
            return Err(diverged(row));
        }
        self.redact_log()?;
        self.put_totals()?;
        put_change(self.rows, row.identity(), (row.body().to_vec(), &[]))?;
        Ok(())
    }
}

/// Checks that `row` follows `last`, the last change here.
fn check_follows(row: &ChangeRow, last: ChangePosition) -> Result<()> {
    let (sequence, first) = (row.position().sequence(), row.change().first_sequence);
    let start_over = |why: &str| {
        let message = format!("change {sequence} cannot be applied: {why}; start over from a copy");
        Err(Error::history_gone(message))
    };
    if row.change().is_redacted() {
        return start_over("a later purge redacted it");
    }
    if first <= last.sequence() && last.sequence() < sequence {
        return start_over("it was merged with changes that are in the log already");
    }
    if row.previous().sequence() != last.sequence() {
        let message =
            format!("change {first} does not follow change {}, the last one here", last.sequence());
        return Err(Error::new(ErrorKind::Conflict, message));
    }
    if row.previous().token() != last.token() {
        return start_over("it belongs to another history of this space");
    }
    Ok(())
}

/// The error of a row whose edits do not apply.
fn refused(row: &ChangeRow, error: Error) -> Error {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::Conflict | ErrorKind::Validation => {
            diverged(row).with_source(error)
        }
        _ => error,
    }
}

fn diverged(row: &ChangeRow) -> Error {
    Error::history_gone(format!(
        "change {} does not fit: this space was written otherwise than the one that it follows; \
         start over from a copy",
        row.position().sequence()
    ))
}
