//! A link that is a whole paragraph: it may become a picture, video, file or rich link.

use std::borrow::Cow;

use crate::destination::{self, LinkDestination};

/// A link that is the whole text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoneLink<'t> {
    /// Whether an exclamation mark precedes it.
    pub(crate) embedded: bool,
    /// Its label as plain text.
    pub(crate) label: Cow<'t, str>,
    pub(crate) url: Cow<'t, str>,
    /// Its title as written.
    pub(crate) title: Option<&'t str>,
}

/// Parses `text`, which is trimmed, as a single link.
pub(crate) fn sole(text: &str) -> Option<LoneLink<'_>> {
    match text.as_bytes().first()? {
        b'!' | b'[' => {}
        b'<' => return autolink(text),
        b'h' | b'H' => return bare(text),
        _ => return None,
    }
    // Fast path: most paragraphs that start with a link end differently.
    debug_assert_eq!(text, crate::cursor::trim(text), "the text is trimmed");
    if !text.ends_with(')') {
        return None;
    }
    let (embedded, rest) = match text.strip_prefix('!') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let inner = rest.strip_prefix('[')?;
    let end = label_end(inner)?;
    let label = destination::read_label(inner.get(..end)?)?;
    let LinkDestination { destination, title, length, .. } =
        destination::in_parentheses(inner.get(end + 1..)?)?;
    if end + 1 + length != inner.len() || text.contains('\n') {
        return None;
    }
    Some(LoneLink { embedded, label, url: destination::unescape(destination), title })
}

fn label_end(inner: &str) -> Option<usize> {
    let mut escaped = false;
    inner.bytes().position(|byte| {
        let ends = byte == b']' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })
}

pub(crate) fn autolink(text: &str) -> Option<LoneLink<'_>> {
    let url = text.strip_prefix('<')?.strip_suffix('>')?;
    let fits = is_web_address(url)
        && url.bytes().all(|byte| byte > b' ' && !matches!(byte, b'<' | b'>' | 0x7f));
    fits.then_some(LoneLink {
        embedded: false,
        label: Cow::Borrowed(""),
        url: Cow::Borrowed(url),
        title: None,
    })
}

fn bare(text: &str) -> Option<LoneLink<'_>> {
    let web = ["http://", "https://"]
        .iter()
        .any(|scheme| starts_with(text, scheme) && text.len() > scheme.len());
    let plain =
        text.bytes().all(|byte| byte > b' ' && !matches!(byte, b'<' | b'>' | b'\\' | b'`' | 0x7f));
    let ends = text.ends_with(['.', ',', ':', ';', '!', '?', '"', '\'', '*', ')', ']']);
    (web && plain && !ends).then_some(LoneLink {
        embedded: false,
        label: Cow::Borrowed(""),
        url: Cow::Borrowed(text),
        title: None,
    })
}

fn starts_with(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start))
}

/// Whether `url` is a web address, rather than a block, day, asset or script.
pub(crate) fn is_web_address(url: &str) -> bool {
    let Some((scheme, _)) = url.split_once("://") else { return false };
    let named = scheme.len() > 1
        && scheme.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte));
    let own = ["block", "date", "asset", "javascript", "vbscript", "data"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(scheme));
    named && scheme.len() <= 32 && !own
}

pub(crate) fn is_asset(url: &str) -> bool {
    starts_with(url, "asset://")
}
