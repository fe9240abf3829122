//! The outcome of patterns, and their cost, whatever the number of threads.

use leafbase_model::{BlockData, BlockDraft, CreateDocuments, Destination, DocumentId};

use super::{CHUNK_DOCUMENTS, MatchCounter, SpeculativeResult};
use crate::core::tree::VisibleSnapshot;
use crate::core::visibility::Visibility;
use crate::operations::search::patterns::PatternSet;
use crate::{Durability, Space};

/// Documents for three parts and a bit, of up to six texts.
fn space() -> (Space, Vec<DocumentId>) {
    let space = Space::builder().durability(Durability::Relaxed).in_memory().unwrap();
    let page = |number: usize| {
        let text = |block| BlockDraft::new(BlockData::text(text(7 * number + block)));
        BlockDraft::new(BlockData::page("Socks")).with_content((0..number % 7).map(text).collect())
    };
    let drafts = (0..3 * CHUNK_DOCUMENTS + 9).map(page).collect::<Vec<_>>();
    let made = space
        .connect()
        .create_documents(CreateDocuments::new(drafts, Destination::Unsorted))
        .unwrap();
    let mut documents: Vec<_> = made.iter().map(crate::Document::id).collect();
    documents.sort_unstable();
    (space, documents)
}

/// Its number, and letters that are different in each.
fn text(number: usize) -> String {
    let bits =
        (0..4u64).map(|word| mixed(4 * number as u64 + word)).map(|word| format!("{word:064b}"));
    let letters = bits.collect::<String>().replace('0', "a").replace('1', "b");
    format!("sock {number} of wool {letters}")
}

fn mixed(number: u64) -> u64 {
    let spread = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let spread = (spread ^ (spread >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    spread ^ (spread >> 27)
}

/// What is counted, or the error, and how many steps are left after it.
type Outcome = (Result<usize, String>, u64);

fn outcome(
    space: &Space,
    seen: &Visibility,
    documents: &[DocumentId],
    patterns: &[&str],
    steps: u64,
    threads: usize,
) -> Outcome {
    let texts: Vec<_> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
    let patterns = PatternSet::new("regexps", &texts, false).unwrap();
    let mut matcher = patterns.matcher_with_budget(steps);
    let snapshot = space.store().unwrap().snapshot().unwrap();
    let snapshot = VisibleSnapshot::for_tests(snapshot, seen.clone());
    let counts = MatchCounter { snapshot: &snapshot, threads }.count(documents, &mut matcher);
    let counted = counts.map(|counts| counts.iter().map(|(_, count)| count).sum());
    let left = if counted.is_ok() { matcher.remaining_steps() } else { 0 };
    (counted.map_err(|error| error.to_string()), left)
}

/// Its automaton gives up on the way: it would have a state for each letter.
const GIVES_UP: &str = "a[ab]{80}c|l a";

const ENOUGH: u64 = 100_000_000;

#[test]
fn outcomes_and_costs_do_not_depend_on_the_number_of_threads() {
    let (space, documents) = space();
    let cases: [&[&str]; 6] = [
        &["sock 1"],
        &[r"\w+ock\b"],
        &[r"\b\w{4} \d+ of"],
        &[r"(?<=sock )\d+(?= of)"],
        &["nowhere", "[0-9]7", r"(a|aa)+\d"],
        &[GIVES_UP],
    ];
    for patterns in cases {
        let (counted, left) = outcome(&space, &Visibility::All, &documents, patterns, ENOUGH, 1);
        assert!(counted.is_ok() && left < ENOUGH, "{patterns:?}: {counted:?}");
        let cost = ENOUGH - left;
        assert_eq!(cost > 2_000_000, patterns == [GIVES_UP], "{patterns:?} cost {cost}");
        // All is paid for, a step is lacking at the very end, and it ends in each of the parts.
        for steps in [ENOUGH, cost, cost - 1, cost * 9 / 10, cost / 2, cost / 5, 3] {
            let alone = outcome(&space, &Visibility::All, &documents, patterns, steps, 1);
            assert_eq!(alone.0.is_ok(), steps >= cost, "{patterns:?} with {steps} of {cost} steps");
            for threads in [0, 2, 3, 9] {
                let shared =
                    outcome(&space, &Visibility::All, &documents, patterns, steps, threads);
                assert_eq!(
                    shared, alone,
                    "{patterns:?} with {steps} of {cost} steps on {threads} threads"
                );
            }
        }
    }
}

/// A scope with the same documents costs the same, however many others lie between them.
#[test]
fn what_a_scope_does_not_show_makes_no_difference_to_the_cost() {
    let (space, documents) = space();
    let shown: Vec<_> = documents.iter().copied().step_by(2).collect();
    assert!(shown.len() > CHUNK_DOCUMENTS);
    let seen = space.scoped(shown.iter().copied()).visibility();
    let patterns = [r"\b\w{4} \d+ of"];
    let among_all = outcome(&space, &seen, &documents, &patterns, ENOUGH, 2);
    assert_eq!(among_all, outcome(&space, &seen, &shown, &patterns, ENOUGH, 1));
    assert!(among_all.0.is_ok_and(|counted| counted > 0));
}

#[test]
fn several_threads_are_used_where_there_are_several_parts() {
    let (space, documents) = space();
    let patterns = PatternSet::new("regexps", &[r"\w+ock\b".to_owned()], false).unwrap();
    let snapshot = space.store().unwrap().snapshot().unwrap();
    let snapshot = VisibleSnapshot::for_tests(snapshot, Visibility::All);
    let parts: Vec<_> = documents.chunks(CHUNK_DOCUMENTS).collect();
    let ahead = |threads| {
        let done =
            MatchCounter { snapshot: &snapshot, threads }.speculate(&parts, &patterns.matcher());
        done.into_iter().map(|SpeculativeResult { chunk, .. }| chunk).collect::<Vec<_>>()
    };
    assert_eq!((ahead(1), ahead(2)), (vec![], vec![0, 1, 2, 3]));
}
