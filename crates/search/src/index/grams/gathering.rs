//! Trigrams of documents that are being written.

use std::any::Any;
use std::collections::HashMap;

use rustc_hash::FxBuildHasher;
use tantivy::indexer::doc_id_mapping::DocIdMapping;
use tantivy::schema::Schema;
use tantivy::schema::document::ErasedDocument;
use tantivy::{DocId, PluginWriter, Segment, TantivyError};

use super::list::List;
use super::table::Writing;
use crate::grams::Gram;
use crate::index::entry::Entry;

/// About what a list takes beside its documents, and what a document of one does: in some of them a mask.
const OF_LIST: usize = 160;
const OF_DOCUMENT: usize = 5;

/// The lists as they grow.
#[derive(Default)]
pub(super) struct Gathering {
    lists: HashMap<Gram, List, FxBuildHasher>,
    /// How many documents all lists have together.
    entries: usize,
    documents: DocId,
}

impl PluginWriter for Gathering {
    fn add_document(&mut self, document: DocId, entry: &dyn ErasedDocument, _: &Schema) -> tantivy::Result<()> {
        let entry = entry.as_any().downcast_ref::<Entry>();
        if let Some(grams) = entry.map(Entry::grams) {
            for (gram, mask) in grams.iter() {
                self.lists.entry(gram).or_default().push(document, mask);
            }
            self.entries += grams.len();
        }
        self.documents = document + 1;
        Ok(())
    }

    fn serialize(self: Box<Self>, segment: &Segment, order: Option<&DocIdMapping>) -> tantivy::Result<()> {
        if order.is_some() {
            return Err(TantivyError::InvalidArgument("documents stay in their order".to_owned()));
        }
        let mut lists: Vec<_> = self.lists.iter().collect();
        lists.sort_unstable_by_key(|(gram, _)| **gram);
        let mut writing = Writing::begin(segment, self.documents)?;
        for (gram, list) in lists {
            writing.put(*gram, list)?;
        }
        writing.finish()
    }

    fn mem_usage(&self) -> usize {
        self.lists.len() * OF_LIST + self.entries * OF_DOCUMENT
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}
