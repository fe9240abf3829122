//! Fifth law: a text is exact. In a document and in block form, whatever it says and wherever it
//! stands, it comes back byte for byte, with its markers.

use std::cmp::Reverse;

use leafbase_markdown::{
    InlineMark, InlineMarkKind, PlainText, block_form, check_highlights, inline_of_plain,
    read_block_form,
};
use leafbase_model::{
    BlockData, BlockDraft, BlockKind, Decorations, Limits, ListStyle, TaskInfo, TaskState,
    TextFormat, TextStyle,
};
use proptest::prelude::*;
use proptest::sample::select;

use crate::dialect::{Dialect, REAL};
use crate::generate;
use crate::round_trip::cases;

/// Texts with blanks and references where they are easily lost.
pub(crate) fn text() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        " ",
        "  ",
        "\t",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        "&#32;",
        "&#032;",
        "&#10;",
        "&#13;",
        "&#9;",
        "&#35;",
        "&#92;",
        "\\",
        "\\\\",
        "\\#",
        "#",
        "# ",
        "- ",
        "\\- ",
        "-",
        "1.",
        "1\\. ",
        "> ",
        "\\>",
        "x",
        "a b",
        "***",
        "===",
        "|",
        "|-|",
        "<!-- -->",
        "http://x.org",
        "[a](http://x.org)",
        "![a](b.png)",
        "</page>",
        "\\</page>",
        "&#60;/page>",
        "<callout>",
        "</callout>",
        "`",
        "```",
        "*",
        "**",
        "_",
        "~~",
        "&amp;",
        "<b>",
        "<br>",
        "[a](b)",
        "*c*",
        "a\\\nb",
        "`c`",
        "$$",
        "[ ] ",
        "\\[ ] ",
        "\u{feff}",
        "é",
        "<div>",
        "<!--",
        "-->",
        "<pre>",
        "<pre",
        "</pre>",
        "<?",
        "?>",
        "<!x",
        "<![CDATA[",
        "]]>",
        "[^1]: ",
        "[^</page>]: ",
        "[a]: /b",
        "\n\n    ",
        "\n\n\t",
        "\n    ",
        "\n\n",
        "&",
        ";",
        "35;",
    ];
    prop_oneof![
        4 => proptest::collection::vec(select(PIECES), 0..9).prop_map(|pieces| pieces.concat()),
        2 => generate::text(),
        1 => any::<String>(),
    ]
}

fn data() -> impl Strategy<Value = BlockData> {
    let decorations =
        (any::<bool>(), any::<bool>()).prop_map(|(callout, quote)| Decorations { callout, quote });
    let decorations = prop_oneof![2 => Just(Decorations::default()), 1 => decorations];
    (text(), select(TextStyle::ALL), select(ListStyle::ALL), select(TaskState::ALL), decorations)
        .prop_map(|(text, style, list_style, state, decorations)| BlockData {
            kind: BlockKind::Text(TextFormat { style, ..TextFormat::default() }),
            list_style,
            task: (list_style == ListStyle::Task).then(|| TaskInfo::of_state(state)),
            decorations,
            ..BlockData::text(text)
        })
}

pub(crate) fn holds_in_a_document(dialect: Dialect, data: &BlockData) -> Result<(), String> {
    let neighbor = || BlockDraft::new(BlockData::text("neighbor"));
    let title = BlockData { inline: data.inline.clone(), ..BlockData::page("") };
    let page = BlockDraft::new(title).with_content(vec![
        neighbor(),
        BlockDraft::new(data.clone()),
        neighbor(),
    ]);
    let blocks = vec![BlockDraft::new(data.clone()), page];
    let written = (dialect.render)(&blocks);
    let read = (dialect.parse)(&written);
    if read == blocks { Ok(()) } else { Err(format!("{written:?}\n{read:#?}")) }
}

fn holds_in_block_form(data: &BlockData) -> Result<(), String> {
    let written = block_form(data).into_owned();
    let form = read_block_form(&written, &Limits::default())
        .map_err(|error| format!("{written:?}: {error}"))?;
    let (style, task) = (data.text_format().map(|look| look.style), data.task);
    let style =
        style.filter(|style| !matches!(style, TextStyle::Body | TextStyle::Card | TextStyle::Page));
    let list = Some(data.list_style).filter(|list| *list != ListStyle::None);
    let decorations = Some(data.decorations).filter(|decorations| !decorations.is_empty());
    let markers = (form.markers.style, form.markers.list, form.markers.decorations);
    if form.inline == data.inline
        && markers == (style, list, decorations)
        && form.markers.state == task.map(|task| task.state)
        && form.further.is_empty()
    {
        Ok(())
    } else {
        Err(format!("{written:?}\n{form:?}"))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(4000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_exact_in_a_document(data in data()) {
        prop_assert_eq!(holds_in_a_document(REAL, &data), Ok(()));
    }

    #[test]
    fn any_plain_text_is_exact(text in text()) {
        prop_assume!(!text.contains('\0'));
        let plain = PlainText::of(&inline_of_plain(&text));
        prop_assert_eq!(plain.as_str(), &text);
        for (at, letter) in text.char_indices() {
            prop_assert_eq!(plain.to_plain(plain.to_inline(at)), at, "{} of {:?}", letter, text);
        }
    }

    #[test]
    fn offsets_are_within_the_texts(text in text()) {
        let plain = PlainText::of(&text);
        let mut last = 0;
        for at in 0..=plain.as_str().len() {
            let inline = plain.to_inline(at);
            prop_assert!(inline <= text.len() && inline >= last, "{at} is {inline} in {text:?}");
            last = inline;
        }
        for at in 0..=text.len() {
            prop_assert!(plain.to_plain(at) <= plain.as_str().len());
        }
    }

    #[test]
    fn marks_lie_in_the_text_by_their_start(text in text()) {
        let plain = PlainText::of(&text);
        for mark in plain.marks() {
            prop_assert!(plain.as_str().get(mark.range.clone()).is_some(), "{:?} of {:?}", mark, plain);
        }
        let order = |mark: &InlineMark| (mark.range.start, Reverse(mark.range.end));
        prop_assert!(plain.marks().is_sorted_by_key(order), "{:?}", plain.marks());
    }

    #[test]
    fn any_text_is_exact_in_block_form(data in data()) {
        prop_assert_eq!(holds_in_block_form(&data), Ok(()));
    }
}

#[test]
fn marks_are_those_that_a_reader_sees() {
    use InlineMarkKind::{Code, Emphasis, Highlight, Link, Picture, Strikethrough, Strong};
    let marks: &[(&str, &[(&str, InlineMarkKind)])] = &[
        ("a", &[]),
        (
            "a **b** *c* ~~d~~ `e`",
            &[("b", Strong), ("c", Emphasis), ("d", Strikethrough), ("e", Code)],
        ),
        ("**a *b* c**", &[("a b c", Strong), ("b", Emphasis)]),
        ("***a***", &[("a", Emphasis), ("a", Strong)]),
        (
            "[a **b**](https://c.example) ![d](e.png)",
            &[("a b", Link), ("b", Strong), ("d", Picture)],
        ),
        ("[](https://c.example)", &[("", Link)]),
        ("<highlight color='red'>a **b</highlight> c**", &[("a b", Highlight), ("b c", Strong)]),
        ("a </highlight> ** b", &[]),
        ("\\*a\\* é **ü**", &[("ü", Strong)]),
        ("**a\nb**", &[("a\nb", Strong)]),
    ];
    for (markdown, expected) in marks {
        let plain = PlainText::of(markdown);
        let shown = |mark: &InlineMark| (&plain.as_str()[mark.range.clone()], mark.kind);
        let found: Vec<_> = plain.marks().iter().map(shown).collect();
        assert_eq!(found, *expected, "{markdown}");
    }
}

#[test]
fn brackets_round_an_address_stay_themselves() {
    for text in ["<'a@b.c>", "<1@b>", "<.@b>", "a <-@b.c> d", "<'a@ b>", "<3 @ home", "<{a@b}>"] {
        assert_eq!(PlainText::of(&inline_of_plain(text)).as_str(), text);
    }
    assert_eq!(inline_of_plain("I <3 you"), "I <3 you");
}

#[test]
fn code_ends_with_its_line_before_a_highlight() {
    for text in ["a `b\r<highlight color=x>`", "`\r\n<highlight color=x>`"] {
        let message = check_highlights(text).unwrap_err().message().to_owned();
        assert!(message.starts_with("line 2, column 1:"), "{message}");
    }
    for text in [
        "a `b\n\n` <highlight color=tle`",
        "`a\n\n\n`<highlight color=x>` b\n\n`",
        "a `b\r\r` <highlight color=tle`",
    ] {
        let data = BlockData::text(text);
        assert_eq!(check_highlights(text), Ok(()), "{text:?}");
        assert_eq!(holds_in_block_form(&data), Ok(()), "{text:?}");
        assert_eq!(holds_in_a_document(REAL, &data), Ok(()), "{text:?}");
    }
}
