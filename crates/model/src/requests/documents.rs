//! Requests of the document operations: list, create, delete, move, restore, purge.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::document_patch::read_location;
use super::{Paging, given, write_texts};
use crate::json::{
    Object, Refused, deserialize_by, is_default, one_or_many, optional_one_or_many, or_default,
    read, wire_enum,
};
#[cfg(feature = "schemars")]
use crate::json_schemas::OneOrMany;
use crate::{
    BlockData, BlockDraft, BuiltInLocation, DayRef, Destination, DocumentId, Error, FolderId,
    FolderRef, Location, Result,
};

/// A range of days in the time zone of the space, both ends inclusive; an absent end is unbounded.
///
/// ```
/// use leafbase_model::{Day, DayRange, DayRef};
/// let [from, to] = [Day::new(2026, 3, 1)?, Day::new(2026, 3, 31)?].map(|day| Some(day.into()));
/// let march = DayRange { from, to };
/// assert_ne!(march, DayRange::since(DayRef::Yesterday));
/// assert_eq!(DayRange::on(DayRef::Today).from, DayRange::on(DayRef::Today).to);
/// # Ok::<(), leafbase_model::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DayRange {
    /// The first day.
    pub from: Option<DayRef>,
    /// The last day.
    pub to: Option<DayRef>,
}

impl DayRange {
    /// The unbounded range.
    pub const ALL: Self = Self { from: None, to: None };

    /// A single day.
    pub fn on(day: impl Into<DayRef>) -> Self {
        let day = Some(day.into());
        Self { from: day, to: day }
    }

    /// A day and all later ones.
    pub fn since(day: impl Into<DayRef>) -> Self {
        Self { from: Some(day.into()), to: None }
    }

    /// A day and all earlier ones.
    pub fn until(day: impl Into<DayRef>) -> Self {
        Self { from: None, to: Some(day.into()) }
    }
}

/// Selects the documents that match all given filters.
///
/// The JSON fields within a request: `location` (`unsorted`, `daily_notes`, `templates`, `trash`),
/// the folders (recursive; not together with `location`), and `createdDateGte`, `createdDateLte`,
/// `lastModifiedDateGte`, `lastModifiedDateLte`, `dailyNoteDateGte`, `dailyNoteDateLte`, each a day
/// or `today`, `tomorrow`, `yesterday`; and `tags` (one or several).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentFilter {
    /// A built-in location.
    pub location: Option<BuiltInLocation>,
    /// Folders, including their subfolders; unrestricted if absent.
    pub folders: Option<Vec<FolderRef>>,
    /// The days of creation.
    pub created: DayRange,
    /// The days of the last modification.
    pub modified: DayRange,
    /// The days of daily notes.
    pub daily_note: DayRange,
    /// Tags that the documents have, in either case.
    pub tags: Vec<String>,
}

impl DocumentFilter {
    /// Reads the fields of a filter; `folders` is the name of the field with the folders.
    pub(crate) fn take(object: &mut Object, folders: &'static str) -> Result<Self> {
        let mut range = |from: &'static str, to: &'static str| {
            Ok::<_, Error>(DayRange { from: object.optional(from)?, to: object.optional(to)? })
        };
        let created = range("createdDateGte", "createdDateLte")?;
        let modified = range("lastModifiedDateGte", "lastModifiedDateLte")?;
        let daily_note = range("dailyNoteDateGte", "dailyNoteDateLte")?;
        let location = object.optional("location")?;
        let named = object.one_or_many(folders)?;
        // Folders and built-in locations exclude each other: a document has one location.
        if location.is_some() && named.is_some() {
            return Err(Error::validation(format!("{folders} cannot be combined with location"))
                .at(folders));
        }
        let tags = object.any_number("tags")?;
        Ok(Self { location, folders: named, created, modified, daily_note, tags })
    }

    pub(crate) fn write<M: SerializeMap>(
        &self,
        map: &mut M,
        folders: &'static str,
        one_folder: bool,
    ) -> std::result::Result<(), M::Error> {
        given(map, "location", self.location.as_ref())?;
        match self.folders.as_deref() {
            Some([one]) if one_folder => map.serialize_entry(folders, one)?,
            named => given(map, folders, named)?,
        }
        for (from, to, range) in [
            ("createdDateGte", "createdDateLte", &self.created),
            ("lastModifiedDateGte", "lastModifiedDateLte", &self.modified),
            ("dailyNoteDateGte", "dailyNoteDateLte", &self.daily_note),
        ] {
            given(map, from, range.from.as_ref())?;
            given(map, to, range.to.as_ref())?;
        }
        write_texts(map, "tags", &self.tags)
    }
}

wire_enum! {
    /// The sort key of a listing of documents. Ties are broken by ID; of the daily notes of one
    /// day, the one outside of the trash precedes.
    DocumentOrder {
        /// The document ID.
        #[default]
        Id = "id",
        /// The creation time.
        Created = "createdAt",
        /// The time of the last modification.
        Modified = "lastModifiedAt",
        /// The day of the daily note; other documents are excluded.
        DailyNote = "dailyNoteDate",
    }
}

/// Lists documents. As JSON: the fields of a [`DocumentFilter`] with `folderId`, and
/// `fetchMetadata`, `orderBy`, `descending`, `limit`, `cursor`.
///
/// The default order is by ID. A listing filtered by days of creation, of modification or of daily
/// notes alone is in the order of those, so that the index serves each page at a cost proportional
/// to its size.
///
/// ```
/// use leafbase_model::{BuiltInLocation, DayRange, DayRef, ListDocuments};
/// let json = r#"{"location": "unsorted", "lastModifiedDateGte": "yesterday"}"#;
/// let request: ListDocuments = serde_json::from_str(json)?;
/// let days = DayRange::since(DayRef::Yesterday);
/// let expected = ListDocuments::new().at(BuiltInLocation::Unsorted).modified(days);
/// assert_eq!(request, expected);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListDocuments {
    /// The filter.
    pub filter: DocumentFilter,
    /// Whether entries include the times of creation and modification.
    pub metadata: bool,
    /// The order; if absent, that of the only day filter, or else by ID.
    pub order: Option<DocumentOrder>,
    /// Whether the order is reversed.
    pub descending: bool,
    /// The page of the list.
    pub paging: Paging,
}

impl ListDocuments {
    /// Lists all documents by ID, including those in the trash, without metadata.
    pub fn new() -> Self {
        Self::default()
    }

    /// Restricts the list to a built-in location.
    pub fn at(mut self, location: BuiltInLocation) -> Self {
        self.filter.location = Some(location);
        self
    }

    /// Restricts the list to a folder and its subfolders.
    pub fn within(mut self, folder: FolderId) -> Self {
        self.filter.folders = Some(vec![folder.into()]);
        self
    }

    /// Restricts the list to documents created on these days.
    pub fn created(mut self, days: DayRange) -> Self {
        self.filter.created = days;
        self
    }

    /// Restricts the list to documents last modified on these days.
    pub fn modified(mut self, days: DayRange) -> Self {
        self.filter.modified = days;
        self
    }

    /// Restricts the list to the daily notes of these days.
    pub fn daily_notes(mut self, days: DayRange) -> Self {
        self.filter.daily_note = days;
        self
    }

    /// Restricts the list to documents with this tag, too.
    pub fn tagged(mut self, tag: impl Into<String>) -> Self {
        self.filter.tags.push(tag.into());
        self
    }

    /// Includes the times of creation and modification.
    pub fn with_metadata(mut self) -> Self {
        self.metadata = true;
        self
    }

    /// Sets the order.
    pub fn order_by(mut self, order: DocumentOrder) -> Self {
        self.order = Some(order);
        self
    }

    /// Reverses the order.
    pub fn descending(mut self) -> Self {
        self.descending = true;
        self
    }

    /// Limits the number of documents.
    pub fn limit(mut self, documents: usize) -> Self {
        self.paging.limit = Some(documents);
        self
    }

    /// Continues at the cursor of the previous reply.
    pub fn after(mut self, cursor: impl Into<String>) -> Self {
        self.paging.cursor = Some(cursor.into());
        self
    }
}

impl ListDocuments {
    fn read(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let read = Self {
            filter: DocumentFilter::take(&mut object, "folderId")?,
            metadata: object.or_default("fetchMetadata")?,
            order: object.optional("orderBy")?,
            descending: object.or_default("descending")?,
            paging: Paging::take(&mut object)?,
        };
        object.finish()?;
        Ok(read)
    }
}

deserialize_by!(ListDocuments: Self::read);

impl Serialize for ListDocuments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.filter.write(&mut map, "folderId", true)?;
        given(&mut map, "fetchMetadata", self.metadata.then_some(&true))?;
        given(&mut map, "orderBy", self.order.as_ref())?;
        given(&mut map, "descending", self.descending.then_some(&true))?;
        self.paging.write(&mut map)?;
        map.end()
    }
}

/// Creates documents. As JSON: `{"documents": [{"title": "..", "content": [..]}], "destination":
/// {"folderId": ".."}}`; each has the fields of a page, without the need for a `type`. The
/// destination defaults to `unsorted`. A document of a reply is one to create as well, with an ID
/// of its own; its `location` can only be the destination.
///
/// ```
/// use leafbase_model::{CreateDocuments, Destination};
/// let json = r#"{"documents": [{"title": "Trip"}], "destination": {"destination": "templates"}}"#;
/// let request: CreateDocuments = serde_json::from_str(json)?;
/// assert_eq!(request, CreateDocuments::titled(["Trip"]).at(Destination::Templates));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "CreateDocumentsJson")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CreateDocuments {
    /// The documents: pages with their content.
    pub documents: Vec<BlockDraft>,
    /// The location.
    #[serde(skip_serializing_if = "is_default")]
    pub destination: Destination,
}

/// The JSON of a [`CreateDocuments`].
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[cfg_attr(feature = "schemars", schemars(rename = "CreateDocuments"))]
struct CreateDocumentsJson {
    /// The documents: pages with their content.
    #[cfg_attr(feature = "schemars", schemars(with = "Vec<crate::json_schemas::PageDraft>"))]
    documents: Vec<DocumentDraft>,
    /// The location.
    #[serde(default, deserialize_with = "or_default")]
    destination: Destination,
}

impl TryFrom<CreateDocumentsJson> for CreateDocuments {
    type Error = Refused;

    fn try_from(json: CreateDocumentsJson) -> Result<Self, Refused> {
        let CreateDocumentsJson { documents, destination } = json;
        let mut drafts = Vec::with_capacity(documents.len());
        for (index, DocumentDraft { page, locations }) in documents.into_iter().enumerate() {
            let other = locations.iter().find(|(_, location)| *location != destination.into());
            if let Some((name, _)) = other {
                let message = "documents are created at the destination of the request, \
                    which is another";
                let error = Error::validation(message).at(name);
                return Err(error.at(format_args!("documents[{index}]")).into());
            }
            drafts.push(page);
        }
        Ok(Self { documents: drafts, destination })
    }
}

impl CreateDocuments {
    /// Creates a document from each page at `destination`.
    pub fn new(
        pages: impl IntoIterator<Item = BlockDraft>,
        destination: impl Into<Destination>,
    ) -> Self {
        Self { documents: pages.into_iter().collect(), destination: destination.into() }
    }

    /// Creates empty unsorted documents with these titles.
    pub fn titled<T: Into<String>>(titles: impl IntoIterator<Item = T>) -> Self {
        Self::new(
            titles.into_iter().map(|title| BlockDraft::new(BlockData::page(title))),
            Destination::Unsorted,
        )
    }

    /// Sets the location.
    pub fn at(mut self, destination: impl Into<Destination>) -> Self {
        self.destination = destination.into();
        self
    }
}

/// The draft of a document: a page, whose `type` may be omitted, or a document of a reply.
struct DocumentDraft {
    page: BlockDraft,
    /// The locations that a reply has, by field.
    locations: Vec<(&'static str, Location)>,
}

/// Fields of a document in a reply that say nothing that a request could choose.
const READ_ONLY: [&str; 5] =
    ["isDeleted", "dailyNoteDate", "createdAt", "lastModifiedAt", "clickableLink"];

impl DocumentDraft {
    fn read(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        for name in READ_ONLY {
            object.take_unlisted(name);
        }
        let mut locations = Vec::new();
        for name in ["location", "destination"] {
            let location = read_location(object.optional(name)?, name)?;
            locations.extend(location.map(|location| (name, location)));
        }
        // The root of a document is always a page; an explicit other type is refused by the rules.
        let mut fields = object.rest();
        fields.entry("type").or_insert_with(|| Value::from("page"));
        Ok(Self { page: read(Value::Object(fields))?, locations })
    }
}

deserialize_by!(DocumentDraft: Self::read);

/// Creates a document as a copy of a template. As JSON: `{"templateId": "..", "title": "..",
/// "destination": {..}}`.
///
/// ```
/// use leafbase_model::{CreateFromTemplate, DocumentId};
/// # let template = DocumentId::NIL;
/// let json = r#"{"templateId": "00000000000000000000000000", "title": "Trip to Lisbon"}"#;
/// let request = CreateFromTemplate::new(template).titled("Trip to Lisbon");
/// assert_eq!(request, serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct CreateFromTemplate {
    /// The template.
    pub template_id: DocumentId,
    /// The title of the copy; defaults to the title of the template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The location of the copy.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    pub destination: Destination,
}

impl CreateFromTemplate {
    /// An unsorted copy of `template` with the same title.
    pub fn new(template: DocumentId) -> Self {
        Self { template_id: template, title: None, destination: Destination::Unsorted }
    }

    /// Sets the title.
    pub fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the location.
    pub fn at(mut self, destination: impl Into<Destination>) -> Self {
        self.destination = destination.into();
        self
    }
}

/// Moves documents to the trash. As JSON: `{"documentIds": [".."]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct DeleteDocuments {
    /// The documents.
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "schemars", schemars(with = "OneOrMany<DocumentId>"))]
    pub document_ids: Vec<DocumentId>,
}

impl DeleteDocuments {
    /// Moves these documents to the trash.
    pub fn new(documents: impl IntoIterator<Item = DocumentId>) -> Self {
        Self { document_ids: documents.into_iter().collect() }
    }
}

impl From<DocumentId> for DeleteDocuments {
    fn from(document: DocumentId) -> Self {
        Self::new([document])
    }
}

/// Moves documents, also out of the trash. As JSON: `{"documentIds": [".."], "destination":
/// {"destination": "unsorted"}}`.
///
/// ```
/// use leafbase_model::{Destination, DocumentId, FolderId, MoveDocuments};
/// # let (trip, travel) = (DocumentId::NIL, FolderId::NIL);
/// let json = r#"{
///     "documentIds": "00000000000000000000000000", "destination": {"destination": "unsorted"}
/// }"#;
/// assert_eq!(MoveDocuments::new([trip], Destination::Unsorted), serde_json::from_str(json)?);
/// assert_eq!(MoveDocuments::new([trip], travel).destination, Destination::Folder(travel));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct MoveDocuments {
    /// The documents.
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "schemars", schemars(with = "OneOrMany<DocumentId>"))]
    pub document_ids: Vec<DocumentId>,
    /// The new location.
    pub destination: Destination,
}

impl MoveDocuments {
    /// Moves these documents to `destination`.
    pub fn new(
        documents: impl IntoIterator<Item = DocumentId>,
        destination: impl Into<Destination>,
    ) -> Self {
        Self { document_ids: documents.into_iter().collect(), destination: destination.into() }
    }
}

/// Restores daily notes from the trash to their days. As JSON: `{"documentIds": [".."]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct RestoreDailyNotes {
    /// The daily notes.
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "schemars", schemars(with = "OneOrMany<DocumentId>"))]
    pub document_ids: Vec<DocumentId>,
}

impl RestoreDailyNotes {
    /// Restores these daily notes.
    pub fn new(documents: impl IntoIterator<Item = DocumentId>) -> Self {
        Self { document_ids: documents.into_iter().collect() }
    }
}

/// Erases documents of the trash permanently. As JSON: `{"documentIds": [".."]}` or
/// `{"olderThanDays": 30}`.
///
/// ```
/// use leafbase_model::PurgeDocuments;
/// let request: PurgeDocuments = serde_json::from_str(r#"{"olderThanDays": 30}"#)?;
/// assert_eq!(request, PurgeDocuments::OlderThanDays(30));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "PurgeDocumentsJson", into = "PurgeDocumentsJson")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum PurgeDocuments {
    /// These documents.
    Documents(Vec<DocumentId>),
    /// All documents in the trash for at least this many times 24 hours; 0 for the whole trash.
    OlderThanDays(u32),
}

impl PurgeDocuments {
    /// Erases these documents.
    pub fn new(documents: impl IntoIterator<Item = DocumentId>) -> Self {
        Self::Documents(documents.into_iter().collect())
    }
}

/// The JSON of a [`PurgeDocuments`]: exactly one of `documentIds` and `olderThanDays`.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[cfg_attr(feature = "schemars", schemars(rename = "PurgeDocuments"))]
struct PurgeDocumentsJson {
    /// The documents to erase. Either these or `olderThanDays`.
    #[serde(default, deserialize_with = "optional_one_or_many")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(with = "Option<OneOrMany<DocumentId>>"))]
    document_ids: Option<Vec<DocumentId>>,
    /// The minimum age in the trash, in days of 24 hours; 0 for all documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    older_than_days: Option<u64>,
}

impl From<PurgeDocuments> for PurgeDocumentsJson {
    fn from(request: PurgeDocuments) -> Self {
        match request {
            PurgeDocuments::Documents(documents) => {
                Self { document_ids: Some(documents), older_than_days: None }
            }
            PurgeDocuments::OlderThanDays(days) => {
                Self { document_ids: None, older_than_days: Some(days.into()) }
            }
        }
    }
}

impl TryFrom<PurgeDocumentsJson> for PurgeDocuments {
    type Error = Refused;

    fn try_from(json: PurgeDocumentsJson) -> Result<Self, Refused> {
        match (json.document_ids, json.older_than_days) {
            (Some(documents), None) => Ok(Self::Documents(documents)),
            // Read as 64 bits, so that a number out of range gets this message rather than a type
            // error.
            (None, Some(days)) => u32::try_from(days).map(Self::OlderThanDays).map_err(|_| {
                let message =
                    format!("expected a number of days below 2 to the power of 32, got {days}");
                Refused(Error::validation(message).at("olderThanDays"))
            }),
            _ => Err(Error::validation("name exactly one of documentIds and olderThanDays").into()),
        }
    }
}
