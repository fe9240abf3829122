//! Checks of the change log.

use std::collections::HashMap;

use leafbase_model::{Change, ChangePosition, DocumentId, Edit};

use super::{Invariant, SpaceCheck};
use crate::change_parts::{ChangeParts, PartHeader};
use crate::keyspaces::{self, CHANGES, RowName};
use crate::lookup::log_beginning;
use crate::records;
use crate::records::change::TouchedDocument;
use crate::records::meta::SpaceTotals;

/// Whether `change` creates `document`.
fn creates(change: &Change, document: DocumentId) -> bool {
    let is_creation =
        |edit: &Edit| matches!(edit, Edit::CreateDocument { record, .. } if record.id == document);
    change.edits.iter().any(is_creation)
}

/// Whether `change` erases a document so that it can come back.
fn erases(change: &Change) -> bool {
    change.edits.iter().any(|edit| matches!(edit, Edit::EraseDocument { .. }))
}

impl SpaceCheck<'_> {
    /// `last_changes` has the last change that each document's record names.
    pub(super) fn changes(
        &mut self,
        totals: Option<SpaceTotals>,
        last_changes: &HashMap<DocumentId, u64>,
    ) {
        // A record that cannot be read is reported with the others of its keyspace.
        let dropped = log_beginning(self.source).map_or(0, ChangePosition::sequence);
        let last_erasure = totals.map_or(u64::MAX, |totals| totals.last_erasure);
        let last_folder_edit = totals.map_or(u64::MAX, |totals| totals.last_folder_edit);
        let (mut parts, mut last) = (ChangeParts::default(), dropped);
        let mut touched: HashMap<DocumentId, u64> = HashMap::new();
        self.rows(CHANGES, &mut |check, key, value| {
            let (sequence, part) =
                keyspaces::parse_change_part(key).ok_or_else(|| records::corrupt(key))?;
            // A first part ends the change before it, complete or not.
            if part == 0 {
                check.unfinished(&std::mem::take(&mut parts));
                if PartHeader::read(key, value)?.0.first_sequence(sequence) != last + 1 {
                    check.found(
                        Invariant::ChangeLog,
                        RowName(key),
                        format_args!("it does not follow {last}"),
                    );
                }
                last = sequence;
                check.report.changes += 1;
            }
            match parts.push(key, value)? {
                Some(body) => {
                    let change = body.change()?;
                    for TouchedDocument { id, previous } in body.documents()? {
                        let before = touched.insert(id, change.sequence).unwrap_or(0);
                        // A document that is created, again or not, has no history before that.
                        // Changes that were dropped are named still.
                        if previous != before
                            && !(previous == 0 && creates(&change, id))
                            && !(before == 0 && previous <= dropped)
                        {
                            let message = format_args!(
                                "it follows {before} in the history of document {id}, but names \
                                 {previous}"
                            );
                            check.found(Invariant::LastChange, RowName(key), message);
                        }
                    }
                    if change.sequence > last_erasure && erases(&change) {
                        let message = format_args!(
                            "it erases a document, but the last erasure is said to be {last_erasure}"
                        );
                        check.found(Invariant::ChangeLog, RowName(key), message);
                    }
                    if change.sequence > last_folder_edit
                        && change.edits.iter().any(Edit::is_of_folder)
                    {
                        let message = format_args!(
                            "it changes a folder, but the last such change is said to be \
                             {last_folder_edit}"
                        );
                        check.found(Invariant::ChangeLog, RowName(key), message);
                    }
                    Ok(())
                }
                None => Ok(()),
            }
        });
        self.unfinished(&parts);
        self.last_changes(last_changes, &touched, dropped);
        if let Some(SpaceTotals { sequence, .. }) = totals
            && sequence != last
        {
            let message = format_args!("it ends with change {last}, not with {sequence}");
            self.found(Invariant::ChangeLog, CHANGES.name, message);
        }
    }

    /// `named` has the last change that each document's record names.
    fn last_changes(
        &mut self,
        named: &HashMap<DocumentId, u64>,
        touched: &HashMap<DocumentId, u64>,
        dropped: u64,
    ) {
        for (document, named) in named {
            let found = touched.get(document).copied().unwrap_or(0);
            if *named != found && !(found == 0 && *named <= dropped) {
                self.found(
                    Invariant::LastChange,
                    format_args!("document {document}"),
                    format_args!("the last change of it is {found}, but its record names {named}"),
                );
            }
        }
    }

    fn unfinished(&mut self, parts: &ChangeParts) {
        if let Some(sequence) = parts.incomplete() {
            let key = keyspaces::change_part(sequence, 0);
            self.found(Invariant::ChangeLog, RowName(&key), "it lacks parts");
        }
    }
}
