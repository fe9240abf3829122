//! A document made ready to be searched: its words by lane, and the trigrams that its blocks have.

use std::ops::Range;

use frostem::{Algorithm, Stemmer};
use leafbase_model::{Day, DocumentId, Location, Timestamp};

use crate::pattern::{Required, Trigram, each_trigram};
use crate::tokens::{Token, TokenKind, tokens};

/// What a filter looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// The document.
    pub id: DocumentId,
    /// Where it is kept.
    pub location: Location,
    /// Its day, if it is a daily note.
    pub day: Option<Day>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub modified_at: Timestamp,
}

/// Words of a document that count alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// Those of the title.
    Title,
    /// Those of everything else.
    Body,
    /// The stems of the title's words.
    TitleStems,
    /// The stems of all other words.
    BodyStems,
}

impl Lane {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Title, Self::Body, Self::TitleStems, Self::BodyStems];
}

/// The words of one lane in order, each with its positions. They lie in one text, so that many documents are soon looked through for a word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Words {
    text: String,
    each: Vec<Word>,
    positions: Vec<u32>,
}

/// Where a word begins in the text of all, and its positions in the positions of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    text: usize,
    positions: usize,
}

impl Words {
    fn of(mut words: Vec<(String, u32)>) -> Self {
        words.sort_unstable();
        let mut made = Self::default();
        for same in words.chunk_by(|(one, _), (other, _)| one == other) {
            made.each.push(Word { text: made.text.len(), positions: made.positions.len() });
            made.text.extend(same.first().map(|(word, _)| word.as_str()));
            made.positions.extend(same.iter().map(|(_, position)| *position));
        }
        made.text.shrink_to_fit();
        made
    }

    /// How many they are.
    pub(crate) fn length(&self) -> u32 {
        u32::try_from(self.positions.len()).unwrap_or(u32::MAX)
    }

    /// Each word with its positions in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &[u32])> {
        (0..self.each.len()).map(|number| (self.word(number), self.positions(number..number + 1)))
    }

    /// The positions of a word, in order; or those of all words that begin with it, word by word.
    pub(crate) fn occurrences(&self, text: &str, is_prefix: bool) -> &[u32] {
        let from = self.first(0, |word| word < text);
        let answers = |word: &str| if is_prefix { word.starts_with(text) } else { word == text };
        self.positions(from..self.first(from, answers))
    }

    /// The first word from `from` on for which this does not hold; it holds for none behind that.
    fn first(&self, from: usize, holds: impl Fn(&str) -> bool) -> usize {
        let (mut least, mut most) = (from, self.each.len());
        while least < most {
            let middle = least.midpoint(most);
            if holds(self.word(middle)) {
                least = middle + 1;
            } else {
                most = middle;
            }
        }
        least
    }

    fn word(&self, number: usize) -> &str {
        let start = |number: usize| self.each.get(number).map_or(self.text.len(), |word| word.text);
        self.text.get(start(number)..start(number + 1)).unwrap_or_default()
    }

    fn positions(&self, words: Range<usize>) -> &[u32] {
        let start = |number: usize| self.each.get(number).map_or(self.positions.len(), |word| word.positions);
        self.positions.get(start(words.start)..start(words.end)).unwrap_or_default()
    }
}

/// A document made ready for the index, and to be searched without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchDocument {
    pub(crate) attributes: Attributes,
    lanes: [Words; 4],
    /// In order, each once.
    pub(crate) trigrams: Vec<Trigram>,
    pub(crate) varies: bool,
}

/// So many trigrams are gathered at least before those that are there twice are taken out.
const TRIGRAMS: usize = 1 << 14;

/// Positions between two texts: no phrase reaches from one to the next.
const GAP: u32 = 16;

impl SearchDocument {
    /// A document of this title. The texts of its blocks are added one by one.
    pub fn begin(attributes: Attributes, title: &str) -> Filling {
        let mut filling = Filling {
            attributes,
            stemmer: Stemmer::new(Algorithm::English),
            lanes: std::array::from_fn(|_| Vec::new()),
            trigrams: Vec::new(),
            distinct: 0,
            position: 0,
            varies: false,
        };
        filling.add(title, Lane::Title);
        filling.position = 0;
        filling
    }

    /// The document.
    pub const fn id(&self) -> DocumentId {
        self.attributes.id
    }

    /// What filters look at.
    pub const fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// The same document kept elsewhere, or changed at another time.
    pub fn with_attributes(self, attributes: Attributes) -> Self {
        Self { attributes, ..self }
    }

    /// Whether its texts are not the same for everybody, so that its trigrams tell nothing to those who are shown others.
    pub const fn varies(&self) -> bool {
        self.varies
    }

    /// Whether it has what is required. What is required nests no deeper than a pattern.
    pub fn may_match(&self, required: &Required) -> bool {
        match required {
            Required::Nothing => true,
            Required::Trigram(trigram) => self.trigrams.binary_search(trigram).is_ok(),
            Required::All(parts) => parts.iter().all(|part| self.may_match(part)),
            Required::Any(parts) => parts.iter().any(|part| self.may_match(part)),
        }
    }

    pub(crate) fn words(&self, lane: Lane) -> &Words {
        let [title, body, title_stems, body_stems] = &self.lanes;
        match lane {
            Lane::Title => title,
            Lane::Body => body,
            Lane::TitleStems => title_stems,
            Lane::BodyStems => body_stems,
        }
    }
}

/// A document that is being filled.
pub struct Filling {
    attributes: Attributes,
    stemmer: Stemmer,
    lanes: [Vec<(String, u32)>; 4],
    trigrams: Vec<Trigram>,
    /// How many of them are in order, each once.
    distinct: usize,
    position: u32,
    varies: bool,
}

impl std::fmt::Debug for Filling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Filling").field("attributes", &self.attributes).finish_non_exhaustive()
    }
}

impl Filling {
    /// Adds a text whose words are to be found: plain text.
    pub fn add_words(&mut self, text: &str) {
        self.add(text, Lane::Body);
    }

    /// Adds a text that patterns are to find.
    pub fn add_pattern_text(&mut self, text: &str) {
        self.trigrams.extend(each_trigram(text));
        if self.trigrams.len() > self.distinct.saturating_mul(2).max(TRIGRAMS) {
            self.sort_trigrams();
        }
    }

    /// Not everybody is shown the texts that patterns are to find as they were given.
    pub fn vary(&mut self) {
        self.varies = true;
    }

    fn sort_trigrams(&mut self) {
        self.trigrams.sort_unstable();
        self.trigrams.dedup();
        self.distinct = self.trigrams.len();
    }

    fn add(&mut self, text: &str, lane: Lane) {
        let (mut words, mut stems, mut end) = (Vec::new(), Vec::new(), self.position);
        for token in tokens(text) {
            let position = self.position.saturating_add(u32::try_from(token.position).unwrap_or(u32::MAX));
            end = position.saturating_add(1);
            stems.extend(stem(self.stemmer, &token).map(|stem| (stem, position)));
            words.push((token.text, position));
        }
        if end > self.position {
            self.position = end.saturating_add(GAP);
        }
        let [title, body, title_stems, body_stems] = &mut self.lanes;
        let (exact, stemmed) = if lane == Lane::Title { (title, title_stems) } else { (body, body_stems) };
        exact.append(&mut words);
        stemmed.append(&mut stems);
    }

    /// The document, ready.
    pub fn finish(mut self) -> SearchDocument {
        self.sort_trigrams();
        let Self { attributes, lanes, trigrams, varies, .. } = self;
        SearchDocument { attributes, lanes: lanes.map(Words::of), trigrams, varies }
    }
}

/// The stem of an English word. Of what cannot be one there is none.
fn stem(stemmer: Stemmer, token: &Token) -> Option<String> {
    let is_word = matches!(token.kind, TokenKind::Word | TokenKind::Part);
    is_word.then(|| stem_of(stemmer, &token.text)).flatten()
}

/// The stem of a folded word.
pub(crate) fn stem_of(stemmer: Stemmer, word: &str) -> Option<String> {
    let is_english = word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    is_english.then(|| stemmer.stem(word).into_owned())
}
