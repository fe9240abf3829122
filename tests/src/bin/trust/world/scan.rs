//! What is asked of a space after something went wrong with it: every law of the store, and that searches find what reading all of it finds.

use std::collections::BTreeSet;

use leafbase::{Connection, DocumentId, Fetch, GetItems, ListCollections, Result, SearchDocuments, Space};

use super::work::{WORDS, is_deleted, shown};
use crate::kind::{Failure, Fault};
use crate::random::Random;

/// Verifies all laws.
pub fn check(space: &Space, when: &str) -> std::result::Result<(), Failure> {
    let report = space.check().map_err(|error| unopenable(&error, when))?;
    if report.is_clean() {
        return Ok(());
    }
    Err(Failure::new(Fault::HalfApplied, format!("{when}: the check finds {:?}", report.problems.first())))
}

pub fn unopenable(error: &leafbase::Error, when: &str) -> Failure {
    Failure::new(Fault::Unopenable, format!("{when}: {error:?}"))
}

/// Compares what some searches find with what reading all of the space finds.
pub fn searches(notes: &Connection, random: &mut Random, times: usize, when: &str) -> std::result::Result<(), Failure> {
    let unread = |error: leafbase::Error| unopenable(&error, when);
    let texts = texts(notes).map_err(unread)?;
    for _ in 0..times {
        let word = WORDS[random.place(WORDS.len())];
        let expected: BTreeSet<DocumentId> =
            texts.iter().filter(|(_, text)| text.contains(word)).map(|(id, _)| *id).collect();
        let found = notes.search(SearchDocuments::words(word)).map_err(unread)?;
        let found: BTreeSet<DocumentId> = found.iter().map(|hit| hit.document_id).collect();
        if found != expected {
            let what = format!("{when}: a search of `{word}` finds {found:?}, and it is in {expected:?}");
            return Err(Failure::new(Fault::WrongData, what));
        }
    }
    Ok(())
}

/// All that is said in each document that searches look at.
fn texts(notes: &Connection) -> Result<Vec<(DocumentId, String)>> {
    let collections = notes.list_collections(ListCollections::default())?;
    let mut texts = Vec::new();
    for document in notes.documents()?.iter().filter(|document| !is_deleted(document)) {
        let id = document.id();
        let mut text = shown(&notes.fetch(Fetch::new(id).with_metadata())?);
        for collection in collections.iter().filter(|collection| collection.document_id == id) {
            text += &shown(&notes.items(GetItems::of(collection.id))?.items);
        }
        texts.push((id, text));
    }
    Ok(texts)
}
