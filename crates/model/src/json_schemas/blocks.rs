//! Block drafts, block patches, and blocks of replies.

use schemars::Schema;
use serde_json::Value;
use serde_json::json;

use super::{Shape, shapes};
use crate::requests::document_patch::LocationJson;
use crate::{
    Author, Block, BlockDraft, BlockId, BlockLayout, BlockPatch, BlockType, CardLayout,
    CodeLanguage, Color, Comment, CommentId, Decorations, DocumentId, Font, LineStyle, ListStyle,
    ListedComment, MediaSize, MediaWidth, Metadata, TaskInfo, TaskPatch, TextAlignment, TextStyle,
    Timestamp,
};

impl Shape<'_> {
    fn comment(self) -> Self {
        self.must::<CommentId>("id", "Its ID.")
            .may::<Author>("author", "Who wrote it.")
            .must::<String>("content", "Inline markdown.")
            .must::<Timestamp>("createdAt", "When it was written.")
            .may::<Timestamp>("lastModifiedAt", "When it was last edited.")
            .may::<Author>("lastModifiedBy", "Who edited it last.")
            .may::<Timestamp>("resolvedAt", "When it was resolved; left out while it is open.")
            .may::<Author>("resolvedBy", "Who resolved it.")
    }

    /// The fields of specific block types.
    fn kinds(self) -> Self {
        self.may::<TextStyle>("textStyle", "Of text and page.")
            .may::<TextAlignment>("textAlignment", "Of text and page.")
            .may::<Font>("font", "Of text and page.")
            .may::<CardLayout>("cardLayout", "Of text and page: the size as a card.")
            .may::<String>("title", "Of a rich URL; another name for the markdown of a page.")
            .may::<String>("url", "Of image, video, file, drawing, whiteboard and rich URL.")
            .may::<String>("altText", "Of image and video.")
            .may::<MediaSize>("size", "Of image and video.")
            .may::<MediaWidth>("width", "Of image and video.")
            .may::<String>("fileName", "Of a file.")
            .may::<BlockLayout>("blockLayout", "Of a file.")
            .may::<String>("rawCode", "Of code.")
            .may::<CodeLanguage>("language", "Of code.")
            .may::<String>(
                "languageTag",
                "Of code: the tag of its fence, where that is not the language's name.",
            )
            .may::<String>("description", "Of a rich URL.")
            .may::<BlockLayout>("layout", "Of a rich URL.")
            .may::<LineStyle>("lineStyle", "Of a line.")
    }

    /// The fields of all block types.
    fn common(self) -> Self {
        let level = schemars::json_schema!({ "type": "integer", "minimum": 0, "maximum": 5 });
        self.may::<String>(
            "markdown",
            "Of a text with its markers (# - 1. + - [x] >); of a page and an item the title.",
        )
        .field("indentationLevel", level, "")
        .may::<ListStyle>("listStyle", "")
        .may::<Decorations>("decorations", "")
    }

    /// The block fields of requests.
    fn given(self) -> Self {
        self.common()
            .may::<String>("inlineMarkdown", "Instead of markdown: no markers in it.")
            .may::<String>("text", "Instead of markdown: plain text, kept byte for byte.")
            .clears::<Color>("color", "As given; replies show a readable variant.")
            .may::<TaskPatch>("taskInfo", "Only where the listStyle is task.")
            .kinds()
            .echoed()
    }

    /// Fields of replies that requests take back.
    fn echoed(self) -> Self {
        let metadata = schemars::json_schema!({});
        self.may::<Color>("colorDark", "As a reply has it.")
            .field(
                "rows",
                metadata.clone(),
                "Of a table without markdown: an array of rows of cells.",
            )
            .field("metadata", metadata.clone(), "Ignored.")
            .field("documentId", metadata.clone(), "Ignored.")
            .field("uploaded", metadata.clone(), "Ignored.")
            .field("mimeType", metadata, "Ignored.")
    }
}

const CUT_OFF: &str = "Refused: a block whose content was cut off is not a copy.";

fn null() -> Schema {
    schemars::json_schema!({ "type": "null" })
}

/// A page draft whose `type` may be omitted.
pub(crate) struct PageDraft;

fn page(shape: Shape<'_>) -> Schema {
    shape
        .may::<BlockType>("type", "A document is a page.")
        .may::<BlockId>("id", "Ignored.")
        .may::<u64>("rev", "Ignored.")
        .given()
        .may::<Vec<BlockDraft>>("content", "Its blocks.")
        .field("contentPreview", null(), CUT_OFF)
        .may::<LocationJson>("location", "The destination of the request.")
        .may::<LocationJson>("destination", "")
        .field("isDeleted", schemars::json_schema!({}), "Ignored.")
        .field("dailyNoteDate", schemars::json_schema!({}), "Ignored.")
        .field("createdAt", schemars::json_schema!({}), "Ignored.")
        .field("lastModifiedAt", schemars::json_schema!({}), "Ignored.")
        .field("clickableLink", schemars::json_schema!({}), "Ignored.")
        .closed()
}

shapes! {
    PageDraft, "A document to be made: a page with its content." => page;
    BlockDraft, "A block to insert. Its type determines the valid fields; styles left out are body and none." => |shape| shape
        .must::<BlockType>("type", "What it is.")
        .may::<BlockId>("id", "Ignored unless keepIds is set.")
        .may::<u64>("rev", "Ignored.")
        .given()
        .may::<Vec<BlockDraft>>("content", "The blocks below it: of text, page and items alone.")
        .field("contentPreview", null(), CUT_OFF)
        .closed();
    BlockPatch, "A change of a block: only the fields given change." => |shape| shape
        .must::<BlockId>("id", "The block.")
        .may::<u64>("rev", "Changed only if the block still has this rev.")
        .may::<BlockType>("type", "Between text and page, and within media.")
        .may::<Vec<Value>>("content", "As a reply has it: an update does not change it.")
        .field("contentPreview", schemars::json_schema!({}), "Ignored.")
        .given()
        // Those of an item as a reply shows it.
        .nullable()
        .open();
    Metadata, "Who made and changed a block, and when." => |shape| shape
        .may::<DocumentId>("documentId", "Its document, of the fetched block alone.")
        .must::<Timestamp>("createdAt", "When it was made.")
        .must::<Timestamp>("lastModifiedAt", "When it last changed.")
        .may::<Author>("createdBy", "Who made it.")
        .may::<Author>("lastModifiedBy", "Who changed it last.")
        .may::<Vec<Comment>>("comments", "Oldest first.")
        .open();
    Comment, "A comment on a block." => |shape| shape.comment().open();
    ListedComment, "A comment with its block." => |shape| shape
        .must::<BlockId>("blockId", "The block that it is on.")
        .comment()
        .open();
    Block, "A block. Fields at their default are omitted." => |shape| shape
        .must::<BlockId>("id", "Its ID.")
        .must::<BlockType>("type", "What it is.")
        .common()
        .may::<Color>("color", "Readable on white.")
        .may::<Color>("colorDark", "Readable on dark paper.")
        .may::<TaskInfo>("taskInfo", "Where the listStyle is task.")
        .kinds()
        .may::<String>("text", "Plain text, if the request asked for it.")
        .may::<super::replies::ItemProperties>("properties", "Of an item: its values by key.")
        .may::<Vec<Vec<crate::table::TableCell>>>("rows", "Of a table: its cells, the header first.")
        .may::<Metadata>("metadata", "If the request asked for it.")
        .must::<u64>("rev", "1 when it is made, and one more with each change.")
        .may::<Vec<Block>>("content", "The blocks below it.")
        .may::<String>("contentPreview", "Plain text in place of content below the depth.")
        .with("additionalProperties", json!({ "type": "string" }))
        .open();
}
