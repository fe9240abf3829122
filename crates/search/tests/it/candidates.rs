//! Candidates of patterns: no match is lost, however the index was updated and merged.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use leafbase_model::DocumentId;
use leafbase_pattern::Pattern;
use leafbase_search::{Index, SearchOverlay};
use proptest::prelude::*;

use crate::fixture::{OWNER, document, id, update};

/// The documents of the index that can match one of the patterns.
fn candidates(index: &Index, patterns: &[&str]) -> Vec<DocumentId> {
    let patterns: Vec<_> =
        patterns.iter().map(|pattern| Pattern::new(pattern, false).unwrap()).collect();
    let required: Vec<_> = patterns.iter().map(Pattern::trigram_query).collect();
    let scope =
        SearchOverlay { dirty: &[], dirty_ids: &HashSet::new(), filter: &|_| true, subset: None };
    index.snapshot().unwrap().candidates(&required, &scope).unwrap()
}

/// Texts that have different words of the patterns.
const TEXTS: [&[&str]; 4] = [
    &["an old lantern here", "the train to Žižkov"],
    &["some train leaves, žižka"],
    &["a lantern by Žižkov"],
    &["nothing of it"],
];

/// Each query, and which of the documents are candidates.
const PATTERNS: [(&[&str], &[usize]); 7] = [
    (&["lantern"], &[0, 2]),
    (&["lantern.*train"], &[0]),
    (&["(old|some) (lantern|train).*"], &[0, 1]),
    (&["lantern.*Žižkov"], &[0, 2]),
    (&["Žižkov.*žižka"], &[]),
    (&["lantern.*train", "žižka"], &[0, 1]),
    (&["lan..."], &[0, 2]),
];

#[test]
fn documents_without_a_required_trigram_are_no_candidates() {
    let index = Index::in_memory(OWNER).unwrap();
    let mut text_of = BTreeMap::new();
    let check = |text_of: &BTreeMap<u8, usize>, when: &str| {
        for (patterns, texts) in PATTERNS {
            let expected = text_of.iter().filter(|(_, text)| texts.contains(text));
            let expected: Vec<_> = expected.map(|(number, _)| id(*number)).collect();
            assert_eq!(candidates(&index, patterns), expected, "{patterns:?} {when}");
        }
    };
    for sequence in 1..12_u8 {
        let added: Vec<(u8, usize)> =
            (0..20).map(|number| (sequence * 20 + number, usize::from(number) % 4)).collect();
        let documents =
            added.iter().map(|(number, text)| document(*number, "", TEXTS[*text])).collect();
        // Deletions of one segment's first documents shift the IDs of the others in a merge.
        let deleted = [sequence * 20 - 20, sequence * 20 - 17, sequence * 20 - 8];
        update(&index, documents, &deleted, sequence.into()).unwrap();
        text_of.extend(added);
        text_of.retain(|number, _| !deleted.contains(number));
        check(&text_of, "in its segment");
        index.merge().unwrap();
        check(&text_of, "after a merge");
    }
}

#[test]
fn dirty_documents_are_candidates_as_those_of_the_index_are() {
    for (patterns, expected) in PATTERNS {
        for (number, texts) in TEXTS.iter().enumerate() {
            let document = document(1, "", texts);
            let may_match = |pattern: &&str| {
                document.may_match(Pattern::new(pattern, false).unwrap().trigram_query())
            };
            let is_candidate = patterns.iter().any(may_match);
            assert_eq!(is_candidate, expected.contains(&number), "{patterns:?} {number}");
        }
    }
}

const WORDS: [&str; 4] = ["lantern", "train", "Žižkov", "harbor 21"];

/// The words of each text.
type Texts = Vec<Vec<usize>>;

fn written(words: &[usize]) -> String {
    words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ")
}

/// Documents of one update, deletions, and whether segments are merged then. Most documents have
/// each word; in some segments few have it.
fn batch() -> impl Strategy<Value = (Vec<Texts>, Vec<u8>, bool)> {
    let of_words = |words: Range<usize>, texts: Range<usize>| {
        prop::collection::vec(
            prop::collection::vec(prop::collection::vec(words, 0..3), texts),
            1..12,
        )
    };
    let documents = prop_oneof![4 => of_words(0..4, 5..12), 1 => of_words(0..4, 0..4), 1 => of_words(1..4, 4..70)];
    (documents, prop::collection::vec(any::<u8>(), 0..6), any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn no_match_is_lost(batches in prop::collection::vec(batch(), 1..20)) {
        let (index, mut now, mut next) = (Index::in_memory(OWNER).unwrap(), BTreeMap::<u8, Texts>::new(), 0..);
        for (sequence, (documents, gone, is_merged)) in (1..).zip(batches) {
            let gone: Vec<u8> = gone.into_iter().filter(|number| now.remove(number).is_some()).collect();
            let added: BTreeMap<u8, Texts> = next.by_ref().zip(documents).collect();
            let made = added.iter().map(|(number, texts)| {
                let texts: Vec<String> = texts.iter().map(|words| written(words)).collect();
                document(*number, "", &texts.iter().map(String::as_str).collect::<Vec<_>>())
            });
            update(&index, made.collect(), &gone, sequence).unwrap();
            now.extend(added);
            if is_merged {
                index.merge().unwrap();
            }
        }
        for number in 0..WORDS.len().pow(3) {
            let [one, or, other] = [number % 4, number / 4 % 4, number / 16];
            let found = candidates(&index, &[&format!("({}|{}) (.* )?{}", WORDS[one], WORDS[or], WORDS[other])]);
            let matches = |words: &Vec<usize>| {
                let first = words.iter().position(|word| [one, or].contains(word));
                first.is_some_and(|first| words[first + 1..].contains(&other))
            };
            for (number, _) in now.iter().filter(|(_, texts)| texts.iter().any(matches)) {
                prop_assert!(found.contains(&id(*number)), "{} is not found by {} or {}, {}", number, one, or, other);
            }
        }
    }
}
