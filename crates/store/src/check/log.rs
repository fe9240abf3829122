//! Checks of the change log.

use super::{Invariant, SpaceCheck};
use crate::keyspaces::{self, CHANGES, RowName};
use crate::reader::log::ChangeAssembler;
use crate::records;
use crate::records::meta::SpaceTotals;

impl SpaceCheck<'_> {
    pub(super) fn changes(&mut self, totals: Option<SpaceTotals>) {
        let (mut parts, mut last) = (ChangeAssembler::default(), 0);
        self.rows(CHANGES, &mut |check, key, value| {
            let (sequence, part) =
                keyspaces::read_change_part(key).ok_or_else(|| records::damaged(key))?;
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
            parts.take(key, value).map(|_| ())
        });
        self.unfinished(&parts);
        if let Some(SpaceTotals { sequence, .. }) = totals
            && sequence != last
        {
            let message = format_args!("it ends with change {last}, not with {sequence}");
            self.found(Invariant::ChangeLog, CHANGES.name, message);
        }
    }

    fn unfinished(&mut self, parts: &ChangeAssembler) {
        if let Some(sequence) = parts.unfinished() {
            let key = keyspaces::change_part(sequence, 0);
            self.found(Invariant::ChangeLog, RowName(&key), "it lacks parts");
        }
    }
}
