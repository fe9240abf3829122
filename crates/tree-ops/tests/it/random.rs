//! Random sequences of requests: the operations and the naive space must agree on every reply,
//! error, tree and undo.

use std::collections::BTreeMap;

use leafbase_test_outline::{BlockRequest, NaiveSpace, Numbers, Setting, small_limits};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::compare::step;
use crate::tree::Lie;

const START: &str = r#"
page "T"
  text "a"
  page "b"
    text "c"
    page "d"
      text "e"
  line
  collection "k"
    collectionItem "i"
      text "j"
    collectionItem "n"
page "U"
  text "f"
  text "g"
  text "h" list=task
page "V" in=trash
  text "w"
page "I" in=inbox
  text "x" list=task
  page "y" list=task
    text "z"
"#;

/// Does a sequence both ways, and tells `see` of each request whether it was done.
fn run(
    sequence: &[Vec<u32>],
    lie: Option<Lie>,
    mut see: impl FnMut(&BlockRequest, bool),
) -> Result<(), String> {
    let (mut space, _) = NaiveSpace::from_outline(START).unwrap();
    space.limits = small_limits();
    for (number, numbers) in (1..).zip(sequence) {
        let request =
            BlockRequest::new(&mut Numbers::new(numbers), Setting { space: &space, today: None });
        let reply = step(&mut space, &request, number, lie)
            .map_err(|error| format!("{request:#?}\n{error}"))?;
        see(&request, reply.is_ok());
    }
    Ok(())
}

fn sequences() -> impl Strategy<Value = Vec<Vec<u32>>> {
    vec(vec(any::<u32>(), 0..40), 1..40)
}

/// The same sequences in every run.
fn fixed_sequences(count: usize) -> impl Iterator<Item = Vec<Vec<u32>>> {
    let mut runner = TestRunner::new_with_rng(
        Config::default(),
        TestRng::deterministic_rng(RngAlgorithm::ChaCha),
    );
    (0..count).map(move |_| sequences().new_tree(&mut runner).unwrap().current())
}

proptest! {
    #![proptest_config(Config { cases: 1_000, failure_persistence: None, ..Config::default() })]

    #[test]
    fn the_operations_agree_with_the_naive_space(sequence in sequences()) {
        run(&sequence, None, |_, _| ()).map_err(TestCaseError::fail)?;
    }
}

#[test]
fn requests_of_each_kind_are_often_right_and_often_wrong() {
    let mut counts: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for sequence in fixed_sequences(200) {
        let seen = run(&sequence, None, |request, done| {
            let debug = format!("{request:?}");
            let kind = debug.split([' ', '(']).next().unwrap_or_default().to_owned();
            counts.entry(kind).or_default()[usize::from(done)] += 1;
        });
        seen.unwrap();
    }
    assert_eq!(counts.len(), 7);
    for (kind, [refused, done]) in counts.into_iter().filter(|(kind, _)| kind != "Relocate") {
        let share = done * 100 / (refused + done);
        assert!((15..99).contains(&share), "{kind}: {share} in a hundred are done");
    }
}

#[test]
fn a_rule_that_is_not_kept_is_found_out() {
    for lie in Lie::ALL {
        let found =
            fixed_sequences(1_000).any(|sequence| run(&sequence, Some(lie), |_, _| ()).is_err());
        assert!(found, "nothing shows that {lie:?} is a lie");
    }
}
