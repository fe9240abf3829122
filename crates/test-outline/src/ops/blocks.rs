//! Random requests on blocks.

use leafbase_model::{
    AssetUrl, BlockData, BlockDraft, BlockFields, BlockId, BlockKind, BlockPatch, BlockType,
    CardLayout, Day, DayRef, Destination, DocumentId, Edge, Fetch, ListStyle, Location, Position,
    PositionTarget, Side, TaskInfo, TaskState, TextFormat,
};

use super::{Setting, block, day, document, documents, files, is_inner, tasks};
use crate::{NaiveBlock, Numbers};

/// A request on blocks, right or wrong.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one of them at a time")]
pub enum BlockRequest {
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
    Fetch(Fetch),
    /// Puts a document into the trash, or out of it, whatever the rules say; only in settings
    /// without a day.
    Relocate {
        /// Which.
        document: DocumentId,
        /// Where to.
        location: Location,
    },
}

impl BlockRequest {
    /// The request that these numbers make.
    pub fn new(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> Self {
        match numbers.below(16) {
            0..=4 => Self::Insert {
                drafts: drafts(numbers, setting, 0),
                position: position(numbers, setting),
            },
            5..=9 => {
                Self::Move { ids: blocks(numbers, setting), position: position(numbers, setting) }
            }
            10..=12 => Self::Update(patches(numbers, setting)),
            13 => Self::Delete(blocks(numbers, setting)),
            14 => fetch(numbers, setting),
            _ if setting.today.is_some() || numbers.once_in(2) => {
                let destination = documents::destination(numbers, setting);
                Self::CreateDocument { root: root(numbers, setting), destination }
            }
            _ => {
                let document =
                    document(numbers, setting, |found| found.record.location != Location::Inbox);
                Self::Relocate { document, location: location(numbers) }
            }
        }
    }
}

fn fetch(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> BlockRequest {
    let mut fetch = match setting.today {
        Some(today) if numbers.once_in(3) => {
            let notes: Vec<_> =
                setting.space.documents.iter().filter_map(|found| found.record.day).collect();
            let any = notes.is_empty() || numbers.once_in(2);
            Fetch::day(if any { day(numbers, today) } else { DayRef::Date(numbers.pick(&notes)) })
        }
        _ => Fetch::new(block(numbers, setting, |_| true)),
    };
    fetch.max_depth = numbers.pick(&[None, Some(0), Some(1), Some(2)]);
    fetch.metadata = numbers.once_in(2);
    BlockRequest::Fetch(fetch)
}

fn location(numbers: &mut Numbers<'_>) -> Location {
    numbers.pick(&[Location::Unsorted, Location::Unsorted, Location::Templates, Location::Trash])
}

/// A few blocks: some anywhere, some side by side, in any order, now and then one twice.
fn blocks(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> Vec<BlockId> {
    let (count, space) = (numbers.below(4) + usize::from(!numbers.once_in(24)), setting.space);
    let mut ids: Vec<_> = (0..count).map(|_| block(numbers, setting, is_inner(setting))).collect();
    if numbers.once_in(3) {
        let first = block(numbers, setting, is_inner(setting));
        let siblings = space
            .parent(first)
            .map(|parent| space.first_children(parent, usize::MAX))
            .unwrap_or_default();
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

/// A place; where there are days, often one in a daily note.
pub(super) fn position(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> Position {
    let side = numbers.below(4);
    if let Some(today) = setting.today
        && numbers.once_in(8)
    {
        let edge = if side == 0 { Edge::Start } else { Edge::End };
        let target = if side == 1 {
            PositionTarget::Unnamed
        } else {
            PositionTarget::Day(day(numbers, today))
        };
        return Position::Within(edge, target);
    }
    let may_hold = |found: &NaiveBlock| found.record.data.block_type().may_be_parent();
    let is_inner_there =
        setting.space.documents.iter().any(|found| !found.root.children.is_empty());
    match side % if is_inner_there { 4 } else { 2 } {
        0 => Position::end_of(block(numbers, setting, may_hold)),
        1 => Position::start_of(block(numbers, setting, may_hold)),
        2 => Position::Beside(Side::Before, block(numbers, setting, is_inner(setting))),
        _ => Position::Beside(Side::After, block(numbers, setting, is_inner(setting))),
    }
}

fn drafts(numbers: &mut Numbers<'_>, setting: Setting<'_>, depth: usize) -> Vec<BlockDraft> {
    (0..numbers.below(4)).map(|_| draft(numbers, setting, depth)).collect()
}

/// A draft, with content now and then, below types that may have none too.
pub(super) fn draft(numbers: &mut Numbers<'_>, setting: Setting<'_>, depth: usize) -> BlockDraft {
    let data = data(numbers, setting);
    let may_nest = data.block_type().may_be_parent() || numbers.once_in(16);
    let content = if depth < 6 && may_nest && numbers.once_in(2) {
        drafts(numbers, setting, depth + 1)
    } else {
        Vec::new()
    };
    BlockDraft::new(data).with_content(content)
}

/// The draft of a document; now and then of another type than a page.
pub(super) fn root(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> BlockDraft {
    let mut root = draft(numbers, setting, 0);
    if !numbers.once_in(16) {
        root.data.kind = BlockKind::Page(TextFormat::default());
    }
    root
}

fn data(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> BlockData {
    let block_type = match numbers.below(8) {
        0..=3 => BlockType::Text,
        4 | 5 => BlockType::Page,
        6 => numbers.pick(&[BlockType::Line, BlockType::Image, BlockType::Code, BlockType::Table]),
        _ => numbers.pick(BlockType::ALL),
    };
    let mut data = BlockData::new(BlockKind::empty(block_type));
    if block_type.has_own_markdown() || numbers.once_in(16) {
        data.inline = text(numbers, setting);
    }
    if let BlockKind::Text(look) | BlockKind::Page(look) = &mut data.kind
        && numbers.once_in(8)
    {
        *look = TextFormat { card_layout: numbers.pick(CardLayout::ALL), ..*look };
    }
    if let BlockKind::Code { raw_code, language_tag, .. } = &mut data.kind
        && numbers.once_in(2)
    {
        numbers.pick(&["tags: [trip]", "tags: [é, Trip/Lisbon]", "tags"]).clone_into(raw_code);
        numbers.pick(&["yaml frontmatter", "x"]).clone_into(language_tag);
    }
    if let BlockKind::Image { url, .. } | BlockKind::File { url, .. } = &mut data.kind {
        *url = asset_url(numbers, setting);
    }
    if numbers.once_in(6) {
        (data.list_style, data.task) = (ListStyle::Task, Some(task(numbers, setting)));
    }
    data.indentation = indentation(numbers);
    data
}

fn indentation(numbers: &mut Numbers<'_>) -> u8 {
    if numbers.once_in(40) { 6 } else { numbers.pick(&[0, 0, 0, 0, 0, 1, 2, 5]) }
}

/// Short, or with a tag, or a link, or too long for a title, or now and then for any block under
/// [`super::small_limits`].
pub(super) fn text(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> String {
    if numbers.once_in(10) {
        return numbers.pick(TAGGED).to_owned();
    }
    let length = match numbers.below(40) {
        39 => 65,
        37 | 38 => 29,
        34..=36 => 70,
        short => short % 6,
    };
    match length {
        70 if numbers.once_in(2) => format!("[a](block://{})", block(numbers, setting, |_| true)),
        70 => format!("[a]({})", asset_url(numbers, setting)),
        29.. => numbers.pick(&["a", "é"]).repeat(length),
        _ => (0..length).map(|_| numbers.pick(&['a', 'b', 'é', ' '])).collect(),
    }
}

/// As [`text`]; often a link within the document of `block`.
pub(super) fn text_for(numbers: &mut Numbers<'_>, setting: Setting<'_>, block: BlockId) -> String {
    let home = setting.space.document_of(block).filter(|_| numbers.once_in(2));
    let Some(home) = home else { return text(numbers, setting) };
    let ids: Vec<_> = home.root.walk().into_iter().map(|found| found.record.id).collect();
    format!("[a](block://{})", numbers.pick(&ids))
}

/// Texts with tags, and what looks like one.
const TAGGED: &[&str] = &[
    "#trip",
    "to #Trip/Lisbon",
    "#trip/lisbon #Trip",
    "#[[to do]] é",
    "#éa-b_1",
    "`#code` a#b # #1",
];

/// The URL of a file.
fn asset_url(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> String {
    AssetUrl::new(files::file(numbers, setting), "a").to_string()
}

fn task(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> TaskInfo {
    let mut date = || {
        let today = setting.today?;
        match numbers.once_in(3).then(|| day(numbers, today))? {
            DayRef::Date(day) => Some(day),
            _ => Some(today),
        }
    };
    let (schedule_date, deadline_date) = (date(), date());
    TaskInfo { schedule_date, deadline_date, ..TaskInfo::of_state(numbers.pick(TaskState::ALL)) }
}

fn patches(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> Vec<BlockPatch> {
    let ids = blocks(numbers, setting);
    let patch = |id| {
        let rev = setting.space.find(id).map_or(1, |block| block.record.rev);
        BlockPatch {
            content: None,
            item: None,
            id,
            rev: numbers.once_in(3).then(|| rev + u64::from(numbers.once_in(6))),
            fields: fields(numbers, setting, id),
        }
    };
    ids.into_iter().map(patch).collect()
}

fn fields(numbers: &mut Numbers<'_>, setting: Setting<'_>, block: BlockId) -> BlockFields {
    let mut fields = BlockFields::default();
    match (numbers.below(10), setting.today) {
        (0 | 1, _) => fields.markdown = Some(text_for(numbers, setting, block)),
        (2, _) => fields.block_type = Some(BlockType::Text),
        (3, _) => fields.block_type = Some(numbers.pick(BlockType::ALL)),
        (4, _) => fields.indentation = Some(indentation(numbers)),
        (5, _) => fields.card_layout = Some(numbers.pick(CardLayout::ALL)),
        (6, _) => fields.list_style = Some(numbers.pick(ListStyle::ALL)),
        (7, Some(_)) => fields.url = Some(asset_url(numbers, setting)),
        (8, Some(today)) => {
            fields.list_style = numbers.once_in(2).then_some(ListStyle::Task);
            fields.task_patch = Some(tasks::patch(numbers, today));
        }
        _ => {
            fields.list_style = Some(ListStyle::Task);
            let mut task = task(numbers, setting);
            if setting.today.is_none() {
                task.schedule_date =
                    numbers.once_in(2).then(|| Day::new(2026, 3, 1).ok()).flatten();
            }
            fields.task = Some(task);
        }
    }
    fields
}
