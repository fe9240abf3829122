//! Names given by users: documents by title, path, day, alias or ID, folders and items by title or
//! path, and all of them and blocks by a prefix of the ID.

use std::collections::BTreeMap;
use std::iter;

use leafbase::{
    BlockId, BlockKind, BuiltInLocation, Collection, Connection, DayRef, Destination, Document,
    DocumentId, ErrorKind, Fetch, FindDocuments, FolderId, FolderRef, FullAccess, ItemFilter,
    ListCollections, ListDocuments, Location, Operator, QueryItems,
};

use crate::catalog::{Catalog, FolderCatalog};
use crate::days::{self, SpokenDay};
use crate::error::{CliError, CliResult};
use crate::show::blocks;

/// Minimum length of an ID prefix.
pub(crate) const MIN_ID_PREFIX: usize = 6;
/// Characters of a whole ID.
const ID_CHARACTERS: usize = 26;
/// Candidates listed for an ambiguous name.
const MAX_CANDIDATES: usize = 10;
/// The prefix of paths of documents in the trash.
const TRASH_PREFIX: &str = "trash/";
/// Documents or blocks that are looked up for the beginning of an ID.
const MAX_FOUND: usize = 100;

/// The target of a name.
#[derive(Clone, Debug)]
pub(crate) enum ResolvedName {
    Document(Box<Document>),
    /// A block other than the root of a document.
    Block(BlockId),
}

impl ResolvedName {
    /// The block, the root of a document.
    pub(crate) fn block(&self) -> BlockId {
        match self {
            Self::Document(document) => document.id().root(),
            Self::Block(block) => *block,
        }
    }
}

/// Whether a block is a document, a page or an item of a collection: it has content of its own.
pub(crate) fn is_page(notes: &Connection, block: BlockId) -> CliResult<bool> {
    let block = notes.fetch(Fetch::new(block).depth(0))?;
    Ok(matches!(block.data.kind, BlockKind::Page(_) | BlockKind::CollectionItem { .. }))
}

/// Resolves `name` to a document; for a block, the document that contains it.
pub(crate) fn document(notes: &Connection, name: &str) -> CliResult<Document> {
    match document_or_block(notes, name)? {
        ResolvedName::Document(document) => Ok(*document),
        ResolvedName::Block(block) => Ok(notes.document(notes.document_of(block)?)?),
    }
}

/// Resolves `name` to a document or a block by lookups; all documents are read only to suggest one
/// for a name that there is not. A title comes before a day, and documents in the trash come last.
pub(crate) fn document_or_block(notes: &Connection, name: &str) -> CliResult<ResolvedName> {
    if name.is_empty() {
        // The title of every untitled document, and what a shell makes of a variable without value.
        return Err(CliError::usage("the name is empty").hint(ALL_DOCUMENTS));
    }
    if let Ok(block) = name.parse::<BlockId>() {
        return by_id(notes, block, name);
    }
    let day = name.parse::<SpokenDay>().ok();
    let mut found = match day {
        Some(_) => outside_of_trash(notes, name)?,
        None => match by_title(notes, name)? {
            Some(document) => Some(document),
            None => by_alias(notes, name)?,
        },
    };
    if let (None, Some(day)) = (&found, day) {
        found = note_of(notes, day.at(notes)?)?;
    }
    if found.is_none() && (day.is_some() || name.starts_with(TRASH_PREFIX)) {
        found = in_trash(notes, name)?;
    }
    if let Some(document) = found {
        return Ok(ResolvedName::Document(Box::new(document)));
    }
    let block = match by_item(notes, name)? {
        Some(item) => Some(item),
        None => by_block_prefix(notes, name)?,
    };
    match block {
        Some(block) => Ok(ResolvedName::Block(block)),
        None if day.is_some() => Err(CliError::not_found(format!(
            "there is no daily note for {name}"
        ))
        .hint(format!("the first write creates it: leafbase add --to {} TEXT", quoted(name)))),
        None => {
            let catalog = Catalog::read(notes)?;
            let paths = catalog.documents.iter().map(|(path, _)| path.as_str());
            Err(unknown("document", name, paths, ALL_DOCUMENTS))
        }
    }
}

/// The document outside of the trash with this title or path, else with this alias.
fn outside_of_trash(notes: &Connection, name: &str) -> CliResult<Option<Document>> {
    let mut titled = titled(notes, name)?;
    titled.retain(|(_, document)| !is_trashed(document));
    match matching(name, &titled)? {
        Some(document) => Ok(Some(document)),
        None => by_alias(notes, name),
    }
}

fn is_trashed(document: &Document) -> bool {
    document.record.location == Location::Trash
}

/// The document in the trash that `name` means, a daily note by its day; with or without `trash/`.
pub(crate) fn in_trash(notes: &Connection, name: &str) -> CliResult<Option<Document>> {
    let name = name.strip_prefix(TRASH_PREFIX).unwrap_or(name);
    let mut titled = titled(notes, name)?;
    titled.retain(|(_, document)| is_trashed(document));
    if let Some(found) = matching(name, &titled)? {
        return Ok(Some(found));
    }
    match name.parse() {
        Ok(day) => trashed_note(notes, name, day),
        Err(_) => Ok(None),
    }
}

/// The note of the day in the trash.
fn trashed_note(notes: &Connection, name: &str, day: SpokenDay) -> CliResult<Option<Document>> {
    let date = day.date(days::today(notes)?)?;
    let trashed = notes.list_documents(ListDocuments::new().at(BuiltInLocation::Trash))?.items;
    let folders = FolderCatalog::read(notes)?;
    let found: Vec<_> = trashed
        .into_iter()
        .filter(|document| document.record.day == Some(date))
        .map(|document| (folders.path_of(&document), document))
        .collect();
    one_document(name, &found, &|_, _| true)
}

/// The document that has the name as an alias in its front matter.
fn by_alias(notes: &Connection, name: &str) -> CliResult<Option<Document>> {
    let mut found = notes.find_documents(FindDocuments::named(name))?.0;
    found.retain(|document| !is_trashed(document));
    if found.len() > 1 {
        let candidates = found.iter().map(|it| (it.id().to_string(), it.title.clone()));
        return Err(ambiguous("documents", name, candidates));
    }
    Ok(found.pop())
}

/// The day that `name` means, whose note is created by a write; none if another document outside of
/// the trash has that name.
pub(crate) fn day_to_write(notes: &Connection, name: &str) -> CliResult<Option<DayRef>> {
    let Ok(day) = name.parse::<SpokenDay>() else { return Ok(None) };
    match outside_of_trash(notes, name)? {
        Some(document) if document.record.location != Location::DailyNotes => Ok(None),
        _ => day.at(notes).map(Some),
    }
}

/// The name as one word of a shell.
pub(crate) fn quoted(name: &str) -> String {
    shlex::try_quote(name).map_or_else(|_| name.to_owned(), std::borrow::Cow::into_owned)
}

/// The item with this title, or `COLLECTION/TITLE`.
fn by_item(notes: &Connection, name: &str) -> CliResult<Option<BlockId>> {
    let collections = notes.list_collections(ListCollections::default())?.0;
    let mut found = Vec::new();
    for collection in &collections {
        let title = match name.split_once('/') {
            Some((of, title)) if of.eq_ignore_ascii_case(&collection.name) => title,
            _ => name,
        };
        for item in items_titled(notes, collection.id, title)? {
            found.push((item, format!("{}/{title}", collection.name)));
        }
    }
    one_block("items", name, found)
}

/// The items of a collection with this title.
pub(crate) fn items_titled(
    notes: &Connection,
    collection: BlockId,
    title: &str,
) -> CliResult<Vec<BlockId>> {
    let schema = notes.schema(collection)?;
    let filter = ItemFilter::on(&*schema.content.key, Operator::Equals, title);
    let mut request = QueryItems::of(collection).filtered(Some(filter));
    request.max_depth = Some(0);
    Ok(notes.query_items(request)?.iter().map(|item| item.id).collect())
}

/// The block whose ID begins so.
fn by_block_prefix(notes: &Connection, name: &str) -> CliResult<Option<BlockId>> {
    let Some(prefix) = id_prefix(name) else { return Ok(None) };
    let mut found = Vec::new();
    for block in notes.find_ids(&prefix, MAX_FOUND)?.blocks {
        found.push((block, blocks::words(&notes.fetch(Fetch::new(block).depth(0))?)));
    }
    one_block("blocks", name, found)
}

/// The document whose ID begins so.
fn by_document_prefix(notes: &Connection, name: &str) -> CliResult<Option<Document>> {
    let Some(prefix) = id_prefix(name) else { return Ok(None) };
    let folders = FolderCatalog::read(notes)?;
    let mut found = Vec::new();
    for id in notes.find_ids(&prefix, MAX_FOUND)?.documents {
        let document = notes.document(id)?;
        found.push((folders.path_of(&document), document));
    }
    one_document(name, &found, &|_, _| true)
}

/// The name as the beginning of an ID, if it may be one. IDs begin with a time, so with a zero, and
/// their alphabet has no I, L, O and U.
fn id_prefix(name: &str) -> Option<String> {
    let prefix = name.to_ascii_uppercase();
    let in_alphabet =
        |letter: char| letter.is_ascii_alphanumeric() && !matches!(letter, 'I' | 'L' | 'O' | 'U');
    let is_prefix = (MIN_ID_PREFIX..ID_CHARACTERS).contains(&prefix.len())
        && prefix.starts_with('0')
        && prefix.chars().all(in_alphabet);
    is_prefix.then_some(prefix)
}

fn one_block(what: &str, name: &str, found: Vec<(BlockId, String)>) -> CliResult<Option<BlockId>> {
    match found.as_slice() {
        [] => Ok(None),
        [(block, _)] => Ok(Some(*block)),
        _ => {
            let candidates = found.into_iter().map(|(block, text)| (block.to_string(), text));
            Err(ambiguous(what, name, candidates))
        }
    }
}

/// The daily note, if it exists.
fn note_of(notes: &Connection, day: DayRef) -> CliResult<Option<Document>> {
    match notes.fetch(Fetch::day(day).depth(0)) {
        Ok(note) => Ok(Some(notes.document(DocumentId::of_root(note.id))?)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn by_id(notes: &Connection, block: BlockId, name: &str) -> CliResult<ResolvedName> {
    match notes.document_of(block) {
        Ok(document) if document.root() == block => {
            Ok(ResolvedName::Document(Box::new(notes.document(document)?)))
        }
        Ok(_) => Ok(ResolvedName::Block(block)),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(CliError::not_found(format!("no document or block has the ID {name}"))
                .hint(ALL_DOCUMENTS))
        }
        Err(error) => Err(error.into()),
    }
}

const ALL_DOCUMENTS: &str = "list all documents with their IDs: leafbase ls --all --long";
const ALL_FOLDERS: &str = "list all folders: leafbase tree --depth 1";

/// Whether a name refers to the document with this path.
type NameMatcher<'a> = dyn Fn(&str, &Document) -> bool + 'a;

/// Whether a name refers to the folder with this path.
type FolderMatcher<'a> = dyn Fn(&str, FolderId) -> bool + 'a;

fn by_title(notes: &Connection, name: &str) -> CliResult<Option<Document>> {
    match matching(name, &titled(notes, name)?)? {
        Some(document) => Ok(Some(document)),
        None => by_document_prefix(notes, name),
    }
}

/// The document whose title or path is the name; case is ignored if none has it as it is.
fn matching(name: &str, titled: &[(String, Document)]) -> CliResult<Option<Document>> {
    let lower = name.to_lowercase();
    let tests: [&NameMatcher<'_>; 2] =
        [&|path, document| path == name || document.title == name, &|path, document| {
            path.to_lowercase() == lower || document.title.to_lowercase() == lower
        }];
    for test in tests {
        if let Some(found) = one_document(name, titled, test)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The documents whose title or path is the name, with their paths, sorted by these. The engine
/// knows the paths of folders; that of a built-in location is its name and the title.
fn titled(notes: &Connection, name: &str) -> CliResult<Vec<(String, Document)>> {
    let folders = FolderCatalog::read(notes)?;
    let behind = name.split_once('/').map(|(_, title)| title);
    let mut found = BTreeMap::new();
    for title in iter::once(name).chain(behind) {
        for document in notes.find_documents(FindDocuments::named(title))?.0 {
            let path = folders.path_of(&document);
            found.insert((path.to_lowercase(), document.id()), (path, document));
        }
    }
    Ok(found.into_values().collect())
}

/// The document that passes the test.
fn one_document(
    name: &str,
    documents: &[(String, Document)],
    test: &NameMatcher<'_>,
) -> CliResult<Option<Document>> {
    let (trashed, found): (Vec<_>, Vec<_>) = documents
        .iter()
        .filter(|(path, document)| test(path, document))
        .partition(|(_, document)| is_trashed(document));
    // A document in the trash is a candidate only if no other document matches.
    let found = if found.is_empty() { trashed } else { found };
    match found.as_slice() {
        [] => Ok(None),
        [(_, document)] => Ok(Some(document.clone())),
        several => {
            let candidates =
                several.iter().map(|(path, document)| (document.id().to_string(), path.clone()));
            Err(ambiguous("documents", name, candidates))
        }
    }
}

pub(crate) fn ambiguous(
    what: &str,
    name: &str,
    candidates: impl Iterator<Item = (String, String)>,
) -> CliError {
    let candidates: Vec<_> = candidates.collect();
    let mut hint = vec!["choose one by its ID or path:".to_owned()];
    hint.extend(candidates.iter().take(MAX_CANDIDATES).map(|(id, path)| format!("{id}  {path}")));
    if candidates.len() > MAX_CANDIDATES {
        hint.push(format!("and {} more", candidates.len() - MAX_CANDIDATES));
    }
    let (hint, count) = (hint.join("\n"), candidates.len());
    // Of the beginning of an ID no more are looked up.
    let or_more = if count == MAX_FOUND { " or more" } else { "" };
    CliError::usage(format!("{name:?} is ambiguous: {count}{or_more} {what} match"))
        .hint(hint)
        .with_details(candidates)
}

/// Suggests names that contain the given one.
fn unknown<'a>(
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'a str>,
    otherwise: &str,
) -> CliError {
    let lower = name.to_lowercase();
    let near: Vec<_> = known.filter(|path| path.to_lowercase().contains(&lower)).take(3).collect();
    let error = CliError::not_found(format!("no {what} is named {name:?}"));
    if near.is_empty() {
        error.hint(otherwise)
    } else {
        error.hint(format!("did you mean: {}", near.join(", ")))
    }
}

/// Resolves `name` to a folder or a built-in location, if it exists.
pub(crate) fn find_folder(folders: &FolderCatalog, name: &str) -> CliResult<Option<FolderRef>> {
    let name = name.trim_matches('/');
    if let Ok(id) = name.parse::<FolderId>() {
        let known = folders.path(id).map(|_| Some(id.into()));
        return known.ok_or_else(|| {
            CliError::not_found(format!("no folder has the ID {name}")).hint(ALL_FOLDERS)
        });
    }
    let lower = name.to_lowercase();
    let id = name.to_ascii_uppercase();
    let tests: [&FolderMatcher<'_>; 3] =
        [&|path, _| path == name, &|path, _| path.to_lowercase() == lower, &|_, folder| {
            name.len() >= MIN_ID_PREFIX && folder.to_string().starts_with(&id)
        }];
    for test in tests {
        let mut found: Vec<_> =
            folders.paths().filter(|(path, folder)| test(path, *folder)).collect();
        found.sort_unstable();
        match found.as_slice() {
            [] => {}
            [(_, id)] => return Ok(Some((*id).into())),
            several => {
                let candidates =
                    several.iter().map(|(path, id)| (id.to_string(), (*path).to_owned()));
                return Err(ambiguous("folders", name, candidates));
            }
        }
    }
    Ok(lower.replace(' ', "_").parse::<BuiltInLocation>().ok().map(FolderRef::from))
}

/// The folder or the built-in location that `name` means.
pub(crate) fn folder(folders: &FolderCatalog, name: &str) -> CliResult<FolderRef> {
    let unknown = || unknown("folder", name, folders.paths().map(|(path, _)| path), ALL_FOLDERS);
    find_folder(folders, name)?.ok_or_else(unknown)
}

/// Resolves `name` to a folder other than a built-in location, if it exists.
pub(crate) fn own_folder(folders: &FolderCatalog, name: &str) -> CliResult<Option<FolderId>> {
    let found = find_folder(folders, name)?;
    Ok(found.and_then(|found| match found {
        FolderRef::Folder(folder) => Some(folder),
        FolderRef::BuiltIn(_) => None,
    }))
}

/// A destination for documents, which may be missing yet.
#[derive(Clone, Debug)]
pub(crate) struct PlannedDestination {
    found: Destination,
    /// The names of the folders to create below `found`, one in the other.
    missing: Vec<String>,
}

impl PlannedDestination {
    /// Creates what is missing.
    pub(crate) fn create<A: FullAccess>(
        &self,
        notes: &Connection<A>,
    ) -> leafbase::Result<Destination> {
        self.missing.iter().try_fold(self.found, |place, name| {
            let parent = match place {
                Destination::Folder(folder) => Some(folder),
                _ => None,
            };
            Ok(notes.create_folder(name, parent)?.id.into())
        })
    }
}

/// Resolves a destination for documents; creates a missing folder and its missing ancestors.
pub(crate) fn destination(notes: &Connection, name: &str) -> CliResult<Destination> {
    Ok(planned_destination(notes, name)?.create(notes)?)
}

/// Resolves a destination for documents.
pub(crate) fn planned_destination(notes: &Connection, name: &str) -> CliResult<PlannedDestination> {
    let folders = FolderCatalog::read(notes)?;
    let there = |found| Ok(PlannedDestination { found, missing: Vec::new() });
    match find_folder(&folders, name)? {
        Some(FolderRef::Folder(folder)) => there(folder.into()),
        Some(FolderRef::BuiltIn(BuiltInLocation::Unsorted)) => there(Destination::Unsorted),
        Some(FolderRef::BuiltIn(BuiltInLocation::Templates)) => there(Destination::Templates),
        Some(FolderRef::BuiltIn(BuiltInLocation::DailyNotes)) => {
            Err(CliError::usage("daily notes are created by writing to their day")
                .hint("leafbase add --to 2026-03-01 TEXT"))
        }
        Some(FolderRef::BuiltIn(BuiltInLocation::Trash)) => {
            Err(CliError::usage("documents are moved to the trash by rm").hint("leafbase rm NAME"))
        }
        None => missing_folder(&folders, name),
    }
}

/// The folder with this path, of which the last name is missing.
fn missing_folder(folders: &FolderCatalog, path: &str) -> CliResult<PlannedDestination> {
    let mut place = PlannedDestination { found: Destination::Unsorted, missing: Vec::new() };
    let mut above = String::new();
    for name in path.split('/').filter(|name| !name.is_empty()) {
        above = if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") };
        match own_folder(folders, &above)? {
            Some(folder) => place.found = folder.into(),
            None => place.missing.push(name.to_owned()),
        }
    }
    if place.missing.is_empty() {
        return Err(CliError::usage("the name of the folder is empty"));
    }
    Ok(place)
}

/// Resolves `name` to a collection by its name or ID.
pub(crate) fn collection(notes: &Connection, name: &str) -> CliResult<Collection> {
    let all = notes.list_collections(ListCollections::default())?.0;
    let (id, lower) = (name.parse::<BlockId>().ok(), name.to_lowercase());
    let prefix = name.to_ascii_uppercase();
    let tests: [&dyn Fn(&Collection) -> bool; 4] = [
        &|collection| Some(collection.id) == id,
        &|collection| collection.name == name,
        &|collection| collection.name.to_lowercase() == lower,
        &|one| name.len() >= MIN_ID_PREFIX && one.id.to_string().starts_with(&prefix),
    ];
    for test in tests {
        let mut found: Vec<_> = all.iter().filter(|collection| test(collection)).collect();
        match found.as_slice() {
            [] => {}
            [_] => return found.pop().cloned().ok_or_else(|| CliError::not_found(name)),
            several => {
                let candidates =
                    several.iter().map(|found| (found.id.to_string(), found.name.clone()));
                return Err(ambiguous("collections", name, candidates));
            }
        }
    }
    let names = all.iter().map(|collection| collection.name.as_str());
    Err(unknown("collection", name, names, "list all collections: leafbase collections"))
}
