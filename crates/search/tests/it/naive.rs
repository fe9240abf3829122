//! A naive scorer: documents as lists of words, scores computed by going through all of them.

#![expect(clippy::cast_precision_loss, reason = "a few words and documents")]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use leafbase_model::{Location, SearchWeights, TermMode};
use leafbase_search::SearchDocument;

use crate::fixture::at;

/// A word: its tokens by position in a text, and the terms of a query with their offsets (`*` marks
/// a prefix, `~` a stem, `=` the word with its diacritics).
pub(crate) struct Word {
    pub(crate) text: &'static str,
    has: &'static [&'static [&'static str]],
    asks: &'static [&'static str],
    kind: WordKind,
}

#[derive(Clone, Copy, PartialEq)]
enum WordKind {
    Simple,
    /// Its first token is the whole.
    Compound,
    Run,
}

const fn word(
    text: &'static str,
    kind: WordKind,
    has: &'static [&'static [&'static str]],
    asks: &'static [&'static str],
) -> Word {
    Word { text, has, asks, kind }
}

use WordKind::{Compound, Run, Simple};

pub(crate) const WORDS: [Word; 23] = [
    word("tree", Simple, &[&["tree", "~tree"]], &["tree"]),
    word("Trees", Simple, &[&["trees", "~tree"]], &["trees"]),
    word("treat", Simple, &[&["treat", "~treat"]], &["treat"]),
    word("élan", Simple, &[&["elan", "~elan", "=élan"]], &["elan"]),
    word("новостей", Simple, &[&["новостеи", "~новост", "=новостей"]], &["новостеи"]),
    word("НОВОСТИ", Simple, &[&["новости", "~новост"]], &["новости"]),
    word("t", Simple, &[&["t"]], &["t"]),
    word("2", Simple, &[&["2"]], &["2"]),
    word(
        "tree_top",
        Compound,
        &[&["tree_top", "tree", "~tree"], &["top", "~top"]],
        &["tree", "top"],
    ),
    word("v1.2", Compound, &[&["v1.2", "v1", "v"], &["1"], &["2"]], &["v", "1", "2"]),
    word("v1.25", Compound, &[&["v1.25", "v1", "v"], &["1"], &["25"]], &["v", "1", "25"]),
    word("東京", Simple, &[&["東京"], &["京"]], &["東京"]),
    word("京都東", Run, &[&["京都"], &["都東"], &["東"]], &["京都", "都東"]),
    word(
        "東京都東京",
        Run,
        &[&["東京"], &["京都"], &["都東"], &["東京"], &["京"]],
        &["東京", "京都", "都東", "東京"],
    ),
    word("都", Simple, &[&["都"]], &["都*"]),
    word("東", Simple, &[&["東"]], &["東*"]),
    word("🎉", Simple, &[&["🎉"]], &["🎉"]),
    // Misspelt, unless documents have them.
    word("terat", Simple, &[&["terat", "~terat"]], &["terat"]),
    word("treet", Simple, &[&["treet", "~treet"]], &["treet"]),
    word("creet", Simple, &[&["creet", "~creet"]], &["creet"]),
    word("cyclamen", Simple, &[&["cyclamen", "~cyclamen"]], &["cyclamen"]),
    word("cyklamin", Simple, &[&["cyklamin", "~cyklamin"]], &["cyklamin"]),
    word("cyklam", Simple, &[&["cyklam", "~cyklam"]], &["cyklam"]),
];

pub(crate) type Text = Vec<usize>;

pub(crate) fn written(text: &Text) -> String {
    text.iter().map(|number| WORDS[*number].text).collect::<Vec<_>>().join(" ")
}

#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) in_trash: bool,
    pub(crate) title: Text,
    pub(crate) texts: Vec<Text>,
    /// How many of the first texts are headings.
    pub(crate) headings: usize,
}

/// A part of a document that is scored by itself.
#[derive(Clone, Copy)]
enum Part {
    Title,
    Body,
    Headings,
}

use Part::{Body, Headings, Title};

impl Made {
    pub(crate) fn document(&self, number: u8) -> SearchDocument {
        let texts: Vec<String> = self.texts.iter().map(written).collect();
        let location = if self.in_trash { Location::Trash } else { Location::Unsorted };
        at(
            number,
            location,
            &written(&self.title),
            &texts.iter().map(String::as_str).collect::<Vec<_>>(),
            self.headings,
        )
    }

    /// The tokens of each text of a part by position.
    fn field(&self, part: Part) -> Vec<Vec<&'static [&'static str]>> {
        let texts = match part {
            Title => std::slice::from_ref(&self.title),
            Body => &self.texts[..],
            Headings => &self.texts[..self.headings.min(self.texts.len())],
        };
        texts.iter().map(tokens).collect()
    }

    /// The number of words of a field, or of its stems.
    fn length(&self, part: Part, of_stems: bool) -> f64 {
        let field = self.field(part);
        let tokens = field.iter().flatten().copied().flatten();
        let is_counted = |token: &&&str| {
            if of_stems { token.starts_with('~') } else { !token.starts_with(['~', '=']) }
        };
        tokens.filter(is_counted).count() as f64
    }

    /// How often terms stand in a row in a field; of a single one, how many tokens match.
    fn frequency(&self, part: Part, row: &[(usize, String)]) -> f64 {
        let matches = |token: &str, term: &str| {
            term.strip_suffix('*').map_or(token == term, |term| token.starts_with(term))
        };
        let field = self.field(part);
        let mut count = 0;
        for text in &field {
            for start in 0..text.len() {
                let here = |(offset, term): &(usize, String)| {
                    let tokens = text.get(start + offset).copied().unwrap_or_default();
                    tokens.iter().filter(|token| matches(token, term)).count()
                };
                count += match row {
                    [only] => here(only),
                    row => usize::from(row.iter().all(|term| here(term) > 0)),
                };
            }
        }
        count as f64
    }
}

fn tokens(text: &Text) -> Vec<&'static [&'static str]> {
    text.iter().flat_map(|number| WORDS[*number].has).copied().collect()
}

/// A text of a query: words, or a phrase of them.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) words: Text,
    pub(crate) is_phrase: bool,
}

type Row = Vec<(usize, String)>;

/// Whether a word has enough letters to be corrected.
fn is_long(word: &str) -> bool {
    word.chars().filter(|letter| letter.is_alphabetic()).count() > 3
}

/// Whether a word is as many edits from another, one or two.
fn is_near(one: &str, other: &str, edits: usize) -> bool {
    let is_one = one != other && edited(one, other).contains(other);
    match edits {
        1 => is_one,
        _ => one != other && !is_one && !edited(one, other).is_disjoint(&edited(other, one)),
    }
}

/// The words that one edit makes of a word, with letters of it and of another.
fn edited(word: &str, other: &str) -> BTreeSet<String> {
    let letters: Vec<char> = word.chars().collect();
    let mut found = BTreeSet::new();
    let mut add = |letters: &[&[char]]| found.insert(letters.concat().into_iter().collect());
    for at in 0..=letters.len() {
        let (before, after) = letters.split_at(at);
        for letter in word.chars().chain(other.chars()) {
            add(&[before, &[letter], after]);
            add(&[before, &[letter], after.get(1..).unwrap_or_default()]);
        }
        add(&[before, after.get(1..).unwrap_or_default()]);
        if let [first, second, rest @ ..] = after {
            add(&[before, &[*second, *first], rest]);
        }
    }
    found
}

/// The stem of a token that is a word.
fn stem_of_token(token: &str) -> Option<String> {
    let mut all = WORDS.iter().flat_map(|word| word.has).filter(|_| !token.contains('_'));
    let tokens = all.find(|tokens| tokens.contains(&token))?;
    tokens.iter().find(|token| token.starts_with('~')).map(|stem| (*stem).to_owned())
}

/// What a clause of a query asks for.
#[derive(Clone, Debug, PartialEq)]
struct Clause {
    row: Row,
    stem: Option<String>,
    /// The word with its diacritics, which adds to the score.
    accented: Option<String>,
    /// A term that adds to the score.
    exact: Option<String>,
    is_run: bool,
    /// Whether it is a word of which like ones are found if no document has it.
    is_corrected: bool,
    parts: Vec<Clause>,
    /// The word after a simple one, if it is one as well, with its offset.
    next: Option<(usize, String)>,
}

impl Clause {
    fn without_next(&self) -> Self {
        Self { next: None, ..self.clone() }
    }
}

fn single(term: &str) -> Row {
    vec![(0, term.to_owned())]
}

/// The term of which a row asks for the beginning.
fn exact_prefix(row: &Row) -> Option<String> {
    let [(_, term)] = &row[..] else { return None };
    term.strip_suffix('*').map(str::to_owned)
}

impl Asked {
    pub(crate) fn written(&self) -> String {
        if self.is_phrase {
            format!("“{}”", written(&self.words))
        } else {
            written(&self.words)
        }
    }

    fn clauses(&self, mode: TermMode) -> Vec<Clause> {
        if self.is_phrase {
            let (mut row, mut from) = (Vec::new(), 0);
            for word in self.words.iter().map(|number| &WORDS[*number]) {
                row.extend((from..).zip(word.asks.iter().map(|term| (*term).to_owned())));
                from += word.has.len();
            }
            let (stem, exact, parts) = (None, exact_prefix(&row), Vec::new());
            let is_corrected = false;
            let accented = None;
            let (is_run, next) = (false, None);
            return vec![Clause { row, stem, accented, exact, is_run, is_corrected, parts, next }];
        }
        let last = self.words.len() - 1;
        let clause = |(number, word): (usize, &usize)| WORDS[*word].clause(number == last, mode);
        let mut clauses: Vec<_> = self.words.iter().enumerate().map(clause).collect();
        let rows: Vec<Row> = clauses.iter().map(|clause| clause.row.clone()).collect();
        for (at, clause) in clauses.iter_mut().enumerate() {
            if let ([_], Some([(_, next)])) = (&rows[at][..], rows.get(at + 1).map(Vec::as_slice)) {
                clause.next = Some((WORDS[self.words[at]].has.len(), next.clone()));
            }
        }
        clauses
    }
}

impl Word {
    fn form_at(&self, offset: usize, mark: char) -> Option<String> {
        self.has[offset].iter().find(|token| token.starts_with(mark)).map(|form| (*form).to_owned())
    }

    fn clause(&self, is_last: bool, mode: TermMode) -> Clause {
        let mut row: Row = (0..).zip(self.asks.iter().map(|term| (*term).to_owned())).collect();
        if is_last && let Some((_, term)) = row.last_mut() {
            *term = format!("{}*", term.trim_end_matches('*'));
        }
        let is_compound = self.kind == Compound;
        let part = |(offset, term): (usize, &&str)| Clause {
            row: single(term),
            stem: self.form_at(offset, '~'),
            accented: self.form_at(offset, '='),
            exact: None,
            is_run: false,
            is_corrected: is_long(term),
            parts: Vec::new(),
            next: None,
        };
        let exact = exact_prefix(&row).or_else(|| is_compound.then(|| self.has[0][0].to_owned()));
        let has_parts = is_compound && mode != TermMode::All;
        Clause {
            stem: if self.kind == Simple { self.form_at(0, '~') } else { None },
            accented: if self.kind == Simple { self.form_at(0, '=') } else { None },
            exact,
            is_run: self.kind == Run,
            is_corrected: self.kind == Simple && is_long(self.asks[0]),
            parts: self.asks.iter().enumerate().filter(|_| has_parts).map(part).collect(),
            row,
            next: None,
        }
    }
}

/// What a document has of a clause.
#[derive(Clone, Copy, Default)]
struct Has {
    score: f64,
    weight: f64,
    is_satisfied: bool,
}

/// A hit, with whether it lacks a clause.
pub(crate) type NaiveHit = (u8, f64, bool);

/// Scores the documents of a space.
pub(crate) struct NaiveScorer<'d> {
    pub(crate) documents: &'d BTreeMap<u8, Made>,
    pub(crate) weights: SearchWeights,
    /// The factor of a document's score.
    pub(crate) boost: fn(u8) -> f64,
    /// For a control: whether rare terms weigh as much as frequent ones.
    pub(crate) ignores_rarity: bool,
}

impl NaiveScorer<'_> {
    /// The documents that match, the best first.
    pub(crate) fn search(&self, asked: &[Asked], mode: TermMode) -> Vec<NaiveHit> {
        let mut clauses: Vec<Clause> = Vec::new();
        for clause in asked.iter().flat_map(|asked| asked.clauses(mode)) {
            let clause_alone = clause.without_next();
            if clauses.iter().all(|known| known.without_next() != clause_alone) {
                clauses.push(clause);
            }
        }
        // A compound that is all of a query is found whole.
        if let (TermMode::Most, [only]) = (mode, clauses.as_mut_slice()) {
            only.parts.clear();
        }
        let mut has: Vec<_> = clauses.iter().map(|clause| self.clause(clause)).collect();
        for (clause, (by_document, _)) in clauses.iter().zip(&mut has) {
            let Some((offset, next)) = &clause.next else { continue };
            let row = vec![clause.row[0].clone(), (*offset, next.clone())];
            for (number, score) in self.scores(&row, [0.5, 0.8], false) {
                by_document.get_mut(&number).unwrap().score += score;
            }
        }
        let total: f64 = has.iter().map(|(_, weight)| weight).sum();
        let mut hits = Vec::new();
        let shown = self.documents.iter().filter(|(_, made)| !made.in_trash);
        for number in shown.map(|(number, _)| number) {
            let found: Vec<Has> = has.iter().map(|(by_document, _)| by_document[number]).collect();
            let score: f64 = found.iter().map(|has| has.score).sum();
            let weight: f64 = found.iter().map(|has| has.weight).sum();
            let satisfied = found.iter().filter(|has| has.is_satisfied).count();
            let lacks = satisfied < found.len();
            let is_hit = if mode == TermMode::All { !lacks } else { weight > 0.0 || satisfied > 0 };
            let share = if lacks && mode == TermMode::Most { weight / total } else { 1.0 };
            let score = score * share * (self.boost)(*number);
            hits.extend(is_hit.then_some((*number, score, lacks)));
        }
        let first = |hit: &NaiveHit| mode == TermMode::Most && hit.2;
        hits.sort_by(|one, other| {
            first(one).cmp(&first(other)).then(other.1.total_cmp(&one.1)).then(one.0.cmp(&other.0))
        });
        hits
    }

    /// What each document has of a clause, and the weight of the clause.
    fn clause(&self, clause: &Clause) -> (BTreeMap<u8, Has>, f64) {
        let mut has: BTreeMap<u8, Has> =
            self.documents.keys().map(|number| (*number, Has::default())).collect();
        let mut weight = 0.0;
        if clause.is_run {
            let mut counts: BTreeMap<u8, usize> = BTreeMap::new();
            let mut present = 0.0;
            for (_, pair) in &clause.row {
                let scores = self.scores(&single(pair), [0.5, 0.8], false);
                let pair_weight = self.idf(scores.len());
                weight += pair_weight;
                present += if scores.is_empty() { 0.0 } else { pair_weight };
                for (number, score) in scores {
                    let has = has.get_mut(&number).unwrap();
                    has.score += score;
                    has.weight += pair_weight;
                    *counts.entry(number).or_default() += 1;
                }
            }
            for pairs in clause.row.windows(2) {
                let row: Row = vec![(0, pairs[0].1.clone()), (1, pairs[1].1.clone())];
                for (number, score) in self.scores(&row, [0.5, 0.8], false) {
                    has.get_mut(&number).unwrap().score += score / 2.0;
                }
            }
            let pairs = clause.row.len();
            let required = if pairs < 3 { pairs } else { pairs.div_ceil(2) };
            for (number, _) in counts.into_iter().filter(|(_, count)| *count >= required) {
                let has = has.get_mut(&number).unwrap();
                if has.weight >= 0.6 * present {
                    (has.is_satisfied, has.weight) = (true, weight);
                }
            }
            return (has, weight);
        }
        let found = self.word_or_like(clause);
        for (number, score) in &found {
            has.insert(*number, Has { score: *score, weight: 0.0, is_satisfied: true });
        }
        weight = if clause.parts.is_empty() { self.idf(found.len()) } else { 0.0 };
        for part in &clause.parts {
            let scores = self.word_or_like(part);
            let part_weight = self.idf(scores.len());
            weight += part_weight;
            for (number, score) in scores {
                let has = has.get_mut(&number).unwrap();
                has.score += score;
                has.weight += part_weight;
            }
        }
        has.values_mut().filter(|has| has.is_satisfied).for_each(|has| has.weight = weight);
        (has, weight)
    }

    /// The scores of a word, or most of those of the words that are like it.
    fn word_or_like(&self, clause: &Clause) -> BTreeMap<u8, f64> {
        let mut scores = self.word(clause);
        if scores.is_empty() && clause.is_corrected {
            let read = self.like(&clause.row[0].1);
            let read: Vec<_> = read.iter().map(|read| self.word(read)).collect();
            let most = read.iter().map(BTreeMap::len).max().unwrap_or_default() as f64;
            for found in read {
                let share = found.len() as f64 / most;
                for (number, score) in found {
                    *scores.entry(number).or_default() += score * 0.8 * share;
                }
            }
        }
        scores
    }

    /// The words that a misspelt one is read as.
    fn like(&self, term: &str) -> Vec<Clause> {
        let asked = term.trim_end_matches('*');
        let documents = self.documents.values();
        let fields = documents.flat_map(|made| [made.field(Title), made.field(Body)]);
        let texts: Vec<_> = fields.flatten().collect();
        let tokens = texts.iter().flatten().copied().flatten().copied();
        let is_word = |token: &&str| {
            !token.contains(|letter: char| "~=".contains(letter) || letter.is_ascii_digit())
        };
        let tokens: BTreeSet<&str> = tokens.filter(is_word).collect();
        let begins = |token: &&&str| token.chars().next() == asked.chars().next();
        let near = |edits, is_alike| {
            let found = tokens.iter().filter(move |token| begins(token) == is_alike);
            let found = found.filter(move |token| is_near(asked, token, edits));
            found.map(|token| (*token).to_owned()).collect::<BTreeSet<_>>()
        };
        let most = if asked.chars().count() > 7 { 2 } else { 1 };
        let steps = (1..=most).flat_map(|edits| [near(edits, true), near(edits, false)]);
        let mut found = steps.into_iter().find(|found| !found.is_empty()).unwrap_or_default();
        if found.is_empty() && term.ends_with('*') && asked.chars().count() > 4 {
            let longest = |token: &&str| {
                let mut prefixes =
                    token.char_indices().map(|(at, letter)| &token[..at + letter.len_utf8()]);
                prefixes
                    .rfind(|prefix| is_near(asked, prefix, 1))
                    .map(|prefix| format!("{prefix}*"))
            };
            found = tokens.iter().filter(begins).filter_map(longest).collect();
        }
        let frequency = |term: &str| {
            let row = single(term);
            let has = |made: &&Made| made.frequency(Title, &row) + made.frequency(Body, &row) > 0.0;
            self.documents.values().filter(has).count()
        };
        let mut found: Vec<String> = found.into_iter().collect();
        found.sort_by_key(|word| (Reverse(frequency(word)), word.clone()));
        let mut stems = BTreeSet::new();
        found.retain(|word| stem_of_token(word).is_none_or(|stem| stems.insert(stem)));
        found.truncate(4);
        let clause = |word: String| Clause {
            stem: stem_of_token(&word),
            accented: None,
            exact: exact_prefix(&single(&word)),
            row: single(&word),
            is_run: false,
            is_corrected: false,
            parts: Vec::new(),
            next: None,
        };
        found.into_iter().map(clause).collect()
    }

    fn word(&self, clause: &Clause) -> BTreeMap<u8, f64> {
        let mut scores = self.scores(&clause.row, [0.5, 0.8], false);
        if let Some(stem) = &clause.stem {
            for (number, score) in self.scores(&single(stem), [0.5, 1.0], true) {
                *scores.entry(number).or_default() += score;
            }
        }
        if let Some(accented) = &clause.accented {
            for score in scores.values_mut() {
                *score *= 0.3;
            }
            for (number, more) in self.scores(&single(accented), [0.5, 1.0], true) {
                scores.entry(number).and_modify(|score| *score += 1.7 * more);
            }
        }
        if let Some(exact) = &clause.exact {
            for (number, more) in self.scores(&single(exact), [0.5, 0.8], false) {
                scores.entry(number).and_modify(|score| *score += more);
            }
        }
        scores
    }

    /// BM25 of a row in titles, in texts and in headings, with a weight each: those of headings are
    /// those of titles.
    fn scores(&self, row: &Row, weights: [f64; 2], of_stems: bool) -> BTreeMap<u8, f64> {
        let SearchWeights { title, body, headings, .. } = self.weights;
        let fields = [(Title, weights[0] * title), (Body, weights[1] * body)];
        let fields = [fields[0], fields[1], (Headings, weights[0] * headings)];
        let frequencies = |made: &Made| fields.map(|(part, _)| made.frequency(part, row));
        let found = self.documents.iter().map(|(number, made)| (*number, made, frequencies(made)));
        let found: Vec<_> = found.filter(|(.., found)| found[..2] != [0.0, 0.0]).collect();
        let idf = self.idf(found.len());
        let score = |made: &Made, frequencies: [f64; 3]| -> f64 {
            let field = |number: usize| {
                let ((part, weight), frequency) = (fields[number], frequencies[number]);
                let lengths = self.documents.values().map(|made| made.length(part, of_stems));
                let average = (lengths.sum::<f64>() / self.documents.len() as f64).max(1.0);
                let norm = 0.25 + 0.75 * made.length(part, of_stems) / average;
                weight * idf * 2.2 * frequency / (frequency + 1.2 * norm)
            };
            field(0) + field(1) + field(2)
        };
        found.into_iter().map(|(number, made, found)| (number, score(made, found))).collect()
    }

    fn idf(&self, found: usize) -> f64 {
        if self.ignores_rarity {
            return 1.0;
        }
        let (all, found) = (self.documents.len() as f64, found as f64);
        (1.0 + (all - found + 0.5) / (found + 0.5)).ln()
    }
}
