//! A damaged space is salvaged: what comes of it is whole, and holds all that could be read.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use leafbase::{Connection, ListCollections, LossKind, SalvageReport, Space};
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
    let fail = |what: String| {
        Failure::new(Fault::Unopenable, format!("{} space, {harm}: {what}", scene.name))
    };
    let place = tempfile::tempdir().map_err(|error| fail(error.to_string()))?;
    let (from, to) = (place.path().join("damaged"), place.path().join("saved"));
    let written = fs::create_dir(&from).and_then(|()| fs::write(from.join(STORE_FILE), &**image));
    written.map_err(|error| fail(error.to_string()))?;
    let report = match Space::salvage(&from, &to) {
        Ok(report) => report,
        Err(error) if harm.explains(&error) && !to.exists() => {
            if !readable.is_empty() {
                return Err(wrong(
                    scene,
                    harm,
                    format_args!("it can be read and not be salvaged: {error:?}"),
                ));
            }
            trial.note("nothing to salvage", 1);
            return Ok(());
        }
        Err(error) => return Err(fail(format!("the salvage reports {error:?}"))),
    };
    let saved = rich::builder()
        .open(&to)
        .map_err(|error| fail(format!("what was saved reports {error:?}")))?;
    let checked = saved
        .check()
        .map_err(|error| fail(format!("the check of what was saved reports {error:?}")))?;
    if !checked.is_clean() {
        return Err(fail(format!(
            "what was saved is not whole: {:?} after {:?}",
            checked.problems, report.losses
        )));
    }
    let notes = saved.connect();
    let answers = |number: &usize| {
        let (question, answer) = &scene.truth[*number];
        reading::ask(&notes, question).is_ok_and(|found| found == *answer)
    };
    // A list of collections says what a loss elsewhere changes: how many items there are. So after
    // a loss it is only looked at what it names.
    let is_list = |number: &usize| matches!(scene.truth[*number].0, Question::Collections);
    let kept = readable.iter().filter(|number| report.is_whole() || !is_list(number));
    // Nor are documents where they were, if their folder is lost; but they are there.
    let is_moved_documents = |number: &usize| {
        let (question, answer) = &scene.truth[*number];
        matches!(question, Question::Documents | Question::Latest | Question::LatestUnsorted)
            && !report.is_whole()
            && reading::ask(&notes, question).is_ok_and(|found| has_all_documents(&found, answer))
    };
    // How many items a collection has is kept apart from them: it can be read where some of them
    // are lost.
    let blocks = report.lost.get(&LossKind::Block).copied().unwrap_or_default();
    let is_fewer = |number: &usize| {
        let (question, answer) = &scene.truth[*number];
        let found = reading::ask(&notes, question).unwrap_or_default();
        let missing = count(answer).zip(count(&found)).and_then(|(was, is)| was.checked_sub(is));
        matches!(question, Question::Counted(_)) && missing.is_some_and(|missing| missing <= blocks)
    };
    // Folders are all there, as they were; only how many documents are in each depends on the
    // documents.
    let is_kept_folders = |number: &usize| {
        let (question, answer) = &scene.truth[*number];
        matches!(question, Question::Folders)
            && !report.is_whole()
            && reading::ask(&notes, question)
                .is_ok_and(|found| without_counts(&found) == without_counts(answer))
    };
    // A document whose record is lost is shown, though it may have been in the trash, and its tasks
    // with it.
    let is_more_tasks = |number: &usize| {
        let (question, answer) = &scene.truth[*number];
        matches!(question, Question::Tasks(_))
            && report.lost.contains_key(&LossKind::Document)
            && reading::ask(&notes, question).is_ok_and(|found| has_all_tasks(&found, answer))
    };
    let is_lost = |number: &usize| {
        !(answers(number)
            || is_fewer(number)
            || is_kept_folders(number)
            || is_more_tasks(number)
            || is_moved_documents(number))
    };
    if let Some(lost) = kept.copied().find(is_lost) {
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
    if let Some(unknown) =
        listed(&notes).iter().find(|(id, name)| !explains(scene, &report, id, name))
    {
        return Err(wrong(
            scene,
            harm,
            format_args!("{unknown:?} is listed and never was: {:?}", report.losses),
        ));
    }
    trial.note("salvaged", 1);
    let all = (0..scene.truth.len()).filter(answers).count() as u64;
    trial.note("questions answered after salvage", all);
    Ok(())
}

/// The number in the answer that counts items.
fn count(answer: &str) -> Option<u64> {
    answer.split_once("count: ")?.1.split(',').next()?.parse().ok()
}

/// Folders without the number of documents in each.
fn without_counts(folders: &str) -> String {
    let mut parts = folders.split("document_count: ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        all + part.trim_start_matches(|letter: char| letter.is_ascii_digit())
    })
}

/// The documents and collections that are listed: ID and name.
fn listed(notes: &Connection) -> Vec<(String, String)> {
    let documents = notes.documents().map(|list| list.0).unwrap_or_default();
    let collections =
        notes.list_collections(ListCollections::default()).map(|list| list.0).unwrap_or_default();
    let documents =
        documents.into_iter().map(|document| (document.id().to_string(), document.title.clone()));
    documents
        .chain(collections.into_iter().map(|listed| (listed.id.to_string(), listed.name)))
        .collect()
}

/// Whether there was something with this ID, or the report names it, or it was made for what has
/// lost its place.
fn explains(scene: &Scene, report: &SalvageReport, id: &str, name: &str) -> bool {
    let is_named =
        || report.losses.iter().any(|loss| loss.record.contains(id) || loss.message.contains(id));
    scene.knows(id) || is_named() || !report.is_whole() && name == "Recovered"
}

/// Whether a list has all documents of another one, each with its title.
fn has_all_documents(found: &str, answer: &str) -> bool {
    let documents = |list: &str| -> BTreeSet<(String, String)> {
        let parts = list.split("DocumentRecord { id: ").skip(1);
        let named = parts.filter_map(|document| {
            let (id, rest) = document.split_once(',')?;
            let (title, _) = rest.split_once("title: ")?.1.split_once(", with_times: ")?;
            Some((id.to_owned(), title.to_owned()))
        });
        named.collect()
    };
    documents(found).is_superset(&documents(answer))
}

/// Whether a list of tasks has all of another one, each as it was.
fn has_all_tasks(found: &str, answer: &str) -> bool {
    // The revision is the last of a task's fields.
    let mut tasks = answer.split("Task { ").skip(1).filter_map(|task| task.split(" rev: ").next());
    tasks.all(|task| found.contains(task))
}
