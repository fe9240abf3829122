//! Everything that a reader sees of a space, question by question.

use std::fmt::Debug;
use std::io::Read as _;

use leafbase::{
    AssetId, BlockId, BuiltInLocation, Connection, CountItems, DocumentId, DocumentOrder, Error,
    Fetch, GetItems, ItemFilter, ListCollections, ListDocuments, Operator, QueryItems, Result,
    Sort, Space, TaskScope,
};

/// Something that a reader may ask.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    Documents,
    Latest,
    LatestUnsorted,
    Document(DocumentId),
    Markdown(DocumentId),
    Folders,
    Tasks(&'static str),
    TasksOf(DocumentId),
    Collections,
    Schema(BlockId),
    Items(BlockId),
    Sorted(BlockId),
    Filtered(BlockId),
    Counted(BlockId),
    Item(BlockId),
    File(AssetId),
    Changes,
    Space,
}

const SCOPES: [(&str, TaskScope); 5] = [
    ("open", TaskScope::Open),
    ("active", TaskScope::Active),
    ("upcoming", TaskScope::Upcoming),
    ("inbox", TaskScope::Inbox),
    ("logbook", TaskScope::Logbook),
];

/// All that there is to be asked of a space.
///
/// # Errors
/// What the space reports: a whole one nothing.
pub fn questions(space: &Space) -> Result<Vec<Question>> {
    use Question as Q;
    let notes = space.connect();
    let mut questions = vec![Q::Space, Q::Documents, Q::Latest, Q::LatestUnsorted, Q::Folders];
    questions.extend([Q::Collections, Q::Changes]);
    questions.extend(SCOPES.map(|(name, _)| Q::Tasks(name)));
    for document in &notes.documents()?.0 {
        let id = document.id();
        questions.extend([Q::Document(id), Q::Markdown(id), Q::TasksOf(id)]);
    }
    for collection in &notes.list_collections(ListCollections::default())?.0 {
        let id = collection.id;
        questions.extend([
            Q::Schema(id),
            Q::Items(id),
            Q::Sorted(id),
            Q::Filtered(id),
            Q::Counted(id),
        ]);
        questions.extend(notes.items(GetItems::of(id))?.items.iter().map(|item| Q::Item(item.id)));
    }
    for change in notes.changes_since(0) {
        for edit in change?.edits {
            if let leafbase::Edit::CreateAsset(file) = edit {
                questions.push(Q::File(file.id));
            }
        }
    }
    Ok(questions)
}

/// The answer as text.
///
/// # Errors
/// What the space reports.
pub fn ask(notes: &Connection, question: &Question) -> Result<String> {
    use Question as Q;
    match question {
        Q::Space => told(notes.space().meta()),
        Q::Documents => told(notes.list_documents(ListDocuments::new().with_metadata())),
        Q::Latest => told(notes.list_documents(latest())),
        Q::LatestUnsorted => told(notes.list_documents(latest().at(BuiltInLocation::Unsorted))),
        Q::Document(id) => told(notes.fetch(Fetch::new(*id).with_metadata())),
        Q::Markdown(id) => notes.content_markdown(*id),
        Q::Folders => told(notes.folders()),
        Q::Tasks(name) => {
            let scope = SCOPES
                .into_iter()
                .find(|(known, _)| known == name)
                .map_or(TaskScope::Inbox, |(_, scope)| scope);
            told(notes.tasks(scope))
        }
        Q::TasksOf(id) => told(notes.tasks(TaskScope::Document(*id))),
        Q::Collections => told(notes.list_collections(ListCollections::default())),
        Q::Schema(id) => told(notes.schema(*id)),
        Q::Items(id) => told(notes.items(GetItems::of(*id).depth(1))),
        Q::Sorted(id) => {
            told(notes.query_items(QueryItems::of(*id).sorted(Sort::descending("title")).depth(0)))
        }
        Q::Filtered(id) => {
            let filter = ItemFilter::on("title", Operator::Contains, "o");
            told(notes.query_items(QueryItems::of(*id).filtered(filter).depth(0)))
        }
        Q::Counted(id) => told(notes.count_items(CountItems::of(*id))),
        Q::Item(id) => told(notes.fetch(Fetch::new(*id).with_metadata())),
        Q::File(id) => file(notes, *id),
        Q::Changes => told(notes.changes_since(0).collect::<Result<Vec<_>>>()),
    }
}

fn latest() -> ListDocuments {
    ListDocuments::new().order_by(DocumentOrder::Modified).descending().with_metadata()
}

fn told(answer: Result<impl Debug>) -> Result<String> {
    answer.map(|answer| format!("{answer:?}"))
}

fn file(notes: &Connection, id: AssetId) -> Result<String> {
    let mut bytes = Vec::new();
    let mut file = notes.open_file(id)?;
    file.read_to_end(&mut bytes).map_err(|error| match error.downcast::<Error>() {
        Ok(error) => error,
        Err(error) => Error::new(leafbase::ErrorKind::Storage, error.to_string()),
    })?;
    // FNV-1a: the bytes themselves would fill pages.
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Ok(format!("{:?} {} bytes, {hash:016x}", file.record(), bytes.len()))
}
