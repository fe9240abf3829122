//! Document filters of a search.

use std::collections::HashSet;

use leafbase_model::{
    DocumentFilter, DocumentFilterMode, DocumentId, Error, Location, Result, SearchDocuments,
    Timestamp,
};
use leafbase_search::Attributes;
use leafbase_store::{DocumentQuery, Within};
use leafbase_tree_ops::ReadTree;

use crate::core::tree::Tree;
use crate::core::visibility::Visibility;
use crate::operations::documents;

/// The filters of a request, resolved in one snapshot.
pub(crate) struct Filters {
    /// Its folders are sorted.
    query: DocumentQuery,
    /// Documents to include or to exclude.
    named: Option<(HashSet<DocumentId>, DocumentFilterMode)>,
    /// The documents with all tags; `None` without tags.
    tagged: Option<HashSet<DocumentId>>,
}

/// Refuses the filters of the full space on a scoped connection: they could reveal the locations of
/// its documents, or the days that have notes.
pub(crate) fn check(request: &SearchDocuments, seen: &Visibility) -> Result<()> {
    // Exhaustive: a new filter is open to a scoped connection only if its effect reveals nothing.
    let DocumentFilter { location, folders, created, modified, daily_note, tags: _ } =
        &request.filter;
    let fields = [
        ("location", location.is_some()),
        ("folderIds", folders.is_some()),
        ("createdDateGte", created.from.is_some()),
        ("createdDateLte", created.to.is_some()),
        ("lastModifiedDateGte", modified.from.is_some()),
        ("lastModifiedDateLte", modified.to.is_some()),
        ("dailyNoteDateGte", daily_note.from.is_some()),
        ("dailyNoteDateLte", daily_note.to.is_some()),
    ];
    match fields.into_iter().find(|(_, is_given)| *is_given && !seen.is_unrestricted()) {
        Some((field, _)) => Err(Error::validation("is not known to a scoped connection").at(field)),
        None => Ok(()),
    }
}

impl Filters {
    /// Resolves the filters of a request. Folders include their subfolders; days are days in the
    /// zone of the space at the time `now`.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::NotFound`] at `documentIds[n]` and `folderIds[n]`, and the
    /// errors of a listing with the same filters.
    pub(crate) fn read(tree: &Tree<'_>, request: &SearchDocuments, now: Timestamp) -> Result<Self> {
        let named = request.document_ids.as_ref().map(|named| {
            let named = named.iter().enumerate();
            let named = named.map(|(index, id)| {
                existing(tree, *id).map_err(|e| e.at(format_args!("documentIds[{index}]")))
            });
            Ok::<_, Error>((named.collect::<Result<_>>()?, request.mode.unwrap_or_default()))
        });
        let path = |index| format!("folderIds[{index}]");
        let mut query = documents::list::query(tree, &request.filter, now, &path)?;
        if let Within::Folders(folders) = &mut query.within {
            // Sorted for the binary search of each document's folder.
            folders.sort_unstable();
        }
        let tagged = if query.tags.is_empty() { None } else { Some(tagged(tree, &query.tags)?) };
        Ok(Self { query, named: named.transpose()?, tagged })
    }

    pub(crate) fn accepts(&self, document: &Attributes) -> bool {
        let DocumentQuery { within, created, modified, day, tags: _, order: _, descending: _ } =
            &self.query;
        self.is_named(document.id)
            && self.tagged.as_ref().is_none_or(|tagged| tagged.contains(&document.id))
            && is_within(within, document.location)
            && created.contains(document.created_at)
            && modified.contains(document.modified_at)
            && document
                .day
                .map_or(day.from.is_none() && day.to.is_none(), |noted| day.contains(noted))
    }

    fn is_named(&self, document: DocumentId) -> bool {
        match &self.named {
            None => true,
            Some((named, DocumentFilterMode::Include)) => named.contains(&document),
            Some((named, DocumentFilterMode::Exclude)) => !named.contains(&document),
        }
    }
}

/// The documents with all of the tags. Costs the documents of each tag; on a scoped connection the
/// tags of its documents.
fn tagged(tree: &Tree<'_>, tags: &[String]) -> Result<HashSet<DocumentId>> {
    let mut found = HashSet::new();
    if let Some(roots) = tree.visibility().roots() {
        for document in roots.ids() {
            if tree.has_tags(document, tags)? {
                found.insert(document);
            }
        }
        return Ok(found);
    }
    for (index, tag) in tags.iter().enumerate() {
        let of_tag = tree.full_reader()?.documents_tagged(tag)?.into_iter();
        found = of_tag.filter(|document| index == 0 || found.contains(document)).collect();
    }
    Ok(found)
}

/// Checks that a document exists. The document of the inbox is not searchable.
fn existing(tree: &Tree<'_>, document: DocumentId) -> Result<DocumentId> {
    let record = tree.document(document)?.filter(|record| record.location != Location::Inbox);
    record.map(|record| record.id).ok_or_else(Error::no_document)
}

/// Whether documents at a location are searched: those in the trash only if it is named, the inbox
/// never.
fn is_within(within: &Within, location: Location) -> bool {
    match (within, location) {
        (_, Location::Inbox) => false,
        (Within::All, location) => location != Location::Trash,
        (Within::Location(wanted), location) => *wanted == location,
        (Within::Folders(folders), Location::Folder(folder)) => {
            folders.binary_search(&folder).is_ok()
        }
        (Within::Folders(_), _) => false,
    }
}
