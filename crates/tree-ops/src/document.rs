//! Documents: what they are made of, and where each may go.

use std::collections::{HashMap, HashSet};

use leafbase_model::{
    BlockData, BlockDraft, BlockId, BlockKind, BlockRecord, Day, Destination, DocumentId,
    DocumentRecord, Edit, Error, Location, Result, SubtreeNode, Subtrees,
};

use crate::batch::check_count;
use crate::drafts::Drafts;
use crate::{Context, ReadTree, Takes};

/// What the making of a document does.
#[derive(Clone, Debug, PartialEq)]
pub struct Created {
    /// What to write.
    pub edits: Vec<Edit>,
    /// The new document.
    pub record: DocumentRecord,
    /// What its root says.
    pub root: BlockData,
}

impl Created {
    /// The ID of the new document.
    pub const fn id(&self) -> DocumentId {
        self.record.id
    }

    /// Gives the new document another title.
    pub fn retitle(&mut self, title: &str) {
        title.clone_into(&mut self.root.markdown);
        for edit in &mut self.edits {
            if let Edit::CreateDocument { subtrees, .. } = edit
                && let Some(root) = subtrees.0.first_mut()
            {
                title.clone_into(&mut root.block.data.markdown);
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
            .ok_or_else(|| Error::validation("a document needs a root"))?
            .block
            .clone();
        let (created_at, modified_at) = (context.stamp.at, context.stamp.at);
        let record = DocumentRecord {
            id: DocumentId::of_root(root.id),
            location,
            day,
            created_at,
            modified_at,
        };
        Ok(Self {
            edits: vec![Edit::CreateDocument { record: record.clone(), subtrees }],
            record,
            root: root.data,
        })
    }
}

/// Makes a document whose root is `root`, a page; a text is made as a page. Paths of errors begin
/// below the root draft.
///
/// # Errors
/// [`leafbase_model::ErrorKind::RuleViolation`] if the root is of another type or `location` is the
/// trash, and those of [`crate::insert`] about drafts.
pub fn create_document(
    context: &Context<'_>,
    mut root: BlockDraft,
    location: Location,
    day: Option<Day>,
) -> Result<Created> {
    if let BlockKind::Text(look) = root.data.kind {
        root.data.kind = BlockKind::Page(look);
    }
    let checked = check_root(&root.data, location);
    let drafts = Drafts::root(root);
    checked?;
    Created::new(context, drafts.grow(context, 0, Takes::Anything)?, location, day)
}

/// Checks that a document with such a root can be made in `location`.
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
        return Err(Error::rule("a document cannot be made in the trash").at("destination"));
    }
    Ok(())
}

/// Makes a document of the same blocks as `subtrees`, which is a whole document. The copies are new
/// blocks: made now, with IDs of their own. `revise` may change what each says, and is told the
/// copy of each block; the caller is told them, too.
///
/// # Errors
/// [`leafbase_model::ErrorKind::Validation`] if there is no block.
pub fn copy_document(
    context: &Context<'_>,
    subtrees: Subtrees,
    location: Location,
    mut revise: impl FnMut(&mut BlockData, &HashMap<BlockId, BlockId>),
) -> Result<(Created, HashMap<BlockId, BlockId>)> {
    let copies: HashMap<_, _> =
        subtrees.0.iter().map(|node| (node.block.id, context.new_id())).collect();
    let stamp = context.stamp;
    let nodes = subtrees.0.into_iter().map(|SubtreeNode { depth, block }| {
        let BlockRecord { id, mut data, .. } = block;
        revise(&mut data, &copies);
        let id = copies.get(&id).copied().unwrap_or(id);
        SubtreeNode {
            depth,
            block: BlockRecord {
                id,
                rev: 1,
                created: stamp.clone(),
                modified: stamp.clone(),
                data,
            },
        }
    });
    let subtrees = Subtrees(nodes.collect());
    Ok((Created::new(context, subtrees, location, None)?, copies))
}

/// What a change of places does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Relocated {
    /// What to write. A document that already is where it is to go has no edit.
    pub edits: Vec<Edit>,
    /// The documents as they are then, in the order of the request.
    pub records: Vec<DocumentRecord>,
}

impl Relocated {
    fn add(&mut self, context: &Context<'_>, before: DocumentRecord, location: Location) {
        if before.location == location {
            self.records.push(before);
            return;
        }
        let after = before.kept_at(location, context.stamp.at);
        self.records.push(after.clone());
        self.edits.push(Edit::UpdateDocument { before, after });
    }
}

/// Puts documents into the trash, daily notes too.
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
) -> Result<Relocated> {
    let mut relocated = Relocated::default();
    each(tree, context, ids, |before| {
        if before.location == Location::Trash {
            return Err(Error::rule(format!("document {} is in the trash already", before.id)));
        }
        relocated.add(context, before, Location::Trash);
        Ok(())
    })?;
    Ok(relocated)
}

/// Moves documents to `destination`, which exists. One in the trash is restored by that.
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
) -> Result<Relocated> {
    let mut relocated = Relocated::default();
    each(tree, context, ids, |before| {
        if let Some(day) = before.day {
            let message = format!(
                "the daily note of {day} is not moved: out of the trash, restoreDailyNotes takes it"
            );
            return Err(Error::rule(message));
        }
        relocated.add(context, before, destination.into());
        Ok(())
    })?;
    Ok(relocated)
}

/// Takes daily notes out of the trash, each back to its day. `note_of` gives the note that a day
/// has.
///
/// # Errors
/// At `documentIds[n]`: [`leafbase_model::ErrorKind::NotFound`],
/// [`leafbase_model::ErrorKind::Validation`] for a document named twice,
/// [`leafbase_model::ErrorKind::RuleViolation`] for one that is no daily note or is not in the
/// trash, and [`leafbase_model::ErrorKind::Conflict`] if its day has another note by now, or gets
/// one by this request.
pub fn restore_daily_notes<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    ids: &[DocumentId],
    note_of: impl Fn(Day) -> Result<Option<DocumentRecord>>,
) -> Result<Relocated> {
    let (mut relocated, mut days) = (Relocated::default(), HashSet::new());
    each(tree, context, ids, |before| {
        let day = before
            .day
            .ok_or_else(|| Error::rule("is no daily note: a move takes it out of the trash"))?;
        check_in_trash(&before)?;
        if !days.insert(day) || note_of(day)?.is_some() {
            return Err(Error::new(
                leafbase_model::ErrorKind::Conflict,
                format!("{day} has another note by now"),
            ));
        }
        relocated.add(context, before, Location::DailyNotes);
        Ok(())
    })?;
    Ok(relocated)
}

/// Checks that documents may be erased for good: each is in the trash.
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

/// What erases a document of the trash with all its blocks. Costs by the size of the document.
///
/// # Errors
/// [`leafbase_model::ErrorKind::NotFound`].
pub fn erase_document<T: ReadTree + ?Sized>(tree: &T, id: DocumentId) -> Result<Edit> {
    let record = tree.document(id)?.ok_or_else(Error::not_found)?;
    Ok(Edit::EraseDocument { record, subtrees: tree.subtree(id.root(), None)? })
}

fn check_in_trash(record: &DocumentRecord) -> Result<()> {
    if record.location == Location::Trash {
        return Ok(());
    }
    Err(Error::rule(format!("document {} is not in the trash", record.id)))
}

/// Looks up each document of the request's `documentIds`, and hands it to `take`. The inbox stays
/// where it is.
fn each<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    ids: &[DocumentId],
    mut take: impl FnMut(DocumentRecord) -> Result<()>,
) -> Result<()> {
    check_count("IDs in one request", context.limits.blocks_per_request, ids.len(), "documentIds")?;
    let mut named = HashSet::new();
    for (index, id) in ids.iter().enumerate() {
        let mut one = || {
            let record = tree.document(*id)?.ok_or_else(Error::not_found)?;
            if !named.insert(*id) {
                return Err(Error::validation(format!("document {id} is named twice")));
            }
            if record.location == Location::Inbox {
                return Err(Error::rule("the inbox of tasks always stays what it is"));
            }
            take(record)
        };
        one().map_err(|error| error.at(format_args!("documentIds[{index}]")))?;
    }
    Ok(())
}
