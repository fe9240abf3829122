//! Sequences of requests on a space in memory, beside the naive model: equal replies, equal errors, equal documents.
#![no_main]

// The same code keeps both side by side in the tests, where the space is on disk.
#[path = "../../tests/tests/model/pair.rs"]
mod pair;

use leafbase::{BlockData, BlockDraft, Destination};
use leafbase_test_outline::{Numbers, Request};
use libfuzzer_sys::fuzz_target;

use pair::{Pair, canonical};

/// Requests in one sequence, at most.
const OPERATIONS: u64 = 60;

/// Numbers that a request takes, about.
const EACH: u64 = 8;

fuzz_target!(|numbers: Vec<u32>| {
    let operations = OPERATIONS.min(numbers.len() as u64 / EACH + 1);
    let mut numbers = Numbers::new(&numbers);
    let mut pair = Pair::new(None);
    let home = BlockDraft::new(BlockData::page("home"));
    pair.step(1, Request::CreateDocument { root: home, destination: Destination::Unsorted });
    for number in 2..operations + 2 {
        let request = canonical(Request::new(&mut numbers, &pair.naive), &pair.naive);
        pair.step(number, request);
    }
    pair.reopen();
    pair.compare_dumps();
    pair.check();
});
