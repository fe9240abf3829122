//! Random requests: any numbers make one that means something in the space at hand, wrong ones included.

use leafbase_model::{
    BlockData, BlockDraft, BlockId, BlockKind, BlockPatch, BlockType, CardLayout, Day, Destination, DocumentId, Fields,
    Limits, ListStyle, Location, Position, Side, TaskInfo, TaskState, TextLook,
};

use crate::NaiveSpace;

/// Numbers from a generator or a fuzzer. Used up, they go on as zeros, which make the simplest choices.
#[derive(Debug)]
pub struct Numbers<'a>(&'a [u32]);

impl<'a> Numbers<'a> {
    /// These numbers.
    pub const fn new(numbers: &'a [u32]) -> Self {
        Self(numbers)
    }

    /// A number from 0 to below `end`, which is at least 1.
    pub fn below(&mut self, end: usize) -> usize {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::try_from(*first).unwrap_or(usize::MAX) % end
    }

    /// Once in so many times.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// A request on documents and blocks, right or wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Makes a document.
    CreateDocument {
        /// Its root.
        root: BlockDraft,
        /// Where it is kept.
        destination: Destination,
    },
    /// Puts blocks in.
    Insert {
        /// What.
        drafts: Vec<BlockDraft>,
        /// Where.
        position: Position,
    },
    /// Changes blocks.
    Update(Vec<BlockPatch>),
    /// Takes blocks out.
    Delete(Vec<BlockId>),
    /// Moves blocks.
    Move {
        /// What.
        ids: Vec<BlockId>,
        /// Where to.
        position: Position,
    },
    /// Reads a block.
    Fetch {
        /// Which.
        block: BlockId,
        /// Levels below it.
        max_depth: Option<usize>,
        /// Whether with metadata.
        metadata: bool,
    },
    /// Puts a document into the trash, or out of it.
    Relocate {
        /// Which.
        document: DocumentId,
        /// Where to.
        location: Location,
    },
}

/// Limits that small spaces reach.
pub fn small_limits() -> Limits {
    let mut limits = Limits::default();
    (limits.page_nesting, limits.blocks_per_request) = (4, 9);
    (limits.block_text, limits.title, limits.block_raw) = (24, 12, 16);
    limits
}

impl Request {
    /// The request that these numbers make in `space`.
    pub fn new(numbers: &mut Numbers<'_>, space: &NaiveSpace) -> Self {
        match numbers.below(16) {
            0..=4 => Self::Insert { drafts: drafts(numbers, 0), position: position(numbers, space) },
            5..=9 => Self::Move { ids: blocks(numbers, space), position: position(numbers, space) },
            10..=12 => Self::Update(patches(numbers, space)),
            13 => Self::Delete(blocks(numbers, space)),
            14 => fetch(numbers, space),
            _ if numbers.once_in(2) => {
                Self::CreateDocument { root: draft(numbers, 0), destination: destination(numbers) }
            }
            _ => Self::Relocate { document: document(numbers, space), location: location(numbers) },
        }
    }
}

fn fetch(numbers: &mut Numbers<'_>, space: &NaiveSpace) -> Request {
    let max_depth = numbers.pick(&[None, Some(0), Some(1), Some(2)]);
    Request::Fetch { block: block(numbers, space), max_depth, metadata: numbers.once_in(2) }
}

fn destination(numbers: &mut Numbers<'_>) -> Destination {
    numbers.pick(&[Destination::Unsorted, Destination::Unsorted, Destination::Templates])
}

fn location(numbers: &mut Numbers<'_>) -> Location {
    numbers.pick(&[Location::Unsorted, Location::Unsorted, Location::Templates, Location::Trash])
}

fn document(numbers: &mut Numbers<'_>, space: &NaiveSpace) -> DocumentId {
    let ids: Vec<_> = space.documents.iter().map(|document| document.record.id).collect();
    if ids.is_empty() { DocumentId::NIL } else { numbers.pick(&ids) }
}

/// A block of the space; now and then one that is not there.
fn block(numbers: &mut Numbers<'_>, space: &NaiveSpace) -> BlockId {
    let ids = space.ids();
    if ids.is_empty() || numbers.once_in(24) {
        return BlockId::from_bytes([0xAB; 16]);
    }
    numbers.pick(&ids)
}

/// A few blocks: some anywhere, some side by side, in any order, now and then one twice.
fn blocks(numbers: &mut Numbers<'_>, space: &NaiveSpace) -> Vec<BlockId> {
    let count = numbers.below(4) + usize::from(!numbers.once_in(24));
    let mut ids: Vec<_> = (0..count).map(|_| block(numbers, space)).collect();
    if numbers.once_in(3) {
        let first = block(numbers, space);
        let siblings = space.parent(first).map(|parent| space.first_children(parent, usize::MAX)).unwrap_or_default();
        let run = siblings.iter().map(|sibling| sibling.id).skip_while(|id| *id != first);
        ids = run.take(2 + numbers.below(4)).collect();
        let turn = numbers.below(ids.len().max(1));
        ids.rotate_left(turn);
    }
    if !numbers.once_in(12) {
        let mut seen = Vec::new();
        ids.retain(|id| {
            !seen.contains(id) && {
                seen.push(*id);
                true
            }
        });
    }
    ids
}

fn position(numbers: &mut Numbers<'_>, space: &NaiveSpace) -> Position {
    let side = numbers.below(4);
    let block = block(numbers, space);
    match side {
        0 => Position::end_of(block),
        1 => Position::start_of(block),
        2 => Position::Beside(Side::Before, block),
        _ => Position::Beside(Side::After, block),
    }
}

fn drafts(numbers: &mut Numbers<'_>, depth: usize) -> Vec<BlockDraft> {
    (0..numbers.below(4)).map(|_| draft(numbers, depth)).collect()
}

/// A draft, with content now and then, below types that may have none too.
fn draft(numbers: &mut Numbers<'_>, depth: usize) -> BlockDraft {
    let data = data(numbers);
    let may_nest = data.block_type().may_be_parent() || numbers.once_in(16);
    let content = if depth < 6 && may_nest && numbers.once_in(2) { drafts(numbers, depth + 1) } else { Vec::new() };
    BlockDraft { data, content }
}

fn data(numbers: &mut Numbers<'_>) -> BlockData {
    let block_type = match numbers.below(8) {
        0..=3 => BlockType::Text,
        4 | 5 => BlockType::Page,
        6 => numbers.pick(&[BlockType::Line, BlockType::Image, BlockType::Code, BlockType::Table]),
        _ => numbers.pick(BlockType::ALL),
    };
    let mut data = BlockData::new(BlockKind::empty(block_type));
    if block_type.has_own_markdown() || numbers.once_in(16) {
        data.markdown = text(numbers);
    }
    if let BlockKind::Text(look) | BlockKind::Page(look) = &mut data.kind
        && numbers.once_in(8)
    {
        *look = TextLook { card_layout: numbers.pick(CardLayout::ALL), ..*look };
    }
    if numbers.once_in(6) {
        (data.list_style, data.task) = (ListStyle::Task, Some(TaskInfo::of_state(numbers.pick(TaskState::ALL))));
    }
    data.indentation = indentation(numbers);
    data
}

fn indentation(numbers: &mut Numbers<'_>) -> u8 {
    numbers.pick(&[0, 0, 0, 0, 0, 1, 2, 5, 0, 0, 0, 0, 0, 0, 0, 6])
}

/// Short, or too long for a title, or now and then for any block under [`small_limits`].
fn text(numbers: &mut Numbers<'_>) -> String {
    let length = numbers.pick(&[1, 0, 2, 3, 1, 2, 3, 4, 1, 2, 3, 4, 13, 5, 1, 25]);
    (0..length).map(|_| numbers.pick(&['a', 'b', 'é', ' '])).collect()
}

fn patches(numbers: &mut Numbers<'_>, space: &NaiveSpace) -> Vec<BlockPatch> {
    let ids = blocks(numbers, space);
    let patch = |id| {
        let rev = space.find(id).map_or(1, |block| block.record.rev);
        BlockPatch { id, rev: numbers.once_in(3).then(|| rev + u64::from(numbers.once_in(6))), fields: fields(numbers) }
    };
    ids.into_iter().map(patch).collect()
}

fn fields(numbers: &mut Numbers<'_>) -> Fields {
    let mut fields = Fields::default();
    match numbers.below(8) {
        0 | 1 => fields.markdown = Some(text(numbers)),
        2 => fields.block_type = Some(BlockType::Text),
        3 => fields.block_type = Some(numbers.pick(BlockType::ALL)),
        4 => fields.indentation = Some(indentation(numbers)),
        5 => fields.card_layout = Some(numbers.pick(CardLayout::ALL)),
        6 => fields.list_style = Some(numbers.pick(ListStyle::ALL)),
        _ => {
            fields.list_style = Some(ListStyle::Task);
            let mut task = TaskInfo::of_state(numbers.pick(TaskState::ALL));
            task.schedule_date = numbers.once_in(2).then(|| Day::new(2026, 3, 1).ok()).flatten();
            fields.task = Some(task);
        }
    }
    fields
}
