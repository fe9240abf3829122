//! Requests on documents and folders, and searches.

use super::{Shape, shapes};
use crate::{
    BlockId, BuiltInLocation, DayRef, DocumentFilterMode, DocumentId, DocumentOrder, FolderDraft,
    FolderRef, ListDocuments, ReplaceText, SearchDocuments, TermMode,
};

impl Shape<'_> {
    fn metadata(self) -> Self {
        self.may::<bool>(
            "fetchMetadata",
            "Whether the reply says who and when; not if it is left out.",
        )
    }

    /// The fields of [`crate::DocumentFilter`]: documents match all given filters.
    fn filter(self, folders: &'static str) -> Self {
        self.may::<BuiltInLocation>("location", "Those kept here. Not together with folders.")
            .some::<FolderRef>(folders, "Those kept in these folders and the folders in them.")
            .may::<DayRef>("createdDateGte", "Those made on this day or later.")
            .may::<DayRef>("createdDateLte", "Those made on this day or earlier.")
            .may::<DayRef>("lastModifiedDateGte", "Those last changed on this day or later.")
            .may::<DayRef>("lastModifiedDateLte", "Those last changed on this day or earlier.")
            .may::<DayRef>("dailyNoteDateGte", "The daily notes of this day and later ones.")
            .may::<DayRef>("dailyNoteDateLte", "The daily notes of this day and earlier ones.")
            .some::<String>("tags", "Those that have all these tags, or tags nested in them.")
    }
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
        .closed();
    SearchDocuments, "Finds documents by words, by patterns, or by both." => |shape| shape
        .some::<String>("include", "Terms, and quoted phrases; the last term may be a prefix.")
        .may::<TermMode>("termMode", "most (default): all terms first, then most; all: all are required; any.")
        .some::<String>("regexps", "Patterns, of which one must match: RE2 with look-around.")
        .some::<DocumentId>("documentIds", "Only these documents. Not together with other filters.")
        .may::<DocumentFilterMode>("documentFilterMode", "With documentIds: exclude to search all others.")
        .filter("folderIds")
        .metadata()
        .closed();
    ReplaceText, "Replaces text: what blocks say, without their markup." => |shape| shape
        .may::<String>("find", "The text to replace. Either this or pattern.")
        .may::<String>("pattern", "Replaces what matches it: RE2 with look-around.")
        .must::<String>("replacement", "With a pattern, $1 and ${name} are its groups, and $$ is $.")
        .some::<BlockId>("blockIds", "Only in these and all below. Not together with others.")
        .some::<DocumentId>("documentIds", "Only these documents. Not together with other filters.")
        .may::<DocumentFilterMode>("documentFilterMode", "With documentIds: exclude for all others.")
        .filter("folderIds")
        .may::<bool>("caseSensitive", "Whether case matters; not if it is left out.")
        .may::<bool>("keepCase", "Whether capitals stay: Colour becomes Color, COLOUR COLOR.")
        .may::<bool>("dryRun", "Whether nothing is written, and all is counted.")
        .closed();
}
