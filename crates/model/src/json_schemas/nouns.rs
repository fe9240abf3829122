//! Types common to requests and replies: IDs, days, locations, errors.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::{shapes, texts};
use crate::json::one_of_texts;
use crate::{
    AssetId, AssetUrl, Author, BlockId, ChangePosition, ChangeToken, Color, CommentId, Day, DayRef,
    Decorations, Detail, DocumentId, Error, FileHash, FolderDestination, FolderId, FolderRef,
    Location, SharedText, SpaceId, Timestamp,
};

texts! {
    BlockId, "The ID of a block: a ULID. A document's ID is that of its root block.", "^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$";
    DocumentId, "The ID of a document: a ULID.", "^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$";
    FolderId, "The ID of a folder: a ULID.", "^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$";
    CommentId, "The ID of a comment: a ULID.", "^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$";
    AssetId, "The ID of an uploaded file: a ULID.", "^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$";
    SpaceId, "The ID of a space: a ULID.", "^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$";
    FolderRef, "The ID of a folder, or the name of a built-in location.", "^([0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}|unsorted|daily_notes|templates|trash)$";
    Day, "A day, YYYY-MM-DD.", "^[0-9]{4}-[0-9]{2}-[0-9]{2}$";
    DayRef, "A day, YYYY-MM-DD, or relative to the present in the space's time zone.", "^([0-9]{4}-[0-9]{2}-[0-9]{2}|today|tomorrow|yesterday)$";
    Timestamp, "An instant in UTC, RFC 3339.", r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|\+00:00)$";
    Color, "A color, #rrggbb.", "^#[0-9a-fA-F]{6}$";
    AssetUrl, "Where an uploaded file is.", "^asset://";
    ChangeToken, "The token of a change: 16 hexadecimal digits.", "^[0-9a-f]{16}$";
    FileHash, "The SHA-256 of a file: 64 hexadecimal digits.", "^[0-9a-f]{64}$";
    ChangePosition, "A position in the change log: a sequence number, and a token to compare.", "^[0-9]{1,20}(:[0-9a-f]{16})?$";
    Author, "A display name.", "";
    SharedText, "Inline markdown.", "";
}

impl JsonSchema for Decorations {
    fn schema_name() -> Cow<'static, str> {
        "Decorations".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "array", "items": one_of_texts(&["callout", "quote"]) })
    }
}

/// Names of built-in locations.
macro_rules! destination_names {
    ($($name:ident = $names:expr;)*) => {$(
        struct $name;

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                one_of_texts($names)
            }
        }
    )*};
}
destination_names! {
    LocationName = &["unsorted", "templates", "daily_notes", "trash", "inbox"];
    RootName = &["root"];
}

shapes! {
    Location, "Where a document is kept." => |shape| shape
        .may::<LocationName>("destination", "A built-in location.")
        .may::<FolderId>("folderId", "A folder.")
        .exactly_one(&["destination", "folderId"])
        .open();
    Error, "Why an operation did not happen." => |shape| shape
        .must::<String>("code", "A stable code, such as NOT_FOUND or VALIDATION.")
        .must::<String>("error", "The message again.")
        .must::<String>("message", "A sentence that names the thing.")
        .may::<Vec<Detail>>("details", "Where it is.")
        .open();
}

impl JsonSchema for FolderDestination {
    fn schema_name() -> Cow<'static, str> {
        "FolderDestination".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let object = super::Shape::new(generator, "Where folders are moved to.")
            .may::<RootName>("destination", "The top.")
            .may::<FolderRef>("parentFolderId", "Into this folder.")
            .exactly_one(&["destination", "parentFolderId"])
            .closed();
        json_schema!({ "anyOf": [{ "const": "root" }, object] })
    }
}
