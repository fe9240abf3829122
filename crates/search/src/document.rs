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

/// A part of a document that is analyzed by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Section {
    Title,
    /// All blocks.
    Body,
    /// The headings, which are part of the body.
    Headings,
}

impl Section {
    pub(crate) const ALL: [Self; 3] = [Self::Title, Self::Body, Self::Headings];

    /// The element of this section.
    pub(crate) const fn of<T>(self, [title, body, headings]: &[T; Self::ALL.len()]) -> &T {
        match self {
            Self::Title => title,
            Self::Body => body,
            Self::Headings => headings,
        }
    }

    /// The field of its words.
    pub(crate) const fn words(self) -> TextField {
        match self {
            Self::Title => TextField::Title,
            Self::Body => TextField::Body,
            Self::Headings => TextField::Headings,
        }
    }

    /// The field of its stems.
    pub(crate) const fn stems(self) -> TextField {
        match self {
            Self::Title => TextField::TitleStems,
            Self::Body => TextField::BodyStems,
            Self::Headings => TextField::HeadingStems,
        }
    }
}

/// A field of the index. Each field is scored by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextField {
    /// The words of the title.
    Title,
    /// The words of all blocks.
    Body,
    /// The words of headings, which the body has, too.
    Headings,
    /// The stems of the title's words.
    TitleStems,
    /// The stems of the words of all blocks.
    BodyStems,
    /// The stems of the words of headings.
    HeadingStems,
}

impl TextField {
    /// All fields.
    pub const ALL: [Self; 6] = [
        Self::Title,
        Self::Body,
        Self::Headings,
        Self::TitleStems,
        Self::BodyStems,
        Self::HeadingStems,
    ];

    pub(crate) const fn section(self) -> Section {
        match self {
            Self::Title | Self::TitleStems => Section::Title,
            Self::Body | Self::BodyStems => Section::Body,
            Self::Headings | Self::HeadingStems => Section::Headings,
        }
    }

    pub(crate) const fn is_stems(self) -> bool {
        matches!(self, Self::TitleStems | Self::BodyStems | Self::HeadingStems)
    }

    /// The element of this field, of those in the order of [`Self::ALL`].
    pub(crate) const fn of<T: Copy>(self, all: &[T; Self::ALL.len()]) -> T {
        let [title, body, headings, title_stems, body_stems, heading_stems] = *all;
        match self {
            Self::Title => title,
            Self::Body => body,
            Self::Headings => headings,
            Self::TitleStems => title_stems,
            Self::BodyStems => body_stems,
            Self::HeadingStems => heading_stems,
        }
    }
}

/// Tokens of each field of a document, in the order of [`TextField::ALL`].
pub(crate) type FieldLengths = [u32; TextField::ALL.len()];

/// The tokens of each section, in the order of [`Section::ALL`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DocumentPostings {
    Sorted([SortedField; Section::ALL.len()]),
    Unsorted([UnsortedField; Section::ALL.len()]),
}

/// A document that [`crate::Analyzer`] has analyzed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchDocument {
    pub(crate) attributes: Attributes,
    pub(crate) postings: DocumentPostings,
    pub(crate) lengths: FieldLengths,
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
        section: Section,
        text: &str,
        is_prefix: bool,
    ) -> Cow<'_, [u32]> {
        match &self.postings {
            DocumentPostings::Sorted(fields) => {
                Cow::Borrowed(section.of(fields).terms.positions_of(text, is_prefix))
            }
            DocumentPostings::Unsorted(fields) => {
                Cow::Owned(section.of(fields).positions_of(text, is_prefix))
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
    pub(crate) fn stem_frequency(&self, section: Section, stem: &str) -> u32 {
        match &self.postings {
            DocumentPostings::Sorted(fields) => section.of(fields).stems.frequency(stem),
            DocumentPostings::Unsorted(fields) => {
                let frequency = section.of(fields).stem_frequency(stem);
                u32::try_from(frequency).unwrap_or(u32::MAX)
            }
        }
    }
}
