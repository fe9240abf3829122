//! Fifth law: any input is read in time that grows as it does, within a small stack, and an error
//! says where it is.

use leafbase_markdown::{
    ParseOptions, Rewritten, canonical, links, parse, plain_text, render, rewrite_links,
    rewrite_mentions,
};
use leafbase_model::{BlockData, ErrorKind};

use crate::dialect::lenient;

/// What a small thread has for its stack.
const STACK: usize = 256 << 10;

fn in_a_small_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread =
            std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).unwrap();
        thread.join().unwrap()
    })
}

/// Inputs of about `size` bytes, each of one thing over and over.
#[allow(clippy::too_many_lines, reason = "a table")]
fn hostile(size: usize) -> Vec<(&'static str, String)> {
    let pieces = [
        "> ",
        "- ",
        "1. ",
        "+ ",
        "> - ",
        "- > ",
        "* - + ",
        "<callout>",
        "</callout>",
        "<caption>",
        "<page>",
        "</page>",
        "<card>",
        "<page><pageTitle>",
        "<page><pageTitle>x</pageTitle><content>",
        "<callout>a</callout>",
        "[",
        "]",
        "![",
        "](",
        "[](",
        "[](<",
        "[a](b \"",
        "[a]: ",
        "[a]: b\n",
        "`",
        "`` ` ",
        "```\n",
        "~~~ x\n",
        "<",
        "<a b=\"",
        "<a ",
        "<!--",
        "<!-- -->",
        "<?",
        "*",
        "_",
        "*a_ ",
        "**a ",
        "\\",
        "&",
        "&#",
        "$$",
        "$$\n",
        "$$ a\n",
        "|",
        "|-",
        "a|b\n-|-\n",
        "| a |\n|---|\n",
        "#",
        "# ",
        "- [ ] ",
        "- [ ] a\n",
        "\t",
        " ",
        "\n",
        "-\n",
        "- a\n",
        "1. a\n  - b\n",
        "> a\n",
        ">\n",
        "---\n",
        "***",
        "a\n===\n",
        "<div>\n",
        "<div>\n\n",
        "<highlight ",
        "<highlight>",
        "<highlight color='blue'>",
        "\u{feff}",
        "é",
        "---\na: b\n",
        "- a\n\n  b\n\n",
        "`a` </page> ",
        "<page <page ",
        "<!--\n\n",
        "a  \n",
        "a\\\n",
        "https://x.example\n\n",
    ];
    let mut inputs: Vec<_> =
        pieces.iter().map(|piece| (*piece, piece.repeat(size / piece.len() + 1))).collect();
    inputs.push((
        "items, then blank lines",
        format!("{}x{}", "- ".repeat(size / 4), "\n".repeat(size / 2)),
    ));
    inputs.push((
        "items, then lines",
        format!("{}x{}", "- ".repeat(size / 4), "\ny".repeat(size / 4)),
    ));
    inputs.push((
        "quotes, then lines",
        format!("{}x{}", "> ".repeat(size / 4), "\ny".repeat(size / 4)),
    ));
    inputs.push((
        "deeper and deeper",
        (0..1000).map(|level| "  ".repeat(level % 200) + "- a\n").collect(),
    ));
    inputs.push((
        "runs of backticks",
        (1..1000).map(|length| "`".repeat(length) + " ").collect::<String>() + "<page>",
    ));
    inputs
}

fn everything(text: &str) -> usize {
    let mut done = 0;
    if let Ok(parsed) = parse(text, &lenient()) {
        done += render(&parsed.blocks).len();
    }
    let mut data = BlockData::text(text);
    canonical(&mut data);
    links(&data.inline, &mut |_| done += 1);
    done += rewrite_mentions(text, &mut |_| Some(Rewritten::Address("x".into()))).len();
    done + data.inline.len()
        + plain_text(&data.inline).len()
        + rewrite_links(text, &mut |_| Some("x".into())).len()
}

#[test]
fn a_million_of_anything_fits_in_a_small_stack() {
    in_a_small_stack(|| {
        for (name, text) in hostile(1_000_000) {
            assert!(everything(&text) < usize::MAX, "{name}");
        }
    });
}

#[test]
fn pages_within_pages_have_a_limit() {
    let nested = |depth: usize| {
        let open = "<page><pageTitle>x</pageTitle><content>".repeat(depth);
        parse(&format!("{open}{}", "</content></page>".repeat(depth)), &ParseOptions::default())
    };
    assert!(nested(64).is_ok());
    let error = nested(65).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert_eq!(error.message(), "line 1, column 2497: pages within pages: at most 64, got 65");
    assert_eq!(
        in_a_small_stack(move || nested(1_000_000).unwrap_err()).kind(),
        ErrorKind::LimitExceeded
    );
}

#[test]
fn lengths_have_limits() {
    let mut limits = leafbase_model::Limits::default();
    (limits.markdown, limits.block_text, limits.block_raw) = (100, 10, 20);
    let options = ParseOptions::default().with_limits(limits);
    let message = |text: &str| parse(text, &options).unwrap_err().message().to_owned();
    assert_eq!(message(&"a\n\n".repeat(40)), "bytes of markdown: at most 100, got 120");
    assert_eq!(
        message("ok\n\n- 0123456789a"),
        "line 3, column 3: bytes of a block's text: at most 10, got 11"
    );
    assert_eq!(
        message("# 0123456789a"),
        "line 1, column 1: bytes of a block's text: at most 10, got 11"
    );
    assert_eq!(
        message("```\n0123456789\n0123456789\n```"),
        "line 1, column 1: bytes of raw code: at most 20, got 21"
    );
}
