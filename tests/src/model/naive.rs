//! What the naive model answers, in the same form as the engine.

use leafbase::{
    Block, BlockData, BlockType, Content, Error, Fetch, IdSource, Item, Stamp, Task, Timestamp,
};
use leafbase_model::BlockRecord;
use leafbase_test_outline::{
    BlockRequest, CollectionRequest, CommentRequest, DocumentRequest, FileRequest, FolderRequest,
    NaiveSpace, Request, SequentialIds, TaskRequest,
};
use serde::Serialize;

use super::engine::{each, json, page};

type By<'a> = (&'a Stamp, &'a dyn IdSource);

pub fn answer(naive: &mut NaiveSpace, by: By<'_>, request: Request) -> Result<Vec<String>, Error> {
    match request {
        Request::Blocks(request) => blocks(naive, by, request),
        Request::Documents(request) => documents(naive, by, request),
        Request::Folders(request) => folders(naive, by, &request),
        Request::Tasks(request) => tasks(naive, by, request),
        Request::Comments(request) => comments(naive, by, &request),
        Request::Files(request) => files(naive, by, &request),
        Request::Collections(request) => collections(naive, by, &request),
    }
}

/// All items on pages of so many.
fn pages<T: Serialize>(items: &[T], limit: Option<usize>) -> Vec<String> {
    let chunks: Vec<_> = items.chunks(limit.unwrap_or(usize::MAX)).collect();
    match chunks.split_last() {
        None => vec![page(items, false)],
        Some((last, before)) => {
            before.iter().map(|items| page(items, true)).chain([page(last, false)]).collect()
        }
    }
}

fn comments(
    naive: &mut NaiveSpace,
    by: By<'_>,
    request: &CommentRequest,
) -> Result<Vec<String>, Error> {
    Ok(match request {
        CommentRequest::Add(request) => each(&naive.add_comments(by, request)?),
        CommentRequest::List(request) => each(&naive.list_comments(request)?),
        CommentRequest::Update(request) => each(&naive.update_comments(by, request)?),
        CommentRequest::Delete(request) => each(&naive.delete_comments(by, request)?),
    })
}

fn blocks(naive: &mut NaiveSpace, by: By<'_>, request: BlockRequest) -> Result<Vec<String>, Error> {
    Ok(match request {
        BlockRequest::CreateDocument { root, destination } => {
            vec![json(naive.create_document_at(by, &root, destination)?)]
        }
        BlockRequest::Insert { drafts, position } => {
            let ids = naive.insert(by, &drafts, position)?;
            let shown = |id| fetch(naive, Fetch::new(id), by.0.at).map(json);
            ids.into_iter().map(shown).collect::<Result<_, _>>()?
        }
        BlockRequest::Update(patches) => {
            let updated = naive.update(by.0, &patches)?;
            updated.into_iter().map(|record| json(with_markdown(alone(naive, record)))).collect()
        }
        BlockRequest::Delete(ids) => each(&naive.delete(by.0, &ids)?),
        BlockRequest::Move { ids, position } => each(&naive.move_blocks(by, &ids, position)?),
        BlockRequest::Fetch(request) => vec![json(fetch(naive, request, by.0.at)?)],
        BlockRequest::Relocate { .. } => {
            panic!("documents are deleted and moved by their own operations")
        }
    })
}

fn alone(naive: &NaiveSpace, record: BlockRecord) -> Block {
    let BlockRecord { id, rev, data, .. } = record;
    let item = naive.item_fields(id).map(Box::new);
    Block {
        id,
        rev,
        data,
        block_form: None,
        plain: None,
        metadata: None,
        item,
        content: Content::None,
    }
}

fn plain(data: &BlockData) -> String {
    leafbase_markdown::plain_text(&data.inline).into_owned()
}

pub fn fetch(naive: &NaiveSpace, request: Fetch, now: Timestamp) -> Result<Block, Error> {
    naive.fetch(request, now, &plain).map(with_markdown)
}

/// The model keeps blocks; a reply shows the markdown of those that have none of their own.
fn with_markdown(mut block: Block) -> Block {
    if !block.data.block_type().has_own_markdown() {
        block.data.inline = leafbase_markdown::render_block(&block.data);
    }
    block.block_form = block_form(&block.data);
    if let Content::Blocks(children) = block.content {
        block.content = Content::Blocks(children.into_iter().map(with_markdown).collect());
    }
    block
}

fn block_form(data: &BlockData) -> Option<Box<str>> {
    let form = leafbase_markdown::block_form(data);
    (data.block_type() == BlockType::Text && form != data.inline).then(|| form.into())
}

fn documents(
    naive: &mut NaiveSpace,
    by: By<'_>,
    request: DocumentRequest,
) -> Result<Vec<String>, Error> {
    Ok(match request {
        DocumentRequest::List(list) => {
            pages(&naive.list_documents(&list, by.0.at)?, list.paging.limit)
        }
        DocumentRequest::Tags(list) => pages(&naive.list_tags(&list), list.paging.limit),
        DocumentRequest::Create(create) => each(&naive.create_documents(by, &create)?),
        DocumentRequest::Delete(delete) => each(&naive.delete_documents(by, &delete)?),
        DocumentRequest::Move(to) => each(&naive.move_documents(by, &to)?),
        DocumentRequest::Update(update) => each(&naive.update_documents(by, &update)?),
        DocumentRequest::Restore(restore) => each(&naive.restore_daily_notes(by, &restore)?),
        DocumentRequest::Purge(purge) => each(&naive.purge_documents(by, &purge)?),
        DocumentRequest::Copy(copy) => vec![json(naive.create_from_template(by, &copy)?)],
    })
}

fn folders(
    naive: &mut NaiveSpace,
    by: By<'_>,
    request: &FolderRequest,
) -> Result<Vec<String>, Error> {
    Ok(match request {
        FolderRequest::Tree => each(&naive.folder_tree()),
        FolderRequest::Create(create) => each(&naive.create_folders(by, create)?),
        FolderRequest::Move(to) => each(&naive.move_folders(by, to)?),
        FolderRequest::Update(update) => each(&naive.update_folders(by, update)?),
        FolderRequest::Delete(delete) => each(&naive.delete_folders(by, delete)?),
    })
}

fn tasks(naive: &mut NaiveSpace, by: By<'_>, request: TaskRequest) -> Result<Vec<String>, Error> {
    Ok(match request {
        TaskRequest::List(list) => {
            let found = naive.tasks(list.scope, by.0.at)?;
            pages(&rendered(naive, found), list.paging.limit)
        }
        TaskRequest::Add(add) => {
            let added = naive.add_tasks(by, &add)?;
            each(&rendered(naive, added))
        }
        TaskRequest::Update(update) => {
            let updated = naive.update_tasks(by, &update)?;
            each(&rendered(naive, updated))
        }
        TaskRequest::Delete(delete) => each(&naive.delete_tasks(by, &delete)?),
    })
}

/// A task that is not a text is shown with the markdown that it would be.
pub fn rendered(naive: &NaiveSpace, tasks: Vec<Task>) -> Vec<Task> {
    let rendered = |task: Task| {
        let data = &naive.find(task.id).unwrap().record.data;
        let own = data.block_type().has_own_markdown();
        Task {
            inline: if own { task.inline } else { leafbase_markdown::render_block(data) },
            block_form: block_form(data),
            ..task
        }
    };
    tasks.into_iter().map(rendered).collect()
}

fn files(naive: &mut NaiveSpace, by: By<'_>, request: &FileRequest) -> Result<Vec<String>, Error> {
    match request {
        FileRequest::Upload { file, bytes } => Ok(vec![json(naive.upload_file(by, file, bytes)?)]),
        FileRequest::Read(id) => {
            let file = naive.file(*id)?;
            Ok(vec![format!("{:?}", file.record), json(&file.bytes)])
        }
    }
}

fn collections(
    naive: &mut NaiveSpace,
    by: By<'_>,
    request: &CollectionRequest,
) -> Result<Vec<String>, Error> {
    let with_pages =
        |items: Vec<Item>| -> Vec<Item> { items.into_iter().map(item_with_markdown).collect() };
    Ok(match request {
        CollectionRequest::List(list) => each(&naive.list_collections(list)?),
        CollectionRequest::Create(create) => vec![json(naive.create_collection(by, create)?)],
        CollectionRequest::Schema(get) => vec![json(naive.known_schema(get.collection_id)?)],
        CollectionRequest::Replace(replace) => vec![json(naive.replace_schema(by, replace)?)],
        CollectionRequest::Items(get) => {
            pages(&with_pages(naive.items(get, &plain)?), get.paging.limit)
        }
        CollectionRequest::Add(add) => each(&naive.add_items(by, add)?),
        CollectionRequest::Update(update) => each(&naive.update_items(by, update)?),
        CollectionRequest::Delete(delete) => each(&naive.delete_items(by, delete)?),
        CollectionRequest::Query(query) => {
            pages(&with_pages(naive.query_items(query, by.0.at, &plain)?), query.paging.limit)
        }
        CollectionRequest::Count(count) => vec![json(naive.count_items(count, by.0.at)?)],
    })
}

fn item_with_markdown(mut item: Item) -> Item {
    if let Content::Blocks(children) = item.content {
        item.content = Content::Blocks(children.into_iter().map(with_markdown).collect());
    }
    item
}

/// What a request that reads is answered.
pub fn told(naive: &NaiveSpace, now: Timestamp, request: Request) -> Vec<String> {
    let stamp = Stamp { at: now, ..Stamp::default() };
    answer(&mut naive.clone(), (&stamp, &SequentialIds::new(0)), request).unwrap()
}
