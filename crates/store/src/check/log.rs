//! Checks of the change log.

use super::{Invariant, SpaceCheck};
use crate::change_parts::ChangeParts;
use crate::keyspaces::{self, CHANGES, RowName};
use crate::records;
use crate::records::meta::SpaceTotals;

impl SpaceCheck<'_> {
    pub(super) fn changes(&mut self, totals: Option<SpaceTotals>) {
        let (mut parts, mut last) = (ChangeParts::default(), 0);
        self.rows(CHANGES, &mut |check, key, value| {
            let (sequence, part) =
                keyspaces::parse_change_part(key).ok_or_else(|| records::corrupt(key))?;
            // A first part ends the change before it, complete or not.
            if part == 0 {
                check.unfinished(&std::mem::take(&mut parts));
                if sequence != last + 1 {
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
                Some(body) => body.change().map(drop),
                None => Ok(()),
            }
        });
        self.unfinished(&parts);
        if let Some(SpaceTotals { sequence, .. }) = totals
            && sequence != last
        {
            let message = format_args!("it ends with change {last}, not with {sequence}");
            self.found(Invariant::ChangeLog, CHANGES.name, message);
        }
    }

    fn unfinished(&mut self, parts: &ChangeParts) {
        if let Some(sequence) = parts.incomplete() {
            let key = keyspaces::change_part(sequence, 0);
            self.found(Invariant::ChangeLog, RowName(&key), "it lacks parts");
        }
    }
}
