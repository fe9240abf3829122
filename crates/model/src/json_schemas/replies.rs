//! Replies.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema as JsonSchemaOf, SchemaGenerator, json_schema};
use serde_json::json;

use super::{Shape, shapes};
use crate::{
    AddedComment, AssetId, AssetRecord, AssetUrl, Author, Block, BlockId, BlockMatch, Collection,
    CollectionSchema, CommentId, ConnectionInfo, ContentProperty, ContextBlock, Day, Document,
    DocumentId, Folder, FolderId, FolderRecord, FolderRef, GroupValue, Item, ItemCounts, ItemGroup,
    ItemValue, Items, ItemsPage, Location, PathStep, Property, RelatedItem, Schema, SchemaReply,
    ScopedDocument, SearchMatch, SharedText, SpaceId, SpaceInfo, Task, TaskInfo, TaskLocation,
    Timestamp, UploadedFile, UrlTemplates, UtcInfo,
};

/// A part of a text, in bytes.
struct ByteRange;

/// The values of an item by key.
pub(super) struct ItemProperties;

impl JsonSchema for ItemProperties {
    fn schema_name() -> Cow<'static, str> {
        "ItemProperties".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> JsonSchemaOf {
        json_schema!({ "type": "object", "additionalProperties": generator.subschema_for::<ItemValue>() })
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
                { "type": "object", "properties": { "relations": { "type": "array", "items": related } }, "required": ["relations"] },
            ]
        })
    }
}

impl JsonSchema for GroupValue {
    fn schema_name() -> Cow<'static, str> {
        "GroupValue".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> JsonSchemaOf {
        json_schema!({ "anyOf": [{ "type": ["string", "number", "boolean"] }, generator.subschema_for::<RelatedItem>()] })
    }
}

impl JsonSchema for SchemaReply {
    fn schema_name() -> Cow<'static, str> {
        "SchemaReply".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> JsonSchemaOf {
        json_schema!({ "anyOf": [generator.subschema_for::<Schema>(), { "type": "object", "required": ["$schema"] }] })
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
    RelatedItem, "An item of a related collection." => |shape| shape
        .must::<BlockId>("blockId", "Its block.")
        .must::<SharedText>("title", "Its title.")
        .open();
    Document, "A document." => |shape| shape
        .must::<DocumentId>("id", "That of its root block.")
        .must::<String>("title", "Inline markdown.")
        .must::<bool>("isDeleted", "Whether it is in the trash.")
        .must::<Location>("location", "Where it is kept.")
        .may::<Day>("dailyNoteDate", "The day whose note it is.")
        .times()
        .may::<String>("clickableLink", "A link that a person can click.")
        .open();
    ScopedDocument, "A document as a scoped connection shows it." => |shape| shape
        .must::<DocumentId>("id", "That of its root block.")
        .must::<String>("title", "Inline markdown.")
        .must::<bool>("isDeleted", "Always false.")
        .may::<Day>("dailyNoteDate", "The day whose note it is.")
        .times()
        .open();
    Folder, "A folder, or a built-in location, with the folders in it." => |shape| shape
        .must::<FolderRef>("id", "Its ID, or the name of the location.")
        .must::<String>("name", "Its name.")
        .may::<FolderId>("parentFolderId", "The folder that it is in.")
        .must::<u64>("documentCount", "How many documents are right in it.")
        .must::<Vec<Folder>>("folders", "The folders in it.")
        .open();
    FolderRecord, "A folder that was made or moved." => |shape| shape
        .must::<FolderId>("id", "Its ID.")
        .must::<String>("name", "Its name.")
        .may::<FolderId>("parentFolderId", "The folder that it is in.")
        .open();
    TaskLocation, "Where a task is." => |shape| shape
        .must::<String>("type", "inbox, dailyNote or document.")
        .may::<Day>("date", "Of a daily note.")
        .may::<DocumentId>("documentId", "Of a document.")
        .open();
    Task, "A block that is a task." => |shape| shape
        .must::<BlockId>("id", "The block.")
        .must::<String>("markdown", "What is to be done.")
        .must::<TaskInfo>("taskInfo", "Its state and days.")
        .must::<TaskLocation>("location", "Where it is.")
        .open();
    Collection, "A collection." => |shape| shape
        .must::<BlockId>("id", "Its block.")
        .must::<String>("name", "Inline markdown.")
        .must::<u64>("itemCount", "How many items it has.")
        .must::<DocumentId>("documentId", "The document that it is in.")
        .open();
    Schema, "What the items of a collection look like." => |shape| shape
        .must::<String>("key", "The collection's key.")
        .must::<String>("name", "The collection's name.")
        .must::<ContentProperty>("contentPropDetails", "Where an item's title stands.")
        .must::<Vec<Property>>("properties", "The columns, in order.")
        .open();
    CollectionSchema, "A collection with its schema." => |shape| shape
        .must::<BlockId>("id", "Its block.")
        .must::<String>("name", "Inline markdown.")
        .must::<Schema>("schema", "Every property with its key.")
        .open();
    Item, "A row of a collection. Its title stands under the content key of the collection." => |shape| shape
        .must::<BlockId>("id", "Its block.")
        .may::<ItemProperties>("properties", "Its values by key; those without a value are left out.")
        .may::<Vec<Block>>("content", "The blocks of its page.")
        .may::<String>("contentPreview", "In place of content that the depth of the request cut off.")
        .with("additionalProperties", json!({ "type": "string" }))
        .open();
    ItemGroup, "How many items have one value." => |shape| shape
        .clears::<GroupValue>("value", "The value; null for items that have none.")
        .must::<u64>("count", "How many.")
        .open();
    ItemCounts, "How many items there are." => |shape| shape
        .must::<u64>("count", "All.")
        .may::<Vec<ItemGroup>>("groups", "Of each value, if the request asked for it.")
        .open();
    AddedComment, "A comment that was added." => |shape| shape.must::<CommentId>("commentId", "Its ID.").open();
    UploadedFile, "A file that was uploaded." => |shape| shape
        .must::<BlockId>("blockId", "The block that shows it.")
        .must::<AssetUrl>("assetUrl", "Where its bytes are read.")
        .open();
    AssetRecord, "An uploaded file." => |shape| shape
        .must::<AssetId>("id", "Its ID.")
        .must::<String>("mediaType", "Its media type.")
        .must::<String>("fileName", "Its name.")
        .must::<u64>("size", "Its bytes.")
        .must::<Timestamp>("createdAt", "When it was uploaded.")
        .may::<Author>("createdBy", "By whom.")
        .open();
    SearchMatch, "A document that a search found." => |shape| shape
        .must::<DocumentId>("exposedDocumentId", "The document.")
        .must::<String>("markdown", "A piece of its text, hits between **.")
        .must::<Vec<ByteRange>>("highlights", "Where the hits are in markdown, in bytes.")
        .must::<Vec<BlockId>>("blockIds", "The blocks that have hits.")
        .must::<f64>("score", "Greater is more relevant, within one reply.")
        .times()
        .open();
    PathStep, "A page that a block stands in." => |shape| shape
        .must::<BlockId>("id", "The page.")
        .must::<String>("content", "Its title.")
        .open();
    ContextBlock, "A block near a match." => |shape| shape
        .must::<BlockId>("blockId", "The block.")
        .must::<String>("markdown", "What it says.")
        .open();
    BlockMatch, "A block that patterns match." => |shape| shape
        .must::<BlockId>("blockId", "The block.")
        .must::<String>("markdown", "What it says.")
        .must::<Vec<ByteRange>>("ranges", "Where the hits are in markdown, in bytes.")
        .must::<Vec<PathStep>>("pageBlockPath", "The pages that it stands in, the root first.")
        .must::<Vec<ContextBlock>>("beforeBlocks", "The nearest last.")
        .must::<Vec<ContextBlock>>("afterBlocks", "The nearest first.")
        .open();
    SpaceInfo, "The space that a connection is to." => |shape| shape
        .must::<SpaceId>("id", "Its ID.")
        .must::<String>("name", "Its name.")
        .must::<String>("timezone", "The IANA name of its zone.")
        .must::<String>("time", "The present there, RFC 3339.")
        .must::<String>("friendlyDate", "Today there, in words.")
        .open();
    UtcInfo, "The present in UTC." => |shape| shape.must::<Timestamp>("time", "The instant.").open();
    UrlTemplates, "URLs that open a block." => |shape| shape
        .must::<String>("app", "In the host's app; {blockId} stands for the block.")
        .open();
    ConnectionInfo, "What a connection says of its space." => |shape| shape
        .must::<SpaceInfo>("space", "The space.")
        .must::<UtcInfo>("utc", "The present.")
        .must::<UrlTemplates>("urlTemplates", "How to link to a block.")
        .open();
}
