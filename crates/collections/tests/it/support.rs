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
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(config, random).run(strategy, test).map_err(|error| error.to_string())
}
