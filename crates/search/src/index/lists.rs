//! In which documents of a segment something is, and how often.

use std::collections::BTreeMap;

use tantivy::index::InvertedIndexReader;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED, Term};

use super::Failure;
use crate::asked::Part;

/// A document of a segment, and how often something occurs in it.
pub(crate) type Found = (DocId, u32);

/// A segment as lists are read from it.
pub(crate) struct Lists<'s> {
    pub(crate) segment: &'s SegmentReader,
}

impl Lists<'_> {
    /// The documents, in order, that have the parts in a row in the field.
    pub(crate) fn row(&self, field: Field, parts: &[Part]) -> Result<Vec<Found>, Failure> {
        match parts {
            [] => Ok(Vec::new()),
            [only] if only.is_prefix => self.beginning_with(field, &only.text),
            [only] => self.word(field, &only.text),
            parts => self.in_a_row(field, parts),
        }
    }

    pub(crate) fn word(&self, field: Field, text: &str) -> Result<Vec<Found>, Failure> {
        let index = self.segment.inverted_index(field)?;
        let postings = index.read_postings(&Term::from_field_text(field, text), IndexRecordOption::WithFreqs)?;
        let mut found = Vec::new();
        if let Some(mut postings) = postings {
            found.reserve(postings.doc_freq() as usize);
            each(&mut postings, |doc, postings| found.push((doc, postings.term_freq())));
        }
        Ok(found)
    }

    fn beginning_with(&self, field: Field, text: &str) -> Result<Vec<Found>, Failure> {
        let index = self.segment.inverted_index(field)?;
        let mut all: Vec<Found> = Vec::new();
        words_beginning_with(&index, text, &mut |postings| {
            each(postings, |doc, postings| all.push((doc, postings.term_freq())));
        })?;
        all.sort_unstable();
        let mut found: Vec<Found> = Vec::with_capacity(all.len());
        for (doc, times) in all {
            match found.last_mut() {
                Some((last, sum)) if *last == doc => *sum = sum.saturating_add(times),
                _ => found.push((doc, times)),
            }
        }
        Ok(found)
    }

    fn in_a_row(&self, field: Field, parts: &[Part]) -> Result<Vec<Found>, Failure> {
        let index = self.segment.inverted_index(field)?;
        let mut lists = Vec::with_capacity(parts.len());
        for part in parts {
            let list = if part.is_prefix {
                Positions::Several(positions_beginning_with(&index, &part.text)?)
            } else {
                let term = Term::from_field_text(field, &part.text);
                match index.read_postings(&term, IndexRecordOption::WithFreqsAndPositions)? {
                    Some(postings) => Positions::Postings(Box::new(postings)),
                    None => return Ok(Vec::new()),
                }
            };
            lists.push((part.offset, list));
        }
        let Some(((first_offset, first), rest)) = lists.split_first_mut() else { return Ok(Vec::new()) };
        let (mut found, mut starts, mut others) = (Vec::new(), Vec::new(), Vec::new());
        let mut doc = first.seek(0);
        'documents: while doc != TERMINATED {
            for (_, list) in rest.iter_mut() {
                let next = list.seek(doc);
                if next != doc {
                    doc = first.seek(next);
                    continue 'documents;
                }
            }
            first.positions(&mut starts);
            for (offset, list) in rest.iter_mut() {
                list.positions(&mut others);
                let distance = offset.saturating_sub(*first_offset);
                starts.retain(|start| others.binary_search(&start.saturating_add(distance)).is_ok());
            }
            if !starts.is_empty() {
                found.push((doc, u32::try_from(starts.len()).unwrap_or(u32::MAX)));
            }
            doc = first.seek(doc + 1);
        }
        Ok(found)
    }

    /// The documents that have the trigram.
    pub(crate) fn documents(&self, field: Field, text: &str) -> Result<Vec<DocId>, Failure> {
        let index = self.segment.inverted_index(field)?;
        let mut found = Vec::new();
        if let Some(mut postings) =
            index.read_postings(&Term::from_field_text(field, text), IndexRecordOption::Basic)?
        {
            each(&mut postings, |doc, _| found.push(doc));
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

fn words_beginning_with(
    index: &InvertedIndexReader,
    text: &str,
    visit: &mut dyn FnMut(&mut SegmentPostings),
) -> Result<(), Failure> {
    let mut words = index.terms().range().ge(text.as_bytes()).into_stream()?;
    while words.advance() && words.key().starts_with(text.as_bytes()) {
        let mut postings =
            index.read_postings_from_terminfo(words.value(), IndexRecordOption::WithFreqsAndPositions)?;
        visit(&mut postings);
    }
    Ok(())
}

fn positions_beginning_with(index: &InvertedIndexReader, text: &str) -> Result<Vec<(DocId, Vec<u32>)>, Failure> {
    let mut found: BTreeMap<DocId, Vec<u32>> = BTreeMap::new();
    words_beginning_with(index, text, &mut |postings| {
        each(postings, |doc, postings| {
            postings.append_positions_with_offset(0, found.entry(doc).or_default());
        });
    })?;
    for positions in found.values_mut() {
        positions.sort_unstable();
    }
    Ok(found.into_iter().collect())
}

/// The positions of a part, document by document.
enum Positions {
    Postings(Box<SegmentPostings>),
    /// Of several words.
    Several(Vec<(DocId, Vec<u32>)>),
}

impl Positions {
    /// The first document from `doc` on. It never goes back.
    fn seek(&mut self, doc: DocId) -> DocId {
        match self {
            Self::Postings(postings) if postings.doc() >= doc => postings.doc(),
            Self::Postings(postings) => postings.seek(doc),
            Self::Several(documents) => {
                let passed = documents.partition_point(|(other, _)| *other < doc);
                documents.drain(..passed);
                documents.first().map_or(TERMINATED, |(first, _)| *first)
            }
        }
    }

    fn positions(&mut self, out: &mut Vec<u32>) {
        match self {
            Self::Postings(postings) => postings.positions(out),
            Self::Several(documents) => {
                out.clear();
                out.extend(documents.first().into_iter().flat_map(|(_, positions)| positions));
            }
        }
    }
}
