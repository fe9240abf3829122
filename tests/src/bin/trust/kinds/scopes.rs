//! Pairs of spaces that agree on what a scope shows, and differ in the rest.

use tests::scope::leak::Leak;
use tests::scope::pair::Counts;
use tests::scope::stories::{CALLS, check, shortest};

use crate::kind::{Control, Failure, Fault, Kind, Least, Trial};

pub const KIND: Kind = Kind {
    name: "scopes",
    says: "fifty scoped calls in two spaces that differ outside of the scope, and are changed there between the calls",
    weight: 7,
    least: Least::Trials(2_000),
    trial,
    control: Some(Control { says: "links to what is hidden are shown", trial: leaking }),
};

fn trial(seed: u64) -> Result<Trial, Failure> {
    play(seed, Leak::None).map_err(|error| {
        let (steps, why, story) = shortest(seed, Leak::None);
        let shown =
            if story.is_empty() { error } else { format!("{why}\nsteps {steps:?}\n{story}") };
        Failure::new(Fault::WrongData, shown)
    })
}

fn leaking(seed: u64) -> Result<Trial, Failure> {
    play(seed, Leak::Links).map_err(|error| Failure::new(Fault::WrongData, error))
}

fn play(seed: u64, leak: Leak) -> Result<Trial, String> {
    let (steps, mut counts): (Vec<u64>, _) = ((0..CALLS).collect(), Counts::new());
    check(seed, &steps, leak, &mut counts).map_err(|(error, story)| format!("{error}\n{story}"))?;
    let mut trial = Trial { trials: 1, ..Trial::default() };
    for [refused, done] in counts.values() {
        trial.note("calls refused", *refused as u64);
        trial.note("calls done", *done as u64);
    }
    Ok(trial)
}
