//! Reads the postings of terms, prefixes and phrases from a segment.

use leafbase_model::invariant;
use tantivy::index::InvertedIndexReader;
use tantivy::postings::{Postings, SegmentPostings, TermInfo};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED, Term};

use super::error::IndexFailure;
use crate::parsed_query::ClauseTerm;

/// A document of a segment with the frequency of a term or phrase.
pub(crate) type DocFrequency = (DocId, u32);

/// Where a phrase starts: a document, and a position in it.
type PhraseStart = (DocId, u32);

/// Reads postings of a segment.
pub(crate) struct SegmentPostingsReader<'s> {
    pub(crate) segment: &'s SegmentReader,
    /// Restricts postings to these documents, sorted; `None` for all.
    pub(crate) subset: Option<&'s [DocId]>,
}

impl SegmentPostingsReader<'_> {
    /// Visits the documents of a posting list that are in the subset. Costs time in proportion to
    /// the shorter of both.
    fn for_each(
        &self,
        postings: &mut SegmentPostings,
        mut visit: impl FnMut(DocId, &mut SegmentPostings),
    ) {
        match self.subset {
            None => for_each(postings, visit),
            Some(subset) => for_each_common(postings, subset, |doc| *doc, &mut visit),
        }
    }

    /// The most documents of the subset that a list of this length can have.
    fn max_len(&self, documents: u32) -> usize {
        self.subset.map_or(usize::MAX, <[DocId]>::len).min(documents as usize)
    }

    /// The documents that have consecutive terms in a field, sorted.
    pub(crate) fn phrase(
        &self,
        field: Field,
        terms: &[ClauseTerm],
    ) -> Result<Vec<DocFrequency>, IndexFailure> {
        match terms {
            [] => Ok(Vec::new()),
            [only] if only.is_prefix => self.prefix(field, &only.text),
            [only] => self.term(field, &only.text),
            terms => self.many_terms(field, terms),
        }
    }

    fn term(&self, field: Field, text: &str) -> Result<Vec<DocFrequency>, IndexFailure> {
        let index = self.segment.inverted_index(field)?;
        let term = Term::from_field_text(field, text);
        let postings = index.read_postings(&term, IndexRecordOption::WithFreqs)?;
        let mut found = Vec::new();
        if let Some(mut postings) = postings {
            found.reserve(self.max_len(postings.doc_freq()));
            self.for_each(&mut postings, |doc, postings| found.push((doc, postings.term_freq())));
        }
        Ok(found)
    }

    fn prefix(&self, field: Field, text: &str) -> Result<Vec<DocFrequency>, IndexFailure> {
        let index = self.segment.inverted_index(field)?;
        let terms = terms_with_prefix(&index, text)?;
        let postings: usize = terms.iter().map(|term| self.max_len(term.doc_freq)).sum();
        // Most documents have a short prefix many times over. Then adding up frequencies in an
        // array is cheaper than sorting postings.
        if postings > self.segment.max_doc() as usize / 8 {
            self.prefix_by_counting(&index, &terms)
        } else {
            self.prefix_by_sorting(&index, &terms, postings)
        }
    }

    fn prefix_by_counting(
        &self,
        index: &InvertedIndexReader,
        terms: &[TermInfo],
    ) -> Result<Vec<DocFrequency>, IndexFailure> {
        let mut frequencies = vec![0_u32; self.segment.max_doc() as usize];
        for term in terms {
            let option = IndexRecordOption::WithFreqs;
            let mut postings = index.read_postings_from_terminfo(term, option)?;
            self.for_each(&mut postings, |doc, postings| {
                if let Some(frequency) = frequencies.get_mut(doc as usize) {
                    *frequency = frequency.saturating_add(postings.term_freq());
                }
            });
        }
        Ok((0..).zip(frequencies).filter(|(_, frequency)| *frequency > 0).collect())
    }

    fn prefix_by_sorting(
        &self,
        index: &InvertedIndexReader,
        terms: &[TermInfo],
        capacity: usize,
    ) -> Result<Vec<DocFrequency>, IndexFailure> {
        let mut all: Vec<DocFrequency> = Vec::with_capacity(capacity);
        for term in terms {
            let option = IndexRecordOption::WithFreqs;
            let mut postings = index.read_postings_from_terminfo(term, option)?;
            self.for_each(&mut postings, |doc, postings| all.push((doc, postings.term_freq())));
        }
        all.sort_unstable();
        Ok(sum_by_doc(all.into_iter()))
    }

    fn many_terms(
        &self,
        field: Field,
        terms: &[ClauseTerm],
    ) -> Result<Vec<DocFrequency>, IndexFailure> {
        let index = self.segment.inverted_index(field)?;
        let (prefixes, terms): (Vec<&ClauseTerm>, Vec<&ClauseTerm>) =
            terms.iter().partition(|term| term.is_prefix);
        let mut starts = match terms.as_slice() {
            [] => None,
            terms => Some(self.phrase_starts(&index, field, terms)?),
        };
        for prefix in prefixes {
            starts = Some(self.retain_prefix(&index, prefix, starts)?);
        }
        Ok(sum_by_doc(starts.into_iter().flatten().map(|(doc, _)| (doc, 1))))
    }

    /// Where phrases of these terms start, sorted.
    fn phrase_starts(
        &self,
        index: &InvertedIndexReader,
        field: Field,
        terms: &[&ClauseTerm],
    ) -> Result<Vec<PhraseStart>, IndexFailure> {
        let mut lists = Vec::with_capacity(terms.len());
        for (term, offsets) in distinct_terms(terms.iter().copied()) {
            let option = IndexRecordOption::WithFreqsAndPositions;
            match index.read_postings(&Term::from_field_text(field, &term.text), option)? {
                Some(postings) => lists.push((offsets, postings)),
                None => return Ok(Vec::new()),
            }
        }
        Ok(self.intersect(lists)?)
    }

    /// Where phrases start whose distinct terms have these offsets and postings.
    fn intersect(
        &self,
        mut lists: Vec<(Vec<u32>, SegmentPostings)>,
    ) -> leafbase_model::Result<Vec<PhraseStart>> {
        // The rarest term leads.
        lists.sort_by_key(|(_, postings)| postings.doc_freq());
        let Some(((first_offsets, first), rest)) = lists.split_first_mut() else {
            invariant!("a phrase has at least one term")
        };
        let (mut found, mut here, mut positions) = (Vec::new(), Vec::new(), Vec::new());
        let mut subset = self.subset;
        let mut doc = first.doc();
        'documents: while doc != TERMINATED {
            if let Some(left) = &mut subset {
                *left = skip_to(left, doc);
                match left.first() {
                    Some(next) if *next == doc => {}
                    Some(next) => {
                        doc = seek(first, *next);
                        continue;
                    }
                    // No document of the subset is left.
                    None => return Ok(found),
                }
            }
            for (_, other) in rest.iter_mut() {
                // A list without the document gives the next one that may have all terms.
                let next = seek(other, doc);
                if next != doc {
                    doc = seek(first, next);
                    continue 'documents;
                }
            }
            first.positions(&mut positions);
            starts_at(&positions, first_offsets, &mut here);
            for (offsets, other) in rest.iter_mut() {
                if here.is_empty() {
                    break;
                }
                other.positions(&mut positions);
                retain_starts(&mut here, &positions, offsets);
            }
            found.extend(here.iter().map(|start| (doc, *start)));
            doc = first.advance();
        }
        Ok(found)
    }

    /// The phrase starts that have a term with a prefix at its offset; without given starts, all
    /// such starts.
    fn retain_prefix(
        &self,
        index: &InvertedIndexReader,
        prefix: &ClauseTerm,
        starts: Option<Vec<PhraseStart>>,
    ) -> Result<Vec<PhraseStart>, IndexFailure> {
        let (mut found, mut positions) = (Vec::new(), Vec::new());
        debug_assert!(
            starts.as_ref().is_none_or(|starts| starts.is_sorted()),
            "starts are skipped by bisection"
        );
        let mut add = |doc, postings: &mut SegmentPostings| {
            postings.positions(&mut positions);
            let starts = positions.iter().filter_map(|at| at.checked_sub(prefix.offset));
            found.extend(starts.map(|start| (doc, start)));
        };
        for term in terms_with_prefix(index, &prefix.text)? {
            let option = IndexRecordOption::WithFreqsAndPositions;
            let mut postings = index.read_postings_from_terminfo(&term, option)?;
            match &starts {
                Some(starts) => for_each_common(&mut postings, starts, |(doc, _)| *doc, &mut add),
                None => self.for_each(&mut postings, &mut add),
            }
        }
        found.sort_unstable();
        found.dedup();
        if let Some(starts) = starts {
            found.retain(|start| starts.binary_search(start).is_ok());
        }
        Ok(found)
    }
}

/// The distinct terms of a phrase, each with its offsets: a term may be in it many times.
pub(super) fn distinct_terms<'t>(
    terms: impl Iterator<Item = &'t ClauseTerm>,
) -> Vec<(&'t ClauseTerm, Vec<u32>)> {
    let mut distinct: Vec<(&ClauseTerm, Vec<u32>)> = Vec::new();
    for term in terms {
        let is_same = |(known, _): &&mut (&ClauseTerm, Vec<u32>)| {
            known.text == term.text && known.is_prefix == term.is_prefix
        };
        match distinct.iter_mut().find(is_same) {
            Some((_, offsets)) => offsets.push(term.offset),
            None => distinct.push((term, vec![term.offset])),
        }
    }
    distinct
}

/// Sets `starts` to where phrases may start, by the sorted positions of a term with these offsets.
pub(super) fn starts_at(positions: &[u32], offsets: &[u32], starts: &mut Vec<u32>) {
    debug_assert!(positions.is_sorted(), "the positions of a term ascend");
    let (first, rest) = offsets.split_first().map_or((0, offsets), |(first, rest)| (*first, rest));
    starts.clear();
    starts.extend(positions.iter().filter_map(|position| position.checked_sub(first)));
    starts.dedup();
    retain_starts(starts, positions, rest);
}

/// Keeps the starts that have a term with these sorted positions at each of its offsets.
pub(super) fn retain_starts(starts: &mut Vec<u32>, positions: &[u32], offsets: &[u32]) {
    debug_assert!(starts.is_sorted() && positions.is_sorted(), "lists of positions ascend");
    for offset in offsets {
        let mut rest = positions;
        starts.retain(|start| {
            let position = start.saturating_add(*offset);
            rest = skip_to(rest, position);
            rest.first() == Some(&position)
        });
    }
}

/// Adds up the frequencies of equal documents, which are adjacent.
fn sum_by_doc(frequencies: impl Iterator<Item = DocFrequency>) -> Vec<DocFrequency> {
    let mut found: Vec<DocFrequency> = Vec::new();
    for (doc, frequency) in frequencies {
        match found.last_mut() {
            Some((last, sum)) if *last == doc => *sum = sum.saturating_add(frequency),
            _ => found.push((doc, frequency)),
        }
    }
    found
}

fn for_each(postings: &mut SegmentPostings, mut visit: impl FnMut(DocId, &mut SegmentPostings)) {
    let mut doc = postings.doc();
    while doc != TERMINATED {
        visit(doc, postings);
        doc = postings.advance();
    }
}

fn terms_with_prefix(
    index: &InvertedIndexReader,
    prefix: &str,
) -> Result<Vec<TermInfo>, IndexFailure> {
    let mut terms = index.terms().range().ge(prefix.as_bytes()).into_stream()?;
    let mut found = Vec::new();
    while terms.advance() && terms.key().starts_with(prefix.as_bytes()) {
        found.push(terms.value().clone());
    }
    Ok(found)
}

/// The first document of a list from `doc` on. tantivy must not seek backwards.
fn seek(postings: &mut SegmentPostings, doc: DocId) -> DocId {
    if postings.doc() >= doc { postings.doc() } else { postings.seek(doc) }
}

/// The elements of a sorted list from `from` on. Costs the logarithm of the number that it skips.
fn skip_to(list: &[u32], from: u32) -> &[u32] {
    let (mut rest, mut step) = (list, 1);
    while let Some((skipped, after)) = rest.split_at_checked(step)
        && skipped.last().is_some_and(|last| *last < from)
    {
        (rest, step) = (after, 2 * step);
    }
    let near = rest.get(..step).unwrap_or(rest);
    rest.split_at(near.partition_point(|other| *other < from)).1
}

/// Visits the documents in both lists. Each list skips to the next document of the other.
fn for_each_common<T>(
    postings: &mut SegmentPostings,
    other: &[T],
    doc_of: impl Fn(&T) -> DocId,
    visit: &mut impl FnMut(DocId, &mut SegmentPostings),
) {
    let mut rest = other;
    let mut doc = postings.doc();
    while doc != TERMINATED {
        rest = rest.split_at(rest.partition_point(|other| doc_of(other) < doc)).1;
        // Once the other list ends, nothing more is common.
        let Some(next) = rest.first().map(&doc_of) else { return };
        if next == doc {
            visit(doc, postings);
            doc = postings.advance();
        } else {
            doc = postings.seek(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrase(text: &str) -> Vec<ClauseTerm> {
        let term = |(offset, text): (u32, &str)| ClauseTerm {
            text: text.to_owned(),
            offset,
            is_prefix: false,
        };
        (0..).zip(text.split(' ')).map(term).collect()
    }

    #[test]
    fn a_phrase_reads_each_of_its_terms_once() {
        for n in [10, 20, 40] {
            let terms = phrase(&("a ".repeat(n) + "b"));
            let distinct = distinct_terms(terms.iter());
            let lengths: Vec<usize> = distinct.iter().map(|(_, offsets)| offsets.len()).collect();
            assert_eq!(lengths, [n, 1]);
        }
    }

    #[test]
    fn phrases_start_where_all_of_their_terms_are() {
        let mut starts = Vec::new();
        for (positions, offsets, expected) in [
            (&[0, 1, 2, 5, 6][..], &[0, 1][..], &[0, 1, 5][..]),
            (&[0, 1, 2, 5, 6], &[1], &[0, 1, 4, 5]),
            (&[3, 3, 4], &[0, 1], &[3]),
            (&[0, 2, 4], &[0, 1], &[]),
            (&[], &[0], &[]),
        ] {
            starts_at(positions, offsets, &mut starts);
            assert_eq!(starts, expected, "{positions:?} {offsets:?}");
        }
        let mut starts = vec![0, 4, 9, 20];
        retain_starts(&mut starts, &[1, 5, 8, 21], &[1]);
        assert_eq!(starts, [0, 4, 20]);
    }

    #[test]
    fn elements_are_skipped() {
        let list: Vec<u32> = (0..100).map(|number| 2 * number).collect();
        for from in 0..210 {
            let expected: Vec<u32> = list.iter().copied().filter(|at| *at >= from).collect();
            assert_eq!(skip_to(&list, from), expected, "{from}");
        }
        assert_eq!(skip_to(&[], 1), [0; 0]);
    }
}
