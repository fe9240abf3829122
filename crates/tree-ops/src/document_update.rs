//! Updates of documents: title and location.

use std::collections::HashSet;

use leafbase_model::{
    BlockData, BlockRecord, DocumentId, DocumentPatch, DocumentRecord, Edit, Error, ErrorKind,
    Location, Result,
};

use crate::context::Context;
use crate::document::unmovable_note;
use crate::read::ReadTree;
use crate::update::update_edit;

/// An update of documents in progress, each named once by the request.
pub struct DocumentUpdate<'a, T: ?Sized> {
    tree: &'a T,
    context: &'a Context<'a>,
    named: HashSet<DocumentId>,
}

impl<T: ?Sized> std::fmt::Debug for DocumentUpdate<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DocumentUpdate").field("named", &self.named).finish_non_exhaustive()
    }
}

/// A document with what a patch makes of its record.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchedDocument {
    /// The root block before the update.
    pub root: BlockRecord,
    before: DocumentRecord,
    after: DocumentRecord,
}

impl<'a, T: ReadTree + ?Sized> DocumentUpdate<'a, T> {
    /// Starts an update.
    pub fn new(tree: &'a T, context: &'a Context<'a>) -> Self {
        Self { tree, context, named: HashSet::new() }
    }

    /// Reads the document of the next patch and checks its location. The caller checks that a new
    /// folder exists.
    ///
    /// # Errors
    /// At `id`: [`ErrorKind::NotFound`], [`ErrorKind::Validation`] for a document named twice, and
    /// [`ErrorKind::RuleViolation`] for the inbox. At `rev`: [`ErrorKind::Conflict`]. At
    /// `location`: [`ErrorKind::RuleViolation`] for a daily note that would move, and for a
    /// location to which documents are not moved.
    pub fn find(&mut self, patch: &DocumentPatch) -> Result<PatchedDocument> {
        let (before, root) = self.look_up(patch.id).map_err(|error| error.at("id"))?;
        if let Some(expected) = patch.rev.filter(|expected| *expected != before.rev) {
            let message =
                format!("expected rev {expected}, but the document has rev {}", before.rev);
            return Err(Error::new(ErrorKind::Conflict, message).at("rev"));
        }
        let mut after = before.clone();
        if let Some(location) = patch.location.filter(|location| *location != before.location) {
            check_location(&before, location).map_err(|error| error.at("location"))?;
            after = before.kept_at(location, self.context.stamp.at);
        }
        Ok(PatchedDocument { root, before, after })
    }

    fn look_up(&mut self, id: DocumentId) -> Result<(DocumentRecord, BlockRecord)> {
        let record = self.tree.document(id)?.ok_or_else(Error::no_document)?;
        // Existence first: a duplicate of an unknown document is reported as not found.
        if !self.named.insert(id) {
            return Err(Error::validation(format!("document {id} is named twice")));
        }
        if record.location == Location::Inbox {
            return Err(Error::rule("the inbox cannot be changed"));
        }
        let root = self.tree.block(id.root())?;
        let missing = || Error::corrupted(format_args!("document {id} has no root block"));
        Ok((record, root.ok_or_else(missing)?))
    }
}

impl PatchedDocument {
    /// The edits of a patch that gives the document this normalized title, if any. An unchanged
    /// document has none.
    ///
    /// # Errors
    /// [`ErrorKind::RuleViolation`] for a new title of a document that stays in the trash.
    pub fn edits(self, context: &Context<'_>, title: Option<String>) -> Result<Vec<Edit>> {
        let Self { root, before, after } = self;
        let (mut edits, id, location) = (Vec::new(), before.id, after.location);
        if before != after {
            edits.push(Edit::UpdateDocument { before, after });
        }
        let Some(markdown) = title else { return Ok(edits) };
        let data = BlockData { inline: markdown, ..root.data.clone() };
        if let Some(edit) = update_edit(id, root, data, context.stamp) {
            if location == Location::Trash {
                let message = "the document is in the trash: restore it to change its title";
                return Err(Error::rule(message));
            }
            edits.push(edit);
        }
        Ok(edits)
    }
}

/// Checks that a document can be moved to another `location`.
fn check_location(before: &DocumentRecord, location: Location) -> Result<()> {
    if let Some(day) = before.day {
        return Err(unmovable_note(day, before.location));
    }
    let message = match location {
        Location::Unsorted | Location::Templates | Location::Folder(_) => return Ok(()),
        Location::Trash => "documents come into the trash by being deleted only",
        Location::DailyNotes => "daily notes are made by the first write to their day",
        Location::Inbox => "the inbox has no documents",
    };
    Err(Error::rule(message))
}
