//! Blocks of all that markdown can say, from bytes.

use leafbase_model::{
    BlockData, BlockDraft, BlockKind, BlockLayout, CardLayout, CodeLanguage, Decorations,
    LineStyle, ListStyle, MediaSize, MediaWidth, TaskInfo, TaskState, TextFormat, TextStyle,
};
use libfuzzer_sys::arbitrary::{Arbitrary, Result, Unstructured};

/// Blocks as a request may give them, not canonical.
#[derive(Debug)]
pub struct Drafts(pub Vec<BlockDraft>);

impl<'a> Arbitrary<'a> for Drafts {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        blocks(bytes, 0).map(Self)
    }
}

fn blocks(bytes: &mut Unstructured<'_>, depth: usize) -> Result<Vec<BlockDraft>> {
    let mut blocks = Vec::new();
    while blocks.len() < 8 && !bytes.is_empty() && bytes.ratio(3, 4)? {
        let page = depth < 3 && bytes.ratio(1, 6)?;
        blocks.push(if page { self::page(bytes, depth)? } else { BlockDraft::new(block(bytes)?) });
    }
    Ok(blocks)
}

fn page(bytes: &mut Unstructured<'_>, depth: usize) -> Result<BlockDraft> {
    let mut data = block(bytes)?;
    let (style, card_layout) = (*bytes.choose(TextStyle::ALL)?, *bytes.choose(CardLayout::ALL)?);
    // Only cards and pages say how they are laid out.
    let said = matches!(style, TextStyle::Card | TextStyle::Page);
    let card_layout = if said { card_layout } else { CardLayout::Regular };
    data.kind = BlockKind::Page(TextFormat { style, card_layout, ..TextFormat::default() });
    data.inline = text(bytes)?;
    Ok(BlockDraft::new(data).with_content(blocks(bytes, depth + 1)?))
}

fn block(bytes: &mut Unstructured<'_>) -> Result<BlockData> {
    let kind = kind(bytes)?;
    let mut data = BlockData::new(kind);
    if data.block_type().has_own_markdown() {
        data.inline = text(bytes)?;
    }
    // A rich link in a list is a link in its text.
    if !matches!(data.kind, BlockKind::RichUrl { .. }) && bytes.ratio(1, 2)? {
        data.list_style = *bytes.choose(ListStyle::ALL)?;
    }
    if data.list_style == ListStyle::Task {
        data.task = Some(TaskInfo::of_state(*bytes.choose(TaskState::ALL)?));
    }
    data.indentation = bytes.int_in_range(0..=5)?;
    if bytes.ratio(1, 6)? {
        data.decorations = Decorations { callout: bytes.arbitrary()?, quote: bytes.arbitrary()? };
    }
    Ok(data)
}

/// No drawings, whiteboards, collections and items: markdown shows those by their IDs.
fn kind(bytes: &mut Unstructured<'_>) -> Result<BlockKind> {
    let (size, width, layout) =
        (MediaSize::default(), MediaWidth::default(), BlockLayout::default());
    Ok(match bytes.int_in_range(0..=11)? {
        0 => BlockKind::Image { url: text(bytes)?, alt_text: text(bytes)?, size, width },
        1 => BlockKind::Video { url: text(bytes)?, alt_text: text(bytes)?, size, width },
        2 => BlockKind::File { url: text(bytes)?, file_name: text(bytes)?, layout },
        3 => {
            let url = format!("https://x.example/{}", text(bytes)?);
            BlockKind::RichUrl { url, title: text(bytes)?, description: text(bytes)?, layout }
        }
        4 => BlockKind::Table,
        5 => {
            let language_tag = if bytes.arbitrary()? { text(bytes)? } else { String::new() };
            BlockKind::Code {
                raw_code: text(bytes)?,
                language: *bytes.choose(CodeLanguage::ALL)?,
                language_tag,
            }
        }
        6 => BlockKind::Line { style: *bytes.choose(LineStyle::ALL)? },
        _ => {
            let style = *bytes.choose(TextStyle::ALL)?;
            let large = matches!(style, TextStyle::Card | TextStyle::Page) && bytes.arbitrary()?;
            let card_layout = if large { CardLayout::Large } else { CardLayout::Regular };
            BlockKind::Text(TextFormat { style, card_layout, ..TextFormat::default() })
        }
    })
}

fn text(bytes: &mut Unstructured<'_>) -> Result<String> {
    let length = bytes.int_in_range(0..=24)?;
    let taken = bytes.bytes(length.min(bytes.len()))?;
    Ok(String::from_utf8_lossy(taken).into_owned())
}
