//! What people call things: documents by title, path, day or ID, folders by path, blocks by ID.

use leafbase::{
    Block, BlockId, BuiltInLocation, Collection, Connection, DayRef, Destination, Document,
    DocumentId, ErrorKind, Fetch, FolderId, FolderRef, ListCollections, Location,
};

use crate::catalog::{Catalog, Folders};
use crate::fault::{Fault, Result};

/// Letters that a beginning of an ID needs to be taken for one.
const PREFIX: usize = 6;
/// So many candidates are listed.
const LISTED: usize = 10;

/// What a name can stand for.
#[derive(Clone, Debug)]
pub(crate) enum Named {
    Document(Box<Document>),
    /// A block that is no root of a document.
    Block(BlockId),
}

/// The document that `name` means.
pub(crate) fn document(notes: &Connection, name: &str) -> Result<Document> {
    match document_or_block(notes, name)? {
        Named::Document(document) => Ok(*document),
        Named::Block(block) => Ok(notes.document(notes.document_of(block)?)?),
    }
}

/// The document or the block that `name` means. An ID is looked up; another name is looked for in
/// all titles.
pub(crate) fn document_or_block(notes: &Connection, name: &str) -> Result<Named> {
    if let Ok(block) = name.parse::<BlockId>() {
        return by_id(notes, block, name);
    }
    let day = name.parse::<DayRef>().ok();
    if let Some(note) = day.map(|day| note_of(notes, day)).transpose()?.flatten() {
        return Ok(Named::Document(Box::new(notes.document(DocumentId::of_root(note.id))?)));
    }
    match by_title(&Catalog::read(notes)?, name) {
        Err(_) if day.is_some() => Err(Fault::not_found(format!("there is no note of {name} yet"))
            .hint(format!("it is made by the first write to it: leafbase add --to {name} TEXT"))),
        found => found.map(|document| Named::Document(Box::new(document))),
    }
}

/// The note of a day without what is in it, if there is one.
fn note_of(notes: &Connection, day: DayRef) -> Result<Option<Block>> {
    match notes.fetch(Fetch::day(day).depth(0)) {
        Ok(note) => Ok(Some(note)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn by_id(notes: &Connection, block: BlockId, name: &str) -> Result<Named> {
    match notes.document_of(block) {
        Ok(document) if document.root() == block => {
            Ok(Named::Document(Box::new(notes.document(document)?)))
        }
        Ok(_) => Ok(Named::Block(block)),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(Fault::not_found(format!("there is no document or block {name}"))
                .hint(ALL_DOCUMENTS))
        }
        Err(error) => Err(error.into()),
    }
}

const ALL_DOCUMENTS: &str = "all documents, with their IDs: leafbase ls --all --long";

/// Whether a name means the document with this path.
type Test<'a> = dyn Fn(&str, &Document) -> bool + 'a;

fn by_title(catalog: &Catalog, name: &str) -> Result<Document> {
    let lower = name.to_lowercase();
    let id = name.to_ascii_uppercase();
    let may_be_id = name.len() >= PREFIX;
    let tests: [&Test<'_>; 3] = [
        &|path, document| path == name || document.title == name,
        &|path, document| path.to_lowercase() == lower || document.title.to_lowercase() == lower,
        &|_, document| may_be_id && document.id().to_string().starts_with(&id),
    ];
    for test in tests {
        let (trashed, found): (Vec<_>, Vec<_>) = catalog
            .documents
            .iter()
            .filter(|(path, document)| test(path, document))
            .partition(|(_, document)| document.record.location == Location::Trash);
        // What is in the trash is meant only where nothing else is called so.
        let found = if found.is_empty() { trashed } else { found };
        match found.as_slice() {
            [] => {}
            [(_, document)] => return Ok(document.clone()),
            several => {
                let candidates = several
                    .iter()
                    .map(|(path, document)| (document.id().to_string(), path.clone()));
                return Err(ambiguous("documents", name, candidates));
            }
        }
    }
    Err(unknown(
        "document",
        name,
        catalog.documents.iter().map(|(path, _)| path.as_str()),
        ALL_DOCUMENTS,
    ))
}

fn ambiguous(what: &str, name: &str, candidates: impl Iterator<Item = (String, String)>) -> Fault {
    let candidates: Vec<_> = candidates.collect();
    let mut hint = vec!["name one by its ID, or by its path:".to_owned()];
    hint.extend(candidates.iter().take(LISTED).map(|(id, path)| format!("{id}  {path}")));
    if candidates.len() > LISTED {
        hint.push(format!("and {} more", candidates.len() - LISTED));
    }
    let hint = hint.join("\n");
    Fault::usage(format!("{} {what} are called {name:?}", candidates.len()))
        .hint(hint)
        .with_details(candidates)
}

/// What sounds like it is proposed.
fn unknown<'a>(
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'a str>,
    otherwise: &str,
) -> Fault {
    let lower = name.to_lowercase();
    let near: Vec<_> = known.filter(|path| path.to_lowercase().contains(&lower)).take(3).collect();
    let fault = Fault::not_found(format!("there is no {what} called {name:?}"));
    if near.is_empty() {
        fault.hint(otherwise)
    } else {
        fault.hint(format!("did you mean: {}", near.join(", ")))
    }
}

/// The folder or the built-in location that `name` means, if there is one.
fn find_folder(folders: &Folders, name: &str) -> Result<Option<FolderRef>> {
    let name = name.trim_matches('/');
    if let Ok(id) = name.parse::<FolderId>() {
        return Ok(Some(id.into()));
    }
    let lower = name.to_lowercase();
    let tests: [&dyn Fn(&str) -> bool; 2] =
        [&|path| path == name, &|path| path.to_lowercase() == lower];
    for test in tests {
        let mut found: Vec<_> = folders.paths().filter(|(path, _)| test(path)).collect();
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
pub(crate) fn folder(folders: &Folders, name: &str) -> Result<FolderRef> {
    let unknown = || {
        unknown(
            "folder",
            name,
            folders.paths().map(|(path, _)| path),
            "all folders: leafbase tree --depth 1",
        )
    };
    find_folder(folders, name)?.ok_or_else(unknown)
}

/// The folder that `name` means and that is no built-in location, if there is one.
pub(crate) fn own_folder(folders: &Folders, name: &str) -> Result<Option<FolderId>> {
    let found = find_folder(folders, name)?;
    Ok(found.and_then(|found| match found {
        FolderRef::Folder(folder) => Some(folder),
        FolderRef::BuiltIn(_) => None,
    }))
}

/// Where documents are to be kept; a folder that does not exist is made, with those above it.
pub(crate) fn destination(notes: &Connection, name: &str) -> Result<Destination> {
    match find_folder(&Folders::read(notes)?, name)? {
        Some(FolderRef::Folder(folder)) => Ok(folder.into()),
        Some(FolderRef::BuiltIn(BuiltInLocation::Unsorted)) => Ok(Destination::Unsorted),
        Some(FolderRef::BuiltIn(BuiltInLocation::Templates)) => Ok(Destination::Templates),
        Some(FolderRef::BuiltIn(BuiltInLocation::DailyNotes)) => {
            Err(Fault::usage("daily notes are made by writing to their day")
                .hint("leafbase add --to 2026-03-01 TEXT"))
        }
        Some(FolderRef::BuiltIn(BuiltInLocation::Trash)) => {
            Err(Fault::usage("documents come into the trash by being deleted")
                .hint("leafbase rm NAME"))
        }
        None => make_folder(notes, name).map(Destination::from),
    }
}

/// Makes the folder with this path, and those above it that are missing.
fn make_folder(notes: &Connection, path: &str) -> Result<FolderId> {
    let folders = Folders::read(notes)?;
    let (mut parent, mut above) = (None, String::new());
    for name in path.split('/').filter(|name| !name.is_empty()) {
        above = if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") };
        parent = match own_folder(&folders, &above)? {
            Some(folder) => Some(folder),
            None => Some(notes.create_folder(name, parent)?.id),
        };
    }
    parent.ok_or_else(|| Fault::usage("a folder needs a name"))
}

/// The collection that `name` means: its name, or its ID.
pub(crate) fn collection(notes: &Connection, name: &str) -> Result<Collection> {
    let all = notes.list_collections(ListCollections::default())?.0;
    let (id, lower) = (name.parse::<BlockId>().ok(), name.to_lowercase());
    let tests: [&dyn Fn(&Collection) -> bool; 3] = [
        &|collection| Some(collection.id) == id,
        &|collection| collection.name == name,
        &|collection| collection.name.to_lowercase() == lower,
    ];
    for test in tests {
        let mut found: Vec<_> = all.iter().filter(|collection| test(collection)).collect();
        match found.as_slice() {
            [] => {}
            [_] => return found.pop().cloned().ok_or_else(|| Fault::not_found(name)),
            several => {
                let candidates =
                    several.iter().map(|found| (found.id.to_string(), found.name.clone()));
                return Err(ambiguous("collections", name, candidates));
            }
        }
    }
    let names = all.iter().map(|collection| collection.name.as_str());
    Err(unknown("collection", name, names, "all collections: leafbase collections"))
}
