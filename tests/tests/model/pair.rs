//! The engine and the naive model side by side: equal replies, equal errors, equal dumps. The fuzz target `operations` uses this too.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use leafbase::{
    Block, BlockData, BlockDraft, BlockId, BlockKind, Clock, Connection, Content, Durability, Edit, Error, Fetch,
    IdSource, InsertBlocks, MoveBlocks, Space, Stamp, Timestamp, UpdateBlocks,
};
use leafbase_test_outline::{NaiveSpace, Request, small_limits};

/// IDs and time of one sequence, the same for both sides: each request begins a series of its own.
#[derive(Clone, Debug, Default)]
struct Present(Arc<(AtomicU64, AtomicU64)>);

impl Present {
    fn begin(&self, request: u64) {
        self.0.0.store(request, Ordering::Relaxed);
        self.0.1.store(0, Ordering::Relaxed);
    }
}

impl IdSource for Present {
    fn mint(&self, _: Timestamp) -> [u8; 16] {
        let (series, number) = (self.0.0.load(Ordering::Relaxed), self.0.1.fetch_add(1, Ordering::Relaxed) + 1);
        // Spread, as random IDs are: the order of IDs is not the order in which they were made.
        let spread = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ series;
        ((u128::from(spread) << 64) | (u128::from(series) << 20) | u128::from(number)).to_be_bytes()
    }
}

impl Clock for Present {
    fn now(&self) -> Timestamp {
        let request = i64::try_from(self.0.0.load(Ordering::Relaxed)).unwrap();
        Timestamp::from_millis(1_767_225_600_000 + request * 1_000)
    }
}

/// The engine and the model, and how they are kept side by side.
pub struct Pair {
    present: Present,
    pub naive: NaiveSpace,
    /// Where the engine's space is; nothing for one in memory.
    directory: Option<PathBuf>,
    space: Option<Space>,
}

impl Pair {
    /// Both with nothing in them yet; the engine's space in the new directory `directory`, or in memory.
    pub fn new(directory: Option<PathBuf>) -> Self {
        let naive = NaiveSpace::new(small_limits());
        let mut pair = Self { present: Present::default(), naive, directory, space: None };
        let space = match &pair.directory {
            Some(directory) => pair.builder().create(directory),
            None => pair.builder().in_memory(),
        };
        pair.space = Some(space.unwrap());
        pair
    }

    fn builder(&self) -> leafbase::SpaceBuilder {
        Space::builder()
            .limits(small_limits())
            .clock(self.present.clone())
            .ids(self.present.clone())
            .durability(Durability::Relaxed)
            .cache_bytes(1 << 20)
    }

    /// Closes and opens the space, if it is on disk.
    pub fn reopen(&mut self) {
        if let Some(directory) = &self.directory {
            self.space.take().unwrap().close().unwrap();
            self.space = Some(self.builder().open(directory).unwrap());
        }
    }

    fn notes(&self) -> Connection {
        self.space.as_ref().unwrap().connect()
    }

    pub fn step(&mut self, number: u64, request: Request) {
        let shown = format!("{request:?}");
        self.present.begin(number);
        let ours = self.on_engine(&request);
        self.present.begin(number);
        let theirs = self.on_model(request);
        match (&ours, &theirs) {
            (Ok(ours), Ok(theirs)) => assert_eq!(ours, theirs, "the replies to {shown}"),
            (Err(ours), Err(theirs)) => {
                assert_eq!((ours.kind(), ours.path()), (theirs.kind(), theirs.path()), "the errors of {shown}");
            }
            _ => panic!("{shown}: the engine says {ours:?}, the model {theirs:?}"),
        }
    }

    fn on_engine(&self, request: &Request) -> Result<Vec<String>, Error> {
        let notes = self.notes();
        match request.clone() {
            Request::CreateDocument { root, destination } => {
                Ok(vec![notes.create_document_of(root, destination)?.id().to_string()])
            }
            Request::Insert { drafts, position } => {
                Ok(shown(notes.insert_blocks(InsertBlocks::blocks(drafts, position))?.0))
            }
            Request::Update(blocks) => Ok(shown(notes.update_blocks(UpdateBlocks { blocks })?.0)),
            Request::Delete(block_ids) => {
                let deleted = notes.delete_blocks(leafbase::DeleteBlocks { block_ids })?;
                Ok(deleted.into_iter().map(|id| id.to_string()).collect())
            }
            Request::Move { ids, position } => {
                let moved = notes.move_blocks(MoveBlocks { block_ids: ids, position })?;
                Ok(moved.into_iter().map(|id| id.to_string()).collect())
            }
            Request::Fetch { block, max_depth, metadata } => {
                let mut fetch = Fetch::new(block);
                (fetch.max_depth, fetch.metadata) = (max_depth, metadata);
                Ok(shown(vec![notes.fetch(fetch)?]))
            }
            Request::Relocate { document, location } => {
                if let Ok(before) = notes.document(document) {
                    let after = leafbase::DocumentRecord { location, ..before.record.clone() };
                    notes.space().apply(notes.author(), &[Edit::UpdateDocument { before: before.record, after }])?;
                }
                Ok(Vec::new())
            }
        }
    }

    fn on_model(&mut self, request: Request) -> Result<Vec<String>, Error> {
        let stamp = Stamp { at: self.present.now(), ..Stamp::default() };
        let by: (&Stamp, &dyn IdSource) = (&stamp, &self.present.clone());
        match request {
            Request::CreateDocument { root, destination } => {
                Ok(vec![self.naive.create_document(by, &root, destination.into(), None)?.to_string()])
            }
            Request::Insert { drafts, position } => {
                let ids = self.naive.insert(by, &drafts, position)?;
                Ok(shown(ids.into_iter().map(|id| self.model_fetch(id, None, false).unwrap()).collect()))
            }
            Request::Update(patches) => {
                let updated = self.naive.update(&stamp, &patches)?;
                let alone = |record: leafbase::BlockRecord| Block {
                    id: record.id,
                    rev: record.rev,
                    data: record.data,
                    metadata: None,
                    content: Content::None,
                };
                Ok(shown(updated.into_iter().map(alone).map(with_markdown).collect()))
            }
            Request::Delete(ids) => Ok(self.naive.delete(&ids)?.iter().map(BlockId::to_string).collect()),
            Request::Move { ids, position } => {
                Ok(self.naive.move_blocks(&stamp, &ids, position)?.iter().map(BlockId::to_string).collect())
            }
            Request::Fetch { block, max_depth, metadata } => {
                Ok(shown(vec![self.model_fetch(block, max_depth, metadata)?]))
            }
            Request::Relocate { document, location } => {
                self.naive.set_location(document, location);
                Ok(Vec::new())
            }
        }
    }

    fn model_fetch(&self, block: BlockId, max_depth: Option<usize>, metadata: bool) -> Result<Block, Error> {
        let plain = |data: &BlockData| leafbase_markdown::plain_text(&data.markdown).into_owned();
        Ok(with_markdown(self.naive.fetch(block, max_depth, metadata, &plain)?))
    }

    pub fn compare_dumps(&self) {
        let notes = self.notes();
        let mut expected: Vec<_> =
            self.naive.documents.iter().map(|document| (document.record.id, document.record.location)).collect();
        expected.sort_unstable();
        let documents = notes.documents().unwrap().0;
        let found: Vec<_> = documents.iter().map(|found| (found.id(), found.record.location)).collect();
        assert_eq!(found, expected, "the documents");
        for (id, _) in expected {
            let ours = notes.fetch(Fetch::new(id).with_metadata()).unwrap();
            let theirs = self.model_fetch(id.root(), None, true).unwrap();
            assert_eq!(ours, theirs, "document {id}");
        }
    }

    pub fn check(&self) {
        let report = self.space.as_ref().unwrap().check().unwrap();
        assert!(report.is_clean(), "{report:?}");
    }
}

fn shown(blocks: Vec<Block>) -> Vec<String> {
    blocks.iter().map(|block| serde_json::to_string(block).unwrap()).collect()
}

/// The model keeps blocks; a reply shows the markdown of those that have none of their own.
fn with_markdown(mut block: Block) -> Block {
    if !block.data.block_type().has_own_markdown() {
        block.data.markdown = leafbase_markdown::render_block(&block.data);
    }
    if let Content::Blocks(children) = block.content {
        block.content = Content::Blocks(children.into_iter().map(with_markdown).collect());
    }
    block
}

/// The model knows no markdown: requests are given to both sides in the canonical form, in which the engine changes nothing.
pub fn canonical(request: Request, naive: &NaiveSpace) -> Request {
    match request {
        Request::CreateDocument { root, destination } => {
            Request::CreateDocument { root: canonical_draft(root), destination }
        }
        Request::Insert { drafts, position } => {
            Request::Insert { drafts: drafts.into_iter().map(canonical_draft).collect(), position }
        }
        Request::Update(mut patches) => {
            for patch in &mut patches {
                let block = naive.find(patch.id).map(|block| block.record.data.clone());
                let wanted = patch.fields.block_type.or(block.as_ref().map(BlockData::block_type));
                if wanted.is_some_and(|wanted| !wanted.has_own_markdown()) {
                    patch.fields.markdown = None;
                } else if let (Some(text), Some(mut data)) = (&mut patch.fields.markdown, block) {
                    data.markdown = std::mem::take(text);
                    leafbase_markdown::canonical(&mut data);
                    *text = data.markdown;
                }
            }
            Request::Update(patches)
        }
        other => other,
    }
}

fn canonical_draft(mut draft: BlockDraft) -> BlockDraft {
    if let BlockKind::Text(look) = draft.data.kind
        && !draft.content.is_empty()
    {
        draft.data.kind = BlockKind::Page(look);
    }
    if !draft.data.block_type().has_own_markdown() {
        draft.data.markdown.clear();
    }
    leafbase_markdown::canonical(&mut draft.data);
    draft.content = draft.content.into_iter().map(canonical_draft).collect();
    draft
}
