//! The overlay: dirty documents that a search takes from memory instead of the index.

use std::borrow::Cow;
use std::collections::HashSet;

use leafbase_model::{DocumentId, Result};
use tantivy::DocId;

use super::snapshot::{DocNumber, IndexSnapshot};
use super::subset::DocumentSubset;
use crate::document::{Attributes, SearchDocument};

/// What a search takes into account besides the index.
pub struct SearchOverlay<'s> {
    /// Dirty documents in their current versions.
    pub dirty: &'s [&'s SearchDocument],
    /// All documents that the index has in no current version: the IDs of `dirty`, and those of
    /// deleted documents.
    pub dirty_ids: &'s HashSet<DocumentId>,
    /// Whether a document may be a hit. Statistics include documents that do not pass.
    pub filter: &'s dyn Fn(&Attributes) -> bool,
    /// Restricts the index to these documents, in hits and in statistics; `None` for all.
    pub subset: Option<&'s DocumentSubset>,
}

impl std::fmt::Debug for SearchOverlay<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SearchOverlay").field("dirty", &self.dirty.len()).finish_non_exhaustive()
    }
}

/// The documents of a snapshot that a search reads: live, not dirty, and in the subset.
pub(super) enum CurrentDocuments<'l> {
    /// For each document whether it is current.
    Flags(Cow<'l, [bool]>),
    Subset(Cow<'l, DocumentSubset>),
}

impl<'l> CurrentDocuments<'l> {
    pub(super) fn new(snapshot: &'l IndexSnapshot, overlay: &SearchOverlay<'l>) -> Result<Self> {
        let dirty = overlay.dirty_ids.iter().filter_map(|dirty| snapshot.number_of(*dirty));
        if let Some(subset) = overlay.subset {
            return subset.without(snapshot, dirty).map(Self::Subset);
        }
        let mut flags = Cow::Borrowed(snapshot.is_live.as_slice());
        for number in dirty {
            if let Some(flag) = flags.to_mut().get_mut(number as usize) {
                *flag = false;
            }
        }
        Ok(Self::Flags(flags))
    }

    /// Whether a posting counts. Postings of a subset have been intersected with it before.
    pub(super) fn contains(&self, number: DocNumber) -> bool {
        match self {
            Self::Flags(flags) => flags.get(number as usize).is_some_and(|flag| *flag),
            Self::Subset(_) => true,
        }
    }

    /// The subset's documents in a segment; `None` without a subset.
    pub(super) fn subset_of(&self, segment: usize) -> Option<&[DocId]> {
        match self {
            Self::Flags(_) => None,
            Self::Subset(subset) => Some(subset.of_segment(segment)),
        }
    }
}
