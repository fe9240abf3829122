//! What an application keeps of a block, the edits it makes, and what every peer does with them.

use benches::workload::{self, Id};
use leafbase::{DeleteBlocks, InsertBlocks, MoveBlocks, UpdateBlocks};
use serde::{Deserialize, Serialize};
use std::path::Path;

pub const TEXT: u8 = 0;
pub const PAGE: u8 = 1;

/// A block with every field that Leafbase gives; numbers stand for the words of its lists of
/// values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Block {
    #[serde(with = "bytes")]
    pub id: Id,
    pub rev: u64,
    pub kind: u8,
    pub markdown: String,
    pub indentation: u8,
    pub list_style: u8,
    pub style: u8,
    pub color: Option<u32>,
    pub task: Option<Task>,
    /// What few blocks have, and what belongs to a type, as JSON.
    pub attributes: Option<Box<str>>,
    pub created: i64,
    pub created_by: Option<Box<str>>,
    pub modified: i64,
    pub modified_by: Option<Box<str>>,
    #[serde(skip)]
    pub children: Vec<Block>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub state: u8,
    pub scheduled: Option<i32>,
    pub deadline: Option<i32>,
    pub completed: Option<i64>,
    pub canceled: Option<i64>,
}

#[derive(Clone, Debug, Default)]
pub struct Document {
    pub id: Id,
    pub title: String,
    pub blocks: Vec<Block>,
}

/// A document as markdown, and the IDs that its blocks get.
#[derive(Clone, Debug)]
pub struct File {
    pub id: Id,
    pub title: String,
    pub text: String,
    pub ids: Vec<Id>,
}

#[derive(Clone, Copy, Debug)]
pub enum Position {
    Start { document: Id, parent: Id },
    End { document: Id, parent: Id },
    After(Id),
}

#[derive(Clone, Debug)]
pub enum Edit {
    Insert(Vec<Block>, Position),
    Update(Id, String),
    Move(Vec<Id>, Position),
    Delete(Vec<Id>),
    /// Several edits in one transaction.
    Batch(Vec<Edit>),
    /// Documents into a new space.
    Import(Vec<Document>),
    ImportMarkdown(Vec<File>),
}

/// An edit in the form that a peer takes it in, made before the time is taken.
#[derive(Clone)]
pub enum Ready {
    /// The edit as it is.
    Same,
    Insert(InsertBlocks),
    Update(UpdateBlocks),
    Move(MoveBlocks),
    Delete(DeleteBlocks),
    Batch(Vec<Ready>),
    Import(Vec<leafbase::BlockDraft>),
}

/// A tree as a peer gives it to its user.
pub enum Fetched {
    Leafbase(leafbase::Block),
    Plain(Block),
}

pub trait Peer {
    fn ready(&self, _edit: &Edit) -> Ready {
        Ready::Same
    }
    fn apply(&mut self, edit: &Edit, ready: Ready, now: i64);
    /// A document: its title and all its blocks.
    fn fetch(&mut self, document: Id) -> Fetched;
    /// A block alone.
    fn block(&mut self, id: Id) -> Fetched;
    fn document_of(&mut self, id: Id) -> Id;
    /// The titles of the documents that changed last, the latest first.
    #[allow(dead_code, reason = "the bench `scale` has the lists, beside `backends`")]
    fn latest(&mut self, count: usize) -> Vec<String>;
    /// Everything survives a loss of power, and stands where it is read from after the next
    /// opening.
    fn flush(&mut self);
    /// Gives room that is not used back to the file system.
    fn compact(&mut self);
}

/// When a write counts as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It survives a loss of power.
    Durable,
    /// It is not synced.
    Relaxed,
    /// As `Relaxed`, and the file is read without a map: for an opening that finds nothing in
    /// memory.
    Cold,
}

pub type Open = fn(&Path, Mode) -> Box<dyn Peer>;

impl Block {
    pub fn all(blocks: &[Self]) -> Vec<(&Self, usize)> {
        rows([0; 16], blocks).into_iter().map(|(_, at, block)| (block, at)).collect()
    }
}

/// Blocks in reading order, each with its parent and its place among its siblings.
pub fn rows(parent: Id, blocks: &[Block]) -> Vec<(Id, usize, &Block)> {
    let mut found = Vec::with_capacity(blocks.len());
    let mut open = vec![(parent, blocks.iter().enumerate())];
    while let Some((parent, rest)) = open.last_mut() {
        let Some((at, block)) = rest.next() else {
            open.pop();
            continue;
        };
        found.push((*parent, at, block));
        if !block.children.is_empty() {
            open.push((block.id, block.children.iter().enumerate()));
        }
    }
    found
}

/// The generated block, with a colour, a heading or a task here and there.
pub fn block(from: &workload::Block) -> Block {
    let chance = from.id[15];
    let mut block = Block {
        id: from.id,
        rev: 1,
        kind: from.kind,
        markdown: text(&from.markdown),
        indentation: from.indentation,
        list_style: from.list_style,
        color: (chance % 32 == 1).then_some(0x33_66_99),
        ..Block::default()
    };
    if from.list_style == 0 && from.kind == TEXT {
        // Headings of the first three levels, else body.
        block.style = if chance % 16 < 3 { STYLE_H1 + chance % 16 } else { STYLE_BODY };
    } else {
        block.style = STYLE_BODY;
    }
    if from.list_style != 0 && chance.is_multiple_of(4) {
        block.list_style = LIST_TASK;
        block.task = Some(Task { state: chance / 4 % 2, ..Task::default() });
    }
    block
}

/// The words without a space at the end, which markdown would not keep.
pub fn text(words: &str) -> String {
    let mut text = words.to_owned();
    if text.ends_with(' ') {
        text.pop();
        text.push('x');
    }
    text
}

pub const STYLE_H1: u8 = 2;
pub const STYLE_BODY: u8 = 7;
pub const LIST_TASK: u8 = 4;
pub const TASK_DONE: u8 = 1;

pub fn document(from: &workload::Document) -> Document {
    let mut blocks: Vec<Block> = Vec::new();
    for node in &from.tree {
        let made = block(&node.block);
        match blocks.last_mut() {
            Some(page) if node.depth > 0 => page.children.push(made),
            _ => blocks.push(made),
        }
    }
    Document { id: from.id, title: text(&from.title), blocks }
}

mod bytes {
    use serde::de::{Error, Visitor};
    use serde::{Deserializer, Serializer};
    use std::fmt;

    pub fn serialize<S: Serializer>(id: &[u8; 16], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(id)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<[u8; 16], D::Error> {
        struct Id;
        impl Visitor<'_> for Id {
            type Value = [u8; 16];
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an ID")
            }
            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                bytes.try_into().map_err(E::custom)
            }
        }
        from.deserialize_bytes(Id)
    }
}
