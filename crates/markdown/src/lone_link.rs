//! Blocks made of a single link: a picture, video, file or rich link that is a whole paragraph.

use std::borrow::Cow;

use leafbase_model::{BlockKind, BlockLayout, MediaSize, MediaWidth};

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
    title: Option<&'t str>,
}

/// Kind of block that a link becomes; the titles `"image"`, `"video"` and `"file"` select one
/// explicitly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Image,
    Video,
    File,
    Rich,
}

impl Role {
    const fn name(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Video => "video",
            Self::File => "file",
            Self::Rich => "",
        }
    }

    fn named(title: &str) -> Option<Self> {
        [Self::Image, Self::Video, Self::File].into_iter().find(|role| role.name() == title)
    }
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

fn autolink(text: &str) -> Option<LoneLink<'_>> {
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
fn is_web_address(url: &str) -> bool {
    let Some((scheme, _)) = url.split_once("://") else { return false };
    let named = scheme.len() > 1
        && scheme.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte));
    let own = ["block", "date", "asset", "javascript", "vbscript", "data"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(scheme));
    named && scheme.len() <= 32 && !own
}

fn is_asset(url: &str) -> bool {
    starts_with(url, "asset://")
}

const IMAGES: [&str; 13] = [
    "png", "jpg", "jpeg", "gif", "webp", "svg", "avif", "heic", "heif", "bmp", "tif", "tiff", "ico",
];
const VIDEOS: [&str; 8] = ["mp4", "mov", "webm", "m4v", "avi", "mkv", "mpg", "mpeg"];

fn has_extension(url: &str, known: &[&str]) -> bool {
    extension(url)
        .is_some_and(|extension| known.iter().any(|known| known.eq_ignore_ascii_case(extension)))
}

fn extension(url: &str) -> Option<&str> {
    let path = url.find(['?', '#']).and_then(|end| url.get(..end)).unwrap_or(url);
    let name = path.rsplit('/').next()?;
    name.rsplit_once('.').map(|(_, extension)| extension).filter(|extension| !extension.is_empty())
}

/// The kind implied by the syntax and the URL.
fn implied(embedded: bool, url: &str) -> Option<Role> {
    if !embedded {
        return match (is_asset(url), is_web_address(url)) {
            (true, _) => Some(Role::File),
            (false, true) => Some(Role::Rich),
            (false, false) => None,
        };
    }
    Some(match url {
        url if has_extension(url, &VIDEOS) => Role::Video,
        url if is_asset(url) && extension(url).is_some() && !has_extension(url, &IMAGES) => {
            Role::File
        }
        _ => Role::Image,
    })
}

impl LoneLink<'_> {
    /// The block that it becomes; `None` if it stays a text. In a list, a rich link stays a text.
    pub(crate) fn block(&self, in_list: bool) -> Option<BlockKind> {
        let said = self.title.and_then(Role::named);
        let role = said.or_else(|| implied(self.embedded, &self.url))?;
        // Only a rich link can keep a title, as its description.
        if said.is_none() && self.title.is_some() && role != Role::Rich {
            return None;
        }
        if role == Role::Rich && in_list || (role != Role::File && said.is_some() && !self.embedded)
        {
            return None;
        }
        Some(self.as_role(role))
    }

    fn as_role(&self, role: Role) -> BlockKind {
        let (url, label) =
            (self.url.clone().into_owned(), crate::cursor::trim(&self.label).to_owned());
        let (size, width) = (MediaSize::default(), MediaWidth::default());
        match role {
            Role::Image => BlockKind::Image { url, alt_text: label, size, width },
            Role::Video => BlockKind::Video { url, alt_text: label, size, width },
            Role::File => BlockKind::File { url, file_name: label, layout: BlockLayout::default() },
            Role::Rich => BlockKind::RichUrl {
                url,
                title: label,
                description: self.description().into_owned(),
                layout: BlockLayout::default(),
            },
        }
    }

    /// The title, unless it names a role.
    pub(crate) fn description(&self) -> Cow<'_, str> {
        let title = self.title.filter(|title| Role::named(title).is_none());
        title.map(destination::unescape).unwrap_or_default()
    }
}

/// Appends a picture, video or file.
pub(crate) fn write_media(out: &mut String, kind: &BlockKind) {
    let (role, label, url) = match kind {
        BlockKind::Image { url, alt_text, .. } => (Role::Image, alt_text, url),
        BlockKind::Video { url, alt_text, .. } => (Role::Video, alt_text, url),
        BlockKind::File { url, file_name, .. } => (Role::File, file_name, url),
        _ => return,
    };
    let embedded = role != Role::File;
    if embedded {
        out.push('!');
    }
    out.push('[');
    destination::write_label(out, label);
    out.push_str("](");
    if !url.is_empty() || implied(embedded, url) != Some(role) {
        destination::write(out, url);
    }
    if implied(embedded, url) != Some(role) {
        out.push_str(" \"");
        out.push_str(role.name());
        out.push('"');
    }
    out.push(')');
}

/// Appends a rich link.
pub(crate) fn write_rich(out: &mut String, url: &str, title: &str, description: &str) {
    let shown = format!("<{url}>");
    if title.is_empty() && description.is_empty() && autolink(&shown).is_some() {
        out.push_str(&shown);
        return;
    }
    out.push('[');
    destination::write_label(out, title);
    out.push_str("](");
    destination::write(out, url);
    if !description.is_empty() {
        out.push(' ');
        let mut quoted = String::new();
        destination::write_title(&mut quoted, description);
        // A title that equals a role's name would select that role: its first character is written
        // as a numeric reference.
        if let Some((first, rest)) =
            Role::named(description).and_then(|_| quoted.get(1..)).and_then(split_first)
        {
            quoted = format!("\"&#{};{rest}", u32::from(first));
        }
        out.push_str(&quoted);
    }
    out.push(')');
}

fn split_first(text: &str) -> Option<(char, &str)> {
    let first = text.chars().next()?;
    text.get(first.len_utf8()..).map(|rest| (first, rest))
}
