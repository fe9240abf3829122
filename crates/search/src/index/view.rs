//! The index at one moment, and searches over it and over the documents that were changed since.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use leafbase_model::{DocumentId, Result};
use tantivy::{DocId, Searcher};

use super::layout::{Fields, Numbers, trigram_text};
use super::lists::Lists;
use super::{Failure, failed};
use crate::asked::{Clause, Part, Terms};
use crate::document::{Attributes, Lane, SearchDocument};
use crate::pattern::Required;
use crate::rank::{Scale, Totals};

/// The index at one moment.
pub struct View {
    searcher: Searcher,
    fields: Fields,
    /// By segment and document; none for those that were deleted.
    entries: Vec<Vec<Option<Entry>>>,
    totals: Totals,
    places: OnceLock<HashMap<DocumentId, Place>>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    attributes: Attributes,
    lengths: [u32; 4],
}

/// A document: of a segment, or behind the last segment one of those that were changed since.
type Place = (u32, DocId);

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
        let (mut entries, mut totals) = (Vec::new(), Totals::default());
        for segment in searcher.segment_readers() {
            let columns = segment.fast_fields();
            let mut numbers = HashMap::new();
            Numbers::read(|name| {
                let column = columns.u64(name)?.first_or_default_col(0);
                numbers.insert(name.to_owned(), column);
                Ok::<_, tantivy::TantivyError>(0)
            })
            .map_err(failed)?;
            let mut of_segment = Vec::with_capacity(segment.max_doc() as usize);
            for doc in 0..segment.max_doc() {
                if segment.is_deleted(doc) {
                    of_segment.push(None);
                    continue;
                }
                let number = |name: &str| Ok::<_, ()>(numbers.get(name).map_or(0, |column| column.get_val(doc)));
                let entry = Numbers::read(number).ok().and_then(|numbers| numbers.entry());
                let (attributes, lengths) = entry.ok_or_else(|| failed("a document of an unknown place"))?;
                totals.add(lengths);
                of_segment.push(Some(Entry { attributes, lengths }));
            }
            entries.push(of_segment);
        }
        Ok(Self { searcher, fields, entries, totals, places: OnceLock::new() })
    }

    /// How many documents it has.
    pub fn documents(&self) -> u64 {
        self.totals.documents
    }

    /// The best documents, at most `most`: the greatest score first, equal ones by ID. It looks at all documents that have one of the words.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::Storage`] if the index cannot be read.
    pub fn search(&self, terms: &Terms, scope: &Scope<'_>, most: usize) -> Result<Vec<Hit>> {
        let reading = Reading::new(self, scope);
        let mut scores: Option<Vec<(Place, f64)>> = None;
        for clause in &terms.clauses {
            let found = reading.clause(clause).map_err(|Failure(error)| error)?;
            scores = Some(match scores {
                None => found,
                Some(before) if terms.any => united(before, found),
                Some(before) => common(before, &found),
            });
        }
        let hits = scores.unwrap_or_default().into_iter().filter_map(|(place, score)| {
            let entry = reading.entry(place)?;
            (scope.accepts)(&entry.attributes).then_some(Hit { document: entry.attributes.id, score })
        });
        let mut hits: Vec<Hit> = hits.collect();
        hits.sort_unstable_by(|one, other| other.score.total_cmp(&one.score).then(one.document.cmp(&other.document)));
        hits.truncate(most);
        Ok(hits)
    }

    /// The documents that may have what is required, by ID, among those that the index has as they are now.
    ///
    /// # Errors
    /// As [`Self::search`].
    pub fn candidates(&self, required: &[&Required], scope: &Scope<'_>) -> Result<Vec<DocumentId>> {
        let mut found = Vec::new();
        for (number, segment) in self.searcher.segment_readers().iter().enumerate() {
            let lists = Lists { segment };
            let mut documents: Option<Vec<DocId>> = Some(Vec::new());
            for required in required {
                let some = self.having(&lists, required).map_err(|Failure(error)| error)?;
                documents = documents.zip(some).map(|(before, more)| merged(before, more));
            }
            let documents = documents.unwrap_or_else(|| (0..segment.max_doc()).collect());
            let entries = self.entries.get(number).map(Vec::as_slice).unwrap_or_default();
            let entries = documents.into_iter().filter_map(|doc| entries.get(doc as usize).copied().flatten());
            let attributes = entries.map(|entry| entry.attributes);
            let wanted =
                |attributes: &Attributes| !scope.changed.contains(&attributes.id) && (scope.accepts)(attributes);
            found.extend(attributes.filter(wanted).map(|attributes| attributes.id));
        }
        found.sort_unstable();
        Ok(found)
    }

    /// The documents of a segment that have what is required; none if all may. What is required nests no deeper than a pattern.
    fn having(&self, lists: &Lists<'_>, required: &Required) -> Result<Option<Vec<DocId>>, Failure> {
        match required {
            Required::Nothing => Ok(None),
            Required::Trigram(trigram) => lists.documents(self.fields.trigrams, &trigram_text(*trigram)).map(Some),
            Required::All(parts) => {
                let mut found: Option<Vec<DocId>> = None;
                for part in parts {
                    let Some(some) = self.having(lists, part)? else { continue };
                    let both = match found {
                        None => some,
                        Some(before) => before.into_iter().filter(|doc| some.binary_search(doc).is_ok()).collect(),
                    };
                    if both.is_empty() {
                        return Ok(Some(both));
                    }
                    found = Some(both);
                }
                Ok(found)
            }
            Required::Any(parts) => {
                let mut found = Vec::new();
                for part in parts {
                    let Some(some) = self.having(lists, part)? else { return Ok(None) };
                    found = merged(found, some);
                }
                Ok(Some(found))
            }
        }
    }

    fn places(&self) -> &HashMap<DocumentId, Place> {
        self.places.get_or_init(|| {
            let segments = (0..).zip(&self.entries);
            let entries = segments
                .flat_map(|(segment, entries)| (0..).zip(entries).map(move |(doc, entry)| ((segment, doc), entry)));
            entries.filter_map(|(place, entry)| entry.map(|entry| (entry.attributes.id, place))).collect()
        })
    }
}

fn merged(mut one: Vec<DocId>, mut other: Vec<DocId>) -> Vec<DocId> {
    one.append(&mut other);
    one.sort_unstable();
    one.dedup();
    one
}

/// A search under way: which documents of the index are hidden by fresh ones, and what is known of all.
struct Reading<'r> {
    view: &'r View,
    scope: &'r Scope<'r>,
    hidden: HashSet<Place>,
    totals: Totals,
}

impl<'r> Reading<'r> {
    fn new(view: &'r View, scope: &'r Scope<'r>) -> Self {
        let (mut totals, mut hidden) = (view.totals, HashSet::new());
        for changed in scope.changed {
            if let Some(place) = view.places().get(changed) {
                hidden.insert(*place);
                if let Some(entry) = view.entry(*place) {
                    totals.take(entry.lengths);
                }
            }
        }
        for document in scope.fresh {
            totals.add(Lane::ALL.map(|lane| document.words(lane).length()));
        }
        Self { view, scope, hidden, totals }
    }

    fn fresh(&self) -> u32 {
        u32::try_from(self.view.entries.len()).unwrap_or(u32::MAX)
    }

    fn entry(&self, place: Place) -> Option<Entry> {
        if place.0 != self.fresh() {
            return self.view.entry(place);
        }
        let document = self.scope.fresh.get(place.1 as usize)?;
        let lengths = Lane::ALL.map(|lane| document.words(lane).length());
        Some(Entry { attributes: *document.attributes(), lengths })
    }

    /// What each document that meets the clause has of it, by place.
    fn clause(&self, clause: &Clause) -> Result<Vec<(Place, f64)>, Failure> {
        let mut scores = self.lanes([Lane::Title, Lane::Body], &clause.parts)?;
        let single = |text: &String| [Part { text: text.clone(), offset: 0, is_prefix: false }];
        if let Some(stem) = &clause.stem {
            scores = united(scores, self.lanes([Lane::TitleStems, Lane::BodyStems], &single(stem))?);
        }
        // Who has its beginnings meets it, who has the word itself is better.
        let exact = match clause.parts.as_slice() {
            [only] if only.is_prefix => Some(&only.text),
            _ => clause.whole.as_ref(),
        };
        if let Some(text) = exact {
            scores = added(scores, &self.lanes([Lane::Title, Lane::Body], &single(text))?);
        }
        Ok(scores)
    }

    /// What each document has of a row of words in two lanes, by place. How rare it is goes by both together.
    fn lanes(&self, lanes: [Lane; 2], parts: &[Part]) -> Result<Vec<(Place, f64)>, Failure> {
        let [one, other] = lanes;
        let (first, second) = (self.lane(one, parts)?, self.lane(other, parts)?);
        let both = second.iter().filter(|(place, _)| first.binary_search_by_key(place, |(place, _)| *place).is_ok());
        let documents = (first.len() + second.len() - both.count()) as u64;
        let scored = |lane, found: Vec<(Place, u32)>| {
            let scale = Scale::new(lane, &self.totals, documents);
            let length = |place| self.entry(place).and_then(|entry| entry.lengths.get(lane as usize).copied());
            let score = |(place, times)| (place, scale.score(times, length(place).unwrap_or_default()));
            found.into_iter().map(score).collect()
        };
        Ok(united(scored(one, first), scored(other, second)))
    }

    fn lane(&self, lane: Lane, parts: &[Part]) -> Result<Vec<(Place, u32)>, Failure> {
        let mut found: Vec<(Place, u32)> = Vec::new();
        for (number, segment) in (0..).zip(self.view.searcher.segment_readers()) {
            let lists = Lists { segment };
            let row = lists.row(self.view.fields.lane(lane), parts)?.into_iter();
            let row = row.map(|(doc, times)| ((number, doc), times));
            found.extend(row.filter(|(place, _)| !self.hidden.contains(place) && self.view.entry(*place).is_some()));
        }
        for (number, document) in (0..).zip(self.scope.fresh) {
            let times = times(document, lane, parts);
            found.extend((times > 0).then_some(((self.fresh(), number), times)));
        }
        Ok(found)
    }
}

impl View {
    fn entry(&self, (segment, doc): Place) -> Option<Entry> {
        self.entries.get(segment as usize)?.get(doc as usize).copied().flatten()
    }
}

/// How often the parts stand in a row in a lane of the document.
fn times(document: &SearchDocument, lane: Lane, parts: &[Part]) -> u32 {
    let words = document.words(lane);
    let Some((first, rest)) = parts.split_first() else { return 0 };
    let starts = words.occurrences(&first.text, first.is_prefix).iter().map(|(_, position)| *position);
    let follows = |start: u32, part: &Part| {
        let wanted = start.saturating_add(part.offset.saturating_sub(first.offset));
        words.occurrences(&part.text, part.is_prefix).iter().any(|(_, position)| *position == wanted)
    };
    let rows = starts.filter(|start| rest.iter().all(|part| follows(*start, part)));
    u32::try_from(rows.count()).unwrap_or(u32::MAX)
}

/// All of both, in order.
fn united(one: Vec<(Place, f64)>, other: Vec<(Place, f64)>) -> Vec<(Place, f64)> {
    if one.is_empty() {
        return other;
    }
    let mut all = Vec::with_capacity(one.len() + other.len());
    let (mut one, mut other) = (one.into_iter().peekable(), other.into_iter().peekable());
    loop {
        let next = match (one.peek(), other.peek()) {
            (Some((first, _)), Some((second, _))) => match first.cmp(second) {
                std::cmp::Ordering::Less => one.next(),
                std::cmp::Ordering::Greater => other.next(),
                std::cmp::Ordering::Equal => {
                    let sum = one.next().zip(other.next());
                    sum.map(|((place, first), (_, second))| (place, first + second))
                }
            },
            (Some(_), None) => one.next(),
            (None, _) => other.next(),
        };
        let Some(next) = next else { return all };
        all.push(next);
    }
}

/// Those of both.
fn common(one: Vec<(Place, f64)>, other: &[(Place, f64)]) -> Vec<(Place, f64)> {
    let score = |(place, score): (Place, f64)| {
        let found = other.binary_search_by_key(&place, |(place, _)| *place).ok()?;
        other.get(found).map(|(_, more)| (place, score + more))
    };
    one.into_iter().filter_map(score).collect()
}

/// All of the first, with what the second has of them.
fn added(one: Vec<(Place, f64)>, other: &[(Place, f64)]) -> Vec<(Place, f64)> {
    let more = |place: &Place| {
        let found = other.binary_search_by_key(place, |(place, _)| *place).ok();
        found.and_then(|found| other.get(found)).map_or(0.0, |(_, score)| *score)
    };
    one.into_iter().map(|(place, score)| (place, score + more(&place))).collect()
}
