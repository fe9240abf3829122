//! The change log: each row that is whole is copied, and an empty one stands in the place of each
//! that is lost, so that numbers mean what they meant.

use std::collections::BTreeSet;

use leafbase_model::Result;

use super::documents::relaxed;
use super::{LossKind, OnStep, Salvager};
use crate::keyspaces::{self, CHANGES, META, RowName};
use crate::kv::Store;
use crate::reader::log::ChangeAssembler;
use crate::records;
use crate::records::change::ChangeEncoder;
use crate::records::meta::{self, SpaceTotals};
use crate::space_store::put_totals;

impl Salvager<'_> {
    pub(super) fn log(
        &mut self,
        target: &dyn Store,
        folders: usize,
        step: OnStep<'_>,
    ) -> Result<()> {
        let whole = self.whole_changes()?;
        let mut last = whole.last().copied().unwrap_or_default();
        self.rows(META, &mut |_, key, value| {
            if let Ok(totals) = records::read(key, value, meta::read_totals)
                && key == keyspaces::meta(meta::TOTALS)
            {
                last = last.max(totals.sequence);
            }
            Ok(())
        })?;
        self.rows(CHANGES, &mut |_, key, value| match keyspaces::read_change_part(key) {
            Some((sequence, _)) if whole.contains(&sequence) => {
                target.write(relaxed(), &mut |rows| rows.put(key, value))
            }
            _ => Ok(()),
        })?;
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

    /// The numbers of the changes all of whose parts are there.
    fn whole_changes(&mut self) -> Result<BTreeSet<u64>> {
        let (mut parts, mut whole) = (ChangeAssembler::default(), BTreeSet::new());
        self.rows(CHANGES, &mut |_, key, value| {
            if keyspaces::read_change_part(key).is_some_and(|(_, part)| part == 0) {
                parts = ChangeAssembler::default();
            }
            match parts.take(key, value) {
                Ok(Some(change)) => drop(whole.insert(change.sequence)),
                Ok(None) => {}
                Err(_) => parts = ChangeAssembler::default(),
            }
            Ok(())
        })?;
        Ok(whole)
    }

    fn put_empty(&mut self, target: &dyn Store, sequence: u64) -> Result<()> {
        let key = keyspaces::change_part(sequence, 0);
        self.report.lose(LossKind::Change, RowName(&key), "an empty one stands in its place");
        let log = ChangeEncoder::default();
        let (head, tail) = log.body(&self.stamp, &[]);
        let value = records::seal(&key, |out| {
            out.extend_from_slice(&1_u32.to_be_bytes());
            out.extend_from_slice(&head);
            out.extend_from_slice(tail);
        });
        target.write(relaxed(), &mut |rows| rows.put(&key, &value))
    }
}
