//! JSON Schemas of links: the feature `schemars`.

use std::borrow::Cow;

use leafbase_model::{BlockId, Day, DocumentId};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

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
