//! The document of which nothing is stored, and the only one that tantivy's writer takes: what it
//! keeps for those that wait is made with it.

use std::iter::Empty;

use tantivy::Document;
use tantivy::schema::{Field, OwnedValue};

/// A document without values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nothing;

impl Document for Nothing {
    type Value<'n> = &'n OwnedValue;
    type FieldsValuesIter<'n> = Empty<(Field, &'n OwnedValue)>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        std::iter::empty()
    }
}
