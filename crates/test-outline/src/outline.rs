//! Text language for block trees: one line per block, two spaces per level.

use std::collections::BTreeMap;
use std::fmt;

use leafbase_model::{Block, BlockData, BlockDraft, BlockId, BlockKind, Content, Location};

use crate::attributes::{self, Change};
use crate::words::{Word, quote, words};

/// An error in an outline, with its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line, from 1.
    pub line: usize,
    /// Description of the error.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}

/// Blocks named by labels such as `#p`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels(BTreeMap<String, BlockId>);

impl Labels {
    /// Binds `label`, without `#`, to a block.
    pub fn bind(&mut self, label: impl Into<String>, block: BlockId) {
        self.0.insert(label.into(), block);
    }

    /// The block with this label.
    ///
    /// # Panics
    /// If the label is unknown.
    pub fn id(&self, label: &str) -> BlockId {
        *self.0.get(label).unwrap_or_else(|| panic!("no block has the label #{label}"))
    }

    /// The label of this block.
    pub fn of(&self, block: BlockId) -> Option<&str> {
        self.0.iter().find_map(|(label, id)| (*id == block).then_some(label.as_str()))
    }

    /// The labels that occur in `outline`.
    pub fn used_in(&self, outline: &[Outline]) -> Self {
        let used = |label: &str| {
            outline.iter().any(|top| top.walk().any(|node| node.label.as_deref() == Some(label)))
        };
        Self(
            self.0
                .iter()
                .filter(|(label, _)| used(label))
                .map(|(label, id)| (label.clone(), *id))
                .collect(),
        )
    }
}

/// A block of an outline with its children.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// Data of the block.
    pub data: BlockData,
    /// Its label without `#`.
    pub label: Option<String>,
    /// Its `rev`, if given.
    pub rev: Option<u64>,
    /// Location of its document, if given: `in=trash`, `in=templates`, `in=daily_notes`.
    pub location: Option<Location>,
    /// Preview of children that were cut off.
    pub preview: Option<String>,
    /// Its children.
    pub children: Vec<Outline>,
}

impl Outline {
    /// Parses an outline. The first line has level 0. If no line break precedes it, the second line
    /// has level 1 at any indentation, so that raw strings in tests can be aligned. Otherwise the
    /// least indentation is level 0. Empty lines are ignored.
    ///
    /// # Errors
    /// The first invalid line.
    pub fn parse(text: &str) -> Result<Vec<Self>, ParseError> {
        let lines = || text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let base = base(text, lines().map(|(_, line)| line));
        // Stack of open child lists, each with its parent.
        let mut open: Vec<Self> = Vec::new();
        let mut done = Vec::new();
        for (number, line) in lines() {
            let error = |message: String| ParseError { line: number + 1, message };
            let level = level(line, number, base).map_err(error)?;
            let block = Self::parse_line(line).map_err(error)?;
            if level > open.len() {
                return Err(error(format!(
                    "it stands {} levels below the line before it",
                    level + 1 - open.len()
                )));
            }
            close(&mut open, &mut done, level);
            open.push(block);
        }
        close(&mut open, &mut done, 0);
        Ok(done)
    }

    fn parse_line(line: &str) -> Result<Self, String> {
        let mut words = words(line)?.into_iter();
        let Some(Word::Bare(block_type)) = words.next() else {
            return Err("expected a block type".to_owned());
        };
        let block_type =
            block_type.parse().map_err(|error: leafbase_model::Error| error.to_string())?;
        let mut given = Change::default();
        for word in words {
            given.take(word)?;
        }
        let mut data = BlockData::new(BlockKind::empty(block_type));
        given.fields.apply(&mut data).map_err(|error| error.to_string())?;
        match &mut data.kind {
            BlockKind::CollectionItem { properties } => *properties = given.properties,
            _ if given.properties.is_empty() => {}
            _ => return Err(format!("a block of type {block_type} has no properties")),
        }
        if given.labels.len() > 1 {
            return Err(format!("a second label #{}", given.labels[1]));
        }
        let location = given.location.as_deref().map(location).transpose()?;
        let (label, rev, preview) = (given.labels.pop(), given.rev, given.preview);
        Ok(Self { data, label, rev, location, preview, children: Vec::new() })
    }

    /// Prints outlines, one line per block, in the form that [`Self::parse`] reads.
    pub fn print(outlines: &[Self]) -> String {
        let (mut text, mut waiting) = (String::new(), Vec::new());
        waiting.extend(outlines.iter().rev().map(|top| (0, top)));
        while let Some((level, block)) = waiting.pop() {
            text += &"  ".repeat(level);
            text += &block.print_line();
            text.push('\n');
            waiting.extend(block.children.iter().rev().map(|child| (level + 1, child)));
        }
        text
    }

    fn print_line(&self) -> String {
        let mut words = vec![attributes::print(&self.data)];
        words.extend(self.location.map(|location| format!("in={}", location_name(location))));
        words.extend(self.rev.map(|rev| format!("rev={rev}")));
        words.extend(self.preview.as_ref().map(|preview| format!("preview={}", quote(preview))));
        words.extend(self.label.as_ref().map(|label| format!("#{label}")));
        words.join(" ")
    }

    /// The block and its descendants in reading order.
    pub fn walk(&self) -> impl Iterator<Item = &Self> {
        let mut waiting = vec![self];
        std::iter::from_fn(move || {
            let block = waiting.pop()?;
            waiting.extend(block.children.iter().rev());
            Some(block)
        })
    }

    /// A block without children and label.
    pub fn of_data(data: BlockData) -> Self {
        Self { data, label: None, rev: None, location: None, preview: None, children: Vec::new() }
    }

    /// The draft of this block.
    pub fn draft(&self) -> BlockDraft {
        BlockDraft::new(self.data.clone())
            .with_content(self.children.iter().map(Self::draft).collect())
    }

    /// The outline of a draft.
    pub fn of_draft(draft: &BlockDraft) -> Self {
        let children = draft.content.iter().map(Self::of_draft).collect();
        Self { children, ..Self::of_data(draft.data.clone()) }
    }

    /// The outline of a fetched block with the known labels.
    pub fn of_block(block: &Block, labels: &Labels) -> Self {
        let preview = match &block.content {
            Content::Preview(text) => Some(text.clone()),
            Content::None | Content::Blocks(_) => None,
        };
        let label = labels.of(block.id).map(str::to_owned);
        let children = block.children().iter().map(|child| Self::of_block(child, labels)).collect();
        Self { label, preview, children, ..Self::of_data(block.data.clone()) }
    }
}

impl Outline {
    /// Parses an outline as drafts, for valid outlines in tests.
    ///
    /// # Panics
    /// If the outline is invalid.
    pub fn drafts(text: &str) -> Vec<BlockDraft> {
        let outline = Self::parse(text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
        outline.iter().map(Self::draft).collect()
    }
}

/// Appends finished blocks to their parents until `length` blocks are open.
fn close(open: &mut Vec<Outline>, done: &mut Vec<Outline>, length: usize) {
    while open.len() > length {
        let Some(block) = open.pop() else { return };
        open.last_mut().map_or(&mut *done, |parent| &mut parent.children).push(block);
    }
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Indentation of level 0; only empty lines may have less.
fn base<'a>(text: &str, mut lines: impl Iterator<Item = &'a str>) -> usize {
    if text.starts_with('\n') {
        return lines.map(indentation).min().unwrap_or(0);
    }
    match lines.nth(1).map(indentation) {
        Some(second @ 1..) => second.saturating_sub(2),
        _ => 0,
    }
}

fn level(line: &str, number: usize, base: usize) -> Result<usize, String> {
    let found = indentation(line);
    if number == 0 || found == 0 {
        return Ok(0);
    }
    match found.checked_sub(base) {
        Some(inner) if inner % 2 == 0 => Ok(inner / 2),
        _ => Err(format!("expected two spaces for each level after the first {base}, got {found}")),
    }
}

fn location(name: &str) -> Result<Location, String> {
    match name {
        "unsorted" => Ok(Location::Unsorted),
        "templates" => Ok(Location::Templates),
        "daily_notes" => Ok(Location::DailyNotes),
        "trash" => Ok(Location::Trash),
        "inbox" => Ok(Location::Inbox),
        folder => {
            folder.parse().map(Location::Folder).map_err(|_| format!("unknown location {folder:?}"))
        }
    }
}

fn location_name(location: Location) -> String {
    match location {
        Location::Unsorted => "unsorted".to_owned(),
        Location::Templates => "templates".to_owned(),
        Location::DailyNotes => "daily_notes".to_owned(),
        Location::Trash => "trash".to_owned(),
        Location::Inbox => "inbox".to_owned(),
        Location::Folder(folder) => folder.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERYTHING: &str = r#"
page "Trip" in=trash
  text "a \"b\"" style=h1 align=center font=mono card=large indent=2 list=bullet color=#ff0000 decorations=callout,quote #a
  text "socks" list=task task=done schedule=2026-03-01 deadline=2026-03-02 completed=2026-03-01T10:00:00.000Z
  page "Empty" rev=3 preview="x y"
  collection "Books"
    collectionItem "One" prop:due=2026-03-01 prop:pages=12 prop:read=true prop:tags=["a","b"] prop:title="x"
      text "inside"
  image url="u" alt="v w" size=fill width=fullWidth
  video url="u"
  file url="u" name="n" block=card
  drawing url="u"
  whiteboard
  table "| a |\n| --- |"
  code code="let x = 1;\n\ty()" lang=rust tag="rust,ignore"
  richUrl url="u" title="t" description="d" layout=small
  line line=strong
"#;

    #[test]
    fn every_field_is_printed_as_it_is_read() {
        let outline = Outline::parse(EVERYTHING).unwrap();
        assert_eq!(Outline::print(&outline), EVERYTHING.trim_start());
    }

    #[test]
    fn a_raw_string_may_be_aligned() {
        let aligned = Outline::parse(
            r#"page "A"
                 text "B"
                   text "C"
               page "D""#,
        );
        let plain = "page \"A\"\n  text \"B\"\n    text \"C\"\npage \"D\"\n";
        assert_eq!(Outline::print(&aligned.unwrap()), plain);
        assert_eq!(Outline::print(&Outline::parse(plain).unwrap()), plain);
        assert_eq!(
            Outline::print(&Outline::parse("\n    page \"A\"\n\n    page \"B\"").unwrap()),
            "page \"A\"\npage \"B\"\n"
        );
    }

    #[test]
    fn an_error_names_the_line() {
        let error = |text| Outline::parse(text).unwrap_err().to_string();
        assert_eq!(error("page \"A\"\n  text colour=x"), "line 2: colour: unknown attribute");
        assert_eq!(
            error("page \"A\"\n  text \"B\"\n      text \"C\""),
            "line 3: it stands 2 levels below the line before it"
        );
        assert_eq!(
            error("page \"A\"\n  text \"B\"\n   text \"C\""),
            "line 3: expected two spaces for each level after the first 0, got 3"
        );
        assert!(error("\n\npeg \"A\"").starts_with("line 3: unknown block type \"peg\""));
        assert_eq!(error("line url=\"x\""), "line 1: url: a block of type line has no field url");
        assert_eq!(error("line #a #b"), "line 1: a second label #b");
        assert_eq!(error("line \"a\" \"b\""), "line 1: a second text \"b\"");
    }

    #[test]
    fn drafts_come_and_go() {
        let text = "page \"A\"\n  text \"B\" indent=1\n";
        let drafts = Outline::drafts(text);
        assert_eq!(Outline::print(&drafts.iter().map(Outline::of_draft).collect::<Vec<_>>()), text);
    }
}
