//! A damaged space is salvaged: what comes of it is whole, and holds all that could be read.

use std::fs;
use std::sync::Arc;

use leafbase::Space;
use leafbase_store::directory::STORE_FILE;
use tests::reading::{self, Question};
use tests::rich;

use super::harm::Harm;
use super::{Scene, wrong};
use crate::kind::{Failure, Fault, Trial};

/// Of `readable` are the numbers of the questions that the damaged space answers.
pub fn save(
    scene: &Scene,
    harm: &Harm,
    image: &Arc<[u8]>,
    readable: &[usize],
    trial: &mut Trial,
) -> Result<(), Failure> {
    let fail = |what: String| Failure::new(Fault::Unopenable, format!("{} space, {harm}: {what}", scene.name));
    let place = tempfile::tempdir().map_err(|error| fail(error.to_string()))?;
    let (from, to) = (place.path().join("damaged"), place.path().join("saved"));
    let written = fs::create_dir(&from).and_then(|()| fs::write(from.join(STORE_FILE), &**image));
    written.map_err(|error| fail(error.to_string()))?;
    let report = match Space::salvage(&from, &to) {
        Ok(report) => report,
        Err(error) if harm.explains(&error) && !to.exists() => {
            if !readable.is_empty() {
                return Err(wrong(scene, harm, format_args!("it can be read and not be salvaged: {error:?}")));
            }
            trial.note("nothing to salvage", 1);
            return Ok(());
        }
        Err(error) => return Err(fail(format!("the salvage reports {error:?}"))),
    };
    let saved = rich::builder().open(&to).map_err(|error| fail(format!("what was saved reports {error:?}")))?;
    let checked = saved.check().map_err(|error| fail(format!("the check of what was saved reports {error:?}")))?;
    if !checked.is_clean() {
        return Err(fail(format!("what was saved is not whole: {:?} after {:?}", checked.problems, report.losses)));
    }
    let notes = saved.connect();
    let answers = |number: &usize| {
        let (question, answer) = &scene.truth[*number];
        reading::ask(&notes, question).is_ok_and(|found| found == *answer)
    };
    // Of documents and collections lists say what a loss elsewhere changes: where a document is kept, and how many items there are.
    let is_list = |number: &usize| matches!(scene.truth[*number].0, Question::Documents | Question::Collections);
    let kept = readable.iter().filter(|number| report.is_whole() || !is_list(number));
    if let Some(lost) = kept.copied().find(|number| !answers(number)) {
        let lost = &lost;
        let (question, answer) = &scene.truth[*lost];
        let found = reading::ask(&notes, question).unwrap_or_else(|error| format!("{error:?}"));
        let unlike = super::unlike(&found, answer);
        return Err(wrong(
            scene,
            harm,
            format_args!("{question:?} was readable and not saved: {unlike}, {:?}", report.losses),
        ));
    }
    trial.note("salvaged", 1);
    let all = (0..scene.truth.len()).filter(answers).count() as u64;
    trial.note("questions answered after salvage", all);
    Ok(())
}
