//! Trigrams of a segment: which documents have each, and in which of their texts. They lie in a
//! file of their own beside tantivy's, whose lists of terms cost far more for what has neither
//! letters to compare nor positions.

use std::collections::BTreeSet;

use tantivy::indexer::doc_id_mapping::MappingType;
use tantivy::{
    DocId, PluginMergeContext, PluginWriter, PluginWriterContext, SegmentPlugin, SegmentReader,
    TantivyError,
};

pub(super) use gathering::Gathering;
use list::List;
pub(crate) use list::Posting;
use table::{EXTENSION, Writing};
pub(crate) use table::{Table, component};

mod gathering;
mod list;
mod table;

/// Keeps the trigrams of documents.
pub(super) struct Keeper;

impl SegmentPlugin for Keeper {
    fn extensions(&self) -> &[&str] {
        &[EXTENSION]
    }

    fn create_writer(&self, _: &PluginWriterContext<'_>) -> tantivy::Result<Box<dyn PluginWriter>> {
        Err(TantivyError::InvalidArgument("no document is given to tantivy's writer".to_owned()))
    }

    fn merge(&self, merging: PluginMergeContext<'_>) -> tantivy::Result<()> {
        if merging.doc_id_mapping.mapping_type() == MappingType::Shuffled {
            return Err(TantivyError::InvalidArgument("documents stay in their order".to_owned()));
        }
        let (mut sources, mut documents) = (Vec::new(), 0);
        for segment in merging.readers {
            sources.push((Table::open(segment)?, numbers(segment, documents)));
            documents += segment.num_docs();
        }
        let grams: BTreeSet<_> = sources.iter().flat_map(|(table, _)| table.grams()).collect();
        let mut writing = Writing::begin(merging.target_segment, documents)?;
        for gram in grams {
            let mut list = List::default();
            for (table, numbers) in &sources {
                for (old, mask) in table.postings(gram) {
                    numbers
                        .get(old as usize)
                        .copied()
                        .flatten()
                        .into_iter()
                        .for_each(|new| list.push(new, mask));
                }
            }
            let list = list.documents();
            if list.count > 0 {
                writing.put(gram, list)?;
            }
        }
        writing.finish()
    }
}

/// The numbers that the documents of a segment get, the first one that is there still this; the
/// others get none.
fn numbers(segment: &SegmentReader, first: DocId) -> Vec<Option<DocId>> {
    let mut next = first..;
    let alive = segment.alive_bitset();
    let is_alive = |old: &DocId| alive.is_none_or(|alive| alive.is_alive(*old));
    (0..segment.max_doc()).map(|old| is_alive(&old).then(|| next.next()).flatten()).collect()
}
