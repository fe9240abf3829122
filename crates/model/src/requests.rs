//! Requests and list replies: plain serde types, so that a host passes JSON straight through.

use std::ops::Deref;

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::json::Object;
use crate::{Error, Result};

pub(crate) mod batch;
pub(crate) mod blocks;
pub(crate) mod collections;
pub(crate) mod comments;
pub(crate) mod document_patch;
pub(crate) mod documents;
pub(crate) mod embeddings;
pub(crate) mod files;
pub(crate) mod folder_patch;
pub(crate) mod folders;
pub(crate) mod links;
pub(crate) mod lookups;
pub(crate) mod page_markdown;
pub(crate) mod queries;
pub(crate) mod query_text;
pub(crate) mod ranges;
pub(crate) mod replacements;
pub(crate) mod search;
pub(crate) mod search_weights;
pub(crate) mod tags;
pub(crate) mod tasks;
pub(crate) mod text_edits;
pub(crate) mod undo;

/// Serializes a field if it is present.
pub(crate) fn given<M: SerializeMap, T: Serialize + ?Sized>(
    map: &mut M,
    name: &'static str,
    value: Option<&T>,
) -> std::result::Result<(), M::Error> {
    value.map_or(Ok(()), |value| map.serialize_entry(name, value))
}

/// Serializes a single text as a string, several as an array.
pub(crate) fn write_texts<M: SerializeMap>(
    map: &mut M,
    name: &'static str,
    texts: &[String],
) -> std::result::Result<(), M::Error> {
    match texts {
        [] => Ok(()),
        [one] => map.serialize_entry(name, one),
        several => map.serialize_entry(name, several),
    }
}

/// The page of a list to return. As JSON: the fields `limit` and `cursor` of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Paging {
    /// The maximum number of items in the reply, 1 or more; unlimited if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(range(min = 1)))]
    pub limit: Option<usize>,
    /// The `nextCursor` of the previous reply, opaque to clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

impl Paging {
    pub(crate) fn take(object: &mut Object) -> Result<Self> {
        let limit = object.optional("limit")?;
        let paging = Self { limit, cursor: object.optional("cursor")? };
        paging.check()?;
        Ok(paging)
    }

    /// Validates a request that was built in code.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] at `limit` for 0.
    pub fn check(&self) -> Result<()> {
        // An empty page could not have a cursor that makes progress.
        if self.limit == Some(0) {
            return Err(
                Error::validation("expected a number of items, 1 or more, got 0").at("limit")
            );
        }
        Ok(())
    }

    pub(crate) fn write<M: SerializeMap>(&self, map: &mut M) -> std::result::Result<(), M::Error> {
        given(map, "limit", self.limit.as_ref())?;
        given(map, "cursor", self.cursor.as_ref())
    }
}

/// A page of a list: `{"items": [..], "nextCursor": ".."}`. Dereferences to the slice of its items.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemsPage<T> {
    /// The items.
    pub items: Vec<T>,
    /// The cursor of the next page; `None` on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl<T> Deref for ItemsPage<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T> IntoIterator for ItemsPage<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a ItemsPage<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

/// A complete list: `{"items": [..]}`. Dereferences to the slice of its items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Items<T>(pub Vec<T>);

impl<T> Deref for Items<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'a, T> IntoIterator for &'a Items<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T: Serialize> Serialize for Items<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct ItemsJson<'a, T> {
            items: &'a [T],
        }
        ItemsJson { items: &self.0 }.serialize(serializer)
    }
}

impl<T> IntoIterator for Items<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
