//! Sequences of requests on a space in memory, beside the naive model: equal replies, equal errors,
//! equal documents.
#![no_main]

use leafbase_test_outline::Numbers;
use libfuzzer_sys::fuzz_target;
use tests::model::pair::Pair;

/// Requests in one sequence, at most.
const OPERATIONS: u64 = 60;

/// Numbers that a request takes, about.
const EACH: u64 = 8;

fuzz_target!(|numbers: Vec<u32>| {
    let operations = OPERATIONS.min(numbers.len() as u64 / EACH + 1);
    let mut numbers = Numbers::new(&numbers);
    let mut pair = Pair::new(None);
    pair.with_collections = numbers.once_in(2);
    for _ in 0..operations {
        let request = pair.next(&mut numbers);
        pair.step(request);
    }
    pair.reopen();
    pair.compare_dumps();
    pair.check();
});
