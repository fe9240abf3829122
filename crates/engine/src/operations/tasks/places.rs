//! Task locations, and the resolution of task destinations to documents.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::core::tree::Tree;
use jiff::tz::TimeZone;
use leafbase_model::{
    BlockData, BlockId, Day, DayRef, DocumentId, DocumentRecord, Edge, Error, Location, Result,
    TaskDestination, TaskLocation, Timestamp,
};
use leafbase_tree_ops::{self as ops, ReadTree, ResolvedPosition};

use crate::core::connection::OperationTransaction;
use crate::operations::documents;
use crate::support::days;

/// The position at the top of a document.
pub(super) fn top(document: DocumentId) -> ResolvedPosition {
    ResolvedPosition::Within(Edge::Start, document.root())
}

/// The location of a document's tasks. A daily note in the trash is no longer the note of its day.
pub(super) fn location(record: &DocumentRecord) -> TaskLocation {
    match (record.location, record.day) {
        (Location::Inbox, _) => TaskLocation::Inbox,
        (Location::DailyNotes, Some(day)) => TaskLocation::DailyNote(day),
        _ => TaskLocation::Document(record.id),
    }
}

/// The position of a task with this data in a document.
pub(super) fn place(record: &DocumentRecord, data: &BlockData) -> ResolvedPosition {
    ResolvedPosition::Within(ops::task_edge(record.location, data), record.id.root())
}

/// Groups items by their position, in the given order.
pub(super) fn by_place<T>(items: Vec<(T, ResolvedPosition)>) -> Vec<(ResolvedPosition, Vec<T>)> {
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

/// Moves blocks to their positions. Blocks with the same position keep the given order.
pub(crate) fn send(
    transaction: &mut OperationTransaction<'_, '_>,
    going: Vec<(BlockId, ResolvedPosition)>,
) -> Result<()> {
    for (place, blocks) in by_place(going) {
        let moved =
            transaction.plan(|tree, context| ops::move_blocks(tree, context, blocks, place))?;
        transaction.apply(moved.edits)?;
    }
    Ok(())
}

/// The documents of tasks, each read once.
#[derive(Default)]
pub(super) struct Documents(HashMap<DocumentId, DocumentRecord>);

impl Documents {
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

/// The resolved destinations of one request.
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

    /// The document of `to`, checked to take tasks. The inbox and a daily note are created if
    /// missing.
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

/// Checks that a requested document may take tasks.
fn check(transaction: &mut OperationTransaction<'_, '_>, document: DocumentId) -> Result<()> {
    // Below, its root is looked up as a block: first check that it is a document at all.
    let record = transaction.plan(|tree, _| tree.document(document))?;
    record.ok_or_else(Error::not_found)?;
    let opened =
        transaction.plan(|tree, context| ops::prepare_target(tree, context, top(document), 1));
    opened.map(drop).map_err(|error| super::renamed(&error, "position.pageId", ""))
}
