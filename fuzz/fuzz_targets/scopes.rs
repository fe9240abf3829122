//! Sequences of scoped calls in two spaces that agree on the scope and differ in the rest: equal
//! answers, a rest that stays, silence.
#![no_main]

use tests::scope::leak::Leak;
use libfuzzer_sys::fuzz_target;
use tests::scope::dice::Dice;
use tests::scope::pair::Pair;

/// Bytes that a call is made of; from there on it makes itself up.
const EACH: usize = 12;
const CALLS: usize = 2;
/// Pairs of spaces to begin with, and the calls that each has seen: with every one there is more to
/// be known.
const PAIRS: u64 = 12;
const SEEN: u64 = 3;
/// One pair in so many makes indexes, which takes longer than all else.
const INDEXED: u64 = 6;

thread_local! {
    /// Pairs whose caller has looked at everything.
    static BEGUN: Vec<Pair> = (0..PAIRS).map(begun).collect();
}

fn begun(seed: u64) -> Pair {
    let mut pair = Pair::new(seed, Leak::None);
    let steps: Vec<u64> = (0..seed * SEEN).collect();
    pair.run(&steps).unwrap_or_else(|error| panic!("{error}"));
    pair.flush_now_and_then(seed % INDEXED == 5);
    pair
}

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    let mut pair = BEGUN.with(|begun| begun[usize::from(*first) % begun.len()].fork());
    for (step, bytes) in (1_000..).zip(rest.chunks(EACH).take(CALLS)) {
        // The rest of one world is changed by other numbers than that of the other.
        let of_bytes =
            bytes.iter().fold(step, |sum: u64, byte| sum.rotate_left(8) ^ u64::from(*byte));
        let hidden = [0, 1].map(|world| Dice::new(of_bytes, world));
        if let Err(error) = pair.step_by(step, Dice::of(bytes), hidden) {
            panic!("{}\n{error}", pair.story.join("\n"));
        }
    }
});
