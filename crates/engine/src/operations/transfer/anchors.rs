//! What a link can point to within a document: headings by the words they say, other blocks by
//! their number.

use std::collections::HashMap;

use leafbase_markdown as markdown;
use leafbase_model::{BlockData, BlockId, BlockKind, Subtrees, TextStyle};

/// The blocks of a document by the anchors that links to them use.
#[derive(Debug, Default)]
pub(super) struct Anchors {
    headings: HashMap<String, BlockId>,
    heading_names: HashMap<BlockId, String>,
    /// Blocks that their writer named with `^name` at the end of the text, or on a line below.
    named: HashMap<String, BlockId>,
    order: Vec<BlockId>,
    numbers: HashMap<BlockId, usize>,
}

impl Anchors {
    /// The anchors of a whole document. Its root needs none.
    pub(super) fn of_document(document: &Subtrees) -> Self {
        Self::of(document.0.iter().skip(1).map(|node| (node.block.id, &node.block.data)))
    }

    /// The anchors of a document's blocks in reading order, without its root.
    fn of<'a>(blocks: impl IntoIterator<Item = (BlockId, &'a BlockData)>) -> Self {
        let mut anchors = Self::default();
        let mut slugs = Slugs::default();
        for (id, data) in blocks {
            if let (BlockKind::Text(look), Some(name)) = (&data.kind, block_name(&data.markdown)) {
                let alone =
                    data.markdown.trim().len() == name.len() + 1 && look.style == TextStyle::Body;
                let named = if alone { anchors.order.last().copied() } else { None };
                anchors.named.entry(name.to_owned()).or_insert(named.unwrap_or(id));
            }
            anchors.order.push(id);
            anchors.numbers.insert(id, anchors.order.len());
            if is_heading(data) {
                let slug = slug(&markdown::plain_text(&data.markdown));
                if !slug.is_empty() {
                    let slug = slugs.next(&slug);
                    anchors.heading_names.insert(id, slug.clone());
                    anchors.headings.insert(slug, id);
                }
            }
        }
        anchors
    }

    /// The block that `anchor` names: a heading by its words or its slug, of a path of headings the
    /// last one, `^name`, or `^n` for the n-th block.
    pub(super) fn find(&self, anchor: &str) -> Option<BlockId> {
        if let Some(name) = anchor.strip_prefix('^') {
            let numbered = || self.order.get(name.parse::<usize>().ok()?.checked_sub(1)?);
            return self.named.get(name).or_else(numbered).copied();
        }
        let heading = |words: &str| self.headings.get(&slug(words)).copied();
        heading(anchor).or_else(|| heading(anchor.rsplit('#').next()?))
    }

    /// The anchor that [`Self::find`] takes for `block`.
    pub(super) fn name(&self, block: BlockId) -> Option<String> {
        if let Some(slug) = self.heading_names.get(&block) {
            return Some(slug.clone());
        }
        let name = self.numbers.get(&block)?.to_string();
        // A writer's own name of these digits would be found first.
        self.named.get(&name).is_none_or(|named| *named == block).then(|| format!("^{name}"))
    }
}

fn is_heading(data: &BlockData) -> bool {
    let BlockKind::Text(look) = &data.kind else { return false };
    matches!(look.style, TextStyle::H1 | TextStyle::H2 | TextStyle::H3 | TextStyle::H4)
}

/// The name at the end of a text that ends with `^name`.
fn block_name(text: &str) -> Option<&str> {
    let last = text.trim_end().rsplit(char::is_whitespace).next()?;
    let name = last.strip_prefix('^')?;
    let valid =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    valid.then_some(name)
}

/// A heading's words as a URL's fragment, in the way of GitHub: lower case, no punctuation, hyphens
/// for spaces.
pub(super) fn slug(words: &str) -> String {
    let mut slug = String::with_capacity(words.len());
    for letter in words.trim().chars().flat_map(char::to_lowercase) {
        if letter.is_whitespace() {
            slug.push('-');
        } else if letter.is_alphanumeric() || letter == '-' || letter == '_' || is_mark(letter) {
            slug.push(letter);
        }
    }
    slug
}

/// Combining marks that scripts in wide use write words with: parts of letters, and no punctuation.
fn is_mark(letter: char) -> bool {
    let dandas = 0x0964..=0x0965;
    let mark = u32::from(letter);
    matches!(mark, 0x0300..=0x036F | 0x0591..=0x05C7 | 0x0610..=0x061A | 0x064B..=0x065F)
        || matches!(mark, 0x0900..=0x0DFF | 0x0E31..=0x0E4E | 0x3099..=0x309A)
            && !dandas.contains(&mark)
}

/// Numbers the slugs that come up again: `tests`, `tests-1`, `tests-2`.
#[derive(Debug, Default)]
struct Slugs {
    /// How often each came up.
    seen: HashMap<String, usize>,
}

impl Slugs {
    fn next(&mut self, slug: &str) -> String {
        let mut name = slug.to_owned();
        while self.seen.contains_key(&name) {
            let count = self.seen.entry(slug.to_owned()).or_default();
            *count += 1;
            name = format!("{slug}-{count}");
        }
        self.seen.insert(name.clone(), 0);
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut slugs = Slugs::default();
        let given = ["a", "a", "a-1", "a", "a-1"].map(|slug| slugs.next(slug));
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
        let expected = ["intro", "", "intro-1", "^4", "^5", "^6", "^7", "^8"];
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
