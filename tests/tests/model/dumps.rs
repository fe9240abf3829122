//! All that there is on either side, as texts in the same order: documents, trees, folders, tasks and files.

use leafbase::{Connection, DocumentId, Fetch, ListDocuments, TaskScope, Timestamp};
use leafbase_test_outline::{DocumentRequest, FileRequest, FolderRequest, NaiveSpace, Request, TaskRequest};

use super::{engine, naive};

/// What both sides are asked. The naive one knows which documents and files there are, the inbox among them.
fn questions(space: &NaiveSpace) -> Vec<Request> {
    let list = DocumentRequest::List(ListDocuments::new().with_metadata());
    let mut questions = vec![Request::Documents(list), Request::Folders(FolderRequest::Tree)];
    let scopes = [TaskScope::Active, TaskScope::Upcoming, TaskScope::Inbox, TaskScope::Logbook];
    let of_documents = documents(space).into_iter().map(TaskScope::Document);
    let scopes = scopes.into_iter().chain(of_documents);
    questions.extend(scopes.map(|scope| Request::Tasks(TaskRequest::List(scope.into()))));
    questions.extend(space.files.iter().map(|file| Request::Files(FileRequest::Read(file.record.id))));
    questions
}

fn documents(space: &NaiveSpace) -> Vec<DocumentId> {
    space.documents.iter().map(|document| document.record.id).collect()
}

pub fn of_engine(notes: &Connection, space: &NaiveSpace) -> Vec<String> {
    let ask = |question| engine::answer(notes, question).unwrap_or_else(|error| vec![format!("{error:?}")]);
    let fetch = |id| notes.fetch(Fetch::new(id).with_metadata()).map(engine::json);
    let trees = documents(space).into_iter().map(|id| fetch(id).unwrap_or_else(|error| format!("{error:?}")));
    questions(space).into_iter().flat_map(ask).chain(trees).collect()
}

pub fn of_naive(space: &NaiveSpace, now: Timestamp) -> Vec<String> {
    let fetch = |id| engine::json(naive::fetch(space, Fetch::new(id).with_metadata(), now).unwrap());
    let trees = documents(space).into_iter().map(fetch);
    questions(space).into_iter().flat_map(|question| naive::told(space, now, question)).chain(trees).collect()
}
