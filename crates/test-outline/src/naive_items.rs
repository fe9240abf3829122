//! Item operations of the naive space, with their relations.

use leafbase_model::{
    AddItems, BlockData, BlockDraft, BlockId, BlockKind, BlockRecord, Content, DeleteItems, Error,
    GetItems, Item, ItemDraft, ItemFields, ItemUpdate, ItemValue, Location, Properties, Property,
    PropertyChange, PropertyKind, PropertyValue, RelatedItem, Result, Schema, SelectOption,
    UpdateItems,
};
use serde_json::{Map, Value};

use crate::naive::By;
use crate::naive_comments::at;
use crate::naive_relations::Claim;
use crate::naive_rules as rules;
use crate::naive_values::{Reading, at_most, mismatch, read};
use crate::{Broken, NaiveBlock, NaiveSpace};

/// Plain text of a block for previews.
pub(crate) type Plain<'a> = &'a dyn Fn(&BlockData) -> String;

/// Where the title is given, and the conversion of property values.
type ReadItem = (Option<String>, Vec<PropertyChange>);

impl NaiveSpace {
    /// Adds items at the end of a collection.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn add_items(&mut self, by: By<'_>, request: &AddItems) -> Result<Vec<Item>> {
        let (id, items) = (request.collection_id, &request.items);
        rules::check_count(items.len(), &self.limits, "items")?;
        self.write(by.0, |space| {
            space.writable_schema(id)?;
            let depth = space.depth(id) + 1;
            rules::check_depth(depth, &space.limits).map_err(|error| error.at("collectionId"))?;
            let (ids, claims) = first_fault("items", items.len(), space, |space, count| {
                let (drafts, new_options) = (&items[..count], request.allow_new_select_options);
                let read = space.read_items(by, id, "items", drafts, new_options, |draft| {
                    (&draft.fields, &draft.properties)
                })?;
                space.grow_items(by, id, drafts, read)
            })?;
            space.check_claims(&claims)?;
            let blocks: usize = ids.iter().map(|item| space.get(*item).walk().len()).sum();
            rules::check_count(blocks, &space.limits, "items")?;
            Ok(ids
                .into_iter()
                .map(|item| space.shown_item(item, Some(0), &|_| String::new()))
                .collect())
        })
    }

    /// Reads titles and values of items, and adds new options to the schema.
    fn read_items<T>(
        &mut self,
        by: By<'_>,
        id: BlockId,
        list: &str,
        items: &[T],
        new_options: bool,
        parts: impl Fn(&T) -> (&Map<String, Value>, &Map<String, Value>),
    ) -> Result<Vec<ReadItem>> {
        let today = self.today(by.0.at);
        let mut found = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let (fields, properties) = parts(item);
            let (schema, limits) = (self.known_schema(id)?, self.limits.clone());
            let reading = Reading { today, limits: &limits, new_options };
            let within = |error: Error| at(list, index, error);
            let title = title(&schema, fields, &limits).map_err(within)?;
            let changes = values(&schema, properties, reading)
                .map_err(|error| within(error.at("properties")))?;
            self.add_options(id, &changes).map_err(|error| within(error.at("properties")))?;
            found.push((title, changes));
        }
        Ok(found)
    }

    fn add_options(&mut self, id: BlockId, changes: &[PropertyChange]) -> Result<()> {
        let (most, forgets) =
            (self.limits.select_options, self.breaks(Broken::OptionsAreForgotten));
        let schema = self.schema_mut(id).unwrap();
        for (key, value) in changes {
            let property =
                schema.properties.iter_mut().find(|property| property.key == *key).unwrap();
            let (PropertyKind::SingleSelect(options) | PropertyKind::MultiSelect(options)) =
                &mut property.kind
            else {
                continue;
            };
            let names = match value {
                Some(PropertyValue::Text(name)) => std::slice::from_ref(name),
                Some(PropertyValue::Options(names)) => names,
                _ => &[],
            };
            let new =
                names.iter().filter(|name| !options.iter().any(|option| option.name == **name));
            let new: Vec<_> = new.map(SelectOption::new).collect();
            if !new.is_empty() && !forgets {
                at_most(most, options.len() + new.len()).map_err(|error| error.at(key))?;
                options.extend(new);
            }
        }
        Ok(())
    }

    fn grow_items(
        &mut self,
        by: By<'_>,
        id: BlockId,
        drafts: &[ItemDraft],
        read: Vec<ReadItem>,
    ) -> Result<(Vec<BlockId>, Vec<Claim>)> {
        let depth = self.depth(id) + 1;
        let mut ids: Vec<_> =
            drafts.iter().map(|_| BlockId::from_bytes(by.1.new_id(by.0.at))).collect();
        ids.sort_unstable();
        let mut changes = Vec::new();
        for (index, (draft, (title, values))) in drafts.iter().zip(read).enumerate() {
            let kind = BlockKind::CollectionItem { properties: Properties::default() };
            let data = BlockData { inline: title.unwrap_or_default(), ..BlockData::new(kind) };
            let record = BlockRecord {
                id: ids[index],
                rev: 1,
                created: by.0.clone(),
                modified: by.0.clone(),
                data,
            };
            let children = self
                .grow_page(by, &draft.content, depth + 1)
                .map_err(|error| at("items", index, error))?;
            let end =
                if self.breaks(Broken::ItemsComeFirst) { 0 } else { self.get(id).children.len() };
            self.get_mut(id).children.insert(end, NaiveBlock { record, children });
            changes.push((ids[index], values));
        }
        Ok((ids, self.give_values(id, "items", &changes)?))
    }

    fn grow_page(
        &self,
        by: By<'_>,
        content: &[BlockDraft],
        depth: usize,
    ) -> Result<Vec<NaiveBlock>> {
        rules::check_draft_count(content, &self.limits, "content")?;
        let drafts = self.dated_drafts(content, by.0.at);
        let grown = |(number, draft)| {
            rules::grown(draft, &format!("content[{number}]"), depth, by, &self.limits)
        };
        drafts.iter().enumerate().map(grown).collect()
    }

    /// Sets the values of items, relations at both ends. New pairs are validated after all entries.
    fn give_values(
        &mut self,
        id: BlockId,
        list: &str,
        changes: &[(BlockId, Vec<PropertyChange>)],
    ) -> Result<Vec<Claim>> {
        let schema = self.known_schema(id)?;
        let mut claims = Vec::new();
        for (index, (item, values)) in changes.iter().enumerate() {
            for (key, value) in values {
                if schema.property(key).unwrap().kind.relation().is_some() {
                    let path = format!("{list}[{index}].properties.{key}");
                    self.give_relation(
                        &schema,
                        (id, key),
                        *item,
                        value.as_ref(),
                        &path,
                        &mut claims,
                    )?;
                } else if let BlockKind::CollectionItem { properties } =
                    &mut self.get_mut(*item).record.data.kind
                {
                    properties.set(key, value.clone());
                }
            }
        }
        self.check_trash(&claims)?;
        Ok(claims)
    }

    fn give_relation(
        &mut self,
        schema: &Schema,
        (id, key): (BlockId, &str),
        item: BlockId,
        value: Option<&PropertyValue>,
        path: &str,
        claims: &mut Vec<Claim>,
    ) -> Result<()> {
        let relation = schema.property(key).and_then(|property| property.kind.relation()).unwrap();
        let wanted = match value {
            Some(PropertyValue::Relations(items)) => items.as_slice(),
            _ => &[],
        };
        let mut once = Vec::new();
        for (index, other) in wanted.iter().enumerate() {
            let place =
                if wanted.len() == 1 { path.to_owned() } else { format!("{path}[{index}]") };
            let Some(found) = self.find(*other).filter(|found| is_item(found)) else {
                return Err(Error::no_item().at(place));
            };
            if self.parent(found.record.id) != Some(relation.target) {
                return Err(mismatch("of another collection").at(place));
            }
            if !once.contains(other) {
                once.push(*other);
            }
        }
        self.relate(&(id, key.to_owned()), item, &once, path, claims);
        Ok(())
    }

    /// No new pair has an item in the trash.
    fn check_trash(&self, claims: &[Claim]) -> Result<()> {
        for claim in claims {
            let home = self.document_of(claim.other).unwrap();
            if home.record.location == Location::Trash
                && !self.breaks(Broken::TrashedItemsAreRelated)
            {
                return Err(Error::rule("in the trash").at(&claim.path));
            }
        }
        Ok(())
    }

    /// Updates items.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn update_items(&mut self, by: By<'_>, request: &UpdateItems) -> Result<Vec<Item>> {
        let (id, updates) = (request.collection_id, &request.items_to_update);
        self.write(by.0, |space| {
            space.writable_schema(id)?;
            rules::check_count(updates.len(), &space.limits, "itemsToUpdate")?;
            let before = space.clone();
            let claims = first_fault("itemsToUpdate", updates.len(), space, |space, count| {
                space.change_items(by, id, &updates[..count], request.allow_new_select_options)
            })?;
            space.check_claims(&claims)?;
            for update in updates {
                // The values were set before: the record changes if they differ from the previous
                // ones.
                let data = space.get(update.id).record.data.clone();
                let former = before.get(update.id).record.clone();
                space.get_mut(update.id).record = former;
                space.revise(update.id, data, by.0);
                if space.shows_others(&before, (id, update.id)) {
                    space.revise_alike(&before, update.id, by.0);
                }
            }
            let shown =
                |update: &ItemUpdate| space.shown_item(update.id, Some(0), &|_| String::new());
            Ok(updates.iter().map(shown).collect())
        })
    }

    fn change_items(
        &mut self,
        by: By<'_>,
        id: BlockId,
        updates: &[ItemUpdate],
        new_options: bool,
    ) -> Result<Vec<Claim>> {
        for (index, update) in updates.iter().enumerate() {
            let known = self.check_item(id, update.id);
            let once = known.and_then(|()| rules::check_once(index, updates, |update| update.id));
            once.map_err(|error| at("itemsToUpdate", index, error.at("id")))?;
        }
        let parts = |update: &ItemUpdate| (update.fields.clone(), update.properties.clone());
        let parts: Vec<_> = updates.iter().map(parts).collect();
        let read =
            self.read_items(by, id, "itemsToUpdate", &parts, new_options, |(fields, values)| {
                (fields, values)
            })?;
        let mut changes = Vec::new();
        for (update, (title, values)) in updates.iter().zip(read) {
            if let Some(title) = title {
                self.get_mut(update.id).record.data.inline = title;
            }
            changes.push((update.id, values));
        }
        self.give_values(id, "itemsToUpdate", &changes)
    }

    fn check_item(&self, collection: BlockId, item: BlockId) -> Result<()> {
        let found = self.find(item).filter(|found| is_item(found));
        let is_there = found.is_some() && self.parent(item) == Some(collection);
        if is_there { Ok(()) } else { Err(Error::no_item()) }
    }

    /// Deletes items.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn delete_items(&mut self, by: By<'_>, request: &DeleteItems) -> Result<Vec<BlockId>> {
        let (id, ids) = (request.collection_id, &request.ids_to_delete);
        self.write(by.0, |space| {
            space.writable_schema(id)?;
            rules::check_count(ids.len(), &space.limits, "idsToDelete")?;
            for (index, item) in ids.iter().enumerate() {
                let checked = space
                    .check_item(id, *item)
                    .and_then(|()| rules::check_once(index, ids, |id| *id));
                checked.map_err(|error| at("idsToDelete", index, error))?;
            }
            for item in ids {
                space.take(*item);
            }
            Ok(ids.clone())
        })
    }

    /// The items of a collection in order, on all pages.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn items(&self, request: &GetItems, plain: Plain<'_>) -> Result<Vec<Item>> {
        self.known_schema(request.collection_id)?;
        let items = &self.get(request.collection_id).children;
        Ok(items
            .iter()
            .map(|item| self.shown_item(item.record.id, request.max_depth, plain))
            .collect())
    }

    /// An item as replies show it, with a number of levels of its page.
    pub fn shown_item(&self, id: BlockId, depth: Option<usize>, plain: Plain<'_>) -> Item {
        let block = self.get(id);
        let ItemFields { content_key, properties } = self.item_fields(id).unwrap();
        let below = |child| self.shown(child, depth.map(|depth| depth - 1), false, plain);
        let content = if depth == Some(0) {
            Content::None
        } else {
            Content::Blocks(block.children.iter().map(below).collect())
        };
        let (rev, title) = (block.record.rev, block.record.data.inline.clone());
        Item { id, rev, content_key, title, properties, content }
    }

    /// The item fields of a block by the schema of its collection.
    pub fn item_fields(&self, id: BlockId) -> Option<ItemFields> {
        let BlockKind::CollectionItem { properties } = &self.find(id)?.record.data.kind else {
            return None;
        };
        let collection = self.parent(id)?;
        let schema = self.schema(collection)?;
        let value = |property: &Property| {
            if property.kind.relation().is_none() {
                return properties.get(&property.key).cloned().map(ItemValue::Value);
            }
            let related = self.related(&(collection, property.key.clone()), id);
            (!related.is_empty()).then(|| ItemValue::Relations(self.titled(&related)))
        };
        let of = schema.properties.iter();
        let properties =
            of.filter_map(|property| Some((property.key.as_str(), value(property)?))).collect();
        Some(ItemFields { content_key: schema.content.key.as_str().into(), properties })
    }

    pub(crate) fn titled(&self, items: &[BlockId]) -> Vec<RelatedItem> {
        let title = |id: BlockId| {
            self.find(id).map(|found| found.record.data.inline.as_str().into()).unwrap_or_default()
        };
        items.iter().map(|id| RelatedItem { block_id: *id, title: title(*id) }).collect()
    }
}

/// Processes all entries of a list; on an error, finds the first entry that fails without those
/// after it.
fn first_fault<T>(
    list: &str,
    count: usize,
    space: &mut NaiveSpace,
    run: impl Fn(&mut NaiveSpace, usize) -> Result<T>,
) -> Result<T> {
    let before = space.clone();
    let mut outcome = run(space, count);
    let mut most = count;
    while let Err(error) = &outcome {
        let number = error
            .path()
            .strip_prefix(list)
            .and_then(|rest| rest.strip_prefix('[')?.split(']').next());
        let Some(number) =
            number.and_then(|number| number.parse().ok()).filter(|number| *number < most)
        else {
            break;
        };
        match run(&mut before.clone(), number) {
            Err(earlier) => outcome = Err(earlier),
            Ok(_) => break,
        }
        most = number;
    }
    outcome
}

fn is_item(block: &NaiveBlock) -> bool {
    matches!(block.record.data.kind, BlockKind::CollectionItem { .. })
}

/// Whether a key names the title.
pub(crate) fn is_title(schema: &Schema, key: &str) -> bool {
    key == schema.content.key || key == "title" && schema.property("title").is_none()
}

fn title(
    schema: &Schema,
    fields: &Map<String, Value>,
    limits: &leafbase_model::Limits,
) -> Result<Option<String>> {
    if let Some(unknown) = fields.keys().find(|key| !is_title(schema, key)) {
        return Err(mismatch("no title").at(unknown));
    }
    if let Some(second) = fields.keys().nth(1) {
        return Err(mismatch("the title again").at(second));
    }
    let Some((key, value)) = fields.iter().next() else { return Ok(None) };
    let text = value.as_str().ok_or_else(|| mismatch("no text").at(key))?;
    at_most(limits.title, text.chars().count()).map_err(|error| error.at(key))?;
    Ok(Some(text.to_owned()))
}

fn values(
    schema: &Schema,
    given: &Map<String, Value>,
    reading: Reading<'_>,
) -> Result<Vec<PropertyChange>> {
    if let Some(unknown) = given.keys().find(|key| schema.property(key).is_none()) {
        return Err(mismatch("no such property").at(unknown));
    }
    let mut found = Vec::new();
    for property in schema.properties.iter().filter(|property| given.contains_key(&property.key)) {
        let value = read(property, &given[&property.key], reading)
            .map_err(|error| error.at(&property.key))?;
        found.push((property.key.clone(), value));
    }
    Ok(found)
}
