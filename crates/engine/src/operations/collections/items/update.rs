//! `ItemUpdates` of items.

use leafbase_collections::{ReadItems, RelationBatch, ValueReader, read_updated};
use leafbase_model::{
    BlockData, BlockId, BlockKind, BlockLocation, BlockRecord, Edit, Error, ErrorKind, Item,
    ItemUpdate, Limits, PropertyChange, Result, Schema, UpdateItems, invariant,
};
use leafbase_tree_ops::{Context, ReadTree, update_edit};

use super::error_order;
use super::lookup::{check_count, item, writable};
use super::values::{check_files, check_new_links, finished, relate, set_schema, titled, today};
use crate::core::cascades::item_edits;
use crate::core::redaction::LinkRedactor;
use crate::core::redaction::texts::Chosen;
use crate::core::transaction::OperationTransaction;
use crate::core::tree::Tree;
use crate::operations::blocks;
use crate::operations::collections::presenter::ItemPresenter;

const LIST: &str = "itemsToUpdate";

/// The changes of a request.
pub(super) struct ItemUpdates {
    collection: BlockId,
    items: Vec<ItemUpdate>,
    new_options: bool,
}

/// An item with the changes that do not concern relations.
struct ReadUpdate {
    before: BlockRecord,
    title: Option<String>,
    scalars: Vec<PropertyChange>,
}

struct ReadUpdates<'t, 'a> {
    changes: Vec<ReadUpdate>,
    batch: RelationBatch<'t, Tree<'a>>,
    schema: Option<Schema>,
}

impl ItemUpdates {
    pub(super) fn new(request: UpdateItems) -> Self {
        let UpdateItems {
            collection_id: collection,
            items_to_update: items,
            allow_new_select_options,
            ..
        } = request;
        Self { collection, items, new_options: allow_new_select_options }
    }

    /// `ItemUpdates` the items and returns them as stored.
    pub(super) fn write(
        &self,
        transaction: &mut OperationTransaction<'_, '_>,
    ) -> Result<Vec<Item>> {
        let (schema, edits, changed) =
            transaction.plan(|tree, context| self.plan(tree, context))?;
        transaction.apply(edits)?;
        transaction
            .plan(|tree, _| ItemPresenter::new(tree).items(self.collection, &schema, changed))
    }

    fn plan(
        &self,
        tree: &Tree<'_>,
        context: &Context<'_>,
    ) -> Result<(Schema, Vec<Edit>, Vec<BlockRecord>)> {
        let (schema, located) = writable(tree, self.collection)?;
        tree.prefetch(&self.items.iter().map(|item| item.id).collect::<Vec<_>>());
        let today = today(tree, context.stamp.at)?;
        let values = ValueReader { today, limits: context.limits, new_options: self.new_options };
        let read = |most| self.read(tree, &schema, values, most);
        let ReadUpdates { changes, batch, schema: extended } =
            error_order::first(LIST, self.items.len(), read)?;
        // Before the batch is consumed: `finish` returns values, not relations of other items.
        let turned = changes
            .iter()
            .map(|change| batch.inverse_changed(change.before.id))
            .collect::<Result<Vec<_>>>()?;
        let mut changed = finished(batch)?;
        let mut edits =
            Vec::from_iter(set_schema(tree, located, self.collection, extended.as_ref())?);
        let mut records = Vec::with_capacity(changes.len());
        for (change, is_turned) in changes.into_iter().zip(turned) {
            let related = changed.remove(&change.before.id).map(|changed| changed.values);
            let (edit, record) = change.plan(located, related, is_turned, context);
            edits.extend(edit);
            records.push(record);
        }
        edits.extend(item_edits::unstamped_updates(tree, changed.into_values().collect())?);
        Ok((extended.unwrap_or(schema), edits, records))
    }

    /// Validates the first `most` changes.
    fn read<'t, 'a>(
        &self,
        tree: &'t Tree<'a>,
        schema: &Schema,
        values: ValueReader<'_>,
        most: usize,
    ) -> Result<ReadUpdates<'t, 'a>> {
        check_count(LIST, values.limits.blocks_per_request, most)?;
        let Some(updates) = self.items.get(..most) else {
            invariant!("the request has at least {most} items")
        };
        let before = updates.iter().enumerate().map(|(index, update)| {
            item(tree, self.collection, update.id)
                .map_err(|error| error.at("id").at(format_args!("{LIST}[{index}]")))
        });
        // All items are located before any value is read: a missing item is reported first.
        let before = before.collect::<Result<Vec<_>>>()?;
        for (index, (update, before)) in updates.iter().zip(&before).enumerate() {
            check_echo(tree, update, before, values.limits)
                .map_err(|error| error.at(format_args!("{LIST}[{index}]")))?;
        }
        let (links, mut given) = (LinkRedactor::new(tree), updates.to_vec());
        for (index, (update, before)) in given.iter_mut().zip(&before).enumerate() {
            let chosen = Chosen { schema, values: &mut update.properties };
            links
                .restore_options(Some(&before.data), chosen)
                .map_err(|error| error.at("properties").at(format_args!("{LIST}[{index}]")))?;
        }
        let ReadItems { items: read, schema: extended } = read_updated(schema, given, values)?;
        let (mut changes, mut batch) = (Vec::with_capacity(read.len()), RelationBatch::new(tree));
        for (index, ((update, before), mut item)) in
            updates.iter().zip(before).zip(read).enumerate()
        {
            let path = format!("{LIST}[{index}]");
            let title = item.title.map(|title| titled(&update.fields, &title, values.limits));
            let mut title = title.transpose().map_err(|error| error.at(&path))?;
            title.iter_mut().try_for_each(|title| links.restore(&before.data, title))?;
            let checked = title
                .iter()
                .try_for_each(|title| check_files(tree, Some(&before.data), &update.fields, title));
            checked.map_err(|error| error.at(&path))?;
            item.changes
                .iter_mut()
                .try_for_each(|(_, value)| links.restore(&before.data, value))?;
            let scalars =
                relate(&mut batch, (schema, self.collection), item.id, item.changes, &path)?;
            changes.push(ReadUpdate { before, title, scalars });
        }
        check_new_links(tree, &batch)?;
        Ok(ReadUpdates { changes, batch, schema: extended })
    }
}

/// Checks what an update has of a reply without changing it: the revision and the content.
fn check_echo(
    tree: &Tree<'_>,
    update: &ItemUpdate,
    before: &BlockRecord,
    limits: &Limits,
) -> Result<()> {
    if let Some(expected) = update.rev.filter(|expected| *expected != before.rev) {
        let message = format!("expected rev {expected}, but the item has rev {}", before.rev);
        return Err(Error::new(ErrorKind::Conflict, message).at("rev"));
    }
    match &update.content {
        Some(content) => blocks::check_content(tree, before.id, content, limits)
            .map_err(|error| error.at("content")),
        None => Ok(()),
    }
}

impl ReadUpdate {
    /// The edit of one item, if it changes, and the resulting record. `related` are its values if
    /// relations changed them. If `is_turned`, relations that other items store have changed: the
    /// item gets a stamp.
    fn plan(
        self,
        located: BlockLocation,
        related: Option<leafbase_model::Properties>,
        is_turned: bool,
        context: &Context<'_>,
    ) -> (Option<Edit>, BlockRecord) {
        let Self { before, title, scalars } = self;
        let mut data: BlockData = before.data.clone();
        if let BlockKind::CollectionItem { properties } = &mut data.kind {
            // The batch starts from the stored values, so relations replace all of them.
            *properties = related.unwrap_or_else(|| std::mem::take(properties));
            properties.apply(scalars);
        }
        data.inline = title.unwrap_or(data.inline);
        match update_edit(located.document, before.clone(), data, context.stamp) {
            Some(Edit::Update { document, before, after }) => {
                let record = (*after).clone();
                (Some(Edit::Update { document, before, after }), record)
            }
            // Nothing of the record differs, but what it shows does.
            _ if is_turned => {
                let after = item_edits::restamped(&before, context.stamp);
                let (document, before) = (located.document, Box::new(before));
                (Some(Edit::Update { document, before, after: Box::new(after.clone()) }), after)
            }
            _ => (None, before),
        }
    }
}
