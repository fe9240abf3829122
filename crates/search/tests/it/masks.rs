//! What has all that a pattern requires, but not in one text, is no candidate; and no match is lost
//! by that, however the index was put together.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use leafbase_model::DocumentId;
use leafbase_pattern::Pattern;
use leafbase_search::{Index, Scope};
use proptest::prelude::*;

use crate::made::{OWNER, document, id, update};

/// Of the documents that the index has, those that may match one of the patterns.
fn candidates(index: &Index, patterns: &[&str]) -> Vec<DocumentId> {
    let patterns: Vec<_> =
        patterns.iter().map(|pattern| Pattern::new(pattern, false).unwrap()).collect();
    let required: Vec<_> = patterns.iter().map(Pattern::trigram_query).collect();
    let scope = Scope { fresh: &[], changed: &HashSet::new(), accepts: &|_| true, only: None };
    index.view().unwrap().candidates(&required, &scope).unwrap()
}

/// Texts with both words apart, in one text, in two texts that share a bit, and with letters beyond
/// ASCII.
fn kinds() -> [Vec<&'static str>; 5] {
    let between = || std::iter::repeat_n("", 23);
    [
        vec!["an old lantern here", "some train leaves, Žižkov", "the žižka hill"],
        vec!["some train leaves, žižka", "an old lantern by the train in Žižkov"],
        ["an old lantern here"]
            .into_iter()
            .chain(between())
            .chain(["some train to Žižkov, žižka"])
            .collect(),
        vec!["some train", "žižka in Žižkov", "an old lantern"],
        vec![
            "Žižkov",
            "some train and žižka",
            "a lantern of old",
            "some train and an old camp, a lantern",
        ],
    ]
}

/// Each pattern, and which kinds of documents may match it.
const PATTERNS: [(&[&str], &[usize]); 10] = [
    (&["lantern"], &[0, 1, 2, 3, 4]),
    (&["lantern.*train"], &[1, 2, 4]),
    (&["train.*lantern"], &[1, 2, 4]),
    (&["(old|some) lantern.*(train|boat)"], &[1, 2]),
    (&["lantern.*Žižkov"], &[1, 2]),
    (&["(lantern|train).*Žižkov"], &[0, 1, 2]),
    (&["Žižkov.*žižka"], &[2, 3]),
    (&["lantern.*Žižkov", "Žižkov.*žižka"], &[1, 2, 3]),
    (&["lantern.*Žižkov", "train"], &[0, 1, 2, 3, 4]),
    (&["lantern.*nowhere", "train.*Žižkov"], &[0, 1, 2]),
];

#[test]
fn words_of_two_texts_are_told_from_those_of_one() {
    let index = Index::in_memory(OWNER).unwrap();
    let mut kind_of = BTreeMap::new();
    let check = |kind_of: &BTreeMap<u8, usize>, when: &str| {
        for (patterns, kinds) in PATTERNS {
            let expected = kind_of
                .iter()
                .filter(|(_, kind)| kinds.contains(kind))
                .map(|(number, _)| id(*number));
            assert_eq!(
                candidates(&index, patterns),
                expected.collect::<Vec<_>>(),
                "{patterns:?} {when}"
            );
        }
    };
    for sequence in 1..12_u8 {
        let added: Vec<(u8, usize)> =
            (0..20).map(|number| (sequence * 20 + number, usize::from(number) % 5)).collect();
        let documents =
            added.iter().map(|(number, kind)| document(*number, "", &kinds()[*kind])).collect();
        // Those that go come before others in their segment.
        let gone = [sequence * 20 - 20, sequence * 20 - 17, sequence * 20 - 8];
        update(&index, documents, &gone, sequence.into()).unwrap();
        kind_of.extend(added);
        kind_of.retain(|number, _| !gone.contains(number));
        check(&kind_of, "in its segment");
        index.tidy().unwrap();
        check(&kind_of, "after segments were put together");
    }
}

#[test]
fn documents_beside_the_index_are_told_apart_as_those_in_it() {
    for (patterns, kinds_of_it) in PATTERNS {
        for (kind, texts) in kinds().iter().enumerate() {
            let made = document(1, "", texts);
            let may_match = |pattern: &&str| {
                made.may_match(Pattern::new(pattern, false).unwrap().trigram_query())
            };
            assert_eq!(
                patterns.iter().any(may_match),
                kinds_of_it.contains(&kind),
                "{patterns:?} {kind}"
            );
        }
    }
}

const WORDS: [&str; 4] = ["lantern", "train", "Žižkov", "harbor 21"];

/// The words of each text.
type Texts = Vec<Vec<usize>>;

fn written(words: &[usize]) -> String {
    words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ")
}

/// Documents that are added together, which of all go, and whether segments are put together then.
/// Most documents have each word, in few texts; in some segments hardly any has it.
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
        for (sequence, (documents, gone, is_tidied)) in (1..).zip(batches) {
            let gone: Vec<u8> = gone.into_iter().filter(|number| now.remove(number).is_some()).collect();
            let added: BTreeMap<u8, Texts> = next.by_ref().zip(documents).collect();
            let made = added.iter().map(|(number, texts)| {
                let texts: Vec<String> = texts.iter().map(|words| written(words)).collect();
                document(*number, "", &texts.iter().map(String::as_str).collect::<Vec<_>>())
            });
            update(&index, made.collect(), &gone, sequence).unwrap();
            now.extend(added);
            if is_tidied {
                index.tidy().unwrap();
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
