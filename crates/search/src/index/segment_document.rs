//! An analyzed document in the form that tantivy's segment writer takes.

use std::iter::{Empty, once};

use leafbase_model::DocumentId;
use tantivy::Document;
use tantivy::schema::Field;
use tantivy::schema::document::{ReferenceValue, ReferenceValueLeaf, Value};

use super::field_text::push_token;
use super::schema::{DocumentColumns, IndexFields};
use crate::document::{DocumentPostings, SearchDocument, TextField};
use crate::sorted_field::SortedField;
use crate::stems::StemCache;
use crate::trigrams::TrigramSet;
use crate::unsorted_field::UnsortedField;

/// A document whose fields are serialized for [`super::field_text::FieldTextTokenizer`].
#[derive(Clone, Debug)]
pub(super) struct SegmentDocument {
    fields: IndexFields,
    id: DocumentId,
    /// In the order of [`TextField::ALL`].
    texts: [String; TextField::ALL.len()],
    columns: DocumentColumns,
    pub(super) trigrams: TrigramSet,
    pub(super) varies: bool,
}

impl SegmentDocument {
    pub(super) fn new(
        document: SearchDocument,
        fields: IndexFields,
        stems: &mut StemCache,
    ) -> Self {
        let columns = DocumentColumns::of(&document);
        let [[title, title_stems], [body, body_stems], [headings, heading_stems]] =
            match &document.postings {
                DocumentPostings::Sorted(fields) => fields.each_ref().map(sorted_texts),
                DocumentPostings::Unsorted(fields) => {
                    fields.each_ref().map(|field| unsorted_texts(field, stems))
                }
            };
        Self {
            fields,
            id: document.id(),
            texts: [title, body, headings, title_stems, body_stems, heading_stems],
            columns,
            varies: document.varies(),
            trigrams: document.trigrams,
        }
    }
}

/// The texts of a field's terms and of its stems.
fn sorted_texts(field: &SortedField) -> [String; 2] {
    let [mut terms, mut stems] = [String::new(), String::new()];
    for (term, positions) in field.terms.iter() {
        for position in positions {
            push_token(&mut terms, term, *position);
        }
    }
    for (stem, count) in field.stems.iter() {
        // The stem fields have frequencies, but no positions.
        (0..count).for_each(|_| push_token(&mut stems, stem, 0));
    }
    [terms, stems]
}

fn unsorted_texts(field: &UnsortedField, cache: &mut StemCache) -> [String; 2] {
    let [mut terms, mut stems] = [String::new(), String::new()];
    for occurrence in field.occurrences() {
        let term = field.term(occurrence);
        push_token(&mut terms, term, occurrence.position);
        if occurrence.is_stemmed
            && let Some(stem) = cache.stem(term)
        {
            push_token(&mut stems, stem, 0);
        }
    }
    field.forms().for_each(|form| push_token(&mut stems, form, 0));
    [terms, stems]
}

impl Document for SegmentDocument {
    type Value<'d> = FieldValue<'d>;
    type FieldsValuesIter<'d> = Box<dyn Iterator<Item = (Field, FieldValue<'d>)> + 'd>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        let id = once((self.fields.id, FieldValue::Bytes(self.id.as_bytes())));
        let texts = TextField::ALL.into_iter().zip(&self.texts);
        let texts = texts.map(|(field, text)| (self.fields.text(field), FieldValue::Tokens(text)));
        let columns = self.fields.columns.into_iter().zip(self.columns.values());
        let columns = columns.map(|(field, number)| (field, FieldValue::Number(number)));
        Box::new(id.chain(texts).chain(columns))
    }
}

/// The value of one field of a [`SegmentDocument`].
#[derive(Clone, Copy, Debug)]
pub(super) enum FieldValue<'d> {
    Bytes(&'d [u8]),
    Tokens(&'d str),
    Number(u64),
}

impl<'d> Value<'d> for FieldValue<'d> {
    type ArrayIter = Empty<Self>;
    type ObjectIter = Empty<(&'d str, Self)>;

    fn as_value(&self) -> ReferenceValue<'d, Self> {
        ReferenceValue::Leaf(match *self {
            Self::Bytes(bytes) => ReferenceValueLeaf::Bytes(bytes),
            Self::Tokens(text) => ReferenceValueLeaf::Str(text),
            Self::Number(number) => ReferenceValueLeaf::U64(number),
        })
    }
}
