//! Collections: schemas, items, queries.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::{Depth, Shape, shapes};
use crate::{
    AddItems, BlockDraft, BlockId, Color, ContentProperty, ContentPropertyDraft, CountItems,
    CreateCollection, DeleteItems, Direction, DocumentFilterMode, DocumentId, GetItems, GetSchema,
    ItemDraft, ItemFilter, ItemUpdate, ListCollections, Operator, Position, Property,
    PropertyDraft, PropertyType, QueryItems, ReplaceSchema, SchemaDraft, SchemaFormat,
    SelectOption, Sort, UpdateItems,
};

/// Values by key: what they may be, the schema of the collection says.
pub(super) struct Values;

impl JsonSchema for Values {
    fn schema_name() -> Cow<'static, str> {
        "Values".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}

/// The collection that a relation leads to.
struct RelationTarget;

impl JsonSchema for RelationTarget {
    fn schema_name() -> Cow<'static, str> {
        "RelationTarget".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "const": "self" }, generator.subschema_for::<BlockId>()] })
    }
}

impl Shape<'_> {
    fn collection(self) -> Self {
        self.must::<BlockId>("collectionId", "The collection.")
    }

    /// The schema of the collection tells the rest: the title stands under its content key.
    fn titled(self) -> Self {
        self.may::<Values>(
            "properties",
            "Values by key, as the collection's schema has them; in an update null clears one.",
        )
        .with("additionalProperties", json!({ "type": "string" }))
    }

    fn new_options(self) -> Self {
        self.may::<bool>(
            "allowNewSelectOptions",
            "Whether options that are new are added to the schema; otherwise they are refused.",
        )
    }

    /// What a property holds beyond key and name.
    fn kind(self) -> Self {
        self.must::<PropertyType>("type", "What it holds.")
            .may::<Vec<SelectOption>>("options", "Of a select.")
            .may::<RelationTarget>(
                "targetCollectionId",
                "Of a relation: the collection whose items are related; self for the same one.",
            )
            .may::<String>("inverseKey", "Of a relation: the key of the property at its other end.")
            .may::<bool>("single", "Of a relation: whether an item has one related item at most.")
    }
}

impl JsonSchema for ItemFilter {
    fn schema_name() -> Cow<'static, str> {
        "ItemFilter".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let filter = generator.subschema_for::<Self>();
        let operators: Map<String, Value> =
            Operator::ALL.iter().map(|known| (known.to_string(), json!(true))).collect();
        let mut fields = operators.clone();
        fields.insert("property".to_owned(), json!({ "type": "string" }));
        let one: Vec<Value> = operators.keys().map(|name| json!({ "required": [name] })).collect();
        let closed = |name: &str, schema: Value| json!({ "type": "object", "properties": { name: schema }, "required": [name], "additionalProperties": false });
        json_schema!({
            "description": "Which items are meant: a condition on a property, or and, or, not of filters.",
            "oneOf": [
                { "type": "object", "properties": fields, "required": ["property"], "oneOf": one, "additionalProperties": false },
                closed("and", json!({ "type": "array", "items": filter })),
                closed("or", json!({ "type": "array", "items": filter })),
                closed("not", json!(filter)),
            ]
        })
    }
}

shapes! {
    SelectOption, "A choice of a select property." => |shape| shape
        .must::<String>("name", "By which items choose it.")
        .may::<Color>("color", "Its colour as given.")
        .closed();
    ContentPropertyDraft, "The property that an item's title stands under." => |shape| shape
        .may::<String>("key", "Made from the name if it is left out.")
        .must::<String>("name", "Its name.")
        .closed();
    PropertyDraft, "A column of a collection." => |shape| shape
        .may::<String>("key", "Made from the name if it is left out. A property keeps its values by its key.")
        .must::<String>("name", "Its name.")
        .kind()
        .closed();
    SchemaDraft, "What the items of a collection look like." => |shape| shape
        .may::<String>("key", "The collection's key.")
        .must::<String>("name", "The collection's name.")
        .may::<ContentPropertyDraft>("contentPropDetails", "Where an item's title stands.")
        .must::<Vec<PropertyDraft>>("properties", "The columns, in order.")
        .closed();
    ContentProperty, "The property that an item's title stands under." => |shape| shape
        .must::<String>("key", "Its key.")
        .must::<String>("name", "Its name.")
        .open();
    Property, "A column of a collection." => |shape| shape
        .must::<String>("key", "Of its values in items.")
        .must::<String>("name", "Its name.")
        .kind()
        .open();
    ListCollections, "Lists collections." => |shape| shape
        .some::<DocumentId>("documentIds", "Those in these documents; of all if it is left out.")
        .may::<DocumentFilterMode>("documentFilterMode", "With documentIds: exclude for those of all others, on scoped connections.")
        .closed();
    CreateCollection, "Makes a collection." => |shape| shape
        .must::<SchemaDraft>("schema", "What its items look like; its name is the schema's.")
        .may::<Position>("position", "Where it goes.")
        .closed();
    GetSchema, "Reads the schema of a collection." => |shape| shape
        .collection()
        .may::<SchemaFormat>("format", "json-schema-items if it is left out: what a request to add or update items has to meet.")
        .may::<bool>("allowNewSelectOptions", "Whether the JSON Schema takes options that are new.")
        .closed();
    ReplaceSchema, "Gives a collection another schema: what it does not name goes." => |shape| shape
        .collection()
        .must::<SchemaDraft>("schema", "All of it, with the keys of properties that stay.")
        .may::<bool>("dropUnconvertible", "Whether values that do not fit any more are dropped; otherwise they are in the way.")
        .closed();
    GetItems, "Reads the items of a collection, in its order." => |shape| shape
        .collection()
        .may::<Depth>("maxDepth", "How many levels of their pages: -1 for all, 0 for the properties alone.")
        .paging()
        .closed();
    ItemDraft, "An item to be made. Its title stands under title or the content key of the collection." => |shape| shape
        .titled()
        .may::<Vec<BlockDraft>>("content", "The blocks of its page.")
        .open();
    AddItems, "Puts items at the end of a collection." => |shape| shape
        .collection()
        .must::<Vec<ItemDraft>>("items", "The items.")
        .new_options()
        .closed();
    ItemUpdate, "A change of an item: what is not given stays." => |shape| shape
        .must::<BlockId>("id", "The item.")
        .titled()
        .open();
    UpdateItems, "Changes items." => |shape| shape
        .collection()
        .must::<Vec<ItemUpdate>>("itemsToUpdate", "The changes; an item may be named once.")
        .new_options()
        .closed();
    DeleteItems, "Deletes items with their pages." => |shape| shape
        .collection()
        .must_some::<BlockId>("idsToDelete", "The items.")
        .closed();
    Sort, "What items are sorted by." => |shape| shape
        .must::<String>("property", "The key of a property, or title.")
        .may::<Direction>("direction", "ascending if it is left out.")
        .closed();
    QueryItems, "Finds items of a collection." => |shape| shape
        .collection()
        .may::<ItemFilter>("filter", "Which; all if it is left out.")
        .some::<Sort>("sort", "By the first of these, then by the next, in the end by ID.")
        .may::<Depth>("maxDepth", "How many levels of their pages: -1 for all, 0 for the properties alone.")
        .paging()
        .closed();
    CountItems, "Counts items of a collection." => |shape| shape
        .collection()
        .may::<ItemFilter>("filter", "Which; all if it is left out.")
        .may::<String>("groupBy", "The key of a property whose values are counted one by one.")
        .closed();
}
