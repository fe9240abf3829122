//! Candidates of patterns: documents that have all trigrams that a pattern requires.

use leafbase_model::{DocumentId, Result};
use tantivy::DocId;

use super::error::IndexFailure;
use super::overlay::{CurrentDocuments, SearchOverlay};
use super::snapshot::IndexSnapshot;
use super::trigram_plugin::TrigramFile;
use crate::trigrams::{VARIES_ID, trigram_id};
use leafbase_pattern::TrigramQuery;

/// Posting lists that are decoded before they are intersected. Bounds the memory of a pattern with
/// many required trigrams.
const MAX_OPEN_LISTS: usize = 16;

/// Ratio of lengths from which each element of the short list is looked up in the long one by
/// binary search instead of scanning both.
const SPARSE_RATIO: usize = 16;

impl IndexSnapshot {
    /// The current documents of the index that can match a pattern with one of these requirements,
    /// sorted by ID. With a subset, documents whose texts vary are always candidates.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::Storage`] if the index cannot be read.
    pub fn candidates(
        &self,
        required: &[&TrigramQuery],
        overlay: &SearchOverlay<'_>,
    ) -> Result<Vec<DocumentId>> {
        self.find_candidates(required, overlay).map_err(|IndexFailure(error)| error)
    }

    fn find_candidates(
        &self,
        required: &[&TrigramQuery],
        overlay: &SearchOverlay<'_>,
    ) -> Result<Vec<DocumentId>, IndexFailure> {
        let mut found = Vec::new();
        let current = CurrentDocuments::new(self, overlay)?;
        for (number, ((segment, start), trigrams)) in
            self.segments().zip(&self.trigrams).enumerate()
        {
            let matching = any_of(trigrams, required.iter().copied())?;
            let docs: Vec<DocId> = match (matching, current.subset_of(number)) {
                (Some(docs), None) => docs,
                (None, None) => (0..segment.max_doc()).collect(),
                (None, Some(subset)) => subset.to_vec(),
                (Some(docs), Some(subset)) => {
                    // The trigrams of such a document are those of texts that a scoped reader may
                    // not see.
                    let mut docs = union(docs, trigrams.postings(VARIES_ID)?);
                    docs.retain(|doc| subset.binary_search(doc).is_ok());
                    docs
                }
            };
            debug_assert!(docs.is_sorted_by(|one, other| one < other), "candidates are sorted");
            let numbers = docs.into_iter().map(|doc| start + doc);
            let numbers = numbers.filter(|number| current.contains(*number));
            let attributes = numbers.filter_map(|number| self.attributes.get(number as usize));
            found.extend(attributes.filter(|one| (overlay.filter)(one)).map(|one| one.id));
        }
        found.sort_unstable();
        Ok(found)
    }
}

/// The documents of a segment that satisfy one of the requirements; `None` if all may.
fn any_of<'r>(
    trigrams: &TrigramFile,
    required: impl Iterator<Item = &'r TrigramQuery>,
) -> Result<Option<Vec<DocId>>, IndexFailure> {
    let mut found = Vec::new();
    for part in required {
        let Some(docs) = satisfying(trigrams, part)? else { return Ok(None) };
        found = union(found, docs);
    }
    Ok(Some(found))
}

/// The documents of a segment that satisfy a requirement; `None` if all may. The recursion is as
/// deep as the pattern nests.
fn satisfying(
    trigrams: &TrigramFile,
    required: &TrigramQuery,
) -> Result<Option<Vec<DocId>>, IndexFailure> {
    match required {
        TrigramQuery::Unrestricted => Ok(None),
        TrigramQuery::Trigram(trigram) => Ok(Some(trigrams.postings(trigram_id(*trigram))?)),
        TrigramQuery::Or(parts) => any_of(trigrams, parts.iter()),
        TrigramQuery::And(parts) => {
            let mut lists: Vec<Vec<DocId>> = Vec::with_capacity(parts.len().min(MAX_OPEN_LISTS));
            for part in parts {
                let Some(list) = satisfying(trigrams, part)? else { continue };
                // Nothing is left, whatever the other lists have.
                if list.is_empty() {
                    return Ok(Some(list));
                }
                lists.push(list);
                if lists.len() == MAX_OPEN_LISTS {
                    lists = intersect_all(lists).into_iter().collect();
                    if lists.first().is_some_and(Vec::is_empty) {
                        return Ok(Some(Vec::new()));
                    }
                }
            }
            Ok(intersect_all(lists))
        }
    }
}

/// The intersection of lists; `None` without a list.
fn intersect_all(mut lists: Vec<Vec<DocId>>) -> Option<Vec<DocId>> {
    // The shortest first: the intermediate results are no longer than it.
    lists.sort_unstable_by_key(Vec::len);
    lists.into_iter().reduce(|short, long| intersect(short, &long))
}

fn intersect(mut short: Vec<DocId>, long: &[DocId]) -> Vec<DocId> {
    if long.len() / SPARSE_RATIO > short.len() {
        short.retain(|doc| long.binary_search(doc).is_ok());
        return short;
    }
    let mut rest = long.iter().copied().peekable();
    short.retain(|doc| {
        while rest.next_if(|other| other < doc).is_some() {}
        rest.next_if_eq(doc).is_some()
    });
    short
}

fn union(mut one: Vec<DocId>, mut other: Vec<DocId>) -> Vec<DocId> {
    if one.is_empty() {
        return other;
    }
    one.append(&mut other);
    // Two sorted runs: the stable sort merges them.
    one.sort_unstable();
    one.dedup();
    one
}
