//! Markdown of a single block and back: the `markdown` field of pictures, files, links, code and
//! separators.

use std::borrow::Cow;

use leafbase_model::{
    BlockData, BlockKind, BlockLayout, BlockType, CardLayout, CodeLanguage, LineStyle, MediaSize,
    MediaWidth, Result, TextFormat, TextStyle,
};

use crate::code;
use crate::cursor::{is_blank, trim};
use crate::destination;
use crate::escape::ends_escaping;
use crate::layout::is_empty_task;
use crate::lone_link::{LoneLink, autolink, is_asset, is_web_address, sole};
use crate::parse::parse;
use crate::parsed::{ParseOptions, invalid};
use crate::text_context::TextContext;
use crate::text_escape::{NOTHING, escape};

/// Markdown of one block, as the `markdown` field of replies has it: the block's own text, or text
/// derived from its fields.
///
/// ```
/// use leafbase_model::{BlockData, BlockKind, LineStyle};
///
/// let line = BlockData::new(BlockKind::Line { style: LineStyle::Strong });
/// assert_eq!(leafbase_markdown::render_block(&line), "******");
/// ```
pub fn render_block(data: &BlockData) -> String {
    // Types with own markdown store it; all others derive it from their fields.
    if data.block_type().has_own_markdown() {
        return data.inline.clone();
    }
    let mut out = String::new();
    write(&mut out, data, "");
    out
}

/// Parses `data.inline` into the fields of a type without own text, and clears it. Types with own
/// text, and an empty `markdown`, are left unchanged.
///
/// ```
/// use leafbase_model::{BlockData, BlockKind, BlockType};
///
/// let mut data = BlockData::new(BlockKind::empty(BlockType::Drawing));
/// data.inline = "![Drawing](asset://7/plan.png)".to_owned();
/// leafbase_markdown::read_block(&mut data)?;
/// assert_eq!(data.kind, BlockKind::Drawing { url: "asset://7/plan.png".to_owned() });
/// # Ok::<(), leafbase_model::Error>(())
/// ```
///
/// # Errors
/// [`leafbase_model::ErrorKind::InvalidMarkdown`] if `markdown` is not a single block of this type.
pub fn read_block(data: &mut BlockData) -> Result<()> {
    let block_type = data.block_type();
    if block_type.has_own_markdown() || is_blank(&data.inline) {
        return Ok(());
    }
    let text = trim(&data.inline);
    let read = match &mut data.kind {
        BlockKind::Code { raw_code, language, language_tag } => {
            read_code(text, raw_code, language, language_tag)
        }
        BlockKind::Line { style } => crate::line_starts::separator(text).map(|read| *style = read),
        kind => read_link(text, kind),
    };
    if read.is_none() {
        let expected = format!(
            "expected the markdown of a block of type {block_type}, such as {}",
            example(block_type)
        );
        return Err(invalid((1, 1), expected).at("markdown"));
    }
    data.inline.clear();
    Ok(())
}

const fn example(block_type: BlockType) -> &'static str {
    match block_type {
        BlockType::Code => "```rust",
        BlockType::Line => "***",
        BlockType::RichUrl | BlockType::File => "[name](url)",
        BlockType::Image | BlockType::Video | BlockType::Drawing | BlockType::Whiteboard => {
            "![name](url)"
        }
        // They store their markdown, and refuse none.
        BlockType::Text
        | BlockType::Page
        | BlockType::CollectionItem
        | BlockType::Table
        | BlockType::Collection => "text",
    }
}

fn read_code(
    text: &str,
    code: &mut String,
    language: &mut CodeLanguage,
    tag: &mut String,
) -> Option<()> {
    let mut parsed = parse(text, &ParseOptions::default()).ok()?.blocks;
    let (data, _) = parsed.pop().filter(|_| parsed.is_empty())?.into_parts();
    match data.kind {
        BlockKind::Code { raw_code, language: read, language_tag } => {
            (*code, *language, *tag) = (raw_code, read, language_tag);
            Some(())
        }
        _ => None,
    }
}

fn read_link(text: &str, kind: &mut BlockKind) -> Option<()> {
    let link = sole(text)?;
    let (read_url, label) = (link.url.clone().into_owned(), trim(&link.label).to_owned());
    let embedded = !matches!(kind, BlockKind::File { .. } | BlockKind::RichUrl { .. });
    if embedded != link.embedded {
        return None;
    }
    match kind {
        BlockKind::Image { url, alt_text: name, .. }
        | BlockKind::Video { url, alt_text: name, .. }
        | BlockKind::File { url, file_name: name, .. } => (*url, *name) = (read_url, label),
        BlockKind::Drawing { url } | BlockKind::Whiteboard { url } => *url = read_url,
        BlockKind::RichUrl { url, title, description, .. } => {
            (*url, *title, *description) = (read_url, label, link.description().into_owned());
        }
        BlockKind::Text(_)
        | BlockKind::Page(_)
        | BlockKind::CollectionItem { .. }
        | BlockKind::Table
        | BlockKind::Collection
        | BlockKind::Code { .. }
        | BlockKind::Line { .. } => return None,
    }
    Some(())
}

/// Appends a block without list marker and decorations; `prefix` starts every line except the
/// first.
pub(crate) fn write(out: &mut String, data: &BlockData, prefix: &str) {
    match &data.kind {
        BlockKind::Text(look) => write_text(out, data, *look, prefix),
        BlockKind::Image { .. } | BlockKind::Video { .. } | BlockKind::File { .. } => {
            write_media(out, &data.kind);
        }
        BlockKind::Drawing { url } => write_picture(out, "Drawing", url),
        BlockKind::Whiteboard { url } => write_picture(out, "Whiteboard", url),
        BlockKind::Code { raw_code, language, language_tag } => {
            write_code(out, raw_code, *language, language_tag, prefix);
        }
        BlockKind::RichUrl { url, title, description, .. } => {
            write_rich(out, url, title, description);
        }
        BlockKind::Line { style } => out.push_str(match style {
            LineStyle::ExtraLight => "***",
            LineStyle::Light => "****",
            LineStyle::Regular => "*****",
            LineStyle::Strong => "******",
            LineStyle::PageBreak => "*******",
        }),
        BlockKind::Table => write_lines(out, &data.inline, prefix),
        BlockKind::Collection | BlockKind::Page(_) | BlockKind::CollectionItem { .. } => {
            let title = escape(&data.inline, TextContext::Title);
            write_lines(out, shown(&title), prefix);
        }
    }
}

fn write_picture(out: &mut String, name: &str, url: &str) {
    out.push_str("![");
    out.push_str(name);
    out.push_str("](");
    if !url.is_empty() {
        crate::destination::write(out, url);
    }
    out.push(')');
}

fn write_text(out: &mut String, data: &BlockData, look: TextFormat, prefix: &str) {
    let text = escape(&data.inline, TextContext::of(data.list_style, look.style));
    let marks = match look.style {
        TextStyle::Body => {
            write_lines(out, if is_empty_task(data) { "" } else { shown(&text) }, prefix);
            return;
        }
        TextStyle::Caption => return write_tagged(out, &text, "caption", None, prefix),
        TextStyle::Card => {
            return write_tagged(out, &text, "card", Some((look, TextStyle::Card)), prefix);
        }
        TextStyle::Page => {
            return write_tagged(out, &text, "page", Some((look, TextStyle::Page)), prefix);
        }
        TextStyle::H1 => "#",
        TextStyle::H2 => "##",
        TextStyle::H3 => "###",
        TextStyle::H4 => "####",
    };
    out.push_str(marks);
    if !text.is_empty() {
        out.push(' ');
        write_lines(out, &text, prefix);
    }
}

fn write_tagged(
    out: &mut String,
    text: &str,
    name: &str,
    look: Option<(TextFormat, TextStyle)>,
    prefix: &str,
) {
    out.push('<');
    out.push_str(name);
    if let Some((look, implied)) = look {
        write_look(out, look, implied);
    }
    out.push('>');
    write_lines(out, shown(text), prefix);
    if ends_escaping(text) {
        out.push('\n');
        out.push_str(prefix);
    }
    out.push_str("</");
    out.push_str(name);
    out.push('>');
}

pub(crate) fn write_lines(out: &mut String, text: &str, prefix: &str) {
    if prefix.is_empty() {
        out.push_str(text);
        return;
    }
    let mut rest = text;
    while let Some(end) = memchr::memchr(b'\n', rest.as_bytes()) {
        let (line, tail) = rest.split_at_checked(end + 1).unwrap_or((rest, ""));
        out.push_str(line);
        // A blank line has no trailing white space; a line of white space within code keeps its
        // own.
        out.push_str(if tail.is_empty() || tail.starts_with('\n') {
            prefix.trim_end_matches(' ')
        } else {
            prefix
        });
        rest = tail;
    }
    out.push_str(rest);
}

fn write_code(out: &mut String, code: &str, language: CodeLanguage, tag: &str, prefix: &str) {
    if tag == code::COMPACT_FORMULA && is_compact_formula(code) {
        out.push_str("$$");
        write_lines(out, code, prefix);
        out.push_str("$$");
        return;
    }
    if language == CodeLanguage::MathFormula && tag.is_empty() && is_formula(code) {
        out.push_str("$$\n");
        out.push_str(prefix);
        if !code.is_empty() {
            write_lines(out, code, prefix);
            out.push('\n');
            out.push_str(prefix);
        }
        out.push_str("$$");
        return;
    }
    let mark = if tag.contains('`') { '~' } else { '`' };
    let length = code::longest_run(code, mark).max(2) + 1;
    let fence = |out: &mut String| out.extend(std::iter::repeat_n(mark, length));
    fence(out);
    let info = code::info(language, tag);
    if info.starts_with(['~', '`']) {
        out.push(' ');
    }
    out.push_str(info);
    if !code.is_empty() {
        out.push('\n');
        out.push_str(if code.starts_with('\n') { prefix.trim_end_matches(' ') } else { prefix });
        write_lines(out, code, prefix);
    }
    out.push('\n');
    out.push_str(prefix);
    fence(out);
}

/// Whether code can be written between `$$`: without blank lines and anything that would end it.
fn is_formula(code: &str) -> bool {
    let line_fits = |line: &str| {
        !is_blank(line) && !line.contains("$$") && !line.contains("</") && !line.contains("<h")
    };
    code.is_empty()
        || (code.split('\n').all(line_fits)
            && !code.starts_with([' ', '\t'])
            && !code.contains('\t'))
}

/// Whether code can be written directly between `$$`.
fn is_compact_formula(code: &str) -> bool {
    let is_edge = |letter| matches!(letter, ' ' | '\t' | '\n' | '$');
    !code.is_empty() && !code.starts_with(is_edge) && !code.ends_with(is_edge) && is_formula(code)
}

/// Appends the attributes of a page's format; `implied` is the style that can be omitted.
pub(crate) fn write_look(out: &mut String, look: TextFormat, implied: TextStyle) {
    if look.style != implied {
        out.push_str(" textStyle=\"");
        out.push_str(look.style.as_str());
        out.push('"');
    }
    if look.card_layout != CardLayout::Regular {
        out.push_str(" cardLayout=\"");
        out.push_str(look.card_layout.as_str());
        out.push('"');
    }
}

/// An empty text is written as the placeholder.
const fn shown(markdown: &str) -> &str {
    if markdown.is_empty() { NOTHING } else { markdown }
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
        let named = self.title.and_then(Role::named);
        let role = named.or_else(|| implied(self.embedded, &self.url))?;
        // Only a rich link can keep a title, as its description.
        if named.is_none() && self.title.is_some() && role != Role::Rich {
            return None;
        }
        if role == Role::Rich && in_list
            || (role != Role::File && named.is_some() && !self.embedded)
        {
            return None;
        }
        Some(self.as_role(role))
    }

    fn as_role(&self, role: Role) -> BlockKind {
        let (url, label) = (self.url.clone().into_owned(), trim(&self.label).to_owned());
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
    fn description(&self) -> Cow<'_, str> {
        let title = self.title.filter(|title| Role::named(title).is_none());
        title.map(destination::unescape).unwrap_or_default()
    }
}

/// Appends a picture, video or file.
fn write_media(out: &mut String, kind: &BlockKind) {
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
fn write_rich(out: &mut String, url: &str, title: &str, description: &str) {
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
