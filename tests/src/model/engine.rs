//! What the engine answers, as JSON: one text for each item, or for each page of a listing.

use std::io::Read;

use leafbase::{
    Connection, DeleteBlocks, Error, FullAccess, InsertBlocks, ListTags, MoveBlocks, UpdateBlocks,
};
use leafbase_test_outline::{
    BlockRequest, CollectionRequest, CommentRequest, DocumentRequest, FileRequest, FolderRequest,
    Request, TaskRequest,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub fn answer(notes: &Connection, request: Request) -> Result<Vec<String>, Error> {
    match request {
        Request::Files(request) => files(notes, request),
        Request::Documents(DocumentRequest::Purge(purge)) => {
            Ok(each(&notes.purge_documents(sent(&purge))?))
        }
        other => answer_in_batch(notes, other),
    }
}

/// Whether a batch has the operation.
pub fn is_batchable(request: &Request) -> bool {
    !matches!(request, Request::Files(_) | Request::Documents(DocumentRequest::Purge(_)))
}

/// What a batch answers, or the connection itself.
pub fn answer_in_batch<A: FullAccess>(
    notes: &Connection<A>,
    request: Request,
) -> Result<Vec<String>, Error> {
    match request {
        Request::Blocks(request) => blocks(notes, request),
        Request::Documents(request) => documents(notes, request),
        Request::Folders(request) => folders(notes, request),
        Request::Tasks(request) => tasks(notes, request),
        Request::Comments(request) => comments(notes, &request),
        Request::Files(_) => panic!("a batch has no files"),
        Request::Collections(request) => collections(notes, request),
    }
}

/// The request as it comes over a wire.
fn sent<T: Serialize + DeserializeOwned>(request: &T) -> T {
    serde_json::from_str(&json(request)).unwrap()
}

pub fn json(value: impl Serialize) -> String {
    serde_json::to_string(&value).unwrap()
}

pub fn each<T: Serialize>(items: &[T]) -> Vec<String> {
    items.iter().map(json).collect()
}

/// A page of a listing.
pub fn page<T: Serialize>(items: &[T], more_follow: bool) -> String {
    json((items, more_follow))
}

/// Every page of a listing, asked for by the cursor of the one before.
fn pages<T: Serialize>(
    mut list: impl FnMut(Option<String>) -> Result<leafbase::ItemsPage<T>, Error>,
) -> Result<Vec<String>, Error> {
    let (mut pages, mut cursor) = (Vec::new(), None);
    loop {
        let listed = list(cursor)?;
        pages.push(page(&listed.items, listed.next_cursor.is_some()));
        cursor = listed.next_cursor;
        if cursor.is_none() {
            return Ok(pages);
        }
    }
}

fn comments<A: FullAccess>(
    notes: &Connection<A>,
    request: &CommentRequest,
) -> Result<Vec<String>, Error> {
    Ok(match request {
        CommentRequest::Add(request) => each(&notes.add_comments(sent(request))?),
        CommentRequest::List(request) => each(&notes.list_comments(sent(request))?),
        CommentRequest::Update(request) => each(&notes.update_comments(sent(request))?),
        CommentRequest::Delete(request) => each(&notes.delete_comments(sent(request))?),
    })
}

fn blocks<A: FullAccess>(
    notes: &Connection<A>,
    request: BlockRequest,
) -> Result<Vec<String>, Error> {
    Ok(match request {
        BlockRequest::CreateDocument { root, destination } => {
            vec![json(notes.create_document_of(root, destination)?)]
        }
        BlockRequest::Insert { drafts, position } => {
            each(&notes.insert_blocks(InsertBlocks::blocks(drafts, position))?)
        }
        BlockRequest::Update(blocks) => each(&notes.update_blocks(UpdateBlocks::new(blocks))?),
        BlockRequest::Delete(block_ids) => {
            each(&notes.delete_blocks(DeleteBlocks::new(block_ids))?)
        }
        BlockRequest::Move { ids, position } => {
            each(&notes.move_blocks(MoveBlocks::new(ids, position))?)
        }
        BlockRequest::Fetch(fetch) => vec![json(notes.fetch(fetch)?)],
        BlockRequest::Relocate { .. } => {
            panic!("documents are deleted and moved by their own operations")
        }
    })
}

fn documents<A: FullAccess>(
    notes: &Connection<A>,
    request: DocumentRequest,
) -> Result<Vec<String>, Error> {
    Ok(match request {
        DocumentRequest::List(list) => pages(|cursor| {
            let mut list = list.clone();
            list.paging.cursor = cursor;
            notes.list_documents(list)
        })?,
        DocumentRequest::Tags(list) => pages(|cursor| {
            let mut list: ListTags = sent(&list);
            list.paging.cursor = cursor;
            notes.list_tags(list)
        })?,
        DocumentRequest::Create(create) => each(&notes.create_documents(create)?),
        DocumentRequest::Delete(delete) => each(&notes.delete_documents(sent(&delete))?),
        DocumentRequest::Move(to) => each(&notes.move_documents(sent(&to))?),
        DocumentRequest::Update(update) => each(&notes.update_documents(sent(&update))?),
        DocumentRequest::Restore(restore) => each(&notes.restore_daily_notes(sent(&restore))?),
        DocumentRequest::Purge(_) => panic!("a batch does not purge"),
        DocumentRequest::Copy(copy) => vec![json(notes.create_from_template(sent(&copy))?)],
    })
}

fn folders<A: FullAccess>(
    notes: &Connection<A>,
    request: FolderRequest,
) -> Result<Vec<String>, Error> {
    Ok(match request {
        FolderRequest::Tree => each(&notes.folders()?),
        FolderRequest::Create(create) => each(&notes.create_folders(sent(&create))?),
        FolderRequest::Move(to) => each(&notes.move_folders(sent(&to))?),
        FolderRequest::Update(update) => each(&notes.update_folders(sent(&update))?),
        FolderRequest::Delete(delete) => each(&notes.delete_folders(sent(&delete))?),
    })
}

fn tasks<A: FullAccess>(notes: &Connection<A>, request: TaskRequest) -> Result<Vec<String>, Error> {
    Ok(match request {
        TaskRequest::List(list) => pages(|cursor| {
            let mut list = list.clone();
            list.paging.cursor = cursor;
            notes.tasks(sent(&list))
        })?,
        TaskRequest::Add(add) => each(&notes.add_tasks(sent(&add))?),
        TaskRequest::Update(update) => each(&notes.update_tasks(sent(&update))?),
        TaskRequest::Delete(delete) => each(&notes.delete_tasks(sent(&delete))?),
    })
}

fn files(notes: &Connection, request: FileRequest) -> Result<Vec<String>, Error> {
    match request {
        FileRequest::Upload { file, bytes } => {
            Ok(vec![json(notes.upload_file(sent(&file), &*bytes)?)])
        }
        FileRequest::Read(id) => {
            let mut bytes = Vec::new();
            notes.open_file(id)?.read_to_end(&mut bytes).unwrap();
            Ok(vec![format!("{:?}", notes.file(id)?), json(bytes)])
        }
    }
}

fn collections<A: FullAccess>(
    notes: &Connection<A>,
    request: CollectionRequest,
) -> Result<Vec<String>, Error> {
    Ok(match request {
        CollectionRequest::List(list) => each(&notes.list_collections(sent(&list))?),
        CollectionRequest::Create(create) => vec![json(notes.create_collection(sent(&create))?)],
        CollectionRequest::Schema(get) => vec![json(notes.collection_schema(sent(&get))?)],
        CollectionRequest::Replace(replace) => vec![json(notes.replace_schema(sent(&replace))?)],
        CollectionRequest::Items(get) => pages(|cursor| {
            let mut get = sent(&get);
            get.paging.cursor = cursor;
            notes.items(get)
        })?,
        CollectionRequest::Add(add) => each(&notes.add_items(add)?),
        CollectionRequest::Update(update) => each(&notes.update_items(sent(&update))?),
        CollectionRequest::Delete(delete) => each(&notes.delete_items(sent(&delete))?),
        CollectionRequest::Query(query) => pages(|cursor| {
            let mut query = sent(&query);
            query.paging.cursor = cursor;
            notes.query_items(query)
        })?,
        CollectionRequest::Count(count) => vec![json(notes.count_items(sent(&count))?)],
    })
}

/// The request as an operation of a batch: the name of the method, and its JSON. Nothing for those
/// that batches lack.
pub fn operation(request: &Request) -> Option<(&'static str, Value)> {
    fn of(name: &'static str, request: &impl Serialize) -> Option<(&'static str, Value)> {
        Some((name, serde_json::to_value(request).unwrap()))
    }
    match request {
        Request::Blocks(BlockRequest::Insert { drafts, position }) => {
            of("insert_blocks", &InsertBlocks::blocks(drafts.clone(), *position))
        }
        Request::Blocks(BlockRequest::Update(blocks)) => {
            of("update_blocks", &UpdateBlocks::new(blocks.clone()))
        }
        Request::Blocks(BlockRequest::Delete(ids)) => {
            of("delete_blocks", &DeleteBlocks::new(ids.clone()))
        }
        Request::Blocks(BlockRequest::Move { ids, position }) => {
            of("move_blocks", &MoveBlocks::new(ids.clone(), *position))
        }
        Request::Documents(DocumentRequest::Create(request)) => of("create_documents", request),
        Request::Documents(DocumentRequest::Delete(request)) => of("delete_documents", request),
        Request::Documents(DocumentRequest::Move(request)) => of("move_documents", request),
        Request::Documents(DocumentRequest::Update(request)) => of("update_documents", request),
        Request::Documents(DocumentRequest::Restore(request)) => of("restore_daily_notes", request),
        Request::Documents(DocumentRequest::Copy(request)) => of("create_from_template", request),
        Request::Folders(FolderRequest::Create(request)) => of("create_folders", request),
        Request::Folders(FolderRequest::Move(request)) => of("move_folders", request),
        Request::Folders(FolderRequest::Update(request)) => of("update_folders", request),
        Request::Folders(FolderRequest::Delete(request)) => of("delete_folders", request),
        Request::Tasks(TaskRequest::Add(request)) => of("add_tasks", request),
        Request::Tasks(TaskRequest::Update(request)) => of("update_tasks", request),
        Request::Tasks(TaskRequest::Delete(request)) => of("delete_tasks", request),
        Request::Comments(CommentRequest::Add(request)) => of("add_comments", request),
        Request::Comments(CommentRequest::Update(request)) => of("update_comments", request),
        Request::Comments(CommentRequest::Delete(request)) => of("delete_comments", request),
        Request::Collections(CollectionRequest::Create(request)) => {
            of("create_collection", request)
        }
        Request::Collections(CollectionRequest::Replace(request)) => of("replace_schema", request),
        Request::Collections(CollectionRequest::Add(request)) => of("add_items", request),
        Request::Collections(CollectionRequest::Update(request)) => of("update_items", request),
        Request::Collections(CollectionRequest::Delete(request)) => of("delete_items", request),
        _ => None,
    }
}
