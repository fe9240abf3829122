//! Random requests on the engine, and on a naive model of it.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use leafbase_test_outline::{Broken, Request};
use tests::model::pair::Pair;
use tests::model::sequences::{run, sequence};

use crate::kind::{Control, Failure, Fault, Kind, Least, Trial};

pub const KIND: Kind = Kind {
    name: "model",
    says: "a hundred random requests, some with the space closed and opened between them, are answered as a naive model answers",
    weight: 2,
    least: Least::Trials(5_000),
    trial,
    control: Some(Control {
        says: "the model keeps comments when their block goes",
        trial: broken,
    }),
};

/// One sequence in so many is on disk.
const ON_DISK: u64 = 8;
/// How often a sequence that fails is tried anew with less.
const SMALLER: u32 = 400;

fn trial(seed: u64) -> Result<Trial, Failure> {
    play(seed, None, SMALLER)
}

fn broken(seed: u64) -> Result<Trial, Failure> {
    play(seed, Some(Broken::CommentsStay), 0)
}

fn play(seed: u64, broken: Option<Broken>, smaller: u32) -> Result<Trial, Failure> {
    let on_disk = broken.is_none() && seed.is_multiple_of(ON_DISK);
    let done = RefCell::new(Vec::new());
    let test = |numbers: &[u32]| {
        let place =
            on_disk.then(|| tempfile::tempdir().unwrap_or_else(|error| panic!("no room: {error}")));
        let mut pair = Pair::new(place.as_ref().map(|place| place.path().join("space")));
        (pair.with_collections, pair.naive.broken) = (seed % 2 == 1, broken);
        done.borrow_mut().clear();
        run(numbers, pair, |request, is_done| done.borrow_mut().push((request.clone(), is_done)));
    };
    if let Err((numbers, why)) = sequence(seed, smaller, test) {
        // The last try need not have been the smallest that fails.
        drop(catch_unwind(AssertUnwindSafe(|| test(&numbers))));
        let told = |(request, is_done): &(Request, bool)| {
            format!("  {request:?}{}\n", if *is_done { "" } else { " (refused)" })
        };
        let story: String = done.borrow().iter().map(told).collect();
        return Err(Failure::new(Fault::WrongData, format!("{why}\nafter\n{story}")));
    }
    let mut trial = Trial { trials: 1, ..Trial::default() };
    for (_, is_done) in &*done.borrow() {
        trial.note(if *is_done { "requests done" } else { "requests refused" }, 1);
    }
    trial.note("spaces on disk", on_disk.into());
    Ok(trial)
}
