//! Two processes work on spaces whose directories move under them: they change their current
//! directory, directories are renamed and swapped while spaces are open, backups are restored over
//! closed spaces, and processes are killed.

use std::io;

use crate::kind::{Control, Failure, Fault, Kind, Least, Trial};
use crate::random::Random;

mod process;
mod scene;
mod steps;
mod tree;
mod worker;

use scene::PlaceScene;
pub use worker::{ARGUMENT, serve};

pub const KIND: Kind = Kind {
    name: "places",
    says: "two processes with spaces open by relative and absolute paths, while directories are renamed, swapped, copied and restored, and processes are killed",
    weight: 3,
    least: Least::Trials(300),
    trial: |seed| trial(seed, false),
    control: Some(Control {
        says: "change tokens that are all the same: the index and the positions of another history pass for those of the space",
        trial: |seed| trial(seed, true),
    }),
};

const STEPS: u64 = 50;

fn trial(seed: u64, same_tokens: bool) -> Result<Trial, Failure> {
    let mut scene = PlaceScene::new(Random::new(seed), same_tokens)?;
    let played = play(&mut scene);
    let root = scene.root().display().to_string();
    played.map_err(|failure| {
        let steps = scene.steps.join("; ");
        // The report of a control needs no steps.
        let after = if same_tokens { String::new() } else { format!(" after: {steps}") };
        Failure::new(failure.fault, format!("{}{after}", failure.what).replace(&root, "ROOT"))
    })?;
    scene.trial.trials = 1;
    Ok(scene.trial)
}

fn play(scene: &mut PlaceScene) -> Result<(), Failure> {
    steps::make_first_spaces(scene)?;
    for _ in 0..STEPS {
        steps::step(scene)?;
    }
    steps::reopen_all(scene)
}

/// An error of the operating system in the trial itself.
fn io_failure(error: io::Error) -> Failure {
    Failure::new(Fault::Unopenable, format!("the directories of the trial: {error}"))
}
