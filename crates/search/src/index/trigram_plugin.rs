//! The trigrams of a segment: a file of posting lists next to tantivy's files, written and merged
//! as a segment plugin. As terms of a tantivy field they would take several times the space and
//! time, because each term costs an entry of the term dictionary.

use std::any::Any;
use std::collections::{BTreeSet, HashMap};

use foldhash::fast::RandomState;
use tantivy::indexer::DocIdMapping;
use tantivy::indexer::doc_id_mapping::MappingType;
use tantivy::schema::Schema;
use tantivy::schema::document::ErasedDocument;
use tantivy::{
    DocId, PluginMergeContext, PluginWriter, PluginWriterContext, Segment, SegmentPlugin,
    SegmentReader, TantivyError,
};

use super::segment_document::SegmentDocument;
use crate::trigrams::{TrigramId, VARIES_ID};
use trigram_file::{EXTENSION, TrigramFileWriter};
pub(crate) use trigram_file::{TrigramFile, component};

mod posting_list;
mod trigram_file;

/// Estimated bytes of a posting list without its postings: its map entry and its allocation.
const LIST_BYTES: usize = 64;
/// Estimated bytes per posting while a list grows and is encoded.
const POSTING_BYTES: usize = 8;

pub(super) struct TrigramPlugin;

fn invalid(message: &str) -> TantivyError {
    TantivyError::InvalidArgument(message.to_owned())
}

impl SegmentPlugin for TrigramPlugin {
    fn extensions(&self) -> &[&str] {
        &[EXTENSION]
    }

    fn create_writer(&self, _: &PluginWriterContext<'_>) -> tantivy::Result<Box<dyn PluginWriter>> {
        Ok(Box::new(TrigramWriter::default()))
    }

    fn merge(&self, context: PluginMergeContext<'_>) -> tantivy::Result<()> {
        // Without a sort order of the index, merging concatenates the live documents of all
        // segments, so the merged posting lists stay sorted.
        if context.doc_id_mapping.mapping_type() == MappingType::Shuffled {
            return Err(invalid("trigrams cannot be merged into a sorted index"));
        }
        let (mut sources, mut documents) = (Vec::new(), 0);
        for segment in context.readers {
            sources.push((TrigramFile::open(segment)?, new_doc_ids(segment, documents)));
            documents += segment.num_docs();
        }
        let ids: BTreeSet<_> = sources.iter().flat_map(|(file, _)| file.ids()).collect();
        let mut writer = TrigramFileWriter::create(context.target_segment, documents)?;
        let mut list = Vec::new();
        for id in ids {
            list.clear();
            for (file, new_ids) in &sources {
                let old = file.postings(id)?;
                list.extend(old.iter().filter_map(|doc| *new_ids.get(*doc as usize)?));
            }
            if !list.is_empty() {
                writer.write_list(id, &list)?;
            }
        }
        writer.finish()
    }
}

/// The document ID in the merged segment for each ID of `segment`, counted from `first`; `None`
/// for deleted documents.
fn new_doc_ids(segment: &SegmentReader, first: DocId) -> Vec<Option<DocId>> {
    let mut next = first..;
    let alive = segment.alive_bitset();
    let is_alive = |old: &DocId| alive.is_none_or(|alive| alive.is_alive(*old));
    (0..segment.max_doc()).map(|old| is_alive(&old).then(|| next.next()).flatten()).collect()
}

/// Collects the posting lists of a new segment.
#[derive(Default)]
struct TrigramWriter {
    lists: HashMap<TrigramId, Vec<DocId>, RandomState>,
    postings: usize,
    documents: DocId,
}

impl PluginWriter for TrigramWriter {
    fn add_document(
        &mut self,
        doc: DocId,
        document: &dyn ErasedDocument,
        _: &Schema,
    ) -> tantivy::Result<()> {
        let document = document.as_any().downcast_ref::<SegmentDocument>();
        let document = document.ok_or_else(|| invalid("a document was not analyzed"))?;
        debug_assert!(doc >= self.documents, "documents are added in the order of their IDs");
        let varies = document.varies.then_some(VARIES_ID);
        for id in document.trigrams.ids().iter().copied().chain(varies) {
            self.lists.entry(id).or_default().push(doc);
            self.postings += 1;
        }
        self.documents = doc + 1;
        Ok(())
    }

    fn serialize(
        self: Box<Self>,
        segment: &Segment,
        doc_ids: Option<&DocIdMapping>,
    ) -> tantivy::Result<()> {
        if doc_ids.is_some() {
            return Err(invalid("trigrams cannot be written to a sorted index"));
        }
        let mut lists: Vec<(TrigramId, Vec<DocId>)> = self.lists.into_iter().collect();
        lists.sort_unstable_by_key(|(id, _)| *id);
        let mut writer = TrigramFileWriter::create(segment, self.documents)?;
        for (id, list) in lists {
            writer.write_list(id, &list)?;
        }
        writer.finish()
    }

    fn mem_usage(&self) -> usize {
        self.lists.len() * LIST_BYTES + self.postings * POSTING_BYTES
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}
