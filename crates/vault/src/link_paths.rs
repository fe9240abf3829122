//! Links between files: relative URLs, the anchors of blocks, and the URLs of a block.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use leafbase::bulk::{Subtrees, TextRole};
use leafbase::markdown;
use leafbase::{Block, BlockData, BlockId, BlockKind, TextStyle};

use crate::logseq_ids;

/// A relative URL, decoded.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RelativeUrl {
    /// Empty for the same file.
    pub(super) path: String,
    /// The fragment after `#`.
    pub(super) anchor: Option<String>,
}

impl RelativeUrl {
    /// Parses a relative URL. `None` for an absolute one, one with a query, and one that is not
    /// valid percent-encoded UTF-8.
    pub(super) fn parse(url: &str) -> Option<Self> {
        if !is_relative(url) {
            return None;
        }
        let (path, anchor) = match url.split_once('#') {
            Some((path, anchor)) => (path, Some(decode(anchor)?)),
            None => (url, None),
        };
        // A query means that the target is not a plain file.
        if path.contains('?') {
            return None;
        }
        Some(Self { path: decode(path)?, anchor: anchor.filter(|anchor| !anchor.is_empty()) })
    }
}

/// Whether `url` has neither scheme nor host.
pub(super) fn is_relative(url: &str) -> bool {
    !(url.is_empty() || url.starts_with("//") || has_scheme(url))
}

fn has_scheme(url: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    url.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.bytes().all(is_part)
    })
}

/// The fragment of a URL with its `#`; empty if there is none.
pub(super) fn fragment(url: &str) -> &str {
    url.find('#').and_then(|at| url.get(at..)).unwrap_or("")
}

/// A fragment for `anchor` with its `#`; empty for none.
pub(super) fn to_fragment(anchor: Option<&str>) -> String {
    anchor.map_or_else(String::new, |anchor| format!("#{}", encode(anchor)))
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped =
            after.split_at_checked(2).filter(|_| first == b'%').and_then(|(digits, after)| {
                let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
                let digits = std::str::from_utf8(digits).ok().filter(|_| is_hex)?;
                Some((u8::from_str_radix(digits, 16).ok()?, after))
            });
        // A `%` without two hex digits is literal.
        let (byte, after) = escaped.unwrap_or((first, after));
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

/// Percent-encodes text as part of a link destination. Escapes what markdown or a URL would
/// interpret; characters of any script stay.
pub(super) fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for character in text.chars() {
        let is_kept =
            !character.is_ascii() && !character.is_whitespace() && !character.is_control();
        if is_kept || character.is_ascii_alphanumeric() || "-._/^!,;=@+'".contains(character) {
            encoded.push(character);
        } else {
            let mut buffer = [0; 4];
            encoded.extend(character.encode_utf8(&mut buffer).bytes().flat_map(percent));
        }
    }
    encoded
}

/// A byte as `%XX`.
pub(super) fn percent(byte: u8) -> [char; 3] {
    let digit =
        |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0').to_ascii_uppercase();
    ['%', digit(byte >> 4), digit(byte & 15)]
}

/// The directory of a file; empty at the root.
pub(super) fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// The last component of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Resolves a path relative to `directory`, or to the root if it starts with `/`. `None` if it
/// leads outside.
pub(super) fn join(directory: &str, relative: &str) -> Option<String> {
    let base = if relative.starts_with('/') { "" } else { directory };
    let mut components: Vec<&str> = Vec::new();
    for component in base.split('/').chain(relative.split('/')) {
        match component {
            "" | "." => {}
            ".." => {
                components.pop()?;
            }
            _ => components.push(component),
        }
    }
    Some(components.join("/"))
}

/// The relative path from one file to another.
pub(super) fn relative_path(from: &str, to: &str) -> String {
    let from: Vec<&str> = directory(from).split('/').filter(|part| !part.is_empty()).collect();
    let target: Vec<&str> = to.split('/').collect();
    let directories = target.len().saturating_sub(1);
    let shared = from
        .iter()
        .zip(target.iter().take(directories))
        .take_while(|(one, other)| one == other)
        .count();
    // One `..` per directory level above the common ancestor.
    debug_assert!(shared <= from.len(), "the common ancestor is an ancestor of both files");
    let up = std::iter::repeat_n("..", from.len() - shared);
    up.chain(target.into_iter().skip(shared)).collect::<Vec<_>>().join("/")
}

/// The destination of a link, as written.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkUrl<'a> {
    pub(super) url: &'a str,
    /// The destination as written in the text, with its angle brackets.
    pub(super) written: &'a str,
    /// Whether the target is shown in place.
    pub(super) is_embedded: bool,
}

/// Passes each URL of a block to `replace` and applies the replacements. Returns whether the block
/// changed.
pub(super) fn rewrite_urls(
    data: &mut BlockData,
    replace: &mut dyn FnMut(LinkUrl<'_>) -> Option<String>,
) -> bool {
    if let Some((role, url)) = data.url_mut() {
        let is_embedded = role == TextRole::EmbedUrl;
        let new = replace(LinkUrl { url, written: url, is_embedded });
        let changed = new.is_some();
        if let Some(new) = new {
            *url = new;
        }
        return changed;
    }
    if !data.block_type().has_own_markdown() {
        return false;
    }
    let rewritten = markdown::rewrite_links(&data.inline, &mut |link| {
        // `[[Note]]: words` is a wiki link at the start of a sentence, not a link definition.
        let before = data.inline.get(..link.range.start).unwrap_or("");
        if link.form == markdown::LinkForm::Definition && before.trim_end().ends_with("]]:") {
            return None;
        }
        let is_embedded =
            matches!(link.form, markdown::LinkForm::Embedded | markdown::LinkForm::Source);
        debug_assert!(link.range.end <= data.inline.len(), "a link is within its text");
        let written = data.inline.get(destination_range(&data.inline, link)).unwrap_or_default();
        replace(LinkUrl { url: &link.destination, written, is_embedded })
    });
    let Cow::Owned(rewritten) = rewritten else { return false };
    let changed = rewritten != data.inline;
    data.inline = rewritten;
    changed
}

/// The byte range of a link's destination, with its angle brackets.
pub(super) fn destination_range(inline: &str, link: &markdown::InlineLink<'_>) -> Range<usize> {
    let is_pointed = link.form != markdown::LinkForm::Autolink
        && inline.get(..link.range.start).is_some_and(|before| before.ends_with('<'));
    let brackets = usize::from(is_pointed);
    link.range.start - brackets..link.range.end + brackets
}

/// The URL of a block.
pub(super) fn block_url(id: BlockId) -> String {
    format!("block://{id}")
}

/// The block that a URL leads to.
pub(super) fn linked_block(url: &str) -> Option<BlockId> {
    match markdown::LinkTarget::of(url) {
        markdown::LinkTarget::Block(id) => Some(id),
        _ => None,
    }
}

/// The anchors of a document's blocks: headings by slug, other blocks by number.
#[derive(Debug, Default)]
pub(super) struct Anchors {
    headings: HashMap<String, BlockId>,
    heading_slugs: HashMap<BlockId, String>,
    /// Headings by their words alone, as Obsidian compares them.
    heading_words: HashMap<String, BlockId>,
    /// Blocks that their author named by `^name` at the end of the text, or on the next line, and
    /// those that have the ID of Logseq.
    named: HashMap<String, BlockId>,
    /// The first name of each of these blocks.
    names: HashMap<BlockId, String>,
    order: Vec<BlockId>,
    numbers: HashMap<BlockId, usize>,
}

impl Anchors {
    /// The anchors of a whole document. Its root has none: a link to it has no fragment.
    pub(super) fn of_document(document: &Subtrees) -> Self {
        Self::of(document.0.iter().skip(1).map(|node| (node.block.id, &node.block.data)))
    }

    /// The anchors of a document as a reply has it.
    pub(super) fn of_block(document: &Block) -> Self {
        let blocks: Vec<_> =
            document.walk().skip(1).map(|(_, block)| (block.id, &block.data)).collect();
        Self::of(blocks)
    }

    /// The anchors of blocks in document order, without the root.
    fn of<'a>(blocks: impl IntoIterator<Item = (BlockId, &'a BlockData), IntoIter: Clone>) -> Self {
        let blocks = blocks.into_iter();
        let mut anchors = Self::default();
        let mut slugs = UniqueSlugs::default();
        for (id, data) in blocks.clone() {
            if let (BlockKind::Text(look), Some(name)) = (&data.kind, block_name(&data.inline)) {
                // A paragraph that consists of `^name` names the block before it.
                let is_alone =
                    data.inline.trim().len() == name.len() + 1 && look.style == TextStyle::Body;
                let previous = if is_alone { anchors.order.last().copied() } else { None };
                let named = *anchors.named.entry(name.to_owned()).or_insert(previous.unwrap_or(id));
                anchors.names.entry(named).or_insert_with(|| name.to_owned());
            }
            anchors.order.push(id);
            anchors.numbers.insert(id, anchors.order.len());
            if is_heading(data) {
                let text = markdown::plain_text(&data.inline);
                let words = words(&text);
                if !words.is_empty() {
                    anchors.heading_words.entry(words).or_insert(id);
                }
                let slug = slug(&text);
                if !slug.is_empty() {
                    let slug = slugs.claim(&slug);
                    anchors.heading_slugs.insert(id, slug.clone());
                    anchors.headings.insert(slug, id);
                }
            }
        }
        // The ID in a property is a name, too.
        for (name, id) in logseq_ids::named_blocks(blocks) {
            if logseq_ids::is_id(name) {
                anchors.named.entry(name.to_owned()).or_insert(id);
                anchors.names.entry(id).or_insert_with(|| name.to_owned());
            }
        }
        anchors
    }

    /// Resolves an anchor: a heading by its text or slug, a path of headings by its last one,
    /// `^name`, or `^n` for the n-th block.
    pub(super) fn find(&self, anchor: &str) -> Option<BlockId> {
        if let Some(name) = anchor.strip_prefix('^') {
            let numbered = || self.order.get(name.parse::<usize>().ok()?.checked_sub(1)?);
            return self.named.get(name).or_else(numbered).copied();
        }
        let heading = |text: &str| self.headings.get(&slug(text)).copied();
        let with_words = || self.heading_words.get(&words(anchor)).copied();
        heading(anchor).or_else(|| heading(anchor.rsplit('#').next()?)).or_else(with_words)
    }

    /// The anchor that [`Self::find`] resolves to `block`.
    pub(super) fn name(&self, block: BlockId) -> Option<String> {
        let name = self.names.get(&block);
        // The text of a heading has its property in it, if that has the ID of Logseq.
        let slug = self.heading_slugs.get(&block);
        if let Some(slug) = slug.filter(|_| name.is_none_or(|name| !logseq_ids::is_id(name))) {
            return Some(slug.clone());
        }
        // A number leads elsewhere once a block is inserted before it.
        if let Some(name) = name {
            return Some(format!("^{name}"));
        }
        let name = self.numbers.get(&block)?.to_string();
        // An author's `^2` shadows the number of the second block.
        self.named.get(&name).is_none_or(|named| *named == block).then(|| format!("^{name}"))
    }
}

fn is_heading(data: &BlockData) -> bool {
    let BlockKind::Text(look) = &data.kind else { return false };
    matches!(look.style, TextStyle::H1 | TextStyle::H2 | TextStyle::H3 | TextStyle::H4)
}

/// The name in a text that ends with `^name`.
pub(super) fn block_name(text: &str) -> Option<&str> {
    let last = text.trim_end().rsplit(char::is_whitespace).next()?;
    let name = last.strip_prefix('^')?;
    let is_valid =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_valid.then_some(name)
}

/// The slug of a heading, by GitHub's rules: lowercased, without punctuation, hyphens for spaces.
fn slug(words: &str) -> String {
    let mut slug = String::with_capacity(words.len());
    for character in words.trim().chars().flat_map(char::to_lowercase) {
        if character.is_whitespace() {
            slug.push('-');
        } else if character.is_alphanumeric()
            || character == '-'
            || character == '_'
            || is_combining_mark(character)
        {
            slug.push(character);
        }
    }
    slug
}

/// The words of a heading: links of Obsidian have blanks for its punctuation.
fn words(heading: &str) -> String {
    let is_other = |character: char| !(character.is_alphanumeric() || is_combining_mark(character));
    let words = heading.split(is_other).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Combining marks of scripts in wide use: they belong to words, unlike punctuation.
fn is_combining_mark(character: char) -> bool {
    let dandas = 0x0964..=0x0965;
    let code = u32::from(character);
    matches!(code, 0x0300..=0x036F | 0x0591..=0x05C7 | 0x0610..=0x061A | 0x064B..=0x065F)
        || matches!(code, 0x0900..=0x0DFF | 0x0E31..=0x0E4E | 0x3099..=0x309A)
            && !dandas.contains(&code)
}

/// Numbers repeated slugs: `tests`, `tests-1`, `tests-2`.
#[derive(Debug, Default)]
struct UniqueSlugs {
    /// Occurrences by slug.
    counts: HashMap<String, usize>,
}

impl UniqueSlugs {
    fn claim(&mut self, slug: &str) -> String {
        let mut name = slug.to_owned();
        // A heading may itself end with `-1`, so a numbered slug can collide as well.
        while self.counts.contains_key(&name) {
            let count = self.counts.entry(slug.to_owned()).or_default();
            *count += 1;
            name = format!("{slug}-{count}");
        }
        self.counts.insert(name.clone(), 0);
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_relative_links_are_taken() {
        for url in
            ["https://a.b/c", "mailto:x@y", "block://X", "//host/x", "", "x.md?raw=1", "%FF.md"]
        {
            assert_eq!(RelativeUrl::parse(url), None, "{url}");
        }
        let reference = |path: &str, anchor: Option<&str>| {
            Some(RelativeUrl { path: path.to_owned(), anchor: anchor.map(ToOwned::to_owned) })
        };
        assert_eq!(RelativeUrl::parse("../a%20b.md#c%20d"), reference("../a b.md", Some("c d")));
        assert_eq!(RelativeUrl::parse("#only"), reference("", Some("only")));
        assert_eq!(RelativeUrl::parse("笔记.md#"), reference("笔记.md", None));
        assert_eq!(RelativeUrl::parse("100%.md"), reference("100%.md", None));
        assert_eq!(RelativeUrl::parse("a/b:c.md"), reference("a/b:c.md", None));
    }

    #[test]
    fn what_is_encoded_is_read_back() {
        for text in
            ["a b (c) [d].md", "100%2F?.md", "笔记 \u{3000}x", "it's_a*b~c`d`.md", "<a>&amp;\"|\\"]
        {
            let encoded = encode(text);
            assert!(
                !encoded.contains([' ', '(', ')', '<', '>', '[', ']', '|', '\\', '&', '*']),
                "{encoded}"
            );
            assert_eq!(decode(&encoded).as_deref(), Some(text));
        }
    }

    #[test]
    fn paths_lead_from_file_to_file() {
        for (from, to, relative) in [
            ("a.md", "b.md", "b.md"),
            ("a.md", "x/b.md", "x/b.md"),
            ("x/a.md", "b.md", "../b.md"),
            ("x/y/a.md", "x/z/b.md", "../z/b.md"),
            ("x/a.md", "x/a.md", "a.md"),
            ("x/a.md", "x/x/a.md", "x/a.md"),
            ("x/x/a.md", "x/a.md", "../a.md"),
        ] {
            assert_eq!(relative_path(from, to), relative);
            assert_eq!(join(directory(from), relative).as_deref(), Some(to));
        }
        assert_eq!(join("x", "../../b.md"), None);
        assert_eq!(join("x", "/b.md").as_deref(), Some("b.md"));
    }

    #[test]
    fn slugs_are_githubs() {
        for (words, expected) in [
            ("Hello, World!", "hello-world"),
            ("  What's new in 1.2? ", "whats-new-in-12"),
            ("a - b", "a---b"),
            ("flags.linked_x", "flagslinked_x"),
            ("快速 开始", "快速-开始"),
            ("ÜBER", "über"),
            ("हिन्दी", "हिन्दी"),
            ("!!!", ""),
        ] {
            assert_eq!(slug(words), expected);
        }
    }

    #[test]
    fn repeated_slugs_are_numbered() {
        let mut slugs = UniqueSlugs::default();
        let given = ["a", "a", "a-1", "a", "a-1"].map(|slug| slugs.claim(slug));
        assert_eq!(given, ["a", "a-1", "a-1-1", "a-2", "a-1-2"]);
    }

    fn text(markdown: &str, style: TextStyle) -> BlockData {
        let mut data = BlockData::text(markdown);
        if let BlockKind::Text(look) = &mut data.kind {
            look.style = style;
        }
        data
    }

    #[test]
    fn every_block_has_an_anchor_that_finds_it() {
        let blocks = [
            text("Intro", TextStyle::H1),
            text("words", TextStyle::Body),
            text("*Intro*", TextStyle::H2),
            text("!!!", TextStyle::H2),
            text("named ^key-insight", TextStyle::Body),
            text("a table, say", TextStyle::Body),
            text("^tab", TextStyle::Body),
            text("misleading ^2", TextStyle::Body),
        ];
        let id =
            |number: usize| BlockId::from_bytes([u8::try_from(number).expect("small") + 1; 16]);
        let anchors =
            Anchors::of(blocks.iter().enumerate().map(|(number, data)| (id(number), data)));
        let names: Vec<_> = (0..blocks.len()).map(|number| anchors.name(id(number))).collect();
        let expected = ["intro", "", "intro-1", "^4", "^key-insight", "^tab", "^7", "^2"];
        for (number, name) in names.iter().enumerate() {
            assert_eq!(name.as_deref().unwrap_or_default(), expected[number]);
            if let Some(name) = name {
                assert_eq!(anchors.find(name), Some(id(number)));
            }
        }
        assert_eq!(anchors.find("Intro"), Some(id(0)));
        assert_eq!(anchors.find("Other#Intro"), Some(id(0)));
        assert_eq!(anchors.find("^key-insight"), Some(id(4)));
        assert_eq!(anchors.find("^tab"), Some(id(5)));
        assert_eq!(anchors.find("^2"), Some(id(7)));
        assert_eq!(anchors.find("^9"), None);
        assert_eq!(anchors.find("nowhere"), None);
    }
}
