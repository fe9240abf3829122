//! What several tests need: IDs, schemas, and how random cases are run.

use leafbase_collections::complete;
use leafbase_model::{BlockId, Limits, Schema, SchemaDraft};
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseResult, TestRng, TestRunner};

/// The ID of this number.
pub(crate) fn id(number: u8) -> BlockId {
    let mut bytes = [0; 16];
    bytes[15] = number;
    BlockId::from_bytes(bytes)
}

/// The schema that this JSON gives.
pub(crate) fn schema(draft: serde_json::Value) -> Schema {
    let draft: SchemaDraft = serde_json::from_value(draft).unwrap();
    complete(draft, &Limits::default()).unwrap()
}

/// Runs `test` on so many cases, the same ones each time. What failed is told.
pub(crate) fn run<S: Strategy>(
    cases: u32,
    strategy: &S,
    test: impl Fn(S::Value) -> TestCaseResult,
) -> Result<(), String> {
    runner(Config { cases, ..Config::default() })
        .run(strategy, test)
        .map_err(|error| error.to_string())
}

/// Whether `test` fails in one of so many cases. No smaller one is looked for: that can take much
/// longer than to find it.
pub(crate) fn fails<S: Strategy>(
    cases: u32,
    strategy: &S,
    test: impl Fn(S::Value) -> TestCaseResult,
) -> bool {
    let config = Config { cases, max_shrink_iters: 0, ..Config::default() };
    runner(config).run(strategy, test).is_err()
}

fn runner(config: Config) -> TestRunner {
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(Config { failure_persistence: None, ..config }, random)
}
