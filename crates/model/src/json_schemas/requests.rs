//! Requests on blocks, documents, folders, tasks, comments, files, and searches.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::blocks::PageDraft;
use super::{Depth, Shape, one_of_texts, shapes};
use crate::{
    AddComments, AddTasks, BlockDraft, BlockId, BlockPatch, BuiltInLocation, CommentDraft,
    CreateDocuments, CreateFolders, CreateFromTemplate, DayRef, DeleteBlocks, DeleteDocuments,
    DeleteFolders, DeleteTasks, Destination, DocumentFilterMode, DocumentId, DocumentOrder, Fetch,
    FolderDestination, FolderDraft, FolderRef, InsertBlocks, ListDocuments, ListScopedDocuments,
    ListTasks, MoveBlocks, MoveDocuments, MoveFolders, Position, PurgeDocuments, RestoreDailyNotes,
    SearchBlocks, SearchDocuments, TaskDestination, TaskDraft, TaskPatch, TaskUpdate, TermMode,
    UpdateBlocks, UpdateTasks, UploadFile,
};

impl Shape<'_> {
    fn metadata(self) -> Self {
        self.may::<bool>(
            "fetchMetadata",
            "Whether the reply says who and when; not if it is left out.",
        )
    }

    /// Which documents are meant: all that meet every filter that is given.
    fn filter(self, folders: &'static str) -> Self {
        self.may::<BuiltInLocation>("location", "Those kept here. Not together with folders.")
            .some::<FolderRef>(folders, "Those kept in these folders and the folders in them.")
            .may::<DayRef>("createdDateGte", "Those made on this day or later.")
            .may::<DayRef>("createdDateLte", "Those made on this day or earlier.")
            .may::<DayRef>("lastModifiedDateGte", "Those last changed on this day or later.")
            .may::<DayRef>("lastModifiedDateLte", "Those last changed on this day or earlier.")
            .may::<DayRef>("dailyNoteDateGte", "The daily notes of this day and later ones.")
            .may::<DayRef>("dailyNoteDateLte", "The daily notes of this day and earlier ones.")
    }

    fn documents(self, about: &'static str) -> Self {
        self.must_some::<DocumentId>("documentIds", about)
    }
}

/// Texts that are one of a few.
macro_rules! names {
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
names! {
    TaskScopeName = &["active", "upcoming", "inbox", "logbook", "document"];
    TaskPlaceName = &["inbox", "dailyNote", "document"];
}

/// How many blocks around a match are shown.
struct Around;

impl JsonSchema for Around {
    fn schema_name() -> Cow<'static, str> {
        "Around".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 0, "maximum": crate::Limits::CONTEXT_BLOCKS })
    }
}

shapes! {
    Fetch, "Reads a block with what is below it." => |shape| shape
        .may::<BlockId>("id", "The block; a document's ID is that of its root.")
        .may::<DayRef>("date", "The daily note of this day.")
        .may::<Depth>("maxDepth", "How many levels below: -1 for all, 0 for the block alone.")
        .metadata()
        .exactly_one(&["id", "date"])
        .closed();
    InsertBlocks, "Puts new blocks at a position." => |shape| shape
        .may::<Vec<BlockDraft>>("blocks", "The blocks.")
        .may::<String>("markdown", "The blocks as markdown.")
        .may::<Position>("position", "Where; at the end of today's daily note if it is left out.")
        .exactly_one(&["blocks", "markdown"])
        .closed();
    UpdateBlocks, "Changes blocks; only the fields given change." => |shape| shape
        .must::<Vec<BlockPatch>>("blocks", "The changes; a block may be named once.")
        .closed();
    DeleteBlocks, "Deletes blocks with all below them." => |shape| shape
        .must_some::<BlockId>("blockIds", "The blocks.")
        .closed();
    MoveBlocks, "Moves blocks with all below them." => |shape| shape
        .must_some::<BlockId>("blockIds", "The blocks, in the order that they are to have.")
        .may::<Position>("position", "Where to.")
        .closed();
    ListDocuments, "Lists documents." => |shape| shape
        .filter("folderId")
        .metadata()
        .may::<DocumentOrder>("orderBy", "The ID if it is left out, or what alone is filtered by.")
        .may::<bool>("descending", "Whether the order is turned round.")
        .paging()
        .closed();
    ListScopedDocuments, "Lists the documents that a scoped connection sees." => |shape| shape.metadata().closed();
    CreateDocuments, "Makes documents." => |shape| shape
        .must::<Vec<PageDraft>>("documents", "The documents.")
        .may::<Destination>("destination", "Where they are kept; unsorted if it is left out.")
        .closed();
    CreateFromTemplate, "Makes a document as a copy of a template." => |shape| shape
        .must::<DocumentId>("templateId", "The template.")
        .may::<String>("title", "The template's if it is left out.")
        .may::<Destination>("destination", "Where it is kept; unsorted if it is left out.")
        .closed();
    DeleteDocuments, "Puts documents into the trash." => |shape| shape.documents("The documents.").closed();
    MoveDocuments, "Moves documents, also out of the trash." => |shape| shape
        .documents("The documents.")
        .must::<Destination>("destination", "Where to.")
        .closed();
    RestoreDailyNotes, "Takes daily notes out of the trash, each back to its day." => |shape| shape
        .documents("The daily notes.")
        .closed();
    PurgeDocuments, "Erases documents of the trash for good." => |shape| shape
        .some::<DocumentId>("documentIds", "These.")
        .may::<u32>("olderThanDays", "Those that have been in the trash so long; 0 for all.")
        .exactly_one(&["documentIds", "olderThanDays"])
        .closed();
    FolderDraft, "A folder to be made, with the folders in it." => |shape| shape
        .must::<String>("name", "Its name.")
        .clears::<FolderRef>("parentFolderId", "The folder to make it in; the top if it is left out.")
        .may::<Vec<FolderDraft>>("folders", "The folders to make in it.")
        .closed();
    CreateFolders, "Makes folders." => |shape| shape.must::<Vec<FolderDraft>>("folders", "The folders.").closed();
    MoveFolders, "Moves folders with all in them." => |shape| shape
        .must_some::<FolderRef>("folderIds", "The folders.")
        .must::<FolderDestination>("destination", "Where to.")
        .closed();
    DeleteFolders, "Deletes folders; what is in them goes up a level." => |shape| shape
        .must_some::<FolderRef>("folderIds", "The folders.")
        .may::<bool>("mustBeEmpty", "Whether one with something in it is refused.")
        .closed();
    ListTasks, "Lists tasks." => |shape| shape
        .must::<TaskScopeName>("scope", "active: due today or earlier; upcoming: later; inbox; logbook: done and canceled; document.")
        .may::<DocumentId>("documentId", "Exactly with the scope document.")
        .paging()
        .with("if", serde_json::json!({ "properties": { "scope": { "const": "document" } } }))
        .with("then", serde_json::json!({ "required": ["documentId"] }))
        .with("else", serde_json::json!({ "not": { "required": ["documentId"] } }))
        .closed();
    TaskDestination, "Where a task is to be." => |shape| shape
        .must::<TaskPlaceName>("type", "What sort of place.")
        .may::<DayRef>("date", "Of a daily note; today's if it is left out.")
        .may::<DocumentId>("documentId", "Of a document.")
        .closed();
    TaskDraft, "A task to be made." => |shape| shape
        .must::<String>("markdown", "What is to be done: inline markdown.")
        .may::<TaskPatch>("taskInfo", "Its state and days.")
        .may::<TaskDestination>("location", "To the top of this place; the inbox if it is left out.")
        .closed();
    AddTasks, "Makes tasks." => |shape| shape.must::<Vec<TaskDraft>>("tasks", "The tasks.").closed();
    TaskUpdate, "A change of a task: what is not given stays." => |shape| shape
        .must::<BlockId>("id", "The task.")
        .may::<String>("markdown", "What is to be done.")
        .may::<TaskPatch>("taskInfo", "Its state and days.")
        .may::<TaskDestination>("location", "Where it goes.")
        .closed();
    UpdateTasks, "Changes tasks." => |shape| shape
        .must::<Vec<TaskUpdate>>("tasksToUpdate", "The changes; a task may be named once.")
        .closed();
    DeleteTasks, "Deletes tasks with all below them." => |shape| shape
        .must_some::<BlockId>("idsToDelete", "The tasks.")
        .closed();
    CommentDraft, "A comment to be made." => |shape| shape
        .must::<BlockId>("blockId", "The block that it is on.")
        .must::<String>("content", "Inline markdown.")
        .closed();
    AddComments, "Adds comments to blocks." => |shape| shape
        .must::<Vec<CommentDraft>>("comments", "The comments.")
        .closed();
    UploadFile, "Puts a file into a document. Its bytes come beside the request." => |shape| shape
        .field("position", one_of_texts(&["start", "end", "before", "after"]), "start or end with pageId and date, before or after with siblingId.")
        .may::<BlockId>("pageId", "Among the children of this block.")
        .may::<BlockId>("siblingId", "Next to this block.")
        .may::<DayRef>("date", "In the daily note of this day.")
        .may::<String>("contentType", "The media type that it is said to be of.")
        .may::<String>("fileName", "Its name; never used as a path.")
        .closed();
    SearchDocuments, "Finds documents by words, by patterns, or by both." => |shape| shape
        .some::<String>("include", "Words, and phrases in quotation marks; the last word may be the beginning of one.")
        .may::<TermMode>("termMode", "Whether all words have to occur, or any; all if it is left out.")
        .some::<String>("regexps", "Patterns of which one has to match a block: RE2 with look-around.")
        .some::<DocumentId>("documentIds", "Only these documents. Not together with other filters.")
        .may::<DocumentFilterMode>("documentFilterMode", "With documentIds: exclude for all but these.")
        .filter("folderIds")
        .metadata()
        .closed();
    SearchBlocks, "Finds the blocks of a document, or of one page of it, that patterns match." => |shape| shape
        .may::<BlockId>("blockId", "The document or the page.")
        .may::<DocumentId>("documentId", "Another name for it.")
        .must_some::<String>("pattern", "Patterns of which one has to match: RE2 with look-around.")
        .may::<bool>("caseSensitive", "Whether capitals and small letters differ; not if it is left out.")
        .may::<Around>("beforeBlockCount", "How many blocks before a match are shown; 5 if it is left out.")
        .may::<Around>("afterBlockCount", "How many after it; 5 if it is left out.")
        .paging()
        .exactly_one(&["blockId", "documentId"])
        .closed();
}
