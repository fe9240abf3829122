//! The model knows no markdown: requests are given to both sides in the canonical form, in which
//! the engine changes nothing.

use leafbase::{BlockData, BlockDraft, BlockKind, BlockPatch, BlockType, Limits};
use leafbase_markdown::TextMarkers;
use leafbase_test_outline::{
    BlockRequest, CollectionRequest, DocumentRequest, NaiveSpace, Request, TaskRequest,
};

pub fn request(request: Request, naive: &NaiveSpace) -> Request {
    match request {
        Request::Blocks(blocks) => Request::Blocks(on_blocks(blocks, naive)),
        Request::Documents(DocumentRequest::Create(mut create)) => {
            create.documents = create.documents.into_iter().map(root).collect();
            Request::Documents(DocumentRequest::Create(create))
        }
        Request::Documents(DocumentRequest::Update(mut update)) => {
            for patch in &mut update.documents {
                patch.title = patch.title.take().map(|title| settled(BlockData::page(title)));
            }
            Request::Documents(DocumentRequest::Update(update))
        }
        Request::Documents(DocumentRequest::Copy(mut copy)) => {
            copy.title = copy.title.map(|title| settled(BlockData::page(title)));
            Request::Documents(DocumentRequest::Copy(copy))
        }
        Request::Tasks(TaskRequest::Add(mut add)) => {
            for task in &mut add.tasks {
                task.markdown = words(&task.markdown);
            }
            Request::Tasks(TaskRequest::Add(add))
        }
        Request::Tasks(TaskRequest::Update(mut update)) => {
            for task in &mut update.tasks_to_update {
                let mut change = BlockPatch::of(task.id);
                change.fields.markdown = task.markdown.take();
                let fields = patch(change, naive).fields;
                task.markdown = fields.markdown.or(fields.inline.map(|text| words(&text)));
            }
            Request::Tasks(TaskRequest::Update(update))
        }
        Request::Collections(CollectionRequest::Add(mut add)) => {
            for item in &mut add.items {
                item.content = std::mem::take(&mut item.content).into_iter().map(draft).collect();
            }
            Request::Collections(CollectionRequest::Add(add))
        }
        other => other,
    }
}

fn on_blocks(request: BlockRequest, naive: &NaiveSpace) -> BlockRequest {
    match request {
        BlockRequest::CreateDocument { root: page, destination } => {
            BlockRequest::CreateDocument { root: root(page), destination }
        }
        BlockRequest::Insert { drafts, position } => {
            BlockRequest::Insert { drafts: drafts.into_iter().map(draft).collect(), position }
        }
        BlockRequest::Update(patches) => {
            BlockRequest::Update(patches.into_iter().map(|change| patch(change, naive)).collect())
        }
        other => other,
    }
}

/// A text that says the same as block form and as inline markdown.
fn words(text: &str) -> String {
    match leafbase_markdown::read_block_form(text, &Limits::default()) {
        Ok(form)
            if form.inline == text
                && form.further.is_empty()
                && form.markers == TextMarkers::default() =>
        {
            text.to_owned()
        }
        _ => text.chars().filter(char::is_ascii_alphabetic).collect(),
    }
}

fn settled(mut data: BlockData) -> String {
    leafbase_markdown::canonical(&mut data);
    data.inline
}

fn patch(mut patch: BlockPatch, naive: &NaiveSpace) -> BlockPatch {
    let block = naive.find(patch.id).map(|block| block.record.data.clone());
    let wanted = patch.fields.block_type.or(block.as_ref().map(BlockData::block_type));
    if wanted.is_some_and(|wanted| !wanted.has_own_markdown()) {
        patch.fields.markdown = None;
    } else if wanted == Some(BlockType::Text) {
        patch.fields.inline = patch.fields.markdown.take();
    } else if let (Some(text), Some(mut data)) = (&mut patch.fields.markdown, block) {
        data.inline = std::mem::take(text);
        *text = settled(data);
    }
    patch
}

/// The root of a document, which becomes a page.
fn root(mut page: BlockDraft) -> BlockDraft {
    if let BlockKind::Text(look) = page.data.kind {
        page.data.kind = BlockKind::Page(look);
    }
    draft(page)
}

fn draft(mut draft: BlockDraft) -> BlockDraft {
    if let BlockKind::Text(look) = draft.data.kind
        && !draft.content.is_empty()
    {
        draft.data.kind = BlockKind::Page(look);
    }
    if !draft.data.block_type().has_own_markdown() {
        draft.data.inline.clear();
    }
    leafbase_markdown::canonical(&mut draft.data);
    draft.content = std::mem::take(&mut draft.content).into_iter().map(self::draft).collect();
    draft
}
