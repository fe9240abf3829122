//! The change log: complete changes are copied, and an empty one replaces each lost one, so that
//! sequences keep their meaning.

use std::collections::{BTreeMap, HashMap};

use leafbase_model::{
    Change, ChangePosition, ChangeToken, DocumentId, Edit, Result, SpaceSettings,
};

use super::{LossKind, OnStep, Salvager, relaxed};
use crate::change_parts::{ChangeBody, ChangeParts, PartHeader, change_body, put_change};
use crate::keyspaces::{self, CHANGES, META, RowName};
use crate::kv::Store;
use crate::lookup::{put_log_beginning, put_totals};
use crate::records;
use crate::records::change::{ChangeEncoder, ChangeIdentity, TouchedDocument};
use crate::records::layout::Value;
use crate::records::meta::{self, DroppedChange, SpaceTotals};

/// The readable part of the change log.
#[derive(Default)]
pub(super) struct SalvagedLog {
    /// The changes whose parts are all readable: their last sequences, with the first ones.
    whole: BTreeMap<u64, u64>,
    /// Where the log begins.
    beginning: ChangePosition,
    /// The sequence of the last change, readable or not.
    pub(super) last: u64,
    /// The last of the readable changes that touched each document.
    pub(super) last_changes: HashMap<DocumentId, u64>,
    /// Readable changes after a lost one in the history of a document: for each of their documents
    /// the last readable change before.
    relinked: BTreeMap<u64, HashMap<DocumentId, u64>>,
    /// The settings after the last readable change of them, and its sequence.
    pub(super) settings: Option<(u64, SpaceSettings)>,
}

impl SalvagedLog {
    /// A revision for a document that lost its own: no lower than any that it had, because each
    /// change increments it once.
    pub(super) fn rev(&self) -> u64 {
        self.last.max(1)
    }

    /// Adds a readable change that follows all others.
    fn add(&mut self, identity: ChangeIdentity, documents: &[TouchedDocument], change: Change) {
        let (sequence, dropped) = (identity.sequence, self.beginning.sequence());
        let links: HashMap<DocumentId, u64> = documents
            .iter()
            .map(|TouchedDocument { id, previous }| {
                let before = self.last_changes.insert(*id, sequence).unwrap_or(0);
                // A document that was created again has no history before that, and a dropped
                // change stays what it was.
                let is_kept = *previous == 0 || before == 0 && *previous <= dropped;
                (*id, if is_kept { *previous } else { before })
            })
            .collect();
        self.whole.insert(sequence, identity.first_sequence);
        for edit in change.edits {
            if let Edit::UpdateSpace { after, .. } = edit {
                self.settings = Some((sequence, after));
            }
        }
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
        let SalvagedLog { whole, last, beginning, .. } = log;
        self.rows(CHANGES, &mut |_, key, value| match keyspaces::parse_change_part(key) {
            Some((sequence, _)) if whole.contains_key(&sequence) => {
                target.write(relaxed(), &mut |rows| rows.put(key, value))
            }
            _ => Ok(()),
        })?;
        relink(target, log)?;
        // Whole changes are sorted: the gaps between them are the lost ones.
        let mut before = beginning.sequence();
        let end = *last + 1;
        for (sequence, first) in
            whole.iter().map(|(last, first)| (*last, *first)).chain([(end, end)])
        {
            for lost in before + 1..first {
                step()?;
                self.put_empty(target, lost)?;
            }
            before = sequence;
        }
        self.report.saved.changes = whole.len() as u64;
        target.write(relaxed(), &mut |rows| {
            if *beginning != ChangePosition::BEGINNING {
                put_log_beginning(rows, *beginning)?;
            }
            // The lost changes may have erased documents.
            let totals = SpaceTotals {
                sequence: *last,
                folders: folders as u64,
                last_erasure: *last,
                last_folder_edit: *last,
            };
            put_totals(rows, totals)
        })
    }

    /// The changes whose parts are all readable, and the sequence of the last change of all.
    pub(super) fn inventory_log(&mut self) -> Result<SalvagedLog> {
        let (mut log, mut last) = (SalvagedLog::default(), 0);
        self.rows(META, &mut |_, key, value| {
            if key == keyspaces::meta(meta::TOTALS) {
                let totals = records::decode(key, value, SpaceTotals::decode);
                last = totals.map_or(0, |totals| totals.sequence);
            } else if key == keyspaces::meta(meta::LOG_BEGINNING)
                && let Ok(dropped) = records::decode(key, value, DroppedChange::decode)
            {
                log.beginning = dropped.position();
            }
            Ok(())
        })?;
        self.whole_changes(&mut log)?;
        let whole = log.whole.last_key_value().map_or(0, |(sequence, _)| *sequence);
        log.last = last.max(whole).max(log.beginning.sequence());
        Ok(log)
    }

    fn whole_changes(&mut self, log: &mut SalvagedLog) -> Result<()> {
        let mut parts = ChangeParts::default();
        self.rows(CHANGES, &mut |_, key, value| {
            if keyspaces::parse_change_part(key).is_some_and(|(_, part)| part == 0) {
                parts = ChangeParts::default();
            }
            // A part that does not follow resets the assembly: its change is incomplete.
            let read = |body: ChangeBody| {
                let (identity, documents) = (body.identity(), body.documents()?);
                Ok((identity, documents, body.change()?))
            };
            match parts.push(key, value).and_then(|body| body.map(read).transpose()) {
                Ok(Some((identity, documents, change))) => log.add(identity, &documents, change),
                Ok(None) => {}
                Err(_) => parts = ChangeParts::default(),
            }
            Ok(())
        })
    }

    fn put_empty(&mut self, target: &dyn Store, sequence: u64) -> Result<()> {
        let key = keyspaces::change_part(sequence, 0);
        self.report.lose(LossKind::Change, RowName(&key), "an empty change takes its place");
        let log = ChangeEncoder::default();
        let (head, tail) = log.body(&self.stamp, &[]);
        // A new token: a follower of the lost change has seen another history.
        let token = ChangeToken::from_id((self.new_id)());
        let header =
            PartHeader::new(head.len() + tail.len(), false, ChangeIdentity::new(sequence, token))?;
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
            put_change(rows, body.identity(), (relinked.clone(), &[]))?;
            Ok(())
        })?;
    }
    Ok(())
}
