//! What is wrong with a pair of worlds, and the smallest story of one that fails.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::leak::Leak;
use super::pair::{Counts, Pair};

/// Calls of a pair.
pub const CALLS: u64 = 50;
/// How many times a story that fails is told anew, with less.
const SHORTER: usize = 200;

/// What is wrong with the pair of this seed after these steps, and what happened until then.
pub fn check(
    seed: u64,
    steps: &[u64],
    leak: Leak,
    counts: &mut Counts,
) -> Result<(), (String, String)> {
    let mut pair = Pair::new(seed, leak);
    let outcome = catch_unwind(AssertUnwindSafe(|| pair.run(steps)));
    for (operation, [refused, done]) in &pair.counts {
        let count = counts.entry(operation).or_default();
        (count[0], count[1]) = (count[0] + refused, count[1] + done);
    }
    let outcome = outcome.unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().cloned();
        Err(message.unwrap_or_else(|| "it panicked".to_owned()))
    });
    outcome.map_err(|error| (error, pair.story.join("\n")))
}

/// Leaves out steps for as long as the pair still fails.
pub fn shortest(seed: u64, leak: Leak) -> (Vec<u64>, String, String) {
    let mut steps: Vec<u64> = (0..CALLS).collect();
    let fails = |steps: &[u64]| check(seed, steps, leak, &mut Counts::new()).err();
    let (mut error, mut story) =
        fails(&steps).unwrap_or_else(|| ("it fails no more".to_owned(), String::new()));
    let (mut size, mut tries) = (steps.len() / 2, 0);
    while size > 0 {
        let mut at = 0;
        while at < steps.len() && tries < SHORTER {
            tries += 1;
            let mut fewer = steps.clone();
            fewer.drain(at..(at + size).min(fewer.len()));
            match fails(&fewer) {
                Some(found) => (steps, (error, story)) = (fewer, found),
                None => at += size,
            }
        }
        size /= 2;
    }
    (steps, error, story)
}
