//! The dialect case by case: what is read from what, and how it is written.

#![expect(clippy::unwrap_used, reason = "what fails here is a failed test")]

use leafbase_markdown::{
    EmptyFirstItem, ParseOptions, ParseWarningKind, parse, read_block, read_block_form, render,
    render_block,
};
use leafbase_model::{
    BlockData, BlockDraft, BlockKind, BlockLayout, BlockType, CodeLanguage, ErrorKind, Limits,
    LineStyle, ListStyle, MediaSize, MediaWidth, TaskInfo, TaskState, TextFormat, TextStyle,
};

fn read(text: &str) -> Vec<BlockDraft> {
    parse(text, &ParseOptions::default()).unwrap().blocks
}

/// One line for each block: what it is, and what it says.
fn outline(text: &str) -> Vec<String> {
    read(text)
        .iter()
        .flat_map(BlockDraft::walk)
        .map(|(depth, block)| line(depth, &block.data))
        .collect()
}

fn line(depth: usize, data: &BlockData) -> String {
    let list = match data.task {
        Some(task) => task.state.as_str(),
        None if data.list_style == ListStyle::None => "",
        None => data.list_style.as_str(),
    };
    let kind = match &data.kind {
        BlockKind::Text(TextFormat { style: TextStyle::Body, .. }) => "",
        BlockKind::Text(look) => look.style.as_str(),
        kind => kind.block_type().as_str(),
    };
    let quote = if data.decorations.quote { "quote" } else { "" };
    let callout = if data.decorations.callout { "callout" } else { "" };
    let own = data.block_type().has_own_markdown();
    let markdown = if own { data.inline.clone() } else { render_block(data) };
    let words = [list, kind, quote, callout, &markdown].into_iter().filter(|word| !word.is_empty());
    "  ".repeat(depth + usize::from(data.indentation)) + &words.collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(text: &str, blocks: &[&str], written: &str) {
    assert_eq!(outline(text), blocks);
    assert_eq!(render(&read(text)), written);
}

#[test]
fn lists_keep_their_kinds_and_levels() {
    check(
        "* a\n* b\n    + c\n\n1) d\n7) e\n   - f\n\n- [X] g\n- [-] h\n- [/] i",
        &[
            "bullet a",
            "bullet b",
            "  toggle c",
            "numbered d",
            "numbered e",
            "  bullet f",
            "done g",
            "canceled h",
            "bullet [/] i",
        ],
        "- a\n- b\n  + c\n1. d\n1. e\n   - f\n- [x] g\n- [-] h\n- [/] i",
    );
}

#[test]
fn below_a_number_two_columns_are_a_level_too() {
    check(
        "1. a\n  - b\n    - c\n  - d\n2. e",
        &["numbered a", "  bullet b", "    bullet c", "  bullet d", "numbered e"],
        "1. a\n   - b\n     - c\n   - d\n1. e",
    );
}

#[test]
fn what_stands_in_an_item_is_one_level_in() {
    check(
        "- a\n\n  b\n\n      c\n\n  > d\n- e",
        &["bullet a", "  b", "  code ```\nc\n```", "  quote d", "bullet e"],
        "- a\n\n  b\n\n  ```\n  c\n  ```\n\n  > d\n\n- e",
    );
}

#[test]
fn a_list_that_begins_deeper_begins_with_markers() {
    let item = |indentation, text: &str| {
        BlockDraft::new(BlockData {
            indentation,
            list_style: ListStyle::Bullet,
            ..BlockData::text(text)
        })
    };
    let blocks = vec![item(0, "a"), item(3, "b"), item(3, "c"), item(1, "d")];
    let text = render(&blocks);
    assert_eq!(text, "- a\n  - - - b\n      - c\n  - d");
    assert_eq!(read(&text), blocks);
}

#[test]
fn deeper_than_five_is_five() {
    let text: String = (0..8).map(|level| "  ".repeat(level) + "- a\n").collect();
    let parsed = parse(&text, &ParseOptions::default()).unwrap();
    let levels: Vec<_> = parsed.blocks.iter().map(|block| block.data.indentation).collect();
    assert_eq!(levels, [0, 1, 2, 3, 4, 5, 5, 5]);
    let kinds: Vec<_> =
        parsed.warnings.iter().map(|adaptation| (adaptation.line, adaptation.kind)).collect();
    assert_eq!(kinds, [(7, ParseWarningKind::Indentation), (8, ParseWarningKind::Indentation)]);
}

#[test]
fn quotes_and_callouts_are_decorations() {
    check(
        "> a\n> b\n>\n> - c\n\n<callout>d</callout>\n\n<callout>\ne\n\n![f](g.png)\n</callout>\n\n> <callout>h</callout>",
        &[
            "quote a\nb",
            "bullet quote c",
            "callout d",
            "callout e",
            "image callout ![f](g.png)",
            "quote callout h",
        ],
        "> a\n> b\n>\n> - c\n\n<callout>\n\nd\n\ne\n\n![f](g.png)\n\n</callout>\n\n> <callout>h</callout>",
    );
}

#[test]
fn code_keeps_its_tag() {
    let code = |text: &str| match read(text).remove(0).into_parts().0.kind {
        BlockKind::Code { raw_code, language, language_tag } => (raw_code, language, language_tag),
        kind => panic!("{kind:?}"),
    };
    let expect = |text: &str, raw: &str, language, tag: &str, written: &str| {
        assert_eq!(code(text), (raw.to_owned(), language, tag.to_owned()));
        assert_eq!(render(&read(text)), written);
    };
    expect("```rust\na\n```", "a", CodeLanguage::Rust, "", "```rust\na\n```");
    expect("~~~ js\na\n~~~", "a", CodeLanguage::Javascript, "js", "```js\na\n```");
    expect("```rust,ignore\n```", "", CodeLanguage::Rust, "rust,ignore", "```rust,ignore\n```");
    expect("```zig\na\n\n```", "a\n", CodeLanguage::Other, "zig", "```zig\na\n\n```");
    expect("~~~ a`b\nx\n~~~", "x", CodeLanguage::Other, "a`b", "~~~a`b\nx\n~~~");
    expect("~~~\n```\n~~~", "```", CodeLanguage::Plaintext, "", "````\n```\n````");
    expect("    a\n\n    b", "a\n\nb", CodeLanguage::Plaintext, "", "```\na\n\nb\n```");
    expect("$$\na\n- b\n$$", "a\n- b", CodeLanguage::MathFormula, "", "$$\na\n- b\n$$");
    // A formula on the lines of its delimiters stays there.
    expect("$$a$$", "a", CodeLanguage::MathFormula, "$$", "$$a$$");
    expect("$$a\n- b$$", "a\n- b", CodeLanguage::MathFormula, "$$", "$$a\n- b$$");
    expect("$$a\n$$", "a", CodeLanguage::MathFormula, "", "$$\na\n$$");
    expect("```$$\na\n\nb\n```", "a\n\nb", CodeLanguage::MathFormula, "$$", "```$$\na\n\nb\n```");
    expect(
        "```math_formula\na\n\nb\n```",
        "a\n\nb",
        CodeLanguage::MathFormula,
        "",
        "```math_formula\na\n\nb\n```",
    );
}

#[test]
fn separators_have_strengths() {
    let style = |text: &str| match read(text).remove(0).into_parts().0.kind {
        BlockKind::Line { style } => style,
        kind => panic!("{kind:?}"),
    };
    for (text, expected) in [
        ("***", LineStyle::ExtraLight),
        ("****", LineStyle::Light),
        ("*****", LineStyle::Regular),
        ("******", LineStyle::Strong),
        ("*******", LineStyle::PageBreak),
        ("---", LineStyle::Regular),
        ("___", LineStyle::Regular),
        ("* * *", LineStyle::Regular),
    ] {
        assert_eq!(style(text), expected, "{text}");
        assert_eq!(style(&render(&read(text))), expected, "{text}");
    }
}

#[test]
fn a_link_alone_is_what_it_leads_to() {
    for (text, expected) in [
        ("![a](b.png)", BlockType::Image),
        ("![a](b)", BlockType::Image),
        ("![a](b.mp4)", BlockType::Video),
        ("![a](b \"video\")", BlockType::Video),
        ("![a](asset://7/b.pdf)", BlockType::File),
        ("[a](asset://7/b.pdf)", BlockType::File),
        ("[a](b.pdf \"file\")", BlockType::File),
        ("[a](https://x.example)", BlockType::RichUrl),
        ("[a](https://x.example \"words\")", BlockType::RichUrl),
        ("https://x.example", BlockType::RichUrl),
        ("<https://x.example>", BlockType::RichUrl),
        ("[a](b.md)", BlockType::Text),
        ("[a](block://01ARZ3NDEKTSV4RRFFQ69G5FAV)", BlockType::Text),
        ("[a](invalid:out_of_scope#1)", BlockType::Text),
        ("[a](javascript://x)", BlockType::Text),
        ("[a **b**](https://x.example)", BlockType::Text),
        ("![a](b.png \"a title of its own\")", BlockType::Text),
        ("- [a](https://x.example)", BlockType::Text),
        ("- ![a](b.png)", BlockType::Image),
        ("# https://x.example", BlockType::Text),
        ("https://x.example.", BlockType::Text),
        ("a https://x.example", BlockType::Text),
    ] {
        let blocks = read(text);
        assert_eq!(blocks[0].data.block_type(), expected, "{text}");
        assert_eq!(read(&render(&blocks)), blocks, "{text}");
    }
}

#[test]
fn pages_hold_their_content() {
    check(
        "<page textStyle=\"card\" cardLayout=\"large\">\n  <pageTitle>A *b*</pageTitle>\n  <content>\n    c\n    - d\n      - e\n  </content>\n</page>\nf",
        &["page A *b*", "  c", "  bullet d", "    bullet e", "f"],
        "<page textStyle=\"card\" cardLayout=\"large\">\n<pageTitle>A *b*</pageTitle>\n<content>\n\nc\n\n- d\n  - e\n\n</content>\n</page>\n\nf",
    );
    check(
        "<page><pageTitle>A</pageTitle><content><page><pageTitle>B</pageTitle><content>c</content></page>d</content></page>e",
        &["page A", "  page B", "    c", "  d", "e"],
        "<page>\n<pageTitle>A</pageTitle>\n<content>\n\n<page>\n<pageTitle>B</pageTitle>\n<content>\n\nc\n\n</content>\n</page>\n\nd\n\n</content>\n</page>\n\ne",
    );
    check(
        "<card>a</card>\n\n<caption>b</caption>",
        &["card a", "caption b"],
        "<card>a</card>\n\n<caption>b</caption>",
    );
}

#[test]
fn html_and_definitions_stay_text() {
    for text in [
        "<div>\n- a\n</div>",
        "<!-- a -->",
        "a <b>c</b>",
        "[a]: /b \"c\"",
        "[^1]: note",
        "[[wiki]]",
        "a [b][c]\n\n[c]: /d",
        "key:: value",
        "<page>",
        "</unknown>",
    ] {
        let blocks = read(text);
        assert!(blocks.iter().all(|block| block.data.block_type() == BlockType::Text), "{text}");
        assert_eq!(render(&blocks), if text == "<page>" { "\\<page>" } else { text });
    }
    check(
        "---\ntitle: a\ntags:\n- b\n---\nc",
        &["---\ntitle: a\ntags:\n- b\n---", "c"],
        "\\---\ntitle: a\ntags:\n\\- b\n\\---\n\nc",
    );
}

/// Texts of one block, blank lines included, that come back as they are in every container.
const ONE_BLOCK: &[&str] = &[
    "<pre>\n  a\n\n    b\n</pre>",
    "<PRE class=\"x\">\n\n- a\n\n# b\n\n\n</PRE>",
    "<script>\nlet a;\n\n\tlet b;\n</script>",
    "<style>\n\n***\n\n</style>",
    "<textarea>\n\n> a\n</textarea>",
    "<!--\n\nhttps://e.example\n\n- gone\n-->",
    "<!-- a\n\nb --> c\nd",
    "<?php\n\necho 1;\n\n?>",
    "<!DOCTYPE\n\nhtml>",
    "<![CDATA[\n\n```\n\n]]>",
    "a\n<!--\n\nb -->",
    "<!--\n\n-->\n<!--\n\n-->",
    "<!--\n  \n  a  \n-->",
    "[^1]: a\n\n    b\n    - c\n\n    ```\n    d\n    ```",
    "[^note]: a\n\n\tb\n\n\n\tc",
    "[^1]: a\n===",
    "[foo]: /url\n===",
    "[foo]: /url \"title\"\n[bar]: /url\n===\n[foo]",
];

#[test]
fn html_footnotes_and_definitions_are_one_block() {
    let containers =
        [("", ""), ("- ", "  "), ("> ", "> "), ("1. ", "   "), ("- [ ] ", "  "), ("> - ", ">   ")];
    for text in ONE_BLOCK {
        for (first, others) in containers {
            let inner = text.split('\n').map(|line| match line {
                "" => format!("\n{}", others.trim_end()),
                line => format!("\n{others}{line}"),
            });
            let written = inner.collect::<String>();
            let written = format!("{first}{}", &written[1 + others.len()..]);
            let blocks = read(&format!("{written}\n\nnext"));
            let texts: Vec<_> = blocks.iter().map(|block| block.data.inline.as_str()).collect();
            assert_eq!(texts, [*text, "next"], "{written}");
            assert_eq!(render(&blocks), format!("{written}\n\nnext"));
        }
    }
}

#[test]
fn blocks_that_are_none_end_with_their_line_or_container() {
    for (text, expected) in [
        ("> <!-- a\n\nb -->", &["quote <!-- a", "b -->"][..]),
        ("- <pre>\n\na\n</pre>", &["bullet <pre>", "a\n</pre>"]),
        ("<div>\n\na\n\n</div>", &["<div>", "a", "</div>"]),
        ("<!-- a\n\nb", &["<!-- a\n\nb"]),
        ("[^1]: a\n\n  b", &["[^1]: a", "b"]),
        ("[^1]: a\n\n> b", &["[^1]: a", "quote b"]),
        ("[x]: a\n\n    b", &["[x]: a", "code ```\nb\n```"]),
        ("[a]: /b\nc\n===", &["[a]: /b", "h1 c"]),
        ("[a]: /b c\n===", &["h1 [a]: /b c"]),
        ("[a]: /b\n---", &["[a]: /b", "line *****"]),
        ("-\n  ```\n  a\n\n  b\n  ```", &["bullet code ```\na\n\nb\n```"]),
    ] {
        assert_eq!(outline(text), expected, "{text}");
        assert_eq!(read(&render(&read(text))), read(text), "{text}");
    }
}

#[test]
fn an_empty_text_is_written_as_a_comment() {
    let blocks = vec![
        BlockDraft::new(BlockData::text("")),
        BlockDraft::new(BlockData { list_style: ListStyle::Bullet, ..BlockData::text("") }),
        BlockDraft::new(BlockData {
            list_style: ListStyle::Task,
            task: Some(TaskInfo::default()),
            ..BlockData::text("")
        }),
    ];
    assert_eq!(render(&blocks), "<!-- -->\n\n- <!-- -->\n- [ ]");
    assert_eq!(read(&render(&blocks)), blocks);
}

#[test]
fn an_empty_first_item_is_refused_or_left_out() {
    let error = parse("a\n\n- b\n\n  -\n", &ParseOptions::default()).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::InvalidMarkdown, "line 5, column 3: the first item of a list is empty")
    );
    let dropping = ParseOptions::default().with_empty_first_item(EmptyFirstItem::Drop);
    let parsed = parse("-\n- a\n-\n- b", &dropping).unwrap();
    let texts: Vec<_> = parsed.blocks.iter().map(|block| block.data.inline.as_str()).collect();
    assert_eq!(texts, ["a", "", "b"]);
    assert_eq!(
        parsed.warnings[0].to_string(),
        "line 1, column 1: the empty first item of a list was left out"
    );
}

#[test]
fn a_highlight_has_a_known_colour() {
    for color in ["blue", "gradient-brown", "#a0B1c2", ""] {
        assert!(
            parse(&format!("a <highlight color='{color}'>b</highlight>"), &ParseOptions::default())
                .is_ok(),
            "{color}"
        );
    }
    for (text, place) in [
        ("a\n\n- é <highlight color='nope'>b</highlight>", "line 3, column 5"),
        ("# <highlight color=\"gradient-green\">", "line 1, column 3"),
        ("| a |\n|---|\n| <highlight color=x> |", "line 3, column 3"),
        ("<page><pageTitle><highlight color='#12'></pageTitle></page>", "line 1, column 18"),
    ] {
        let error = parse(text, &ParseOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidMarkdown);
        assert_eq!(error.message(), format!("{place}: a highlight of an unknown color"));
    }
    for text in [
        "`<highlight color='nope'>`",
        "\\<highlight color='nope'>",
        "```\n<highlight color='nope'>\n```",
        "<highlighter color='nope'>",
    ] {
        assert!(parse(text, &ParseOptions::default()).is_ok(), "{text}");
    }
}

#[test]
fn what_changes_meaning_is_told() {
    let text = "##### a\n\n- [/] b\n\n<callout>\nc\n\n> <callout>\n> d\n\n</callout>\n\n<page textStyle='odd'><pageTitle>e</pageTitle></page>";
    let parsed = parse(text, &ParseOptions::default()).unwrap();
    let told: Vec<_> = parsed.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "line 1, column 1: a heading of level 5 became one of level 4",
            "line 3, column 3: the mark [/] is not a task state and stayed text",
            "line 8, column 3: <callout> is not closed",
            "line 13, column 1: the value of textStyle is unknown and was left out",
        ]
    );
}

#[test]
fn what_would_be_structure_is_written_escaped() {
    let styled = |markdown: &str, list_style, style| {
        let blocks = vec![BlockDraft::new(BlockData {
            kind: BlockKind::Text(TextFormat { style, ..TextFormat::default() }),
            list_style,
            ..BlockData::text(markdown)
        })];
        let written = render(&blocks);
        assert_eq!(read(&written), blocks, "{written}");
        written
    };
    let body = |markdown: &str| styled(markdown, ListStyle::None, TextStyle::Body);
    for (given, expected) in [
        ("  a  ", "&#32; a &#32;"),
        ("a\r\n\r\n b", "a&#13;&#10;&#13;&#10; b"),
        ("# a", "\\# a"),
        ("#a", "#a"),
        ("- a", "\\- a"),
        ("12. a", "12\\. a"),
        ("a\n12. b", "a\n12. b"),
        ("a\n1. b", "a\n1\\. b"),
        ("> a", "\\> a"),
        ("```a", "\\```a"),
        ("***", "\\***"),
        ("a\n===", "a\n\\==="),
        ("a\n---", "a\n\\---"),
        ("a | b\n---|---", "a | b\n\\---|---"),
        // Raw HTML without its end would take the blocks below.
        ("<!-- a", "\\<!-- a"),
        ("<!-- a\n\nb", "\\<!-- a&#10;&#10;b"),
        ("\\<!-- a", "&#60;!-- a"),
        ("a\n<pre>\nb", "a\n\\<pre>\nb"),
        ("<pre>\n\n\ta\n\n</pre>\n\nb", "<pre>\n\n\ta\n\n</pre>&#10;&#10;b"),
        ("[^1]: a\n\n    b\n\nc", "[^1]: a\n\n    b&#10;&#10;c"),
        ("[^1]: a\n\n  b", "[^1]: a&#10;&#10;  b"),
        ("[a]: /b\nc\n===", "[a]: /b\nc\n\\==="),
        ("$$a$$", "\\$$a$$"),
        ("$$a$$ b", "$$a$$ b"),
        ("<callout>a</callout>", "\\<callout>a\\</callout>"),
        ("`</page>` </page>", "`</page>` \\</page>"),
        ("<b>a</b>", "<b>a</b>"),
        ("[a](https://x.example)", "[a](https://x.example)<!-- -->"),
        ("![a](b.png)", "![a](b.png)<!-- -->"),
        ("<!-- -->", "<!-- --><!-- -->"),
        ("\\# a", "&#35; a"),
        ("&#35; a", "&#035; a"),
        ("a\\ ", "a&#92;&#32;"),
        ("[ ] a", "[ ] a"),
    ] {
        assert_eq!(body(given), expected, "{given}");
    }
    assert_eq!(styled("[ ] a", ListStyle::Bullet, TextStyle::Body), "- \\[ ] a");
    assert_eq!(
        styled("[a](https://x.example)", ListStyle::Bullet, TextStyle::Body),
        "- [a](https://x.example)"
    );
    assert_eq!(styled("- a\nb #", ListStyle::None, TextStyle::H2), "## - a&#10;b \\#");
}

#[test]
fn a_block_without_text_is_read_from_its_markdown() {
    let (size, width) = (MediaSize::Fill, MediaWidth::FullWidth);
    let mut data = BlockData::new(BlockKind::Image {
        url: String::new(),
        alt_text: String::new(),
        size,
        width,
    });
    data.inline = "![a \\[b\\]](c.png)".to_owned();
    read_block(&mut data).unwrap();
    let expected =
        BlockKind::Image { url: "c.png".to_owned(), alt_text: "a [b]".to_owned(), size, width };
    assert_eq!((data.kind, data.inline.as_str()), (expected, ""));

    for (block_type, markdown) in [
        (BlockType::Code, "```js\na\n```"),
        (BlockType::Line, "******"),
        (BlockType::RichUrl, "[a](https://x.example \"b\")"),
        (BlockType::File, "[a.pdf](asset://7/a.pdf)"),
        (BlockType::Video, "![a](b.mp4)"),
        (BlockType::Whiteboard, "![Whiteboard](a.png)"),
    ] {
        let mut data = BlockData::new(BlockKind::empty(block_type));
        data.inline = markdown.to_owned();
        read_block(&mut data).unwrap();
        assert_eq!((data.block_type(), render_block(&data)), (block_type, markdown.to_owned()));
        let mut wrong = BlockData {
            inline: "just text".to_owned(),
            ..BlockData::new(BlockKind::empty(block_type))
        };
        let error = read_block(&mut wrong).unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::InvalidMarkdown, "markdown"));
    }
}

#[test]
fn links_say_what_markdown_alone_cannot() {
    let layout = BlockLayout::default();
    for kind in [
        BlockKind::RichUrl {
            url: "https://x.example".into(),
            title: "a".into(),
            description: "file".into(),
            layout,
        },
        BlockKind::RichUrl {
            url: "https://x.example/a b".into(),
            title: "[a*".into(),
            description: "\"b\"".into(),
            layout,
        },
        BlockKind::File { url: "https://x.example/a".into(), file_name: "a_b.pdf".into(), layout },
    ] {
        let blocks = vec![BlockDraft::new(BlockData::new(kind))];
        assert_eq!(read(&render(&blocks)), blocks);
    }
}

#[test]
fn a_text_in_block_form_says_several_blocks() {
    let form = |text: &str| read_block_form(text, &Limits::default()).unwrap();
    let split = form("- [x] a\n  b\n\n  c\n\n# d");
    assert_eq!((split.inline.as_str(), split.markers.state), ("a\nb", Some(TaskState::Done)));
    let below = BlockData { indentation: 1, ..BlockData::text("c") };
    assert_eq!(split.further.len(), 2);
    assert_eq!(split.further[0], below);
    assert_eq!(split.further[1].text_format().unwrap().style, TextStyle::H1);
    for (text, kind) in
        [("***\n\na", ErrorKind::Validation), ("a\n\n-", ErrorKind::InvalidMarkdown)]
    {
        assert_eq!(read_block_form(text, &Limits::default()).unwrap_err().kind(), kind, "{text}");
    }
}

/// A task mark alone is an empty item: refused where a list begins with it, an item elsewhere. What
/// is written for an empty task at the start of a list is read again.
#[test]
fn a_list_does_not_begin_with_an_empty_task() {
    let refused = ["- [ ]", "- [ ] \n- [ ] a", "+ [x]\n\na", "a\n\n1. [-]\n2. b", "> - [ ]\n> - b"];
    for text in refused {
        let error = parse(text, &ParseOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidMarkdown, "{text}");
        assert!(error.message().contains("the first item of a list is empty"), "{text}: {error}");
    }
    check("- [ ] a\n- [ ]\n- [x]", &["todo a", "todo", "done"], "- [ ] a\n- [ ]\n- [x]");
    check("- [ ]\n  - a", &["todo", "  bullet a"], "- [ ] <!-- -->\n  - a");
    check("- [ ] <!-- -->\n- [ ]", &["todo", "todo"], "- [ ] <!-- -->\n- [ ]");
    check("- a\n  - [x] <!-- -->", &["bullet a", "  done"], "- a\n\n  - [x] <!-- -->");

    let options = ParseOptions::default().with_empty_first_item(EmptyFirstItem::Drop);
    let parsed = parse("- [ ]\n- [ ] a\n\nb\n\n- - [x]", &options).unwrap();
    let texts: Vec<&str> = parsed.blocks.iter().map(|draft| &*draft.data.inline).collect();
    assert_eq!(texts, ["a", "b"]);
    assert_eq!(parsed.warnings.len(), 3, "{:?}", parsed.warnings);
}
