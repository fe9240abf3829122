//! An analyzed document: the tokens of its fields and its trigrams, ready to be indexed, and to be
//! searched without an index.

use std::borrow::Cow;

use leafbase_model::{Day, DocumentId, Location, Timestamp};

use crate::sorted_field::SortedField;
use crate::trigrams::TrigramSet;
use crate::unsorted_field::UnsortedField;
use leafbase_pattern::TrigramQuery;

/// The attributes of a document that filters read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// The document.
    pub id: DocumentId,
    /// Its location.
    pub location: Location,
    /// Its day, if it is a daily note.
    pub day: Option<Day>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last modified.
    pub modified_at: Timestamp,
}

/// A field of the index. Each field is scored by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextField {
    /// The words of the title.
    Title,
    /// The words of all blocks.
    Body,
    /// The stems of the title's words.
    TitleStems,
    /// The stems of the words of all blocks.
    BodyStems,
}

impl TextField {
    /// All fields.
    pub const ALL: [Self; 4] = [Self::Title, Self::Body, Self::TitleStems, Self::BodyStems];

    pub(crate) const fn is_title(self) -> bool {
        matches!(self, Self::Title | Self::TitleStems)
    }
}

/// The tokens of the title and of the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DocumentPostings {
    Sorted([SortedField; 2]),
    Unsorted([UnsortedField; 2]),
}

/// The title's element of a pair of fields, or the body's.
fn pick<T>([title, body]: &[T; 2], is_title: bool) -> &T {
    if is_title { title } else { body }
}

/// A document that [`crate::Analyzer`] has analyzed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchDocument {
    pub(crate) attributes: Attributes,
    pub(crate) postings: DocumentPostings,
    /// Tokens of each field, in the order of [`TextField::ALL`].
    pub(crate) lengths: [u32; 4],
    pub(crate) trigrams: TrigramSet,
    pub(crate) varies: bool,
}

impl SearchDocument {
    /// The document's ID.
    pub const fn id(&self) -> DocumentId {
        self.attributes.id
    }

    /// The attributes that filters read.
    pub const fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// The same texts with other attributes.
    pub fn with_attributes(self, attributes: Attributes) -> Self {
        Self { attributes, ..self }
    }

    /// Whether scoped readers see other texts than the ones analyzed. For them its trigrams decide
    /// nothing.
    pub const fn varies(&self) -> bool {
        self.varies
    }

    /// Whether a pattern with these requirements can match one of its texts.
    pub fn may_match(&self, required: &TrigramQuery) -> bool {
        self.trigrams.satisfies(required)
    }

    /// Whether its tokens are in text order; [`crate::Analyzer::sort`] sorts them.
    pub const fn is_unsorted(&self) -> bool {
        matches!(self.postings, DocumentPostings::Unsorted(_))
    }

    /// Its size in memory.
    pub(crate) fn bytes(&self) -> usize {
        let postings: usize = match &self.postings {
            DocumentPostings::Sorted(fields) => fields.iter().map(SortedField::bytes).sum(),
            DocumentPostings::Unsorted(fields) => fields.iter().map(UnsortedField::bytes).sum(),
        };
        size_of::<Self>() + self.trigrams.bytes() + postings
    }

    /// The positions of a term, or of all terms with this prefix.
    pub(crate) fn positions_of(
        &self,
        is_title: bool,
        text: &str,
        is_prefix: bool,
    ) -> Cow<'_, [u32]> {
        match &self.postings {
            DocumentPostings::Sorted(fields) => {
                Cow::Borrowed(pick(fields, is_title).terms.positions_of(text, is_prefix))
            }
            DocumentPostings::Unsorted(fields) => {
                Cow::Owned(pick(fields, is_title).positions_of(text, is_prefix))
            }
        }
    }

    /// Visits the terms of its fields, some of them several times.
    pub(crate) fn each_term(&self, visit: &mut dyn FnMut(&str)) {
        match &self.postings {
            DocumentPostings::Sorted(fields) => {
                fields
                    .iter()
                    .flat_map(|field| field.terms.iter())
                    .for_each(|(term, _)| visit(term));
            }
            DocumentPostings::Unsorted(fields) => {
                for field in fields {
                    field.occurrences().for_each(|occurrence| visit(field.term(occurrence)));
                }
            }
        }
    }

    /// The number of words that have an English stem and differ from it, or that have it as another
    /// form.
    pub(crate) fn stem_frequency(&self, is_title: bool, stem: &str) -> u32 {
        match &self.postings {
            DocumentPostings::Sorted(fields) => pick(fields, is_title).stems.frequency(stem),
            DocumentPostings::Unsorted(fields) => {
                let frequency = pick(fields, is_title).stem_frequency(stem);
                u32::try_from(frequency).unwrap_or(u32::MAX)
            }
        }
    }
}
