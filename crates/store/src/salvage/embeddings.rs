//! Vectors: those of blocks that were salvaged in their documents are copied. A host computes lost
//! ones again.

use std::collections::BTreeMap;

use leafbase_model::Result;

use super::inventory::Inventory;
use super::{OnStep, Salvager, relaxed};
use crate::keyspaces::{self, EMBEDDINGS};
use crate::kv::Store;
use crate::records;
use crate::records::embeddings::{EmbeddingModelRecord, read_bundle, seal_bundle, seal_digest};
use crate::records::layout::Value;

impl Salvager<'_> {
    pub(super) fn embeddings(
        &mut self,
        target: &dyn Store,
        inventory: &Inventory,
        step: OnStep<'_>,
    ) -> Result<()> {
        let mut models: BTreeMap<String, EmbeddingModelRecord> = BTreeMap::new();
        self.rows(EMBEDDINGS, &mut |salvage, key, value| {
            step()?;
            let (Some((model, ..)), Ok(bundle)) =
                (keyspaces::parse_embeddings(key), read_bundle(key, value))
            else {
                salvage.unread(key);
                return Ok(());
            };
            let record = models.entry(model.to_owned()).or_default();
            let dimensions = bundle.dimensions as u64;
            // A bundle that differs from the first one of its model is not of it.
            if record.embeddings > 0 && record.dimensions != dimensions {
                salvage.unread(key);
                return Ok(());
            }
            let mut embeddings = bundle.into_embeddings();
            embeddings.retain(|embedding| {
                let known = inventory.known.get(&embedding.block);
                known.is_some_and(|known| known.document == embedding.document)
            });
            let Some(first) = embeddings.first() else { return Ok(()) };
            let key = keyspaces::embeddings(model, first.document, first.block);
            let (value, digest) = seal_bundle(&key, &embeddings)?;
            record.dimensions = dimensions;
            record.embeddings += embeddings.len() as u64;
            record.digest = record.digest.wrapping_add(digest);
            let digest_key = keyspaces::embedding_digest(&key);
            target.write(relaxed(), &mut |rows| {
                rows.put(&key, &value)?;
                rows.put(&digest_key, &seal_digest(&digest_key, digest))
            })
        })?;
        models.retain(|_, record| record.embeddings > 0);
        target.write(relaxed(), &mut |rows| {
            models.iter().try_for_each(|(model, record)| {
                let key = keyspaces::embedding_model(model);
                rows.put(&key, &records::seal(&key, |out| record.encode(out)))
            })
        })?;
        self.report.saved.embeddings = models.values().map(|record| record.embeddings).sum();
        Ok(())
    }
}
