//! Mentions of blocks in a text, in every syntax: they are redacted before a reader without access
//! to the blocks sees the text.

use std::borrow::Cow;
use std::ops::Range;

use leafbase_model::BlockId;

use crate::destination::{self, unescape};
use crate::links::{self, InlineLink, InlineSpan, LinkForm, LinkTarget};
use crate::{raw_html, slice};

/// Address of the placeholder of a redacted block, without its number.
const PLACEHOLDER: &str = "invalid:out_of_scope#";
const SCHEME: &str = "block:";
/// Length of a block ID.
const ID: usize = 26;

/// A mention of a block, or a placeholder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention<'t> {
    /// The address with escapes resolved.
    pub destination: Cow<'t, str>,
    /// Byte range of the address, including the angle brackets of a destination.
    pub range: Range<usize>,
    /// The mentioned block or the placeholder.
    pub named: MentionTarget,
    /// Syntax of the mention.
    pub form: MentionForm,
}

/// Target of a mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MentionTarget {
    /// A block; [`BlockId::NIL`] for a malformed ID.
    Block(BlockId),
    /// The placeholder of a redacted block: the address `invalid:out_of_scope#N`.
    Placeholder(u32),
}

/// Syntax of a mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MentionForm {
    /// Destination of a link, image or definition.
    Destination,
    /// `<address>`.
    Autolink,
    /// Value of an HTML attribute, with its quote character.
    Attribute(Option<char>),
    /// Plain text.
    Words,
}

/// Replacement of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rewritten {
    /// This text verbatim.
    Verbatim(String),
    /// This address, escaped for its syntax.
    Address(String),
}

/// The address of the placeholder with this number.
pub fn placeholder(number: u32) -> String {
    format!("{PLACEHOLDER}{number}")
}

/// Visits the number of every placeholder in `text`, even where it is not a mention.
pub fn placeholder_numbers(text: &str, visit: &mut dyn FnMut(u32)) {
    // Fast path: texts with placeholders are rare.
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once(PLACEHOLDER) {
        if let Some((number, _)) = number(behind) {
            visit(number);
        }
        rest = behind;
    }
}

/// Visits every mention and placeholder in `text` in order: links, HTML attributes and plain
/// addresses. Code contains none.
///
/// ```
/// let (id, mut found) = ("01KASZ4ZJG0000000000000001", Vec::new());
/// let text = format!("[it](block://{id}), <a href='block://{id}'>, BLOCK://{id} and `block://{id}`");
/// leafbase_markdown::mentions(&text, &mut |mention| found.push(mention.form));
/// use leafbase_markdown::MentionForm::{Attribute, Destination, Words};
/// assert_eq!(found, [Destination, Attribute(Some('\'')), Words]);
/// ```
pub fn mentions<'t>(text: &'t str, visit: &mut dyn FnMut(Mention<'t>)) {
    // Fast path: an address contains a colon, possibly escaped, and most texts contain none.
    if memchr::memchr3(b':', b'%', b'&', text.as_bytes()).is_none() {
        return;
    }
    let has_pieces = memchr::memchr2(b']', b'<', text.as_bytes()).is_some();
    let mut words = words(text).peekable();
    if words.peek().is_none() {
        if has_pieces {
            links::pieces(text, &mut |piece| within(text, piece, visit));
        }
        return;
    }
    // Ranges of links and tags, which report their own mentions, and of code, which has none.
    let (mut in_pieces, mut taken) = (Vec::new(), Vec::new());
    links::pieces(text, &mut |piece| {
        if let InlineSpan::Code(code) = piece {
            taken.push(code);
        } else {
            within(text, piece, &mut |mention| {
                taken.push(mention.range.clone());
                in_pieces.push(mention);
            });
        }
    });
    let (mut in_pieces, mut taken) =
        (in_pieces.into_iter().peekable(), taken.into_iter().peekable());
    for mention in words {
        while taken.next_if(|taken| taken.end <= mention.range.start).is_some() {}
        if taken.peek().is_some_and(|taken| taken.start < mention.range.end) {
            continue;
        }
        while let Some(before) =
            in_pieces.next_if(|in_pieces| in_pieces.range.start < mention.range.start)
        {
            visit(before);
        }
        visit(mention);
    }
    in_pieces.for_each(visit);
}

/// Rewrites the mentions for which `replace` returns a replacement. All other bytes are kept.
pub fn rewrite_mentions<'t>(
    text: &'t str,
    replace: &mut dyn FnMut(&Mention<'t>) -> Option<Rewritten>,
) -> Cow<'t, str> {
    let (mut written, mut from) = (String::new(), 0);
    mentions(text, &mut |mention| {
        let Some(rewritten) = replace(&mention) else {
            return;
        };
        debug_assert!(from <= mention.range.start, "mentions are visited in order without overlap");
        written.push_str(slice::within(text, from..mention.range.start));
        match rewritten {
            Rewritten::Verbatim(verbatim) => written.push_str(&verbatim),
            Rewritten::Address(address) => write(&mut written, text, mention.form, address),
        }
        from = mention.range.end;
    });
    // Nothing was replaced: `from` is the end of the last replacement.
    if from == 0 {
        return Cow::Borrowed(text);
    }
    written.push_str(slice::after(text, from));
    Cow::Owned(written)
}

fn write(out: &mut String, text: &str, form: MentionForm, address: String) {
    let address = if address.contains('|') && crate::table::is_table_text(text) {
        address.replace('|', "%7C")
    } else {
        address
    };
    match form {
        MentionForm::Destination => destination::write(out, &address),
        MentionForm::Autolink => links::write_autolink(out, &address),
        MentionForm::Attribute(_) => raw_html::write_attribute(out, &address),
        MentionForm::Words => out.push_str(&destination::escape(&address)),
    }
}

/// Visits the mentions of one span.
fn within<'t>(text: &'t str, piece: InlineSpan<'t>, visit: &mut dyn FnMut(Mention<'t>)) {
    match piece {
        InlineSpan::Link(InlineLink { destination, range, target, form, .. }) => {
            let written = slice::within(text, range.clone());
            let Some(named) = named(target, written) else { return };
            let form = if form == LinkForm::Autolink {
                MentionForm::Autolink
            } else {
                MentionForm::Destination
            };
            let before = slice::before(text, range.start);
            // The range includes the brackets, so that the replacement can choose its own form.
            let is_pointed = form == MentionForm::Destination && before.ends_with('<');
            let range = if is_pointed { range.start - 1..range.end + 1 } else { range };
            visit(Mention { destination, range, named, form });
        }
        InlineSpan::Tag(tag) => {
            raw_html::attributes(slice::within(text, tag.clone()), &mut |_, value, quote| {
                let range = tag.start + value.start..tag.start + value.end;
                let written = slice::within(text, range.clone());
                let destination = unescape(written);
                if let Some(named) = named(LinkTarget::of(&destination), written) {
                    visit(Mention {
                        destination,
                        range,
                        named,
                        form: MentionForm::Attribute(quote),
                    });
                }
            });
        }
        InlineSpan::Code(_) => {}
    }
}

fn named(target: LinkTarget, written: &str) -> Option<MentionTarget> {
    if let LinkTarget::Block(block) = target {
        return Some(MentionTarget::Block(block));
    }
    let (number, length) = number(written.strip_prefix(PLACEHOLDER)?)?;
    (PLACEHOLDER.len() + length == written.len()).then_some(MentionTarget::Placeholder(number))
}

/// Addresses of blocks with an ID, and placeholders, anywhere in `text`.
fn words(text: &str) -> impl Iterator<Item = Mention<'_>> {
    memchr::memchr_iter(b':', text.as_bytes())
        .filter_map(|colon| block_at(text, colon).or_else(|| hidden_at(text, colon)))
}

fn block_at(text: &str, colon: usize) -> Option<Mention<'_>> {
    let start = (colon + 1).checked_sub(SCHEME.len())?;
    let after = text.get(colon + 1..)?;
    if !text.get(start..=colon)?.eq_ignore_ascii_case(SCHEME) {
        return None;
    }
    let id = after.trim_start_matches('/');
    let length = id.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let block = id.get(..length).filter(|id| id.len() == ID)?.parse().ok()?;
    let end = text.len() - id.len() + ID;
    Some(mention(text, start..end, MentionTarget::Block(block)))
}

fn hidden_at(text: &str, colon: usize) -> Option<Mention<'_>> {
    let start = colon.checked_sub(PLACEHOLDER.find(':')?)?;
    let (number, length) = number(text.get(start..)?.strip_prefix(PLACEHOLDER)?)?;
    Some(mention(
        text,
        start..start + PLACEHOLDER.len() + length,
        MentionTarget::Placeholder(number),
    ))
}

fn mention(text: &str, range: Range<usize>, named: MentionTarget) -> Mention<'_> {
    let destination = Cow::Borrowed(slice::within(text, range.clone()));
    Mention { destination, range, named, form: MentionForm::Words }
}

/// The number at the start of `text` in the form of placeholders, and its length.
fn number(text: &str) -> Option<(u32, usize)> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    let digits = text.get(..length).filter(|digits| !digits.starts_with('0'))?;
    Some((digits.parse().ok()?, length))
}
