//! Replies.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema as JsonSchemaOf, SchemaGenerator, json_schema};
use serde_json::json;

use super::{Shape, shapes};
use crate::{
    AssetId, AssetRecord, Author, Block, BlockId, CollectionSchema, CorrectedTerm, Day, Document,
    DocumentId, FileHash, GroupValue, Item, ItemValue, Items, ItemsPage, Location, NearestBlock,
    RelatedItem, Schema, SchemaReply, ScopedDocument, SearchMatch, Timestamp,
};

/// A byte range of a text.
struct ByteRange;

/// The property values of an item by key.
pub(super) struct ItemProperties;

impl JsonSchema for ItemProperties {
    fn schema_name() -> Cow<'static, str> {
        "ItemProperties".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> JsonSchemaOf {
        let value = generator.subschema_for::<ItemValue>();
        json_schema!({ "type": "object", "additionalProperties": value })
    }
}

impl JsonSchema for ItemValue {
    fn schema_name() -> Cow<'static, str> {
        "ItemValue".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> JsonSchemaOf {
        let related = generator.subschema_for::<RelatedItem>();
        json_schema!({
            "description": "A text, a number, true or false, a day, options, or relations.",
            "anyOf": [
                { "type": ["string", "number", "boolean"] },
                { "type": "array", "items": { "type": "string" } },
                {
                    "type": "object",
                    "properties": { "relations": { "type": "array", "items": related } },
                    "required": ["relations"],
                },
            ]
        })
    }
}

impl JsonSchema for GroupValue {
    fn schema_name() -> Cow<'static, str> {
        "GroupValue".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> JsonSchemaOf {
        let related = generator.subschema_for::<RelatedItem>();
        json_schema!({ "anyOf": [{ "type": ["string", "number", "boolean"] }, related] })
    }
}

impl JsonSchema for SchemaReply {
    fn schema_name() -> Cow<'static, str> {
        "SchemaReply".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> JsonSchemaOf {
        let schema = generator.subschema_for::<Schema>();
        json_schema!({ "anyOf": [schema, { "type": "object", "required": ["$schema"] }] })
    }
}

impl<T: JsonSchema> JsonSchema for Items<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("ListOf{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> JsonSchemaOf {
        Shape::new(generator, "A list.").must::<Vec<T>>("items", "All of it.").open()
    }
}

impl<T: JsonSchema> JsonSchema for ItemsPage<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("PageOf{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> JsonSchemaOf {
        Shape::new(generator, "A part of a list.")
            .must::<Vec<T>>("items", "This part.")
            .may::<String>("nextCursor", "What asks for the next one; left out at the end.")
            .open()
    }
}

impl Shape<'_> {
    fn times(self) -> Self {
        self.may::<Timestamp>("createdAt", "If the request asked for it.")
            .may::<Timestamp>("lastModifiedAt", "If the request asked for it.")
    }
}

shapes! {
    ByteRange, "From one byte up to, and without, another." => |shape| shape
        .must::<usize>("start", "The first byte.")
        .must::<usize>("end", "The byte behind the last.")
        .open();
    Document, "A document." => |shape| shape
        .must::<DocumentId>("id", "That of its root block.")
        .must::<String>("title", "Inline markdown.")
        .must::<bool>("isDeleted", "Whether it is in the trash.")
        .must::<Location>("location", "Where it is kept.")
        .may::<Location>("destination", "The location again, in the reply to a move.")
        .may::<Day>("dailyNoteDate", "The day whose note it is.")
        .times()
        .may::<String>("clickableLink", "A link that a person can click.")
        .must::<u64>("rev", "1 on creation, incremented by each write that changes it.")
        .open();
    ScopedDocument, "A document as a scoped connection shows it." => |shape| shape
        .must::<DocumentId>("id", "That of its root block.")
        .must::<String>("title", "Inline markdown.")
        .must::<bool>("isDeleted", "Whether it is in the trash or gone: nothing else is shown of it.")
        .may::<Day>("dailyNoteDate", "The day whose note it is.")
        .times()
        .open();
    CollectionSchema, "A collection that was created, or has a new schema." => |shape| shape
        .must::<BlockId>("id", "Its block.")
        .must::<BlockId>("collectionBlockId", "Its block again.")
        .must::<String>("name", "Its name.")
        .must::<Schema>("schema", "The schema as stored.")
        .open();
    Item, "An item; its title is under the content key." => |shape| shape
        .must::<BlockId>("id", "Its block.")
        .must::<ItemProperties>("properties", "Property values by key.")
        .may::<Vec<Block>>("content", "The blocks of its page.")
        .may::<String>("contentPreview", "Plain text in place of content below the depth.")
        .must::<u64>("rev", "That of its block.")
        .with("additionalProperties", json!({ "type": "string" }))
        .open();
    AssetRecord, "An uploaded file." => |shape| shape
        .must::<AssetId>("id", "Its ID.")
        .must::<String>("mediaType", "Its media type.")
        .must::<String>("fileName", "Its name.")
        .must::<u64>("size", "The number of its bytes.")
        .may::<FileHash>("sha256", "The SHA-256 of its bytes; left out where a purge redacted it.")
        .must::<Timestamp>("createdAt", "When it was uploaded.")
        .may::<Author>("createdBy", "By whom.")
        .open();
    SearchMatch, "A document that a search found, or a block of it." => |shape| shape
        .must::<DocumentId>("documentId", "The document.")
        .must::<DocumentId>("exposedDocumentId", "The document again.")
        .may::<BlockId>("blockId", "The block, if blocks are the results.")
        .must::<String>("markdown", "A piece of its text, hits between **.")
        .must::<Vec<ByteRange>>("highlights", "Where the hits are in markdown, in bytes.")
        .must::<Vec<BlockId>>("blockIds", "The blocks that have hits.")
        .must::<f64>("score", "Greater is more relevant, within one reply.")
        .may::<Vec<String>>("missingTerms", "The terms that it lacks.")
        .may::<Vec<CorrectedTerm>>("corrected", "Terms in no document, and what it has instead.")
        .may::<NearestBlock>("nearest", "The block whose vector is nearest.")
        .times()
        .open();
}
