//! A document made ready to be searched: its words by lane, and the trigrams that its blocks have.

use std::borrow::Cow;
use std::ops::Range;

use frostem::Stemmer;
use leafbase_model::{Day, DocumentId, Location, Timestamp};

use crate::grams::{ANY_TEXT, Marked, Mask, gram};
use leafbase_pattern::TrigramQuery;
use loose::Loose;

pub(crate) mod loose;

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

    pub(crate) const fn is_title(self) -> bool {
        matches!(self, Self::Title | Self::TitleStems)
    }
}

/// The words of a title, or of everything else, in order, each with its positions. They lie in one
/// text, so that many documents are soon looked through for a word.
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
    pub(crate) fn with_capacity(bytes: usize, positions: usize) -> Self {
        // Words in their order take less than all of them as they came.
        let text = String::with_capacity(bytes);
        Self { text, each: Vec::with_capacity(positions), positions: Vec::with_capacity(positions) }
    }

    /// Adds a word that comes after the others, with its positions in order.
    pub(crate) fn push(&mut self, word: &str, positions: impl Iterator<Item = u32>) {
        self.each.push(Word { text: self.text.len(), positions: self.positions.len() });
        self.text.push_str(word);
        self.positions.extend(positions);
    }

    /// How many bytes they take.
    fn size(&self) -> usize {
        self.text.len() + size_of_val(self.each.as_slice()) + size_of_val(self.positions.as_slice())
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
        let from = first(self.each.len(), |number| self.word(number) < text);
        let answers = |word: &str| if is_prefix { word.starts_with(text) } else { word == text };
        let answering = first(self.each.len() - from, |number| answers(self.word(from + number)));
        self.positions(from..from + answering)
    }

    fn word(&self, number: usize) -> &str {
        let start = |number: usize| self.each.get(number).map_or(self.text.len(), |word| word.text);
        self.text.get(start(number)..start(number + 1)).unwrap_or_default()
    }

    fn positions(&self, words: Range<usize>) -> &[u32] {
        let start = |number: usize| {
            self.each.get(number).map_or(self.positions.len(), |word| word.positions)
        };
        self.positions.get(start(words.start)..start(words.end)).unwrap_or_default()
    }
}

/// The stems of the words of a title, or of everything else, in order, each with how often it
/// occurs. A word that is its own stem is not among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stems {
    text: String,
    /// Where each ends in the text of all, and how often it occurs.
    each: Vec<(usize, u32)>,
    /// How many words have a stem, their own ones included.
    length: u32,
}

impl Stems {
    pub(crate) fn new(length: u32) -> Self {
        Self { length, ..Self::default() }
    }

    /// Adds a stem that comes after the others.
    pub(crate) fn push(&mut self, stem: &str, times: u32) {
        self.text.push_str(stem);
        self.each.push((self.text.len(), times));
    }

    /// How many bytes they take.
    fn size(&self) -> usize {
        self.text.len() + size_of_val(self.each.as_slice())
    }

    pub(crate) const fn length(&self) -> u32 {
        self.length
    }

    /// Each stem with how often it occurs.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.each.iter().enumerate().map(|(number, (_, times))| (self.stem(number), *times))
    }

    /// How often a stem occurs, as that of other words.
    pub(crate) fn times(&self, stem: &str) -> u32 {
        let number = first(self.each.len(), |number| self.stem(number) < stem);
        self.each.get(number).filter(|_| self.stem(number) == stem).map_or(0, |(_, times)| *times)
    }

    fn stem(&self, number: usize) -> &str {
        let end = |number: usize| self.each.get(number).map_or(self.text.len(), |(end, _)| *end);
        let start = number.checked_sub(1).map_or(0, end);
        self.text.get(start..end(number)).unwrap_or_default()
    }
}

/// The first number below `all` for which this does not hold; it holds for none behind that.
fn first(all: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut least, mut most) = (0, all);
    while least < most {
        let middle = least.midpoint(most);
        if holds(middle) {
            least = middle + 1;
        } else {
            most = middle;
        }
    }
    least
}

/// Words and stems in their order, of the title, and of everything else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ordered(pub(crate) [(Words, Stems); 2]);

impl Ordered {
    pub(crate) const fn words(&self, is_title: bool) -> &Words {
        let [(title, _), (body, _)] = &self.0;
        if is_title { title } else { body }
    }

    pub(crate) const fn stems(&self, is_title: bool) -> &Stems {
        let [(_, title), (_, body)] = &self.0;
        if is_title { title } else { body }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lanes {
    Ordered(Ordered),
    /// Of the title, and of everything else.
    Loose([Loose; 2]),
}

/// A document made ready for the index, and to be searched without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchDocument {
    pub(crate) attributes: Attributes,
    pub(crate) lanes: Lanes,
    /// How many words each lane has.
    pub(crate) lengths: [u32; 4],
    pub(crate) grams: Marked,
    pub(crate) varies: bool,
}

impl SearchDocument {
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

    /// Whether its texts are not the same for everybody, so that its trigrams tell nothing to those
    /// who are shown others.
    pub const fn varies(&self) -> bool {
        self.varies
    }

    /// Whether one of its texts may have what is required. What is required nests no deeper than a
    /// pattern.
    pub fn may_match(&self, required: &TrigramQuery) -> bool {
        self.having(required) != 0
    }

    /// Which of its texts may have what is required.
    fn having(&self, required: &TrigramQuery) -> Mask {
        match required {
            TrigramQuery::Unrestricted => ANY_TEXT,
            TrigramQuery::Trigram(trigram) => self.grams.mask(gram(*trigram)),
            TrigramQuery::And(parts) => {
                let both =
                    |before, part| Some(before & self.having(part)).filter(|mask| *mask != 0);
                parts.iter().try_fold(ANY_TEXT, both).unwrap_or_default()
            }
            TrigramQuery::Or(parts) => {
                parts.iter().fold(0, |before, part| before | self.having(part))
            }
        }
    }

    /// Whether its words are still to be put in order: see [`crate::Maker::put_in_order`].
    pub const fn is_loose(&self) -> bool {
        matches!(self.lanes, Lanes::Loose(_))
    }

    /// How many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        let words = match &self.lanes {
            Lanes::Ordered(Ordered([(title, title_stems), (body, body_stems)])) => {
                title.size() + title_stems.size() + body.size() + body_stems.size()
            }
            Lanes::Loose([title, body]) => title.size() + body.size(),
        };
        size_of::<Self>() + self.grams.bytes() + words
    }

    /// The positions of a word; or those of all words that begin with it.
    pub(crate) fn occurrences(
        &self,
        is_title: bool,
        text: &str,
        is_prefix: bool,
    ) -> Cow<'_, [u32]> {
        match &self.lanes {
            Lanes::Ordered(ordered) => {
                Cow::Borrowed(ordered.words(is_title).occurrences(text, is_prefix))
            }
            Lanes::Loose([title, body]) => {
                (if is_title { title } else { body }).occurrences(text, is_prefix)
            }
        }
    }

    /// How often a stem occurs, as that of other words.
    pub(crate) fn times_of_stem(&self, is_title: bool, stem: &str) -> u32 {
        match &self.lanes {
            Lanes::Ordered(ordered) => ordered.stems(is_title).times(stem),
            Lanes::Loose([title, body]) => {
                let times = (if is_title { title } else { body }).stems(stem);
                u32::try_from(times).unwrap_or(u32::MAX)
            }
        }
    }
}

/// Whether a folded word can be an English one.
pub(crate) fn has_stem(word: &str) -> bool {
    word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// The stem of a folded word.
pub(crate) fn stem_of(stemmer: Stemmer, word: &str) -> Option<String> {
    has_stem(word).then(|| stemmer.stem(word).into_owned())
}
