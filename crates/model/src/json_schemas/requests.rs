//! Requests on documents and folders, and searches.

use schemars::{Schema, json_schema};

use super::{OneOrMany, Shape, shapes};
use crate::{
    BlockId, BuiltInLocation, DayRef, DocumentFilterMode, DocumentId, DocumentOrder,
    EmbeddingTargets, FolderDraft, FolderId, FolderRef, Limits, ListDocuments, MissingEmbeddings,
    QueryEmbedding, ReplaceText, SearchBlocks, SearchDocuments, SearchGroup, SearchWeights,
    TermMode,
};

impl Shape<'_> {
    fn metadata(self) -> Self {
        self.may::<bool>("fetchMetadata", "Whether the reply has times.")
    }

    /// The fields of the [`crate::Paging`] of a search.
    fn search_paging(self) -> Self {
        let limit =
            json_schema!({ "type": "integer", "minimum": 1, "maximum": Limits::SEARCH_PAGE });
        self.field("limit", limit, "The most results of one reply; 20 by default.")
            .may::<String>("cursor", "The nextCursor of the reply before.")
    }

    fn weight(self, name: &'static str, about: &'static str) -> Self {
        let most = Limits::SEARCH_WEIGHT;
        self.field(name, json_schema!({ "type": "number", "minimum": 0, "maximum": most }), about)
    }

    /// The fields of [`crate::DocumentFilter`]: documents match all given filters.
    fn filter(self, folders: &'static str) -> Self {
        self.may::<BuiltInLocation>("location", "In this place. No folders then.")
            .some::<FolderRef>(folders, "In these folders and those in them.")
            .may::<DayRef>("createdDateGte", "")
            .may::<DayRef>("createdDateLte", "")
            .may::<DayRef>("lastModifiedDateGte", "")
            .may::<DayRef>("lastModifiedDateLte", "")
            .may::<DayRef>("dailyNoteDateGte", "")
            .may::<DayRef>("dailyNoteDateLte", "")
            .some::<String>("tags", "With all these tags, or nested ones.")
    }
}

fn half_life() -> Schema {
    let most = Limits::HALF_LIFE_DAYS;
    json_schema!({ "type": "number", "exclusiveMinimum": 0, "maximum": most })
}

shapes! {
    ListDocuments, "Lists documents." => |shape| shape
        .filter("folderId")
        .metadata()
        .may::<DocumentOrder>("orderBy", "The ID if it is left out, or what alone is filtered by.")
        .may::<bool>("descending", "Whether the order is turned round.")
        .paging()
        .closed();
    FolderDraft, "A folder to be made, with the folders in it." => |shape| shape
        .must::<String>("name", "Its name.")
        .clears::<FolderRef>("parentFolderId", "The parent folder; the top level if absent.")
        .may::<Vec<FolderDraft>>("folders", "The folders to make in it.")
        .may::<FolderId>("id", "Ignored.")
        .field("rev", json_schema!({}), "Ignored.")
        .field("documentCount", json_schema!({}), "Ignored.")
        .closed();
    SearchDocuments, "Finds documents by words, by patterns, or by both." => |shape| shape
        .some::<String>("include", "Terms, and quoted phrases; the last term may be a prefix.")
        .may::<TermMode>("termMode", "most (default): all terms first, then most; all: all are required; any.")
        .some::<String>("title", "Terms that the title must have.")
        .some::<String>("exclude", "Words and phrases that documents must not have.")
        .some::<String>("regexps", "Patterns, of which one must match: RE2 with look-around.")
        .some::<DocumentId>("documentIds", "Only these. No other filters then.")
        .may::<DocumentFilterMode>("documentFilterMode", "With documentIds: exclude for all others.")
        .filter("folderIds")
        .may::<SearchWeights>("weights", "What counts how much in the order of results.")
        .may::<SearchGroup>("group", "document (default), or block: each matching block is a result.")
        .may::<QueryEmbedding>("embedding", "A vector of the query, beside words or alone.")
        .metadata()
        .search_paging()
        .closed();
    MissingEmbeddings, "Lists blocks or documents without a vector of a model." => |shape| shape
        .must::<String>("model", "The name of the model.")
        .may::<EmbeddingTargets>("targets", "blocks (default) or documents.")
        .some::<DocumentId>("documentIds", "Only these. No other filters then.")
        .filter("folderIds")
        .bounded_paging()
        .closed();
    SearchWeights, "What counts how much in the order of results." => |shape| shape
        .weight("title", "Words in titles; 1 by default.")
        .weight("headings", "Words in headings, in addition to body; 0 by default.")
        .weight("body", "Words in blocks and comments; 1 by default.")
        .weight("recency", "The gain of a document modified just now; 0 by default.")
        .field("halfLifeDays", half_life(), "The days in which that gain halves; 30 by default.")
        .weight("links", "The gain of a document that many others link to; 0 by default.")
        .closed();
    SearchBlocks, "Finds blocks in a document or page, or in all that filters select." => |shape| shape
        .may::<BlockId>("blockId", "A document or page. No filters then.")
        .may::<DocumentId>("documentId", "The same for a document.")
        .some::<DocumentId>("documentIds", "Only these. No other filters then.")
        .may::<DocumentFilterMode>("documentFilterMode", "With documentIds: exclude for all others.")
        .filter("folderIds")
        .must::<OneOrMany<String>>("pattern", "Patterns of which one must match: RE2 with look-around.")
        .may::<bool>("caseSensitive", "Whether case matters.")
        .may::<usize>("beforeBlockCount", "Blocks before a match, up to 100; 5 by default.")
        .may::<usize>("afterBlockCount", "Blocks after a match, up to 100; 5 by default.")
        .bounded_paging()
        .closed();
    ReplaceText, "Replaces text: what blocks say, without their markup." => |shape| shape
        .may::<String>("find", "The text to replace. Either this or pattern.")
        .may::<String>("pattern", "Replaces what matches it: RE2 with look-around.")
        .must::<String>("replacement", "With a pattern, $1 and ${name} are its groups, and $$ is $.")
        .some::<BlockId>("blockIds", "Only in these and all below. Not together with others.")
        .some::<DocumentId>("documentIds", "Only these. No other filters then.")
        .may::<DocumentFilterMode>("documentFilterMode", "With documentIds: exclude for all others.")
        .filter("folderIds")
        .may::<bool>("caseSensitive", "Whether case matters.")
        .may::<bool>("keepCase", "Whether capitals stay: Colour becomes Color, COLOUR COLOR.")
        .may::<bool>("dryRun", "Whether nothing is written, and all is counted.")
        .closed();
}
