//! The documents, made one at a time: the same for each peer, and never all in memory.

use benches::workload::{Id, Rng, TEXT_BYTES, Words};

/// Blocks of a document without its root; only the first one has more.
pub const BLOCKS: usize = 99;
/// The words that are asked for, by their rank.
const PLANTED: [(usize, &str); 3] = [(40, COMMON), (60, "lantern"), (16_000, RARE)];
pub const COMMON: &str = "harvest";
pub const RARE: &str = "zephyr";
const MILLIS: u64 = 1_700_000_000_000;

pub struct Plan {
    words: Words,
    pub documents: usize,
    /// Blocks of the first document without its root: with it, a fiftieth of all.
    pub large: usize,
}

pub struct Document {
    pub title: String,
    pub blocks: Vec<String>,
}

impl Plan {
    pub fn new(blocks: usize) -> Self {
        let mut words = Words::new(&mut Rng::new(11), 30_000);
        words.change(|(rank, word)| {
            if let Some((_, planted)) = PLANTED.iter().find(|(at, _)| *at == rank) {
                (*planted).clone_into(word);
            } else if PLANTED.iter().any(|(_, planted)| word.starts_with(planted)) {
                word.insert(0, 'x');
            }
        });
        let large = blocks / 50 - 1;
        Self { words, documents: 1 + (blocks - large) / (BLOCKS + 1), large }
    }

    pub const fn blocks_of(&self, document: usize) -> usize {
        if document == 0 { self.large } else { BLOCKS }
    }

    pub fn document(&self, number: usize) -> Document {
        let mut rng = Rng::new(1_000 + number as u64);
        let mut text = |bytes: usize| {
            let mut text = String::with_capacity(bytes + 16);
            while text.len() < bytes {
                text.push_str(if text.is_empty() { "" } else { " " });
                text.push_str(self.words.word(&mut rng));
            }
            text
        };
        Document {
            title: format!("{} {number}", text(18)),
            blocks: (0..self.blocks_of(number)).map(|_| text(TEXT_BYTES - 6)).collect(),
        }
    }

    /// The ID of a document, which is that of its root.
    pub const fn document_id(&self, number: usize) -> Id {
        // In the order in which they are made: the space, then each root and its blocks.
        let before = if number == 0 { 0 } else { self.large + 1 + (number - 1) * (BLOCKS + 1) };
        id(before as u64 + 2)
    }

    pub fn block_id(&self, document: usize, block: usize) -> Id {
        let [.., a, b, c, d, e, f, g, h] = self.document_id(document);
        id(u64::from_be_bytes([a, b, c, d, e, f, g, h]) + 1 + block as u64)
    }
}

/// A word that no text has.
pub fn unheard(number: usize) -> String {
    const LETTERS: &[u8; 16] = b"bcdfghjkmnpqrtvw";
    let letter = |place: u32| char::from(LETTERS[number >> (4 * place) & 15]);
    format!("qzx{}", (0..4).rev().map(letter).collect::<String>())
}

/// The ID that is made as the one of this number.
pub const fn id(number: u64) -> Id {
    ((MILLIS as u128) << 80 | number as u128).to_be_bytes()
}

/// The time at which all is made.
pub const fn made_at() -> i64 {
    MILLIS as i64
}
