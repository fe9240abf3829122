//! Staged vectors: bundles that a transaction has read, with what it changes in them.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};

use leafbase_model::{BlockId, DocumentId, Result, invariant};

use crate::embeddings::StoredEmbedding;
use crate::keyspaces;
use crate::kv::{KeyRange, Read, Transaction};
use crate::lookup::get;
use crate::reader::embeddings::{bundle_over, stored_models};
use crate::records::embeddings::{
    EmbeddingModelRecord, bundle_capacity, digest_of, read_bundle, seal_bundle, seal_digest,
};
use crate::records::layout::Value;
use crate::records::{self};

/// The vectors that a transaction reads and changes.
#[derive(Debug, Default)]
pub(crate) struct StagedEmbeddings {
    /// The models by name, once they are needed.
    models: Option<BTreeMap<String, StagedModel>>,
}

#[derive(Debug, Default)]
struct StagedModel {
    record: EmbeddingModelRecord,
    /// By the key that each is stored under, or would be if there were no other.
    bundles: BTreeMap<Vec<u8>, StagedBundle>,
}

/// A bundle that was read. Vectors up to the next one are added to it.
#[derive(Debug, Default)]
struct StagedBundle {
    /// The key of the next bundle, or the end of the model.
    end: Vec<u8>,
    /// Number of vectors and digest of the stored bundle; `None` if it is new.
    stored: Option<(u64, u64)>,
    embeddings: BTreeMap<(DocumentId, BlockId), StoredEmbedding>,
    is_changed: bool,
}

impl StagedEmbeddings {
    fn models(&mut self, source: &dyn Read) -> Result<&mut BTreeMap<String, StagedModel>> {
        if self.models.is_none() {
            let staged = |(name, record)| (name, StagedModel { record, ..StagedModel::default() });
            self.models = Some(stored_models(source)?.into_iter().map(staged).collect());
        }
        let Some(models) = &mut self.models else { invariant!("the models were read") };
        Ok(models)
    }

    /// Sets a vector. Returns the number of components that the model has, if it is another one:
    /// then nothing changes.
    pub(crate) fn put(
        &mut self,
        source: &dyn Read,
        model: &str,
        embedding: StoredEmbedding,
    ) -> Result<Option<u64>> {
        let models = self.models(source)?;
        let dimensions = embedding.vector.components.len() as u64;
        let staged = models.entry(model.to_owned()).or_default();
        // A model without vectors takes any number.
        if staged.record.embeddings == 0 {
            staged.record.dimensions = dimensions;
        }
        if staged.record.dimensions != dimensions {
            return Ok(Some(staged.record.dimensions));
        }
        let bundle = staged.bundle(source, model, embedding.target())?;
        let is_new = bundle.embeddings.insert(embedding.target(), embedding).is_none();
        bundle.is_changed = true;
        staged.record.embeddings += u64::from(is_new);
        Ok(None)
    }

    /// Removes a vector. Returns whether there was one.
    pub(crate) fn remove(
        &mut self,
        source: &dyn Read,
        model: &str,
        target: (DocumentId, BlockId),
    ) -> Result<bool> {
        match self.models(source)?.get_mut(model) {
            Some(staged) => Ok(staged.take(source, model, target)?.is_some()),
            None => Ok(false),
        }
    }

    /// Removes the vectors of all models for blocks of `document`.
    pub(crate) fn remove_blocks(
        &mut self,
        source: &dyn Read,
        document: DocumentId,
        blocks: &mut dyn Iterator<Item = BlockId>,
    ) -> Result<()> {
        let models = self.models(source)?;
        // Most spaces have no vectors, and read nothing but that.
        if models.is_empty() {
            return Ok(());
        }
        for block in blocks {
            for (name, staged) in &mut *models {
                staged.take(source, name, (document, block))?;
            }
        }
        Ok(())
    }

    /// Takes the vectors of all models for blocks that moved to another document along.
    pub(crate) fn rekey(
        &mut self,
        source: &dyn Read,
        blocks: &[BlockId],
        from: DocumentId,
        to: DocumentId,
    ) -> Result<()> {
        for (name, staged) in self.models(source)? {
            for block in blocks {
                if let Some(taken) = staged.take(source, name, (from, *block))? {
                    let moved = StoredEmbedding { document: to, ..taken };
                    let bundle = staged.bundle(source, name, moved.target())?;
                    bundle.embeddings.insert(moved.target(), moved);
                    bundle.is_changed = true;
                    staged.record.embeddings += 1;
                }
            }
        }
        Ok(())
    }

    /// Removes all vectors of a model.
    pub(crate) fn remove_model(&mut self, rows: &mut dyn Transaction, model: &str) -> Result<()> {
        self.models(&*rows)?.remove(model);
        for lower in [keyspaces::embeddings_of(model), keyspaces::embedding_digests_of(model)] {
            rows.delete_range(&lower, &keyspaces::prefix_end_of(&lower))?;
        }
        rows.delete(&keyspaces::embedding_model(model))
    }

    /// The record of a model as it is staged; `None` without vectors.
    pub(crate) fn model(
        &mut self,
        source: &dyn Read,
        model: &str,
    ) -> Result<Option<EmbeddingModelRecord>> {
        let staged = self.models(source)?.get(model).map(|staged| staged.record);
        Ok(staged.filter(|record| record.embeddings > 0))
    }

    /// Writes the bundles that changed.
    pub(crate) fn flush(&mut self, rows: &mut dyn Transaction) -> Result<()> {
        let Some(models) = &mut self.models else { return Ok(()) };
        for (name, staged) in &mut *models {
            staged.flush(rows, name)?;
        }
        models.retain(|_, staged| staged.record.embeddings > 0);
        Ok(())
    }
}

impl StagedModel {
    fn take(
        &mut self,
        source: &dyn Read,
        model: &str,
        target: (DocumentId, BlockId),
    ) -> Result<Option<StoredEmbedding>> {
        if self.record.embeddings == 0 {
            return Ok(None);
        }
        let bundle = self.bundle(source, model, target)?;
        let taken = bundle.embeddings.remove(&target);
        bundle.is_changed |= taken.is_some();
        self.record.embeddings = self.record.embeddings.saturating_sub(u64::from(taken.is_some()));
        Ok(taken)
    }

    /// The bundle that has a vector, or would have it.
    fn bundle(
        &mut self,
        source: &dyn Read,
        model: &str,
        (document, block): (DocumentId, BlockId),
    ) -> Result<&mut StagedBundle> {
        let key = keyspaces::embeddings(model, document, block);
        let known = self.bundles.range(..=key.clone()).next_back();
        let known = known.filter(|(_, bundle)| key < bundle.end).map(|(start, _)| start.clone());
        let start = match known {
            Some(start) => start,
            // A model without bundles gets its first one.
            None => {
                bundle_over(source, model, &key)?.unwrap_or_else(|| keyspaces::embeddings_of(model))
            }
        };
        if !self.bundles.contains_key(&start) {
            let bundle = StagedBundle::load(source, model, &start)?;
            self.bundles.insert(start.clone(), bundle);
        }
        let Some(bundle) = self.bundles.get_mut(&start) else {
            invariant!("the bundle was loaded")
        };
        Ok(bundle)
    }

    fn flush(&mut self, rows: &mut dyn Transaction, model: &str) -> Result<()> {
        let changed = std::mem::take(&mut self.bundles);
        let changed = changed.into_iter().filter(|(_, bundle)| bundle.is_changed);
        let mut is_changed = false;
        for (key, StagedBundle { stored, embeddings, .. }) in changed {
            is_changed = true;
            if let Some((_, digest)) = stored {
                self.record.digest = self.record.digest.wrapping_sub(digest);
                // The key is that of the first vector, which may be another one now.
                rows.delete(&key)?;
                rows.delete(&keyspaces::embedding_digest(&key))?;
            }
            let embeddings: Vec<StoredEmbedding> = embeddings.into_values().collect();
            self.write(rows, model, &embeddings)?;
        }
        if !is_changed {
            return Ok(());
        }
        let key = keyspaces::embedding_model(model);
        if self.record.embeddings == 0 {
            return rows.delete(&key);
        }
        rows.put(&key, &records::seal(&key, |out| self.record.encode(out)))
    }

    /// Writes consecutive vectors as bundles of about the same size.
    fn write(
        &mut self,
        rows: &mut dyn Transaction,
        model: &str,
        embeddings: &[StoredEmbedding],
    ) -> Result<()> {
        let dimensions = usize::try_from(self.record.dimensions).unwrap_or(usize::MAX);
        let bundles = embeddings.len().div_ceil(bundle_capacity(dimensions));
        if bundles == 0 {
            return Ok(());
        }
        for bundle in embeddings.chunks(embeddings.len().div_ceil(bundles)) {
            let Some(first) = bundle.first() else { invariant!("no bundle is empty") };
            let key = keyspaces::embeddings(model, first.document, first.block);
            let (value, digest) = seal_bundle(&key, bundle)?;
            rows.put(&key, &value)?;
            let digest_key = keyspaces::embedding_digest(&key);
            rows.put(&digest_key, &seal_digest(&digest_key, digest))?;
            self.record.digest = self.record.digest.wrapping_add(digest);
        }
        Ok(())
    }
}

impl StagedBundle {
    /// The bundle under `key`; an empty one if there is none.
    fn load(source: &dyn Read, model: &str, key: &[u8]) -> Result<Self> {
        let stored = get(source, key, |value| {
            let bundle = read_bundle(key, value)?;
            Ok((bundle, digest_of(value).ok_or_else(|| records::corrupt(key))?))
        })?;
        let mut end = keyspaces::prefix_end_of(&keyspaces::embeddings_of(model));
        let after = KeyRange {
            lower: Bound::Excluded(key),
            upper: Bound::Excluded(&end.clone()),
            reverse: false,
        };
        source.scan(after, &mut |next, _| {
            end = next.to_vec();
            Ok(ControlFlow::Break(()))
        })?;
        let Some((bundle, digest)) = stored else { return Ok(Self { end, ..Self::default() }) };
        let embeddings: BTreeMap<_, _> =
            bundle.into_embeddings().into_iter().map(|one| (one.target(), one)).collect();
        let stored = Some((embeddings.len() as u64, digest));
        Ok(Self { end, stored, embeddings, is_changed: false })
    }
}
