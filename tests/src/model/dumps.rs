//! All that there is on either side, as texts in the same order: documents, trees, folders, tasks
//! and files.

use leafbase::{
    BlockId, Connection, DocumentId, Fetch, GetItems, GetSchema, ListCollections, ListDocuments,
    ListTags, SchemaFormat, TaskScope, Timestamp,
};
use leafbase_test_outline::{
    CollectionRequest, DocumentRequest, FileRequest, FolderRequest, NaiveSpace, Request,
    TaskRequest,
};

use super::{engine, naive};

/// What both sides are asked. The naive one knows which documents and files there are, the inbox
/// among them.
fn questions(space: &NaiveSpace) -> Vec<Request> {
    let list = DocumentRequest::List(ListDocuments::new().with_metadata());
    let mut questions = vec![Request::Documents(list), Request::Folders(FolderRequest::Tree)];
    questions.push(Request::Documents(DocumentRequest::Tags(ListTags::new())));
    let scopes = [
        TaskScope::Open,
        TaskScope::Active,
        TaskScope::Upcoming,
        TaskScope::Inbox,
        TaskScope::Logbook,
    ];
    let of_documents = documents(space).into_iter().map(TaskScope::Document);
    let scopes = scopes.into_iter().chain(of_documents);
    questions.extend(scopes.map(|scope| Request::Tasks(TaskRequest::List(scope.into()))));
    questions
        .extend(space.files.iter().map(|file| Request::Files(FileRequest::Read(file.record.id))));
    questions.push(Request::Collections(CollectionRequest::List(ListCollections::default())));
    for id in collections(space) {
        let schema = CollectionRequest::Schema(GetSchema::new(id, SchemaFormat::Schema));
        questions
            .extend([schema, CollectionRequest::Items(GetItems::of(id))].map(Request::Collections));
    }
    questions
}

fn collections(space: &NaiveSpace) -> Vec<BlockId> {
    space.schemas.iter().map(|(id, _)| *id).collect()
}

/// The values of all items, and so what each end of every relation shows.
pub fn values(space: &NaiveSpace) -> Vec<Request> {
    let values = |id| Request::Collections(CollectionRequest::Items(GetItems::of(id).depth(0)));
    collections(space).into_iter().map(values).collect()
}

/// Every item as a block.
fn items(space: &NaiveSpace) -> impl Iterator<Item = BlockId> {
    let items = |id| space.first_children(id, usize::MAX).into_iter().map(|item| item.id);
    collections(space).into_iter().flat_map(items)
}

fn documents(space: &NaiveSpace) -> Vec<DocumentId> {
    space.documents.iter().map(|document| document.record.id).collect()
}

/// What is fetched with all below it: documents, and items, which collections do not show.
fn roots(space: &NaiveSpace) -> impl Iterator<Item = BlockId> {
    documents(space).into_iter().map(DocumentId::root).chain(items(space))
}

pub fn of_engine(notes: &Connection, space: &NaiveSpace) -> Vec<String> {
    let ask = |question| {
        engine::answer(notes, question).unwrap_or_else(|error| vec![format!("{error:?}")])
    };
    let fetch = |id: BlockId| notes.fetch(Fetch::new(id).with_metadata()).map(engine::json);
    let trees = roots(space).map(|id| fetch(id).unwrap_or_else(|error| format!("{error:?}")));
    questions(space).into_iter().flat_map(ask).chain(trees).collect()
}

pub fn of_naive(space: &NaiveSpace, now: Timestamp) -> Vec<String> {
    let fetch = |id: BlockId| {
        engine::json(naive::fetch(space, Fetch::new(id).with_metadata(), now).unwrap())
    };
    let trees = roots(space).map(fetch);
    questions(space)
        .into_iter()
        .flat_map(|question| naive::told(space, now, question))
        .chain(trees)
        .collect()
}
