//! Leafbase, through its public interface alone.

use crate::app::{self, Block, Edit, Fetched, LIST_TASK, Mode, PAGE, Peer, Position, Ready, Task};
use benches::workload::Id;
use leafbase::{
    AccessScope, BlockData, BlockDraft, BlockId, BlockKind, BlockPatch, BlockType, ChangeToken,
    Clock, Color, Connection, Content, Day, DeleteBlocks, Destination, DocumentId, DocumentOrder,
    Durability, Fetch, IdSource, InsertBlocks, ListDocuments, ListStyle, MoveBlocks,
    SearchIndexing, Space, SpaceBuilder, TaskInfo, TaskState, TextFormat, TextStyle, Timestamp,
    UpdateBlocks,
};
use leafbase_markdown::{ParseOptions, parse};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

struct Leafbase {
    connection: Connection,
    given: Given,
}

/// IDs and time are handed to every peer alike, so that their trees can be compared.
#[derive(Clone, Default)]
struct Given(Arc<Inner>);

#[derive(Default)]
struct Inner {
    ids: Mutex<VecDeque<Id>>,
    others: AtomicU64,
    tokens: AtomicU64,
    now: AtomicI64,
}

impl IdSource for Given {
    fn new_id(&self, _: Timestamp) -> Id {
        let next = self.0.ids.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        next.unwrap_or_else(|| {
            let number = self.0.others.fetch_add(1, Ordering::Relaxed) + 1;
            u128::from(number).to_be_bytes()
        })
    }

    /// Not made of an ID: those given are for blocks.
    fn new_token(&self, _: Timestamp) -> ChangeToken {
        ChangeToken::from_u64(self.0.tokens.fetch_add(1, Ordering::Relaxed))
    }
}

impl Clock for Given {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.now.load(Ordering::Relaxed))
    }
}

impl Given {
    fn push(&self, ids: impl IntoIterator<Item = Id>) {
        self.0.ids.lock().unwrap_or_else(PoisonError::into_inner).extend(ids);
    }
}

pub fn open(directory: &Path, mode: Mode) -> Box<dyn Peer> {
    let path = directory.join("space.leafbase");
    over(mode, |builder| if path.exists() { builder.open(path) } else { builder.create(path) })
}

/// The space that `open` opens or makes.
pub fn over(
    mode: Mode,
    open: impl FnOnce(SpaceBuilder) -> leafbase::Result<Space>,
) -> Box<dyn Peer> {
    let given = Given::default();
    let durability = if mode == Mode::Durable { Durability::Durable } else { Durability::Relaxed };
    // No peer has an index of words: Leafbase would make one beside an import.
    let builder = Space::builder()
        .search_indexing(SearchIndexing::OnDemand)
        .durability(durability)
        .ids(given.clone())
        .clock(given.clone());
    Box::new(Leafbase { connection: open(builder).expect("a space").connect(), given })
}

/// The blocks of a text. What the parser does not accept is left out before anything is measured.
pub fn parsed(text: &str) -> Vec<BlockDraft> {
    parse(text, &ParseOptions::default()).expect("markdown that was parsed before").blocks
}

fn place(position: Position) -> leafbase::Position {
    match position {
        Position::Start { parent, .. } => leafbase::Position::start_of(BlockId::from_bytes(parent)),
        Position::End { parent, .. } => leafbase::Position::end_of(BlockId::from_bytes(parent)),
        Position::After(sibling) => leafbase::Position::after(BlockId::from_bytes(sibling)),
    }
}

fn ids(of: &[Id]) -> Vec<BlockId> {
    of.iter().map(|id| BlockId::from_bytes(*id)).collect()
}

/// One call of a connection, which may be that of a batch.
fn call<A: AccessScope>(connection: &Connection<A>, ready: Ready) -> leafbase::Result<()> {
    match ready {
        Ready::Insert(request) => connection.insert_blocks(request).map(drop),
        Ready::Update(request) => connection.update_blocks(request).map(drop),
        Ready::Move(request) => connection.move_blocks(request).map(drop),
        Ready::Delete(request) => connection.delete_blocks(request).map(drop),
        Ready::Same | Ready::Batch(_) | Ready::Import(_) => {
            unreachable!("these are no single call")
        }
    }
}

impl Peer for Leafbase {
    fn ready(&self, edit: &Edit) -> Ready {
        match edit {
            Edit::Insert(blocks, position) => {
                self.given.push(app::rows([0; 16], blocks).iter().map(|(_, _, block)| block.id));
                Ready::Insert(InsertBlocks::blocks(
                    blocks.iter().map(draft).collect(),
                    place(*position),
                ))
            }
            Edit::Update(id, text) => {
                let blocks = vec![BlockPatch::markdown(BlockId::from_bytes(*id), text.clone())];
                Ready::Update(UpdateBlocks::new(blocks))
            }
            Edit::Move(from, position) => Ready::Move(MoveBlocks::new(ids(from), place(*position))),
            Edit::Delete(from) => Ready::Delete(DeleteBlocks::new(ids(from))),
            Edit::Batch(edits) => Ready::Batch(edits.iter().map(|edit| self.ready(edit)).collect()),
            Edit::Import(documents) => {
                let mut drafts = Vec::with_capacity(documents.len());
                for document in documents {
                    self.given.push([document.id]);
                    self.given.push(
                        app::rows(document.id, &document.blocks)
                            .iter()
                            .map(|(_, _, block)| block.id),
                    );
                    let content = document.blocks.iter().map(draft).collect();
                    drafts.push(
                        BlockDraft::new(BlockData::page(&document.title)).with_content(content),
                    );
                }
                Ready::Import(drafts)
            }
            Edit::ImportMarkdown(files) => {
                for file in files {
                    self.given.push([file.id]);
                    self.given.push(file.ids.iter().copied());
                }
                Ready::Same
            }
        }
    }

    fn apply(&mut self, edit: &Edit, ready: Ready, now: i64) {
        self.given.0.now.store(now, Ordering::Relaxed);
        let connection = &self.connection;
        match (ready, edit) {
            (Ready::Batch(edits), _) => connection
                .batch(|batch| edits.iter().try_for_each(|edit| call(batch, edit.clone())))
                .expect("a batch"),
            (
                ready @ (Ready::Insert(_) | Ready::Update(_) | Ready::Move(_) | Ready::Delete(_)),
                _,
            ) => {
                call(connection, ready).expect("an edit");
            }
            (Ready::Import(drafts), _) => {
                for draft in drafts {
                    connection.create_document_of(draft, Destination::Unsorted).expect("create");
                }
            }
            (Ready::Same, Edit::ImportMarkdown(files)) => {
                for file in files {
                    let document = connection.create_document(&file.title).expect("create").id();
                    connection.insert_markdown(&file.text, document).expect("markdown");
                }
            }
            (Ready::Same, _) => unreachable!("every other edit is made ready"),
        }
    }

    fn fetch(&mut self, document: Id) -> Fetched {
        let document = DocumentId::from_bytes(document);
        Fetched::Leafbase(
            self.connection.fetch(Fetch::new(document).with_metadata()).expect("a document"),
        )
    }

    fn block(&mut self, id: Id) -> Fetched {
        let request = Fetch::new(BlockId::from_bytes(id)).depth(0).with_metadata();
        Fetched::Leafbase(self.connection.fetch(request).expect("a block"))
    }

    fn document_of(&mut self, id: Id) -> Id {
        self.connection.document_of(BlockId::from_bytes(id)).expect("a block").to_bytes()
    }

    fn latest(&mut self, count: usize) -> Vec<String> {
        let request = ListDocuments::new().order_by(DocumentOrder::Modified).descending();
        let listed = self.connection.list_documents(request.limit(count)).expect("a listing");
        listed.iter().map(|document| document.title.clone()).collect()
    }

    fn flush(&mut self) {
        self.connection.space().flush().expect("flush");
    }

    fn compact(&mut self) {
        self.connection.space().compact().expect("nobody reads");
    }
}

impl Fetched {
    /// The tree in the application's form: to be compared.
    pub fn tree(self) -> Block {
        match self {
            Self::Plain(block) => block,
            Self::Leafbase(block) => seen(&block),
        }
    }
}

fn seen(block: &leafbase::Block) -> Block {
    let metadata = block.metadata.as_ref().expect("metadata");
    let by = |stamp: &leafbase::Stamp| (!stamp.by.is_anonymous()).then(|| stamp.by.as_str().into());
    Block {
        id: block.id.to_bytes(),
        rev: block.rev,
        created: metadata.created.at.as_millis(),
        created_by: by(&metadata.created),
        modified: metadata.modified.at.as_millis(),
        modified_by: by(&metadata.modified),
        children: match &block.content {
            Content::Blocks(children) => children.iter().map(seen).collect(),
            Content::None | Content::Preview(_) => Vec::new(),
        },
        ..data(&block.data)
    }
}

fn number<T: PartialEq>(all: &[T], value: &T) -> u8 {
    all.iter().position(|known| known == value).expect("one of all") as u8
}

fn data(data: &BlockData) -> Block {
    let day = |day: Option<Day>| day.map(|day| day.epoch_days() as i32);
    let instant = |instant: Option<Timestamp>| instant.map(Timestamp::as_millis);
    Block {
        rev: 1,
        kind: number(BlockType::ALL, &data.block_type()),
        markdown: if data.block_type().has_own_markdown() {
            data.inline.clone()
        } else {
            String::new()
        },
        indentation: data.indentation,
        list_style: number(ListStyle::ALL, &data.list_style),
        style: number(
            TextStyle::ALL,
            &data.text_format().map_or(TextStyle::default(), |look| look.style),
        ),
        color: data
            .color
            .map(|color| color.to_rgb().iter().fold(0, |sum, part| sum << 8 | u32::from(*part))),
        task: data.task.map(|task| Task {
            state: number(TaskState::ALL, &task.state),
            scheduled: day(task.schedule_date),
            deadline: day(task.deadline_date),
            completed: instant(task.completed_at),
            canceled: instant(task.canceled_at),
        }),
        attributes: attributes(data),
        ..Block::default()
    }
}

/// What has no column of its own, as JSON; none for most.
fn attributes(data: &BlockData) -> Option<Box<str>> {
    let plain = match &data.kind {
        BlockKind::Text(look) | BlockKind::Page(look) => {
            *look == TextFormat { style: look.style, ..TextFormat::default() }
        }
        BlockKind::Table | BlockKind::Collection => true,
        _ => false,
    };
    if plain && data.decorations.is_empty() {
        return None;
    }
    let mut rest = BlockData::new(data.kind.clone());
    rest.decorations = data.decorations;
    Some(serde_json::to_string(&BlockDraft::new(rest)).expect("JSON").into())
}

/// The blocks that drafts of the parser are kept as, with these IDs in reading order.
pub fn kept(drafts: Vec<BlockDraft>, ids: &mut impl Iterator<Item = Id>, now: i64) -> Vec<Block> {
    let mut blocks = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let mut block = Block { id: ids.next().expect("an ID for each"), ..data(&draft.data) };
        if !draft.content.is_empty() {
            block.kind = PAGE;
        }
        if let Some(task) = &mut block.task {
            task.completed = task.completed.or((task.state == app::TASK_DONE).then_some(now));
            task.canceled = task.canceled.or((task.state > app::TASK_DONE).then_some(now));
        }
        block.children = kept(draft.into_parts().1, ids, now);
        blocks.push(block);
    }
    blocks
}

pub fn draft(block: &Block) -> BlockDraft {
    let look =
        TextFormat { style: TextStyle::ALL[usize::from(block.style)], ..TextFormat::default() };
    let kind = if block.kind == PAGE { BlockKind::Page(look) } else { BlockKind::Text(look) };
    let mut data = BlockData::new(kind);
    data.inline.clone_from(&block.markdown);
    data.indentation = block.indentation;
    data.list_style = ListStyle::ALL[usize::from(block.list_style)];
    data.color = block.color.map(|color| {
        let [_, rgb @ ..] = color.to_be_bytes();
        Color::from_rgb(rgb)
    });
    if block.list_style == LIST_TASK {
        data.task =
            block.task.map(|task| TaskInfo::of_state(TaskState::ALL[usize::from(task.state)]));
    }
    BlockDraft::new(data).with_content(block.children.iter().map(draft).collect())
}
