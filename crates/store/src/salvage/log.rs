//! The change log: complete changes are copied, and an empty one replaces each lost one, so that
//! sequences keep their meaning.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use leafbase_model::{ChangeToken, DocumentId, Result};

use super::{LossKind, OnStep, Salvager, relaxed};
use crate::change_parts::{ChangeBody, ChangeParts, PartHeader, change_body, put_change};
use crate::keyspaces::{self, CHANGES, META, RowName};
use crate::kv::Store;
use crate::lookup::put_totals;
use crate::records;
use crate::records::change::{ChangeEncoder, TouchedDocument};
use crate::records::layout::Value;
use crate::records::meta::{self, SpaceTotals};

/// The readable part of the change log.
#[derive(Default)]
pub(super) struct SalvagedLog {
    /// The sequences of the changes whose parts are all readable.
    whole: BTreeSet<u64>,
    /// The sequence of the last change, readable or not.
    pub(super) last: u64,
    /// The last of the readable changes that touched each document.
    pub(super) last_changes: HashMap<DocumentId, u64>,
    /// Readable changes after a lost one in the history of a document: for each of their documents
    /// the last readable change before.
    relinked: BTreeMap<u64, HashMap<DocumentId, u64>>,
}

impl SalvagedLog {
    /// A revision for a document that lost its own: no lower than any that it had, because each
    /// change increments it once.
    pub(super) fn rev(&self) -> u64 {
        self.last.max(1)
    }

    /// Adds a readable change that follows all others.
    fn add(&mut self, sequence: u64, documents: &[TouchedDocument]) {
        let links: HashMap<DocumentId, u64> = documents
            .iter()
            .map(|TouchedDocument { id, previous }| {
                let before = self.last_changes.insert(*id, sequence).unwrap_or(0);
                // A document that was created again has no history before that.
                (*id, if *previous == 0 { 0 } else { before })
            })
            .collect();
        self.whole.insert(sequence);
        let is_linked =
            |touched: &TouchedDocument| links.get(&touched.id) == Some(&touched.previous);
        if !documents.iter().all(is_linked) {
            self.relinked.insert(sequence, links);
        }
    }
}

impl Salvager<'_> {
    pub(super) fn log(
        &mut self,
        target: &dyn Store,
        log: &SalvagedLog,
        folders: usize,
        step: OnStep<'_>,
    ) -> Result<()> {
        let SalvagedLog { whole, last, .. } = log;
        self.rows(CHANGES, &mut |_, key, value| match keyspaces::parse_change_part(key) {
            Some((sequence, _)) if whole.contains(&sequence) => {
                target.write(relaxed(), &mut |rows| rows.put(key, value))
            }
            _ => Ok(()),
        })?;
        relink(target, log)?;
        // Whole changes are a sorted set: the gaps between them are the lost ones.
        let mut before = 0;
        for sequence in whole.iter().copied().chain([*last + 1]) {
            for lost in before + 1..sequence {
                step()?;
                self.put_empty(target, lost)?;
            }
            before = sequence;
        }
        self.report.saved.changes = whole.len() as u64;
        target.write(relaxed(), &mut |rows| {
            put_totals(rows, SpaceTotals { sequence: *last, folders: folders as u64 })
        })
    }

    /// The changes whose parts are all readable, and the sequence of the last change of all.
    pub(super) fn inventory_log(&mut self) -> Result<SalvagedLog> {
        let mut log = self.whole_changes()?;
        log.last = log.whole.last().copied().unwrap_or(0);
        self.rows(META, &mut |_, key, value| {
            if let Ok(totals) = records::decode(key, value, SpaceTotals::decode)
                && key == keyspaces::meta(meta::TOTALS)
            {
                log.last = log.last.max(totals.sequence);
            }
            Ok(())
        })?;
        Ok(log)
    }

    fn whole_changes(&mut self) -> Result<SalvagedLog> {
        let (mut parts, mut log) = (ChangeParts::default(), SalvagedLog::default());
        self.rows(CHANGES, &mut |_, key, value| {
            if keyspaces::parse_change_part(key).is_some_and(|(_, part)| part == 0) {
                parts = ChangeParts::default();
            }
            // A part that does not follow resets the assembly: its change is incomplete.
            let read = |body: ChangeBody| {
                body.change()?;
                Ok((body.sequence, body.documents()?))
            };
            match parts.push(key, value).and_then(|body| body.map(read).transpose()) {
                Ok(Some((sequence, documents))) => log.add(sequence, &documents),
                Ok(None) => {}
                Err(_) => parts = ChangeParts::default(),
            }
            Ok(())
        })?;
        Ok(log)
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

/// Links the changes that followed a lost one in the history of a document to the one before
/// that.
fn relink(target: &dyn Store, log: &SalvagedLog) -> Result<()> {
    for (sequence, links) in &log.relinked {
        let snapshot = target.snapshot()?;
        let body = change_body(&*snapshot, *sequence)?;
        let previous = |id| links.get(&id).copied().unwrap_or(0);
        let relinked = body.relinked(previous)?;
        target.write(relaxed(), &mut |rows| {
            for part in 0..body.parts() {
                rows.delete(&keyspaces::change_part(*sequence, part))?;
            }
            put_change(rows, (*sequence, body.token()), (relinked.clone(), &[]))?;
            Ok(())
        })?;
    }
    Ok(())
}
