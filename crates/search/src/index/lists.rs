//! In which documents of a segment something is, and how often.

use tantivy::index::InvertedIndexReader;
use tantivy::postings::{Postings, SegmentPostings, TermInfo};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED, Term};

use super::Failure;
use crate::asked::Part;

/// A document of a segment, and how often something occurs in it.
pub(crate) type Found = (DocId, u32);

/// Where a row of words begins: a document, and a position in it.
type Start = (DocId, u32);

/// A segment as lists are read from it.
pub(crate) struct Lists<'s> {
    pub(crate) segment: &'s SegmentReader,
    /// What alone is looked at, in order; none for all.
    pub(crate) only: Option<&'s [DocId]>,
}

impl Lists<'_> {
    /// Visits the documents of a list that are looked at: it costs by the fewer of both.
    fn each(
        &self,
        postings: &mut SegmentPostings,
        mut visit: impl FnMut(DocId, &mut SegmentPostings),
    ) {
        match self.only {
            None => each(postings, visit),
            Some(only) => among(postings, only, |doc| *doc, &mut visit),
        }
    }

    /// How many documents a list of so many can have.
    fn most(&self, documents: u32) -> usize {
        self.only.map_or(usize::MAX, <[DocId]>::len).min(documents as usize)
    }

    /// The documents, in order, that have the parts in a row in the field.
    pub(crate) fn row(&self, field: Field, parts: &[Part]) -> Result<Vec<Found>, Failure> {
        match parts {
            [] => Ok(Vec::new()),
            [only] if only.is_prefix => self.beginning_with(field, &only.text),
            [only] => self.word(field, &only.text),
            parts => self.in_a_row(field, parts),
        }
    }

    fn word(&self, field: Field, text: &str) -> Result<Vec<Found>, Failure> {
        let index = self.segment.inverted_index(field)?;
        let postings = index
            .read_postings(&Term::from_field_text(field, text), IndexRecordOption::WithFreqs)?;
        let mut found = Vec::new();
        if let Some(mut postings) = postings {
            found.reserve(self.most(postings.doc_freq()));
            self.each(&mut postings, |doc, postings| found.push((doc, postings.term_freq())));
        }
        Ok(found)
    }

    fn beginning_with(&self, field: Field, text: &str) -> Result<Vec<Found>, Failure> {
        let index = self.segment.inverted_index(field)?;
        let words = words_beginning_with(&index, text)?;
        let all: usize = words.iter().map(|word| self.most(word.doc_freq)).sum();
        // A short beginning is that of most documents, many times over: then to count is less than
        // to sort.
        if all > self.segment.max_doc() as usize / 8 {
            self.counted(&index, &words)
        } else {
            self.sorted(&index, &words, all)
        }
    }

    fn counted(
        &self,
        index: &InvertedIndexReader,
        words: &[TermInfo],
    ) -> Result<Vec<Found>, Failure> {
        let mut counts = vec![0_u32; self.segment.max_doc() as usize];
        for word in words {
            let mut postings =
                index.read_postings_from_terminfo(word, IndexRecordOption::WithFreqs)?;
            self.each(&mut postings, |doc, postings| {
                let count = counts.get_mut(doc as usize).into_iter();
                count.for_each(|count| *count = count.saturating_add(postings.term_freq()));
            });
        }
        Ok((0..).zip(counts).filter(|(_, count)| *count > 0).collect())
    }

    fn sorted(
        &self,
        index: &InvertedIndexReader,
        words: &[TermInfo],
        all: usize,
    ) -> Result<Vec<Found>, Failure> {
        let mut every: Vec<Found> = Vec::with_capacity(all);
        for word in words {
            let mut postings =
                index.read_postings_from_terminfo(word, IndexRecordOption::WithFreqs)?;
            self.each(&mut postings, |doc, postings| every.push((doc, postings.term_freq())));
        }
        every.sort_unstable();
        let mut found: Vec<Found> = Vec::with_capacity(every.len());
        for (doc, times) in every {
            match found.last_mut() {
                Some((last, sum)) if *last == doc => *sum = sum.saturating_add(times),
                _ => found.push((doc, times)),
            }
        }
        Ok(found)
    }

    fn in_a_row(&self, field: Field, parts: &[Part]) -> Result<Vec<Found>, Failure> {
        let index = self.segment.inverted_index(field)?;
        let (beginnings, words): (Vec<&Part>, Vec<&Part>) =
            parts.iter().partition(|part| part.is_prefix);
        let mut starts = match words.as_slice() {
            [] => None,
            words => Some(self.starts_of(&index, field, words)?),
        };
        for part in beginnings {
            starts = Some(self.narrowed(&index, part, starts)?);
        }
        let mut found: Vec<Found> = Vec::new();
        for (doc, _) in starts.unwrap_or_default() {
            match found.last_mut() {
                Some((last, times)) if *last == doc => *times = times.saturating_add(1),
                _ => found.push((doc, 1)),
            }
        }
        Ok(found)
    }

    /// Where rows of these words begin, in order.
    fn starts_of(
        &self,
        index: &InvertedIndexReader,
        field: Field,
        words: &[&Part],
    ) -> Result<Vec<Start>, Failure> {
        let mut lists = Vec::with_capacity(words.len());
        for word in words {
            let term = Term::from_field_text(field, &word.text);
            match index.read_postings(&term, IndexRecordOption::WithFreqsAndPositions)? {
                Some(postings) => lists.push((word.offset, postings)),
                None => return Ok(Vec::new()),
            }
        }
        // The rarest leads.
        lists.sort_by_key(|(_, postings)| postings.doc_freq());
        let Some(((offset, first), rest)) = lists.split_first_mut() else { return Ok(Vec::new()) };
        let (mut found, mut here, mut positions) = (Vec::new(), Vec::new(), Vec::new());
        let (mut doc, mut passed) = (first.doc(), 0);
        'documents: while doc != TERMINATED {
            if let Some(only) = self.only {
                passed +=
                    only.get(passed..).unwrap_or_default().partition_point(|other| *other < doc);
                let Some(next) = only.get(passed) else { break };
                if *next != doc {
                    doc = sought(first, *next);
                    continue;
                }
            }
            for (_, other) in rest.iter_mut() {
                let next = sought(other, doc);
                if next != doc {
                    doc = sought(first, next);
                    continue 'documents;
                }
            }
            first.positions(&mut positions);
            here.clear();
            here.extend(positions.iter().filter_map(|position| position.checked_sub(*offset)));
            for (offset, other) in rest.iter_mut() {
                other.positions(&mut positions);
                here.retain(|start| {
                    positions.binary_search(&start.saturating_add(*offset)).is_ok()
                });
            }
            here.dedup();
            found.extend(here.iter().map(|start| (doc, *start)));
            doc = first.advance();
        }
        Ok(found)
    }

    /// Those of `starts` where a word that begins so stands at its place; of all starts, if none
    /// are given.
    fn narrowed(
        &self,
        index: &InvertedIndexReader,
        part: &Part,
        starts: Option<Vec<Start>>,
    ) -> Result<Vec<Start>, Failure> {
        let (mut found, mut positions) = (Vec::new(), Vec::new());
        let mut add = |doc, postings: &mut SegmentPostings| {
            postings.positions(&mut positions);
            found.extend(
                positions
                    .iter()
                    .filter_map(|at| at.checked_sub(part.offset))
                    .map(|start| (doc, start)),
            );
        };
        for word in words_beginning_with(index, &part.text)? {
            let mut postings = index
                .read_postings_from_terminfo(&word, IndexRecordOption::WithFreqsAndPositions)?;
            match &starts {
                Some(starts) => among(&mut postings, starts, |(doc, _)| *doc, &mut add),
                None => self.each(&mut postings, &mut add),
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

fn each(postings: &mut SegmentPostings, mut visit: impl FnMut(DocId, &mut SegmentPostings)) {
    let mut doc = postings.doc();
    while doc != TERMINATED {
        visit(doc, postings);
        doc = postings.advance();
    }
}

fn words_beginning_with(index: &InvertedIndexReader, text: &str) -> Result<Vec<TermInfo>, Failure> {
    let mut words = index.terms().range().ge(text.as_bytes()).into_stream()?;
    let mut found = Vec::new();
    while words.advance() && words.key().starts_with(text.as_bytes()) {
        found.push(words.value().clone());
    }
    Ok(found)
}

/// The first document from `doc` on. It never goes back.
fn sought(postings: &mut SegmentPostings, doc: DocId) -> DocId {
    if postings.doc() >= doc { postings.doc() } else { postings.seek(doc) }
}

/// Visits the documents that are in both lists. Each is passed through by leaps to what is next in
/// the other.
fn among<T>(
    postings: &mut SegmentPostings,
    other: &[T],
    doc_of: impl Fn(&T) -> DocId,
    visit: &mut impl FnMut(DocId, &mut SegmentPostings),
) {
    let mut rest = other;
    let mut doc = postings.doc();
    while doc != TERMINATED {
        let passed = rest.partition_point(|other| doc_of(other) < doc);
        rest = rest.get(passed..).unwrap_or_default();
        let Some(next) = rest.first().map(&doc_of) else { return };
        if next == doc {
            visit(doc, postings);
            doc = postings.advance();
        } else {
            doc = postings.seek(next);
        }
    }
}
