//! Random texts, blocks and trees of blocks.

use leafbase_model::{
    BlockData, BlockDraft, BlockKind, BlockLayout, BlockType, CardLayout, CodeLanguage,
    Decorations, LineStyle, ListStyle, MediaSize, MediaWidth, TaskInfo, TaskState, TextFormat,
    TextStyle,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

/// Pieces that mean something in markdown, or that are near to it.
const PIECES: &[&str] = &[
    "#",
    "# ",
    "###### ",
    "-",
    "- ",
    "* ",
    "+ ",
    "1.",
    "1. ",
    "2) ",
    "> ",
    ">",
    "`",
    "``",
    "```",
    "~~~",
    "~~~~ x",
    "*",
    "**",
    "***",
    "****",
    "* * *",
    "--",
    "-- -",
    "---",
    "- - -",
    "___",
    "_",
    "===",
    "=",
    "|",
    "| a | b |",
    "|---|",
    "a|b",
    "-|-",
    ":-",
    "\n",
    "\n",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    " ",
    "  ",
    "   ",
    "    ",
    "\t",
    "<page>",
    "</page>",
    "<pageTitle>",
    "</pageTitle>",
    "<content>",
    "</content>",
    "<card>",
    "</card>",
    "<callout>",
    "</callout>",
    "<caption>",
    "</caption>",
    "<page textStyle=\"card\">",
    "<highlight color='blue'>",
    "<highlight color='zzz'>",
    "<highlight>",
    "</highlight>",
    "[a](b)",
    "[a](https://x.example)",
    "[a](asset://7/b.pdf)",
    "![a](b.png)",
    "![a](b.mp4)",
    "https://x.example",
    "<https://x.example>",
    "<div>",
    "</div>",
    "<pre>",
    "</pre>",
    "<!--",
    "-->",
    "<!-- -->",
    "<?",
    "?>",
    "<![CDATA[",
    "]]>",
    "<!x",
    "<style>",
    "</STYLE>",
    "<script",
    "\n\n",
    "\n\n    ",
    "\n\n\t",
    "[^1]: ",
    "[a]: /b",
    "\n===",
    "<b>",
    "<b",
    ">",
    "<",
    "\\",
    "\\\\",
    "$$",
    "$",
    "[ ] ",
    "[x] ",
    "[-]",
    "[/] ",
    "[",
    "]",
    "(",
    ")",
    "[a]: b",
    "[[w]]",
    "foo",
    "bar",
    "é",
    "日本",
    "&amp;",
    "&",
    "!",
    "\u{0}",
    "\u{3000}",
    "\u{a0}",
    "1",
    "x",
    ":",
    "\"",
    "'",
    "~",
    "~~",
    "h",
    "http://",
    "\u{feff}",
    "\u{b}",
    "\u{c}",
    "\u{85}",
    "\u{2028}",
];

/// A text made of such pieces, or of anything.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => vec(select(PIECES), 0..8).prop_map(|pieces| pieces.concat()),
        1 => "[a-z ]{0,12}",
        1 => any::<String>(),
        1 => "[\\PC\n\t]{0,20}",
    ]
    // A highlight of an unknown color is refused.
    .prop_map(|text| text.replace("'zzz'", "'red'"))
}

/// A document made of such pieces.
fn document() -> impl Strategy<Value = String> {
    let prefix = select(&["", "  ", "    ", "      ", "> ", "- ", "1. ", "\t"][..]);
    let line = (prefix, text()).prop_map(|(prefix, text)| format!("{prefix}{text}\n"));
    prop_oneof![
        6 => vec(select(PIECES), 0..40).prop_map(|pieces| pieces.concat()),
        2 => vec(line, 0..12).prop_map(|lines| lines.concat()),
        1 => any::<String>(),
    ]
}

/// A document without a highlight of an unknown color, which is refused.
pub(crate) fn accepted_document() -> impl Strategy<Value = String> {
    let accepted =
        |text: &String| leafbase_markdown::parse(text, &super::dialect::lenient()).is_ok();
    document().prop_map(|text| text.replace("'zzz'", "'red'")).prop_filter("is refused", accepted)
}

pub(crate) fn list_style() -> impl Strategy<Value = ListStyle> {
    prop_oneof![3 => Just(ListStyle::None), 4 => select(ListStyle::ALL)]
}

fn decorations() -> impl Strategy<Value = Decorations> {
    prop_oneof![
        4 => Just(Decorations::default()),
        1 => (any::<bool>(), any::<bool>()).prop_map(|(callout, quote)| Decorations { callout, quote }),
    ]
}

fn text_look() -> impl Strategy<Value = TextFormat> {
    (select(TextStyle::ALL), any::<bool>()).prop_map(|(style, large)| TextFormat {
        style,
        card_layout: match style {
            TextStyle::Card | TextStyle::Page if large => CardLayout::Large,
            _ => CardLayout::Regular,
        },
        ..TextFormat::default()
    })
}

fn url() -> impl Strategy<Value = String> {
    prop_oneof![
        select(
            &[
                "a.png",
                "asset://7/a.pdf",
                "asset://7/a b.png",
                "https://x.example/a?b=1&c=2",
                "x.mp4",
                "",
                "a(b",
                "a)b",
                "a\\b"
            ][..]
        )
        .prop_map(str::to_owned),
        text(),
    ]
}

/// Kinds that markdown can say: no drawings, whiteboards, collections and items, which are read
/// back through their IDs.
fn kind() -> impl Strategy<Value = BlockKind> {
    let (size, width) = (MediaSize::default(), MediaWidth::default());
    let layout = BlockLayout::default();
    prop_oneof![
        8 => text_look().prop_map(BlockKind::Text),
        1 => (url(), text()).prop_map(move |(url, alt_text)| BlockKind::Image { url, alt_text, size, width }),
        1 => (url(), text()).prop_map(move |(url, alt_text)| BlockKind::Video { url, alt_text, size, width }),
        1 => (url(), text()).prop_map(move |(url, file_name)| BlockKind::File { url, file_name, layout }),
        1 => (text(), text(), text()).prop_map(move |(path, title, description)| BlockKind::RichUrl {
            url: format!("https://x.example/{path}"),
            title,
            description,
            layout,
        }),
        1 => Just(BlockKind::Table),
        2 => (text(), select(CodeLanguage::ALL), prop_oneof![Just(String::new()), text()]).prop_map(
            |(raw_code, language, language_tag)| BlockKind::Code { raw_code, language, language_tag }
        ),
        1 => select(LineStyle::ALL).prop_map(|style| BlockKind::Line { style }),
    ]
}

/// A new type is either generated, so that the laws see it, or listed here with those that
/// documents cannot say. Pages are generated apart.
#[test]
fn every_type_that_markdown_can_say_is_generated() {
    let mut runner = TestRunner::deterministic();
    let mut made = || kind().new_tree(&mut runner).unwrap().current().block_type();
    let mut types: Vec<BlockType> = (0..500).map(|_| made()).collect();
    types.extend([
        BlockType::Page,
        BlockType::CollectionItem,
        BlockType::Drawing,
        BlockType::Whiteboard,
        BlockType::Collection,
    ]);
    for block_type in BlockType::ALL {
        assert!(types.contains(block_type), "{block_type} is generated, or listed here");
    }
}

/// A block as a request may give it, not canonical.
pub(crate) fn block() -> impl Strategy<Value = BlockData> {
    (kind(), text(), list_style(), decorations(), 0..=5_u8, select(TaskState::ALL)).prop_map(
        |(kind, markdown, list_style, decorations, indentation, state)| {
            let own = kind.block_type().has_own_markdown();
            // A rich link in a list is a link in its text.
            let list_style = if matches!(kind, BlockKind::RichUrl { .. }) {
                ListStyle::None
            } else {
                list_style
            };
            BlockData {
                inline: if own { markdown } else { String::new() },
                indentation,
                list_style,
                task: (list_style == ListStyle::Task).then(|| TaskInfo::of_state(state)),
                decorations,
                ..BlockData::new(kind)
            }
        },
    )
}

fn page() -> impl Strategy<Value = BlockData> {
    let layout = prop_oneof![2 => Just(CardLayout::Regular), 1 => select(CardLayout::ALL)];
    (block(), select(TextStyle::ALL), layout, text()).prop_map(
        |(data, style, card_layout, markdown)| BlockData {
            kind: BlockKind::Page(TextFormat { style, card_layout, ..TextFormat::default() }),
            inline: markdown,
            ..data
        },
    )
}

/// Trees of blocks.
pub(crate) fn tree() -> impl Strategy<Value = Vec<BlockDraft>> {
    let leaves = vec(block().prop_map(BlockDraft::new), 0..5);
    leaves.prop_recursive(3, 24, 4, |inner| {
        vec(
            prop_oneof![
                3 => block().prop_map(BlockDraft::new),
                1 => (page(), inner).prop_map(|(data, content)| BlockDraft::new(data).with_content(content)),
            ],
            0..6,
        )
    })
}
