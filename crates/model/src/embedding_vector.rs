//! Embeddings: vectors of a model that the host computes.

use std::ops::Deref;

use crate::{BlockId, Error, Limits, Result};

/// A vector of a host's model: what it computes for a text. Its length does not count, its
/// direction does. As JSON: an array of numbers.
///
/// Dereferences to the slice of its components. Two vectors are equal if their bits are.
///
/// ```
/// use leafbase_model::EmbeddingVector;
/// let vector: EmbeddingVector = serde_json::from_str("[0.25, -1]")?;
/// assert_eq!(vector, EmbeddingVector::from([0.25, -1.0]));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct EmbeddingVector(Vec<f32>);

impl EmbeddingVector {
    /// A vector with these components.
    pub const fn new(components: Vec<f32>) -> Self {
        Self(components)
    }

    /// Validates a vector.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] for one without a direction: without components, or with
    /// zeros alone; at `[n]` for a component that is not finite.
    /// [`crate::ErrorKind::LimitExceeded`] for more than [`Limits::EMBEDDING_DIMENSIONS`].
    pub fn check(&self) -> Result<()> {
        let most = Limits::EMBEDDING_DIMENSIONS;
        if self.len() > most {
            return Err(Error::limit("dimensions of a vector", most, self.len()));
        }
        if let Some(index) = self.iter().position(|component| !component.is_finite()) {
            let message = "expected a finite number of 32 bits";
            return Err(Error::validation(message).at(format_args!("[{index}]")));
        }
        if self.iter().all(|component| *component == 0.0) {
            return Err(Error::validation("a vector of zeros has no direction"));
        }
        Ok(())
    }
}

impl Deref for EmbeddingVector {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.0
    }
}

impl PartialEq for EmbeddingVector {
    fn eq(&self, other: &Self) -> bool {
        let bits = |vector: &Self| vector.iter().map(|component| component.to_bits()).collect();
        let (one, other): (Vec<u32>, Vec<u32>) = (bits(self), bits(other));
        one == other
    }
}

impl Eq for EmbeddingVector {}

impl From<Vec<f32>> for EmbeddingVector {
    fn from(components: Vec<f32>) -> Self {
        Self::new(components)
    }
}

impl From<&[f32]> for EmbeddingVector {
    fn from(components: &[f32]) -> Self {
        Self::new(components.to_vec())
    }
}

impl<const N: usize> From<[f32; N]> for EmbeddingVector {
    fn from(components: [f32; N]) -> Self {
        Self::new(components.to_vec())
    }
}

/// Validates the name of a model.
///
/// # Errors
/// [`crate::ErrorKind::Validation`] for an empty name and one with a NUL,
/// [`crate::ErrorKind::LimitExceeded`] for one of more than [`Limits::EMBEDDING_MODEL_BYTES`].
pub(crate) fn check_model(model: &str) -> Result<()> {
    if model.is_empty() || model.contains('\0') {
        return Err(Error::validation("expected the name of a model, without a NUL"));
    }
    let most = Limits::EMBEDDING_MODEL_BYTES;
    if model.len() > most {
        return Err(Error::limit("bytes of the name of a model", most, model.len()));
    }
    Ok(())
}

/// What a search compares vectors with. As JSON: `{"model": "..", "vector": [..]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct QueryEmbedding {
    /// The name of the model.
    pub model: String,
    /// The vector that it computed for the query.
    pub vector: EmbeddingVector,
}

impl QueryEmbedding {
    /// The vector that `model` computed for a query.
    pub fn new(model: impl Into<String>, vector: impl Into<EmbeddingVector>) -> Self {
        Self { model: model.into(), vector: vector.into() }
    }

    pub(crate) fn check(&self) -> Result<()> {
        check_model(&self.model).map_err(|error| error.at("model"))?;
        self.vector.check().map_err(|error| error.at("vector"))
    }
}

/// The block of a document whose vector is nearest to that of a search. As JSON: `{"blockId",
/// "similarity"}`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct NearestBlock {
    /// The block; the root stands for the whole document.
    pub block_id: BlockId,
    /// The cosine of the angle between both vectors, from -1 to 1.
    pub similarity: f32,
}

impl NearestBlock {
    /// A block with its similarity.
    pub const fn new(block_id: BlockId, similarity: f32) -> Self {
        Self { block_id, similarity }
    }
}
