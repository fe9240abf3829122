//! Reads of vectors of blocks and documents.

use std::ops::{Bound, ControlFlow};

use leafbase_model::{BlockId, DocumentId, Result};

use super::SpaceReader;
use crate::embeddings::StoredEmbedding;
use crate::keyspaces::{self, EMBEDDING_MODELS};
use crate::kv::{KeyRange, Read};
use crate::lookup::get;
use crate::records;
use crate::records::embeddings::{EmbeddingBundle, EmbeddingModelRecord, read_bundle, read_digest};
use crate::records::layout::Value;

/// A bundle of vectors of a model, by its first vector and its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BundleDigest {
    /// The document of the first vector.
    pub document: DocumentId,
    /// The block of the first vector.
    pub block: BlockId,
    /// Changes with every change of the bundle.
    pub digest: u64,
}

/// The record of a model, if it has vectors.
pub(crate) fn stored_model(source: &dyn Read, model: &str) -> Result<Option<EmbeddingModelRecord>> {
    let key = keyspaces::embedding_model(model);
    get(source, &key, |value| records::decode(&key, value, EmbeddingModelRecord::decode))
}

/// All models with vectors, by name.
pub(crate) fn stored_models(source: &dyn Read) -> Result<Vec<(String, EmbeddingModelRecord)>> {
    let (mut models, lower) = (Vec::new(), [EMBEDDING_MODELS.tag]);
    let upper = keyspaces::prefix_end(lower);
    source.scan(KeyRange::half_open(&lower, &upper), &mut |key, value| {
        let name = keyspaces::parse_embedding_model(key).ok_or_else(|| records::corrupt(key))?;
        let record = records::decode(key, value, EmbeddingModelRecord::decode)?;
        models.push((name.to_owned(), record));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(models)
}

/// The key of the bundle that has the vector of `key`, or would have it: the last one that begins
/// at it or before, or else the first one. `None` without bundles.
pub(crate) fn bundle_over(source: &dyn Read, model: &str, key: &[u8]) -> Result<Option<Vec<u8>>> {
    let start = keyspaces::embeddings_of(model);
    let end = keyspaces::prefix_end_of(&start);
    let mut found = None;
    let mut visit = |key: &[u8], _: &[u8]| {
        found = Some(key.to_vec());
        Ok(ControlFlow::Break(()))
    };
    let before =
        KeyRange { lower: Bound::Included(&start), upper: Bound::Included(key), reverse: true };
    source.scan(before, &mut visit)?;
    if found.is_none() {
        let all = KeyRange::half_open(&start, &end);
        source.scan(all, &mut |key, _| {
            found = Some(key.to_vec());
            Ok(ControlFlow::Break(()))
        })?;
    }
    Ok(found)
}

impl SpaceReader<'_> {
    /// The models with vectors, by name.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn embedding_models(&self) -> Result<Vec<(String, EmbeddingModelRecord)>> {
        stored_models(self.read)
    }

    /// A model; `None` if it has no vectors.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn embedding_model(&self, model: &str) -> Result<Option<EmbeddingModelRecord>> {
        stored_model(self.read, model)
    }

    /// The digests of all bundles of a model, in order. Reads a small row for each.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn embedding_digests(&self, model: &str) -> Result<Vec<BundleDigest>> {
        let (mut digests, lower) = (Vec::new(), keyspaces::embedding_digests_of(model));
        let upper = keyspaces::prefix_end_of(&lower);
        self.read.scan(KeyRange::half_open(&lower, &upper), &mut |key, value| {
            let (_, document, block) =
                keyspaces::parse_embeddings(key).ok_or_else(|| records::corrupt(key))?;
            digests.push(BundleDigest { document, block, digest: read_digest(key, value)? });
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(digests)
    }

    /// The bundle of a model that begins with this vector.
    ///
    /// # Errors
    /// As [`Self::locate`]; [`leafbase_model::ErrorKind::Corrupted`] if there is none.
    pub fn embedding_bundle(
        &self,
        model: &str,
        document: DocumentId,
        block: BlockId,
    ) -> Result<EmbeddingBundle> {
        let key = keyspaces::embeddings(model, document, block);
        get(self.read, &key, |value| read_bundle(&key, value))?
            .ok_or_else(|| records::corrupt(&key))
    }

    /// The vectors of a model for a document and its blocks, by block. Reads the bundles that
    /// have them.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn embeddings_in(&self, model: &str, document: DocumentId) -> Result<Vec<StoredEmbedding>> {
        let mut found = Vec::new();
        self.scan_document(model, document, &mut |bundle| {
            let embeddings = bundle.into_embeddings().into_iter();
            found.extend(embeddings.filter(|embedding| embedding.document == document));
        })?;
        Ok(found)
    }

    /// The vector of a model for a block of `document`, or under its root for the document itself.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn embedding(
        &self,
        model: &str,
        document: DocumentId,
        block: BlockId,
    ) -> Result<Option<StoredEmbedding>> {
        let key = keyspaces::embeddings(model, document, block);
        let mut found = None;
        self.scan_bundles(model, &key, &key, &mut |bundle| {
            let mut embeddings = bundle.into_embeddings().into_iter();
            found = embeddings.find(|embedding| embedding.target() == (document, block));
        })?;
        Ok(found)
    }

    /// Passes the bundles that may have vectors of a document to `visit`.
    fn scan_document(
        &self,
        model: &str,
        document: DocumentId,
        visit: &mut dyn FnMut(EmbeddingBundle),
    ) -> Result<()> {
        let from = keyspaces::embeddings(model, document, BlockId::NIL);
        let to = keyspaces::embeddings(model, document, BlockId::from_bytes([0xff; 16]));
        self.scan_bundles(model, &from, &to, visit)
    }

    /// Passes the bundles that may have vectors with keys from `from` to `to`, both inclusive.
    fn scan_bundles(
        &self,
        model: &str,
        from: &[u8],
        to: &[u8],
        visit: &mut dyn FnMut(EmbeddingBundle),
    ) -> Result<()> {
        let Some(first) = bundle_over(self.read, model, from)? else { return Ok(()) };
        let range =
            KeyRange { lower: Bound::Included(&first), upper: Bound::Included(to), reverse: false };
        if range.is_empty() {
            return Ok(());
        }
        self.read.scan(range, &mut |key, value| {
            visit(read_bundle(key, value)?);
            Ok(ControlFlow::Continue(()))
        })
    }
}

/// The revisions that the vectors of documents and their blocks were computed from. The bundle that
/// was read last is kept: the next document may have vectors in it, too.
#[derive(Debug)]
pub struct EmbeddedRevs<'r> {
    reader: SpaceReader<'r>,
    model: &'r str,
    /// With its key.
    last: Option<(Vec<u8>, EmbeddingBundle)>,
}

impl<'r> EmbeddedRevs<'r> {
    /// Those of a model.
    pub const fn new(reader: SpaceReader<'r>, model: &'r str) -> Self {
        Self { reader, model, last: None }
    }

    /// The revisions of a document and its blocks, by block.
    ///
    /// # Errors
    /// As [`SpaceReader::locate`].
    pub fn of(&mut self, document: DocumentId) -> Result<Vec<(BlockId, u64)>> {
        let from = keyspaces::embeddings(self.model, document, BlockId::NIL);
        let to = keyspaces::embeddings(self.model, document, BlockId::from_bytes([0xff; 16]));
        let mut found = Vec::new();
        let mut add = |bundle: &EmbeddingBundle| {
            let entries = bundle.entries.iter().filter(|entry| entry.document == document);
            found.extend(entries.map(|entry| (entry.block, entry.rev)));
        };
        let whole = self.last.as_ref().filter(|(key, bundle)| {
            // The bundle has a vector after all of the document.
            *key <= from && bundle.entries.last().is_some_and(|last| last.document > document)
        });
        if let Some((_, bundle)) = whole {
            add(bundle);
            return Ok(found);
        }
        let read = self.reader.read;
        let Some(first) = bundle_over(read, self.model, &from)? else { return Ok(found) };
        let lower = match &self.last {
            Some((key, bundle)) if *key == first => {
                add(bundle);
                Bound::Excluded(&first[..])
            }
            _ => Bound::Included(&first[..]),
        };
        let range = KeyRange { lower, upper: Bound::Included(&to), reverse: false };
        if !range.is_empty() {
            read.scan(range, &mut |key, value| {
                let bundle = read_bundle(key, value)?;
                add(&bundle);
                self.last = Some((key.to_owned(), bundle));
                Ok(ControlFlow::Continue(()))
            })?;
        }
        Ok(found)
    }
}
