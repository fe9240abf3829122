//! Random documents, updates and queries: results equal those of a naive matcher, with the same
//! scores in the index and in the overlay.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use leafbase_model::Location;
use leafbase_pattern::Pattern;
use leafbase_search::{Attributes, Hit, Index, ParsedQuery, SearchDocument, SearchOverlay};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseResult, TestRunner};

use crate::fixture::{OWNER, at, id};

/// A word: its tokens by position in a text, and the terms of a query with their offsets (`*` marks
/// a prefix).
struct Word {
    text: &'static str,
    has: &'static [&'static [&'static str]],
    asks: &'static [(usize, &'static str)],
    stem: &'static str,
}

const fn word(
    text: &'static str,
    has: &'static [&'static [&'static str]],
    asks: &'static [(usize, &'static str)],
    stem: &'static str,
) -> Word {
    Word { text, has, asks, stem }
}

/// `~` marks a stem.
const WORDS: [Word; 13] = [
    word("tree", &[&["tree", "~tree"]], &[(0, "tree")], "~tree"),
    word("Trees", &[&["trees", "~tree"]], &[(0, "trees")], "~tree"),
    word("treat", &[&["treat", "~treat"]], &[(0, "treat")], "~treat"),
    word("élan", &[&["elan", "~elan"]], &[(0, "elan")], "~elan"),
    word("t", &[&["t"]], &[(0, "t")], ""),
    word("2", &[&["2"]], &[(0, "2")], ""),
    word(
        "tree_top",
        &[&["tree_top", "tree", "~tree"], &["top", "~top"]],
        &[(0, "tree"), (1, "top")],
        "",
    ),
    word("v1.2", &[&["v1.2", "v1", "v"], &["1"], &["2"]], &[(0, "v"), (1, "1"), (2, "2")], ""),
    word("v1.25", &[&["v1.25", "v1", "v"], &["1"], &["25"]], &[(0, "v"), (1, "1"), (2, "25")], ""),
    word("東京", &[&["東京"], &["京"]], &[(0, "東京")], ""),
    word("京都東", &[&["京都"], &["都東"], &["東"]], &[(0, "京都"), (1, "都東")], ""),
    word("東", &[&["東"]], &[(0, "東*")], ""),
    word("🎉", &[&["🎉"]], &[(0, "🎉")], ""),
];

type Text = Vec<usize>;

fn written(text: &Text) -> String {
    text.iter().map(|number| WORDS[*number].text).collect::<Vec<_>>().join(" ")
}

#[derive(Clone, Debug)]
struct Made {
    in_trash: bool,
    title: Text,
    texts: Vec<Text>,
}

impl Made {
    fn document(&self, number: u8) -> SearchDocument {
        let texts: Vec<String> = self.texts.iter().map(written).collect();
        let location = if self.in_trash { Location::Trash } else { Location::Unsorted };
        at(
            number,
            location,
            &written(&self.title),
            &texts.iter().map(String::as_str).collect::<Vec<_>>(),
        )
    }

    fn meets(&self, row: &[(usize, String)], stem: &str) -> bool {
        self.texts.iter().chain([&self.title]).any(|text| {
            let has: Vec<&[&str]> =
                text.iter().flat_map(|number| WORDS[*number].has).copied().collect();
            let says = |at: usize, asked: &str| {
                let words = has.get(at).copied().unwrap_or_default();
                words.iter().any(|word| {
                    asked.strip_suffix('*').map_or(*word == asked, |asked| word.starts_with(asked))
                })
            };
            let is_row = |start| row.iter().all(|(distance, asked)| says(start + distance, asked));
            (0..has.len()).any(|start| is_row(start) || (!stem.is_empty() && says(start, stem)))
        })
    }
}

/// A text of a query: words, or a phrase of them.
#[derive(Clone, Debug)]
struct Asked {
    words: Text,
    is_phrase: bool,
}

impl Asked {
    fn written(&self) -> String {
        if self.is_phrase {
            format!("“{}”", written(&self.words))
        } else {
            written(&self.words)
        }
    }

    fn is_met(&self, made: &Made) -> Vec<bool> {
        let rows = |from: usize, word: &Word| -> Vec<(usize, String)> {
            word.asks
                .iter()
                .map(|(distance, asked)| (from + distance, (*asked).to_owned()))
                .collect()
        };
        if self.is_phrase {
            let (mut row, mut from) = (Vec::new(), 0);
            for word in self.words.iter().map(|number| &WORDS[*number]) {
                row.extend(rows(from, word));
                from += word.has.len();
            }
            return vec![made.meets(&row, "")];
        }
        let words = self.words.iter().enumerate().map(|(number, word)| {
            let word = &WORDS[*word];
            let mut row = rows(0, word);
            if number + 1 == self.words.len() {
                row.iter_mut().last().into_iter().for_each(|(_, asked)| asked.push('*'));
                for (_, asked) in &mut row {
                    *asked = asked.replace("**", "*");
                }
            }
            made.meets(&row, word.stem)
        });
        words.collect()
    }
}

#[derive(Clone, Debug)]
enum Step {
    Put(u8, Made),
    Remove(u8),
    /// The dirty documents whose bit is set are indexed.
    Catch(u16),
    Tidy,
    Rest,
    Reopen,
    Ask(Vec<Asked>, bool),
    Match(&'static str),
}

fn text() -> impl Strategy<Value = Text> {
    prop::collection::vec(0..WORDS.len(), 0..5)
}

/// Patterns of one word and of several in one text.
const PATTERNS: [&str; 9] = [
    "tree_t?o",
    "東京 京",
    "v1\\.2(5|$)",
    "(?i)TREES|élan",
    "t+",
    "tre(es|at) (🎉|2)",
    "treat.*Trees",
    "élan.*v1\\.25|tree_top (.* )?京都東",
    "(?i)trees.*tree_top.*treat",
];

fn step() -> impl Strategy<Value = Step> {
    // Few and many texts per document.
    let texts = prop_oneof![9 => prop::collection::vec(text(), 0..4), 1 => prop::collection::vec(text(), 15..24)];
    let made = (prop::bool::weighted(0.2), text(), texts);
    let made = made.prop_map(|(in_trash, title, texts)| Made { in_trash, title, texts });
    let asked = (prop::collection::vec(0..WORDS.len(), 1..4), prop::bool::weighted(0.3));
    let asked = asked.prop_map(|(words, is_phrase)| Asked { words, is_phrase });
    let asked = prop::collection::vec(asked, 1..3);
    prop_oneof![
        8 => (0..12_u8, made).prop_map(|(number, made)| Step::Put(number, made)),
        2 => (0..12_u8).prop_map(Step::Remove),
        3 => prop_oneof![Just(u16::MAX), any::<u16>()].prop_map(Step::Catch),
        1 => Just(Step::Tidy),
        1 => Just(Step::Rest),
        1 => Just(Step::Reopen),
        8 => (asked, any::<bool>()).prop_map(|(asked, any)| Step::Ask(asked, any)),
        2 => prop::sample::select(&PATTERNS[..]).prop_map(Step::Match),
    ]
}

/// The fault that a control injects.
#[derive(Clone, Copy, PartialEq)]
enum LeftOut {
    Removals,
    Trash,
}

/// The documents of a space, its index, and the documents that are dirty in it.
struct Under {
    home: Option<tempfile::TempDir>,
    index: Option<Index>,
    sequence: u64,
    now: BTreeMap<u8, Made>,
    dirty_ids: BTreeSet<u8>,
    /// For a control: deleted documents that are expected nevertheless.
    ghosts: Option<BTreeMap<u8, Made>>,
    /// For a control: whether documents in the trash count as visible.
    ignores_trash: bool,
}

impl Under {
    fn new(on_disk: bool, leaves_out: Option<LeftOut>) -> Self {
        let home = on_disk.then(|| tempfile::tempdir().unwrap());
        let index = match &home {
            // Each document has its own segment until a merge.
            Some(home) => {
                Index::create(&home.path().join("index"), OWNER).unwrap().with_segment_budget(1)
            }
            None => Index::in_memory(OWNER).unwrap(),
        };
        let index = Some(index);
        Self {
            home,
            index,
            sequence: 0,
            now: BTreeMap::new(),
            dirty_ids: BTreeSet::new(),
            ghosts: (leaves_out == Some(LeftOut::Removals)).then(BTreeMap::new),
            ignores_trash: leaves_out == Some(LeftOut::Trash),
        }
    }

    fn index(&self) -> &Index {
        self.index.as_ref().unwrap()
    }

    fn take(&mut self, step: Step) -> TestCaseResult {
        match step {
            Step::Put(number, made) => {
                self.now.insert(number, made);
                self.dirty_ids.insert(number);
            }
            Step::Remove(number) => {
                if let (Some(removed), Some(ghosts)) = (self.now.remove(&number), &mut self.ghosts)
                {
                    ghosts.insert(number, removed);
                }
                self.dirty_ids.insert(number);
            }
            Step::Catch(bits) => self.catch_up(bits),
            Step::Tidy => self.index().merge().unwrap(),
            Step::Rest => self.index().release_writer(),
            Step::Reopen => self.reopen()?,
            Step::Ask(asked, any) => self.ask(&asked, any)?,
            Step::Match(pattern) => self.match_pattern(pattern)?,
        }
        Ok(())
    }

    fn catch_up(&mut self, bits: u16) {
        let caught: Vec<u8> =
            self.dirty_ids.iter().copied().filter(|number| bits >> number & 1 == 1).collect();
        let documents =
            caught.iter().filter_map(|number| Some(self.now.get(number)?.document(*number)));
        let gone: Vec<_> = caught.iter().map(|number| id(*number)).collect();
        self.sequence += 1;
        self.index().update(&mut documents.map(Ok), &gone, self.sequence).unwrap();
        self.dirty_ids.retain(|number| !caught.contains(number));
    }

    fn reopen(&mut self) -> TestCaseResult {
        if let Some(home) = self.home.as_ref().filter(|_| self.sequence > 0) {
            self.index = None;
            self.index = Index::open(&home.path().join("index"), OWNER);
            prop_assert!(self.index.is_some(), "it opens again");
            prop_assert_eq!(self.index().sequence().unwrap(), Some(self.sequence));
        }
        Ok(())
    }

    fn search(&self, index: &Index, dirty: &BTreeSet<u8>, terms: &ParsedQuery) -> Vec<Hit> {
        let documents: Vec<_> = dirty
            .iter()
            .filter_map(|number| Some(self.now.get(number)?.document(*number)))
            .collect();
        let dirty_ids: HashSet<_> = dirty.iter().map(|number| id(*number)).collect();
        let accepts = |one: &Attributes| one.location == Location::Unsorted;
        let scope = SearchOverlay {
            dirty: &documents.iter().collect::<Vec<_>>(),
            dirty_ids: &dirty_ids,
            filter: &accepts,
            subset: None,
        };
        index.snapshot().unwrap().search(terms, &scope, usize::MAX).unwrap()
    }

    fn ask(&self, asked: &[Asked], any: bool) -> TestCaseResult {
        let texts: Vec<String> = asked.iter().map(Asked::written).collect();
        let terms = ParsedQuery::new(&texts, any).unwrap();
        let found = self.search(self.index(), &self.dirty_ids, &terms);
        if !any {
            let expected =
                self.now.iter().chain(self.ghosts.iter().flatten()).filter(|(_, made)| {
                    !made.in_trash
                        && asked.iter().flat_map(|asked| asked.is_met(made)).all(|met| met)
                });
            let expected: BTreeSet<_> = expected.map(|(number, _)| id(*number)).collect();
            prop_assert_eq!(
                found.iter().map(|hit| hit.document).collect::<BTreeSet<_>>(),
                expected,
                "{:?}",
                texts
            );
        }
        let in_order =
            |pair: &[Hit]| (-pair[0].score, pair[0].document) < (-pair[1].score, pair[1].document);
        prop_assert!(found.windows(2).all(in_order), "{:?}", found);
        let beside = self.search(
            &Index::in_memory(OWNER).unwrap(),
            &self.now.keys().copied().collect(),
            &terms,
        );
        prop_assert_eq!(found.len(), beside.len());
        for (one, other) in found.iter().zip(&beside) {
            prop_assert_eq!(
                one.document,
                other.document,
                "{:?}: {:?} {:?}",
                &texts,
                &found,
                &beside
            );
            prop_assert!(
                (one.score - other.score).abs() < 1e-9,
                "{:?}: {:?} {:?}",
                &texts,
                &found,
                &beside
            );
        }
        prop_assert_eq!(
            self.selected(self.index(), &self.dirty_ids, &terms),
            self.alone(&terms),
            "{:?}",
            &texts
        );
        Ok(())
    }

    /// The subset: documents with even numbers that are not in the trash.
    fn is_seen(&self, number: u8) -> bool {
        let is_kept = |made: &Made| !made.in_trash || self.ignores_trash;
        number.is_multiple_of(2) && self.now.get(&number).is_some_and(is_kept)
    }

    fn selected(&self, index: &Index, dirty_ids: &BTreeSet<u8>, terms: &ParsedQuery) -> Vec<Hit> {
        let view = index.snapshot().unwrap();
        let even = (0..14_u8).filter(|number| number % 2 == 0);
        let only = view.subset(even.map(id), |one| one.location == Location::Unsorted).unwrap();
        let dirty = dirty_ids.iter().filter(|number| self.is_seen(**number));
        let dirty: Vec<_> = dirty.map(|number| self.now[number].document(*number)).collect();
        let dirty_ids = dirty_ids.iter().map(|number| id(*number)).collect();
        let dirty: Vec<_> = dirty.iter().collect();
        let scope = SearchOverlay {
            dirty: &dirty,
            dirty_ids: &dirty_ids,
            filter: &|_| true,
            subset: Some(&only),
        };
        view.search(terms, &scope, usize::MAX).unwrap()
    }

    /// The hits of a space that has no other documents.
    fn alone(&self, terms: &ParsedQuery) -> Vec<Hit> {
        let seen = self.now.iter().filter(|(number, _)| self.is_seen(**number));
        let documents: Vec<_> = seen.map(|(number, made)| made.document(*number)).collect();
        let dirty: Vec<_> = documents.iter().collect();
        let scope = SearchOverlay {
            dirty: &dirty,
            dirty_ids: &HashSet::new(),
            filter: &|_| true,
            subset: None,
        };
        Index::in_memory(OWNER)
            .unwrap()
            .snapshot()
            .unwrap()
            .search(terms, &scope, usize::MAX)
            .unwrap()
    }

    /// Every clean document that matches is a candidate, and every dirty one may match.
    fn match_pattern(&self, pattern: &str) -> TestCaseResult {
        let (made, oracle) =
            (Pattern::new(pattern, true).unwrap(), regex::Regex::new(pattern).unwrap());
        let dirty_ids = self.dirty_ids.iter().map(|number| id(*number)).collect();
        let scope =
            SearchOverlay { dirty: &[], dirty_ids: &dirty_ids, filter: &|_| true, subset: None };
        let candidates =
            self.index().snapshot().unwrap().candidates(&[made.trigram_query()], &scope).unwrap();
        prop_assert!(candidates.windows(2).all(|pair| pair[0] < pair[1]));
        prop_assert!(candidates.iter().all(|one| !dirty_ids.contains(one)));
        let is_match = |made: &Made| {
            made.texts.iter().chain([&made.title]).any(|text| oracle.is_match(&written(text)))
        };
        for (number, found) in self.now.iter().filter(|(_, found)| is_match(found)) {
            let is_known = self.dirty_ids.contains(number) || candidates.contains(&id(*number));
            prop_assert!(is_known, "{} is not found by {}", number, pattern);
            prop_assert!(
                found.document(*number).may_match(made.trigram_query()),
                "{} by {}",
                number,
                pattern
            );
        }
        let view = self.index().snapshot().unwrap();
        let only = view.subset((0..12).step_by(3).map(id), |_| true).unwrap();
        let selected = view
            .candidates(&[made.trigram_query()], &SearchOverlay { subset: Some(&only), ..scope })
            .unwrap();
        let expected = candidates.into_iter().filter(|one| one.as_bytes()[0] % 3 == 0);
        prop_assert_eq!(selected, expected.collect::<Vec<_>>());
        Ok(())
    }
}

/// Cases within which every control fails; a control ends with its first failure.
const ENOUGH: u32 = 20_000;

fn run(cases: u32, on_disk: bool, leaves_out: Option<LeftOut>) -> Result<(), String> {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let steps = prop::collection::vec(step(), 8..24);
    let outcome = TestRunner::new(config).run(&steps, |steps| {
        let mut under = Under::new(on_disk, leaves_out);
        steps.into_iter().try_for_each(|step| under.take(step))
    });
    outcome.map_err(|failure| failure.to_string())
}

#[test]
fn results_equal_those_of_a_naive_matcher() {
    let half = || run(1_000, false, None).unwrap_or_else(|failure| panic!("{failure}"));
    std::thread::scope(|scope| [half, half].map(|half| drop(scope.spawn(half))));
}

#[test]
fn results_on_disk_equal_those_of_a_naive_matcher() {
    run(100, true, None).unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn a_control_that_ignores_deletions_fails() {
    assert!(run(ENOUGH, false, Some(LeftOut::Removals)).is_err());
}

#[test]
fn a_control_that_ignores_the_trash_fails() {
    assert!(run(ENOUGH, false, Some(LeftOut::Trash)).is_err());
}
