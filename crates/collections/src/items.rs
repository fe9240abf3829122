//! Items of requests, decoded and checked against the schema of their collection. The first error
//! is reported, with its path: `items[2].properties.due: expected a day YYYY-MM-DD, got "soon"`.

use std::collections::HashSet;

use leafbase_model::{
    BlockDraft, BlockId, Error, ItemDraft, ItemUpdate, Limits, PropertyChange, PropertyKind,
    Result, Schema, SelectOption, invariant,
};
use serde_json::{Map, Value};

use crate::value_rules::{ValueReader, check_count, mismatch, wrong};
use crate::values::new_options;

/// Alternative key of an item's title in requests.
const TITLE: &str = "title";

/// An item to be added.
#[derive(Clone, Debug, PartialEq)]
pub struct AddedItem {
    /// The title.
    pub title: String,
    /// Values to set, decoded. Relations go through [`crate::RelationBatch`].
    pub changes: Vec<PropertyChange>,
    /// The child blocks of the item's page.
    pub content: Vec<BlockDraft>,
}

/// A change to an existing item.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemChange {
    /// The item's ID.
    pub id: BlockId,
    /// The new title. `None` keeps the old one.
    pub title: Option<String>,
    /// Values to set or clear, decoded. Relations go through [`crate::RelationBatch`].
    pub changes: Vec<PropertyChange>,
}

/// Items of a request, valid under the schema.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadItems<T> {
    /// The items, in the order of the request.
    pub items: Vec<T>,
    /// The schema extended by the items' new options. `None` if there are no new options.
    pub schema: Option<Schema>,
}

/// Decodes items to be added. Does not look up related items.
///
/// # Errors
/// [`leafbase_model::ErrorKind::SchemaMismatch`] and [`leafbase_model::ErrorKind::LimitExceeded`],
/// with the path below `items`.
pub fn read_added(
    schema: &Schema,
    items: Vec<ItemDraft>,
    values: ValueReader<'_>,
) -> Result<ReadItems<AddedItem>> {
    let mut options = NewOptions::new(schema, values.limits);
    let read = each("items", items, values.limits, |item| {
        let title = title(schema, &item.fields, values.limits)?.unwrap_or_else(String::new);
        let changes = options.read(values, &item.properties)?;
        Ok(AddedItem { title, changes, content: item.content })
    })?;
    Ok(ReadItems { items: read, schema: options.extended })
}

/// Decodes changes to items. Looks up neither the items nor related ones.
///
/// # Errors
/// As [`read_added`], below `itemsToUpdate`; [`leafbase_model::ErrorKind::Validation`] for an item
/// that occurs twice.
pub fn read_updated(
    schema: &Schema,
    items: Vec<ItemUpdate>,
    values: ValueReader<'_>,
) -> Result<ReadItems<ItemChange>> {
    let (mut options, mut named) = (NewOptions::new(schema, values.limits), HashSet::new());
    let read = each("itemsToUpdate", items, values.limits, |item| {
        if !named.insert(item.id) {
            return Err(Error::validation("the item occurs twice in the request").at("id"));
        }
        let title = title(schema, &item.fields, values.limits)?;
        let changes = options.read(values, &item.properties)?;
        Ok(ItemChange { id: item.id, title, changes })
    })?;
    Ok(ReadItems { items: read, schema: options.extended })
}

fn each<T, R>(
    list: &str,
    items: Vec<T>,
    limits: &Limits,
    mut read: impl FnMut(T) -> Result<R>,
) -> Result<Vec<R>> {
    check_count("items in one request", limits.blocks_per_request, items.len())
        .map_err(|error| error.at(list))?;
    let at = |(index, item)| read(item).map_err(|error| error.at(format_args!("{list}[{index}]")));
    items.into_iter().enumerate().map(at).collect()
}

/// Whether the key `title` stands for the title of an item: not if the schema uses it for a
/// property.
pub(crate) fn has_title_alias(schema: &Schema) -> bool {
    schema.content.key != TITLE && schema.property(TITLE).is_none()
}

/// Whether `key` stands for the title of an item.
pub(crate) fn is_title(schema: &Schema, key: &str) -> bool {
    key == schema.content.key || (key == TITLE && has_title_alias(schema))
}

fn title(schema: &Schema, fields: &Map<String, Value>, limits: &Limits) -> Result<Option<String>> {
    let key = schema.content.key.as_str();
    if let Some(unknown) = fields.keys().find(|name| !is_title(schema, name)) {
        let message = match schema.property(unknown) {
            Some(_) => format!("{unknown:?} is a property; it belongs in \"properties\""),
            None => format!("unknown field {unknown:?}; the title is {key:?}"),
        };
        return Err(mismatch(message).at(unknown));
    }
    let mut given = fields.iter();
    let Some((name, value)) = given.next() else { return Ok(None) };
    if let Some((other, _)) = given.next() {
        return Err(
            mismatch(format!("the title is given twice, as {name:?} and {other:?}")).at(other)
        );
    }
    let read = || {
        let text = value.as_str().ok_or_else(|| wrong("text", value))?;
        check_count("characters of a title", limits.title, text.chars().count())?;
        Ok(Some(text.to_owned()))
    };
    read().map_err(|error: Error| error.at(name))
}

/// Collects new options while items are read: a later item may use an option of an earlier one.
struct NewOptions<'a> {
    schema: &'a Schema,
    limits: &'a Limits,
    extended: Option<Schema>,
}

impl<'a> NewOptions<'a> {
    fn new(schema: &'a Schema, limits: &'a Limits) -> Self {
        Self { schema, limits, extended: None }
    }

    fn read(
        &mut self,
        values: ValueReader<'_>,
        properties: &Map<String, Value>,
    ) -> Result<Vec<PropertyChange>> {
        let read = || {
            let schema = self.extended.as_ref().unwrap_or(self.schema);
            let changes = values.read_all(schema, properties)?;
            let found =
                values.new_options.then(|| extended(schema, &changes, self.limits)).transpose()?;
            Ok((changes, found.flatten()))
        };
        let (changes, found) = read().map_err(|error: Error| error.at("properties"))?;
        // An item without new options keeps the extension of the items before it.
        self.extended = found.or(self.extended.take());
        Ok(changes)
    }
}

/// The schema extended by the new options of `changes`. `None` if there are none.
fn extended(
    schema: &Schema,
    changes: &[PropertyChange],
    limits: &Limits,
) -> Result<Option<Schema>> {
    let mut extended = None;
    for (key, value) in changes {
        let property = schema.property(key);
        invariant!(property.is_some(), "a change was read by the property {key:?} of the schema");
        let new = property
            .zip(value.as_ref())
            .map(|(property, value)| (property, new_options(property, value)));
        let Some((property, names)) = new.filter(|(_, names)| !names.is_empty()) else {
            continue;
        };
        let options = property.kind.options().len() + names.len();
        check_count("options in a select", limits.select_options, options)
            .map_err(|error| error.at(key))?;
        // Cloned on the first new option only: most items bring none.
        let schema = extended.get_or_insert_with(|| schema.clone());
        let property = schema.properties.iter_mut().find(|property| property.key == *key);
        if let Some(PropertyKind::SingleSelect(known) | PropertyKind::MultiSelect(known)) =
            property.map(|property| &mut property.kind)
        {
            known.extend(names.into_iter().map(SelectOption::new));
        }
    }
    Ok(extended)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::needless_pass_by_value, reason = "JSON is written where it is passed")]

    use leafbase_model::json::FromJson;
    use leafbase_model::{AddItems, ErrorKind, SchemaDraft, UpdateItems};
    use serde_json::json;

    use super::*;
    use crate::complete;

    fn schema(content_key: &str) -> Schema {
        let draft = json!({"name": "Chores", "contentPropDetails": {"key": content_key, "name": "Name"}, "properties": [
            {"name": "Due", "type": "date"}, {"name": "State", "type": "select", "options": [{"name": "open"}]},
            {"name": "Tags", "type": "multiSelect"}]});
        complete(SchemaDraft::from_json(draft).unwrap(), &Limits::default()).unwrap()
    }

    fn values(limits: &Limits, new_options: bool) -> ValueReader<'_> {
        ValueReader { today: "2026-03-01".parse().unwrap(), limits, new_options }
    }

    fn add(schema: &Schema, items: Value, new_options: bool) -> Result<ReadItems<AddedItem>> {
        let request = AddItems::from_json(json!({"collectionId": "x", "items": items})).unwrap();
        read_added(schema, request.items, values(&Limits::default(), new_options))
    }

    fn update(schema: &Schema, items: Value) -> Result<ReadItems<ItemChange>> {
        let request =
            UpdateItems::from_json(json!({"collectionId": "x", "itemsToUpdate": items})).unwrap();
        read_updated(schema, request.items_to_update, values(&Limits::default(), false))
    }

    #[test]
    fn titles_stand_under_their_key_or_under_title() {
        for (key, item, title) in [
            ("name", json!({"name": "Sweep"}), "Sweep"),
            ("name", json!({"title": "Sweep"}), "Sweep"),
            ("title", json!({"title": "Sweep"}), "Sweep"),
            ("name", json!({}), ""),
        ] {
            let read = add(&schema(key), json!([item]), false).unwrap();
            assert_eq!((read.items[0].title.as_str(), read.schema), (title, None));
        }
        let read = update(
            &schema("name"),
            json!([{"id": "x", "properties": {"due": null}}, {"id": "01KASZ4ZJG0000000000000001", "name": "Mop"}]),
        )
        .unwrap();
        assert_eq!(read.items[0].changes, [("due".to_owned(), None)]);
        assert_eq!((&read.items[0].title, read.items[1].title.as_deref()), (&None, Some("Mop")));
    }

    #[test]
    fn faults_are_named_with_their_place() {
        let with_title = {
            let draft = json!({"name": "B", "contentPropDetails": {"key": "name", "name": "Name"},
                "properties": [{"name": "Title", "type": "text"}]});
            complete(SchemaDraft::from_json(draft).unwrap(), &Limits::default()).unwrap()
        };
        let schema = schema("name");
        let long = "ä".repeat(1_001);
        for (outcome, message) in [
            (
                add(&schema, json!([{}, {}, {"properties": {"due": "soon"}}]), false).map(drop),
                r#"items[2].properties.due: expected a day YYYY-MM-DD, got "soon""#,
            ),
            (
                add(&schema, json!([{"due": "today"}]), false).map(drop),
                r#"items[0].due: "due" is a property; it belongs in "properties""#,
            ),
            (
                add(&schema, json!([{"name": "a", "title": "a"}]), false).map(drop),
                r#"items[0].title: the title is given twice, as "name" and "title""#,
            ),
            (
                add(&schema, json!([{"name": null}]), false).map(drop),
                "items[0].name: expected text, got null",
            ),
            (
                add(&with_title, json!([{"title": "a"}]), false).map(drop),
                r#"items[0].title: "title" is a property; it belongs in "properties""#,
            ),
            (
                add(&schema, json!([{"properties": {"state": "shut"}}]), false).map(drop),
                r#"items[0].properties.state: expected one of "open", got "shut""#,
            ),
            (
                add(&schema, json!([{"properties": {"states": "open"}}]), false).map(drop),
                "items[0].properties.states: the collection has no such property, expected one of \
                 due, state, tags",
            ),
            (
                update(&schema, json!([{"id": "x", "properties": {"state": ["open"]}}])).map(drop),
                "itemsToUpdate[0].properties.state: expected the name of an option, got an array",
            ),
        ] {
            let error = outcome.unwrap_err();
            assert_eq!(
                (error.kind(), error.to_string().as_str()),
                (ErrorKind::SchemaMismatch, message)
            );
        }
        for (outcome, kind, message) in [
            (
                update(&schema, json!([{"id": "x"}, {"id": "x"}])).map(drop),
                ErrorKind::Validation,
                "itemsToUpdate[1].id: the item occurs twice in the request",
            ),
            (
                add(&schema, json!([{"name": long}]), false).map(drop),
                ErrorKind::LimitExceeded,
                "items[0].name: characters of a title: at most 1000, got 1001",
            ),
        ] {
            let error = outcome.unwrap_err();
            assert_eq!((error.kind(), error.to_string().as_str()), (kind, message));
        }
    }

    #[test]
    fn options_that_items_bring_join_the_schema() {
        let schema = schema("name");
        let items = json!([
            {"properties": {"state": "shut", "tags": ["a", "b"]}}, {"properties": {"state": "open", "tags": ["c", "b"]}}]);
        assert!(add(&schema, items.clone(), false).is_err());
        let extended = add(&schema, items.clone(), true).unwrap().schema.unwrap();
        let names = |key: &str| -> Vec<_> {
            extended
                .property(key)
                .unwrap()
                .kind
                .options()
                .iter()
                .map(|option| option.name.clone())
                .collect()
        };
        assert_eq!(
            (names("state"), names("tags")),
            (vec!["open".into(), "shut".into()], vec!["a".into(), "b".into(), "c".into()])
        );
        assert_eq!(add(&extended, items, true).unwrap().schema, None);
        let mut limits = Limits::default();
        limits.select_options = 2;
        let request = AddItems::from_json(
            json!({"collectionId": "x", "items": [{"properties": {"tags": ["a"]}}, {"properties": {"tags": ["b", "c"]}}]}),
        );
        let error = read_added(&schema, request.unwrap().items, values(&limits, true)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "items[1].properties.tags: options in a select: at most 2, got 3"
        );
    }
}
