//! Generated documents: the same seed gives the same blocks, words and IDs.

use std::collections::HashMap;

/// A document or block ID: a time and chance, as in a ULID, so that IDs made together lie together.
pub type Id = [u8; 16];

/// Text bytes of an ordinary block.
pub const TEXT_BYTES: usize = 63;
const VOCABULARY: usize = 30_000;

/// A small generator of uniform numbers (splitmix64).
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.draw() % bound as u64) as usize
    }

    pub fn fraction(&mut self) -> f64 {
        (self.draw() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// Made-up words whose frequencies follow Zipf's law.
#[derive(Clone, Debug)]
pub struct Words {
    words: Vec<String>,
    cumulative: Vec<f64>,
}

impl Words {
    pub fn new(rng: &mut Rng, count: usize) -> Self {
        const START: [&str; 20] = [
            "b", "br", "c", "d", "f", "g", "h", "k", "l", "m", "n", "p", "pr", "r", "s", "st", "t",
            "tr", "v", "w",
        ];
        const MIDDLE: [&str; 8] = ["a", "e", "i", "o", "u", "ai", "ea", "ou"];
        const END: [&str; 8] = ["", "n", "r", "s", "t", "l", "nd", "ck"];
        let mut total = 0.0;
        let mut cumulative = Vec::with_capacity(count);
        let words = (0..count)
            .map(|rank| {
                total += 1.0 / (rank + 1) as f64;
                cumulative.push(total);
                let syllables = 1 + rng.below(3);
                (0..syllables)
                    .flat_map(|_| [*rng.pick(&START), *rng.pick(&MIDDLE), *rng.pick(&END)])
                    .collect()
            })
            .collect();
        Self { words, cumulative }
    }

    /// Changes the words, the most frequent one first.
    pub fn change(&mut self, change: impl FnMut((usize, &mut String))) {
        self.words.iter_mut().enumerate().for_each(change);
    }

    pub fn word(&self, rng: &mut Rng) -> &str {
        let at = rng.fraction() * self.cumulative.last().copied().unwrap_or_default();
        let index = self.cumulative.partition_point(|&end| end < at);
        &self.words[index.min(self.words.len() - 1)]
    }

    /// Words up to exactly so many bytes.
    pub fn text(&self, rng: &mut Rng, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 16);
        while text.len() < bytes {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(self.word(rng));
        }
        text.truncate(bytes);
        text
    }
}

/// What a block is, as far as layouts care: only pages have children.
pub const TEXT: u8 = 0;
pub const PAGE: u8 = 1;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    pub id: Id,
    pub rev: u32,
    pub kind: u8,
    pub markdown: String,
    pub indentation: u8,
    pub list_style: u8,
    pub created: u64,
    pub modified: u64,
}

/// A block of a tree in reading order; children of the document have depth 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub depth: u32,
    pub block: Block,
}

pub type Tree = Vec<Node>;

#[derive(Clone, Debug)]
pub struct Document {
    pub id: Id,
    pub title: String,
    pub created: u64,
    pub tree: Tree,
}

impl Document {
    /// Each block with its parent (the document's ID at the top), in reading order.
    pub fn with_parents(&self) -> impl Iterator<Item = (Id, &Block)> {
        let mut path: Vec<Id> = Vec::new();
        self.tree.iter().map(move |node| {
            path.truncate(node.depth as usize);
            let parent = path.last().copied().unwrap_or(self.id);
            path.push(node.block.id);
            (parent, &node.block)
        })
    }

    /// Parents with their children, parents sorted by ID: the order of a scan by (document, parent,
    /// order).
    pub fn groups(&self) -> Vec<(Id, Vec<&Block>)> {
        let mut by_parent: HashMap<Id, Vec<&Block>> = HashMap::new();
        for (parent, block) in self.with_parents() {
            by_parent.entry(parent).or_default().push(block);
        }
        let mut groups: Vec<_> = by_parent.into_iter().collect();
        groups.sort_unstable_by_key(|(parent, _)| *parent);
        groups
    }
}

/// Makes documents and blocks. Its clock moves one millisecond with each thing made.
#[derive(Clone, Debug)]
pub struct Generator {
    pub rng: Rng,
    pub words: Words,
    clock: u64,
}

impl Generator {
    pub fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let words = Words::new(&mut rng, VOCABULARY);
        Self { rng, words, clock: 1_700_000_000_000 }
    }

    pub fn now(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    pub fn id(&mut self) -> Id {
        let low = self.rng.draw();
        let mut id = [0; 16];
        id[..6].copy_from_slice(&self.clock.to_be_bytes()[2..]);
        id[6..8].copy_from_slice(&(self.rng.draw() as u16).to_be_bytes());
        id[8..].copy_from_slice(&low.to_be_bytes());
        id
    }

    pub fn block(&mut self, kind: u8) -> Block {
        self.block_of(kind, TEXT_BYTES)
    }

    pub fn block_of(&mut self, kind: u8, bytes: usize) -> Block {
        let now = self.now();
        let list_style = if self.rng.below(4) == 0 { 1 } else { 0 };
        Block {
            id: self.id(),
            rev: 1,
            kind,
            markdown: self.words.text(&mut self.rng, bytes),
            indentation: if list_style == 0 { 0 } else { self.rng.below(3) as u8 },
            list_style,
            created: now,
            modified: now,
        }
    }

    /// A document: first `flat` blocks, then `pages` pages of `each` blocks.
    pub fn document(&mut self, flat: usize, pages: usize, each: usize) -> Document {
        let created = self.now();
        let id = self.id();
        let title = self.words.text(&mut self.rng, 24);
        let mut tree = Vec::with_capacity(flat + pages * (each + 1));
        for _ in 0..flat {
            tree.push(Node { depth: 0, block: self.block(TEXT) });
        }
        for _ in 0..pages {
            tree.push(Node { depth: 0, block: self.block_of(PAGE, 24) });
            for _ in 0..each {
                tree.push(Node { depth: 1, block: self.block(TEXT) });
            }
        }
        Document { id, title, created, tree }
    }
}
