//! The change log: complete changes are copied, and an empty one replaces each lost one, so that
//! sequences keep their meaning.

use std::collections::BTreeSet;

use leafbase_model::{ChangeToken, Result};

use super::documents::relaxed;
use super::{LossKind, OnStep, Salvager};
use crate::change_parts::{ChangeParts, PartHeader};
use crate::keyspaces::{self, CHANGES, META, RowName};
use crate::kv::Store;
use crate::lookup::put_totals;
use crate::records;
use crate::records::change::ChangeEncoder;
use crate::records::layout::Value;
use crate::records::meta::{self, SpaceTotals};

impl Salvager<'_> {
    pub(super) fn log(
        &mut self,
        target: &dyn Store,
        folders: usize,
        step: OnStep<'_>,
    ) -> Result<()> {
        let whole = self.whole_changes()?;
        let mut last = whole.last().copied().unwrap_or(0);
        self.rows(META, &mut |_, key, value| {
            if let Ok(totals) = records::decode(key, value, SpaceTotals::decode)
                && key == keyspaces::meta(meta::TOTALS)
            {
                last = last.max(totals.sequence);
            }
            Ok(())
        })?;
        self.rows(CHANGES, &mut |_, key, value| match keyspaces::parse_change_part(key) {
            Some((sequence, _)) if whole.contains(&sequence) => {
                target.write(relaxed(), &mut |rows| rows.put(key, value))
            }
            _ => Ok(()),
        })?;
        // Whole changes are a sorted set: the gaps between them are the lost ones.
        let mut before = 0;
        for sequence in whole.iter().copied().chain([last + 1]) {
            for lost in before + 1..sequence {
                step()?;
                self.put_empty(target, lost)?;
            }
            before = sequence;
        }
        self.report.saved.changes = whole.len() as u64;
        target.write(relaxed(), &mut |rows| {
            put_totals(rows, SpaceTotals { sequence: last, folders: folders as u64 })
        })
    }

    /// The sequences of the changes whose parts are all readable.
    fn whole_changes(&mut self) -> Result<BTreeSet<u64>> {
        let (mut parts, mut whole) = (ChangeParts::default(), BTreeSet::new());
        self.rows(CHANGES, &mut |_, key, value| {
            if keyspaces::parse_change_part(key).is_some_and(|(_, part)| part == 0) {
                parts = ChangeParts::default();
            }
            // A part that does not follow resets the assembly: its change is incomplete.
            match parts.push(key, value).and_then(|body| body.map(|body| body.change()).transpose())
            {
                Ok(Some(change)) => drop(whole.insert(change.sequence)),
                Ok(None) => {}
                Err(_) => parts = ChangeParts::default(),
            }
            Ok(())
        })?;
        Ok(whole)
    }

    fn put_empty(&mut self, target: &dyn Store, sequence: u64) -> Result<()> {
        let key = keyspaces::change_part(sequence, 0);
        self.report.lose(LossKind::Change, RowName(&key), "an empty change takes its place");
        let log = ChangeEncoder::default();
        let (head, tail) = log.body(&self.stamp, &[]);
        // A new token: a follower of the lost change has seen another history.
        let header = PartHeader::new(1, false, ChangeToken::from_id((self.new_id)()))?;
        let value = records::seal(&key, |out| {
            header.encode(out);
            out.extend_from_slice(&head);
            out.extend_from_slice(tail);
        });
        target.write(relaxed(), &mut |rows| rows.put(&key, &value))
    }
}
