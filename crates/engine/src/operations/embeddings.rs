//! Embeddings: vectors of blocks and documents that the host computes.

use std::collections::HashSet;

use leafbase_model::{
    BlockId, DocumentId, Embedding, EmbeddingDraft, EmbeddingModel, EmbeddingsReply, Error,
    GetEmbeddings, Items, PutEmbeddings, RemoveEmbeddings, Result, invariant,
};
use leafbase_store::{EmbeddingModelRecord, QuantizedVector, StoredEmbedding};
use leafbase_tree_ops::ReadTree;

use crate::core::access::Full;
use crate::core::connection::Connection;
use crate::core::tree::Tree;

mod missing_list;

/// A block or a document that has a vector, or may have one.
#[derive(Clone, Copy)]
struct EmbeddingTarget {
    document: DocumentId,
    block: BlockId,
    /// The revision of the block, or of the document.
    rev: u64,
}

impl Connection<Full> {
    /// Stores vectors that the host's model computed for blocks and documents, in place of those
    /// that they have. [`Connection::search`] compares them with that of a query.
    ///
    /// A vector is kept as bytes with one scale, and belongs to the revision that it was computed
    /// from. When the block is written again it is stale: searches still compare it, and
    /// [`Connection::missing_embeddings`] lists the block. It goes with its block, moves with it to
    /// another document, and is erased by a purge. A document has a vector of its own, beside those
    /// of its blocks.
    ///
    /// Vectors are derived data: they are not part of the change log, of its followers or of undo,
    /// and change no revision. Backups have them.
    ///
    /// The first vector of a model fixes the number of components. A model without vectors does not
    /// exist.
    ///
    /// ```
    /// use leafbase::{
    ///     EmbeddingDraft, MissingEmbeddings, PutEmbeddings, QueryEmbedding, SearchDocuments,
    ///     Space,
    /// };
    /// # fn main() -> leafbase::Result<()> {
    /// # fn embed(text: &str) -> Vec<f32> { vec![text.len() as f32, 1.0] }
    /// let notes = Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?.id();
    /// notes.insert_markdown("passport\n\ncharger and cables", trip)?;
    ///
    /// // What has no vector yet, with its text.
    /// let missing = notes.missing_embeddings(MissingEmbeddings::of_blocks("minilm"))?;
    /// let drafts = missing.iter().map(|entry| {
    ///     let text = entry.markdown.as_deref().unwrap_or_default();
    ///     EmbeddingDraft::new(entry.id, embed(text)).of_rev(entry.rev)
    /// });
    /// let stored = notes.put_embeddings(PutEmbeddings::new("minilm", drafts))?;
    /// assert_eq!((stored.model.dimensions, stored.model.embeddings), (2, 2));
    ///
    /// let query = QueryEmbedding::new("minilm", embed("passport"));
    /// let found = notes.search(SearchDocuments::words("cables").near(query))?;
    /// let nearest = found[0].nearest.unwrap().block_id;
    /// assert!(missing.iter().any(|entry| entry.id == nearest
    ///     && entry.markdown.as_deref() == Some("passport")));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Returns the model, and the blocks that do not exist: they were deleted since the host read
    /// them, and their vectors are left out.
    ///
    /// # Cost
    /// Vectors lie in bundles of 16 KiB, of which each that changes is written.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] at `model` for an empty name; at `embeddings[n].vector` for
    /// another number of components than the model has, for zeros alone, and with `[m]` for a
    /// component that is not finite; at `embeddings[n].rev` for a revision that the block has not
    /// reached; at `embeddings[n].id` for one that is named twice.
    /// [`crate::ErrorKind::LimitExceeded`] at `embeddings` for more than
    /// [`crate::Limits::blocks_per_request`], at `model` for more than
    /// [`crate::Limits::EMBEDDING_MODEL_BYTES`], and at `embeddings[n].vector` for more than
    /// [`crate::Limits::EMBEDDING_DIMENSIONS`].
    pub fn put_embeddings(&self, request: PutEmbeddings) -> Result<EmbeddingsReply> {
        self.check_ids("embeddings", Some(&request.embeddings))?;
        request.check()?;
        let PutEmbeddings { model, embeddings, .. } = request;
        let (model, embeddings) = (model.as_str(), embeddings.as_slice());
        check_unique(embeddings)?;
        let quantize = |draft: &EmbeddingDraft| QuantizedVector::nearest_to(&draft.vector);
        // Before the transaction, which keeps other writers waiting.
        let vectors: Vec<QuantizedVector> = embeddings.iter().map(quantize).collect();
        let (reply, _) = self.operation("put_embeddings").write(|transaction| {
            let targets = transaction.plan(|tree, _| targets(tree, embeddings))?;
            invariant!(targets.len() == vectors.len(), "each vector has its target, or none");
            let mut missing_ids = Vec::new();
            for (index, (draft, (target, vector))) in
                embeddings.iter().zip(targets.iter().zip(&vectors)).enumerate()
            {
                let Some(EmbeddingTarget { document, block, rev }) = *target else {
                    missing_ids.push(draft.id);
                    continue;
                };
                let rev = draft.rev.unwrap_or(rev);
                let stored = StoredEmbedding { document, block, rev, vector: vector.clone() };
                let path = format_args!("embeddings[{index}].vector").to_string();
                transaction.put_embedding(model, stored).map_err(|error| error.at(path))?;
            }
            let model = shown_model(model, transaction.embedding_model(model)?);
            Ok(EmbeddingsReply::new(model, missing_ids))
        })?;
        Ok(reply)
    }

    /// Reads vectors of a model back, in the order of the request; blocks and documents without one
    /// are left out.
    ///
    /// ```
    /// use leafbase::{EmbeddingDraft, GetEmbeddings, PutEmbeddings, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?.id();
    /// let draft = EmbeddingDraft::new(trip, [127.0, -64.0]);
    /// notes.put_embeddings(PutEmbeddings::new("minilm", [draft]))?;
    /// notes.insert_markdown("passport", trip)?;
    ///
    /// let found = notes.embeddings(GetEmbeddings::new("minilm", [trip]))?;
    /// assert_eq!(*found[0].vector, [127.0, -64.0]);
    /// assert!(found[0].is_stale); // the document was written since
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::LimitExceeded`] at `ids` for more than
    /// [`crate::Limits::blocks_per_request`].
    pub fn embeddings(&self, request: GetEmbeddings) -> Result<Items<Embedding>> {
        self.check_ids("ids", Some(&request.ids))?;
        self.operation("embeddings").read(|tree| {
            let reader = tree.full_reader()?;
            let mut found = Vec::new();
            for id in request.ids {
                let Some(EmbeddingTarget { document, block, rev }) = target(tree, id)? else {
                    continue;
                };
                let stored = reader.embedding(&request.model, document, block)?;
                found.extend(stored.map(|stored| {
                    let vector = stored.vector.to_f32();
                    Embedding::new(block, document, stored.rev, vector).stale(stored.rev != rev)
                }));
            }
            Ok(Items(found))
        })
    }

    /// Removes vectors of a model: those of some blocks and documents, or all. Returns the model
    /// with what is left.
    ///
    /// ```
    /// use leafbase::{EmbeddingDraft, PutEmbeddings, RemoveEmbeddings, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?.id();
    /// let draft = EmbeddingDraft::new(trip, [0.5, 1.0]);
    /// notes.put_embeddings(PutEmbeddings::new("minilm", [draft]))?;
    /// assert_eq!(notes.remove_embeddings(RemoveEmbeddings::all("minilm"))?.embeddings, 0);
    /// assert!(notes.embedding_models()?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::LimitExceeded`] at `ids` for more than
    /// [`crate::Limits::blocks_per_request`].
    pub fn remove_embeddings(&self, request: RemoveEmbeddings) -> Result<EmbeddingModel> {
        let RemoveEmbeddings { model, ids, .. } = request;
        let (model, ids) = (model.as_str(), ids.as_ref());
        self.check_ids("ids", ids)?;
        let (left, _) = self.operation("remove_embeddings").write(|transaction| {
            match ids {
                None => transaction.remove_embedding_model(model)?,
                Some(ids) => {
                    let targets = transaction.plan(|tree, _| {
                        ids.iter().map(|id| target(tree, *id)).collect::<Result<Vec<_>>>()
                    })?;
                    for EmbeddingTarget { document, block, .. } in targets.into_iter().flatten() {
                        transaction.remove_embedding(model, document, block)?;
                    }
                }
            }
            Ok(shown_model(model, transaction.embedding_model(model)?))
        })?;
        Ok(left)
    }

    /// The models that have vectors, by name.
    ///
    /// ```
    /// use leafbase::{EmbeddingDraft, PutEmbeddings, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?.id();
    /// let draft = EmbeddingDraft::new(trip, [0.5, 1.0]);
    /// notes.put_embeddings(PutEmbeddings::new("minilm", [draft]))?;
    /// let models = notes.embedding_models()?;
    /// assert_eq!((models[0].model.as_str(), models[0].dimensions), ("minilm", 2));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What the store reports.
    pub fn embedding_models(&self) -> Result<Items<EmbeddingModel>> {
        self.operation("embedding_models").read_all(|reader| {
            let models = reader.embedding_models()?.into_iter();
            Ok(Items(models.map(|(name, record)| shown_model(&name, Some(record))).collect()))
        })
    }
}

fn shown_model(name: &str, record: Option<EmbeddingModelRecord>) -> EmbeddingModel {
    let EmbeddingModelRecord { dimensions, embeddings, .. } = record.unwrap_or_default();
    EmbeddingModel::new(name, usize::try_from(dimensions).unwrap_or(usize::MAX), embeddings)
}

fn check_unique(embeddings: &[EmbeddingDraft]) -> Result<()> {
    let mut seen = HashSet::new();
    match embeddings.iter().position(|draft| !seen.insert(draft.id)) {
        Some(index) => {
            let path = format_args!("embeddings[{index}].id").to_string();
            Err(Error::validation("is named twice").at(path))
        }
        None => Ok(()),
    }
}

/// The blocks and documents of drafts, those that exist.
fn targets(tree: &Tree<'_>, drafts: &[EmbeddingDraft]) -> Result<Vec<Option<EmbeddingTarget>>> {
    let find = |(index, draft): (usize, &EmbeddingDraft)| {
        let found = target(tree, draft.id)?;
        match (found, draft.rev) {
            (Some(EmbeddingTarget { rev, .. }), Some(expected)) if expected > rev => {
                let path = format_args!("embeddings[{index}].rev").to_string();
                Err(Error::validation(format!("the revision is {rev}")).at(path))
            }
            _ => Ok(found),
        }
    };
    drafts.iter().enumerate().map(find).collect()
}

/// The block of this ID, or the document that it is the root of.
fn target(tree: &Tree<'_>, block: BlockId) -> Result<Option<EmbeddingTarget>> {
    let Some(location) = tree.locate(block)? else { return Ok(None) };
    let document = location.document;
    let rev = if block == document.root() {
        tree.document(document)?.map(|record| record.rev)
    } else {
        tree.block(block)?.map(|record| record.rev)
    };
    Ok(rev.map(|rev| EmbeddingTarget { document, block, rev }))
}
