//! Any texts are asked for, or are too many or too long; found is what a look at every word finds,
//! in the index and beside it.
#![no_main]

use std::collections::{BTreeSet, HashSet};
use std::sync::OnceLock;

use leafbase_model::{DocumentId, ErrorKind, Location, TermMode, Timestamp};
use leafbase_search::{
    Analyzer, Attributes, Hit, Index, ParsedQuery, QueryPart, QueryWord, SearchDocument, SearchOverlay,
    Token, query_words, tokens,
};
use libfuzzer_sys::fuzz_target;

const OWNER: &str = "a space";
/// What is in the index: a title and a text each.
const KEPT: [[&str; 2]; 6] = [
    ["Lisbon", "The night train leaves at ten. v1.2 of snake_case"],
    ["Porto", "No trains at night, Élan and 東京都"],
    ["Trees", "tree treat trees tre東 🎉 don't"],
    ["東京", "京都 と 東 a b c"],
    ["", ""],
    ["a", "A a-b a_b a.b 1 2 12 1.2"],
];

struct Kept {
    /// Has them all.
    index: Index,
    /// Has nothing.
    empty: Index,
    documents: Vec<SearchDocument>,
}

fn kept() -> &'static Kept {
    static KEPT_ONES: OnceLock<Kept> = OnceLock::new();
    KEPT_ONES.get_or_init(|| {
        let all =
            || KEPT.iter().zip(1..).map(|([title, text], number)| document(number, title, &[text]));
        let index = Index::in_memory(OWNER).expect("an index");
        index.update(&mut all().map(Ok), &[], 1).expect("it is written");
        Kept {
            index,
            empty: Index::in_memory(OWNER).expect("an index"),
            documents: all().collect(),
        }
    })
}

fn document(number: u8, title: &str, texts: &[&str]) -> SearchDocument {
    let (id, now) = (DocumentId::from_bytes([number; 16]), Timestamp::default());
    let attributes = Attributes {
        id,
        location: Location::Unsorted,
        day: None,
        created_at: now,
        modified_at: now,
    };
    let mut analyzer = Analyzer::default();
    let mut builder = analyzer.begin(attributes, title);
    texts.iter().for_each(|text| builder.add_words(text));
    builder.finish()
}

// A line has the terms, with tabs between them; then come a title and texts of a document that the
// index does not have.
fuzz_target!(|input: &str| {
    let mut lines = input.split('\n');
    let (asked, texts): (_, Vec<&str>) = (lines.next().unwrap_or_default(), lines.collect());
    let asked: Vec<&str> = asked.split('\t').collect();
    let own = document(
        99,
        texts.first().copied().unwrap_or_default(),
        texts.get(1..).unwrap_or_default(),
    );
    for mode in TermMode::ALL {
        match ParsedQuery::new(&asked, *mode) {
            Ok(terms) => check(&asked, *mode != TermMode::All, &terms, &texts, &own),
            Err(error) => assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{error:?}"),
        }
    }
});

fn check(asked: &[&str], any: bool, terms: &ParsedQuery, texts: &[&str], own: &SearchDocument) {
    let kept = kept();
    let found = search(&kept.index, &[own], terms);
    let beside: Vec<_> = kept.documents.iter().chain([own]).collect();
    let beside = search(&kept.empty, &beside, terms);
    assert_eq!(found.len(), beside.len(), "{found:?}, {beside:?}");
    for (one, other) in found.iter().zip(&beside) {
        assert!(
            one.rank.document == other.rank.document && (one.rank.score - other.rank.score).abs() < 1e-9,
            "{found:?}, {beside:?}"
        );
    }
    let clauses: Vec<Clause> = asked.iter().flat_map(|text| clauses(text)).collect();
    let number = |hit: &Hit| hit.rank.document.as_bytes()[0];
    // For other words than those that are asked for, which no document has.
    let corrected = found.iter().filter(|hit| !hit.corrected.is_empty());
    let corrected: BTreeSet<u8> = corrected.map(number).collect();
    let found: BTreeSet<u8> = found.iter().map(number).collect();
    let all = KEPT.iter().zip(1..).map(|(texts, number)| (number, &texts[..])).chain([(99, texts)]);
    for (number, texts) in all {
        let texts: Vec<_> = texts.iter().map(|text| tokens(text)).collect();
        let meets = |loosely| {
            let mut met = clauses.iter().map(|clause| clause.is_in(&texts, loosely));
            !clauses.is_empty() && if any { met.any(|met| met) } else { met.all(|met| met) }
        };
        let is_found = found.contains(&number);
        assert!(is_found || !meets(false), "{number} has what is asked for");
        // Where any word is enough, parts of words are asked for as well.
        let may_lack = any || corrected.contains(&number);
        assert!(!is_found || may_lack || meets(true), "{number} has not what is asked for");
    }
}

fn search(index: &Index, dirty: &[&SearchDocument], query: &ParsedQuery) -> Vec<Hit> {
    let dirty_ids = HashSet::new();
    let overlay = SearchOverlay { dirty, dirty_ids: &dirty_ids, filter: &|_| true, subset: None };
    let snapshot = index.snapshot().expect("a snapshot");
    snapshot.search(query, &overlay, usize::MAX).expect("a search of an index in memory").hits
}

/// Something that a document has to have in one of its texts.
struct Clause {
    /// In a row.
    parts: Vec<QueryPart>,
    /// Whether a word of the same stem, or of other parts, will do.
    is_word: bool,
}

/// What stands in quotation marks is a row; the last word of a text may be the beginning of one.
fn clauses(text: &str) -> Vec<Clause> {
    let (mut clauses, mut rest) = (Vec::new(), text);
    while let Some((before, quoted, behind)) = quotation(rest) {
        clauses.extend(query_words(before).into_iter().map(word));
        let parts: Vec<_> = query_words(quoted).into_iter().flat_map(|word| word.parts).collect();
        clauses.extend((!parts.is_empty()).then_some(Clause { parts, is_word: false }));
        rest = behind;
    }
    let from = clauses.len();
    clauses.extend(query_words(rest).into_iter().map(word));
    let last = clauses
        .get_mut(from..)
        .and_then(<[Clause]>::last_mut)
        .and_then(|clause| clause.parts.last_mut());
    last.into_iter().for_each(|part| part.prefix = true);
    clauses
}

fn word(word: QueryWord) -> Clause {
    // Of a run some pairs suffice.
    Clause { is_word: word.whole.is_none(), parts: word.parts }
}

fn quotation(text: &str) -> Option<(&str, &str, &str)> {
    let (before, after) = at_mark(text)?;
    let (quoted, behind) = at_mark(after)?;
    Some((before, quoted, behind))
}

fn at_mark(text: &str) -> Option<(&str, &str)> {
    let is_hebrew = |letter: Option<char>| {
        letter.is_some_and(|letter| ('\u{5d0}'..='\u{5ea}').contains(&letter))
    };
    text.char_indices().filter(|(_, letter)| "\"＂“”„‟«»「」『』〝〞〟".contains(*letter)).find_map(
        |(at, letter)| {
            let (before, after) = (&text[..at], &text[at + letter.len_utf8()..]);
            let is_in_word = letter == '"'
                && is_hebrew(before.chars().next_back())
                && is_hebrew(after.chars().next());
            (!is_in_word).then_some((before, after))
        },
    )
}

impl Clause {
    /// Whether one of the texts has it; `loosely`, whether one has a word that may have the same
    /// stem.
    fn is_in(&self, texts: &[Vec<Token>], loosely: bool) -> bool {
        texts
            .iter()
            .any(|text| self.is_row_of(text) || (loosely && self.is_word && self.is_alike(text)))
    }

    fn is_row_of(&self, text: &[Token]) -> bool {
        let Some(first) = self.parts.first() else { return false };
        let says = |token: &Token, part: &QueryPart| {
            if part.prefix { token.text.starts_with(&part.text) } else { token.text == part.text }
        };
        let starts = text.iter().filter(|token| says(token, first)).map(|token| token.position);
        starts.into_iter().any(|start| {
            self.parts.iter().all(|part| {
                let at = start + part.position - first.position;
                text.iter().any(|token| token.position == at && says(token, part))
            })
        })
    }

    /// Stems change the ends of words; those of Arabic also their beginnings.
    fn is_alike(&self, text: &[Token]) -> bool {
        let first = |word: &str| word.chars().next();
        let is_arabic = |word: &str| word.contains(|letter| ('\u{600}'..='\u{6ff}').contains(&letter));
        let alike = |one: &str, other: &str| {
            first(one) == first(other) || is_arabic(one) || is_arabic(other)
        };
        self.parts.iter().any(|part| text.iter().any(|token| alike(&token.text, &part.text)))
    }
}
