//! Where texts name blocks.

use leafbase_markdown::MentionForm::{Attribute, Autolink, Destination, Words};
use leafbase_markdown::{
    MentionForm, MentionTarget, Rewritten, mentions, placeholder_numbers, rewrite_mentions,
};
use leafbase_model::BlockId;

const ID: &str = "01KASZ4ZJG0000000000000001";

fn forms(text: &str) -> Vec<MentionForm> {
    let mut forms = Vec::new();
    mentions(text, &mut |mention| forms.push(mention.form));
    forms
}

/// `@` stands for an ID in what is given.
#[test]
fn mentions_are_seen_in_every_form() {
    for (text, expected) in [
        ("nothing: at all", vec![]),
        ("[a](block://@)", vec![Destination]),
        ("![a](<block://@> 'b')", vec![Destination]),
        ("[a]: BLOCK://@", vec![Destination]),
        ("[a](block%3A//@) [b](block&colon;@)", vec![Destination; 2]),
        ("[a](block://nope)", vec![Destination]),
        ("<block://@>", vec![Autolink]),
        ("a block://@, Block:@.", vec![Words; 2]),
        ("block://nope, block://@1 and 2block:", vec![]),
        ("[block://@](block://@) block://@", vec![Words, Destination, Words]),
        ("[a](https://a.example/?b=block://@)", vec![Words]),
        ("`block://@` [`block://@`](block://@) ``<block://@>``", vec![Destination]),
        ("` block://@", vec![Words]),
        ("<a href='block://@'>", vec![Attribute(Some('\''))]),
        ("<a b = \"c\" href = \"block&#58;//@\" d/>", vec![Attribute(Some('"'))]),
        ("<a href=block://@>", vec![Attribute(None)]),
        ("<a style='url(block://@)'>", vec![Words]),
        ("<!-- [a](block://@) -->", vec![Words]),
        (
            "| [a](block://@) | block://@ |\n| - | - |\n| `|block://@` | <block://@> |",
            vec![Destination, Words, Words, Autolink],
        ),
        ("[a](invalid:out_of_scope#1) invalid:out_of_scope#20", vec![Destination, Words]),
        (
            "<a b=invalid:out_of_scope#1><invalid:out_of_scope#4294967295>",
            vec![Attribute(None), Autolink],
        ),
        (
            "invalid:out_of_scope#0 invalid:out_of_scope#01 invalid:out_of_scope# invalid:out_of_scope#4294967296",
            vec![],
        ),
        ("`invalid:out_of_scope#1`", vec![]),
    ] {
        assert_eq!(forms(&text.replace('@', ID)), expected, "{text}");
    }
}

#[test]
fn placeholders_are_told_with_their_numbers_wherever_they_stand() {
    let mut found = Vec::new();
    let text = "`invalid:out_of_scope#3` invalid:out_of_scope#1x invalid:out_of_scope#x invalid:out_of_scope#12";
    placeholder_numbers(text, &mut |number| found.push(number));
    assert_eq!(found, [3, 1, 12]);
    let mut named = Vec::new();
    mentions(&format!("[a](block://{ID}) invalid:out_of_scope#2"), &mut |mention| {
        named.push(mention.named);
    });
    assert_eq!(
        named,
        [MentionTarget::Block(ID.parse::<BlockId>().unwrap()), MentionTarget::Placeholder(2)]
    );
}

/// An address takes the form of its place, and every other byte stays.
#[test]
fn addresses_are_written_as_their_place_asks_for() {
    for (text, address, expected) in [
        ("é [a](<block://@> 'b')", "x", "é [a](x 'b')"),
        ("[a](block://@)", "x y", "[a](<x y>)"),
        ("<block://@>", "x y", "<x%20y>"),
        ("<a href='block://@'>", "x 'y\"", "<a href='x&#32;&#39;y&#34;'>"),
        ("see block://@.", "*x*", "see \\*x\\*."),
        ("| [a](block://@) |\n| - |", "x|y", "| [a](x%7Cy) |\n| - |"),
        ("`block://@`", "x", "`block://@`"),
    ] {
        let text = text.replace('@', ID);
        let rewritten =
            rewrite_mentions(&text, &mut |_| Some(Rewritten::Address(address.to_owned())));
        assert_eq!(rewritten, expected.replace('@', ID), "{text}");
        let mut spans = Vec::new();
        mentions(&text, &mut |mention| spans.push(text[mention.range.clone()].to_owned()));
        let mut spans = spans.into_iter();
        let same = rewrite_mentions(&text, &mut |_| spans.next().map(Rewritten::Verbatim));
        assert_eq!(same, text);
    }
    let untouched = rewrite_mentions("[a](block://x)", &mut |_| None);
    assert!(matches!(untouched, std::borrow::Cow::Borrowed(_)));
}
