//! Checks of vectors, of their digests, and of the models.

use std::collections::BTreeMap;

use leafbase_model::{BlockId, DocumentId};

use super::blocks::CheckedBlocks;
use super::{Invariant, SpaceCheck};
use crate::keyspaces::{self, EMBEDDING_DIGESTS, EMBEDDING_MODELS, EMBEDDINGS, RowName};
use crate::records;
use crate::records::embeddings::{
    EmbeddingBundle, EmbeddingModelRecord, digest_of, read_bundle, read_digest,
};
use crate::records::layout::Value;

impl SpaceCheck<'_> {
    pub(super) fn embeddings(&mut self, blocks: &CheckedBlocks) {
        let mut models: BTreeMap<String, EmbeddingModelRecord> = BTreeMap::new();
        let mut digests: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        let mut last: Option<(String, DocumentId, BlockId)> = None;
        self.rows(EMBEDDINGS, &mut |check, key, value| {
            let (model, ..) =
                keyspaces::parse_embeddings(key).ok_or_else(|| records::corrupt(key))?;
            let bundle = read_bundle(key, value)?;
            check.bundle(blocks, key, &bundle);
            let digest = digest_of(value).ok_or_else(|| records::corrupt(key))?;
            digests.insert(keyspaces::embedding_digest(key), digest);
            let known = models.entry(model.to_owned()).or_default();
            let dimensions = bundle.dimensions as u64;
            if known.embeddings > 0 && known.dimensions != dimensions {
                let message = "it has vectors of another number of components";
                check.found(Invariant::Embedding, RowName(key), message);
            }
            known.dimensions = dimensions;
            known.embeddings += bundle.entries.len() as u64;
            known.digest = known.digest.wrapping_add(digest);
            check.report.embeddings += bundle.entries.len() as u64;
            // Each bundle is sorted: the next one goes on after its last vector.
            let target = |entry: &records::embeddings::EmbeddingEntry| {
                (model.to_owned(), entry.document, entry.block)
            };
            if last.is_some() && bundle.entries.first().map(target) <= last {
                let message = "it does not come after the one before it";
                check.found(Invariant::Embedding, RowName(key), message);
            }
            last = bundle.entries.last().map(target);
            Ok(())
        });
        self.rows(EMBEDDING_DIGESTS, &mut |check, key, value| {
            if digests.remove(key) != Some(read_digest(key, value)?) {
                let message = "it does not follow from the vectors";
                check.found(Invariant::Embedding, RowName(key), message);
            }
            Ok(())
        });
        for key in digests.into_keys() {
            self.expect_index_row(Invariant::Embedding, &key);
        }
        self.rows(EMBEDDING_MODELS, &mut |check, key, value| {
            let model =
                keyspaces::parse_embedding_model(key).ok_or_else(|| records::corrupt(key))?;
            let record = records::decode(key, value, EmbeddingModelRecord::decode)?;
            if models.remove(model) != Some(record) {
                let message = "it does not follow from the vectors";
                check.found(Invariant::Embedding, RowName(key), message);
            }
            Ok(())
        });
        for model in models.into_keys() {
            self.expect_index_row(Invariant::Embedding, &keyspaces::embedding_model(&model));
        }
    }

    fn bundle(&mut self, blocks: &CheckedBlocks, key: &[u8], bundle: &EmbeddingBundle) {
        for entry in &bundle.entries {
            let message = match blocks.run_of(entry.block) {
                Some((document, ..)) if document == entry.document => continue,
                Some(_) => "the block of a vector is in another document",
                None => "the block of a vector does not exist",
            };
            self.found(Invariant::Embedding, RowName(key), message);
        }
    }
}
