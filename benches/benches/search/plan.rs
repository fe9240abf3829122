//! What is searched, and what is asked: documents of words by Zipf's law, the same for everybody.

use benches::workload::{Rng, TEXT_BYTES, Words};

/// Blocks of a document, its title aside.
pub const BLOCKS: usize = 40;
/// Blocks of the document that is searched by itself.
pub const LARGE: usize = 10_000;
/// Titles and blocks are changed by a number that stands for the document.
pub type Number = usize;

/// The most frequent words.
const FREQUENT: [&str; 40] = [
    "the", "of", "and", "to", "in", "is", "that", "it", "was", "for", "on", "are", "with", "as",
    "his", "be", "at", "one", "have", "this", "from", "or", "had", "by", "but", "some", "what",
    "there", "we", "out", "other", "were", "all", "your", "when", "up", "use", "word", "how",
    "said",
];

/// Words that are asked for, by their rank. No other word begins with one of them, nor has its
/// stem, unless it stands here.
const PLANTED: [(usize, &str); 11] = [
    (40, "harvest"),
    (60, "lantern"),
    (70, "train"),
    (200, "trains"),
    (300, "training"),
    (500, "trained"),
    (400, "crystal"),
    (3_000, "crystals"),
    (6_000, "crystalline"),
    (12_000, "crystallize"),
    (16_000, "zephyr"),
];

#[derive(Clone, Debug)]
pub struct Document {
    pub title: String,
    pub blocks: Vec<String>,
}

impl Document {
    /// The title is the first.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.title).chain(&self.blocks).map(String::as_str)
    }
}

/// The documents of one space.
#[derive(Clone, Debug)]
pub struct Plan {
    pub documents: Vec<Document>,
}

/// What a search is for.
#[derive(Clone, Debug)]
pub enum Question {
    /// All of these words.
    Words(Vec<String>),
    /// Any of these words, as a sentence has them: those with more and rarer ones come first.
    Sentence(&'static str),
    /// All of these words, of which the last one is a beginning.
    Prefix(&'static str),
    /// A word that no text has, in place of one that is like it.
    Misspelt(&'static str),
    /// A word, of which a thousand documents are shown.
    Many(&'static str),
    /// Blocks that match, whatever the case.
    Pattern(&'static str),
}

impl Question {
    /// The documents of a page.
    pub const fn limit(&self) -> usize {
        match self {
            Self::Many(_) => 1_000,
            _ => 20,
        }
    }
}

/// A row of the table.
pub struct Row {
    pub name: &'static str,
    pub question: Question,
    /// Whether words are found in other forms: only a table with stems gives the same documents.
    pub is_stemmed: bool,
}

/// A misspelt word is compared with a rare one, of Leafbase both: FTS5 corrects nothing.
pub const RARE: &str = "top 20: a rare word";
pub const MISSPELT: &str = "top 20: a misspelt word (to a rare one)";

/// Asked across documents.
pub fn rows() -> Vec<Row> {
    let words = |words: &str| Question::Words(words.split(' ').map(str::to_owned).collect());
    let row = |name, question| Row { name, question, is_stemmed: false };
    vec![
        row("top 20: a common word", words("harvest")),
        row("top 20: a word of every document", words("the")),
        row(RARE, words("zephyr")),
        row("top 20: two words", words("harvest lantern")),
        row("top 20: a common and a rare word", words("harvest zephyr")),
        row(
            "top 20: a sentence of ten words",
            Question::Sentence("the harvest of some lantern was there when crystals trained"),
        ),
        row("top 20: the beginning of words", Question::Prefix("cryst")),
        row("top 20: two words and the beginning of one", Question::Prefix("harvest lantern tra")),
        row(MISSPELT, Question::Misspelt("zephry")),
        row("top 1,000: a common word", Question::Many("harvest")),
        Row { is_stemmed: true, ..row("top 20: a word in several forms", words("trained")) },
        row("pattern, selective: zeph[xy]r", Question::Pattern("zeph[xy]r")),
        row(
            r"pattern, selective: lantern \w+ train\w+",
            Question::Pattern(r"lantern \w+ train\w+"),
        ),
        row(r"pattern, unselective, in few: \b\w\w \d+", Question::Pattern(r"\b\w\w \d+")),
        row(r"pattern, unselective, in all: \w+ck\b", Question::Pattern(r"\w+ck\b")),
    ]
}

/// Asked of the document of 10,000 blocks.
pub const IN_DOCUMENT: [(&str, &str); 2] = [
    ("one document: trained|trains", "trained|trains"),
    (r"one document: \b\w{16,}\b", r"\b\w{16,}\b"),
];

impl Plan {
    pub fn new(documents: usize, blocks: usize) -> Self {
        let mut rng = Rng::new(11);
        let mut words = Words::new(&mut rng, 30_000);
        words.change(|(rank, word)| {
            let planted = PLANTED.iter().find(|(at, _)| *at == rank).map(|(_, word)| *word);
            let real = FREQUENT.get(rank).copied().or(planted);
            let is_taken = PLANTED.iter().any(|(_, planted)| word.starts_with(planted));
            match real {
                Some(real) => real.clone_into(word),
                None if is_taken => word.insert(0, 'x'),
                None => {}
            }
        });
        let mut text = |bytes: usize| {
            let mut text = String::with_capacity(bytes + 16);
            while text.len() < bytes {
                text.push_str(if text.is_empty() { "" } else { " " });
                text.push_str(words.word(&mut rng));
            }
            // Some end in a number, as notes do.
            if rng.below(400) == 0 {
                text.push_str(&format!(" {}", rng.below(2_000)));
            }
            text
        };
        let mut document = || Document {
            title: text(24),
            blocks: (0..blocks).map(|_| text(TEXT_BYTES - 6)).collect(),
        };
        Self { documents: (0..documents).map(|_| document()).collect() }
    }

    pub fn bytes(&self) -> usize {
        self.documents.iter().flat_map(Document::texts).map(str::len).sum()
    }
}

/// A word that occurs nowhere. It has no vowel, so that no two have one stem.
pub fn unheard(number: usize) -> String {
    const LETTERS: &[u8; 16] = b"bcdfghjkmnpqrtvw";
    let letter = |place: u32| char::from(LETTERS[number >> (4 * place) & 15]);
    format!("qzx{}", (0..4).rev().map(letter).collect::<String>())
}

/// Shared by those who keep IDs: 16 bytes in the order in which they are made.
pub fn uid(kind: u8, number: usize) -> [u8; 16] {
    let mut id = [kind; 16];
    id[..8].copy_from_slice(&(number as u64).to_be_bytes());
    id
}
