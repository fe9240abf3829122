//! The index at one moment, and searches over it and over the documents that were changed since.

use std::borrow::Cow;
use std::collections::HashSet;

use frostem::{Algorithm, Stemmer};
use leafbase_model::{DocumentId, Result};
use tantivy::{DocId, Searcher};

use super::grams::{Posting, Table};
use super::layout::{Fields, Numbers};
use super::lists::Lists;
use super::scores::{Keep, Place, in_both, joined};
use super::selection::Selection;
use super::{Failure, failed};
use crate::asked::{Clause, Part, Terms};
use crate::document::{Attributes, Lane, SearchDocument, stem_of};
use crate::grams::{VARIES, gram};
use crate::rank::{Scale, Totals};
use leafbase_pattern::TrigramQuery;

/// The index at one moment.
pub struct View {
    searcher: Searcher,
    fields: Fields,
    /// Of each document, deleted ones included, segment after segment.
    pub(super) attributes: Vec<Attributes>,
    /// The lengths of their lanes.
    pub(super) lengths: Vec<[u32; 4]>,
    /// Whether they are there still.
    is_live: Vec<bool>,
    /// Where each segment begins.
    pub(super) starts: Vec<Place>,
    /// The trigrams of each segment.
    grams: Vec<Table>,
    /// Where those are that are there still, by ID.
    places: Vec<(DocumentId, Place)>,
    totals: Totals,
}

/// A document that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The document.
    pub document: DocumentId,
    /// What it is worth: greater is more.
    pub score: f64,
}

/// What is searched beside the index, and which documents count.
pub struct Scope<'s> {
    /// Documents as they are now, in place of what the index has of them.
    pub fresh: &'s [&'s SearchDocument],
    /// Documents that are not as the index has them: those of `fresh`, and those that are gone.
    pub changed: &'s HashSet<DocumentId>,
    /// Whether a document may be found.
    pub accepts: &'s dyn Fn(&Attributes) -> bool,
    /// What alone there is of the index: the rest is neither found nor counted. None for all of it.
    pub only: Option<&'s Selection>,
}

impl std::fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scope").field("fresh", &self.fresh.len()).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").field("totals", &self.totals).finish_non_exhaustive()
    }
}

impl View {
    pub(super) fn new(searcher: Searcher, fields: Fields) -> Result<Self> {
        let mut view = Self {
            searcher,
            fields,
            attributes: Vec::new(),
            lengths: Vec::new(),
            is_live: Vec::new(),
            starts: Vec::new(),
            grams: Vec::new(),
            places: Vec::new(),
            totals: Totals::default(),
        };
        view.read().map_err(|Failure(error)| error)?;
        Ok(view)
    }

    fn read(&mut self) -> Result<(), Failure> {
        for segment in self.searcher.segment_readers() {
            self.starts.push(place(self.attributes.len())?);
            self.grams.push(Table::open(segment)?);
            for (doc, numbers) in (0..).zip(Numbers::of_segment(segment)?) {
                let (attributes, lengths) =
                    numbers.entry().ok_or_else(|| failed("a document is kept nowhere"))?;
                let is_live = !segment.is_deleted(doc);
                if is_live {
                    self.totals.add(lengths);
                    self.places.push((attributes.id, place(self.attributes.len())?));
                }
                self.attributes.push(attributes);
                self.lengths.push(lengths);
                self.is_live.push(is_live);
            }
        }
        self.places.sort_unstable();
        if self.places.windows(2).any(|pair| matches!(pair, [(one, _), (other, _)] if one == other))
        {
            return Err(Failure(failed("a document is there twice")));
        }
        Ok(())
    }

    /// How many documents it has.
    pub fn documents(&self) -> u64 {
        self.totals.documents
    }

    /// The best documents, at most `most`: the greatest score first, equal ones by ID. It looks at
    /// all documents that have one of the words.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::Storage`] if the index cannot be read.
    pub fn search(&self, terms: &Terms, scope: &Scope<'_>, most: usize) -> Result<Vec<Hit>> {
        let reading = Reading::new(self, scope);
        let keep = if terms.any { Keep::Either } else { Keep::Both };
        let mut scores: Option<Vec<(Place, f64)>> = None;
        for clause in &terms.clauses {
            let found = reading.clause(clause).map_err(|Failure(error)| error)?;
            scores = Some(match scores {
                None => found,
                Some(before) => joined(before, found, keep),
            });
            if keep == Keep::Both && scores.as_ref().is_some_and(Vec::is_empty) {
                return Ok(Vec::new());
            }
        }
        let hits = scores.unwrap_or_default().into_iter().filter_map(|(place, score)| {
            let attributes = reading.attributes(place)?;
            (scope.accepts)(attributes).then_some(Hit { document: attributes.id, score })
        });
        Ok(best(hits.collect(), most))
    }

    /// The documents of which one text may have one of what is required, by ID, among those that
    /// the index has as they are now. Of a selection those whose texts vary are among them in any
    /// case.
    ///
    /// # Errors
    /// As [`Self::search`].
    pub fn candidates(
        &self,
        required: &[&TrigramQuery],
        scope: &Scope<'_>,
    ) -> Result<Vec<DocumentId>> {
        let mut found = Vec::new();
        let live = self.live(scope);
        for ((lists, start), grams) in self.lists(&live).zip(&self.grams) {
            let mut documents: Option<Vec<Posting>> = Some(Vec::new());
            for required in required {
                documents = documents
                    .zip(having(grams, required))
                    .map(|(before, more)| either(before, more));
            }
            let documents: Vec<DocId> = match (documents, lists.only) {
                (Some(documents), None) => documents.into_iter().map(|(doc, _)| doc).collect(),
                (None, None) => (0..lists.segment.max_doc()).collect(),
                (None, Some(only)) => only.to_vec(),
                (Some(documents), Some(only)) => {
                    let documents =
                        either(documents, grams.postings(VARIES)).into_iter().map(|(doc, _)| doc);
                    documents.filter(|doc| only.binary_search(doc).is_ok()).collect()
                }
            };
            let places = documents.into_iter().map(|doc| start.saturating_add(doc));
            let places = places.filter(|place| live.has(*place));
            let attributes = places.filter_map(|place| self.attributes.get(place as usize));
            found.extend(attributes.filter(|one| (scope.accepts)(one)).map(|one| one.id));
        }
        found.sort_unstable();
        Ok(found)
    }

    pub(super) fn place_of(&self, document: DocumentId) -> Option<Place> {
        let found = self.places.binary_search_by_key(&document, |(other, _)| *other).ok()?;
        self.places.get(found).map(|(_, place)| *place)
    }

    /// Which documents are as the index has them, of what is looked at.
    fn live<'l>(&'l self, scope: &Scope<'l>) -> Live<'l> {
        let changed = scope.changed.iter().filter_map(|changed| self.place_of(*changed));
        if let Some(only) = scope.only {
            return Live::Only(only.without(self, changed));
        }
        let mut live = Cow::Borrowed(self.is_live.as_slice());
        for place in changed {
            live.to_mut().get_mut(place as usize).into_iter().for_each(|live| *live = false);
        }
        Live::All(live)
    }

    /// The lists of each segment, and where it begins.
    fn lists<'l>(&'l self, live: &'l Live<'l>) -> impl Iterator<Item = (Lists<'l>, Place)> {
        let segments = self.starts.iter().zip(self.searcher.segment_readers()).enumerate();
        segments.map(|(number, (start, segment))| {
            (Lists { segment, only: live.of_segment(number) }, *start)
        })
    }
}

/// What is looked at.
enum Live<'l> {
    /// Of each place, whether it is.
    All(Cow<'l, [bool]>),
    /// These alone.
    Only(Cow<'l, Selection>),
}

impl Live<'_> {
    /// Whether what a list has is looked at: lists of a selection have nothing else.
    fn has(&self, place: Place) -> bool {
        match self {
            Self::All(live) => is_set(live, place),
            Self::Only(_) => true,
        }
    }

    fn of_segment(&self, number: usize) -> Option<&[DocId]> {
        match self {
            Self::All(_) => None,
            Self::Only(only) => Some(only.of_segment(number)),
        }
    }
}

/// The documents of a segment that have what is required, and in which of their texts that may be;
/// none if all may have it in any. What is required nests no deeper than a pattern.
fn having(grams: &Table, required: &TrigramQuery) -> Option<Vec<Posting>> {
    match required {
        TrigramQuery::Unrestricted => None,
        TrigramQuery::Trigram(trigram) => Some(grams.postings(gram(*trigram))),
        TrigramQuery::And(parts) => {
            let mut lists: Vec<Vec<Posting>> = Vec::with_capacity(parts.len().min(AT_ONCE));
            for list in parts.iter().filter_map(|part| having(grams, part)) {
                if list.is_empty() {
                    return Some(list);
                }
                lists.push(list);
                if lists.len() == AT_ONCE {
                    let left = all_of(lists)?;
                    if left.is_empty() {
                        return Some(left);
                    }
                    lists = vec![left];
                }
            }
            all_of(lists)
        }
        TrigramQuery::Or(parts) => {
            let mut found = Vec::new();
            for part in parts {
                found = either(found, having(grams, part)?);
            }
            Some(found)
        }
    }
}

/// So many lists are in memory before those that are in all of them are sought.
const AT_ONCE: usize = 16;

/// What is in all lists, and may be so in one text; none if there is no list.
fn all_of(mut lists: Vec<Vec<Posting>>) -> Option<Vec<Posting>> {
    // The shortest first, so that there is little to look for in the others.
    lists.sort_unstable_by_key(Vec::len);
    lists.into_iter().reduce(|few, many| common(few, &many))
}

/// Beside a list that is so many times as long each document is looked up by itself.
const SPARSE: usize = 16;

/// Those of the first that are also among the others, and may be so in one text. Both are in order.
fn common(mut few: Vec<Posting>, many: &[Posting]) -> Vec<Posting> {
    let is_sparse = many.len() / SPARSE > few.len();
    let mut rest = many.iter().peekable();
    few.retain_mut(|(doc, mask)| {
        let other = if is_sparse {
            many.binary_search_by_key(doc, |(other, _)| *other)
                .ok()
                .and_then(|number| many.get(number))
        } else {
            while rest.next_if(|(other, _)| *other < *doc).is_some() {}
            rest.peek().copied().filter(|(other, _)| *other == *doc)
        };
        *mask &= other.map_or(0, |(_, other)| *other);
        *mask != 0
    });
    few
}

fn place(number: usize) -> Result<Place, Failure> {
    Place::try_from(number).map_err(|_| Failure(failed("it has too many documents")))
}

fn is_set(live: &[bool], place: Place) -> bool {
    live.get(place as usize).copied().unwrap_or_default()
}

/// The best of these, in order.
fn best(mut hits: Vec<Hit>, most: usize) -> Vec<Hit> {
    let order = |one: &Hit, other: &Hit| {
        other.score.total_cmp(&one.score).then_with(|| one.document.cmp(&other.document))
    };
    if most < hits.len() {
        hits.select_nth_unstable_by(most, order);
        hits.truncate(most);
    }
    hits.sort_unstable_by(order);
    hits
}

/// What is in one of both.
fn either(mut one: Vec<Posting>, mut other: Vec<Posting>) -> Vec<Posting> {
    if one.is_empty() {
        return other;
    }
    one.append(&mut other);
    one.sort_by_key(|(doc, _)| *doc);
    one.dedup_by(|(later, more), (doc, mask)| {
        let is_same = later == doc;
        *mask |= if is_same { *more } else { 0 };
        is_same
    });
    one
}

/// A search under way: which documents of the index are as it has them, and what is known of all.
struct Reading<'r> {
    view: &'r View,
    scope: &'r Scope<'r>,
    live: Live<'r>,
    /// The lengths of the lanes of fresh documents.
    fresh: Vec<[u32; 4]>,
    totals: Totals,
}

impl<'r> Reading<'r> {
    fn new(view: &'r View, scope: &'r Scope<'r>) -> Self {
        let live = view.live(scope);
        let mut totals = match &live {
            Live::All(_) => view.totals,
            Live::Only(only) => only.totals,
        };
        let changed = scope.changed.iter().filter_map(|changed| view.place_of(*changed));
        for place in changed.filter(|_| scope.only.is_none()) {
            view.lengths.get(place as usize).into_iter().for_each(|lengths| totals.take(*lengths));
        }
        let fresh: Vec<_> = scope.fresh.iter().map(|document| document.lengths).collect();
        for lengths in &fresh {
            totals.add(*lengths);
        }
        Self { view, scope, live, fresh, totals }
    }

    /// The number of a fresh document, if it is one.
    fn number(&self, place: Place) -> Option<usize> {
        (place as usize).checked_sub(self.view.attributes.len())
    }

    fn attributes(&self, place: Place) -> Option<&Attributes> {
        match self.number(place) {
            Some(number) => self.scope.fresh.get(number).map(|document| document.attributes()),
            None => self.view.attributes.get(place as usize),
        }
    }

    fn length(&self, place: Place, lane: Lane) -> u32 {
        let lengths = match self.number(place) {
            Some(number) => self.fresh.get(number),
            None => self.view.lengths.get(place as usize),
        };
        lengths.and_then(|lengths| lengths.get(lane as usize)).copied().unwrap_or_default()
    }

    /// What each document that meets the clause has of it, by place.
    fn clause(&self, clause: &Clause) -> Result<Vec<(Place, f64)>, Failure> {
        let mut scores = self.lanes([Lane::Title, Lane::Body], &clause.parts)?;
        if let Some(stem) = &clause.stem {
            scores = joined(scores, self.stems(stem)?, Keep::Either);
        }
        // Who has its beginnings meets it, who has the word itself is better.
        let exact = match clause.parts.as_slice() {
            [only] if only.is_prefix => Some(&only.text),
            _ => clause.whole.as_ref(),
        };
        if let Some(text) = exact.filter(|_| !scores.is_empty()) {
            scores =
                joined(scores, self.lanes([Lane::Title, Lane::Body], &single(text))?, Keep::First);
        }
        Ok(scores)
    }

    /// What each document has of a stem, by place.
    fn stems(&self, stem: &str) -> Result<Vec<(Place, f64)>, Failure> {
        // Words that are their own stems are kept as words alone.
        let is_word =
            stem_of(Stemmer::new(Algorithm::English), stem).is_some_and(|own| own == stem);
        let lanes = [(Lane::Title, Lane::TitleStems), (Lane::Body, Lane::BodyStems)];
        let [title, body] = lanes.map(|(words, stems)| {
            let others = self.lane(stems, &single(stem))?;
            let same = if is_word { self.lane(words, &single(stem))? } else { Vec::new() };
            Ok::<_, Failure>((stems, joined(others, same, Keep::Either)))
        });
        Ok(self.scored(title?, body?))
    }

    /// What each document has of a row of words in two lanes, by place. How rare it is goes by both
    /// together.
    fn lanes(&self, lanes: [Lane; 2], parts: &[Part]) -> Result<Vec<(Place, f64)>, Failure> {
        let [title, body] = lanes;
        Ok(self.scored((title, self.lane(title, parts)?), (body, self.lane(body, parts)?)))
    }

    /// What these occurrences in two lanes are worth.
    fn scored(
        &self,
        (one, first): (Lane, Vec<(Place, u32)>),
        (other, second): (Lane, Vec<(Place, u32)>),
    ) -> Vec<(Place, f64)> {
        let documents = (first.len() + second.len() - in_both(&first, &second)) as u64;
        let scored = |lane, found: Vec<(Place, u32)>| {
            let scale = Scale::new(lane, &self.totals, documents);
            let score = |(place, times)| (place, scale.score(times, self.length(place, lane)));
            found.into_iter().map(score).collect()
        };
        joined(scored(one, first), scored(other, second), Keep::Either)
    }

    fn lane(&self, lane: Lane, parts: &[Part]) -> Result<Vec<(Place, u32)>, Failure> {
        let mut found: Vec<(Place, u32)> = Vec::new();
        for (lists, start) in self.view.lists(&self.live) {
            let row = lists.row(self.view.fields.lane(lane), parts)?.into_iter();
            let row = row.map(|(doc, times)| (start.saturating_add(doc), times));
            found.extend(row.filter(|(place, _)| self.live.has(*place)));
        }
        let behind = place(self.view.attributes.len())?;
        for (place, document) in (behind..).zip(self.scope.fresh) {
            let times = times(document, lane, parts);
            found.extend((times > 0).then_some((place, times)));
        }
        Ok(found)
    }
}

fn single(text: &str) -> [Part; 1] {
    [Part { text: text.to_owned(), offset: 0, is_prefix: false }]
}

/// How often the parts stand in a row in a lane of the document.
fn times(document: &SearchDocument, lane: Lane, parts: &[Part]) -> u32 {
    let is_title = lane.is_title();
    if matches!(lane, Lane::TitleStems | Lane::BodyStems) {
        // Stems are asked for one by one.
        return parts.iter().map(|part| document.times_of_stem(is_title, &part.text)).sum();
    }
    if let [only] = parts {
        return count(document.occurrences(is_title, &only.text, only.is_prefix).len());
    }
    let mut starts: Option<Vec<u32>> = None;
    for part in parts {
        let places = document.occurrences(is_title, &part.text, part.is_prefix);
        let mut here: Vec<u32> =
            places.iter().filter_map(|place| place.checked_sub(part.offset)).collect();
        here.sort_unstable();
        here.dedup();
        if let Some(before) = starts {
            here.retain(|start| before.binary_search(start).is_ok());
        }
        if here.is_empty() {
            return 0;
        }
        starts = Some(here);
    }
    count(starts.unwrap_or_default().len())
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
