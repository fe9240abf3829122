//! Random requests on collections and their items.

use leafbase_model::{
    AddItems, BlockId, CountItems, CreateCollection, DeleteItems, DocumentFilterMode, GetItems,
    GetSchema, ItemDraft, ItemUpdate, ListCollections, Location, PropertyKind, QueryItems,
    ReplaceSchema, Schema, SchemaFormat, SelectOption, UpdateItems,
};
use serde_json::{Map, Value};

use super::{Setting, block, blocks, document, few, filters, schemas, values};
use crate::Numbers;

/// A request on collections or their items.
#[derive(Clone, Debug, PartialEq)]
pub enum CollectionRequest {
    /// Lists them.
    List(ListCollections),
    /// Makes one.
    Create(CreateCollection),
    /// Reads a schema.
    Schema(GetSchema),
    /// Gives one another schema.
    Replace(ReplaceSchema),
    /// Reads items.
    Items(GetItems),
    /// Makes items.
    Add(AddItems),
    /// Changes items.
    Update(UpdateItems),
    /// Deletes items.
    Delete(DeleteItems),
    /// Finds items.
    Query(QueryItems),
    /// Counts items.
    Count(CountItems),
}

impl CollectionRequest {
    pub(super) fn new(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> Self {
        let live = collections(setting, false).len();
        let id = collection(numbers, setting);
        match numbers.below(32) {
            _ if live == 0 || live < 3 && numbers.once_in(2) => {
                Self::Create(create(numbers, setting))
            }
            0 => Self::List(list(numbers, setting)),
            1 if live < 5 => Self::Create(create(numbers, setting)),
            1 | 2 => Self::Schema(GetSchema::new(id, SchemaFormat::Schema)),
            3..=7 => Self::Replace(replace(numbers, setting, id)),
            8 | 9 => Self::Items(items(numbers, id)),
            10..=13 => Self::Query(query(numbers, setting, id)),
            14 | 15 => Self::Count(count(numbers, setting, id)),
            16 | 17 => Self::Delete(DeleteItems::new(
                id,
                few(numbers, 2, |numbers| item(numbers, setting, id)),
            )),
            18..=22 => Self::Add(add(numbers, setting, id)),
            _ if setting.space.find(id).is_none_or(|found| found.children.is_empty()) => {
                Self::Add(add(numbers, setting, id))
            }
            _ => Self::Update(update(numbers, setting, id)),
        }
    }
}

/// The collections, those in the trash too or not.
fn collections(setting: Setting<'_>, trashed: bool) -> Vec<BlockId> {
    let home = |id: BlockId| setting.space.document_of(id).map(|found| found.record.location);
    let ids = setting.space.schemas.iter().map(|(id, _)| *id);
    ids.filter(|id| trashed || home(*id) != Some(Location::Trash)).collect()
}

/// A collection, mostly one that is not in the trash; now and then none.
pub(super) fn collection(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> BlockId {
    let ids = collections(setting, numbers.once_in(10));
    match numbers.below(48) {
        0 => BlockId::from_bytes([0xAB; 16]),
        1 => block(numbers, setting, |_| true),
        _ if ids.is_empty() => BlockId::from_bytes([0xAB; 16]),
        _ => numbers.pick(&ids),
    }
}

/// An item of a collection, if it has one; now and then another block.
pub(super) fn item(
    numbers: &mut Numbers<'_>,
    setting: Setting<'_>,
    collection: BlockId,
) -> BlockId {
    let ids: Vec<_> = setting
        .space
        .first_children(collection, usize::MAX)
        .into_iter()
        .map(|item| item.id)
        .collect();
    if ids.is_empty() || numbers.once_in(40) {
        block(numbers, setting, |_| true)
    } else {
        numbers.pick(&ids)
    }
}

fn list(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> ListCollections {
    let document_ids =
        numbers.once_in(2).then(|| few(numbers, 3, |numbers| document(numbers, setting, |_| true)));
    let mode = document_ids
        .as_ref()
        .and_then(|_| numbers.once_in(4).then(|| numbers.pick(DocumentFilterMode::ALL)));
    ListCollections { document_ids, mode }
}

fn create(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> CreateCollection {
    let schema = schemas::draft(numbers, setting);
    CreateCollection::new(schema, blocks::position(numbers, setting))
}

fn replace(numbers: &mut Numbers<'_>, setting: Setting<'_>, id: BlockId) -> ReplaceSchema {
    let schema = match setting.space.schema(id) {
        Some(schema) => schemas::changed(numbers, setting, id, schema),
        None => schemas::draft(numbers, setting),
    };
    let mut request = ReplaceSchema::new(id, schema);
    if numbers.once_in(4) {
        rename_option(numbers, setting, &mut request);
    }
    if numbers.once_in(2) { request.dropping_unconvertible() } else { request }
}

/// Gives an option of a select another name, mostly in the schema as well.
fn rename_option(numbers: &mut Numbers<'_>, setting: Setting<'_>, request: &mut ReplaceSchema) {
    let Some(old) = setting.space.schema(request.collection_id) else { return };
    let selects: Vec<_> =
        old.properties.iter().filter(|property| !property.kind.options().is_empty()).collect();
    if selects.is_empty() {
        return;
    }
    let select = selects[numbers.below(selects.len())];
    let options = select.kind.options();
    let from = options[numbers.below(options.len())].name.clone();
    let to = numbers.pick(values::OPTIONS).to_owned();
    let now = request.schema.properties.iter_mut();
    for property in now.filter(|property| property.key.as_ref() == Some(&select.key)) {
        if let PropertyKind::SingleSelect(options) | PropertyKind::MultiSelect(options) =
            &mut property.kind
            && !numbers.once_in(4)
        {
            options.retain(|option| option.name != from && option.name != to);
            options.push(SelectOption::new(to.clone()));
        }
    }
    let rename = |request: ReplaceSchema| request.renaming_option(&select.key, &from, &to);
    *request = rename(request.clone());
    if numbers.once_in(8) {
        *request = rename(request.clone());
    }
}

fn items(numbers: &mut Numbers<'_>, id: BlockId) -> GetItems {
    let mut request = GetItems::of(id);
    request.max_depth = numbers.pick(&[None, Some(0), Some(1), Some(2)]);
    request.paging.limit = numbers.pick(&[None, None, Some(1), Some(2), Some(3)]);
    request
}

fn add(numbers: &mut Numbers<'_>, setting: Setting<'_>, id: BlockId) -> AddItems {
    let schema = setting.space.schema(id);
    let count = numbers.pick(&[1, 2, 3, 1, 2, 0, 2, 3]);
    let draft = |numbers: &mut Numbers<'_>| {
        let mut fields = Map::new();
        if !numbers.once_in(8) {
            fields.insert(title_key(numbers, schema), title(numbers));
        }
        let mut draft = ItemDraft {
            fields,
            properties: properties(numbers, setting, schema, 3),
            content: Vec::new(),
        };
        if numbers.once_in(3) {
            draft.content =
                (0..numbers.below(3)).map(|_| blocks::draft(numbers, setting, 4)).collect();
        }
        draft
    };
    let items = (0..count).map(|_| draft(numbers)).collect();
    AddItems { collection_id: id, items, allow_new_select_options: !numbers.once_in(4) }
}

fn update(numbers: &mut Numbers<'_>, setting: Setting<'_>, id: BlockId) -> UpdateItems {
    let schema = setting.space.schema(id);
    let ids = few(numbers, 3, |numbers| item(numbers, setting, id));
    let update = |id| {
        let mut fields = Map::new();
        if numbers.once_in(4) {
            fields.insert(title_key(numbers, schema), title(numbers));
        }
        ItemUpdate {
            id,
            rev: None,
            content: None,
            fields,
            properties: properties(numbers, setting, schema, 2),
        }
    };
    let items_to_update = ids.into_iter().map(update).collect();
    UpdateItems {
        collection_id: id,
        items_to_update,
        allow_new_select_options: !numbers.once_in(4),
    }
}

fn title_key(numbers: &mut Numbers<'_>, schema: Option<&Schema>) -> String {
    match (numbers.below(60), schema) {
        (0, _) => "name".to_owned(),
        (1, Some(schema)) if !schema.properties.is_empty() => schema.properties[0].key.clone(),
        (2..=18, _) | (_, None) => "title".to_owned(),
        (_, Some(schema)) => schema.content.key.clone(),
    }
}

fn title(numbers: &mut Numbers<'_>) -> Value {
    match numbers.below(40) {
        0 => Value::Null,
        1 => "a".repeat(29).into(),
        _ => numbers.pick(&["", "a", "B", "é", "A b", "b", "É"]).into(),
    }
}

/// Values for about one in `every` properties; now and then one that is not there.
fn properties(
    numbers: &mut Numbers<'_>,
    setting: Setting<'_>,
    schema: Option<&Schema>,
    every: usize,
) -> Map<String, Value> {
    let mut given = Map::new();
    for property in schema.iter().flat_map(|schema| &schema.properties) {
        if !numbers.once_in(every) {
            given.insert(property.key.clone(), values::value(numbers, setting, &property.kind));
        }
    }
    if numbers.once_in(60) {
        given.insert("none".to_owned(), Value::Null);
    }
    given
}

fn query(numbers: &mut Numbers<'_>, setting: Setting<'_>, id: BlockId) -> QueryItems {
    let schema = setting.space.schema(id);
    let mut request = QueryItems::of(id);
    request.filter = (!numbers.once_in(3)).then(|| filters::filter(numbers, setting, schema, 0));
    request.sort = (0..numbers.below(3)).map(|_| filters::sort(numbers, schema)).collect();
    request.max_depth = numbers.pick(&[Some(0), Some(0), None, Some(1)]);
    request.paging.limit = numbers.pick(&[None, Some(1), Some(2), Some(3)]);
    request
}

fn count(numbers: &mut Numbers<'_>, setting: Setting<'_>, id: BlockId) -> CountItems {
    let schema = setting.space.schema(id);
    let mut request = CountItems::of(id);
    request.filter = numbers.once_in(2).then(|| filters::filter(numbers, setting, schema, 0));
    request.group_by = (!numbers.once_in(4)).then(|| filters::column(numbers, schema));
    request
}
