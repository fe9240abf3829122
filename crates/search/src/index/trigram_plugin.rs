//! The trigrams of a segment: a file of posting lists next to tantivy's files, written and merged
//! as a segment plugin. As terms of a tantivy field they would take several times the space and
//! time, because each term costs an entry of the term dictionary.

use std::any::Any;
use std::collections::BTreeSet;

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

/// Bytes of a posting while postings are collected, with as many to spare while their list grows.
const POSTING_BYTES: usize = 2 * size_of::<(TrigramId, DocId)>();

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

/// Collects the postings of a new segment. They are sorted once: a list for each trigram, which
/// grows by itself, takes twice the time.
#[derive(Default)]
struct TrigramWriter {
    postings: Vec<(TrigramId, DocId)>,
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
        let ids = document.trigrams.ids().iter().copied().chain(varies);
        self.postings.extend(ids.map(|id| (id, doc)));
        self.documents = doc + 1;
        Ok(())
    }

    fn serialize(
        mut self: Box<Self>,
        segment: &Segment,
        doc_ids: Option<&DocIdMapping>,
    ) -> tantivy::Result<()> {
        if doc_ids.is_some() {
            return Err(invalid("trigrams cannot be written to a sorted index"));
        }
        self.postings.sort_unstable_by_key(|(id, doc)| u64::from(*id) << 32 | u64::from(*doc));
        let mut writer = TrigramFileWriter::create(segment, self.documents)?;
        let mut list = Vec::new();
        for postings in self.postings.chunk_by(|(one, _), (other, _)| one == other) {
            list.clear();
            list.extend(postings.iter().map(|(_, doc)| *doc));
            if let Some((id, _)) = postings.first() {
                writer.write_list(*id, &list)?;
            }
        }
        writer.finish()
    }

    fn mem_usage(&self) -> usize {
        self.postings.len() * POSTING_BYTES
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}
