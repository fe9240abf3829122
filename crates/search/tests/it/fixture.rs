//! Helpers that create documents and indexes.

use std::collections::HashSet;

use leafbase_model::{DocumentId, Location, Result, TermMode, Timestamp};
use leafbase_search::{
    Analyzer, Attributes, Hit, Index, ParsedQuery, SearchDocument, SearchOverlay,
};

pub(crate) const OWNER: &str = "01 a space";

pub(crate) fn id(number: u8) -> DocumentId {
    DocumentId::from_bytes([number; 16])
}

pub(crate) fn attributes(number: u8, location: Location) -> Attributes {
    let now = Timestamp::from_millis(i64::from(number) - 100);
    Attributes { id: id(number), location, day: None, created_at: now, modified_at: now }
}

/// A document whose texts are searchable by terms and by patterns.
pub(crate) fn document(number: u8, title: &str, texts: &[&str]) -> SearchDocument {
    at(number, Location::Unsorted, title, texts, 0)
}

/// A document whose first texts are headings.
pub(crate) fn at(
    number: u8,
    location: Location,
    title: &str,
    texts: &[&str],
    headings: usize,
) -> SearchDocument {
    let mut maker = Analyzer::default();
    let mut filling = maker.begin(attributes(number, location), title);
    filling.add_pattern_text(title);
    for (index, text) in texts.iter().enumerate() {
        if index < headings {
            filling.add_heading(text);
        } else {
            filling.add_words(text);
        }
        filling.add_pattern_text(text);
    }
    // An index takes both forms.
    if number.is_multiple_of(2) { filling.finish() } else { filling.finish_unsorted() }
}

pub(crate) fn update(
    index: &Index,
    documents: Vec<SearchDocument>,
    gone: &[u8],
    sequence: u64,
) -> Result<()> {
    let gone: Vec<_> = gone.iter().map(|number| id(*number)).collect();
    index.update(&mut documents.into_iter().map(Ok), &gone, sequence)
}

pub(crate) use TermMode::{All, Any, Most};

/// The hits of an index without dirty documents.
pub(crate) fn search(index: &Index, terms: &[&str], mode: TermMode) -> Result<Vec<Hit>> {
    search_with(index, &[], &[], terms, mode)
}

/// The hits of an index and an overlay.
pub(crate) fn search_with(
    index: &Index,
    dirty: &[&SearchDocument],
    dirty_ids: &[u8],
    terms: &[&str],
    mode: TermMode,
) -> Result<Vec<Hit>> {
    let dirty_ids: HashSet<_> = dirty_ids.iter().map(|number| id(*number)).collect();
    let scope = SearchOverlay { dirty, dirty_ids: &dirty_ids, filter: &|_| true, subset: None };
    Ok(index.snapshot()?.search(&ParsedQuery::new(terms, mode)?, &scope, 100)?.hits)
}

pub(crate) fn numbers(hits: &[Hit]) -> Vec<u8> {
    hits.iter().map(|hit| hit.rank.document.as_bytes()[0]).collect()
}
