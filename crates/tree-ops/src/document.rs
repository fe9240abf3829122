//! Documents: creation, copies, locations and deletion.

use std::collections::{HashMap, HashSet};

use leafbase_model::{
    BlockData, BlockDraft, BlockId, BlockKind, Day, Destination, DocumentId, DocumentRecord, Edit,
    Error, Location, Result, Subtrees,
};

use crate::context::Context;
use crate::drafts::DraftTree;
use crate::inbox::AllowedChildren;
use crate::ranges::copy_subtrees;
use crate::read::ReadTree;
use crate::request::check_count;

/// Result of the creation of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct CreatedDocument {
    /// Edits to apply.
    pub edits: Vec<Edit>,
    /// The new document.
    pub record: DocumentRecord,
    /// Data of its root.
    pub root: BlockData,
}

impl CreatedDocument {
    /// The ID of the new document.
    pub const fn id(&self) -> DocumentId {
        self.record.id
    }

    /// Replaces the title of the new document.
    pub fn retitle(&mut self, title: &str) {
        title.clone_into(&mut self.root.inline);
        for edit in &mut self.edits {
            if let Edit::CreateDocument { subtrees, .. } = edit
                && let Some(root) = subtrees.0.first_mut()
            {
                title.clone_into(&mut root.block.data.inline);
            }
        }
    }

    fn new(
        context: &Context<'_>,
        subtrees: Subtrees,
        location: Location,
        day: Option<Day>,
    ) -> Result<Self> {
        let root = subtrees
            .0
            .first()
            .ok_or_else(|| Error::validation("a document without blocks has no root"))?
            .block
            .clone();
        let id = DocumentId::of_root(root.id);
        let record = DocumentRecord::new(id, location, day, context.stamp.at);
        Ok(Self {
            edits: vec![Edit::CreateDocument { record: record.clone(), subtrees }],
            record,
            root: root.data,
        })
    }
}

/// Creates a document with the page `root`; a text becomes a page. Paths of errors are relative to
/// the root draft.
///
/// # Errors
/// [`leafbase_model::ErrorKind::RuleViolation`] if the root is of another type or `location` is the
/// trash, and as [`crate::insert`] for drafts.
pub fn create_document(
    context: &Context<'_>,
    mut root: BlockDraft,
    location: Location,
    day: Option<Day>,
) -> Result<CreatedDocument> {
    if let BlockKind::Text(look) = root.data.kind {
        root.data.kind = BlockKind::Page(look);
    }
    // Checked before the drafts are consumed, reported before any error of theirs.
    let checked = check_root(&root.data, location);
    let drafts = DraftTree::root(root);
    checked?;
    CreatedDocument::new(
        context,
        drafts.into_blocks(context, 0, AllowedChildren::Anything)?,
        location,
        day,
    )
}

/// Checks that a document with this root can be created in `location`.
///
/// # Errors
/// [`leafbase_model::ErrorKind::RuleViolation`] if the root is neither page nor text, or `location`
/// is the trash.
pub fn check_root(root: &BlockData, location: Location) -> Result<()> {
    if !matches!(root.kind, BlockKind::Text(_) | BlockKind::Page(_)) {
        let message =
            format!("the root of a document is a page, not a block of type {}", root.block_type());
        return Err(Error::rule(message).at("type"));
    }
    if location == Location::Trash {
        return Err(Error::rule("a document cannot be created in the trash").at("destination"));
    }
    Ok(())
}

/// Copies `subtrees`, a whole document, as new blocks with new IDs. `rewrite` may change the data
/// of each copy; its second argument maps the original IDs to the new ones, and the same map is
/// returned.
///
/// # Errors
/// [`leafbase_model::ErrorKind::Validation`] if there is no block.
pub fn copy_document(
    context: &Context<'_>,
    subtrees: Subtrees,
    location: Location,
    rewrite: impl FnMut(&mut BlockData, &HashMap<BlockId, BlockId>),
) -> Result<(CreatedDocument, HashMap<BlockId, BlockId>)> {
    let (subtrees, copies) = copy_subtrees(context, subtrees, rewrite)?;
    Ok((CreatedDocument::new(context, subtrees, location, None)?, copies))
}

/// Result of a change of locations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MovedDocuments {
    /// Edits to apply. A document that is already in place has none.
    pub edits: Vec<Edit>,
    /// The documents after the change, in the order of the request.
    pub records: Vec<DocumentRecord>,
}

impl MovedDocuments {
    fn add(&mut self, context: &Context<'_>, before: DocumentRecord, location: Location) {
        if before.location == location {
            self.records.push(before);
            return;
        }
        debug_assert_ne!(before.location, location, "a document that moves changes its location");
        let after = before.kept_at(location, context.stamp.at);
        self.records.push(after.clone());
        self.edits.push(Edit::UpdateDocument { before, after });
    }
}

/// Moves documents to the trash, daily notes included.
///
/// # Errors
/// At `documentIds[n]`: [`leafbase_model::ErrorKind::NotFound`],
/// [`leafbase_model::ErrorKind::Validation`] for a document named twice, and
/// [`leafbase_model::ErrorKind::RuleViolation`] for one that is in the trash already, and for the
/// inbox.
pub fn delete_documents<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    ids: &[DocumentId],
) -> Result<MovedDocuments> {
    let mut moved = MovedDocuments::default();
    each(tree, context, ids, |before| {
        if before.location == Location::Trash {
            return Err(Error::rule(format!("document {} is in the trash already", before.id)));
        }
        moved.add(context, before, Location::Trash);
        Ok(())
    })?;
    Ok(moved)
}

/// Moves documents to `destination`, which exists; this restores documents from the trash.
///
/// # Errors
/// At `documentIds[n]`: [`leafbase_model::ErrorKind::NotFound`],
/// [`leafbase_model::ErrorKind::Validation`] for a document named twice, and
/// [`leafbase_model::ErrorKind::RuleViolation`] for a daily note, in the trash or not, and for the
/// inbox.
pub fn move_documents<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    ids: &[DocumentId],
    destination: Destination,
) -> Result<MovedDocuments> {
    let mut moved = MovedDocuments::default();
    each(tree, context, ids, |before| {
        if let Some(day) = before.day {
            return Err(unmovable_note(day, before.location));
        }
        moved.add(context, before, destination.into());
        Ok(())
    })?;
    Ok(moved)
}

/// The error of moving a daily note.
pub(crate) fn unmovable_note(day: Day, location: Location) -> Error {
    let message = format!("the daily note of {day} cannot be moved");
    if location == Location::Trash {
        return Error::rule(message + "; restore_daily_notes takes it out of the trash");
    }
    Error::rule(message)
}

/// Restores daily notes from the trash to their days. `note_of` returns the current note of a day.
///
/// # Errors
/// At `documentIds[n]`: [`leafbase_model::ErrorKind::NotFound`],
/// [`leafbase_model::ErrorKind::Validation`] for a duplicate,
/// [`leafbase_model::ErrorKind::RuleViolation`] for a document that is not a daily note or is not
/// in the trash, and [`leafbase_model::ErrorKind::Conflict`] if its day has another note, or gets
/// one by this request.
pub fn restore_daily_notes<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    ids: &[DocumentId],
    note_of: impl Fn(Day) -> Result<Option<DocumentRecord>>,
) -> Result<MovedDocuments> {
    let mut moved = MovedDocuments::default();
    let mut days = HashSet::new();
    each(tree, context, ids, |before| {
        let day = before.day.ok_or_else(|| {
            let message = "the document is not a daily note; a move takes it out of the trash";
            Error::rule(message)
        })?;
        check_in_trash(&before)?;
        // Two notes of one day in a single request conflict as well.
        if !days.insert(day) || note_of(day)?.is_some() {
            return Err(Error::new(
                leafbase_model::ErrorKind::Conflict,
                format!("{day} already has another daily note"),
            ));
        }
        moved.add(context, before, Location::DailyNotes);
        Ok(())
    })?;
    Ok(moved)
}

/// Checks that documents can be erased permanently: each is in the trash.
///
/// # Errors
/// At `documentIds[n]`: [`leafbase_model::ErrorKind::NotFound`],
/// [`leafbase_model::ErrorKind::Validation`] for a document named twice, and
/// [`leafbase_model::ErrorKind::RuleViolation`] for one that is not in the trash.
pub fn check_purge<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    ids: &[DocumentId],
) -> Result<()> {
    each(tree, context, ids, |record| check_in_trash(&record))
}

fn check_in_trash(record: &DocumentRecord) -> Result<()> {
    if record.location == Location::Trash {
        return Ok(());
    }
    Err(Error::rule(format!("document {} is not in the trash", record.id)))
}

/// Looks up each document of the request's `documentIds` and passes it to `take`. The inbox is
/// rejected: it can neither be moved nor deleted.
fn each<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    ids: &[DocumentId],
    mut take: impl FnMut(DocumentRecord) -> Result<()>,
) -> Result<()> {
    check_count("IDs in one request", context.limits.blocks_per_request, ids.len(), "documentIds")?;
    tree.prefetch_documents(ids);
    let mut unique_ids = HashSet::new();
    for (index, id) in ids.iter().enumerate() {
        let mut check = || {
            let record = tree.document(*id)?.ok_or_else(Error::no_document)?;
            // Existence first: a duplicate of an unknown document is reported as not found.
            if !unique_ids.insert(*id) {
                return Err(Error::validation(format!("document {id} is named twice")));
            }
            if record.location == Location::Inbox {
                return Err(Error::rule("the inbox cannot be moved or deleted"));
            }
            take(record)
        };
        check().map_err(|error| error.at(format_args!("documentIds[{index}]")))?;
    }
    Ok(())
}
