//! A file of the index of searches is damaged: searches find what they found, for the index is made
//! anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use leafbase::{SearchDocuments, Space};
use tests::rich;

use super::harm::{Harm, PAGE};
use crate::kind::{Failure, Fault, Trial};
use crate::random::Random;

const WORDS: [&str; 5] = ["line", "trip", "summary", "passport", "nowhere"];

/// A closed space with its index: each file with its bytes, and what is found for each word.
struct Indexed {
    files: Vec<(PathBuf, Vec<u8>)>,
    found: Vec<String>,
}

fn indexed() -> &'static Indexed {
    static INDEXED: OnceLock<Indexed> = OnceLock::new();
    INDEXED.get_or_init(|| make().unwrap_or_else(|error| panic!("an index: {error}")))
}

fn make() -> Result<Indexed, Box<dyn std::error::Error>> {
    let place = tempfile::tempdir()?;
    let path = place.path().join("space");
    let space = rich::builder().create(&path)?;
    rich::fill(&space)?;
    space.flush_search()?;
    let found = found(&space)?;
    space.close()?;
    let mut files = Vec::new();
    collect(&path, Path::new(""), &mut files)?;
    Ok(Indexed { files, found })
}

fn collect(root: &Path, below: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) -> std::io::Result<()> {
    let mut waiting = vec![below.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(root.join(&directory))? {
            let entry = entry?;
            let name = directory.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                waiting.push(name)
            } else {
                files.push((name.clone(), fs::read(root.join(&name))?))
            }
        }
    }
    files.sort();
    Ok(())
}

fn found(space: &Space) -> leafbase::Result<Vec<String>> {
    let notes = space.connect();
    WORDS
        .iter()
        .map(|word| notes.search(SearchDocuments::words(*word)).map(|found| format!("{found:?}")))
        .collect()
}

pub fn search(random: &mut Random, trial: &mut Trial) -> Result<(), Failure> {
    let Indexed { files, found: expected } = indexed();
    let fail = |what: String| Failure::new(Fault::WrongData, what);
    let place = tempfile::tempdir().map_err(|error| fail(error.to_string()))?;
    let parts: Vec<usize> =
        (0..files.len()).filter(|number| files[*number].0.components().count() > 1).collect();
    let Some(damaged) = random.pick(&parts).copied() else {
        return Err(fail("there is no index".to_owned()));
    };
    let mut what = String::new();
    for (number, (name, bytes)) in files.iter().enumerate() {
        let (file, mut bytes) = (place.path().join(name), bytes.clone());
        if number == damaged && !bytes.is_empty() {
            let used: Vec<usize> = (0..bytes.len() / PAGE).collect();
            what = format!("{}: {}", name.display(), Harm::draw_in(random, &used, &mut bytes));
        }
        let written =
            file.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&file, bytes));
        written.map_err(|error| fail(error.to_string()))?;
    }
    let space = rich::builder()
        .open(place.path())
        .map_err(|error| fail(format!("index, {what}: {error:?}")))?;
    let found = found(&space).map_err(|error| fail(format!("index, {what}: {error:?}")))?;
    if found != *expected {
        return Err(fail(format!("index, {what}: searches find {found:?}")));
    }
    trial.note("indexes damaged", 1);
    Ok(())
}
