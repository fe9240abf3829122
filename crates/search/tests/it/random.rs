//! Random documents, updates and queries: results and scores equal those of a naive scorer,
//! in the index and in the overlay.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use leafbase_model::{Location, SearchWeights, TermMode};
use leafbase_pattern::Pattern;
use leafbase_search::{
    Attributes, Hit, HitList, Index, IndexSnapshot, ParsedQuery, RankPosition, RankingOptions,
    SearchOverlay,
};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseResult, TestRunner};

use crate::fixture::{OWNER, id};
use crate::naive::{Asked, Made, NaiveHit, NaiveScorer, Text, WORDS, written};

#[derive(Clone, Debug)]
enum Step {
    Put(u8, Made),
    Remove(u8),
    /// The dirty documents whose bit is set are indexed.
    Catch(u16),
    Tidy,
    Rest,
    Reopen,
    Ask(Vec<Asked>, TermMode, Weighed),
    Match(&'static str),
}

/// What counts how much, and whether documents have factors of their own.
#[derive(Clone, Copy, Debug, Default)]
struct Weighed {
    weights: SearchWeights,
    is_boosted: bool,
}

/// The factor of a document, which ties others and changes their order.
fn factor(number: u8) -> f64 {
    1.0 + f64::from(number % 5) / 4.0
}

impl Weighed {
    /// The best `limit` hits after a position.
    fn search(
        &self,
        view: &IndexSnapshot,
        terms: &ParsedQuery,
        scope: &SearchOverlay<'_>,
        (after, limit): (Option<&RankPosition>, usize),
    ) -> HitList {
        let boost = |one: &Attributes| Ok(factor(one.id.as_bytes()[0]));
        let boost: Option<leafbase_search::ScoreFactor<'_>> =
            if self.is_boosted { Some(&boost) } else { None };
        let options = RankingOptions { after, weights: self.weights, boost };
        view.search_ranked(terms, scope, options, limit).unwrap()
    }
}

fn weighed() -> impl Strategy<Value = Weighed> {
    let weights = SearchWeights::default();
    let weights = prop_oneof![
        3 => Just(weights),
        1 => Just(weights.title(3.0).headings(0.5)),
        1 => Just(weights.headings(2.0)),
        1 => Just(weights.title(0.0).headings(0.25).body(2.0)),
        1 => Just(weights.body(0.0).headings(1.0)),
    ];
    let made = (weights, prop::bool::weighted(0.3));
    made.prop_map(|(weights, is_boosted)| Weighed { weights, is_boosted })
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
    let headings = prop_oneof![Just(0), 1..4_usize];
    let made = (prop::bool::weighted(0.2), text(), texts, headings);
    let made = made.prop_map(|(in_trash, title, texts, headings)| Made {
        in_trash,
        title,
        texts,
        headings,
    });
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
        8 => (asked, prop::sample::select(TermMode::ALL), weighed())
            .prop_map(|(asked, mode, weighed)| Step::Ask(asked, mode, weighed)),
        2 => prop::sample::select(&PATTERNS[..]).prop_map(Step::Match),
    ]
}

/// The fault that a control injects.
#[derive(Clone, Copy, PartialEq)]
enum LeftOut {
    Removals,
    Trash,
    Rarity,
    Weights,
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
    /// For a control: whether expected scores ignore how rare terms are.
    ignores_rarity: bool,
    /// For a control: whether expected scores ignore weights.
    ignores_weights: bool,
}

/// Whether hits are the same. Those of equal scores, but for rounding, may change places.
fn is_alike(one: &[NaiveHit], other: &[NaiveHit]) -> bool {
    let scores = one.iter().zip(other).all(|(one, other)| (one.1 - other.1).abs() < 1e-9);
    let sorted = |hits: &[NaiveHit]| {
        let mut hits: Vec<_> = hits.iter().map(|(number, _, lacks)| (*number, *lacks)).collect();
        hits.sort_unstable();
        hits
    };
    one.len() == other.len() && scores && sorted(one) == sorted(other)
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
            ignores_rarity: leaves_out == Some(LeftOut::Rarity),
            ignores_weights: leaves_out == Some(LeftOut::Weights),
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
            Step::Ask(asked, mode, weighed) => self.ask(&asked, mode, weighed)?,
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

    fn search(
        &self,
        (index, dirty): (&Index, &BTreeSet<u8>),
        terms: &ParsedQuery,
        weighed: Weighed,
    ) -> Vec<Hit> {
        self.page((index, dirty), terms, weighed, (None, usize::MAX)).hits
    }

    fn page(
        &self,
        (index, dirty): (&Index, &BTreeSet<u8>),
        terms: &ParsedQuery,
        weighed: Weighed,
        page: (Option<&RankPosition>, usize),
    ) -> HitList {
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
        weighed.search(&index.snapshot().unwrap(), terms, &scope, page)
    }

    /// The hits page by page.
    fn pages(&self, terms: &ParsedQuery, weighed: Weighed) -> Vec<Hit> {
        let (mut hits, mut position) = (Vec::new(), None);
        loop {
            let under = (self.index(), &self.dirty_ids);
            let list = self.page(under, terms, weighed, (position.as_ref(), 2));
            let Some(last) = list.hits.last() else { return hits };
            position = Some(RankPosition { last: last.rank, statistics: list.statistics.clone() });
            hits.extend(list.hits);
        }
    }

    fn ask(&self, asked: &[Asked], mode: TermMode, weighed: Weighed) -> TestCaseResult {
        let texts: Vec<String> = asked.iter().map(Asked::written).collect();
        let terms = ParsedQuery::new(&texts, mode).unwrap();
        let found = self.search((self.index(), &self.dirty_ids), &terms, weighed);
        let mut documents = self.now.clone();
        documents
            .extend(self.ghosts.iter().flatten().map(|(number, made)| (*number, made.clone())));
        let expected = if self.ignores_weights { Weighed::default() } else { weighed };
        let naive = NaiveScorer {
            documents: &documents,
            weights: expected.weights,
            boost: if expected.is_boosted { factor } else { |_| 1.0 },
            ignores_rarity: self.ignores_rarity,
        };
        let expected = naive.search(asked, mode);
        let shown =
            |hit: &Hit| (hit.rank.document.as_bytes()[0], hit.rank.score, !hit.missing.is_empty());
        let shown: Vec<NaiveHit> = found.iter().map(shown).collect();
        prop_assert!(
            is_alike(&shown, &expected),
            "{mode} {weighed:?} {texts:?}: {shown:?}, {expected:?}"
        );
        prop_assert_eq!(self.pages(&terms, weighed), found.clone(), "{:?}", &texts);
        let all = self.now.keys().copied().collect();
        let beside = self.search((&Index::in_memory(OWNER).unwrap(), &all), &terms, weighed);
        prop_assert_eq!(found.len(), beside.len());
        for (one, other) in found.iter().zip(&beside) {
            prop_assert_eq!(
                one.rank.document,
                other.rank.document,
                "{:?}: {:?} {:?}",
                &texts,
                &found,
                &beside
            );
            prop_assert!(
                (one.rank.score - other.rank.score).abs() < 1e-9,
                "{:?}: {:?} {:?}",
                &texts,
                &found,
                &beside
            );
        }
        prop_assert_eq!(
            self.selected(&terms, weighed),
            self.alone(&terms, weighed),
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

    fn selected(&self, terms: &ParsedQuery, weighed: Weighed) -> Vec<Hit> {
        let (view, dirty_ids) = (self.index().snapshot().unwrap(), &self.dirty_ids);
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
        weighed.search(&view, terms, &scope, (None, usize::MAX)).hits
    }

    /// The hits of a space that has no other documents.
    fn alone(&self, terms: &ParsedQuery, weighed: Weighed) -> Vec<Hit> {
        let seen = self.now.iter().filter(|(number, _)| self.is_seen(**number));
        let documents: Vec<_> = seen.map(|(number, made)| made.document(*number)).collect();
        let dirty: Vec<_> = documents.iter().collect();
        let scope = SearchOverlay {
            dirty: &dirty,
            dirty_ids: &HashSet::new(),
            filter: &|_| true,
            subset: None,
        };
        let view = Index::in_memory(OWNER).unwrap().snapshot().unwrap();
        weighed.search(&view, terms, &scope, (None, usize::MAX)).hits
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
fn results_equal_those_of_a_naive_scorer() {
    let half = || run(400, false, None).unwrap_or_else(|failure| panic!("{failure}"));
    std::thread::scope(|scope| [half, half].map(|half| drop(scope.spawn(half))));
}

/// A word has the documents of its stem, and a phrase of the same word has not: each weighs by the
/// documents that it is in.
#[test]
fn a_word_and_a_phrase_of_it_are_counted_apart() {
    let made = |texts| Made { in_trash: false, title: vec![], texts, headings: 0 };
    let put = |number, texts| Step::Put(number, made(texts));
    let asked = |words, is_phrase| Asked { words, is_phrase };
    let steps = [
        put(0, vec![vec![5]]),
        put(1, vec![]),
        Step::Ask(
            vec![asked(vec![4, 0], false), asked(vec![4], true)],
            TermMode::Most,
            Weighed::default(),
        ),
    ];
    let mut under = Under::new(false, None);
    for step in steps {
        under.take(step).unwrap();
    }
}

#[test]
fn results_on_disk_equal_those_of_a_naive_scorer() {
    run(40, true, None).unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn a_control_that_ignores_deletions_fails() {
    assert!(run(ENOUGH, false, Some(LeftOut::Removals)).is_err());
}

#[test]
fn a_control_that_ignores_the_trash_fails() {
    assert!(run(ENOUGH, false, Some(LeftOut::Trash)).is_err());
}

#[test]
fn a_control_that_ignores_weights_fails() {
    assert!(run(ENOUGH, false, Some(LeftOut::Weights)).is_err());
}

#[test]
fn a_control_that_ignores_rarity_fails() {
    assert!(run(ENOUGH, false, Some(LeftOut::Rarity)).is_err());
}
