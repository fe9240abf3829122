//! Lists of documents: translates filters of requests into queries of the store.

use std::collections::BTreeSet;

use jiff::tz::TimeZone;
use leafbase_model::{
    DayRange, DayRef, Document, DocumentFilter, DocumentId, DocumentOrder, Error, FolderRef, Items,
    ItemsPage, Limits, ListDocuments, Result, Timestamp, fold_tag,
};
use leafbase_store::{DocumentQuery, IndexOrder, PageCursor, Span, Within};
use leafbase_tree_ops as ops;

use super::query::find;
use super::titles::titled;
use crate::core::access::FullAccess;
use crate::core::connection::Connection;
use crate::core::tree::Tree;
use crate::operations::cursor_text::{read_cursor, write_cursor};
use crate::operations::folders::FolderReader;
use crate::support::days;

impl<A: FullAccess> Connection<A> {
    /// All documents of the space, ordered by ID, without metadata; those in the trash are marked.
    /// The inbox is hidden. The cost is linear in the number of documents.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// notes.create_documents(leafbase::CreateDocuments::titled(["Lisbon", "Porto"]))?;
    /// let mut titles: Vec<_> = notes.documents()?.iter().map(|document| document.title.clone())
    ///     .collect();
    /// titles.sort();
    /// assert_eq!(titles, ["Lisbon", "Porto"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What the store reports.
    pub fn documents(&self) -> Result<Items<Document>> {
        self.operation("documents").read_all(|reader| {
            let (found, _) = find(reader, &DocumentQuery::default(), None, usize::MAX)?;
            Ok(Items(found.into_iter().map(|row| titled(row, false)).collect()))
        })
    }

    /// The documents that match every filter of the request, in its order, up to its limit. Without
    /// a filter all documents match, including those in the trash, which are marked; the inbox is
    /// hidden. Days are days of the space's time zone.
    ///
    /// A page costs the documents it returns if no days and tags are filtered by, if the filtered
    /// kind of day is also the order, which is the default, or if the only filter is a tag and the
    /// order by ID. Otherwise, and for daily notes of one location by day, it may cost as many
    /// documents as match the most selective filter.
    ///
    /// ```
    /// use leafbase::{DayRange, DayRef, ListDocuments};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// notes.create_document("Trip")?;
    /// notes.create_document("Diary")?;
    /// let lately = ListDocuments::new().modified(DayRange::since(DayRef::Yesterday)).descending()
    ///     .limit(1);
    /// let page = notes.list_documents(lately.clone())?;
    /// let next = notes.list_documents(lately.after(page.next_cursor.clone().unwrap()))?;
    /// assert_eq!((page.len(), next.len()), (1, 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] at `folderId`; [`crate::ErrorKind::Validation`] at `folderId`
    /// for a built-in location among several and when combined with `location`, at `limit` for
    /// 0, and at `cursor` for a cursor of another list; [`crate::ErrorKind::LimitExceeded`] at
    /// `folderId` for more than [`crate::Limits::blocks_per_request`], and at `tags` for more than
    /// [`crate::Limits::FILTER_TAGS`].
    pub fn list_documents(&self, request: ListDocuments) -> Result<ItemsPage<Document>> {
        request.paging.check()?;
        self.check_ids("folderId", request.filter.folders.as_ref())?;
        let cursor = request.paging.cursor.as_deref().map(page_cursor).transpose()?;
        let now = self.space.now();
        self.operation("list_documents").read(|tree| {
            let reader = tree.full_reader()?;
            let query = request_query(tree, &request, now)?;
            let ListDocuments { metadata, paging, .. } = request;
            let (found, next) = find(reader, &query, cursor, paging.limit.unwrap_or(usize::MAX))?;
            Ok(ItemsPage {
                items: found.into_iter().map(|row| self.linked(titled(row, metadata))).collect(),
                next_cursor: next.as_ref().map(|next| write_cursor(next.as_bytes())),
            })
        })
    }
}

/// A document as an entry of a list.
pub(crate) struct ListedDocument {
    pub(crate) entry: Document,
    /// The one that follows it.
    pub(crate) next: Option<DocumentId>,
}

impl<A: FullAccess> Connection<A> {
    /// A document as an entry of a list without limit; `None` if it does not match.
    pub(crate) fn listed(
        &self,
        tree: &Tree<'_>,
        request: &ListDocuments,
        document: DocumentId,
    ) -> Result<Option<ListedDocument>> {
        let reader = tree.full_reader()?;
        let query = request_query(tree, request, self.space.now())?;
        let Some((row, cursor)) = reader.matching_document(&query, document)? else {
            return Ok(None);
        };
        let (next, _) = find(reader, &query, Some(cursor), 1)?;
        let entry = self.linked(titled(row, request.metadata));
        Ok(Some(ListedDocument { entry, next: next.first().map(|next| next.record.id) }))
    }
}

/// The query of a list.
fn request_query(
    tree: &Tree<'_>,
    request: &ListDocuments,
    now: Timestamp,
) -> Result<DocumentQuery> {
    let ListDocuments { filter, order, descending, .. } = request;
    let order = order_of(order.unwrap_or_else(|| own_order(filter)));
    let query = query(tree, filter, now, &folder_path(filter))?;
    Ok(DocumentQuery { order, descending: *descending, ..query })
}

/// The path of the folder at an index of the filter. A request may give a single ID or an array.
fn folder_path(filter: &DocumentFilter) -> impl Fn(usize) -> String {
    let is_list = filter.folders.as_ref().is_some_and(|folders| folders.len() > 1);
    move |index| if is_list { format!("folderId[{index}]") } else { "folderId".to_owned() }
}

/// Translates `filter` into a query; `now` resolves relative days. `folder_path` gives the path of
/// a folder in the request.
pub(crate) fn query(
    tree: &Tree<'_>,
    filter: &DocumentFilter,
    now: Timestamp,
    folder_path: &dyn Fn(usize) -> String,
) -> Result<DocumentQuery> {
    let within = within(tree, filter, folder_path)?;
    // Exhaustive: a new filter takes part in the query here.
    let DocumentFilter { location: _, folders: _, created, modified, daily_note, tags } = filter;
    let (tags, days) = (filter_tags(tags)?, [*created, *modified, *daily_note]);
    let query = DocumentQuery { within, tags, ..DocumentQuery::default() };
    if days == [DayRange::ALL; 3] {
        return Ok(query);
    }
    let [created, modified, daily_note] = days;
    let range = DayResolver { zone: tree.zone()?, now };
    let created = range.instants(created, ["createdDateGte", "createdDateLte"])?;
    let modified = range.instants(modified, ["lastModifiedDateGte", "lastModifiedDateLte"])?;
    let day = range.days(daily_note, ["dailyNoteDateGte", "dailyNoteDateLte"])?;
    Ok(DocumentQuery { created, modified, day, ..query })
}

fn within(
    tree: &Tree<'_>,
    filter: &DocumentFilter,
    folder_path: &dyn Fn(usize) -> String,
) -> Result<Within> {
    let Some(folders) = &filter.folders else {
        return Ok(filter
            .location
            .map_or(Within::All, |location| Within::Location(location.into())));
    };
    if filter.location.is_some() {
        return Err(Error::validation("folderId cannot be combined with location").at("folderId"));
    }
    // The listing of folders has the built-in locations as folders.
    if let [FolderRef::BuiltIn(location)] = folders.as_slice() {
        return Ok(Within::Location((*location).into()));
    }
    let reader = tree.full_reader()?;
    let mut tops = Vec::with_capacity(folders.len());
    for (index, folder) in folders.iter().enumerate() {
        let found = match folder {
            FolderRef::BuiltIn(location) => {
                let message = format!("{location} is a built-in location, which is named alone");
                Err(Error::validation(message))
            }
            FolderRef::Folder(folder) if reader.folder(*folder)?.is_none() => {
                Err(Error::no_folder())
            }
            FolderRef::Folder(folder) => Ok(*folder),
        };
        tops.push(found.map_err(|error| error.at(folder_path(index)))?);
    }
    ops::folders_within(&FolderReader(reader), &tops).map(Within::Folders)
}

/// The default order: by the only kind of day that is filtered by, so that one index serves both;
/// otherwise by ID.
fn own_order(filter: &DocumentFilter) -> DocumentOrder {
    let bounded =
        [filter.created, filter.modified, filter.daily_note].map(|range| range != DayRange::ALL);
    match bounded {
        [true, false, false] => DocumentOrder::Created,
        [false, true, false] => DocumentOrder::Modified,
        [false, false, true] => DocumentOrder::DailyNote,
        _ => DocumentOrder::Id,
    }
}

const fn order_of(order: DocumentOrder) -> IndexOrder {
    match order {
        DocumentOrder::Id => IndexOrder::Id,
        DocumentOrder::Created => IndexOrder::Created,
        DocumentOrder::Modified => IndexOrder::Modified,
        DocumentOrder::DailyNote => IndexOrder::Day,
    }
}

/// Resolves days of a request to ranges.
struct DayResolver {
    zone: TimeZone,
    now: Timestamp,
}

impl DayResolver {
    fn days(&self, range: DayRange, names: [&str; 2]) -> Result<Span<leafbase_model::Day>> {
        let [from, to] = names;
        let resolve = |day: Option<DayRef>, name: &str| {
            day.map(|day| days::resolve(day, &self.zone, self.now))
                .transpose()
                .map_err(|error| error.at(name))
        };
        Ok(Span { from: resolve(range.from, from)?, to: resolve(range.to, to)? })
    }

    /// From the first instant of the first day to the last instant of the last day.
    fn instants(&self, range: DayRange, names: [&str; 2]) -> Result<Span<Timestamp>> {
        let Span { from, to } = self.days(range, names)?;
        let from = from.map(|day| days::start_of(day, &self.zone));
        let to = to.map(|day| days::end_of(day, &self.zone));
        Ok(Span { from, to })
    }
}

/// The tags of a filter in lowercase, each once.
///
/// # Errors
/// [`leafbase_model::ErrorKind::LimitExceeded`] at `tags`.
pub(crate) fn filter_tags(tags: &[String]) -> Result<Vec<String>> {
    if tags.len() > Limits::FILTER_TAGS {
        return Err(Error::limit("tags", Limits::FILTER_TAGS, tags.len()).at("tags"));
    }
    let tags: BTreeSet<String> = tags.iter().map(|tag| fold_tag(tag)).collect();
    Ok(tags.into_iter().collect())
}

fn page_cursor(text: &str) -> Result<PageCursor> {
    let foreign =
        || Error::validation("the cursor belongs to another list of documents").at("cursor");
    read_cursor(text).map(|bytes| PageCursor::from_bytes(&bytes)).ok_or_else(foreign)
}
