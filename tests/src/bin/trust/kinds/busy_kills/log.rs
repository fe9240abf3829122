//! The change log from its beginning on: it has no gap, each edit begins where the one before of
//! the same block ended, and it leads to the present state.

use std::collections::BTreeMap;

use leafbase::{
    BlockId, BlockKind, Change, ChangePosition, Connection, Edit, ErrorKind, Fetch, Result,
};
use leafbase_model::{BlockRecord, Subtrees};

use super::job::{purged, secret};
use crate::kind::{Failure, Fault, Trial};
use crate::world::scan::unopenable;
use crate::world::work::shown;

/// What the log says of the blocks that it has.
#[derive(Default)]
struct LogState {
    blocks: BTreeMap<BlockId, BlockRecord>,
}

/// Follows the log from its beginning. `last_purge` is the last call of scraps that was told.
pub fn check_log(
    notes: &Connection,
    last_purge: u64,
    when: &str,
    trial: &mut Trial,
) -> std::result::Result<(), Failure> {
    let failed = |error: leafbase::Error| unopenable(&error, when);
    let wrong = |what: String| Failure::new(Fault::WrongData, format!("{when}: {what}"));
    let beginning = notes.log_begins_at().map_err(failed)?;
    let log: Result<Vec<Change>> = notes.changes_since(beginning).collect();
    let log = log.map_err(failed)?;
    let mut state = LogState::default();
    let mut before = beginning.sequence();
    for change in &log {
        if change.first_sequence != before + 1 || change.sequence < change.first_sequence {
            let covered = (change.first_sequence, change.sequence);
            return Err(wrong(format!("after change {before} comes {covered:?}")));
        }
        before = change.sequence;
        trial.note("merged changes", u64::from(change.first_sequence < change.sequence));
        for edit in &change.edits {
            state.follow(edit).map_err(|what| wrong(format!("change {before}: {what}")))?;
        }
    }
    let last = notes.last_sequence().map_err(failed)?;
    if before != last {
        return Err(wrong(format!("the log ends at {before}, and {last} is the last change")));
    }
    trial.note("logs without their beginning", u64::from(beginning.sequence() > 0));
    trial.note("changes followed", log.len() as u64);
    check_secrets(&log, last_purge).map_err(wrong)?;
    for record in state.blocks.values() {
        let found = notes.fetch(Fetch::new(record.id).depth(0));
        let found =
            found.map_err(|error| wrong(format!("the log leads to {record:?}: {error}")))?;
        let has_text = matches!(record.data.kind, BlockKind::Text(_) | BlockKind::Page(_));
        if found.rev != record.rev || has_text && found.data.inline != record.data.inline {
            return Err(wrong(format!("the log leads to {record:?}, and there is {found:?}")));
        }
    }
    Ok(())
}

/// A purge leaves nothing of a document in the log.
fn check_secrets(log: &[Change], last_purge: u64) -> std::result::Result<(), String> {
    let text: String = log.iter().map(shown).collect();
    let left = purged(last_purge).map(secret).find(|secret| text.contains(secret));
    left.map_or(Ok(()), |secret| Err(format!("`{secret}` is purged, and the log has it")))
}

/// A follower that stopped at `position` goes on there, unless a compaction dropped or merged the
/// change.
pub fn check_follower(
    notes: &Connection,
    position: ChangePosition,
    when: &str,
    trial: &mut Trial,
) -> std::result::Result<(), Failure> {
    let failed = |error: leafbase::Error| unopenable(&error, when);
    match notes.changes_since(position).next() {
        Some(Err(error)) if error.kind() == ErrorKind::HistoryGone => {
            let beginning = notes.log_begins_at().map_err(failed)?;
            let mut log = notes.changes_since(beginning).filter_map(Result::ok);
            let at = position.sequence();
            let is_merged =
                log.any(|change| (change.first_sequence..change.sequence).contains(&at));
            if beginning.sequence() <= at && !is_merged {
                return Err(failed(error));
            }
            trial.note("followers whose position is gone", 1);
            Ok(())
        }
        Some(Err(error)) => Err(failed(error)),
        Some(Ok(change)) if change.first_sequence != position.sequence() + 1 => {
            let what = format!("{when}: after {position} a follower gets {}", change.sequence);
            Err(Failure::new(Fault::WrongData, what))
        }
        _ => {
            trial.note("followers who went on", 1);
            Ok(())
        }
    }
}

impl LogState {
    fn follow(&mut self, edit: &Edit) -> std::result::Result<(), String> {
        match edit {
            Edit::Insert { subtrees, .. } | Edit::CreateDocument { subtrees, .. } => {
                for record in records(subtrees) {
                    if let Some(known) = self.blocks.insert(record.id, record.clone()) {
                        return Err(format!("{known:?} is inserted again"));
                    }
                }
            }
            Edit::Remove { subtrees, .. } | Edit::EraseDocument { subtrees, .. } => {
                records(subtrees).try_for_each(|record| self.leave(record))?;
            }
            Edit::Update { before, after, .. } => {
                self.leave(before)?;
                if !after.is_redacted() {
                    self.blocks.insert(after.id, (**after).clone());
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A record as an edit says that it was before.
    fn leave(&mut self, record: &BlockRecord) -> std::result::Result<(), String> {
        match self.blocks.remove(&record.id) {
            Some(known) if !record.is_redacted() && known != *record => {
                Err(format!("{known:?} is followed by an edit of {record:?}"))
            }
            _ => Ok(()),
        }
    }
}

/// The records that no purge has redacted.
fn records(subtrees: &Subtrees) -> impl Iterator<Item = &BlockRecord> {
    subtrees.0.iter().map(|node| &node.block).filter(|record| !record.is_redacted())
}
