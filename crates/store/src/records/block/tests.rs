//! Blocks of every kind round-trip, and the bytes of a version are stable.

use leafbase_model::{
    BlockLayout, CardLayout, CodeLanguage, FileLayout, Font, LineLayout, LineStyle, LinkLayout,
    ListStyle, MediaSize, MediaWidth, SourceLayout, TaskState, TextAlignment, TextStyle, Timestamp,
    VerbatimLines,
};
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), ".{0,40}", "[a-z]{250,300}", "[a-z]{65530,65540}"]
}

fn times() -> impl Strategy<Value = Timestamp> {
    prop_oneof![
        Just(Timestamp::MIN),
        Just(Timestamp::MAX),
        Just(Timestamp::default()),
        any::<i64>().prop_map(Timestamp::from_millis),
        (0..2_000_000_000_000_i64).prop_map(Timestamp::from_millis),
    ]
}

fn days() -> impl Strategy<Value = Day> {
    (-800_000..3_000_000_i64).prop_map(Day::from_epoch_days)
}

fn stamps() -> impl Strategy<Value = Stamp> {
    (times(), select(vec!["", "Ada", "Grace Hopper"]))
        .prop_map(|(at, by)| Stamp { at, by: Author::new(by) })
}

fn properties() -> impl Strategy<Value = Properties> {
    let ids = prop::collection::vec(any::<[u8; 16]>().prop_map(BlockId::from_bytes), 0..20);
    let value = prop_oneof![
        texts().prop_map(PropertyValue::Text),
        prop_oneof![Just(0.0), Just(-0.0), Just(f64::MAX), any::<i32>().prop_map(f64::from)]
            .prop_map(PropertyValue::Number),
        any::<bool>().prop_map(PropertyValue::Boolean),
        days().prop_map(PropertyValue::Date),
        prop::collection::vec(".{0,9}", 0..20).prop_map(PropertyValue::Options),
        ids.prop_map(PropertyValue::Relations),
    ];
    prop::collection::vec((".{0,9}", value), 0..12).prop_map(|values| values.into_iter().collect())
}

fn looks() -> impl Strategy<Value = TextFormat> {
    let parts = (
        select(TextStyle::ALL),
        select(TextAlignment::ALL),
        select(Font::ALL),
        select(CardLayout::ALL),
    );
    parts.prop_map(|(style, alignment, font, card_layout)| TextFormat {
        style,
        alignment,
        font,
        card_layout,
    })
}

fn kinds() -> impl Strategy<Value = BlockKind> {
    let media = || (texts(), texts(), select(MediaSize::ALL), select(MediaWidth::ALL));
    prop_oneof![
        looks().prop_map(BlockKind::Text),
        looks().prop_map(BlockKind::Page),
        properties().prop_map(|properties| BlockKind::CollectionItem { properties }),
        media().prop_map(|(url, alt_text, size, width)| BlockKind::Image {
            url,
            alt_text,
            size,
            width
        }),
        media().prop_map(|(url, alt_text, size, width)| BlockKind::Video {
            url,
            alt_text,
            size,
            width
        }),
        (texts(), texts(), select(BlockLayout::ALL))
            .prop_map(|(url, file_name, layout)| BlockKind::File { url, file_name, layout }),
        texts().prop_map(|url| BlockKind::Drawing { url }),
        texts().prop_map(|url| BlockKind::Whiteboard { url }),
        Just(BlockKind::Table),
        Just(BlockKind::Collection),
        (texts(), select(CodeLanguage::ALL), texts()).prop_map(
            |(raw_code, language, language_tag)| BlockKind::Code {
                raw_code,
                language,
                language_tag
            }
        ),
        (texts(), texts(), texts(), select(BlockLayout::ALL)).prop_map(
            |(url, title, description, layout)| BlockKind::RichUrl {
                url,
                title,
                description,
                layout
            }
        ),
        select(LineStyle::ALL).prop_map(|style| BlockKind::Line { style }),
    ]
}

fn tasks() -> impl Strategy<Value = TaskInfo> {
    let day = || prop::option::of(days());
    let time = || prop::option::of(times());
    (select(TaskState::ALL), day(), day(), time(), time()).prop_map(
        |(state, schedule_date, deadline_date, completed_at, canceled_at)| TaskInfo {
            state,
            schedule_date,
            deadline_date,
            completed_at,
            canceled_at,
        },
    )
}

fn layouts() -> impl Strategy<Value = SourceLayout> {
    let text = || "[ \\n>*-]{0,3}".prop_map(Box::<str>::from);
    let part = || prop::option::of(text());
    let line = (any::<u32>(), part(), text());
    let lines = line.prop_map(|(line, lead, trail)| LineLayout { line, lead, trail });
    let links = (text(), any::<bool>(), part());
    let links =
        links.prop_map(|(text, is_wiki, attachment)| LinkLayout { text, is_wiki, attachment });
    let verbatim = (any::<u64>(), text());
    let verbatim = verbatim.prop_map(|(digest, text)| Box::new(VerbatimLines { digest, text }));
    let pair = (text(), text()).prop_map(|(before, after)| Box::new([before, after]));
    let file = (text(), any::<u64>(), part(), prop::option::of(pair), any::<[bool; 2]>());
    let file = file.prop_map(|(path, digest, end, front_matter, [has_mark, returns])| {
        let has_carriage_returns = returns;
        Box::new(FileLayout { path, digest, end, front_matter, has_mark, has_carriage_returns })
    });
    (
        (part(), part(), part(), part(), part()),
        prop::collection::vec(lines, 0..3),
        prop::option::of(verbatim),
        prop::collection::vec(links, 0..3),
        prop::option::of(file),
    )
        .prop_map(|(parts, lines, verbatim, links, file)| {
            let (before, first_lead, other_lead, opening, closing) = parts;
            SourceLayout {
                before,
                first_lead,
                other_lead,
                opening,
                closing,
                lines,
                verbatim,
                links,
                file,
            }
        })
}

fn datas() -> impl Strategy<Value = BlockData> {
    let color = prop::option::of(any::<[u8; 3]>().prop_map(Color::from_rgb));
    let decorations =
        any::<[bool; 2]>().prop_map(|[callout, quote]| Decorations { callout, quote });
    (
        kinds(),
        texts(),
        0..6_u8,
        select(ListStyle::ALL),
        color,
        prop::option::of(tasks()),
        decorations,
        prop::option::of(layouts().prop_map(Box::new)),
    )
        .prop_map(
            |(kind, inline, indentation, list_style, color, task, decorations, layout)| BlockData {
                kind,
                inline,
                indentation,
                list_style,
                color,
                task,
                decorations,
                layout,
            },
        )
}

fn blocks() -> impl Strategy<Value = BlockRecord> {
    (any::<[u8; 16]>(), any::<u64>(), stamps(), stamps(), datas()).prop_map(
        |(id, rev, created, modified, data)| BlockRecord {
            id: BlockId::from_bytes(id),
            rev,
            created,
            modified,
            data,
        },
    )
}

fn encoded(block: &BlockRecord) -> Vec<u8> {
    let mut bytes = Vec::new();
    super::encode(&mut bytes, block);
    bytes
}

proptest! {
    #[test]
    fn every_block_reads_back(block in blocks()) {
        let bytes = encoded(&block);
        prop_assert_eq!(decode(block.id, &bytes, &mut AuthorCache::default()), Ok(block));
        // An independent decoder of `MessagePack` reads one array.
        let mut rest = bytes.as_slice();
        let read: Result<serde::de::IgnoredAny, _> = rmp_serde::from_read(&mut rest);
        prop_assert!(read.is_ok() && rest.is_empty());
    }

    #[test]
    fn trailing_and_missing_bytes_are_noticed(block in blocks(), cut in any::<prop::sample::Index>()) {
        let mut bytes = encoded(&block);
        let cut = cut.index(bytes.len());
        prop_assert!(decode(block.id, &bytes[..cut], &mut AuthorCache::default()).is_err());
        bytes.push(0xc0);
        prop_assert_eq!(decode(block.id, &bytes, &mut AuthorCache::default()), Err(DecodeError::Corrupt));
    }
}

/// The title and the values of an item, decoded without the other fields.
fn parts(bytes: &[u8]) -> Decoded<(String, Properties)> {
    let ItemParts { rev: _, title, count, mut values } = item_parts(bytes)?;
    let values = values.list(count, |decoder| {
        let key = decoder.str()?.to_owned();
        let mut at = *decoder;
        decoder.skip()?;
        let value = PropertyValue::decode(&mut at)?;
        assert_eq!(
            format!("{at:?}"),
            format!("{decoder:?}"),
            "passing over a value ends where reading it does"
        );
        Ok((key, value))
    })?;
    Ok((title.to_owned(), values.into_iter().collect()))
}

fn item(properties: Properties, data: BlockData) -> BlockData {
    BlockData { kind: BlockKind::CollectionItem { properties }, ..data }
}

proptest! {
    #[test]
    fn parts_of_items_are_those_of_their_records(
        block in blocks(),
        properties in properties(),
        cut in any::<prop::sample::Index>(),
    ) {
        let is_item = matches!(block.data.kind, BlockKind::CollectionItem { .. });
        prop_assert_eq!(parts(&encoded(&block)).is_ok(), is_item);
        let block = BlockRecord { data: item(properties.clone(), block.data), ..block };
        let mut bytes = encoded(&block);
        let title = block.data.inline;
        prop_assert_eq!(parts(&bytes), Ok((title.clone(), properties.clone())));
        // Truncation is detected, unless it is after the values.
        let whole = bytes.clone();
        bytes.truncate(cut.index(bytes.len()));
        prop_assert!(parts(&bytes).is_err() || parts(&bytes) == Ok((title, properties)));
        // Only a later version encodes more fields.
        bytes = whole;
        bytes[0] = 0x9f;
        prop_assert_eq!(parts(&bytes), Err(DecodeError::UnsupportedVersion));
    }
}

fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// These bytes are on disks: they must decode the same for ever.
#[test]
fn the_bytes_of_version_1() {
    let ada = Stamp { at: Timestamp::from_millis(1_700_000_000_000), by: Author::new("Ada") };
    let plain = BlockRecord {
        id: BlockId::NIL,
        rev: 1,
        created: ada.clone(),
        modified: ada.clone(),
        data: BlockData::text("Hello"),
    };
    let task = BlockRecord {
        rev: 300,
        modified: Stamp { at: Timestamp::from_millis(1_700_000_000_500), by: Author::new("Bo") },
        data: BlockData {
            kind: BlockKind::Text(TextFormat {
                style: TextStyle::H2,
                font: Font::Mono,
                ..TextFormat::default()
            }),
            indentation: 2,
            list_style: ListStyle::Task,
            color: Some(Color::from_rgb([1, 2, 3])),
            task: Some(TaskInfo {
                state: TaskState::Done,
                schedule_date: Some(Day::from_epoch_days(20_000)),
                completed_at: Some(Timestamp::from_millis(-1)),
                ..TaskInfo::default()
            }),
            decorations: Decorations { callout: false, quote: true },
            ..BlockData::text("Pay")
        },
        ..plain.clone()
    };
    let properties = [
        ("date", PropertyValue::Date(Day::from_epoch_days(-1))),
        ("done", PropertyValue::Boolean(true)),
        ("price", PropertyValue::Number(1.5)),
        ("rel", PropertyValue::Relations(vec![BlockId::from_bytes([7; 16])])),
        ("tags", PropertyValue::Options(vec!["a".to_owned()])),
        ("text", PropertyValue::Text("x".to_owned())),
    ];
    let properties = properties.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let item = BlockRecord {
        data: BlockData::new(BlockKind::CollectionItem { properties }),
        ..plain.clone()
    };
    let known = [
        (plain, "95 c0 01 cf0000018bcfe56800 a3416461 a548656c6c6f"),
        (
            task,
            "9d c0 cd012c cf0000018bcfe56800 a3416461 a3506179 cd01f4 a2426f 02 04 9304c003 ce00010203 9401cd4e20c0ff 02",
        ),
        (
            item,
            "9a 02 01 cf0000018bcfe56800 a3416461 c0 c0 c0 c0 c0 919c a464617465 9201ff a4646f6e65 c3 a57072696365 \
             cb3ff8000000000000 a372656c 9203c41007070707070707070707070707070707 a474616773 9202a161 a474657874 a178",
        ),
    ];
    for (block, bytes) in known {
        assert_eq!(hex(&encoded(&block)), bytes.replace(' ', ""));
        assert_eq!(decode(block.id, &encoded(&block), &mut AuthorCache::default()), Ok(block));
    }
}

#[test]
fn a_shorter_array_of_an_earlier_writer_reads_with_defaults() {
    let block = decode(BlockId::NIL, &[0x92, 12, 7], &mut AuthorCache::default()).unwrap();
    assert_eq!((block.rev, block.data), (7, BlockData::new(BlockKind::empty(BlockType::Line))));
}

#[test]
fn a_longer_array_and_an_unknown_number_are_of_a_later_writer() {
    let mut longer = vec![0x9f, 0];
    longer.extend_from_slice(&[0xc0; 14]);
    assert_eq!(
        decode(BlockId::NIL, &longer, &mut AuthorCache::default()),
        Err(DecodeError::UnsupportedVersion)
    );
    assert_eq!(
        decode(BlockId::NIL, &[0x91, 77], &mut AuthorCache::default()),
        Err(DecodeError::UnsupportedVersion)
    );
}
