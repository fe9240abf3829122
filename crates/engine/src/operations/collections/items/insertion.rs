//! Insertion of items.

use leafbase_collections::{ChangedItem, ReadItems, RelationBatch, ValueReader, read_added};
use leafbase_model::{
    AddItems, BlockData, BlockId, BlockKind, BlockRecord, Edit, Item, ItemDraft, Limits,
    Properties, Result, Schema, invariant,
};
use leafbase_tree_ops::{self as ops, AllowedChildren, Context, ItemInsertion};

use super::error_order;
use super::lookup::{check_count, writable};
use super::values::{check_files, check_new_links, finished, set_schema, titled, today};
use crate::core::access::AccessScope;
use crate::core::cascades::item_edits;
use crate::core::connection::Connection;
use crate::core::redaction::LinkRedactor;
use crate::core::redaction::texts::Chosen;
use crate::core::transaction::OperationTransaction;
use crate::core::tree::Tree;
use crate::operations::collections::presenter::ItemPresenter;
use crate::operations::drafts::{self, ValidatedDrafts};

const LIST: &str = "items";

/// The items of a request, with their pages normalized.
pub(super) struct RequestedItems<'l> {
    collection: BlockId,
    items: Vec<ItemDraft>,
    pages: Vec<ValidatedDrafts>,
    new_options: bool,
    limits: &'l Limits,
}

/// The validated items: blocks without values, and the batch that yields their values.
struct ReadInsertion<'t, 'a> {
    items: Vec<ItemInsertion>,
    batch: RelationBatch<'t, Tree<'a>>,
    schema: Option<Schema>,
}

impl<'l> RequestedItems<'l> {
    pub(super) fn new<S: AccessScope>(
        connection: &'l Connection<S>,
        request: AddItems,
    ) -> Result<Self> {
        let AddItems {
            collection_id: collection,
            mut items,
            allow_new_select_options: new_options,
            ..
        } = request;
        let limits = connection.limits();
        let mut contents: Vec<_> =
            items.iter_mut().map(|item| std::mem::take(&mut item.content)).collect();
        check_count(LIST, limits.blocks_per_request, items.len())?;
        // Relative days are resolved before the transaction, which may run several times.
        contents.iter_mut().try_for_each(|content| connection.date(content))?;
        let ready = |content| drafts::validate_list("content", content, connection.files(), limits);
        let pages = contents.into_iter().map(ready).collect();
        Ok(Self { collection, items, pages, new_options, limits })
    }

    /// Inserts the items and returns them as stored.
    pub(super) fn write(
        &self,
        transaction: &mut OperationTransaction<'_, '_>,
    ) -> Result<Vec<Item>> {
        let (schema, edits, added) = transaction.plan(|tree, context| self.plan(tree, context))?;
        transaction.apply(edits)?;
        transaction.plan(|tree, _| ItemPresenter::new(tree).items(self.collection, &schema, added))
    }

    fn plan(
        &self,
        tree: &Tree<'_>,
        context: &Context<'_>,
    ) -> Result<(Schema, Vec<Edit>, Vec<BlockRecord>)> {
        let (schema, located) = writable(tree, self.collection)?;
        let opened = ops::prepare_collection(tree, context, self.collection)?;
        let today = today(tree, context.stamp.at)?;
        let values = ValueReader { today, limits: self.limits, new_options: self.new_options };
        let read = |most| self.read(tree, context, &schema, values, opened.depth + 1, most);
        let ReadInsertion { mut items, batch, schema: extended } =
            error_order::first(LIST, self.items.len(), read)?;
        let mut changed = finished(batch)?;
        for ItemInsertion { id, data, .. } in &mut items {
            let Some(ChangedItem { values: properties, .. }) = changed.remove(id) else {
                invariant!("the relation batch returns the new item {id}")
            };
            data.kind = BlockKind::CollectionItem { properties };
        }
        let insertion = ops::insert_items(context, &opened, items)?;
        let added = top_blocks(&insertion);
        let mut edits =
            Vec::from_iter(set_schema(tree, located, self.collection, extended.as_ref())?);
        if !added.is_empty() {
            edits.push(insertion);
        }
        // What remains in the batch are items at other ends, which the request does not name.
        edits.extend(item_edits::unstamped_updates(tree, changed.into_values().collect())?);
        Ok((extended.unwrap_or(schema), edits, added))
    }

    /// Validates the first `most` items, whose pages will be at `depth`.
    fn read<'t, 'a>(
        &self,
        tree: &'t Tree<'a>,
        context: &Context<'_>,
        schema: &Schema,
        values: ValueReader<'_>,
        depth: usize,
        most: usize,
    ) -> Result<ReadInsertion<'t, 'a>> {
        let (links, mut drafts) =
            (LinkRedactor::new(tree), self.items.iter().take(most).cloned().collect::<Vec<_>>());
        for (index, draft) in drafts.iter_mut().enumerate() {
            // Options are compared as stored, so redacted links in them are restored first.
            links
                .restore_options(None, Chosen { schema, values: &mut draft.properties })
                .map_err(|error| error.at("properties").at(format_args!("{LIST}[{index}]")))?;
        }
        let ReadItems { items: read, schema: extended } = read_added(schema, drafts, values)?;
        // The other end of a relation sorts by ID: ascending IDs keep the order of the request.
        let mut ids: Vec<_> = read
            .iter()
            .map(|_| BlockId::from_bytes(context.ids.new_id(context.stamp.at)))
            .collect();
        ids.sort_unstable();
        let (mut items, mut batch) = (Vec::with_capacity(read.len()), RelationBatch::new(tree));
        for (index, (((draft, page), item), id)) in
            self.items.iter().zip(&self.pages).zip(read).zip(ids).enumerate()
        {
            let path = format!("{LIST}[{index}]");
            let title =
                titled(&draft.fields, &item.title, self.limits).map_err(|error| error.at(&path))?;
            check_files(tree, None, &draft.fields, &title).map_err(|error| error.at(&path))?;
            let blocks = page
                .at(tree, depth, AllowedChildren::Anything, self.limits)
                .map_err(|error| error.at(&path))?;
            let kind = BlockKind::CollectionItem { properties: Properties::default() };
            batch.begin(id, self.collection);
            batch.change(id, self.collection, item.changes, &path)?;
            items.push(ItemInsertion {
                id,
                data: BlockData { inline: title, ..BlockData::new(kind) },
                content: blocks,
            });
        }
        check_new_links(tree, &batch)?;
        Ok(ReadInsertion { items, batch, schema: extended })
    }
}

/// The inserted items.
fn top_blocks(insertion: &Edit) -> Vec<BlockRecord> {
    let Edit::Insert { subtrees, .. } = insertion else { return Vec::new() };
    let top = subtrees.0.iter().filter(|node| node.depth == 0);
    top.map(|node| node.block.clone()).collect()
}
