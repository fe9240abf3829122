//! The JSON of blocks: all fields, no fields, metadata, children.

use leafbase_model::{
    Block, BlockData, BlockKind, BlockType, CodeLanguage, Comment, CommentId, Content, Document,
    DocumentId, DocumentRecord, FolderId, FolderRecord, ItemFields, ItemValue, ItemValues, Items,
    Limits, Location, Metadata, PropertyValue, RelatedItem, Stamp,
};

use crate::support::{anna, block, day, full, id, instant};

#[test]
fn every_type_with_every_field_set() {
    let blocks: Vec<_> = BlockType::ALL.iter().map(|block_type| block(full(*block_type))).collect();
    insta::assert_json_snapshot!(blocks);
}

#[test]
fn every_type_with_every_field_at_its_default() {
    let blocks: Vec<_> = BlockType::ALL
        .iter()
        .map(|block_type| block(BlockData::new(BlockKind::empty(*block_type))))
        .collect();
    insta::assert_json_snapshot!(blocks);
}

#[test]
fn children_metadata_and_a_cut() {
    let stamp = |at| Stamp { at: instant(at), by: anna() };
    let comment = |by| {
        let stamp = Stamp { at: instant("2026-03-03T00:00:00.000Z"), by };
        Comment::new(CommentId::from_bytes([1; 16]), stamp, "Why?")
    };
    let empty = Block { content: Content::Blocks(Vec::new()), ..block(BlockData::page("Empty")) };
    let cut = Block {
        content: Content::Preview("socks, shirts".into()),
        ..block(BlockData::page("Packing"))
    };
    let whole = Block {
        metadata: Some(Metadata {
            created: stamp("2026-03-01T09:30:00.000Z"),
            modified: stamp("2026-03-02T09:30:00.123Z"),
            comments: vec![comment(anna()), comment(leafbase_model::Author::ANONYMOUS)],
            document: None,
        }),
        content: Content::Blocks(vec![empty, cut]),
        ..block(BlockData::page("Trip"))
    };
    let nobody = Block {
        metadata: Some(Metadata {
            created: Stamp::default(),
            modified: Stamp::default(),
            comments: Vec::new(),
            document: None,
        }),
        ..block(BlockData::text("by nobody"))
    };
    assert_eq!(
        whole.walk().map(|(depth, block)| (depth, block.data.inline.as_str())).collect::<Vec<_>>(),
        [(0, "Trip"), (1, "Empty"), (1, "Packing"),]
    );
    insta::assert_json_snapshot!([whole, nobody]);
}

#[test]
fn an_item_is_shown_by_its_schema() {
    let related =
        ItemValue::Relations(vec![RelatedItem { block_id: id(7), title: "Herbert".into() }]);
    let properties = ItemValues::from_iter([
        ("pages", ItemValue::Value(PropertyValue::Number(412.0))),
        ("author", related),
    ]);
    let fields = |properties| Some(Box::new(ItemFields { content_key: "book".into(), properties }));
    let data = BlockData {
        inline: "Dune".into(),
        color: "#336699".parse().ok(),
        ..BlockData::new(BlockKind::empty(BlockType::CollectionItem))
    };
    let item = Block {
        item: fields(properties),
        content: Content::Blocks(Vec::new()),
        ..block(data.clone())
    };
    let bare = Block {
        item: fields(ItemValues::default()),
        ..block(BlockData { color: None, inline: String::new(), ..data })
    };
    insta::assert_json_snapshot!([item, bare]);
}

#[test]
fn documents_and_folders() {
    let document = |location, with_times| Document {
        record: DocumentRecord {
            id: DocumentId::from_bytes([2; 16]),
            location,
            day: (location == Location::DailyNotes).then(|| day("2026-03-01")),
            created_at: instant("2026-03-01T09:30:00.000Z"),
            modified_at: instant("2026-03-02T09:30:00.000Z"),
            rev: 1,
        },
        title: "Trip".into(),
        with_times,
        with_destination: location == Location::Unsorted,
        clickable_link: with_times.then(|| "leafbase://open?id=1".into()),
    };
    let folder = FolderId::from_bytes([3; 16]);
    insta::assert_json_snapshot!(Items(vec![
        document(Location::Unsorted, false),
        document(Location::Templates, true),
        document(Location::DailyNotes, false),
        document(Location::Folder(folder), false),
        document(Location::Trash, false),
    ]));
    insta::assert_json_snapshot!(
        "folders",
        [
            FolderRecord { id: folder, name: "Travel".into(), parent: None, rev: 1 },
            FolderRecord {
                id: FolderId::from_bytes([4; 16]),
                name: "Lisbon".into(),
                parent: Some(folder),
                rev: 1,
            },
        ]
    );
}

/// The data, what is changed of it, and the error's code and text.
#[test]
fn what_holds_for_every_block_is_checked() {
    type Change = fn(&mut BlockData);
    let cases: [(BlockType, Change, &str); 12] = [
        (
            BlockType::Text,
            |data| data.indentation = 6,
            "indentationLevel: expected an indentation level from 0 to 5, got 6",
        ),
        (
            BlockType::Text,
            |data| data.task = None,
            "taskInfo: taskInfo is missing, though listStyle is task",
        ),
        (
            BlockType::Line,
            |data| data.list_style = leafbase_model::ListStyle::Bullet,
            "taskInfo: taskInfo is only for blocks whose listStyle is task",
        ),
        (
            BlockType::Text,
            |data| {
                let BlockKind::Text(look) = &mut data.kind else { panic!() };
                look.card_layout = leafbase_model::CardLayout::Square;
            },
            "cardLayout: a text block cannot have the card layout square; pages can",
        ),
        (
            BlockType::Text,
            |data| data.inline = "x".repeat((256 << 10) + 1),
            "markdown: bytes of a block's text: at most 262144, got 262145",
        ),
        (
            BlockType::Table,
            |data| data.inline = "x".repeat((1 << 20) + 1),
            "markdown: bytes of a block's text: at most 1048576, got 1048577",
        ),
        (
            BlockType::Page,
            |data| data.inline = "ä".repeat(1_001),
            "markdown: characters of a title: at most 1000, got 1001",
        ),
        (
            BlockType::Collection,
            |data| data.inline = "ä".repeat(1_001),
            "markdown: characters of a title: at most 1000, got 1001",
        ),
        (
            BlockType::Image,
            |data| {
                let BlockKind::Image { alt_text, .. } = &mut data.kind else { panic!() };
                *alt_text = "x".repeat(8_193);
            },
            "altText: bytes of altText: at most 8192, got 8193",
        ),
        (
            BlockType::File,
            |data| {
                let BlockKind::File { file_name, .. } = &mut data.kind else { panic!() };
                *file_name = "x".repeat(8_193);
            },
            "fileName: bytes of fileName: at most 8192, got 8193",
        ),
        (
            BlockType::Code,
            |data| {
                let BlockKind::Code { language_tag, .. } = &mut data.kind else { panic!() };
                *language_tag = "rust\nfn".into();
            },
            "languageTag: a language tag is one line",
        ),
        (
            BlockType::RichUrl,
            |data| {
                let BlockKind::RichUrl { description, .. } = &mut data.kind else { panic!() };
                *description = "x".repeat(8_193);
            },
            "description: bytes of description: at most 8192, got 8193",
        ),
    ];
    for (block_type, change, expected) in cases {
        let mut data = full(block_type);
        data.check(&Limits::default()).unwrap();
        change(&mut data);
        assert_eq!(data.check(&Limits::default()).unwrap_err().to_string(), expected);
    }
}

#[test]
fn types_say_what_they_may() {
    use BlockType::{Collection, CollectionItem, Page, Table, Text};
    for block_type in BlockType::ALL {
        assert_eq!(BlockKind::empty(*block_type).block_type(), *block_type);
        assert_eq!(block_type.may_be_parent(), matches!(block_type, Text | Page | CollectionItem));
        assert_eq!(
            block_type.holds_blocks(),
            matches!(block_type, Text | Page | CollectionItem | Collection)
        );
        let own = matches!(block_type, Text | Page | CollectionItem | Table | Collection);
        assert_eq!(block_type.has_own_markdown(), own);
    }
    assert_eq!((BlockType::ALL.len(), CodeLanguage::ALL.len()), (13, 39));
}

#[test]
fn texts_are_listed_alike_for_reading_and_for_editing() {
    use leafbase_model::{Properties, PropertyValue, TextRole};
    for block_type in BlockType::ALL {
        let mut kind = BlockKind::empty(*block_type);
        if let BlockKind::CollectionItem { properties } = &mut kind {
            *properties = Properties::from_iter([
                ("amount".to_owned(), PropertyValue::Number(1.0)),
                ("name".to_owned(), PropertyValue::Text("n".into())),
                ("tags".to_owned(), PropertyValue::Options(vec!["a".into(), "b".into()])),
            ]);
        }
        let mut data = BlockData::new(kind);
        let roles: Vec<_> = data.texts().map(|(role, _)| role).collect();
        assert_eq!(roles.first(), Some(&TextRole::Markdown));
        for (number, (role, text)) in data.texts_mut().enumerate() {
            assert_eq!(Some(&role), roles.get(number));
            *text = format!("{role:?} {number}");
        }
        let edited: Vec<_> =
            roles.iter().enumerate().map(|(number, role)| format!("{role:?} {number}")).collect();
        assert_eq!(data.texts().map(|(_, text)| text).collect::<Vec<_>>(), edited);
        assert_eq!(data.url().map(|(role, _)| role), roles.iter().copied().find(|r| r.is_url()));
        assert_eq!(data.url_mut().is_some(), data.url().is_some());
    }
}
