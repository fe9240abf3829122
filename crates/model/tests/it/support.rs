//! What the tests share: blocks of every type with every field set, and random ones.

use leafbase_model::{
    Author, Block, BlockData, BlockDraft, BlockId, BlockKind, BlockLayout, BlockType, CardLayout,
    CodeLanguage, Color, Content, Day, Decorations, Font, LineStyle, ListStyle, MediaSize,
    MediaWidth, Properties, PropertyValue, TaskInfo, TaskState, TextAlignment, TextFormat,
    TextStyle, Timestamp,
};
use proptest::prelude::*;

pub(crate) fn id(number: u8) -> BlockId {
    let mut bytes = [0; 16];
    bytes[15] = number;
    BlockId::from_bytes(bytes)
}

pub(crate) fn day(text: &str) -> Day {
    text.parse().unwrap()
}

pub(crate) fn instant(text: &str) -> Timestamp {
    text.parse().unwrap()
}

pub(crate) fn anna() -> Author {
    Author::new("Anna")
}

pub(crate) fn block(data: BlockData) -> Block {
    Block {
        id: id(1),
        rev: 3,
        data,
        block_form: None,
        plain: None,
        metadata: None,
        item: None,
        content: Content::None,
    }
}

/// A block of this type with no field at its default.
pub(crate) fn full(block_type: BlockType) -> BlockData {
    let look = TextFormat {
        style: TextStyle::Card,
        alignment: TextAlignment::Center,
        font: Font::Serif,
        card_layout: CardLayout::Large,
    };
    let (url, alt_text) = ("asset://1/a b.png".to_owned(), "A boat".to_owned());
    let (size, width) = (MediaSize::Fill, MediaWidth::FullWidth);
    let kind = match block_type {
        BlockType::Text => BlockKind::Text(look),
        BlockType::Page => BlockKind::Page(look),
        BlockType::CollectionItem => BlockKind::CollectionItem { properties: properties() },
        BlockType::Image => BlockKind::Image { url, alt_text, size, width },
        BlockType::Video => BlockKind::Video { url, alt_text, size, width },
        BlockType::File => {
            BlockKind::File { url, file_name: "a b.png".into(), layout: BlockLayout::Card }
        }
        BlockType::Drawing => BlockKind::Drawing { url },
        BlockType::Whiteboard => BlockKind::Whiteboard { url },
        BlockType::Table => BlockKind::Table,
        BlockType::Collection => BlockKind::Collection,
        BlockType::Code => BlockKind::Code {
            raw_code: "let x = 1;\n".into(),
            language: CodeLanguage::Rust,
            language_tag: "rust,ignore".into(),
        },
        BlockType::RichUrl => BlockKind::RichUrl {
            url: "https://example.org".into(),
            title: "Example".into(),
            description: "An example".into(),
            layout: BlockLayout::Small,
        },
        BlockType::Line => BlockKind::Line { style: LineStyle::ExtraLight },
    };
    let markdown = match block_type {
        BlockType::Table => "| a | b |\n| --- | --- |\n| 1 \\| 2 | **3** |",
        _ => "Some *words*",
    };
    BlockData {
        kind,
        inline: markdown.into(),
        indentation: 2,
        list_style: ListStyle::Task,
        color: Some(Color::from_rgb([0xff, 0xee, 0])),
        task: Some(TaskInfo {
            state: TaskState::Done,
            schedule_date: Some(day("2026-03-01")),
            deadline_date: Some(day("2026-03-02")),
            completed_at: Some(instant("2026-03-01T09:30:00.000Z")),
            canceled_at: None,
        }),
        decorations: Decorations { callout: true, quote: true },
        layout: None,
    }
}

fn properties() -> Properties {
    [
        ("author", PropertyValue::Text("Anna".into())),
        ("due", PropertyValue::Date(day("2026-03-01"))),
        ("pages", PropertyValue::Number(12.5)),
        ("read", PropertyValue::Boolean(true)),
        ("related", PropertyValue::Relations(vec![id(7)])),
        ("tags", PropertyValue::Options(vec!["red".into(), "blue".into()])),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .into_iter()
    .collect()
}

fn one_of<T: Copy + std::fmt::Debug + 'static>(values: &'static [T]) -> impl Strategy<Value = T> {
    proptest::sample::select(values)
}

fn look() -> impl Strategy<Value = TextFormat> {
    let parts = (
        one_of(TextStyle::ALL),
        one_of(TextAlignment::ALL),
        one_of(Font::ALL),
        one_of(CardLayout::ALL),
    );
    parts.prop_map(|(style, alignment, font, card_layout)| TextFormat {
        style,
        alignment,
        font,
        card_layout,
    })
}

fn kind() -> impl Strategy<Value = BlockKind> {
    let text = || ".{0,12}";
    prop_oneof![
        look().prop_map(BlockKind::Text),
        look().prop_map(BlockKind::Page),
        Just(BlockKind::CollectionItem { properties: Properties::default() }),
        (text(), text(), one_of(MediaSize::ALL), one_of(MediaWidth::ALL)).prop_map(
            |(url, alt_text, size, width)| BlockKind::Image { url, alt_text, size, width }
        ),
        (text(), text(), one_of(MediaSize::ALL), one_of(MediaWidth::ALL)).prop_map(
            |(url, alt_text, size, width)| BlockKind::Video { url, alt_text, size, width }
        ),
        (text(), text(), one_of(BlockLayout::ALL))
            .prop_map(|(url, file_name, layout)| BlockKind::File { url, file_name, layout }),
        text().prop_map(|url| BlockKind::Drawing { url }),
        text().prop_map(|url| BlockKind::Whiteboard { url }),
        Just(BlockKind::Table),
        Just(BlockKind::Collection),
        (text(), one_of(CodeLanguage::ALL), ",[a-z]{0,5}").prop_map(
            |(raw_code, language, rest)| BlockKind::Code {
                raw_code,
                language,
                language_tag: if rest.len() > 1 {
                    format!("{language}{rest}")
                } else {
                    String::new()
                },
            }
        ),
        (text(), text(), text(), one_of(BlockLayout::ALL)).prop_map(
            |(url, title, description, layout)| {
                BlockKind::RichUrl { url, title, description, layout }
            }
        ),
        one_of(LineStyle::ALL).prop_map(|style| BlockKind::Line { style }),
    ]
}

pub(crate) fn any_day() -> impl Strategy<Value = Day> {
    (-719_528_i64..=2_932_896).prop_map(Day::from_epoch_days)
}

pub(crate) fn any_instant() -> impl Strategy<Value = Timestamp> {
    (Timestamp::MIN.as_millis()..=Timestamp::MAX.as_millis()).prop_map(Timestamp::from_millis)
}

fn task() -> impl Strategy<Value = TaskInfo> {
    use proptest::option::of;
    (one_of(TaskState::ALL), of(any_day()), of(any_day()), of(any_instant()), of(any_instant()))
        .prop_map(|(state, schedule_date, deadline_date, completed_at, canceled_at)| TaskInfo {
            state,
            schedule_date,
            deadline_date,
            completed_at: completed_at.filter(|_| state == TaskState::Done),
            canceled_at: canceled_at.filter(|_| state == TaskState::Canceled),
        })
}

fn data() -> impl Strategy<Value = BlockData> {
    let color = proptest::option::of(any::<[u8; 3]>());
    (kind(), ".{0,20}", 0..=5_u8, one_of(ListStyle::ALL), color, task(), any::<(bool, bool)>())
        .prop_map(|(kind, markdown, indentation, list_style, color, task, (callout, quote))| {
            BlockData {
                kind,
                inline: markdown,
                indentation,
                list_style,
                color: color.map(Color::from_rgb),
                task: (list_style == ListStyle::Task).then_some(task),
                decorations: Decorations { callout, quote },
                layout: None,
            }
        })
}

pub(crate) fn draft() -> impl Strategy<Value = BlockDraft> {
    data().prop_map(BlockDraft::new).prop_recursive(4, 24, 4, |inner| {
        (data(), proptest::collection::vec(inner, 0..4)).prop_map(|(data, content)| {
            let content = if data.block_type().may_be_parent() { content } else { Vec::new() };
            BlockDraft::new(data).with_content(content)
        })
    })
}
