//! Links are found and rewritten wherever they are links, and nowhere else; plain text is what is
//! left without markup.

use leafbase_markdown::{LinkForm, LinkTarget, is_plain, links, plain_text, rewrite_links};
use leafbase_model::BlockId;

const ID: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

fn found(text: &str) -> Vec<(String, LinkForm)> {
    let mut found = Vec::new();
    links(text, &mut |link| {
        assert_eq!(
            text.get(link.range.clone()).map(str::is_empty),
            Some(link.destination.is_empty())
        );
        found.push((link.destination.into_owned(), link.form));
    });
    found
}

#[test]
fn every_form_is_found() {
    use LinkForm::{Autolink, Definition, Embedded, Inline, Reference, Source};
    for (text, expected) in [
        ("[a](b)", vec![("b", Inline)]),
        ("[a](<b c> 'd')", vec![("b c", Inline)]),
        ("[a]( b\n\"c\" )", vec![("b", Inline)]),
        ("![a](b)", vec![("b", Embedded)]),
        ("[![a](b)](c)", vec![("b", Embedded), ("c", Inline)]),
        ("[a [b](c) d](e)", vec![("c", Inline)]),
        ("<https://a>", vec![("https://a", Autolink)]),
        ("[a][b]\n\n[b]: c 'd'", vec![("c", Definition)]),
        ("  [b]: <c d>", vec![("c d", Definition)]),
        ("[b]: c\nd", vec![("c", Definition)]),
        ("[b]: c\n'd'", vec![("c", Definition)]),
        ("[b]: c\n'd' e", vec![("c", Definition)]),
        // A footnote, and text that begins as a definition does.
        ("[^b]: c", vec![]),
        ("[^b]: c is a page", vec![]),
        ("[b]: c the d", vec![]),
        ("[b]: <c> 'd' e", vec![]),
        ("[a](b\\)c&amp;d)", vec![("b)c&d", Inline)]),
        ("[a](b(c)d)", vec![("b(c)d", Inline)]),
        ("[a]()", vec![("", Inline)]),
        ("| [a](b) | ` |\n|---|---|\n| ` | [c](d) |", vec![("b", Inline), ("d", Inline)]),
        ("\\![a](b)", vec![("b", Inline)]),
        ("<a href=\"b\">[c](d)</a>", vec![("b", Reference), ("d", Inline)]),
        ("<p\nalign='x'><IMG alt=y SRC='b&amp;c'/></p>", vec![("b&c", Source)]),
        ("[<img src=a>](b)", vec![("a", Source), ("b", Inline)]),
    ] {
        let expected: Vec<_> =
            expected.into_iter().map(|(url, form)| (url.to_owned(), form)).collect();
        assert_eq!(found(text), expected, "{text}");
    }
}

#[test]
fn what_is_no_link_is_not_found() {
    for text in [
        "`[a](b)`",
        "`` [a](b) ` ``",
        "`a\n[b](c)`",
        "\\[a](b)",
        "[a\\](b)",
        "[a] (b)",
        "[a](b c)",
        "[a](<b\nc>)",
        "<a title=\"[b](c)\">",
        "<!-- [a](b) -->",
        "<!-- <img src=\"a\"> -->",
        "`<img src=\"a\">` \\<img src=\"a\">",
        "<img data-src=\"a\" title=\"src=b\">",
        "[a][b]",
        "[[a]]",
        "https://a.example",
        "a <b> c",
        "plain",
    ] {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn targets_are_seen_through_their_spelling() {
    let id: BlockId = ID.parse().unwrap();
    let target = |text: &str| {
        let mut targets = Vec::new();
        links(text, &mut |link| targets.push(link.target));
        assert_eq!(targets.len(), 1, "{text}");
        targets[0]
    };
    for text in [
        format!("[a](block://{ID})"),
        format!("[a](BLOCK://{})", ID.to_lowercase()),
        format!("[a](<block://{ID}> 'b')"),
        format!("<block://{ID}>"),
        format!("[a](block:%2F%2F{ID})"),
        format!("[a](%62lock://{ID})"),
        format!("[a](block&colon;//{ID})"),
        format!("[a](block&#58;//{ID})"),
        format!("[a](block\\://{ID})"),
        format!("[a](block://{ID}/)"),
        format!("[a](block://{ID}?b#c)"),
        format!("![a](block://{ID})"),
        format!("[a]: block://{ID}"),
    ] {
        assert_eq!(target(&text), LinkTarget::Block(id), "{text}");
    }
    assert_eq!(target("[a](block://nonsense)"), LinkTarget::Block(BlockId::NIL));
    assert_eq!(
        target("[a](date://2026-11-21)"),
        LinkTarget::Day(Some("2026-11-21".parse().unwrap()))
    );
    assert_eq!(target("[a](date://someday)"), LinkTarget::Day(None));
    assert_eq!(target("[a](https://block://x)"), LinkTarget::Other);
}

#[test]
fn rewriting_leaves_every_other_byte() {
    let rewritten =
        |text: &str, url: &str| rewrite_links(text, &mut |_| Some(url.to_owned())).into_owned();
    for (text, url, expected) in [
        ("é [a](b  'c') `[d](e)`", "x", "é [a](x  'c') `[d](e)`"),
        ("[a](<b>)", "x y", "[a](<x y>)"),
        ("<img src=\"b\" width=9>", "x y", "<img src=\"x&#32;y\" width=9>"),
        ("<img src=b>", "c.png", "<img src=c.png>"),
        ("[a](b)", "x)y", "[a](<x)y>)"),
        ("[a](b)", "", "[a](<>)"),
        ("<https://a>", "invalid:out_of_scope#1", "<invalid:out_of_scope#1>"),
        ("<https://a>", "x:y z", "<x:y%20z>"),
        ("[a]: b\n[c]: <d>", "x", "[a]: x\n[c]: x"),
        ("| [a](b) |\n|---|", "x|y", "| [a](x%7Cy) |\n|---|"),
        ("[![a](b)](c)", "x", "[![a](x)](x)"),
    ] {
        assert_eq!(rewritten(text, url), expected, "{text}");
    }
    assert!(matches!(rewrite_links("[a](b)", &mut |_| None), std::borrow::Cow::Borrowed(_)));
    let some = rewrite_links("[a](b) [c](d)", &mut |link| {
        (link.destination == "d").then(|| "x".to_owned())
    });
    assert_eq!(some, "[a](b) [c](x)");
}

#[test]
fn what_may_be_markup_is_seen_wherever_it_stands() {
    for length in 0..70 {
        let mut text = vec![b'a'; length];
        assert!(is_plain(&text), "{length}");
        for place in 0..length {
            for byte in 0..=u8::MAX {
                text[place] = byte;
                assert_eq!(
                    is_plain(&text),
                    !b"\\*_`[<&~\n\r".contains(&byte),
                    "{byte} at {place} of {length}"
                );
            }
            text[place] = b'a';
        }
    }
}

#[test]
fn plain_text_has_no_markup() {
    for (text, expected) in [
        ("plain", "plain"),
        ("a **b** _c_ ~~d~~ `e*f`", "a b c d e*f"),
        ("_a_ b", "a b"),
        ("[a](b) ![c](d) <https://e.example>", "a c https://e.example"),
        ("a\nb  \nc", "a b c"),
        ("a<br>b", "a b"),
        ("a <highlight color='blue'>b</highlight>", "a b"),
        ("\\# a &amp; b", "# a & b"),
        ("[a]: /b", "[a]: /b"),
        ("[[a]]", "[[a]]"),
        ("snake_case 2 * 3", "snake_case 2 * 3"),
        ("<div>\na *b*\n</div>", "a b"),
        ("c\n<div>a</div>", "c a"),
        ("| a | **b** |\n|---|---|\n| c | d |", "a b c d"),
        ("...a*b*", "...ab"),
        ("`.a`", ".a"),
    ] {
        assert_eq!(plain_text(text).trim(), expected, "{text}");
    }
}
