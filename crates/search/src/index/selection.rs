//! Some documents of an index, to be searched as if there were no others.

use std::borrow::Cow;
use std::collections::BTreeSet;

use leafbase_model::DocumentId;
use tantivy::DocId;

use super::scores::Place;
use super::view::View;
use crate::document::Attributes;
use crate::rank::Totals;

/// Documents of a [`View`] that are looked at alone: how rare a word is goes by them, and so does
/// how long a document is beside others.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Those of each segment, in order.
    segments: Vec<Vec<DocId>>,
    pub(super) totals: Totals,
}

impl View {
    /// Those of `documents` that it has and `admits` takes. It costs by how many are named.
    pub fn select(
        &self,
        documents: impl IntoIterator<Item = DocumentId>,
        admits: impl Fn(&Attributes) -> bool,
    ) -> Selection {
        let place = |document| {
            let place = self.place_of(document)?;
            self.attributes.get(place as usize).is_some_and(&admits).then_some(place)
        };
        Selection::of(self, documents.into_iter().filter_map(place))
    }
}

impl Selection {
    fn of(view: &View, places: impl Iterator<Item = Place>) -> Self {
        let mut made =
            Self { segments: vec![Vec::new(); view.starts.len()], totals: Totals::default() };
        for place in places {
            let number = view.starts.partition_point(|start| *start <= place).saturating_sub(1);
            let start = view.starts.get(number).copied().unwrap_or_default();
            made.segments
                .get_mut(number)
                .into_iter()
                .for_each(|docs| docs.push(place.saturating_sub(start)));
            view.lengths
                .get(place as usize)
                .into_iter()
                .for_each(|lengths| made.totals.add(*lengths));
        }
        made.segments.iter_mut().for_each(|docs| docs.sort_unstable());
        made
    }

    pub(super) fn of_segment(&self, number: usize) -> &[DocId] {
        self.segments.get(number).map(Vec::as_slice).unwrap_or_default()
    }

    /// The same without the documents at these places.
    pub(super) fn without(
        &self,
        view: &View,
        places: impl Iterator<Item = Place>,
    ) -> Cow<'_, Self> {
        let gone: BTreeSet<Place> = places.collect();
        if gone.is_empty() {
            return Cow::Borrowed(self);
        }
        let segments = self.segments.iter().zip(&view.starts);
        let places =
            segments.flat_map(|(docs, start)| docs.iter().map(|doc| start.saturating_add(*doc)));
        Cow::Owned(Self::of(view, places.filter(|place| !gone.contains(place))))
    }
}
