//! The document operations: list, create, delete, move, restore, purge.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::{Paging, given};
use crate::json::{
    Object, Refused, deserialize_by, is_default, one_or_many, optional_one_or_many, or_default,
    read, wire_enum,
};
#[cfg(feature = "schemars")]
use crate::json_schemas::OneOrMany;
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
        let named = object.one_or_many(folders)?;
        if location.is_some() && named.is_some() {
            return Err(Error::validation(format!("{folders} cannot be combined with location"))
                .at(folders));
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

impl ListDocuments {
    fn read(value: Value) -> Result<Self> {
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
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct CreateDocuments {
    /// The documents: each a page with its content.
    #[serde(deserialize_with = "document_drafts")]
    #[cfg_attr(feature = "schemars", schemars(with = "Vec<crate::json_schemas::PageDraft>"))]
    pub documents: Vec<BlockDraft>,
    /// Where they are kept.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
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

/// The draft of a document: a page, whose `type` may be left out.
struct DocumentDraft(BlockDraft);

impl DocumentDraft {
    fn read(mut value: Value) -> Result<Self> {
        if let Value::Object(fields) = &mut value {
            fields.entry("type").or_insert_with(|| Value::from("page"));
        }
        read(value).map(Self)
    }
}

deserialize_by!(DocumentDraft: Self::read);

fn document_drafts<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<BlockDraft>, D::Error> {
    let drafts: Vec<DocumentDraft> = Deserialize::deserialize(deserializer)?;
    Ok(drafts.into_iter().map(|draft| draft.0).collect())
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
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct CreateFromTemplate {
    /// The template.
    pub template_id: DocumentId,
    /// The title of the copy; the template's if none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Where the copy is kept.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
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

/// Puts documents into the trash. As JSON: `{"documentIds": [".."]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct DeleteDocuments {
    /// The documents.
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "schemars", schemars(with = "OneOrMany<DocumentId>"))]
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
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct MoveDocuments {
    /// The documents.
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "schemars", schemars(with = "OneOrMany<DocumentId>"))]
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

/// Takes daily notes out of the trash, each back to its day. As JSON: `{"documentIds": [".."]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RestoreDailyNotes {
    /// The daily notes.
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "schemars", schemars(with = "OneOrMany<DocumentId>"))]
    pub document_ids: Vec<DocumentId>,
}

impl RestoreDailyNotes {
    /// Restores these.
    pub fn new(documents: impl IntoIterator<Item = DocumentId>) -> Self {
        Self { document_ids: documents.into_iter().collect() }
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
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "PurgeDocumentsJson", into = "PurgeDocumentsJson")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
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

/// The JSON of a [`PurgeDocuments`]: exactly one of `documentIds` and `olderThanDays`.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
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
            (None, Some(days)) => u32::try_from(days).map(Self::OlderThanDays).map_err(|_| {
                let message =
                    format!("expected a number of days below 2 to the power of 32, got {days}");
                Refused(Error::validation(message).at("olderThanDays"))
            }),
            _ => Err(Error::validation("name exactly one of documentIds and olderThanDays").into()),
        }
    }
}
