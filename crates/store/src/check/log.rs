//! Checks of the change log.

use super::{Check, Law};
use crate::keyspaces::{self, CHANGES, Row};
use crate::reader::log::Parts;
use crate::records;
use crate::records::meta::Totals;

impl Check<'_> {
    pub(super) fn changes(&mut self, totals: Option<Totals>) {
        let (mut parts, mut last) = (Parts::default(), 0);
        self.rows(CHANGES, &mut |check, key, value| {
            let (sequence, part) =
                keyspaces::read_change_part(key).ok_or_else(|| records::damaged(key))?;
            if part == 0 {
                check.unfinished(&std::mem::take(&mut parts));
                if sequence != last + 1 {
                    check.found(
                        Law::ChangeLog,
                        Row(key),
                        format_args!("it does not follow {last}"),
                    );
                }
                last = sequence;
                check.report.changes += 1;
            }
            parts.take(key, value).map(|_| ())
        });
        self.unfinished(&parts);
        if let Some(Totals { sequence, .. }) = totals
            && sequence != last
        {
            let message = format_args!("it ends with change {last}, not with {sequence}");
            self.found(Law::ChangeLog, CHANGES.name, message);
        }
    }

    fn unfinished(&mut self, parts: &Parts) {
        if let Some(sequence) = parts.unfinished() {
            let key = keyspaces::change_part(sequence, 0);
            self.found(Law::ChangeLog, Row(&key), "it lacks parts");
        }
    }
}
