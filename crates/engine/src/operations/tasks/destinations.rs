//! Destinations of tasks: resolved to documents, which are created when needed.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::task_blocks::renamed;
use crate::core::tree::Tree;
use jiff::tz::TimeZone;
use leafbase_model::{
    BlockData, BlockId, Day, DayRef, DocumentId, DocumentRecord, Edge, Error, Result,
    TaskDestination, Timestamp,
};
use leafbase_tree_ops::{self as ops, ReadTree, ResolvedPosition};

use crate::core::transaction::OperationTransaction;
use crate::operations::documents;
use crate::support::days;

/// The top of a document.
pub(super) fn top(document: DocumentId) -> ResolvedPosition {
    ResolvedPosition::Within(Edge::Start, document.root())
}

/// The position at which a task with `data` enters a document.
pub(super) fn position(record: &DocumentRecord, data: &BlockData) -> ResolvedPosition {
    ResolvedPosition::Within(ops::task_edge(record.location, data), record.id.root())
}

/// Groups items by position. Groups and their items keep the given order.
pub(super) fn group_by_position<T>(
    items: Vec<(T, ResolvedPosition)>,
) -> Vec<(ResolvedPosition, Vec<T>)> {
    let (mut groups, mut numbers) = (Vec::<(ResolvedPosition, Vec<T>)>::new(), HashMap::new());
    for (item, place) in items {
        let number = *numbers.entry(place).or_insert(groups.len());
        match groups.get_mut(number) {
            Some((_, group)) => group.push(item),
            None => groups.push((place, vec![item])),
        }
    }
    groups
}

/// Moves blocks to their positions; blocks with the same position move together, in the given
/// order.
pub(crate) fn move_to(
    transaction: &mut OperationTransaction<'_, '_>,
    moves: Vec<(BlockId, ResolvedPosition)>,
) -> Result<()> {
    for (position, blocks) in group_by_position(moves) {
        let moved =
            transaction.plan(|tree, context| ops::move_blocks(tree, context, blocks, position))?;
        transaction.apply(moved.edits)?;
    }
    Ok(())
}

/// A cache of document records: each is read once.
#[derive(Default)]
pub(super) struct DocumentRecords(HashMap<DocumentId, DocumentRecord>);

impl DocumentRecords {
    pub(super) fn record(&mut self, tree: &Tree<'_>, id: DocumentId) -> Result<&DocumentRecord> {
        match self.0.entry(id) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => {
                let missing =
                    || Error::corrupted(format_args!("document {id} has blocks but no record"));
                Ok(place.insert(tree.document(id)?.ok_or_else(missing)?))
            }
        }
    }
}

/// The destinations of one request, resolved to documents. Each is resolved once.
pub(super) struct Destinations {
    zone: TimeZone,
    now: Timestamp,
    known: HashMap<TaskDestination, DocumentId>,
}

impl Destinations {
    pub(super) fn new(transaction: &mut OperationTransaction<'_, '_>) -> Result<Self> {
        let zone = transaction.plan(|tree, _| tree.zone())?;
        Ok(Self { zone, now: transaction.context.stamp.at, known: HashMap::new() })
    }

    /// Resolves `day` to a date.
    pub(super) fn day(&self, day: DayRef) -> Result<Day> {
        days::resolve(day, &self.zone, self.now)
    }

    /// The document of destination `to`, checked to accept tasks. A missing inbox or daily note is
    /// created.
    pub(super) fn open(
        &mut self,
        transaction: &mut OperationTransaction<'_, '_>,
        to: TaskDestination,
    ) -> Result<DocumentId> {
        if let Some(known) = self.known.get(&to) {
            return Ok(*known);
        }
        let document = match to {
            TaskDestination::Inbox => documents::inbox(transaction)?,
            TaskDestination::DailyNote(day) => {
                let day = self.day(day).map_err(|error| error.at("date"))?;
                documents::daily_note(transaction, day)?
            }
            TaskDestination::Document(document) => {
                check(transaction, document).map_err(|error| error.at("documentId"))?;
                document
            }
        };
        self.known.insert(to, document);
        Ok(document)
    }
}

/// Checks that a document named by a request accepts tasks.
fn check(transaction: &mut OperationTransaction<'_, '_>, document: DocumentId) -> Result<()> {
    // `prepare_target` looks up the root as a block; whether it is a document is checked first.
    let record = transaction.plan(|tree, _| tree.document(document))?;
    record.ok_or_else(Error::no_document)?;
    let opened =
        transaction.plan(|tree, context| ops::prepare_target(tree, context, top(document), 1));
    opened.map(drop).map_err(|error| renamed(&error, "position.pageId", ""))
}
