//! Vectors of blocks and documents: derived data of the host, which goes with the block, and is no
//! part of the change log.

use leafbase_model::{BlockId, DocumentId, Error, Result};

use super::SpaceTransaction;
use super::errors::missing;
use crate::embeddings::StoredEmbedding;
use crate::records::embeddings::EmbeddingModelRecord;

impl SpaceTransaction<'_> {
    /// Sets the vector of a model for a block, or under its root for a document. The first vector
    /// of a model fixes how many components the others have.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::NotFound`] if the block is not in the document;
    /// [`leafbase_model::ErrorKind::Validation`] for another number of components; errors of the
    /// store.
    pub fn put_embedding(&mut self, model: &str, embedding: StoredEmbedding) -> Result<()> {
        if self.location(embedding.block)?.document != embedding.document {
            return Err(missing("the block"));
        }
        let found = embedding.vector.components.len();
        match self.embeddings.put(&*self.rows, model, embedding)? {
            None => Ok(()),
            Some(expected) => Err(Error::validation(format!(
                "the vectors of the model have {expected} components, and this one has {found}"
            ))),
        }
    }

    /// Removes the vector of a model for a block. Returns whether there was one.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn remove_embedding(
        &mut self,
        model: &str,
        document: DocumentId,
        block: BlockId,
    ) -> Result<bool> {
        self.embeddings.remove(&*self.rows, model, (document, block))
    }

    /// Removes all vectors of a model.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn remove_embedding_model(&mut self, model: &str) -> Result<()> {
        self.embeddings.remove_model(self.rows, model)
    }

    /// A model with what this transaction did to it; `None` without vectors.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn embedding_model(&mut self, model: &str) -> Result<Option<EmbeddingModelRecord>> {
        self.embeddings.model(&*self.rows, model)
    }
}
