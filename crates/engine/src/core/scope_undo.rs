//! What undoes the part of a change that a scoped connection sees. It neither reads nor writes what
//! is hidden: inverse edits of other documents are left out, and so are relations to their items.

use std::collections::HashSet;

use leafbase_model::{
    BlockData, BlockId, BlockKind, Change, DocumentId, DocumentRecord, Edit, Error, ErrorKind,
    Location, PropertyValue, Result, Schema,
};

use crate::core::redaction::hidden_relations::{self, Sees};
use crate::core::scope_changes::{AdditionSequences, ScopeAtWrite, ScopeRow};
use crate::core::scope_pages::{PageWrites, check_is_of_space};
use crate::core::tree::Tree;

/// The inverse of the visible part of a change.
#[derive(Debug, Default)]
pub(crate) struct VisibleInverse {
    pub(crate) edits: Vec<Edit>,
    /// Blocks that came from hidden documents, or went there.
    pub(crate) crossed: Vec<BlockId>,
    /// Documents that the change made, or moved to the trash or back.
    pub(crate) documents: Vec<DocumentId>,
}

/// Where an edit is, as a scope sees it.
enum EditPlace {
    Visible,
    Hidden,
    /// These blocks came from hidden documents, or went there.
    Crossing(Vec<BlockId>),
    /// This document came or went as a whole.
    Whole(DocumentId),
}

/// The inverse of the visible part of a row of a scope's feed, which has the `number` (0 without a
/// row in it), with the sequence of its change.
///
/// # Errors
/// [`ErrorKind::Conflict`] for a row that adds documents; [`ErrorKind::HistoryGone`] for a change
/// that compaction dropped, or whose visible part a purge redacted.
pub(crate) fn visible_inverse(
    tree: &Tree<'_>,
    number: u64,
    row: &ScopeRow,
    added_after: &AdditionSequences,
) -> Result<(u64, VisibleInverse)> {
    let gone = || match number {
        0 => Error::history_gone("a change is no longer in the change log"),
        _ => Error::history_gone(format!("change {number} is no longer in the change log")),
    };
    let (sequence, pages) = match row {
        ScopeRow::Write(sequence, pages) => (*sequence, pages.as_deref()),
        ScopeRow::Dropped => return Err(gone()),
        ScopeRow::Addition(_) => {
            let message = "documents came into the scope, which is not undone";
            return Err(Error::new(ErrorKind::Conflict, message));
        }
    };
    let change = tree.unguarded().change_over(sequence)?.ok_or_else(gone)?;
    let scope = ScopeAtWrite { tree, added_after, sequence: change.sequence };
    let inverse = VisibleInverse::of(&scope, &change, pages, &gone)?;
    Ok((change.sequence, inverse))
}

impl VisibleInverse {
    fn of(
        scope: &ScopeAtWrite<'_>,
        change: &Change,
        pages: Option<&PageWrites>,
        gone: &dyn Fn() -> Error,
    ) -> Result<Self> {
        let mut inverse = Self::default();
        // Reversed: each edit describes the state that the previous ones produced.
        for edit in change.edits.iter().rev() {
            match place(scope, pages, edit)? {
                EditPlace::Visible => inverse.edits.push(edit.inverse().map_err(|_| gone())?),
                EditPlace::Hidden => {}
                EditPlace::Crossing(blocks) => inverse.crossed.extend(blocks),
                EditPlace::Whole(document) => inverse.documents.push(document),
            }
        }
        let sight = UndoSight::of(scope.tree, [&inverse]);
        inverse.edits.iter_mut().try_for_each(|edit| sight.hide_in(scope.tree, edit))?;
        inverse.edits.retain(changes_something);
        Ok(inverse)
    }
}

/// Whether an edit still changes something without its hidden parts.
fn changes_something(edit: &Edit) -> bool {
    match edit {
        Edit::Update { before, after, .. } => before.data != after.data,
        Edit::SetSchema { before, after, .. } => before != after,
        _ => true,
    }
}

fn place(scope: &ScopeAtWrite<'_>, pages: Option<&PageWrites>, edit: &Edit) -> Result<EditPlace> {
    let omitted = || pages.into_iter().flat_map(|pages| &pages.omitted);
    let is_omitted =
        |block: BlockId| omitted().any(|(page, at)| *at == block && scope.contains(*page));
    let pages = || {
        let reported = pages.into_iter().flat_map(|pages| &pages.reported);
        reported.filter(|(page, _)| scope.contains(**page))
    };
    let in_page = |block: BlockId| pages().any(|(_, blocks)| blocks.contains(&block));
    let contains =
        |document, block| Ok::<_, Error>(scope.contains_document(document)? || in_page(block));
    let visible = |is_visible| if is_visible { EditPlace::Visible } else { EditPlace::Hidden };
    Ok(match edit {
        Edit::Insert { target, subtrees } | Edit::Remove { target, subtrees } => {
            if scope.contains_document(target.document)? {
                return Ok(EditPlace::Visible);
            }
            let blocks = subtrees.0.iter().map(|node| node.block.id);
            let is_page = |block: &BlockId| {
                pages().any(|(page, blocks)| page.root() == *block && blocks.contains(block))
            };
            let roots: Vec<_> = blocks.clone().filter(is_page).collect();
            if !roots.is_empty() {
                return Ok(EditPlace::Crossing(roots));
            }
            visible(blocks.into_iter().any(in_page))
        }
        // An update that keeps the revision is the other end of a relation.
        Edit::Update { document, before, after }
            if before.rev != after.rev || after.is_redacted() =>
        {
            visible(contains(*document, after.id)?)
        }
        Edit::Update { document, after, .. } => {
            let was_visible = contains(*document, after.id)? || is_omitted(after.id);
            visible(was_visible && scope.tree.can_see(after.id)?)
        }
        Edit::Move { block, from, to } => {
            if !contains(from.document, *block)? && !contains(to.document, *block)? {
                return Ok(EditPlace::Hidden);
            }
            let mut is_inside = true;
            for end in [from, to] {
                is_inside &=
                    scope.contains_document(end.document)? || scope.tree.can_see(end.parent)?;
            }
            if is_inside { EditPlace::Visible } else { EditPlace::Crossing(vec![*block]) }
        }
        Edit::AddComment { document, block, .. }
        | Edit::RemoveComment { document, block, .. }
        | Edit::UpdateComment { document, block, .. } => visible(contains(*document, *block)?),
        // The feed of a page omits schemas that differ by relations to deleted collections alone.
        Edit::SetSchema { document, collection, .. } => {
            visible(contains(*document, *collection)? || is_omitted(*collection))
        }
        Edit::CreateDocument { record, .. } | Edit::EraseDocument { record, .. } => {
            whole(scope, record, !is_trashed(record))
        }
        Edit::UpdateDocument { before, after } => {
            whole(scope, after, is_trashed(before) != is_trashed(after))
        }
        Edit::PurgeDocument { .. } => EditPlace::Hidden,
        edit => {
            check_is_of_space(edit)?;
            EditPlace::Hidden
        }
    })
}

fn whole(scope: &ScopeAtWrite<'_>, document: &DocumentRecord, is_told: bool) -> EditPlace {
    if is_told && scope.contains(document.id) {
        EditPlace::Whole(document.id)
    } else {
        EditPlace::Hidden
    }
}

fn is_trashed(document: &DocumentRecord) -> bool {
    document.location == Location::Trash
}

/// The visibility of an undo: that of the call, with the blocks that it inserts or removes itself.
pub(crate) struct UndoSight {
    is_unrestricted: bool,
    own: HashSet<BlockId>,
}

impl UndoSight {
    pub(crate) fn of<'a>(
        tree: &Tree<'_>,
        inverses: impl IntoIterator<Item = &'a VisibleInverse>,
    ) -> Self {
        let mut own = HashSet::new();
        for edit in inverses.into_iter().flat_map(|inverse| &inverse.edits) {
            if let Edit::Insert { subtrees, .. } | Edit::Remove { subtrees, .. } = edit {
                own.extend(subtrees.0.iter().map(|node| node.block.id));
            }
        }
        Self { is_unrestricted: tree.is_unrestricted(), own }
    }

    fn sees(&self, tree: &Tree<'_>, block: BlockId) -> Result<bool> {
        Ok(self.own.contains(&block) || tree.can_see(block)?)
    }

    fn hide_in(&self, tree: &Tree<'_>, edit: &mut Edit) -> Result<()> {
        let sees = |block| self.sees(tree, block);
        match edit {
            Edit::Insert { subtrees, .. } | Edit::Remove { subtrees, .. } => {
                let blocks = subtrees.0.iter_mut().map(|node| &mut node.block.data);
                blocks.into_iter().try_for_each(|data| keep_relations(data, &sees))
            }
            Edit::Update { before, after, .. } => {
                keep_relations(&mut before.data, &sees)?;
                keep_relations(&mut after.data, &sees)
            }
            Edit::SetSchema { before, after, .. } => {
                for schema in [before, after].into_iter().flatten() {
                    **schema = hidden_relations::visible_to(&sees, (**schema).clone())?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Data without relations to hidden items.
    pub(crate) fn visible_data(&self, tree: &Tree<'_>, mut data: BlockData) -> Result<BlockData> {
        if !self.is_unrestricted {
            keep_relations(&mut data, &|item| self.sees(tree, item))?;
        }
        Ok(data)
    }

    /// Data with the relations of `present` to hidden items.
    pub(crate) fn with_hidden(
        &self,
        tree: &Tree<'_>,
        mut data: BlockData,
        present: &BlockData,
    ) -> Result<BlockData> {
        if self.is_unrestricted {
            return Ok(data);
        }
        let mut hidden = present.clone();
        keep_relations(&mut hidden, &|item| Ok(!self.sees(tree, item)?))?;
        if let BlockKind::CollectionItem { properties } = &mut data.kind {
            properties.apply(relations(&hidden));
        }
        Ok(data)
    }

    /// The stored schema of a visible collection.
    pub(crate) fn schema(&self, tree: &Tree<'_>, collection: BlockId) -> Result<PresentSchema> {
        let stored = tree.reader_at(collection)?.schema(collection)?;
        let visible = match &stored {
            Some(stored) if !self.is_unrestricted => {
                let sees = |collection| self.sees(tree, collection);
                Some(hidden_relations::visible_to(&sees, stored.clone())?)
            }
            _ => stored.clone(),
        };
        Ok(PresentSchema { stored, visible })
    }

    /// The schema `target` merged with the hidden properties of the present one. Without a target
    /// the hidden properties alone, if there are any: these relations end with the block.
    pub(crate) fn schema_after(
        &self,
        tree: &Tree<'_>,
        present: &PresentSchema,
        target: Option<&Schema>,
    ) -> Result<Option<Schema>> {
        let PresentSchema { stored: Some(stored), visible: Some(visible) } = present else {
            return Ok(target.cloned());
        };
        if stored == visible {
            return Ok(target.cloned());
        }
        let nothing = || Schema { properties: Vec::new(), ..visible.clone() };
        let after = target.cloned().unwrap_or_else(nothing);
        let sees = |collection| self.sees(tree, collection);
        hidden_relations::with_unseen(&sees, stored, &after).map(Some)
    }
}

/// The stored schema of a collection, and what of it is visible.
pub(crate) struct PresentSchema {
    pub(crate) stored: Option<Schema>,
    pub(crate) visible: Option<Schema>,
}

/// Keeps the relations of an item to those that `keeps` accepts.
fn keep_relations(data: &mut BlockData, keeps: &Sees<'_>) -> Result<()> {
    let BlockKind::CollectionItem { properties } = &mut data.kind else { return Ok(()) };
    let mut changed = Vec::new();
    for (key, value) in properties.iter() {
        let PropertyValue::Relations(items) = value else { continue };
        let mut kept = Vec::with_capacity(items.len());
        for item in items {
            if keeps(*item)? {
                kept.push(*item);
            }
        }
        if kept.len() < items.len() {
            let value = (!kept.is_empty()).then_some(PropertyValue::Relations(kept));
            changed.push((key.to_owned(), value));
        }
    }
    properties.apply(changed);
    Ok(())
}

/// The relations of an item.
fn relations(data: &BlockData) -> Vec<(String, Option<PropertyValue>)> {
    let BlockKind::CollectionItem { properties } = &data.kind else { return Vec::new() };
    let is_relation =
        |(_, value): &(&str, &PropertyValue)| matches!(value, PropertyValue::Relations(_));
    let values = properties.iter().filter(is_relation);
    values.map(|(key, value)| (key.to_owned(), Some(value.clone()))).collect()
}
