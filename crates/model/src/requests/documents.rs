//! The document operations: list, create, delete, move, restore, purge.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::{Paging, given};
use crate::json::{FromJson, Object, deserialize_through_json, one_or_many, wire_enum, wrong_type};
use crate::{
    BlockData, BlockDraft, BuiltInLocation, DayRef, Destination, DocumentId, Error, FolderId,
    FolderRef, Result,
};

/// A range of days in the space's zone, both ends included; none is no bound.
///
/// ```
/// use leafbase_model::{Day, DayRange, DayRef};
/// let march = DayRange { from: Some(Day::new(2026, 3, 1)?.into()), to: Some(Day::new(2026, 3, 31)?.into()) };
/// assert_ne!(march, DayRange::since(DayRef::Yesterday));
/// assert_eq!(DayRange::on(DayRef::Today).from, DayRange::on(DayRef::Today).to);
/// # Ok::<(), leafbase_model::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DayRange {
    /// The first.
    pub from: Option<DayRef>,
    /// The last.
    pub to: Option<DayRef>,
}

impl DayRange {
    /// Every day.
    pub const ALL: Self = Self { from: None, to: None };

    /// This day alone.
    pub fn on(day: impl Into<DayRef>) -> Self {
        let day = Some(day.into());
        Self { from: day, to: day }
    }

    /// This day and all later ones.
    pub fn since(day: impl Into<DayRef>) -> Self {
        Self { from: Some(day.into()), to: None }
    }

    /// This day and all earlier ones.
    pub fn until(day: impl Into<DayRef>) -> Self {
        Self { from: None, to: Some(day.into()) }
    }
}

/// Which documents are meant: all that meet every filter that is given.
///
/// As JSON, beside the other fields of a request: `location` (`unsorted`, `daily_notes`,
/// `templates`, `trash`), the folders (each with those in it; not together with `location`), and
/// `createdDateGte`, `createdDateLte`, `lastModifiedDateGte`, `lastModifiedDateLte`,
/// `dailyNoteDateGte`, `dailyNoteDateLte`, each a day or `today`, `tomorrow`, `yesterday`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentFilter {
    /// Those kept in this location.
    pub location: Option<BuiltInLocation>,
    /// Those kept in one of these folders or in a folder within; none for everywhere.
    pub folders: Option<Vec<FolderRef>>,
    /// Those made on these days.
    pub created: DayRange,
    /// Those last changed on these days.
    pub modified: DayRange,
    /// The daily notes of these days.
    pub daily_note: DayRange,
}

impl DocumentFilter {
    /// Reads the fields of a filter; the folders stand under `folders`.
    pub(crate) fn take(object: &mut Object, folders: &str) -> Result<Self> {
        let mut range = |from: &str, to: &str| {
            Ok::<_, Error>(DayRange { from: object.optional(from)?, to: object.optional(to)? })
        };
        let created = range("createdDateGte", "createdDateLte")?;
        let modified = range("lastModifiedDateGte", "lastModifiedDateLte")?;
        let daily_note = range("dailyNoteDateGte", "dailyNoteDateLte")?;
        let location = object.optional("location")?;
        let named =
            object.take(folders).map(one_or_many).transpose().map_err(|error| error.at(folders))?;
        if location.is_some() && named.is_some() {
            return Err(Error::validation("cannot be combined with location").at(folders));
        }
        Ok(Self { location, folders: named, created, modified, daily_note })
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
        Ok(())
    }
}

wire_enum! {
    /// What a listing of documents is ordered by; equal ones by ID, of daily notes of one day the
    /// one out of the trash first.
    DocumentOrder {
        /// The ID.
        #[default]
        Id = "id",
        /// The making.
        Created = "createdAt",
        /// The last change.
        Modified = "lastModifiedAt",
        /// The day of the daily note: documents that are none are left out.
        DailyNote = "dailyNoteDate",
    }
}

/// Lists documents. As JSON: the fields of a [`DocumentFilter`] with `folderId`, and
/// `fetchMetadata`, `orderBy`, `descending`, `limit`, `cursor`.
///
/// Without an order, a listing that is filtered by one kind of day alone, be it of the making, of
/// the last change, or of daily notes, is in the order of these, so that a page of it costs the
/// page; every other one is by ID.
///
/// ```
/// use leafbase_model::{BuiltInLocation, DayRange, DayRef, ListDocuments};
/// let request: ListDocuments = serde_json::from_str(r#"{"location": "unsorted", "lastModifiedDateGte": "yesterday"}"#)?;
/// let expected = ListDocuments::new().at(BuiltInLocation::Unsorted).modified(DayRange::since(DayRef::Yesterday));
/// assert_eq!(request, expected);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListDocuments {
    /// Which.
    pub filter: DocumentFilter,
    /// Whether to say when each was made and last changed.
    pub metadata: bool,
    /// In which order; none for the day that alone is filtered by, or else for the ID.
    pub order: Option<DocumentOrder>,
    /// Whether the order is turned round.
    pub descending: bool,
    /// How many, and from where on.
    pub paging: Paging,
}

impl ListDocuments {
    /// All documents by ID, those in the trash included, without metadata.
    pub fn new() -> Self {
        Self::default()
    }

    /// Those kept in this location.
    pub fn at(mut self, location: BuiltInLocation) -> Self {
        self.filter.location = Some(location);
        self
    }

    /// Those kept in this folder and the folders in it.
    pub fn within(mut self, folder: FolderId) -> Self {
        self.filter.folders = Some(vec![folder.into()]);
        self
    }

    /// Those made on these days.
    pub fn created(mut self, days: DayRange) -> Self {
        self.filter.created = days;
        self
    }

    /// Those last changed on these days.
    pub fn modified(mut self, days: DayRange) -> Self {
        self.filter.modified = days;
        self
    }

    /// The daily notes of these days.
    pub fn daily_notes(mut self, days: DayRange) -> Self {
        self.filter.daily_note = days;
        self
    }

    /// With metadata.
    pub fn with_metadata(mut self) -> Self {
        self.metadata = true;
        self
    }

    /// Ordered by this, whatever is filtered by.
    pub fn order_by(mut self, order: DocumentOrder) -> Self {
        self.order = Some(order);
        self
    }

    /// The other way round.
    pub fn descending(mut self) -> Self {
        self.descending = true;
        self
    }

    /// At most so many.
    pub fn limit(mut self, documents: usize) -> Self {
        self.paging.limit = Some(documents);
        self
    }

    /// What follows the reply that gave this cursor.
    pub fn after(mut self, cursor: impl Into<String>) -> Self {
        self.paging.cursor = Some(cursor.into());
        self
    }
}

impl FromJson for ListDocuments {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let read = Self {
            filter: DocumentFilter::take(&mut object, "folderId")?,
            metadata: object.optional("fetchMetadata")?.unwrap_or_default(),
            order: object.optional("orderBy")?,
            descending: object.optional("descending")?.unwrap_or_default(),
            paging: Paging::take(&mut object)?,
        };
        object.finish()?;
        Ok(read)
    }
}

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

/// Makes documents. As JSON: `{"documents": [{"title": "..", "content": [..]}], "destination":
/// {"folderId": ".."}}`; each has the fields of a page, whose `type` may be left out. The
/// destination is `unsorted` if it is left out.
///
/// ```
/// use leafbase_model::{CreateDocuments, Destination};
/// let request: CreateDocuments =
///     serde_json::from_str(r#"{"documents": [{"title": "Trip"}], "destination": {"destination": "templates"}}"#)?;
/// assert_eq!(request, CreateDocuments::titled(["Trip"]).at(Destination::Templates));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CreateDocuments {
    /// The documents: each a page with its content.
    pub documents: Vec<BlockDraft>,
    /// Where they are kept.
    pub destination: Destination,
}

impl CreateDocuments {
    /// Makes a document of each page, kept at `destination`.
    pub fn new(
        pages: impl IntoIterator<Item = BlockDraft>,
        destination: impl Into<Destination>,
    ) -> Self {
        Self { documents: pages.into_iter().collect(), destination: destination.into() }
    }

    /// Makes an empty document of each title, kept in no folder.
    pub fn titled<T: Into<String>>(titles: impl IntoIterator<Item = T>) -> Self {
        Self::new(
            titles.into_iter().map(|title| BlockDraft::new(BlockData::page(title))),
            Destination::Unsorted,
        )
    }

    /// The same documents, kept at `destination`.
    pub fn at(mut self, destination: impl Into<Destination>) -> Self {
        self.destination = destination.into();
        self
    }
}

/// The draft of a document: a page, whether or not it says so.
struct DocumentDraft(BlockDraft);

impl FromJson for DocumentDraft {
    fn from_json(mut value: Value) -> Result<Self> {
        if let Value::Object(fields) = &mut value {
            fields.entry("type").or_insert_with(|| Value::from("page"));
        }
        BlockDraft::from_json(value).map(Self)
    }
}

impl FromJson for CreateDocuments {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let documents: Vec<DocumentDraft> = object.required("documents")?;
        let destination = object.optional("destination")?.unwrap_or_default();
        object.finish()?;
        Ok(Self { documents: documents.into_iter().map(|draft| draft.0).collect(), destination })
    }
}

impl Serialize for CreateDocuments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("documents", &self.documents)?;
        let elsewhere = self.destination != Destination::Unsorted;
        given(&mut map, "destination", elsewhere.then_some(&self.destination))?;
        map.end()
    }
}

/// Makes a document as a copy of a template. As JSON: `{"templateId": "..", "title": "..",
/// "destination": {..}}`.
///
/// ```
/// use leafbase_model::{CreateFromTemplate, DocumentId};
/// # let template = DocumentId::NIL;
/// let json = r#"{"templateId": "00000000000000000000000000", "title": "Trip to Lisbon"}"#;
/// assert_eq!(CreateFromTemplate::new(template).titled("Trip to Lisbon"), serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateFromTemplate {
    /// The template.
    pub template_id: DocumentId,
    /// The title of the copy; the template's if none is given.
    pub title: Option<String>,
    /// Where the copy is kept.
    pub destination: Destination,
}

impl CreateFromTemplate {
    /// A copy of `template` of the same title, kept in no folder.
    pub fn new(template: DocumentId) -> Self {
        Self { template_id: template, title: None, destination: Destination::Unsorted }
    }

    /// The same with this title.
    pub fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// The same, kept at `destination`.
    pub fn at(mut self, destination: impl Into<Destination>) -> Self {
        self.destination = destination.into();
        self
    }
}

impl FromJson for CreateFromTemplate {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let read = Self {
            template_id: object.required("templateId")?,
            title: object.optional("title")?,
            destination: object.optional("destination")?.unwrap_or_default(),
        };
        object.finish()?;
        Ok(read)
    }
}

impl Serialize for CreateFromTemplate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("templateId", &self.template_id)?;
        given(&mut map, "title", self.title.as_ref())?;
        let elsewhere = self.destination != Destination::Unsorted;
        given(&mut map, "destination", elsewhere.then_some(&self.destination))?;
        map.end()
    }
}

fn document_ids(object: &mut Object) -> Result<Option<Vec<DocumentId>>> {
    object.take("documentIds").map(one_or_many).transpose().map_err(|error| error.at("documentIds"))
}

fn missing() -> Error {
    Error::validation("is missing").at("documentIds")
}

/// Puts documents into the trash. As JSON: `{"documentIds": [".."]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeleteDocuments {
    /// The documents.
    pub document_ids: Vec<DocumentId>,
}

impl DeleteDocuments {
    /// Puts these into the trash.
    pub fn new(documents: impl IntoIterator<Item = DocumentId>) -> Self {
        Self { document_ids: documents.into_iter().collect() }
    }
}

impl From<DocumentId> for DeleteDocuments {
    fn from(document: DocumentId) -> Self {
        Self::new([document])
    }
}

impl FromJson for DeleteDocuments {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let document_ids = document_ids(&mut object)?.ok_or_else(missing)?;
        object.finish()?;
        Ok(Self { document_ids })
    }
}

/// Moves documents, also out of the trash. As JSON: `{"documentIds": [".."], "destination":
/// {"destination": "unsorted"}}`.
///
/// ```
/// use leafbase_model::{Destination, DocumentId, FolderId, MoveDocuments};
/// # let (trip, travel) = (DocumentId::NIL, FolderId::NIL);
/// let json = r#"{"documentIds": "00000000000000000000000000", "destination": {"destination": "unsorted"}}"#;
/// assert_eq!(MoveDocuments::new([trip], Destination::Unsorted), serde_json::from_str(json)?);
/// assert_eq!(MoveDocuments::new([trip], travel).destination, Destination::Folder(travel));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MoveDocuments {
    /// The documents.
    pub document_ids: Vec<DocumentId>,
    /// Where to.
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

impl FromJson for MoveDocuments {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let document_ids = document_ids(&mut object)?.ok_or_else(missing)?;
        let destination = object.required("destination")?;
        object.finish()?;
        Ok(Self { document_ids, destination })
    }
}

/// Takes daily notes out of the trash, each back to its day. As JSON: `{"documentIds": [".."]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RestoreDailyNotes {
    /// The daily notes.
    pub document_ids: Vec<DocumentId>,
}

impl RestoreDailyNotes {
    /// Restores these.
    pub fn new(documents: impl IntoIterator<Item = DocumentId>) -> Self {
        Self { document_ids: documents.into_iter().collect() }
    }
}

impl FromJson for RestoreDailyNotes {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let document_ids = document_ids(&mut object)?.ok_or_else(missing)?;
        object.finish()?;
        Ok(Self { document_ids })
    }
}

/// Which documents of the trash are erased for good. As JSON: `{"documentIds": [".."]}` or
/// `{"olderThanDays": 30}`.
///
/// ```
/// use leafbase_model::PurgeDocuments;
/// let request: PurgeDocuments = serde_json::from_str(r#"{"olderThanDays": 30}"#)?;
/// assert_eq!(request, PurgeDocuments::OlderThanDays(30));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PurgeDocuments {
    /// These.
    Documents(Vec<DocumentId>),
    /// Those that have been in the trash for at least so many times 24 hours; 0 for all.
    OlderThanDays(u32),
}

impl PurgeDocuments {
    /// Erases these.
    pub fn new(documents: impl IntoIterator<Item = DocumentId>) -> Self {
        Self::Documents(documents.into_iter().collect())
    }
}

impl FromJson for PurgeDocuments {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let named = document_ids(&mut object)?;
        let days: Option<u64> = object.optional("olderThanDays")?;
        object.finish()?;
        match (named, days) {
            (Some(documents), None) => Ok(Self::Documents(documents)),
            (None, Some(days)) => {
                let beyond = |_| {
                    wrong_type("a number of days below 2 to the power of 32", &Value::from(days))
                };
                u32::try_from(days)
                    .map(Self::OlderThanDays)
                    .map_err(|error| beyond(error).at("olderThanDays"))
            }
            _ => Err(Error::validation("name exactly one of documentIds and olderThanDays")),
        }
    }
}

impl Serialize for PurgeDocuments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        match self {
            Self::Documents(documents) => map.serialize_entry("documentIds", documents)?,
            Self::OlderThanDays(days) => map.serialize_entry("olderThanDays", days)?,
        }
        map.end()
    }
}

deserialize_through_json!(
    ListDocuments,
    CreateDocuments,
    CreateFromTemplate,
    DeleteDocuments,
    MoveDocuments,
    RestoreDailyNotes,
    PurgeDocuments,
);
