//! JSON Schemas of links: the feature `schemars`.

use std::borrow::Cow;

use leafbase_model::{BlockId, Day, DocumentId};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

#[cfg(feature = "search")]
use super::mentions::TitleMention;
use super::{DocumentLinks, Link};

impl JsonSchema for Link {
    fn schema_name() -> Cow<'static, str> {
        "Link".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (document, block) =
            (generator.subschema_for::<DocumentId>(), generator.subschema_for::<BlockId>());
        json_schema!({
            "type": "object",
            "description": "A link in the text of a block.",
            "properties": {
                "documentId": document,
                "blockId": block,
                "markdown": { "type": "string" },
                "targetDocumentId": document,
                "targetBlockId": block,
                "targetDate": generator.subschema_for::<Day>(),
            },
            "required": ["documentId", "blockId", "markdown"],
        })
    }
}

#[cfg(feature = "search")]
impl JsonSchema for TitleMention {
    fn schema_name() -> Cow<'static, str> {
        "TitleMention".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (document, block) =
            (generator.subschema_for::<DocumentId>(), generator.subschema_for::<BlockId>());
        let offset = generator.subschema_for::<usize>();
        json_schema!({
            "type": "object",
            "description": "A block that says a title without a link.",
            "properties": {
                "documentId": document,
                "blockId": block,
                "markdown": { "type": "string" },
                "ranges": {
                    "type": "array",
                    "description": "Where the title is in the plain text, in bytes.",
                    "items": {
                        "type": "object",
                        "properties": { "start": offset, "end": offset },
                        "required": ["start", "end"],
                    },
                },
            },
            "required": ["documentId", "blockId", "markdown", "ranges"],
        })
    }
}

impl JsonSchema for DocumentLinks {
    fn schema_name() -> Cow<'static, str> {
        "DocumentLinks".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let links = generator.subschema_for::<Vec<Link>>();
        json_schema!({
            "type": "object",
            "description": "The links of a document, both ways.",
            "properties": { "links": links, "backLinks": links },
            "required": ["links", "backLinks"],
        })
    }
}
