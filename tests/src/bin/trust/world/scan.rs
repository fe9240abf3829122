//! What is asked of a space after something went wrong with it: every law of the store, and that
//! searches find what reading all of it finds.

use std::collections::BTreeSet;

use leafbase::{
    Connection, DocumentId, Fetch, GetItems, ListCollections, Result, SearchDocuments, Space,
};
use serde_json::Value;

use super::work::{WORDS, is_deleted, shown};
use crate::kind::{Failure, Fault};
use crate::random::Random;

/// Documents that one search looks at.
const MAX_SEARCHED: usize = 12;

/// Verifies all laws.
pub fn check(space: &Space, when: &str) -> std::result::Result<(), Failure> {
    let report = space.check().map_err(|error| unopenable(&error, when))?;
    if report.is_clean() {
        return Ok(());
    }
    Err(Failure::new(
        Fault::HalfApplied,
        format!("{when}: the check finds {:?}", report.problems.first()),
    ))
}

pub fn unopenable(error: &leafbase::Error, when: &str) -> Failure {
    Failure::new(Fault::Unopenable, format!("{when}: {error:?}"))
}

/// Compares what some searches find with what reading all of the space finds.
pub fn searches(
    notes: &Connection,
    random: &mut Random,
    times: usize,
    when: &str,
) -> std::result::Result<(), Failure> {
    altered_searches(notes, random, times, when, |_| {})
}

/// The same, with results that `alter` changes first: a control injects faults by it.
pub fn altered_searches(
    notes: &Connection,
    random: &mut Random,
    times: usize,
    when: &str,
    alter: impl Fn(&mut BTreeSet<DocumentId>),
) -> std::result::Result<(), Failure> {
    let unread = |error: leafbase::Error| unopenable(&error, when);
    let texts = texts(notes).map_err(unread)?;
    for _ in 0..times {
        let word = WORDS[random.place(WORDS.len())];
        let expected: BTreeSet<DocumentId> =
            texts.iter().filter(|(_, text)| text.contains(word)).map(|(id, _)| *id).collect();
        let found = notes.search(SearchDocuments::words(word)).map_err(unread)?;
        let mut found: BTreeSet<DocumentId> = found.iter().map(|hit| hit.document_id).collect();
        alter(&mut found);
        if found != expected {
            let odd = texts.iter().find(|(id, text)| found.contains(id) != text.contains(word));
            let said = odd.map(|(_, text)| around(text, word)).unwrap_or_default();
            let what = format!(
                "{when}: a search of `{word}` finds {found:?}, and it is in {expected:?}: {said}"
            );
            return Err(Failure::new(Fault::WrongData, what));
        }
    }
    Ok(())
}

/// The same in a space of many documents: a search looks at some of them alone, fewer than it shows
/// at most.
pub fn searches_within(
    notes: &Connection,
    random: &mut Random,
    times: usize,
    when: &str,
) -> std::result::Result<(), Failure> {
    let unread = |error: leafbase::Error| unopenable(&error, when);
    let texts = texts(notes).map_err(unread)?;
    for _ in 0..times {
        let word = WORDS[random.place(WORDS.len())];
        let some: Vec<_> = (0..MAX_SEARCHED).filter_map(|_| random.pick(&texts)).collect();
        let ids: BTreeSet<DocumentId> = some.iter().map(|(id, _)| *id).collect();
        let expected: BTreeSet<DocumentId> =
            some.iter().filter(|(_, text)| text.contains(word)).map(|(id, _)| *id).collect();
        let search = SearchDocuments::words(word).within_documents(ids);
        let found = notes.search(search).map_err(unread)?;
        let found: BTreeSet<DocumentId> = found.iter().map(|hit| hit.document_id).collect();
        if found != expected {
            let what =
                format!("{when}: a search of `{word}` finds {found:?}, and it is in {expected:?}");
            return Err(Failure::new(Fault::WrongData, what));
        }
    }
    Ok(())
}

/// What an item says itself: not how its columns are called, nor the titles of items that it is
/// related to.
fn said(item: &str) -> String {
    let (mut said, mut waiting) =
        (String::new(), vec![serde_json::from_str(item).unwrap_or_default()]);
    while let Some(value) = waiting.pop() {
        match value {
            Value::String(text) => said.extend([&text, " "]),
            Value::Array(values) => waiting.extend(values),
            Value::Object(fields) => {
                waiting.extend(
                    fields
                        .into_iter()
                        .filter(|(key, _)| key != "relations")
                        .map(|(_, value)| value),
                );
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    said
}

/// Where a text has a word, or how it begins.
fn around(text: &str, word: &str) -> String {
    let before =
        text.find(word).map_or(0, |at| text.get(..at).map_or(0, |before| before.chars().count()));
    text.chars().skip(before.saturating_sub(300)).take(400).collect()
}

/// All that is said in each document that searches look at.
fn texts(notes: &Connection) -> Result<Vec<(DocumentId, String)>> {
    let collections = notes.list_collections(ListCollections::default())?;
    let mut texts = Vec::new();
    for document in notes.documents()?.iter().filter(|document| !is_deleted(document)) {
        let id = document.id();
        let mut text = shown(&notes.fetch(Fetch::new(id).with_metadata())?);
        for collection in collections.iter().filter(|collection| collection.document_id == id) {
            let items = notes.items(GetItems::of(collection.id))?.items;
            text.extend(items.iter().map(|item| said(&shown(item))));
        }
        texts.push((id, text));
    }
    Ok(texts)
}
